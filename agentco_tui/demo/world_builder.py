"""Builds a simulated world at its start: companies, agents, tasks, and the log of the past days.

The world is for demos and tests. Each task follows a story: templates for its steps and texts, into
which `fill` puts particulars (names, amounts). `BOOK` has the stories, the cast (companies and AI
agents with given names and budgets), and the opening, the tasks that are always waiting at first.
`Simulation.review` raises the alerts that follow from a budget.

Everything is drawn from one random generator: the order of the draws decides what is drawn, and
must not change.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from agentco_tui.demo import stories
from agentco_tui.demo.simulation import Simulation
from agentco_tui.demo.stories import BOOK, draw_particulars, fill, stream
from agentco_tui.demo.world_state import (
    DAY,
    DOLLAR,
    WARN_AT,
    DemoAgent,
    DemoCompany,
    DemoTask,
    WorldState,
)

T = TypeVar("T")

HISTORY = 5 * DAY
"""Seconds before the start that the activity log covers."""
_LOGGED_TASKS = 1_500
"""How many of the latest tasks are in the activity log."""
_LOGGED_NOTES = 240
_LIMITS = (50, 80, 100, 150, 200, 300, 400, 600)  # dollars


def build(state: Simulation, companies: int, agents: int, tasks: int) -> None:
    """Fill an empty world with so many records, and bring its budgets and alerts up to date."""
    chance = stream(state.seed, "build")
    for index in range(companies):
        _build_company(state, index, chance)
    _build_agents(state, agents, chance)
    _build_tasks(state, tasks, chance)
    _write_past_log(state, chance)
    _set_company_limits(state)
    _raise_first_alerts(state, chance)
    _number_entries_by_time(state)


def _build_company(state: WorldState, index: int, chance: random.Random) -> None:
    seed = stories.company_seed(index)
    age = (400 - index % 350) * DAY + chance.randrange(0, 80_000)
    company = DemoCompany(
        id=state.new_id("cmp"),
        name=seed.name,
        template=seed.template,
        mission=seed.mission,
        created=state.start - age,
    )
    state.companies[company.id] = company


def _build_agents(state: WorldState, count: int, chance: random.Random) -> None:
    companies = list(state.companies.values())
    cast = BOOK.agents
    if len(companies) < len(BOOK.companies):
        cast = tuple(agent for agent in BOOK.agents if agent.company == 0)
    for index in range(count):
        if index < len(cast):
            seed = cast[index]
        else:
            seed = _random_agent(index - len(cast), index % len(companies), chance)
        _build_agent(state, seed, companies[seed.company], index, chance)


def _random_agent(number: int, company: int, chance: random.Random) -> stories.AgentSeed:
    """An agent beyond the cast; a few have no limit, or have nearly or wholly reached it."""
    has_limit = number % 23 != 22
    limit = chance.choice(_LIMITS) if has_limit else None
    is_ordinary = number % 37 != 0
    share = chance.betavariate(2.0, 3.4) * 0.98 if is_ordinary else chance.uniform(0.8, 1.1)
    return stories.AgentSeed(
        name=stories.agent_name(number),
        role=BOOK.roles[(number * 7 + number // 10) % len(BOOK.roles)],
        company=company,
        trust=chance.randrange(22, 99),
        limit=limit,
        share=share if limit else 0.0,
    )


def _build_agent(
    state: WorldState,
    seed: stories.AgentSeed,
    company: DemoCompany,
    index: int,
    chance: random.Random,
) -> None:
    agent_id = state.new_id("ag")
    model = BOOK.models[(index * 3 + chance.randrange(2)) % len(BOOK.models)]
    created = company.created + chance.randrange(3_600, int(30 * DAY))
    last_seen = state.start - chance.randrange(20, 5_000)
    if seed.limit is None:
        limit = None
        spent = chance.randrange(2 * DOLLAR, 40 * DOLLAR)
    else:
        limit = seed.limit * DOLLAR
        spent = int(limit * seed.share)
    agent = DemoAgent(
        id=agent_id,
        name=seed.name,
        role=seed.role,
        company=company,
        model=model,
        trust=seed.trust,
        created=created,
        last_seen=last_seen,
        limit=limit,
        spent=spent,
        completed=chance.randrange(14, 420),
    )
    state.add_agent(agent)


class _PlannedTask(msgspec.Struct, frozen=True):
    created: float
    status: str
    opening: stories.Opening | None = None
    """The fixed task that it is; None for a random one."""


def _build_tasks(state: Simulation, count: int, chance: random.Random) -> None:
    agents = list(state.agents.values())
    if not agents:
        return
    by_name = {agent.name: agent for agent in agents[: len(BOOK.agents)]}
    by_title = {story.title: story for story in BOOK.stories}
    openings = [opening for opening in BOOK.opening if opening.agent in by_name]
    for planned in _plan_tasks(state.start, count, openings, chance):
        opening = planned.opening
        if opening is not None:
            agent = by_name[opening.agent]
            story = by_title[opening.title]
        else:
            agent = _pick(agents, chance)
            if planned.status == "running" and _has_nearly_spent_all(agent):
                agent = agents[-1]
            story = _pick(stories.FOR_ROLE[agent.role], chance)
        task = state.draft(
            agent,
            story,
            planned.created,
            chance,
            fixed_particulars=opening.fixed_particulars if opening else None,
            priority=opening.priority if opening else None,
        )
        task.cost = task.estimate // 3
        if planned.status != "pending":
            _age(state, task, planned.status, chance)
        state.add_task(task)
        if planned.status == "running":
            state.work_on(task, state.start)


def _plan_tasks(
    start: float, count: int, openings: list[stories.Opening], chance: random.Random
) -> list[_PlannedTask]:
    """So many tasks in order of time: a third pending, a few running, the others ended.

    Running ones were created in the last hour, ended ones in the past days.
    """
    pending = min(count, max(1, round(count / 3))) if count else 0
    openings = openings[:pending]
    running = min(count - pending, 5 if count >= 20 else 1, 50)
    plan = [_PlannedTask(start - opening.waits, "pending", opening) for opening in openings]
    for _ in range(pending - len(openings)):
        waits = 60.0 * math.exp(chance.random() * math.log(200.0))
        plan.append(_PlannedTask(start - waits, "pending"))
    for _ in range(running):
        plan.append(_PlannedTask(start - chance.uniform(600, 3_000), "running"))
    for _ in range(count - pending - running):
        status = _random_end(chance)
        age = chance.random() ** 1.6 * (HISTORY - 14_400) + 5_400
        plan.append(_PlannedTask(start - age, status))
    plan.sort(key=lambda planned: planned.created)
    return plan


def _random_end(chance: random.Random) -> str:
    share = chance.random()
    if share < 0.82:
        return "completed"
    return "failed" if share < 0.9 else "rejected"


def _has_nearly_spent_all(agent: DemoAgent) -> bool:
    return agent.limit is not None and agent.spent > agent.limit * 0.95


def _age(state: WorldState, task: DemoTask, status: str, chance: random.Random) -> None:
    """Give a task that was decided before the start its later times."""
    waited = min(60.0 * math.exp(chance.random() * math.log(90.0)), 4_800.0)
    decided = min(task.created + waited, state.start - 30.0)
    task.status = status
    task.decided = decided
    task.updated = decided
    task.decided_by = _pick(BOOK.colleagues, chance)
    if status == "running":
        task.progress = 1
        task.updated = max(decided, state.start - chance.uniform(4, 25))
        return
    if status == "rejected":
        task.finished = decided
        return
    task.finished = min(decided + chance.uniform(25, 240), state.start - 5.0)
    task.updated = task.finished
    task.progress = len(task.story.carry_out)
    task.cost = task.estimate


def _write_past_log(state: WorldState, chance: random.Random) -> None:
    """Write the log of the past days as it would have been written then."""
    for task in list(state.tasks.values())[-_LOGGED_TASKS:]:
        _log_task(state, task)
    agents = list(state.agents.values())
    if not agents:
        return
    for number in range(_LOGGED_NOTES):
        # Denser towards the start, so that the live log goes on without a gap.
        age = 2.0 + HISTORY * (number / _LOGGED_NOTES) ** 3.2
        agent = _pick(agents, chance)
        level, template = _pick(BOOK.talk, chance)
        particulars = draw_particulars(state.seed, 1 + int(chance.random() * 100_000))
        message = fill(template, particulars)
        state.log(state.start - age, level, "agent.note", message, agent=agent)


def _log_task(state: WorldState, task: DemoTask) -> None:
    """Write what happened to a task so far."""
    state.ask(task, task.created)
    if task.decided is None:
        return
    verb = "rejected" if task.status == "rejected" else "approved"
    message = f"{task.decided_by} {verb}: {task.title}"
    state.log(task.decided, "info", f"task.{verb}", message, task=task, actor=task.decided_by)
    if verb == "rejected":
        return
    started = task.decided + 4.0
    state.log(started, "info", "task.started", f"Started: {task.title}", task=task)
    particulars = state.particulars(task)
    end = task.finished or state.start
    steps = task.story.carry_out[: task.progress]
    for number, step in enumerate(steps, start=1):
        at = started + (end - task.decided - 4.0) * number / (len(steps) + 1)
        state.log(at, "info", f"step.{step.kind}", step.as_log_message(particulars), task=task)
    if task.finished is None:
        return
    if task.status == "failed":
        message = fill(task.story.failed, particulars)
        state.log(task.finished, "error", "task.failed", message, task=task)
    else:
        message = fill(task.story.done, particulars)
        state.log(task.finished, "info", f"task.{task.status}", message, task=task)


def _set_company_limits(state: WorldState) -> None:
    """Limits with which each company has spent the share that its seed says."""
    for index, company in enumerate(state.companies.values()):
        limit = company.spent / DOLLAR / stories.company_seed(index).share
        tens_of_dollars = math.ceil(limit / 10)
        company.limit = max(100, tens_of_dollars * 10) * DOLLAR


def _raise_first_alerts(state: Simulation, chance: random.Random) -> None:
    for agent in state.agents.values():
        if agent.reached:
            age = (1_500, 9_000) if agent.reached > WARN_AT else (4_000, 80_000)
            state.review(agent, state.start - chance.uniform(*age))
    for company in state.companies.values():
        if company.reached:
            state.review(company, state.start - chance.uniform(9_000, 90_000))


def _number_entries_by_time(state: WorldState) -> None:
    by_time = sorted(state.entries, key=lambda entry: entry.at)
    state.entries.clear()
    for number, entry in enumerate(by_time, start=1):
        state.entries.append(replace(entry, id=f"evt_{number:07d}"))


def _pick(options: Sequence[T], chance: random.Random) -> T:
    return options[int(chance.random() * len(options))]
