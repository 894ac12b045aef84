"""The response shapes by name, read from `shapes.json`: `--shape NAME` answers in one of them.

Each is the manner of one family of real platforms, coherent over the whole interface. Bodies are
templates: a text that is `$name` stands for a value of the renderer, `?name` for one whose key is
left out where there is none, and `$name` within a text or a key is put in as text. `dress` turns
the neutral fields of `record_fields.py` into what a platform of a shape would send.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path
from typing import Any

import msgspec

from agentco_tui.demo.record_fields import SORTS, Fields
from agentco_tui.demo.world_state import CENT, DOLLAR, iso

Json = Any


class ErrorForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a platform says no: `body`, or `fields` where fields were refused, `each` for each."""

    body: Json
    fields: Json = None
    each: Json = None
    statuses: dict[str, int] = {}  # by status or code, another status than the usual
    bodies: dict[str, Json] = {}  # by code, another body
    media: str = "application/json"


class TraceForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a trace is written: `whole` around the steps, `root` before them where there is one."""

    whole: Json
    step: Json
    root: Json = None
    children: str = ""
    """The key under which the outputs of a step stand; empty where all stand side by side."""
    rekey: bool = False  # whether the keys are in the writing of the shape
    words: dict[str, str] = {}  # other words for types and outcomes


class Shape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A coherent way to answer, over the whole interface."""

    about: str
    rows: Json  # the envelope of a list
    row: Json = "$row"  # a record in a list
    one: Json = "$record"  # the envelope of a single record
    headers: dict[str, str] = {}
    media: str = "application/json"
    error: str
    approved: tuple[int, Json]  # status and body for an approve that was done
    trace: str
    paging: str = "none"  # none, page, offset, cursor, after
    page_size: int = 25
    records: dict[str, Json] = {}
    """For sorts of records (or "*"), a template in place of their fields as they are."""
    keys: str = "snake"  # snake, camel, kebab
    ids: str = "prefixed"  # prefixed (`tsk_…`), numbers
    money: str = "units"  # units, usd and cents (in the name), text, value (with a currency)
    numbers_as_text: bool = False
    no_limit: Json = None  # what stands for no limit
    rest_below_zero: bool = False  # whether what is left of a limit may be negative
    share: tuple[str, str] = ("percent_used", "percent")  # its name; percent, ratio or text
    times: str = "z"  # z, offset (ISO 8601 with +00:00), epoch, epoch_ms, http
    links: str = "flat"
    """How a record names another: flat (`x_id`, `x_name`), nested, related (as JSON:API does)."""
    words: dict[str, Json] = {}  # other words for statuses, priorities and levels
    names: dict[str, dict[str, str | None]] = {}
    """For each sort of record, other names for fields; None leaves a field out."""


class _Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    shapes: dict[str, Shape]
    errors: dict[str, ErrorForm]
    traces: dict[str, TraceForm]


_TABLES = msgspec.json.decode(Path(__file__).with_name("shapes.json").read_bytes(), type=_Tables)
SHAPES, ERRORS, TRACES = _TABLES.shapes, _TABLES.errors, _TABLES.traces

_PLACE = re.compile(r"\$(\w+)")


def written(template: Json, values: Mapping[str, Any]) -> Json:
    if isinstance(template, dict):
        return {
            written(key, values): written(inner, values)
            for key, inner in template.items()
            if not (isinstance(inner, str) and inner[:1] == "?" and values.get(inner[1:]) is None)
        }
    if isinstance(template, list):
        return [written(inner, values) for inner in template]
    if not isinstance(template, str):
        return template
    if template[:1] in {"$", "?"} and template[1:].isidentifier():
        return values[template[1:]]
    return _PLACE.sub(lambda found: str(values[found[1]]), template)


