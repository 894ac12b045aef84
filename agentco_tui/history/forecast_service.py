"""Forecasts, alarms and trends of the budgets and agents in the store, computed from the history.

They are computed in the thread of the history, one subject at a time with pauses between. What is
not known yet, or can't be known without a history, is None: no screen waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import math
from array import array
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from time import perf_counter
from typing import Final

import msgspec
from msgspec.structs import replace

from agentco_tui.config import AlertLimits
from agentco_tui.history import forecast as ahead
from agentco_tui.history.forecast import Burn, Forecast, NoData, Runaway, TooLittle
from agentco_tui.history.history import History
from agentco_tui.history.observations import BudgetSample, HistoryError, Span, Track
from agentco_tui.history.observed_spending import spent_by_part
from agentco_tui.history.period import DAY, HOUR, Period, period_of
from agentco_tui.history.reader import HOUR as BUCKET_HOUR
from agentco_tui.history.reader import TEN_MINUTES, Reader, joined
from agentco_tui.live.feeds import Clock
from agentco_tui.live.insight import NOT_AT_WORK
from agentco_tui.live.log_findings import LogFindings, read_log
from agentco_tui.live.spend_rate import LONG_WINDOW, FastSpend, SpendRates, fast_spend
from agentco_tui.live.store import Store
from agentco_tui.model import (
    Activity,
    Budget,
    BudgetScope,
    Listing,
    Money,
    TaskState,
)
from agentco_tui.system.background import turn_of_thread

Day = tuple[float | None, ...]
"""The last 24 hours, oldest first: a figure for each hour, None for a gap."""
Subject = tuple[BudgetScope, str]
"""The owner of a budget: its scope and id; the id of the whole is ""."""

log = logging.getLogger(__name__)

_EVERY: Final = {BudgetScope.ALL: 600.0, BudgetScope.COMPANY: 600.0, BudgetScope.AGENT: HOUR}
"""Seconds of the platform's time after which a subject is computed again."""
_CLOSE_EVERY: Final = 120.0  # the same for subjects on the screen or with an alarm
_NEW: Final = 1e9  # the urgency of a subject that was never computed
_FIRST_PAUSE: Final = 0.05  # seconds after a subject on the screen was computed for the first time
_PAUSE: Final = 0.3  # seconds after every other subject; each takes less than 10 ms
_GLANCE: Final = 15.0  # seconds between two searches for subjects that are due
_MOST: Final = 2_000  # agents that are computed although they are not on the screen
_IN_A_ROW: Final = 20  # subjects computed between two searches
_TOLD_EVERY: Final = 1.0  # seconds between two calls of `on_change`
_PARTS: Final = 120  # into which the graph of a period is cut
_ENTRIES: Final = 20.0  # entries above the usual number that are not worth an alarm
_FAILURES: Final = 5.0  # the same of failures
_RUNS: Final = 5  # finished tasks from which on the usual run of an agent is known
_RUN_DAYS: Final = 30  # days in which they finished
_FAST_SPEND_HOLDS: Final = 180.0  # seconds for which an alarm from the history is valid


class SubjectForecast(msgspec.Struct, frozen=True, kw_only=True):
    """What was computed of one subject."""

    looked: float  # when, by the platform's clock
    limit: Money | None = None  # the limit at that time
    forecast: Forecast | TooLittle | None = None  # None: no spending is known
    burn: Burn | NoData | None = NoData()  # the worst tier; None if none burns
    fast: FastSpend | None = None  # from the last minutes of the history
    runaway: Runaway | NoData | None = NoData()  # None if it isn't one
    usual_run: float | None = None  # seconds from approval to end, of 95 % of an agent's tasks
    spent_in_period: Sequence[float] = ()
    """What was spent by the end of each of equal parts of the period so far; nan is a gap."""
    spent_by_hour: Day = ()
    spent_seconds: float = 0.0  # the time that these sums cover
    waiting_by_hour: Day = ()  # tasks, at the end of each hour
    entries_by_hour: Day = ()  # of the log

    def shown(self) -> object:
        """The figures as rounded as a screen shows them: an equal value needs no repaint."""
        ahead, hours = self.forecast, (self.spent_by_hour, self.waiting_by_hour)
        figures = [*chain(*hours, self.entries_by_hour), self.usual_run]
        if isinstance(ahead, Forecast):
            left = ahead.gone and ahead.gone[1] - self.looked
            figures += [ahead.rate, ahead.low, ahead.high, left]
        if isinstance(ahead, TooLittle):
            figures.append(ahead.needed)
        if self.burn:
            figures += [self.burn.rate, self.burn.gone_in]
        if self.fast is not None:
            figures += [self.fast.rate, self.fast.reached_in]
        if self.runaway:
            figures.append(self.runaway.now)
        kinds = type(ahead), bool(self.burn), bool(self.runaway), self.fast is not None
        return kinds, [None if each is None else f"{each:.2e}" for each in figures]


