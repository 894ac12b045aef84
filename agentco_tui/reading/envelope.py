"""Finds the records in an answer, and takes a single record out of the object that wraps it.

- `find_list` returns the list of records of one kind, `find_one` the objects that may be the one
  record of an answer, `unwrap_record` a record without its wrapper, and `sideloaded_names` the
  names of other records that came in the same answer.
- An *envelope* is an object around the records: `{"data": {"tasks": […]}, "total": 2}`. A
  *wrapper* is a key under which an envelope holds them, such as `data` or `results`.
- A `Kind` describes one kind of record, for example tasks. `kind.list_keys` are the keys that
  platforms (the remote services that run AI agents) use for it ("tasks"),
  `kind.fallback_list_keys` less certain ones ("issues"), tried after the wrappers.
- A *slot* is our name of a field ("id", "at", "limit month"). `kind.names` knows which keys fill
  which slot: `slots(obj)` returns those that the keys of an object may fill, `filled_slots(obj)`
  only those with a value. The keys and their slots are declared in the files of `kinds/`.
- Keys are compared *folded*: `fold("created_At") == "createdat"`. Every set below is of folded
  keys.

A list is found by its type, never by its key alone: a number under `tasks` is no list. It is
searched for under the kind's own keys, under the usual wrappers, one layer below these, and under
the fallback keys; then the only list of objects in the answer is taken. Lists are joined only where
one list was cut into time buckets or pages.

`FoundList.path` tells the user where the records were found: "data.tasks[]" is a list, "tasks{id}"
a map of id to record, "{one}" a single record in place of a list, "{paging}" an answer with only
counts and links, hence an empty list, and "tasks:null" an empty value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.identity import has_id_field
from agentco_tui.reading.json_access import Json, get_field, keys_of, value_at
from agentco_tui.reading.schema import Kind
from agentco_tui.reading.values.scalar import to_count
from agentco_tui.text import SafeText, clean_line
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
"""Keys that hold the records, best first, and who uses them. `*`: may also wrap each record."""
_WRAPPER_NAMES: Final = [
    name for line in _WRAPPERS.splitlines() for name in line.partition("#")[0].split()
]
WRAPPERS: Final = tuple(map(fold, _WRAPPER_NAMES))
"""The keys of `_WRAPPERS`, folded, best first."""
_WRAPPER_SET: Final = frozenset(WRAPPERS)
_RECORD_WRAPPERS: Final = frozenset(fold(name) for name in _WRAPPER_NAMES if name.endswith("*"))
"""Wrappers that may also be around each record of a list; the others hold an object that the
record is about."""
_FIRM_WRAPPERS: Final = frozenset(("attributes", "node", "source"))
"""Wrappers that hold the record even if there are fields beside them (see `_is_firm`)."""
_AMBIGUOUS_WRAPPERS: Final = _FIRM_WRAPPERS | word_set(
    "fields properties info item record resource object entity document"
)
"""Keys of objects that hold either the record or another record, which this one is about."""
_WRAPPERS_OF_SAME_ID: Final = word_set("item record resource object entity document")
"""Ambiguous wrappers that hold the record only if there is no id outside, or the same inside."""
_READ_BY_PATH: Final = frozenset(("properties", "fields"))
"""Ambiguous wrappers into which declared paths lead, such as `properties.status`."""
_ID_KEYS: Final = frozenset(
    (
        *("id", "uuid", "guid", "uid", "sysid", "gid", "urn", "identifier", "slug", "documentid"),
        *("key", "url"),
    )
)
"""Keys under which any object, of whatever kind, has its own id."""
_COMMON_SLOTS: Final = frozenset(
    (
        *("id", "key", "created", "updated", "at"),
        "stamp",  # a bare `timestamp`, which may be the time of the answer
        *("type", "kind"),  # the platform's word for the sort of task, alert or step
        "verb",  # what a log entry says was done, also under `kind` or `activity`
    )
)
"""Slots that an envelope may fill as well: filling only these does not make an object a record."""
_LISTS_WITHOUT_RECORDS: Final = word_set(
    """errors messages warnings links included meta error pagination paging pageinfo tags
    permissions scopes filters facets sort aggregations columns headers breadcrumbs notices
    actions fields properties attributes"""
)
"""Keys of lists that never hold the records."""
_ROW_COUNT_KEYS: Final = word_set(
    """total count results totalcount totalitems totalelements totalresults totalrecords totalrows
    totaldocs totalhits numfound nextpagetoken nexttoken nextcursor next cursor"""
)
"""Keys of counts and cursors that are 0 or empty if the list has no rows."""
_PAGING_KEYS: Final = _ROW_COUNT_KEYS | word_set(
    """page perpage pagesize limit offset size status success ok hasmore number pages totalpages
    pagecount currentpage lastpage itemsperpage startindex start previous prev"""
)
"""All keys beside a list that are about paging or the success of the request."""
_PAGING_OBJECTS: Final = word_set("page pagination paging pageinfo pageable meta metadata")
"""Keys of objects beside a list that hold paging fields."""
_LINK_KEYS: Final = word_set(
    """links link self url context odatacontext odataetag templates schemas kind apiversion object
    requestid traceid timestamp generatedat took version"""
)
"""Keys that may be beside an empty list and say nothing about its rows: links, types, request ids.
"""
_HAL_PAGE_LINKS: Final = word_set("self first last prev profile curies search")
"""HAL's links in the last page of a collection; any other link leads to further resources."""
_NO_ID_KEYS: Final = _WRAPPER_SET | _PAGING_OBJECTS | _LINK_KEYS
"""Keys that are not ids: an object that has one is no map of id to record."""
_MAX_DEPTH: Final = 4
"""How many layers of objects are searched."""
_MAX_KEYS: Final = 400
"""How many keys of one object are searched."""
_NESTED: Final = frozenset((dict,))
_SAMPLE: Final = 20
"""How many of a list's first items are examined to decide what the list holds."""


