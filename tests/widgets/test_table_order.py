"""Sorting by places: as Python's own sort, whichever way is taken."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.widgets.table import order as table_order
from agentco_tui.widgets.table.order import ById, arranged, gathered

T = TypeVar("T")

KEYS = st.lists(st.none() | st.integers(0, 6), max_size=60) | st.lists(
    st.none() | st.text(max_size=3), max_size=60
)


def result(steps: Generator[bool, None, T]) -> T:
    """What a piece of work comes to."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found


def sorted_simply(keys: list[Any], by_id: list[int], descending: bool) -> list[int]:
    known = [place for place in by_id if keys[place] is not None]
    known.sort(key=lambda place: keys[place], reverse=descending)
    return known + [place for place in by_id if keys[place] is None]


@given(keys=KEYS, descending=st.booleans(), data=st.data())
def test_places_stand_as_a_plain_sort_puts_them(
    keys: list[Any], descending: bool, data: st.DataObject
) -> None:
    by_id = data.draw(st.permutations(range(len(keys))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_order, "_RUN", 7)
        found = result(arranged(keys, by_id, descending))
    assert found == sorted_simply(keys, by_id, descending)


@given(st.permutations(range(23)))
def test_ids_are_gathered_in_the_order_of_their_places(order: list[int]) -> None:
    ids = [f"id{place}" for place in range(23)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_order, "_CHUNK", 5)
        assert result(gathered(ids, order)) == [ids[place] for place in order]


IDS = st.lists(st.text("abc", min_size=1, max_size=3), unique=True, max_size=30)


@given(before=IDS, after=IDS)
def test_the_order_of_ids_is_worked_out_where_they_are_others(
    before: list[str], after: list[str]
) -> None:
    first = result(ById().of(before))
    second = result(first.of(after))
    assert result(second.of(list(after))) is second
    assert [before[place] for place in first.places] == sorted(before)
    assert [after[place] for place in second.places] == sorted(after)
