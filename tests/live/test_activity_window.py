"""Polls of the log that overlap, and those that don't."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.live.activity_window import ActivityWindow, is_gap
from agentco_tui.model import Activity, Listing, Moment
from agentco_tui.text import plain


def entry(number: int) -> Activity:
    return Activity(id=f"act_{number}", at=Moment(float(number)), text=plain(f"step {number}"))


def poll(*numbers: int, newest_first: bool = True) -> Listing[Activity]:
    ordered = sorted(numbers, reverse=newest_first)
    return Listing(records=tuple(entry(number) for number in ordered))


def numbers(window: ActivityWindow) -> list[str]:
    return ["gap" if is_gap(item) else item.id.removeprefix("act_") for item in window]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=20), st.booleans())
def test_polls_that_overlap_give_the_whole_log_in_order(
    steps: list[int], newest_first: bool
) -> None:
    window = ActivityWindow()
    end = 10
    for step in steps:
        end += step
        window.merge(poll(*range(end - 9, end + 1), newest_first=newest_first))
    first = 10 + steps[0] - 9
    assert numbers(window) == [str(number) for number in range(first, end + 1)]


def test_a_poll_that_does_not_join_leaves_a_gap_where_entries_may_be_missing() -> None:
    window = ActivityWindow()
    window.merge(poll(1, 2, 3))
    window.merge(poll(8, 9))
    assert numbers(window) == ["1", "2", "3", "gap", "8", "9"]
    window.merge(poll(9, 10))
    assert numbers(window) == ["1", "2", "3", "gap", "8", "9", "10"]


def test_an_empty_answer_and_the_same_answer_change_nothing() -> None:
    window = ActivityWindow()
    same = poll(1, 2)
    window.merge(same)
    assert window.merge(same) == ((), (), ())
    assert window.merge(Listing(records=())) == ((), (), ())
    assert numbers(window) == ["1", "2"]


def test_the_window_is_bounded_and_counts_what_it_let_go() -> None:
    window = ActivityWindow(capacity=4)
    window.merge(poll(1, 2, 3))
    added, _, removed = window.merge(poll(3, 4, 5, 6))
    assert numbers(window) == ["3", "4", "5", "6"]
    assert set(added) == {"act_4", "act_5", "act_6"}
    assert set(removed) == {"act_1", "act_2"}
    assert window.dropped == 2


def test_a_corrected_entry_is_a_change() -> None:
    window = ActivityWindow()
    window.merge(poll(1, 2))
    corrected = Activity(id="act_2", at=Moment(2.0), text=plain("other words"))
    added, changed, removed = window.merge(Listing(records=(corrected, entry(1))))
    assert (added, changed, removed) == ((), ("act_2",), ())


def test_entries_without_a_time_stay_in_the_order_they_came() -> None:
    window = ActivityWindow()
    window.merge(
        Listing(records=(Activity(id="b", text=plain("b")), Activity(id="a", text=plain("a"))))
    )
    assert [item.id for item in window] == ["a", "b"]
    window.clear()
    assert len(window) == 0
