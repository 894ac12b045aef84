"""The six screens by name."""

from __future__ import annotations

from collections.abc import Callable

from agentco_tui.keys import Place
from agentco_tui.screens.session import Session
from agentco_tui.screens.view import View


def overview(session: Session) -> View:
    """What needs a person."""
    from agentco_tui.screens.overview import OverviewView  # noqa: PLC0415

    return OverviewView(session)


def companies(session: Session) -> View:
    """The companies."""
    from agentco_tui.screens.companies import CompaniesView  # noqa: PLC0415

    return CompaniesView(session)


def agents(session: Session) -> View:
    """The agents."""
    from agentco_tui.screens.agents import AgentsView  # noqa: PLC0415

    return AgentsView(session)


def tasks(session: Session) -> View:
    """The task queue."""
    from agentco_tui.screens.tasks import TasksView  # noqa: PLC0415

    return TasksView(session)


def budget(session: Session) -> View:
    """The gauges and the alerts."""
    from agentco_tui.screens.budget import BudgetView  # noqa: PLC0415

    return BudgetView(session)


def activity(session: Session) -> View:
    """The feed."""
    from agentco_tui.screens.activity import ActivityView  # noqa: PLC0415

    return ActivityView(session)


SCREENS: dict[Place, Callable[[Session], View]] = {
    "overview": overview,
    "companies": companies,
    "agents": agents,
    "tasks": tasks,
    "budget": budget,
    "activity": activity,
}
"""How each is made; its module is read when it is first visited."""
