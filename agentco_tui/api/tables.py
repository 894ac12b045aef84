"""Records sent as tables: rows under a header, a header as the first row, one list a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentco_tui.api.names import fold
from agentco_tui.api.plans import Spec
from agentco_tui.reading.schema import Json
from agentco_tui.reading.values.reference import looks_like_id

_HEADERS: Final = ("columns", "fields", "headers", "header", "keys", "schema")
_MOST_COLUMNS: Final = 400


def under_header(rows: list[Json], holder: Mapping[str, Json]) -> list[Json] | None:
    """`{"columns": ["id", "title"], "rows": [["t1", "Plan"]]}` as objects."""
    for key, header in holder.items():
        if fold(key) not in _HEADERS or type(header) is not list:
            continue
        names = [part.get("name") if type(part) is dict else part for part in header]
        if names and all(type(name) is str for name in names):
            return [
                dict(zip(names, row, strict=False)) if type(row) is list else row for row in rows
            ]
    return None


def under_first_row(rows: list[Json], spec: Spec) -> list[Json] | None:
    """`[["id", "title"], ["t1", "Plan"]]` as objects, if the first row is names of fields."""
    names = rows[0]
    if type(names) is not list or not 1 < len(names) <= _MOST_COLUMNS or len(rows) < 2:
        return None
    if not all(type(name) is str for name in names) or type(rows[1]) is not list:
        return None
    if "id" not in spec.plan(dict.fromkeys(names)).slots:
        return None
    return [dict(zip(names, row, strict=False)) if type(row) is list else row for row in rows[1:]]


def names_by_id(obj: Mapping[str, Json]) -> list[Json] | None:
    """`{"ag_1": "Scout", "ag_2": "Quill"}` as objects, if all keys look like identifiers."""
    if not obj or not all(type(value) is str for value in obj.values()):
        return None
    if not all(looks_like_id(key) for key in obj):
        return None
    return [{"id": key, "name": value} for key, value in obj.items()]


def in_columns(obj: Mapping[str, Json], spec: Spec) -> list[Json] | None:
    """`{"id": ["t1", "t2"], "title": ["Plan", "Pay"]}` as objects, if all lists are as long."""
    columns = {key: value for key, value in obj.items() if type(value) is list}
    if len(columns) < 2 or len(columns) > _MOST_COLUMNS or "id" not in spec.plan(columns).slots:
        return None
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1 or any(type(value) is dict for value in obj.values()):
        return None
    if any(type(cell) in (dict, list) for column in columns.values() for cell in column[:1]):
        return None
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
