"""A record taken out of its wrappers, and names that came beside it (SHAPES A25, A28, B)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentco_tui.api.bodies import Json
from agentco_tui.api.envelopes import Resource
from agentco_tui.api.names import fold, word_set
from agentco_tui.text import SafeText, safe

_MAX_FLATTEN: Final = 4


def flatten(obj: Mapping[str, Json], resource: Resource, depth: int = 0) -> Mapping[str, Json]:
    """A record taken out of what it is wrapped in: `node`, `attributes`, `task`, `info` and so on.

    What stands beside the wrapper is kept unless the inner object has a field of the same name.
    """
    plan = resource.spec.plan(obj)
    if not plan.wrappers or depth >= _MAX_FLATTEN:
        return obj
    for key in plan.wrappers:
        inner = obj[key]
        if type(inner) is not dict or not inner:
            continue
        folded = fold(key)
        if folded in _FIRM or (
            folded in resource.own and _mostly_inside(inner, plan.slots, resource)
        ):
            pass
        elif plan.slots - _WEAK_SLOTS or not resource.spec.plan(inner).slots:
            continue
        outer = {name: value for name, value in obj.items() if name != key}
        if folded == "node":
            outer.pop("cursor", None)
        if folded == "attributes":
            outer = _json_api(outer, resource)
        return flatten({**outer, **inner}, resource, depth + 1)
    return obj


_FIRM: Final = frozenset(("attributes", "node", "source", "embedded"))
_WEAK_SLOTS: Final = frozenset(("id", "type", "kind", "verb", "identifier", "stamp"))


def _mostly_inside(
    inner: Mapping[str, Json], outer_slots: frozenset[str], resource: Resource
) -> bool:
    """True if the inner object under the own name is the record, and not a mere reference."""
    if "id" in outer_slots and outer_slots - _WEAK_SLOTS:
        return False
    inside = resource.spec.plan(inner).slots
    return len(inside) >= max(1, len(outer_slots - _WEAK_SLOTS - inside))


def _json_api(outer: dict[str, Json], resource: Resource) -> dict[str, Json]:
    """JSON:API's outer part: `type` is the resource's name, relationships are references."""
    out = {
        name: value
        for name, value in outer.items()
        if fold(name) not in ("type", "relationships", "links")
        or (fold(name) == "type" and fold(str(value)) not in (*resource.own, *resource.also))
    }
    related = outer.get("relationships")
    if type(related) is dict:
        for name, value in related.items():
            if name not in out:
                out[name] = value.get("data", value) if type(value) is dict else value
    return out


_NAME_KEYS: Final = ("name", "title", "displayname", "label")


def names_beside(body: Json) -> dict[str, SafeText]:
    """Names by id of the records that came along: JSON:API `included`, sideloaded lists."""
    if type(body) is not dict or len(body) < 2:
        return {}
    names: dict[str, SafeText] = {}
    for key, value in body.items():
        if fold(key) in _SIDE and type(value) is list:
            for item in value[:5_000]:
                if type(item) is dict:
                    _note_name(item, names)
        elif fold(key) in _SIDE and type(value) is dict and len(value) <= 5_000:
            for inner_key, item in value.items():
                if type(item) is dict:
                    _note_name({"id": inner_key, **item}, names)
        elif fold(key) == "data" and type(value) is dict and not names:
            names.update(names_beside(value))
    return names


_SIDE: Final = word_set("""included includes agents companies users linked related refs""")


def _note_name(item: Mapping[str, Json], names: dict[str, SafeText]) -> None:
    found_id = item.get("id", item.get("_id"))
    if type(found_id) not in (str, int) or found_id == "":
        return
    attributes = item.get("attributes")
    source = attributes if type(attributes) is dict else item
    for name, value in source.items():
        if type(value) is str and value and fold(name) in _NAME_KEYS:
            names.setdefault(str(found_id), safe(value))
            return
