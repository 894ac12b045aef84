"""What a person who doesn't look is called for, once for each cause, and in which words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple

from agentco_tui import format as fmt
from agentco_tui.live.feeds import FeedName, Freshness, Phase
from agentco_tui.live.insight import Level, priority_rank, waiting_since, waits_for_person
from agentco_tui.live.need_words import sentence_of, words_of
from agentco_tui.live.needs import Because, Need, NeedKind
from agentco_tui.live.outlook import Outlook
from agentco_tui.live.period import HOUR
from agentco_tui.live.poller import REFUSED
from agentco_tui.live.store import Change, Names
from agentco_tui.model import Notify
from agentco_tui.text import SafeText, plain, safe, signs

FLAPS: Final = 4 * HOUR
"""Seconds for which a cause must have been gone before it is called for again. What swings round a
threshold does so within hours and says nothing new; half a working day later it does."""
CROWD: Final = 500
"""Critical needs from which on tasks are no news: not all are listed, and one that comes in may be
old."""
LONGEST: Final = 200  # characters of a call; notifications show no more


class Cause(NamedTuple):
    """One thing that a person is called for; "" is what isn't known."""

    level: Literal["critical", "waiting", "outage"]
    kind: str
    text: str
    company: str = ""
    agent: str = ""
    id: str = ""


class Notifier:
    """Calls for a need that becomes critical, a task of a priority that newly waits, and feeds that
    fail for long; snoozed needs never call. What comes in hours of quiet is called for after them,
    if it still stands then.
    """

    def __init__(self, outlook: Outlook, notify: Notify, *, at_start: bool = False) -> None:
        """`at_start`: whether to call for what stands as soon as every feed has been asked, for
        nobody looks then.
        """
        self._outlook, self._names = outlook, Names(outlook.store)
        self._notify, self._at_start, self._begun = notify, at_start, False
        self._stood = dict[str, float]()  # when each cause stood last
        self._arrived = dict[str, Need]()  # tasks of the priority, until they are called for
        self._failing = dict[FeedName, float]()
        outlook.store.subscribe(self._take)

    def look(
        self, needs: Iterable[Need], feeds: Mapping[FeedName, Freshness], *, is_here: bool = False
    ) -> list[Cause]:
        """What is new, of all needs and of the feeds that are polled, the worst first. A person who
        `is_here` sees it in hours of quiet, too.
        """
        now, phases = self._outlook.clock.monotonic(), {each.phase for each in feeds.values()}
        begins = not self._begun and Phase.LIVE in phases and Phase.LOADING not in phases
        is_seen, self._begun = begins and not self._at_start, self._begun or begins
        standing: dict[str, Need | SafeText] = {}
        if self._begun:
            critical = (n for n in needs if n.level is Level.CRITICAL and n.snooze is None)
            standing = {need.key: need for need in critical}
            told = {f"new {key}" for key in standing}
            standing |= {key: need for key, need in self._arrived.items() if key not in told}
        standing |= self._outages(feeds, now)
        self._stood = {key: at for key, at in self._stood.items() if now - at <= FLAPS}
        crowd = f"{NeedKind.TASK}:" if len(standing) >= CROWD else "no key"
        new = [key for key in standing if not (key in self._stood or key.startswith(crowd))]
        if self._is_quiet() and not (is_here or is_seen):
            standing, new = {key: standing[key] for key in standing if key in self._stood}, []
        else:
            self._arrived.clear()
        self._stood |= dict.fromkeys(standing, now)
        return [] if is_seen else [self._told(standing[key]) for key in new]

    def _told(self, what: Need | SafeText) -> Cause:
        if not isinstance(what, Need):
            return Cause("outage", "feed", what)
        now, names = self._outlook.clock.now(), self._names
        of = names.company(names.company_of(what.record))
        who = words_of(what, names, self._outlook, now).agent
        text, id_ = sentence_of(what, names, self._outlook, now), safe(what.record.id)
        told = ("" if each == signs.missing else each for each in (text, of, who, id_))
        return Cause("critical" if what.level is Level.CRITICAL else "waiting", what.kind, *told)

    def _take(self, change: Change) -> None:
        """Note which tasks come; and of those that go when they last waited."""
        if change.feed is not FeedName.PENDING or self._notify.priority is None:
            return
        least = priority_rank(self._notify.priority)
        for task in filter(None, map(self._outlook.store.pending.get, change.added)):
            if priority_rank(task.priority) <= least and waits_for_person(task):
                about = Level.WARNING, NeedKind.TASK, task, Because.URGENT
                self._arrived[f"new {NeedKind.TASK}:{task.id}"] = Need(
                    *about, since=waiting_since(task)
                )
        for key in (f"new {NeedKind.TASK}:{each}" for each in change.removed):
            if self._arrived.pop(key, None) is None:
                self._stood[key] = self._outlook.clock.monotonic()

    def _is_quiet(self) -> bool:
        local = datetime.fromtimestamp(self._outlook.clock.machine())
        at, hours = local.hour * 60 + local.minute, self._notify.quiet
        return any(a <= at < b if a < b else at >= a or at < b for a, b in hours)

    def _outages(self, feeds: Mapping[FeedName, Freshness], now: float) -> dict[str, SafeText]:
        """One for each sort of failure, whichever feeds it struck. What never was to be had, as for
        want of a permission, is none.
        """
        failures = {
            feed: each.failure
            for feed, each in feeds.items()
            if each.failure and (each.answered_at or not isinstance(each.failure, REFUSED))
        }
        self._failing = {feed: self._failing.get(feed, now) for feed in failures}
        return {
            f"fails:{why.kind}": safe(f"{feed}: no answer for {fmt.age(now - since)}: {why}")
            for (feed, why), since in zip(failures.items(), self._failing.values(), strict=True)
            if now - since >= self._notify.outage
        }


def words(causes: Sequence[Cause]) -> SafeText:
    """One or more as one line: "2 critical, 1 waiting: stopped 119 % of $100.00: Ada (Acme)"."""
    counts = Counter(each.level for each in causes).items()
    head = ", ".join(f"{count} {level}" if len(causes) > 1 else level for level, count in counts)
    return plain(safe(f"{head}: {causes[0].text}", LONGEST)[:LONGEST])
