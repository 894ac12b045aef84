"""Exports records for other programs: as JSON, as flat texts, and as environment variables.

The command `get` prints what `as_json` and `flat_record` return, CSV files have a cell for each
flat text, and the user's own commands get `record_environment`. docs/records.md lists the names,
which are a contract. A record is one company, AI agent, task, budget, alert, log entry or step of a
trace as it was read from the platform, the remote service; `Names` looks up the names for ids. A
field that was not sent but computed is derived.
"""

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
from agentco_tui.text import clean_block, clean_line

KINDS: Final[Mapping[str, type[Record]]] = {
    "company": model.Company,
    "agent": Agent,
    "task": Task,
    "budget": Budget,
    "alert": Alert,
    "activity": Activity,
    "step": model.TraceStep,
}
"""The name of each kind of record, with the class that has its fields."""
PARTS: Final[Mapping[type, tuple[str, ...]]] = {Money: ("amount", "currency"), Ref: ("id", "name")}
"""The parts of values that are objects in JSON. A flat record has one text for each part, such as
`cost_amount`."""
LISTS: Final = ("assumed", "derived")
"""The last two names of every record: the fields whose unit or time zone was not sent, and the
fields that were computed here."""
LONGEST: Final = 4_000  # characters of a value in an environment
ABOUT_THE_ID: Final = {"unwritable": str, "sharers": int, "nth": int}
"""The columns made from `Record.id_doubt`, which says why no write may name a record by its id: the
platform sent none, or sent one id for several rows. All are None if there is no doubt."""
_RENAMED: Final = {"content": "fingerprint", "duration": "duration_seconds"}
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters with which a spreadsheet begins a formula, with their full-width forms."""
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)


@cache
def export_columns(kind: str) -> Mapping[str, tuple[str, type]]:
    """Return the columns of a kind in their order: each name with the record's field and its type.

    The type of an optional field is that of its value.
    """
    columns: dict[str, tuple[str, type]] = {}
    for field in fields(KINDS[kind]):
        if field.name.endswith("_derived"):
            continue  # these go into the list "derived"
        union_members = get_args(field.type)
        value_type = union_members[0] if union_members else field.type
        columns[_RENAMED.get(field.name, field.name)] = field.name, value_type
    del columns["id_doubt"]
    extra = columns.pop("extra")
    for name, value_type in ABOUT_THE_ID.items():
        columns[name] = name, value_type
    columns["extra"] = extra
    return columns


@cache
def flat_names(kind: str) -> tuple[str, ...]:
    """Return the names in a flat record of a kind, in their order."""
    names: list[str] = []
    for name, (_, value_type) in export_columns(kind).items():
        parts = PARTS.get(value_type)
        if parts is None:
            names.append(name)
        else:
            names += [f"{name}_{part}" for part in parts]
    return (*names, *LISTS)


def kind_of(record: Record) -> str:
    """Return the name of a record's kind, a key of KINDS."""
    return _kind_of_type(type(record))


@cache
def _kind_of_type(record_type: type[Record]) -> str:
    """Return the kind of the records of a type."""
    return next(name for name, kind in KINDS.items() if issubclass(record_type, kind))


def as_json(record: Record, names: Names) -> dict[str, object]:
    """Return all that is known of a record in JSON's own types; None for what was not sent."""
    values: dict[str, object] = {}
    assumed: list[str] = []
    derived: list[str] = []
    for name, field, derived_flag in _exported_fields(type(record)):
        value = getattr(record, field, None)
        is_derived = derived_flag is not None and getattr(record, derived_flag)
        if value is None:
            value = _derived_value(record, field, names)
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
                kind = phrase(getattr(record, f"{field}_type", None) or field)
                values[name] = {"id": value.id, "name": names.known_name(value, kind)}
            case Decimal():
                values[name] = _finite_number(str(value))
            case bytes() if field == "extra":
                # An id may hold a lone surrogate, which UTF-8 does not allow.
                extra_json = value.decode("utf-8", "surrogatepass") or "{}"
                values[name] = _EXTRA_DECODER.decode(extra_json)
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
    """Return for each exported field its name in the export, its name in the record, and the name
    of the flag that says whether the value is derived; None without such a flag.
    """
    exported: list[tuple[str, str, str | None]] = []
    for name, (field, _) in export_columns(_kind_of_type(record_type)).items():
        flag: str | None = f"{field}_derived"
        if not hasattr(record_type, f"{field}_derived"):
            flag = None
        exported.append((name, field, flag))
    return tuple(exported)


def _finite_number(text: str) -> float | str:
    """Return a number as a float, or as its text if it is too large for one."""
    number = float(text)
    if math.isfinite(number):
        return number
    return text


_EXTRA_DECODER: Final = json.JSONDecoder(parse_float=_finite_number)


def _derived_value(record: Record, field: str, names: Names) -> object:
    """Return the value of a field that was not sent, by what else is known; None if unknown."""
    if field == "company" and isinstance(record, Agent | Task | Budget | Alert | Activity):
        return names.company_of(record)
    if field == "text" and isinstance(record, Activity):
        return sentence(record, names)
    if field == "name" and isinstance(record, Budget) and record.subject:
        return names.known_name(Ref(id=record.id), record.scope)
    return None


def flat_fields(kind: str, fields_by_name: Mapping[str, object]) -> dict[str, str]:
    """Return the fields of a record, as `as_json` returns them, as texts; "" if not sent.

    The names and their order are the same for all records of a kind (`flat_names`).
    """
    cells: dict[str, str] = {}
    for name, value in fields_by_name.items():
        if isinstance(value, dict) and name != "extra":
            cells |= {f"{name}_{part}": text_of(each) for part, each in value.items()}
        else:
            cells[name] = text_of(value)
    return {name: cells.get(name, "") for name in flat_names(kind)}


def flat_record(record: Record, names: Names) -> dict[str, str]:
    """Return a record as texts, as `flat_fields` does."""
    return flat_fields(kind_of(record), as_json(record, names))


def text_of(value: object) -> str:
    """Return a value of `as_json` as one text: another record's name, a sum with its currency."""
    match value:
        case str():
            return value
        case list():
            return " ".join(map(str, value))
        case {"id": record_id, "name": name}:
            return text_of(name or record_id)
        case {"amount": amount, "currency": currency}:
            return f"{amount} {currency or ''}".strip()
    if value is None or value == {}:
        return ""
    return json.dumps(value)


def record_environment(record: Record, names: Names) -> dict[str, str]:
    """Return a record as environment variables, such as AGENTCO_TASK_TITLE.

    Each value is one line without NUL, at most `LONGEST` characters. The values are texts that
    agents wrote: a command must not pass them to a shell as code.
    """
    kind = kind_of(record).upper()
    variables: dict[str, str] = {}
    for name, text in flat_record(record, names).items():
        line = text if text.isprintable() else clean_line(text)
        variables[f"AGENTCO_{kind}_{name.upper()}"] = line[:LONGEST]
    return variables


def csv_row(cells: Iterable[str]) -> str:
    """Return a row of a CSV (RFC 4180) with its line end; each cell passes through `csv_cell`."""
    sheet = io.StringIO(newline="")
    csv.writer(sheet).writerow(map(csv_cell, cells))
    return sheet.getvalue()


def csv_cell(text: str) -> str:
    """Return a text as a cell for csv.writer: cleaned, with its line breaks.

    A quote precedes what a spreadsheet would run as a formula (OWASP, CSV Injection).
    """
    cell = clean_block(text)
    is_formula = cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if is_formula else cell
