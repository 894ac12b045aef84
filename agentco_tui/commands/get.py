"""`agentco-tui get`: records as they were read, for programs and for people (`docs/records.md`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from agentco_tui.arguments import UsageError
from agentco_tui.commands.naming import agent_of
from agentco_tui.commands.running import Exit, complain, running, say, say_json, write
from agentco_tui.commands.watch import watching
from agentco_tui.config import Given, Settings
from agentco_tui.live.feeds import NAMES, ActivityFilter, FeedName
from agentco_tui.live.insight import LEVEL_WORDS, rank_of_priority, waits_for_person
from agentco_tui.live.needs import of_company
from agentco_tui.live.record_export import as_json, columns, csv_row, flat, flat_names, text_of
from agentco_tui.live.store import Names
from agentco_tui.model import Moment, Money, Record, Ref, Task
from agentco_tui.row_filter import ColumnKind, Filter, FilterColumn, parse
from agentco_tui.text import plain, safe
from agentco_tui.width import cell_width, fit

# fmt: off
FEEDS: Final[Mapping[str, tuple[FeedName, ...]]] = {
    "company": (FeedName.COMPANIES,), "agent": (FeedName.AGENTS,),
    "task": (FeedName.PENDING, FeedName.TASKS), "step": (), "alert": (FeedName.ALERTS,),
    "budget": (FeedName.BUDGET, FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS),
    "activity": (FeedName.ACTIVITY,),
}
"""What brings the records of a kind."""
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


Row: TypeAlias = tuple[Record, dict[str, object]]  # with what `as_json` tells of it


def run(given: Given, env: Mapping[str, str]) -> int:
    """0; 2 if the question makes no sense or there is nobody of that name; 3 if the platform did
    not give all of it, or has no such task. What was read is written all the same.
    """
    what = given["what"]
    is_one = what in ("company", "agent", "task", "trace")
    if is_one is (given["id"] is None):
        raise UsageError(f"get {what} {'needs an' if is_one else 'takes no'} id")
    if given["json"] + given["csv"] + given["table"] > 1:
        raise UsageError("--json, --csv and --table are three forms: choose one")
    with running(given, env) as settings:
        return asyncio.run(_get(settings, given))


async def _get(settings: Settings, given: Given) -> int:
    what, wanted, agent = given["what"], given["id"], given["agent"]
    kind = {"companies": "company", "trace": "step"}.get(what, what.removesuffix("s"))
    feeds, code, records = FEEDS[kind], Exit.OK, list[Any]()
    if what == "tasks":
        feeds = (feeds[given["status"] not in (None, "pending")],)
    async with watching(replace(settings, history=False)) as watcher:
        poller, store, client = watcher.poller, watcher.store, watcher.poller.client
        if agent is not None:
            agent = await agent_of(agent, client, poller.query.company)
        asked = ActivityFilter(agent=agent, limit=given["limit"])
        poller.query = replace(poller.query, activity=asked)
        if what == "trace":
            records += (await client.task_trace(wanted)).steps
        await asyncio.gather(*map(poller.read_again, NAMES - {*feeds} if kind != "company" else ()))
        for feed in feeds:
            if (failure := (await poller.read_again(feed)).failure) is not None:
                complain(f"{feed}: {failure}")
                code = Exit.NO_ANSWER
            held = store.collections.get(feed, store.activity)
            records += reversed([*held]) if held is store.activity else held
            if held.listing.unread:
                complain(f"{feed}: {held.listing.unread} could not be read")
            if held.listing.capped or held.listing.more:
                complain(f"{feed}: there are more than were read")
            called = ((each, getattr(each, "name", None)) for each in records)
            if wanted and (records := [each for each, name in called if wanted in (each.id, name)]):
                break
    if wanted is None:
        ours = of_company(store, poller.query.company) if kind != "company" else bool
        records = [each for each in records if ours(each) and _is_wanted(each, given, agent)]
    elif what != "trace" and len(records) != 1:
        complain(f"{len(records) or 'no'} {what} that was read has the id or name {safe(wanted)}")
        return Exit.NO_ANSWER
    rows = [(record, as_json(record, watcher.names)) for record in records]
    if wanted is None:
        rows = _filtered(rows, kind, given["filter"] or "", watcher.clock.now())[: given["limit"]]
    _write(given, kind, rows, watcher.names, one=wanted is not None and what != "trace")
    return code


def _is_wanted(record: Record, given: Given, agent: str | None) -> bool:
    """Whether a record is of that status (`pending`: waits for a person) and of that agent."""
    of, status = getattr(record, "agent", None) or Ref(), (given["status"] or "pending").casefold()
    if agent is not None and agent not in (record.id, of.id):
        return False
    if not isinstance(record, Task) or status == "all":
        return True
    own = (record.status or record.state or "").casefold()
    return waits_for_person(record) if status == "pending" else own == status


def _filtered(rows: Sequence[Row], kind: str, words: str, now: float) -> list[Row]:
    """Those that pass a filter over all fields of the kind; `now` in seconds since 1970."""

    def compared(field: str, row: Row) -> Any:
        value = getattr(row[0], field, None)
        if field == "waiting_since" and isinstance(row[0], Task):
            value = value or row[0].created
        if isinstance(value, Moment):
            return now - value.at
        return value.amount if isinstance(value, Money) else value

    # fmt: off
    fields = [FilterColumn(key=name, title=name, filter_value=partial(compared, field),
        kind=ColumnKind.SHARE if name in _SHARES else _FORMS.get(of, ColumnKind.TEXT),
        rank=_RANKS.get(name), aliases=(*ALIASES.get(name, "").split(),))
        for name, (field, of) in columns(kind).items()]
    # fmt: on

    def read(places: list[str], column: int | None, as_text: bool) -> list[Any]:
        chosen = [rows[int(place)] for place in places]
        if column is not None and not as_text and (value := fields[column].filter_value):
            return [*map(value, chosen)]
        looked_at = SHOWN[kind].split() if column is None else [fields[column].key]
        told = (map(text_of, map(each.get, looked_at)) for _, each in chosen)
        return ["\n".join(texts).casefold() for texts in told]

    test = parse(words, fields)
    if not isinstance(test, Filter):
        raise UsageError(f"--filter: {test}")
    return [rows[int(place)] for place in test.select(read, [*map(str, range(len(rows)))])]


def _write(given: Given, kind: str, rows: Sequence[Row], names: Names, *, one: bool) -> None:
    """In the form that was asked for; `one` where there is one record and no list."""
    if given["json"]:
        say_json(rows[0][1] if one else [told for _, told in rows])
    elif given["csv"]:
        lines = (csv_row(flat(record, names).values()) for record, _ in rows)
        write("".join((csv_row(flat_names(kind)), *lines)))
    elif one:
        say(*lines_of(rows[0][0], names))
    else:
        titles = SHOWN[kind].split()
        table = [[plain(title.upper()) for title in titles]]
        table += [[safe(text_of(told[title]), 60) for title in titles] for _, told in rows]
        widths = [max(map(cell_width, column)) for column in zip(*table, strict=True)]
        say(*("  ".join(map(fit, line, widths)).rstrip() for line in table))


def lines_of(record: Record, names: Names) -> Iterable[str]:
    """All that is known of a record, a line each."""
    cells = {name: text for name, text in flat(record, names).items() if text}
    return (f"{name:{max(map(len, cells))}}  {text}" for name, text in cells.items())
