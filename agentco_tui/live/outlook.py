"""What lies ahead and behind of the records in the store, kept up to date from the history.

All of it is worked out in the history's thread, one subject at a time and with pauses between. What
isn't known yet, or can't be without a history, is None: the first picture waits for nothing.
"""

from __future__ import annotations

import asyncio
import logging
import math
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Final

import msgspec
from msgspec.structs import replace

from agentco_tui.background import turn_of_thread
from agentco_tui.live import forecast as ahead
from agentco_tui.live.feeds import Clock
from agentco_tui.live.forecast import Burn, Flow, Forecast, NoData, Runaway, TooLittle
from agentco_tui.live.history import History
from agentco_tui.live.history_reader import Reader, merged
from agentco_tui.live.history_records import (
    BudgetSample,
    HistoryError,
    QueueSample,
    Span,
    Track,
)
from agentco_tui.live.period import DAY, HOUR, Period, period_of
from agentco_tui.live.store import Store
from agentco_tui.model import AlertLimits, Budget, BudgetScope, TaskState

Day = tuple[float | None, ...]
"""The last 24 hours, oldest first: a figure for each hour, None for a gap."""
Subject = tuple[BudgetScope, str]
"""What a budget is for, by its id; of the whole that is ""."""

log = logging.getLogger(__name__)

_EVERY: Final = {BudgetScope.ALL: 600.0, BudgetScope.COMPANY: 600.0, BudgetScope.AGENT: HOUR}
"""Seconds of the platform's time after which a subject is looked at again."""
_WANTED_EVERY: Final = 300.0  # what shows on the screen, or has an alert
_JUMPS_EVERY: Final = 30.0  # what shows on the screen, and of which much has changed
_JUMP: Final = 0.005  # share of the limit: who spent that since is looked at sooner
_FIRST_PAUSE, _FILL_PAUSE, _PAUSE = 4.0, 30.0, 150.0
"""How long is paused after each look, in times of what it took: while it is the first at what shows
on the screen, the first at anything else, and ever after. So no more than 0.7 % of a processor goes
into it, whatever the number of subjects; they are looked at less often then."""
_GLANCE: Final = 15.0  # seconds after which is looked for what is due
_MOST: Final = 2_000  # agents that are looked at though nobody wants to see them
_IN_A_ROW: Final = 20  # looks between two such
_TROUBLE: Final = 60.0  # seconds after which a history that failed is tried again
_TOLD_EVERY: Final = 1.0  # seconds between two calls of `on_change`
_PARTS: Final = 120  # into which the graph of a period is cut
_ENTRIES, _FAILURES = 20.0, 5.0  # so many more than usual are none to speak of
_RUNS, _RUN_DAYS = 5, 30  # lives of tasks by which an agent's usual run is known


