"""Records for programs: as JSON, as flat texts for cells, as an environment (`docs/records.md`)."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from typing import Final, get_args

from msgspec.structs import fields

from agentco_tui import model
from agentco_tui.live.names import Names
from agentco_tui.live.sentences import sentence
from agentco_tui.model import Activity, Agent, Alert, Budget, Moment, Money, Record, Ref, Task
from agentco_tui.model.format import stamp
from agentco_tui.reading.field_names import phrase
from agentco_tui.text import safe, safe_block

KINDS: Final[Mapping[str, type[Record]]] = {
    "company": model.Company,
    "agent": Agent,
    "task": Task,
    "budget": Budget,
    "alert": Alert,
    "activity": Activity,
    "step": model.TraceStep,
}
"""What each kind is called, and the record that has all its fields."""
PARTS: Final[Mapping[type, tuple[str, ...]]] = {Money: ("amount", "currency"), Ref: ("id", "name")}
"""What is an object in JSON, and a text for each of these where it is flat: `cost_amount`."""
LISTS: Final = ("assumed", "derived")
"""Behind the fields: those of which a unit or a zone wasn't sent, and those that are worked out."""
LONGEST: Final = 4_000  # characters of a value in an environment
ABOUT_THE_ID: Final = {"unwritable": str, "sharers": int, "nth": int}
"""What is told of `Record.id_doubt`, for every kind: all None where a write may name the record."""
_RENAMED: Final = {"content": "fingerprint", "duration": "duration_seconds"}
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)


@cache
def columns(kind: str) -> Mapping[str, tuple[str, type]]:
    """The names of a kind, in their order, each with the record's field and its type."""
    told = {
        _RENAMED.get(each.name, each.name): (each.name, next(iter(get_args(each.type)), each.type))
        for each in fields(KINDS[kind])
        if not each.name.endswith("_derived")  # told in LISTS
    }
    del told["id_doubt"]
    extra = told.pop("extra")
    about_the_id = {name: (name, form) for name, form in ABOUT_THE_ID.items()}
    return {**told, **about_the_id, "extra": extra}


@cache
def flat_names(kind: str) -> tuple[str, ...]:
    """What `flat` has of a kind, in its order."""
    parted = {name: PARTS.get(of) for name, (_, of) in columns(kind).items()}
    named = ([f"{name}_{part}" for part in parts or ()] or [name] for name, parts in parted.items())
    return (*(each for one in named for each in one), *LISTS)


def kind_of(record: Record) -> str:
    """Its name in KINDS."""
    return _kind_of_type(type(record))


@cache
def _kind_of_type(record_type: type[Record]) -> str:
    """The kind of the records of a type."""
    return next(name for name, kind in KINDS.items() if issubclass(record_type, kind))


def as_json(record: Record, names: Names) -> dict[str, object]:
    """All that is known of a record in JSON's own types; None is what the platform did not send."""
    values: dict[str, object] = {}
    assumed: list[str] = []
    derived: list[str] = []
    for name, field, derived_flag in _exported_fields(type(record)):
        value = getattr(record, field, None)
        is_derived = derived_flag is not None and getattr(record, derived_flag)
        if value is None:
            value = _worked_out(record, field, names)
            is_derived |= value is not None
        match value:
            case None | str() | int():
                # Most fields, so that they are not compared with each type below.
                values[name] = value
            case Moment():
                values[name] = stamp(value.at)
                if value.zone_assumed:
                    assumed.append(name)
            case Money():
                values[name] = {"amount": f"{value.amount:f}", "currency": value.currency}
                if value.unit_assumed:
                    assumed.append(name)
                is_derived = value.derived
            case Ref():
                sort = phrase(getattr(record, f"{field}_type", None) or field)
                values[name] = {"id": value.id, "name": names.known(value, sort)}
            case Decimal():
                values[name] = _number(str(value))
            case bytes() if field == "extra":
                values[name] = (
                    _EXTRA_DECODER.decode(value.decode("utf-8", "surrogatepass")) if value else {}
                )
            case bytes():
                values[name] = value.hex()
            case _:
                values[name] = value
        if is_derived:
            derived.append(name)
    values["id"] = record.sent_id
    if not record.shared_id:
        values["sharers"] = None
        values["nth"] = None
    values["assumed"] = assumed
    values["derived"] = derived
    return values


