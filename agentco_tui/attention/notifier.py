"""Decides what the user is notified of while not looking at the dashboard: each event once.

Events are needs (items of the "needs you" list, what the user should look at) that become critical,
new tasks of high priority, and outages: feeds (the lists that are polled from the platform, the
remote service that runs AI agents) that have not answered for some time. `Freshness` says when a
feed last answered, and why it fails. Keys of events are those of needs, "new task:ID" and
"fails:KIND OF FAILURE"; where the platform says which cause a record reports, "cause:CAUSE" and
"new cause:CAUSE", so that all of a cause is one event. The steady clock is one that never jumps.
The dashboard and `watch` call `find_events` after each refresh. `remembered` returns the state for
the next run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from agentco_tui.api.errors import TimedOut
from agentco_tui.attention.need_words import sentence_of, words_of
from agentco_tui.attention.needs import Need, NeedKind, RankReason
from agentco_tui.attention.notification_event import NotificationEvent
from agentco_tui.attention.notified import MOST_EVENTS, Notified, Outage
from agentco_tui.config import Notify
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.live.feeds import FeedName, Freshness, Phase
from agentco_tui.live.insight import Level, priority_rank, waiting_since, waits_for_person
from agentco_tui.live.names import Names
from agentco_tui.live.ownership import cause_of
from agentco_tui.live.poller import REFUSED
from agentco_tui.live.store import Change
from agentco_tui.model import Task
from agentco_tui.model import format as fmt
from agentco_tui.model.period import HOUR
from agentco_tui.text import SafeText, clean_line, signs

FLAPS: Final = 4 * HOUR
"""Seconds for which an event must have been over before it is notified of again.

