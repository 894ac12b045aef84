"""All that comes over the frame when a person asks for it, and what a yes in it sets going.

Imported when the first of it is wanted, or soon after the start: nobody can ask before there is
something to see, and reading all of this would put that off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from agentco_tui import format as fmt
from agentco_tui.actions.batch import BatchApproval, Phase, State
from agentco_tui.actions.journal import Attempt
from agentco_tui.actions.outcome import GOOD, Kind, KnownBy, Outcome, Progress, Step
from agentco_tui.actions.take_up import TakeUp
from agentco_tui.actions.verbs import Verb
from agentco_tui.api.records import Company, Task
from agentco_tui.keys import Place
from agentco_tui.screens import activity_forms, form_plans
from agentco_tui.screens.approve_question import ApproveQuestion
from agentco_tui.screens.batch import BatchProgress, BatchQuestion
from agentco_tui.screens.columns.look import Look
from agentco_tui.screens.form import Form, FormPlan
from agentco_tui.screens.help import HelpScreen
from agentco_tui.screens.trace import TraceScreen
from agentco_tui.text import plain, safe, signs
from agentco_tui.widgets.pane_content import Field, Gap, Item, Text
from agentco_tui.widgets.workers import Work, start_worker

if TYPE_CHECKING:
    from agentco_tui.screens.writes import Writes

SENT = frozenset({State.SENDING, State.CONFIRMING, State.UNKNOWN})
"""States of a task of a set that has been sent and has no outcome."""
TOLD_ONE_BY_ONE = 3
"""So many outcomes of an earlier run are each told; of more, how many came to what."""


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


class Dialogs:
    """The dialogs of one frame."""

    def __init__(self, frame: Writes) -> None:
        self._frame = frame
        self._say = frame.say
        self.session = frame.session

    # ---- reading

    def help(self, place: Place, keys: Mapping[str, str], denied: Mapping[str, str]) -> None:
        """The keys of a screen."""
        self._frame.app.push_screen(HelpScreen(place, keys, denied))

    def trace(self, task: Task, look: Look) -> None:
        """Open a task's trace; from there one key goes on to the question."""

        def then(approve: bool | None) -> None:
            if approve:
                self.approve(task)

        self._frame.app.push_screen(TraceScreen(self.session, look, task), then)

    # ---- approving

    def approve(self, task: Task, differences: Iterable[Item] = ()) -> None:
        """Ask whether to approve a task."""
        if not self._frame.may(Verb.APPROVE):
            return

        def then(yes: bool | None) -> None:
            if yes:
                self._run(partial(self._approve, task), f"approve {task.id}")

        self._frame.app.push_screen(ApproveQuestion(self.session, task, differences), then)

    def approve_many(self, tasks: Sequence[Task]) -> None:
        """Ask whether to approve all of these tasks by one decision."""
        if not self._frame.may(Verb.APPROVE):
            return
        not_read = {task.id for task in tasks} - self.session.read
        self._ask_many(BatchApproval(self.session.hands.approver, tasks, not_read))

    def _ask_many(self, batch: BatchApproval) -> None:
        def then(yes: bool | None) -> None:
            if yes:
                self._run(partial(self._approve_many, batch), f"approve {len(batch.items)} tasks")
                self._frame.app.push_screen(BatchProgress(self.session, batch), again)

        def again(wanted: bool | None) -> None:
            if wanted:
                self._ask_many(batch.again())

        self._frame.app.push_screen(BatchQuestion(self.session, batch), then)

    async def _approve_many(self, batch: BatchApproval) -> None:
        ids = {item.task.id for item in batch.items}
        stop = batch.subscribe(lambda: self._take_fates(batch))
        try:
            phase = await batch.run()
        finally:
            stop()
            self.session.in_flight.difference_update(ids)
        self._frame.fates_known(ids)
        if phase is Phase.ENDED:
            self._frame.marks_done(ids)
            good = all(item.outcome is not None and item.outcome.good for item in batch.items)
            self._say(f"{signs.good if good else signs.warning} {batch.sentence}", bad=not good)

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
            self._frame.fates_known(changed)

    async def take_up(self) -> None:
        """Settle what an earlier run left without an outcome, and tell of each.

        Raises JournalError.
        """
        hands, fates = self.session.hands, self.session.fates
        work = TakeUp(hands.approver, hands.tasks, hands.companies, hands.limits)
        kinds: Counter[Kind] = Counter()

        def told(attempt: Attempt, outcome: Outcome) -> None:
            kinds[outcome.kind] += 1
            if attempt.verb == Verb.APPROVE:
                fates[outcome.subject] = outcome
                self._frame.fates_known((outcome.subject,))
            if len(left) <= TOLD_ONE_BY_ONE:
                self.tell(outcome)

        left = await work.open_attempts()
        for attempt in left:
            if attempt.verb == Verb.APPROVE:
                fates[attempt.subject] = left_open(attempt)
        if left:
            count = "1 write" if len(left) == 1 else f"{fmt.count(len(left))} writes"
            words = f"{count} of an earlier run had no outcome: reading what became of them"
            self._say(f"{signs.unknown} {words}", bad=True)
        await work.run(told)
        if len(left) > TOLD_ONE_BY_ONE:
            came_to = ", ".join(f"{fmt.count(n)} {kind}" for kind, n in kinds.most_common())
            words = f"{count} of an earlier run: {came_to}; the journal has each"
            self._say(
                f"{signs.good if GOOD.issuperset(kinds) else signs.warning} {words}", bad=True
            )

    async def _approve(self, task: Task) -> None:
        def step(progress: Progress) -> None:
            # Until it is sent, a task that leaves the queue was decided by somebody else.
            if progress.step is not Step.READING and task.id not in self.session.in_flight:
                self.session.in_flight.add(task.id)
                self._frame.fates_known((task.id,))
            if progress.step is Step.UNKNOWN and progress.tries == 0:
                words = (
                    f"{signs.unknown} {task.title}: the answer was lost; reading what became of it"
                )
                self._say(words, bad=True)

        try:
            outcome = await self.session.hands.approver.approve(task, step)
            self.session.fates[task.id] = outcome
        finally:
            self.session.in_flight.discard(task.id)
        self._frame.fates_known((task.id,))
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
        self._say(f"{sign} {outcome.title}: {outcome.sentence}{words}", bad=not outcome.good)

    def _run(self, work: Work, name: str) -> None:
        start_worker(self._frame, work, name, group="writes")

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
        if self._frame.may(verb):
            self._frame.app.push_screen(Form(plan()))

    def activity_filters(self) -> None:
        """Ask what of the log to show."""
        self._frame.app.push_screen(
            Form(activity_forms.activity_filters(self.session, self._frame.rescope_activity))
        )

    def export_activity(self) -> None:
        """Ask where to write the platform's export."""
        self._frame.app.push_screen(Form(activity_forms.export_activity(self.session, self._say)))
