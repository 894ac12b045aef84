"""One step of a trace: a span, an observation, a run, an event, a tool call."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from agentco_tui.model import Moment, TaskState, TraceStep
from agentco_tui.reading.fallback import content_id
from agentco_tui.reading.kinds.common_fields import COST
from agentco_tui.reading.schema import (
    NOTHING,
    Field,
    Json,
    Partial,
    Reader,
    Table,
    Values,
)
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.money import to_money, told_unit
from agentco_tui.reading.values.number import to_count, to_decimal
from agentco_tui.reading.values.plain_text import flag, line, named, shown, word
from agentco_tui.reading.values.reference import to_id
from agentco_tui.reading.values.status_word import fold_word, task_state
from agentco_tui.reading.values.time import to_moment, to_seconds
from agentco_tui.reading.values.unit import Unit
from agentco_tui.text import SafeText, safe, safe_block

CHILDREN: Final = (
    "children", "childruns", "childspans", "substeps", "subspans", "spans", "steps", "nodes",
    "toolcalls", "observations", "subtasks", "runs", "calls", "childsteps", "nested",
)  # fmt: skip
"""Names under which a step's own steps may stand, folded."""


class Unitless(NamedTuple):
    """A duration whose field's name tells no unit."""

    value: float


def _unitless(raw: Json) -> Any:
    found = to_seconds(raw)
    is_bare = type(raw) is not dict and to_decimal(raw) is not None
    return Unitless(found) if found is not None and is_bare else found


def _seconds_in(unit: float) -> Reader:
    return lambda raw: to_seconds(raw, unit)


def _start_in(unit: float) -> Reader:
    """`startMs: 812` is a time since the trace began, `startMs: 1700000000000` a point in time."""

    def read(raw: Json) -> Any:
        number = to_decimal(raw)
        if number is not None and 0 <= number < 1_000_000_000:
            return to_seconds(raw, unit)
        return to_moment(raw)

    return read


def _references(raw: Json) -> Any:
    """The parent in Jaeger's `references`."""
    if type(raw) is not list:
        return None
    for each in raw[:20]:
        if type(each) is dict and each.get("refType", "CHILD_OF") == "CHILD_OF":
            found = to_id(each.get("spanID") or each.get("spanId") or each.get("span_id"))
            if type(found) is str:
                return found
    return NOTHING


def _dotted(raw: Json) -> Any:
    """The parent in LangSmith's `dotted_order`: the last but one part, after its time."""
    if type(raw) is not str:
        return None
    parts = raw.split(".")
    return parts[-2].partition("Z")[2] or NOTHING if len(parts) > 1 else NOTHING


def _code(raw: Json) -> Any:
    """OpenTelemetry's status: 2 or STATUS_CODE_ERROR is a failure, 1 is fine, 0 is unset."""
    if type(raw) is dict:
        code = raw.get("code", raw.get("status_code", raw.get("statusCode")))
        if code is None:
            return None
        found = _code(code)
        return Partial(found) if len(raw) > 1 and found is not NOTHING else found
    if type(raw) is str and raw.upper().startswith("STATUS_CODE_"):
        name = raw.upper().removeprefix("STATUS_CODE_")
        return NOTHING if name == "UNSET" else safe(name.lower(), 60)
    if type(raw) is int and raw in (0, 1, 2):
        return NOTHING if raw == 0 else safe("ok" if raw == 1 else "error")
    return None


def _error(raw: Json) -> Any:
    if raw is True:
        return safe("failed")
    if raw is False:
        return NOTHING
    return shown(raw) or NOTHING


def _kept(raw: Json) -> Any:
    return raw if raw not in ("", [], {}) else NOTHING


_TEXTS: Final[tuple[tuple[str, str], ...]] = (
    ("message", "message msg content text body log line summary description detail details note"),
    ("thought", "thought thinking reasoning thoughts rationale"),
    ("input", "function.arguments input inputs prompt arguments args parameters params request "
     "query question"),
    ("output", "function.output output outputs result response completion answer observation "
     "stdout returned generations"),
    ("stderr", "stderr"),
    ("payload", "payload data"),
)  # fmt: skip
_SPANS: Final = (
    "{duration,latency,elapsed,elapsed_time,execution_time,runtime,run_time,took,time_taken"
    ",processing_time,total_duration,wall_time,total_time}"
)
_USAGE: Final = (
    "{usage,tokens,token_usage,usage_metadata,usage_details,models_usage,model_usage,llm_usage"
    ",usage_stats,attributes,tags,metadata,metrics,llm_output.token_usage}"
)