class FoundList(NamedTuple):
    """A list of records, and where it was found."""

    items: Sequence[Json]
    keys: Sequence[str] | None
    """The id of each item if they came as a map of id to record, else None."""
    path: str
    """Where it was found, for the user: "data.tasks[]" (see the module's docstring)."""


def find_list(body: Json, kind: Kind[Any]) -> FoundList | None:
    """The list of `kind` in `body`, or None if `body` has no list that makes sense."""
    if kind.where is not None:
        return _list_at(body, kind.where)
    if body is None:
        return FoundList((), None, "null")
    if body == {}:
        return FoundList((), None, "{}")
    if type(body) is list:
        return _join_pages(FoundList(body, None, "[]"), kind)
    if type(body) is not dict:
        return None
    found = _find_named_list(body, kind, "", 0) or _find_only_list(body, kind, "")
    if found is None and _is_page_without_rows(body):
        return FoundList((), None, "{paging}")
    if found is None:
        found = _find_map(body, kind, "")
    if found is None and _is_record(body, kind):
        found = FoundList([body], None, "{one}")
    if found is not None:
        return _join_pages(found, kind)
    if _holds_only_an_empty_list(body):
        return FoundList((), None, "{paging}")
    return None


def _list_at(body: Json, where: str) -> FoundList | None:
    """The list at an exact path, the body itself for ""; None if there is no list."""
    rows = value_at(body, where) if where else body
    if type(rows) is not list:
        return None
    return FoundList(rows, None, f"{where}[]")


def _is_page_without_rows(body: Mapping[str, Json]) -> bool:
    """Whether this is an envelope whose empty list was left out.

    `{"total": 0}`, `{"nextPageToken": ""}`, HAL's `{"_links": {…}, "page": {"totalElements": 0}}`
    and `{"_links": {…}}`; also a page after the last row.
    """
    paging: dict[str, Json] = {}
    for key, value in body.items():
        name = fold(key)
        if name in _PAGING_OBJECTS and type(value) is dict:
            paging.update((fold(inner), each) for inner, each in value.items())
        elif name in _PAGING_KEYS:
            paging[name] = value
        elif name not in _LINK_KEYS:
            return False
    row_counts = [value for name, value in paging.items() if name in _ROW_COUNT_KEYS]
    if row_counts and all(value in (None, "", 0, "0", False) for value in row_counts):
        return True
    total = to_count(paging.get("totalelements"))
    page_number = to_count(paging.get("number"))
    page_size = to_count(paging.get("size"))
    if total is None and not any(row_counts) and _has_only_hal_page_links(body):
        return True
    if total is None or page_number is None or page_size is None:
        return False
    return page_number * page_size >= total


