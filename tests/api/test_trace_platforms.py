"""The ways in which well-known kinds of interface and store send the steps of a trace."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from agentco_tui.model import Trace, TraceStep
from agentco_tui.reading import json_body
from tests.reading import decode

NINE = datetime(2026, 11, 21, 9, tzinfo=UTC).timestamp()
AT = "2026-11-21T09:00:00Z"
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


def trace(body: Any) -> Trace:
    return decode.decode_trace(json_body.parse_json(json.dumps(body).encode()))


def only(body: Any) -> TraceStep:
    (found,) = trace(body).steps
    return found


@pytest.mark.parametrize("name", SHAPES)
def test_the_same_step_from_each(name: str) -> None:
    found = only(SHAPES[name])
    told = (found.id, found.name, found.kind, found.at and found.at.at, found.duration)
    assert told == ("s1", "plan", "tool", NINE, 1.5)


def test_how_it_ended_is_more_than_that_it_ended() -> None:
    body = {"jobs": [{"id": 1, "name": "x", "status": "completed", "conclusion": "failure"}]}
    assert (only(body).status, only(body).failed) == ("failure", True)


def test_steps_numbered_anew_inside_each_step_keep_their_place() -> None:
    inner = [{"number": 1, "name": "a"}, {"number": 2, "name": "b"}]
    found = trace({"jobs": [{"id": 1, "name": "x", "steps": inner}]}).steps
    assert [(each.name, each.depth) for each in found] == [("x", 0), ("a", 1), ("b", 1)]


def test_usage_and_cost_under_more_names() -> None:
    row = {"id": 1, "name": "x", "models_usage": {"prompt_tokens": 10, "completion_tokens": 5},
           "costDetails": {"input": 0.01, "total": 0.03}}  # fmt: skip
    assert only([row]).tokens == 15
    cost = only([row]).cost
    assert cost is not None
    assert f"{cost.amount}" == "0.03"


def test_a_duration_in_no_known_unit_is_not_read() -> None:
    body = [{"name": "x", "duration": {"value": 5, "unit": "ticks"}}]
    assert only(body).duration is None
