"""What happens in the embedded world: tasks arrive, are worked on and end, agents talk and spend.

The embedded world is the simulated companies, AI agents and tasks of demos and tests. Each task
follows a story: templates for its steps and texts, into which `fill` puts particulars (names,
amounts), drawn at random for each task. An agent "talks" when it writes to the activity log. The
`reached` of a company or agent is the threshold of its budget that its spending has reached: 0,
`WARN_AT` or `STOP_AT`.

All future events are in one queue, ordered by virtual time, and each sort of event has its own
random generator. So what happens depends on the seed and the virtual time only, not on how often
the world is looked at.
"""

from __future__ import annotations

import heapq
import random

from agentco_tui.demo import stories
from agentco_tui.demo.stories import BOOK, draw_particulars, fill, stream
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

ENTRIES_AN_HOUR = 2_040.0
"""Log entries of all agents together."""
_SPENT_AN_HOUR = 80.4 * DOLLAR
"""Cost of all agents together, at the prices of the stories."""
_NEW_PRICE = 0.1
"""Price, relative to the stories, of an agent that has spent nothing before."""
_TRIES = 8
"""How often an active agent is looked for at random."""
_FAILURE_RATE = 0.09
"""The part of all tasks that fail."""
_RETRY_AFTER = 120.0
"""Seconds until a stopped agent's work is tried again."""


