"""What a person who doesn't look is called for, once for each cause, and the command for it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from math import inf
from typing import Final, NamedTuple

from msgspec.structs import replace

from agentco_tui.api.errors import TimedOut
from agentco_tui.config import Notify
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.history.period import HOUR
from agentco_tui.live.feeds import FeedName, Freshness, Phase
from agentco_tui.live.insight import Level, priority_rank, waiting_since, waits_for_person
from agentco_tui.live.names import Names
from agentco_tui.live.need_words import sentence_of, words_of
from agentco_tui.live.needs import Need, NeedKind, RankReason
from agentco_tui.live.notified import MOST_CAUSES, Notified, Outage
from agentco_tui.live.poller import REFUSED
from agentco_tui.live.store import Change
from agentco_tui.model import format as fmt
from agentco_tui.system.child_process import CommandError, run_for_output, without_key
from agentco_tui.system.state_folder import FILE_MODE, made_state_folder
from agentco_tui.text import SafeText, plain, safe, signs

FLAPS: Final = 4 * HOUR
"""Seconds for which a cause must have been gone before it is called for again. What swings round a
threshold does so within hours and says nothing new; half a working day later it does."""
LONGEST: Final = 200  # characters of a call; notifications show no more
LONGEST_SUMMARY: Final = 1_000  # characters of what a command gets for several causes
SECONDS: Final = 30.0  # that one run of `on_critical` may take
AN_HOUR: Final = 10  # causes in an hour for which `on_critical` has a run of their own
RETRIES: Final = (60.0, 300.0, 1_800.0)
"""Seconds from each failed run of `on_critical` in a row to the next; then it is given up."""
OUTAGE: Final = "fails:"  # how the key of an outage begins
LOG_FILE: Final = "on_critical.log"
LOG_BYTES: Final = 200_000  # from which on the log is begun anew; the one before is kept


class Cause(NamedTuple):
    """One thing that a person is called for; "" is what isn't known."""

    level: str  # critical, waiting, outage or restored
    kind: str
    text: str
    company: str = ""
    agent: str = ""
    id: str = ""


def _ignore(_words: SafeText) -> None:
    """Do nothing with a message."""


