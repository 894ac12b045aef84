"""`agentco-tui get`: prints records as JSON, as CSV or as a table (`docs/records.md`).

Records come from feeds. A feed is one list that is read from the platform (the service whose
companies of AI agents are watched), such as the pending tasks; the workspace's poller reads it into
the store. The activity log is read apart, by a `FilteredLog`. `get_selection` selects by the flags,
and `record_export` converts records to JSON and CSV. The scope is the company of `--company`, to
which all lists are limited. A trace is the list of steps in which an agent worked on a task. The
workspace is what is known of the platform in memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from functools import partial
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from agentco_tui.api.errors import ApiError, Invalid, NotFound, NotOffered, NotSent
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.command_context import command_context
from agentco_tui.commands.command_output import (
    Exit,
    json_text,
    print_json,
    print_lines,
    print_to_stderr,
    write_stdout,
)
from agentco_tui.commands.command_workspace import open_workspace
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
from agentco_tui.config import Arguments, Settings
from agentco_tui.live.feeds import NAMES, OPERATION_OF_FEED, ActivityFilter, FeedName
from agentco_tui.live.filtered_log import FilteredLog
from agentco_tui.live.insight import LEVEL_WORDS, rank_of_priority
from agentco_tui.live.names import Names, of_company
from agentco_tui.live.record_export import (
    as_json,
    csv_row,
    csv_rows,
    export_columns,
    flat_names,
    flat_record,
    text_of,
)
from agentco_tui.live.store import Collection
from agentco_tui.model import Listing, Moment, Money, Record, Task
from agentco_tui.reading.values.status_word import snake_case
from agentco_tui.text import SafeText, clean_line, mark_safe
from agentco_tui.text.row_filter import ColumnKind, Filter, FilterColumn, parse_filter
from agentco_tui.text.width import cell_width, fit
from agentco_tui.workspace.named_records import agent_id_of
from agentco_tui.workspace.workspace import Workspace

FEEDS: Final[Mapping[str, tuple[FeedName, ...]]] = {
    "company": (FeedName.COMPANIES,),
    "agent": (FeedName.AGENTS,),
    "task": (FeedName.PENDING, FeedName.TASKS),
    "step": (),
    "alert": (FeedName.ALERTS,),
    "budget": (FeedName.BUDGET, FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS),
    "activity": (FeedName.ACTIVITY,),
}
"""The feeds with the records of each kind. The steps of a trace are in none."""
TABLE_FIELDS: Final = {
    "company": "id name status agent_count task_count pending_count created",
    "agent": "id name role reports_to company status trust budget_remaining tasks_completed",
    "task": "id key kind status priority title agent company cost created",
    "budget": "id scope name company spent limit remaining share",
    "alert": "at severity open text agent company",
    "activity": "at severity text agent company",
    "step": "depth kind name status duration_seconds text",
}
"""The columns of the table for each kind of record."""
HIDDEN_WHILE_EMPTY: Final[Mapping[str, Sequence[str]]] = {
    "agent": ("reports_to",),
    "task": ("key", "kind"),
}
"""The columns that are left out of a table if none of its rows has a value."""
ALIASES: Final = {
    "name": "agent of",
    "title": "task",
    "text": "what alert",
    "at": "time age",
    "share": "used",
    "waiting_since": "waiting age wait waits",
    "pending_count": "waiting",
    "agent_count": "agents",
    "tasks_completed": "done",
    "budget_remaining": "left",
    "remaining": "left",
    "scope": "kind",
}
"""Other names of a field in a filter: those that its column has on the dashboard."""
_RANK_BY_FIELD: Final[Mapping[str, Callable[[str], float | None]]] = {
    "priority": rank_of_priority,
    "severity": LEVEL_WORDS.get,
}
"""For fields whose words have an order: the rank of a word, so that a filter can use > and <."""
_COLUMN_KINDS: Final = {
    Moment: ColumnKind.SECONDS,
    Money: ColumnKind.NUMBER,
    Decimal: ColumnKind.NUMBER,
    int: ColumnKind.NUMBER,
    float: ColumnKind.NUMBER,
}
"""How a filter compares the values of a type; those of any other type are text."""
_SHARES: Final = ("share", "warn_at", "threshold")
"""Fields whose values are shares of 1, which a filter compares with percentages."""
_BATCH_SIZE: Final = 500
"""Records that are converted and written at once."""


Row: TypeAlias = tuple[Record, dict[str, object]]
"""A record and its fields as `as_json` returns them."""


def run(arguments: Arguments, env: Mapping[str, str]) -> int:
    """Print the requested records; returns the exit code.

    0; 3 if not all of them could be read, and those that could be are printed. Raises UsageError if
    arguments contradict each other, or no record has the id or name.
    """
    what = arguments["what"]
    takes_id = what in ("company", "agent", "task", "trace")
    if takes_id and arguments["id"] is None:
        raise UsageError(f"get {what} needs an id")
    if not takes_id and arguments["id"] is not None:
        raise UsageError(f"get {what} takes no id")
    formats = [flag for flag in ("json", "csv", "table") if arguments[flag]]
    if len(formats) > 1:
        raise UsageError("--json, --csv and --table exclude each other: choose one")
    refuse_flags(arguments)
    with command_context(arguments, env) as settings:
        return asyncio.run(_get(settings, arguments))


async def _get(settings: Settings, arguments: Arguments) -> int:
    """Read, select and print the records; returns the exit code as `run` does."""
    what = arguments["what"]
    kind = _kind_of(what)
    # The history is the database of what was observed; a single read is not worth an entry.
    async with open_workspace(replace(settings, history=False)) as workspace:
        company_id = workspace.poller.query.company
        agent_id: str | None = None
        if arguments["agent"] is not None:
            agent_id = await agent_id_of(arguments["agent"], workspace.client, company_id)
        log = FilteredLog(
            workspace.client,
            workspace.clock,
            ActivityFilter(company=company_id, agent=agent_id, limit=arguments["limit"]),
            workspace.names,
        )
        records: list[Any]
        if what == "trace":
            records = await _read_steps(workspace, arguments["id"])
            code = Exit.OK
        else:
            records, code = await _read_records(workspace, kind, arguments, log)
    if arguments["id"] is not None and what != "trace":
        if not records:
            return Exit.NO_ANSWER
        _print_one(arguments, kind, records[0], workspace.names)
        return code
    if agent_id is not None:
        records = of_agent(records, agent_id)
    default_status = WAITING if kind == "task" else ALL
    records = with_status(records, kind, arguments["status"] or default_status)
    row_filter = _RowFilter(kind, arguments["filter"] or "", workspace.clock.now())
    batches = _row_batches(records, row_filter, workspace.names, arguments["limit"])
    _print_list(arguments, kind, batches)
    return code


def _kind_of(what: str) -> str:
    """The kind of the records that `get WHAT` prints: "agent" for "agents", "step" for "trace"."""
    if what == "companies":
        return "company"
    if what == "trace":
        return "step"
    return what.removesuffix("s")


async def _read_steps(workspace: Workspace, task_id: str) -> list[Any]:
    """The steps of a task's trace. Raises UsageError if the task does not exist, and ApiError."""
    try:
        return list((await workspace.client.task_trace(task_id)).steps)
    except (Invalid, NotFound, NotSent):
        # A task that exists may have no trace: then the platform's error is the right one.
        for feed in FEEDS["task"]:
            freshness = await workspace.poller.read_again(feed)
            collection = workspace.store.collections[feed]
            may_be_elsewhere = freshness.failure is not None or not collection.listing.whole
            if may_be_elsewhere or collection.get(task_id) is not None:
                raise
        raise unknown_id("task", task_id, ()) from None