STEP: Final = Table(
    (
        Field(
            "id",
            """
            id span_id                       # Langfuse; OpenTelemetry
            step_id run_id observation_id event_id uuid uid _id node_id call_id
            context.span_id                  # OpenTelemetry SDKs
            task_id seq sequence step_number index number  # CrewAI, paperclip run events, GitHub
            """,
            to_id,
        ),
        Field(
            "parent",
            """
            parent_span_id                   # OpenTelemetry
            parent_observation_id            # Langfuse
            parent_run_id                    # LangSmith
            parent_id parent_step_id parent parent_task_id parent_event_id parent_node_id  # Zipkin
            """,
            to_id,
        ),
        Field("parent", "references  # Jaeger", _references),
        Field("parent", "dotted_order  # LangSmith", _dotted),
        Field("seq", "seq sequence index step_number order position number step_index  # paperclip",
              to_decimal),
        Field(
            "kind",
            """
            kind type run_type               # OpenTelemetry, Langfuse, LangSmith
            step_type event_type span_kind observation_type span_type category event as_type
            """,
            word,
        ),
        Field(
            "name",
            """
            name title label                 # most
            operation_name operation         # Jaeger
            tool_name tool function.name function_name  # OpenAI tool calls
            step_name step action node agent agent_name span_name task role
            """,
            named,
        ),
        Field("code", "status status_code  # OpenTelemetry", _code),
        Field(
            "status",
            """
            conclusion                       # GitHub
            status state outcome status_code level result_status phase
            status.{code,status,state}
            """,
            word,
        ),
        Field("level", "level severity log_level  # Langfuse", word),
        Field("success", "success ok succeeded is_success", flag),
        Field("is_error", "is_error has_error failed errored", flag),
        Field(
            "error",
            """
            error error_message              # LangSmith; workflow servers
            status_message                   # Langfuse
            errors err exception failure failure_reason error_text exception_message
            {attributes,tags}.{error_message,exception_message,error_type,error}  # OpenTelemetry
            """,
            _error,
        ),
        Field("error", "status.{message,description}  # OpenTelemetry", line),
        Field(
            "at",
            """
            start_time                       # Langfuse, LangSmith, Jaeger
            start_time_unix_nano             # OpenTelemetry
            started_at                       # GitHub
            started start begin begin_time start_timestamp
            timestamp time ts                # Zipkin, OpenFang
            created_at occurred_at at        # paperclip run events
            start_date event_time @timestamp received_at  # Temporal
            """,
            to_moment,
        ),
        Field("offset", "start_ms start_offset_ms offset_ms relative_start_ms", _start_in(1e-3)),
        Field("offset", "start_us", _start_in(1e-6)),
        Field("offset", "start_seconds start_s start_offset offset", _start_in(1.0)),
        Field(
            "end",
            """
            end_time end_time_unix_nano end ended ended_at
            completed_at finished_at finish_time completion_time end_timestamp  # GitHub
            """,
            to_moment,
        ),
        Field("duration", f"{_SPANS}{{_ms,_millis,_msec,_milliseconds}}", _seconds_in(1e-3)),
        Field("duration", f"{_SPANS}{{_us,_micros}}", _seconds_in(1e-6)),
        Field("duration", f"{_SPANS}{{_ns,_nanos,_nano}}", _seconds_in(1e-9)),
        Field("duration", f"{_SPANS}{{_s,_sec,_secs,_seconds}}", _seconds_in(1.0)),
        Field("duration", "latency execution_time took runtime  # Langfuse, CrewAI",
              _seconds_in(1.0)),
        Field("duration", _SPANS, _unitless),
        Field(
            "total",
            f"""
            tokens total_tokens              # LangSmith
            tokens_total token_count total_token_count tokens_used num_tokens
            {_USAGE}.{{total,total_tokens,total_token_count}}  # Langfuse, OpenAI
            {_USAGE}.{{gen_ai_usage_total_tokens,llm_usage_total_tokens,llm_token_count_total}}
            """,
            to_count,
        ),
        Field(
            "in",
            f"""
            input_tokens prompt_tokens tokens_in input_token_count prompt_token_count
            {_USAGE}.{{input_tokens,prompt_tokens,input,prompt,prompt_token_count}}
            {_USAGE}.{{gen_ai_usage_input_tokens,gen_ai_usage_prompt_tokens}}  # OpenTelemetry
            {_USAGE}.{{llm_usage_prompt_tokens,llm_token_count_prompt,input_token_count}}
            payload.usage.input_tokens       # paperclip
            """,
            to_count,
        ),
        Field(
            "out",
            f"""
            output_tokens completion_tokens tokens_out output_token_count completion_token_count
            {_USAGE}.{{output_tokens,completion_tokens,output,completion,candidates_token_count}}
            {_USAGE}.{{gen_ai_usage_output_tokens,gen_ai_usage_completion_tokens}}
            {_USAGE}.{{llm_usage_completion_tokens,llm_token_count_completion,output_token_count}}
            payload.usage.output_tokens
            """,
            to_count,
        ),
        *(Field(slot, names, _kept) for slot, names in _TEXTS),
        *COST,
    )
)  # fmt: skip


