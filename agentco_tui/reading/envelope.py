"""Where in an answer the records are, and what a single record is wrapped in.

A list is looked for by its type: under the kind's own names, under the usual wrappers, one layer
down in them, under what relatives call it; then the only list of objects there is. A number under
a list's name is no list. Nothing is ever joined but what is one list cut in time buckets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_TELL_ROWS: Final = word_set(
    """total count results totalcount totalitems totalelements nextpagetoken nextcursor next
    cursor"""
)
_PAGING: Final = _TELL_ROWS | word_set(
    "page perpage pagesize limit offset size status success ok hasmore"
)
_MOST_LAYERS: Final = 4
_NESTED: Final = frozenset((dict,))
_SAMPLE: Final = 20
"""How many of a list's first items are looked at to see what it is a list of."""


class FoundList(NamedTuple):
    items: Sequence[Json]
    keys: Sequence[str] | None
    """The id of each item, where a map told it."""
    path: str
    """Such as "data.tasks[]"."""


def find_list(body: Json, kind: Kind[Any]) -> FoundList | None:
    """The list of `kind` in `body`, or None if there is no sensible one."""
    if body is None or body == {}:
        return FoundList((), None, "null" if body is None else "{}")
    if type(body) is list:
        return _joined(FoundList(body, None, "[]"), kind)
    if type(body) is not dict:
        return None
    found = _search(body, kind, "", 0) or _only_list(body, kind, "") or _keyed(body, kind, "")
    if found is not None or _is_record(body, kind):
        return _joined(found or FoundList([body], None, "{one}"), kind)
    # An envelope of which the empty list was left out: `{"total": 0}`, `{"nextPageToken": ""}`.
    said = {fold(key): value for key, value in body.items()}
    told = [value for name, value in said.items() if name in _TELL_ROWS]
    is_paging = said.keys() <= _PAGING
    return FoundList((), None, "{paging}") if is_paging and told and not any(told) else None


def _joined(flat: FoundList, kind: Kind[Any]) -> FoundList:
    """A list of records as it is; of one of envelopes (the events of a stream, pages, the time
    buckets of OpenAI's costs) what is in them.
    """
    items = flat.items
    sample = [item for item in items[:_SAMPLE] if type(item) is dict]
    if not sample or any(
        _may_be(item, kind) and not any(type(under(item, name)) is list for name in kind.own)
        for item in sample
    ):
        return flat
    if not any(_search(row, kind, "", 1) for row in sample):
        return flat
    each = (_search(row, kind, "", 1) for row in items if type(row) is dict)
    inner = [found for found in each if found is not None]
    last = inner[-1]
    if len(inner) == 1 or any("type" in item or "event" in item for item in sample):
        # A stream repeats the whole list in each event: the last one holds.
        return last._replace(path=f"[-1].{last.path}")
    joined = [item for found in inner for item in found.items]
    return FoundList(joined, None, f"{flat.path}.{last.path}")


def _search(obj: Mapping[str, Json], kind: Kind[Any], path: str, depth: int) -> FoundList | None:
    """A list under one of the names that lists stand under, here or in an object under one."""
    empty: FoundList | None = None
    objects: list[tuple[bool, str, Mapping[str, Json]]] = []
    for name in (*kind.own, *WRAPPERS, *kind.also):
        key = next(iter(keys_of(obj, name)), None)
        if key is None:
            continue
        value, here, is_own = under(obj, name), f"{path}{key}", name not in _WRAPPER_SET
        if type(value) is list and name not in _NEVER:
            if any(type(item) is dict for item in value[:_SAMPLE]) or (is_own and value):
                return FoundList(value, None, f"{here}[]")
            if not value:
                empty = empty or FoundList((), None, f"{here}[]")
                if name in kind.own:
                    return empty
        elif value is None or value == {}:
            told = "null" if value is None else "{}"
            empty = empty or FoundList((), None, f"{here}:{told}")
        elif type(value) is dict:
            objects.append((is_own, here, value))
    for is_own, here, value in objects if depth < _MOST_LAYERS else ():
        if is_own and _is_record(value, kind):
            return FoundList([value], None, f"{here}{{one}}")
        found = _search(value, kind, f"{here}.", depth + 1)
        if found is None and len(value) == 1:
            # GraphQL: one field inside the other, down to the list
            ((inner, only),) = value.items()
            if type(only) is dict:
                found = _search(only, kind, f"{here}.{inner}.", depth + 1)
        found = found or (None if is_own else _only_list(value, kind, f"{here}."))
        found = found or _keyed(value, kind, here, is_own=is_own)
        if found is not None:
            return found
    return empty


