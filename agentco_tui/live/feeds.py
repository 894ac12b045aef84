"""The feeds: what is asked of the platform, which screen needs what, how fresh it is, what time."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date
from enum import StrEnum

import msgspec

from agentco_tui.api.errors import ApiError


class FeedName(StrEnum):
    COMPANIES = "companies"
    AGENTS = "agents"
    PENDING = "pending tasks"
    TASKS = "tasks"
    BUDGET = "budget"
    COMPANY_BUDGETS = "company budgets"
    AGENT_BUDGETS = "agent budgets"
    ALERTS = "alerts"
    ACTIVITY = "activity"


class Pace(StrEnum):
    """How often a feed is asked."""

    REFRESH = "refresh"  # what the screen is about: every `--refresh` seconds
    SLOW = "slow"  # what is always needed, or gives names: every `SLOWER` times that
    OFF = "off"


SLOWER = 3  # how many refreshes a slow feed waits


def interval(pace: Pace, refresh: float) -> float:
    """Seconds between two polls at a pace, of a platform that answers in time."""
    return refresh if pace is Pace.REFRESH else refresh * SLOWER


ALWAYS = frozenset({FeedName.PENDING, FeedName.ALERTS, FeedName.ACTIVITY})
"""The tabs and the header count these on every screen."""
NOTIFIED = frozenset({FeedName.PENDING, FeedName.ALERTS})
"""What users are notified of wherever the dashboard was left; of these a late poll is a late
notification."""
NAMES = frozenset({FeedName.COMPANIES, FeedName.AGENTS})
"""Tasks, budgets and entries often carry ids only; these give the names."""
_BUDGETS = frozenset({FeedName.BUDGET, FeedName.COMPANY_BUDGETS})
SPENDING = _BUDGETS | {FeedName.AGENT_BUDGETS}
"""Polled on every screen: an agent that burns its money has to be named within minutes."""
ON_SCREEN = {
    "overview": (_BUDGETS | ALWAYS, NAMES | {FeedName.AGENT_BUDGETS}),
    "companies": (
        {FeedName.COMPANIES},
        {FeedName.COMPANY_BUDGETS, FeedName.AGENTS, FeedName.AGENT_BUDGETS},
    ),
    "agents": ({FeedName.AGENTS}, {FeedName.COMPANIES, FeedName.AGENT_BUDGETS}),
    "tasks": ({FeedName.PENDING}, NAMES),
    "budget": (_BUDGETS | {FeedName.AGENT_BUDGETS, FeedName.ALERTS}, NAMES),
    "activity": ({FeedName.ACTIVITY}, NAMES),
}
"""What each screen is about, and what it takes names and sums from."""


def paces(screen: str, *, all_tasks: bool = False) -> dict[FeedName, Pace]:
    """How often each feed is asked while `screen` shows; `all_tasks` if other statuses show."""
    wanted, beside = ON_SCREEN[screen]
    if all_tasks:
        wanted = wanted | {FeedName.TASKS}
    beside = ALWAYS | SPENDING | beside
    return {
        feed: Pace.REFRESH if feed in wanted else Pace.SLOW if feed in beside else Pace.OFF
        for feed in FeedName
    }


class ActivityFilter(msgspec.Struct, frozen=True):
    """What of the activity log is asked for; None leaves a query parameter out."""

    company: str | None = None
    agent: str | None = None
    from_date: date | None = None
    to_date: date | None = None
    limit: int | None = None


NO_LOG_FILTER = ActivityFilter()
"""Shows the whole activity log of the company in scope."""


class Query(msgspec.Struct, frozen=True):
    """What the feeds are asked about: a company, or all of them.

    It has no filter of the activity log on purpose: the store's log is read by every screen, by the
    history and by the needs. Whoever wants a part of the log opens a `FilteredLog` of its own.
    """

    company: str | None = None


BY_COMPANY = (FeedName.AGENTS, FeedName.PENDING, FeedName.TASKS, FeedName.AGENT_BUDGETS)
"""Feeds that hold the records of the company in scope."""
SCOPED = (*BY_COMPANY, FeedName.ACTIVITY)  # feeds that are forgotten when their question changes


def question(feed: FeedName, query: Query) -> object:
    """What of a query decides a feed's answer: an answer to another question is not shown."""
    # Parts of the overview stand in for the agents of the company in scope.
    return query.company if feed in (*SCOPED, FeedName.BUDGET) else None


class Phase(StrEnum):
    """Four outcomes, never mixed up: nothing yet, live, old data after a failure, no data."""

    LOADING = "loading"
    LIVE = "live"
    STALE = "stale"
    FAILED = "failed"


class Freshness(msgspec.Struct, frozen=True):
    """When a feed last answered, and if it doesn't now, why and when it is asked again.

    Times are readings of the clock's `monotonic`, in seconds.
    """

    answered_at: float | None = None
    failure: ApiError | None = None  # the error of the last poll; None if it answered
    next_try_at: float | None = None
    failures: int = 0
    took: float | None = None  # seconds the last answered poll took, all its pages together
    slowed: bool = False  # asked less often than wished, since the platform answers so slowly
    late: bool = False  # asked, and no answer for longer than is usual
    narrowed: bool = False  # what is held was picked out of the answer for all companies

    @property
    def phase(self) -> Phase:
        if self.failure is None and (self.answered_at is None or not self.late):
            return Phase.LOADING if self.answered_at is None else Phase.LIVE
        return Phase.FAILED if self.answered_at is None else Phase.STALE

    @property
    def awaited(self) -> bool:
        """Whether the first answer to the question of now is still to come."""
        is_new = self.answered_at is None or self.narrowed
        return is_new and self.failure is None and not self.late

    def age(self, monotonic: float) -> float | None:
        return None if self.answered_at is None else max(0.0, monotonic - self.answered_at)

    def wait(self, monotonic: float) -> float | None:
        return None if self.next_try_at is None else max(0.0, self.next_try_at - monotonic)


SKEW_THAT_MATTERS = 3.0  # seconds: a Date header has whole ones, and travels for a while
SKEW_ERROR = 10.0  # seconds that a measured skew may jump, as while a platform's clock stands still
_STEADY: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Goes on while a laptop sleeps: data from before would otherwise show as some seconds old. On
Linux that is not CLOCK_MONOTONIC, on macOS it is."""


class Clock:
    """The machine's clock, corrected by the skew that the platform's Date headers show."""

    def __init__(
        self,
        skew: Callable[[], float | None] = lambda: None,
        machine: Callable[[], float] = time.time,
    ) -> None:
        """`skew`: seconds that the platform is ahead of the `machine`'s clock."""
        self._skew, self.machine, self._told = skew, machine, 0.0

    def monotonic(self) -> float:
        """Seconds on a clock that never jumps and doesn't stand still in a sleep."""
        return time.clock_gettime(_STEADY)

    def now(self) -> float:
        """Seconds since 1970 as the platform would say."""
        skew, now = self._skew(), self.machine()
        if skew is not None and abs(skew) >= SKEW_THAT_MATTERS:
            now += skew
        # Nothing gets younger because a skew is measured to half a second only.
        self._told = self._told if 0 < self._told - now < SKEW_ERROR else now
        return self._told


def began_at(freshness: Freshness, clock: Clock) -> float:
    """When the last answered read of a feed began, in seconds since 1970 by the platform's clock;
    now, if none was answered yet.
    """
    age = freshness.age(clock.monotonic())
    return clock.now() - (0.0 if age is None else age + (freshness.took or 0.0))
