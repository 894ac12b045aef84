"""Answers to records: lists and single records (SHAPES A, B, K; DESIGN law 6).

Takes parsed bodies (`bodies.parse_json`), of any shape that makes sense, and gives records, how
many could not be read and why, and the shape that was seen. Raises only `Unshaped` (no sensible
shape) and its child `RefusedBody` (a 2xx answer that says the call failed).
"""

from __future__ import annotations

from collections.abc import Hashable
from decimal import Decimal
from itertools import islice
from typing import Any, Final, TypeVar

import msgspec

from agentco_tui.api import drafts
from agentco_tui.api.context import Context, Unread
from agentco_tui.api.envelopes import find_list
from agentco_tui.api.kinds import Kind
from agentco_tui.api.names import fold, some, word_set
from agentco_tui.api.naming import Naming
from agentco_tui.api.pairs import from_pairs
from agentco_tui.api.resources import FoundList
from agentco_tui.api.singles import find_one
from agentco_tui.api.units import NO_UNIT, Unit, combined, unit_beside
from agentco_tui.api.unwrapping import flatten, linked_id, names_beside, untyped, with_links
from agentco_tui.model.records import Record, Task
from agentco_tui.reading import envelope
from agentco_tui.reading.content import content_of
from agentco_tui.reading.decode import Page, RefusedBody, Unshaped, read_one, read_page
from agentco_tui.reading.decode import read_rows as read_rows_by_table
from agentco_tui.reading.error_body import error_in, says_failed
from agentco_tui.reading.schema import Json
from agentco_tui.reading.shared_ids import identity
from agentco_tui.reading.values.number import to_count
from agentco_tui.reading.values.reference import looks_like_id, to_id
from agentco_tui.text import SafeText, safe

__all__ = ["Kind", "Page", "RefusedBody", "Unshaped", "decode_one", "decode_page", "read_rows"]

R = TypeVar("R", bound=Record)

_MAX_REASONS: Final = 5
_IN_VAIN: Final = 2_000


def decode_page(kind: Kind[R], body: Json, unit: Unit = NO_UNIT) -> Page[R]:
    """The records of `kind` in one answer; of those that are the same the last one is kept.

    `unit` is that of all sums, where what is round `body` tells it.
    """
    if kind.by_table is not None:
        return read_page(kind.by_table, body)
    if says_failed(body):
        raise RefusedBody(error_in(body))
    found = find_list(body, kind.resource)
    if found is None:
        return _summary(kind, body)
    records, reasons = read_rows(kind, found, body, combined(unit_beside(body), unit))
    return Page(
        records=tuple(records),
        unread=sum(reasons.values()),
        unread_reasons=tuple(list(reasons)[:_MAX_REASONS]),
        total=_total(body, found),
        shape=_shape(body, found),
        is_list="{one}" not in found.path,
        notice=_notice(body),
    )


def decode_one(kind: Kind[R], body: Json, wanted_id: str | None = None) -> R:
    """The one record of `kind` in an answer; among several the one with `wanted_id`."""
    if kind.by_table is not None:
        return read_one(kind.by_table, body, wanted_id)
    if says_failed(body):
        raise RefusedBody(error_in(body))

    def is_wanted(item: Json) -> bool:
        return any(to_id(value) == wanted_id for name, value in item.items() if "id" in fold(name))

    found = find_one(body, kind.resource, wanted_id, is_wanted)
    if found is None:
        raise Unshaped(safe(f"the answer holds no {_singular(kind)}: {_outline(body)}"))
    context = Context(names_beside(body), unit_beside(body), found.is_root)
    obj = flatten(untyped(found.obj), kind.resource)
    record = kind.read([(obj, context, found.key)])[0]
    if isinstance(record, Unread) and wanted_id is not None:
        record = kind.read([(obj, context, wanted_id)])[0]
    record = _with_content(record, found.obj)
    if isinstance(record, Unread):
        raise Unshaped(safe(f"the answer holds {record}"))
    return record


def listed(body: Json, kind: Kind[Any]) -> FoundList | envelope.FoundList | None:
    """The list of `kind` in `body`."""
    if kind.by_table is not None:
        return envelope.find_list(body, kind.by_table)
    return find_list(body, kind.resource)


def read_rows(
    kind: Kind[R], found: FoundList, body: Json, unit: Unit = NO_UNIT
) -> tuple[list[R], dict[SafeText, int]]:
    """The records, and how often each reason kept one from being read."""
    if kind.by_table is not None:
        return read_rows_by_table(kind.by_table, envelope.FoundList(*found), body)
    context = Context(names_beside(body), unit)
    resource, needs, keys = kind.resource, kind.needs, found.keys
    plan_of = resource.spec.plan
    rows: list[drafts.Row] = []
    sent: list[Json] = []
    unread: dict[SafeText, int] = {}
    naming: Naming | None = None
    vain = 0
    for index, item in enumerate(found.items):
        if len(rows) >= kind.most:
            unread[safe(f"more than {kind.most:,} {kind.noun}")] = len(found.items) - index
            break
        if type(item) is not dict:
            item = _as_object(item, kind)  # noqa: PLW2901
            if type(item) is not dict:
                reason = _NO_OBJECT[type(item)]
                unread[reason] = unread.get(reason, 0) + 1
                continue
        raw = item
        if type(next(iter(item.values()), None)) is dict:
            item = untyped(item)  # noqa: PLW2901
        if "_links" in item and type(links := item["_links"]) is dict:
            item = with_links(item, links)  # noqa: PLW2901
        plan = plan_of(item)
        if plan.wrappers:
            item = flatten(item, resource)  # noqa: PLW2901
            plan = plan_of(item)
        if needs:
            is_nameless = needs.isdisjoint(plan.slots)
        else:
            # What names nothing may hold a figure further down; after many in vain it is noise.
            is_nameless = not plan.slots and (vain > _IN_VAIN or not resource.has_any(item))
            vain += is_nameless
        if is_nameless and keys is None and needs:
            linked = linked_id(item, resource.own)
            if linked is not None:
                item = {k: v for k, v in item.items() if k != linked[0]}  # noqa: PLW2901
                rows.append((item, context, linked[1]))
                sent.append(raw)
                continue
            naming = naming or Naming(found, resource)
            item = naming.named(item)  # noqa: PLW2901
            is_nameless = needs.isdisjoint(plan_of(item).slots)
        if is_nameless and keys is None:
            unread[kind.nameless] = unread.get(kind.nameless, 0) + 1
            continue
        rows.append((item, context, keys[index] if keys is not None else None))
        sent.append(raw)
    return list(_read(kind, rows, sent, unread).values()), unread


