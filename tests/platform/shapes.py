"""Response shapes by name, read from `shapes.json`: the styles in which other platforms answer.

Each is the style of one family of real platforms, consistent over the whole REST API; `plain` is
the embedded platform's own and needs no file. Bodies are templates: a string `$name` is replaced by
a value of the renderer, `?name` too, but its key is left out if the value is None, and `$name`
inside a longer string or a key is inserted as text. `dress` turns the fields of a record into what
a platform of a shape would send.
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

from agentco_tui.demo.record_fields import VALUE_TYPES, Fields
from agentco_tui.demo.renderer import Json, dollars, percent, rounded_cents
from agentco_tui.demo.world_state import iso


class ErrorForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Errors: `body`, or `fields` if fields were refused, with `each` for each of those."""

    body: Json
    fields: Json = None
    each: Json = None
    statuses: dict[str, int] = {}  # by status or code, another status than the usual
    bodies: dict[str, Json] = {}  # by code, another body
    media: str = "application/json"


class TraceForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Traces: `whole` around the steps, and `root`, if any, as the first of them."""

    whole: Json
    step: Json
    root: Json = None
    children: str = ""
    """The key of a step's outputs; "" if all steps are in one list."""
    rekey: bool = False  # whether the keys are in the writing of the shape
    words: dict[str, str] = {}  # other words for types and outcomes


class Shape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A consistent style of answers, over the whole REST API."""

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
    """For sorts of records (or "*"), a template that replaces their fields."""
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
SHAPES = _TABLES.shapes
SHAPE_NAMES = ("plain", *SHAPES)
ERRORS = _TABLES.errors
TRACES = _TABLES.traces

_PLACEHOLDER = re.compile(r"\$(\w+)")


def fill_template(template: Json, values: Mapping[str, Any]) -> Json:
    """The template with its placeholders replaced by values."""
    if isinstance(template, dict):
        filled: dict[str, Json] = {}
        for key, inner in template.items():
            is_optional = isinstance(inner, str) and inner.startswith("?")
            if is_optional and values.get(inner[1:]) is None:
                continue
            filled[fill_template(key, values)] = fill_template(inner, values)
        return filled
    if isinstance(template, list):
        return [fill_template(inner, values) for inner in template]
    if not isinstance(template, str):
        return template
    if template.startswith(("$", "?")) and template[1:].isidentifier():
        return values[template[1:]]
    return _PLACEHOLDER.sub(lambda placeholder: str(values[placeholder[1]]), template)


@functools.lru_cache(maxsize=4096)
def rekey(key: str, keys: str) -> str:
    """A snake_case key in another style: "camel", "kebab" or "snake"."""
    first, *rest = key.split("_")
    if keys == "camel":
        return first + "".join(part.capitalize() for part in rest)
    if keys == "kebab":
        return "-".join((first, *rest))
    return key


def rekey_all(value: Json, keys: str) -> Json:
    """The value with every key of every object in another style."""
    if keys == "snake":
        return value
    if isinstance(value, dict):
        return {rekey(key, keys): rekey_all(inner, keys) for key, inner in value.items()}
    if isinstance(value, list):
        return [rekey_all(inner, keys) for inner in value]
    return value


def _amount_name(name: str, shape: Shape) -> str:
    """The name of an amount's field, with its unit if the shape writes one."""
    return f"{name}_{shape.money}" if shape.money in {"usd", "cents"} else name


def _amount(micros: int | None, shape: Shape) -> Json:
    if micros is None:
        return shape.no_limit
    if shape.money == "cents":
        return rounded_cents(micros)
    if shape.money == "text":
        cents = rounded_cents(micros)
        return f"{cents // 100}.{cents % 100:02d}"
    if shape.money == "value":
        return {"value": dollars(micros), "currency": "usd"}
    return dollars(micros)


def record_id(value: str | None, shape: Shape) -> Json:
    """An identifier: unchanged, or only its number."""
    if shape.ids == "numbers" and value is not None:
        return int(value.removeprefix("evt_"))
    return value


def spell(name: str, value: Any, shape: Shape) -> Json:
    """A word or a time as the shape writes it; any other value unchanged."""
    value_type = VALUE_TYPES.get(name)
    if value_type == "word":
        return shape.words.get(value, value)
    if value_type != "time" or value is None:
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


def _share_name(name: str, shape: Shape) -> str:
    """The name of a share's field; the share `used` has a name of the shape's own."""
    name_of_used, form = shape.share
    if name == "used":
        return name_of_used
    return name if form == "ratio" else f"{name}_percent"


def _share(ratio: float | None, shape: Shape) -> Json:
    _, form = shape.share
    if ratio is None:
        return None
    if form == "ratio":
        return round(ratio, 6)
    return f"{percent(ratio)}%" if form == "text" else percent(ratio)


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
        value_type = VALUE_TYPES.get(field_name)
        if value_type == "remainder" and value is not None and not shape.rest_below_zero:
            value = max(0, value)  # noqa: PLW2901
        if value_type in {"amount", "remainder"}:
            dressed[_amount_name(name, shape)] = _amount(value, shape)
        elif value_type == "share":
            dressed[_share_name(name, shape)] = _share(value, shape)
        elif field_name == "id":
            dressed[name] = record_id(value, shape)
        elif value_type != "link" or value is None:
            dressed[name] = spell(field_name, value, shape)
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
