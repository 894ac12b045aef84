"""Long lists read while they come say what the same bodies read as a whole say."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentco_tui.model import Task
from agentco_tui.reading import stream
from agentco_tui.reading.json_body import parse_json
from agentco_tui.reading.stream import KnownRows, ListReader, UnstreamableError
from tests.reading.decode import TASKS, decode_page

NASTY = ('},{"id":"tsk_fake","title":"no task"},{', '"}]', "]}", '\\"},{', "[{", "\u202e},\n{")


def task(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"tsk_{number:05d}",
        "title": f"Pay invoice {number} {NASTY[number % len(NASTY)]}",
        "status": "pending",
        "agent": {"id": f"ag_{number % 7}", "name": f"Agent {number % 7}"},
        "created_at": "2026-11-21T11:18:43Z",
        "cost": number % 5 / 4,
        **more,
    }


def page(body: bytes) -> Any:
    return decode_page(TASKS, parse_json(body))


def streamed(
    body: bytes, known: KnownRows[Task] | None = None, size: int = 50_000, most: int = 200_000
) -> ListReader[Task]:
    reader: ListReader[Task] = ListReader(page, known, most)
    for start in range(0, len(body), size):
        reader.feed(body[start : start + size])
    reader.finish()
    return reader


def same(body: bytes, **settings: Any) -> ListReader[Task]:
    """The reader, when all it says has been compared with what the whole says."""
    reader, whole = streamed(body, **settings), page(body)
    assert tuple(reader.records) == whole.records
    assert reader.unread == dict.fromkeys(whole.unread_reasons, whole.unread)
    assert reader.size == len(body)
    assert page(reader.envelope).shape == whole.shape
    assert len(reader.known.marks) == len(reader.records)
    return reader


SENT = [task(number) for number in range(2_000)]
BODIES: dict[str, Any] = {
    "bare": SENT,
    "cursor": {"tasks": SENT, "total": 5_000, "next_cursor": "abc"},
    "nested": {"ok": True, "result": {"tasks": SENT}, "meta": {"total": 2_000}},
    "unread": [*SENT, {"title": "no id"}, task(1, title="the same id again"), task(2)],
    "wrapped": [{"task": each} for each in SENT],
}


@pytest.mark.slow
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize(("indent", "size"), [(None, 1_000), (1, 3_000_000)])
def test_the_same_as_the_whole(body: Any, indent: int | None, size: int) -> None:
    reader = same(json.dumps(body, indent=indent).encode(), size=size)
    assert len({record.id for record in reader.records}) == 2_000


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({each["id"]: each for each in SENT}).encode(),
        json.dumps([{"name": f"c{at}", "tasks": SENT[at : at + 1]} for at in range(900)]).encode(),
        json.dumps({"tasks": SENT, "agents": [{"id": "ag_1"}] * 900}).encode(),
        json.dumps(SENT).encode()[:-1],
        b"[1, 2, 3]",
        b"",
    ],
    ids=["map", "buckets", "two lists", "cut", "numbers", "empty"],
)
def test_what_is_no_simple_list_is_told(body: bytes) -> None:
    with pytest.raises(UnstreamableError):
        streamed(body)


def test_what_stands_behind_the_list_may_have_a_say_in_its_rows() -> None:
    rows = [{"id": f"t{at}", "title": "x", "agent_id": "ag_1"} for at in range(2_000)]
    names = {"data": rows, "included": [{"type": "agents", "id": "ag_1", "name": "Maya"}]}
    body = json.dumps(names).encode()
    assert page(body).records[0].agent.name == "Maya"
    with pytest.raises(UnstreamableError):
        streamed(body)


def test_values_that_many_rows_share_are_kept_once() -> None:
    records = streamed(json.dumps(SENT).encode()).records
    assert len({id(record.agent) for record in records}) == 7


def test_a_row_is_known_again_and_a_changed_one_is_read() -> None:
    first = same(json.dumps(SENT).encode())
    changed = [task(4_711), *SENT[1:]]
    changed[700] = task(700, priority="urgent")
    again = same(json.dumps(changed).encode(), known=first.known)
    known = {id(record) for record in first.records}
    assert [each.id for each in again.records if id(each) not in known] == [
        "tsk_04711",
        "tsk_00700",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [SENT[200:], [*SENT[1_200:], *SENT[:1_200]]])
def test_after_a_batch_is_gone_or_in_another_order_all_are_known(rows: Any) -> None:
    first = same(json.dumps(SENT).encode())
    by_id = {record.id: record for record in first.records}
    again = same(json.dumps(rows).encode(), known=first.known)
    assert all(record is by_id[record.id] for record in again.records)
    third = same(json.dumps(rows).encode(), known=again.known)
    assert all(now is then for now, then in zip(third.records, again.records, strict=True))


def test_two_tasks_with_one_id_stay_two_whatever_is_read_again() -> None:
    sent = [*SENT, task(3, title="the same id, another task"), task(5)]
    first = same(json.dumps(sent).encode())
    assert len(first.records) == 2_001
    changed = [*sent[:9], task(9, priority="urgent"), *sent[10:]]
    again = same(json.dumps(changed).encode(), known=first.known)
    assert sum(each.id == "tsk_00003" for each in again.records) == 2


edits = st.lists(
    st.tuples(
        st.sampled_from(["renew", "drop", "put", "twice", "turn round", "nameless"]),
        st.integers(0, 40),
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


@pytest.mark.slow
@settings(max_examples=50)
@given(st.lists(edits, min_size=1, max_size=5))
def test_what_is_known_never_shows(generations: list[list[tuple[str, int]]]) -> None:
    """However a list changes from poll to poll, each is read as if it were the first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "CHUNK", 900)
        rows, known = [task(number) for number in range(40)], None
        for how in generations:
            rows = edited(rows, how)
            if rows and "id" in rows[0]:
                known = same(json.dumps(rows).encode(), known=known).known


def test_no_more_rows_are_kept_than_a_listing_may_have() -> None:
    assert len(streamed(json.dumps(SENT).encode(), most=700).records) == 701


def test_little_is_held_beside_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [task(at, note="A long note, as agents write them. " * 90) for at in range(2_000)]
    body = json.dumps(rows).encode()
    first = streamed(body)
    tracemalloc.start()
    try:
        streamed(body, known=first.known, size=256 * 1024)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(body) > 6_000_000
    assert peak < 3_000_000
    monkeypatch.setattr(stream, "MOST_MEMORY", 500_000)
    with pytest.raises(stream.TooMuchMemoryError):
        streamed(body)
    streamed(json.dumps(SENT[:300]).encode())


def test_a_refusal_around_a_list_is_what_the_reader_says() -> None:
    body = json.dumps({"tasks": SENT, "success": False, "error": {"message": "half of it"}})
    with pytest.raises(ValueError, match="half of it"):
        streamed(body.encode())
