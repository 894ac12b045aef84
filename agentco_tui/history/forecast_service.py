"""Computes forecasts, alarms and trends of budgets and agents from the history.

The history is a database of what was polled from the platform, the remote service whose AI agents
are watched. A subject is the owner of a budget: everything, a company or an agent.
`ForecastService` (called the outlook elsewhere) computes one subject at a time in the history's
thread, with pauses, those on the screen first. Screens and the needs (the "needs you" list, what
the user should look at) read the last result: no screen waits, and a figure that is not computed
yet, or has no history, is None. A `Track` is a figure over time; a flow (`Spending.flows`) is an
amount spent between two times. The queue is the list of tasks that wait for approval. Times are
seconds since 1970 by the platform's clock.
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
from itertools import chain
from time import perf_counter
from typing import Final

import msgspec
from msgspec.structs import replace

from agentco_tui.config import AlertLimits
from agentco_tui.history.forecast import MAX_DAYS, Forecast, TooLittle, forecast
from agentco_tui.history.forecast_schedule import WHOLE, ForecastSchedule, Subject
from agentco_tui.history.history import History
from agentco_tui.history.observations import BudgetSample, HistoryError, Span, Track
from agentco_tui.history.observed_spending import spent_by_part
from agentco_tui.history.reader import HOUR as BUCKET_HOUR
from agentco_tui.history.reader import TEN_MINUTES, Reader, joined
from agentco_tui.history.spending import Spending, spending_of, spent_by_slot
from agentco_tui.history.spending_alarms import HABIT_DAYS, Burn, NoData, Runaway, burn, runaway
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
from agentco_tui.model.period import DAY, HOUR, Period, period_of
from agentco_tui.system.background import turn_of_thread

Day = tuple[float | None, ...]
"""The last 24 hours, oldest first: a figure for each hour, None for a gap."""
log = logging.getLogger(__name__)

_FIRST_PAUSE: Final = 0.05  # seconds after a subject on the screen was computed for the first time
_PAUSE: Final = 0.3  # seconds after every other subject; each takes less than 10 ms
_SEARCH_EVERY: Final = 15.0  # seconds between two searches for subjects that are due
_BATCH_SIZE: Final = 20  # subjects computed between two searches
_NOTIFY_EVERY: Final = 1.0  # seconds between two calls of `on_change`
_GRAPH_PARTS: Final = 120  # of the graph of a period
_MIN_ENTRIES: Final = 20.0  # log entries above the usual number that raise an alarm
_MIN_FAILURES: Final = 5.0  # the same for failures
_MIN_RUNS: Final = 5  # finished tasks that an agent's usual run needs
_RUN_DAYS: Final = 30  # how many days back finished tasks count
_FAST_SPEND_HOLDS: Final = 180.0  # seconds for which an alarm from the history is valid


class SubjectForecast(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one subject; NoData and empty sequences are figures that are not known.

    Amounts are whole units of the budget, which are money or tokens.
    """

    computed_at: float  # the time of the computation, by the platform's clock
    limit: Money | None = None  # the limit at that time
    forecast: Forecast | TooLittle | None = None  # None: no spending is known
    burn: Burn | NoData | None = NoData()
    """The alarm that a budget is spent too fast to last its period; None if it is not."""
    fast: FastSpend | None = None
    """The alarm that the limit is reached soon, at the rate of the last minutes of the history."""
    runaway: Runaway | NoData | None = NoData()
    """The alarm that an agent is far above its own habit; None if it is not."""
    usual_run: float | None = None  # seconds from approval to end, of 95 % of an agent's tasks
    spent_in_period: Sequence[float] = ()
    """What was spent by the end of each of equal parts of the period so far; nan is a gap."""
    spent_by_hour: Day = ()
    spent_seconds: float = 0.0  # the time that these sums cover
    waiting_by_hour: Day = ()  # tasks, at the end of each hour
    entries_by_hour: Day = ()  # of the log

    def rounded(self) -> object:
        """The figures rounded as on the screen; if they are equal, nothing has to be painted."""
        forecast = self.forecast
        figures: list[float | None] = [
            *chain(self.spent_by_hour, self.waiting_by_hour, self.entries_by_hour),
            self.usual_run,
        ]
        if isinstance(forecast, Forecast):
            seconds_left: float | None = None
            if forecast.gone is not None:
                _, likely, _ = forecast.gone
                seconds_left = likely - self.computed_at
            figures += [forecast.rate, forecast.low, forecast.high, seconds_left]
        if isinstance(forecast, TooLittle):
            figures.append(forecast.needed)
        if self.burn:
            figures += [self.burn.rate, self.burn.gone_in]
        if self.fast is not None:
            figures += [self.fast.rate, self.fast.reached_in]
        if self.runaway:
            figures.append(self.runaway.now)
        kinds = (type(forecast), bool(self.burn), bool(self.runaway), self.fast is not None)
        return kinds, [None if each is None else f"{each:.2e}" for each in figures]


