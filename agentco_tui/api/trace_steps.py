"""One step of a trace (SHAPES F "Trace"): a span, an observation, a run, an event, a tool call."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from agentco_tui.api.moneys import cost_rule, to_money, with_sibling
from agentco_tui.api.names import words
from agentco_tui.api.plans import Meaning, Spec, Values
from agentco_tui.api.units import Unit, currency_rule
from agentco_tui.model.records import Moment, Money, TaskState, TraceStep
from agentco_tui.reading.fallback import content_id
from agentco_tui.reading.schema import Json, Partial
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.number import to_count, to_decimal
from agentco_tui.reading.values.reference import to_id
from agentco_tui.reading.values.status import fold_word, task_state
from agentco_tui.reading.values.text import flag, line, named, shown, word
from agentco_tui.reading.values.time import NONE, duration_reader, to_moment
from agentco_tui.text import SafeText, safe, safe_block

CHILDREN: Final = (
    "children", "childruns", "childspans", "substeps", "subspans", "spans", "steps", "nodes",
    "toolcalls", "observations", "subtasks", "runs", "calls", "childsteps", "nested",
)  # fmt: skip
"""Names under which a step's own steps may stand, folded."""

_DURATIONS: Final = " ".join(
    f"{base}{suffix}"
    for base in (
        "duration", "latency", "elapsed", "elapsed_time", "execution_time", "runtime", "run_time",
        "took", "time_taken", "processing_time", "total_duration", "wall_time", "total_time",
    )
    for suffix in ("", "_ms", "_s", "_sec", "_secs", "_seconds", "_us", "_ns", "_millis",
                   "_micros", "_nanos", "_nano", "_msec", "_milliseconds")
)  # fmt: skip
_INPUT: Final = """input_tokens prompt_tokens tokens_in input_token_count prompt_token_count
    gen_ai.usage.input_tokens gen_ai.usage.prompt_tokens llm.usage.prompt_tokens
    llm.token_count.prompt input prompt"""
_OUTPUT: Final = """output_tokens completion_tokens tokens_out output_token_count
    completion_token_count candidates_token_count gen_ai.usage.output_tokens
    gen_ai.usage.completion_tokens llm.usage.completion_tokens llm.token_count.completion output
    completion"""
_TOTAL: Final = """total_tokens tokens_total token_count total_token_count tokens_used num_tokens
    gen_ai.usage.total_tokens llm.usage.total_tokens llm.token_count.total"""


class Unitless(NamedTuple):
    """A duration whose field's name tells no unit."""

    value: float


def _duration(key: str) -> Any:
    reader = duration_reader(words(key))
    tells = len(words(key)) > 1 or words(key)[0] in ("latency", "took", "runtime")

    def read(raw: Json) -> Any:
        found = reader(raw)
        if found is None or tells or to_decimal(raw) is None:
            return found
        return Unitless(found)

    return read


def _start(key: str) -> Any:
    """`startMs: 812` is a time since the trace began, `startMs: 1700000000000` a point in time."""
    reader = duration_reader(words(key))

    def read(raw: Json) -> Any:
        number = to_decimal(raw)
        if number is not None and 0 <= number < 1_000_000_000:
            return reader(raw)
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
    return NONE


def _dotted(raw: Json) -> Any:
    """The parent in LangSmith's `dotted_order`: the last but one part, after its time."""
    if type(raw) is not str:
        return None
    parts = raw.split(".")
    return parts[-2].partition("Z")[2] or NONE if len(parts) > 1 else NONE


def _code(raw: Json) -> Any:
    """OpenTelemetry's status: 2 or STATUS_CODE_ERROR is a failure, 1 is fine, 0 is unset."""
    if type(raw) is dict:
        code = raw.get("code", raw.get("status_code", raw.get("statusCode")))
        if code is None:
            return None
        found = _code(code)
        return Partial(found) if len(raw) > 1 and found is not NONE else found
    if type(raw) is str and raw.upper().startswith("STATUS_CODE_"):
        name = raw.upper().removeprefix("STATUS_CODE_")
        return NONE if name == "UNSET" else safe(name.lower(), 60)
    if type(raw) is int and raw in (0, 1, 2):
        return NONE if raw == 0 else safe("ok" if raw == 1 else "error")
    return None


def _error(raw: Json) -> Any:
    if raw is True:
        return safe("failed")
    if raw is False:
        return NONE
    return shown(raw) or NONE


def _kept(raw: Json) -> Any:
    return raw if raw not in ("", [], {}) else NONE


