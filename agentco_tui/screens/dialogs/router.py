"""Opens the dialogs over the main screen, and carries out what the user confirms in them.

The lists call it for their keys (`a` approves, `t` shows a trace, …), and so do two observers of
the platform, the remote service that runs AI agents: when a task leaves the list after its approval
had ended badly (`recheck_decision`), and when an earlier run left writes without an outcome
(`recover_attempts`).

The terms: a write is a change on the platform; an `Attempt` is its note in the journal, a file.
`dashboard.decisions` has the approvals made from this machine, one `Decision` per task, with its
current `Step` or its `Outcome`. `decisions.hold` waits for the undo window of an approval, and
`decisions.record_progress` notes its step or outcome. `Approval.run` sends it and reads what became
of it. `store.pending` has the tasks that wait for a decision, `store.tasks` all tasks. A set is
several tasks approved with one yes. A profile is the user's name for a platform and its settings.

This module is imported soon after the first screen is shown (`preload.py`). The workspace is what
is known of the platform in memory. The scope is the company that the user has limited everything
to, if any.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Final, cast

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
from agentco_tui.actions.recovery import recover_attempt
from agentco_tui.api.capabilities import OfferedVerb
from agentco_tui.config import Switch
from agentco_tui.keys.commands import COMMANDS_BY_ID
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Record, Task
from agentco_tui.model import format as fmt
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.decision_notes import is_undecided, resolution_note, text_of
from agentco_tui.screens.dialogs.approve_dialog import ApproveQuestion
from agentco_tui.screens.dialogs.batch_progress import BatchProgress
from agentco_tui.screens.dialogs.batch_question import BatchQuestion
from agentco_tui.screens.dialogs.columns_screen import ColumnsScreen
from agentco_tui.screens.dialogs.form_definitions import FORMS
from agentco_tui.screens.dialogs.form_dialog import Form, FormPlan
from agentco_tui.screens.dialogs.form_request import FormRequest
from agentco_tui.screens.dialogs.since_dialog import SinceScreen
from agentco_tui.screens.dialogs.trace_dialog import TraceScreen
from agentco_tui.screens.dialogs.verb_form import verb_form
from agentco_tui.screens.header_footer import key_advice
from agentco_tui.screens.navigation import Destination
from agentco_tui.screens.task_lines import TaskLines
from agentco_tui.screens.tasks_view import TasksView
from agentco_tui.text import SafeText, joined, mark_safe, signs
from agentco_tui.widgets.workers import start_worker

MOST_NOTICES: Final = 3
"""Outcomes of an earlier run that are shown in a notice each; more are only counted."""


class DialogRouter:
    """The dialogs of one main screen (`frame`)."""

    def __init__(self, frame: BaseFrame) -> None:
        self._frame = frame
        self._dashboard = frame.dashboard
        self._workspace = frame.workspace
        self._say = frame.say
        self._unsent: Task | None = None
        """The last task that the user approved and that was not sent, if the user had gone on to
        something else by then."""

    # ---- dialogs that only show something

    def show_trace(self, task: Task) -> None:
        def closed(approve: bool | None) -> None:
            if approve:
                self.approve(task)

        self._frame.app.push_screen(TraceScreen(self._dashboard, task), closed)

    def show_since(self, line: str = "") -> None:
        """Show what happened while the user was away, with the cursor on the line of that key.

        A line that the user opens leads to its list; `esc` comes back to the line from there.
        """

        def closed(key: str | None) -> None:
            if key:
                place, _, row_id = key.partition(":")
                destination = Destination(cast("Place", place), row_id, is_open=True)
                self._frame.go(destination)
                self._frame.navigation.remember_since(key)

        self._frame.app.push_screen(SinceScreen(self._frame, line), closed)

    def choose_columns(self) -> None:
        self._frame.app.push_screen(ColumnsScreen(self._frame.view.table))

    def switch_profile(self, profile: str, need: str | None = None) -> None:
        """Leave for the dashboard of another profile, with the cursor on a need.

        `need` is the key of an item of its "needs you" list. The profile "" stands for all: their
        needs are shown instead. While a recording is made nothing happens, as a recording is of one
        profile.
        """
        from agentco_tui.screens.dialogs.all_profiles import AllProfiles  # noqa: PLC0415 (rare)

        if not profile:
            self._frame.app.push_screen(AllProfiles(self._workspace))
        elif self._workspace.client.transport.recorder is None:
            self._frame.key_app.leave(Switch(profile, need))
        else:
            self._say("a recording is of one profile: end it before another is shown", bad=True)

    # ---- forms

    def open_form(self, command_id: str) -> None:
        """Open the form of a command, or say why there is none."""
        command = COMMANDS_BY_ID[command_id]
        not_offered = self._workspace.client.capabilities.why_not(command.operation)
        if not_offered is not None:
            self._say(not_offered, bad=True)
            return
        if command.verb is not None and not self._check_permission(command.verb):
            return
        build_form = FORMS[command_id]
        plan = build_form(FormRequest(self._frame, self._frame.view.subject()))
        if isinstance(plan, FormPlan):
            self._frame.app.push_screen(Form(plan))
        elif plan:
            self._say(plan)

    def open_verb(self, verb: OfferedVerb, record: Record) -> None:
        """Open the form of a verb that the platform offers for a record."""
        if self._check_permission(verb.name):
            plan = verb_form(FormRequest(self._frame, record), verb, record)
            self._frame.app.push_screen(Form(plan))

    def _check_permission(self, verb: str) -> bool:
        """Return whether a write may be tried; if not, say why."""
        not_offered = self._dashboard.services.why_not_offered(verb)
        if not_offered is not None:
            self._say(not_offered, bad=True)
            return False
        permissions = self._dashboard.permissions
        reason = permissions.why_denied(verb)
        if reason is None:
            return True
        advice = None
        if permissions.read_only is None:
            advice = key_advice(self._workspace.settings)
        self._say(f"{reason}; {advice}" if advice else reason, bad=True)
        return False

    # ---- approving one task

    def approve(self, task: Task, note: SafeText | None = None) -> None:
        """Ask whether to approve a task, as it was read last; `note` is a warning above it."""
        if not self._check_permission(Verb.APPROVE):
            return
        title = self._workspace.scope.title_with_company(task.keyed_title, task)
        decided = self._already_decided(task)
        if decided is not None:
            self._say(f"{title}: {decided}")
            return
        newest = self._newest(task)
        if newest is None:
            self._say(f"{title}: {self._why_not_pending(task)}")
            return
        not_offered = self._dashboard.services.why_not_for(Verb.APPROVE, newest)
        if not_offered is not None:
            self._say(not_offered, bad=True)
            return
        if newest.unwritable is not None:
            self._say(newest.unwritable, bad=True)
            return

        notes = [words for words in (self._note_of_unsent(task), note) if words is not None]
        question = ApproveQuestion(self._dashboard, newest, joined(notes, "; ") if notes else None)
        # The question shows the outcome of an earlier attempt: it need not be shown as new.
        self._dashboard.decisions.acknowledge(task.id)

        def answered(yes: bool | None) -> None:
            if yes:
                self.go_to_next({task.id})
                work = partial(self._send_approval, newest, self._user_position())
                start_worker(self._frame, work, f"approve {task.id}", group="writes")

        self._frame.app.push_screen(question, answered)

    def _why_not_pending(self, task: Task) -> str:
        """Why a task is not among those that wait: they may not have been read yet."""
        if self._workspace.store.freshness[FeedName.PENDING].answered_at is None:
            return "the list of pending tasks is still being read; try again once it is there"
        resolution = resolution_note(self._dashboard, task.id).text
        return f"it no longer waits for a decision ({resolution})"

    def _already_decided(self, task: Task) -> SafeText | None:
        """Return how far an approval of the task has come, or that it succeeded; None otherwise."""
        decision = self._dashboard.decisions.by_task.get(task.id)
        if decision is None:
            return None
        if decision.outcome is None or decision.outcome.kind in GOOD:
            return text_of(self._dashboard, decision)
        return None

    def _newest(self, task: Task) -> Task | None:
        """Return a task that waits for a decision as it was read last; None if it no longer waits.

        A task of a company outside the scope is in no list, and returned unchanged.
        """
        store = self._workspace.store
        pending = store.pending.get(task.id)
        if pending is not None:
            return pending
        listed = store.tasks.get(task.id)
        if listed is not None and waits_for_person(listed):
            return listed
        if not self._workspace.scope.includes(task):
            return task
        return None

    async def _send_approval(self, task: Task, position: tuple[object, ...]) -> None:
        """Approve a task once its undo window is over, unless it is taken back meanwhile."""
        decisions = self._dashboard.decisions

        def reached(step: Step) -> None:
            before = decisions.by_task.get(task.id)
            decisions.record_progress(task, step)
            is_new = before is None or before.step is not step
            if is_new and step is Step.UNKNOWN:
                title = self._workspace.scope.title_with_company(task.keyed_title, task)
                words = "the answer was lost; reading what became of it"
                self._say(f"{signs.unknown} {title}: {words}", bad=True)

        if await decisions.hold(task):
            outcome = await Approval(self._dashboard.services, task).run(reached)
            decisions.record_progress(task, outcome)
            self.show_outcome(outcome)
            self._return_to_unsent(task, outcome, position)

    def go_to_next(self, decided: Collection[str]) -> None:
        """Move the cursor from a task that was just decided to the next one that waits."""
        view = self._frame.view
        if isinstance(view, TaskLines):
            view.go_on(decided)

    def _user_position(self) -> tuple[object, ...]:
        """Return what differs as soon as the user presses a key, or sees another list or dialog."""
        frame = self._frame
        return (
            frame.key_app.presses.at,
            frame.app.screen,
            frame.view,
            frame.view.table.viewport.cursor,
        )

    def _return_to_unsent(self, task: Task, outcome: Outcome, position: tuple[object, ...]) -> None:
        """Go back to a task whose approval was not sent, because it had changed, for example.

        The cursor had gone on to the next task. It goes back only if the user has done nothing
        since the yes: a cursor that moves while someone presses `a` leads to another task, too.
        Otherwise the next question, if it is about another task, says which one was not sent.
        """
        # HERE: nothing was sent. ENDED_WAITING: the task has left the list of those that wait.
        if outcome.known_by is not KnownBy.HERE or outcome.kind in ENDED_WAITING:
            return
        if self._user_position() == position:
            self._frame.return_to(task)
        else:
            self._unsent = task

    def _note_of_unsent(self, task: Task) -> SafeText | None:
        """Return, once, that an approval before this one was not sent; None if there is none.

        `task` is the one that the next question is about.
        """
        unsent = self._unsent
        self._unsent = None
        if unsent is None or unsent.id == task.id:
            return None
        decision = self._dashboard.decisions.by_task.get(unsent.id)
        if decision is None or decision.outcome is None:
            return None
        title = self._workspace.scope.title_with_company(unsent.keyed_title, unsent)
        sentence = sentence_with_platform_words(decision.outcome)
        return mark_safe(f"this is not {title}, which you said yes to before: {sentence}")

    # ---- approving a set of tasks

    def approve_many(
        self, tasks: Sequence[Task], not_shown: Mapping[str, SafeText] | None = None
    ) -> None:
        """Ask whether to approve these tasks; `not_shown` says, by id, why the list hides some."""
        if not self._check_permission(Verb.APPROVE):
            return
        workspace = self._workspace
        undecided: list[Task] = []
        decided: list[Excluded] = []
        for task in tasks:
            progress = self._already_decided(task)
            if progress is not None:
                decided.append(Excluded(task, progress))
                continue
            newest = workspace.store.pending.get(task.id) or workspace.store.tasks.get(task.id)
            not_offered = self._dashboard.services.why_not_for(Verb.APPROVE, newest or task)
            if not_offered is not None:
                decided.append(Excluded(task, not_offered))
                continue
            undecided.append(newest or task)
        chosen, of_other_types = split_by_type(undecided)
        excluded = [*decided, *of_other_types]
        if not chosen:
            reason = _excluded_in_words(excluded) or "no task is marked"
            self._say(f"nothing to approve: {reason}", bad=True)
            return
        if len(chosen) == 1:
            self.approve(chosen[0], _excluded_in_words(excluded))
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self._start_batch(chosen)

        question = BatchQuestion(self._dashboard, chosen, excluded, not_shown or {})
        for task in chosen:
            self._dashboard.decisions.acknowledge(task.id)
        self._frame.app.push_screen(question, answered)

    def _start_batch(self, tasks: Sequence[Task]) -> None:
        dashboard = self._dashboard
        batch = BatchApproval(dashboard.services, tasks, dashboard.decisions)
        progress = BatchProgress(dashboard, batch)
        work = partial(self._run_batch, batch, progress)
        start_worker(self._frame, work, f"approve {len(tasks)} tasks", group="writes")

        def closed(ask_again: bool | None) -> None:
            if ask_again:
                self.approve_many(batch.to_ask_again)
            else:
                self.go_to_next({task.id for task in tasks if not is_undecided(dashboard, task)})

        self._frame.app.push_screen(progress, closed)

    async def _run_batch(self, batch: BatchApproval, progress: BatchProgress) -> None:
        """Approve a set; then unmark its tasks, and say how it ended if no dialog shows that."""
        if await batch.run() is not BatchPhase.ENDED:
            return
        for view in self._frame.views.values():
            if isinstance(view, TasksView):
                view.unmark([item.task.id for item in batch.items])
        if progress.is_current:
            return
        results = batch.results
        is_good = results.total() == len(batch.items) and GOOD.issuperset(results)
        sign = signs.good if is_good else signs.warning
        self._say(f"{sign} {batch.sentence}", bad=not is_good)

    # ---- outcomes that are found later

    async def recheck_decision(self, decision: Decision) -> None:
        """Read again what became of a task that left the list after its approval ended badly."""
        before = decision.outcome
        assert before is not None
        approval = Approval(self._dashboard.services, decision.task)
        # DOUBTFUL: it was sent, and no effect is known; GONE: the task is in no list any more.
        was_refused = before.kind not in DOUBTFUL and before.kind is not OutcomeKind.GONE
        outcome = await approval.read_after_leaving(before.attempt_id, was_refused=was_refused)
        if outcome is not None:
            self._dashboard.decisions.record_progress(decision.task, outcome)
            self.show_outcome(outcome)

    async def recover_attempts(self, attempts: Sequence[Attempt]) -> None:
        """Find out by reading what became of writes that an earlier run left without an outcome."""
        decisions = self._dashboard.decisions
        counts: Counter[OutcomeKind] = Counter()

        async def settle(attempt: Attempt) -> None:
            outcome = await recover_attempt(self._dashboard.services, attempt)
            if outcome is None:
                return
            counts[outcome.kind] += 1
            if attempt.verb == Verb.APPROVE:
                decisions.record_progress(task_of(attempt), outcome)
            if len(attempts) <= MOST_NOTICES:
                self.show_outcome(outcome)

        for attempt in attempts:
            if attempt.verb == Verb.APPROVE:
                decisions.record_progress(task_of(attempt), Step.UNKNOWN)
        number = "1 write" if len(attempts) == 1 else f"{fmt.count(len(attempts))} writes"
        words = f"{number} of an earlier run had no outcome: reading what became of them"
        self._say(f"{signs.unknown} {words}", bad=True)
        async with asyncio.TaskGroup() as group:
            for attempt in attempts:
                group.create_task(settle(attempt))
        if len(attempts) > MOST_NOTICES:
            summary = ", ".join(f"{fmt.count(n)} {kind}" for kind, n in counts.most_common())
            sign = signs.good if GOOD.issuperset(counts) else signs.warning
            words = f"{number} of an earlier run: {summary}; the journal has each"
            self._say(f"{sign} {words}", bad=True)

    def show_outcome(self, outcome: Outcome) -> None:
        """Show a notice with the outcome of a write."""
        decision = self._dashboard.decisions.by_task.get(outcome.subject)
        record = decision.task if decision is not None else outcome.record
        record = record or self._workspace.store.agents.get(outcome.subject)
        title = self._workspace.scope.title_with_company(outcome.title, record)
        sentence = sentence_with_platform_words(outcome)
        is_good = outcome.kind in GOOD
        sign = signs.good if is_good else signs.warning
        self._say(f"{sign} {title}: {sentence}", bad=not is_good)


def _excluded_in_words(excluded: Sequence[Excluded]) -> SafeText | None:
    """Return which marked tasks are not in the set, if only one task of the set remains.

    Names the first and counts the others; None if there are none.
    """
    if not excluded:
        return None
    first = excluded[0]
    others = len(excluded) - 1
    and_more = f", and {fmt.count(others)} more" if others else ""
    words = f"marked, but not part of it: {first.task.keyed_title} ({first.reason}){and_more}"
    return mark_safe(words)
