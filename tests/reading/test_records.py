"""Records and lists, in what no table of cases tells: ids that are made, fields that are kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentco_tui.model import extra_fields
from agentco_tui.reading import json_body
from tests.reading import decode
from tests.reading.decode import ACTIVITY, ALERTS, COMPANIES, TASKS, Kind, parsed, record

TASK = {"id": "t1", "title": "Plan"}
ROWS = [TASK, {"id": "t2", "title": "Write"}]


def tasks(body: bytes) -> decode.Page[Any]:
    return decode.decode_page(TASKS, json_body.parse_json(body))


def test_lists_in_bodies_that_are_no_json_document() -> None:
    assert tasks(b"").records == ()
    lines = tasks(b'{"id":"t1","title":"Plan"}\n{"id":"t3", brok\n\n{"id":"t2","title":"W"}\r\n')
    assert ([task.id for task in lines.records], lines.unread) == (["t1", "t2"], 1)
    for events in (ROWS, [{"type": "x", "tasks": ROWS[:1]}, {"type": "x", "tasks": ROWS}]):
        stream = "".join(f"event: x\ndata: {json.dumps(each)}\n\n" for each in events)
        assert [task.id for task in tasks(stream.encode()).records] == ["t1", "t2"]


def test_data_may_be_a_field_of_the_record() -> None:
    body = parsed({**TASK, "data": {"id": "node9", "title": "not this"}})
    found = decode.decode_one(TASKS, body)
    assert (found.id, found.title) == ("t1", "Plan")
    assert extra_fields(found.extra)["data"]["id"] == "node9"


def test_a_reference_to_a_company_is_not_the_record() -> None:
    body = {"id": "c1", "name": "Acme", "company": {"id": "c9", "name": "Mother"}}
    found = decode.decode_one(COMPANIES, parsed(body))
    assert (found.id, found.name) == ("c1", "Acme")


def test_an_error_field_of_a_record_is_no_failure_of_the_call() -> None:
    body = {**TASK, "status": "error", "error": "agent crashed"}
    found = decode.decode_one(TASKS, parsed(body))
    assert found.status == "error"
    assert extra_fields(found.extra)["error"] == "agent crashed"
    with pytest.raises(decode.RefusedBody, match="No such task"):
        decode.decode_one(TASKS, parsed({"ok": False, "error": "No such task"}))


def test_an_api_key_is_no_id() -> None:
    secret = parsed([{"key": "sk-abcdefgh12345678", "info": {"title": "x"}}])
    assert decode.decode_page(TASKS, secret).unread == 1


def test_a_stamp_at_the_root_is_the_answers_own() -> None:
    alone = decode.decode_one(TASKS, parsed({**TASK, "timestamp": "2026-11-21T09:00:00Z"}))
    assert alone.created is None
    assert b"timestamp" in alone.extra


@pytest.mark.parametrize("kind", [ACTIVITY, ALERTS], ids=lambda kind: kind.name)
def test_ids_that_are_made_and_what_is_unread(kind: Kind[Any]) -> None:
    made = record(kind, {"message": "x", "timestamp": 1700000000})
    assert made.id == record(kind, {"timestamp": 1700000000, "message": "x"}).id
    assert made.id != record(kind, {"message": "y", "timestamp": 1700000000}).id
    page = decode.decode_page(kind, parsed([{"zzz": 1}, {"message": "x"}]))
    assert (len(page.records), page.unread) == (1, 1)


def test_an_entry_says_whether_its_id_was_made() -> None:
    assert record(ACTIVITY, {"message": "x"}).id_derived
    assert not record(ACTIVITY, {"id": "e1", "message": "x"}).id_derived
