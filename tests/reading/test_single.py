"""One object, and what a write's answer says, beyond the golden bodies."""

from __future__ import annotations

from typing import Any

import pytest

from agentco_tui.model import Budget, Receipt, Task, Verdict, extra_fields
from tests.reading import decode
from tests.reading.decode import parsed

TASK = {"id": "t1", "title": "Plan", "status": "pending"}


def one(body: Any, wanted: str | None = "t1") -> Task:
    return decode.decode_one(decode.TASKS, parsed(body), wanted)


@pytest.mark.parametrize(
    "body",
    [
        TASK, {"task": TASK}, {"data": TASK}, {"success": True, "data": TASK},
        {"ok": True, "data": {"task": TASK}},
        {"data": {"type": "tasks", "id": "t1",
         "attributes": {"title": "Plan", "status": "pending"}}},
        {"Task": {"Id": "t1", "Title": "Plan", "Status": "pending"}}, [TASK], {"data": [TASK]},
        {"tasks": [TASK]},
        {"key": "x", "info": TASK}, {"result": {"item": TASK}},
        {"t1": {"title": "Plan", "status": "pending"}},
        {"response": {"payload": {"task": TASK}}},
        {"data": {"task": TASK, "agentError": "spawn failed"}, "ok": True},
        {"errors": [], "data": {"task": {**TASK}}}, {"task": {"data": TASK}}, {"node": TASK},
        {"title": "Plan", "status": "pending"},
    ],
)  # fmt: skip
def test_the_same_task_in_every_envelope(body: Any) -> None:
    found = one(body)
    assert (found.id, found.title, found.status) == ("t1", "Plan", "pending")


def test_data_may_be_a_field_of_the_record() -> None:
    found = one({"id": "t1", "title": "Plan", "data": {"id": "node9", "title": "not this"}})
    assert (found.id, found.title) == ("t1", "Plan")
    assert extra_fields(found.extra)["data"]["id"] == "node9"


def test_a_reference_to_a_company_is_not_the_record() -> None:
    found = decode.decode_one(
        decode.COMPANIES,
        parsed({"id": "c1", "name": "Acme", "company": {"id": "c9", "name": "Mother"}}),
    )
    assert (found.id, found.name) == ("c1", "Acme")


@pytest.mark.parametrize("body",
 [None, [], {}, 5, "x", {"agents": 3}, {"data": None}, {"data": []}, {"uptime": 5},
                                  [{"id": "t8", "title": "a"},
                                   {"id": "t9", "title": "b"}]])  # fmt: skip
def test_no_record_is_told(body: Any) -> None:
    with pytest.raises(decode.Unshaped):
        one(body)


def test_a_failure_inside_a_200_is_refused() -> None:
    with pytest.raises(decode.RefusedBody, match="No such task"):
        one({"ok": False, "error": "No such task"})


def test_an_error_field_of_a_record_is_no_failure_of_the_call() -> None:
    found = one({"id": "t1", "title": "Plan", "status": "error", "error": "agent crashed"})
    assert found.status == "error"
    assert extra_fields(found.extra)["error"] == "agent crashed"


# -- receipts -----------------------------------------------------------------------------------


def receipt(body: Any, status: int = 200) -> Receipt[Task]:
    return decode.decode_receipt(decode.TASKS, parsed(body), status)


