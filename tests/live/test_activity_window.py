"""The window against a whole log: what may be missing is marked, and nothing else is."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.live.activity_window import ActivityWindow, is_gap
from agentco_tui.model import Activity, Listing, Moment
from agentco_tui.reading.identity import mark_shared
from agentco_tui.text import mark_safe


def numbers(window: ActivityWindow) -> list[int | None]:
    """The entries by number, None for a gap."""
    return [None if is_gap(entry) else int(entry.id) for entry in window]


def poll(log: list[float], length: int, *, newest_first: bool = True) -> Listing[Activity]:
    """The newest entries of a log of which only the times are told."""
    entries = [
        Activity(id=f"{number}", at=Moment(at), text=mark_safe("step"))
        for number, at in list(enumerate(log))[-length:]
    ]
    return Listing(records=tuple(reversed(entries) if newest_first else entries))


bursts = st.lists(
    st.tuples(
        st.lists(st.sampled_from([0.0, 0.0, 1.0]), min_size=0, max_size=30),
        st.sampled_from([3, 10, 40]),
    ),
    min_size=1,
    max_size=12,
)


@given(bursts, st.booleans())
def test_a_gap_stands_exactly_where_no_poll_shows_that_nothing_is_missing(
    bursts: list[tuple[list[float], int]], newest_first: bool
) -> None:
    """Many entries have the same second, and polls are of any length.

    Which way a list of one second only is sorted nobody can tell: the newest come first then.
    """
    window = ActivityWindow()
    log = [1_000.0]
    shown: set[str] = set()
    polls: list[tuple[int, int]] = []
    for steps, length in bursts:
        for step in steps:
            log.append(log[-1] + (step if newest_first else 1.0))
        added, changed, removed = window.merge(poll(log, length, newest_first=newest_first))
        polls.append((max(0, len(log) - length), len(log)))
        assert not changed
        assert not {*added} & shown
        assert {*removed} <= shown
        shown = shown - {*removed} | {*added}
        assert shown == {entry.id for entry in window}
        seen = numbers(window)
        known = [number for number in seen if number is not None]
        assert known == sorted(set(known))
        assert known[-1] == len(log) - 1
        assert seen[0] is not None
        for left, right in pairwise(seen):
            if left is not None and right is not None:
                assert right == left + 1
        for left, gap, right in zip(seen, seen[1:], seen[2:], strict=False):
            if gap is None:
                assert left is not None
                assert right is not None
                assert not any(first <= left and right < end for first, end in polls)


def test_a_longer_poll_moves_the_gap_back_and_then_closes_it() -> None:
    window = ActivityWindow()
    log = [float(number) for number in range(10)]
    window.merge(poll(log, 3))
    log += [float(number) for number in range(10, 20)]
    window.merge(poll(log, 3))
    assert numbers(window) == [7, 8, 9, None, 17, 18, 19]
    added, _, removed = window.merge(poll(log, 6))
    assert numbers(window) == [7, 8, 9, None, 14, 15, 16, 17, 18, 19]
    assert set(added) == {"14", "15", "16", "gap:14"}
    assert removed == ("gap:17",)
    added, _, removed = window.merge(poll(log, 15))
    assert numbers(window) == list(range(5, 20))
    assert "gap:14" in removed
    window = ActivityWindow()
    window.merge(poll([0.0, 1.0], 2))
    window.merge(poll([0.0, 1.0, 2.0, 3.0], 2))
    assert window.merge(poll([0.0, 1.0, 2.0, 3.0], 4)) == ((), (), ("gap:2",))


def test_a_log_that_began_anew_in_the_past_is_marked_too() -> None:
    """The platform's clock was set back, or the log comes from a backup."""
    window = ActivityWindow()
    late = [Activity(id=f"{n}", at=Moment(1_000.0 + n), text=mark_safe("late")) for n in (8, 9)]
    window.merge(Listing(records=tuple(reversed(late))))
    early = [Activity(id=f"{n}", at=Moment(float(n)), text=mark_safe("early")) for n in (1, 2)]
    window.merge(Listing(records=tuple(reversed(early))))
    assert numbers(window) == [1, 2, None, 8, 9]


