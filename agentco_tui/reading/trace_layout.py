"""The trace of a task: its steps, each after its parent, siblings in the order they happened.

A trace is the log of how an AI agent worked on a task, as the platform, the remote service, sends
it. An envelope is an object around the list of steps. Trees (steps inside steps), flat lists with
parent ids, plain logs and OpenTelemetry's nested lists all become one list of steps. Cycles,
missing parents and endless lists do no harm. `STEPS` is the description by which one step is read:
its table of names, and how a `TraceStep` is built of a `Row` (the values of one object by our names
of the fields, which are called slots).

1. `_find_steps` follows envelopes down to the steps, and keeps what is around them as the header.
2. `_flatten` takes steps out of steps.
3. `_in_order` puts each step after its parent, and siblings in the order they happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from agentco_tui.model import Moment, Trace, TraceStep
from agentco_tui.reading.decode import RefusedBody, UnexpectedShape
from agentco_tui.reading.envelope import WRAPPERS
from agentco_tui.reading.error_body import error_in, says_failed
from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.json_access import MAX_KEYS, Json
from agentco_tui.reading.kinds.common_fields import content_id
from agentco_tui.reading.kinds.trace import STEPS
from agentco_tui.reading.schema import DecodeContext, Row
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.money import envelope_unit
from agentco_tui.reading.values.reference import looks_like_id
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import clean_line

_MAX_DEPTH: Final = 200
"""How many lists within each other are opened."""
_MAX_LAYERS: Final = 6
"""How many envelopes within each other are opened."""
_SAMPLE: Final = 20
"""How many of a list's first items are examined to see what it is a list of."""
_MAX_INNER: Final = 40
"""How many values of an object are examined."""
_MAX_ATTRIBUTES: Final = 500
"""How many attributes of one step are read."""

_OTEL_LISTS: Final = ("resourcespans", "scopespans", "instrumentationlibraryspans", "batches")
_LISTS: Final = (
    *_OTEL_LISTS, "trace", "traces", "steps", "spans", "observations",
    "events", "entries", "runs", "nodes", "tasks", "logs", "messages", "history", "timeline",
    "actions", "activities", "toolcalls", "children", "childruns", "calls", "log", "jobs",
    "phases", "stages", "taskinstances", "actionexecutiondetails", *WRAPPERS, "status",
)  # fmt: skip
"""Names of lists of steps, and of objects around them; best first."""
_CONTAINERS: Final = frozenset((*_OTEL_LISTS, "traces"))
"""Names of lists whose items hold steps, and are none."""
_TREE: Final = word_set("children childruns childspans substeps subspans")
"""Names of lists of a step's own steps; never of the list of all steps."""
_CHILDREN: Final = _TREE | word_set(
    "spans steps nodes toolcalls observations subtasks runs calls childsteps nested"
)
"""All names of lists of a step's own steps."""
_ENVELOPES: Final = ("info", "trace", "data", "payload", "response", "body", "task", "run")
"""Names of objects that may hold the steps, inside an object that looks like a step."""
_LOGS: Final = word_set("trace log steps logs output")
"""Names of texts that are a log, one step a line or document."""
_STEP_WRAPPERS: Final = ("attributes", "node", "_source")
"""Keys of the object that may wrap a step: JSON:API, GraphQL, Elasticsearch."""
_BESIDE_WRAPPED: Final = word_set(
    "type id relationships links meta cursor __typename _id _index _score"
).union(_STEP_WRAPPERS)
"""The only names beside a wrapped step."""
_STEP_SLOTS: Final = frozenset(("name", "kind"))
"""Slots that only a step fills."""
_STARTS: Final = word_set("startedat starttime start createdat began timestamp")
"""Names of the header's field that says when the trace began."""


class _PlacedRow(NamedTuple):
    """One step as it was read, before it has its place in the tree."""

    id: str
    parent: str | None
    row: Row
    at: Moment | None
    offset: float | None
    """Seconds after the trace began."""
    sequence: float | None


def read_trace(body: Json) -> Trace:
    """The trace in an answer, with its steps in order.

    Raises UnexpectedShape, and RefusedBody if the body says that the call failed.
    """
    if says_failed(body):
        raise RefusedBody(error_in(body))
    if type(body) not in (dict, list, str, type(None)):
        raise UnexpectedShape(clean_line("the answer holds no trace"))
    steps, header, shape = _find_steps(body)
    rows: list[_PlacedRow] = []
    unread = 0
    if steps:
        rows, unread = _flatten(steps, header)
    context = DecodeContext(unit=envelope_unit(header), trace_start=_trace_start(header))
    used_ids: Counter[str] = Counter()
    placed: list[TraceStep] = []
    for row, depth in _in_order(rows):
        used_ids[row.id] += 1
        count = used_ids[row.id]
        step_id = row.id if count == 1 else f"{row.id}#{count}"
        step = STEPS.build(row.row, context)
        placed.append(replace(step, id=step_id, depth=depth, parent=row.parent))
    return Trace(
        steps=tuple(placed), unread=unread, shape=clean_line(shape, 120), extra=as_extra(header)
    )


