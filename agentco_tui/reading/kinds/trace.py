"""One step of a trace, the log of how an agent worked on a task: its fields, and how it is built.

Platforms are the remote services with AI agents that this program can watch. `STEPS` is the
description by which steps are read. In `FIELDS`, each `Field(slot, names, reader)` lists the names
under which platforms send one of our fields (its *slot*), best first, and the function that reads a
raw value; after `#` come the platforms that use the names. `_build` makes a `TraceStep` of a `Row`,
the values of one object by slot. A reader returns None for a value it cannot read, `EMPTY` for one
that says nothing, and `Incomplete` for one that holds more than it read.

Which objects of an answer are steps, and in which order, is decided in `reading.trace_layout`.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from agentco_tui.model import Moment, TaskState, TraceStep
from agentco_tui.reading.field_names import word_set
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.kinds.common_fields import COST, content_id
from agentco_tui.reading.name_index import Field, Reader
from agentco_tui.reading.reader_result import EMPTY, Incomplete
from agentco_tui.reading.schema import DecodeContext, Kind, Row, Values
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.money import declared_unit, to_money
from agentco_tui.reading.values.reference import to_id
from agentco_tui.reading.values.scalar import (
    to_count,
    to_decimal,
    to_flag,
    to_line,
    to_name,
    to_shown_text,
    to_word,
)
from agentco_tui.reading.values.status_word import snake_case, task_state
from agentco_tui.reading.values.time import to_moment, to_seconds
from agentco_tui.text import SafeText, clean_block, clean_line

MAX_STEPS: Final = 20_000
"""How many steps of one trace are read."""


# -- readers of the table --------------------------------------------------------------------------


def _duration_without_unit(raw: Json) -> Any:
    """Seconds from a text such as "1.2 s"; a Decimal if only the name could declare the unit."""
    if type(raw) is not dict:
        number = to_decimal(raw)
        if number is not None:
            return number
    return to_seconds(raw)


def _seconds_in(unit: float) -> Reader:
    """A reader of durations in a unit of so many seconds, which the name of the field declares."""
    return lambda raw: to_seconds(raw, unit)


_MAX_OFFSET: Final = 1_000_000_000
"""A number from here on is no offset, but a time since 1970, whatever its unit."""


def _start_in(unit: float) -> Reader:
    """A reader of `start_ms`: a small number is an offset from the trace's beginning, else a time.

    `unit` is the unit of the offset in seconds. The reader returns seconds or a Moment.
    """

    def read(raw: Json) -> Any:
        number = to_decimal(raw)
        if number is not None and 0 <= number < _MAX_OFFSET:
            return to_seconds(raw, unit)
        return to_moment(raw)

    return read


def _parent_in_references(raw: Json) -> Any:
    """The parent in Jaeger's list of `references`."""
    if type(raw) is not list:
        return None
    for reference in raw[:20]:
        if type(reference) is dict and reference.get("refType", "CHILD_OF") == "CHILD_OF":
            return to_id(reference.get("spanID") or reference.get("spanId"))
    return EMPTY


def _parent_in_dotted_order(raw: Json) -> Any:
    """The parent in LangSmith's `dotted_order`: the last part but one, after its time."""
    if type(raw) is not str:
        return EMPTY
    parts = raw.split(".")
    if len(parts) < 2:
        return EMPTY
    _time, _, parent = parts[-2].partition("Z")
    return parent or EMPTY


_OTEL_CODES: Final[Mapping[int, Any]] = {0: EMPTY, 1: clean_line("ok"), 2: clean_line("error")}


def _otel_code(raw: Json) -> Any:
    """OpenTelemetry's status as "ok" or "error"; EMPTY if it is unset."""
    if type(raw) is dict:
        status = _otel_code(raw.get("code", raw.get("statusCode")))
        holds_more = len(raw) > 1
        if status is not None and holds_more:
            return Incomplete(status)
        return status
    if type(raw) is int:
        return _OTEL_CODES.get(raw)
    if type(raw) is str and raw.startswith("STATUS_CODE_"):
        name = raw.removeprefix("STATUS_CODE_")
        if name == "UNSET":
            return EMPTY
        return clean_line(name.lower(), 60)
    return None


def _error(raw: Json) -> Any:
    """The text of an error; "failed" for a flag that is set."""
    if raw is True:
        return clean_line("failed")
    if raw is False:
        return EMPTY
    return to_shown_text(raw) or EMPTY


def _any_content(raw: Json) -> Any:
    """The raw value itself; EMPTY if there is nothing in it."""
    if raw in ("", [], {}):
        return EMPTY
    return raw


