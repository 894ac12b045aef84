"""The trace of a task: its steps, each after its parent, siblings in the order they happened.

Trees (steps inside steps), flat lists with parent ids, plain logs and OpenTelemetry's nested lists
all become one list. Cycles, missing parents and endless lists do no harm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any, Final, NamedTuple

from agentco_tui.model import Moment, TaskState, Trace, TraceStep
from agentco_tui.reading.decode import RefusedBody, UnexpectedShape
from agentco_tui.reading.envelope import WRAPPERS
from agentco_tui.reading.error_body import error_in, says_failed
from agentco_tui.reading.field_names import Unit, fold, word_set
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.kinds.common_fields import COST, content_id
from agentco_tui.reading.schema import EMPTY, Field, Incomplete, Reader, Row, Table, Values
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.money import declared_unit, envelope_unit, to_money
from agentco_tui.reading.values.reference import looks_like_id, to_id
from agentco_tui.reading.values.scalar import flag, line, named, shown, to_count, to_decimal, word
from agentco_tui.reading.values.status_word import fold_word, task_state
from agentco_tui.reading.values.time import to_moment, to_seconds
from agentco_tui.text import SafeText, safe, safe_block

MAX_STEPS: Final = 20_000
_MAX_DEPTH: Final = 200
_MOST_LAYERS: Final = 6


def _unitless(raw: Json) -> Any:
    """Seconds, or a Decimal where only the field's name could have told the unit."""
    number = None if type(raw) is dict else to_decimal(raw)
    return to_seconds(raw) if number is None else number


def _seconds_in(unit: float) -> Reader:
    return lambda raw: to_seconds(raw, unit)


def _start_in(unit: float) -> Reader:
    """`startMs: 812` is a time since the trace began, `startMs: 1700000000000` a point in time."""

    def read(raw: Json) -> Any:
        number = to_decimal(raw)
        is_offset = number is not None and 0 <= number < 1_000_000_000
        return to_seconds(raw, unit) if is_offset else to_moment(raw)

    return read


def _references(raw: Json) -> Any:
    """The parent in Jaeger's `references`."""
    for each in raw[:20] if type(raw) is list else ():
        if type(each) is dict and each.get("refType", "CHILD_OF") == "CHILD_OF":
            return to_id(each.get("spanID") or each.get("spanId"))
    return EMPTY if type(raw) is list else None


def _dotted(raw: Json) -> Any:
    """The parent in LangSmith's `dotted_order`: the last but one part, after its time."""
    parts = raw.split(".") if type(raw) is str else ()
    return parts[-2].partition("Z")[2] or EMPTY if len(parts) > 1 else EMPTY


def _code(raw: Json) -> Any:
    """OpenTelemetry's status: 2 or STATUS_CODE_ERROR is a failure, 1 is fine, 0 is unset."""
    if type(raw) is dict:
        code = raw.get("code", raw.get("statusCode"))
        found = None if code is None else _code(code)
        return found if found is None or len(raw) == 1 else Incomplete(found)
    if type(raw) is str and raw.startswith("STATUS_CODE_"):
        name = raw.removeprefix("STATUS_CODE_")
        return EMPTY if name == "UNSET" else safe(name.lower(), 60)
    if type(raw) is int and raw in (0, 1, 2):
        return (EMPTY, safe("ok"), safe("error"))[raw]
    return None


def _error(raw: Json) -> Any:
    return safe("failed") if raw is True else EMPTY if raw is False else shown(raw) or EMPTY


def _kept(raw: Json) -> Any:
    return raw if raw not in ("", [], {}) else EMPTY


_TEXTS: Final = (
    ("message", "message msg content text body log line summary description detail{s,} note"),
    ("thought", "thought{s,} thinking reasoning rationale"),
    ("input", "function.arguments input{s,} prompt arguments args parameters params request query"),
    ("output", "function.output output{s,} result response completion answer stdout generations"),
    ("stderr", "stderr"),
    ("payload", "payload data"),
)
_SPANS: Final = "{duration,latency,elapsed,elapsed_time,execution_time,runtime,took,total_time}"
_USAGE: Final = (
    "{usage,tokens,token_usage,usage_metadata,usage_details,models_usage,attributes,tags,metadata"
    ",metrics,llm_output.token_usage}"
)


