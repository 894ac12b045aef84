"""Sorting with pauses: as Python's own sort, whichever way is taken."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.widgets.table import model
from agentco_tui.widgets.table.model import sorted_numbers

T = TypeVar("T")

KEYS = st.lists(st.none() | st.integers(0, 6), max_size=60) | st.lists(
    st.none() | st.text(max_size=3), max_size=60
)


def result(steps: Generator[None, None, T]) -> T:
    """What a piece of work comes to."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found


@given(keys=KEYS, descending=st.booleans(), data=st.data())
def test_places_stand_as_a_plain_sort_puts_them(
    keys: list[Any], descending: bool, data: st.DataObject
) -> None:
    by_id = data.draw(st.permutations(range(len(keys))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "RUN", 7)
        found = result(sorted_numbers(keys, by_id, descending))
    known = [place for place in by_id if keys[place] is not None]
    known.sort(key=lambda place: keys[place], reverse=descending)
    assert found == known + [place for place in by_id if keys[place] is None]