@pytest.mark.parametrize(
    ("body", "status", "record_id", "word", "has_record"),
    [
        (TASK, 200, "t1", "pending", True),
        ({"id": "p1", "status": "approved", "decided_at": "x"}, 200, "p1", "approved", False),
        ({"id": "t1", "status": "completed", "completedAt": "x"}, 200, "t1", "completed", False),
        ({"ok": True, "data": {"approved": True}}, 200, None, None, False),
        ({"ok": True, "task_id": "t1", "status": "running"}, 200, "t1", "running", False),
        (None, 204, None, None, False), ({}, 202, None, None, False), (True, 200, None, None,
                                                                       False),
        ({"approved": ["t1"], "failed": ["t2"]}, 200, None, None, False),
        ({"decision": "allow", "retry_context": {}}, 200, None, "allow", False),
        ({"status": "updated", "agent_id": "a1"}, 200, None, "updated", False),
        ({"task": TASK}, 201, "t1", "pending", True),
        ({"success": True, "data": TASK}, 200, "t1", "pending", True),
        ([TASK], 200, "t1", "pending", True),
        ({"results": [{"id": "t1", "status": 200}]}, 207, "t1", None, False),
        ("approved", 200, None, None, False),
        ({"id": "t1", "title": "Plan", "error": None, "errors": []}, 200, "t1", None, True),
        ({"task_id": "t1", "title": "Plan", "validation_errors": ["a hint"]}, 200, "t1", None,
         True),
        ({"task": TASK, "agent_errors": [{"error": "quota"}]}, 200, "t1", "pending", True),
    ],
)  # fmt: skip
def test_answers_that_do_not_refuse(
    body: Any, status: int, record_id: str | None, word: str | None, has_record: bool
) -> None:
    found = receipt(body, status)
    assert found.verdict is Verdict.YES
    assert found.http_status == status
    assert (found.record_id, found.status_word) == (record_id, word)
    assert (found.record is not None) is has_record


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"ok": False, "error": "not now"}, 200, "not now"), (False, 200, None),
        ({"success": False, "error": {"code": "ERROR", "message": "not now"}}, 200, "not now"),
        ({"status": "error", "message": "not now"}, 200, "not now"),
        ({"status": "fail", "data": {"id": "is unknown"}}, 200, "is unknown"),
        ({"error": "not now"}, 200, "not now"),
        ({"error": {"code": "ratelimited", "info": "not now"}}, 200, "not now"),
        ({"data": {"ok": False, "error": "not now"}}, 200, "not now"),
        ({"approved": False, "reason": "not now"}, 200, "not now"),
        ({"decision": "deny", "message": "not now"}, 200, "not now"),
        ({"results": [{"id": "t1", "status": 409, "error": "not now"}]}, 207, "not now"),
        ([{"id": "t1", "status": "failed", "message": "not now"}], 207, "not now"),
        ({"data": {"approveTask": {"success": False, "message": "not now"}}}, 200, "not now"),
        ({"result": "failed", "reason": "not now"}, 200, "not now"),
        ({"success": "false", "message": "not now"}, 200, "not now"),
        ({"isSuccess": False, "errorMessage": "not now"}, 200, "not now"),
        ({"hasError": True, "errorMessage": "not now"}, 200, "not now"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "not now"}}, 200,
         "not now"),
        ({"approved": [], "failed": [{"id": "t1", "message": "not now"}]}, 200, "not now"),
    ],
)  # fmt: skip
def test_answers_that_refuse_with_a_2xx(body: Any, status: int, words: str | None) -> None:
    found = receipt(body, status)
    assert found.verdict is Verdict.NO
    assert found.record is None
    assert words is None or words in str(found.message)


def test_a_partial_failure_is_told() -> None:
    found = receipt({"ok": True, "data": {"task": TASK, "agentError": "spawn failed"}})
    assert found.verdict is Verdict.YES
    assert found.record is not None
    assert found.message == "agentError: spawn failed"


def test_a_207_of_which_one_item_worked_is_no_refusal() -> None:
    body = {"results": [{"id": "t1", "ok": True}, {"id": "t2", "ok": False}]}
    assert receipt(body, 207).verdict is Verdict.YES


def test_a_created_company_and_a_changed_budget() -> None:
    made = decode.decode_receipt(
        decode.COMPANIES, parsed({"company": {"id": "c9", "name": "New"}}), 201
    )
    assert made.record is not None
    assert (made.record.id, made.record.name) == ("c9", "New")
    changed: Receipt[Budget] = decode.decode_receipt(
        decode.AGENT_BUDGETS, parsed({"agent_id": "a1", "monthly_limit": 50}), 200
    )
    assert changed.record is not None
    assert changed.record.limit is not None
    assert changed.record_id == "a1"
    only_word = decode.decode_receipt(
        decode.AGENT_BUDGETS, parsed({"status": "updated", "agent_id": "a1"}), 200
    )
    assert (only_word.record, only_word.record_id, only_word.status_word) == (None, "a1", "updated")


@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        (decode.TASKS, {"data": {"approveTask": {"task": {"id": "x", "title": "P"}}}}, "P"),
        (decode.COMPANIES, {"workspace": {"id": "x", "name": "P"}}, "P"),
        (decode.AGENT_BUDGETS, {"data": {"agent": {"id": "x", "name": "P"},
                                         "budget": {"limit": 5}}}, "P"),
        (decode.AGENT_BUDGETS, {"data": {"setLimit": {"budget": {"agentId": "x", "limit": 5,
                                                                 "agent_name": "P"}}}}, "P"),
        (decode.AGENT_BUDGETS, {"data": {"agent_id": "x", "agent_name": "P",
                                         "limit": {"amount": 5, "currency": "USD"}}}, "P"),
    ],
)  # fmt: skip
def test_the_record_in_a_receipt_wherever_it_stands(
    kind: decode.Kind[Any], body: Any, told: str
) -> None:
    record = decode.decode_receipt(kind, parsed(body), 200).record
    assert record is not None
    assert (record.id, record.title if isinstance(record, Task) else record.name) == ("x", told)
    if isinstance(record, Budget):
        assert record.limit is not None
        assert record.limit.amount == 5