def _tokens_of(slot: str, names: str) -> Field:
    """Counts of tokens, flat or below what holds them; OpenTelemetry's are `gen_ai.usage.…`."""
    return Field(slot, names.replace("U.", f"{_USAGE}."), to_count)


STEP: Final = Table((
    Field("id", """
        id span_id {step,run,observation,event,node,call}_id uuid uid _id  # Langfuse, OpenTelemetry
        context.span_id                  # OpenTelemetry SDKs
        task_id seq sequence step_number index number  # CrewAI, paperclip run events, GitHub
        """, to_id),
    Field("parent", """
        parent_{span,observation,run}_id # OpenTelemetry, Langfuse, LangSmith
        parent{_id,_step_id,,_task_id,_event_id,_node_id}  # Zipkin
        """, to_id),
    Field("parent", "references  # Jaeger", _references),
    Field("parent", "dotted_order  # LangSmith", _dotted),
    Field("seq", "seq sequence index step_{number,index} order position number", to_decimal),
    Field("kind", """
        kind type {run,step,event}_type  # OpenTelemetry, Langfuse, LangSmith
        {,observation_,span_}kind {observation,span}_type category event as_type
        """, word),
    Field("name", """
        name title label operation{_name,}  # most; Jaeger
        tool_name tool function.name function_name  # OpenAI tool calls
        display_name action_name task_display_name span_data.name  # Argo, CodePipeline, Airflow
        step_name step action node agent agent_name span_name task role
        """, named),
    Field("code", "status status_code  # OpenTelemetry", _code),
    Field("status", """
        conclusion                       # GitHub
        status state outcome status_code level phase status.{code,status,state}
        """, word),
    Field("level", "level severity log_level  # Langfuse", word),
    Field("success", "{is_,}success ok succeeded", flag),
    Field("is_error", "{is,has}_error failed errored", flag),
    Field("error", """
        error error_message status_message  # LangSmith, workflow servers, Langfuse
        errors err exception{,_message} failure{,_reason}
        {attributes,tags}.{error_message,exception_message,error_type,error}  # OpenTelemetry
        """, _error),
    Field("error", "status.{message,description}  # OpenTelemetry", line),
    Field("at", """
        start_time start_time_unix_nano started_at  # Langfuse, LangSmith, OpenTelemetry, GitHub
        started start begin begin_time start_timestamp
        timestamp time ts created_at occurred_at at  # Zipkin, OpenFang, paperclip run events
        start_date event_time metrics.start  # Temporal, Braintrust
        """, to_moment),
    Field("offset", "start_ms {start_,}offset_ms relative_start_ms", _start_in(1e-3)),
    Field("offset", "start_seconds start_s {start_,}offset", _start_in(1.0)),
    Field("end", """
        end_time end_time_unix_nano end ended ended_at end_timestamp
        completed_at finished_at finish_time  # GitHub
        end_date metrics.end             # Airflow, Braintrust
        """, to_moment),
    Field("duration", f"{_SPANS}{{_ms,_millis,_milliseconds}}", _seconds_in(1e-3)),
    Field("duration", f"{_SPANS}{{_us,_micros}}", _seconds_in(1e-6)),
    Field("duration", f"{_SPANS}{{_ns,_nanos}}", _seconds_in(1e-9)),
    Field("duration", f"{_SPANS}{{_s,_sec,_secs,_seconds}}", _seconds_in(1.0)),
    Field("duration", "latency execution_time took runtime  # Langfuse, CrewAI", _seconds_in(1.0)),
    Field("duration", _SPANS, _unitless),
    _tokens_of("total", """
        tokens total_tokens tokens_total token_count total_token_count tokens_used  # LangSmith
        U.{total,total_tokens,total_token_count,gen_ai_usage_total_tokens,llm_token_count_total}
        """),
    _tokens_of("in", """
        {input,prompt}_token{s,_count} tokens_in
        U.{input_tokens,prompt_tokens,input,prompt,prompt_token_count}
        U.{gen_ai_usage_{input,prompt}_tokens,llm_token_count_prompt}  # OpenTelemetry
        payload.usage.input_tokens       # paperclip
        """),
    _tokens_of("out", """
        {output,completion}_token{s,_count} tokens_out
        U.{output_tokens,completion_tokens,output,completion,candidates_token_count}
        U.{gen_ai_usage_{output,completion}_tokens,llm_token_count_completion}
        payload.usage.output_tokens
        """),
    *(Field(slot, names, _kept) for slot, names in _TEXTS),
    *COST,
))  # fmt: skip


