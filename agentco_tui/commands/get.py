"""`agentco-tui get`: records as they were read, for programs and for people (`docs/records.md`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from agentco_tui.api.errors import ApiError, Invalid, NotFound, NotSent
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.command_output import Exit, complain, say, say_json, write
from agentco_tui.commands.get_selection import (
    ALL,
    WAITING,
    of_agent,
    refuse_flags,
    shared_name,
    unknown_id,
    with_id_or_name,
    with_status,
)
from agentco_tui.commands.running import running
from agentco_tui.commands.with_workspace import opened
from agentco_tui.config import Given, Settings
from agentco_tui.live.feeds import NAMES, ActivityFilter, FeedName
from agentco_tui.live.filtered_log import FilteredLog
from agentco_tui.live.insight import LEVEL_WORDS, rank_of_priority
from agentco_tui.live.names import Names
from agentco_tui.live.needs import of_company
from agentco_tui.live.record_export import as_json, columns, csv_row, flat, flat_names, text_of
from agentco_tui.live.store import Collection
from agentco_tui.model import Moment, Money, Record, Task
from agentco_tui.reading.values.status_word import fold_word
from agentco_tui.text import plain, safe
from agentco_tui.text.row_filter import ColumnKind, Filter, FilterColumn, parse
from agentco_tui.text.width import cell_width, fit
from agentco_tui.workspace.named_records import agent_id_of
from agentco_tui.workspace.workspace import Workspace

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
    """0; 2 if the question makes no sense or there is no record of that id or name; 3 if the
    platform did not give all of it. What was read is written all the same.
    """
    what = given["what"]
    is_one = what in ("company", "agent", "task", "trace")
    if is_one is (given["id"] is None):
        raise UsageError(f"get {what} {'needs an' if is_one else 'takes no'} id")
    if given["json"] + given["csv"] + given["table"] > 1:
        raise UsageError("--json, --csv and --table are three forms: choose one")
    refuse_flags(given)
    with running(given, env) as settings:
        return asyncio.run(_get(settings, given))


async def _get(settings: Settings, given: Given) -> int:
    what = given["what"]
    kind = {"companies": "company", "trace": "step"}.get(what, what.removesuffix("s"))
    async with opened(replace(settings, history=False)) as workspace:
        query = workspace.poller.query
        agent_id: str | None = None
        if given["agent"] is not None:
            agent_id = await agent_id_of(given["agent"], workspace.client, query.company)
        log = FilteredLog(
            workspace.client,
            workspace.clock,
            ActivityFilter(company=query.company, agent=agent_id, limit=given["limit"]),
            workspace.names,
        )
        if what == "trace":
            records = await _steps(workspace, given["id"])
            code = Exit.OK
        else:
            # Names of companies and agents stand beside their ids, where they can be read.
            named_beside = NAMES - {*FEEDS[kind]} if kind != "company" else ()
            await asyncio.gather(*map(workspace.poller.read_again, named_beside))
            records, code = await _read(workspace, kind, given, log)
    if given["id"] is not None and what != "trace":
        if not records:
            return Exit.NO_ANSWER
        rows = [(records[0], as_json(records[0], workspace.names))]
        _write(given, kind, rows, workspace.names, one=True)
        return code
    if agent_id is not None:
        records = of_agent(records, agent_id)
    status = given["status"] or (WAITING if kind == "task" else ALL)
    records = with_status(records, kind, status)
    rows = [(record, as_json(record, workspace.names)) for record in records]
    rows = _filtered(rows, kind, given["filter"] or "", workspace.clock.now())
    _write(given, kind, rows[: given["limit"]], workspace.names, one=False)
    return code


async def _steps(workspace: Workspace, task_id: str) -> list[Any]:
    """The steps of a task's trace. Raises UsageError if no list has the task, and ApiError."""
    try:
        return list((await workspace.client.task_trace(task_id)).steps)
    except (Invalid, NotFound, NotSent):
        # A task may have no trace.
        for feed in FEEDS["task"]:
            freshness = await workspace.poller.read_again(feed)
            collection = workspace.store.collections[feed]
            may_be_elsewhere = freshness.failure is not None or not collection.listing.whole
            if may_be_elsewhere or collection.get(task_id) is not None:
                raise
        raise unknown_id("task", task_id, ()) from None


async def _read(
    workspace: Workspace, kind: str, given: Given, log: FilteredLog
) -> tuple[list[Any], Exit]:
    """The records of a kind in scope, or the one with the wanted id or name, and the exit code.

    No record and NO_ANSWER, with the reason on stderr, if the wanted one may be among what could
    not be read. Raises UsageError if it is in no list, or if several have the name.
    """
    wanted = given["id"]
    store = workspace.store
    company = workspace.poller.query.company
    code = Exit.OK
    is_whole = True
    records: list[Any] = []
    for feed in _feeds(kind, given):
        collection: Collection[Any] | FilteredLog
        if feed is FeedName.ACTIVITY:
            collection = log
            failure = await _failure_of(log)
        else:
            collection = store.collections[feed]
            failure = (await workspace.poller.read_again(feed)).failure
        if failure is not None:
            complain(f"{feed}: {failure}")
            code = Exit.NO_ANSWER
        listing = collection.listing
        if listing.unread:
            complain(f"{feed}: {listing.unread} could not be read")
        if listing.capped or listing.more:
            complain(f"{feed}: there are more than were read")
        is_whole = is_whole and failure is None and listing.whole
        newest_last = list(collection)
        records += reversed(newest_last) if feed is FeedName.ACTIVITY else newest_last
        if kind != "company":
            is_in_scope = of_company(store, company)
            records = [record for record in records if is_in_scope(record)]
        if wanted is not None and (found := with_id_or_name(records, wanted)):
            if len(found) > 1:
                raise shared_name(wanted, found)
            return found, code
    if wanted is None:
        return records, code
    if is_whole:
        raise unknown_id(kind, wanted, records)
    if code is Exit.OK and kind in ("company", "agent"):
        return [await _ask_for_one(workspace, kind, wanted, records)], code
    complain(f"no {kind} that was read has the id or name {safe(wanted)}")
    return [], Exit.NO_ANSWER


async def _failure_of(log: FilteredLog) -> ApiError | None:
    """Read the log once; the error if that fails."""
    try:
        await log.read()
    except ApiError as error:
        return error
    return None


async def _ask_for_one(
    workspace: Workspace, kind: str, wanted: str, records: Sequence[Any]
) -> Record:
    """A record that a list may lack because it isn't whole. Raises UsageError and ApiError."""
    client = workspace.client
    try:
        return await (client.company(wanted) if kind == "company" else client.agent(wanted))
    except (Invalid, NotFound, NotSent):
        raise unknown_id(kind, wanted, records) from None


def _feeds(kind: str, given: Given) -> Sequence[FeedName]:
    """The feeds to read: of tasks the pending ones, all, or for one task both in turn."""
    if kind != "task" or given["id"] is not None:
        return FEEDS[kind]
    wants_pending = fold_word(given["status"] or WAITING) == WAITING
    return (FeedName.PENDING if wants_pending else FeedName.TASKS,)


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
