"""How the embedded world lives: tasks arrive, are worked on and end, agents talk and spend.

Everything that will happen lies in one queue ordered by virtual time, and every sort of event
draws from its own stream of chance. So what happens depends on the seed and on virtual time only,
not on how often anybody looks.
"""

from __future__ import annotations

import heapq
import random

from agentco_tui.demo.stories import BOOK, FOR_ROLE, PRIORITIES, Facts, Story, facts, fill, stream
from agentco_tui.demo.world_state import (
    CENT,
    DOLLAR,
    STOP_AT,
    DemoAgent,
    DemoAlert,
    DemoCompany,
    DemoTask,
    RefusedError,
    WorldState,
    iso,
)


class Life(WorldState):
    """The queue of what will happen, what each event does, and what follows for budgets."""

    def __init__(self, seed: int, start: float, *, numeric_ids: bool) -> None:
        super().__init__(seed, start, numeric_ids=numeric_ids)
        self._open: dict[str, DemoAlert] = {}
        """The alert that stands, by whose it is."""
        self._queue: list[tuple[float, int, str, str]] = []
        """(When, turn, which event, the id of its task)."""
        self._turn = 0
        self._talk = stream(seed, "talk")
        self._arrive = stream(seed, "arrive")
        self._colleague = stream(seed, "colleague")
        self._told_waiting: set[str] = set()
        self._usual_queue = 0
        """How many pending tasks there were at first: colleagues help when there are more."""
        self._hot: list[DemoAgent] = []
        """Agents close to a threshold, who get to talk more so that alerts rise soon."""

    def begin(self, at: float) -> None:
        self._usual_queue = len(self.pending)
        self._hot = [
            agent
            for agent in self.agents.values()
            if agent.limit
            and any(0 < mark - agent.spent / agent.limit < 0.005 for mark in (0.8, 1.0))
        ]
        self._plan(at + self._talk.uniform(0.5, 3.0), "talk")
        self._plan(at + self._arrive.uniform(8.0, 20.0), "arrive")
        self._plan(at + self._colleague.uniform(25.0, 40.0), "colleague")
        self._plan(self.resets, "period")

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
        story: Story,
        at: float,
        chance: random.Random,
        *,
        given: Facts | None = None,
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
            priority=priority or PRIORITIES[chance.choice(story.priorities)],
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

    def _chance(self, task: DemoTask) -> random.Random:
        return stream(self.seed, task.number, task.progress)

    def _somebody(self, chance: random.Random, agents: list[DemoAgent]) -> DemoAgent | None:
        tries = (agents[chance.randrange(len(agents))] for _ in range(8 if agents else 0))
        return next((agent for agent in tries if agent.status == "active"), None)

    def _on_talk(self, at: float, _: str) -> None:
        chance = self._talk
        pool = self._hot if chance.random() < 0.15 else list(self.agents.values())
        agent = self._somebody(chance, pool)
        level, template = BOOK.talk[chance.randrange(len(BOOK.talk))]
        known = facts(self.seed, chance.randrange(1, 100_000))
        cost = chance.randrange(2_000, 22_000)
        if agent is not None:
            words = fill(template, known)
            self.log(at, level, "agent.note", words, agent=agent, cost=cost)
            self.charge(agent, cost, at)
        self._plan(at + chance.uniform(1.2, 3.8), "talk")

    def _on_arrive(self, at: float, _: str) -> None:
        chance = self._arrive
        agent = self._somebody(chance, list(self.agents.values()))
        if agent is not None:
            story = chance.choice(FOR_ROLE[agent.role])
            task = self.draft(agent, story, at, chance)
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

    def _on_period(self, at: float, _: str) -> None:
        """A new month: nothing is spent, all that was stopped for money goes on."""
        length = self.resets - self.period_start
        self.period_start, self.resets = self.resets, self.resets + length
        owners: list[DemoAgent | DemoCompany] = [*self.agents.values(), *self.companies.values()]
        for owner in owners:
            owner.spent = 0
            self.changed(owner)
        for owner in owners:
            self.review(owner, at)
        self.log(at, "info", "budget.period_started", "A new budget period began")
        self._plan(self.resets, "period")
