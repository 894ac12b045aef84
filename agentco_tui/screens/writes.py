"""What the frame does when a person wants to change something: ask first, then tell what became."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

from textual.app import App
from textual.worker import Worker

from agentco_tui import format as fmt
from agentco_tui.actions.batch import BatchApproval, Phase, State
from agentco_tui.actions.decided import decided_as, decision_about
from agentco_tui.actions.journal import Attempt, JournalError
from agentco_tui.actions.outcome import GOOD, Kind, KnownBy, Outcome, Progress, Step
from agentco_tui.actions.rights import Denied, Rights
from agentco_tui.actions.take_up import TakeUp
from agentco_tui.actions.verbs import Verb
from agentco_tui.api.errors import ApiError
from agentco_tui.api.records import Company, Task, Trace
from agentco_tui.live.insight import waiting_since
from agentco_tui.screens import activity_forms, form_plans
from agentco_tui.screens.batch import BatchProgress, BatchQuestion
from agentco_tui.screens.columns.look import Look
from agentco_tui.screens.details import budget_fields
from agentco_tui.screens.dialog import Question, title_of
from agentco_tui.screens.form import Form, FormPlan
from agentco_tui.screens.level_cells import priority_cell
from agentco_tui.screens.session import Session
from agentco_tui.screens.trace import TraceScreen, summary_items
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.pane_content import Cells, Field, Gap, Item, Text
from agentco_tui.widgets.tones import Cell, Tone

VERBS = {
    "tasks.approve": Verb.APPROVE,
    "tasks.new": Verb.CREATE_TASK,
    "companies.new": Verb.CREATE_COMPANY,
    "companies.clone": Verb.CLONE_COMPANY,
    "agents.limit": Verb.SET_LIMIT,
    "budget.limit": Verb.SET_LIMIT,
}
SENT = frozenset({State.SENDING, State.CONFIRMING, State.UNKNOWN})
"""States of a task of a set that has been sent and has no outcome."""
DOUBTFUL = frozenset({Kind.UNKNOWN, Kind.UNCLEAR, Kind.NOT_DONE, Kind.STILL_PENDING})
"""Sent from here without its being known to have done anything: who approved it later can't be
told."""
TOLD_ONE_BY_ONE = 3
"""So many outcomes of an earlier run are each told; of more, how many came to what."""
TRACE_LINES = 4
"""Steps of the trace that the question shows."""


class ApproveQuestion(Question):
    """Whether to approve one task, with the end of its trace; belongs to the task, not to a row."""

    def __init__(self, session: Session, task: Task, differences: Iterable[Item] = ()) -> None:
        self.session = session
        self.look = Look(session.store, session.names, session.clock, session.settings.alerts)
        self.subject = task
        self.trace: Trace | None = None
        self.failure: ApiError | None = None
        self._differences = tuple(differences)
        title = title_of(session.settings.profile, "APPROVE", plain("1 task"))
        super().__init__(title, self._question(), "approve")

    def on_mount(self) -> None:
        """Read the trace while the person reads the rest."""
        super().on_mount()
        self.session.read.add(self.subject.id)
        self.run_worker(self._read_trace(), description="read the trace")

    async def _read_trace(self) -> None:
        try:
            self.trace = await self.session.client.task_trace(self.subject.id)
        except ApiError as error:
            self.failure = error
        self.show_items(self._question())

    def _question(self) -> list[Item]:
        task, names = self.subject, self.session.names
        agent = names.agent_of(task.agent)
        since = waiting_since(task)
        role = f" ({agent.role})" if agent is not None and agent.role else ""
        trust = task.trust if task.trust is not None else (agent.trust if agent else None)
        priority = priority_cell(task.priority)
        facts: list[Cell] = [
            Cell(names.company(names.company_of(task)), Tone.STRONG),
            Cell(plain(f" {signs.separator} {names.agent(task.agent)}{role} {signs.separator} ")),
            Cell(plain(priority.text.strip()), priority.tone),
            Cell(plain(f" {signs.separator} waits {self.look.age(since)}")),
        ]
        if trust is not None:
            facts.append(Cell(plain(f" {signs.separator} trust {fmt.trust(trust)}")))
        items: list[Item] = [*self._differences, Text(task.title, Tone.STRONG), Cells(tuple(facts))]
        if task.description:
            items += [Gap(), Text(plain(task.description[:600]))]
        budget = None
        if task.agent is not None and task.agent.id is not None:
            budget = self.session.store.agent_budgets.get(task.agent.id)
        if budget is not None:
            items += [Gap(), *budget_fields(budget, self.look)[:1]]
            spent = f"{fmt.money(budget.spent)} of {fmt.money(budget.limit)}"
            items.append(Field(plain("budget"), plain(spent)))
        items.append(Gap())
        if self.failure is not None:
            items.append(Text(plain(f"{signs.unknown} trace: {self.failure}"), Tone.WARNING))
        elif self.trace is None:
            items.append(Text(plain("reading the trace"), Tone.DIM))
        else:
            items += summary_items(self.trace, self.look, TRACE_LINES)
        return items

    def action_more(self) -> None:
        """Read the whole trace; from there one comes back to this question."""
        self.app.push_screen(TraceScreen(self.session, self.look, self.subject))


def left_open(attempt: Attempt) -> Outcome:
    """What is known of an approval of an earlier run before it has been read."""
    return Outcome(
        verb=Verb.APPROVE,
        kind=Kind.UNKNOWN,
        subject=attempt.subject,
        title=safe(attempt.title),
        sentence=plain("an earlier run left it without an outcome"),
        known_by=KnownBy.HERE,
        attempt_id=attempt.attempt,
    )


class Writes:
    """Approve, create, clone and set a limit, for the frame, which is the widget."""

    session: Session
    app: App[Any]
    run_worker: Callable[..., Worker[Any]]

    def say(self, words: str, *, bad: bool = False) -> None:
        """Show a short message."""
        raise NotImplementedError

    @property
    def rights(self) -> Rights:
        """What may be written."""
        return self.session.hands.rights

    def denial(self, binding_id: str) -> SafeText | None:
        """Why a write may not be tried; None if it may."""
        may = self.rights.may(VERBS[binding_id])
        return may.reason if isinstance(may, Denied) else None

    def _may(self, verb: Verb) -> bool:
        may = self.rights.may(verb)
        if isinstance(may, Denied):
            self.say(may.reason, bad=True)
            return False
        return True

    # ---- approving

    def approve(self, task: Task, differences: Iterable[Item] = ()) -> None:
        """Ask whether to approve a task."""
        if not self._may(Verb.APPROVE):
            return

        def then(yes: bool | None) -> None:
            if yes:
                self._run(self._approve(task), f"approve {task.id}")

        self.app.push_screen(ApproveQuestion(self.session, task, differences), then)

    def approve_many(self, tasks: Sequence[Task]) -> None:
        """Ask whether to approve all of these tasks by one decision."""
        if not self._may(Verb.APPROVE):
            return
        not_read = {task.id for task in tasks} - self.session.read
        self._ask_many(BatchApproval(self.session.hands.approver, tasks, not_read))

    def _ask_many(self, batch: BatchApproval) -> None:
        def then(yes: bool | None) -> None:
            if yes:
                self._run(self._approve_many(batch), f"approve {len(batch.items)} tasks")
                self.app.push_screen(BatchProgress(self.session, batch), again)

        def again(wanted: bool | None) -> None:
            if wanted:
                self._ask_many(batch.again())

        self.app.push_screen(BatchQuestion(self.session, batch), then)

    async def _approve_many(self, batch: BatchApproval) -> None:
        ids = {item.task.id for item in batch.items}
        stop = batch.subscribe(lambda: self._take_fates(batch))
        try:
            phase = await batch.run()
        finally:
            stop()
            self.session.in_flight.difference_update(ids)
        self.fates_known(ids)
        if phase is Phase.ENDED:
            self.marks_done(ids)
            good = all(item.outcome is not None and item.outcome.good for item in batch.items)
            self.say(f"{signs.good if good else signs.warning} {batch.sentence}", bad=not good)

    def _take_fates(self, batch: BatchApproval) -> None:
        """Keep what is on its way, and what became of what was."""
        flying, fates = self.session.in_flight, self.session.fates
        changed: list[str] = []
        for item in batch.items:
            task_id, sent = item.task.id, item.state in SENT
            if item.outcome is not None and fates.get(task_id) is not item.outcome:
                fates[task_id] = item.outcome
                flying.discard(task_id)
                changed.append(task_id)
            elif sent and task_id not in flying:
                flying.add(task_id)
                changed.append(task_id)
        if changed:
            self.fates_known(changed)

    def fates_known(self, task_ids: Iterable[str]) -> None:
        """It is known what became of these tasks: their ghosts say so."""
        raise NotImplementedError

    def marks_done(self, task_ids: Iterable[str]) -> None:
        """These marked tasks have been decided."""
        raise NotImplementedError

    def told_of(self, entry_ids: Iterable[str]) -> set[str]:
        """The tasks that these entries of the log are about."""
        entries = (self.session.store.activity.get(entry_id) for entry_id in entry_ids)
        about = (entry.task for entry in entries if entry is not None)
        return {ref.id for ref in about if ref is not None and ref.id is not None}

    def decided_here(self, task_id: str) -> bool:
        """Whether it is being approved from here, or was."""
        outcome = self.session.fates.get(task_id)
        return task_id in self.session.in_flight or (outcome is not None and outcome.good)

    def has_read(self, task_id: str) -> None:
        """The person has had the task's details before them."""
        self.session.read.add(task_id)

    def fate_of(self, task_id: str) -> Cell:
        """What became of a task that waits no more, by what was done here and by the log."""
        if task_id in self.session.in_flight:
            return Cell(plain("being approved here"), Tone.ACCENT)
        outcome = self.session.fates.get(task_id)
        kind = None if outcome is None else outcome.kind
        if kind is Kind.APPROVED_HERE:
            return Cell(plain("approved here"), Tone.GOOD)
        if kind is Kind.APPROVED:
            return Cell(plain("approved"), Tone.GOOD)
        record = (
            outcome.record if outcome is not None and isinstance(outcome.record, Task) else None
        )
        word = decided_as(record, decision_about(task_id, self.session.store.activity))
        if word == "approved" and kind in DOUBTFUL:
            return Cell(plain("approved"), Tone.DIM)
        if word is not None:
            return Cell(plain(f"{word} elsewhere"), Tone.DIM)
        return Cell(plain("gone"), Tone.DIM)

    async def take_up(self) -> None:
        """Settle what an earlier run left without an outcome, and tell of each."""
        hands, fates = self.session.hands, self.session.fates
        work = TakeUp(hands.approver, hands.tasks, hands.companies, hands.limits)

        kinds: Counter[Kind] = Counter()

        def told(attempt: Attempt, outcome: Outcome) -> None:
            kinds[outcome.kind] += 1
            if attempt.verb == Verb.APPROVE:
                fates[outcome.subject] = outcome
                self.fates_known((outcome.subject,))
            if len(left) <= TOLD_ONE_BY_ONE:
                self.tell(outcome)

        try:
            left = await work.open_attempts()
            for attempt in left:
                if attempt.verb == Verb.APPROVE:
                    fates[attempt.subject] = left_open(attempt)
            if left:
                count = "1 write" if len(left) == 1 else f"{fmt.count(len(left))} writes"
                words = f"{count} of an earlier run had no outcome: reading what became of them"
                self.say(f"{signs.unknown} {words}", bad=True)
            await work.run(told)
            if len(left) > TOLD_ONE_BY_ONE:
                came_to = ", ".join(f"{fmt.count(n)} {kind}" for kind, n in kinds.most_common())
                words = f"{count} of an earlier run: {came_to}; the journal has each"
                self.say(
                    f"{signs.good if GOOD.issuperset(kinds) else signs.warning} {words}", bad=True
                )
        except JournalError as error:
            self.say(f"{signs.warning} {error.sentence}; nothing can be approved", bad=True)

    async def _approve(self, task: Task) -> None:
        def step(progress: Progress) -> None:
            # Until it is sent, a task that leaves the queue was decided by somebody else.
            if progress.step is not Step.READING and task.id not in self.session.in_flight:
                self.session.in_flight.add(task.id)
                self.fates_known((task.id,))
            if progress.step is Step.UNKNOWN and progress.tries == 0:
                words = (
                    f"{signs.unknown} {task.title}: the answer was lost; reading what became of it"
                )
                self.say(words, bad=True)

        try:
            outcome = await self.session.hands.approver.approve(task, step)
            self.session.fates[task.id] = outcome
        finally:
            self.session.in_flight.discard(task.id)
        self.fates_known((task.id,))
        self.tell(outcome)
        if outcome.kind is Kind.CHANGED and isinstance(outcome.record, Task):
            items: list[Item] = [
                Text(plain(f"{signs.warning} it changed since you read it; nothing was sent")),
                *(
                    Field(plain(change.field), plain(f"{change.was} {signs.arrow} {change.is_}"))
                    for change in outcome.differences
                ),
                Gap(),
            ]
            self.approve(outcome.record, items)

    def tell(self, outcome: Outcome) -> None:
        """Say what became of a write."""
        sign = signs.good if outcome.good else signs.warning
        words = f" (platform: {outcome.words})" if outcome.words else ""
        self.say(f"{sign} {outcome.title}: {outcome.sentence}{words}", bad=not outcome.good)

    def _run(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self.run_worker(work, group="writes", description=name)

    # ---- forms

    def new_task(self, like: Task | None) -> None:
        """Ask for a new task."""
        self._form(Verb.CREATE_TASK, lambda: form_plans.new_task(self.session, like, self.tell))

    def new_company(self) -> None:
        """Ask for a new company."""
        self._form(Verb.CREATE_COMPANY, lambda: form_plans.new_company(self.session, self.tell))

    def clone_company(self, company: Company) -> None:
        """Ask for a company's clone."""
        self._form(
            Verb.CLONE_COMPANY, lambda: form_plans.clone_company(self.session, company, self.tell)
        )

    def set_limit(self, agent_id: str) -> None:
        """Ask for an agent's new limit."""
        self._form(Verb.SET_LIMIT, lambda: form_plans.set_limit(self.session, agent_id, self.tell))

    def _form(self, verb: Verb, plan: Callable[[], FormPlan]) -> None:
        if self._may(verb):
            self.app.push_screen(Form(plan()))

    def activity_filters(self) -> None:
        """Ask what of the log to show."""
        self.app.push_screen(
            Form(activity_forms.activity_filters(self.session, self.rescope_activity))
        )

    def rescope_activity(self) -> None:
        """The activity's filters have changed."""
        raise NotImplementedError

    def export_activity(self) -> None:
        """Ask where to write the platform's export."""
        self.app.push_screen(Form(activity_forms.export_activity(self.session, self.say)))
