"""A record taken out of its wrappers, and names that came beside it (SHAPES A25, A28, B)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from agentco_tui.api.names import fold, some, word_set
from agentco_tui.api.pairs import from_pairs
from agentco_tui.api.resources import Resource
from agentco_tui.reading.schema import Json
from agentco_tui.text import SafeText, safe

_MAX_FLATTEN: Final = 4


def flatten(obj: Mapping[str, Json], resource: Resource, depth: int = 0) -> Mapping[str, Json]:
    """A record taken out of what it is wrapped in: `node`, `attributes`, `task`, `info` and so on.

    What stands beside the wrapper is kept unless the inner object has a field of the same name.
    """
    plan = resource.spec.plan(obj)
    if not plan.wrappers or depth >= _MAX_FLATTEN:
        return obj
    manifest = _manifest(obj, plan.wrappers)
    if manifest is not None:
        return manifest
    for key in plan.wrappers:
        inner = obj[key]
        inner = from_pairs(inner) if type(inner) is list else untyped(inner)
        if type(inner) is not dict or not inner:
            continue
        folded = fold(key)
        if folded in _FIRM or (
            folded in resource.own and _mostly_inside(inner, plan.slots, resource)
        ):
            pass
        elif inner is not obj[key] and type(obj[key]) is dict:
            outer_id = linked_id(obj, resource.own)
            if outer_id is not None:
                obj = {"id": outer_id[1], **{k: v for k, v in obj.items() if k != outer_id[0]}}
        elif folded in _FIELDS and not plan.slots - _WEAK_SLOTS - _STAMPS:
            if not resource.spec.plan(inner).slots:
                continue
        elif plan.slots - _WEAK_SLOTS or not resource.spec.plan(inner).slots:
            continue
        outer = {name: value for name, value in obj.items() if name != key}
        if folded == "node":
            outer.pop("cursor", None)
        if resource.knows is not None and "total" in inner:
            # the total of a budget is its limit, a total beside it may be anything
            inner = {f"{key}_total" if name == "total" else name: v for name, v in inner.items()}
        if folded == "attributes":
            outer = _json_api(outer, resource)
        return flatten({**outer, **inner}, resource, depth + 1)
    return obj


_FIRM: Final = frozenset(("attributes", "node", "source", "embedded"))
_WEAK_SLOTS: Final = frozenset(("id", "type", "kind", "verb", "identifier", "stamp"))
_FIELDS: Final = frozenset(("fields", "properties", "document", "record"))
_STAMPS: Final = frozenset(("key", "created", "updated", "at", "stamp"))
"""What stands beside `fields` in some stores, and says no more about the record than its id."""


def _manifest(obj: Mapping[str, Json], wrappers: tuple[str, ...]) -> Mapping[str, Json] | None:
    """`{"metadata": {"name": …}, "spec": {…}, "status": {…}}` in one: Kubernetes' way."""
    by_name = {fold(key): key for key in wrappers}
    meta, spec = by_name.get("metadata"), by_name.get("spec")
    if meta is None or spec is None or type(obj[meta]) is not dict or type(obj[spec]) is not dict:
        return None
    outer = {key: value for key, value in obj.items() if key not in (meta, spec)}
    return {**outer, **obj[spec], **obj[meta]}


_TYPED: Final = word_set(
    """stringValue integerValue doubleValue booleanValue timestampValue nullValue referenceValue
    mapValue arrayValue bytesValue S N BOOL NULL M L SS NS B"""
)


_SHOWN: Final = frozenset(("display_value", "value", "link"))
"""ServiceNow's: what a person reads, and what stands in the table."""


def untyped(obj: Json) -> Json:
    """`{"id": {"S": "t1"}}` and `{"id": {"stringValue": "t1"}}` as `{"id": "t1"}`; else `obj`."""
    if type(obj) is not dict or not obj or not all(map(_is_typed, some_values(obj))):
        return obj
    return {key: _bare(value, 0) for key, value in obj.items()}


def some_values(obj: Mapping[str, Json]) -> list[Json]:
    """The values of the first fields: enough to tell what they are."""
    return [value for _, value in some(obj, 40)]