_TEXTS: Final = (
    ("message", "message msg content text body log line summary description detail{s,} note"),
    ("thought", "thought{s,} thinking reasoning rationale"),
    ("input", "function.arguments input{s,} prompt arguments args parameters params request query"),
    ("output", "function.output output{s,} result response completion answer stdout generations"),
    ("stderr", "stderr"),
    ("payload", "payload data"),
)
"""Slots of a step's texts with their names, in the order in which they are shown."""
_SPANS: Final = "{duration,latency,elapsed,elapsed_time,execution_time,runtime,took,total_time}"
"""Names of a duration, to which a unit may be appended."""
_USAGE: Final = (
    "{usage,tokens,token_usage,usage_metadata,usage_details,models_usage,attributes,tags,metadata"
    ",metrics,llm_output.token_usage}"
)
"""Names of objects that hold the counts of tokens; U in the names below."""


def _tokens_of(slot: str, names: str) -> Field:
    """A field of token counts; `U.` in its names is any of the objects in `_USAGE`.

    OpenTelemetry's are `gen_ai.usage.…`.
    """
    return Field(slot, names.replace("U.", f"{_USAGE}."), to_count)


# In names, `{a,b}` means a or b, and a dot leads into an object. Case, `_` and `-` do not matter.
FIELDS: Final = (
    Field("id", """
        id span_id {step,run,observation,event,node,call}_id uuid uid _id  # Langfuse, OpenTelemetry
        context.span_id                  # OpenTelemetry SDKs
        task_id seq sequence step_number index number  # CrewAI, paperclip run events, GitHub
        """, to_id),
    Field("parent", """
        parent_{span,observation,run}_id # OpenTelemetry, Langfuse, LangSmith
        parent{_id,_step_id,,_task_id,_event_id,_node_id}  # Zipkin
        """, to_id),
    Field("parent", "references  # Jaeger", _parent_in_references),
    Field("parent", "dotted_order  # LangSmith", _parent_in_dotted_order),
    Field("seq", "seq sequence index step_{number,index} order position number", to_decimal),
    Field("kind", """
        kind type {run,step,event}_type  # OpenTelemetry, Langfuse, LangSmith
        {,observation_,span_}kind {observation,span}_type category event as_type
        """, to_word),
    Field("name", """
        name title label operation{_name,}  # most; Jaeger
        tool_name tool function.name function_name  # OpenAI tool calls
        display_name action_name task_display_name span_data.name  # Argo, CodePipeline, Airflow
        step_name step action node agent agent_name span_name task role
        """, to_name),
    Field("code", "status status_code  # OpenTelemetry", _otel_code),
    Field("status", """
        conclusion                       # GitHub
        status state outcome status_code level phase status.{code,status,state}
        """, to_word),
    Field("level", "level severity log_level  # Langfuse", to_word),
    Field("success", "{is_,}success ok succeeded", to_flag),
    Field("is_error", "{is,has}_error failed errored", to_flag),
    Field("error", """
        error error_message status_message  # LangSmith, workflow servers, Langfuse
        errors err exception{,_message} failure{,_reason}
        {attributes,tags}.{error_message,exception_message,error_type,error}  # OpenTelemetry
        """, _error),
    Field("error", "status.{message,description}  # OpenTelemetry", to_line),
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
    Field("duration", _SPANS, _duration_without_unit),
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
    *(Field(slot, names, _any_content) for slot, names in _TEXTS),
    *COST,
)  # fmt: skip


# -- a step of a row -------------------------------------------------------------------------------

_TOKEN_PARTS: Final = (("in", "input_tokens"), ("out", "output_tokens"))
"""Slots of which a total is the sum, and what they are called among the unread fields."""
_BAD_LEVELS: Final = word_set("error fatal critical")
"""Log levels that mean that the step failed."""


def _build(row: Row, context: DecodeContext) -> TraceStep:
    """The step, as the object itself describes it; its place in the tree is not known here."""
    values = row.values
    error: SafeText | None = values.get("error")
    status: SafeText | None = values.get("code") or values.get("status")
    at = _start(values, context.trace_start)
    # row.unread: the fields that no Field of the table has read, by key
    unread = dict(row.unread)
    tokens: int | None = values.get("total")
    # A total as sent, else input and output together; never two spellings of one.
    parts = {name: values[slot] for slot, name in _TOKEN_PARTS if slot in values}
    if tokens is not None:
        unread |= parts
    elif parts:
        tokens = sum(parts.values())
    return TraceStep(
        id=values.get("id") or content_id("step", row.obj),
        parent=values.get("parent"),
        kind=values.get("kind"),
        name=values.get("name"),
        text=_text(values, error),
        status=status,
        failed=_has_failed(values, status, error),
        at=at,
        duration=_duration(row, at),
        tokens=tokens,
        # context.unit: the currency, or cents of it, that the answer declares for all its sums.
        cost=to_money(values.get("cost"), declared_unit(values, context.unit)),
        extra=as_extra(unread),
    )


