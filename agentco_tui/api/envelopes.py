"""Where in an answer the records are (SHAPES A and B).

A list is looked for by type: under the resource's own name, then under the usual names, then one
layer down, up to four layers; a number under a list's name is no list, an object may be a map of
id to record, a connection (`edges`, `nodes`) or another envelope. Nothing is ever joined but what
is one list cut in buckets.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Final

from agentco_tui.api import tables
from agentco_tui.api.names import fold, some, word_set
from agentco_tui.api.pairs import from_pairs
from agentco_tui.api.resources import FoundList, Resource
from agentco_tui.reading.json_body import BodyError, parse_json
from agentco_tui.reading.schema import Json

_LISTS: Final = (
    "data", "items", "results", "records", "entries", "content", "value", "values", "rows",
    "list", "nodes", "edges", "logs", "events", "alerts", "result", "objects", "docs",
    "documents", "hits", "elements", "collection", "page", "member", "hydramember", "resources",
)  # fmt: skip
_WRAPPERS: Final = (
    "data", "result", "response", "payload", "embedded", "body", "results", "content", "page",
    "items", "hits", "list", "records", "output", "json", "value", "root", "d", "groups",
    "grouped", "board", "lanes", "sections", "buckets",
)  # fmt: skip
_NOT_RECORDS: Final = word_set(
    """errors messages warnings links included meta error pagination paging pageinfo tags
    permissions scopes filters facets sort aggregations columns fields headers breadcrumbs
    notices actions"""
)
_META: Final = word_set(
    """meta metadata pagination paging pageinfo links link total count totalcount size page
    limit offset success ok status error errors message messages object first last next
    previous prev hasmore cursor nextcursor nextpagetoken perpage pagesize totalpages
    totalelements totalitems number empty timestamp time requestid traceid version took
    apiversion generatedat nextpage resultinfo warnings included code results resultcount
    returned self kind etag tiphash totalentries totalresults sort numberofelements pageable
    pages page_count currentpage servertime asof lastupdated updatedat"""
)
MAX_DEPTH: Final = 4
"""How many envelopes may be inside each other."""


def find_list(body: Json, resource: Resource) -> FoundList | None:
    """The list of `resource` in `body`, or None if there is no sensible one."""
    if body is None:
        return FoundList((), None, "null", None)
    if type(body) is str:
        return _inside_text(body, resource)
    if type(body) is list:
        return _bare(body, resource)
    if type(body) is not dict:
        return None
    if not body:
        return FoundList((), None, "{}", body)
    found = _search(body, resource, "", 0) or _last_resorts(body, resource)
    return _out_of_buckets(found, resource) if found is not None else None


def _inside_text(body: str, resource: Resource) -> FoundList | None:
    """JSON inside a JSON text: how some gateways wrap what a function returned."""
    inner = json_inside(body)
    if inner is None:
        return None
    found = find_list(inner, resource)
    return found._replace(path=f"text:{found.path}") if found else None


def json_inside(text: str) -> Json:
    """The object or list that a text holds as JSON, else None."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return parse_json(text.encode("utf-8", "replace"))
    except BodyError:
        return None


_SAMPLE: Final = 20
"""How many of a list's first items are looked at to see what it is a list of."""


def _bare(body: list[Json], resource: Resource) -> FoundList:
    """A bare array: of records, or of envelopes (a stream's events, time buckets, GraphQL's)."""
    flat = FoundList(body, None, "[]", None)
    rows = tables.under_first_row(body, resource.spec) if body and type(body[0]) is list else None
    if rows is not None:
        return FoundList(rows, None, "[][]", None)
    if not body or type(body[0]) is not dict:
        return flat
    sample = [item for item in body[:_SAMPLE] if type(item) is dict]
    if any(resource.spec.plan(item).slots for item in sample if not _holds_own(item, resource)):
        return flat
    inner: list[FoundList] = []
    for index, item in enumerate(body):
        found = _search(item, resource, "", 1) if type(item) is dict else None
        if found is not None and found.path:
            rows = resource.groups.told_by(item, list(found.items))
            inner.append(found._replace(items=rows))
        elif index >= _SAMPLE and not inner:
            return flat
    if not inner:
        return flat
    if any("type" in item or "event" in item for item in sample):
        # a stream repeats the whole list in each event: the last one holds
        last = inner[-1]
        return last._replace(path=f"[-1].{last.path}")
    if len(inner) == 1:
        return inner[0]._replace(path=f"[].{inner[0].path}")
    joined = [item for found in inner for item in found.items]
    return FoundList(joined, None, f"[].{inner[0].path}", None)


_NAMING: Final = word_set(
    "id name title agent agent_id company company_id scope_id text message verb task task_id"
)


