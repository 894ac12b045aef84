"""A page that is read again decodes only its new rows, and is what a whole reading gives."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from copy import copy
from decimal import Decimal
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentco_tui
from agentco_tui.model import Budget, Task
from agentco_tui.reading.decode import Page, read_page
from agentco_tui.reading.json_body import parse_json
from agentco_tui.reading.row_cache import CachedRows, RowDecoder, split_body
from agentco_tui.reading.schema import DecodeContext, Kind, Row
from tests.reading.decode import AGENT_BUDGETS, TASKS


class CountingKind:
    """The kind of tasks, with the ids of the rows that records were built of."""

    def __init__(self) -> None:
        self.built: list[Any] = []
        self.kind: Kind[Task] = copy(TASKS)
        build = self.kind.build

        def build_and_count(row: Row, context: DecodeContext) -> Task:
            self.built.append(row.obj.get("id"))
            return build(row, context)

        self.kind.build = build_and_count

    def read(
        self, body: Any, cached: CachedRows[Task] | None = None
    ) -> tuple[Page[Task], CachedRows[Task] | None]:
        """The page in a body, and what is kept of it; `built` is then of this reading."""
        self.built.clear()
        decoder = RowDecoder(self.kind, cached)
        page = decoder.read_page(decoder.parse(json.dumps(body).encode()))
        return page, decoder.rows


def task(number: int, **more: Any) -> dict[str, Any]:
    return {"id": f"t{number}", "title": f"Task {number}", "status": "pending", **more}


TASK_ROWS = [task(number) for number in range(50)]

ENVELOPES: dict[str, Callable[[list[Any]], Any]] = {
    "bare": lambda rows: rows,
    "data": lambda rows: {"total": len(rows), "data": rows, "generated_at": f"now {len(rows)}"},
    "nested": lambda rows: {"data": {"tasks": rows, "next": None}},
    "sideloaded": lambda rows: {"agents": [{"id": "a1", "name": "Scout"}], "tasks": rows},
}


PACKAGE = str(Path(agentco_tui.__file__).parent)


def calls_for_one_new_row(row_count: int) -> int:
    """How many calls of our functions it takes to read a list again that is one row longer."""
    counting = CountingKind()
    rows = [task(number) for number in range(row_count)]
    _, cached = counting.read({"data": rows})
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        code = frame.f_code
        is_loop = code.co_name.startswith("<")
        calls += event == "call" and code.co_filename.startswith(PACKAGE) and not is_loop

    sys.setprofile(count)
    try:
        counting.read({"data": [*rows, task(row_count)]}, cached)
    finally:
        sys.setprofile(None)
    assert counting.built == [f"t{row_count}"]
    return calls


def test_one_new_row_costs_as_many_calls_in_a_long_list_as_in_a_short_one() -> None:
    calls_for_one_new_row(3)  # what is remembered of keys is remembered now
    assert calls_for_one_new_row(20_000) <= 1.1 * calls_for_one_new_row(200)


@pytest.mark.parametrize("envelope", ENVELOPES)
@pytest.mark.parametrize("place", [0, 25, 50])
def test_one_new_row_is_one_decoded_row(envelope: str, place: int) -> None:
    counting = CountingKind()
    first, rows = counting.read(ENVELOPES[envelope](TASK_ROWS))
    assert len(counting.built) == 50
    longer = [*TASK_ROWS[:place], task(99), *TASK_ROWS[place:]]
    again, _ = counting.read(ENVELOPES[envelope](longer), rows)
    assert counting.built == ["t99"]
    assert [record.id for record in again.records] == [row["id"] for row in longer]
    kept = [record for record in again.records if record.id != "t99"]
    assert all(one is other for one, other in zip(first.records, kept, strict=True))


def test_a_changed_row_is_decoded_again_and_a_removed_one_is_gone() -> None:
    counting = CountingKind()
    _, rows = counting.read({"data": TASK_ROWS})
    changed = [task(0, status="done"), *TASK_ROWS[2:]]
    page, _ = counting.read({"data": changed}, rows)
    assert counting.built == ["t0"]
    assert page.records[0].status == "done"
    assert "t1" not in {record.id for record in page.records}


@pytest.mark.parametrize(
    "changed",
    [
        {"currency": "EUR", "data": TASK_ROWS},
        {"data": TASK_ROWS, "agents": [{"id": "a1", "name": "Scout"}]},
        {"items": TASK_ROWS},
    ],
    ids=["a unit of sums", "names of agents", "another list"],
)
def test_what_is_around_the_list_has_every_row_decoded_again(changed: Any) -> None:
    counting = CountingKind()
    _, rows = counting.read({"data": TASK_ROWS})
    counting.read(changed, rows)
    assert len(counting.built) == 50


def test_rows_that_cannot_be_read_stay_counted() -> None:
    counting = CountingKind()
    odd = [*TASK_ROWS, 5, {"status": "pending"}]
    first, rows = counting.read(odd)
    again, _ = counting.read([task(99), *odd], rows)
    assert counting.built == ["t99"]
    assert again.unread == first.unread == 2
    assert again.unread_reasons == first.unread_reasons


def test_no_more_is_kept_than_the_records_and_a_hash_of_each() -> None:
    page, rows = CountingKind().read({"data": TASK_ROWS})
    assert rows is not None
    assert rows.outcomes is page.records
    assert rows.hashes.itemsize * len(rows.hashes) == 8 * len(page.records)


def budget(number: int, percent: Any = None, **more: Any) -> dict[str, Any]:
    """A budget whose share is a fraction or a percentage, as the other rows of its answer are."""
    return {"agent_id": f"a{number}", "utilization_pct": percent, **more}


def read_budgets(
    body: Any, cached: CachedRows[Budget] | None = None
) -> tuple[Page[Budget], CachedRows[Budget] | None]:
    decoder = RowDecoder(AGENT_BUDGETS, cached)
    page = decoder.read_page(decoder.parse(json.dumps(body).encode()))
    return page, decoder.rows


def test_rows_that_are_judged_together_are_read_again_when_one_of_them_settles_it() -> None:
    # Whether 0.8 is a share or a percentage may be settled by another row.
    rows = [budget(number, 1) for number in range(9)]
    open_page, cached = read_budgets([*rows, budget(9, 0.8)])
    ratios = [*rows[:8], budget(8, 0.5), budget(9, 0.8)]
    settled, _ = read_budgets(ratios, cached)
    assert settled == read_budgets(ratios)[0]
    assert settled.records[9].share == Decimal("0.8")
    assert open_page.records[9].share is None


def test_budgets_that_are_judged_as_before_are_the_same_objects() -> None:
    rows = [budget(number, 50, limit=10, spent=5) for number in range(9)]
    first, cached = read_budgets(rows)
    again, _ = read_budgets([*rows, budget(9, 60)], cached)
    assert all(one is other for one, other in zip(first.records, again.records, strict=False))


LONG_LISTS: dict[str, Callable[[list[Any]], Any]] = {
    "bare": lambda rows: rows,
    "wrapped": lambda rows: {"generated": "now", "agents": rows, "total": len(rows)},
    "nested": lambda rows: {"ok": True, "data": {"budgets": rows}},
}


@pytest.mark.parametrize("envelope", LONG_LISTS)
@pytest.mark.parametrize("settled_at", [None, 0, 4_999])
def test_a_long_list_that_is_decoded_in_chunks_is_what_a_whole_reading_gives(
    envelope: str, settled_at: int | None
) -> None:
    rows = [budget(number, 0.5, limit=10, note="x" * 40) for number in range(2)]
    rows += [budget(number, 50, limit=10, note="x" * 40) for number in range(2, 5_000)]
    if settled_at is not None:
        rows[settled_at]["utilization_percent"] = "80 %"
    body = LONG_LISTS[envelope](rows)
    page, cached = read_budgets(body)
    assert cached is not None
    assert page == read_page(AGENT_BUDGETS, parse_json(json.dumps(body).encode()))
    changed = LONG_LISTS[envelope]([budget(n, 20) | {"spent": n} for n in range(5_000)])
    again, _ = read_budgets(changed, cached)
    assert again == read_page(AGENT_BUDGETS, parse_json(json.dumps(changed).encode()))


def test_a_long_list_is_parsed_in_parts() -> None:
    """Parsed at once, it would take many times the memory of its records."""
    rows = [budget(number, 50, limit=10) for number in range(10_000)]
    decoder = RowDecoder(AGENT_BUDGETS, None)
    parsed = decoder.parse(json.dumps(rows).encode())
    assert isinstance(parsed, list)
    assert len(parsed) < 2_000
    assert len(decoder.read_page(parsed).records) == 10_000


def test_rows_of_another_mapping_are_not_used() -> None:
    one, other = CountingKind(), CountingKind()
    _, rows = one.read({"data": TASK_ROWS})
    other.read({"data": TASK_ROWS}, rows)
    assert len(other.built) == 50


def test_a_key_with_a_dot_is_no_path() -> None:
    body = json.dumps({"a.b": [1], "a": {"b": [2]}}).encode()
    assert split_body(body, "a.b[]") is None
    nested = split_body(b'{"a":{"b":[2,3]},"c":1}', "a.b[]")
    assert nested is not None
    assert [bytes(row) for row in nested.rows] == [b"2", b"3"]
    assert json.loads(nested.with_rows([1])) == {"a": {"b": [3]}, "c": 1}


ROWS = st.lists(
    st.one_of(
        st.builds(task, st.integers(0, 9), note=st.integers(0, 2)),
        st.sampled_from([None, "t1", 5, {"status": "x"}, {"id": 7, "node": {"id": "t3"}}]),
    ),
    max_size=12,
)


@given(ROWS, ROWS, st.sampled_from(sorted(ENVELOPES)))
def test_a_second_reading_gives_the_page_that_a_first_one_gives(
    before: list[Any], after: list[Any], envelope: str
) -> None:
    counting = CountingKind()
    try:
        _, rows = counting.read(ENVELOPES[envelope](before))
        whole = read_page(TASKS, parse_json(json.dumps(ENVELOPES[envelope](after)).encode()))
    except ValueError:
        return
    page, _ = counting.read(ENVELOPES[envelope](after), rows)
    assert page == whole
