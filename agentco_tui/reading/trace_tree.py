"""The trace of a task: its steps, found in any of the usual shapes and put in order (SHAPES F).

Trees (children inside steps), flat lists with parent ids, plain logs and OpenTelemetry's nested
lists all become one list: each step after its parent, siblings in the order they happened. Cycles,
missing parents and endless lists do no harm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from agentco_tui.model import Moment, Trace, TraceStep
from agentco_tui.reading.decode import RefusedBody, Unshaped
from agentco_tui.reading.error_body import error_in, says_failed
from agentco_tui.reading.field_names import fold
from agentco_tui.reading.kinds.trace import CHILDREN, STEP, StepDraft, finish_step, read_step
from agentco_tui.reading.schema import Json
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.money import unit_beside
from agentco_tui.reading.values.reference import looks_like_id
from agentco_tui.reading.values.time import to_moment
from agentco_tui.reading.values.unit import Unit
from agentco_tui.text import safe

MAX_STEPS: Final = 20_000
_MAX_DEPTH: Final = 200

_LISTS: Final = (
    "resourcespans", "scopespans", "instrumentationlibraryspans", "batches", "trace", "traces",
    "steps", "spans", "observations", "events", "entries", "runs", "nodes", "tasks", "logs",
    "messages", "history", "timeline", "actions", "activities", "toolcalls", "children",
    "childruns", "calls", "data", "items", "results", "records", "result", "output", "response",
    "payload", "info", "body", "log", "value", "list", "content", "rows", "embedded", "edges",
    "hits", "documents", "jobs", "phases", "stages",
)  # fmt: skip
_CONTAINERS: Final = frozenset(
    ("resourcespans", "scopespans", "instrumentationlibraryspans", "batches", "traces")
)
_TREE: Final = frozenset(("children", "childruns", "childspans", "substeps", "subspans"))
_AROUND: Final = ("info", "trace", "data", "payload", "response", "body", "task", "run")
_RESOURCE: Final = frozenset(("type", "id", "attributes", "relationships", "links", "meta"))
_LOGS: Final = frozenset(("trace", "log", "steps", "logs", "output"))
_EDGE: Final = frozenset(("node", "cursor", "__typename"))
_OF_STORES: Final = ("name", "_index", "_score", "_type", "_id", "cursor", "__typename")
_SELF: Final = frozenset(("name", "kind"))


def read_trace(body: Json) -> Trace:
    """The steps in order; raises Unshaped, and RefusedBody if the body says that it failed."""
    if says_failed(body):
        raise RefusedBody(error_in(body))
    if type(body) is str:
        body = [body]
    if body is None:
        return Trace(steps=(), shape="null")
    if type(body) not in (dict, list):
        raise Unshaped(safe("the answer holds no trace"))
    found = _Found()
    found.take(body)
    base = _began(found.header)
    steps = _in_order(found.drafts, base, unit_beside(found.header))
    return Trace(
        steps=tuple(steps),
        unread=found.unread,
        shape=safe(found.shape or "{}", 120),
        extra=as_extra(found.header),
    )


class _Found:
    """What was found in a trace's answer."""

    def __init__(self) -> None:
        self.drafts: list[StepDraft] = []
        self.header: dict[str, Json] = {}
        self.unread = 0
        self.shape = ""

    def take(self, body: Json) -> None:
        path: list[str] = []
        for _ in range(6):
            if type(body) is not dict:
                break
            key = _list_key(body)
            if key is None or (fold(key) in _TREE and _is_step(body)):
                break
            self.header.update({name: value for name, value in body.items() if name != key})
            path.append(key)
            body = body[key]
        if type(body) is dict and not _is_step(body):
            body = _mapped(body)
        if type(body) is list:
            self.shape = ".".join(path) + "[]"
            self._walk([(item, None, 0) for item in reversed(body)])
        elif type(body) is dict and body:
            if _is_step(body):
                self.shape = ".".join([*path, "{tree}"])
                self._walk([(body, None, 0)])
            else:
                self.header.update(body)
        elif type(body) is str:
            self.shape = ".".join(path)
            self._walk([(body, None, 0)])

    def _walk(self, todo: list[tuple[Json, str | None, int]]) -> None:
        """Depth first, without recursion, so that no depth of nesting is too deep."""
        while todo:
            item, around, depth = todo.pop()
            if len(self.drafts) >= MAX_STEPS:
                self.unread += 1
                continue
            if type(item) is str and item.strip():
                item = {"message": item}
            elif type(item) is list and depth < _MAX_DEPTH:
                todo.extend((inner, around, depth + 1) for inner in reversed(item))
                continue
            if type(item) is not dict or not item:
                self.unread += 1
                continue
            item = _bare(item)
            inner_keys = [key for key, value in item.items() if _holds_steps(key, value)]
            if inner_keys and not _is_step(item):
                key = inner_keys[0]
                todo.extend((inner, around, depth + 1) for inner in reversed(item[key]))
                for name, value in item.items():
                    if name != key:
                        self.header.setdefault(name, value)
                continue
            children = tuple(key for key in inner_keys if fold(key) in CHILDREN)
            draft = read_step(item, around, children)
            self.drafts.append(draft)
            for key in reversed(children):
                if depth < _MAX_DEPTH:
                    todo.extend((inner, draft.id, depth + 1) for inner in reversed(item[key]))
                else:
                    self.unread += len(item[key])


