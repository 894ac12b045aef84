"""Records and references under the names that other platforms give them (SHAPES H, K1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentco_tui.api import decode
from agentco_tui.reading import json_body


def page(kind: decode.Kind[Any], body: Any) -> decode.Page[Any]:
    return decode.decode_page(kind, json_body.parse_json(json.dumps(body).encode()))


def only(kind: decode.Kind[Any], body: Any) -> Any:
    found = page(kind, body)
    assert found.unread == 0, found.unread_reasons
    return found.records[0]


@pytest.mark.parametrize("word", ["worker", "bot", "assistant", "employee", "ai_agent", "member"])
def test_an_agent_by_any_other_name(word: str) -> None:
    row = {f"{word}_id": "a1", f"{word}_name": "Scout", "status": "active"}
    agent = only(decode.AGENTS, {f"{word}s": [row]})
    assert (agent.id, agent.name) == ("a1", "Scout")


@pytest.mark.parametrize("word", ["worker", "bot", "assistant", "employee"])
def test_a_reference_to_an_agent_by_any_other_name(word: str) -> None:
    flat = {f"{word}_id": "a1", f"{word}_name": "Scout"}
    nested = {word: {"id": "a1", "name": "Scout"}}
    for ref in (flat, nested):
        for kind, row in (
            (decode.TASKS, {"id": 1, "title": "x"}),
            (decode.ALERTS, {"id": 1, "message": "x"}),
            (decode.ACTIVITY, {"id": 1, "message": "x"}),
        ):
            assert (found := only(kind, [{**row, **ref}]).agent, found.id, found.name)[1:] == (
                "a1", "Scout"
            )  # fmt: skip
        budget = only(decode.AGENT_BUDGETS, [{"limit": 5, "spent": 4, **ref}])
        assert (budget.id, budget.name) == ("a1", "Scout")
    task = only(decode.TASKS, [{"id": 1, "title": "x", f"assigned_{word}": nested[word]}])
    assert task.agent.id == "a1"


@pytest.mark.parametrize("word", ["organization", "workspace", "tenant", "account"])
def test_a_company_by_any_other_name(word: str) -> None:
    row = {f"{word}_id": "c1", f"{word}_name": "Acme"}
    company = only(decode.COMPANIES, {f"{word}s": [row]})
    assert (company.id, company.name) == ("c1", "Acme")
    budget = only(decode.COMPANY_BUDGETS, {f"{word}s": [{**row, "limit": 5}]})
    assert (budget.id, budget.name) == ("c1", "Acme")
    task = only(decode.TASKS, [{"id": 1, "title": "x", **row}])
    assert (task.company.id, task.company.name) == ("c1", "Acme")


def test_its_own_names_go_before_others() -> None:
    agent = only(decode.AGENTS, [{"worker_id": "w", "agent_id": "a1", "name": "Scout"}])
    assert agent.id == "a1"


@pytest.mark.parametrize(
    "body",
    [
        {"work_orders": [{"work_order_id": "t1", "work_order_title": "Pay"}]},
        {"inquiries": [{"inquiry_id": "t1", "title": "Pay"}]},
        [{"sys_id": "t1", "title": "Pay"}, {"sys_id": "t2", "title": "Write"}],
        {"data": [{"gid": "t1", "title": "Pay", "resource_type": "task"}]},
        [{"identity": {"id": "t1"}, "title": "Pay"}],
        [{"envelope": {"id": "t1", "title": "Pay"}, "status": "pending"}],
    ],
)
def test_an_identifier_no_table_knows(body: Any) -> None:
    task = only(decode.TASKS, body)
    assert (task.id, task.title) == ("t1", "Pay")


@pytest.mark.parametrize(
    "rows",
    [
        [{"class_id": "x", "title": "Pay"}, {"class_id": "x", "title": "Write"}],
        [{"user_id": "u1", "title": "Pay"}],
        [{"trace_id": "u1", "title": "Pay"}],
        [{"agent_id": "u1", "title": "Pay"}],
        {"agents": [{"agent_id": "u1", "title": "Pay"}]},
        {"items": [{"event": {"id": "u1"}, "title": "Pay"}]},
        [{"title": "Pay"}],
    ],
)
def test_what_does_not_tell_records_apart_is_no_identifier(rows: Any) -> None:
    found = page(decode.TASKS, rows)
    assert not found.records
    assert found.unread in (1, 2)


def test_one_record_in_an_envelope_of_its_own_name() -> None:
    assert only(decode.TASKS, {"task": {"data": {"id": "t1", "title": "Pay"}}}).title == "Pay"
    row = {"id": 1, "message": "x", "subject": {"type": "Agent", "id": "a", "name": "Scout"}}
    assert only(decode.TASKS, [row]).title == "1"
