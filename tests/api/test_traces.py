"""Traces (SHAPES F): every shape becomes the same kind of list, in order."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from agentco_tui.model import Trace, TraceStep, extra_fields
from agentco_tui.reading import json_body
from agentco_tui.reading.kinds.trace import MAX_STEPS
from tests.reading import decode

NINE = datetime(2026, 11, 21, 9, tzinfo=UTC).timestamp()


def trace(body: Any) -> Trace:
    return decode.decode_trace(json_body.parse_json(json.dumps(body).encode()))


def step(**fields: Any) -> TraceStep:
    (found,) = trace([{"id": "s1", "name": "x", **fields}]).steps
    return found


A, B, C = ({"id": each, "name": each} for each in "abc")

TREES: dict[str, Any] = {
    "flat with parent ids": [A, {**B, "parent_id": "a"}, {**C, "parentId": "b"}],
    "children before parents": [{**C, "parent": "b"}, {**B, "parent": {"id": "a"}}, A],
    "nested children": {**A, "children": [{**B, "children": [C]}]},
    "nested child_runs": {"trace": [{**A, "child_runs": [{**B, "childRuns": [C]}]}]},
    "nested steps": {"data": {"steps": [{**A, "steps": [{**B, "sub_steps": [C]}]}]}},
    "opentelemetry": {
        "resourceSpans": [
            {
                "resource": {},
                "scopeSpans": [
                    {
                        "scope": {"name": "s"},
                        "spans": [
                            {"spanId": "a", "parentSpanId": "", "name": "a"},
                            {"spanId": "b", "parentSpanId": "a", "name": "b"},
                            {"spanId": "c", "parentSpanId": "b", "name": "c"},
                        ],
                    }
                ],
            }
        ]
    },
    "an envelope with a word on it": {
        "kind": "trace",
        "info": {"steps": [A, {**B, "parent_id": "a"}, {**C, "parent_id": "b"}]},
    },
    "two batches": {
        "resourceSpans": [
            {"scopeSpans": [{"spans": [{"spanId": "a", "name": "a"}]}]},
            {
                "instrumentationLibrarySpans": [
                    {
                        "spans": [
                            {"spanId": "b", "parentSpanId": "a", "name": "b"},
                            {"spanId": "c", "parentSpanId": "b", "name": "c"},
                        ]
                    }
                ]
            },
        ]
    },
    "jaeger": {
        "data": [
            {
                "traceID": "t",
                "processes": {},
                "spans": [
                    {
                        "spanID": "c",
                        "operationName": "c",
                        "references": [{"refType": "CHILD_OF", "spanID": "b"}],
                    },
                    {
                        "spanID": "b",
                        "operationName": "b",
                        "references": [{"refType": "CHILD_OF", "spanID": "a"}],
                    },
                    {"spanID": "a", "operationName": "a", "references": []},
                ],
            }
        ]
    },
    "langfuse": {
        "id": "tr",
        "observations": [A, {**B, "parentObservationId": "a"}, {**C, "parentObservationId": "b"}],
    },
    "dotted order": [
        {"id": "a", "name": "a", "dotted_order": "20261121T090000000000Za"},
        {"id": "b", "name": "b", "dotted_order": "20261121T090000000000Za.20261121T090001000000Zb"},
        {
            "id": "c",
            "name": "c",
            "dotted_order": "20261121T090000000000Za.20261121T090001000000Zb."
            "20261121T090002000000Zc",
        },
    ],
}


@pytest.mark.parametrize("name", TREES)
def test_the_same_tree_in_every_shape(name: str) -> None:
    steps = trace(TREES[name]).steps
    assert [(each.id, each.depth) for each in steps] == [("a", 0), ("b", 1), ("c", 2)]


@pytest.mark.parametrize(
    "body",
    [
        [],
        None,
        {},
        {"steps": []},
        {"data": None},
        {"trace": {"spans": []}},
        {"resourceSpans": []},
        {"id": "tr", "observations": ["o1", "o2"]},
        {"task_id": "t1", "steps": None},
    ],
)
def test_no_steps(body: Any) -> None:
    assert trace(body).steps == ()


def test_what_else_stood_there_is_kept() -> None:
    found = trace(
        {"id": "tr1", "latency": 1.5, "totalCost": 0.03, "api_key": "k", "observations": [A]}
    )
    assert extra_fields(found.extra) == {
        "id": "tr1",
        "latency": 1.5,
        "totalCost": Decimal("0.03"),
        "api_key": "(hidden)",
    }
    assert trace({"resourceSpans": [{"resource": {"a": 1}, "scopeSpans": [{"spans": [A]}]}]}).extra


def test_the_workflow_servers_trace() -> None:
    found = trace(
        {
            "startedAt": "2026-11-21T09:00:00Z",
            "steps": [
                {
                    "id": "s2",
                    "name": "act",
                    "startMs": 812,
                    "durationMs": 5,
                    "state": "failed",
                    "errorMessage": "no",
                },
                {
                    "id": "s1",
                    "name": "plan",
                    "kind": "ACTIVITY",
                    "state": "completed",
                    "startMs": 0,
                    "durationMs": 812,
                    "attempt": 1,
                    "errorMessage": None,
                },
            ],
        }
    )
    first, second = found.steps
    assert (first.id, first.kind, first.name, first.status, first.failed) == (
        "s1",
        "ACTIVITY",
        "plan",
        "completed",
        False,
    )
    assert (first.duration, second.duration) == (0.812, 0.005)
    assert first.at is not None
    assert second.at is not None
    assert first.at.at == NINE
    assert second.at.at == pytest.approx(NINE + 0.812)
    assert (second.failed, second.text) == (True, "no")
    assert extra_fields(first.extra) == {"attempt": 1}


def test_relative_times_without_a_base_are_no_dates() -> None:
    found = trace([{"id": "b", "name": "b", "startMs": 9}, {"id": "a", "name": "a", "startMs": 1}])
    assert [(each.id, each.at) for each in found.steps] == [("a", None), ("b", None)]


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        ({"duration_ms": 250}, 0.25),
        ({"durationMs": "250"}, 0.25),
        ({"latency": 1.5}, 1.5),
        ({"latency_ms": 1500}, 1.5),
        ({"execution_time": 2.1}, 2.1),
        ({"duration": "1.5s"}, 1.5),
        ({"duration": "PT1.5S"}, 1.5),
        ({"runtimeMs": 20}, 0.02),
        ({"start_time": "2026-11-21T09:00:00Z", "end_time": "2026-11-21T09:00:02.5Z"}, 2.5),
        (
            {"startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000001500000000"},
            1.5,
        ),
        ({"startTime": 1700000000000000, "duration": 1500}, 0.0015),
        ({"startTime": 1700000000000, "duration": 1500}, 1.5),
        ({"duration": {"ms": 20}}, 0.02),
        ({"duration": 2}, None),
        ({}, None),
        ({"duration": None}, None),
        ({"duration_ns": 1500}, 0.0000015),
        ({"elapsed_seconds": "3"}, 3.0),
        ({"duration": -1}, None),
    ],
)
def test_durations_in_seconds(fields: dict[str, Any], seconds: float | None) -> None:
    assert step(**fields).duration == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("fields", "tokens"),
    [
        ({"total_tokens": 40}, 40),
        ({"usage": {"input": 12, "output": 3, "total": 15}}, 15),
        ({"usage": {"prompt_tokens": 12, "completion_tokens": 3}}, 15),
        ({"tokens": {"total": 15}}, 15),
        ({"tokens": 15}, 15),
        ({"inputTokens": 12, "outputTokens": 3, "cachedInputTokens": 9}, 15),
        ({"inputTokens": 12, "input_tokens": 12}, 12),
        ({"input_tokens": 12, "output_tokens": 3, "total_tokens": 99}, 99),
        ({"usage_metadata": {"total_tokens": 7}}, 7),
        (
            {
                "attributes": [
                    {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "150"}},
                    {"key": "gen_ai.usage.output_tokens", "value": {"intValue": 50}},
                ]
            },
            200,
        ),
        ({}, None),
        ({"attributes": {"llm.token_count.total": 5}}, 5),
    ],
)
def test_tokens_are_never_added_twice(fields: dict[str, Any], tokens: int | None) -> None:
    assert step(**fields).tokens == tokens


@pytest.mark.parametrize(
    ("fields", "cost"),
    [
        ({"costUsd": 0.01, "cost_usd": 0.01, "total_cost_usd": 0.01}, "0.01"),
        ({"calculatedTotalCost": 0.01}, "0.01"),
        ({"costCents": 1}, "0.01"),
        ({"cost_microdollars": 10000}, "0.01"),
        ({"cost": {"amount": "0.01", "currency": "usd"}}, "0.01"),
    ],
)
def test_costs(fields: dict[str, Any], cost: str) -> None:
    found = step(**fields).cost
    assert found is not None
    assert found.amount == Decimal(cost)


@pytest.mark.parametrize(
    ("fields", "failed"),
    [
        ({"status": {"code": 2, "message": "boom"}}, True),
        ({"status": {"code": 1}}, False),
        ({"status": {"code": 0}}, False),
        ({"status": "failed"}, True),
        ({"status": "completed"}, False),
        ({"level": "ERROR"}, True),
        ({"level": "DEFAULT"}, False),
        ({"error": "boom"}, True),
        ({"error": None}, False),
        ({"success": False}, True),
        ({"is_error": True}, True),
        ({"status": {"code": "STATUS_CODE_ERROR"}}, True),
        ({"errorMessage": ""}, False),
        ({"error": {"message": "boom"}}, True),
        ({"status_code": 2}, True),
        ({"error": False}, False),
        ({}, False),
    ],
)
def test_failures(fields: dict[str, Any], failed: bool) -> None:
    assert step(**fields).failed is failed


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"message": "hello"}, "hello"),
        ({"output": "done"}, "done"),
        ({"input": "a", "output": "b"}, "input: a\noutput: b"),
        ({"message": "m", "output": {"rows": 3}}, 'm\noutput: {"rows":3}'),
        ({"content": [{"type": "text", "text": "hi"}]}, "hi"),
        ({"function": {"name": "f", "arguments": '{"a":1}'}}, '{"a":1}'),
        ({"error": "boom", "input": "a"}, "error: boom\ninput: a"),
        ({"output": "two\nlines", "input": "a"}, "input: a\noutput:\ntwo\nlines"),
        ({}, None),
        ({"output": ""}, None),
        ({"input": {"api_key": "hunter2"}}, '{"api_key":"(hidden)"}'),
        ({"status": {"code": 2, "message": "boom"}}, "boom"),
    ],
)
def test_texts(fields: dict[str, Any], text: str | None) -> None:
    assert step(**fields).text == text


def test_log_lines_and_texts_are_steps_too() -> None:
    assert [each.text for each in trace({"trace": ["did this", "did that"]}).steps] == [
        "did this",
        "did that",
    ]
    assert [each.text for each in trace({"log": "line one\nline two"}).steps] == [
        "line one\nline two"
    ]
    assert [each.text for each in trace("just words").steps] == ["just words"]


def test_tool_calls_inside_a_step() -> None:
    body = {
        "steps": [
            {
                "type": "tool_call",
                "tool_calls": [{"function": {"name": "x", "arguments": '{"a":1}'}}],
            }
        ]
    }
    outer, inner = trace(body).steps
    assert (outer.kind, outer.depth, inner.name, inner.depth, inner.text) == (
        "tool_call",
        0,
        "x",
        1,
        '{"a":1}',
    )


def test_siblings_stand_in_the_order_they_happened() -> None:
    rows = [{"id": str(n), "name": "x", "timestamp": f"2026-11-21T09:00:0{n}Z"} for n in (3, 1, 2)]
    assert [each.id for each in trace(rows).steps] == ["1", "2", "3"]
    by_seq = [{"seq": n, "message": "x"} for n in (3, 1, 2)]
    assert [each.id for each in trace({"events": by_seq}).steps] == ["1", "2", "3"]
    as_given = [{"id": each, "name": "x"} for each in "cab"]
    assert [each.id for each in trace(as_given).steps] == ["c", "a", "b"]


def test_cycles_missing_parents_and_doubles_do_no_harm() -> None:
    rows = [
        {"id": "a", "name": "x", "parent_id": "b"},
        {"id": "b", "name": "x", "parent_id": "a"},
        {"id": "c", "name": "x", "parent_id": "c"},
        {"id": "d", "name": "x", "parent_id": "gone"},
        {"id": "d", "name": "again"},
        None,
        7,
        {},
    ]
    found = trace(rows)
    assert sorted(each.id for each in found.steps) == ["a", "b", "c", "d", "d#2"]
    assert found.unread == 3


def test_endless_traces_are_cut_and_counted() -> None:
    found = trace([{"id": n, "name": "x"} for n in range(MAX_STEPS + 5)])
    assert (len(found.steps), found.unread) == (MAX_STEPS, 5)


def test_a_chain_as_deep_as_it_is_long() -> None:
    rows = [{"id": n, "name": "x", "parent_id": n - 1} for n in range(5_000)]
    assert trace(rows).steps[-1].depth == 4_999
    nested: dict[str, Any] = {"id": "end", "name": "x"}
    for n in range(150):
        nested = {"id": n, "name": "x", "children": [nested]}
    assert trace(nested).steps[-1].id == "end"


def test_refusals_and_nonsense_are_told() -> None:
    with pytest.raises(decode.RefusedBody, match="no trace yet"):
        trace({"ok": False, "error": "no trace yet"})
    with pytest.raises(decode.Unshaped):
        trace(5)


def test_text_is_made_safe() -> None:
    found = step(message="\x1b]0;x\x07\u202eabc", kind="\x1b[2J")
    assert "\x1b" not in f"{found.text}{found.kind}"
    assert "\u202e" not in str(found.text)