class Simulation(WorldState):
    """The queue of events, what each of them does, and its consequences for budgets."""

    def __init__(self, seed: int, start: float) -> None:
        super().__init__(seed, start)
        self._open_alerts: dict[str, DemoAlert] = {}
        """By the id of the agent or company."""
        self._queue: list[tuple[float, int, str, str]] = []
        """A heap of events: time, serial number, name of the event, id of its task."""
        self._last_serial = 0
        self._talk = stream(seed, "talk")
        self._arrive = stream(seed, "arrive")
        self._colleague = stream(seed, "colleague")
        self._logged_waiting: set[str] = set()
        """Ids of tasks of which the log says that they wait for a stopped agent."""
        self._prices: dict[str, float] = {}
        """By agent: the cost of its work, relative to the stories, so that it goes on spending at
        the rate at which it did before the start."""
        self._usual_pending = 0
        """How many tasks were pending at the start: colleagues help when there are more."""

    def begin(self, at: float) -> None:
        """Schedule the first events."""
        self._usual_pending = len(self.pending)
        working = sum(agent.status == "active" for agent in self.agents.values())
        hours = (at - self.period_start) / 3_600
        for agent in self.agents.values():
            self._prices[agent.id] = agent.spent / hours * working / _SPENT_AN_HOUR
        self._plan(at + self._talk.uniform(0.5, 3.0), "talk")
        self._plan(at + self._arrive.uniform(8.0, 20.0), "arrive")
        self._plan(at + self._colleague.uniform(25.0, 40.0), "colleague")

    def run_until(self, at: float) -> None:
        """Let everything happen that is due at a time."""
        while self._queue and self._queue[0][0] <= at:
            due, _, event, task_id = heapq.heappop(self._queue)
            self.now = max(self.now, due)
            handle = getattr(self, f"_on_{event}")
            handle(due, task_id)
        self.now = max(self.now, at)

    def work_on(self, task: DemoTask, at: float) -> None:
        """Schedule the first step of work on a task."""
        self._plan(at + self._chance(task).uniform(2.0, 6.0), "work", task.id)

    def draft(
        self,
        agent: DemoAgent,
        story: stories.Story,
        at: float,
        chance: random.Random,
        *,
        fixed_particulars: stories.Particulars | None = None,
        priority: str | None = None,
    ) -> DemoTask:
        """A new task, not yet in the world. `fixed_particulars` replace drawn ones."""
        self.numbers["task_number"] += 1
        number = self.numbers["task_number"]
        particulars = {**draw_particulars(self.seed, number), **(fixed_particulars or {})}
        return DemoTask(
            id=self.new_id("tsk"),
            number=number,
            story=story,
            title=fill(story.title, particulars),
            description=fill(story.description, particulars),
            priority=priority or stories.PRIORITIES[chance.choice(story.priorities)],
            agent=agent,
            created=at,
            updated=at,
            estimate=chance.randrange(story.cost[0], story.cost[1]) * CENT,
            fixed_particulars=fixed_particulars,
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
        if isinstance(owner, DemoAgent):
            self._stop_or_resume(owner, at)
        alert = self._open_alerts.get(owner.id)
        if alert is not None and alert.threshold == owner.reached:
            # The amounts of an open alert follow the money; its time and message stay.
            if alert.spent != owner.spent or alert.limit != owner.limit:
                alert.spent = owner.spent
                alert.limit = owner.limit or 0
                self.changed(alert)
            return
        if alert is not None:
            alert.resolved = at
            self.changed(alert)
            del self._open_alerts[owner.id]
        if owner.reached and owner.limit:
            self._raise_alert(owner, owner.limit, at)

    def _stop_or_resume(self, agent: DemoAgent, at: float) -> None:
        if agent.reached == STOP_AT and agent.status == "active":
            agent.status = "paused"
            agent.pause_reason = "budget"
            self.changed(agent)
        elif agent.reached < STOP_AT and agent.pause_reason == "budget":
            agent.status = "active"
            agent.pause_reason = None
            self.changed(agent)
            self.log(at, "info", "agent.resumed", f"{agent.name} works again", agent=agent)

    def _raise_alert(self, owner: DemoAgent | DemoCompany, limit: int, at: float) -> None:
        agent = owner if isinstance(owner, DemoAgent) else None
        company = owner.company if isinstance(owner, DemoAgent) else owner
        if owner.reached == STOP_AT:
            severity = "critical"
            action = "budget.exceeded"
            log_level = "error"
            message = f"{owner.name} has spent {owner.spent / DOLLAR:,.2f} of {limit / DOLLAR:,.2f}"
            if agent:
                message += " and was stopped"
        else:
            severity = "warning"
            action = "budget.warning"
            log_level = "warning"
            percent = owner.spent * 100 // limit
            message = f"{owner.name} has spent {percent} % of {limit / DOLLAR:,.2f}"
        alert = DemoAlert(
            id=self.new_id("alt"),
            severity=severity,
            message=message,
            threshold=owner.reached,
            company=company,
            agent=agent,
            created=at,
            limit=limit,
            spent=owner.spent,
        )
        self._open_alerts[owner.id] = alert
        self.alerts[alert.id] = alert
        self.changed(alert)
        self.log(at, log_level, action, message, company=company, agent=agent, actor="budget")

    def _plan(self, at: float, event: str, task_id: str = "") -> None:
        """Schedule an event: at that time `_on_EVENT` is called."""
        self._last_serial += 1
        heapq.heappush(self._queue, (at, self._last_serial, event, task_id))

    def _price(self, agent: DemoAgent) -> float:
        return self._prices.get(agent.id, 0.0) or _NEW_PRICE

    def _chance(self, task: DemoTask) -> random.Random:
        return stream(self.seed, task.number, task.progress)

    def _random_active_agent(self, chance: random.Random) -> DemoAgent | None:
        """An active agent; None if a few tries found none."""
        agents = list(self.agents.values())
        if not agents:
            return None
        for _ in range(_TRIES):
            agent = agents[chance.randrange(len(agents))]
            if agent.status == "active":
                return agent
        return None

    def _on_talk(self, at: float, _: str) -> None:
        chance = self._talk
        agent = self._random_active_agent(chance)
        level, template = BOOK.talk[chance.randrange(len(BOOK.talk))]
        number = chance.randrange(1, 100_000)
        cost = chance.randrange(2_000, 22_000)
        if agent is not None:
            message = fill(template, draw_particulars(self.seed, number))
            cost = round(cost * self._price(agent))
            self.log(at, level, "agent.note", message, agent=agent, cost=cost)
            self.charge(agent, cost, at)
        self._plan(at + chance.uniform(1.2, 3.8), "talk")

    def _on_arrive(self, at: float, _: str) -> None:
        chance = self._arrive
        agent = self._random_active_agent(chance)
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
        if len(self.pending) > self._usual_pending * 1.15:
            # The old and the urgent ones are left to the user of the dashboard.
            easy = [
                task
                for task in self.pending.values()
                if task.priority in {"medium", "low"} and 120 < at - task.created < 9_000
            ]
            if easy:
                task = easy[chance.randrange(len(easy))]
                who = chance.choice(BOOK.colleagues)
                decision = "approve" if chance.random() < 0.8 else "reject"
                self.decide(task, decision, who, at)
        self._plan(at + chance.uniform(12.0, 26.0), "colleague")

    def decide(self, task: DemoTask, decision: str, who: str, at: float) -> None:
        """Approve or reject a task. Raises RefusedError if it is not pending."""
        if task.status != "pending":
            by = f" by {task.decided_by}" if task.decided_by else ""
            when = f" at {iso(task.decided)}" if task.decided is not None else ""
            message = "only pending tasks can be approved: this one is"
            message += f" {task.status}, decided{by}{when}"
            raise RefusedError(409, "already_decided", message)
        approved = decision == "approve"
        verb = "approved" if approved else "rejected"
        if self.pending.pop(task.id, None) is not None:
            task.agent.company.pending -= 1
            self.changed(task.agent.company)
        task.status = verb
        task.decided = at
        task.decided_by = who
        if not approved:
            task.finished = at
        self.changed_task(task, at)
        message = f"{who} {verb}: {task.title}"
        self.log(at, "info", f"task.{verb}", message, task=task, actor=who)
        if approved:
            self.work_on(task, at)

    def _on_work(self, at: float, task_id: str) -> None:
        task = self.tasks.get(task_id)
        if task is None or task.status not in {"approved", "running"}:
            return
        agent = task.agent
        if agent.status != "active":
            # Work of a stopped agent waits until its limit is raised.
            if task.status == "approved" and task.id not in self._logged_waiting:
                self._logged_waiting.add(task.id)
                message = f"Can't start, stopped by its budget: {task.title}"
                self.log(at, "warning", "task.waiting", message, task=task, actor="scheduler")
            self._plan(at + _RETRY_AFTER, "work", task.id)
            return
        chance = self._chance(task)
        if task.status == "approved":
            task.status = "running"
            self.log(at, "info", "task.started", f"Started: {task.title}", task=task)
        elif task.progress < len(task.story.carry_out):
            self._carry_out_step(task, at)
        else:
            self._end(task, "completed", fill(task.story.done, self.particulars(task)), at)
        if task.finished is None:
            self.changed_task(task, at)
            self._plan(at + chance.uniform(5.0, 18.0), "work", task.id)

    def _carry_out_step(self, task: DemoTask, at: float) -> None:
        """Do the next step of a task; the last one may fail."""
        steps = task.story.carry_out
        step = steps[task.progress]
        particulars = self.particulars(task)
        task.progress += 1
        is_last = task.progress == len(steps)
        fails = is_last and stream(self.seed, task.number, "fails").random() < _FAILURE_RATE
        # A third of the estimate was spent on the preparation.
        cost = task.estimate * 2 // (3 * len(steps))
        task.cost += cost
        if fails:
            self._end(task, "failed", fill(task.story.failed, particulars), at)
        else:
            message = step.as_log_message(particulars)
            self.log(at, "info", f"step.{step.kind}", message, task=task, cost=cost)
        self.charge(task.agent, cost, at)

    def _end(self, task: DemoTask, status: str, message: str, at: float) -> None:
        task.status = status
        task.finished = at
        self._logged_waiting.discard(task.id)
        self.changed_task(task, at)
        if status == "completed":
            task.agent.completed += 1
        level = "info" if status == "completed" else "error"
        self.log(at, level, f"task.{status}", message, task=task)
