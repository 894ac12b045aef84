"""Answers to records: lists and single records.

A row is one object of a list in an answer of the platform, the remote service. `read_page` takes a
parsed body (`json_body.parse_json`) and returns a `Page`: the records of a list, how many rows
could not be read and why, and where in the body the list was. `read_one` returns a single record. A
`Kind` describes one kind of record: its names in answers, the table of its fields, and the function
that builds a record of a `Row` (the values of one object by our names of the fields).

`locate_rows`, `decode_rows` and `page_of` are the three steps of `read_page`, which `row_cache`
uses to decode only the rows that are new.

Raises only `UnexpectedShape` (nothing in the body could be what was requested) and its subclass
`RefusedBody` (a 2xx answer that says the call failed).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final, Generic, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from agentco_tui.model import Record, Task
from agentco_tui.reading.content import content_of
from agentco_tui.reading.envelope import (
    FoundList,
    find_list,
    find_one,
    sideloaded_names,
    unwrap_record,
)
from agentco_tui.reading.error_body import ErrorBody, error_in, says_failed
from agentco_tui.reading.field_names import NO_UNIT, Unit
from agentco_tui.reading.identity import without_repeats
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.schema import DecodeContext, Kind, NotAskedError, Row, UnreadableRecord
from agentco_tui.reading.values.money import envelope_unit
from agentco_tui.reading.values.reference import looks_like_id
from agentco_tui.text import SafeText, clean_line

R = TypeVar("R", bound=Record)

MOST_REASONS: Final = 5
"""How many different reasons for unread rows a page or a listing keeps."""


class UnexpectedShape(ValueError):  # noqa: N818 - the client raises its own error for it
    """The body is JSON, but nothing in it could be the list or record that was requested.

    `sentence` says so to the user.
    """

    def __init__(self, sentence: SafeText) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class RefusedBody(UnexpectedShape):
    """A 2xx answer whose body says that the call failed; `refusal` holds the platform's words."""

    def __init__(self, refusal: ErrorBody) -> None:
        super().__init__(refusal.text or clean_line("the platform says that the call failed"))
        self.refusal = refusal


class Page(Struct, Generic[R], frozen=True, kw_only=True):
    """The records in one answer."""

    records: tuple[R, ...]
    unread: int = 0
    """How many rows could not be read."""
    left_out: int = 0
    """How many rows were none of those that were asked for."""
    unread_reasons: tuple[SafeText, ...] = ()
    """Why; each reason once, at most five."""
    shape: str = ""
    """The path of the list in the answer, for `agentco-tui doctor`: "data.tasks[]"."""
    notice: SafeText | None = None
    """The platform's words about errors that are reported beside data (GraphQL's `errors`)."""

    @property
    def row_count(self) -> int:
        """How many rows the answer had, those that were not read or not asked for included."""
        return len(self.records) + self.unread + self.left_out


class LocatedRows(NamedTuple):
    """A list of rows as found in an answer, and what the rest of the answer says about them."""

    found: FoundList
    context: DecodeContext


class UnreadRow(Struct, frozen=True):
    """A row of which no record was made, and why."""

    reason: SafeText
    rows: int = 1
    """How many rows this counts for; 0 if the row is none of those that were asked for."""


_NOT_ASKED: Final = UnreadRow(clean_line("not asked for"), 0)


def read_page(kind: Kind[R], body: Json, unit: Unit = NO_UNIT) -> Page[R]:
    """The records of `kind` in one answer.

    Of rows that are the same the last one is kept; different rows are all kept, also with one id.
    `unit` is the unit of sums that the enclosing answer declares, if `body` is only a part of it.
    Raises UnexpectedShape and RefusedBody.
    """
    located = locate_rows(kind, body, unit)
    if located is None:
        return read_summary(kind, body)
    return page_of(located, body, list(decode_rows(kind, located)))


def locate_rows(kind: Kind[R], body: Json, unit: Unit = NO_UNIT) -> LocatedRows | None:
    """The rows of the list of `kind` in an answer; None if it has no such list.

    Raises RefusedBody if the body says that the call failed.
    """
    if says_failed(body):
        raise RefusedBody(error_in(body))
    found = find_list(body, kind)
    if found is None:
        return None
    list_name = found.path.rpartition(".")[2].partition("[")[0].partition("{")[0]
    declared = envelope_unit(body).with_more(unit).with_more(kind.unit)
    context = DecodeContext(
        names=sideloaded_names(body),
        unit=declared,
        zero_is_limit=kind.zero_is_limit,
        path=list_name,
    )
    return LocatedRows(found, context)


def read_summary(kind: Kind[R], body: Json) -> Page[R]:
    """The page of an answer without a list, for a kind that can be read from a summary instead.

    Alerts can: a platform may only count them. Raises UnexpectedShape for all other answers.
    """
    if kind.instead is not None:
        with suppress(UnreadableRecord):
            summary = kind.instead(body)
            if summary is None:
                return Page(records=(), shape="{summary}")
            return Page(records=(summary,), shape="{summary}")
    message: SafeText | None = None
    if type(body) is dict:
        message = error_in(body).message
    why = describe_shape(body)
    if message:
        why = f"the platform says: {message}"
    raise UnexpectedShape(clean_line(f"the answer holds no list of {kind.noun}: {why}"))


