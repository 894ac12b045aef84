"""Budgets of the embedded world: spending, limits, and the alerts that rise and resolve."""

from __future__ import annotations

from agentco_tui.demo.model import DOLLAR, Agent, Alert, Company, State

WARN_AT = 80
STOP_AT = 100


def share(spent: int, limit: int | None) -> float | None:
    """Spent over limit, 1 = all of it; None without a limit."""
    return spent / limit if limit else None


def level(spent: int, limit: int | None) -> int:
    """The threshold in per cent that was reached: 0, 80 or 100."""
    if not limit:
        return 0
    if spent >= limit:
        return STOP_AT
    return WARN_AT if spent * 100 >= limit * WARN_AT else 0


def forecast(state: State, spent: int, at: float) -> int:
    """What will have been spent by the end of the period, at the mean rate so far."""
    passed = max(at - state.period_start, 86_400.0)
    whole = state.resets - state.period_start
    return int(spent * max(1.0, whole / passed))


def dollars(micros: int) -> str:
    """A sum as agents write it: 1,234.50."""
    return f"{micros / DOLLAR:,.2f}"


class Treasury:
    """Books what agents spend and raises what follows from it."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._open: dict[str, Alert] = {}

    def charge(self, agent: Agent, micros: int, at: float) -> None:
        """Book a cost; the agent stops when its limit is reached."""
        if micros <= 0:
            return
        agent.spent += micros
        agent.company.spent += micros
        self._state.changed_agent(agent)
        self._state.changed_company(agent.company)
        self._state.revisions["budgets"] += 1
        self.review_agent(agent, at)
        self.review_company(agent.company, at)

    def set_limit(self, agent: Agent, micros: int | None, at: float) -> None:
        """Set or lift an agent's monthly limit; it is paused or resumed as that demands."""
        agent.limit = micros
        self._state.changed_agent(agent)
        self._state.revisions["budgets"] += 1
        self.review_agent(agent, at)

    def review_agent(self, agent: Agent, at: float) -> None:
        """Bring the alert and the status of an agent in line with its money."""
        reached = level(agent.spent, agent.limit)
        if reached == STOP_AT and agent.status == "active":
            agent.status, agent.pause_reason, agent.paused_at = "paused", "budget", at
            self._state.changed_agent(agent)
        elif reached < STOP_AT and agent.pause_reason == "budget":
            agent.status, agent.pause_reason, agent.paused_at = "active", None, None
            self._state.changed_agent(agent)
            self._state.log(at, "info", "agent.resumed", f"{agent.name} works again", agent=agent)
        self._review(agent.company, agent, at)

    def review_company(self, company: Company, at: float) -> None:
        """Bring the alert of a company in line with its money."""
        self._review(company, None, at)

    def end_period(self, at: float) -> None:
        """A new month: nothing is spent, all that was stopped for money goes on."""
        state = self._state
        for company in state.companies.values():
            company.spent = 0
            state.changed_company(company)
        for agent in state.agents.values():
            agent.spent = 0
            state.changed_agent(agent)
            self.review_agent(agent, at)
        for company in state.companies.values():
            self.review_company(company, at)
        state.revisions["budgets"] += 1
        state.log(at, "info", "budget.period_started", "A new budget period began")

    def _review(self, company: Company, agent: Agent | None, at: float) -> None:
        whose = agent or company
        key, name, spent, limit = whose.id, whose.name, whose.spent, whose.limit
        reached = level(spent, limit)
        standing = self._open.get(key)
        if standing is not None and standing.threshold == reached:
            # The sums of an open alert follow the money; its time and words stay.
            if (standing.spent, standing.limit) != (spent, limit):
                standing.spent, standing.limit = spent, limit or 0
                standing.version += 1
                self._state.revisions["alerts"] += 1
            return
        if standing is not None:
            standing.resolved = at
            standing.version += 1
            self._state.revisions["alerts"] += 1
            del self._open[key]
        if not reached or not limit:
            return
        if reached == STOP_AT:
            ending = " and was stopped" if agent else ""
            severity, action, log_level = "critical", "budget.exceeded", "error"
            words = f"{name} has spent {dollars(spent)} of {dollars(limit)}{ending}"
        else:
            severity, action, log_level = "warning", "budget.warning", "warning"
            words = f"{name} has spent {spent * 100 // limit} % of {dollars(limit)}"
        alert = Alert(
            self._state.new_id("alt"), severity, words, reached, company, agent, limit, spent, at
        )
        self._open[key] = alert
        self._state.alerts[alert.id] = alert
        self._state.revisions["alerts"] += 1
        self._state.log(at, log_level, action, words, company=company, agent=agent, actor="budget")