NOTHING: Final = SubjectForecast(computed_at=-math.inf)
"""The forecast of a subject that was not computed yet."""


class ForecastService:
    """Keeps the forecasts of all subjects up to date.

    `on_change` is called on the event loop after the figures of some have changed.
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
        """How fast each budget is spent, by the polls of the last minutes."""
        self.log = LogFindings()
        """What the activity log says of failures and decisions."""
        self.log_of: Listing[Activity] | None = None  # the answer after which `log` was computed
        self._known: dict[Subject, SubjectForecast] = {}
        self._schedule = ForecastSchedule(store, self._forget)
        self._woken = asyncio.Event()
        self._changed = False
        self._notified_at = -math.inf
        self._listeners: list[Callable[[Subject], None]] = []

    def subscribe(self, listener: Callable[[Subject], None]) -> None:
        """Call `listener` with each subject whose forecast is computed or removed."""
        self._listeners.append(listener)

    def publish(self, subject: Subject) -> None:
        """Call the listeners, because the forecast of a subject has changed."""
        for listener in self._listeners:
            listener(subject)

    def read_log(self) -> Generator[None, None, None]:
        """Search the log for findings if it has changed; a generator of short steps."""
        activity = self.store.activity
        if self.log_of is not activity.listing and len(activity):
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
        alarm = self.rates.alarm_of(budget)
        if alarm is not None or self.rates.is_watched(budget):
            return alarm
        remembered = self.of(budget)
        is_recent = self.clock.now() - remembered.computed_at <= _FAST_SPEND_HOLDS
        return remembered.fast if is_recent else None

    def fast_spend_holds_for(self, budget: Budget) -> float:
        """Seconds until `fast_spend` changes by the passing of time alone; inf if it does not.

        An alarm from the history expires, and is also dropped as soon as the polls themselves
        cover enough minutes.
        """
        remembered = self.of(budget)
        if remembered.fast is None or self.rates.is_watched(budget):
            return math.inf
        expires_in = remembered.computed_at + _FAST_SPEND_HOLDS - self.clock.now()
        watched_in = self.rates.watched_in(budget)
        return min(seconds for seconds in (expires_in, watched_in, math.inf) if seconds >= 0)

    def of(self, budget: Budget) -> SubjectForecast:
        """The forecast of a budget's owner; empty without a history, or if not computed yet."""
        return self._known.get(subject_of(budget), NOTHING)

    def of_agent(self, agent: str | None) -> SubjectForecast:
        """The forecast of an agent by its id; None: of all of them."""
        subject = WHOLE if agent is None else (BudgetScope.AGENT, agent)
        return self._known.get(subject, NOTHING)

    def of_company(self, company: str | None) -> SubjectForecast:
        """The forecast of a company by its id; None: of all of them."""
        subject = WHOLE if company is None else (BudgetScope.COMPANY, company)
        return self._known.get(subject, NOTHING)

    def want(self, subjects: Iterable[Budget]) -> None:
        """Compute the forecasts of these budgets first, because they are on the screen."""
        if self._schedule.want(map(subject_of, subjects)):
            self._woken.set()

    async def work_out(self, subjects: Iterable[Budget]) -> None:
        """Compute these now, for a command that shows them and ends. Raises HistoryError."""
        for budget in subjects:
            await self._compute(subject_of(budget), budget)

    async def run(self) -> None:
        """Keep all forecasts up to date, a few at a time, until cancelled."""
        while self.history is not None:
            self._woken.clear()
            due = self._schedule.take_due(self.clock.now(), _BATCH_SIZE)
            pause = _SEARCH_EVERY if len(due) < _BATCH_SIZE else 0.0
            try:
                while due and not self._woken.is_set():
                    is_first = due[0] in self._schedule.wanted and due[0] not in self._known
                    await self._compute(due[0], self._schedule.budget_of(due[0]))
                    del due[0]
                    self._notify(_NOTIFY_EVERY)
                    await self._wait(_FIRST_PAUSE if is_first else _PAUSE)
            except HistoryError as error:
                log.info("the history can't be read: %s", error)
                pause = _SEARCH_EVERY
            self._schedule.put_back(due)
            self._notify()
            await self._wait(pause)

    def _forget(self, subject: Subject) -> None:
        """Forget the figures of a subject that is computed no longer."""
        if self._known.pop(subject, None) is not None:
            self.publish(subject)

    async def _wait(self, seconds: float) -> None:
        """Wait so long, or until other subjects are on the screen."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()

    def _notify(self, every: float = 0.0) -> None:
        """Call `on_change` if figures have changed, at most once in so many seconds."""
        if self._changed and perf_counter() - self._notified_at >= every:
            self._changed = False
            self._notified_at = perf_counter()
            self.on_change()

    async def _compute(self, subject: Subject, budget: Budget | None) -> None:
        """Compute one subject. Raises HistoryError."""
        if self.history is None:
            return
        before = self._known.get(subject, NOTHING)
        now = self.clock.now()
        was_shown = isinstance(before.forecast, Forecast) and before.forecast.gone is not None
        compute = partial(
            _compute_subject, subject, budget, now, self.limits, is_date_shown=was_shown
        )
        try:
            known = await self.history.ask(compute)
        except HistoryError:
            raise
        except Exception:
            # An unexpected error for one subject must not stop the others.
            log.exception("the forecast of a subject failed")
            known = SubjectForecast(computed_at=now, limit=None if budget is None else budget.limit)
        self._known[subject] = known
        has_alarm = bool(known.burn or known.runaway)
        self._schedule.note_computed(subject, known.computed_at, known.limit, has_alarm=has_alarm)
        self.publish(subject)
        self._changed |= known.rounded() != before.rounded()


def subject_of(budget: Budget) -> Subject:
    return budget.scope, budget.subject


def _compute_subject(
    subject: Subject,
    budget: Budget | None,
    now: float,
    limits: AlertLimits,
    reader: Reader,
    *,
    is_date_shown: bool,
) -> SubjectForecast:
    """The forecast of a subject, computed in the history's thread.

    `is_date_shown` is whether the forecast before this one said when the limit is reached.
    """
    turn_of_thread()  # wait while the user presses keys, which need the interpreter
    scope, subject_id = subject
    # Hours end at full ten minutes; otherwise each computation would change all of them.
    hours = _ends(math.ceil(now / 600) * 600, HOUR, 24)
    spending: Spending | None = None
    figures: dict[str, object] = {}
    if budget is not None:
        track = _budget_track(reader, subject, now)
        period = period_of(budget, now)
        limit = None if budget.limit is None or budget.unlimited else budget.limit.amount
        spending = spending_of(track, period, limit, now)
        if spending is not None:
            figures["forecast"] = forecast(
                spending, period, now, limits, is_date_shown=is_date_shown
            )
            figures["burn"] = burn(spending, period, now, limits)
            lately = reader.budget(scope, subject_id, now - LONG_WINDOW)
            lately_spent = spending_of(lately, period, limit, now)
            figures["fast"] = _fast_spend(lately_spent, period, now)
            figures.update(_hourly_spending(track, period, hours))
            figures["spent_in_period"] = _period_graph(track, period, now)
    turn_of_thread()
    if scope is not BudgetScope.COMPANY:
        figures.update(_log_figures(reader, subject, spending, limits, hours=hours, now=now))
    if scope is not BudgetScope.AGENT:
        queue = reader.queue(subject_id or None, now - DAY - HOUR)
        samples = ((each.at, float(each.waiting)) for each in queue.samples)
        waiting = _held(samples, hours)
        figures["waiting_by_hour"] = _where_seen(waiting, hours, HOUR, queue.seen)
    computed = SubjectForecast(computed_at=now, limit=None if budget is None else budget.limit)
    return replace(computed, **figures)


def _budget_track(reader: Reader, subject: Subject, now: float) -> Track[BudgetSample]:
    """The readings of a budget, in buckets that are longer the older they are.

    The last two hours are read in minutes, so that a burst of spending shows.
    """
    scope, subject_id = subject
    begin = now - MAX_DAYS * DAY
    day_ago = now - DAY
    hours_ago = now - 2 * HOUR
    return joined(
        (
            reader.budget(scope, subject_id, begin, day_ago, shortest=BUCKET_HOUR),
            reader.budget(scope, subject_id, day_ago, hours_ago, shortest=TEN_MINUTES),
            reader.budget(scope, subject_id, hours_ago, now),
        )
    )


def _period_graph(track: Track[BudgetSample], period: Period, now: float) -> Sequence[float]:
    """What was spent by the end of each part of the period so far; nan is a gap."""
    # A reading at the very beginning of the period still belongs to the one before.
    begin = period.start if period.start_told else -math.inf
    readings = (
        (sample.at, float(sample.spent))
        for sample in track.samples
        if sample.spent is not None and sample.at > begin
    )
    length = (now - period.start) / _GRAPH_PARTS
    ends = _ends(now, length, _GRAPH_PARTS)
    graph = _where_seen(_held(readings, ends), ends, length, track.seen)
    # Each budget keeps a graph, and an array takes a quarter of the memory of a list.
    return array("d", (math.nan if value is None else value for value in graph))


def _log_figures(
    reader: Reader,
    subject: Subject,
    spending: Spending | None,
    limits: AlertLimits,
    *,
    hours: Sequence[float],
    now: float,
) -> Mapping[str, object]:
    """The entries of the log by hour; for an agent also its alarm and its usual run."""
    scope, subject_id = subject
    is_agent = scope is BudgetScope.AGENT
    days = HABIT_DAYS + 1 if is_agent else 1
    rows, seen = reader.entries(now - days * DAY - HOUR, 600.0, subject_id or None)
    entries: list[tuple[float, float, float]] = []
    failures: list[tuple[float, float, float]] = []
    for at, entry_count, failure_count in rows:
        end = min(now, at + 600.0)
        entries.append((end, end, float(entry_count)))
        failures.append((end, end, float(failure_count)))
    newest_first = spent_by_slot(entries, hours[-1], HOUR, 24)
    figures: dict[str, object] = {
        "entries_by_hour": _where_seen(newest_first[::-1], hours, HOUR, seen)
    }
    if is_agent:
        alarm_of = partial(runaway, now=now, factor=limits.runaway)
        alarms = [
            alarm_of("failures", failures, seen, least=_MIN_FAILURES),
            alarm_of("entries", entries, seen, least=_MIN_ENTRIES),
        ]
        if spending is not None:
            least = _least_runaway_cost(spending, now)
            alarms.insert(0, alarm_of("cost", spending.flows, spending.seen, least=least))
        figures["runaway"] = _first_alarm(alarms)
        figures["usual_run"] = _usual_run(reader, subject_id, now)
    return figures


def _least_runaway_cost(spending: Spending, now: float) -> float:
    """The cost above the usual that raises an alarm: 2 % of the limit, or a usual day's cost."""
    if spending.limit is not None:
        return 0.02 * spending.limit
    total = sum(amount for _, _, amount in spending.flows)
    return total * DAY / (now - spending.watched_since + 1)


