"""Long lists read in slices say what the same bodies read as a whole say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.api import cuts, memo
from agentco_tui.api.decode import AGENTS, ALERTS, TASKS, decode_page
from agentco_tui.api.slices import read_sliced
from agentco_tui.reading.json_body import parse_json

NASTY = ('},{"id":"tsk_fake","title":"no task"},{', '"}]', "]}", '\\"},{', "[{", "\u202e},\n{")


def task(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"tsk_{number:05d}",
        "title": f"Pay invoice {number} {NASTY[number % len(NASTY)]}",
        "status": "pending",
        "priority": ("high", "low")[number % 2],
        "agent_id": f"ag_{number % 7}",
        "agent_name": f"Agent {number % 7}",
        "steps": [{"at": 1}, {"at": 2}],
        "created_at": "2026-11-21T11:18:43Z",
        "updated_at": "2026-11-21T11:18:43Z",
        "cost": number % 5 / 4,
        **more,
    }


TASKS_SENT = [task(number) for number in range(2_000)]


@pytest.mark.parametrize(
    "body",
    [
        TASKS_SENT,
        {"tasks": TASKS_SENT, "total": 5_000, "next_cursor": "abc"},
        {"data": TASKS_SENT, "meta": {"total": 2_000}},
        {"ok": True, "result": {"items": TASKS_SENT}},
        [*TASKS_SENT, {"title": "no id"}, task(1, title="the same id again")],
        [{"task": each} for each in TASKS_SENT],
    ],
    ids=["bare", "cursor", "meta", "nested", "unread", "wrapped"],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_the_same_as_the_whole(body: Any, indent: int | None) -> None:
    sent = json.dumps(body, indent=indent).encode()
    whole = decode_page(TASKS, parse_json(sent))
    sliced = read_sliced(TASKS, sent, None)
    assert sliced is not None
    assert sliced.page == whole
    assert len({record.id for record in whole.records}) == 2_000


@pytest.mark.parametrize(
    "body",
    [
        {"alerts": [{"id": "a"}], "tasks": TASKS_SENT},
        {"tasks": TASKS_SENT, "errors": [{"message": "half of it failed"}]},
        {"data": TASKS_SENT, "included": [{"id": "ag_1", "name": "Maya"}]},
        {each["id"]: each for each in TASKS_SENT},
        {"companies": [{"name": f"c{at}", "tasks": TASKS_SENT[at : at + 1]} for at in range(900)]},
        [1, 2, 3],
        {},
    ],
    ids=["two lists", "errors", "names beside", "map", "buckets", "numbers", "empty"],
)
def test_what_is_no_simple_list_is_left_to_the_whole(body: Any) -> None:
    assert read_sliced(TASKS, json.dumps(body).encode(), None) is None


def test_broken_bodies_are_left_to_the_whole() -> None:
    sent = json.dumps(TASKS_SENT).encode()
    for broken in (sent[:-1], sent[:90_000] + sent[90_040:], sent + b"}]", b"", b"<html>[{}]"):
        sliced = read_sliced(TASKS, broken, None)
        assert sliced is None


def test_what_is_read_together_is_not_cut() -> None:
    assert read_sliced(ALERTS, json.dumps([{"id": "a", "level": "high"}]).encode(), None) is None
    assert read_sliced(AGENTS, json.dumps([{"id": "ag_1", "name": "x"}]).encode(), None) is not None


def test_records_sent_again_are_the_same_objects_and_changed_ones_are_read() -> None:
    first = read_sliced(TASKS, json.dumps(TASKS_SENT).encode(), None)
    assert first is not None
    changed = [task(4_711), *TASKS_SENT[1:]]
    changed[700] = task(700, priority="urgent")
    again = read_sliced(TASKS, json.dumps(changed).encode(), first.memo)
    assert again is not None
    assert again.page.records[0].id == "tsk_04711"
    assert again.page.records[700].priority == "urgent"
    same = [now is then for now, then in zip(again.page.records, first.page.records, strict=True)]
    assert same.count(False) == 2
    assert again.page == decode_page(TASKS, parse_json(json.dumps(changed).encode()))
    assert len(again.memo.records) == 2_000


def test_two_tasks_with_one_id_stay_two_whatever_is_read_again() -> None:
    sent = [*TASKS_SENT, task(3, title="the same id, another task"), task(5)]
    first = read_sliced(TASKS, json.dumps(sent).encode(), None)
    assert first is not None
    assert len(first.page.records) == 2_001
    changed = [*sent[:9], task(9, priority="urgent"), *sent[10:]]
    again = read_sliced(TASKS, json.dumps(changed).encode(), first.memo)
    assert again is not None
    assert again.page == decode_page(TASKS, parse_json(json.dumps(changed).encode()))
    alike = [each.title for each in again.page.records if each.id == "tsk_00003"]
    assert len(alike) == 2


def test_equal_values_are_kept_once() -> None:
    sliced = read_sliced(TASKS, json.dumps(TASKS_SENT).encode(), None)
    assert sliced is not None
    records = sliced.page.records
    assert len({id(record.agent) for record in records}) == 7
    assert len({id(record.priority) for record in records}) == 2
    assert all(record.created is record.updated for record in records)


edits = st.lists(
    st.one_of(
        st.tuples(st.just("renew"), st.integers(0, 30)),
        st.tuples(st.just("drop"), st.integers(0, 30)),
        st.tuples(st.just("put"), st.integers(0, 40)),
        st.tuples(st.just("twice"), st.integers(0, 30)),
        st.tuples(st.just("turn round"), st.integers(0, 30)),
        st.tuples(st.just("nameless"), st.integers(0, 30)),
    ),
    max_size=6,
)


def edited(rows: list[dict[str, Any]], how: list[tuple[str, int]]) -> list[dict[str, Any]]:
    rows = list(rows)
    for what, number in how:
        at = min(number, len(rows))
        if what == "renew":
            rows[at : at + 1] = [{**row, "priority": f"p{number}"} for row in rows[at : at + 1]]
        elif what == "drop":
            del rows[at : at + number]
        elif what == "put":
            rows.insert(at, task(100 + number))
        elif what == "twice":
            rows[at:at] = [{**row, "title": "again"} for row in rows[:1]]
        elif what == "turn round":
            rows = [*rows[at:], *rows[:at]]
        else:
            rows.insert(at, {"title": "no id"})
    return rows


@given(st.lists(edits, min_size=1, max_size=5))
def test_what_is_remembered_never_shows(generations: list[list[tuple[str, int]]]) -> None:
    """However a list changes from poll to poll, each is read as if it were the first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts, "PIECE", 900)
        patch.setattr(memo, "_NEAR", 4)
        patch.setattr(memo, "_STRAYS", 3)
        rows, known = [task(number) for number in range(40)], None
        for how in generations:
            rows = edited(rows, how)
            sent = json.dumps(rows).encode()
            sliced = read_sliced(TASKS, sent, known)
            if not rows or "id" not in rows[0]:
                continue
            assert sliced is not None
            assert sliced.page == decode_page(TASKS, parse_json(sent))
            assert len(sliced.memo.marks) == len(sliced.memo.records)
            known = sliced.memo


def test_a_list_in_another_order_is_known_again() -> None:
    first = read_sliced(TASKS, json.dumps(TASKS_SENT).encode(), None)
    assert first is not None
    turned = json.dumps([*TASKS_SENT[1_200:], *TASKS_SENT[:1_200]]).encode()
    again = read_sliced(TASKS, turned, first.memo)
    assert again is not None
    by_id = {record.id: record for record in first.page.records}
    known = sum(record is by_id[record.id] for record in again.page.records)
    assert known > 1_400, "at most some hundred are read before it is looked for everywhere"
    third = read_sliced(TASKS, turned, again.memo)
    assert third is not None
    pairs = zip(third.page.records, again.page.records, strict=True)
    assert all(now is then for now, then in pairs)


def test_after_a_batch_is_gone_the_rest_is_known_again() -> None:
    first = read_sliced(TASKS, json.dumps(TASKS_SENT).encode(), None)
    assert first is not None
    again = read_sliced(TASKS, json.dumps(TASKS_SENT[200:]).encode(), first.memo)
    assert again is not None
    pairs = zip(again.page.records, first.page.records[200:], strict=True)
    assert all(now is then for now, then in pairs)