def _trace_start(header: Mapping[str, Json]) -> Moment | None:
    """When the trace began, as its header says."""
    for key, value in header.items():
        if fold(key) not in _STARTS:
            continue
        moment = to_moment(value)
        if isinstance(moment, Moment):
            return moment
    return None


# -- where the steps are ---------------------------------------------------------------------------


def _find_steps(body: Json) -> tuple[Json, dict[str, Json], str]:
    """The steps, the header (all fields around them), and the path to them."""
    header: dict[str, Json] = {}
    path: list[str] = []
    while type(body) is dict and len(path) < _MAX_LAYERS:
        key = _key_of_steps(body)
        if key is None or (fold(key) in _TREE and _is_step(body)):
            break
        header.update({name: value for name, value in body.items() if name != key})
        path.append(key)
        body = body[key]
    if type(body) is dict and body:
        if _is_step(body):
            path.append("{tree}")
        elif all(type(each) is dict and _is_step(each) for each in body.values()):
            body = [{"id": key, **value} for key, value in body.items()]
        else:
            header.update(body)
            body = None
    shape = ".".join(path)
    if type(body) is list:
        shape += "[]"
    return body, header, shape or "{}"


def _key_of_steps(body: Mapping[str, Json]) -> str | None:
    """The key of the steps, or of the object that holds them; None if there is none."""
    key_by_name = {fold(key): key for key in islice(body, MAX_KEYS)}
    listed = [key_by_name[name] for name in _LISTS if name in key_by_name]
    for key in listed:
        if _may_be_steps(body[key]):
            return key
    if _is_step(body):
        # `{"kind": "trace", "info": {"steps": […]}}` is an envelope with a word on it.
        for name in _ENVELOPES:
            if name in key_by_name and _leads_to_list(body[key_by_name[name]]):
                return key_by_name[name]
        return None
    for key in listed:
        if type(body[key]) is dict and body[key]:
            return key
    for key in listed:
        if type(body[key]) is str and body[key].strip() and fold(key) in _LOGS:
            return key
    keys = [key for key, value in islice(body.items(), _MAX_INNER) if _leads_to_list(value)]
    return keys[0] if len(keys) == 1 else None


def _may_be_steps(value: Json) -> bool:
    """Whether a value is a list of objects or of log lines; a list of ids holds no steps."""
    if type(value) is not list:
        return False
    return any(
        type(item) is dict or (type(item) is str and item and not looks_like_id(item))
        for item in value[:_SAMPLE]
    )


def _holds_objects(value: Json) -> bool:
    return type(value) is list and any(type(item) is dict for item in value[:_SAMPLE])


def _leads_to_list(value: Json, depth: int = 0) -> bool:
    """True for a list of objects, and for an object with one in it, up to three layers down."""
    if type(value) is not dict or depth > 3 or _is_step(value):
        return _holds_objects(value)
    return any(_leads_to_list(inner, depth + 1) for inner in islice(value.values(), _MAX_INNER))


def _is_step(item: Mapping[str, Json]) -> bool:
    """True if the object itself is a step and not only an envelope of steps."""
    return not STEPS.names.slots(item).isdisjoint(_STEP_SLOTS)


# -- steps out of steps ----------------------------------------------------------------------------


def _flatten(steps: Json, header: dict[str, Json]) -> tuple[list[_PlacedRow], int]:
    """All steps, and how many cannot be read.

    Works through a list of what is still to do, so that no nesting is too deep. Fields of lists of
    steps go to `header`.
    """
    rows: list[_PlacedRow] = []
    unread = 0
    todo: list[tuple[Json, str | None, int]] = [(steps, None, 0)]
    """(item, id of the step it is in, depth of lists)"""
    while todo:
        item, enclosing_id, depth = todo.pop()
        if type(item) is list and depth < _MAX_DEPTH:
            todo.extend((inner, enclosing_id, depth + 1) for inner in reversed(item))
            continue
        if type(item) is str and item.strip():
            item = {"message": item}
        if type(item) is not dict or not item or len(rows) >= STEPS.max_rows:
            unread += 1
            continue
        item = _unwrap_step(item)
        nested = [key for key in item if _holds_steps(key, item[key])]
        if nested and not _is_step(item):
            first = nested[0]
            todo.append((item[first], enclosing_id, depth))
            for name, value in item.items():
                if name != first:
                    header.setdefault(name, value)
            continue
        children = [key for key in nested if fold(key) in _CHILDREN]
        own_fields = {key: value for key, value in item.items() if key not in children}
        row = _read_step(own_fields, enclosing_id)
        rows.append(row)
        todo.extend((item[key], row.id, depth) for key in reversed(children))
    return rows, unread


