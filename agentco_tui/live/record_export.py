"""Records for programs: as JSON, as flat texts for cells, as an environment (`docs/records.md`)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Any, Final, get_args

from msgspec.structs import fields

from agentco_tui.format import stamp
from agentco_tui.live.sentences import sentence
from agentco_tui.live.store import Names
from agentco_tui.model import (
    Activity,
    Agent,
    Alert,
    Budget,
    BudgetScope,
    Company,
    Moment,
    Money,
    Record,
    Ref,
    SharedTask,
    Task,
    TraceStep,
    extra_fields,
)
from agentco_tui.text import safe, safe_block

KINDS: Final[Mapping[str, type[Record]]] = {
    "company": Company,
    "agent": Agent,
    "task": SharedTask,
    "budget": Budget,
    "alert": Alert,
    "activity": Activity,
    "step": TraceStep,
}
"""What each kind is called, and the record that has all its fields, in their order."""
_KIND_OF: Final[Mapping[type[Record], str]] = {
    **{record: name for name, record in KINDS.items()},
    Task: "task",
}
RENAMED: Final = {"content": "fingerprint", "duration": "duration_seconds"}
PARTS: Final[Mapping[type, tuple[str, ...]]] = {Money: ("amount", "currency"), Ref: ("id", "name")}
"""What is an object in JSON, and a text for each of these where it is flat: `cost_amount`."""
LISTS: Final = ("assumed", "derived")
"""Behind the fields: those of which a unit or a zone wasn't sent, and those that are worked out."""
LONGEST: Final = 4_000
"""Characters of a value in an environment."""
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)


@cache
def columns(kind: str) -> Mapping[str, type]:
    """The fields of a kind with the type of each; what marks another field is not among them."""
    return {
        field.name: next(iter(get_args(field.type)), field.type)
        for field in sorted(fields(KINDS[kind]), key=lambda field: field.name == "extra")
        if not field.name.endswith("_derived")
    }


def kind_of(record: Record) -> str:
    """Its name in KINDS."""
    return _KIND_OF[type(record)]


def as_json(record: Record, names: Names) -> dict[str, object]:
    """All that is known of a record in JSON's own types; None is what the platform did not send."""
    told = dict[str, object]()
    marks: dict[str, list[str]] = {name: [] for name in LISTS}
    for name in columns(kind_of(record)):
        shown = RENAMED.get(name, name)
        value = getattr(record, name, None)
        derived = bool(getattr(record, f"{name}_derived", False))
        if value is None and (value := _worked_out(record, name, names)) is not None:
            derived = True
        match value:
            case Moment():
                told[shown] = stamp(value.at)
                marks["assumed"] += [shown] * value.zone_assumed
            case Money():
                told[shown] = {"amount": f"{value.amount:f}", "currency": value.currency}
                marks["assumed"] += [shown] * value.unit_assumed
                derived |= value.derived
            case Ref():
                known = (
                    names.of_entry(record, name)
                    if isinstance(record, Activity)
                    else names.known(value, name)
                )
                told[shown] = {"id": value.id, "name": known}
            case bytes():
                told[shown] = _plain(extra_fields(value)) if name == "extra" else value.hex()
            case _:
                told[shown] = _plain(value)
        marks["derived"] += [shown] * derived
    if isinstance(record, Task):
        told["id"] = record.sent_id
    return told | marks


def _worked_out(record: Record, name: str, names: Names) -> object:
    """What else tells a field that was not sent, None if nothing does."""
    if name == "company" and isinstance(record, Agent | Task | Budget | Alert | Activity):
        return names.company_of(record)
    if name == "text" and isinstance(record, Activity):
        return sentence(record, names)
    if name == "name" and isinstance(record, Budget) and record.scope is not BudgetScope.ALL:
        return names.known(Ref(id=record.id), record.scope)
    return None


def _plain(value: Any) -> object:
    """In JSON's own types; a number that no float holds is a text."""
    match value:
        case dict():
            return {name: _plain(each) for name, each in value.items()}
        case list():
            return [_plain(each) for each in value]
        case Decimal():
            return float(value) if math.isfinite(float(value)) else str(value)
        case str():
            return str(value)
    return value


def flat(record: Record, names: Names) -> dict[str, str]:
    """The same as texts, always with the same names for a kind; "" is what was not sent."""
    told, cells = as_json(record, names), dict[str, str]()
    for name, kind in columns(kind_of(record)).items():
        shown = RENAMED.get(name, name)
        value = told.pop(shown)
        if parts := PARTS.get(kind):
            each = value if isinstance(value, dict) else {}
            cells |= {f"{shown}_{part}": _text(each.get(part)) for part in parts}
        else:
            cells[shown] = _text(value)
    return cells | {name: _text(marked) for name, marked in told.items()}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "" if value in (None, {}) else json.dumps(value)


def environment(record: Record, names: Names) -> dict[str, str]:
    """The same as variables (AGENTCO_TASK_TITLE): of a line each, without NUL, cut where long.

    They are texts of agents: whoever puts one into a shell's words runs what an agent wrote.
    """
    kind = kind_of(record).upper()
    cells = flat(record, names).items()
    return {
        f"AGENTCO_{kind}_{name.upper()}": (
            text if text.isprintable() else safe(text, LONGEST)
        )[:LONGEST]
        for name, text in cells
    }  # fmt: skip


def csv_cell(text: str) -> str:
    """A text for a cell of a CSV file, for csv.writer: cleaned, its lines kept, and with a quote
    before what a spreadsheet would run (OWASP, CSV Injection); numbers stay numbers.
    """
    cell = safe_block(text)
    return f"'{cell}" if cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell) else cell