def _has_only_hal_page_links(body: Mapping[str, Json]) -> bool:
    """Whether `_links` has `self`, and nothing that leads to other resources than pages."""
    links = body.get("_links")
    return type(links) is dict and {"self"} <= set(links) <= _HAL_PAGE_LINKS


def _holds_only_an_empty_list(body: Mapping[str, Json], depth: int = 0) -> bool:
    """Whether counts and links surround nothing but an empty list, whatever its key.

    `_find_only_list` would have found a list with rows there.
    """
    about_pages = _PAGING_KEYS | _PAGING_OBJECTS | _LINK_KEYS
    others = [(fold(key), value) for key, value in body.items() if fold(key) not in about_pages]
    if len(others) != 1:
        return False
    ((name, value),) = others
    if type(value) is dict and value and depth < 1:
        return _holds_only_an_empty_list(value, depth + 1)
    return type(value) is list and not value and name not in _LISTS_WITHOUT_RECORDS


def _join_pages(outer: FoundList, kind: Kind[Any]) -> FoundList:
    """The records of all items if these are envelopes, else `outer` unchanged.

    A list of envelopes is a list of pages, of time buckets (OpenAI's costs) or of the events of a
    stream.
    """
    sample = [item for item in outer.items[:_SAMPLE] if type(item) is dict]
    if not sample or any(_is_record_without_own_list(item, kind) for item in sample):
        return outer
    if not any(_find_named_list(item, kind, "", 1) for item in sample):
        return outer
    if any(_is_entry_with_parts(item, kind) for item in sample):
        return outer
    searched = (_find_named_list(item, kind, "", 1) for item in outer.items if type(item) is dict)
    pages = [page for page in searched if page is not None]
    last = pages[-1]
    is_stream = any("type" in item or "event" in item for item in sample)
    if is_stream or len(pages) == 1:
        # Each event of a stream repeats the whole list, so the last one is the current list.
        return last._replace(path=f"[-1].{last.path}")
    records = [record for page in pages for record in page.items]
    return FoundList(records, None, f"{outer.path}.{last.path}")


