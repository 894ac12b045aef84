"""Where in an answer the records are (SHAPES A and B).

A list is looked for by type: under the resource's own name, then under the usual names, then one
layer down, up to four layers; a number under a list's name is no list, an object may be a map of
id to record, a connection (`edges`, `nodes`) or another envelope. Nothing is ever joined but what
is one list cut in buckets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from agentco_tui.api.bodies import BodyError, Json, parse_json
from agentco_tui.api.names import fold
from agentco_tui.api.plans import Spec
from agentco_tui.text import SafeText, safe

_LISTS: Final = (
    "data", "items", "results", "records", "entries", "content", "value", "values", "rows",
    "list", "nodes", "edges", "logs", "events", "alerts", "result", "objects", "docs",
    "documents", "hits", "elements", "collection", "page", "member", "hydramember", "resources",
)  # fmt: skip
_WRAPPERS: Final = (
    "data", "result", "response", "payload", "embedded", "body", "results", "content", "page",
    "items", "hits", "list", "records", "output", "json", "value", "root", "d",
)  # fmt: skip
_NOT_RECORDS: Final = frozenset(
    """errors messages warnings links included meta error pagination paging pageinfo tags
    permissions scopes filters facets sort aggregations columns fields headers breadcrumbs
    notices actions""".split()
)
_META: Final = frozenset(
    """meta metadata pagination paging pageinfo links link total count totalcount size page limit
    offset success ok status error errors message messages object first last next previous prev
    hasmore cursor nextcursor nextpagetoken perpage pagesize totalpages totalelements totalitems
    number empty timestamp time requestid traceid version took apiversion generatedat nextpage
    resultinfo warnings included code results resultcount returned self kind etag tiphash
    totalentries totalresults sort numberofelements pageable pages page_count currentpage
    servertime asof lastupdated updatedat""".split()
)
_MAX_DEPTH: Final = 4
_MAX_FLATTEN: Final = 4


class FoundList(NamedTuple):
    """The list in an answer."""

    items: Sequence[Json]
    keys: Sequence[str] | None
    """The id of each item, where a map told it."""
    path: str
    """Such as "data.tasks[]"."""
    holder: Mapping[str, Json] | None
    """The object that holds the list: what else is in it may be about pages."""


class Resource(NamedTuple):
    """The names that one kind of record goes by in answers, all folded."""

    own: tuple[str, ...]
    """Its own, best first: "tasks", "task"."""
    also: tuple[str, ...]
    """What relatives call it: "issues", "jobs"; taken after the usual list names."""
    spec: Spec


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
    return _search(body, resource, "", 0) or _last_resorts(body, resource)


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


def _bare(body: list[Json], resource: Resource) -> FoundList:
    """A bare array: of records, or of envelopes (a stream's events, time buckets, GraphQL's)."""
    flat = FoundList(body, None, "[]", None)
    if not body or type(body[0]) is not dict:
        return flat
    sample = [item for item in body[:20] if type(item) is dict]
    if any(resource.spec.plan(item).slots for item in sample if not _holds_own(item, resource)):
        return flat
    inner: list[FoundList] = []
    for item in body:
        found = _search(item, resource, "", 1) if type(item) is dict else None
        if found is not None and found.path:
            inner.append(found)
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


def _holds_own(item: Mapping[str, Json], resource: Resource) -> bool:
    names = resource.own
    return any(fold(key) in names and type(value) is list for key, value in item.items())


def _search(obj: Mapping[str, Json], resource: Resource, path: str, depth: int) -> FoundList | None:
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
            return _typed_list(value, here, obj, own)
        if value is None:
            empty = empty or FoundList((), None, f"{here}:null", obj)
            return None
        if type(value) is dict and own:
            if not value:
                empty = empty or FoundList((), None, f"{here}{{}}", obj)
                return None
            if depth < _MAX_DEPTH:
                return _own_object(value, resource, here, depth, obj)
        return None

    for name in resource.own:
        if found := at(name, True):
            return found
    for name in _LISTS:
        if found := at(name, False):
            return found
    if depth < _MAX_DEPTH:
        for name in _WRAPPERS:
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
                if found is None:
                    found = keyed_map(value, resource, f"{path}{key}")
                if found is not None:
                    return found
    for name in resource.also:
        if found := at(name, True):
            return found
    found = _only_array(obj, path)
    return found or empty


def _typed_list(
    value: list[Json], here: str, holder: Mapping[str, Json], own: bool
) -> FoundList | None:
    """A list counts if it holds objects, or rows under a header; any list under the own name."""
    if any(type(item) is dict for item in value[:50]):
        return FoundList(value, None, f"{here}[]", holder)
    if type(value[0]) is list:
        rows = _with_header(value, holder)
        if rows is not None:
            return FoundList(rows, None, f"{here}[][]", holder)
    return FoundList(value, None, f"{here}[]", holder) if own else None


def _with_header(rows: list[Json], holder: Mapping[str, Json]) -> list[Json] | None:
    """`{"columns": ["id", "title"], "rows": [["t1", "Plan"]]}` as objects."""
    for key, header in holder.items():
        if fold(key) not in ("columns", "fields", "headers", "header", "keys", "schema"):
            continue
        if type(header) is not list:
            continue
        names = [part.get("name") if type(part) is dict else part for part in header]
        if names and all(type(name) is str for name in names):
            return [
                dict(zip(names, row, strict=False)) if type(row) is list else row for row in rows
            ]
    return None


def _own_object(
    value: Mapping[str, Json], resource: Resource, here: str, depth: int, holder: Mapping[str, Json]
) -> FoundList | None:
    """An object under the resource's own name: an envelope again, a map, or one record."""
    if not _is_record(value, resource):
        found = _search(value, resource, f"{here}.", depth + 1)
        if found is None:
            found = keyed_map(value, resource, here, trusted=True)
        if found is not None:
            return found._replace(holder=found.holder or holder)
        return None
    return FoundList([value], None, f"{here}{{one}}", holder)