class StepDraft(NamedTuple):
    """A step before it has its place in the tree."""

    id: str
    parent: str | None
    at: Moment | None
    offset: float | None
    seq: Decimal | None
    values: Values
    left: dict[str, Json]
    raw_start: Json


def read_step(obj: Mapping[str, Json], around: str | None, children: tuple[str, ...]) -> StepDraft:
    """The first half of reading a step; `around` is the step that it stood in, if any."""
    flat = {
        key: attributes if type(value) is list and (attributes := _as_attributes(value)) else value
        for key, value in obj.items()
        if key not in children
    }
    row = STEP.read(flat)
    values, left = row.values, row.left
    offset = values.get("offset")
    at: Moment | None = values.get("at")
    if isinstance(offset, Moment):
        at, offset = at or offset, None
    told: str | None = values.get("id")
    if told is not None and told == around:
        told = f"{around}/{told}"  # numbered anew inside each step
    parent = around or values.get("parent")
    return StepDraft(
        id=told if told is not None else content_id("step", obj),
        parent=parent if parent != told else None,
        at=at,
        offset=offset,
        seq=values.get("seq"),
        values=values,
        left=left,
        raw_start=next((v for k, v in flat.items() if type(v) is int and v > 10**12), None),
    )


def finish_step(
    draft: StepDraft, depth: int, step_id: str, base: Moment | None, unit: Unit
) -> TraceStep:
    """The second half, once the step's place is known.

    `base` is when the trace began, `unit` that of all costs where the answer tells it once.
    """
    values = draft.values
    get = values.get
    at = draft.at
    if at is None and draft.offset is not None and base is not None:
        at = Moment(base.at + draft.offset, base.zone_assumed)
    error: SafeText | None = get("error")
    status: SafeText | None = get("code") or get("status")
    cost = to_money(get("cost"), told_unit(values, unit))
    left = draft.left
    if "total" in values and ("in" in values or "out" in values):
        parts = (("input_tokens", get("in")), ("output_tokens", get("out")))
        left = {**left, **{name: count for name, count in parts if count is not None}}
    return TraceStep(
        id=step_id,
        depth=depth,
        parent=draft.parent,
        kind=get("kind"),
        name=get("name"),
        text=_text(values, error),
        status=status,
        failed=_failed(values, status, error),
        at=at,
        duration=_seconds(draft, at),
        tokens=_tokens(values),
        cost=cost,
        extra=as_extra(left),
    )


def _text(values: Values, error: SafeText | None) -> SafeText | None:
    parts: list[tuple[str, str]] = []
    if error is not None:
        parts.append(("error", error))
    for slot, _ in _TEXTS:
        if slot in values and (told := shown(values[slot])):
            parts.append((slot, told))
    if not parts:
        return None
    if len(parts) == 1:
        return safe_block(parts[0][1])
    blocks = [
        told if slot == "message" else f"{slot}:{chr(10) if chr(10) in told else ' '}{told}"
        for slot, told in parts
    ]
    return safe_block("\n".join(blocks))


def _failed(values: Values, status: SafeText | None, error: SafeText | None) -> bool:
    if values.get("success") is False or values.get("is_error") is True:
        return True
    if values.get("code") is not None:
        return fold_word(values["code"]) == "error"
    if status is not None:
        state = task_state(status)
        if state in (TaskState.FAILED, TaskState.DONE):
            return state is TaskState.FAILED
    level = values.get("level")
    if level is not None and fold_word(level) in ("error", "fatal", "critical"):
        return True
    return error is not None


def _seconds(draft: StepDraft, at: Moment | None) -> float | None:
    told = draft.values.get("duration")
    end: Moment | None = draft.values.get("end")
    if isinstance(told, float):
        return told
    if end is not None and at is not None and end.at >= at.at:
        return round(end.at - at.at, 6)
    if isinstance(told, Unitless):
        # without a unit of its own it counts as the start does: Jaeger's are both microseconds
        start = draft.raw_start
        if type(start) is int and start >= 10**12:
            return told.value / (10**3 if start < 10**13 else 10**6 if start < 10**16 else 10**9)
        return None
    return None


def _tokens(values: Values) -> int | None:
    """The total as given, else input and output; never two spellings of one (SHAPES K5)."""
    if "total" in values:
        return int(values["total"])
    given, taken = values.get("in"), values.get("out")
    if given is None and taken is None:
        return None
    return int(given or 0) + int(taken or 0)


def _as_attributes(items: list[Json]) -> dict[str, Json] | None:
    """OpenTelemetry's and Jaeger's lists of key and value as an object."""
    if not items or len(items) > 500:
        return None
    found: dict[str, Json] = {}
    for item in items:
        if type(item) is not dict or type(item.get("key")) is not str or "value" not in item:
            return None
        value = item["value"]
        if type(value) is dict and len(value) == 1:
            value = next(iter(value.values()))
        found[item["key"]] = value
    return found
