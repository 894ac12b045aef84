"""Words for the operator's decisions: in a task's row, in its detail and in messages.

A `Decision` is one approval that was started here, in this dashboard; its `step` says how far it is
and its `outcome` how it ended. `dashboard.decisions` has them by task. A resolution is what became
of a task that no longer waits, decided here or elsewhere (by someone else). A note is a few words
as a cell, short enough for a row. The platform is the remote service that has the tasks. The
workspace is what is known of the platform in memory.
"""

from __future__ import annotations

from math import ceil
from typing import Final

from agentco_tui.actions.decisions import Decision
from agentco_tui.actions.outcome import (
    GOOD,
    NOT_CARRIED_OUT,
    Outcome,
    OutcomeKind,
    Reason,
    Step,
    TaskDecision,
    Verb,
)
from agentco_tui.actions.outcome_words import (
    approved_later,
    kind_and_sentence,
    sentence_with_platform_words,
)
from agentco_tui.actions.task_resolution import decision_about, resolution_of, says_it_waits
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Task
from agentco_tui.screens.cells import warning_cell
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.text import SafeText, mark_safe, signs
from agentco_tui.widgets.text_pane import BlankLine, PaneItem, Paragraph
from agentco_tui.widgets.tones import Cell, Tone

_ACTIVITY: Final = {
    Step.READING: "reading it again",
    Step.SENDING: "sending",
    Step.CONFIRMING: "confirming",
    Step.UNKNOWN: "unknown: reading",
}
"""What is being done at each step, as a line shows it."""
READ_AFTER: Final = 1.0
"""Seconds for which a task must have been open, unchanged, to count as read by the user."""
SETTLES: Final = frozenset(
    {OutcomeKind.APPROVED_HERE, OutcomeKind.APPROVED, OutcomeKind.DECIDED_ELSEWHERE}
)
"""Outcomes that say what became of a task which left the list."""
MOST_FIELDS: Final = 3
"""Changed fields that a note names."""


def line_note(dashboard: DashboardContext, decision: Decision) -> Cell:
    """Return the note for a task's row: the outcome, or the step with its seconds."""
    workspace = dashboard.workspace
    if decision.outcome is not None:
        return _outcome_note(decision.outcome)
    if decision.step is Step.HELD:  # in its undo window: nothing is sent yet
        seconds = ceil(dashboard.decisions.hold_left(decision.task.id))
        words = f"approving in {seconds} s {signs.separator} u takes it back"
        return Cell(mark_safe(words), Tone.ACCENT)
    activity = _ACTIVITY[decision.step]
    if decision.elsewhere is not None:  # made by another dashboard on this machine
        activity = "in flight from another dashboard"
    words = f"{activity} {int(workspace.clock.monotonic() - decision.since)} s"
    if decision.step is Step.UNKNOWN:
        return Cell(mark_safe(f"{signs.unknown} {words}"), Tone.WARNING)
    return Cell(mark_safe(words), Tone.ACCENT)


def _outcome_note(outcome: Outcome) -> Cell:
    """Return an outcome in a few words."""
    match outcome.kind:
        case OutcomeKind.APPROVED_HERE:
            return Cell(mark_safe("approved here"), Tone.GOOD)
        case OutcomeKind.APPROVED:  # by this attempt or by someone else
            late = (Reason.APPROVED_LATER, Reason.APPROVED_LATER_THOUGH_REFUSED)
            words = approved_later(outcome) if outcome.reason in late else mark_safe("approved")
            return Cell(words, Tone.GOOD)
        case OutcomeKind.CHANGED:
            fields = ", ".join(each.field for each in outcome.differences[:MOST_FIELDS])
            return warning_cell(f"changed: {fields or 'not listed'} {signs.separator} a to look")
        case OutcomeKind.DECIDED_ELSEWHERE if outcome.resolution is not None:
            return Cell(mark_safe(f"{outcome.resolution.decision} elsewhere"), Tone.DIM)
        case OutcomeKind.DECIDED_ELSEWHERE | OutcomeKind.GONE:
            return Cell(mark_safe("left the list"), Tone.DIM)
        case OutcomeKind.STILL_PENDING:
            return warning_cell("answered yes, still pending")
        case _:
            return warning_cell(str(outcome.kind))


def settled_as(dashboard: DashboardContext, task_id: str) -> Cell | None:
    """Return the outcome of a decision that settled a task; None if none did.

    The lists may still show the task as it was before.
    """
    decision = dashboard.decisions.by_task.get(task_id)
    if decision is None or decision.outcome is None or decision.outcome.kind not in SETTLES:
        return None
    return _outcome_note(decision.outcome)


def may_approve(dashboard: DashboardContext, task: Task) -> bool:
    """Whether approving a task makes sense: a decision is open, and may be an approval.

    On some platforms, not every task that waits can be approved.
    """
    not_offered = dashboard.services.why_not_for(Verb.APPROVE, task)
    return not_offered is None and is_undecided(dashboard, task)


def is_undecided(dashboard: DashboardContext, task: Task) -> bool:
    """Whether a task waits for a decision, and none of this dashboard has settled it or may yet."""
    decision = dashboard.decisions.by_task.get(task.id)
    is_open = decision is None or decision.outcome is not None
    waits = waits_for_person(task) and task.unwritable is None
    return waits and is_open and settled_as(dashboard, task.id) is None


def resolution_note(dashboard: DashboardContext, task_id: str) -> Cell:
    """Return what became of a task that waits no more, by what was done here and by the log."""
    workspace = dashboard.workspace
    decisions = dashboard.decisions
    decision = decisions.by_task.get(task_id)
    outcome = decision.outcome if decision is not None else None
    if decision is not None and (outcome is None or outcome.kind in SETTLES):
        return line_note(dashboard, decision)
    decided_here = decisions.decided_here.get(task_id)
    if decided_here is not None:
        return Cell(mark_safe(f"{decided_here} here"), Tone.PLAIN)
    record = outcome.record if outcome and isinstance(outcome.record, Task) else None
    if record is not None and says_it_waits(record):
        record = None  # as it was read before it left the list
    entry = decision_about(task_id, workspace.store.activity, decisions.waited_at.get(task_id))
    resolution = resolution_of(record, entry)
    if resolution is None:
        return Cell(mark_safe("left the list"), Tone.DIM)
    is_approved = resolution.decision is TaskDecision.APPROVED
    if is_approved and outcome is not None and outcome.kind in NOT_CARRIED_OUT:
        # It may have been the attempt from here after all.
        return Cell(mark_safe("approved"), Tone.DIM)
    return Cell(mark_safe(f"{resolution.decision} elsewhere"), Tone.DIM)


def text_of(dashboard: DashboardContext, decision: Decision) -> SafeText:
    """Return a decision in a sentence: its outcome, or what is being done now."""
    if decision.outcome is None:
        return line_note(dashboard, decision).text
    return sentence_with_platform_words(decision.outcome)


def decision_items(dashboard: DashboardContext, decision: Decision) -> list[PaneItem]:
    """Return the lines about a decision for the detail of its task."""
    outcome = decision.outcome
    if outcome is None:
        note = line_note(dashboard, decision)
        return [Paragraph(note.text, note.tone), BlankLine()]
    is_good = outcome.kind in GOOD
    sign = signs.good if is_good else signs.warning
    tone = Tone.GOOD if is_good else Tone.WARNING
    return [Paragraph(mark_safe(f"{sign} {kind_and_sentence(outcome)}"), tone), BlankLine()]
