"""How the embedded world lives: tasks arrive, are worked on and end, agents talk and spend.

`build` makes its first picture: companies, agents, a queue and a past.

Everything that will happen lies in one queue ordered by virtual time, and every sort of event
draws from its own stream of chance. So what happens depends on the seed and on virtual time only,
not on how often anybody looks.
"""

from __future__ import annotations

import heapq
import math
import random

from msgspec.structs import replace

from agentco_tui.demo import stories
from agentco_tui.demo.stories import BOOK, facts, fill, stream
from agentco_tui.demo.world_state import (
    CENT,
    DAY,
    DOLLAR,
    STOP_AT,
    WARN_AT,
    DemoAgent,
    DemoAlert,
    DemoCompany,
    DemoTask,
    RefusedError,
    WorldState,
    iso,
)

HISTORY = 5 * DAY
ENTRIES_AN_HOUR = 2_040.0  # that all agents together write
_SPENT_AN_HOUR = 80.4 * DOLLAR  # by all agents together, if all cost what it costs in the stories
_NEW_PRICE = 0.1  # share of that at which an agent works that has spent nothing before
_TOLD_TASKS = 1_500  # so many of the latest tasks have their past in the activity log
_LIMITS = (50, 80, 100, 150, 200, 300, 400, 600)


class Life(WorldState):
    """The queue of what will happen, what each event does, and what follows for budgets."""

    def __init__(self, seed: int, start: float, *, numeric_ids: bool) -> None:
        super().__init__(seed, start, numeric_ids=numeric_ids)
        self._open: dict[str, DemoAlert] = {}  # the alert that stands, by whose it is
        self._queue: list[tuple[float, int, str, str]] = []
        """(When, turn, which event, the id of its task)."""
        self._turn = 0
        self._talk = stream(seed, "talk")
        self._arrive = stream(seed, "arrive")
        self._colleague = stream(seed, "colleague")
        self._told_waiting: set[str] = set()
        self._prices: dict[str, float] = {}
        """What work of each agent costs beside the stories, so that it goes on at its old rate."""
        self._usual_queue = 0
        """How many pending tasks there were at first: colleagues help when there are more."""

    def begin(self, at: float) -> None:
        self._usual_queue = len(self.pending)
        working = sum(agent.status == "active" for agent in self.agents.values())
        hours = (at - self.period_start) / 3_600
        for agent in self.agents.values():
            self._prices[agent.id] = agent.spent / hours * working / _SPENT_AN_HOUR
        self._plan(at + self._talk.uniform(0.5, 3.0), "talk")
        self._plan(at + self._arrive.uniform(8.0, 20.0), "arrive")
        self._plan(at + self._colleague.uniform(25.0, 40.0), "colleague")

    def run_until(self, at: float) -> None:
        """Let everything happen that is due."""
        while self._queue and self._queue[0][0] <= at:
            due, _, what, task_id = heapq.heappop(self._queue)
            self.now = max(self.now, due)
            getattr(self, f"_on_{what}")(due, task_id)
        self.now = max(self.now, at)

    def work_on(self, task: DemoTask, at: float) -> None:
        self._plan(at + self._chance(task).uniform(2.0, 6.0), "work", task.id)

    def draft(
        self,
        agent: DemoAgent,
        story: stories.Story,
        at: float,
        chance: random.Random,
        *,
        given: stories.Facts | None = None,
        priority: str | None = None,
    ) -> DemoTask:
        self.numbers["task_number"] += 1
        number = self.numbers["task_number"]
        known = {**facts(self.seed, number), **(given or {})}
        return DemoTask(
            id=self.new_id("tsk"),
            number=number,
            story=story,
            title=fill(story.title, known),
            description=fill(story.why, known),
            priority=priority or stories.PRIORITIES[chance.choice(story.priorities)],
            agent=agent,
            created=at,
            updated=at,
            estimate=chance.randrange(story.cost[0], story.cost[1]) * CENT,
            given=given,
        )

    def charge(self, agent: DemoAgent, micros: int, at: float) -> None:
        """Book a cost; the agent stops when its limit is reached."""
        if micros <= 0:
            return
        agent.spent += micros
        agent.company.spent += micros
        self.changed(agent, agent.company)
        self.review(agent, at)
        self.review(agent.company, at)

    def review(self, owner: DemoAgent | DemoCompany, at: float) -> None:
        """Bring the alert, and the status of an agent, in line with the owner's money."""
        spent, limit, reached = owner.spent, owner.limit, owner.reached
        agent = owner if isinstance(owner, DemoAgent) else None
        company = owner.company if isinstance(owner, DemoAgent) else owner
        if agent is not None and reached == STOP_AT and agent.status == "active":
            agent.status, agent.pause_reason = "paused", "budget"
            self.changed(agent)
        elif agent is not None and reached < STOP_AT and agent.pause_reason == "budget":
            agent.status, agent.pause_reason = "active", None
            self.changed(agent)
            self.log(at, "info", "agent.resumed", f"{agent.name} works again", agent=agent)
        standing = self._open.get(owner.id)
        if standing is not None and standing.threshold == reached:
            # The sums of an open alert follow the money; its time and words stay.
            if (standing.spent, standing.limit) != (spent, limit):
                standing.spent, standing.limit = spent, limit or 0
                self.changed(standing)
            return
        if standing is not None:
            standing.resolved = at
            self.changed(standing)
            del self._open[owner.id]
        if not reached or not limit:
            return
        if reached == STOP_AT:
            severity, action, log_level = "critical", "budget.exceeded", "error"
            words = f"{owner.name} has spent {spent / DOLLAR:,.2f} of {limit / DOLLAR:,.2f}"
            words += " and was stopped" if agent else ""
        else:
            severity, action, log_level = "warning", "budget.warning", "warning"
            words = f"{owner.name} has spent {spent * 100 // limit} % of {limit / DOLLAR:,.2f}"
        alert_id = self.new_id("alt")
        told = (alert_id, severity, words, reached, company, agent, at)
        alert = DemoAlert(*told, limit=limit, spent=spent)
        self._open[owner.id] = self.alerts[alert.id] = alert
        self.changed(alert)
        self.log(at, log_level, action, words, company=company, agent=agent, actor="budget")

    def _plan(self, at: float, what: str, task: str = "") -> None:
        self._turn += 1
        heapq.heappush(self._queue, (at, self._turn, what, task))

    def _price(self, agent: DemoAgent) -> float:
        return self._prices.get(agent.id, 0.0) or _NEW_PRICE

    def _chance(self, task: DemoTask) -> random.Random:
        return stream(self.seed, task.number, task.progress)

    def _somebody(self, chance: random.Random) -> DemoAgent | None:
        agents = list(self.agents.values())
        tries = (agents[chance.randrange(len(agents))] for _ in range(8 if agents else 0))
        return next((agent for agent in tries if agent.status == "active"), None)

    def _on_talk(self, at: float, _: str) -> None:
        chance = self._talk
        agent = self._somebody(chance)
        level, template = BOOK.talk[chance.randrange(len(BOOK.talk))]
        number, cost = chance.randrange(1, 100_000), chance.randrange(2_000, 22_000)
        if agent is not None:
            words = fill(template, facts(self.seed, number))
            cost = round(cost * self._price(agent))
            self.log(at, level, "agent.note", words, agent=agent, cost=cost)
            self.charge(agent, cost, at)
        self._plan(at + chance.uniform(1.2, 3.8), "talk")

    def _on_arrive(self, at: float, _: str) -> None:
        chance = self._arrive
        agent = self._somebody(chance)
        if agent is not None:
            story = chance.choice(stories.FOR_ROLE[agent.role])
            task = self.draft(agent, story, at, chance)
            task.estimate = round(task.estimate * self._price(agent))
            task.cost = task.estimate // 3
            self.add_task(task)
            self.ask(task, at)
            self.charge(agent, task.cost, at)
        self._plan(at + chance.uniform(18.0, 32.0), "arrive")

    def _on_colleague(self, at: float, _: str) -> None:
        chance = self._colleague
        if len(self.pending) > self._usual_queue * 1.15:
            # The old and the urgent ones are left to the person at the dashboard.
            easy = [
                task
                for task in self.pending.values()
                if task.priority in {"medium", "low"} and 120 < at - task.created < 9_000
            ]
            if easy:
                task = easy[chance.randrange(len(easy))]
                who = chance.choice(BOOK.colleagues)
                self.decide(task, "approve" if chance.random() < 0.8 else "reject", who, at)
        self._plan(at + chance.uniform(12.0, 26.0), "colleague")

    def decide(self, task: DemoTask, decision: str, who: str, at: float) -> None:
        """A person says yes or no to a task; RefusedError if it is not pending."""
        if task.status != "pending":
            by = f" by {task.decided_by}" if task.decided_by else ""
            when = f" at {iso(task.decided)}" if task.decided is not None else ""
            words = "only pending tasks can be approved: this one is"
            raise RefusedError(409, "already_decided", f"{words} {task.status}, decided{by}{when}")
        approved = decision == "approve"
        verb = "approved" if approved else "rejected"
        if self.pending.pop(task.id, None) is not None:
            task.agent.company.pending -= 1
            self.changed(task.agent.company)
        task.status, task.decided, task.decided_by = verb, at, who
        if not approved:
            task.finished = at
        self.changed_task(task, at)
        words = f"{who} {verb}: {task.title}"
        self.log(at, "info", f"task.{verb}", words, task=task, actor=who)
        if approved:
            self.work_on(task, at)

    def _on_work(self, at: float, task_id: str) -> None:
        task = self.tasks.get(task_id)
        if task is None or task.status not in {"approved", "running"}:
            return
        agent = task.agent
        if agent.status != "active":
            # Work of a stopped agent waits until somebody raises its limit.
            if task.status == "approved" and task.id not in self._told_waiting:
                self._told_waiting.add(task.id)
                words = f"Can't start, stopped by its budget: {task.title}"
                self.log(at, "warning", "task.waiting", words, task=task, actor="scheduler")
            self._plan(at + 120.0, "work", task.id)
            return
        chance = self._chance(task)
        beats = task.story.carry_out
        known = self.particulars(task)
        if task.status == "approved":
            task.status = "running"
            words = f"Started: {task.title}"
            self.log(at, "info", "task.started", words, task=task)
        elif task.progress < len(beats):
            beat = beats[task.progress]
            task.progress += 1
            fate = stream(self.seed, task.number, "fails").random()
            fails = task.progress == len(beats) and fate < 0.09
            cost = task.estimate * 2 // (3 * len(beats))
            task.cost += cost
            if fails:
                self._end(task, "failed", fill(task.story.failed, known), at)
            else:
                words = beat.spoken(known)
                self.log(at, "info", f"step.{beat.kind}", words, task=task, cost=cost)
            self.charge(agent, cost, at)
            if fails:
                return
        else:
            self._end(task, "completed", fill(task.story.done, known), at)
            return
        self.changed_task(task, at)
        self._plan(at + chance.uniform(5.0, 18.0), "work", task.id)

    def _end(self, task: DemoTask, status: str, words: str, at: float) -> None:
        task.status, task.finished = status, at
        self._told_waiting.discard(task.id)
        self.changed_task(task, at)
        if status == "completed":
            task.agent.completed += 1
        level = "info" if status == "completed" else "error"
        self.log(at, level, f"task.{status}", words, task=task)


def build(state: Life, companies: int, agents: int, tasks: int) -> None:
    chance = stream(state.seed, "build")
    for index in range(companies):
        seed = stories.company_seed(index)
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
        wanted = company.spent / DOLLAR / stories.company_seed(index).share
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
    plan: list[tuple[float, str, stories.Opening | None]] = [
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
            told = stories.FOR_ROLE[agent.role]
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