# -- one step -----------------------------------------------------------------------------------


class _Draft(NamedTuple):
    """A step before it has its place in the tree."""

    id: str
    parent: str | None
    row: Row
    at: Moment | None
    offset: float | None
    """Seconds after the trace began, where that is what was told."""
    seq: float | None


def _draft(obj: Mapping[str, Json], enclosing_id: str | None) -> _Draft:
    """What was read of a step; `enclosing_id` is the step that it stood in, if any."""
    row = STEP.read({key: _attributes(value) or value for key, value in obj.items()})
    values = row.values
    at, offset, seq = values.get("at"), values.get("offset"), values.get("seq")
    if isinstance(offset, Moment):
        at, offset = at or offset, None
    told: str = values.get("id") or content_id("step", obj)
    if told == enclosing_id:
        told = f"{enclosing_id}/{told}"  # numbered anew inside each step
    parent = enclosing_id or values.get("parent")
    parent = None if parent == told else parent
    return _Draft(told, parent, row, at, offset, None if seq is None else float(seq))


def _attributes(items: Json) -> dict[str, Json] | None:
    """OpenTelemetry's and Jaeger's lists of key and value as an object."""
    found: dict[str, Json] = {}
    for item in items[:500] if type(items) is list else ():
        if type(item) is not dict or type(item.get("key")) is not str or "value" not in item:
            return None
        value = item["value"]
        is_typed = type(value) is dict and len(value) == 1
        found[item["key"]] = next(iter(value.values())) if is_typed else value
    return found


def _step(draft: _Draft, step_id: str, depth: int, base: Moment | None, unit: Unit) -> TraceStep:
    """A step in its place; `base` is when the trace began, `unit` that of all costs."""
    values, left, at = draft.row.values, draft.row.unread, draft.at
    if at is None and draft.offset is not None and base is not None:
        at = Moment(base.at + draft.offset, base.zone_assumed)
    error: SafeText | None = values.get("error")
    status: SafeText | None = values.get("code") or values.get("status")
    # The total as given, else input and output; never two spellings of one.
    parts = {name: values[slot] for slot, name in _PARTS if slot in values}
    tokens = values.get("total")
    if tokens is None:
        tokens = sum(parts.values()) if parts else None
    else:
        left = {**left, **parts}
    return TraceStep(
        id=step_id,
        depth=depth,
        parent=draft.parent,
        kind=values.get("kind"),
        name=values.get("name"),
        text=_text(values, error),
        status=status,
        failed=_failed(values, status, error),
        at=at,
        duration=_seconds(draft, at),
        tokens=tokens,
        cost=to_money(values.get("cost"), declared_unit(values, unit)),
        extra=as_extra(left),
    )


_PARTS: Final = (("in", "input_tokens"), ("out", "output_tokens"))


def _text(values: Values, error: SafeText | None) -> SafeText | None:
    parts = [] if error is None else [("error", error)]
    for slot, _ in _TEXTS:
        if slot in values and (told := shown(values[slot])):
            parts.append((slot, told))
    if len(parts) < 2:
        return safe_block(parts[0][1]) if parts else None
    return safe_block("\n".join(
        told if slot == "message" else f"{slot}:{chr(10) if chr(10) in told else ' '}{told}"
        for slot, told in parts
    ))  # fmt: skip


def _failed(values: Values, status: SafeText | None, error: SafeText | None) -> bool:
    if values.get("success") is False or values.get("is_error") is True:
        return True
    if "code" in values:
        return fold_word(values["code"]) == "error"
    state = task_state(status) if status is not None else None
    if state in (TaskState.FAILED, TaskState.DONE):
        return state is TaskState.FAILED
    level = fold_word(values.get("level") or "")
    return level in ("error", "fatal", "critical") or error is not None


def _exact_seconds(told: Decimal, between: float) -> float | None:
    """A duration with a fraction in seconds, if it is the time between two whole seconds.

    In seconds, milliseconds or microseconds: whichever is less than a second off.
    """
    if told == told.to_integral_value():
        return None
    ways = (float(told), float(told) / 1e3, float(told) / 1e6)
    return next((way for way in ways if abs(way - between) < 1), None)