@cache
def _exported_fields(record_type: type[Record]) -> tuple[tuple[str, str, str | None], ...]:
    """For each exported field: its name in the export, its name in the record, and the name of the
    flag that says whether it is derived, if the record has one.
    """
    exported: list[tuple[str, str, str | None]] = []
    for name, (field, _) in columns(_kind_of_type(record_type)).items():
        flag = f"{field}_derived"
        exported.append((name, field, flag if hasattr(record_type, flag) else None))
    return tuple(exported)


def _number(text: str) -> float | str:
    """As text where no float holds it."""
    return value if math.isfinite(value := float(text)) else text


_EXTRA_DECODER: Final = json.JSONDecoder(parse_float=_number)


def _worked_out(record: Record, field: str, names: Names) -> object:
    """What else tells a field that was not sent, None if nothing does."""
    if field == "company" and isinstance(record, Agent | Task | Budget | Alert | Activity):
        return names.company_of(record)
    if field == "text" and isinstance(record, Activity):
        return sentence(record, names)
    if field == "name" and isinstance(record, Budget) and record.subject:
        return names.known(Ref(id=record.id), record.scope)
    return None


def flat_fields(kind: str, fields_by_name: Mapping[str, object]) -> dict[str, str]:
    """The fields of a record, as `as_json` returns them, as texts; "" for what was not sent.

    The names and their order are the same for all records of a kind (`flat_names`).
    """
    cells: dict[str, str] = {}
    for name, value in fields_by_name.items():
        if isinstance(value, dict) and name != "extra":
            cells |= {f"{name}_{part}": text_of(each) for part, each in value.items()}
        else:
            cells[name] = text_of(value)
    return {name: cells.get(name, "") for name in flat_names(kind)}


def flat(record: Record, names: Names) -> dict[str, str]:
    """The same as texts, always with the same names for a kind; "" is what was not sent."""
    return flat_fields(kind_of(record), as_json(record, names))


def text_of(value: object) -> str:
    """A value of `as_json` as one text: the name of another record, a sum with its currency."""
    match value:
        case str():
            return value
        case list():
            return " ".join(map(str, value))
        case {"id": record_id, "name": name}:
            return text_of(name or record_id)
        case {"amount": amount, "currency": currency}:
            return f"{amount} {currency or ''}".strip()
    return "" if value in (None, {}) else json.dumps(value)


def environment(record: Record, names: Names) -> dict[str, str]:
    """The same as variables (AGENTCO_TASK_TITLE): of a line each, without NUL, cut where long.

    They are texts of agents: whoever puts one into a shell's words runs what an agent wrote.
    """
    kind, cells = kind_of(record).upper(), flat(record, names)
    lines = {name: each if each.isprintable() else safe(each) for name, each in cells.items()}
    return {f"AGENTCO_{kind}_{name.upper()}": line[:LONGEST] for name, line in lines.items()}


def csv_row(cells: Iterable[str]) -> str:
    """A row of a CSV (RFC 4180), with its end; each cell as `csv_cell` makes it."""
    sheet = io.StringIO(newline="")
    csv.writer(sheet).writerow(map(csv_cell, cells))
    return sheet.getvalue()


def csv_cell(text: str) -> str:
    """A text for a cell of a CSV file, for csv.writer: cleaned, its lines kept, and with a quote
    before what a spreadsheet would run (OWASP, CSV Injection); numbers stay numbers.
    """
    cell = safe_block(text)
    return f"'{cell}" if cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell) else cell
