"""Where in an answer the records are, and what a single record is wrapped in.

A list is looked for by its type: under the kind's own names, under the usual wrappers, one layer
down in them, under what relatives call it; then the only list of objects there is. A number under
a list's name is no list. Nothing is ever joined but what is one list cut in time buckets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.schema import Json, Kind, keys_of, under
from agentco_tui.text import SafeText, safe

_WRAPPERS: Final = """
    data*           # Stripe, OpenAI, Langfuse, n8n, JSON:API, Laravel; GraphQL's outer layer
    items           # LibreFang, fastapi-pagination
    results         # Django REST, HubSpot, Notion, OpenAI costs (inner)
    records         # Airtable, Salesforce
    entries         # OpenFang audit, Box
    content         # Spring PageImpl
    value           # OData, Azure, Power Automate
    values          # Jira, Bitbucket
    rows            # CouchDB, csv-like
    list            # hand-made
    nodes           # GraphQL without edges: Linear, GitHub
    edges           # GraphQL connections
    logs            # BigPanda
    events          # Temporal history, GitLab
    result          # Cloudflare, JSON-RPC (A2A), ServiceNow
    response payload body output  # hand-made, gateways
    page hits       # Elasticsearch (hits.hits), search pages
    documents resources objects elements collection member  # Firestore, SCIM, JSON-LD
    _embedded*      # HAL: Spring Data REST
    attributes*     # JSON:API
    node*           # GraphQL edges
    _source*        # Elasticsearch
    fields*         # Airtable, Jira, Firestore
    properties*     # Azure, Notion
    info*           # LiteLLM /key/info
    item* record* resource* object* entity* document*  # hand-made
"""
_NAMES: Final = [name for line in _WRAPPERS.splitlines() for name in line.partition("#")[0].split()]
WRAPPERS: Final = tuple(map(fold, _NAMES))
"""All names under which records may stand, best first; folded."""
_WRAPPER_SET: Final = frozenset(WRAPPERS)
_ROUND_EACH: Final = frozenset(fold(name) for name in _NAMES if name.endswith("*"))
"""Those that may also stand round each record of a list (`*`); others hold what it is about."""
_FIRM: Final = frozenset(("attributes", "node", "source"))
"""Wrappers that hold the record whatever stands beside them."""
_WEAK: Final = word_set("id key type kind created updated at stamp verb")
"""Slots that an object round a record may have itself."""
_NEVER: Final = word_set(
    """errors messages warnings links included meta error pagination paging pageinfo tags
    permissions scopes filters facets sort aggregations columns headers breadcrumbs notices
    actions fields properties attributes"""
)
"""Names of lists that hold no records."""
_MOST_LAYERS: Final = 4
_SAMPLE: Final = 20
"""How many of a list's first items are looked at to see what it is a list of."""


class FoundList(NamedTuple):
    """The list in an answer."""

    items: Sequence[Json]
    keys: Sequence[str] | None
    """The id of each item, where a map told it."""
    path: str
    """Such as "data.tasks[]"."""
    holder: Mapping[str, Json] | None
    """The object that holds the list: what else is in it may be about pages."""


class FoundOne(NamedTuple):
    """The one object in an answer."""

    obj: Mapping[str, Json]
    is_root: bool
    key: str | None = None
    """Its id, where only a key told it."""


def find_list(body: Json, kind: Kind[Any]) -> FoundList | None:
    """The list of `kind` in `body`, or None if there is no sensible one."""
    if body is None:
        return FoundList((), None, "null", None)
    if type(body) is list:
        return _in_bare(body, kind)
    if type(body) is not dict:
        return None
    if not body:
        return FoundList((), None, "{}", body)
    found = _search(body, kind, "", 0) or _only_list(body, kind)
    if found is None:
        found = _keyed(body, kind, "") or _itself(body, kind, "", None) or _none_left(body)
    return _out_of_buckets(found, kind) if found is not None else None