What swings around a threshold comes back within hours and says nothing new; half a working day
later it does."""
OUTAGE: Final = "fails:"  # how the key of an outage begins
_CAUSE: Final = "cause:"  # and that of a cause


class Notifier:
    """Finds a need that becomes critical, a high-priority task that newly waits, an outage, and
    the end of an outage.

    Snoozed needs (those that the user has put off) are never notified of, and what comes during
    quiet hours only after them.
    """

    def __init__(
        self,
        forecasts: ForecastService,
        notify: Notify,
        *,
        at_start: bool = False,
        remembered: Notified | None = None,
    ) -> None:
        """With `at_start` also for what exists at the first look, except what an earlier run
        notified of, which is `remembered`; without it the user has seen that on the screen.
        """
        self.notify = notify
        self._forecasts = forecasts
        self._names = Names(forecasts.store)
        self._at_start = at_start
        self._has_begun = False
        self._last_seen = dict[str, float]()
        """When each event was last found, by its key; steady clock."""
        self._arrived = dict[str, Need]()  # tasks of the priority, until they are notified of
        self._causes = _CausesOfTasks()  # of all tasks of the priority
        self._unanswered_since = dict[FeedName, float]()
        self._outages = dict[str, Outage]()
        """Those that were notified of and whose end was not."""
        if remembered is not None:
            self._outages = {key: replace(each) for key, each in remembered.outages.items()}
            to_steady = forecasts.clock.monotonic() - forecasts.clock.machine()
            now = forecasts.clock.monotonic()
            for key, at in remembered.last_seen.items():
                self._last_seen[key] = min(now, at + to_steady)
        forecasts.store.subscribe(self._note_change, (FeedName.PENDING,))

    def find_events(
        self,
        needs: Iterable[Need],
        feeds: Mapping[FeedName, Freshness],
        *,
        critical_tasks: Iterable[Need] = (),
        is_here: bool = False,
        asked_since: Mapping[FeedName, float] | None = None,
        is_complete: bool | None = None,
    ) -> list[NotificationEvent]:
        """The new events by the needs and the polled feeds.

        None while the user `is_here`, that is, looks at the dashboard.

        `critical_tasks` are all of them, because only the worst are among the needs.
        `asked_since` is since when each feed's answer is awaited, by the steady clock.
        `is_complete` is whether everything that exists at the start is known; None for as soon as
        all feeds have answered or failed.
        """
        now = self._forecasts.clock.monotonic()
        begins = not self._has_begun and self._is_begun(feeds, is_complete)
        self._has_begun = self._has_begun or begins
        is_seen = is_here or (begins and not self._at_start)
        present: dict[str, Need | SafeText] = {}
        if self._has_begun:
            for need in needs:
                if need.level is Level.CRITICAL and not need.snooze:
                    present[_key_of_event(need)] = need
            for need in critical_tasks:
                present.setdefault(_key_of_event(need), need)
            new_tasks = {
                f"new {key}": need for key, need in self._arrived.items() if key not in present
            }
            present |= new_tasks
        outages = self._find_outages(feeds, asked_since or {}, now)
        present |= {
            key: self._outage_words(feeds[feeds_out[-1]], feeds_out[-1], now)
            for key, feeds_out in outages.items()
        }
        self._note_ends(outages, feeds)
        before = {key: at for key, at in self._last_seen.items() if now - at <= FLAPS}
        if self._is_quiet() and not is_seen:
            self._last_seen = before | dict.fromkeys(present.keys() & before.keys(), now)
            return []
        new_keys = [key for key in present if not is_seen and key not in before]
        self._last_seen = before | dict.fromkeys(present, now)
        if self._has_begun:
            self._arrived = {}
        events = [self._event_of(present[key]) for key in new_keys]
        for key, feeds_out in outages.items():
            if key in new_keys:
                since = min(self._unanswered_since[feed] for feed in feeds_out)
                self._outages[key] = Outage(
                    [str(feed) for feed in feeds_out], self._machine_time(since)
                )
        ended = self._take_ended()
        if not outages and not self._outages:
            # Whatever was wrong is over: the next outage is notified of, however soon.
            self._last_seen = {
                key: at for key, at in self._last_seen.items() if not key.startswith(OUTAGE)
            }
        if ended and not is_here:
            events.append(self._restored_event(ended))
        return events

    def remembered(self) -> Notified:
        """What the next run needs to know, to be kept in a file."""
        clock = self._forecasts.clock
        now = clock.monotonic()
        pending = self._forecasts.store.pending
        # What was found so lately that it is not notified of again.
        stood = {key: at for key, at in self._last_seen.items() if now - at <= FLAPS}
        for key in stood:
            # A task that was notified of as it arrived goes on waiting.
            task_id = key.removeprefix(f"new {NeedKind.TASK}:")
            is_waiting = task_id != key and pending.get(task_id) is not None
            if is_waiting or self._causes.has(key.removeprefix("new ")):
                stood[key] = now
        newest = sorted(stood, key=lambda key: stood[key])[-MOST_EVENTS:]
        return Notified(
            saved_at=clock.machine(),
            last_seen={key: self._machine_time(stood[key]) for key in newest},
            outages={key: replace(outage) for key, outage in self._outages.items()},
        )

    def _is_begun(self, feeds: Mapping[FeedName, Freshness], is_complete: bool | None) -> bool:
        phases = {each.phase for each in feeds.values()}
        if is_complete is None:
            is_complete = Phase.LOADING not in phases
        return is_complete and Phase.LIVE in phases

    def _machine_time(self, steady: float) -> float:
        """A reading of the steady clock as seconds since 1970 by the machine's clock."""
        clock = self._forecasts.clock
        return clock.machine() - (clock.monotonic() - steady)

    def _event_of(self, what: Need | SafeText) -> NotificationEvent:
        if not isinstance(what, Need):
            return NotificationEvent("outage", "feed", what)
        level = "critical" if what.level is Level.CRITICAL else "waiting"
        now = self._forecasts.clock.now()
        names = self._names
        return NotificationEvent(
            level,
            what.kind,
            _blank_if_missing(sentence_of(what, names, self._forecasts, now)),
            company=_blank_if_missing(names.company(names.company_of(what.record))),
            agent=_blank_if_missing(words_of(what, names, self._forecasts, now).agent),
            id=_blank_if_missing(clean_line(what.record.id)),
        )

    def _note_change(self, change: Change) -> None:
        """Note which tasks arrive, and when those that leave last waited."""
        if self.notify.priority is None:
            return
        lowest_rank = priority_rank(self.notify.priority)
        pending = self._forecasts.store.pending
        for task in filter(None, map(pending.get, change.added)):
            is_urgent = priority_rank(task.priority) <= lowest_rank and waits_for_person(task)
            if is_urgent and self._causes.add(task):
                need = Need(
                    Level.WARNING,
                    NeedKind.TASK,
                    task,
                    RankReason.URGENT,
                    since=waiting_since(task),
                )
                self._arrived[_key_of_event(need)] = need
        for task_id in change.removed:
            key = self._causes.remove(task_id)
            if key is not None and self._arrived.pop(key, None) is None:
                self._last_seen[f"new {key}"] = self._forecasts.clock.monotonic()

    def _is_quiet(self) -> bool:
        local = datetime.fromtimestamp(self._forecasts.clock.machine())
        minute = local.hour * 60 + local.minute
        return any(_is_between(minute, start, end) for start, end in self.notify.quiet)

    def _find_outages(
        self,
        feeds: Mapping[FeedName, Freshness],
        asked_since: Mapping[FeedName, float],
        now: float,
    ) -> dict[str, list[FeedName]]:
        """The feeds that have not answered for as long as `notify.outage`, by the event's key.

        Each kind of failure is an event. Feeds that were always refused, as for lack of permission,
        do not count. A request without an answer counts from when it was sent: a platform that
        accepts connections and never answers is as much out as one that refuses them.
        """
        before = self._unanswered_since
        self._unanswered_since = {}
        outages: dict[str, list[FeedName]] = {}
        for feed, freshness in feeds.items():
            answered_at = freshness.answered_at
            failure = freshness.failure
            # `REFUSED`: the classes of errors that say that the platform does not give this list.
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
        return clean_line(f"{feed}: no answer for {waited}: {why}")

    def _note_ends(
        self, outages: Mapping[str, list[FeedName]], feeds: Mapping[FeedName, Freshness]
    ) -> None:
        """Note when the feeds of an outage that was notified of answer again."""
        for key, outage in self._outages.items():
            if key in outages:
                outage.feeds = [str(feed) for feed in outages[key]]
                outage.until = None
                continue
            polled = [feed for feed in feeds if feed in outage.feeds]
            if not polled or not all(_is_answering(feeds[feed]) for feed in polled):
                # Nothing is known of feeds that are no longer polled.
                outage.until = None
            elif outage.until is None:
                outage.until = self._forecasts.clock.machine()

    def _take_ended(self) -> list[Outage]:
        """Forget the outages that ended, and return them: the next one is notified of again."""
        ended = {key: each for key, each in self._outages.items() if each.until is not None}
        for key in ended:
            del self._outages[key]
            self._last_seen.pop(key, None)
        return list(ended.values())

    @staticmethod
    def _restored_event(ended: Sequence[Outage]) -> NotificationEvent:
        feeds = sorted({feed for outage in ended for feed in outage.feeds})
        since = min(outage.since for outage in ended)
        until = max(outage.until or outage.since for outage in ended)
        verb = "answers" if len(feeds) == 1 else "answer"
        words = f"{', '.join(feeds)} {verb} again, back after {fmt.age(until - since)}"
        return NotificationEvent("restored", "feed", clean_line(words))


