"""The feeds, how often each is polled, how fresh its data are, and the clock.

A feed is one list or record of the platform (the remote service that the program watches) that is
polled on its own schedule; the store keeps what the last polls brought. The platform runs companies
of AI agents, which work on tasks and spend money. `paces_of_screen` says how often each feed is
polled while a screen is shown; `Query` is what all feeds are asked about; `Freshness` is the state
that the header shows of a feed: when it answered, why it fails, when it is polled again. `Clock`
shows the platform's time, and measures intervals. `Poller` uses all of these.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

from agentco_tui.api.errors import ApiError, NotOffered

if TYPE_CHECKING:
    from agentco_tui.api.capabilities import Operation
    from agentco_tui.text import SafeText


class FeedName(StrEnum):
    """PENDING are the tasks that wait for the user, TASKS those of every status.

    BUDGET is the budget of the whole platform, ALERTS are its warnings about budgets.
    """

    COMPANIES = "companies"
    AGENTS = "agents"
    PENDING = "pending tasks"
    TASKS = "tasks"
    BUDGET = "budget"
    COMPANY_BUDGETS = "company budgets"
    AGENT_BUDGETS = "agent budgets"
    ALERTS = "alerts"
    ACTIVITY = "activity"


OPERATION_OF_FEED: Final[Mapping[FeedName, Operation]] = {
    FeedName.COMPANIES: "companies",
    FeedName.AGENTS: "agents",
    FeedName.PENDING: "tasks",
    FeedName.TASKS: "tasks",
    FeedName.BUDGET: "budget",
    FeedName.COMPANY_BUDGETS: "company_budgets",
    FeedName.AGENT_BUDGETS: "agent_budgets",
    FeedName.ALERTS: "budget_alerts",
    FeedName.ACTIVITY: "activity",
}
"""The operation of the platform that answers each feed."""


class Pace(StrEnum):
    """How often a feed is polled."""

    REFRESH = "refresh"  # what the screen is about: every `--refresh` seconds
    SLOW = "slow"  # what is always needed, or gives names: every `SLOWER` times as long
    OFF = "off"


SLOWER = 3  # refresh intervals between two polls of a slow feed


def poll_interval(pace: Pace, refresh: float) -> float:
    """Seconds between two polls at a pace, if the platform answers quickly enough.

    `refresh` is the configured interval in seconds.
    """
    if pace is Pace.REFRESH:
        return refresh
    return refresh * SLOWER


ALWAYS = frozenset({FeedName.PENDING, FeedName.ALERTS, FeedName.ACTIVITY})
"""The tabs and the header count these on every screen."""
NOTIFIED = frozenset({FeedName.PENDING, FeedName.ALERTS})
"""The feeds that notifications come from, on every screen: a late poll is a late notification."""
NAMES = frozenset({FeedName.COMPANIES, FeedName.AGENTS})
"""Tasks, budgets and log entries often carry only ids; these feeds give the names."""
_BUDGETS = frozenset({FeedName.BUDGET, FeedName.COMPANY_BUDGETS})
SPENDING = _BUDGETS | {FeedName.AGENT_BUDGETS}
"""Polled on every screen: an agent that spends too fast must be shown within minutes."""
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
"""For each screen the feeds that it is about, and those whose names and spending it also shows."""


def paces_of_screen(screen: str, *, all_tasks: bool = False) -> dict[FeedName, Pace]:
    """How often each feed is polled while a screen is shown.

    `all_tasks` is whether it shows tasks of other statuses than pending.
    """
    main_feeds, other_feeds = ON_SCREEN[screen]
    paces_by_feed = dict.fromkeys(FeedName, Pace.OFF)
    for feed in ALWAYS | SPENDING | other_feeds:
        paces_by_feed[feed] = Pace.SLOW
    for feed in main_feeds:
        paces_by_feed[feed] = Pace.REFRESH
    if all_tasks:
        paces_by_feed[FeedName.TASKS] = Pace.REFRESH
    return paces_by_feed


class ActivityFilter(msgspec.Struct, frozen=True):
    """The query parameters of the activity log; None leaves one out."""

    company: str | None = None
    agent: str | None = None
    from_date: date | None = None
    to_date: date | None = None
    limit: int | None = None


NO_LOG_FILTER = ActivityFilter()
"""The whole activity log."""


class Query(msgspec.Struct, frozen=True):
    """What the feeds are asked about: one company, or with None all of them.

    That company is the scope. There is no filter of the activity log here on purpose: every screen,
    the history (a database of what was polled) and the "needs you" list (what the user should look
    at) read the store's log. What needs a part of the log opens its own `FilteredLog`.
    """

    company: str | None = None


BY_COMPANY = (FeedName.AGENTS, FeedName.PENDING, FeedName.TASKS, FeedName.AGENT_BUDGETS)
"""Feeds of which each record belongs to one company; log entries may belong to none."""
SCOPED = (*BY_COMPANY, FeedName.ACTIVITY)  # feeds whose data are dropped when the scope changes


def query_key(feed: FeedName, query: Query) -> object:
    """The part of a query that a feed's answer depends on; None if it depends on none.

    An answer is shown only if its key equals that of the current query.
    """
    # The answer for BUDGET has budgets of agents, too: those of the company in scope are used.
    if feed in (*SCOPED, FeedName.BUDGET):
        return query.company
    return None


class Phase(StrEnum):
    """The state of a feed: nothing yet, live, stale after a failure, or failed with no data."""

    LOADING = "loading"
    LIVE = "live"
    STALE = "stale"
    FAILED = "failed"


class Freshness(msgspec.Struct, frozen=True):
    """When a feed last answered, and why it does not now.

    Times are readings of `Clock.monotonic`, in seconds.
    """

    answered_at: float | None = None
    failure: ApiError | None = None  # the error of the last poll; None if it answered
    next_try_at: float | None = None
    failures: int = 0
    took: float | None = None  # seconds the last answered poll took, all its pages together
    slow_answers: bool = False  # they take so long that the feed is polled less often than wished
    late: bool = False  # the answer takes longer than usual
    filtered_from_all: bool = False  # one company's data, from the answer for all companies

    @property
    def phase(self) -> Phase:
        if self.answered_at is None:
            return Phase.LOADING if self.failure is None else Phase.FAILED
        is_live = self.failure is None and not self.late
        return Phase.LIVE if is_live else Phase.STALE

    @property
    def is_offered(self) -> bool:
        """Whether the platform has this feed at all, as far as is known."""
        return self.why_not_offered is None

    @property
    def why_not_offered(self) -> SafeText | None:
        """The sentence that the platform does not have this feed; None while that is not known."""
        if isinstance(self.failure, NotOffered):
            return self.failure.sentence
        return None

    @property
    def awaited(self) -> bool:
        """Whether the first answer for the current scope is still to come."""
        is_new = self.answered_at is None or self.filtered_from_all
        return is_new and self.failure is None and not self.late

    def age(self, monotonic: float) -> float | None:
        """Seconds since the last answer; None before the first."""
        if self.answered_at is None:
            return None
        return max(0.0, monotonic - self.answered_at)

    def wait(self, monotonic: float) -> float | None:
        """Seconds until the next poll; None if none is planned."""
        if self.next_try_at is None:
            return None
        return max(0.0, self.next_try_at - monotonic)


SKEW_THAT_MATTERS = 3.0  # seconds: a Date header has whole ones, and travels for a while
SKEW_ERROR = 10.0  # seconds by which a measured skew may jump back
_STEADY: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that goes on while a laptop sleeps; otherwise, data from before the sleep would show as
seconds old. On Linux, CLOCK_MONOTONIC does not; on macOS it does."""


