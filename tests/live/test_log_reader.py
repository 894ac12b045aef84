"""Gaps and the past of a log, read from platforms that obey, cut down, ignore or refuse."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError, Invalid, PlatformFailed
from agentco_tui.history.history_keeper import observe_past
from agentco_tui.history.observations import Span
from agentco_tui.live import backfill
from agentco_tui.live.activity_window import MISSING, NO_MORE, ActivityWindow, is_gap
from agentco_tui.live.backfill import PAST, Backfill
from agentco_tui.live.feeds import Clock, FeedName, Query
from agentco_tui.live.log_reader import MOST, MOST_REQUESTS
from agentco_tui.live.store import Change, Store
from agentco_tui.model import Activity, Listing, Moment
from agentco_tui.text import mark_safe

TODAY = date(2026, 11, 23)
DAY = 86_400.0


def midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


NOON = midnight(TODAY) + DAY / 2


class Log:
    """A client with nothing but a log, of which each entry has a time; a day begins at `zone`."""

    def __init__(
        self,
        times: Sequence[float],
        *,
        cap: int = 100_000,
        obeys_days: bool = True,
        refused_from: int = 100_000,
        zone: float = 0.0,
        names: str = "{}",
    ) -> None:
        self.times, self.begins = sorted(times), 0
        self.cap, self.obeys_days, self.refused_from = cap, obeys_days, refused_from
        self.zone, self.names = zone, names
        self.asked: list[tuple[date | None, date | None, int]] = []
        self.failures: list[ApiError] = []

    def entries(self) -> list[Activity]:
        return [
            Activity(id=self.names.format(number), at=Moment(at), text=mark_safe("step"))
            for number, at in enumerate(self.times, self.begins)
        ]

    def newest(self, limit: int) -> Listing[Activity]:
        """What a poll brings."""
        return Listing(records=tuple(reversed(self.entries()[-min(limit, self.cap) :])))

    async def activity(
        self,
        company: str | None,
        agent: str | None,
        first: date | None,
        last: date | None,
        *,
        limit: int,
        once: bool,
    ) -> Listing[Activity]:
        assert once
        self.asked.append((first, last, limit))
        if self.failures:
            raise self.failures.pop(0)
        if limit > self.refused_from:
            raise Invalid(mark_safe("the limit is too high"), path="/api/activity")
        since = midnight(first) + self.zone if first and self.obeys_days else 0.0
        until = midnight(last) + DAY + self.zone if last and self.obeys_days else 1e12
        found = [each for each in self.entries() if each.at and since <= each.at.at < until]
        return Listing(records=tuple(reversed(found[-min(limit, self.cap) :])))


class Desk:
    """A window on a log, filled when it is told to."""

    def __init__(self, log: Log, now: float = NOON) -> None:
        self.log, self.store, self.rests = log, Store(), 0
        clock = Clock()
        clock.now = lambda: now  # type: ignore[method-assign]
        self.hours = itertools.count(0.0, 3_600.0)
        clock.monotonic = lambda: next(self.hours)  # type: ignore[method-assign]
        self.behind = Backfill(cast("Client", log), self.store, clock, Query, self.rest)
        self.reader = self.behind.reader

    async def rest(self) -> bool:
        self.rests += 1
        return True

    @property
    def window(self) -> ActivityWindow:
        return self.store.activity

    def poll(self, length: int) -> None:
        self.window.merge(self.log.newest(length))

    def fill(self) -> None:
        asyncio.run(self.behind.fill_gaps())

    def shown(self) -> list[str]:
        return [str(each.text) if is_gap(each) else each.id for each in self.window]


def steady(count: int, *, every: float = 1.0, until: float = NOON) -> list[float]:
    """The times of so many entries, the last of them now."""
    return [until - every * number for number in reversed(range(count))]


bursts = st.lists(
    st.tuples(st.integers(0, 900), st.sampled_from([0.0, 1.0, 97.0, 400.0])),
    min_size=1,
    max_size=5,
)


@settings(max_examples=25)
@given(bursts, st.sampled_from([0.0, -8 * 3600.0, 9 * 3600.0]), st.sampled_from(["{}", "e-{}-x"]))
def test_a_platform_that_gives_all_leaves_no_gap(
    bursts: list[tuple[int, float]], zone: float, names: str
) -> None:
    log = Log(steady(30), zone=zone, names=names)
    desk = Desk(log)
    desk.poll(20)
    for number, step in bursts:
        log.times += [log.times[-1] + step * (turn + 1) for turn in range(number)]
        desk.poll(20)
        desk.fill()
        assert desk.shown() == [entry.id for entry in log.entries()[10:]][-len(desk.window) :]
        assert len(desk.window) == min(desk.window.capacity, len(log.times) - 10)
    assert desk.reader.limitations() == []
    assert desk.rests == len(log.asked)


@settings(max_examples=25)
@given(
    bursts,
    st.sampled_from([20, 35, 250, 100_000]),
    st.booleans(),
    st.sampled_from([100_000, 300]),
    st.sampled_from([0.0, 9 * 3600.0]),
)
def test_what_a_platform_does_not_give_is_marked_and_not_asked_for_again(
    bursts: list[tuple[int, float]], cap: int, obeys_days: bool, refused_from: int, zone: float
) -> None:
    log = Log(steady(30), cap=cap, obeys_days=obeys_days, refused_from=refused_from, zone=zone)
    desk = Desk(log)
    log.names = "e{}x"
    desk.poll(20)
    for number, step in bursts:
        log.times += [log.times[-1] + step * (turn + 1) for turn in range(number)]
        desk.poll(20)
        asked = len(log.asked)
        desk.fill()
        assert len(log.asked) - asked <= MOST_REQUESTS + 4
        shown = [entry.id for entry in desk.window if not is_gap(entry)]
        numbers = [int(entry[1:-1]) for entry in shown]
        assert numbers == sorted(set(numbers))
        assert MISSING not in desk.shown()
        whole = [int(entry[1:-1]) if entry != NO_MORE else None for entry in desk.shown()]
        for left, right in pairwise(whole):
            if left is not None and right is not None:
                assert right == left + 1
    desk.fill()
    asked = len(log.asked)
    desk.fill()
    assert len(log.asked) == asked


@pytest.mark.parametrize("obeys_days", [True, False])
def test_a_platform_that_caps_is_asked_for_other_days(obeys_days: bool) -> None:
    log = Log(steady(100), cap=100, obeys_days=obeys_days)
    desk = Desk(log)
    desk.poll(100)
    log.times += steady(150, until=NOON + DAY / 3 * 2)
    log.times += steady(80, until=NOON + DAY / 3 * 2 + DAY)
    desk.poll(50)
    desk.fill()
    told = ["100 entries at most"] if obeys_days else ["from and to ignored"]
    assert desk.reader.limitations() == told
    found = [number in desk.shown() for number in ("99", "149", "150", "249", "250", "329")]
    assert found == [True, False, obeys_days, True, True, True]


@pytest.mark.slow
def test_a_log_that_is_faster_than_it_can_be_read_is_asked_for_less_and_less() -> None:
    log = Log(steady(100), names="e{}x")
    desk = Desk(log)
    desk.hours = itertools.count(0.0, 1.0)
    desk.poll(100)
    turns = []
    for turn in range(25):
        log.times += steady(5_000, every=0.001, until=log.times[-1] + 5.0)
        del log.times[:-5_100]
        log.begins += 5_000 * (turn > 0)
        asked = len(log.asked)
        desk.poll(100)
        desk.fill()
        if len(log.asked) > asked:
            turns.append(turn)
        assert {MISSING, NO_MORE} & {*desk.shown()}
        assert desk.shown()[-100:] == [entry.id for entry in log.newest(100).records][::-1]
    pauses = [later - turn for turn, later in pairwise(turns)]
    assert pauses == sorted(pauses)
    assert 2 < len(turns) < 7


async def test_a_gap_that_had_to_wait_is_read_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backfill, "PAUSE", 0.001)
    log = Log(steady(100), names="e{}x")
    desk = Desk(log)
    desk.hours = itertools.count(0.0, 0.0001)
    desk.poll(100)
    changed = asyncio.Event()
    desk.store.subscribe(lambda _: changed.set())
    running = asyncio.create_task(desk.behind.run())
    try:
        for number, left in ((6_000, 1), (300, 1)):
            log.times += steady(number, every=0.001, until=log.times[-1] + 10.0)
            merged = desk.window.merge(log.newest(100))
            desk.store.publish(Change(FeedName.ACTIVITY, *merged))
            while MISSING in desk.shown():
                await changed.wait()
                changed.clear()
            assert desk.shown().count(NO_MORE) == left
    finally:
        running.cancel()


def test_a_limit_that_is_refused_is_halved_once() -> None:
    log = Log(steady(2_000), refused_from=700)
    desk = Desk(log)
    desk.poll(100)
    for number, limits in ((400, [1_000, 500]), (300, [500]), (600, [500])):
        log.asked.clear()
        log.times += [log.times[-1] + 1.0 + turn for turn in range(number)]
        desk.poll(100)
        desk.fill()
        assert [limit for *_, limit in log.asked] == limits
    assert desk.reader.limitations() == ["500 entries at most"]
    assert desk.shown().count(NO_MORE) == 1


def test_a_gap_over_midnight_is_read_day_by_day() -> None:
    log = Log(steady(40, every=3_600.0))
    desk = Desk(log)
    desk.poll(10)
    log.times += steady(8_600, every=30.0, until=NOON + 3 * DAY)[1:]
    desk.poll(10)
    desk.window.capacity = 20_000
    desk.fill()
    assert NO_MORE not in desk.shown()
    days = {last for _, last, _ in log.asked}
    assert days == {TODAY + timedelta(number) for number in range(4)}
    assert max(limit for *_, limit in log.asked) == MOST


def test_numbers_that_are_left_out_are_looked_for_and_believed() -> None:
    log = Log(steady(40), names="evt_{:07d}")
    desk = Desk(log)
    desk.poll(30)
    log.times += [NOON + 1.0 + turn for turn in range(10)]
    listing = log.newest(30)
    late = listing.records[3]
    desk.window.merge(Listing(records=tuple(each for each in listing.records if each != late)))
    assert MISSING in desk.shown()
    desk.fill()
    assert desk.shown() == [entry.id for entry in log.entries()[10:]]
    assert len(log.asked) == 1


def test_a_platform_that_leaves_out_numbers_is_asked_once() -> None:
    class Skipping(Log):
        def entries(self) -> list[Activity]:
            return [each for each in super().entries() if each.id not in ("evt-50", "evt-60")]

    log = Skipping(steady(40), names="evt-{}")
    desk = Desk(log)
    desk.poll(30)
    for number in range(1, 40):
        log.times.append(NOON + number)
        desk.poll(30)
        desk.fill()
    assert len(log.asked) == 1
    assert desk.shown() == [entry.id for entry in log.entries()[10:]]


async def test_after_a_failure_the_gap_stays_until_it_can_be_read() -> None:
    log = Log(steady(40), names="e{}x")
    desk = Desk(log)
    desk.poll(10)
    log.times += [NOON + 1.0 + turn for turn in range(30)]
    desk.poll(10)
    log.failures = [PlatformFailed(mark_safe("it is down"), path="/api/activity")] * 2
    for _ in range(2):
        with pytest.raises(PlatformFailed):
            await desk.behind.fill_gaps()
        assert MISSING in desk.shown()
    await desk.behind.fill_gaps()
    assert desk.shown() == [entry.id for entry in log.entries()[30:]]


# --- the past -----------------------------------------------------------------------------------


class Memory:
    """A history that keeps what it is handed in two lists."""

    def __init__(self) -> None:
        self.counts = dict[float, int]()
        self.spans: list[Span] = []

    def take(self, listing: Listing[Activity], since: float) -> None:
        for observed in observe_past(listing, since):
            for each in observed.counts:
                self.counts[each.at] = max(self.counts.get(each.at, 0), each.count)
            self.spans += [span for _, _, span in observed.seen]


def past(desk: Desk) -> tuple[dict[float, int], list[Span]]:
    """How many entries of each minute of the last 24 hours are remembered, and for which time."""
    memory = Memory()
    desk.poll(10)
    while True:
        with suppress(PlatformFailed):
            asyncio.run(desk.behind.read_past(memory.take))
            return memory.counts, joined(memory.spans)


def by_minute(times: Iterable[float]) -> dict[float, int]:
    return dict(Counter(at // 60 * 60 for at in times))


def joined(spans: list[Span]) -> list[Span]:
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


@given(
    st.lists(st.floats(0, 2 * PAST).map(round), max_size=60).map(lambda ages: [*ages, 0]),
    st.integers(1, 30),
    st.sampled_from([0, 9]),
    st.sampled_from([8.0, 12.0, 23.9]),
)
def test_every_entry_of_the_day_is_counted_once(
    ages: list[int], times: int, zone: int, hour: float
) -> None:
    now = midnight(TODAY) + hour * 3_600.0
    log = Log([now - age for age in ages for _ in range(times)], zone=-zone * 3_600.0)
    counts, spans = past(Desk(log, now))
    of_day = [at for at in log.times if at >= now - PAST]
    assert counts == by_minute(of_day)
    assert spans in ([(now - PAST, now)], [(of_day[0], now)])


def test_the_past_is_whole_where_the_platform_fails_now_and_then() -> None:
    log = Log(steady(5_000, every=30.0))
    whole = past(Desk(log))
    assert whole == (by_minute(at for at in log.times if at >= NOON - PAST), [(NOON - PAST, NOON)])
    log.failures = [PlatformFailed(mark_safe("it is down"), path="/api/activity")] * 3
    assert past(Desk(log)) == whole


def test_a_busy_day_is_read_as_far_as_it_can_be_had() -> None:
    log = Log(steady(30_000, every=3.0))
    counts, spans = past(Desk(log))
    assert len(log.asked) <= 10
    assert max(limit for *_, limit in log.asked) == MOST
    assert sum(counts.values()) == 2 * MOST
    assert [round(end - start) for start, end in spans] == [3 * MOST - 3] * 2


@pytest.mark.parametrize("obeys_days", [True, False])
def test_the_past_of_a_platform_that_caps(obeys_days: bool) -> None:
    log = Log(steady(3_000, every=40.0), cap=200, obeys_days=obeys_days)
    desk = Desk(log)
    counts, spans = past(desk)
    told = {True: ["200 entries at most"], False: ["from and to ignored"]}
    assert desk.reader.limitations() == told[obeys_days]
    assert sum(counts.values()) == (400 if obeys_days else 200)
    assert all(round(end - start) == 199 * 40 for start, end in spans)
    assert len(log.asked) < 6