def _is_record(value: Mapping[str, Json], resource: Resource) -> bool:
    """True if the object itself has an identifier and is no envelope."""
    plan = resource.spec.plan(value)
    if "id" not in plan.slots:
        return False
    return any(fold(key) in _ID_NAMES and type(raw) in (str, int) for key, raw in value.items())


_ID_NAMES: Final = frozenset(
    "id uuid taskid agentid companyid alertid entryid activityid guid seq".split()
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
    objects = [value for value in obj.values() if type(value) is dict]
    if not objects or any(type(value) is list for value in obj.values()):
        return None
    if len(objects) < len(obj) and (not trusted or len(objects) * 2 < len(obj)):
        return None
    if any(fold(key) in _META or fold(key) in resource.own for key in list(obj)[:100]):
        return None
    known = sum(bool(resource.spec.plan(value).slots - {"id"}) for value in objects[:50])
    if known * 2 < len(objects[:50]):
        return None
    return FoundList(list(obj.values()), list(obj), f"{path}{{id}}", None)


def _last_resorts(body: Mapping[str, Json], resource: Resource) -> FoundList | None:
    found = keyed_map(body, resource, "")
    if found is not None:
        return found
    if _is_record(body, resource):
        return FoundList([body], None, "{one}", None)
    inner = [value for value in body.values() if type(value) is dict and value]
    if len(inner) == 1 and _is_record(inner[0], resource):
        return FoundList([inner[0]], None, "{one}", body)
    if all(fold(key) in _META for key in body) and not _counts_any(body):
        return FoundList((), None, "no list", body)
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
    inside = resource.spec.plan(inner).slots
    return len(inside) >= max(1, len(outer_slots - _WEAK_SLOTS - inside))


def _json_api(outer: dict[str, Json], resource: Resource) -> dict[str, Json]:
    """JSON:API's outer part: its `type` is the resource's name, its relationships are references."""
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


_SIDE: Final = frozenset("included includes agents companies users linked related refs".split())


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


class FoundOne(msgspec.Struct, frozen=True):
    """The one object in an answer."""

    obj: Mapping[str, Json]
    is_root: bool
    key: str | None = None


_ONE: Final = (
    "data", "result", "item", "record", "response", "payload", "object", "resource", "info",
    "entity", "content", "value", "body", "results", "items", "node", "embedded", "details",
)  # fmt: skip


def find_one(
    body: Json, resource: Resource, wanted_id: str | None, is_wanted: Callable[[Json], bool]
) -> FoundOne | None:
    """The object of `resource` in `body` (SHAPES B); `is_wanted` tells it among several."""
    return next(_candidates(body, resource, wanted_id, is_wanted, 0), None)


def _candidates(
    body: Json,
    resource: Resource,
    wanted_id: str | None,
    is_wanted: Callable[[Json], bool],
    depth: int,
) -> Iterator[FoundOne]:
    if depth > _MAX_DEPTH:
        return
    if type(body) is str:
        body = json_inside(body)
    if type(body) is list:
        objects = [item for item in body if type(item) is dict]
        if len(objects) == 1:
            yield from _candidates(objects[0], resource, wanted_id, is_wanted, depth + 1)
        elif wanted_id is not None:
            yield from (FoundOne(item, False) for item in objects if is_wanted(item))
        return
    if type(body) is not dict:
        return
    by_name = {fold(key): key for key in list(body)[:400]}
    plan = resource.spec.plan(body)
    is_self = _is_record(body, resource) and len(plan.slots) > 1
    for name in resource.own:
        inner = body.get(by_name.get(name, ""))
        if type(inner) in (dict, list) and inner and not (is_self and name in _REF_NAMES):
            yield from _candidates(inner, resource, wanted_id, is_wanted, depth + 1)
    if not is_self:
        for name in _ONE:
            inner = body.get(by_name.get(name, ""))
            if type(inner) in (dict, list, str) and inner:
                yield from _candidates(inner, resource, wanted_id, is_wanted, depth + 1)
        if wanted_id is not None and type(body.get(wanted_id)) is dict:
            yield FoundOne(body[wanted_id], False, wanted_id)
    if plan.slots or plan.wrappers:
        yield FoundOne(body, depth == 0)


_REF_NAMES: Final = frozenset(("agent", "company", "task", "agents", "tasks", "companies"))