class Clock:
    """The machine's clock, corrected by the skew that the platform's Date headers show."""

    def __init__(
        self,
        skew: Callable[[], float | None] = lambda: None,
        machine: Callable[[], float] = time.time,
    ) -> None:
        """`skew` returns the seconds by which the platform is ahead of the `machine`'s clock."""
        self._skew = skew
        self.machine = machine
        self._last_returned = 0.0  # by `now`

    def monotonic(self) -> float:
        """Seconds on a clock that never jumps and doesn't stand still in a sleep."""
        return time.clock_gettime(_STEADY)

    def now(self) -> float:
        """Seconds since 1970 as the platform would say."""
        skew = self._skew()
        now = self.machine()
        if skew is not None and abs(skew) >= SKEW_THAT_MATTERS:
            now += skew
        # The skew is measured to half a second only: a small jump back would make ages shrink.
        if not 0 < self._last_returned - now < SKEW_ERROR:
            self._last_returned = now
        return self._last_returned


def began_at(freshness: Freshness, clock: Clock) -> float:
    """When the last answered read of a feed began, in seconds since 1970 by the platform's clock.

    If none was answered yet, now.
    """
    age = freshness.age(clock.monotonic())
    if age is None:
        return clock.now()
    return clock.now() - (age + (freshness.took or 0.0))