def _in_bare(body: list[Json], kind: Kind[Any]) -> FoundList:
    """A bare array: of records, or of envelopes (the events of a stream, pages)."""
    flat = FoundList(body, None, "[]", None)
    sample = [item for item in body[:_SAMPLE] if type(item) is dict]
    if not sample or any(
        kind.is_one(unwrapped(item, kind)) and not _holds_own(item, kind) for item in sample
    ):
        return _out_of_buckets(flat, kind) if sample else flat
    inner: list[FoundList] = []
    for index, item in enumerate(body):
        found = _search(item, kind, "", 1) if type(item) is dict else None
        if found is not None:
            inner.append(found)
        elif index >= _SAMPLE and not inner:
            break
    if not inner:
        return flat
    last = inner[-1]
    if len(inner) == 1 or any("type" in item or "event" in item for item in sample):
        # A stream repeats the whole list in each event: the last one holds.
        return last._replace(path=f"[-1].{last.path}")
    joined = [item for found in inner for item in found.items]
    return FoundList(joined, None, f"[].{last.path}", None)


def _holds_own(item: Mapping[str, Json], kind: Kind[Any]) -> bool:
    return any(type(under(item, name)) is list for name in kind.own)


def _search(obj: Mapping[str, Json], kind: Kind[Any], path: str, depth: int) -> FoundList | None:
    """A list under one of the names that lists stand under, here or in an object under one."""
    empty: FoundList | None = None
    objects: list[tuple[str, str, Mapping[str, Json]]] = []
    for name in (*kind.own, *WRAPPERS, *kind.also):
        key = next(iter(keys_of(obj, name)), None)
        value = None if key is None else under(obj, name)
        here = f"{path}{key}"
        if key is None:
            continue
        if type(value) is list and name not in _NEVER:
            is_own = name not in _WRAPPER_SET
            if any(type(item) is dict for item in value[:_SAMPLE]) or (is_own and value):
                return FoundList(value, None, f"{here}[]", obj)
            if not value:
                empty = empty or FoundList((), None, f"{here}[]", obj)
                if name in kind.own:
                    return empty
        elif value is None or value == {}:
            told = "null" if value is None else "{}"
            empty = empty or FoundList((), None, f"{here}:{told}", obj)
        elif type(value) is dict:
            objects.append((name, here, value))
    for name, here, value in objects if depth < _MOST_LAYERS else ():
        is_own = name not in _WRAPPER_SET
        found = _itself(value, kind, here, obj) if is_own else None
        found = found or _search(value, kind, f"{here}.", depth + 1)
        if found is None and not is_own:
            found = _only_list(value, kind, f"{here}.")
        if found is None and len(value) == 1:
            # GraphQL: one field inside the other, down to the list
            ((inner, only),) = value.items()
            if type(only) is dict:
                found = _search(only, kind, f"{here}.{inner}.", depth + 1)
        found = found or _keyed(value, kind, here, is_own=is_own)
        if found is not None:
            return found._replace(holder=found.holder or obj)
    return empty


def _only_list(obj: Mapping[str, Json], kind: Kind[Any], path: str = "") -> FoundList | None:
    """The one list of objects in `obj`, or one layer down, if there is but one."""
    found = [
        FoundList(value, None, f"{path}{key}[]", obj)
        for key, value in obj.items()
        if fold(key) not in _NEVER and _holds_records(value, kind)
    ]
    if not found:
        found = [
            FoundList(value, None, f"{path}{outer}.{key}[]", layer)
            for outer, layer in obj.items()
            if type(layer) is dict and fold(outer) not in _NEVER
            for key, value in layer.items()
            if fold(key) not in _NEVER and _holds_records(value, kind)
        ]
    return found[0] if len(found) == 1 else None


def _holds_records(value: Json, kind: Kind[Any]) -> bool:
    return type(value) is list and any(
        type(item) is dict and kind.is_one(unwrapped(item, kind)) for item in value[:_SAMPLE]
    )