_TEXTS: Final[tuple[tuple[str, str], ...]] = (
    ("message", "message msg content text body log line summary description detail details note"),
    ("thought", "thought thinking reasoning thoughts rationale"),
    ("input", "input inputs prompt arguments args parameters params request query question"),
    ("output", "output outputs result response completion answer observation stdout returned "
     "generations"),
    ("stderr", "stderr"),
    ("payload", "payload data"),
)  # fmt: skip
_USAGE: Final = Spec(
    (
        Meaning("total", f"total {_TOTAL}", to_count),
        Meaning("in", _INPUT, to_count),
        Meaning("out", _OUTPUT, to_count),
    ),
    rule=cost_rule,
)
_ATTRIBUTES: Final = Spec(
    (
        Meaning("total", _TOTAL, to_count),
        Meaning("in", _INPUT.rsplit(None, 2)[0], to_count),
        Meaning("out", _OUTPUT.rsplit(None, 2)[0], to_count),
        Meaning("error", "error.message exception.message error.type error", _error),
    ),
    rule=cost_rule,
)
_FUNCTION: Final = Spec(
    (
        Meaning("name", "name", named),
        Meaning("input", "arguments args parameters input", _kept),
        Meaning("output", "output result", _kept),
    )
)
_STATUS: Final = Spec((Meaning("error_text", "message description", line),))
_COSTS: Final = Spec((Meaning("cost", "total", to_money),), rule=cost_rule)
_CONTEXT: Final = Spec((Meaning("id", "span_id", to_id),))


STEP: Final = Spec(
    (
        Meaning(
            "id",
            """id span_id step_id run_id observation_id event_id uuid uid _id node_id call_id
            task_id seq sequence step_number index number""",
            to_id,
        ),
        Meaning(
            "parent",
            """parent_id parent_span_id parent_observation_id parent_run_id parent_step_id parent
            parent_task_id parent_event_id parent_node_id""",
            to_id,
        ),
        Meaning("references", "references", _references),
        Meaning("dotted", "dotted_order", _dotted),
        Meaning("seq", "seq sequence index step_number order position number step_index",
                to_decimal),
        Meaning(
            "kind",
            "kind type run_type step_type event_type span_kind observation_type span_type category "
            "event as_type",
            word,
        ),
        Meaning(
            "name",
            """name title label operation_name operation tool_name tool function_name step_name
            step action node agent agent_name span_name task role""",
            named,
        ),
        Meaning("code", "status status_code", _code),
        Meaning("status", "status state outcome status_code level result_status phase", word),
        Meaning("level", "level severity log_level", word),
        Meaning("conclusion", "conclusion", word),
        Meaning("success", "success ok succeeded is_success", flag),
        Meaning("is_error", "is_error has_error failed errored", flag),
        Meaning(
            "error",
            """error error_message errors err exception failure failure_reason error_text
            status_message exception_message""",
            _error,
        ),
        Meaning(
            "at",
            """start_time started_at start_time_unix_nano start started begin begin_time
            start_timestamp started timestamp time ts created_at occurred_at at start_date
            event_time @timestamp received_at""",
            to_moment,
        ),
        Meaning(
            "offset",
            "start_ms start_offset_ms offset_ms relative_start_ms start_offset offset "
            "start_us start_seconds start_s",
            _start, True,
        ),
        Meaning(
            "end",
            """end_time ended_at end_time_unix_nano end ended completed_at finished_at finish_time
            completion_time end_timestamp""",
            to_moment,
        ),
        Meaning("duration", _DURATIONS, _duration, by_name=True),
        Meaning("total", f"tokens {_TOTAL}", to_count),
        Meaning("in", _INPUT.rsplit(None, 2)[0], to_count),
        Meaning("out", _OUTPUT.rsplit(None, 2)[0], to_count),
        *(Meaning(slot, names, _kept) for slot, names in _TEXTS),
    ),
    nested={
        "usage": _USAGE, "tokens": _USAGE, "token_usage": _USAGE, "usage_metadata": _USAGE,
        "usage_details": _USAGE, "models_usage": _USAGE, "model_usage": _USAGE,
        "llm_usage": _USAGE, "usage_stats": _USAGE, "cost_details": _COSTS, "costs": _COSTS,
        "context": _CONTEXT, "metrics": _ATTRIBUTES, "attributes": _ATTRIBUTES,
        "tags": _ATTRIBUTES, "function": _FUNCTION, "status": _STATUS, "metadata": _ATTRIBUTES,
        "llm_output": Spec((), nested={"token_usage": _USAGE}), "extra": _ATTRIBUTES,
    },
    rule=lambda name: cost_rule(name) or currency_rule(name),
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
    values: Values = {}
    flat = {
        key: attributes if type(value) is list and (attributes := _as_attributes(value)) else value
        for key, value in obj.items()
        if key not in children
    }
    left = STEP.read(flat, values)
    offset = values.get("offset")
    at: Moment | None = values.get("at")
    if isinstance(offset, Moment):
        at, offset = at or offset, None
    told: str | None = values.get("id")
    if told is not None and told == around:
        told = f"{around}/{told}"  # numbered anew inside each step
    parent = around or values.get("parent") or values.get("references") or values.get("dotted")
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
    error: SafeText | None = get("error") or get("error_text")
    status: SafeText | None = get("conclusion") or get("code") or get("status")
    cost: Money | None = with_sibling(get("cost"), get("currency") or unit)
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
        return told.value
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
