"""Objects sent as lists of names and values: `[{"key": "id", "value": "t1"}, …]`."""

from __future__ import annotations

from typing import Final

from agentco_tui.api.names import word_set
from agentco_tui.reading.schema import Json

_NAMES: Final = ("name", "key", "field", "property", "attribute", "k")
_VALUES: Final = ("value", "val", "v")
_BESIDE: Final = word_set("type id label prompt unit currency display displayValue display_value")
_MOST_PAIRS: Final = 400


def from_pairs(items: Json) -> dict[str, Json] | None:
    """The object that a list of pairs is; None if it is none.

    A pair with a unit of its own stays a sum: `{"name": "limit", "value": 5, "unit": "USD"}`.
    """
    if type(items) is not list or not 0 < len(items) <= _MOST_PAIRS or type(items[0]) is not dict:
        return None
    name = next((each for each in _NAMES if type(items[0].get(each)) is str), None)
    value = next((each for each in _VALUES if each in items[0]), None)
    if name is None or value is None:
        return None
    found: dict[str, Json] = {}
    for pair in items:
        if type(pair) is not dict or type(pair.get(name)) is not str or value not in pair:
            return None
        if pair[name] in found or not pair.keys() <= {name, value, *_BESIDE}:
            return None
        units = {key: pair[key] for key in ("unit", "currency") if type(pair.get(key)) is str}
        found[pair[name]] = {"value": pair[value], **units} if units else pair[value]
    return found
