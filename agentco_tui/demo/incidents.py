"""Incidents of the embedded world: what goes wrong in it, and what happens to its budgets.

The embedded world is the simulated companies, AI agents and tasks that demos and tests show. An
agent runs away (spends far too fast), another fails at the same thing again and again, a task
stalls, a colleague of the user raises a limit, and the budget period ends. The incidents begin
within the first minutes or half hour, and come again after hours.

`Simulation` keeps a queue of events: `_plan(at, "fails")` has `_on_fails` called at that time.
`charge` books a cost, `review` raises or ends budget alerts, and `changed` marks a record as
changed. `agent.reached` is the highest alert threshold that its spending has reached, 0 if none.
`BOOK` has the texts; `fill` puts random particulars into a template.
"""

from __future__ import annotations

from agentco_tui.demo.simulation import Simulation
from agentco_tui.demo.stories import BOOK, draw_particulars, fill, stream
from agentco_tui.demo.world_state import DAY, DOLLAR, DemoAgent, DemoCompany

_HOUR = 3_600.0
_FIRST_AFTER = {"fails": 90.0, "stalls": 150.0, "runs_away": 300.0, "is_raised": 1_500.0}
"""Seconds from the start to the first incident of each kind."""
_PAUSE = (3 * _HOUR, 9 * _HOUR)
"""Least and most seconds until the next incident of a kind."""
_RUNS_AWAY_FOR = 1_500.0
_FAILS_FOR = 900.0
_STALLS_FOR = 3 * _HOUR
"""Seconds that an incident lasts."""
_RUNAWAY_ENTRIES = 400
"""Log entries with which a runaway agent would spend its whole limit."""
_PERIOD = 30 * DAY


class SimulationWithIncidents(Simulation):
    """A simulation with incidents, each of which schedules the next of its kind."""

    def begin(self, at: float) -> None:
        super().begin(at)
        self._random = stream(self.seed, "trouble")
        self._affected_agents: dict[str, DemoAgent] = {}
        """The agent that each kind of incident affects now."""
        self._until: dict[str, float] = {}
        """When each kind of incident ends, in seconds since 1970."""
        self._stalls_next = False
        """Whether the next task that is worked on stalls."""
        for what, after in _FIRST_AFTER.items():
            self._plan(at + after, what)
        self._plan(self.resets, "reset")
        self._plan(at - at % DAY + DAY, "day")

    def _on_runs_away(self, at: float, _: str) -> None:
        """Log costly entries in quick succession, until a limit or the operator stops the agent."""
        agent = self._affected_agent("runs_away", at, _RUNS_AWAY_FOR)
        if agent is None:
            return
        level, template = BOOK.runaway
        cost = (agent.limit or 100 * DOLLAR) // _RUNAWAY_ENTRIES
        message = fill(template, draw_particulars(self.seed, self._random.randrange(1, 100_000)))
        self.log(at, level, "agent.note", message, agent=agent, cost=cost)
        self.charge(agent, cost, at)
        self._plan(at + self._random.uniform(2.0, 5.0), "runs_away")

    def _on_fails(self, at: float, _: str) -> None:
        agent = self._affected_agent("fails", at, _FAILS_FOR)
        if agent is None:
            return
        level, template = BOOK.failing
        message = fill(template, draw_particulars(self.seed, self._random.randrange(1, 100_000)))
        self.log(at, level, "tool.failed", message, agent=agent)
        self._plan(at + self._random.uniform(30.0, 60.0), "fails")

    def _affected_agent(self, what: str, at: float, lasts: float) -> DemoAgent | None:
        """The agent that an incident affects; None once it is over and the next is scheduled."""
        agent = self._affected_agents.get(what)
        if agent is None:
            candidates = self._healthy_agents()
            if candidates:
                agent = self._random.choice(candidates)
                self._affected_agents[what] = agent
                self._until[what] = at + lasts
        if agent is None or agent.status != "active" or at >= self._until[what]:
            self._affected_agents.pop(what, None)
            self._plan(at + self._random.uniform(*_PAUSE), what)
            return None
        return agent

    def _healthy_agents(self) -> list[DemoAgent]:
        """Active agents within their limits that no incident affects."""
        affected = self._affected_agents.values()
        return [
            agent
            for agent in self.agents.values()
            if agent.status == "active"
            and agent.limit
            and not agent.reached
            and agent not in affected
        ]

    def _on_stalls(self, at: float, _: str) -> None:
        """Have the next task that is worked on stall for hours, without a word in the log."""
        self._stalls_next = True
        self._plan(at + self._random.uniform(*_PAUSE), "stalls")

    def _on_work(self, at: float, task_id: str) -> None:
        task = self.tasks.get(task_id)
        if self._stalls_next and task is not None and task.status == "running":
            self._stalls_next = False
            self._plan(at + _STALLS_FOR, "work", task_id)
        else:
            super()._on_work(at, task_id)

    def _on_is_raised(self, at: float, _: str) -> None:
        """A colleague gives an agent that was stopped by its budget a quarter more."""
        stopped = [
            agent
            for agent in self.agents.values()
            if agent.pause_reason == "budget" and agent.limit
        ]
        if stopped:
            agent = self._random.choice(stopped)
            who = self._random.choice(BOOK.colleagues)
            increased = max(agent.spent, agent.limit or 0) * 5 // 4
            tens_of_dollars = increased // (10 * DOLLAR) + 1
            agent.limit = tens_of_dollars * 10 * DOLLAR
            message = f"{who} set the monthly limit of {agent.name} to {agent.limit / DOLLAR:,.2f}"
            self.log(at, "info", "budget.limit_set", message, agent=agent, actor=who)
            self.changed(agent)
            self.review(agent, at)
        self._plan(at + self._random.uniform(*_PAUSE), "is_raised")

    def _on_reset(self, at: float, _: str) -> None:
        """A new period begins: nothing is spent, and agents stopped by their budgets work again."""
        self.period_start = self.resets
        self.resets += _PERIOD
        owners: list[DemoCompany | DemoAgent] = [*self.companies.values(), *self.agents.values()]
        for owner in owners:
            owner.spent = 0
            self.changed(owner)
            self.review(owner, at)
        self.log(at, "info", "budget.reset", "A new month: all budgets begin at 0", actor="budget")
        self._plan(self.resets, "reset")

    def _on_day(self, at: float, _: str) -> None:
        # The forecast of a budget is what was spent, times the pace.
        self.pace = _PERIOD / max(DAY, at - self.period_start)
        self._plan(at + DAY, "day")
