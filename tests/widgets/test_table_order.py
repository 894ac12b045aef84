"""Sorting by places: as Python's own sort, whichever way is taken."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.widgets import table_order
from agentco_tui.widgets.table_order import arranged

KEYS = st.lists(st.none() | st.integers(0, 6), max_size=60) | st.lists(
    st.none() | st.text(max_size=3), max_size=60
)


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
        steps = arranged(keys, by_id, descending)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found = end.value
                break
    assert found == sorted_simply(keys, by_id, descending)
