"""The embedded world: its records can be read and changed while the simulation goes on.

It is the companies, AI agents and tasks behind the demo's REST API, which takes the place of the
real service. `build` fills it at the start; `Simulation` (`self.state`) holds the records and the
queue of future events. Of its methods, `draft` makes a task, `ask` logs that its approval is asked
for, `decide` approves or rejects it, `changed` marks records as changed, and `review` brings alerts
and the status of agents in line with their budgets.

It is in memory and deterministic: the same seed, start and changes give the same world at the same
virtual time. Every method may be called from any thread.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from agentco_tui.demo.incidents import SimulationWithIncidents
from agentco_tui.demo.simulation import Simulation
from agentco_tui.demo.stories import BOOK, PRIORITIES, agent_name, stream
from agentco_tui.demo.world_builder import build
from agentco_tui.demo.world_state import (
    DOLLAR,
    DemoAgent,
    DemoAlert,
    DemoCompany,
    DemoTask,
    Entry,
    RefusedError,
    check,
)

OPERATOR = "operations desk"
"""The name in the log of whoever decides through the REST API."""

R = TypeVar("R")


class World:
    """Companies, agents, tasks, budgets and a log, moving along a virtual clock.

    `now` is the time it starts at (seconds since 1970 UTC; by default the real time); `speed`
    multiplies time, and 0 freezes it. `agents` and `tasks` default to 8 and 40 for each company.
    """

    simulation_class: type[SimulationWithIncidents] = SimulationWithIncidents

    def __init__(
        self,
        seed: int = 7,
        *,
        companies: int = 3,
        agents: int | None = None,
        tasks: int | None = None,
        speed: float = 1.0,
        now: float | None = None,
    ) -> None:
        agents = companies * 8 if agents is None else agents
        tasks = companies * 40 if tasks is None else tasks
        is_negative = min(companies, agents, tasks) < 0
        if is_negative or (agents and not companies):
            raise ValueError("companies, agents and tasks can't be negative; agents need a company")
        if tasks and not agents:
            raise ValueError("tasks need an agent")
        if not 0 <= speed <= 1_000_000:
            raise ValueError("speed must be from 0 to 1,000,000")
        start = float(int(time.time() if now is None else now))
        self.lock = threading.RLock()
        self._start = start
        self._speed = speed
        self._began = time.monotonic()
        self.state = self.simulation_class(seed, start)
        self.applied: Counter[str] = Counter()
        """For each task id, how many approvals through the REST API were applied."""
        self.attempts: Counter[str] = Counter()
        """For each task id, how many approvals through the REST API were requested."""
        build(self.state, companies, agents, tasks)
        self.state.begin(start)

    @property
    def now(self) -> float:
        """The virtual time, after everything that is due has happened."""
        with self.locked() as state:
            return state.now

    def time(self) -> float:
        """The virtual time: seconds since 1970."""
        return self._start + (time.monotonic() - self._began) * self._speed

    @contextmanager
    def locked(self) -> Iterator[Simulation]:
        """The state, brought up to date, and locked while the block runs."""
        with self.lock:
            self.state.run_until(self.time())
            yield self.state

    def advance(self, seconds: float) -> None:
        """Let virtual seconds pass at once. Raises ValueError for a negative number."""
        if seconds < 0:
            raise ValueError("the clock only moves forward")
        with self.lock:
            self._start += seconds
            self.state.run_until(self.time())

    def company(self, company_id: str) -> DemoCompany:
        return _found("company", company_id, self.state.companies)

    def agent(self, agent_id: str) -> DemoAgent:
        return _found("agent", agent_id, self.state.agents)

    def task(self, task_id: str) -> DemoTask:
        return _found("task", task_id, self.state.tasks)

    def agents(self, company_id: str | None = None) -> list[DemoAgent]:
        """Agents in the order in which they were created."""
        with self.locked() as state:
            return [
                agent
                for agent in state.agents.values()
                if company_id is None or agent.company.id == company_id
            ]

    def tasks(self, company_id: str | None = None, status: str | None = None) -> list[DemoTask]:
        """Tasks, the newest first."""
        with self.locked() as state:
            pool = state.pending if status == "pending" else state.tasks
            return [
                task
                for task in reversed(pool.values())
                if (status is None or task.status == status)
                and (company_id is None or task.agent.company.id == company_id)
            ]

    def activity(
        self,
        company_id: str | None = None,
        agent_id: str | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
    ) -> list[Entry]:
        """Log entries, the newest first; both days are included, in UTC."""
        begins = float("-inf") if from_date is None else _midnight(from_date)
        ends = float("inf") if to_date is None else _midnight(to_date + timedelta(days=1))

        def is_wanted(entry: Entry) -> bool:
            if not begins <= entry.at < ends:
                return False
            if company_id is not None and not _has_id(entry.company, company_id):
                return False
            return agent_id is None or _has_id(entry.agent, agent_id)

        with self.locked() as state:
            return [entry for entry in reversed(state.entries) if is_wanted(entry)]

    def alerts(self) -> list[DemoAlert]:
        """Budget alerts, the newest first, resolved ones too."""
        with self.locked() as state:
            return sorted(state.alerts.values(), key=lambda alert: alert.created, reverse=True)

    def approve(self, task_id: str) -> DemoTask:
        """Approve a pending task. Raises RefusedError for one that is decided, or unknown."""
        with self.locked():
            task = self.task(task_id)
            self.attempts[task_id] += 1
            self.state.decide(task, "approve", OPERATOR, self.state.now)
            self.applied[task_id] += 1
            return task

    def create_task(self, company_id: str, title: str, agent_id: str, priority: str) -> DemoTask:
        """Create a pending task. Raises RefusedError with the fields that are wrong."""
        with self.locked() as state:
            agent = state.agents.get(agent_id)
            company = state.companies.get(company_id)
            is_of_other_company = False
            if agent is not None and company is not None:
                is_of_other_company = agent.company is not company
            priorities = PRIORITIES.values()
            check(
                (company is None, "company_id", "no such company"),
                (not title.strip(), "title", "must not be empty"),
                (len(title) > 200, "title", "must not be longer than 200 characters"),
                (agent is None, "agent_id", "no such agent"),
                (is_of_other_company, "agent_id", "the agent belongs to another company"),
                (
                    priority not in priorities,
                    "priority",
                    f"must be one of {', '.join(priorities)}",
                ),
            )
            assert agent is not None
            chance = stream(state.seed, "created", state.numbers["tsk"])
            fixed = {"title": title.strip().replace("{", "(").replace("}", ")")}
            task = state.draft(
                agent, BOOK.created, state.now, chance, fixed_particulars=fixed, priority=priority
            )
            task.title = title.strip()
            state.add_task(task)
            state.ask(task, state.now)
            return task

    def create_company(self, name: str, template: str, mission: str) -> DemoCompany:
        """Create a company with a small staff. Raises RefusedError."""
        with self.locked() as state:
            self._check_company(name, mission)
            company = self._found_company(name, template, mission)
            chance = stream(state.seed, "staff", company.id)
            for role in ("operations", "support", "writer"):
                self._hire(company, role, 50 * DOLLAR, chance.randrange(40, 80))
            return company

    def clone_company(self, company_id: str, name: str, mission: str) -> DemoCompany:
        """Copy a company with its agents, without tasks and spending. Raises RefusedError."""
        with self.locked():
            source = self.company(company_id)
            self._check_company(name, mission)
            company = self._found_company(name, source.template, mission)
            company.limit = source.limit
            for agent in self.agents(source.id):
                self._hire(company, agent.role, agent.limit, agent.trust)
            return company

    def set_limit(self, agent_id: str, dollars: float | int) -> DemoAgent:
        """Set an agent's monthly limit in dollars; 0 removes it. Raises RefusedError."""
        with self.locked() as state:
            agent = self.agent(agent_id)
            message = f"{OPERATOR} set the monthly limit of {agent.name} to {dollars:,.2f}"
            state.log(state.now, "info", "budget.limit_set", message, agent=agent, actor=OPERATOR)
            agent.limit = round(dollars * DOLLAR) or None
            state.changed(agent)
            state.review(agent, state.now)
            return agent

    def _check_company(self, name: str, mission: str) -> None:
        taken = {company.name.casefold() for company in self.state.companies.values()}
        check(
            (not name.strip(), "name", "must not be empty"),
            (len(name) > 120, "name", "must not be longer than 120 characters"),
            (name.strip().casefold() in taken, "name", "is already taken"),
            (len(mission) > 2_000, "mission", "must not be longer than 2000 characters"),
        )

    def _found_company(self, name: str, template: str, mission: str) -> DemoCompany:
        state = self.state
        company = DemoCompany(
            id=state.new_id("cmp"),
            name=name.strip(),
            template=template.strip(),
            mission=mission.strip(),
            created=state.now,
            limit=500 * DOLLAR,
        )
        state.companies[company.id] = company
        state.changed(company)
        message = f"{company.name} was founded"
        state.log(state.now, "info", "company.created", message, company=company, actor=OPERATOR)
        return company

    def _hire(self, company: DemoCompany, role: str, limit: int | None, trust: int) -> None:
        state = self.state
        number = len(state.agents)
        agent = DemoAgent(
            id=state.new_id("ag"),
            name=agent_name(number),
            role=role,
            company=company,
            model=BOOK.models[number % len(BOOK.models)],
            trust=trust,
            created=state.now,
            last_seen=state.now,
            limit=limit,
        )
        state.add_agent(agent)


def _found(kind: str, record_id: str, records: dict[str, R]) -> R:
    """The record with this id. Raises RefusedError (404) if there is none."""
    record = records.get(record_id)
    if record is None:
        raise RefusedError(404, "not_found", f"{kind} not found")
    return record


def _has_id(record: DemoCompany | DemoAgent | None, record_id: str) -> bool:
    return record is not None and record.id == record_id


def _midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
