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
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from operator import attrgetter
from typing import Any, Final, NamedTuple, get_args

from msgspec.structs import fields

from agentco_tui import model
from agentco_tui.live.names import Names
from agentco_tui.live.sentences import sentence
from agentco_tui.model import Activity, Agent, Alert, Budget, Moment, Money, Record, Ref, Task
from agentco_tui.model.format import stamp
from agentco_tui.reading.field_names import phrase
from agentco_tui.text import clean_block, clean_line
from agentco_tui.text.memoized import memoized
from agentco_tui.text.patterns import lazy_pattern

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
_FORMULA: Final = frozenset("=+-@\t\r\uff1d\uff0b\uff0d\uff20")
"""Characters with which a spreadsheet begins a formula, with their full-width forms."""
_MAYBE_FORMULA: Final = lazy_pattern(r"\|[=+@-]")
"""The beginning of a formula in cells that are joined by "|", or such a text inside a cell."""
_LONGEST_PLAIN_ROW: Final = 10_000
"""Characters of a row of which no cell is so long that `clean_block` might cut it."""
_NUMBER: Final = lazy_pattern(r"[+-]?\d+(\.\d+)?", re.ASCII)


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
    del columns["cause"]  # only equal or not: it says nothing to anyone else
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
    plan = _export_plan(type(record))
    values: dict[str, object] = dict(zip(plan.names, plan.read_fields(record), strict=True))
    assumed: list[str] = []
    derived: list[str] = []
    for name, field, derived_flag, may_be_derived in plan.converted:
        value: Any = values[name]
        is_derived = derived_flag is not None and getattr(record, derived_flag)
        if value is None and may_be_derived:
            value = _derived_value(record, field, names)
            is_derived |= value is not None
        value_type = type(value)
        # From the most frequent type to the rarest; a value of any other is one of JSON's own.
        if value_type is Moment:
            values[name] = _stamp(value.at)
            if value.zone_assumed:
                assumed.append(name)
        elif value_type is Ref:
            known_name = value.name
            if not known_name and value.id is not None:
                sort = getattr(record, f"{field}_type", None) or _KINDS_OF_REFS.get(field)
                kind = phrase(sort or field)
                known_name = names.known_name(value, kind)
            values[name] = {"id": value.id, "name": known_name}
        elif value_type is Money:
            values[name] = {"amount": f"{value.amount:f}", "currency": value.currency}
            if value.unit_assumed:
                assumed.append(name)
            is_derived = value.derived
        elif value_type is Decimal:
            values[name] = _finite_number(str(value))
        elif value_type is bytes and field == "extra":
            values[name] = _extra_fields(value)
        elif value_type is bytes:
            values[name] = value.hex()
        else:
            values[name] = value
        if is_derived:
            derived.append(name)
    if record.id_doubt is not None:
        values["id"] = record.sent_id
        values["unwritable"] = record.unwritable
        values["sharers"] = record.sharers if record.shared_id else None
        values["nth"] = record.nth if record.shared_id else None
    values["assumed"] = assumed
    values["derived"] = derived
    return values


class _ConvertedField(NamedTuple):
    """An exported field whose value in JSON may differ from the one in the record."""

    name: str
    """Its name in the export."""
    field: str
    """Its name in the record."""
    derived_flag: str | None
    """The record's flag that says whether the value is derived; None without such a flag."""
    may_be_derived: bool
    """Whether `_derived_value` may know it if it was not sent."""


class _ExportPlan(NamedTuple):
    """How the records of one type are exported."""

    names: tuple[str, ...]
    read_fields: Callable[[Record], tuple[object, ...]]
    """Returns the value of each of the names; for those in `ABOUT_THE_ID` the record's doubt."""
    converted: tuple[_ConvertedField, ...]


@cache
def _export_plan(record_type: type[Record]) -> _ExportPlan:
    """Return how the records of a type are exported."""
    columns = export_columns(_kind_of_type(record_type))
    converted: list[_ConvertedField] = []
    for name, (field, value_type) in columns.items():
        flag: str | None = f"{field}_derived"
        if not hasattr(record_type, f"{field}_derived"):
            flag = None
        may_be_derived = field in _DERIVED and issubclass(record_type, _DERIVED[field])
        is_converted = value_type in _CONVERTED_TYPES
        if is_converted or flag is not None or may_be_derived:
            converted.append(_ConvertedField(name, field, flag, may_be_derived))
    read_fields = attrgetter(
        *("id_doubt" if name in ABOUT_THE_ID else field for name, (field, _) in columns.items())
    )
    return _ExportPlan(tuple(columns), read_fields, tuple(converted))


