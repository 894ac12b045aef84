"""Names in forms that stand in no table, and references in forms of their own (SHAPES K1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentco_tui.api import decode
from agentco_tui.model.records import Ref, Severity, extra_fields
from agentco_tui.reading import json_body
from agentco_tui.text import safe

NOON = 1_732_190_400
TASK = {"id": "tsk_1", "title": "Pay the invoice", "status": "pending"}


def only(kind: decode.Kind[Any], row: Any) -> Any:
    """The one record that is read from a list with this row alone."""
    page = decode.decode_page(kind, json_body.parse_json(json.dumps([row]).encode()))
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
    entry = only(decode.ACTIVITY, {"eventId": "e1", "eventMessage": "Paid", "eventTs": NOON})
    assert (entry.text, entry.at.at) == ("Paid", NOON)


@pytest.mark.parametrize("name", ["alertSeverity", "incident_severity", "alertLevel"])
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


@pytest.mark.parametrize(
    "row",
    [
        {"context": {"agent_id": "ag_1", "company_id": "cmp_1"}},
        {"refs": {"agent": "ag_1", "company": "cmp_1"}},
        {"relations": {"agent": {"id": "ag_1"}, "company": {"id": "cmp_1"}}},
        {"agent": {"id": "ag_1", "company": {"id": "cmp_1"}}},
        {"agentIds": ["ag_1"], "organization": {"key": "cmp_1"}},
    ],
)
def test_whose_a_task_is_told_further_inside(row: Any) -> None:
    task = only(decode.TASKS, {**TASK, **row})
    assert (task.agent.id, task.company.id) == ("ag_1", "cmp_1")


@pytest.mark.parametrize("holder", ["timestamps", "dates", "audit", "meta", "metadata"])
def test_times_and_costs_further_inside(holder: str) -> None:
    row = {holder: {"createdAt": NOON, "updated_ts": NOON + 60}, "usage": {"cost_usd": "1.50"}}
    task = only(decode.TASKS, {**TASK, **row})
    assert (task.created.at, task.updated.at) == (NOON, NOON + 60)
    assert (str(task.cost.amount), task.cost.currency) == ("1.50", "USD")


def test_words_inside_objects() -> None:
    row = {"status": {"current": "pending"}, "priority": {"level": "high"}}
    task = only(decode.TASKS, {**TASK, **row})
    assert (task.status, task.priority) == ("pending", "high")
    task = only(decode.TASKS, {"id": 1, "title": {"rendered": "Pay"}, "isPending": True})
    assert (task.title, task.needs_approval) == ("Pay", True)


def test_logs_in_the_words_of_log_keepers() -> None:
    entry = only(
        decode.ACTIVITY,
        {
            "@timestamp": NOON, "message": "paid", "log": {"level": "warn"},
            "event": {"id": "e1", "action": "approve", "outcome": "success"},
        },
    )  # fmt: skip
    assert (entry.id, entry.verb, entry.outcome) == ("e1", "approve", "success")
    assert entry.severity is Severity.WARNING
    entry = only(
        decode.ACTIVITY,
        {"insertId": "i1", "receiveTimestamp": NOON, "jsonPayload": {"message": "paid"}},
    )
    assert (entry.id, entry.text, entry.at.at) == ("i1", "paid", NOON)
    assert only(decode.ACTIVITY, "the agent Scout has paid").text == "the agent Scout has paid"
    assert only(decode.ALERTS, "the budget is used up").text == "the budget is used up"


def test_a_currency_counts_for_all_that_stands_beside_it() -> None:
    said = {"limit": 100, "spent": 40, "currency": "EUR"}
    budget = only(decode.AGENT_BUDGETS, {"agent": {"id": "ag_1"}, "budget": said})
    assert (budget.limit.currency, budget.spent.currency) == ("EUR", "EUR")
    body = {"budget": {**said, "period": "monthly"}, "resets_ts": NOON}
    whole: Any = decode.decode_overview(json_body.parse_json(json.dumps(body).encode())).whole
    assert (whole.limit.currency, whole.period, whole.resets.at) == ("EUR", "monthly", NOON)
