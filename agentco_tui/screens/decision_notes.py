"""What is said of decisions: on a task's line, in its detail, in a question, in the footer."""

from __future__ import annotations

from math import ceil

from agentco_tui.actions.decisions import Decision
from agentco_tui.actions.outcome import AFTER_ALL, GOOD, NOT_CARRIED_OUT, Outcome, OutcomeKind, Step
from agentco_tui.actions.task_reader import decided_as, decision_about, says_it_waits
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Task
from agentco_tui.screens.cells import warned
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.text_pane import Gap, Item, Text
from agentco_tui.widgets.tones import Cell, Tone

_DOING = {
    Step.READING: "reading it again",
    Step.SENDING: "sending",
    Step.CONFIRMING: "confirming",
    Step.UNKNOWN: "unknown: reading",
}
READ_AFTER = 1.0  # seconds for which a task must have stood open, unchanged, to count as read
SETTLES = frozenset(
    {OutcomeKind.APPROVED_HERE, OutcomeKind.APPROVED, OutcomeKind.DECIDED_ELSEWHERE}
)
"""Outcomes that say what became of a task which left the list."""


def line_note(session: Session, decision: Decision) -> Cell:
    outcome = decision.outcome
    if outcome is None and decision.step is Step.HELD:
        left = ceil(session.decisions.hold_left(decision.task.id))
        words = f"approving in {left} s {signs.separator} u takes it back"
        return Cell(plain(words), Tone.ACCENT)
    if outcome is None:
        doing = "in flight from another dashboard" if decision.elsewhere else _DOING[decision.step]
        words = f"{doing} {int(session.clock.monotonic() - decision.since)} s"
        if decision.step is Step.UNKNOWN:
            return Cell(plain(f"{signs.unknown} {words}"), Tone.WARNING)
        return Cell(plain(words), Tone.ACCENT)
    words, tone = str(outcome.kind), Tone.WARNING
    match outcome.kind:
        case OutcomeKind.APPROVED_HERE:
            words, tone = "approved here", Tone.GOOD
        case OutcomeKind.APPROVED:
            late = outcome.sentence.startswith(AFTER_ALL)
            words, tone = outcome.sentence.partition(": ")[0] if late else words, Tone.GOOD
        case OutcomeKind.CHANGED:
            names = ", ".join(change.field for change in outcome.differences[:3]) or "not listed"
            words = f"changed: {names} {signs.separator} a to look"
        case OutcomeKind.DECIDED_ELSEWHERE:
            word, elsewhere, _ = outcome.sentence.removeprefix("already ").partition(" elsewhere")
            words, tone = f"{word}{elsewhere}" if elsewhere else "left the list", Tone.DIM
        case OutcomeKind.GONE:
            words, tone = "left the list", Tone.DIM
        case OutcomeKind.STILL_PENDING:
            words = "answered yes, still pending"
    return warned(words) if tone is Tone.WARNING else Cell(plain(words), tone)


def settled_as(session: Session, task_id: str) -> Cell | None:
    """What is known here to have become of a task, whatever the lists still say."""
    decision = session.decisions.by_task.get(task_id)
    if decision is None or decision.outcome is None or decision.outcome.kind not in SETTLES:
        return None
    return line_note(session, decision)


def may_approve(session: Session, task: Task) -> bool:
    """Whether approving a task means something: it waits, and no yes is known to it."""
    decision = session.decisions.by_task.get(task.id)
    undecided = decision is None or decision.outcome is not None
    waits = waits_for_person(task) and task.unwritable is None
    return waits and undecided and settled_as(session, task.id) is None


def fate_of(session: Session, task_id: str) -> Cell:
    """What became of a task that waits no more, by what was done here and by the log."""
    decisions = session.decisions
    decision = decisions.by_task.get(task_id)
    outcome = None if decision is None else decision.outcome
    if decision is not None and (outcome is None or outcome.kind in SETTLES):
        return line_note(session, decision)
    record = outcome.record if outcome and isinstance(outcome.record, Task) else None
    if record is not None and says_it_waits(record):
        record = None  # as it was read before it left the list
    about = decision_about(task_id, session.store.activity, decisions.waited_at.get(task_id))
    word = decided_as(record, about)
    if word == "approved" and outcome is not None and outcome.kind in NOT_CARRIED_OUT:
        return Cell(plain("approved"), Tone.DIM)
    return Cell(plain("left the list" if word is None else f"{word} elsewhere"), Tone.DIM)


def told(outcome: Outcome) -> SafeText:
    """An outcome's sentence, with the platform's words unless it holds them already."""
    words = outcome.words
    if not words or words in outcome.sentence:
        return outcome.sentence
    return plain(f"{outcome.sentence} (platform: {words})")


def said_of(session: Session, decision: Decision) -> SafeText:
    outcome = decision.outcome
    return line_note(session, decision).text if outcome is None else told(outcome)


def decision_items(session: Session, decision: Decision) -> list[Item]:
    outcome = decision.outcome
    if outcome is None:
        note = line_note(session, decision)
        return [Text(note.text, note.tone), Gap()]
    sign, tone = (signs.good, Tone.GOOD) if outcome.kind in GOOD else (signs.warning, Tone.WARNING)
    kind, words = str(outcome.kind), told(outcome)
    lead = "" if words.startswith(kind.split(maxsplit=1)[0]) else f"{kind}: "
    return [Text(plain(f"{sign} {lead}{words}"), tone), Gap()]
