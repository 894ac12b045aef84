"""Raises alarms for budgets whose limit is reached within the hour at the rate of the last minutes.

A budget is the limit and the spending of an AI agent, a company or all. `SpendRates` follows the
figures of every budget in the store (the snapshot of the platform, the remote service) as the polls
bring them. The history file, which keeps older figures, is not read, so this works from the first
minutes of a new installation. Times are readings of the steady clock in seconds, so a platform
whose `Date` header jumps changes nothing here. The thresholds were chosen with
`python -m tests.benchmarks.forecast --part minutes --choosing`; docs/forecast.md explains how.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from math import inf
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from agentco_tui.live.feeds import Clock, FeedName
from agentco_tui.live.names import Names
from agentco_tui.live.store import Change, Store
from agentco_tui.model import Budget, BudgetScope
from agentco_tui.model.period import period_of

SHORT_WINDOW: Final = 300.0  # seconds
LONG_WINDOW: Final = 900.0  # seconds; older spending is forgotten
FULLY_WATCHED: Final = 120.0
"""Seconds over which spending is averaged at least, so that a short look raises no alarm."""
ALARM_WITHIN: Final = 3_600.0  # seconds until the limit, by both windows
EXTREME_WITHIN: Final = 1_800.0  # seconds until the limit, where the short window alone decides
ENDS_BEYOND: Final = 2.0  # times ALARM_WITHIN at which an alarm ends again
LEAST_SHARE: Final = 0.03  # of the limit, that was spent in the long window
EXTREME_SHARE: Final = 0.05  # of the limit, that was spent in the short window
TIMES_EVEN: Final = 40.0  # times the rate at which the limit would last for its whole period
TIMES_SUSTAINABLE: Final = 4.0  # times the rate at which the rest would last until the period ends
# A part is an amount that came at about one time.
LEAST_PARTS: Final = 5  # amounts in which it came: a few large jobs are no rate
LEAST_SPAN: Final = 150.0  # seconds over which they came
LARGEST_PART: Final = 0.6  # share of the spending that one of them may be
SUDDEN: Final = 1.3  # times the rate of the short window at which the last two minutes decide
MOSTLY: Final = 0.5  # share of a company's rate at which one agent explains it

_PART: Final = 15.0  # seconds within which amounts are one part
_RESET: Final = 0.2  # a figure that falls below this share of itself was reset
_CHUNK: Final = 250  # budgets between two pauses
# The feeds (lists that are polled) that have budgets, and the scope of these: whose they are.
_FEED_OF: Final = {
    FeedName.BUDGET: BudgetScope.ALL,
    FeedName.COMPANY_BUDGETS: BudgetScope.COMPANY,
    FeedName.AGENT_BUDGETS: BudgetScope.AGENT,
}

Subject = tuple[BudgetScope, str]
"""The owner of a budget: its scope and id."""
Flow = tuple[float, float, float]
"""An amount that was spent: the beginning and the end of the time in which, then how much.