class _CausesOfTasks:
    """The causes of tasks that wait, by the keys of their events."""

    def __init__(self) -> None:
        self._key_of_task: dict[str, str] = {}
        self._tasks_by_key: dict[str, set[str]] = {}

    def has(self, key: str) -> bool:
        """Whether a task of a cause waits."""
        return key in self._tasks_by_key

    def add(self, task: Task) -> bool:
        """Note a task; returns whether it is the only one with its cause."""
        cause = cause_of(task)
        if cause is None:
            return True
        key = f"{_CAUSE}{cause}"
        self._key_of_task[task.id] = key
        tasks = self._tasks_by_key.setdefault(key, set())
        tasks.add(task.id)
        return len(tasks) == 1

    def remove(self, task_id: str) -> str | None:
        """Forget a task, known or not; returns the key of what is over, None if nothing is."""
        key = self._key_of_task.pop(task_id, None)
        if key is None:
            return f"{NeedKind.TASK}:{task_id}"
        tasks = self._tasks_by_key[key]
        tasks.remove(task_id)
        if tasks:
            return None
        del self._tasks_by_key[key]
        return key


def _key_of_event(need: Need) -> str:
    """The same for all needs of one cause, whichever of them is shown."""
    return need.key if need.cause is None else f"{_CAUSE}{need.cause}"


def _is_answering(freshness: Freshness) -> bool:
    """Whether the last thing known of a feed is an answer."""
    return freshness.failure is None and freshness.answered_at is not None


def _blank_if_missing(text: str) -> str:
    """The text, or "" for the sign of what is missing."""
    return "" if text == signs.missing else text


def _is_between(minute: int, start: int, end: int) -> bool:
    """Whether a minute of the day is between two others; the second may be after midnight."""
    if start < end:
        return start <= minute < end
    return minute >= start or minute < end
