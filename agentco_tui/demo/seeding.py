"""Builds the first picture of an embedded world: companies, agents, a queue and a past."""

from __future__ import annotations

import math
import random

from msgspec.structs import replace

from agentco_tui.demo import stories
from agentco_tui.demo.life import Life
from agentco_tui.demo.stories import BOOK, FOR_ROLE, Opening, facts, fill, stream
from agentco_tui.demo.world_state import (
    DAY,
    DOLLAR,
    WARN_AT,
    DemoAgent,
    DemoCompany,
    DemoTask,
    WorldState,
)

HISTORY = 5 * DAY
_TOLD_TASKS = 1_500
"""So many of the latest tasks have their past in the activity log."""
_LIMITS = (50, 80, 100, 150, 200, 300, 400, 600)


def build(state: Life, companies: int, agents: int, tasks: int) -> None:
    chance = stream(state.seed, "build")
    for index in range(companies):
        seed = stories.company(index)
        company = DemoCompany(
            state.new_id("cmp"),
            seed.name,
            seed.template,
            seed.mission,
            created=state.start - (400 - index % 350) * DAY - chance.randrange(0, 80_000),
        )
        state.companies[company.id] = company
    _build_agents(state, agents, chance)
    _build_tasks(state, tasks, chance)
    _tell_past(state, chance)
    # Limits of companies follow from their share, and the alerts that stand at the start from all.
    for index, company in enumerate(state.companies.values()):
        wanted = company.spent / DOLLAR / stories.company(index).share
        company.limit = max(100, math.ceil(wanted / 10) * 10) * DOLLAR
    for agent in state.agents.values():
        if agent.reached:
            ago = (1_500, 9_000) if agent.reached > WARN_AT else (4_000, 80_000)
            state.review(agent, state.start - chance.uniform(*ago))
    for company in state.companies.values():
        if company.reached:
            state.review(company, state.start - chance.uniform(9_000, 90_000))
    # The log is numbered in the order of time.
    told = sorted(state.entries, key=lambda entry: entry.at)
    state.entries.clear()
    state.entries.extend(
        replace(entry, id=f"evt_{turn:07d}") for turn, entry in enumerate(told, start=1)
    )