Both times are equal if the amount was seen as it came.
"""


class FastSpend(msgspec.Struct, frozen=True, kw_only=True):
    """A budget whose limit is reached soon at the rate of the last minutes; derived, not sent."""

    rate: float  # whole units a second
    reached_in: float  # seconds until the limit is reached at that rate, when it was computed
    lasts: float  # seconds for which it has been going on, at most those of the long window
    reached_at: float = 0.0  # the same as a time of the platform, seconds since 1970
    since: float = 0.0  # when it began, as a time of the platform
    mostly: str | None = None  # the id of the agent that spends most of it, if one does


def spent_within(flows: Iterable[Flow], since: float) -> tuple[float, int, float]:
    """The amount that came after `since`, in how many parts, and the largest of them.

    A part that began before is counted by its share of time.
    """
    total = 0.0
    largest = 0.0
    parts = 0
    for begin, end, amount in flows:
        if end <= since:
            continue
        within = amount
        if begin < since:
            within = amount * (end - since) / (end - begin)
        total += within
        largest = max(largest, within)
        parts += 1
    return total, parts, largest


def fast_spend(
    flows: Sequence[Flow],
    watched_since: float,
    spent: float,
    limit: float,
    now: float,
    *,
    period: float,
    period_left: float,
    standing: bool = False,
) -> FastSpend | None:
    """The alarm for a budget of which `flows` came since `watched_since`; None if there is none.

    `period` is how long the limit is for in seconds, `period_left` what is left of that. An alarm
    that is `standing` ends only when the spending has clearly slowed down, so that it does not come
    and go around a threshold.
    """
    room = limit - spent
    if room <= 0 or period_left <= 0:
        return None
    in_short, _, largest_in_short = spent_within(flows, now - SHORT_WINDOW)
    if in_short <= 0:
        return None
    in_long, parts, largest_in_long = spent_within(flows, now - LONG_WINDOW)
    watched = max(FULLY_WATCHED, now - watched_since)
    short_rate = in_short / min(SHORT_WINDOW, watched)
    long_rate = in_long / min(LONG_WINDOW, watched)
    reached_in = room / short_rate
    sustainable = room / period_left
    if standing:
        is_fast = reached_in <= ENDS_BEYOND * ALARM_WITHIN and reached_in < period_left
    else:
        lasts = now - max(now - LONG_WINDOW, flows[0][0])
        # In the long window a gap may hold most of it, in the short one a slow poll.
        largest_share = min(largest_in_short / in_short, largest_in_long / in_long)
        is_in_parts = parts >= LEAST_PARTS and largest_share <= LARGEST_PART
        is_sustained = is_in_parts and lasts >= LEAST_SPAN
        is_far_too_fast = (
            short_rate >= TIMES_SUSTAINABLE * sustainable
            and short_rate >= TIMES_EVEN * limit / period
        )
        windows_agree = (
            room / min(short_rate, long_rate) <= ALARM_WITHIN and in_long >= LEAST_SHARE * limit
        )
        is_extreme = reached_in <= EXTREME_WITHIN and in_short >= EXTREME_SHARE * limit
        is_fast = is_sustained and is_far_too_fast and (windows_agree or is_extreme)
    if not is_fast:
        return None
    rate = max(short_rate, _sudden_rate(flows, now, short_rate))
    began = max(now - LONG_WINDOW, flows[0][0])
    return FastSpend(rate=rate, reached_in=room / rate, lasts=now - began)


def _sudden_rate(flows: Sequence[Flow], now: float, short_rate: float) -> float:
    """The rate of the last two minutes, if it is clearly higher than that of five; else 0.

    An agent that has just begun to burn spends more than the five minutes show. Whether there is an
    alarm is not decided by this, only what it says.
    """
    amount, parts, largest = spent_within(flows, now - FULLY_WATCHED)
    rate = amount / FULLY_WATCHED
    is_steady = parts >= LEAST_PARTS and largest <= LARGEST_PART * amount
    if is_steady and rate >= SUDDEN * short_rate:
        return rate
    return 0.0


class SpendSeries:
    """What was spent of one budget in the last quarter of an hour."""

    __slots__ = ("_peak", "_peak_until", "at", "away_since", "flows", "spent", "watched_since")

    def __init__(self, at: float, spent: float) -> None:
        self.spent = spent
        self.at = at  # when the last figure came
        self.watched_since = at
        self.flows: list[Flow] = []  # oldest first
        self.away_since: float | None = None  # when it was last seen, if it left the list
        self._peak = spent
        self._peak_until = at

    def add(self, unchanged_until: float, at: float, spent: float) -> None:
        """Take another figure; `unchanged_until` is when the one before was last confirmed.

        What came in a gap is spread over the gap. A figure that falls to less than a fifth began
        again. After any other fall only what exceeds the highest figure counts for a while: a
        figure that goes up and down is no spending.
        """
        if at <= self.at:
            return
        begin = min(max(self.at, unchanged_until), at)
        before = self.spent
        self.spent = spent
        self.at = at
        self._forget_before(at - LONG_WINDOW)
        if spent < _RESET * before:
            self.flows.clear()
            self.watched_since = at
            self._peak = spent
            return
        if spent < before:
            self._peak = max(self._peak, before) if at <= self._peak_until else before
            self._peak_until = at + LONG_WINDOW
            return
        counted_before = max(before, self._peak) if at <= self._peak_until else before
        if spent <= counted_before:
            return
        amount = spent - counted_before
        if self.flows and at - self.flows[-1][0] <= _PART:
            first, _, earlier = self.flows[-1]
            self.flows[-1] = first, at, earlier + amount
        else:
            self.flows.append((begin, at, amount))

    def rate(self, now: float) -> float:
        """Whole units a second in the short window."""
        watched = max(FULLY_WATCHED, now - self.watched_since)
        return spent_within(self.flows, now - SHORT_WINDOW)[0] / min(SHORT_WINDOW, watched)

    def _forget_before(self, moment: float) -> None:
        old = 0
        while old < len(self.flows) and self.flows[old][1] <= moment:
            old += 1
        del self.flows[:old]


class _BudgetAnswer(NamedTuple):
    """Budgets that came or changed with one answer, not yet taken in."""

    scope: BudgetScope
    budgets: Sequence[Budget]
    removed: Sequence[str]
    confirmed_at: float  # when the answer before it came
    at: float


class SpendRates:
    """Follows what is spent of every budget in a store, for as long as both exist.

    Work is done only for budgets that changed, and for the few that have an alarm.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._names = Names(store)
        self._answered_at: dict[FeedName, float] = {}
        self._waiting: deque[_BudgetAnswer] = deque()
        self._series: dict[Subject, SpendSeries] = {}
        self._agents_by_change: dict[str, None] = {}  # the one that spent last comes last
        self._alarms: dict[Subject, FastSpend] = {}
        store.subscribe(self._queue_answer, _FEED_OF)
        store.follow_freshness(self._note_time)

    def alarm_of(self, budget: Budget) -> FastSpend | None:
        """The alarm for a budget, as `take_in` computed it last."""
        return self._alarms.get((budget.scope, budget.subject))

    @property
    def alarms(self) -> Mapping[Subject, FastSpend]:
        """All alarms, as `take_in` computed them last."""
        return self._alarms

    def is_watched(self, budget: Budget) -> bool:
        """Whether a budget was followed for long enough to say that there is no alarm."""
        return self.watched_in(budget) <= 0

    def watched_in(self, budget: Budget) -> float:
        """Seconds until a budget was followed for long enough; `inf` if it isn't followed."""
        series = self._series.get((budget.scope, budget.subject))
        if series is None:
            return inf
        return SHORT_WINDOW - (self._clock.monotonic() - series.watched_since)

    def take_in(self) -> Generator[None, None, None]:
        """Take in what has come since the last time, and end alarms that are over; pauses often."""
        while self._waiting:
            answer = self._waiting.popleft()
            for subject_id in answer.removed:
                series = self._series.get((answer.scope, subject_id))
                if series is not None:
                    series.away_since = answer.confirmed_at
            for number, budget in enumerate(answer.budgets):
                if number % _CHUNK == 0:
                    yield
                self._take_budget(budget, answer)
        for subject in tuple(self._alarms):
            record = self._store.budgets[subject[0]].get(self._record_id(subject))
            if record is None:
                del self._alarms[subject]
                continue
            self._update_alarm(record, subject)
            if subject in self._alarms and subject[0] is not BudgetScope.AGENT:
                yield from self._name_main_spender(subject)

    # In the store's callbacks: as little as possible

    def _note_time(self, feed: FeedName) -> None:
        answered_at = self._store.freshness[feed].answered_at
        if answered_at is not None:
            self._answered_at[feed] = answered_at

    def _queue_answer(self, change: Change) -> None:
        scope = _FEED_OF[change.feed]
        records = self._store.budgets[scope].records
        came = (*change.added, *change.changed)
        now = self._clock.monotonic()
        # Parts of the overview stand in for a feed that has not answered.
        confirmed_at = self._answered_at.get(change.feed)
        if confirmed_at is None:
            confirmed_at = self._answered_at.get(FeedName.BUDGET, now)
        budgets = [records[each] for each in came if each in records]
        self._waiting.append(_BudgetAnswer(scope, budgets, change.removed, confirmed_at, now))

    # In slices

    def _take_budget(self, budget: Budget, answer: _BudgetAnswer) -> None:
        if budget.spent is None:
            return
        subject = budget.scope, budget.subject
        spent = float(budget.spent.amount)
        series = self._series.get(subject)
        if series is None:
            self._series[subject] = SpendSeries(answer.at, spent)
            return
        confirmed_at = answer.confirmed_at
        if series.away_since is not None:
            confirmed_at = series.away_since
            series.away_since = None
        is_higher = spent > series.spent
        series.add(confirmed_at, answer.at, spent)
        if is_higher and budget.scope is BudgetScope.AGENT:
            self._agents_by_change.pop(budget.id, None)
            self._agents_by_change[budget.id] = None
        if subject not in self._alarms:  # those that have one are judged after all
            self._update_alarm(budget, subject)

    def _update_alarm(self, budget: Budget, subject: Subject) -> None:
        """Raise, renew or end the alarm for a budget."""
        series = self._series.get(subject)
        before = self._alarms.pop(subject, None)
        if series is None or budget.limit is None or budget.unlimited:
            return
        limit = float(budget.limit.amount)
        recent_amount = sum(amount for _, _, amount in series.flows)
        is_below_threshold = before is None and recent_amount < LEAST_SHARE * limit
        if limit <= 0 or is_below_threshold:
            return
        steady = self._clock.monotonic()
        now = self._clock.now()
        period = period_of(budget, now)
        alarm = fast_spend(
            series.flows,
            series.watched_since,
            series.spent,
            limit,
            steady,
            period=period.end - period.start,
            period_left=period.end - now,
            standing=before is not None,
        )
        if alarm is None:
            return
        since = now - alarm.lasts
        main_spender: str | None = None
        if before is not None:
            since = before.since
            main_spender = before.mostly
        self._alarms[subject] = replace(
            alarm, reached_at=now + alarm.reached_in, since=since, mostly=main_spender
        )

    def _name_main_spender(self, subject: Subject) -> Generator[None, None, None]:
        """Name the agent that spends most of what a company, or the whole, spends, if one does."""
        alarm = self._alarms[subject]
        steady = self._clock.monotonic()
        highest_rate = 0.0
        main_spender: str | None = None
        for number, agent in enumerate(reversed(tuple(self._agents_by_change))):
            if number % _CHUNK == _CHUNK - 1:
                yield
            series = self._series.get((BudgetScope.AGENT, agent))
            if series is None or steady - series.at > SHORT_WINDOW:
                break
            rate = series.rate(steady)
            if rate > highest_rate and self._belongs_to(agent, subject):
                highest_rate = rate
                main_spender = agent
        if subject in self._alarms:
            if highest_rate < MOSTLY * alarm.rate:
                main_spender = None
            self._alarms[subject] = replace(self._alarms[subject], mostly=main_spender)

    def _belongs_to(self, agent: str, subject: Subject) -> bool:
        scope, company = subject
        if scope is BudgetScope.ALL:
            return True
        budget = self._store.agent_budgets.get(agent)
        if budget is None:
            return False
        owner = self._names.company_of(budget)
        return owner is not None and owner.id == company

    def _record_id(self, subject: Subject) -> str | None:
        """The id of a subject's record; that of the whole is not its subject."""
        scope, subject_id = subject
        if scope is not BudgetScope.ALL:
            return subject_id
        return next((budget.id for budget in self._store.budget), None)
