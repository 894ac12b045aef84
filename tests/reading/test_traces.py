"""Traces beyond the golden bodies: every shape becomes the same list of steps, in order."""

from __future__ import annotations

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
    with pytest.raises(decode.UnexpectedShape):
        trace(5)
