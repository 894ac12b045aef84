"""Creating a task: looked for before and after, so that a lost answer doesn't make it twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agentco_tui.actions.answer import Answer
from agentco_tui.actions.desk import Desk
from agentco_tui.actions.form_checks import TaskForm, check_task
from agentco_tui.actions.journal import Attempt
from agentco_tui.actions.journal_entries import seconds_of
from agentco_tui.actions.likeness import Before, Seen, ids, looked, otherwise, seen_in, subject_of
from agentco_tui.actions.outcome import Outcome
from agentco_tui.actions.pen import Draft
from agentco_tui.actions.verbs import Verb
from agentco_tui.actions.watch import Look, Looked
from agentco_tui.actions.write import OnProgress, Plan, Write
from agentco_tui.api.errors import ApiError
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model.records import Receipt, Ref, Task
from agentco_tui.text import SafeText, plain, safe

FIELDS = ("company_id", "title", "agent_id", "priority")


class TaskCreator:
    """Creates tasks from forms that a person filled in."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._write: Write[Task] = Write(desk, Verb.CREATE_TASK)

    async def create(self, form: TaskForm, on_progress: OnProgress | None = None) -> Outcome:
        """Create the task. `Outcome.fields` has the messages for the form if it was refused.

        Raises nothing but cancellation.
        """
        form = form.stripped()
        title = safe(form.title)
        subject = subject_of((form.company_id, form.title, form.agent_id))
        problems = check_task(form)
        if problems:
            return self._write.refused_form(title, subject, problems)

        async def prepare() -> Plan[Task] | Outcome:
            seen = await self._alike(form)
            if seen.error is not None and seen.stops:
                return self._write.unread(title, subject, seen.error.sentence)
            known = ids(seen.alike) if seen.error is None and seen.whole else None
            before = Before(ids=known, at=self._desk.clock.now())
            return self._plan(form, subject, before)

        return await self._write.carry_out(title, subject, prepare, self.take_up, on_progress)

    async def take_up(self, attempt: Attempt) -> Outcome:
        """Find out what became of a create that was left behind; nothing is sent."""
        form = TaskForm(
            company_id=attempt.company or "",
            title=str(attempt.details.get("title", attempt.title)),
            agent_id=attempt.agent or "",
            priority=str(attempt.details.get("priority", "")),
        )
        before = Before.from_details(attempt.details, seconds_of(attempt.time) or 0.0)
        plan = self._plan(form, attempt.subject, before)
        return await self._write.settle_earlier(plan, attempt)

    def _plan(self, form: TaskForm, subject: str, before: Before) -> Plan[Task]:
        names = self._desk.store
        company, agent = names.companies.get(form.company_id), names.agents.get(form.agent_id)

        def send(attempt_id: str) -> Awaitable[Receipt[Task]]:
            return self._desk.client.create_task(
                company_id=form.company_id,
                title=form.title,
                agent_id=form.agent_id,
                priority=form.priority,
                attempt_id=attempt_id,
            )

        def look(answer: Answer[Task] | None) -> Look[Task]:
            async def one() -> Looked[Task]:
                return looked(await self._alike(form), before, answer)

            return one

        return Plan(
            draft=Draft(
                verb=Verb.CREATE_TASK,
                subject=subject,
                title=safe(form.title),
                company=Ref(id=form.company_id, name=company.name if company else None),
                agent=Ref(id=form.agent_id, name=agent.name if agent else None),
                details={
                    **before.details(),
                    "title": form.title,
                    "priority": form.priority,
                },
            ),
            send=send,
            look=look,
            fields=FIELDS,
            done=_done,
            otherwise=otherwise,
            take=self._take,
        )

    async def _alike(self, form: TaskForm) -> Seen[Task]:
        """The company's tasks with this title and agent."""
        began = self._desk.clock.monotonic()
        try:
            listing = await self._desk.client.tasks(company_id=form.company_id or None)
        except ApiError as error:
            return Seen(alike=(), began=began, error=error)
        return seen_in(listing, _likeness(form), began)

    def _take(self, record: Task) -> None:
        store = self._desk.store
        scope = self._desk.reader.scope
        if scope not in (None, None if record.company is None else record.company.id):
            return
        if waits_for_person(record):
            store.publish(store.pending.put(record))
        if len(store.tasks):
            store.publish(store.tasks.put(record))


def _likeness(form: TaskForm) -> Callable[[Task], bool]:
    title = safe(form.title)

    def alike(task: Task) -> bool:
        if task.title != title:
            return False
        agent = None if task.agent is None else task.agent.id
        company = None if task.company is None else task.company.id
        return agent in (None, form.agent_id) and company in (None, form.company_id)

    return alike


def _done(record: Task | None) -> SafeText:
    return plain("created" if record is None else f"created: {safe(record.id)}")