def _out_of_buckets(found: FoundList, resource: Resource) -> FoundList:
    """The records inside time buckets (SHAPES A11), which are one list cut in pieces."""
    inner: list[Json] = []
    name = ""
    for item in found.items:
        if type(item) is not dict or resource.spec.plan(item).slots & _NAMING:
            return found
        lists = [
            key
            for key, value in item.items()
            if type(value) is list
            and all(type(each) is dict for each in value)
            and fold(key) not in _NOT_RECORDS
        ]
        if len(lists) != 1:
            return found
        name = lists[0]
        inner.extend(item[name])
    if not inner or from_pairs(item[name]) is not None:
        return found
    # Keys of a map of buckets name the buckets, not what is in them.
    return found._replace(items=inner, keys=None, path=f"{found.path}.{name}[]")


def _holds_own(item: Mapping[str, Json], resource: Resource) -> bool:
    names = resource.own
    return any(fold(key) in names and type(value) is list for key, value in item.items())


def _search(obj: Mapping[str, Json], resource: Resource, path: str, depth: int) -> FoundList | None:
    grouped = resource.groups.by_name(obj)
    if grouped is not None:
        return FoundList(grouped, None, f"{path}{{group}}[]", obj)
    by_name: dict[str, str] = {}
    for key in obj:
        by_name.setdefault(fold(key), key)
        if len(by_name) > 400:
            break
    empty: FoundList | None = None

    def at(name: str, own: bool) -> FoundList | None:
        nonlocal empty
        key = by_name.get(name)
        if key is None:
            return None
        value = obj[key]
        here = f"{path}{key}"
        if type(value) is list:
            if not value:
                empty = empty or FoundList((), None, f"{here}[]", obj)
                return empty if own else None
            return _typed_list(value, here, obj, resource, own)
        if value is None:
            empty = empty or FoundList((), None, f"{here}:null", obj)
            return None
        if type(value) is dict and not value:
            empty = empty or FoundList((), None, f"{here}{{}}", obj)
            return None
        if type(value) is dict and own and depth < MAX_DEPTH:
            return _own_object(value, resource, here, depth, obj)
        return None

    for name in resource.own:
        if found := at(name, True):
            return found
    for name in _LISTS:
        if found := at(name, False):
            return found
    if depth < MAX_DEPTH:
        by = ("by", *(f"{name}by" for name in resource.own))
        for name in (*_WRAPPERS, *(name for name in by_name if name.startswith(by))):
            if name not in by_name:
                continue
            key = by_name[name]
            value = obj[key]
            if type(value) is str and name in ("body", "data", "payload", "result", "response"):
                value = json_inside(value)
                if type(value) is list:
                    return FoundList(value, None, f"{path}{key}:text[]", obj)
            if type(value) is dict and value:
                found = _search(value, resource, f"{path}{key}.", depth + 1)
                if found is None and len(value) == 1:
                    # GraphQL: one field inside the other, down to the list
                    below = _own_name_below(value, resource)
                    if below is not None and "{one}" not in below.path:
                        found = below._replace(path=f"{path}{key}.{below.path}")
                if found is None:
                    found = keyed_map(value, resource, f"{path}{key}")
                if found is not None:
                    return found
    for name in resource.also:
        if found := at(name, True):
            return found
    for name, key in by_name.items():
        value = obj[key]
        rows = resource.groups.in_list(name, value) if type(value) is list else None
        if rows is not None:
            return FoundList(rows, None, f"{path}{key}[][]", obj)
    found = _only_array(obj, path)
    if found is None and (rows := tables.in_columns(obj, resource.spec)) is not None:
        found = FoundList(rows, None, f"{path}{{column}}[]", obj)
    if found is None and resource.maps is not None and (rows := resource.maps(obj)) is not None:
        found = FoundList(rows, None, f"{path}{{figure}}{{id}}", obj)
    return found or empty


def _typed_list(
    value: list[Json], here: str, holder: Mapping[str, Json], resource: Resource, own: bool
) -> FoundList | None:
    """A list counts if it holds objects, or rows under a header; any list under the own name."""
    if any(type(item) is dict for item in value[:50]):
        return FoundList(value, None, f"{here}[]", holder)
    if type(value[0]) is list:
        rows = tables.under_header(value, holder) or tables.under_first_row(value, resource.spec)
        if rows is not None:
            return FoundList(rows, None, f"{here}[][]", holder)
    return FoundList(value, None, f"{here}[]", holder) if own else None


def _own_object(
    value: Mapping[str, Json], resource: Resource, here: str, depth: int, holder: Mapping[str, Json]
) -> FoundList | None:
    """An object under the resource's own name: an envelope again, a map, or one record."""
    if not is_record(value, resource):
        found = _search(value, resource, f"{here}.", depth + 1)
        if found is None:
            found = keyed_map(value, resource, here, trusted=True)
        if found is None:
            rows = tables.names_by_id(value)
            found = FoundList(rows, None, f"{here}{{id}}", None) if rows is not None else None
        if found is not None:
            return found._replace(holder=found.holder or holder)
        return None
    return FoundList([value], None, f"{here}{{one}}", holder)