def _seconds(draft: _Draft, at: Moment | None) -> float | None:
    told, end = draft.row.values.get("duration"), draft.row.values.get("end")
    if isinstance(told, float):
        return told
    if isinstance(end, Moment) and at is not None and end.at >= at.at:
        between = round(end.at - at.at, 6)
        exact = _exact_seconds(told, between) if isinstance(told, Decimal) else None
        is_whole = at.at.is_integer() and end.at.is_integer()
        return exact if is_whole and exact is not None else between
    if isinstance(told, Decimal) and told >= 0:
        # Without a unit of its own it counts as the start does: Jaeger's are both microseconds.
        start = next((v for v in draft.row.obj.values() if type(v) is int and v > 10**12), None)
        if start is not None:
            return float(told) / (10**3 if start < 10**13 else 10**6 if start < 10**16 else 10**9)
    return None


# -- where the steps are ------------------------------------------------------------------------

_LISTS: Final = (
    "resourcespans", "scopespans", "instrumentationlibraryspans", "batches", "trace", "traces",
    "steps", "spans", "observations",
    "events", "entries", "runs", "nodes", "tasks", "logs", "messages", "history", "timeline",
    "actions", "activities", "toolcalls", "children", "childruns", "calls", "log", "jobs",
    "phases", "stages", "taskinstances", "actionexecutiondetails", *WRAPPERS, "status",
)  # fmt: skip
"""Names under which steps may stand, or what they stand in; best first."""
_CONTAINERS: Final = frozenset((*_LISTS[:4], "traces"))
"""Those whose items hold steps, and are none."""
_TREE: Final = word_set("children childruns childspans substeps subspans")
_CHILDREN: Final = _TREE | word_set(
    "spans steps nodes toolcalls observations subtasks runs calls childsteps nested"
)
"""Names under which a step's own steps may stand; those of a tree only there."""
_AROUND: Final = ("info", "trace", "data", "payload", "response", "body", "task", "run")
_LOGS: Final = word_set("trace log steps logs output")
_BARE: Final = ("attributes", "node", "_source")
"""What stands round a step: JSON:API's, GraphQL's, Elasticsearch's."""
_BESIDE: Final = word_set(
    "type id relationships links meta cursor __typename _id _index _score"
).union(_BARE)
"""The only names beside it."""
_SELF: Final = frozenset(("name", "kind"))
_BEGAN: Final = word_set("startedat starttime start createdat began timestamp")


def read_trace(body: Json) -> Trace:
    """The steps in order.

    Raises UnexpectedShape, and RefusedBody if the body says that the call failed.
    """
    if says_failed(body):
        raise RefusedBody(error_in(body))
    if type(body) not in (dict, list, str, type(None)):
        raise UnexpectedShape(safe("the answer holds no trace"))
    steps, header, shape = _unwrapped(body)
    drafts, unread = _drafts(steps, header) if steps else ([], 0)
    times = (to_moment(value) for key, value in header.items() if fold(key) in _BEGAN)
    base = next((each for each in times if isinstance(each, Moment)), None)
    unit = envelope_unit(header)
    used: Counter[str] = Counter()
    placed: list[TraceStep] = []
    for draft, depth in _in_order(drafts):
        used[draft.id] += 1
        step_id = draft.id if used[draft.id] == 1 else f"{draft.id}#{used[draft.id]}"
        placed.append(_step(draft, step_id, depth, base, unit))
    return Trace(steps=tuple(placed), unread=unread, shape=safe(shape, 120), extra=as_extra(header))


def _unwrapped(body: Json) -> tuple[Json, dict[str, Json], str]:
    """The steps, what stands round them, and the path to them."""
    header: dict[str, Json] = {}
    path: list[str] = []
    while type(body) is dict and len(path) < _MOST_LAYERS:
        key = _list_key(body)
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
    return body, header, ".".join(path) + "[]" * (type(body) is list) or "{}"


