"""Replays a recording: answers requests as the platform did at the time that a clock shows."""

from __future__ import annotations

import asyncio
import time
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec.structs import replace

from agentco_tui.api import errors
from agentco_tui.api.errors import ApiError, NotSent, Sent
from agentco_tui.api.recording import Located, Recording
from agentco_tui.api.recording_format import FailedWith, Recorded
from agentco_tui.live.feeds import SKEW_THAT_MATTERS, SLOWER, Clock, FeedName, Freshness, Pace
from agentco_tui.live.log_reader import LogReader
from agentco_tui.live.poll_timing import spacing
from agentco_tui.live.poller import Poller, Schedule
from agentco_tui.model import Activity, Listing
from agentco_tui.text import SafeText, plain, safe
from agentco_tui.text.patterns import lazy_pattern

SPEEDS: Final = (1, 2, 5, 10, 60, 600)
ROUND: Final = 0.1  # real seconds between two steps of a replay, at every speed
TOGETHER: Final = 0.3  # seconds of the recording within which come the parts of one answer
OLD: Final = 4 * SLOWER  # refreshes after which an answer was not followed by another
_BY: Final = lazy_pattern(r"([+-])(\d{1,6})\s*([smh])")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600}

_found: ContextVar[list[tuple[Located | None, FailedWith | None]] | None]
_found = ContextVar("found", default=None)
"""What was found for each question of one poll: an answer, and what failed since."""


class NotYet(NotSent):
    """The recording has the request, and its answer came later than the clock's time."""


class ReplayClock(Clock):
    """Shows the recording's time, from its beginning to its end.

    `monotonic` advances with it, and is not moved by a jump to another time.
    """

    def __init__(self, recording: Recording, steady: Callable[[], float] = time.monotonic) -> None:
        super().__init__(lambda: recording.ahead(self.time()), self.time)
        self.recording, self._steady = recording, steady
        self.speed: int = SPEEDS[0]
        self.paused = False
        self._from = recording.begins  # the recording's time at `_since`
        self._since = steady()
        self._before = 0.0  # `monotonic` at `_since`

    def time(self) -> float:
        """Seconds since 1970 by the clock of the machine that recorded."""
        passed = 0.0
        if not self.paused:
            passed = (self._steady() - self._since) * self.speed
        return min(self._from + passed, self.recording.ends)

    def monotonic(self) -> float:
        return self._before + self.time() - self._from

    @property
    def ended(self) -> bool:
        return self.time() >= self.recording.ends

    def set(
        self, *, at: float | None = None, speed: int | None = None, paused: bool | None = None
    ) -> None:
        """Jump to a time, or change the speed or the pause; what is None stays unchanged."""
        now = self.time()
        self._before = self.monotonic()
        if at is not None:
            now = max(self.recording.begins, min(at, self.recording.ends))
            # Otherwise `now` would ignore a small step back.
            self._told = 0.0
        self._from = now
        self._since = self._steady()
        if speed is not None:
            self.speed = speed
        if paused is not None:
            self.paused = paused

    def told(self, at: float) -> float:
        """What the platform's clock said at a time by the clock that recorded."""
        ahead = self.recording.ahead(at)
        return at if ahead is None or abs(ahead) < SKEW_THAT_MATTERS else at + ahead

    def meant(self, words: str) -> float | None:
        """The time, by the clock that recorded, that the user typed by the platform's clock.

        The words are a time ("03:12"), a date with a time, or an offset from now ("+5m", "-1h").
        None if they are none of these, or if the recording does not have that time.
        """
        now = self.now()
        times = self.recording.times
        found: list[float] = []
        if by := _BY.fullmatch(words):
            return self.time() + int(f"{by[1]}{by[2]}") * _UNITS[by[3]]
        for days in (-1, 0, 1):
            day = datetime.fromtimestamp(now) + timedelta(days=days)
            for each in (words, f"{day:%Y-%m-%d} {words}"):
                with suppress(ValueError, OverflowError):
                    found.append(datetime.fromisoformat(each).timestamp())
        begins, ends = self.told(times[0]) - 60, self.told(times[-1]) + 60
        there = [at for at in found if begins <= at <= ends]
        if not there:
            return None
        at = min(there, key=lambda at: abs(at - now))
        place = min(bisect_left(times, at, key=self.told), len(times) - 1)
        return max(times[max(0, place - 1)], at - self.told(times[place]) + times[place])