class Notifier:
    """Calls for a need that becomes critical, a task of a priority that newly waits, feeds that
    don't answer for long, and the end of that; snoozed needs never call, and what comes in hours of
    quiet calls after them.
    """

    def __init__(
        self,
        outlook: ForecastService,
        notify: Notify,
        *,
        at_start: bool = False,
        remembered: Notified | None = None,
    ) -> None:
        """`at_start`: also for what stands at the first look, for nobody looks; except for what an
        earlier run notified of, as `remembered`.
        """
        self.notify = notify
        self._outlook = outlook
        self._names = Names(outlook.store)
        self._at_start = at_start
        self._begun = False
        self._stood = dict[str, float]()
        """When each cause stood last, by the steady clock."""
        self._arrived = dict[str, Need]()  # tasks of the priority, until they are called for
        self._unanswered_since = dict[FeedName, float]()
        self._outages = dict[str, Outage]()
        """Those that were called for and whose end was not."""
        if remembered is not None:
            self._outages = {key: replace(each) for key, each in remembered.outages.items()}
            to_steady = outlook.clock.monotonic() - outlook.clock.machine()
            now = outlook.clock.monotonic()
            for key, at in remembered.stood.items():
                self._stood[key] = min(now, at + to_steady)
        outlook.store.subscribe(self._take)

    def look(
        self,
        needs: Iterable[Need],
        feeds: Mapping[FeedName, Freshness],
        *,
        critical_tasks: Iterable[Need] = (),
        is_here: bool = False,
        asked_since: Mapping[FeedName, float] | None = None,
        is_complete: bool | None = None,
    ) -> list[Cause]:
        """What is new, of the worst needs and the feeds that are polled. Who `is_here` sees it.

        `critical_tasks`: all of them, because only the worst are among the needs.
        `asked_since`: since when, by the steady clock, each feed's answer is waited for.
        `is_complete`: whether all that stands at the start is known; None: once all feeds answered
        or failed.
        """
        now = self._outlook.clock.monotonic()
        begins = not self._begun and self._is_begun(feeds, is_complete)
        self._begun = self._begun or begins
        is_seen = is_here or (begins and not self._at_start)
        standing: dict[str, Need | SafeText] = {}
        if self._begun:
            for need in needs:
                if need.level is Level.CRITICAL and not need.snooze:
                    standing[need.key] = need
            for need in critical_tasks:
                standing.setdefault(need.key, need)
            new_tasks = {
                f"new {key}": need for key, need in self._arrived.items() if key not in standing
            }
            standing |= new_tasks
        outages = self._find_outages(feeds, asked_since or {}, now)
        standing |= {
            key: self._outage_words(feeds[feeds_out[-1]], feeds_out[-1], now)
            for key, feeds_out in outages.items()
        }
        self._note_ends(outages, feeds)
        before = {key: at for key, at in self._stood.items() if now - at <= FLAPS}
        if self._is_quiet() and not is_seen:
            self._stood = before | dict.fromkeys(standing.keys() & before.keys(), now)
            return []
        new_keys = [key for key in standing if not is_seen and key not in before]
        self._stood = before | dict.fromkeys(standing, now)
        if self._begun:
            self._arrived = {}
        causes = [self._told(standing[key]) for key in new_keys]
        for key, feeds_out in outages.items():
            if key in new_keys:
                since = min(self._unanswered_since[feed] for feed in feeds_out)
                self._outages[key] = Outage([str(feed) for feed in feeds_out], self._wall(since))
        ended = self._take_ended()
        if not outages and not self._outages:
            # Whatever was wrong is over: the next outage is called for, however soon.
            self._stood = {k: at for k, at in self._stood.items() if not k.startswith(OUTAGE)}
        if ended and not is_here:
            causes.append(self._restored(ended))
        return causes

    def remembered(self) -> Notified:
        """What the next run is to know, to be kept in a file."""
        clock = self._outlook.clock
        now = clock.monotonic()
        pending = self._outlook.store.pending
        stood = {key: at for key, at in self._stood.items() if now - at <= FLAPS}
        for key in stood:
            # A task that was called for as it arrived goes on waiting.
            task_id = key.removeprefix(f"new {NeedKind.TASK}:")
            if task_id != key and pending.get(task_id) is not None:
                stood[key] = now
        newest = sorted(stood, key=lambda key: stood[key])[-MOST_CAUSES:]
        return Notified(
            saved_at=clock.machine(),
            stood={key: self._wall(stood[key]) for key in newest},
            outages={key: replace(outage) for key, outage in self._outages.items()},
        )

    def _is_begun(self, feeds: Mapping[FeedName, Freshness], is_complete: bool | None) -> bool:
        phases = {each.phase for each in feeds.values()}
        if is_complete is None:
            is_complete = Phase.LOADING not in phases
        return is_complete and Phase.LIVE in phases

    def _wall(self, steady: float) -> float:
        """A reading of the steady clock as seconds since 1970 by the machine's clock."""
        clock = self._outlook.clock
        return clock.machine() - (clock.monotonic() - steady)

    @staticmethod
    def words(causes: Sequence[Cause]) -> SafeText:
        """One or more as one line: "2 critical, 1 waiting: stopped 119 % of $100.00: Ada"."""
        counts = Counter(each.level for each in causes).items()
        heads = (f"{count} {level}" if len(causes) > 1 else level for level, count in counts)
        return plain(safe(f"{', '.join(heads)}: {causes[0].text}", LONGEST)[:LONGEST])

    def _told(self, what: Need | SafeText) -> Cause:
        if not isinstance(what, Need):
            return Cause("outage", "feed", what)
        level = "critical" if what.level is Level.CRITICAL else "waiting"
        now, names = self._outlook.clock.now(), self._names
        of = names.company(names.company_of(what.record))
        who = words_of(what, names, self._outlook, now).agent
        told = sentence_of(what, names, self._outlook, now), of, who, safe(what.record.id)
        return Cause(level, what.kind, *("" if each == signs.missing else each for each in told))

    def _take(self, change: Change) -> None:
        """Note which tasks come; and of those that go when they last waited."""
        if change.feed is not FeedName.PENDING or self.notify.priority is None:
            return
        least, pending = priority_rank(self.notify.priority), self._outlook.store.pending
        for task in filter(None, map(pending.get, change.added)):
            if priority_rank(task.priority) <= least and waits_for_person(task):
                about = Level.WARNING, NeedKind.TASK, task, RankReason.URGENT
                need = Need(*about, since=waiting_since(task))
                self._arrived[need.key] = need
        for key in (f"{NeedKind.TASK}:{each}" for each in change.removed):
            if self._arrived.pop(key, None) is None:
                self._stood[f"new {key}"] = self._outlook.clock.monotonic()

    def _is_quiet(self) -> bool:
        local = datetime.fromtimestamp(self._outlook.clock.machine())
        at, hours = local.hour * 60 + local.minute, self.notify.quiet
        return any(a <= at < b if a < b else at >= a or at < b for a, b in hours)

    def _find_outages(
        self,
        feeds: Mapping[FeedName, Freshness],
        asked_since: Mapping[FeedName, float],
        now: float,
    ) -> dict[str, list[FeedName]]:
        """The feeds that have not answered for as long as `notify.outage`, by sort of failure: by
        the key of the cause. None of what was never to be had, as without permission.

        A question that is still open counts from when it was put: a platform that accepts
        connections and never answers is as much out as one that refuses them.
        """
        before = self._unanswered_since
        self._unanswered_since = {}
        outages: dict[str, list[FeedName]] = {}
        for feed, freshness in feeds.items():
            answered_at = freshness.answered_at
            failure = freshness.failure
            if failure is not None and answered_at is None and isinstance(failure, REFUSED):
                continue
            if failure is not None:
                since = before.get(feed, asked_since.get(feed, now))
                if answered_at is not None:
                    since = max(since, answered_at)
            elif feed in asked_since:
                since = asked_since[feed]
            else:
                continue
            self._unanswered_since[feed] = since
            if now - since >= self.notify.outage:
                kind = TimedOut.kind if failure is None else failure.kind
                outages.setdefault(f"{OUTAGE}{kind}", []).append(feed)
        return outages

    def _outage_words(self, freshness: Freshness, feed: FeedName, now: float) -> SafeText:
        waited = fmt.age(now - self._unanswered_since[feed])
        why = freshness.failure or "the platform was asked and has not answered"
        return safe(f"{feed}: no answer for {waited}: {why}")

    def _note_ends(
        self, outages: Mapping[str, list[FeedName]], feeds: Mapping[FeedName, Freshness]
    ) -> None:
        """Note when the feeds of an outage that was called for answer again."""
        for key, outage in self._outages.items():
            if key in outages:
                outage.feeds = [str(feed) for feed in outages[key]]
                outage.until = None
                continue
            polled = [feed for feed in feeds if feed in outage.feeds]
            if not polled or not all(_answers(feeds[feed]) for feed in polled):
                # Of feeds that are not polled any more nothing is known.
                outage.until = None
            elif outage.until is None:
                outage.until = self._outlook.clock.machine()

    def _take_ended(self) -> list[Outage]:
        """The outages that ended, which are forgotten: the next of their sort is called for."""
        ended = {key: each for key, each in self._outages.items() if each.until is not None}
        for key in ended:
            del self._outages[key]
            self._stood.pop(key, None)
        return list(ended.values())

    @staticmethod
    def _restored(ended: Sequence[Outage]) -> Cause:
        feeds = sorted({feed for outage in ended for feed in outage.feeds})
        since = min(outage.since for outage in ended)
        until = max(outage.until or outage.since for outage in ended)
        verb = "answers" if len(feeds) == 1 else "answer"
        words = f"{', '.join(feeds)} {verb} again, back after {fmt.age(until - since)}"
        return Cause("restored", "feed", safe(words))


