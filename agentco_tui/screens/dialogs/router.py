"""Opens the dialogs over the frame, and does what the user confirms in them.

Imported soon after the start: no dialog is opened before there is something to see.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import cast

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.batch import BatchApproval, BatchPhase
from agentco_tui.actions.batch_summary import Excluded, split_by_type
from agentco_tui.actions.decisions import Decision, task_of
from agentco_tui.actions.journal_lines import Attempt
from agentco_tui.actions.outcome import (
    DOUBTFUL,
    ENDED_WAITING,
    GOOD,
    KnownBy,
    Outcome,
    OutcomeKind,
    Step,
    Verb,
)
from agentco_tui.actions.outcome_words import sentence_with_platform_words
from agentco_tui.actions.recovery import recover
from agentco_tui.config import Switch
from agentco_tui.keys.commands import COMMANDS_BY_ID
from agentco_tui.keys.places import Place
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Task
from agentco_tui.model import format as fmt
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.decision_notes import may_approve, resolution_note, text_of
from agentco_tui.screens.dialogs.approve_dialog import ApproveQuestion, BatchProgress, BatchQuestion
from agentco_tui.screens.dialogs.columns_screen import ColumnsScreen
from agentco_tui.screens.dialogs.form_definitions import FORMS, FormRequest
from agentco_tui.screens.dialogs.form_dialog import Form, FormPlan
from agentco_tui.screens.dialogs.save_form import save, screenshot
from agentco_tui.screens.dialogs.shift_forms import SHIFT_FORMS
from agentco_tui.screens.dialogs.since_dialog import SinceScreen
from agentco_tui.screens.dialogs.trace_dialog import TraceScreen
from agentco_tui.screens.header_footer import key_advice
from agentco_tui.screens.navigation import Destination
from agentco_tui.screens.task_lines import TaskLines
from agentco_tui.text import SafeText, joined, plain, signs
from agentco_tui.widgets.workers import start_worker

TOLD_ONE_BY_ONE = 3  # so many outcomes of an earlier run are each told; more are counted


def alone_of(aside: Sequence[Excluded]) -> SafeText | None:
    """What the question about the only task of a set says of those that are not in it."""
    if not aside:
        return None
    first, more = aside[0], len(aside) - 1
    others = f", and {fmt.count(more)} more" if more else ""
    return plain(f"marked, but not with it: {first.task.title} ({first.reason}){others}")


class DialogRouter:
    """Opens the dialogs over one frame, and does what is said yes to in them."""

    def __init__(self, frame: BaseFrame) -> None:
        self._frame = frame
        self._dashboard = frame.dashboard
        self._workspace = frame.workspace
        self._say = frame.say
        self._unsent: Task | None = None
        """Of those said yes to, the last that was not sent while the user was elsewhere."""

    def _may(self, verb: Verb) -> bool:
        """Whether a write may be tried; if it may not, the person is told why."""
        permissions = self._dashboard.permissions
        reason = permissions.denied(verb)
        if reason is not None:
            advice = key_advice(self._workspace.settings) if permissions.off is None else None
            self._say(f"{reason}; {advice}" if advice else reason, bad=True)
        return reason is None

    def _known_of(self, task: Task) -> SafeText | None:
        decision = self._dashboard.decisions.by_task.get(task.id)
        if decision is None or not (decision.outcome is None or decision.outcome.kind in GOOD):
            return None
        return text_of(self._dashboard, decision)

    def trace(self, task: Task) -> None:
        screen = TraceScreen(self._dashboard, task)
        self._frame.app.push_screen(screen, lambda yes: self.approve(task) if yes else None)

    def since(self, at: str = "") -> None:
        """What happened while one was away; `esc` comes back to the line that was opened, `at`."""

        def opened(key: str | None) -> None:
            if key:
                frame = self._frame
                place, _, row = key.partition(":")
                frame.go(Destination(cast("Place", place), row, is_open=True))
                frame.navigation.remember_since(key)

        self._frame.app.push_screen(SinceScreen(self._frame, at), opened)

    def switch(self, profile: str, need: str | None = None) -> None:
        """Leave for another profile; what is recorded is of one. Of "" it is all of them."""
        from agentco_tui.screens.dialogs.all_profiles import AllProfiles  # noqa: PLC0415 (rare)

        if not profile:
            self._frame.app.push_screen(AllProfiles(self._workspace))
        elif self._workspace.client.transport.recorder is None:
            self._frame.key_app.leave(Switch(profile, need))
        else:
            self._say("a recording is of one profile: end it before another is shown", bad=True)

    def columns(self) -> None:
        self._frame.app.push_screen(ColumnsScreen(self._frame.view.table))

    def form(self, command_id: str) -> None:
        verb = COMMANDS_BY_ID[command_id].verb
        if verb is None or self._may(Verb(verb)):
            more = {"list.save": save, "list.screenshot": screenshot}
            ask = FormRequest(self._frame, self._frame.view.subject())
            plan = {**FORMS, **SHIFT_FORMS, **more}[command_id](ask)
            if isinstance(plan, FormPlan):
                self._frame.app.push_screen(Form(plan))
            elif plan:
                self._say(plan)

    def approve(self, task: Task, note: SafeText | None = None) -> None:
        """Ask whether to approve a task, as it is known by now; `note` stands above it."""
        if not self._may(Verb.APPROVE):
            return
        known = self._known_of(task)
        if known is not None:
            self._say(f"{self._workspace.scope.title_with_company(task.title, task)}: {known}")
            return
        store = self._workspace.store
        newest = store.pending.get(task.id)
        listed = store.tasks.get(task.id)
        if newest is None and listed is not None and waits_for_person(listed):
            newest = listed
        if newest is None and not self._workspace.scope.includes(task):
            newest = task  # no list on the screen has it
        if newest is None:
            resolution = resolution_note(self._dashboard, task.id).text
            title = self._workspace.scope.title_with_company(task.title, task)
            self._say(f"{title}: it does not wait for a person any more ({resolution})")
            return
        if newest.unwritable is not None:
            self._say(newest.unwritable, bad=True)
            return

        notes = [each for each in (self._note_of_unsent(task), note) if each is not None]
        question = ApproveQuestion(self._dashboard, newest, joined(notes, "; ") if notes else None)
        self._dashboard.decisions.acknowledge(task.id)

        def then(yes: bool | None) -> None:
            if yes:
                self._go_on({task.id})
                stood_at = self._where_one_is()
                work = partial(self._approve, newest, stood_at)
                start_worker(self._frame, work, f"approve {task.id}", group="writes")

        self._frame.app.push_screen(question, then)

    def _go_on(self, decided: Collection[str]) -> None:
        view = self._frame.view
        if isinstance(view, TaskLines):
            view.go_on(decided)

    def _where_one_is(self) -> tuple[object, ...]:
        """Differs as soon as a key is pressed, or the cursor, the list or a dialog has changed."""
        frame = self._frame
        return (
            frame.key_app.presses.at,
            frame.app.screen,
            frame.view,
            frame.view.table.viewport.cursor,
        )

    def _return_after(self, task: Task, outcome: Outcome, stood_at: tuple[object, ...]) -> None:
        """A yes was not sent and was not taken back either: the task had changed, for example.

        Where the user has done nothing since the yes, the cursor goes back to the task. Elsewhere
        it stays, because a cursor that moves while someone presses `a` would lead to another task,
        too. The next question, if it is about another task, then says which one was not sent.
        """
        if outcome.known_by is not KnownBy.HERE or outcome.kind in ENDED_WAITING:
            return
        if self._where_one_is() == stood_at:
            self._frame.return_to(task)
        else:
            self._unsent = task

    def _note_of_unsent(self, asked: Task) -> SafeText | None:
        """Return that another task, approved before, was not sent; None if that is not so.

        It is said once, in the question about the next task (`asked`).
        """
        unsent = self._unsent
        self._unsent = None
        decision = None if unsent is None else self._dashboard.decisions.by_task.get(unsent.id)
        if unsent is None or unsent.id == asked.id or decision is None or decision.outcome is None:
            return None
        title = self._workspace.scope.title_with_company(unsent.title, unsent)
        sentence = sentence_with_platform_words(decision.outcome)
        return plain(f"this is not {title}, which you said yes to before: {sentence}")

    async def _approve(self, task: Task, stood_at: tuple[object, ...]) -> None:
        decisions = self._dashboard.decisions

        def reached(step: Step) -> None:
            known = decisions.by_task.get(task.id)
            decisions.tell(task, step)
            is_new = known is None or known.step is not step
            if is_new and step is Step.UNKNOWN:
                title = self._workspace.scope.title_with_company(task.title, task)
                words = "the answer was lost; reading what became of it"
                self._say(f"{signs.unknown} {title}: {words}", bad=True)

        if await decisions.hold(task):
            outcome = await Approval(self._dashboard.services, task).run(reached)
            decisions.tell(task, outcome)
            self.tell(outcome)
            self._return_after(task, outcome, stood_at)

    async def read_after_all(self, decision: Decision) -> None:
        before = decision.outcome
        assert before is not None
        approval = Approval(self._dashboard.services, decision.task)
        was_refused = before.kind not in DOUBTFUL and before.kind is not OutcomeKind.GONE
        outcome = await approval.read_after_leaving(before.attempt_id, was_refused=was_refused)
        if outcome is not None:
            self._dashboard.decisions.tell(decision.task, outcome)
            self.tell(outcome)

    def approve_many(
        self, tasks: Sequence[Task], hidden: Mapping[str, SafeText] | None = None
    ) -> None:
        """Ask whether to approve these tasks; `hidden` says why some are not in sight."""
        if not self._may(Verb.APPROVE):
            return
        dashboard = self._dashboard
        workspace = self._workspace
        newest: list[Task] = []
        decided: list[Excluded] = []
        for task in tasks:
            known = self._known_of(task)
            if known is not None:
                decided.append(Excluded(task, known))
            else:
                now = workspace.store.pending.get(task.id) or workspace.store.tasks.get(task.id)
                newest.append(now or task)
        chosen, unlike = split_by_type(newest)
        aside = [*decided, *unlike]
        if not chosen:
            self._say(f"nothing to approve: {alone_of(aside) or 'no task is marked'}", bad=True)
            return
        if len(chosen) == 1:
            self.approve(chosen[0], alone_of(aside))
            return

        def then(yes: bool | None) -> None:
            if yes:
                batch = BatchApproval(dashboard.services, chosen, dashboard.decisions)
                progress = BatchProgress(dashboard, batch)
                work = partial(self._approve_many, batch, progress)
                name = f"approve {len(chosen)} tasks"
                start_worker(self._frame, work, name, group="writes")
                self._frame.app.push_screen(progress, partial(ended, batch))

        def ended(batch: BatchApproval, again: bool | None) -> None:
            if again:
                self.approve_many(batch.to_ask_again)
            else:
                self._go_on({task.id for task in chosen if not may_approve(dashboard, task)})

        question = BatchQuestion(dashboard, chosen, aside, hidden or {})
        for task in chosen:
            dashboard.decisions.acknowledge(task.id)
        self._frame.app.push_screen(question, then)

    async def _approve_many(self, batch: BatchApproval, progress: BatchProgress) -> None:
        if await batch.run() is not BatchPhase.ENDED:
            return
        for view in self._frame.views.values():
            if view.place == "tasks":
                view.unmark([item.task.id for item in batch.items])  # type: ignore[attr-defined]
        if not progress.is_current:
            good = batch.results.total() == len(batch.items) and GOOD.issuperset(batch.results)
            self._say(f"{signs.good if good else signs.warning} {batch.sentence}", bad=not good)

    async def take_up(self, left: Sequence[Attempt]) -> None:
        decisions = self._dashboard.decisions
        kinds: Counter[OutcomeKind] = Counter()

        async def settle(attempt: Attempt) -> None:
            outcome = await recover(self._dashboard.services, attempt)
            if outcome is None:
                return
            kinds[outcome.kind] += 1
            if attempt.verb == Verb.APPROVE:
                decisions.tell(task_of(attempt), outcome)
            if len(left) <= TOLD_ONE_BY_ONE:
                self.tell(outcome)

        for attempt in left:
            if attempt.verb == Verb.APPROVE:
                decisions.tell(task_of(attempt), Step.UNKNOWN)
        count = "1 write" if len(left) == 1 else f"{fmt.count(len(left))} writes"
        words = f"{count} of an earlier run had no outcome: reading what became of them"
        self._say(f"{signs.unknown} {words}", bad=True)
        async with asyncio.TaskGroup() as group:
            for attempt in left:
                group.create_task(settle(attempt))
        if len(left) > TOLD_ONE_BY_ONE:
            came_to = ", ".join(f"{fmt.count(n)} {kind}" for kind, n in kinds.most_common())
            words = f"{count} of an earlier run: {came_to}; the journal has each"
            sign = signs.good if GOOD.issuperset(kinds) else signs.warning
            self._say(f"{sign} {words}", bad=True)

    def tell(self, outcome: Outcome) -> None:
        sign = signs.good if outcome.kind in GOOD else signs.warning
        known = self._dashboard.decisions.by_task.get(outcome.subject)
        record = known.task if known else outcome.record
        record = record or self._workspace.store.agents.get(outcome.subject)
        title = self._workspace.scope.title_with_company(outcome.title, record)
        sentence = sentence_with_platform_words(outcome)
        self._say(f"{sign} {title}: {sentence}", bad=outcome.kind not in GOOD)
