"""`agentco-tui get`: records as they were read, for programs and for people (`docs/records.md`)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, Final, NamedTuple

from agentco_tui.api.errors import ApiError
from agentco_tui.arguments import UsageError
from agentco_tui.commands.naming import company_of, id_of
from agentco_tui.commands.running import Exit, complain, connected, running, say, say_json, write
from agentco_tui.config import Given, Settings
from agentco_tui.live.feeds import NAMES, ActivityFilter, Clock, FeedName, Query
from agentco_tui.live.insight import LEVEL_WORDS, rank_of_priority, waits_for_person
from agentco_tui.live.needs import of_company
from agentco_tui.live.poller import fetch
from agentco_tui.live.record_export import as_json, columns, csv_lines, flat, text_of
from agentco_tui.live.store import Names, Store
from agentco_tui.model import Moment, Money, Record, Ref, Task
from agentco_tui.row_filter import ColumnKind, Filter, FilterColumn, parse
from agentco_tui.text import plain, safe
from agentco_tui.width import cell_width, fit

log = logging.getLogger(__name__)

FEEDS: Final[Mapping[str, tuple[str, tuple[FeedName, ...]]]] = {
    "companies": ("company", (FeedName.COMPANIES,)),
    "agents": ("agent", (FeedName.AGENTS,)),
    "tasks": ("task", (FeedName.PENDING,)),
    "budget": ("budget", (FeedName.BUDGET, FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS)),
    "alerts": ("alert", (FeedName.ALERTS,)),
    "activity": ("activity", (FeedName.ACTIVITY,)),
    "company": ("company", (FeedName.COMPANIES,)),
    "agent": ("agent", (FeedName.AGENTS,)),
    "task": ("task", (FeedName.PENDING, FeedName.TASKS)),
    "trace": ("step", ()),
}
"""What can be asked for: the kind of its records, and the feeds that bring them; the last four by
an id or a name.
"""
# fmt: off
SHOWN: Final = {
    "company": "id name status agent_count task_count pending_count created",
    "agent": "id name role company status trust budget_remaining tasks_completed",
    "task": "id status priority title agent company cost created",
    "budget": "id scope name company spent limit remaining share",
    "alert": "at severity open text agent company",
    "activity": "at severity text agent company",
    "step": "depth kind name status duration_seconds text",
}
"""The fields that a table for people has as columns."""
ALIASES: Final = {
    "name": "agent of", "title": "task", "text": "what alert", "at": "time age", "share": "used",
    "waiting_since": "waiting age wait waits", "pending_count": "waiting", "agent_count": "agents",
    "tasks_completed": "done", "budget_remaining": "left", "remaining": "left", "scope": "kind",
}
"""What a filter calls our fields on the screens, where that is another name."""
_RANKS: Final[Mapping[str, Callable[[str], float | None]]] = {
    "priority": rank_of_priority, "severity": LEVEL_WORDS.get}
_FORMS: Final = {Moment: ColumnKind.SECONDS,
    **dict.fromkeys((Money, Decimal, int, float), ColumnKind.NUMBER)}
# fmt: on
_SHARES: Final = ("share", "warn_at", "threshold")
_WIDEST: Final = 60  # cells of a column of a table


class Exported(NamedTuple):
    record: Record
    told: Mapping[str, object]  # as JSON


def run(given: Given, env: Mapping[str, str]) -> int:
    """0; 2 if the question makes no sense or there is nobody of that name; 3 if the platform did
    not give all of it, or has no such task. What was read is written all the same.
    """
    what = given["what"]
    is_one = what in ("company", "agent", "task", "trace")
    if is_one is (given["id"] is None):
        raise UsageError(f"get {what} {'needs an' if is_one else 'takes no'} id")
    if sum(given[form] for form in ("json", "csv", "table")) > 1:
        raise UsageError("--json, --csv and --table are three forms: choose one")
    with running(given, env) as settings:
        try:
            return asyncio.run(_get(settings, given))
        except ApiError as error:
            complain(str(error))
            return Exit.NO_ANSWER


async def _get(settings: Settings, given: Given) -> int:
    what, wanted, store = given["what"], given["id"], Store()
    kind, feeds = FEEDS[what]
    code, records, names, agent = Exit.OK, list[Any](), Names(store), given["agent"]
    if what == "tasks" and given["status"] not in (None, "pending"):
        feeds = (FeedName.TASKS,)
    async with connected(settings) as client:
        company = await company_of(settings, client)
        if agent is not None:
            agent = await id_of("agent", agent, "--agent", await client.agents(), client.agent)
        query = Query(company=company, activity=ActivityFilter(agent=agent, limit=given["limit"]))
        if what == "trace":
            records += (await client.task_trace(wanted)).steps
        for feed in (*(sorted(NAMES - {*feeds}) if kind != "company" else ()), *feeds):
            try:
                (await fetch(feed, client, store, query))()
            except ApiError as error:
                if feed in feeds:
                    complain(f"{feed}: {error}")
                    code = Exit.NO_ANSWER
                log.info("%s: %s", feed, error)  # ids stand for names
            if feed not in feeds:
                continue
            held = store.collections.get(feed, store.activity)
            records += reversed([*held]) if held is store.activity else held
            if wanted is not None:
                records = [
                    each for each in records if wanted in (each.id, getattr(each, "name", None))
                ]
                if records:
                    break
            if held.listing.unread:
                complain(f"{feed}: {held.listing.unread} could not be read")
            if held.listing.capped or held.listing.more:
                complain(f"{feed}: there are more than were read")
        now = Clock(lambda: client.transport.measured.clock_skew).now()
    if wanted is None:
        ours = of_company(store, company) if kind != "company" else bool
        records = [each for each in records if ours(each) and _is_wanted(each, given, agent)]
    elif what != "trace" and len(records) != 1:
        complain(f"{len(records) or 'no'} {what} that was read has the id or name {safe(wanted)}")
        return Exit.NO_ANSWER
    rows = [Exported(record, as_json(record, names)) for record in records]
    if wanted is None:
        rows = _filtered(rows, kind, given["filter"] or "", now)[: given["limit"]]
    _write(given, kind, rows, names, one=wanted is not None and what != "trace")
    return code


def _is_wanted(record: Record, given: Given, agent: str | None) -> bool:
    """Whether a record is of that status (`pending`: waits for a person) and of that agent."""
    of, status = getattr(record, "agent", None) or Ref(), given["status"] or "pending"
    if agent is not None and agent not in (record.id, of.id):
        return False
    if not isinstance(record, Task) or status == "all":
        return True
    if status == "pending":
        return waits_for_person(record)
    return bool(status.casefold() == (record.status or record.state or "").casefold())


def _filtered(rows: Sequence[Exported], kind: str, words: str, now: float) -> list[Exported]:
    """Those that pass a filter over all fields of the kind; `now` in seconds since 1970."""

    def compared(field: str, row: Exported) -> Any:
        value = getattr(row.record, field, None)
        if field == "waiting_since" and isinstance(row.record, Task):
            value = value or row.record.created
        if isinstance(value, Moment):
            return now - value.at
        return value.amount if isinstance(value, Money) else value

    fields = [
        FilterColumn(
            key=name,
            title=name,
            kind=ColumnKind.SHARE if name in _SHARES else _FORMS.get(of, ColumnKind.TEXT),
            filter_value=partial(compared, field),
            rank=_RANKS.get(name),
            aliases=(*ALIASES.get(name, "").split(),),
        )
        for name, (field, of) in columns(kind).items()
    ]

    def read(places: list[str], column: int | None, as_text: bool) -> list[Any]:
        chosen = [rows[int(place)] for place in places]
        if column is not None and not as_text and (value := fields[column].filter_value):
            return [*map(value, chosen)]
        looked_at = SHOWN[kind].split() if column is None else [fields[column].key]
        return [
            "\n".join(text_of(row.told[name]) for name in looked_at).casefold() for row in chosen
        ]

    test = parse(words, fields)
    if not isinstance(test, Filter):
        raise UsageError(f"--filter: {test}")
    return [rows[int(place)] for place in test.select(read, [*map(str, range(len(rows)))])]


def _write(given: Given, kind: str, rows: Sequence[Exported], names: Names, *, one: bool) -> None:
    """In the form that was asked for; `one` where there is one record and no list."""
    if given["json"]:
        say_json(rows[0].told if one else [row.told for row in rows])
    elif given["csv"]:
        write("".join(csv_lines(kind, [row.record for row in rows], names)))
    elif one:
        say(*lines_of(rows[0].record, names))
    else:
        titles = SHOWN[kind].split()
        table = [[plain(title.upper()) for title in titles]]
        table += [[safe(text_of(row.told[title]), _WIDEST) for title in titles] for row in rows]
        widths = [max(map(cell_width, column)) for column in zip(*table, strict=True)]
        say(*("  ".join(map(fit, line, widths)).rstrip() for line in table))


def lines_of(record: Record, names: Names) -> Iterable[str]:
    """All that is known of a record, a line each."""
    cells = {name: text for name, text in flat(record, names).items() if text}
    return (f"{name:{max(map(len, cells))}}  {text}" for name, text in cells.items())
