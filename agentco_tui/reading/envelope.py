"""Where in an answer the records are, and what a single record is wrapped in.

A list is looked for by its type: under the kind's own names, under the usual wrappers, one layer
down in them, under what relatives call it; then the only list of objects there is. A number
under a list's name is no list. Nothing is ever joined but what is one list cut in time buckets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.identity import has_id_field
from agentco_tui.reading.json_access import Json, get_field, keys_of
from agentco_tui.reading.schema import Kind
from agentco_tui.reading.values.scalar import to_count
from agentco_tui.text import SafeText, safe
from agentco_tui.text.memoized import memoized

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
    d               # OData v2 (SAP)
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
"""Wrappers that hold the record whatever stands beside them, where `_is_firm` agrees."""
_NO_ENVELOPES: Final = _FIRM | word_set(
    "fields properties info item record resource object entity document"
)
"""Names of objects that may hold the record, or something that the record is about."""
_OF_THE_SUBJECT: Final = word_set("item record resource object entity document")
"""Those of them that hold the record only where it has no id outside, or the same one inside."""
_READ_INSIDE: Final = frozenset(("properties", "fields"))
"""Those of them that the tables have dotted names for, such as `properties.status`."""
_OWN_ID: Final = frozenset(
    (
        *("id", "uuid", "guid", "uid", "sysid", "gid", "urn", "identifier", "slug", "documentid"),
        *("key", "url"),
    )
)
"""Folded names under which any object tells its own id."""
_WEAK: Final = word_set("id key type kind created updated at stamp verb")
"""Slots that an object round a record may have itself."""
_NEVER: Final = word_set(
    """errors messages warnings links included meta error pagination paging pageinfo tags
    permissions scopes filters facets sort aggregations columns headers breadcrumbs notices
    actions fields properties attributes"""
)
"""Names of lists that hold no records."""
_TELL_ROWS: Final = word_set(
    """total count results totalcount totalitems totalelements totalresults totalrecords totalrows
    totaldocs totalhits numfound nextpagetoken nexttoken nextcursor next cursor"""
)
_PAGING: Final = _TELL_ROWS | word_set(
    """page perpage pagesize limit offset size status success ok hasmore number pages totalpages
    pagecount currentpage lastpage itemsperpage startindex start previous prev"""
)
_PAGING_OBJECTS: Final = word_set("page pagination paging pageinfo pageable meta metadata")
"""Objects beside a list that may tell how many rows there are."""
_LINKS: Final = word_set(
    """links link self url context odatacontext odataetag templates schemas kind apiversion object
    requestid traceid timestamp generatedat took version"""
)
"""What may be beside an empty list and tells nothing of rows: links, types, marks of the call."""
_OF_PAGES: Final = word_set("self first last prev profile curies search")
"""Names of HAL's links in a collection's last page; others lead to what else there is."""
_NO_IDS: Final = _WRAPPER_SET | _PAGING_OBJECTS | _LINKS
"""Keys that are no ids in a map of id to record."""
_MOST_LAYERS: Final = 4
_MOST_KEYS: Final = 400
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
    found = _search(body, kind, "", 0) or _only_list(body, kind, "")
    if found is None and _tells_no_rows(body):
        return FoundList((), None, "{paging}")
    found = found or _keyed(body, kind, "")
    if found is not None or _is_record(body, kind):
        return _joined(found or FoundList([body], None, "{one}"), kind)
    if _holds_only_an_empty_list(body):
        return FoundList((), None, "{paging}")
    return None


def _tells_no_rows(body: Mapping[str, Json]) -> bool:
    """Whether this is an envelope whose empty list was left out.

    `{"total": 0}`, `{"nextPageToken": ""}`, HAL's `{"_links": {…}, "page": {"totalElements": 0}}`
    and `{"_links": {…}}`; also a page that is behind the last row.
    """
    told: dict[str, Json] = {}
    hal_links = body.get("_links")
    is_last_of_hal = type(hal_links) is dict and {"self"} <= set(hal_links) <= _OF_PAGES
    for key, value in body.items():
        name = fold(key)
        if name in _PAGING_OBJECTS and type(value) is dict:
            told.update((fold(inner), each) for inner, each in value.items())
        elif name in _PAGING:
            told[name] = value
        elif name not in _LINKS:
            return False
    of_rows = [told[name] for name in told if name in _TELL_ROWS]
    if of_rows and not any(value not in (None, "", 0, "0", False) for value in of_rows):
        return True
    counts = [to_count(told.get(name)) for name in ("totalelements", "number", "size")]
    total, number, size = counts
    if is_last_of_hal and total is None and not any(of_rows):
        return True
    return None not in counts and (number or 0) * (size or 0) >= (total or 0)


def _holds_only_an_empty_list(body: Mapping[str, Json], depth: int = 0) -> bool:
    """Whether an empty list is all there is beside counts and links, whatever its name.

    A list with rows would be found there by `_only_list`.
    """
    about_pages = _PAGING | _PAGING_OBJECTS | _LINKS
    others = [(fold(key), value) for key, value in body.items() if fold(key) not in about_pages]
    if len(others) != 1:
        return False
    ((name, value),) = others
    if type(value) is dict and value and depth < 1:
        return _holds_only_an_empty_list(value, depth + 1)
    return type(value) is list and not value and name not in _NEVER


def _joined(flat: FoundList, kind: Kind[Any]) -> FoundList:
    """A list of records as it is; of one of envelopes (the events of a stream, pages, the time
    buckets of OpenAI's costs) what is in them.
    """
    items = flat.items
    sample = [item for item in items[:_SAMPLE] if type(item) is dict]
    if not sample or any(
        _may_be(item, kind) and not any(type(get_field(item, name)) is list for name in kind.own)
        for item in sample
    ):
        return flat
    if not any(_search(row, kind, "", 1) for row in sample):
        return flat
    if any(_is_entry_with_parts(row, kind) for row in sample):
        return flat
    each = (_search(row, kind, "", 1) for row in items if type(row) is dict)
    inner = [found for found in each if found is not None]
    last = inner[-1]
    if len(inner) == 1 or any("type" in item or "event" in item for item in sample):
        # A stream repeats the whole list in each event: the last one holds.
        return last._replace(path=f"[-1].{last.path}")
    joined = [item for found in inner for item in found.items]
    return FoundList(joined, None, f"{flat.path}.{last.path}")


def _is_entry_with_parts(row: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """Whether a row is a record that has a list of its parts, and no page of records.

    In Google Workspace's audit log actor and time are in the row, and its `events` have neither. A
    budget of several agents has the figures, and the agents in it have none.
    """
    inner = _search(row, kind, "", 1)
    if inner is None:
        return False
    parts = [part for part in inner.items[:_SAMPLE] if type(part) is dict]
    if kind.name.endswith("budget"):
        has_figures = [_has_figures(each, kind) for each in (row, *parts)]
        return has_figures[0] and not any(has_figures[1:])
    if kind.name != "activity":
        return False
    says_who_or_what = kind.names.filled_slots(row) - _WEAK - {"at"}
    return bool(says_who_or_what) and not any(
        {"id", "at"} & kind.names.filled_slots(part) for part in parts
    )


_FIGURES: Final = word_set("limit spent remaining share")


def _has_figures(obj: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """Whether an object has a figure of a budget, of whatever period."""
    return any(slot.partition(" ")[0] in _FIGURES for slot in kind.names.filled_slots(obj))


def _search(obj: Mapping[str, Json], kind: Kind[Any], path: str, depth: int) -> FoundList | None:
    """A list under one of the names that lists stand under, here or in an object under one."""
    empty: FoundList | None = None
    objects: list[tuple[bool, str, Mapping[str, Json]]] = []
    for name in (*kind.own, *WRAPPERS, *kind.also):
        key = next(iter(keys_of(obj, name)), None)
        if key is None:
            continue
        value, here, is_own = get_field(obj, name), f"{path}{key}", name not in _WRAPPER_SET
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
    return kind.names.is_record(unwrapped(item, kind))


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
        or kind.names.slots(obj)
        or not _NO_IDS.isdisjoint(map(fold, islice(obj, _SAMPLE)))
        or not all(kind.names.slots(value) - {"id"} for value in records[:_SAMPLE])
    ):
        return None
    return FoundList(values, list(obj), f"{path}{{id}}")


def _is_record(value: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """True if the object has an identifier and more, and is no envelope."""
    filled, needs = kind.names.filled_slots(value), kind.names.needs
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
        inner = get_field(body, name)
        if name in _NO_ENVELOPES and type(inner) is dict and _is_another(inner, body, kind, name):
            continue
        yield from find_one(inner, kind, depth + 1)
    if kind.names.filled_slots(body):
        yield body
    elif len(body) == 1 and type(only := next(iter(body.values()))) is dict:
        # GraphQL: the name of what was asked for, whatever it is
        yield from find_one(only, kind, depth + 1)


@memoized(1024)
def _wrapping(keys: tuple[str, ...], own: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """(key, folded) of the keys that may hold the record itself."""
    return tuple(
        (key, folded) for key in keys[:400] if (folded := fold(key)) in _ROUND_EACH or folded in own
    )


class _Closed(dict[str, Json]):
    """An object that is another record: kept with the unknown fields, and never looked into.

    Readers look into what is a dict by its exact type.
    """


def _own_id(obj: Mapping[str, Json], kind: Kind[Any]) -> Json:
    """The id that an object tells of itself, None without one."""
    for key, value in islice(obj.items(), _MOST_KEYS):
        if fold(key) in _OWN_ID and type(value) in (str, int) and value != "":
            own_id = kind.names.value_of(obj, "id")
            return value if own_id is None else own_id
    return None


def _is_another(
    inner: Mapping[str, Json], outer: Mapping[str, Json], kind: Kind[Any], folded: str
) -> bool:
    """Whether the object under this name is a record of its own, which the row is about: both have
    an id, and not the same one. A `document` or its like is one without an id, too.
    """
    inner_id = _own_id(inner, kind)
    if inner_id is None and folded not in _OF_THE_SUBJECT:
        return False
    # LiteLLM's /key/info answers with the API key beside the record.
    told = {key: value for key, value in outer.items() if folded != "info" or key != "key"}
    outer_id = _own_id(told, kind)
    if outer_id is None:
        outer_id = kind.names.value_of(told, "id")
    if outer_id is None:
        # An id of which no table knows; what is round `data` may be the delivery of an event.
        return folded in _NO_ENVELOPES and has_id_field(told)
    return str(outer_id) != str(inner_id)


def _is_firm(key: str, folded: str, outer: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """Whether an object under this name is the record, whatever is in `outer` beside it.

    A `node` may be an edge's, or the machine that a task runs on; a `source` may be what
    Elasticsearch keeps under `_source`, or where an event came from.
    """
    if folded == "node":
        return "cursor" in outer or kind.names.value_of(outer, "id") is None
    if folded == "source":
        return key == "_source" or "_index" in outer
    return folded in _FIRM


def unwrapped(obj: Mapping[str, Json], kind: Kind[Any], depth: int = 0) -> Mapping[str, Json]:
    """A record taken out of what it is wrapped in: `node`, `attributes`, `task` and so on.

    What stands beside the wrapper is kept unless the inner object has a field of the same name.
    An object with an id of its own inside a row with another one is no wrapped record: it is what
    the row is about, and nothing in it is a field of the row.
    """
    if _NESTED.isdisjoint(map(type, obj.values())):
        return obj
    for key, folded in _wrapping(tuple(obj), kind.own):
        inner = obj[key]
        if type(inner) is not dict or not inner or depth >= _MOST_LAYERS:
            continue
        outer = {name: value for name, value in obj.items() if name != key}
        if not _is_firm(key, folded, outer, kind):
            if _is_another(inner, outer, kind, folded):
                if folded in _READ_INSIDE:
                    obj = {**obj, key: _Closed(inner)}
                continue
            if kind.names.filled_slots(outer) - _WEAK or not kind.names.slots(inner):
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
            # A resource object's own members come before attributes of the same name.
            inner = {name: value for name, value in inner.items()
                     if name not in outer or name == "type"}  # fmt: skip
        return unwrapped({**outer, **inner}, kind, depth + 1)
    return obj


_SIDE: Final = word_set("included includes agents companies users linked related refs")
_MOST_BESIDE: Final = 5_000


def sideloaded_names(body: Json) -> dict[str, SafeText]:
    """Names by id of the records that came along: JSON:API `included`, sideloaded lists."""
    names: dict[str, SafeText] = {}
    beside = body.items() if type(body) is dict and len(body) > 1 else ()
    lists = [value for key, value in beside if type(value) is list and fold(key) in _SIDE]
    for item in (item for each in lists for item in each[:_MOST_BESIDE] if type(item) is dict):
        found_id, inner = item.get("id", item.get("_id")), item.get("attributes")
        named = inner if type(inner) is dict else item
        told = (get_field(named, name) for name in ("name", "displayname", "title", "label"))
        name = next((each for each in told if type(each) is str and each), None)
        if name is not None and type(found_id) in (str, int) and found_id != "":
            names.setdefault(str(found_id), safe(name))
    return names
