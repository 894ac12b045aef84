"""Records in groups: what the group says stands in for what a record leaves out (SHAPES K)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentco_tui.api import decode
from agentco_tui.reading import json_body

A, B = {"id": "1", "title": "Pay"}, {"id": "2", "title": "Write"}


def page(kind: decode.Kind[Any], body: Any) -> decode.Page[Any]:
    return decode.decode_page(kind, json_body.parse_json(json.dumps(body).encode()))


def statuses(body: Any) -> dict[str, str | None]:
    return {task.id: task.status for task in page(decode.TASKS, body).records}


@pytest.mark.parametrize(
    "body",
    [
        {"pending": [A], "done": [B]},
        {"pending": [A], "failed": [], "done": [B], "total": 2},
        {"pending": {"1": {"title": "Pay"}}, "done": {"2": {"title": "Write"}}},
        {"pending": {"count": 1, "items": [A]}, "done": {"count": 1, "items": [B]}},
        {"tasks": {"pending": [A], "done": [B]}},
        {"data": {"pending": [A], "done": [B]}, "success": True},
        {"data": {"tasks": {"pending": [A], "done": [B]}}},
        {"byStatus": {"pending": [A], "done": [B]}},
        {"tasks_by_status": {"pending": [A], "done": [B]}},
        [{"status": "pending", "count": 1, "tasks": [A]}, {"status": "done", "tasks": [B]}],
        {"columns": [{"name": "pending", "tasks": [A]}, {"name": "done", "tasks": [B]}]},
        {"groups": [{"key": "pending", "items": [A]}, {"key": "done", "items": [B]}]},
        {"board": {"lanes": [{"title": "pending", "cards": [A]}, {"title": "done", "cards": [B]}]}},
    ],
)
def test_tasks_by_status(body: Any) -> None:
    assert statuses(body) == {"1": "pending", "2": "done"}


def test_names_of_groups_may_hold_the_name_of_the_records() -> None:
    found = statuses({"pendingTasks": [A], "completed_tasks": [B]})
    assert found == {"1": "pending", "2": "completed"}


def test_what_a_record_says_itself_counts() -> None:
    body = {"pending": [{**A, "status": "pending_approval"}], "done": [B]}
    assert statuses(body) == {"1": "pending_approval", "2": "done"}


def test_what_may_be_a_word_about_the_answer_may_be_a_group_too() -> None:
    assert statuses({"success": [A], "failed": [B]}) == {"1": "success", "2": "failed"}
    assert statuses({"success": True, "pending": [A], "failed": [B], "failedCount": 1}) == {
        "1": "pending", "2": "failed"
    }  # fmt: skip


def test_one_group_alone_and_none() -> None:
    assert statuses({"pending": [A]}) == {"1": "pending"}
    assert statuses({"queue": [A]}) == {"1": None}
    assert statuses({"pending": [], "running": []}) == {}


def test_no_part_is_lost_where_something_else_stands_beside_the_groups() -> None:
    with pytest.raises(decode.Unshaped):
        page(decode.TASKS, {"pending": 3, "done": 5})


def test_agents_and_companies_by_state() -> None:
    body = {"active": [{"id": "a", "name": "Scout"}], "paused": [{"id": "b", "name": "Quill"}]}
    assert [agent.status for agent in page(decode.AGENTS, body).records] == ["active", "paused"]


def test_entries_by_day() -> None:
    body = {"2026-11-21": [{"id": 1, "message": "x"}], "2026-11-20": [{"id": 2, "message": "y"}]}
    assert [entry.text for entry in page(decode.ACTIVITY, body).records] == ["x", "y"]


def test_records_by_whose_they_are() -> None:
    tasks = page(decode.TASKS, {"ag_1": [A], "ag_2": [B]}).records
    assert [task.agent.id for task in tasks] == ["ag_1", "ag_2"]
    body = {"companies": [{"id": "cmp_1", "name": "Acme", "agents": [{"id": "a", "name": "S"}]}]}
    (agent,) = page(decode.AGENTS, body).records
    assert (agent.id, agent.company.id, agent.company.name) == ("a", "cmp_1", "Acme")
    tasks = page(decode.TASKS, {"agents": [{"id": "ag_1", "tasks": [A, B]}]}).records
    assert [task.agent.id for task in tasks] == ["ag_1", "ag_1"]


def test_a_list_deep_inside_objects_is_found_and_they_are_no_records() -> None:
    body = {"data": {"viewer": {"company": {"tasks": {"nodes": [A, B]}}}}}
    assert statuses(body) == {"1": None, "2": None}
