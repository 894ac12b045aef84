"""Envelopes of lists."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest

from agentco_tui.reading import json_body
from tests.reading import decode
from tests.reading.decode import Kind, Page
from tests.reading.renderings import ENVELOPES

ROWS = [{"id": "t1", "title": "Plan"}, {"id": "t2", "title": "Write"}]
IDS = ["t1", "t2"]


def page(body: Any, kind: Kind[Any] = decode.TASKS) -> Page[Any]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return decode.decode_page(kind, json_body.parse_json(raw))


def ids(body: Any, kind: Kind[Any] = decode.TASKS) -> list[str]:
    found = page(body, kind)
    assert found.unread == 0
    return [record.id for record in found.records]


BY_ID = {row["id"]: {"title": row["title"]} for row in ROWS}
BODIES: dict[str, Any] = {
    **{name: envelope([*ROWS], "tasks") for name, envelope in ENVELOPES.items()},
    "entries": {"entries": ROWS, "total": 1042, "tip_hash": "ff"},
    "logs": {"logs": ROWS},
    "unheard-of key": {"assignments": ROWS, "total_entries": 2},
    "data is a number": {"status": "success", "data": 2, "results": ROWS},
    "nodes": {"data": {"tasks": {"nodes": ROWS, "pageInfo": {"hasNextPage": False}}}},
    "nested deeper": {"data": {"company": {"tasks": {"nodes": ROWS}}}},
    "github": {"total_count": 2, "workflow_runs": ROWS},
    "map under data": {"data": BY_ID},
    "hal list key": {"_embedded": {"taskList": ROWS}, "page": {"size": 20, "totalElements": 2}},
    "odata": {"@odata.context": "x", "value": ROWS},
    "hydra": {"@type": "hydra:Collection", "hydra:member": ROWS, "hydra:totalItems": 2},
    "elasticsearch": {
        "hits": {"total": {"value": 2},
                 "hits": [{"_id": r["id"], "_source": {"title": r["title"]}} for r in ROWS]}
    },
    "kebab": {"task-list": ROWS},
    "upper": {"TASKS": ROWS},
    "singular holds the list": {"task": ROWS},
    "xml habit": {"tasks": {"task": ROWS}},
    "wrapped rows": {"tasks": [{"task": row} for row in ROWS]},
    "hubspot properties": {
        "results": [{"id": r["id"], "properties": {"title": r["title"]}} for r in ROWS]
    },
    "code and msg": {"code": 0, "msg": "ok", "data": {"records": ROWS, "current": 1, "total": 2}},
    "array of one envelope": [{"tasks": ROWS}],
    "empty decoys beside": {"errors": [], "error": None, "warnings": [], "tags": [], "tasks": ROWS},
    "other lists beside": {"agents": [{"id": "a1", "name": "Scout"}], "tasks": ROWS},
    "data holds others": {"data": [{"id": "x"}], "tasks": ROWS},
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_the_same_two_tasks_are_found_in_every_envelope(name: str) -> None:
    found = page(BODIES[name])
    assert [task.id for task in found.records] == IDS
    assert [task.title for task in found.records] == ["Plan", "Write"]
    assert found.unread == 0
    assert found.is_list
    assert found.shape


@pytest.mark.parametrize(
    "body",
    [[], None, {}, {"tasks": []}, {"tasks": None, "total": 0}, {"data": []}, {"data": None},
     {"success": True, "data": []}, {"success": True, "data": None}, {"total": 0, "page": 1},
     {"status": "success", "results": 0}, {"data": {"tasks": []}}, {"data": {"tasks": None}},
     {"items": [], "total": 0}, {"nextPageToken": ""}, {"tasks": {}}, {"data": {}},
     {"data": {"tasks": {"edges": [], "pageInfo": {"hasNextPage": False}}}},
     {"result": [], "result_info": {"count": 0}, "success": True, "errors": []}],
)  # fmt: skip
def test_empty_in_every_form(body: Any) -> None:
    assert ids(body) == []


def test_an_empty_body_is_an_empty_list() -> None:
    assert ids(b"") == []


@pytest.mark.parametrize(
    "body",
    [{"total": 5}, {"agents": {"active": 11, "paused": 6}, "tasks": {"open": 20}}, "hello", 5, True,
     {"message": "no tasks for you"}, {"success": True, "message": "queued"},
     {"meta": {"total": 3}}, {"version": "1.2", "uptime": 3}, {"tasks": 7}],
)  # fmt: skip
def test_no_list_is_told_and_never_taken_for_an_empty_one(body: Any) -> None:
    with pytest.raises(decode.Unshaped, match="the answer holds no list of tasks"):
        page(body)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": "No such company"}, "No such company"),
        ({"ok": False, "error": "state is wrong"}, "state is wrong"),
        ({"success": False, "error": {"code": "ERROR", "message": "No such budget"}}, "No such"),
        ({"status": "error", "message": "down for repairs"}, "down for repairs"),
        ({"status": "fail", "data": {"title": "is required"}}, "is required"),
        ({"error": {"code": "ratelimited", "info": "too many"}}, "too many"),
        ({"errors": [{"message": "boom"}], "data": None}, "boom"),
        ({"errors": [{"message": "boom"}], "data": {"tasks": None}}, "boom"),
        ({"success": False, "data": []}, "call failed"),
        ({"code": 1001, "msg": "token expired", "data": None}, "token expired"),
        ({"statusCode": 500, "message": "boom"}, "boom"),
        ({"status": 404, "error": "Not Found", "message": "no company c9"}, "no company c9"),
    ],
)
def test_a_failure_inside_a_200_is_refused_with_its_words(body: Any, words: str) -> None:
    with pytest.raises(decode.RefusedBody, match=words):
        page(body)


def test_partial_data_beside_errors_is_read_and_the_errors_are_told() -> None:
    found = page({"data": {"tasks": ROWS}, "errors": [{"message": "agent service is down"}]})
    assert len(found.records) == 2
    assert found.notice == "agent service is down"


def test_one_broken_record_costs_only_itself() -> None:
    found = page({"tasks": [ROWS[0], None, 7, "x", [], {}, {"title": "no id"}, ROWS[1]]})
    assert [task.id for task in found.records] == IDS
    assert found.unread == 6
    assert "a task without an id" in found.unread_reasons
    assert any("null" in reason for reason in found.unread_reasons)


def test_a_task_given_twice_counts_once_and_two_with_one_id_are_both_there() -> None:
    same = [{"id": "t1", "title": "old"}, {"title": "old", "id": "t1", "last_seen": 1_795_000_000}]
    assert len(page(same).records) == 1
    for other in ({"id": "t1", "title": "new"}, {"id": "t1", "title": "old", "note": "new"}):
        found = page([same[0], other])
        assert [task.id for task in found.records] == ["t1", "t1"]
        assert found.unread == 0
    assert len(page([{"id": 1, "title": "a"}, {"id": "1", "title": "a"}]).records) == 2


def test_a_keyed_map_with_a_broken_value_under_the_resource_name() -> None:
    found = page({"tasks": {"t1": {"title": "a"}, "t2": "broken", "t3": {"title": "c"}}})
    assert [task.id for task in found.records] == ["t1", "t3"]
    assert found.unread == 1


def test_the_own_id_wins_over_the_key_of_a_map() -> None:
    assert ids({"first": {"id": "t9", "title": "a"}}) == ["t9"]


def test_ndjson_is_a_list_and_a_broken_line_costs_only_itself() -> None:
    raw = b'{"id":"t1","title":"Plan"}\n{"id":"t3", brok\n\n{"id":"t2","title":"Write"}\r\n'
    found = page(raw)
    assert [task.id for task in found.records] == IDS
    assert found.unread == 1


@pytest.mark.parametrize(
    "events",
    [ROWS, [{"type": "updated", "tasks": ROWS[:1]}, {"type": "updated", "tasks": ROWS}]],
    ids=["records", "snapshots, the last holds"],
)
def test_server_sent_events(events: list[Any]) -> None:
    assert ids("".join(f"event: x\ndata: {json.dumps(e)}\n\n" for e in events).encode()) == IDS


@pytest.mark.parametrize(
    ("extra", "total"),
    [
        ({"total": 7}, 7), ({"count": 7}, 7), ({"totalCount": "7"}, 7), ({"total_entries": 7}, 7),
        ({"meta": {"total_count": 7}}, 7), ({"pagination": {"total": 7}}, 7), ({}, None),
        ({"result_info": {"total_count": 7, "count": 2}}, 7), ({"page": {"totalElements": 7}}, 7),
        ({"total": -1}, None), ({"total": "many"}, None),
    ],
)  # fmt: skip
def test_the_total_is_a_hint_from_many_places(extra: dict[str, Any], total: int | None) -> None:
    assert page({"tasks": ROWS, **extra}).total == total


def test_names_come_from_what_was_included_beside_the_list() -> None:
    body = {
        "data": [
            {"type": "tasks", "id": "1", "attributes": {"title": "Plan"},
             "relationships": {
                 "agent": {"data": {"type": "agents", "id": "a1"}},
                 "company": {"data": {"type": "companies", "id": "c1"}, "links": {"self": "/x"}}}}
        ],
        "included": [
            {"type": "agents", "id": "a1", "attributes": {"name": "Scout"}},
            {"type": "companies", "id": "c1", "attributes": {"name": "Acme"}},
        ],
    }  # fmt: skip
    task = page(body).records[0]
    assert (task.agent.id, task.agent.name) == ("a1", "Scout")
    assert (task.company.id, task.company.name) == ("c1", "Acme")


def test_sideloaded_lists_give_names_too() -> None:
    body = {"tasks": [{"id": "1", "title": "x", "agentId": 5}], "agents": [{"id": 5, "name": "Q"}]}
    task = page(body).records[0]
    assert (task.agent.id, task.agent.name) == ("5", "Q")


def test_every_kind_is_found_under_its_own_name_and_as_a_bare_list() -> None:
    rows: dict[Kind[Any], tuple[str, dict[str, Any]]] = {
        decode.COMPANIES: ("companies", {"id": "c1", "name": "Acme"}),
        decode.AGENTS: ("agents", {"id": "a1", "name": "Scout"}),
        decode.COMPANY_BUDGETS: ("companies", {"company_id": "c1", "limit": 5, "spent": 1}),
        decode.AGENT_BUDGETS: ("agents", {"agent_id": "a1", "limit": 5, "spent": 1}),
        decode.ALERTS: ("alerts", {"id": "x1", "message": "over"}),
        decode.ACTIVITY: ("activity", {"id": "e1", "message": "did it"}),
    }
    for kind, (name, row) in rows.items():
        for body in ([row], {name: [row]}, {"data": {name: [row]}}, {"items": [row]}):
            assert len(ids(body, kind)) == 1, (kind, body)


def test_the_shape_is_told_in_a_few_words() -> None:
    assert page(ROWS).shape == "[]"
    assert page({"tasks": ROWS, "next_cursor": "x"}).shape == "tasks[] + next_cursor"
    assert page({"data": {"tasks": ROWS}, "meta": {}}).shape == "data.tasks[] + meta"


def test_one_object_where_a_list_was_due_is_a_list_of_one_and_told() -> None:
    found = page({"id": "t1", "title": "Plan"})
    assert [task.id for task in found.records] == ["t1"]
    assert not found.is_list
    assert ids({"tasks": {"id": "t1", "title": "Plan"}}) == ["t1"]


def test_an_alert_summary_is_not_taken_for_no_alerts() -> None:
    found = page({"success": True, "data": {"total": 5, "critical": 2}}, decode.ALERTS)
    assert not found.is_list
    assert [alert.severity for alert in found.records] == ["critical"]
    assert "total 5, critical 2" in found.records[0].text
    nothing = page({"success": True, "data": {"totalAlerts": 0, "critical": 0}}, decode.ALERTS)
    assert nothing.records == ()


def test_a_summary_of_something_else_is_no_list_of_alerts() -> None:
    with pytest.raises(decode.Unshaped):
        page({"success": True, "data": {"uptime": 5}}, decode.ALERTS)


def test_a_map_of_buckets_gives_what_is_in_them() -> None:
    rows = [{"id": f"ag_{n}", "name": f"N{n}"} for n in range(3)]
    page = decode.decode_page(decode.AGENTS, {"data": {"today": {"rows": rows}}})
    assert [agent.id for agent in page.records] == ["ag_0", "ag_1", "ag_2"]
    with contextlib.suppress(decode.Unshaped):
        decode.decode_page(decode.AGENTS, {"data": {"alerts": {"links": rows}}})
