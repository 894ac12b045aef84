"""Access to parsed JSON by folded keys: `get_field`, `get_path`, and what remains of a value.

The JSON is that of an answer. Keys are compared folded (`field_names.fold`): `agentId`, `agent_id`
and `Agent-Id` are one name. Only `value_at` takes exact names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias

from agentco_tui.reading.field_names import fold, split_unit
from agentco_tui.reading.field_path import FieldPath
from agentco_tui.text.memoized import memoized

Json: TypeAlias = Any
"""None, bool, int, Decimal, str, or a list or dict of these; never a float."""

MAX_KEYS: Final = 400
"""An object with more keys is read by its first 400; the rest is kept as unread."""


@memoized(2048)
def _keys_by_folded_name(keys: tuple[str, ...]) -> dict[str, list[str]]:
    """The keys of an object, grouped by their folded name."""
    grouped: dict[str, list[str]] = {}
    for key in keys:
        grouped.setdefault(fold(key), []).append(key)
    return grouped


def folded_names(obj: Mapping[str, Json]) -> Collection[str]:
    """The folded names of the keys of `obj`."""
    return _keys_by_folded_name(tuple(islice(obj, MAX_KEYS))).keys()


def keys_of(obj: Mapping[str, Json], folded: str) -> Sequence[str]:
    """The keys of `obj` whose folded name is `folded`, in their order."""
    first_keys = tuple(islice(obj, MAX_KEYS))
    return _keys_by_folded_name(first_keys).get(folded, ())


def get_field(obj: Mapping[str, Json], folded: str) -> Json:
    """The value under a folded name; None if there is none, or if two spellings disagree."""
    values = [obj[key] for key in keys_of(obj, folded)]
    if not values:
        return None
    first = values[0]
    all_agree = values.count(first) == len(values)
    return first if all_agree else None


def get_path(value: Json, path: Iterable[str | int]) -> Json:
    """The value at the end of a path of folded names and list indices; None if there is none."""
    for part in path:
        if isinstance(part, int):
            if type(value) is not list or part >= len(value):
                return None
            value = value[part]
            continue
        if type(value) is not dict:
            return None
        value = get_field(value, part)
    return value


def value_at(value: Json, path: str) -> Json:
    """The value at an exact path of names with dots between them; None if there is none."""
    for key in path.split("."):
        if type(value) is not dict:
            return None
        value = value.get(key)
    return value


def key_with_money_unit(obj: Mapping[str, Json], folded: str) -> str | None:
    """The alphabetically first key that is `folded` and a unit of money: `costCents` for "cost"."""
    return _key_with_money_unit(tuple(islice(obj, MAX_KEYS)), folded)


@memoized(2048)
def _key_with_money_unit(keys: tuple[str, ...], folded: str) -> str | None:
    for key in sorted(keys):
        for stem, unit in split_unit(fold(key)):
            if stem == folded and unit.rank == 0:
                return key
    return None


def remove_paths(value: Json, paths: Sequence[FieldPath]) -> Json:
    """What remains of a list or object without the values at `paths`; None if nothing remains."""
    if type(value) is list:
        kept_items: list[Json] = []
        for index, item in enumerate(value):
            rest = _remove_below(item, [path for path in paths if path[0] == index])
            if rest is not None:
                kept_items.append(rest)
        return kept_items or None
    kept_fields: dict[str, Json] = {}
    for key, inner in value.items():
        rest = _remove_below(inner, [path for path in paths if path[0] == fold(key)])
        if rest is not None:
            kept_fields[key] = rest
    return kept_fields or None


def _remove_below(inner: Json, paths: Sequence[FieldPath]) -> Json:
    """What remains of one part of a value; each path begins with the name or index of the part."""
    below = [path[1:] for path in paths]
    if () in below:
        return None
    return remove_paths(inner, below) if below else inner