def _first_alarm(alarms: Sequence[Runaway | NoData | None]) -> Runaway | NoData | None:
    """The first alarm that was raised; None if all is well, NoData if nothing is known."""
    for alarm in alarms:
        if alarm:
            return alarm
    return None if None in alarms else NoData()


def _hourly_spending(
    track: Track[BudgetSample], period: Period, hours: Sequence[float]
) -> Mapping[str, object]:
    """What was spent in each hour, and the seconds that these sums cover; empty if unknown."""
    by_hour = spent_by_part(track, period, hours, HOUR)
    if not any(by_hour):
        return {}
    return {
        "spent_by_hour": tuple(None if each is None else float(each.amount) for each in by_hour),
        "spent_seconds": sum(each.seconds for each in by_hour if each is not None),
    }


def _fast_spend(lately: Spending | None, period: Period, now: float) -> FastSpend | None:
    """The alarm by the last minutes in the history; None also if no dashboard observed them."""
    if lately is None or lately.limit is None or not lately.seen:
        return None
    watched_since, until = lately.seen[-1]
    if now - until > _FAST_SPEND_HOLDS:
        return None
    # The first reading holds the spending of the whole period, so only the rises after it count.
    flows = [flow for flow in lately.flows if flow[0] >= lately.watched_since and flow[2] > 0]
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
    """The ends of `count` parts of `length` seconds, oldest first; the last one is `until`."""
    return [until - slot * length for slot in range(count - 1, -1, -1)]