async def _read_records(
    workspace: Workspace, kind: str, arguments: Arguments, log: FilteredLog
) -> tuple[list[Any], Exit]:
    """Read the records of a kind in the company in scope, or only the one that was asked for.

    Returns them with the exit code. If the single record may be among those that could not be read,
    it returns none and NO_ANSWER, and prints the reason on stderr. Raises UsageError if no record
    has the id or name, or several do.
    """
    wanted = arguments["id"]
    code = Exit.OK
    is_whole = True
    records: list[Any] = []
    feeds = _feeds(kind, arguments)
    # The names of companies and agents are printed next to their ids. They are read at the same
    # time as the records; of a single record's feeds only the first is read then, because the
    # others are only needed if it has no such record.
    name_feeds: Set[FeedName] = frozenset() if kind == "company" else NAMES - set(FEEDS[kind])
    feeds_at_once = feeds if wanted is None else feeds[:1]
    reads = [asyncio.create_task(_read_feed(workspace, feed, log)) for feed in feeds_at_once]
    await asyncio.gather(*map(workspace.poller.read_again, name_feeds), *reads)
    if FeedName.ACTIVITY in feeds_at_once:
        log.choose_again()  # the companies of agents may have come after the log
    for number, feed in enumerate(feeds):
        if number < len(reads):
            collection, failure = await reads[number]
        else:
            collection, failure = await _read_feed(workspace, feed, log)
        if isinstance(failure, NotOffered) and _is_one_offered(workspace, feeds):
            continue  # a list of several that the platform does not have is not missing
        _print_gaps(feed, collection.listing, failure)
        if failure is not None:
            code = Exit.NO_ANSWER
        # A listing is whole if it has every record that exists.
        is_whole = is_whole and failure is None and collection.listing.whole
        if feed is FeedName.ACTIVITY:
            records += reversed(list(collection))  # the newest first
        else:
            records += collection
        if kind != "company":
            is_in_scope = of_company(workspace.store, workspace.poller.query.company)
            records = [record for record in records if is_in_scope(record)]
        if wanted is not None:
            matches = with_id_or_name(records, wanted)
            if len(matches) > 1:
                raise shared_name(wanted, matches)
            if matches:
                return matches, code
    if wanted is None:
        return records, code
    if is_whole:
        raise unknown_id(kind, wanted, records)
    if code is Exit.OK and kind in ("company", "agent"):
        return [await _request_one(workspace, kind, wanted, records)], code
    print_to_stderr(f"no {kind} that was read has the id or name {clean_line(wanted)}")
    return [], Exit.NO_ANSWER


