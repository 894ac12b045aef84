"""The two collections by which the needs follow changes: sorted keys, and due times."""

from __future__ import annotations

from math import inf
from random import Random

import pytest

from agentco_tui.live.ordered_collections import DueTimes, SortedKeys


def test_keys_stay_sorted_whatever_is_added_and_removed() -> None:
    random = Random(7)
    keys = SortedKeys[tuple[int]]()
    expected: set[tuple[int]] = set()
    for _ in range(8_000):
        key = (random.randrange(5_000),)
        if key in expected:
            keys.remove(key)
            expected.remove(key)
        else:
            keys.add(key)
            expected.add(key)
    in_order = sorted(expected)
    assert len(keys) == len(in_order) > 1_000, "more than one chunk"
    assert keys.slice(0, len(keys)) == in_order
    for start, stop in ((0, 3), (700, 1_900), (len(keys) - 2, len(keys) + 9), (5, 5)):
        assert keys.slice(start, stop) == in_order[start:stop]
    for number in (-1, 0, 1_234, 4_999, 9_999):
        assert keys.count_below((number,)) == sum(key < (number,) for key in in_order)
    for key in random.sample(in_order, len(in_order)):
        keys.remove(key)
    assert (len(keys), keys.slice(0, 10)) == (0, [])


def test_a_key_that_is_not_there_cannot_be_removed() -> None:
    keys = SortedKeys[tuple[int]]()
    keys.add((1,))
    for missing in (0, 2):
        with pytest.raises(KeyError):
            keys.remove((missing,))


def test_what_is_due_comes_once_the_earliest_first_and_as_it_was_scheduled_last() -> None:
    due = DueTimes[tuple[str, str]]()
    for name, at in (("late", 9.0), ("moved", 1.0), ("early", 2.0), ("cancelled", 3.0)):
        due.schedule((name, ""), at)
    due.schedule(("moved", ""), 4.0)
    due.schedule(("cancelled", ""), inf)
    assert [name for name, _ in due.pop_due(5.0)] == ["early", "moved"]
    assert not [*due.pop_due(5.0)]
    assert [name for name, _ in due.pop_due(9.0)] == ["late"]
