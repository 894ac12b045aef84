"""The platform as it was: a recording's answers at the time that its clock tells."""

from __future__ import annotations

import asyncio
import time
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from agentco_tui.api import errors
from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError, NotSent, Sent
from agentco_tui.api.recording import Located, Recorded, Recording
from agentco_tui.live.feeds import SKEW_THAT_MATTERS, SLOWER, Clock, FeedName, Freshness, Pace
from agentco_tui.live.poller import Poller, Schedule, spacing
from agentco_tui.live.store import Names, Store
from agentco_tui.model import Listing, Record, Ref
from agentco_tui.patterns import lazy_pattern
from agentco_tui.reading.schema import Kind
from agentco_tui.text import plain, safe

R = TypeVar("R", bound=Record)

SPEEDS: Final = (1, 2, 5, 10, 60, 600)
ROUND: Final = 0.1  # seconds between two looks at the recording, at whatever speed
TOGETHER: Final = 0.3  # seconds of the recording within which come the parts of one answer
OLD: Final = 4 * SLOWER  # refreshes after which an answer was not followed by another
_SMALL: Final = 64 * 1024  # bytes: a packed body below is unpacked in the event loop

_asked: ContextVar[list[tuple[str, Located | None]] | None] = ContextVar("asked", default=None)
"""The targets that one poll has asked for, with what was found."""
_good_only: ContextVar[bool] = ContextVar("good_only", default=False)
"""Whether one poll passes over answers that refused or failed."""


class ReplayClock(Clock):
    """Tells the recording's time, from its beginning to its end; `monotonic` follows it, but no
    jump moves that.
    """

    def __init__(self, recording: Recording, steady: Callable[[], float] = time.monotonic) -> None:
        super().__init__(lambda: recording.ahead(self.machine()), self.time)
        self.recording, self._steady = recording, steady
        self.speed: int = SPEEDS[0]
        self.paused = False
        self._from, self._since, self._before = recording.begins, steady(), 0.0

    def time(self) -> float:
        """Seconds since 1970 by the clock of the machine that recorded."""
        passed = 0.0 if self.paused else (self._steady() - self._since) * self.speed
        return min(self._from + passed, self.recording.ends)

    def monotonic(self) -> float:
        return self._before + self.time() - self._from

    @property
    def ended(self) -> bool:
        return self.time() >= self.recording.ends

    def set(
        self, *, at: float | None = None, speed: int | None = None, paused: bool | None = None
    ) -> None:
        """Go on from here, or from `at`, in another way."""
        now, self._before = self.time(), self.monotonic()
        if at is not None:
            now, self._told = max(self.recording.begins, min(at, self.recording.ends)), 0.0
        self._from, self._since = now, self._steady()
        self.speed = self.speed if speed is None else speed
        self.paused = self.paused if paused is None else paused

    def told(self, at: float) -> float:
        """What the platform's clock said at a time by the clock that recorded."""
        ahead = self.recording.ahead(at)
        return at if ahead is None or abs(ahead) < SKEW_THAT_MATTERS else at + ahead

    def when_told(self, at: float) -> float:
        """The time by the clock that recorded, at which the platform's clock said `at`."""
        times = self.recording.times
        place = min(bisect_left(times, at, key=self.told), len(times) - 1)
        ahead = self.told(times[place]) - times[place]
        return max(times[max(0, place - 1)], at - ahead)

    def steady_at(self, at: float) -> float:
        """The reading of `monotonic` that belongs to a time by the clock that recorded."""
        return self.monotonic() - self.time() + at


class Player:
    """Answers requests from a recording: with what came last by the clock's time."""

    def __init__(self, recording: Recording, clock: ReplayClock) -> None:
        self.recording, self.clock = recording, clock

    async def answer(self, target: str, known: str | None) -> tuple[Recorded, bytes]:
        """As `Transport` wants it. Raises ApiError: what was recorded, or NotSent where nothing
        was; that has a `retry_after` if there will be something.
        """
        now = self.clock.time()
        entry = self.recording.last(target, now, good=_good_only.get())
        asked = _asked.get()
        if asked is not None:
            asked.append((target, entry))
        if entry is None:
            first = self.recording.next_after(now, target)
            words = "not in the recording: this was not asked while it was made"
            if first is not None:
                words = "not in the recording by then: this was asked later only"
            wait = None if first is None else first - now
            raise NotSent(plain(words), path=safe(target, 300), retry_after=wait)
        answer = replace(entry.answer, took=entry.took)
        if answer.error is not None:
            kind, sent, words = answer.error
            failure: Any = getattr(errors, kind, None)
            is_ours = isinstance(failure, type) and issubclass(failure, ApiError)
            path = safe(target.partition(" ")[2], 300)
            raise (failure if is_ours else errors.Broken)(
                safe(words, 1000), path=path, sent=Sent(sent) if sent in [*Sent] else None
            )
        told = {**answer.headers, "etag": entry.etag}
        told.pop("date", None)  # the recording's clock tells the time
        if known == entry.etag:
            return replace(answer, status=304, headers=told), b""
        try:
            if entry.length < _SMALL:
                body = self.recording.body(entry)
            else:
                body = await asyncio.to_thread(self.recording.body, entry)
        except (OSError, ValueError, zlib.error):
            words = "this answer is damaged in the recording"
            raise errors.Broken(plain(words), path=safe(target, 300)) from None
        return replace(answer, headers=told), body


