"""What the frame does when a person wants to change something: ask first, then tell what became."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.worker import Worker as TextualWorker

from agentco_tui.actions.journal import Owner
from agentco_tui.actions.journal_file import JournalError
from agentco_tui.actions.outcome import Kind, Verb
from agentco_tui.actions.task_reader import decided_as, decision_about, says_it_waits
from agentco_tui.model.records import Company, Task
from agentco_tui.screens.decision_notes import line_note
from agentco_tui.screens.header_footer import key_advice
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker

if TYPE_CHECKING:
    from agentco_tui.screens.dialogs.router import Dialogs

VERBS = {
    "tasks.approve": Verb.APPROVE,
    "tasks.new": Verb.CREATE_TASK,
    "companies.new": Verb.CREATE_COMPANY,
    "companies.clone": Verb.CLONE_COMPANY,
    "agents.limit": Verb.SET_LIMIT,
    "budget.limit": Verb.SET_LIMIT,
}
FOLLOW_EVERY = 1.0
"""Seconds between two looks at the journal, into which other dashboards write too."""
SETTLES = frozenset({Kind.APPROVED_HERE, Kind.APPROVED, Kind.DECIDED_ELSEWHERE})
"""Outcomes that say what became of a task which left the list."""
DOUBTFUL = frozenset({Kind.UNKNOWN, Kind.UNCLEAR, Kind.NOT_DONE, Kind.STILL_PENDING})
"""Sent from here without its being known to have done anything: who approved it later can't be
told."""


class Writes:
    """Approve, create, clone and set a limit, for the frame, which is the widget."""

    session: Session
    app: App[Any]
    run_worker: Callable[..., TextualWorker[Any]]

    def say(self, words: str, *, bad: bool = False) -> None:
        """Show a short message."""
        raise NotImplementedError

    def denial(self, binding_id: str) -> SafeText | None:
        """Why a write may not be tried; None if it may."""
        return self.session.permissions.denied(VERBS[binding_id])

    def may(self, verb: Verb) -> bool:
        """Whether a write may be tried; if it may not, the person is told why."""
        permissions = self.session.permissions
        reason = permissions.denied(verb)
        if reason is not None:
            advice = key_advice(self.session.settings) if permissions.off is None else None
            self.say(f"{reason}; {advice}" if advice else reason, bad=True)
        return reason is None

    @cached_property
    def dialogs(self) -> Dialogs:
        """All that comes over the frame; imported here, and only here, when it is first wanted."""
        from agentco_tui.screens.dialogs.router import Dialogs  # noqa: PLC0415

        return Dialogs(self)

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
        decision = self.session.decisions.of(task_id)
        return decision is not None and (decision.outcome is None or decision.outcome.good)

    def has_read(self, task: Task) -> None:
        """The person has had the task's details before them."""
        self.session.count_as_read(task)
        self.session.decisions.look_at(task.id)

    def fate_of(self, task_id: str) -> Cell:
        """What became of a task that waits no more, by what was done here and by the log."""
        decisions = self.session.decisions
        decision = decisions.of(task_id)
        outcome = None if decision is None else decision.outcome
        if decision is not None and (outcome is None or outcome.kind in SETTLES):
            return line_note(self.session, decision)
        record = outcome.record if outcome and isinstance(outcome.record, Task) else None
        if record is not None and says_it_waits(record):
            record = None  # as it was read before it left the list
        log = self.session.store.activity
        word = decided_as(record, decision_about(task_id, log, decisions.waited_at(task_id)))
        if word == "approved" and outcome is not None and outcome.kind in DOUBTFUL:
            return Cell(plain("approved"), Tone.DIM)
        if word is not None:
            return Cell(plain(f"{word} elsewhere"), Tone.DIM)
        return Cell(plain("left the list"), Tone.DIM)

    async def follow_journal(self) -> None:
        """Show what other dashboards of this machine do, settle what other runs left without an
        outcome, and tell when nothing can be written down any more.
        """
        told = None
        while True:
            try:
                found = await self.session.follow()
            except JournalError as error:
                self.say(f"{signs.warning} {error.sentence}", bad=True)
                return
            self.session.decisions.follow(found.open)
            left = [one.attempt for one in found.open if one.owner is Owner.NOBODY]
            if left and (left := await self.session.claim(left)):
                work = partial(self.dialogs.take_up, left)
                start_worker(self, work, "settle what another run left open", group="writes")
            if found.trouble is not None and found.trouble != told:
                self.say(f"{signs.warning} {found.trouble}", bad=True)
            told = found.trouble
            await asyncio.sleep(FOLLOW_EVERY)

    # ---- what is asked for by a key

    def approve(self, task: Task, note: SafeText | None = None) -> None:
        """Ask whether to approve a task; `note` stands above the question."""
        self.dialogs.approve(task, note)

    def take_back(self, task_id: str | None) -> None:
        """Take back the yes to this task if it is still held, else the newest that is."""
        task = self.session.decisions.take_back(task_id)
        if task is None:
            self.say("nothing is held back that could be taken back")
        else:
            self.say(f"{signs.good} {task.title}: taken back, nothing was sent")

    def approve_many(
        self, tasks: Sequence[Task], hidden: Mapping[str, SafeText] | None = None
    ) -> None:
        """Ask whether to approve all of these tasks by one decision."""
        self.dialogs.approve_many(tasks, hidden)

    def new_task(self, like: Task | None) -> None:
        """Ask for a new task."""
        self.dialogs.new_task(like)

    def new_company(self) -> None:
        """Ask for a new company."""
        self.dialogs.new_company()

    def clone_company(self, company: Company) -> None:
        """Ask for a company's clone."""
        self.dialogs.clone_company(company)

    def set_limit(self, agent_id: str) -> None:
        """Ask for an agent's new limit."""
        self.dialogs.set_limit(agent_id)

    def activity_filters(self) -> None:
        """Ask what of the log to show."""
        self.dialogs.activity_filters()

    def rescope_activity(self) -> None:
        """The activity's filters have changed."""
        raise NotImplementedError

    def export_activity(self) -> None:
        """Ask where to write the platform's export."""
        self.dialogs.export_activity()