def page_of(located: LocatedRows, body: Json, outcomes: Iterable[R | UnreadRow]) -> Page[R]:
    """The page with what `decode_rows` made of the rows of `body`."""
    records: list[R] = []
    unread: Counter[SafeText] = Counter()
    left_out = 0
    for outcome in outcomes:
        if not isinstance(outcome, UnreadRow):
            records.append(outcome)
        elif outcome.rows:
            unread[outcome.reason] += outcome.rows
        else:
            left_out += 1
    notice: SafeText | None = None
    if type(body) is dict and body.get("errors"):
        notice = error_in({"errors": body["errors"]}).text
    return Page(
        records=tuple(without_repeats(records)),
        unread=sum(unread.values()),
        left_out=left_out,
        unread_reasons=tuple(list(unread)[:MOST_REASONS]),
        shape=clean_line(located.found.path, 120),
        notice=notice,
    )


def decode_rows(kind: Kind[R], located: LocatedRows) -> Iterator[R | UnreadRow]:
    """The record of each row, or why there is none; rows beyond `kind.max_rows` are one outcome."""
    context = located.context
    rows: Iterable[SentRow | UnreadRow] = read_rows(kind, located.found)
    if kind.find_share_scales is not None:
        rows = list(rows)
        share_scales = kind.find_share_scales(Counter(hints_of(kind, rows)))
        context = replace(context, share_scales=share_scales)
    return build_records(kind, rows, context)


def hints_of(kind: Kind[Any], rows: Iterable[SentRow | UnreadRow]) -> Iterator[Hashable]:
    """Of each row what `kind.find_share_scales` needs to know."""
    share_hints = kind.share_hints
    for each in rows:
        if share_hints is None or isinstance(each, UnreadRow):
            yield ()
        else:
            yield share_hints(each.row)


def build_records(
    kind: Kind[R], rows: Iterable[SentRow | UnreadRow], context: DecodeContext
) -> Iterator[R | UnreadRow]:
    """The record of each row, or why there is none."""
    build = kind.build
    for each in rows:
        if isinstance(each, UnreadRow):
            yield each
            continue
        row, sent, key = each
        row_context = context
        if key is not None:
            row_context = replace(context, key=key)
        try:
            record = build(row, row_context)
            if type(record) is Task:
                # No one has seen the record yet; a copy of it would cost more than the digest.
                force_setattr(record, "content", content_of(sent))
        except NotAskedError:
            yield _NOT_ASKED
        except UnreadableRecord as error:
            yield UnreadRow(clean_line(str(error)))
        else:
            yield record


class SentRow(NamedTuple):
    """One row with the values that the table of its kind found in it."""

    row: Row
    sent: Json
    """The object as it was sent, including objects that the record is wrapped in."""
    key: str | None
    """Its key, in a map of records."""


def read_rows(kind: Kind[Any], found: FoundList) -> Iterator[SentRow | UnreadRow]:
    """Each item of a list as read by the table of the kind, or why it cannot be read."""
    keys = found.keys
    needs_one_of = kind.table.needs_one_of
    read = kind.table.read
    taken = 0
    for index, item in enumerate(found.items):
        if taken >= kind.max_rows:
            reason = clean_line(f"more than {kind.max_rows:,} {kind.noun}")
            yield UnreadRow(reason, len(found.items) - index)
            return
        sent = item
        if type(item) is str and item and not needs_one_of:
            sent = {"message": item}  # a line of a log
        elif type(item) is str and "id" in needs_one_of and looks_like_id(item):
            sent = {"id": item}
        if type(sent) is not dict:
            yield UnreadRow(clean_line(f"{_type_name(item)} where an object was due"))
            continue
        if kind.ignored:
            sent = {name: value for name, value in sent.items() if name not in kind.ignored}
        row = read(unwrap_record(sent, kind))
        if keys is None and not row.plan.is_record:
            yield UnreadRow(kind.unreadable_reason)
            continue
        taken += 1
        key: str | None = None
        if keys is not None:
            key = keys[index]
        yield SentRow(row, sent, key)


def read_one(kind: Kind[R], body: Json, wanted_id: str | None = None) -> R:
    """The one record of `kind` in an answer. Raises UnexpectedShape and RefusedBody.

    `wanted_id` is the id that was requested: it is used if the record comes without an id.
    """
    if says_failed(body):
        raise RefusedBody(error_in(body))
    found = next(find_one(body, kind), None)
    if found is None:
        raise UnexpectedShape(
            clean_line(f"the answer holds no {kind.name.replace('_', ' ')}: {describe_shape(body)}")
        )
    context = DecodeContext(
        names=sideloaded_names(body),
        unit=envelope_unit(body).with_more(kind.unit),
        zero_is_limit=kind.zero_is_limit,
        is_root=found is body,
        key=wanted_id,
    )
    try:
        record = kind.read(unwrap_record(found, kind), context)
        if type(record) is Task:
            force_setattr(record, "content", content_of(found))
    except UnreadableRecord as error:
        raise UnexpectedShape(clean_line(f"the answer holds {error}")) from None
    return record


def describe_shape(body: Json) -> str:
    """The type of a body in words, of an object also its first keys: "an object with id, name"."""
    if type(body) is not dict:
        return _type_name(body)
    if not body:
        return "an empty one"
    names = [str(clean_line(key, 30)) for key in islice(body, 6)]
    if len(body) > 6:
        names.append("…")
    return f"an object with {', '.join(names)}"


def _type_name(value: Json) -> str:
    """The JSON type of a value in words; all that is not in the table is a number."""
    return _TYPE_NAMES.get(type(value), "a number")


_TYPE_NAMES: Final[dict[type, str]] = {
    type(None): "null",
    bool: "a yes or no",
    str: "a text",
    list: "a list",
    dict: "an object",
}