def _is_one_offered(workspace: Workspace, feeds: Iterable[FeedName]) -> bool:
    """Whether the platform has one of the feeds at least."""
    capabilities = workspace.client.capabilities
    return any(capabilities.why_not(OPERATION_OF_FEED[feed]) is None for feed in feeds)


async def _read_feed(
    workspace: Workspace, feed: FeedName, log: FilteredLog
) -> tuple[Collection[Any] | FilteredLog, ApiError | None]:
    """Read a feed once; returns its records, and the error if the read failed."""
    if feed is FeedName.ACTIVITY:
        return log, await _failure_of(log)
    freshness = await workspace.poller.read_again(feed)
    return workspace.store.collections[feed], freshness.failure


def _print_gaps(feed: FeedName, listing: Listing[Any], failure: ApiError | None) -> None:
    """Print to stderr what could not be read of a feed."""
    if failure is not None:
        print_to_stderr(f"{feed}: {failure}")
    if listing.unread:
        print_to_stderr(f"{feed}: {listing.unread} could not be read")
    # Capped: we stopped reading at a limit of ours. More: the platform gave no way to read on.
    if listing.capped or listing.more:
        print_to_stderr(f"{feed}: there are more than were read")


async def _failure_of(log: FilteredLog) -> ApiError | None:
    """Read the log once; returns the error if that fails."""
    try:
        await log.read()
    except ApiError as error:
        return error
    return None


async def _request_one(
    workspace: Workspace, kind: str, wanted: str, records: Sequence[Any]
) -> Record:
    """Request a single company or agent, if its list was incomplete.

    `records` are those of the list, for the error message. Raises UsageError and ApiError.
    """
    client = workspace.client
    try:
        if kind == "company":
            return await client.company(wanted)
        return await client.agent(wanted)
    except (Invalid, NotFound, NotSent):
        raise unknown_id(kind, wanted, records) from None


def _feeds(kind: str, arguments: Arguments) -> Sequence[FeedName]:
    """The feeds to read for the arguments.

    A list of tasks comes from one feed, that of the pending tasks or that of all. A single task may
    be in either.
    """
    if kind != "task" or arguments["id"] is not None:
        return FEEDS[kind]
    # `snake_case` spells words alike: "In Progress" and "in-progress" are in_progress.
    status = arguments["status"] or WAITING
    if snake_case(status) == WAITING:
        return (FeedName.PENDING,)
    return (FeedName.TASKS,)


class _RowFilter:
    """Selects the rows that pass the user's filter (`text.row_filter`) on all fields of a kind."""

    def __init__(self, kind: str, words: str, now: float) -> None:
        """`now` is in seconds since 1970. Raises UsageError if the filter is malformed."""
        self._columns = _filter_columns(kind, now)
        self._table_fields = TABLE_FIELDS[kind].split()
        parsed = parse_filter(words, self._columns)
        if not isinstance(parsed, Filter):
            raise UsageError(f"--filter: {parsed}")
        self._filter = parsed

    def select(self, rows: Sequence[Row]) -> list[Row]:
        """The rows that pass the filter, in their order."""
        if not self._filter:
            return list(rows)
        row_numbers = [str(number) for number in range(len(rows))]
        passed = self._filter.select(partial(self._read_column, rows), row_numbers)
        return [rows[int(number)] for number in passed]

    def _read_column(
        self, rows: Sequence[Row], row_numbers: list[str], column: int | None, as_text: bool
    ) -> list[Any]:
        """The values of a column in some rows; for None the text of all columns of the table."""
        chosen = [rows[int(number)] for number in row_numbers]
        if column is not None and not as_text:
            value_of = self._columns[column].filter_value
            if value_of is not None:
                return [value_of(row) for row in chosen]
        names = self._table_fields
        if column is not None:
            names = [self._columns[column].key]
        texts: list[Any] = []
        for _, values in chosen:
            lines = [text_of(values.get(name)) for name in names]
            texts.append("\n".join(lines).casefold())
        return texts