def _mapped(body: Mapping[str, Json]) -> Json:
    """The steps of `{"s1": {"name": …}, "s2": {"name": …}}`, else `body`."""
    if body and all(type(value) is list and _holds_objects(value) for value in body.values()):
        return [item for value in body.values() for item in value]  # by phase
    if all(type(value) is dict and _is_step(value) for value in body.values()):
        return [{"id": key, **value} for key, value in body.items()]
    return body


def _list_key(body: Mapping[str, Json]) -> str | None:
    """The key under which the steps are, or the envelope that holds them."""
    by_name: dict[str, str] = {}
    for key in islice(body, 400):
        by_name.setdefault(fold(key), key)
    named = [by_name[name] for name in _LISTS if name in by_name]
    for key in named:
        if type(body[key]) is list and _holds_any(body[key]):
            return key
    if _is_step(body):
        # `{"kind": "trace", "info": {"steps": […]}}` is an envelope with a word on it
        around = [by_name[name] for name in _AROUND if name in by_name]
        return next((key for key in around if _is_envelope(body[key])), None)
    for key in named:
        if type(body[key]) is dict and body[key]:
            return key
    for key in named:
        if type(body[key]) is str and body[key].strip() and fold(key) in _LOGS:
            return key
    arrays = [key for key, value in body.items() if type(value) is list and _holds_objects(value)]
    if not arrays:
        arrays = [key for key, value in islice(body.items(), 40) if _leads_to_list(value)]
    return arrays[0] if len(arrays) == 1 else None


def _leads_to_list(value: Json, depth: int = 0) -> bool:
    """True for an object with a list of objects in it, or one layer further down."""
    if type(value) is not dict or depth > 2 or _is_step(value):
        return False
    return any(
        (type(inner) is list and _holds_objects(inner)) or _leads_to_list(inner, depth + 1)
        for _, inner in islice(value.items(), 40)
    )


def _bare(item: Mapping[str, Json]) -> Mapping[str, Json]:
    """A step taken out of what stores and envelopes put round it."""
    if item.keys() <= _RESOURCE and type(item.get("attributes")) is dict:
        return {"id": item.get("id"), **item["attributes"]}  # JSON:API
    for name in ("node", "_source", "fields"):
        inner = item.get(name)
        if type(inner) is not dict or not inner or (name == "node" and not item.keys() <= _EDGE):
            continue
        if name == "fields" and _is_step(item):
            continue
        own = item.get("_id", item.get("id"))
        outer = {key: value for key, value in item.items() if key not in (name, *_OF_STORES)}
        return {**outer, **inner} if own is None else {"id": own, **outer, **inner}
    return item