NOTHING: Final = SubjectForecast(looked=-math.inf)


class ForecastService:
    """Keeps the forecasts of all subjects. `on_change` is called on the event loop after some of
    them have changed.
    """

    def __init__(
        self,
        store: Store,
        history: History | None = None,
        clock: Clock | None = None,
        limits: AlertLimits | None = None,
    ) -> None:
        self.store = store
        self.history = history
        self.clock = clock or Clock()
        self.limits = limits or AlertLimits()
        self.on_change: Callable[[], None] = lambda: None
        self.rates = SpendRates(store, self.clock)
        self.log = LogFindings()
        self.log_of: Listing[Activity] | None = None  # the answer after which `log` was computed
        self._known: dict[Subject, SubjectForecast] = {}
        self._wanted: set[Subject] = set()
        self._woken = asyncio.Event()
        self._changed = False
        self._told_at = -math.inf
        self._listeners: list[Callable[[Subject], None]] = []

    def subscribe(self, listener: Callable[[Subject], None]) -> None:
        """Call `listener` with each subject of which something else is known from now on."""
        self._listeners.append(listener)

    def publish(self, subject: Subject) -> None:
        """Tell the listeners that something else is known of a subject."""
        for listener in self._listeners:
            listener(subject)

    def read_log(self) -> Generator[None, None, None]:
        """Search the log for findings if it has changed; a generator of short steps."""
        activity = self.store.activity
        if len(activity) and self.log_of is not activity.listing:
            self.log_of = activity.listing
            self.log = yield from read_log(reversed(activity))

    def fast_spend(self, budget: Budget) -> FastSpend | None:
        """The alarm that a budget's limit is reached soon, at the rate of the last minutes.

        It comes from the polls; until those cover some minutes, from the history, where another
        dashboard or `watch` has written it. An agent that does not work has none.
        """
        if budget.scope is BudgetScope.AGENT:
            agent = self.store.agents.get(budget.id)
            if agent is not None and agent.state in NOT_AT_WORK:
                return None
        alarm = self.rates.alarm(budget)
        if alarm is not None or self.rates.is_watched(budget):
            return alarm
        remembered = self.of(budget)
        is_recent = self.clock.now() - remembered.looked <= _FAST_SPEND_HOLDS
        return remembered.fast if is_recent else None

    def fast_spend_holds_for(self, budget: Budget) -> float:
        """Seconds for which `fast_spend` goes on to say the same, as far as time decides that.

        What the history told of the last minutes is dropped after a while, and once the polls
        cover enough minutes themselves.
        """
        remembered = self.of(budget)
        if remembered.fast is None or self.rates.is_watched(budget):
            return math.inf
        expires_in = remembered.looked + _FAST_SPEND_HOLDS - self.clock.now()
        watched_in = self.rates.watched_in(budget)
        return min(seconds for seconds in (expires_in, watched_in, math.inf) if seconds >= 0)

    def of(self, budget: Budget) -> SubjectForecast:
        """The forecast of a budget's owner; empty without a history, or if not computed yet."""
        return self._known.get(subject_of(budget), NOTHING)

    def of_agent(self, agent: str | None) -> SubjectForecast:
        """The forecast of an agent by its id; None: of all of them."""
        subject = (BudgetScope.ALL, "") if agent is None else (BudgetScope.AGENT, agent)
        return self._known.get(subject, NOTHING)

    def of_company(self, company: str | None) -> SubjectForecast:
        """The forecast of a company by its id; None: of all of them."""
        subject = (BudgetScope.ALL, "") if company is None else (BudgetScope.COMPANY, company)
        return self._known.get(subject, NOTHING)

    def want(self, subjects: Iterable[Budget]) -> None:
        """Compute the forecasts of these budgets first, because they are on the screen."""
        wanted = {subject_of(budget) for budget in subjects}
        if wanted - self._wanted - self._known.keys():
            self._woken.set()
        self._wanted = wanted

    async def work_out(self, subjects: Iterable[Budget]) -> None:
        """Compute these now, for a command that shows them and ends. Raises HistoryError."""
        for budget in subjects:
            await self._look(subject_of(budget), budget)

    async def run(self) -> None:
        """Keep all forecasts up to date, a few at a time, until cancelled."""
        while self.history is not None:
            self._woken.clear()
            due = self._due()
            pause = _GLANCE if len(due) <= _IN_A_ROW else 0.0
            try:
                for subject, budget in due[:_IN_A_ROW]:
                    is_first = subject in self._wanted and subject not in self._known
                    await self._look(subject, budget)
                    self._tell(_TOLD_EVERY)
                    await self._wait(_FIRST_PAUSE if is_first else _PAUSE)
                    if self._woken.is_set():
                        break
            except HistoryError as error:
                log.info("the history can't be read: %s", error)
                pause = _GLANCE
            self._tell()
            await self._wait(pause)

    async def _wait(self, seconds: float) -> None:
        """Wait so long, or until other subjects are on the screen."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()

    def _tell(self, every: float = 0.0) -> None:
        if self._changed and perf_counter() - self._told_at >= every:
            self._changed, self._told_at = False, perf_counter()
            self.on_change()

    def _due(self) -> list[tuple[Subject, Budget | None]]:
        """The subjects that have to be computed, the most urgent first."""
        every: dict[Subject, Budget | None] = {(BudgetScope.ALL, ""): None}
        for scope, budgets in self.store.budgets.items():
            every |= {subject_of(budget): budget for budget in islice(budgets, _MOST)}
            beyond = (key for key in self._wanted - every.keys() if key[0] is scope)
            every |= {key: budgets.get(key[1]) for key in beyond}
        for agent in islice(self.store.agents.records, _MOST):
            every.setdefault((BudgetScope.AGENT, agent), None)
        for subject in [key for key in self._known if key not in every]:
            del self._known[subject]
            self.publish(subject)
        found = [(self._urgency(key, budget), key) for key, budget in every.items()]
        found.sort(key=lambda one: -one[0])
        return [(key, every[key]) for urgency, key in found if urgency >= 1]

    def _urgency(self, subject: Subject, budget: Budget | None) -> float:
        """How urgent it is to compute a subject; it is due at 1 or above."""
        known = self._known.get(subject)
        is_wanted = subject in self._wanted
        is_other = known is None or (budget is not None and budget.limit != known.limit)
        if known is None or (is_wanted and is_other):
            return math.inf if is_wanted else _NEW
        is_close = is_wanted or known.burn or known.runaway
        every = _CLOSE_EVERY if is_close else _EVERY[subject[0]]
        return (self.clock.now() - known.looked) / every

    async def _look(self, subject: Subject, budget: Budget | None) -> None:
        """Compute one subject. Raises HistoryError."""
        if self.history is None:
            return
        before = self._known.get(subject, NOTHING)
        now = self.clock.now()
        shown = isinstance(before.forecast, Forecast) and before.forecast.gone is not None
        look = partial(_looked, subject, budget, now, self.limits, shown=shown)
        try:
            known = await self.history.ask(look)
        except HistoryError:
            raise
        except Exception:
            # A bug of ours in one subject must not stop the others.
            log.exception("looking ahead failed")
            known = SubjectForecast(looked=now, limit=None if budget is None else budget.limit)
        self._known[subject] = known
        self.publish(subject)
        self._changed |= known.shown() != before.shown()


def subject_of(budget: Budget) -> Subject:
    return budget.scope, budget.subject


def _looked(
    subject: Subject,
    budget: Budget | None,
    now: float,
    limits: AlertLimits,
    reader: Reader,
    *,
    shown: bool,
) -> SubjectForecast:
    """Computes a subject, in the thread of the history."""
    turn_of_thread()
    scope, of = subject
    past: ahead.Spending | None = None
    # Hours end at full ten minutes, or all of them would change with every look.
    hours = _ends(math.ceil(now / 600) * 600, HOUR, 24)
    said: dict[str, object] = {}
    if budget is not None:
        # The last hours in minutes, so that a burst is seen; of the rest longer buckets are enough.
        day_ago = now - DAY
        hours_ago = now - 2 * HOUR
        track = joined(
            (
                reader.budget(scope, of, now - ahead.PAST * DAY, day_ago, shortest=BUCKET_HOUR),
                reader.budget(scope, of, day_ago, hours_ago, shortest=TEN_MINUTES),
                reader.budget(scope, of, hours_ago, now),
            )
        )
        period = period_of(budget, now)
        limit = None if budget.limit is None or budget.unlimited else budget.limit.amount
        past = ahead.spending(track, period, limit, now)
        if past is not None:
            said["forecast"] = ahead.forecast(past, period, now, limits, shown=shown)
            said["burn"] = ahead.burn(past, period, now, limits)
            lately = reader.budget(scope, of, now - LONG_WINDOW)
            said["fast"] = _fast_spend(ahead.spending(lately, period, limit, now), period, now)
            said.update(_hourly_spending(track, period, hours))
            # What held as the period began is of the one before.
            begin = period.start if period.start_told else -math.inf
            own = ((each.at, float(each.spent)) for each in track.samples if each.spent is not None)
            length = (now - period.start) / _PARTS
            ends = _ends(now, length, _PARTS)
            held = _held((each for each in own if each[0] > begin), ends)
            graph = _where_seen(held, ends, length, track.seen)
            # Packed, for every budget has one.
            said["spent_in_period"] = array("d", (math.nan if x is None else x for x in graph))
    turn_of_thread()
    if scope is not BudgetScope.COMPANY:
        is_agent = scope is BudgetScope.AGENT
        since = now - ((ahead.HABIT if is_agent else 0) + 1) * DAY - HOUR
        rows, seen = reader.entries(since, 600.0, of or None)
        ends = [min(now, at + 600.0) for at, _, _ in rows]
        entries = [(end, end, float(count)) for end, (_, count, _) in zip(ends, rows, strict=True)]
        failed = [(end, end, float(count)) for end, (_, _, count) in zip(ends, rows, strict=True)]
        came = ahead.summed(entries, hours[-1], HOUR, 24)[::-1]
        said["entries_by_hour"] = _where_seen(came, hours, HOUR, seen)
        if is_agent:
            away = partial(ahead.runaway, now=now, factor=limits.runaway)
            found = [
                away("failures", failed, seen, least=_FAILURES),
                away("entries", entries, seen, least=_ENTRIES),
            ]
            if past is not None:
                # Without a limit, what is more than a usual day's counts.
                usual = sum(amount for _, _, amount in past.flows) * DAY / (now - past.first + 1)
                least = usual if past.limit is None else 0.02 * past.limit
                found.insert(0, away("cost", past.flows, past.seen, least=least))
            # None, which says that all is well, only if something is known.
            nothing = None if None in found else NoData()
            said["runaway"] = next((one for one in found if one), nothing)
            said["usual_run"] = _usual_run(reader, of, now)
    if scope is not BudgetScope.AGENT:
        queue = reader.queue(of or None, now - DAY - HOUR)
        held = _held(((each.at, float(each.waiting)) for each in queue.samples), hours)
        said["waiting_by_hour"] = _where_seen(held, hours, HOUR, queue.seen)
    return replace(
        SubjectForecast(looked=now, limit=None if budget is None else budget.limit), **said
    )


def _hourly_spending(
    track: Track[BudgetSample], period: Period, hours: Sequence[float]
) -> Mapping[str, object]:
    """What was spent in each of the hours, and of how many seconds these sums are; empty if nothing
    is known of any hour.
    """
    by_hour = spent_by_part(track, period, hours, HOUR)
    if not any(by_hour):
        return {}
    return {
        "spent_by_hour": tuple(None if each is None else float(each.amount) for each in by_hour),
        "spent_seconds": sum(each.seconds for each in by_hour if each is not None),
    }


def _fast_spend(lately: ahead.Spending | None, period: Period, now: float) -> FastSpend | None:
    """The alarm by the last minutes that the history has; None also where they were not seen."""
    if lately is None or lately.limit is None or not lately.seen:
        return None
    watched_since, until = lately.seen[-1]
    if now - until > _FAST_SPEND_HOLDS:
        return None
    # What lies between two samples only: the first figure is the spending of a whole period.
    flows = [flow for flow in lately.flows if flow[0] >= lately.first and flow[2] > 0]
    found = fast_spend(
        flows,
        watched_since,
        lately.spent,
        lately.limit,
        until,
        period=period.end - period.start,
        period_left=period.end - until,
    )
    if found is None:
        return None
    return replace(found, reached_at=until + found.reached_in, since=until - found.lasts)


def _ends(until: float, length: float, count: int) -> list[float]:
    """The ends of so many parts of a time, oldest first."""
    return [until - slot * length for slot in range(count - 1, -1, -1)]


def _held(samples: Iterable[tuple[float, float]], ends: Sequence[float]) -> list[float | None]:
    """What held at each of these times; each sample holds until the next."""
    known = [*samples]
    found = (bisect_right(known, (end, math.inf)) for end in ends)
    return [known[last - 1][1] if last else None for last in found]


def _where_seen(
    figures: Iterable[float | None], ends: Sequence[float], length: float, seen: Sequence[Span]
) -> Day:
    """Figures of parts of a time of which something was seen; () if nothing is known."""
    is_seen = [any(a <= end and b > end - length for a, b in seen) for end in ends]
    found = tuple(each if known else None for each, known in zip(figures, is_seen, strict=True))
    return () if set(found) == {None} else found


def _usual_run(reader: Reader, agent: str, now: float) -> float | None:
    runs = sorted(
        life.ended - life.decided
        for life in reader.lives(now - _RUN_DAYS * DAY, agent=agent)
        if life.state is not TaskState.REJECTED
        and life.decided is not None
        and life.ended is not None
        and life.ended >= life.decided
    )
    return runs[math.ceil(0.95 * len(runs)) - 1] if len(runs) >= _RUNS else None