def _held(samples: Iterable[tuple[float, float]], ends: Sequence[float]) -> list[float | None]:
    """The value at each of these times; a sample's value holds until the next sample."""
    known = list(samples)
    values: list[float | None] = []
    for end in ends:
        samples_until = bisect_right(known, (end, math.inf))
        values.append(known[samples_until - 1][1] if samples_until else None)
    return values


def _where_seen(
    figures: Iterable[float | None], ends: Sequence[float], length: float, seen: Sequence[Span]
) -> Day:
    """The figures, with None for parts that were not observed; () if none is known.

    `ends` are the ends of the parts, and `length` is theirs in seconds.
    """
    known: list[float | None] = []
    for figure, end in zip(figures, ends, strict=True):
        is_seen = any(first <= end and last > end - length for first, last in seen)
        known.append(figure if is_seen else None)
    return () if set(known) == {None} else tuple(known)


def _usual_run(reader: Reader, agent: str, now: float) -> float | None:
    """Seconds from approval to end that 95 % of an agent's tasks stay below; None if unknown."""
    runs = sorted(
        life.ended - life.decided
        for life in reader.lives(now - _RUN_DAYS * DAY, agent=agent)
        if life.state is not TaskState.REJECTED
        and life.decided is not None
        and life.ended is not None
        and life.ended >= life.decided
    )
    if len(runs) < _MIN_RUNS:
        return None
    return runs[math.ceil(0.95 * len(runs)) - 1]