class ReplayClient(Client):
    """Of one company it gives what it was asked of all, where the company's own was not asked."""

    store: Store  # knows whose each record is

    async def _listing(
        self, kind: Kind[R], path: str, filters: Mapping[str, str | None] = {}, **options: Any
    ) -> Listing[R]:
        try:
            return await super()._listing(kind, path, filters, **options)
        except NotSent:
            company = filters.get("company_id")
            if company is None:
                raise
        found = await super()._listing(kind, path, {**filters, "company_id": None}, **options)
        company_of: Any = Names(self.store).company_of
        own = (each for each in found.records if (company_of(each) or Ref()).id == company)
        return replace(found, records=tuple(own))


class ReplayPoller(Poller):
    """Looks at a recording whenever it has something new; each feed is as fresh as it was then."""

    clock: ReplayClock

    def __init__(self, *about: Any, **options: Any) -> None:
        super().__init__(*about, **options)
        self._changed = asyncio.Event()
        self._astray = set(FeedName)  # feeds that were not asked since a jump

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
            for turn in self._turns.values():
                await turn.read.close()

    async def poll_all(self) -> None:
        """Take what the recording has by now of every feed that is polled."""
        polled = [turn for turn in self._turns.values() if turn.pace is not Pace.OFF]
        if polled:
            await asyncio.wait([turn.read.next_read() for turn in polled])

    def set(
        self, *, at: float | None = None, speed: int | None = None, paused: bool | None = None
    ) -> None:
        """As for the clock; what shows is made anew."""
        if at is not None and at < self.clock.time():
            # The window of the log holds what was not there yet.
            self.store.forget(FeedName.ACTIVITY)
        if at is not None:
            self._astray = set(FeedName)
        self.clock.set(at=at, speed=speed, paused=paused)
        self._changed.set()

    def look_for_late(self) -> None:
        """Nothing is late here: all answers are there."""

    async def _poll(self, feed: FeedName) -> bool:
        asked: list[tuple[str, Located | None]] = []
        mark = _asked.set(asked)
        try:
            done = await super()._poll(feed)
            if done and feed in self._astray and self.store.freshness[feed].failure is not None:
                # What had come before it failed shows beneath the failure.
                asked.clear()
                only = _good_only.set(True)
                try:
                    done = await super()._poll(feed)
                finally:
                    _good_only.reset(only)
                asked.clear()
                done = done and await super()._poll(feed)
            self._astray.discard(feed)
        finally:
            _asked.reset(mark)
        return done

    def _plan_anew(self, feeds: Iterable[FeedName]) -> None:
        self._changed.set()

    def _answered(self, feed: FeedName, turn: Schedule, began: float, took: float) -> None:
        came = [entry for _, entry in _asked.get() or () if entry is not None]
        took, now = sum(entry.took for entry in came), self.clock.time()
        at = max((entry.at for entry in came), default=now)
        slowed = spacing(self.pace(feed), self.refresh, took)[1]
        turn.shown_from = began
        fresh = Freshness(self.clock.steady_at(at), took=took, slowed=slowed)
        if now - at > OLD * self.refresh:
            words = "nothing newer is in the recording: this was not asked then"
            fresh = replace(fresh, failure=NotSent(plain(words), path=feed))
        self.store.set_freshness(feed, fresh)

    def _failed(self, feed: FeedName, turn: Schedule, error: ApiError) -> None:
        before, asked = self.store.freshness[feed], _asked.get() or [("", None)]
        target, entry = asked[-1]
        if entry is None and (feed in self._astray or before.answered_at is None):
            self.store.forget(feed)
            before = self.store.freshness[feed]
            if error.retry_after is not None:
                return  # as it was then: not asked yet
        after = self.clock.recording.next_after(self.clock.time(), target)
        again = None if after is None else self.clock.steady_at(after)
        failed = replace(
            before,
            failure=error.bare(),
            next_try_at=again,
            failures=before.failures + 1,
            late=False,
        )
        self.store.set_freshness(feed, failed)


_BY: Final = lazy_pattern(r"([+-])(\d{1,6})\s*([smh])")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600}


def moment_of(text: str, now: float, begins: float, ends: float) -> float | None:
    """The time that words mean, in seconds since 1970: "03:12", "03:12:07", with a date before
    it, or so long before or after `now`: "+5m", "-1h". Without a date that of the nearest day; None
    if it lies beyond the recording by more than a minute, or the words mean none.
    """
    words = " ".join(text.split())
    if by := _BY.fullmatch(words):
        return now + int(f"{by[1]}{by[2]}") * _UNITS[by[3]]
    today, found = datetime.fromtimestamp(now).astimezone(), list[float]()
    for form in ("%H:%M", "%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"):
        with suppress(ValueError, OverflowError):
            then = datetime.strptime(words, form).replace(tzinfo=today.tzinfo)
            if "%Y" not in form:
                days = range(-8, 9)
                then = then.replace(year=today.year, month=today.month, day=today.day)
                found += [(then + timedelta(days=by)).timestamp() for by in days]
            else:
                found.append(then.timestamp())
    there = [at for at in found if begins - 60 <= at <= ends + 60]
    return min(there, key=lambda at: abs(at - now), default=None)