def _keyed(
    obj: Mapping[str, Json], kind: Kind[Any], path: str, *, is_own: bool = False
) -> FoundList | None:
    """A map of id to record; under the kind's own name some values may be broken.

    What has keys that name a field is a record itself, and no map.
    """
    if kind.table.plan(obj).has:
        return None
    values = list(obj.values())
    records = [value for value in values if type(value) is dict]
    if not records or not (is_own or len(records) == len(values)):
        return None
    if not _WRAPPER_SET.isdisjoint(map(fold, islice(obj, _SAMPLE))):
        return None
    if not all(kind.table.plan(value).has - {"id"} for value in records[:_SAMPLE]):
        return None
    return FoundList(values, list(obj), f"{path}{{id}}", None)


def _itself(
    value: Mapping[str, Json], kind: Kind[Any], path: str, holder: Mapping[str, Json] | None
) -> FoundList | None:
    """One record where a list was due."""
    if not _is_record(value, kind):
        return None
    return FoundList([value], None, f"{path}{{one}}", holder)


_COUNTS: Final = word_set("total count results totalcount totalitems totalelements")
_NEXTS: Final = word_set("nextpagetoken nextcursor next cursor")
_PAGING: Final = (_COUNTS | _NEXTS) | word_set(
    "page perpage pagesize limit offset size status success ok hasmore"
)


def _none_left(body: Mapping[str, Json]) -> FoundList | None:
    """An envelope of which the empty list was left out: `{"total": 0}`, `{"nextPageToken": ""}`."""
    said = {fold(key): value for key, value in islice(body.items(), 20)}
    told = [value for name, value in said.items() if name in _COUNTS | _NEXTS]
    if len(said) < len(body) or not said.keys() <= _PAGING or any(told) or not told:
        return None
    return FoundList((), None, "{}", body)