def _read(
    kind: Kind[R], rows: list[drafts.Row], sent: list[Json], unread: dict[SafeText, int]
) -> dict[Hashable, R]:
    """The records of the rows by what tells them apart; adds to `unread` why others are none."""
    distinct: dict[Hashable, R] = {}
    for read, raw in zip(kind.read(rows), sent, strict=True):
        record = _with_content(read, raw)
        if isinstance(record, Unread):
            reason = safe(str(record))
            unread[reason] = unread.get(reason, 0) + 1
        else:
            distinct[identity(record)] = record
    return distinct


def _with_content(record: R | Unread, raw: Json) -> R | Unread:
    """A task with the digest of what was sent for it; another record as it is."""
    if type(record) is Task:
        try:
            # Nobody has seen it yet; a record of its own would cost more than its digest.
            msgspec.structs.force_setattr(record, "content", content_of(raw))
        except Unread as error:
            return error
    return record


def _as_object(item: Json, kind: Kind[R]) -> Json:
    """What may stand in an object's place: a log's text, a mere identifier, a list of pairs."""
    if type(item) is str and item and not kind.needs:
        return {"message": item}
    if type(item) is str and kind.resource.knows is None and looks_like_id(item):
        return {"id": item}
    return (from_pairs(item) or item) if type(item) is list else item


def _summary(kind: Kind[R], body: Json) -> Page[R]:
    """What a summary in place of the list says (SHAPES A19), or Unshaped."""
    summary = kind.summed_up(body) if kind.summed_up is not None else Unread()
    if isinstance(summary, Unread):
        told = error_in(body).message if type(body) is dict else None
        why = f"the platform says: {told}" if told else _outline(body)
        raise Unshaped(safe(f"the answer holds no list of {kind.noun}: {why}"))
    records = () if summary is None else (summary,)
    return Page(records=records, shape="{summary}", is_list=False)


_TOTALS: Final = (
    "total", "totalcount", "totalitems", "totalentries", "totalelements", "totalresults",
    "totalrecords", "recordcount", "resultcount", "counttotal", "count",
)  # fmt: skip
_META: Final = ("meta", "pagination", "paging", "resultinfo", "page", "pageinfo", "metadata")


def _total(body: Json, found: FoundList) -> int | None:
    for holder in (found.holder, body):
        if type(holder) is not dict:
            continue
        by_name = {fold(key): value for key, value in some(holder, 200)}
        inner = [by_name.get(name) for name in _META]
        for each in (holder, *inner):
            if type(each) is not dict:
                continue
            names = {fold(key): value for key, value in some(each, 200)}
            for name in _TOTALS:
                total = to_count(names.get(name)) if type(names.get(name)) in (int, str) else None
                if total is not None:
                    return total
    return None


_TOLD: Final = word_set(
    """nextcursor cursor next nextpagetoken nextpage hasmore links meta pagination paging
    pageinfo total offset limit page success ok status count resultinfo included lastid"""
)


def _shape(body: Json, found: FoundList) -> str:
    """The envelope in a few words, for `doctor`: "data.tasks[] + meta"."""
    if type(body) is not dict:
        return safe(found.path, 120)
    beside = [key for key in islice(body, 50) if fold(key) in _TOLD and not _is_on(key, found.path)]
    return safe(" + ".join([found.path, *beside[:4]]), 120)


def _is_on(key: str, path: str) -> bool:
    return path == key or path.startswith((f"{key}.", f"{key}[", f"{key}{{", f"{key}:"))


def _notice(body: Json) -> SafeText | None:
    """The platform's words about what failed beside partial data."""
    errors = body.get("errors") if type(body) is dict else None
    return error_in({"errors": errors}).told if errors else None


def _outline(body: Json) -> str:
    if type(body) is dict:
        names = ", ".join(str(safe(key, 30)) for key in islice(body, 6))
        return f"an object with {names}{', …' if len(body) > 6 else ''}" if body else "an empty one"
    return _type_name(body)


def _type_name(value: Json) -> str:
    if value is None:
        return "null"
    if type(value) is bool:
        return "a yes or no"
    if type(value) is str:
        return "a text"
    if type(value) is list:
        return "a list"
    return "an object" if type(value) is dict else "a number"


_SCALARS: Final[tuple[Json, ...]] = (None, True, "", [], 0, Decimal(0))
_NO_OBJECT: Final[dict[type, SafeText]] = {
    type(value): safe(f"{_type_name(value)} where an object was due") for value in _SCALARS
}


def _singular(kind: Kind[Any]) -> str:
    return {"companies": "company", "activity entries": "activity entry"}.get(
        kind.noun, kind.noun.removesuffix("s")
    )
