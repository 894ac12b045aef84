"""Records and lists, in what no table of cases tells: ids that are made, fields that are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from agentco_tui.model import extra_fields
from agentco_tui.reading import json_body
from agentco_tui.reading.unknown_fields import CUT, as_extra
from tests.reading import decode
from tests.reading.decode import ACTIVITY, AGENTS, ALERTS, COMPANIES, TASKS, Kind, parsed, record

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


def test_an_estimate_is_told_apart_from_what_it_cost_so_far() -> None:
    both = record(TASKS, {**TASK, "cost_usd": 0.3, "estimatedCostCents": 89, "currency": "USD"})
    assert (both.cost.amount, both.estimate.amount) == (Decimal("0.3"), Decimal("0.89"))
    assert (both.estimate.currency, both.estimate.unit_assumed) == ("USD", False)
    assert extra_fields(both.extra) == {"estimatedCostCents": 89}, "shown as it was sent"
    alone = record(TASKS, {**TASK, "estimated_cost": 0.89})
    assert alone.cost == alone.estimate
    assert not alone.extra
    assert record(TASKS, {**TASK, "cost": 0.89}).estimate is None


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


# --- what is not understood is kept as it was sent, without secrets ---

AT = "2026-11-21T09:00:00Z"


def task(**fields: Any) -> Any:
    return record(TASKS, {"id": "t1", **fields})


@pytest.mark.parametrize(
    ("kind", "fields", "kept"),
    [
        (TASKS, {"title": "x"}, {}),
        (TASKS, {"title": "x", "a": 1, "b": [1, {"c": None}], "d": 0.1, "e": None},
         {"a": 1, "b": [1, {"c": None}], "d": Decimal("0.1"), "e": None}),
        (TASKS, {"agent": {"id": "a1", "name": "Scout", "role": "sdr"}},
         {"agent": {"id": "a1", "name": "Scout", "role": "sdr"}}),
        (TASKS, {"decidedBy": {"name": "Ada", "id": "u1"}, "timeout_secs": 600},
         {"decidedBy": {"name": "Ada", "id": "u1"}, "timeout_secs": 600}),
        (TASKS, {"title": ["no"], "created_at": "the other day", "priority": [1], "agent": True},
         {"title": ["no"], "created_at": "the other day", "priority": [1], "agent": True}),
        (TASKS, {"title": "x", "created_at": AT, "timestamp": AT}, {"timestamp": AT}),
        (AGENTS, {"stats": {"tasks_completed": 17, "uptime": 5}}, {"stats": {"uptime": 5}}),
        (AGENTS, {"capabilities": {"tools": ["x"]}}, {"capabilities": {"tools": ["x"]}}),
        (AGENTS, {"capabilities": "text"}, {"capabilities": "text"}),
        (COMPANIES, {"name": "Acme", "issuePrefix": "AC"}, {"issuePrefix": "AC"}),
        (ACTIVITY, {"details": {"a": 1}}, {"details": {"a": 1}}), (ACTIVITY, {"details": "x"}, {}),
    ],
)  # fmt: skip
def test_it_is_kept_and_what_was_understood_is_not_repeated(
    kind: Kind[Any], fields: dict[str, Any], kept: dict[str, Any]
) -> None:
    found = record(kind, {"id": "x1", **fields}).extra
    assert (extra_fields(found) if found else {}) == kept


@pytest.mark.parametrize("name", ["api_key", "apiKey", "token", "client-secret", "credentials"])
def test_secrets_are_hidden_at_any_depth(name: str) -> None:
    found = task(**{name: "hunter2"}, config={"deep": [{name: "hunter2", "tokens": 5}]})
    assert b"hunter2" not in found.extra
    assert extra_fields(found.extra)["config"]["deep"][0]["tokens"] == 5


@pytest.mark.parametrize(
    "text", ["sk-live-abcdefgh12345678", "Bearer abcdefgh12345678", "ghp_abcdefghijkl123456"]
)
def test_texts_that_look_like_keys_are_hidden_under_any_name(text: str) -> None:
    found = task(note_to_self=f"use {text} for this", x=[text])
    assert text.encode() not in found.extra


def test_a_long_key_is_hidden_unless_it_is_a_name_in_a_list() -> None:
    found = task(key="abcdefgh-abcdefgh-1", tags=[{"key": "gen_ai.usage.input_tokens"}])
    assert extra_fields(found.extra) == {
        "key": "(hidden)", "tags": [{"key": "gen_ai.usage.input_tokens"}],
    }  # fmt: skip


def test_all_text_is_made_safe_and_ids_stay_as_they_are() -> None:
    found = task(
        title="\x1b[31mred\x07", status="pend\u202eing", agent={"name": "a\nb"}, id="x\x1by"
    )
    assert "\x1b" not in found.title
    assert "\u202e" not in str(found.status)
    assert "\n" not in str(found.agent.name)
    assert found.id == "x\x1by"
    assert "\x1b" not in task(title="", id="x\x1by").title


def test_a_huge_extra_is_cut_and_says_so() -> None:
    fields = {f"field{i}": "x" * 100 for i in range(200)}
    assert task(**fields, blob="y" * 30_000).cut is None
    assert task(**fields, blob="y" * 30_001).cut == "1 character missing"
    found = task(**{f"field{i}": "x" * 100 for i in range(2_000)}, blob="y" * 30_000)
    assert len(found.extra) <= 64 * 1024 + 200
    assert "values missing" in str(found.cut)
    assert extra_fields(found.extra)["field0"] == "x" * 100


def test_fields_beyond_those_looked_at_are_told() -> None:
    extra = extra_fields(as_extra({f"field{number}": number for number in range(50_000)}))
    assert extra["field0"] == 0
    assert extra[CUT] == f"{50_000 - len(extra) + 1:,} values missing"


def test_numbers_that_no_json_reader_takes_back_stay_readable() -> None:
    page = decode.decode_page(
        TASKS, json_body.parse_json(b'[{"id":1,"x":1e999,"y":1e300,"z":' + b"9" * 5000 + b"}]")
    )
    assert "x" in extra_fields(page.records[0].extra)


@pytest.mark.parametrize("kind", [decode.ALERTS, ACTIVITY])
def test_after_much_noise_only_what_names_something_is_read(kind: Kind[Any]) -> None:
    noise: list[Mapping[str, Any]] = [{f"x{number}": 1} for number in range(5_000)]
    rows = [*noise, {"id": "1", "message": "the budget is used up"}]
    page = decode.decode_page(kind, rows)
    assert [each.id for each in page.records] == ["1"]
    assert page.unread == 5_000
