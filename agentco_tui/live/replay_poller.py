"""Feeds the dashboard from a recording instead of a platform (the remote service).

`RecordedPlatform` answers each request with what the platform had answered last, by the time that a
`ReplayClock` shows. `ReplayPoller` takes the place of `Poller`: it reads every feed (a list of the
platform that is polled) whenever the recording has something new, and gives each feed the freshness
that it had then, with the failures that were recorded.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterable
from contextlib import suppress
from contextvars import ContextVar
from math import inf
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from agentco_tui.api import errors
from agentco_tui.api.errors import ApiError, NotSent, Sent
from agentco_tui.api.recording import Located, Recording
from agentco_tui.api.recording_format import FailedWith, Recorded
from agentco_tui.live.feeds import SLOWER, FeedName, Freshness, Pace
from agentco_tui.live.log_reader import LogReader
from agentco_tui.live.poll_timing import poll_spacing
from agentco_tui.live.poller import Poller, Schedule
from agentco_tui.live.replay_clock import ReplayClock
from agentco_tui.model import Activity, Listing
from agentco_tui.text import SafeText, clean_line, mark_safe

SHORTEST_STEP: Final = 0.1
"""Seconds between two polls, at every speed of the replay."""
ANSWER_SPAN: Final = 0.3
"""Seconds of the recording within which the pages of one answer come."""
OUTDATED_AFTER: Final = 4 * SLOWER
"""Refresh intervals after which an answer without a successor is shown as outdated."""


class Lookup(NamedTuple):
    """What the recording has for one request: the last answer, and the newest failure since.

    `Located` is an answer with the place of its body in the file.
    """

    answer: Located | None
    failure: FailedWith | None


_lookups: ContextVar[list[Lookup] | None] = ContextVar("lookups", default=None)
"""The lookups of the poll that is under way; None outside of a poll."""


class NotYet(NotSent):
    """The recording has the request, but its first answer comes after the time shown."""


class RecordedPlatform:
    """Answers requests from a recording, as the platform did by the time of the clock."""

    def __init__(self, recording: Recording, clock: ReplayClock) -> None:
        self.recording = recording
        self.clock = clock

    async def answer(self, target: str, known_etag: str | None) -> tuple[Recorded, bytes]:
        """Return the answer to a target and its body: a `Replay` for `Transport`.

        With the ETag of the answer as `known_etag`, the answer is a 304 without a body. Raises
        ApiError: the recorded failure, or NotSent if nothing was recorded. A poll gets the last
        answer even if later requests failed; `ReplayPoller` adds the failure to its freshness.
        """
        path = clean_line(target.partition(" ")[2], 300)
        lookup = Lookup(*self.recording.last(target, self.clock.time()))
        lookups_of_poll = _lookups.get()
        if lookups_of_poll is not None:
            lookups_of_poll.append(lookup)
        if lookup.failure is not None and (lookup.answer is None or lookups_of_poll is None):
            raise _recorded_error(lookup.failure, path)
        if lookup.answer is None:
            raise self._not_recorded_error(target, path)
        located = lookup.answer
        answer = replace(located.answer, headers={**located.answer.headers, "etag": located.etag})
        if known_etag == located.etag:
            return replace(answer, status=304), b""
        try:
            return answer, await asyncio.to_thread(self.recording.body, located)
        except (OSError, ValueError, zlib.error):
            raise errors.Broken(mark_safe("damaged in the recording"), path=path) from None

    def _not_recorded_error(self, target: str, path: SafeText) -> NotSent:
        if target in self.recording:
            return NotYet(mark_safe("not yet in the recording: it was requested later"), path=path)
        words = "not in the recording: it was not requested while recording"
        return NotSent(mark_safe(words), path=path)


def _recorded_error(failure: FailedWith, path: SafeText) -> ApiError:
    """Return the error that a recorded failure was; `Broken` for an unknown name of an error."""
    name, sent, words = failure
    error_class: Any = getattr(errors, name, None)
    if not (isinstance(error_class, type) and issubclass(error_class, ApiError)):
        error_class = errors.Broken
    was_sent = Sent(sent) if sent in [*Sent] else None
    error: ApiError = error_class(clean_line(words, 1000), path=path, sent=was_sent)
    return error


def _answers_of_poll() -> list[Recorded]:
    """Return the answers to the requests of the poll that is under way, in their order.

    The last one is of the list itself: a platform may need the list of its companies before it.
    """
    lookups = _lookups.get() or []
    return [lookup.answer.answer for lookup in lookups if lookup.answer is not None]


def _seconds_under_way(answers: Iterable[Recorded]) -> float:
    """Return the seconds in which at least one of these requests was under way."""
    seconds = 0.0
    counted_until = -inf
    for answer in sorted(answers, key=lambda answer: answer.at - answer.took):
        began = max(answer.at - answer.took, counted_until)
        seconds += max(0.0, answer.at - began)
        counted_until = max(counted_until, answer.at)
    return seconds


class ReplayLogReader(LogReader):
    """Fills the gaps of a poll only with answers that came after the poll's own."""

    polled_at = -inf
    """When the answer to the poll came, in seconds since 1970."""

    async def request(self, *request: Any) -> Listing[Activity]:
        listing = await super().request(*request)
        answers = _answers_of_poll()
        if answers and answers[-1].at < self.polled_at:
            raise NotYet(mark_safe("not yet in the recording"))
        return listing


