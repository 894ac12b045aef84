"""What a person who doesn't look is called for, once for each cause, and the command for it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from agentco_tui import format as fmt
from agentco_tui.child_process import CommandError, run_for_output, without_key
from agentco_tui.live.feeds import FeedName, Freshness, Phase
from agentco_tui.live.insight import Level, priority_rank, waiting_since, waits_for_person
from agentco_tui.live.need_words import sentence_of, words_of
from agentco_tui.live.needs import Because, Need, NeedKind
from agentco_tui.live.outlook import Outlook
from agentco_tui.live.period import HOUR
from agentco_tui.live.poller import REFUSED
from agentco_tui.live.store import Change, Names
from agentco_tui.model import Notify
from agentco_tui.state_folder import FILE_MODE, made_state_folder
from agentco_tui.text import SafeText, plain, safe, signs

FLAPS: Final = 4 * HOUR
"""Seconds for which a cause must have been gone before it is called for again. What swings round a
threshold does so within hours and says nothing new; half a working day later it does."""
CROWD = 500  # causes among which another is no news: not all are listed, so it may be old
LONGEST: Final = 200  # characters of a call; notifications show no more
SECONDS, AN_HOUR = 30.0, 10  # that `on_critical` may take; and how often it runs at most
LOG_FILE: Final = "on_critical.log"
LOG_BYTES: Final = 200_000  # from which on the log is begun anew; the one before is kept


class Cause(NamedTuple):
    """One thing that a person is called for; "" is what isn't known."""

    level: str  # critical, waiting or outage
    kind: str
    text: str
    company: str = ""
    agent: str = ""
    id: str = ""


class Notifier:
    """Calls for a need that becomes critical, a task of a priority that newly waits, and feeds that
    fail for long; snoozed needs never call, and what comes in hours of quiet calls after them.
    """

    def __init__(self, outlook: Outlook, notify: Notify, *, at_start: bool = False) -> None:
        """`at_start`: also for what stands once every feed has been asked, for nobody looks."""
        self.notify, self._outlook, self._names = notify, outlook, Names(outlook.store)
        self._at_start, self._begun = at_start, False
        self._stood = dict[str, float]()  # when each cause stood last
        self._arrived = dict[str, Need]()  # tasks of the priority, until they are called for
        self._failing = dict[FeedName, float]()
        outlook.store.subscribe(self._take)

    def look(
        self, needs: Iterable[Need], feeds: Mapping[FeedName, Freshness], *, is_here: bool = False
    ) -> list[Cause]:
        """What is new, of the worst needs and the feeds that are polled. Who `is_here` sees it."""
        now, phases = self._outlook.clock.monotonic(), {each.phase for each in feeds.values()}
        begins = not self._begun and Phase.LIVE in phases and Phase.LOADING not in phases
        is_seen, self._begun = begins and not self._at_start, self._begun or begins
        standing: dict[str, Need | SafeText] = {}
        if self._begun:
            standing |= {n.key: n for n in needs if n.level is Level.CRITICAL and not n.snooze}
            new = [(key, need) for key, need in self._arrived.items() if key not in standing]
            standing |= {f"new {key}": need for key, need in new}
        standing |= self._outages(feeds, now)
        is_seen |= len(standing) >= CROWD
        before = {key: at for key, at in self._stood.items() if now - at <= FLAPS}
        if self._is_quiet() and not (is_here or is_seen):
            self._stood = before | dict.fromkeys(standing.keys() & before.keys(), now)
            return []
        self._stood = before | dict.fromkeys(standing, now)
        self._arrived = {} if self._begun else self._arrived
        return [self._told(standing[key]) for key in standing if not (is_seen or key in before)]

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
                about = Level.WARNING, NeedKind.TASK, task, Because.URGENT
                need = Need(*about, since=waiting_since(task))
                self._arrived[need.key] = need
        for key in (f"{NeedKind.TASK}:{each}" for each in change.removed):
            if self._arrived.pop(key, None) is None:
                self._stood[f"new {key}"] = self._outlook.clock.monotonic()

    def _is_quiet(self) -> bool:
        local = datetime.fromtimestamp(self._outlook.clock.machine())
        at, hours = local.hour * 60 + local.minute, self.notify.quiet
        return any(a <= at < b if a < b else at >= a or at < b for a, b in hours)

    def _outages(self, feeds: Mapping[FeedName, Freshness], now: float) -> dict[str, SafeText]:
        """One for each sort of failure; none of what was never to be had, as without permission."""
        failures = {
            feed: each.failure
            for feed, each in feeds.items()
            if each.failure and (each.answered_at or not isinstance(each.failure, REFUSED))
        }
        self._failing = {feed: self._failing.get(feed, now) for feed in failures}
        return {
            f"fails:{why.kind}": safe(f"{feed}: no answer for {fmt.age(now - since)}: {why}")
            for (feed, why), since in zip(failures.items(), self._failing.values(), strict=True)
            if now - since >= self.notify.outage
        }


class CriticalCommand:
    """`on_critical`, run one at a time, each with a line in the log of the state folder."""

    def __init__(self, env: Mapping[str, str], redact: Callable[[str], str]) -> None:
        """`redact` takes the key out of a text; what holds it in `env` is left out."""
        self._redact, self._turn = redact, asyncio.Lock()
        self.on_trouble: Callable[[SafeText], object] = bool
        self._env = without_key(env, redact)
        self._begun = list[float]()  # the runs of the last hour

    async def run(self, command: Sequence[str], causes: Iterable[Cause]) -> None:
        """Run it, if there is one, for those that are critical."""
        critical, trouble = [each for each in causes if command and each.level == "critical"], ""
        async with self._turn:
            self._begun = [at for at in self._begun if time.monotonic() - at < HOUR]
            now = critical[: AN_HOUR - len(self._begun)]
            self._begun += [time.monotonic()] * len(now)
            for cause in now:
                # It is run, also where the program is ended meanwhile.
                running = asyncio.get_running_loop().run_in_executor(
                    None, self._run, command, cause
                )
                trouble = await asyncio.shield(running) or trouble
        if left := len(critical) - len(now):
            trouble = f"was not run for {left} more: {AN_HOUR} an hour at most"
        if trouble:
            self.on_trouble(plain(f"on_critical {safe(trouble)}"))

    def _run(self, command: Sequence[str], cause: Cause) -> str:
        need = {f"AGENTCO_NEED_{name.upper()}": text for name, text in cause._asdict().items()}
        trouble = ""
        try:
            run_for_output(command, {**self._env, **need}, SECONDS, apart=True)
        except CommandError as error:
            trouble = self._redact(str(error))
        ended = f"{fmt.stamp(time.time())} {safe(trouble or 'ended with exit code 0')}"
        try:
            path = made_state_folder() / LOG_FILE
            if path.exists() and path.stat().st_size > LOG_BYTES:
                path.replace(path.with_suffix(".log.1"))
            path.touch(FILE_MODE)
            with path.open("a", encoding="utf-8") as log:
                log.write(f"{ended}: {cause.text}\n")
        except OSError as error:
            return trouble or f"can't be logged: {error.strerror}"
        return trouble
