"""Answers to records: lists and single records.

Takes parsed bodies (`json_body.parse_json`) and returns records, how many could not be read and
why, and the shape of the envelope. Raises only `UnexpectedShape` (nothing in the body could be what
was requested) and its subclass `RefusedBody` (a 2xx answer that says the call failed).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from agentco_tui.model import Record, Task
from agentco_tui.reading.content import content_of
from agentco_tui.reading.envelope import FoundList, find_list, find_one, sideloaded_names, unwrapped
from agentco_tui.reading.error_body import ErrorBody, error_in, says_failed
from agentco_tui.reading.field_names import NO_UNIT, Unit
from agentco_tui.reading.identity import without_repeats
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.schema import DecodeContext, Kind, Row, UnreadableRecord
from agentco_tui.reading.values.money import envelope_unit
from agentco_tui.reading.values.reference import looks_like_id
from agentco_tui.text import SafeText, safe

R = TypeVar("R", bound=Record)

_MOST_REASONS: Final = 5


class UnexpectedShape(ValueError):  # noqa: N818 - the client tells it as an error of its own
    """The body is JSON, but holds nothing in it that could be what was asked for."""

    def __init__(self, sentence: SafeText) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class RefusedBody(UnexpectedShape):
    """A 2xx answer whose body says that the call failed; `refusal` holds the platform's words."""

    def __init__(self, refusal: ErrorBody) -> None:
        super().__init__(refusal.told or safe("the platform says that the call failed"))
        self.refusal = refusal


class Page(Struct, Generic[R], frozen=True, kw_only=True):
    records: tuple[R, ...]
    unread: int = 0
    unread_reasons: tuple[SafeText, ...] = ()
    shape: str = ""
    """Where the records stood, for `doctor`: "data.tasks[]"."""
    notice: SafeText | None = None
    """What the platform said went wrong beside the data (GraphQL's `errors`)."""


def read_page(kind: Kind[R], body: Json, unit: Unit = NO_UNIT) -> Page[R]:
    """The records of `kind` in one answer; of rows that are the same the last one is kept, and
    different rows are all kept, also with the same id.

    `unit` is that of all sums, where what is round `body` tells it.
    """
    if says_failed(body):
        raise RefusedBody(error_in(body))
    found = find_list(body, kind)
    envelope = body if type(body) is dict else {}
    if found is None:
        if kind.instead is not None:
            with suppress(UnreadableRecord):
                summary = kind.instead(body)
                return Page(records=() if summary is None else (summary,), shape="{summary}")
        told = error_in(envelope).message
        why = f"the platform says: {told}" if told else outline(body)
        raise UnexpectedShape(safe(f"the answer holds no list of {kind.noun}: {why}"))
    path = found.path
    last = path.rpartition(".")[2].partition("[")[0].partition("{")[0]
    declared_unit = envelope_unit(body).with_more(unit).with_more(kind.unit)
    context = DecodeContext(names=sideloaded_names(body), unit=declared_unit, path=last)
    unread: Counter[SafeText] = Counter()
    rows: Iterable[tuple[Row, Json, str | None]] = _rows(kind, found, unread)
    if kind.survey is not None:
        rows = list(rows)
        context = replace(context, survey=kind.survey([row for row, _, _ in rows]))
    records: list[R] = []
    for row, raw, key in rows:
        try:
            record = kind.build(row, context if key is None else replace(context, key=key))
            if type(record) is Task:
                # Nobody has seen it yet; a record of its own would cost more than its digest.
                force_setattr(record, "content", content_of(raw))
        except UnreadableRecord as error:
            unread[safe(str(error))] += 1
        else:
            records.append(record)
    errors = envelope.get("errors")
    return Page(
        records=tuple(without_repeats(records)),
        unread=sum(unread.values()),
        unread_reasons=tuple(list(unread)[:_MOST_REASONS]),
        shape=safe(path, 120),
        notice=error_in({"errors": errors}).told if errors else None,
    )


def _rows(
    kind: Kind[Any], found: FoundList, unread: Counter[SafeText]
) -> Iterator[tuple[Row, Json, str | None]]:
    """What was read of each object, the object as sent, and its id where only a key told it."""
    keys, taken, read, needs = found.keys, 0, kind.table.read, kind.table.needs
    for index, raw in enumerate(found.items):
        if taken >= kind.most:
            reason = safe(f"more than {kind.most:,} {kind.noun}")
            unread[reason] = len(found.items) - index
            return
        if type(raw) is str and raw and not needs:
            raw = {"message": raw}  # noqa: PLW2901 - a log's text
        elif type(raw) is str and "id" in needs and looks_like_id(raw):
            raw = {"id": raw}  # noqa: PLW2901
        if type(raw) is not dict:
            unread[safe(f"{_type_name(raw)} where an object was due")] += 1
            continue
        row = read(unwrapped(raw, kind))
        if keys is None and not row.plan.is_record:
            unread[kind.nameless] += 1
            continue
        taken += 1
        yield row, raw, None if keys is None else keys[index]


def read_one(kind: Kind[R], body: Json, wanted_id: str | None = None) -> R:
    """The one record of `kind` in an answer; `wanted_id` is its id, where it tells none."""
    if says_failed(body):
        raise RefusedBody(error_in(body))
    found = next(find_one(body, kind), None)
    if found is None:
        raise UnexpectedShape(
            safe(f"the answer holds no {kind.name.replace('_', ' ')}: {outline(body)}")
        )
    context = DecodeContext(
        names=sideloaded_names(body),
        unit=envelope_unit(body).with_more(kind.unit),
        is_root=found is body,
        key=wanted_id,
    )
    try:
        record = kind.read(unwrapped(found, kind), context)
        if type(record) is Task:
            force_setattr(record, "content", content_of(found))
    except UnreadableRecord as error:
        raise UnexpectedShape(safe(f"the answer holds {error}")) from None
    return record


def outline(body: Json) -> str:
    if type(body) is dict:
        names = ", ".join(str(safe(key, 30)) for key in islice(body, 6))
        return f"an object with {names}{', …' if len(body) > 6 else ''}" if body else "an empty one"
    return _type_name(body)


def _type_name(value: Json) -> str:
    names = {type(None): "null", bool: "a yes or no", str: "a text", list: "a list"}
    return names.get(type(value), "an object" if type(value) is dict else "a number")
