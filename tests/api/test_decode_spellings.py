"""Names in forms that stand in no table, and references in forms of their own (SHAPES K1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentco_tui.api import bodies, decode
from agentco_tui.api.records import Ref, Severity, extra_fields
from agentco_tui.text import safe

NOON = 1_732_190_400
TASK = {"id": "tsk_1", "title": "Pay the invoice", "status": "pending"}


def only(kind: decode.Kind[Any], row: Any) -> Any:
    """The one record that is read from a list with this row alone."""
    page = decode.decode_page(kind, bodies.parse_json(json.dumps([row]).encode()))
    assert page.unread == 0, page.unread_reasons
    (record,) = page.records
    return record


@pytest.mark.parametrize(
    "said",
    [
        {"ref": "ag_1", "label": "Scout"},
        {"key": "ag_1", "label": "Scout"},
        {"code": "ag_1", "text": "Scout"},
        {"value": "ag_1", "label": "Scout"},
        {"agentRef": "ag_1", "displayValue": "Scout"},
        {"agentUuid": "ag_1", "agentTitle": "Scout"},
        {"ref": "/api/agents/ag_1", "title": "Scout"},
        {"accountId": "ag_1", "displayName": "Scout"},
        {"id": "ag_1", "key": "S-1", "name": "Scout"},
    ],
)
def test_a_reference_in_any_words(said: Any) -> None:
    assert only(decode.TASKS, {**TASK, "agent": said}).agent == Ref("ag_1", safe("Scout"))


def test_what_may_be_an_api_key_is_no_reference() -> None:
    secret = "sk-0123456789abcdef0123456789abcdef"
    task = only(decode.TASKS, {**TASK, "agent": {"key": secret, "label": "Scout"}})
    assert task.agent == Ref(None, safe("Scout"))
    assert secret.encode() not in task.extra


@pytest.mark.parametrize(
    ("name", "slot"),
    [
        ("created_ts", "created"), ("createdUnix", "created"), ("created_at_ms", "created"),
        ("createdAtUtc", "created"), ("creationEpoch", "extra"), ("updated_epoch", "updated"),
        ("updatedEpochMs", "updated"), ("modified_ts", "updated"), ("decidedTs", "decided"),
        ("approved_unix", "decided"), ("waitingSinceMs", "waiting_since"),
        ("requested_ts", "waiting_since"), ("expires_ts", "expires"), ("due_epoch", "expires"),
        ("enqueued_ts", "created"), ("queuedTs", "created"), ("queued_at", "created"),
        ("task_created_ts", "created"), ("ts", "created"), ("epoch", "created"),
    ],
)  # fmt: skip
def test_times_in_any_form(name: str, slot: str) -> None:
    for size in (1, 1_000):
        task = only(decode.TASKS, {**TASK, name: NOON * size})
        if slot == "extra":
            assert extra_fields(task.extra) == {name: NOON * size}
        else:
            assert getattr(task, slot).at == NOON


def test_the_best_name_comes_first_whatever_its_form() -> None:
    task = only(decode.TASKS, {**TASK, "queued_at": NOON - 60, "created_ts": NOON})
    assert task.created.at == NOON
    assert extra_fields(task.extra) == {"queued_at": NOON - 60}
    task = only(decode.TASKS, {**TASK, "created_ts": NOON - 60, "created_at": NOON})
    assert task.created.at == NOON


def test_what_is_no_time_stays_what_it_is() -> None:
    task = only(decode.TASKS, {**TASK, "created_ms": 12, "updated_ts": "soon"})
    assert (task.created, task.updated) == (None, None)
    assert extra_fields(task.extra) == {"created_ms": 12, "updated_ts": "soon"}


def test_names_with_the_kind_before_them() -> None:
    task = only(
        decode.TASKS,
        {
            "task_id": "t1", "taskTitle": "Pay", "task_status": "pending", "taskPriority": "high",
            "task_agent_id": "ag_1", "taskCompanyName": "Acme", "task_created_at": NOON,
        },
    )  # fmt: skip
    assert (task.id, task.title, task.priority) == ("t1", "Pay", "high")
    assert (task.agent, task.company) == (Ref("ag_1", None), Ref(None, safe("Acme")))
    agent = only(decode.AGENTS, {"agentId": "a1", "agentName": "Scout", "agentTrustScore": 0.8})
    assert (agent.name, str(agent.trust)) == ("Scout", "0.8")
    company = only(decode.COMPANIES, {"companyId": "c1", "companyMission": "Sell tea"})
    assert company.mission == "Sell tea"
    entry = only(decode.ACTIVITY, {"eventId": "e1", "eventMessage": "Paid", "eventTs": NOON})
    assert (entry.text, entry.at.at) == ("Paid", NOON)


@pytest.mark.parametrize("name", ["sev", "lvl", "alertSeverity", "incident_severity", "alertLevel"])
def test_severity_in_any_word(name: str) -> None:
    assert (
        only(decode.ALERTS, {"id": 1, "message": "x", name: "crit"}).severity is Severity.CRITICAL
    )


@pytest.mark.parametrize("name", ["subject", "target", "resource", "entity", "scope", "affected"])
@pytest.mark.parametrize("kind", ["type", "kind", "resourceType", "__typename"])
def test_what_an_alert_is_about(name: str, kind: str) -> None:
    said = {kind: "Agent", "id": "ag_1", "name": "Scout"}
    alert = only(decode.ALERTS, {"id": 1, "message": "x", name: said})
    assert (alert.agent, alert.company) == (Ref("ag_1", safe("Scout")), None)
    assert alert.extra == b""
    said = {kind: "company", "id": "cmp_1"}
    alert = only(decode.ALERTS, {"id": 1, "message": "x", name: said})
    assert (alert.agent, alert.company) == (None, Ref("cmp_1", None))


def test_an_alert_about_something_else_keeps_it() -> None:
    said = {"type": "task", "id": "tsk_1"}
    alert = only(decode.ALERTS, {"id": 1, "message": "x", "subject": said})
    assert (alert.agent, alert.company) == (None, None)
    assert extra_fields(alert.extra) == {"subject": said}
