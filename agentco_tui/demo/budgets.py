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
    return int(spent * max(1.0, (state.resets - state.period_start) / passed))


class Budgets:
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
        self.review(agent.company, at)

    def set_limit(self, agent: Agent, micros: int | None, at: float) -> None:
        """Set or lift an agent's monthly limit; it is paused or resumed as that demands."""
        agent.limit = micros
        self._state.changed_agent(agent)
        self._state.revisions["budgets"] += 1
        self.review_agent(agent, at)

    def review_agent(self, agent: Agent, at: float) -> None:
        """Bring the status and the alert of an agent in line with its money."""
        reached = level(agent.spent, agent.limit)
        if reached == STOP_AT and agent.status == "active":
            agent.status, agent.pause_reason = "paused", "budget"
            self._state.changed_agent(agent)
        elif reached < STOP_AT and agent.pause_reason == "budget":
            agent.status, agent.pause_reason = "active", None
            self._state.changed_agent(agent)
            self._state.log(at, "info", "agent.resumed", f"{agent.name} works again", agent=agent)
        self.review(agent, at)

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
            self.review(company, at)
        state.revisions["budgets"] += 1
        state.log(at, "info", "budget.period_started", "A new budget period began")

    def review(self, owner: Agent | Company, at: float) -> None:
        """Bring the alert of an agent or a company in line with its money."""
        spent, limit, reached = owner.spent, owner.limit, level(owner.spent, owner.limit)
        standing = self._open.get(owner.id)
        if standing is not None and standing.threshold == reached:
            # The sums of an open alert follow the money; its time and words stay.
            if (standing.spent, standing.limit) != (spent, limit):
                standing.spent, standing.limit = spent, limit or 0
                self._state.changed_alert(standing)
            return
        if standing is not None:
            standing.resolved = at
            self._state.changed_alert(standing)
            del self._open[owner.id]
        if not reached or not limit:
            return
        agent = owner if isinstance(owner, Agent) else None
        company = owner.company if isinstance(owner, Agent) else owner
        if reached == STOP_AT:
            severity, action, log_level = "critical", "budget.exceeded", "error"
            words = f"{owner.name} has spent {spent / DOLLAR:,.2f} of {limit / DOLLAR:,.2f}"
            words += " and was stopped" if agent else ""
        else:
            severity, action, log_level = "warning", "budget.warning", "warning"
            words = f"{owner.name} has spent {spent * 100 // limit} % of {limit / DOLLAR:,.2f}"
        alert_id = self._state.new_id("alt")
        alert = Alert(alert_id, severity, words, reached, company, agent, limit, spent, at)
        self._open[owner.id] = self._state.alerts[alert.id] = alert
        self._state.revisions["alerts"] += 1
        self._state.log(at, log_level, action, words, company=company, agent=agent, actor="budget")
