"""Which entries of a poll `tail` tells."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import Iterable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.api.client import Client
from agentco_tui.api.credentials import BaseUrl
from agentco_tui.commands.tail import MISSING, _Tail
from agentco_tui.config import Settings
from agentco_tui.live.activity_window import is_gap
from agentco_tui.model import Activity, Listing, Moment
from agentco_tui.text import plain


class Log:
    """A client with nothing but a log, which answers with its newest entries."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.newest_first = True

    async def activity(self, *_: Any, limit: int) -> Listing[Activity]:
        ordered = sorted(self.numbers)[-limit:]
        if self.newest_first:
            ordered.reverse()
        return Listing(
            records=tuple(
                Activity(id=f"e{each}", text=plain(f"entry {each}"), at=Moment(1000.0 + each))
                for each in ordered
            )
        )


class Feed:
    """A run of the command that polls when it is told to."""

    def __init__(self, limit: int) -> None:
        self.log = Log()
        settings = Settings(base_url=BaseUrl.parse("http://127.0.0.1:1"))
        self._tail = _Tail(settings, Namespace(follow=True, limit=limit, agent=None))

    def poll(self, numbers: Iterable[int]) -> list[int | str]:
        """The numbers that are told, with "gap" where some may be missing."""
        self.log.numbers = list(numbers)
        entries = asyncio.run(self._tail._poll(cast("Client", self.log)))
        self._tail._recovered()
        return ["gap" if is_gap(entry) else int(entry.id[1:]) for entry in entries]


def test_a_gap_is_told_where_asking_for_more_does_not_reach() -> None:
    feed = Feed(5)
    feed.poll(range(5))
    assert feed.poll(range(100, 105)) == ["gap", 100, 101, 102, 103, 104]


def test_a_late_entry_is_told_once() -> None:
    feed = Feed(10)
    feed.poll([1, 3])
    assert feed.poll([1, 2, 3]) == [2]
    assert feed.poll([1, 2, 3]) == []


def test_after_an_empty_log(capsys: pytest.CaptureFixture[str]) -> None:
    feed = Feed(3)
    assert feed.poll([]) == []
    assert feed.poll([1]) == [1]
    assert MISSING not in capsys.readouterr().err
    feed = Feed(3)
    feed.poll([])
    feed.poll([1, 2, 3])
    assert MISSING in capsys.readouterr().err


@given(st.lists(st.integers(0, 4), max_size=10), st.integers(1, 5), st.booleans())
def test_every_entry_is_told_once_in_order(
    steps: list[int], limit: int, newest_first: bool
) -> None:
    feed = Feed(limit)
    feed.log.newest_first = newest_first
    newest = limit
    told = feed.poll(range(newest))
    for step in steps:
        newest += step
        told += feed.poll(range(newest))
    assert told == list(range(newest))