@functools.lru_cache(maxsize=4096)
def rekey(key: str, keys: str) -> str:
    """A snake_case key in another writing."""
    first, *rest = key.split("_")
    if keys == "camel":
        return first + "".join(part.capitalize() for part in rest)
    return "-".join((first, *rest)) if keys == "kebab" else key


def rekeyed(value: Json, keys: str) -> Json:
    """The same with every key of every object in another writing."""
    if keys == "snake":
        return value
    if isinstance(value, dict):
        return {rekey(key, keys): rekeyed(inner, keys) for key, inner in value.items()}
    return [rekeyed(inner, keys) for inner in value] if isinstance(value, list) else value


def _cash(name: str, micros: int | None, shape: Shape) -> dict[str, Json]:
    kind = shape.money
    named = f"{name}_{kind}" if kind in {"usd", "cents"} else name
    if micros is None:
        return {named: shape.no_limit}
    # Cents are rounded half up, as ledgers do.
    cents = (micros + CENT // 2) // CENT
    if kind == "cents":
        return {named: cents}
    if kind == "text":
        return {named: f"{cents // 100}.{cents % 100:02d}"}
    units = micros // DOLLAR if micros % DOLLAR == 0 else micros / DOLLAR
    return {named: {"value": units, "currency": "usd"} if kind == "value" else units}


def record_id(value: str | None, shape: Shape) -> Json:
    """An identifier: as it is, or nothing but its number."""
    if shape.ids == "numbers" and value is not None:
        return int(value.removeprefix("evt_"))
    return value


def told(name: str, value: Any, shape: Shape) -> Json:
    """A word or a moment in the spelling of a shape; what is neither stays."""
    sort = SORTS.get(name)
    if sort == "word":
        return shape.words.get(value, value)
    if sort != "moment" or value is None:
        return value
    at: float = value
    match shape.times:
        case "epoch":
            return int(at)
        case "epoch_ms":
            return int(at * 1000)
        case "http":
            return formatdate(int(at), usegmt=True)
        case "offset":
            when = datetime.fromtimestamp(int(at * 1000) / 1000, UTC)
            return when.isoformat(timespec="microseconds")
    return iso(at)


def _part(name: str, ratio: float | None, shape: Shape) -> dict[str, Json]:
    """A share; the one called `used` under the shape's own name."""
    own, form = shape.share
    shown = own if name == "used" else name if form == "ratio" else f"{name}_percent"
    if ratio is None or form == "ratio":
        return {shown: None if ratio is None else round(ratio, 6)}
    percent = round(ratio * 100, 2)
    whole = int(percent) if percent == int(percent) else percent
    return {shown: f"{whole}%" if form == "text" else whole}


def sort_of(kind: str) -> str:
    """What shapes call a kind of record: budgets of companies and of agents are one sort."""
    return kind.rpartition("_")[2]


def dress(kind: str, fields: Fields, shape: Shape) -> dict[str, Json]:
    """The record as a platform of this shape would send it, still with snake_case keys."""
    names = shape.names.get(sort_of(kind), {})
    dressed: dict[str, Json] = {}
    for field_name, value in fields.items():
        name = names.get(field_name, field_name)
        if name is None:
            continue
        sort = SORTS.get(field_name)
        if sort in {"sum", "rest"}:
            floors = sort == "rest" and value is not None and not shape.rest_below_zero
            dressed |= _cash(name, max(0, value) if floors else value, shape)
        elif sort == "share":
            dressed |= _part(name, value, shape)
        elif sort != "link" or value is None:
            is_id = field_name == "id"
            dressed[name] = record_id(value, shape) if is_id else told(field_name, value, shape)
        elif shape.links == "nested":
            dressed[name] = {"id": record_id(value.id, shape), "name": value.name}
        elif shape.links == "flat":
            dressed[f"{name}_id"] = record_id(value.id, shape)
            dressed[f"{name}_name"] = value.name
    if shape.numbers_as_text:
        return {
            name: str(value) if type(value) in {int, float} else value
            for name, value in dressed.items()
        }
    return dressed
