"""The response shapes by name, read from `shapes.json`: `--shape NAME` answers in one of them.

Each is the manner of one family of real platforms, coherent over the whole interface. Bodies are
templates: a text that is `$name` stands for a value of the renderer, `?name` for one whose key is
left out where there is none, and `$name` within a text or a key is put in as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

Json = Any


class Errors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a platform says no: `body`, or `fields` where fields were refused, `each` for each."""

    body: Json
    fields: Json = None
    each: Json = None
    statuses: dict[str, int] = {}
    """By status or code, another status than the usual."""
    bodies: dict[str, Json] = {}
    """By code, another body."""
    media: str = "application/json"


class Trace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a trace is written: `whole` around the steps, `root` before them where there is one."""

    whole: Json
    step: Json
    root: Json = None
    children: str = ""
    """The key under which the outputs of a step stand; empty where all stand side by side."""
    rekey: bool = False
    """Whether the keys are in the writing of the shape."""
    words: dict[str, str] = {}
    """Other words for types and outcomes."""


class Shape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A coherent way to answer, over the whole interface."""

    about: str
    rows: Json
    """The envelope of a list."""
    row: Json = "$row"
    """A record in a list."""
    one: Json = "$record"
    """The envelope of a single record."""
    headers: dict[str, str] = {}
    media: str = "application/json"
    error: str
    """One of ERRORS."""
    approved: tuple[int, Json]
    """Status and body for an approve that was done."""
    trace: str
    """One of TRACES."""
    paging: str = "none"
    """none, page, offset, cursor, after: how the next page is asked for."""
    page_size: int = 25
    records: dict[str, Json] = {}
    """For kinds of records (or "*"), a template in place of their fields as they are."""
    keys: str = "snake"
    """snake, camel, kebab."""
    ids: str = "prefixed"
    """prefixed (`tsk_…`), numbers."""
    money: str = "units"
    """units, usd (in the name), text, cents (in the name), value (an object with a currency)."""
    numbers_as_text: bool = False
    no_limit: Json = None
    """What stands for no limit."""
    rest_below_zero: bool = False
    """Whether what is left of a limit may be negative."""
    share: tuple[str, str] | None = ("percent_used", "percent")
    """The name of a used share, and percent, ratio or text."""
    times: str = "z"
    """z, offset (ISO 8601 with +00:00), epoch, epoch_ms, http."""
    links: str = "flat"
    """How a record names another: flat (`x_id`, `x_name`), nested, related (as JSON:API does)."""
    words: dict[str, Json] = {}
    """Other words for statuses, priorities and levels."""
    names: dict[str, dict[str, str | None]] = {}
    """For each kind of record, other names for fields; None leaves a field out."""


class _Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    shapes: dict[str, Shape]
    errors: dict[str, Errors]
    traces: dict[str, Trace]


_TABLES = msgspec.json.decode(Path(__file__).with_name("shapes.json").read_bytes(), type=_Tables)
ALL, ERRORS, TRACES = _TABLES.shapes, _TABLES.errors, _TABLES.traces

SHAPES: dict[str, str] = {name: shape.about for name, shape in ALL.items()}
"""Each shape's name and one line about it."""

_PLACE = re.compile(r"\$(\w+)")


def written(template: Json, values: Mapping[str, Any]) -> Json:
    """The template with the values in it."""
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