def test_an_empty_answer_and_the_same_answer_change_nothing_and_a_corrected_entry_does() -> None:
    window = ActivityWindow()
    same = poll([1.0, 2.0], 2)
    window.merge(same)
    assert window.merge(same) == ((), (), ())
    assert window.merge(Listing(records=())) == ((), (), ())
    assert numbers(window) == [0, 1]
    corrected = Activity(id="1", at=Moment(2.0), text=mark_safe("other words"))
    assert window.merge(Listing(records=(corrected, same.records[1]))) == ((), ("1",), ())


def test_the_window_is_bounded_and_counts_what_it_let_go() -> None:
    window = ActivityWindow(capacity=4)
    log = [float(number) for number in range(6)]
    window.merge(poll(log[:3], 3))
    added, _, removed = window.merge(poll(log, 4))
    assert numbers(window) == [2, 3, 4, 5]
    assert (set(added), set(removed)) == ({"3", "4", "5"}, {"0", "1"})


def test_entries_without_a_time_stay_in_the_order_they_came() -> None:
    window = ActivityWindow()
    window.merge(
        Listing(
            records=(Activity(id="b", text=mark_safe("b")), Activity(id="a", text=mark_safe("a")))
        )
    )
    assert [item.id for item in window] == ["a", "b"]
    assert window.get("b") is [*window][1]
    assert window.get(None) is window.get("c") is None
    window.clear()
    assert len(window) == 0


def test_an_entry_that_a_platform_calls_as_we_call_gaps_is_an_entry() -> None:
    for derived in (True, False):
        assert is_gap(Activity(id="gap:7", id_derived=derived, text=mark_safe("step"))) is derived
    assert not is_gap(Activity(id="7", id_derived=True, text=mark_safe("step")))


def untimed(number: int) -> Activity:
    return Activity(id=f"{number}", text=mark_safe("step"))


@given(
    st.lists(st.booleans(), min_size=2, max_size=12),
    st.booleans(),
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
)
def test_an_entry_without_a_time_stays_between_its_neighbours(
    has_times: list[bool], newest_first: bool, steps: list[int]
) -> None:
    """In either order of the platform, in the first poll and in later ones."""
    has_times[0] = has_times[-1] = True
    log = [
        Activity(id=f"{n}", at=Moment(1_000.0 + n), text=mark_safe("step")) if timed else untimed(n)
        for n, timed in enumerate(has_times)
    ]
    window = ActivityWindow()
    known = 0
    for step in [*steps, len(log)]:
        known = min(len(log), known + step)
        if sum(entry.at is not None for entry in log[:known]) < 2:
            continue  # from one time nobody can tell in which order the platform sends
        records = tuple(log[:known])
        window.merge(Listing(records=records[::-1] if newest_first else records))
        assert [entry.id for entry in window] == [entry.id for entry in records]


def test_an_older_part_of_the_log_comes_before_an_entry_without_a_time() -> None:
    window = ActivityWindow()
    known = Activity(id="8", at=Moment(1_008.0), text=mark_safe("step"))
    window.merge(Listing(records=(known, untimed(7))))
    older = Activity(id="3", at=Moment(1_003.0), text=mark_safe("step"))
    window.merge(Listing(records=(older,)), is_poll=False)
    assert [entry.id for entry in window if not is_gap(entry)] == ["3", "7", "8"]


def test_a_new_entry_with_the_id_of_another_takes_nobodys_place() -> None:
    began = Activity(id="run_1", at=Moment(1.0), text=mark_safe("began"))
    ended = Activity(id="run_1", at=Moment(2.0), text=mark_safe("ended"))
    window = ActivityWindow()
    window.merge(Listing(records=(began,)))
    window.merge(Listing(records=(ended,)))
    told = [(each.sent_id, each.text) for each in window if not is_gap(each)]
    assert told == [("run_1", "began"), ("run_1", "ended")]
    window.merge(Listing(records=(ended,)))
    both = tuple(mark_shared((began, ended)))
    window.merge(Listing(records=both))
    words = [each.text for each in window if not is_gap(each)]
    assert words == ["began", "ended"], "none twice, none lost"


def test_an_entry_that_is_brought_up_to_date_stays_one() -> None:
    window = ActivityWindow()
    window.merge(
        Listing(records=(Activity(id="e1", at=Moment(1.0), text=mark_safe("seen 1 time")),))
    )
    window.merge(
        Listing(records=(Activity(id="e1", at=Moment(1.0), text=mark_safe("seen 2 times")),))
    )
    assert [each.text for each in window] == ["seen 2 times"]