def _answers(freshness: Freshness) -> bool:
    """Whether the last thing known of a feed is an answer."""
    return freshness.failure is None and freshness.answered_at is not None


def summary_of(causes: Sequence[Cause]) -> Cause:
    """Several causes as one, with how many there are of each kind and the first of them in words.

    The first is the worst where they came together.
    """
    if len(causes) == 1:
        return causes[0]
    counts = Counter(cause.kind for cause in causes)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
    agents = list(dict.fromkeys(cause.agent for cause in causes if cause.agent))
    text = f"{len(causes)} {causes[0].level} ({kinds}): {causes[0].text}"
    if len(agents) > 1:
        text += f"; agents: {', '.join(agents)}"
    return causes[0]._replace(kind="summary", text=safe(text, LONGEST_SUMMARY))


class CriticalCommand:
    """`on_critical`, run one at a time, each with a line in the log of the state folder.

    At most AN_HOUR causes an hour have a run of their own; what is more has one run together, one
    an hour. `waiting` holds what was not run yet. What a run that failed was for is run again
    together with all else that failed, some times.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        redact: Callable[[str], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`redact` takes the key out of a text; what holds it in `env` is left out."""
        self._redact = redact
        self._clock = clock
        self._turn = asyncio.Lock()
        self.on_trouble: Callable[[SafeText], object] = _ignore
        self._env = without_key(env, redact)
        self._runs_at = list[float]()  # the runs of the last hour
        self._summary_at = -inf
        self._is_throttled = False
        self.waiting = list[Cause]()
        self._failed = list[Cause]()
        self._failed_runs = 0  # in a row
        self._retry_at = -inf
        self._log_trouble = ""

    @property
    def unsent(self) -> list[Cause]:
        """The causes that it was not run for, or not with success, and is yet to be run for."""
        return [*self._failed, *self.waiting]

    async def run(
        self, command: Sequence[str], causes: Iterable[Cause], *, as_one: bool = False
    ) -> None:
        """Run it, if there is one, for those that are critical, and for what waits for its turn.

        `as_one`: once for all of them, as for what stands at the start.
        """
        if not command:
            return
        critical = [cause for cause in causes if cause.level == "critical"]
        if as_one and critical:
            critical = [summary_of(critical)]
        self.waiting += critical
        async with self._turn:
            await self._run_waiting(command)
            for cause in critical:
                if cause in self.waiting:
                    await asyncio.to_thread(self._log, "waits for its turn", cause)

    async def close(self, command: Sequence[str]) -> None:
        """Run it once more for all that is unsent, whatever the limit: the program ends."""
        async with self._turn:
            self.waiting = self.unsent
            self._failed = []
            if self.waiting and command:
                await self._run_next(command, len(self.waiting))

    async def _run_waiting(self, command: Sequence[str]) -> None:
        if self._failed and self._clock() >= self._retry_at:
            failed = self._failed
            self._failed = []
            await self._run_for(command, failed)
        while self.waiting:
            now = self._clock()
            self._runs_at = [at for at in self._runs_at if now - at < HOUR]
            has_free_run = len(self._runs_at) < AN_HOUR
            may_summarise = now - self._summary_at >= HOUR
            if has_free_run and not self._is_throttled:
                self._runs_at.append(now)
                await self._run_next(command, 1)
            elif has_free_run or may_summarise:
                self._summary_at = now
                self._is_throttled = False
                await self._run_next(command, len(self.waiting))
            else:
                if not self._is_throttled:
                    words = f"on_critical runs {AN_HOUR} times an hour at most: the rest is one run"
                    self.on_trouble(plain(words))
                self._is_throttled = True
                return

    async def _run_next(self, command: Sequence[str], count: int) -> None:
        """Run it for the first `count` that wait."""
        causes = self.waiting[:count]
        del self.waiting[:count]
        await self._run_for(command, causes)

    async def _run_for(self, command: Sequence[str], causes: Sequence[Cause]) -> None:
        """Run it once for all these, and keep them if that fails."""
        # It is run, also where the program is ended meanwhile.
        loop = asyncio.get_running_loop()
        run = loop.run_in_executor(None, self._run, command, summary_of(causes))
        trouble = await asyncio.shield(run)
        if trouble:
            self._keep_failed(causes)
        else:
            self._failed_runs = 0
        if trouble or self._log_trouble:
            self.on_trouble(plain(f"on_critical {safe(trouble or self._log_trouble)}"))

    def _keep_failed(self, causes: Sequence[Cause]) -> None:
        """Keep these for another run, unless it failed too often in a row."""
        if self._failed_runs >= len(RETRIES):
            self._failed_runs = 0
            return
        self._retry_at = self._clock() + RETRIES[self._failed_runs]
        self._failed_runs += 1
        self._failed += causes

    def _run(self, command: Sequence[str], cause: Cause) -> str:
        """Run it, and write what became of that into the log; why it failed, or ""."""
        need = {f"AGENTCO_NEED_{name.upper()}": text for name, text in cause._asdict().items()}
        trouble = ""
        try:
            run_for_output(command, {**self._env, **need}, SECONDS, apart=True)
        except CommandError as error:
            trouble = self._redact(str(error))
        self._log_trouble = self._log(trouble or "ended with exit code 0", cause)
        return trouble

    def _log(self, what: str, cause: Cause) -> str:
        """Write a line about a cause into the log; why that failed, or ""."""
        line = f"{fmt.stamp(time.time())} {safe(what)}: {cause.text}\n"
        try:
            path = made_state_folder() / LOG_FILE
            if path.exists() and path.stat().st_size > LOG_BYTES:
                path.replace(path.with_suffix(".log.1"))
            path.touch(FILE_MODE)
            with path.open("a", encoding="utf-8") as log:
                log.write(line)
        except OSError as error:
            return f"can't be logged: {error.strerror}"
        return ""