def _is_record(value: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """True if the object has an identifier and more, and is no envelope."""
    filled = kind.table.fills(value)
    return bool(filled - _WEAK) and (not kind.needs or not kind.needs.isdisjoint(filled))


def _out_of_buckets(found: FoundList, kind: Kind[Any]) -> FoundList:
    """The records inside time buckets (OpenAI costs), which are one list cut in pieces."""
    inner: list[Json] = []
    name = ""
    for item in found.items:
        if type(item) is not dict or kind.table.fills(item) - _WEAK:
            return found
        lists = [
            key
            for key, value in item.items()
            if type(value) is list and (fold(key) in _WRAPPER_SET or fold(key) in kind.own)
        ]
        if len(lists) != 1:
            return found
        name = lists[0]
        inner.extend(item[name])
    if not inner or not all(type(item) is dict for item in inner):
        return found
    return found._replace(items=inner, keys=None, path=f"{found.path}.{name}[]")


def find_one(body: Json, kind: Kind[Any], wanted_id: str | None) -> FoundOne | None:
    """The object of `kind` in `body`; among several the one with `wanted_id`."""
    return next(_candidates(body, kind, wanted_id, 0), None)


def _candidates(
    body: Json, kind: Kind[Any], wanted_id: str | None, depth: int
) -> Iterator[FoundOne]:
    if depth > _MOST_LAYERS:
        return
    if type(body) is list:
        objects = [item for item in body if type(item) is dict]
        if len(objects) == 1:
            yield from _candidates(objects[0], kind, wanted_id, depth + 1)
        elif wanted_id is not None:
            for item in objects:
                if kind.table.read(item).values.get("id") == wanted_id:
                    yield FoundOne(item, False)
        return
    if type(body) is not dict:
        return
    is_record = _is_record(body, kind)
    if not is_record and any(each in _FIRM for _, each in _wrapping(tuple(body), kind.own)):
        is_record = _is_record(unwrapped(body, kind), kind)
        if is_record:
            yield FoundOne(body, depth == 0)
            return
    for name in kind.own if not is_record else ():
        inner = under(body, name)
        if type(inner) in (dict, list) and inner:
            yield from _candidates(inner, kind, wanted_id, depth + 1)
    if not is_record:
        singular = tuple(name.removesuffix("s") for name in kind.also)
        for name in (*singular, *WRAPPERS):
            inner = under(body, name)
            if type(inner) in (dict, list) and inner:
                yield from _candidates(inner, kind, wanted_id, depth + 1)
        if wanted_id is not None and type(body.get(wanted_id)) is dict:
            yield FoundOne(body[wanted_id], False, wanted_id)
    if kind.table.fills(body):
        yield FoundOne(body, depth == 0)
    elif len(body) == 1 and type(only := next(iter(body.values()))) is dict:
        # GraphQL: the name of what was asked for, whatever it is
        yield from _candidates(only, kind, wanted_id, depth + 1)


@lru_cache(maxsize=1024)
def _wrapping(keys: tuple[str, ...], own: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """(key, folded) of the keys that may hold the record itself."""
    return tuple(
        (key, folded) for key in keys[:400] if (folded := fold(key)) in _ROUND_EACH or folded in own
    )


def unwrapped(obj: Mapping[str, Json], kind: Kind[Any], depth: int = 0) -> Mapping[str, Json]:
    """A record taken out of what it is wrapped in: `node`, `attributes`, `task` and so on.

    What stands beside the wrapper is kept unless the inner object has a field of the same name.
    """
    places = _wrapping(tuple(obj), kind.own)
    for key, folded in places:
        inner = obj[key]
        if type(inner) is not dict or not inner or depth >= _MOST_LAYERS:
            continue
        outer = {name: value for name, value in obj.items() if name != key}
        if folded not in _FIRM and (
            kind.table.fills(outer) - _WEAK or not kind.table.plan(inner).has
        ):
            continue
        if folded == "node":
            outer.pop("cursor", None)
        if folded == "attributes":
            outer = _json_api(outer, kind)
        return unwrapped({**outer, **inner}, kind, depth + 1)
    return obj


def _json_api(outer: Mapping[str, Json], kind: Kind[Any]) -> dict[str, Json]:
    """JSON:API's outer part: `type` is the resource's name, relationships are references."""
    out = {
        name: value
        for name, value in outer.items()
        if fold(name) not in ("type", "relationships", "links")
        or (fold(name) == "type" and fold(str(value)) not in (*kind.own, *kind.also))
    }
    related = outer.get("relationships")
    if type(related) is dict:
        for name, value in related.items():
            out.setdefault(name, value.get("data", value) if type(value) is dict else value)
    return out


_SIDE: Final = word_set("included includes agents companies users linked related refs")
_NAME_MAPS: Final = word_set("agentnames companynames names")
_MOST_BESIDE: Final = 5_000


def names_beside(body: Json) -> dict[str, SafeText]:
    """Names by id of the records that came along: JSON:API `included`, sideloaded lists."""
    names: dict[str, SafeText] = {}
    for key, value in body.items() if type(body) is dict and len(body) > 1 else ():
        folded = fold(key)
        if folded in _SIDE and type(value) is list:
            items = [item for item in value[:_MOST_BESIDE] if type(item) is dict]
        elif folded in _SIDE and type(value) is dict:
            pairs = islice(value.items(), _MOST_BESIDE)
            items = [{"id": inner, **item} for inner, item in pairs if type(item) is dict]
        else:
            if folded in _NAME_MAPS and type(value) is dict:
                pairs = islice(value.items(), _MOST_BESIDE)
                names.update({k: safe(v) for k, v in pairs if type(v) is str and v})
            continue
        for item in items:
            found_id = item.get("id", item.get("_id"))
            inner = item.get("attributes")
            named = inner if type(inner) is dict else item
            told = (under(named, name) for name in ("name", "displayname", "title", "label"))
            name = next((each for each in told if type(each) is str and each), None)
            if name is not None and type(found_id) in (str, int) and found_id != "":
                names.setdefault(str(found_id), safe(name))
    return names