def _drafts(steps: Json, header: dict[str, Json]) -> tuple[list[_Draft], int]:
    """All steps, and how many cannot be read; depth first, so that no nesting is too deep."""
    drafts: list[_Draft] = []
    unread = 0
    todo: list[tuple[Json, str | None, int]] = [(steps, None, 0)]
    while todo:
        item, enclosing_id, depth = todo.pop()
        if type(item) is list and depth < _MAX_DEPTH:
            todo.extend((inner, enclosing_id, depth + 1) for inner in reversed(item))
            continue
        if type(item) is str and item.strip():
            item = {"message": item}
        if type(item) is not dict or not item or len(drafts) >= MAX_STEPS:
            unread += 1
            continue
        inner = next((item[name] for name in _BARE if name in item), None)
        if type(inner) is dict and inner and item.keys() <= _BESIDE:
            item = {**({"id": item["id"]} if "id" in item else {}), **inner}
        inner_keys = [
            key
            for key in item
            if fold(key) in _CHILDREN | _CONTAINERS and _holds_objects(item[key])
        ]
        if inner_keys and not _is_step(item):
            key = inner_keys[0]
            todo.append((item[key], enclosing_id, depth))
            for name, value in item.items():
                if name != key:
                    header.setdefault(name, value)
            continue
        children = [key for key in inner_keys if fold(key) in _CHILDREN]
        draft = _draft({k: v for k, v in item.items() if k not in children}, enclosing_id)
        drafts.append(draft)
        todo.extend((item[key], draft.id, depth) for key in reversed(children))
    return drafts, unread


def _list_key(body: Mapping[str, Json]) -> str | None:
    """The key under which the steps are, or the envelope that holds them."""
    by_name = {fold(key): key for key in islice(body, 400)}
    named = [by_name[name] for name in _LISTS if name in by_name]
    for key in named:
        # A list of objects or of log lines; a list of ids holds no steps.
        if type(body[key]) is list and any(
            type(item) is dict or (type(item) is str and item and not looks_like_id(item))
            for item in body[key][:20]
        ):
            return key
    if _is_step(body):
        # `{"kind": "trace", "info": {"steps": […]}}` is an envelope with a word on it.
        enclosing_id = [by_name[name] for name in _AROUND if name in by_name]
        return next((key for key in enclosing_id if _leads_to_list(body[key])), None)
    for key in named:
        value = body[key]
        if type(value) is dict and value:
            return key
    for key in named:
        if type(body[key]) is str and body[key].strip() and fold(key) in _LOGS:
            return key
    keys = [key for key, value in islice(body.items(), 40) if _leads_to_list(value)]
    return keys[0] if len(keys) == 1 else None


def _holds_objects(value: Json) -> bool:
    return type(value) is list and any(type(item) is dict for item in value[:20])


def _leads_to_list(value: Json, depth: int = 0) -> bool:
    """True for a list of objects, and for an object with one in it, up to three layers down."""
    if type(value) is not dict or depth > 3 or _is_step(value):
        return _holds_objects(value)
    return any(_leads_to_list(inner, depth + 1) for inner in islice(value.values(), 40))


def _is_step(item: Mapping[str, Json]) -> bool:
    """True if the object itself is a step and not only an envelope round steps."""
    return bool(STEP.plan(item).slots & _SELF)


def _in_order(drafts: Sequence[_Draft]) -> Iterator[tuple[_Draft, int]]:
    """Each step and its depth: after its parent, siblings in the order they happened."""
    first_of: dict[str, int] = {}
    for index, draft in enumerate(drafts):
        first_of.setdefault(draft.id, index)
    children: dict[int | None, list[int]] = {}
    for index, draft in enumerate(drafts):
        parent = first_of.get(draft.parent) if draft.parent is not None else None
        children.setdefault(None if parent == index else parent, []).append(index)
    seen: set[int] = set()
    todo = [(index, 0) for index in reversed(_siblings(children.get(None, []), drafts))]
    for index in range(len(drafts) + 1):
        while todo:
            each, depth = todo.pop()
            if each not in seen:
                seen.add(each)
                yield drafts[each], depth
                inner = _siblings(children.get(each, []), drafts)
                todo.extend((child, depth + 1) for child in reversed(inner))
        # What no root leads to is in a circle: its first step stands for a root.
        if index < len(drafts) and index not in seen:
            todo.append((index, 0))


def _siblings(indices: list[int], drafts: Sequence[_Draft]) -> list[int]:
    """In the order they happened, if all of them tell; else as they came."""
    each = [drafts[index] for index in indices]
    for keys in (
        [draft.at and draft.at.at for draft in each],
        [draft.offset for draft in each],
        [draft.seq for draft in each],
    ):
        if None not in keys:
            ranked = sorted(zip(keys, [draft.seq or 0.0 for draft in each], indices, strict=True))
            return [index for _, _, index in ranked]
    return indices