def _is_envelope(value: Json, depth: int = 0) -> bool:
    return type(value) is dict and any(
        (type(inner) is list and fold(key) in _LISTS and _holds_objects(inner))
        or (depth < 2 and fold(key) in _AROUND and _is_envelope(inner, depth + 1))
        for key, inner in value.items()
    )


def _holds_any(value: list[Json]) -> bool:
    """True for a list of objects or of log lines; a list of ids holds no steps."""
    return _holds_objects(value) or any(
        type(item) is str and item and not looks_like_id(item) for item in value[:20]
    )


def _holds_objects(value: list[Json]) -> bool:
    return any(type(item) is dict for item in value[:20])


def _holds_steps(key: str, value: Json) -> bool:
    if type(value) is not list or not value or not _holds_objects(value):
        return False
    name = fold(key)
    return name in CHILDREN or name in _CONTAINERS


def _is_step(item: Mapping[str, Json]) -> bool:
    """True if the object itself is a step and not only an envelope round steps."""
    return bool(STEP.plan(item).has & _SELF)


def _began(header: Mapping[str, Json]) -> Moment | None:
    """When the whole began, for steps that tell only how long after that they did."""
    for key, value in islice(header.items(), 200):
        if fold(key) in ("startedat", "starttime", "start", "createdat", "began", "timestamp"):
            found = to_moment(value)
            if isinstance(found, Moment):
                return found
    return None


def _in_order(drafts: Sequence[StepDraft], base: Moment | None, unit: Unit) -> list[TraceStep]:
    first_of: dict[str, int] = {}
    for index, draft in enumerate(drafts):
        first_of.setdefault(draft.id, index)
    roots: list[int] = []
    children: dict[int, list[int]] = {}
    for index, draft in enumerate(drafts):
        parent = first_of.get(draft.parent) if draft.parent is not None else None
        if parent is None or parent == index:
            roots.append(index)
        else:
            children.setdefault(parent, []).append(index)
    order: list[tuple[int, int]] = []
    seen = [False] * len(drafts)

    def visit(start: list[int]) -> None:
        todo = [(index, 0) for index in reversed(_siblings(start, drafts))]
        while todo:
            index, depth = todo.pop()
            if seen[index]:
                continue
            seen[index] = True
            order.append((index, depth))
            inner = children.get(index)
            if inner:
                todo.extend((each, depth + 1) for each in reversed(_siblings(inner, drafts)))

    visit(roots)
    for index in range(len(drafts)):
        # whatever no root leads to is in a circle: its first step stands for a root
        if not seen[index]:
            visit([index])
    return _finished(order, drafts, base, unit)


def _siblings(indices: list[int], drafts: Sequence[StepDraft]) -> list[int]:
    """In the order they happened, if all of them tell; else as they came."""
    if len(indices) < 2:
        return indices
    each = [drafts[index] for index in indices]
    if all(draft.at is not None for draft in each):
        keys = [draft.at.at if draft.at else 0.0 for draft in each]
    elif all(draft.offset is not None for draft in each):
        keys = [draft.offset or 0.0 for draft in each]
    elif all(draft.seq is not None for draft in each):
        keys = [float(draft.seq or 0) for draft in each]
    else:
        return indices
    tie = [float(draft.seq) if draft.seq is not None else 0.0 for draft in each]
    ranked = sorted(range(len(indices)), key=lambda place: (keys[place], tie[place], place))
    return [indices[place] for place in ranked]


def _finished(
    order: list[tuple[int, int]], drafts: Sequence[StepDraft], base: Moment | None, unit: Unit
) -> list[TraceStep]:
    used: dict[str, int] = {}
    steps: list[TraceStep] = []
    for index, depth in order:
        draft = drafts[index]
        again = used.get(draft.id, 0)
        used[draft.id] = again + 1
        step_id = draft.id if not again else f"{draft.id}#{again + 1}"
        steps.append(finish_step(draft, depth, step_id, base, unit))
    return steps
