"""The feeds: what is asked of the platform, which screen needs what, and how fast."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType


class FeedName(StrEnum):
    """One schedule each."""

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

    REFRESH = "refresh"
    """What the screen is about: every `--refresh` seconds."""
    SLOW = "slow"
    """What is always needed, and what the screen takes names from: every `SLOWER` times that."""
    OFF = "off"


SLOWER = 3
"""How many refreshes a slow feed waits."""

ALWAYS = frozenset({FeedName.PENDING, FeedName.ALERTS, FeedName.ACTIVITY})
"""The tabs and the header count these on every screen."""

NAMES = frozenset({FeedName.COMPANIES, FeedName.AGENTS})
"""Tasks, budgets and entries often carry ids only; these give the names."""

ON_SCREEN = MappingProxyType(
    {
        "overview": frozenset(
            {
                FeedName.PENDING,
                FeedName.ALERTS,
                FeedName.BUDGET,
                FeedName.COMPANY_BUDGETS,
                FeedName.ACTIVITY,
            }
        ),
        "companies": frozenset({FeedName.COMPANIES}),
        "agents": frozenset({FeedName.AGENTS}),
        "tasks": frozenset({FeedName.PENDING}),
        "budget": frozenset(
            {
                FeedName.BUDGET,
                FeedName.COMPANY_BUDGETS,
                FeedName.AGENT_BUDGETS,
                FeedName.ALERTS,
            }
        ),
        "activity": frozenset({FeedName.ACTIVITY}),
    }
)

BESIDE = MappingProxyType(
    {
        "overview": NAMES | {FeedName.AGENT_BUDGETS},
        "companies": frozenset({FeedName.COMPANY_BUDGETS, FeedName.AGENTS}),
        "agents": frozenset({FeedName.COMPANIES, FeedName.AGENT_BUDGETS}),
        "tasks": NAMES,
        "budget": NAMES,
        "activity": NAMES,
    }
)


def paces(screen: str, *, all_tasks: bool = False) -> dict[FeedName, Pace]:
    """How often each feed is asked while `screen` shows; `all_tasks` if other statuses show."""
    wanted = ON_SCREEN[screen]
    if all_tasks:
        wanted = wanted | {FeedName.TASKS}
    beside = ALWAYS | BESIDE[screen]
    return {
        feed: Pace.REFRESH if feed in wanted else Pace.SLOW if feed in beside else Pace.OFF
        for feed in FeedName
    }