def _row_batches(
    records: Sequence[Record], row_filter: _RowFilter, names: Names, limit: int | None
) -> Iterator[list[Row]]:
    """Convert and filter the records in batches, so that not all rows are in memory at once.

    At most `limit` rows are returned in all; None for no limit.
    """
    remaining = len(records) if limit is None else limit
    for begin in range(0, len(records), _BATCH_SIZE):
        batch = records[begin : begin + _BATCH_SIZE]
        rows = row_filter.select([(record, as_json(record, names)) for record in batch])
        yield rows[:remaining]
        remaining -= len(rows)
        if remaining <= 0:
            return


def _filter_columns(kind: str, now: float) -> list[FilterColumn]:
    """A filter column for each field of a kind; times are compared by their age at `now`."""
    filter_columns: list[FilterColumn] = []
    # Each exported name, with the record's attribute that it comes from.
    for name, (field, value_type) in export_columns(kind).items():
        column_kind = _COLUMN_KINDS.get(value_type, ColumnKind.TEXT)
        if name in _SHARES:
            column_kind = ColumnKind.SHARE
        filter_columns.append(
            FilterColumn(
                key=name,
                title=name,
                filter_value=partial(_compared_value, field, now),
                kind=column_kind,
                rank=_RANK_BY_FIELD.get(name),
                aliases=tuple(ALIASES.get(name, "").split()),
            )
        )
    return filter_columns


def _compared_value(field: str, now: float, row: Row) -> Any:
    """A field's value for a filter: an age in seconds for a time, the amount for a sum."""
    record = row[0]
    value = getattr(record, field, None)
    if field == "waiting_since" and isinstance(record, Task):
        value = value or record.created
    if isinstance(value, Moment):
        return now - value.at
    if isinstance(value, Money):
        return value.amount
    return value


def _print_one(arguments: Arguments, kind: str, record: Record, names: Names) -> None:
    """Print a single record in the requested format; by default a line for each field."""
    if arguments["json"]:
        print_json(as_json(record, names))
    elif arguments["csv"]:
        _print_csv(kind, [[(record, as_json(record, names))]])
    else:
        print_lines(*field_lines(record, names))


def _print_list(arguments: Arguments, kind: str, batches: Iterable[Sequence[Row]]) -> None:
    """Print a list in the requested format; by default a table."""
    if arguments["json"]:
        _print_json_list(batches)
    elif arguments["csv"]:
        _print_csv(kind, batches)
    else:
        _print_table(kind, batches)


def _print_json_list(batches: Iterable[Sequence[Row]]) -> None:
    """Print a JSON list in one line, a batch at a time; see `print_json`."""
    before = "["
    for rows in batches:
        if rows:
            # One list for all: an encoder for each row would take as long as the row.
            records = json_text([values for _, values in rows])
            write_stdout(before + records.removeprefix("[").removesuffix("]"))
            before = ", "
    write_stdout("[]\n" if before == "[" else "]\n")


def _print_csv(kind: str, batches: Iterable[Sequence[Row]]) -> None:
    # A flat record has a text for each column: a sum is split into amount, currency and so on.
    write_stdout(csv_row(flat_names(kind)))
    for rows in batches:
        write_stdout(csv_rows(kind, (values for _, values in rows)))


def _print_table(kind: str, batches: Iterable[Sequence[Row]]) -> None:
    """Print a table; the width of a column is that of its widest cell."""
    fields = TABLE_FIELDS[kind].split()
    texts: list[list[SafeText]] = []
    for rows in batches:
        for _, values in rows:
            texts.append([clean_line(text_of(values[field]), 60) for field in fields])
    columns: list[list[SafeText]] = []
    for index, field in enumerate(fields):
        column = [row[index] for row in texts]
        if any(column) or field not in HIDDEN_WHILE_EMPTY.get(kind, ()):
            columns.append([mark_safe(field.upper()), *column])
    widths = [max(map(cell_width, column)) for column in columns]
    table = zip(*columns, strict=True)
    print_lines(*("  ".join(map(fit, line, widths)).rstrip() for line in table))


def field_lines(record: Record, names: Names) -> Iterable[str]:
    """A line for each field of a record that has a value."""
    cells = {name: text for name, text in flat_record(record, names).items() if text}
    name_width = max(map(len, cells))
    return (f"{name:{name_width}}  {text}" for name, text in cells.items())