class ReplayPoller(Poller):
    """Reads the feeds whenever the recording has a new answer by the time of the clock."""

    clock: ReplayClock

    def __init__(self, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        self._log_reader = ReplayLogReader(self.client)
        self.backfill.reader = self._log_reader
        self._changed = asyncio.Event()
        """Set if the clock, the query or the paces were changed."""

    async def run(self) -> None:
        """Poll until cancelled."""
        try:
            while True:
                self._changed.clear()
                polled_at = self.clock.time()
                await self.poll_all()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._seconds_until_news(polled_at)):
                        await self._changed.wait()
        finally:
            for schedule in self._schedules.values():
                await schedule.read.close()

    def _seconds_until_news(self, polled_at: float) -> float | None:
        """Return the real seconds until the next answer; None if none comes by itself."""
        next_answer_at = self.clock.recording.next_after(polled_at)
        if next_answer_at is None or self.clock.paused:
            return None
        recorded_seconds = next_answer_at + ANSWER_SPAN - self.clock.time()
        return max(SHORTEST_STEP, recorded_seconds / self.clock.speed)

    async def poll_all(self) -> None:
        """Read every feed whose pace is not OFF, as of the time of the clock."""
        schedules = self._schedules.values()
        reads = [one.read.next_read() for one in schedules if one.pace is not Pace.OFF]
        if reads:
            await asyncio.wait(reads)

    def set(
        self, *, at: float | None = None, speed: int | None = None, paused: bool | None = None
    ) -> None:
        """Set the clock as `ReplayClock.set` does, and poll again."""
        if at is not None and at < self.clock.time():
            # The activity window has entries that did not exist at that time.
            self.store.forget_feed(FeedName.ACTIVITY)
        self.clock.set(at=at, speed=speed, paused=paused)
        self._changed.set()

    async def wait_until_idle(self) -> bool:
        """Return at once: reading a recording delays no request."""
        return True

    def mark_late(self) -> None:
        """Do nothing: no answer of a recording is late."""

    async def _poll_once(self, feed: FeedName) -> bool:
        token = _lookups.set([])
        try:
            is_current = await super()._poll_once(feed)
            if feed is FeedName.ACTIVITY:
                answers = _answers_of_poll()
                self._log_reader.polled_at = answers[-1].at if answers else -inf
                with suppress(ApiError):
                    await self.backfill.fill_gaps()
            return is_current
        finally:
            _lookups.reset(token)

    def _reschedule(self, feeds: Iterable[FeedName]) -> None:
        self._changed.set()

    def _record_answer(self, feed: FeedName, schedule: Schedule, began: float, took: float) -> None:
        """Set the freshness that the feed had then; `took` is that of the replay, not used."""
        lookups = [lookup for lookup in _lookups.get() or [] if lookup.answer is not None]
        answers = _answers_of_poll()
        shown_time = self.clock.time()
        recorded_duration = _seconds_under_way(answers)
        answered_at = answers[-1].at if answers else shown_time
        schedule.shown_from = began
        _, is_slowed = poll_spacing(self.pace(feed), self.refresh, recorded_duration)
        freshness = Freshness(
            self.clock.monotonic() - (shown_time - answered_at),
            self._failure_since(lookups, shown_time - answered_at, feed),
            took=recorded_duration,
            slow_answers=is_slowed,
        )
        self.store.set_freshness(feed, freshness)

    def _failure_since(self, lookups: list[Lookup], age: float, feed: FeedName) -> ApiError | None:
        """Return what failed after the answers of a poll, which are `age` seconds old."""
        for lookup in reversed(lookups):
            if lookup.failure is not None and lookup.answer is not None:
                return _recorded_error(lookup.failure, clean_line(lookup.answer.answer.target, 300))
        if age > OUTDATED_AFTER * self.refresh:
            words = "the recording has nothing newer: it was not requested again"
            return NotSent(mark_safe(words), path=feed)
        return None

    def _record_failure(self, feed: FeedName, schedule: Schedule, error: ApiError) -> None:
        lookups = _lookups.get()
        if not lookups or lookups[-1].answer is None:
            self.store.forget_feed(feed)  # the records in the store are of another time
        if not isinstance(error, NotYet):
            freshness = self.store.freshness[feed]
            self.store.set_freshness(feed, replace(freshness, failure=error.without_traceback()))
