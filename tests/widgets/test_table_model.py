"""Order, filter and hold: whatever happens to the rows, they are as if sorted from scratch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentco_tui.text import mark_safe
from agentco_tui.text.row_filter import ColumnKind, Filter, parse_filter
from agentco_tui.widgets.table import model as table_model
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.table.model import Steps, TableModel
from agentco_tui.widgets.tones import Cell


@dataclass(frozen=True)
class Item:
    word: str
    number: float | None


def remembering() -> Callable[[Item], str]:
    """Reads each word once for all items that have it."""
    words: dict[str, str] = {}
    return lambda item: words.setdefault(item.word, item.word)


COLUMNS: list[Column[Item]] = [
    Column(
        "word",
        mark_safe("WORD"),
        8,
        lambda item: Cell(mark_safe(item.word)),
        sort_key=lambda item: item.word,
        sort_reader=remembering,
    ),
    Column(
        "number",
        mark_safe("NUMBER"),
        8,
        lambda item: Cell(mark_safe(str(item.number))),
        sort_key=lambda item: item.number,
        kind=ColumnKind.NUMBER,
        filter_value=lambda item: item.number,
    ),
]


def take(steps: Steps) -> None:
    for _ in steps:
        pass


def filtered(typed: str) -> Filter:
    found = parse_filter(typed, COLUMNS)
    assert isinstance(found, Filter)
    return found


@dataclass
class Model:
    """The same, the slow and obvious way."""

    records: dict[str, Item] = field(default_factory=dict)
    arrived: list[str] = field(default_factory=list)
    column: int | None = None
    descending: bool = False
    typed: str = ""
    held: list[str] | None = None
    """The ids shown when the hold began."""

    def up_to_date(self) -> list[str]:
        read = COLUMNS[self.column].sort_key if self.column is not None else None
        keys: dict[str, Any] = {
            row_id: read(item) if read else self.arrived.index(row_id)
            for row_id, item in self.records.items()
        }
        known = sorted(row_id for row_id in keys if keys[row_id] is not None)
        unknown = sorted(row_id for row_id in keys if keys[row_id] is None)
        known.sort(key=keys.__getitem__, reverse=self.descending)
        return [row_id for row_id in known + unknown if self.lets_through(row_id)]

    def lets_through(self, row_id: str) -> bool:
        item = self.records[row_id]
        if self.typed.startswith("number>"):
            return item.number is not None and item.number > float(self.typed[7:])
        return self.typed in f"{item.word}\n{item.number}"

    def put(self, rows: Iterable[tuple[str, Item]]) -> None:
        for row_id, item in rows:
            if row_id not in self.records:
                self.arrived.append(row_id)
            self.records[row_id] = item

    def remove(self, ids: Iterable[str]) -> None:
        for row_id in ids:
            if self.records.pop(row_id, None) is not None:
                self.arrived.remove(row_id)


IDS = st.sampled_from([f"id{number}" for number in range(12)])
ITEMS = st.builds(
    Item,
    st.sampled_from(["a", "b", "ab", "ba", ""]),
    st.one_of(st.none(), st.integers(0, 4).map(float)),
)
ROWS = st.dictionaries(IDS, ITEMS, max_size=8).map(lambda rows: list(rows.items()))
CHANGES = st.one_of(
    st.tuples(st.just("load"), ROWS),
    st.tuples(st.just("apply"), ROWS, st.lists(IDS, max_size=5)),
    st.tuples(st.just("apply"), ROWS, st.lists(IDS, max_size=5)),
    st.tuples(st.just("sort"), st.sampled_from([None, 0, 1]), st.booleans()),
    st.tuples(st.just("filter"), st.sampled_from(["", "a", "ab", "number>1"])),
    st.tuples(st.just("hold")),
    st.tuples(st.just("release")),
)


def step(rows: TableModel[Item], model: Model, change: tuple[Any, ...]) -> None:
    match change:
        case ("load", new):
            take(rows.load(new))
            model.records, model.arrived = dict(new), [row_id for row_id, _ in new]
            if model.held is not None:
                model.held = model.up_to_date()
        case ("apply", new, gone):
            take(rows.apply(new, gone))
            model.put(new)
            model.remove(set(gone) - {row_id for row_id, _ in new})
        case ("sort", column, descending):
            take(rows.sort(column, descending))
            model.column, model.descending = column, descending
            if model.held is not None:
                model.held = model.up_to_date()
        case ("filter", typed):
            take(rows.refilter(filtered(typed)))
            model.typed = typed
            if model.held is not None:
                model.held = model.up_to_date()
        case ("hold",):
            rows.frozen = True
            if model.held is None:
                model.held = model.up_to_date()
        case ("release",):
            take(rows.release())
            model.held = None


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(CHANGES, max_size=25), st.sampled_from([0, 2, 1_500]), st.sampled_from([2, 12_500]))
def test_rows_equal_a_model_that_sorts_from_scratch(
    changes: list[tuple[Any, ...]], few: int, run: int
) -> None:
    rows: TableModel[Item] = TableModel(COLUMNS)
    model = Model()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_model, "FEW", few)
        patch.setattr(table_model, "RUN", run)
        patch.setattr(table_model, "RUNS_MERGED", 2)
        for change in changes:
            step(rows, model, change)
            check(rows, model)


def check(rows: TableModel[Item], model: Model) -> None:
    assert rows.records == model.records
    if model.held is None:
        assert rows.shown == model.up_to_date()
        assert rows.waiting_count == 0
        assert not rows.has_held_back_changes
        assert not any(rows.tombstone(row_id) for row_id in rows.shown)
    else:
        assert rows.shown == model.held
        now = model.up_to_date()
        assert rows.waiting_count == len(
            [row_id for row_id in now if rows.index_of(row_id) is None]
        ) - (len([row_id for row_id in now if row_id in rows.order and row_id not in rows.shown]))
        for row_id in rows.shown:
            assert bool(rows.tombstone(row_id)) is (row_id not in model.records)
    for place, row_id in enumerate(rows.shown):
        assert rows.index_of(row_id) == place
        assert rows.record(row_id)
    assert rows.index_of("nobody") is None


def made(count: int, **extra: Any) -> list[tuple[str, Item]]:
    return [
        (f"id{number:05d}", Item(f"w{number % 7}", float(number % 5))) for number in range(count)
    ]


def test_none_comes_last_in_both_directions() -> None:
    rows: TableModel[Item] = TableModel(COLUMNS)
    take(rows.load([("a", Item("", None)), ("b", Item("", 1.0)), ("c", Item("", None))]))
    take(rows.apply([("d", Item("", 2.0)), ("e", Item("", None))], []))
    take(rows.sort(1, descending=False))
    assert rows.shown == ["b", "d", "a", "c", "e"]
    take(rows.sort(1, descending=True))
    assert rows.shown == ["d", "b", "a", "c", "e"]


def test_the_list_stays_the_same_object_when_nothing_moves() -> None:
    rows: TableModel[Item] = TableModel(COLUMNS, None, 0)
    take(rows.load(made(50)))
    before = rows.shown
    take(rows.apply([("id00003", Item("w3", 9.0))], ["nobody"]))
    assert rows.shown is before
    take(rows.refilter(filtered("w3")))
    before = rows.shown
    take(rows.apply([("id00003", Item("w3", 8.0))], []))
    assert rows.shown is before
    take(rows.apply([("id00003", Item("w4", 8.0))], []))
    assert rows.shown == [row_id for row_id in before if row_id != "id00003"]


def test_long_work_pauses_and_shows_nothing_half_done() -> None:
    rows: TableModel[Item] = TableModel(COLUMNS)
    take(rows.load(made(30_000)))
    before = rows.shown
    steps = rows.sort(1, descending=True)
    pauses = 0
    for _ in steps:
        pauses += 1
        assert rows.shown is before
        assert rows.index_of("id00007") == 7
    assert pauses >= 30
    assert rows.shown[0] == "id00004"
    assert len(rows.shown) == 30_000


def test_a_row_that_comes_back_while_held_is_no_ghost_any_more() -> None:
    rows: TableModel[Item] = TableModel(COLUMNS)
    take(rows.load(made(3)))
    rows.frozen = True
    take(rows.apply([], ["id00001"]))
    rows.tombstones["id00001"] = Cell(mark_safe("approved here"))
    assert rows.tombstone("id00001") == Cell(mark_safe("approved here"))
    take(rows.apply([("id00001", Item("back", 1.0))], []))
    assert rows.tombstone("id00001") is None
    take(rows.release())
    assert sorted(rows.shown) == ["id00000", "id00001", "id00002"]


def test_search_text_is_read_once_a_record_until_it_changes() -> None:
    read: list[str] = []

    def search_text(item: Item) -> str:
        read.append(item.word)
        return item.word

    rows: TableModel[Item] = TableModel(COLUMNS, search_text)
    take(rows.load(made(3)))
    take(rows.warm())
    take(rows.refilter(filtered("w")))
    take(rows.refilter(filtered("w1")))
    assert read == ["w0", "w1", "w2"]
    take(rows.apply([("id00000", Item("W1", 0.0))], []))
    assert read == ["w0", "w1", "w2", "W1"]
    assert rows.shown == ["id00000", "id00001"]


def test_rows_that_come_before_anything_was_loaded_are_in_the_order_that_was_wished() -> None:
    rows: TableModel[Item] = TableModel(COLUMNS, None, 1, True)
    items = {f"r{number}": Item("x", float(number)) for number in range(5)}
    take(rows.apply(items.items(), ()))
    assert rows.shown == ["r4", "r3", "r2", "r1", "r0"]


def test_rows_that_come_and_go_for_ever_take_no_more_room() -> None:
    rows: TableModel[Item] = TableModel(COLUMNS, None, 1)
    take(rows.load(made(100)))
    for number in range(3_000):
        take(rows.apply([(f"new{number}", Item("x", float(number % 9)))], [f"new{number - 1}"]))
    # private: no public way shows how many sort keys are kept in memory.
    assert len(rows._sort_keys) <= 2 * 101 + table_model.FEW + 1
    assert rows.shown == sorted(
        rows.records, key=lambda row_id: (rows.records[row_id].number, row_id)
    )