def _is_record_without_own_list(item: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """Whether an item may be a record, and has no list under a key of the kind's own."""
    if not _looks_like_record(item, kind):
        return False
    return not any(type(get_field(item, name)) is list for name in kind.list_keys)


def _is_entry_with_parts(row: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """Whether a row is a record that has a list of its parts, and no page of records.

    In Google Workspace's audit log actor and time are in the row, and its `events` have neither. A
    budget of several agents has the figures, and the agents in it have none.
    """
    inner = _find_named_list(row, kind, "", 1)
    if inner is None:
        return False
    parts = [part for part in inner.items[:_SAMPLE] if type(part) is dict]
    if kind.name.endswith("budget"):
        return _has_figures(row, kind) and not any(_has_figures(part, kind) for part in parts)
    if kind.name != "activity":
        return False
    names_actor_or_action = kind.names.filled_slots(row) - _COMMON_SLOTS
    return bool(names_actor_or_action) and not any(
        {"id", "at"} & kind.names.filled_slots(part) for part in parts
    )


_FIGURE_NAMES: Final = word_set("limit spent remaining share")
"""First words of the slots of a budget's figures; the second, if any, is a period. The share is the
spent part of the limit."""


def _has_figures(obj: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """Whether an object has a figure of a budget, of whatever period."""
    return any(slot.partition(" ")[0] in _FIGURE_NAMES for slot in kind.names.filled_slots(obj))


class _InnerObject(NamedTuple):
    """An object in which the list may be, one layer down."""

    value: Mapping[str, Json]
    path: str
    is_own: bool
    """Whether its key is one of the kind's, and no wrapper."""


def _find_named_list(
    obj: Mapping[str, Json], kind: Kind[Any], path: str, depth: int
) -> FoundList | None:
    """The list under a key of the kind or a wrapper, in `obj` or in an object under such a key.

    An empty list or a null is the result only if no list with records is found.
    """
    empty: FoundList | None = None
    objects: list[_InnerObject] = []
    for name in (*kind.list_keys, *WRAPPERS, *kind.fallback_list_keys):
        key = next(iter(keys_of(obj, name)), None)
        if key is None:
            continue
        value = get_field(obj, name)
        key_path = f"{path}{key}"
        is_own = name not in _WRAPPER_SET
        if type(value) is list and name not in _LISTS_WITHOUT_RECORDS:
            if any(type(item) is dict for item in value[:_SAMPLE]) or (is_own and value):
                return FoundList(value, None, f"{key_path}[]")
            if not value:
                empty = empty or FoundList((), None, f"{key_path}[]")
                if name in kind.list_keys:
                    return empty
        elif value is None:
            empty = empty or FoundList((), None, f"{key_path}:null")
        elif value == {}:
            empty = empty or FoundList((), None, f"{key_path}:{{}}")
        elif type(value) is dict:
            objects.append(_InnerObject(value, key_path, is_own))
    if depth < _MAX_DEPTH:
        for inner in objects:
            found = _find_in_object(inner, kind, depth + 1)
            if found is not None:
                return found
    return empty


def _find_in_object(inner: _InnerObject, kind: Kind[Any], depth: int) -> FoundList | None:
    """The list in an object under a key of the kind or a wrapper; a single record is one row."""
    value, path, is_own = inner
    if is_own and _is_record(value, kind):
        return FoundList([value], None, f"{path}{{one}}")
    found = _find_named_list(value, kind, f"{path}.", depth)
    if found is None and len(value) == 1:
        # GraphQL nests single fields, whose names are the query's, down to the list.
        ((key, only_value),) = value.items()
        if type(only_value) is dict:
            found = _find_named_list(only_value, kind, f"{path}.{key}.", depth)
    if found is None and not is_own:
        found = _find_only_list(value, kind, f"{path}.")
    return found or _find_map(value, kind, path, is_own=is_own)


def _find_only_list(obj: Mapping[str, Json], kind: Kind[Any], path: str) -> FoundList | None:
    """The list of records in `obj` or one layer down; None if there are several, or none."""
    layers = [(path, obj)]
    for key, value in obj.items():
        if type(value) is dict and fold(key) not in _LISTS_WITHOUT_RECORDS:
            layers.append((f"{path}{key}.", value))
    found = [
        FoundList(value, None, f"{layer_path}{key}[]")
        for layer_path, layer in layers
        for key, value in layer.items()
        if type(value) is list
        and fold(key) not in _LISTS_WITHOUT_RECORDS
        and any(type(item) is dict and _looks_like_record(item, kind) for item in value[:_SAMPLE])
    ]
    return found[0] if len(found) == 1 else None


def _looks_like_record(item: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """Whether the keys of an object, taken out of its wrapper, may be those of a record."""
    return kind.names.is_record(unwrap_record(item, kind))


def _find_map(
    obj: Mapping[str, Json], kind: Kind[Any], path: str, *, is_own: bool = False
) -> FoundList | None:
    """The values of a map of id to record; None if `obj` is no such map.

    Under a key of the kind's own (`is_own`) some values may be no objects: these are reported as
    unreadable rows. An object with keys that name fields is a record itself, and no map.
    """
    values = list(obj.values())
    records = [value for value in values if type(value) is dict]
    if not records or not (is_own or len(records) == len(values)):
        return None
    if kind.names.slots(obj):
        return None
    if not _NO_ID_KEYS.isdisjoint(map(fold, islice(obj, _SAMPLE))):
        return None
    if not all(kind.names.slots(record) - {"id", "key"} for record in records[:_SAMPLE]):
        return None
    return FoundList(values, list(obj), f"{path}{{id}}")


def _is_record(value: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """Whether an object fills a slot that no envelope fills, and one that the kind needs."""
    filled = kind.names.filled_slots(value)
    needs_one_of = kind.names.needs_one_of
    if not filled - _COMMON_SLOTS:
        return False
    return not needs_one_of or not filled.isdisjoint(needs_one_of)


def find_one(body: Json, kind: Kind[Any], depth: int = 0) -> Iterator[Mapping[str, Json]]:
    """The objects in `body` that may be the one record of `kind`, best first."""
    if type(body) is list:
        objects = [item for item in body if type(item) is dict]
        body = objects[0] if len(objects) == 1 else None
        depth += 1
    if type(body) is not dict or depth > _MAX_DEPTH:
        return
    names: Iterable[str] = ()
    if not _is_record(body, kind):
        wrapping_keys = _wrapping_keys(tuple(body), kind.list_keys)
        has_firm_wrapper = any(folded in _FIRM_WRAPPERS for _, folded in wrapping_keys)
        if has_firm_wrapper and _is_record(unwrap_record(body, kind), kind):
            yield body
            return
        singular = (name.removesuffix("s") for name in kind.fallback_list_keys)
        names = (*kind.list_keys, *singular, *WRAPPERS)
    for name in names:
        inner = get_field(body, name)
        is_ambiguous = name in _AMBIGUOUS_WRAPPERS and type(inner) is dict
        if is_ambiguous and _is_another_record(inner, body, kind, name):
            continue
        yield from find_one(inner, kind, depth + 1)
    if kind.names.filled_slots(body):
        yield body
    elif len(body) == 1:
        # GraphQL: the only key is the name of the query, whatever that is.
        (only_value,) = body.values()
        if type(only_value) is dict:
            yield from find_one(only_value, kind, depth + 1)


@memoized(1024)
def _wrapping_keys(keys: tuple[str, ...], own: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """(key, folded key) of the keys that may hold the record itself; `own` are the kind's."""
    pairs = [(key, fold(key)) for key in keys[:_MAX_KEYS]]
    return tuple(pair for pair in pairs if pair[1] in _RECORD_WRAPPERS or pair[1] in own)


class _OpaqueObject(dict[str, Json]):
    """An object that is another record: kept with the unknown fields, and never searched.

    Readers search only values whose exact type is dict, so this subclass is passed over.
    """


def _id_of(obj: Mapping[str, Json], kind: Kind[Any]) -> Json:
    """The object's own id, None if it has none."""
    for key, value in islice(obj.items(), _MAX_KEYS):
        if fold(key) in _ID_KEYS and type(value) in (str, int) and value != "":
            declared_id = kind.names.value_of(obj, "id")
            return value if declared_id is None else declared_id
    return None


def _is_another_record(
    inner: Mapping[str, Json], outer: Mapping[str, Json], kind: Kind[Any], folded: str
) -> bool:
    """Whether the object `inner` under the key `folded` is another record, which `outer` is about.

    Then both have ids, and these differ. A `document` or the like needs no id to be another one.
    """
    inner_id = _id_of(inner, kind)
    if inner_id is None and folded not in _WRAPPERS_OF_SAME_ID:
        return False
    if folded == "info":
        # LiteLLM's /key/info answers with the API key beside the record.
        outer = {key: value for key, value in outer.items() if key != "key"}
    outer_id = _id_of(outer, kind)
    if outer_id is None:
        outer_id = kind.names.value_of(outer, "id")
    if outer_id is None:
        # An id under an undeclared key. What surrounds `data` may be the delivery of an event.
        return folded in _AMBIGUOUS_WRAPPERS and has_id_field(outer)
    return str(outer_id) != str(inner_id)


def _is_firm(key: str, folded: str, outer: Mapping[str, Json], kind: Kind[Any]) -> bool:
    """Whether the object under this key is the record, even if `outer` has fields beside it.

    A `node` may be an edge's, or the machine that a task runs on; a `source` may be what
    Elasticsearch keeps under `_source`, or where an event came from.
    """
    if folded == "node":
        return "cursor" in outer or kind.names.value_of(outer, "id") is None
    if folded == "source":
        return key == "_source" or "_index" in outer
    return folded in _FIRM_WRAPPERS


def unwrap_record(obj: Mapping[str, Json], kind: Kind[Any], depth: int = 0) -> Mapping[str, Json]:
    """A record without its wrapper (`node`, `attributes`, `task` and so on); else `obj` itself.

    The fields beside the wrapper are kept unless the inner object has a field of the same name.
    An inner object with an id that differs from the row's is not the record but what the row is
    about, and none of its fields is a field of the row.
    """
    if _NESTED.isdisjoint(map(type, obj.values())):
        return obj
    for key, folded in _wrapping_keys(tuple(obj), kind.list_keys):
        inner = obj[key]
        if type(inner) is not dict or not inner or depth >= _MAX_DEPTH:
            continue
        outer = {name: value for name, value in obj.items() if name != key}
        if not _is_firm(key, folded, outer, kind):
            if _is_another_record(inner, outer, kind, folded):
                if folded in _READ_BY_PATH:
                    obj = {**obj, key: _OpaqueObject(inner)}
                continue
            if kind.names.filled_slots(outer) - _COMMON_SLOTS or not kind.names.slots(inner):
                continue
        if folded == "node":
            outer.pop("cursor", None)
        if folded == "attributes":
            outer = _json_api_members(outer, kind)
            # The members of a resource object take precedence over attributes of the same name.
            inner = {
                name: value for name, value in inner.items() if name == "type" or name not in outer
            }
        return unwrap_record({**outer, **inner}, kind, depth + 1)
    return obj


def _json_api_members(outer: Mapping[str, Json], kind: Kind[Any]) -> dict[str, Json]:
    """The members of a JSON:API resource object beside `attributes`, as fields of the record.

    Its `relationships` become fields that refer to other records. `links`, and a `type` that only
    names the kind, are left out.
    """
    members = dict(outer)
    if fold(str(members.get("type"))) in (*kind.list_keys, *kind.fallback_list_keys):
        del members["type"]
    members.pop("links", None)
    related = members.pop("relationships", None)
    if type(related) is dict:
        for name, value in related.items():
            if type(value) is dict:
                value = value.get("data", value)  # noqa: PLW2901
            members.setdefault(name, value)
    return members


_SIDELOAD_KEYS: Final = word_set("included includes agents companies users linked related refs")
"""Keys of lists with other records that the records of the answer refer to."""
_MAX_SIDELOADED: Final = 5_000
"""How many records of each such list are read."""
_NAME_KEYS: Final = ("name", "displayname", "title", "label")
"""Keys of the name of a sideloaded record, best first."""


def sideloaded_names(body: Json) -> dict[str, SafeText]:
    """Names by id of the other records in an answer: JSON:API's `included`, sideloaded lists."""
    if type(body) is not dict or len(body) < 2:
        return {}
    names: dict[str, SafeText] = {}
    for key, value in body.items():
        if type(value) is not list or fold(key) not in _SIDELOAD_KEYS:
            continue
        for item in value[:_MAX_SIDELOADED]:
            if type(item) is dict:
                _add_sideloaded_name(item, names)
    return names


def _add_sideloaded_name(item: Mapping[str, Json], names: dict[str, SafeText]) -> None:
    """Add the name of one record to `names` by its id, if it has both and the id is new."""
    record_id = item.get("id", item.get("_id"))
    if type(record_id) not in (str, int) or record_id == "":
        return
    attributes = item.get("attributes")
    named = attributes if type(attributes) is dict else item
    for key in _NAME_KEYS:
        name = get_field(named, key)
        if type(name) is str and name:
            names.setdefault(str(record_id), clean_line(name))
            return