def _is_typed(value: Json) -> bool:
    if type(value) is not dict or not value:
        return False
    if len(value) == 1:
        return next(iter(value)) in _TYPED
    # a property of Notion: its type, and the value under the name of the type
    if value.keys() <= _SHOWN and len(value) > 1 and "display_value" in value:
        return True
    kind = value.get("type")
    return type(kind) is str and kind in value and value.keys() <= {"id", "type", "name", kind}


def _bare(value: Json, depth: int) -> Json:
    if depth > _MAX_FLATTEN or not _is_typed(value):
        return value
    if "display_value" in value:
        shown = value["display_value"]
        told = value.get("value")
        return told if shown == told else {"display_value": shown, "value": told}
    if len(value) > 1:
        inner = value[value["type"]]
        if value["type"] in ("relation", "people"):
            return inner
        if type(inner) is list and all(type(part) is dict for part in inner):
            texts = [part.get("plain_text", part.get("name")) for part in inner]
            return "".join(text for text in texts if type(text) is str)
        return inner
    ((kind, inner),) = value.items()
    if kind in ("NULL", "nullValue"):
        return None
    if kind in ("mapValue", "arrayValue") and type(inner) is dict:
        inner = inner.get("fields", inner.get("values"))
    if type(inner) is dict:
        return {key: _bare(each, depth + 1) for key, each in inner.items()}
    return [_bare(each, depth + 1) for each in inner] if type(inner) is list else inner


_LINKS: Final = ("href", "url", "uri", "self", "resourceuri", "name", "iri", "link")


def linked_id(obj: Mapping[str, Json], own: tuple[str, ...]) -> tuple[str, str] | None:
    """(field, id) from the record's own address: `…/tasks/t1` in `_links.self`, `href`, `name`."""
    for key, value in some(obj, 100):
        folded = fold(key)
        if folded in ("links", "link") and type(value) is dict:
            value = value.get("self")  # noqa: PLW2901
        if type(value) is dict:
            value = value.get("href")  # noqa: PLW2901
        if type(value) is not str or folded not in (*_LINKS, "links") or len(value) > _MAX_LINK:
            continue
        segments = value.partition("?")[0].rstrip("/").split("/")
        if len(segments) > 1 and fold(segments[-2]) in own and segments[-1]:
            return key, unquote(segments[-1])
    return None


_MAX_LINK: Final = 1_000
_LINKED: Final = (("agent", ("agents", "assistants")), ("company", ("companies", "organizations")))


def with_links(obj: Mapping[str, Json], links: Mapping[str, Json]) -> Mapping[str, Json]:
    """The record with what its `_links` tell about agent and company, where it doesn't itself."""
    more: dict[str, Json] = {}
    for name, places in _LINKED:
        link = links.get(name)
        href = link.get("href") if type(link) is dict else link
        if name not in obj and type(href) is str and len(href) <= _MAX_LINK:
            segments = href.partition("?")[0].rstrip("/").split("/")
            if len(segments) > 1 and segments[-2] in places:
                more[f"{name}_id"] = unquote(segments[-1])
    return {**obj, **more} if more else obj


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
    if type(body) is not dict or (len(body) < 2 and "entities" not in body):
        return {}
    names: dict[str, SafeText] = {}
    for key, value in body.items():
        if fold(key) in _SIDE and type(value) is list:
            for item in value[:5_000]:
                if type(item) is dict:
                    _note_name(item, names)
        elif fold(key) in _NAME_MAPS and type(value) is dict and len(value) <= 5_000:
            names.update({k: safe(v) for k, v in value.items() if type(v) is str and v})
        elif fold(key) in _SIDE and type(value) is dict and len(value) <= 5_000:
            for inner_key, item in value.items():
                if type(item) is dict:
                    _note_name({"id": inner_key, **item}, names)
        elif fold(key) in ("data", "entities", "embedded") and type(value) is dict and not names:
            names.update(names_beside(value))
    return names


_NAME_MAPS: Final = word_set("agentnames companynames names")
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
