"""What was read of an answer, and from where: for `doctor --fields`."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from agentco_tui.reading.decode import Unshaped, outline
from agentco_tui.reading.envelope import find_list, unwrapped
from agentco_tui.reading.mapping import field_names
from agentco_tui.reading.schema import Json, Kind, Row, dig
from agentco_tui.reading.unknown_fields import compact
from agentco_tui.reading.values.money import Sum, told_unit, unit_beside
from agentco_tui.reading.values.unit import MINOR, Unit
from agentco_tui.text import SafeText, safe

_ROWS: Final = 200
_MOST_LEFT: Final = 40
_SAMPLE_BYTES: Final = 60
_POWERS: Final = {0: "whole units", -2: "cents", -6: "micros", -9: "nanos", MINOR: "minor units"}


class ReadField(msgspec.Struct, frozen=True):
    """One of our fields, as an answer had it."""

    field: str
    name: SafeText
    """Of the platform's field, dotted for nested ones."""
    unit: SafeText | None
    """Of sums: what is known of their unit."""
    sample: SafeText
    """What was sent, as JSON; keys hidden."""
    rows: int
    """How many of the records had it."""


class FieldReport(msgspec.Struct, frozen=True):
    """What one answer tells of one kind of record."""

    kind: str
    records: int
    read: tuple[ReadField, ...]
    missing: tuple[str, ...]
    """Our fields that no record had."""
    left: tuple[SafeText, ...]
    """The platform's fields that nothing was read from."""


def report_fields(name: str, kind: Kind[Any], body: Json) -> FieldReport:
    """What is read of the first records in a body; raises Unshaped if it holds none of the kind."""
    found = find_list(body, kind)
    items = [body] if found is None and type(body) is dict else found.items if found else []
    around = unit_beside(body).with_more(kind.unit)
    read: dict[str, ReadField] = {}
    left: dict[str, None] = {}
    records = 0
    for item in items[:_ROWS]:
        if type(item) is not dict:
            continue
        row = kind.table.read(unwrapped(item, kind))
        records += 1
        left.update(dict.fromkeys(row.left))
        for slot in row.values:
            field = slot.partition(" ")[0]
            known = read.get(field)
            if known is not None:
                read[field] = msgspec.structs.replace(known, rows=known.rows + 1)
            else:
                read[field] = _read(row, slot, field, around)
    if not records:
        raise Unshaped(safe(f"the answer holds no {kind.noun}: {outline(body)}"))
    return FieldReport(
        name,
        records,
        tuple(read[field] for field in field_names(kind) if field in read),
        tuple(field for field in field_names(kind) if field not in read),
        tuple(safe(key, 60) for key in list(left)[:_MOST_LEFT]),
    )


def _read(row: Row, slot: str, field: str, around: Unit) -> ReadField:
    source, value = row.source(slot), row.values[slot]
    key, inner = source.key, ".".join(source.inner)
    unit = told_unit(row.values, around)
    sample = dig(row.obj[key], source.inner)
    return ReadField(
        field,
        safe(f"{key}.{inner}" if inner else key, 80),
        _unit_words(value.unit.with_more(unit)) if type(value) is Sum else None,
        safe(compact(sample, _SAMPLE_BYTES), 80),
        1,
    )


def _unit_words(unit: Unit) -> SafeText:
    size = "unit assumed" if unit.power is None else _POWERS.get(unit.power, f"1e{unit.power}")
    return safe(f"{size} of {unit.currency}" if unit.currency else size, 60)
