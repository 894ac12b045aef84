"""What goes wrong in the embedded world while it lives, and what colleagues do about money.

An agent runs away, one fails at the same thing over and over, the work on a task stands still; the
period ends, and a limit is raised. Each comes within the first minutes, and again after hours.
"""

from __future__ import annotations

from agentco_tui.demo.life import Life
from agentco_tui.demo.stories import BOOK, facts, fill, stream
from agentco_tui.demo.world_state import DAY, DOLLAR, DemoAgent, DemoCompany

_HOUR = 3_600.0
_FIRST = {"fails": 90.0, "stalls": 150.0, "runs_away": 300.0, "is_raised": 1_500.0}
"""Seconds after the start at which each trouble comes first."""
_AGAIN = (3 * _HOUR, 9 * _HOUR)  # until it comes again
_RUNS_FOR, _FAILS_FOR, _STALLS_FOR = 1_500.0, 900.0, 3 * _HOUR
_RUNS_THROUGH = 400  # entries of a runaway in which its whole limit would go
_PERIOD = 30 * DAY


class TroubledLife(Life):
    """A life with its troubles: each event plans the next of its kind."""

    def begin(self, at: float) -> None:
        super().begin(at)
        self._trouble = stream(self.seed, "trouble")
        self._victims: dict[str, DemoAgent] = {}  # the agent that runs away, and the one that fails
        self._until: dict[str, float] = {}
        self._stalls = False  # whether the next task that is worked on stands still
        for what, after in _FIRST.items():
            self._plan(at + after, what)
        self._plan(self.resets, "reset")
        self._plan(at - at % DAY + DAY, "day")

    def _on_runs_away(self, at: float, _: str) -> None:
        """Entries in quick succession, each with a cost, until the limit or somebody stops it."""
        agent = self._victim("runs_away", at, _RUNS_FOR)
        if agent is None:
            return
        level, template = BOOK.runaway
        cost = (agent.limit or 100 * DOLLAR) // _RUNS_THROUGH
        words = fill(template, facts(self.seed, self._trouble.randrange(1, 100_000)))
        self.log(at, level, "agent.note", words, agent=agent, cost=cost)
        self.charge(agent, cost, at)
        self._plan(at + self._trouble.uniform(2.0, 5.0), "runs_away")

    def _on_fails(self, at: float, _: str) -> None:
        agent = self._victim("fails", at, _FAILS_FOR)
        if agent is None:
            return
        level, template = BOOK.failing
        words = fill(template, facts(self.seed, self._trouble.randrange(1, 100_000)))
        self.log(at, level, "tool.failed", words, agent=agent)
        self._plan(at + self._trouble.uniform(30.0, 60.0), "fails")

    def _victim(self, what: str, at: float, lasts: float) -> DemoAgent | None:
        """Who has this trouble; None, and the next one planned, once it is over."""
        agent = self._victims.get(what)
        if agent is None:
            others = self._victims.values()
            healthy = [a for a in self.agents.values() if not a.reached and a not in others]
            if active := [a for a in healthy if a.status == "active" and a.limit]:
                agent = self._victims[what] = self._trouble.choice(active)
                self._until[what] = at + lasts
        if agent is None or agent.status != "active" or at >= self._until[what]:
            self._victims.pop(what, None)
            self._plan(at + self._trouble.uniform(*_AGAIN), what)
            return None
        return agent

    def _on_stalls(self, at: float, _: str) -> None:
        """The task that is worked on next stands still for hours, and nobody says so."""
        self._stalls = True
        self._plan(at + self._trouble.uniform(*_AGAIN), "stalls")

    def _on_work(self, at: float, task_id: str) -> None:
        task = self.tasks.get(task_id)
        if self._stalls and task is not None and task.status == "running":
            self._stalls = False
            self._plan(at + _STALLS_FOR, "work", task_id)
        else:
            super()._on_work(at, task_id)

    def _on_is_raised(self, at: float, _: str) -> None:
        """A colleague gives an agent that was stopped by its budget a quarter more."""
        stopped = [a for a in self.agents.values() if a.pause_reason == "budget" and a.limit]
        if stopped:
            agent, who = self._trouble.choice(stopped), self._trouble.choice(BOOK.colleagues)
            limit = max(agent.spent, agent.limit or 0) * 5 // 4 // (10 * DOLLAR) * 10 * DOLLAR
            agent.limit = limit + 10 * DOLLAR
            words = f"{who} set the monthly limit of {agent.name} to {agent.limit / DOLLAR:,.2f}"
            self.log(at, "info", "budget.limit_set", words, agent=agent, actor=who)
            self.changed(agent)
            self.review(agent, at)
        self._plan(at + self._trouble.uniform(*_AGAIN), "is_raised")

    def _on_reset(self, at: float, _: str) -> None:
        """A new period begins: nothing is spent, and who was stopped by a budget works again."""
        self.period_start, self.resets = self.resets, self.resets + _PERIOD
        owners: list[DemoCompany | DemoAgent] = [*self.companies.values(), *self.agents.values()]
        for owner in owners:
            owner.spent = 0
            self.changed(owner)
            self.review(owner, at)
        self.log(at, "info", "budget.reset", "A new month: all budgets begin at 0", actor="budget")
        self._plan(self.resets, "reset")

    def _on_day(self, at: float, _: str) -> None:
        self.pace = _PERIOD / max(DAY, at - self.period_start)
        self._plan(at + DAY, "day")