class Prospect(msgspec.Struct, frozen=True, kw_only=True):
    """What was worked out of one subject."""

    looked: float
    budget: Budget | None = None  # as the store had it then
    forecast: Forecast | TooLittle | None = None
    burn: Burn | NoData | None = NoData()
    runaway: Runaway | NoData | None = NoData()
    usual_run: float | None = None
    spent_in_period: Sequence[float] = ()
    spent_by_hour: Day = ()
    waiting_by_hour: Day = ()
    entries_by_hour: Day = ()

    def shown(self) -> object:
        """What a person could see of it: another value where it is worth a repaint."""
        figures: list[object] = [bool(self.burn), bool(self.runaway), type(self.forecast)]
        if isinstance(self.forecast, Forecast):
            here = self.forecast
            figures += [f"{figure:.2e}" for figure in (here.rate, here.low, here.high)]
            figures.append(here.gone and round(here.gone[1] / HOUR))
        if isinstance(self.forecast, TooLittle):
            figures.append(math.ceil(self.forecast.needed / HOUR))
        if self.burn:
            figures += [self.burn.window, f"{self.burn.rate:.2e}", self.burn.gone_in // HOUR]
        if self.runaway:
            figures += [self.runaway.what, self.runaway.window, f"{self.runaway.now:.1e}"]
        days = self.spent_by_hour, self.waiting_by_hour, self.entries_by_hour
        figures += [None if hour is None else f"{hour:.1e}" for day in days for hour in day]
        return figures, self.usual_run and f"{self.usual_run:.1e}"


class Outlook:
    """`on_change` is called (in the event loop) whenever something of it has changed."""

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
        self._known: dict[Subject, Prospect] = {}
        self._wanted: set[Subject] = set()
        self._woken = asyncio.Event()
        self._changed, self._told_at = False, -math.inf

    # What is known

    def forecast(self, budget: Budget) -> Forecast | TooLittle | None:
        """None: no history, not worked out yet, or no spending to go by."""
        return self._of(budget).forecast

    def burn(self, budget: Budget) -> Burn | NoData | None:
        """The worst tier that burns; None if none does, falsy NoData if that isn't known."""
        return self._of(budget).burn

    def runaway(self, agent: str) -> Runaway | NoData | None:
        """An agent far above its own habit; None if it isn't, falsy NoData if that isn't known."""
        return self._known.get((BudgetScope.AGENT, agent), _NOTHING).runaway

    def usual_run(self, agent: str) -> float | None:
        """Seconds that this agent's tasks usually take from the yes to the end (95 %)."""
        return self._known.get((BudgetScope.AGENT, agent), _NOTHING).usual_run

    def spent_by_hour(self, budget: Budget) -> Day:
        """What was spent in each of the last 24 hours; () if nothing is known."""
        return self._of(budget).spent_by_hour

    def spent_in_period(self, budget: Budget) -> Sequence[float]:
        """What was spent by the end of each of equal parts of its period until now, nan for a gap;
        () if nothing is known.
        """
        return self._of(budget).spent_in_period

    def waiting_by_hour(self, company: str | None) -> Day:
        """How many tasks waited at the end of each of the last 24 hours."""
        scope = BudgetScope.ALL if company is None else BudgetScope.COMPANY
        return self._known.get((scope, company or ""), _NOTHING).waiting_by_hour

    def entries_by_hour(self, agent: str | None) -> Day:
        """How many entries the log had in each of the last 24 hours: of an agent, or of all."""
        scope = BudgetScope.ALL if agent is None else BudgetScope.AGENT
        return self._known.get((scope, agent or ""), _NOTHING).entries_by_hour

    def _of(self, budget: Budget) -> Prospect:
        return self._known.get(subject_of(budget), _NOTHING)

    # How it comes to be known

    def want(self, subjects: Iterable[Budget]) -> None:
        """What shows now: it is worked out before the rest."""
        wanted = {subject_of(budget) for budget in subjects}
        if wanted - self._wanted - self._known.keys():
            self._woken.set()
        self._wanted = wanted

    async def work_out(self, subjects: Iterable[Budget]) -> None:
        """Work out these at once, for a command that shows them and ends. Raises HistoryError."""
        for budget in subjects:
            await self._look(subject_of(budget), budget)

    async def run(self) -> None:
        """Keep it all up to date, a little at a time, until cancelled."""
        while self.history is not None:
            self._woken.clear()
            due = self._due()
            pause = _GLANCE if len(due) <= _IN_A_ROW else 0.0
            try:
                for subject, budget in due[:_IN_A_ROW]:
                    is_first = subject not in self._known
                    took = await self._look(subject, budget)
                    self._tell()
                    times = _PAUSE
                    if is_first:
                        times = _FIRST_PAUSE if subject in self._wanted else _FILL_PAUSE
                    await self._wait(times * took)
                    if self._woken.is_set():
                        break
            except HistoryError as error:
                log.info("the history can't be read: %s", error)
                pause = _TROUBLE
            self._tell(at_last=True)
            await self._wait(pause)

    async def _wait(self, seconds: float) -> None:
        """Wait so long, or until something else is wanted."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()

    def _tell(self, *, at_last: bool = False) -> None:
        if self._changed and (at_last or perf_counter() - self._told_at >= _TOLD_EVERY):
            self._changed, self._told_at = False, perf_counter()
            self.on_change()

    def _due(self) -> list[tuple[Subject, Budget | None]]:
        """What is to be looked at, the most urgent first."""
        store, now = self.store, self.clock.now()
        found: list[tuple[int, float, Subject, Budget | None]] = []
        every: dict[Subject, Budget | None] = {(BudgetScope.ALL, ""): None}
        for agent in islice(store.agents, _MOST):
            every[BudgetScope.AGENT, agent.id] = None
        for budgets in store.budgets.values():
            every |= {subject_of(budget): budget for budget in islice(budgets, _MOST)}
        for scope, of in self._wanted:
            if (budget := store.budgets[scope].get(of)) is not None:
                every[scope, of] = budget
        if len(self._known) > 3 * _MOST:
            self._known = {key: known for key, known in self._known.items() if key in every}
        for subject, budget in every.items():
            known, is_wanted = self._known.get(subject), subject in self._wanted
            if known is None:
                of_one = subject[0] is BudgetScope.AGENT
                found.append((0 if is_wanted else 2 + of_one, 0.0, subject, budget))
                continue
            past = now - known.looked
            jumped = past >= (_JUMPS_EVERY if is_wanted else _WANTED_EVERY) and _jumped(
                budget, known.budget
            )
            watched = is_wanted or bool(known.burn) or bool(known.runaway)
            if jumped or past >= (_WANTED_EVERY if watched else _EVERY[subject[0]]):
                found.append((1 if jumped else 3 if watched else 4, -past, subject, budget))
        found.sort(key=lambda one: one[:2])
        return [(subject, budget) for _, _, subject, budget in found]

    async def _look(self, subject: Subject, budget: Budget | None) -> float:
        """Work out one subject; seconds that it took. Raises HistoryError."""
        if self.history is None:
            return 0.0
        before, now = self._known.get(subject, _NOTHING), self.clock.now()
        shown = isinstance(before.forecast, Forecast) and before.forecast.gone is not None
        look = partial(_looked, subject, budget, now, self.limits, shown=shown)
        try:
            known, took = await self.history.ask(look)
        except HistoryError:
            raise
        except Exception:
            # A bug of ours in one subject must not stop the others.
            log.exception("looking ahead failed")
            known, took = Prospect(looked=now, budget=budget), 0.01
        self._known[subject] = known
        self._changed |= known.shown() != before.shown()
        return took


_NOTHING: Final = Prospect(looked=-math.inf)


def subject_of(budget: Budget) -> Subject:
    return budget.scope, "" if budget.scope is BudgetScope.ALL else budget.id


def _jumped(budget: Budget | None, before: Budget | None) -> bool:
    """Whether its limit has changed since, or much was spent, or it began anew."""
    if budget is None or before is None or budget.limit != before.limit:
        return budget is not before
    if budget.spent is None or before.spent is None:
        return False
    more = abs(float(budget.spent.amount) - float(before.spent.amount))
    return more > _JUMP * abs(float((budget.limit or before.spent).amount))


def _looked(
    subject: Subject,
    budget: Budget | None,
    now: float,
    limits: AlertLimits,
    reader: Reader,
    *,
    shown: bool,
) -> tuple[Prospect, float]:
    """What there is to say of a subject, and the seconds of work; in the history's thread."""
    turn_of_thread()
    began = perf_counter()
    (scope, of), past = subject, None
    said: dict[str, object] = {}
    if budget is not None:
        # The last day as it was polled, so that a burst is seen; of the rest hours are enough.
        older = reader.budget(scope, of, now - ahead.PAST * DAY, now - DAY, every=HOUR)
        track = _joined(older, reader.budget(scope, of, now - DAY, every=300.0))
        period = period_of(budget, now)
        past = ahead.spending(track, period)
        if past is not None:
            limit = None if budget.limit is None or budget.unlimited else budget.limit.amount
            past = past.of_limit(limit, now)
            said["forecast"] = ahead.forecast(past, period, now, limits, shown=shown)
            said["burn"] = ahead.burn(past, period, now, limits)
            said["spent_by_hour"] = by_hour(past.flows, past.seen, now)
            said["spent_in_period"] = spent_in(period, track, now)
    turn_of_thread()
    if scope is not BudgetScope.COMPANY:
        counts = _counted(reader, of or None, now)
        said["entries_by_hour"] = by_hour(counts[0], counts[2], now)
        if scope is BudgetScope.AGENT:
            said["runaway"] = _runaway(past, counts, now, limits)
            said["usual_run"] = _usual_run(reader, of, now)
    if scope is not BudgetScope.AGENT:
        said["waiting_by_hour"] = held_by_hour(reader.queue(of or None, now - DAY - HOUR), now)
    found = replace(Prospect(looked=now, budget=budget), **said)
    return found, perf_counter() - began


def _joined(older: Track[BudgetSample], newer: Track[BudgetSample]) -> Track[BudgetSample]:
    """Two reads of one budget as one; the later begins with what held at its beginning."""
    last = older.samples[-1].at if older.samples else -math.inf
    samples = *older.samples, *(sample for sample in newer.samples if sample.at > last)
    return Track(samples, merged((*older.seen, *newer.seen)))


Counts = tuple[list[Flow], list[Flow], Sequence[Span]]
"""Entries of the log, failures among them, and when the log was read."""


def _counted(reader: Reader, agent: str | None, now: float) -> Counts:
    day, entries, failures = (now - DAY) // HOUR * HOUR, list[Flow](), list[Flow]()
    spans: list[Span] = []
    for since, until, every in ((now - (ahead.HABIT + 1) * DAY, day, HOUR), (day, now, 60.0)):
        if agent is None and until == day:
            continue
        rows, seen = reader.entries(since, every, agent)
        for at, count, failed in rows:
            if at < until:
                end = min(now, at + every)
                entries.append((end, end, float(count)))
                failures.append((end, end, float(failed)))
        spans += seen
    return entries, failures, merged(sorted(spans))


def _runaway(
    past: ahead.Spending | None, counts: Counts, now: float, limits: AlertLimits
) -> Runaway | NoData | None:
    """The first that is one, of cost, failures and entries; None only if something is known."""
    entries, failures, seen = counts
    found: list[Runaway | NoData | None] = []
    if past is not None:
        flows = [flow for flow in past.flows if flow[1] > now - (ahead.HABIT + 1) * DAY]
        # Without a limit, what is more than a usual day's counts.
        usual = sum(flow[2] for flow in flows) / (ahead.HABIT + 1)
        least = usual if past.limit is None else 0.02 * past.limit
        found.append(
            ahead.runaway("cost", flows, past.seen, now, least=least, factor=limits.runaway)
        )
    for what, flows, least in (("failures", failures, _FAILURES), ("entries", entries, _ENTRIES)):
        found.append(ahead.runaway(what, flows, seen, now, least=least, factor=limits.runaway))
    return next((one for one in found if one), None if None in found else NoData())


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


def _parts(
    seen: Sequence[Span], until: float, length: float, count: int
) -> list[tuple[float, bool]]:
    """The ends of so many parts of a time, oldest first, each with whether any of it was seen."""
    ends = [until - slot * length for slot in range(count - 1, -1, -1)]
    return [(end, any(a <= end and b > end - length for a, b in seen)) for end in ends]


def _hours(seen: Sequence[Span], now: float) -> list[tuple[float, bool]]:
    """The last 24. They end at full ten minutes, or all would change with every look."""
    return _parts(seen, math.ceil(now / 600) * 600, HOUR, 24)


def by_hour(flows: Iterable[Flow], seen: Sequence[Span], now: float) -> Day:
    """What came in each of the last 24 hours."""
    hours = _hours(seen, now)
    rising = (flow for flow in flows if flow[2] > 0)
    sums = ahead.summed(rising, hours[-1][0], HOUR, 24)[::-1]
    if not any(is_seen for _, is_seen in hours):
        return ()
    return tuple(
        total if is_seen else None for total, (_, is_seen) in zip(sums, hours, strict=True)
    )


def _held(samples: Iterable[tuple[float, float]], parts: list[tuple[float, bool]]) -> Day:
    """What held at the end of each part that was seen; each sample holds until the next."""
    known = list(samples)
    times, found = [at for at, _ in known], list[float | None]()
    for end, is_seen in parts:
        last = bisect_right(times, end)
        found.append(known[last - 1][1] if is_seen and last else None)
    return tuple(found) if any(figure is not None for figure in found) else ()


def held_by_hour(track: Track[QueueSample], now: float) -> Day:
    """What waited at the end of each of the last 24 hours."""
    held = ((sample.at, float(sample.waiting)) for sample in track.samples)
    return _held(held, _hours(track.seen, now))


def spent_in(period: Period, track: Track[BudgetSample], now: float) -> Sequence[float]:
    """What was spent by the end of each part of the period until now, packed: of every budget."""
    held = (
        (sample.at, float(sample.spent))
        for sample in track.samples
        # What held as the period began is of the one before.
        if sample.spent is not None and (sample.at > period.start or not period.start_told)
    )
    parts = _parts(track.seen, now, (now - period.start) / _PARTS, _PARTS)
    return array("d", (math.nan if figure is None else figure for figure in _held(held, parts)))