def _build_agents(state: WorldState, count: int, chance: random.Random) -> None:
    companies = list(state.companies.values())
    whole_cast = len(companies) >= len(BOOK.companies)
    cast = BOOK.agents if whole_cast else tuple(a for a in BOOK.agents if a.company == 0)
    for index in range(count):
        if index < len(cast):
            seed = cast[index]
        else:
            turn = index - len(cast)
            limit = None if turn % 23 == 22 else chance.choice(_LIMITS)
            spent = chance.betavariate(2.0, 3.4) * 0.98 if turn % 37 else chance.uniform(0.8, 1.1)
            seed = stories.AgentSeed(
                stories.agent_name(turn),
                BOOK.roles[(turn * 7 + turn // 10) % len(BOOK.roles)],
                index % len(companies),
                chance.randrange(22, 99),
                limit,
                spent if limit else 0.0,
            )
        company = companies[seed.company]
        limit_micros = None if seed.limit is None else seed.limit * DOLLAR
        agent = DemoAgent(
            id=state.new_id("ag"),
            name=seed.name,
            role=seed.role,
            company=company,
            model=BOOK.models[(index * 3 + chance.randrange(2)) % len(BOOK.models)],
            trust=seed.trust,
            created=company.created + chance.randrange(3_600, int(30 * DAY)),
            last_seen=state.start - chance.randrange(20, 5_000),
            limit=limit_micros,
            spent=(
                chance.randrange(2 * DOLLAR, 40 * DOLLAR)
                if limit_micros is None
                else int(limit_micros * seed.share)
            ),
            completed=chance.randrange(14, 420),
        )
        state.add_agent(agent)


def _build_tasks(state: Life, count: int, chance: random.Random) -> None:
    agents = list(state.agents.values())
    if not agents:
        return
    by_name = {agent.name: agent for agent in agents[: len(BOOK.agents)]}
    opening = [scene for scene in BOOK.opening if scene.agent in by_name]
    pending = min(count, max(1, round(count / 3))) if count else 0
    opening = opening[:pending]
    running = min(count - pending, 5 if count >= 20 else 1, 50)
    # (created, status, scene): ended ones lie in the past days, running ones in the last hour.
    plan: list[tuple[float, str, Opening | None]] = [
        (state.start - scene.waits, "pending", scene) for scene in opening
    ]
    for _ in range(pending - len(opening)):
        waits = 60.0 * math.exp(chance.random() * math.log(200.0))
        plan.append((state.start - waits, "pending", None))
    for _ in range(running):
        plan.append((state.start - chance.uniform(600, 3_000), "running", None))
    for _ in range(count - pending - running):
        dice = chance.random()
        status = "completed" if dice < 0.82 else "failed" if dice < 0.9 else "rejected"
        ago = chance.random() ** 1.6 * (HISTORY - 14_400) + 5_400
        plan.append((state.start - ago, status, None))
    plan.sort(key=lambda planned: planned[0])
    by_title = {story.title: story for story in BOOK.stories}
    for at, status, scene in plan:
        if scene is not None:
            agent, story = by_name[scene.agent], by_title[scene.title]
        else:
            agent = agents[int(chance.random() * len(agents))]
            if status == "running" and agent.limit is not None and agent.spent > agent.limit * 0.95:
                agent = agents[-1]
            told = FOR_ROLE[agent.role]
            story = told[int(chance.random() * len(told))]
        given, priority = (scene.given, scene.priority) if scene else (None, None)
        task = state.draft(agent, story, at, chance, given=given, priority=priority)
        task.cost = task.estimate // 3
        if status != "pending":
            _age(state, task, status, chance)
        state.add_task(task)
        if status == "running":
            state.work_on(task, state.start)


def _age(state: WorldState, task: DemoTask, status: str, chance: random.Random) -> None:
    """Give a task that was decided before the start its later moments."""
    waited = min(60.0 * math.exp(chance.random() * math.log(90.0)), 4_800.0)
    decided = min(task.created + waited, state.start - 30.0)
    task.status = status
    task.decided, task.updated = decided, decided
    task.decided_by = BOOK.colleagues[int(chance.random() * len(BOOK.colleagues))]
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


def _tell_past(state: WorldState, chance: random.Random) -> None:
    """Write the activity log of the past days, as it would have been written then."""
    for task in list(state.tasks.values())[-_TOLD_TASKS:]:
        state.ask(task, task.created)
        if task.decided is None:
            continue
        verb = "rejected" if task.status == "rejected" else "approved"
        words = f"{task.decided_by} {verb}: {task.title}"
        state.log(task.decided, "info", f"task.{verb}", words, task=task, actor=task.decided_by)
        if verb == "rejected":
            continue
        state.log(task.decided + 4.0, "info", "task.started", f"Started: {task.title}", task=task)
        known = state.particulars(task)
        end = task.finished or state.start
        beats = task.story.carry_out[: task.progress]
        for turn, beat in enumerate(beats, start=1):
            at = task.decided + 4.0 + (end - task.decided - 4.0) * turn / (len(beats) + 1)
            state.log(at, "info", f"step.{beat.kind}", beat.spoken(known), task=task)
        if task.finished is not None:
            failed = task.status == "failed"
            words = fill(task.story.failed if failed else task.story.done, known)
            log_level = "error" if failed else "info"
            state.log(task.finished, log_level, f"task.{task.status}", words, task=task)
    agents = list(state.agents.values())
    for turn in range(240 if agents else 0):
        # Ever denser towards the start, so that the live log goes on without a gap.
        ago = 2.0 + HISTORY * (turn / 240) ** 3.2
        agent = agents[int(chance.random() * len(agents))]
        log_level, template = BOOK.talk[int(chance.random() * len(BOOK.talk))]
        known = facts(state.seed, 1 + int(chance.random() * 100_000))
        state.log(state.start - ago, log_level, "agent.note", fill(template, known), agent=agent)