def _only_list(obj: Mapping[str, Json], kind: Kind[Any], path: str) -> FoundList | None:
    """The one list of objects in `obj` and one layer down, if there is but one."""
    inner = ((f"{path}{key}.", value) for key, value in obj.items() if fold(key) not in _NEVER)
    found = [
        FoundList(value, None, f"{where}{key}[]")
        for where, layer in ((path, obj), *inner)
        if type(layer) is dict
        for key, value in layer.items()
        if fold(key) not in _NEVER
        and type(value) is list
        and any(type(item) is dict and _may_be(item, kind) for item in value[:_SAMPLE])
    ]
    return found[0] if len(found) == 1 else None


def _may_be(item: Mapping[str, Json], kind: Kind[Any]) -> bool:
    return kind.table.plan(unwrapped(item, kind)).is_record


def _keyed(
    obj: Mapping[str, Json], kind: Kind[Any], path: str, *, is_own: bool = False
) -> FoundList | None:
    """A map of id to record; under the kind's own name some values may be broken.

    What has keys that name a field is a record itself, and no map.
    """
    values = list(obj.values())
    records = [value for value in values if type(value) is dict]
    if (
        not records
        or not (is_own or len(records) == len(values))
        or kind.table.plan(obj).has
        or not _WRAPPER_SET.isdisjoint(map(fold, islice(obj, _SAMPLE)))
        or not all(kind.table.plan(value).has - {"id"} for value in records[:_SAMPLE])
    ):
        return None
    return FoundList(values, list(obj), f"{path}{{id}}")


def _is_record(value: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """True if the object has an identifier and more, and is no envelope."""
    filled, needs = kind.table.fills(value), kind.table.needs
    return bool(filled - _WEAK) and not filled.isdisjoint(needs or filled)


def find_one(body: Json, kind: Kind[Any], depth: int = 0) -> Iterator[Mapping[str, Json]]:
    """The objects in `body` that may be the one of `kind`, best first."""
    if type(body) is list:
        objects = [item for item in body if type(item) is dict]
        body = objects[0] if len(objects) == 1 else None
        depth += 1
    if type(body) is not dict or depth > _MOST_LAYERS:
        return
    names: Iterable[str] = ()
    if not _is_record(body, kind):
        is_firm = any(each in _FIRM for _, each in _wrapping(tuple(body), kind.own))
        if is_firm and _is_record(unwrapped(body, kind), kind):
            yield body
            return
        singular = (name.removesuffix("s") for name in kind.also)
        names = (*kind.own, *singular, *WRAPPERS)
    for name in names:
        yield from find_one(under(body, name), kind, depth + 1)
    if kind.table.fills(body):
        yield body
    elif len(body) == 1 and type(only := next(iter(body.values()))) is dict:
        # GraphQL: the name of what was asked for, whatever it is
        yield from find_one(only, kind, depth + 1)


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
    if _NESTED.isdisjoint(map(type, obj.values())):
        return obj
    for key, folded in _wrapping(tuple(obj), kind.own):
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
            # JSON:API: `type` is the resource's name, relationships are references.
            if fold(str(outer.get("type"))) in (*kind.own, *kind.also):
                del outer["type"]
            outer.pop("links", None)
            related = outer.pop("relationships", None)
            for name, value in related.items() if type(related) is dict else ():
                outer.setdefault(name, value.get("data", value) if type(value) is dict else value)
        return unwrapped({**outer, **inner}, kind, depth + 1)
    return obj


_SIDE: Final = word_set("included includes agents companies users linked related refs")
_MOST_BESIDE: Final = 5_000


def names_beside(body: Json) -> dict[str, SafeText]:
    """Names by id of the records that came along: JSON:API `included`, sideloaded lists."""
    names: dict[str, SafeText] = {}
    beside = body.items() if type(body) is dict and len(body) > 1 else ()
    lists = [value for key, value in beside if type(value) is list and fold(key) in _SIDE]
    for item in (item for each in lists for item in each[:_MOST_BESIDE] if type(item) is dict):
        found_id, inner = item.get("id", item.get("_id")), item.get("attributes")
        named = inner if type(inner) is dict else item
        told = (under(named, name) for name in ("name", "displayname", "title", "label"))
        name = next((each for each in told if type(each) is str and each), None)
        if name is not None and type(found_id) in (str, int) and found_id != "":
            names.setdefault(str(found_id), safe(name))
    return names