def _holds_steps(key: str, value: Json) -> bool:
    """Whether a field of an item is a list of steps."""
    name = fold(key)
    return (name in _CHILDREN or name in _CONTAINERS) and _holds_objects(value)


def _unwrap_step(item: dict[str, Json]) -> dict[str, Json]:
    """A step without the `attributes`, `node` or `_source` that it is wrapped in."""
    wrapper = next((name for name in _STEP_WRAPPERS if name in item), None)
    if wrapper is None:
        return item
    inner = item[wrapper]
    if type(inner) is not dict or not inner or not item.keys() <= _BESIDE_WRAPPED:
        return item
    if "id" not in item:
        return inner
    return {"id": item["id"], **inner}


def _read_step(obj: Mapping[str, Json], enclosing_id: str | None) -> _PlacedRow:
    """What was read of a step; `enclosing_id` is the id of the step that it is in, if any."""
    row = STEPS.table.read({key: _attributes(value) or value for key, value in obj.items()})
    values = row.values
    at: Moment | None = values.get("at")
    offset: Moment | float | None = values.get("offset")
    if isinstance(offset, Moment):
        at = at or offset
        offset = None
    step_id: str = values.get("id") or content_id("step", obj)
    if step_id == enclosing_id:
        step_id = f"{enclosing_id}/{step_id}"  # numbered from 1 inside each step
    parent: str | None = enclosing_id or values.get("parent")
    if parent == step_id:
        parent = None
    sequence: float | None = None
    if "seq" in values:
        sequence = float(values["seq"])
    return _PlacedRow(step_id, parent, row, at, offset, sequence)


def _attributes(items: Json) -> dict[str, Json] | None:
    """OpenTelemetry's and Jaeger's lists of keys and values as an object; None if it is none."""
    if type(items) is not list:
        return None
    attributes: dict[str, Json] = {}
    for item in items[:_MAX_ATTRIBUTES]:
        if type(item) is not dict or type(item.get("key")) is not str or "value" not in item:
            return None
        value = item["value"]
        if type(value) is dict and len(value) == 1:
            (value,) = value.values()  # `{"stringValue": "x"}`
        attributes[item["key"]] = value
    return attributes


# -- the order of steps ----------------------------------------------------------------------------


def _in_order(rows: Sequence[_PlacedRow]) -> Iterator[tuple[_PlacedRow, int]]:
    """Each step and its depth: after its parent, siblings in the order they happened."""
    index_by_id: dict[str, int] = {}
    for index, row in enumerate(rows):
        index_by_id.setdefault(row.id, index)
    children: dict[int | None, list[int]] = {}
    """Indices of steps by that of their parent; by None those without."""
    for index, row in enumerate(rows):
        parent = None if row.parent is None else index_by_id.get(row.parent)
        if parent == index:
            parent = None
        children.setdefault(parent, []).append(index)
    seen: set[int] = set()
    roots = _sort_siblings(children.get(None, []), rows)
    todo = [(index, 0) for index in reversed(roots)]
    for index in range(len(rows) + 1):
        while todo:
            current, depth = todo.pop()
            if current not in seen:
                seen.add(current)
                yield rows[current], depth
                inner = _sort_siblings(children.get(current, []), rows)
                todo.extend((child, depth + 1) for child in reversed(inner))
        # A step that no root leads to is in a cycle: its first step becomes a root.
        if index < len(rows) and index not in seen:
            todo.append((index, 0))


def _sort_siblings(indices: list[int], rows: Sequence[_PlacedRow]) -> list[int]:
    """Siblings by time, offset or number, whichever all of them have first; else as they came."""
    siblings = [rows[index] for index in indices]
    times = [None if row.at is None else row.at.at for row in siblings]
    offsets = [row.offset for row in siblings]
    numbers = [row.sequence for row in siblings]
    for keys in (times, offsets, numbers):
        if None not in keys:
            tie_breakers = [row.sequence or 0.0 for row in siblings]
            ranked = sorted(zip(keys, tie_breakers, indices, strict=True))
            return [index for _, _, index in ranked]
    return indices