class Player:
    """Answers requests from a recording: with what came last by the clock's time."""

    def __init__(self, recording: Recording, clock: ReplayClock) -> None:
        self.recording, self.clock = recording, clock

    async def answer(self, target: str, known: str | None) -> tuple[Recorded, bytes]:
        """As `Transport` wants it. Raises ApiError: what was recorded, or NotSent where nothing
        was. A poll is given what came before it failed; `ReplayPoller` lays the failure over that.
        """
        path, polled = safe(target.partition(" ")[2], 300), _found.get()
        found, failed = self.recording.last(target, self.clock.time())
        if polled is not None:
            polled.append((found, failed))
        if failed is not None and (found is None or polled is None):
            raise _error(failed, path)
        if found is None:
            if target in self.recording:
                raise NotYet(plain("not in the recording by then: asked later only"), path=path)
            words = "not in the recording: this was not asked while it was made"
            raise NotSent(plain(words), path=path)
        answer = replace(found.answer, headers={**found.answer.headers, "etag": found.etag})
        if known == found.etag:
            return replace(answer, status=304), b""
        try:
            return answer, await asyncio.to_thread(self.recording.body, found)
        except (OSError, ValueError, zlib.error):
            raise errors.Broken(plain("damaged in the recording"), path=path) from None


def _error(failed: FailedWith, path: SafeText) -> ApiError:
    name, sent, words = failed
    kind: Any = getattr(errors, name, None)
    is_ours = isinstance(kind, type) and issubclass(kind, ApiError)
    error: ApiError = (kind if is_ours else errors.Broken)(
        safe(words, 1000), path=path, sent=Sent(sent) if sent in [*Sent] else None
    )
    return error


class ReplayedLog(LogReader):
    """Fills the gaps of a poll with what was read behind it, not behind an earlier one."""

    async def ask(self, *about: Any) -> Listing[Activity]:
        listing = await super().ask(*about)
        times = [found.answer.at for found, _ in _found.get() or () if found is not None]
        if times and times[-1] < times[0]:
            raise NotYet(plain("not in the recording by then"))
        return listing


class ReplayPoller(Poller):
    """Looks at a recording whenever it has something new; each feed is as fresh as it was then."""

    clock: ReplayClock

    def __init__(self, *about: Any, **options: Any) -> None:
        super().__init__(*about, **options)
        self.backfill.reader = ReplayedLog(self.client)
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Poll until cancelled."""
        try:
            while True:
                self._changed.clear()
                looked_at = self.clock.time()
                await self.poll_all()
                after = self.clock.recording.next_after(looked_at)
                wait = None
                if after is not None and not self.clock.paused:
                    wait = max(ROUND, (after + TOGETHER - self.clock.time()) / self.clock.speed)
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._changed.wait()
        finally:
            for turn in self._schedules.values():
                await turn.read.close()

    async def poll_all(self) -> None:
        """Take what the recording has by now of every feed that is polled."""
        polled = [turn for turn in self._schedules.values() if turn.pace is not Pace.OFF]
        if polled:
            await asyncio.wait([turn.read.next_read() for turn in polled])

    def set(self, *, at: float | None = None, **way: Any) -> None:
        """As for the clock; what shows is made anew."""
        if at is not None and at < self.clock.time():
            # The window of the log holds what was not there yet.
            self.store.forget(FeedName.ACTIVITY)
        self.clock.set(at=at, **way)
        self._changed.set()

    async def wait_until_idle(self) -> bool:
        """No question is in anybody's way here."""
        return True

    def mark_late(self) -> None:
        """Nothing is late here: all answers are there."""

    async def _poll(self, feed: FeedName) -> bool:
        mark = _found.set([])
        try:
            done = await super()._poll(feed)
            if feed is FeedName.ACTIVITY:
                with suppress(ApiError):
                    await self.backfill.fill()
            return done
        finally:
            _found.reset(mark)

    def _reschedule(self, feeds: Iterable[FeedName]) -> None:
        self._changed.set()

    def _answered(self, feed: FeedName, turn: Schedule, began: float, took: float) -> None:
        came = [(found.answer, failed) for found, failed in _found.get() or () if found is not None]
        took, now = sum(answer.took for answer, _ in came), self.clock.time()
        at = max((answer.at for answer, _ in came), default=now)
        failure: ApiError | None = None
        if now - at > OLD * self.refresh:
            words = "nothing newer is in the recording: this was not asked then"
            failure = NotSent(plain(words), path=feed)
        for answer, failed in came:
            if failed is not None:
                failure = _error(failed, safe(answer.target, 300))
        turn.shown_from = began
        slowed = spacing(self.pace(feed), self.refresh, took)[1]
        then = self.clock.monotonic() - now + at
        self.store.set_freshness(feed, Freshness(then, failure, took=took, slowed=slowed))

    def _failed(self, feed: FeedName, turn: Schedule, error: ApiError) -> None:
        found = _found.get()
        if not found or found[-1][0] is None:
            self.store.forget(feed)  # what is held is of another time
        if not isinstance(error, NotYet):
            known = self.store.freshness[feed]
            self.store.set_freshness(feed, replace(known, failure=error.bare()))
