"""Traces beyond the golden bodies: every shape becomes the same list of steps, in order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from agentco_tui.model import Trace, extra_fields
from agentco_tui.reading.kinds.trace import MAX_STEPS
from tests.reading import decode
from tests.reading.decode import parsed, plain

NINE = datetime(2026, 11, 21, 9, tzinfo=UTC).timestamp()
AT = "2026-11-21T09:00:00Z"
Row = dict[str, Any]


def trace(body: Any) -> Trace:
    return decode.decode_trace(parsed(body))


A, B, C = ({"id": each, "name": each} for each in "abc")


def span(own: str, parent: str) -> Row:
    return {"spanId": own, "parentSpanId": parent, "name": own}


TREES: dict[str, Any] = {
    "children before parents": [{**C, "parent": "b"}, {**B, "parent": {"id": "a"}}, A],
    "nested children": {**A, "children": [{**B, "children": [C]}]},
    "nested child_runs": {"trace": [{**A, "child_runs": [{**B, "childRuns": [C]}]}]},
    "nested steps": {"data": {"steps": [{**A, "steps": [{**B, "sub_steps": [C]}]}]}},
    "an envelope with a word on it": {
        "kind": "trace", "info": {"steps": [A, {**B, "parent_id": "a"}, {**C, "parent_id": "b"}]},
    },
    "two batches": {
        "resourceSpans": [
            {"scopeSpans": [{"spans": [span("a", "")]}]},
            {"instrumentationLibrarySpans": [{"spans": [span("b", "a"), span("c", "b")]}]},
        ]
    },
    "langfuse": {
        "id": "tr",
        "observations": [A, {**B, "parentObservationId": "a"}, {**C, "parentObservationId": "b"}],
    },
    "dotted order": [
        {**A, "dotted_order": "20261121T090000Za"},
        {**B, "dotted_order": "20261121T090000Za.20261121T090001Zb"},
        {**C, "dotted_order": "20261121T090000Za.20261121T090001Zb.20261121T090002Zc"},
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", TREES)
def test_the_same_tree_in_every_shape(name: str) -> None:
    steps = trace(TREES[name]).steps
    assert [(each.id, each.depth) for each in steps] == [("a", 0), ("b", 1), ("c", 2)]


STEP = {"id": "s1", "name": "plan", "kind": "tool", "started_at": AT, "duration_ms": 1500}
SHAPES: dict[str, Any] = {
    "GraphQL edges": {"data": {"task": {"id": "t1", "trace": {"edges": [{"node": STEP}]}}}},
    "GraphQL nodes": {"data": {"taskTrace": {"nodes": [STEP]}}},
    "Elasticsearch": {"hits": {"hits": [{"_id": "s1", "_source": {**STEP, "id": "s1"}}]}},
    "of any name": {"trace": {"trace_info": {"x": 1}, "trace_data": {"spans": [STEP]}}},
    "protobuf": {
        "spans": [
            {"context": {"span_id": "s1"}, "name": "plan", "kind": "tool",
             "startTime": {"seconds": str(int(NINE))},
             "duration": {"seconds": "1", "nanos": 500000000}}
        ]
    },
    "value and unit": {"steps": [{**STEP, "duration_ms": None,
                                  "duration": {"value": 1500, "unit": "ms"}}]},
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_the_same_step_from_each(name: str) -> None:
    (found,) = trace(SHAPES[name]).steps
    told = (found.id, found.name, found.kind, found.at and found.at.at, found.duration)
    assert told == ("s1", "plan", "tool", NINE, 1.5)


@pytest.mark.parametrize(
    "body",
    [[], None, {}, {"steps": []}, {"data": None}, {"trace": {"spans": []}}, {"resourceSpans": []},
     {"id": "tr", "observations": ["o1", "o2"]}, {"task_id": "t1", "steps": None}],
)  # fmt: skip
def test_no_steps(body: Any) -> None:
    assert trace(body).steps == ()


def test_what_else_stood_there_is_kept() -> None:
    found = trace({"id": "tr1", "totalCost": 0.03, "api_key": "k", "observations": [A]})
    assert extra_fields(found.extra) == {
        "id": "tr1", "totalCost": Decimal("0.03"), "api_key": "(hidden)",
    }  # fmt: skip
    assert trace({"resourceSpans": [{"resource": {"a": 1}, "scopeSpans": [{"spans": [A]}]}]}).extra


def test_times_from_the_start_count_from_it_and_are_no_dates_without() -> None:
    rows = [
        {"id": "s2", "name": "act", "startMs": 812, "durationMs": 5, "errorMessage": "no"},
        {"id": "s1", "name": "plan", "startMs": 0, "durationMs": 812, "attempt": 1},
    ]
    first, second = trace({"startedAt": AT, "steps": rows}).steps
    assert [plain(each.at) for each in (first, second)] == [NINE, pytest.approx(NINE + 0.812)]
    assert (first.id, first.duration, second.duration) == ("s1", 0.812, 0.005)
    assert (second.failed, second.text) == (True, "no")
    assert extra_fields(first.extra) == {"attempt": 1}
    assert [(each.id, each.at) for each in trace(rows).steps] == [("s1", None), ("s2", None)]


DURATIONS: list[tuple[Row, float | None]] = [
    ({"durationMs": "250"}, 0.25), ({"latency_ms": 1500}, 1.5), ({"execution_time": 2.1}, 2.1),
    ({"duration": "1.5s"}, 1.5), ({"duration": "PT1.5S"}, 1.5), ({"runtimeMs": 20}, 0.02),
    ({"start_time": AT, "end_time": "2026-11-21T09:00:02.5Z"}, 2.5),
    ({"startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000001500000000"}, 1.5),
    ({"startTime": 1700000000000000, "duration": 1500}, 0.0015),
    ({"startTime": 1700000000000, "duration": 1500}, 1.5), ({"duration": {"ms": 20}}, 0.02),
    ({"duration": {"value": 5, "unit": "ticks"}}, None), ({"duration": 2}, None), ({}, None),
    ({"duration": None}, None), ({"duration_ns": 1500}, 0.0000015), ({"elapsed_seconds": "3"}, 3.0),
    ({"duration": -1}, None),
]  # fmt: skip
TOKENS: list[tuple[Row, int | None]] = [
    ({"total_tokens": 40}, 40), ({"tokens": {"total": 15}}, 15), ({"tokens": 15}, 15),
    ({"usage": {"input": 12, "output": 3, "total": 15}}, 15), ({}, None),
    ({"usage": {"prompt_tokens": 12, "completion_tokens": 3}}, 15),
    ({"models_usage": {"prompt_tokens": 10, "completion_tokens": 5}}, 15),
    ({"inputTokens": 12, "outputTokens": 3, "cachedInputTokens": 9}, 15),
    ({"inputTokens": 12, "input_tokens": 12}, 12),
    ({"input_tokens": 12, "output_tokens": 3, "total_tokens": 99}, 99),
    ({"usage_metadata": {"total_tokens": 7}}, 7),
    ({"attributes": [{"key": "gen_ai.usage.input_tokens", "value": {"intValue": "150"}},
                     {"key": "gen_ai.usage.output_tokens", "value": {"intValue": 50}}]}, 200),
    ({"attributes": {"llm.token_count.total": 5}}, 5),
]  # fmt: skip
COSTS: list[tuple[Row, str]] = [
    ({"costUsd": 0.01, "cost_usd": 0.01, "total_cost_usd": 0.01}, "0.01"),
    ({"calculatedTotalCost": 0.01}, "0.01"),
    ({"cost_microdollars": 10000}, "0.01"),
    ({"cost": {"amount": "0.01", "currency": "usd"}}, "0.01"),
    ({"costDetails": {"input": 0.01, "total": 0.03}}, "0.03"),
]
FAILURES: list[tuple[Row, bool]] = [
    ({"status": {"code": 2, "message": "boom"}}, True), ({"status": {"code": 1}}, False),
    ({"status": {"code": 0}}, False), ({"status": {"code": "STATUS_CODE_ERROR"}}, True),
    ({"status_code": 2}, True), ({"level": "DEFAULT"}, False), ({"error": None}, False),
    ({"error": False}, False), ({"error": {"message": "boom"}}, True), ({"success": False}, True),
    ({"errorMessage": ""}, False), ({"status": "completed", "conclusion": "failure"}, True),
    ({}, False),
]  # fmt: skip
TEXTS: list[tuple[Row, str | None]] = [
    ({"output": "done"}, "done"), ({"input": "a", "output": "b"}, "input: a\noutput: b"),
    ({"message": "m", "output": {"rows": 3}}, 'm\noutput: {"rows":3}'),
    ({"content": [{"type": "text", "text": "hi"}]}, "hi"), ({"output": ""}, None),
    ({"function": {"name": "f", "arguments": '{"a":1}'}}, '{"a":1}'), ({}, None),
    ({"error": "boom", "input": "a"}, "error: boom\ninput: a"),
    ({"output": "two\nlines", "input": "a"}, "input: a\noutput:\ntwo\nlines"),
    ({"input": {"api_key": "hunter2"}}, '{"api_key":"(hidden)"}'),
    ({"status": {"code": 2, "message": "boom"}}, "boom"),
]  # fmt: skip


FIELDS: dict[str, Sequence[tuple[Row, Any]]] = {
    "duration": DURATIONS, "tokens": TOKENS, "cost": COSTS, "failed": FAILURES, "text": TEXTS,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "fields", "told"),
    [(name, *case) for name, cases in FIELDS.items() for case in cases],
)
def test_what_a_step_tells(name: str, fields: Row, told: Any) -> None:
    (found,) = trace([{"id": "s1", "name": "x", **fields}]).steps
    assert plain(getattr(found, name)) == (pytest.approx(told) if isinstance(told, float) else told)


@pytest.mark.parametrize(
    ("body", "texts"),
    [({"trace": ["did this", "did that"]}, ["did this", "did that"]),
     ({"log": "line one\nline two"}, ["line one\nline two"]), ("just words", ["just words"])],
)  # fmt: skip
def test_log_lines_and_texts_are_steps_too(body: Any, texts: list[str]) -> None:
    assert [each.text for each in trace(body).steps] == texts


def test_tool_calls_inside_a_step() -> None:
    calls = [{"function": {"name": "x", "arguments": '{"a":1}'}}]
    outer, inner = trace({"steps": [{"type": "tool_call", "tool_calls": calls}]}).steps
    assert (outer.kind, outer.depth) == ("tool_call", 0)
    assert (inner.name, inner.depth, inner.text) == ("x", 1, '{"a":1}')


def test_steps_stand_in_the_order_they_happened_and_as_given_without_one() -> None:
    rows = [{"id": str(n), "name": "x", "timestamp": f"2026-11-21T09:00:0{n}Z"} for n in (3, 1, 2)]
    assert [each.id for each in trace(rows).steps] == ["1", "2", "3"]
    by_seq = [{"seq": n, "message": "x"} for n in (3, 1, 2)]
    assert [each.id for each in trace({"events": by_seq}).steps] == ["1", "2", "3"]
    as_given = [{"id": each, "name": "x"} for each in "cab"]
    assert [each.id for each in trace(as_given).steps] == ["c", "a", "b"]
    inner = [{"number": 1, "name": "a"}, {"number": 2, "name": "b"}]
    anew = trace({"jobs": [{"id": 1, "name": "x", "steps": inner}]}).steps
    assert [(each.name, each.depth) for each in anew] == [("x", 0), ("a", 1), ("b", 1)]


def test_cycles_missing_parents_and_doubles_do_no_harm() -> None:
    rows = [
        {**A, "parent_id": "b"}, {**B, "parent_id": "a"}, {**C, "parent_id": "c"},
        {"id": "d", "name": "x", "parent_id": "gone"}, {"id": "d", "name": "again"}, None, 7, {},
    ]  # fmt: skip
    found = trace(rows)
    assert sorted(each.id for each in found.steps) == ["a", "b", "c", "d", "d#2"]
    assert found.unread == 3


def test_endless_traces_are_cut_and_counted() -> None:
    found = trace([{"id": n, "name": "x"} for n in range(MAX_STEPS + 5)])
    assert (len(found.steps), found.unread) == (MAX_STEPS, 5)


def test_a_chain_as_deep_as_it_is_long() -> None:
    rows = [{"id": n, "name": "x", "parent_id": n - 1} for n in range(5_000)]
    assert trace(rows).steps[-1].depth == 4_999
    nested: Row = {"id": "end", "name": "x"}
    for n in range(150):
        nested = {"id": n, "name": "x", "children": [nested]}
    assert trace(nested).steps[-1].id == "end"


def test_refusals_and_nonsense_are_told() -> None:
    with pytest.raises(decode.RefusedBody, match="no trace yet"):
        trace({"ok": False, "error": "no trace yet"})
    with pytest.raises(decode.Unshaped):
        trace(5)


def test_text_is_made_safe() -> None:
    (found,) = trace([{"message": "\x1b]0;x\x07\u202eabc", "kind": "\x1b[2J"}]).steps
    assert "\x1b" not in f"{found.text}{found.kind}"
    assert "\u202e" not in str(found.text)
