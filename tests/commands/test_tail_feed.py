"""Which entries are news."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.commands import tail_feed
from agentco_tui.commands.tail_feed import TailFeed
from agentco_tui.model.records import Activity, Listing, Moment
from agentco_tui.text import plain


def _entry(number: int) -> Activity:
    return Activity(id=f"e{number}", text=plain(f"entry {number}"), at=Moment(1000.0 + number))


def _poll(numbers: Iterable[int], *, newest_first: bool = True) -> Listing[Activity]:
    ordered = sorted(numbers, reverse=newest_first)
    return Listing(records=tuple(_entry(number) for number in ordered))


def _ids(entries: Iterable[Activity]) -> list[int]:
    return [int(entry.id[1:]) for entry in entries]


def test_oldest_first_whatever_the_platform_sends() -> None:
    for newest_first in (True, False):
        feed = TailFeed(first=10, limit=10)
        assert _ids(feed.take(_poll(range(3), newest_first=newest_first)).entries) == [0, 1, 2]


def test_no_more_than_asked_for_at_first() -> None:
    feed = TailFeed(first=2, limit=2)
    assert _ids(feed.take(_poll(range(10))).entries) == [8, 9]
    assert feed.take(_poll(range(10))).entries == []


def test_only_what_is_new_follows() -> None:
    feed = TailFeed(first=10, limit=5)
    feed.take(_poll(range(5)))
    news = feed.take(_poll(range(2, 7)))
    assert (_ids(news.entries), news.missed) == ([5, 6], False)


def test_a_gap_is_told() -> None:
    feed = TailFeed(first=10, limit=5)
    feed.take(_poll(range(5)))
    assert not feed.joins(_poll(range(6, 11)))
    news = feed.take(_poll(range(6, 11)))
    assert (_ids(news.entries), news.missed) == ([6, 7, 8, 9, 10], True)


def test_asking_for_more_closes_the_gap_without_telling_the_past() -> None:
    feed = TailFeed(first=3, limit=3)
    feed.take(_poll(range(10, 13)))
    news = feed.take(_poll(range(20)), asked_for_more=True)
    assert (_ids(news.entries), news.missed) == ([13, 14, 15, 16, 17, 18, 19], False)
    assert feed.take(_poll(range(5, 20))).entries == []


def test_a_late_entry_is_told_once() -> None:
    feed = TailFeed(first=10, limit=10)
    feed.take(_poll([1, 3]))
    assert _ids(feed.take(_poll([1, 2, 3])).entries) == [2]
    assert feed.take(_poll([1, 2, 3])).entries == []


def test_after_an_empty_log() -> None:
    feed = TailFeed(first=10, limit=3)
    assert feed.take(_poll([])).entries == []
    news = feed.take(_poll([1]))
    assert (_ids(news.entries), news.missed) == ([1], False)
    feed = TailFeed(first=10, limit=3)
    feed.take(_poll([]))
    assert feed.take(_poll([1, 2, 3])).missed


def test_an_empty_poll_forgets_nothing() -> None:
    feed = TailFeed(first=10, limit=10)
    feed.take(_poll([1, 2]))
    assert not feed.take(_poll([])).missed
    assert feed.take(_poll([1, 2])).entries == []


def test_memory_is_bounded(monkeypatch: object) -> None:
    feed = TailFeed(first=10, limit=10)
    for start in range(0, tail_feed.KEPT_IDS * 2, 1000):
        feed.take(_poll(range(start, start + 1100)))
    assert len(feed._seen) <= tail_feed.KEPT_IDS


@given(st.lists(st.integers(0, 4), max_size=30), st.integers(1, 5))
def test_without_gaps_every_entry_is_told_once_in_order(steps: list[int], limit: int) -> None:
    feed = TailFeed(first=limit, limit=limit)
    newest = limit
    told = _ids(feed.take(_poll(range(newest))).entries)
    for step in steps:
        newest += step
        news = feed.take(_poll(range(max(0, newest - limit), newest)))
        assert news.missed == (step >= limit)
        told += _ids(news.entries)
    assert told == sorted(set(told))
    if all(step < limit for step in steps):
        assert told == list(range(newest))