def _start(values: Values, trace_start: Moment | None) -> Moment | None:
    """When the step began: as sent, else by its offset from the beginning of the trace."""
    at: Moment | None = values.get("at")
    offset: Moment | float | None = values.get("offset")
    if at is not None or offset is None:
        return at
    if isinstance(offset, Moment):
        return offset
    if trace_start is None:
        return None
    return Moment(trace_start.at + offset, trace_start.zone_assumed)


def _text(values: Values, error: SafeText | None) -> SafeText | None:
    """All texts of a step as one block, each with its name, if there is more than one."""
    parts: list[tuple[str, str]] = []
    if error is not None:
        parts.append(("error", error))
    for slot, _ in _TEXTS:
        if slot not in values:
            continue
        text = to_shown_text(values[slot])
        if text:
            parts.append((slot, text))
    if not parts:
        return None
    if len(parts) == 1:
        return clean_block(parts[0][1])
    return clean_block("\n".join(_labelled(slot, text) for slot, text in parts))


def _labelled(slot: str, text: str) -> str:
    if slot == "message":
        return text
    if "\n" in text:
        return f"{slot}:\n{text}"
    return f"{slot}: {text}"


def _has_failed(values: Values, status: SafeText | None, error: SafeText | None) -> bool:
    """Whether a step failed; the first of these that says anything decides:

    a flag, OpenTelemetry's code, a status word that is an end, a level or an error text.
    """
    if values.get("success") is False or values.get("is_error") is True:
        return True
    if "code" in values:
        return snake_case(values["code"]) == "error"
    if status is not None:
        state = task_state(status)
        if state in (TaskState.FAILED, TaskState.DONE):
            return state is TaskState.FAILED
    level = snake_case(values.get("level") or "")
    return level in _BAD_LEVELS or error is not None


def _duration(row: Row, at: Moment | None) -> float | None:
    """Seconds: as sent, else from start to end, else in the unit that the start is in."""
    sent: float | Decimal | None = row.values.get("duration")
    end = row.values.get("end")
    if isinstance(sent, float):
        return sent
    if isinstance(end, Moment) and at is not None and end.at >= at.at:
        between = round(end.at - at.at, 6)
        times_are_whole = at.at.is_integer() and end.at.is_integer()
        if sent is not None and times_are_whole:
            exact = _exact_seconds(sent, between)
            if exact is not None:
                return exact
        return between
    if sent is not None and sent >= 0:
        return _in_unit_of_start(sent, row)
    return None


def _exact_seconds(sent: Decimal, between: float) -> float | None:
    """A duration with a fraction, in seconds, if it is the time between two whole seconds.

    It may be in seconds, milliseconds or microseconds: whichever is less than a second off.
    """
    if sent == sent.to_integral_value():
        return None
    for divisor in (1, 1e3, 1e6):
        seconds = float(sent) / divisor
        if abs(seconds - between) < 1:
            return seconds
    return None


_MIN_MILLISECONDS: Final = 10**12
"""Numbers above it are times in milliseconds, microseconds or nanoseconds since 1970."""


def _in_unit_of_start(sent: Decimal, row: Row) -> float | None:
    """A duration in the unit of the first large number of the object: Jaeger's are microseconds."""
    for value in row.obj.values():
        if type(value) is not int or value <= _MIN_MILLISECONDS:
            continue
        if value < 10**13:
            return float(sent) / 10**3
        if value < 10**16:
            return float(sent) / 10**6
        return float(sent) / 10**9
    return None


STEPS: Final[Kind[TraceStep]] = Kind(
    "step",
    noun="steps",
    list_keys="trace traces steps spans observations",
    fallback_list_keys="""
        events entries runs nodes tasks logs messages history timeline actions activities
        """,
    fields=FIELDS,
    build=_build,
    unreadable_reason="a step of which no field is known",
    max_rows=MAX_STEPS,
)
"""`trace_layout.read_trace` finds the steps, which may be nested; `decode.read_page`, which reads
the lists of the other kinds, does not find those."""