def _finite_number(text: str) -> float | str:
    """Return a number as a float, or as its text if it is too large for one."""
    number = float(text)
    if math.isfinite(number):
        return number
    return text


_EXTRA_DECODER: Final = json.JSONDecoder(parse_float=_finite_number)
_CONVERTED_TYPES: Final = frozenset((Moment, Money, Ref, Decimal, bytes))
"""The types of fields whose values are converted; those of all others are in JSON already."""
_DERIVED: Final[Mapping[str, tuple[type[Record], ...]]] = {
    "company": (Agent, Task, Budget, Alert, Activity),
    "text": (Activity,),
    "name": (Budget,),
}
"""The fields that `_derived_value` may know although they were not sent, and of which records."""


_KINDS_OF_REFS: Final = {"reports_to": "agent"}
"""The kind of record that a field refers to, if that is not the field's name."""
_stamp: Final = memoized(256)(stamp)
"""Times of one record are often the same: when it was created and updated, decided and finished."""


def _extra_fields(extra: bytes) -> object:
    """Return the fields that were not understood, as `Record.extra` holds them."""
    if not extra:
        return {}
    # An id may hold a lone surrogate, which UTF-8 does not allow.
    fields_sent, _ = _EXTRA_DECODER.raw_decode(extra.decode("utf-8", "surrogatepass"))
    return fields_sent


def _derived_value(record: Record, field: str, names: Names) -> object:
    """Return the value of a field that was not sent, by what else is known; None if unknown.

    `field` is one of `_DERIVED`.
    """
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
    return dict(zip(flat_names(kind), _flat_texts(kind, fields_by_name), strict=True))


def _flat_texts(kind: str, fields_by_name: Mapping[str, object]) -> list[str]:
    """Return the texts of `flat_fields`, in the order of `flat_names`."""
    texts: list[str] = []
    for name, parts in _parts_of_columns(kind):
        value = fields_by_name[name]
        if not parts:
            texts.append("" if value is None else text_of(value))
        elif isinstance(value, dict):
            texts += [value[part] or "" for part in parts]
        else:
            texts += [""] * len(parts)
    return texts


@cache
def _parts_of_columns(kind: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return for each name of `as_json` the parts of its values; none if they are single texts."""
    parts = [(name, PARTS.get(type_, ())) for name, (_, type_) in export_columns(kind).items()]
    return (*parts, *((name, ()) for name in LISTS))


def flat_record(record: Record, names: Names) -> dict[str, str]:
    """Return a record as texts, as `flat_fields` does."""
    return flat_fields(kind_of(record), as_json(record, names))


def text_of(value: object) -> str:
    """Return a value of `as_json` as one text: another record's name, a sum with its currency."""
    if isinstance(value, str):
        return value
    match value:
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
    return _csv_text([tuple(cells)])


def csv_rows(kind: str, rows: Iterable[Mapping[str, object]]) -> str:
    """Return the rows of a CSV for records of a kind, each as `as_json` returns it."""
    return _csv_text(_flat_texts(kind, values) for values in rows)


def _csv_text(rows: Iterable[Sequence[str]]) -> str:
    sheet = io.StringIO(newline="")
    csv.writer(sheet).writerows(map(_csv_cells, rows))
    return sheet.getvalue()


def _csv_cells(texts: Sequence[str]) -> Sequence[str]:
    """Return the cells of a row for csv.writer, each as `csv_cell` returns it."""
    joined = "|".join(["", *texts])
    is_safe = len(joined) <= _LONGEST_PLAIN_ROW and joined.isascii() and joined.isprintable()
    if is_safe and not _MAYBE_FORMULA.search(joined):
        # Most rows: looking at each cell takes several times as long.
        return texts
    return [csv_cell(text) for text in texts]


def csv_cell(text: str) -> str:
    """Return a text as a cell for csv.writer: cleaned, with its line breaks.

    A quote precedes what a spreadsheet would run as a formula (OWASP, CSV Injection).
    """
    if not text:
        return text
    cell = clean_block(text)
    is_formula = cell[:1] in _FORMULA and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if is_formula else cell