def is_record(value: Mapping[str, Json], resource: Resource) -> bool:
    """True if the object itself has an identifier and is no envelope."""
    plan = resource.spec.plan(value)
    if "id" not in plan.slots:
        return False
    return any(fold(key) in _ID_NAMES and type(raw) in (str, int) for key, raw in value.items())


_ID_NAMES: Final = word_set(
    """id uuid taskid agentid companyid alertid entryid activityid guid seq"""
)


def _only_array(obj: Mapping[str, Json], path: str) -> FoundList | None:
    """The only array of objects at depth one or two, whatever it is called."""
    found: list[FoundList] = []
    for key, value in obj.items():
        if fold(key) in _NOT_RECORDS:
            continue
        if type(value) is list and value and type(value[0]) is dict:
            found.append(FoundList(value, None, f"{path}{key}[]", obj))
        elif type(value) is dict and len(value) <= 100:
            found.extend(
                FoundList(inner, None, f"{path}{key}.{name}[]", value)
                for name, inner in value.items()
                if type(inner) is list
                and inner
                and type(inner[0]) is dict
                and fold(name) not in _NOT_RECORDS
            )
        if len(found) > 1:
            return None
    return found[0] if found else None


def keyed_map(
    obj: Mapping[str, Json], resource: Resource, path: str, *, trusted: bool = False
) -> FoundList | None:
    """A map of id to record (SHAPES A38): all values objects in which something is known.

    `trusted`: the map stands under the resource's own name, so a few broken values don't matter.
    """
    if trusted:
        obj = {k: v for k, v in obj.items() if type(v) is dict or fold(k) not in _META}
    objects = [value for value in obj.values() if type(value) is dict]
    if not objects or any(type(value) is list for value in obj.values()):
        return None
    if len(objects) < len(obj) and (not trusted or len(objects) * 2 < len(obj)):
        return None
    if any(fold(key) in _META or fold(key) in resource.own for key in islice(obj, 100)):
        return None
    if len(obj) == 1 and fold(next(iter(obj))) in _WRAPPERS:
        # an envelope: of one record, or with something else in it
        only = next(iter(obj.values()))
        one = FoundList([only], None, f"{path}{{one}}", obj)
        return one if type(only) is dict and is_record(only, resource) else None
    if resource.spec.plan(obj).slots or (
        resource.knows is not None and resource.knows(dict.fromkeys(obj, 0))
    ):
        return None  # its keys are names of fields, not ids
    known = sum(resource.has_any(value) for value in objects[:50])
    if known * 2 < len(objects[:50]):
        return None
    return FoundList(list(obj.values()), list(obj), f"{path}{{id}}", None)


def _last_resorts(body: Mapping[str, Json], resource: Resource) -> FoundList | None:
    found = _own_name_below(body, resource) or keyed_map(body, resource, "")
    if found is not None:
        return found
    if is_record(body, resource):
        return FoundList([body], None, "{one}", None)
    inner = [value for value in body.values() if type(value) is dict and value]
    if len(inner) == 1 and is_record(inner[0], resource):
        return FoundList([inner[0]], None, "{one}", body)
    told = any(fold(key) in _TELLING and value for key, value in body.items())
    if not told and all(fold(key) in _META for key in body) and not _counts_any(body):
        return FoundList((), None, "no list", body)
    return None


_TELLING: Final = word_set("message messages error errors detail reason msg warnings")
"""Names of texts that explain: an answer with one of them and no list is not simply empty."""


def _own_name_below(body: Mapping[str, Json], resource: Resource) -> FoundList | None:
    """The resource's own name further down, inside objects of any name (nested GraphQL)."""
    todo: list[tuple[Mapping[str, Json], str, int]] = [(body, "", 0)]
    while todo:
        holder, path, depth = todo.pop(0)
        for key, value in some(holder, 100):
            if type(value) is not dict or not value or fold(key) in _NOT_RECORDS:
                continue
            if any(fold(name) in resource.own for name in islice(value, 100)):
                found = _search(value, resource, f"{path}{key}.", depth + 1)
                if found is not None:
                    return found
            if depth < MAX_DEPTH - 1 and len(todo) < 200:
                todo.append((value, f"{path}{key}.", depth + 1))
    return None


def _counts_any(body: Mapping[str, Json]) -> bool:
    """True if a count in the answer says that there should be records."""
    for key, value in body.items():
        folded = fold(key)
        counts = "total" in folded or folded in ("count", "results", "size", "resultcount")
        if counts and type(value) is int and value > 0 and "page" not in folded:
            return True
        if type(value) is dict and folded in ("meta", "pagination", "paging", "resultinfo"):
            return _counts_any(value)
    return False
