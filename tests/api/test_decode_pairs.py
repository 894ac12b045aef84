"""Records sent as pairs, as maps side by side, in typed values and in sections (SHAPES A, B)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentco_tui.api import decode
from agentco_tui.model.records import AgentState, Severity, TaskState
from agentco_tui.reading import json_body


def read(body: Any) -> Any:
    return json_body.parse_json(json.dumps(body).encode())


def page(kind: decode.Kind[Any], body: Any) -> list[Any]:
    found = decode.decode_page(kind, read(body))
    assert found.unread == 0, found.unread_reasons
    return list(found.records)


def pairs(_key: str, _value: str, /, **fields: Any) -> list[dict[str, Any]]:
    return [{_key: key, _value: each} for key, each in fields.items()]


TASK = {"id": "t1", "title": "Pay", "status": "pending", "agent_id": "ag_1"}


@pytest.mark.parametrize(
    "body",
    [
        {"tasks": [pairs("key", "value", **TASK)]},
        {"items": [{"id": "t1", "fields": pairs("name", "value", **TASK)}]},
        {"collection": {"items": [{"href": "https://h/api/tasks/t1",
                                   "data": pairs("name", "value", **TASK)}]}},
        {"result": [{"sys_id": {"display_value": "t1", "value": "t1"},
                     "short_description": {"display_value": "Pay", "value": "Pay"},
                     "state": {"display_value": "Pending", "value": "1"},
                     "assigned_to": {"display_value": "Scout", "value": "ag_1", "link": "x"}}]},
        {"class": ["tasks"], "entities": [{"class": ["task"], "properties": TASK,
                                           "links": [{"rel": ["self"], "href": "/api/tasks/t1"}]}]},
        [{"Id": "t1", "Title__c": "Pay", "Status__c": "Pending", "Agent_Id__c": "ag_1"}],
        [{**TASK, "status": {"id": 7, "label": "Pending"}}],
        [{**TASK, "status": ["pending"]}],
        [{**TASK, "status": 0, "status_name": "Pending"}],
        [{**TASK, "status": None, "statusCode": "PENDING"}],
    ],
)  # fmt: skip
def test_the_same_task_from_each(body: Any) -> None:
    (task,) = page(decode.TASKS, body)
    assert (task.id, task.title, task.state, task.agent.id) == (
        "t1", "Pay", TaskState.PENDING, "ag_1"
    )  # fmt: skip


def test_a_list_of_budgets_may_hold_the_whole() -> None:
    rows = [{"scope": "global", "limit": 9, "spent": 4}, {"company_id": "c", "limit": 5}]
    found = decode.decode_overview(read({"budgets": rows}))
    assert found.whole.limit is not None
    assert (f"{found.whole.limit.amount}", len(found.parts)) == ("9", 1)


def test_identifiers_with_names_and_without() -> None:
    found = page(decode.AGENTS, {"agents": {"ag_1": "Scout"}})
    assert [(each.id, each.name) for each in found] == [("ag_1", "Scout")]
    assert [each.id for each in page(decode.COMPANIES, {"companies": ["cmp_1"]})] == ["cmp_1"]
    body = {"entities": {"tasks": {"t": TASK}, "agents": {"ag_1": {"name": "Scout"}}}}
    assert page(decode.TASKS, body)[0].agent.name == "Scout"


def test_records_in_groups_of_any_name() -> None:
    teams = [{"id": n, "name": "x", "agents": [{"id": f"a{n}", "name": "S"}]} for n in (1, 2)]
    assert [each.id for each in page(decode.AGENTS, {"teams": teams})] == ["a1", "a2"]


def test_sections_of_an_agent() -> None:
    body = [{"id": "a", "profile": {"name": "Scout", "role": "CEO"},
             "runtime": {"model": "m", "status": "active"}}]  # fmt: skip
    (agent,) = page(decode.AGENTS, body)
    told = (agent.name, agent.role, agent.model, agent.state)
    assert told == ("Scout", "CEO", "m", AgentState.ACTIVE)


def test_an_alert_by_its_labels_and_one_summed_up() -> None:
    body = [{"labels": {"severity": "warning", "agent_id": "a"}, "annotations": {"summary": "x"}}]
    (alert,) = page(decode.ALERTS, body)
    assert (alert.severity, alert.agent.id, alert.text) == (Severity.WARNING, "a", "x")
    (alert,) = page(decode.ALERTS, {"data": {"critical": 2, "total": 2}})
    assert alert.id == "alerts-summary"


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("queued_for_approval", TaskState.PENDING),
        ("ready for review", TaskState.PENDING),
        ("needs_sign_off", TaskState.PENDING),
        ("proposed", TaskState.PENDING),
        ("waiting", TaskState.PENDING),
        ("rejected_in_review", TaskState.OTHER),
        ("queued", TaskState.QUEUED),
    ],
)
def test_more_words_for_waiting_for_a_person(word: str, state: TaskState) -> None:
    assert page(decode.TASKS, [{"id": 1, "title": "x", "status": word}])[0].state is state


@pytest.mark.parametrize(
    "name", ["raised", "raised_on", "RaisedAt", "opened", "creation_timestamp"]
)
def test_more_names_of_times(name: str) -> None:
    (task,) = page(decode.TASKS, [{"id": 1, "title": "x", name: "2026-01-01T00:00:00Z"}])
    assert task.created.at == 1_767_225_600
    (task,) = page(decode.TASKS, [{"id": 1, "title": "x", "due": "2026-01-01T00:00:00Z"}])
    assert task.expires.at == 1_767_225_600


def test_what_an_entry_says_and_is_about() -> None:
    (entry,) = page(decode.ACTIVITY, [{"id": 1, "message": {"text": "y"}}])
    assert entry.text == "y"
    target = {"type": "Task", "id": "t1", "displayName": "Pay"}
    for each in (target, [target]):
        (entry,) = page(decode.ACTIVITY, [{"id": 1, "displayMessage": "did", "target": each}])
        assert (entry.text, entry.task.id, entry.task.name) == ("did", "t1", "Pay")
