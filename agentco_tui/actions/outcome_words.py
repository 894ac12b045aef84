"""The sentence of an outcome: the only place where an outcome becomes words.

An `Outcome` is what became of one write, a request that changes the platform (the remote service),
such as an approval; its `Reason` selects the sentence. No program code reads these sentences;
whatever depends on an outcome uses its fields. A sentence says "approved" only if a read, or the
platform's clear yes, shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from agentco_tui.actions.limit_text import limit_words
from agentco_tui.actions.outcome import KnownBy, Outcome, Reason, Verb
from agentco_tui.actions.read_age import MOST_READS, OLDEST_READ
from agentco_tui.api.capabilities import BUILT_IN_VERBS
from agentco_tui.model import Budget, Moment, Task
from agentco_tui.model import format as fmt
from agentco_tui.text import SafeText, clean_line, mark_safe

MOST_DIFFERENCES: Final = 4
"""Changed fields named in a sentence; the question that is asked again shows all of them."""

SENTENCES: Final[Mapping[Reason, str]] = {
    # Nothing was sent.
    Reason.NOT_OFFERED: "{cause}",
    Reason.WRITING_OFF: "{cause}",
    Reason.NOT_WRITABLE: "{cause}",
    Reason.NO_JOURNAL: "{cause}",
    Reason.IN_FLIGHT: "{cause}",
    Reason.KEEPS_CHANGING: "somebody else here keeps acting on it: look at it again",
    Reason.ALWAYS_STALE: (
        f"nothing was sent: it was read {MOST_READS} times, and each time {{cause}}; "
        f"a yes applies to what was read within {OLDEST_READ:g} s: "
        "see whether the disk, the line or the platform is slow, and try again"
    ),
    Reason.REQUEST_NOT_SENT: "nothing was sent: {cause}",
    Reason.SET_STOPPED: "{cause}",
    Reason.SET_PAUSED: "the platform asked for a pause",
    Reason.NOT_SHOWN_WHOLE: "nothing was sent: not all of it can be shown: {cause}",
    Reason.UNREAD_BEFORE: "nothing was sent, because it could not be read first: {cause}",
    Reason.TASK_UNREAD_BEFORE: "it could not be read again, so nothing was sent: {cause}",
    Reason.NOT_FOUND_IN_PART: ("nothing was sent: it is in no list that could be read ({cause})"),
    Reason.NOT_AS_EXPECTED: (
        "nothing was sent: it is not what was read; `get task` has it as it is now"
    ),
    Reason.NO_ANSWER_IN_TIME: "nothing was sent: no answer within {seconds} s",
    Reason.DIFFERS: "nothing was sent, because it changed since you saw it: {differences}",
    Reason.SIMILAR_CREATED: (
        "nothing was sent: since it was read first, one like it was created ({record_id}); "
        "look at it"
    ),
    Reason.BASIS_GONE: "nothing was sent: since you asked for it, {cause}",
    Reason.LIMIT_ALREADY_SET: "the limit is {limit_now} already: nothing was sent",
    Reason.ALREADY_DONE: "nothing was sent: {done_already}",
    # A create, a clone, a limit or a verb of the platform's own was sent.
    Reason.DONE: "{effect}",
    Reason.DONE_BY_ANSWER: "{effect}, says the answer; a read doesn't show it yet",
    Reason.DONE_THOUGH_REFUSED: "{effect}, though the platform had refused it: {cause}",
    Reason.YES_BUT: "the platform said yes, but {cause}",
    Reason.LOST_AND: "the answer was lost, and {cause}",
    Reason.LOST_NO_EFFECT: (
        "not done: the answer was lost, and reads over {seconds} s show nothing of it; "
        "you may try again"
    ),
    # Any write was sent.
    Reason.REFUSED: "refused: {cause}",
    Reason.FORBIDDEN: "{cause}",
    Reason.KEY_INVALID: "the key is missing or invalid: nothing was {verb_done}",
    Reason.LOST_UNREAD: "unclear: the answer was lost, and {cause}",
    Reason.UNSETTLED_IN_TIME: (
        "it was sent, and no read has told within {seconds} s what became of it"
    ),
    # An approval was sent, and answered.
    Reason.YES_STILL_LISTED: (
        "the platform said yes, but its list still shows the task as pending: "
        "it may need another approval, or more time"
    ),
    Reason.YES_UNREAD: (
        "approved, says the platform's answer; a read could not bear it out{colon_cause}"
    ),
    Reason.YES_LEFT: "approved: the platform said yes, and it no longer waits",
    Reason.YES_SHOWN: "approved: the platform said yes, and {shown_as}",
    Reason.YES_BUT_ENDED: "the platform said yes, but {shown_as}",
    Reason.REFUSED_UNREAD: "refused: {cause} (it could not be read again since)",
    Reason.REFUSED_KEY_READS: (
        "refused with 401, while the key still reads: {cause}; "
        "it may be that you must not approve this one, or may not approve at all"
    ),
    Reason.KEY_REFUSED_UNREAD: "401, and nothing could be read since: {cause}",
    # The answer to an approval was lost.
    Reason.LOST_STILL_PENDING: (
        "not approved: the answer was lost, and reads over {seconds} s "
        "show it as pending still; you may try again"
    ),
    Reason.LOST_STATUS_MOVED: (
        "it still waits, but its status went from “{old_status}” to “{status}”: "
        "look at it before you try again"
    ),
    Reason.LOST_LISTS_DISAGREE: (
        "unclear: it left the list of pending tasks, but the list of all tasks shows "
        "it as “{status}” still; look at it before you try again"
    ),
    Reason.LOST_IN_NO_LIST: (
        "it no longer waits, and what became of it can't be told: the answer was lost, and {cause}"
    ),
    Reason.LOST_APPROVED: (
        "approved: {shown_as}; the answer was lost, so it may have been this attempt or "
        "somebody else"
    ),
    Reason.LOST_SET_GOING: (
        "it no longer waits: {shown_as}; the answer was lost, so it may have been this attempt or "
        "somebody else"
    ),
    Reason.LOST_OTHER_STATUS: "it no longer waits: {shown_as}",
    # A task left the list of pending tasks by something other than this attempt, as far as known.
    Reason.DECIDED: "already {decision} elsewhere{by_whom}",
    Reason.LEFT_LIST: "{refusal}it left the list of pending tasks",
    Reason.OTHER_STATUS: "it is no longer pending: the platform shows it as “{status}”",
    Reason.LISTS_DISAGREE: (
        "{refusal}it left the list of pending tasks, though the list of all tasks shows it as "
        "“{status}”"
    ),
    Reason.IN_NO_LIST: "{refusal}it is in no list of the platform any more",
    Reason.UNREAD_SINCE: (
        "{refusal}it left the list of pending tasks; what became of it could not be read"
    ),
    Reason.SAME_AS_BEFORE: "approved{by_whom}: this machine had asked for it before",
    Reason.APPROVED_THOUGH_REFUSED: (
        "approved{by_whom}; this request, or a repetition of it, was {refused}"
    ),
    Reason.ANSWERED_DECIDED: "{refusal}the platform shows it as {decision}{by_whom}",
    Reason.APPROVED_LATER: "{approved_later}: {shown_as}",
    Reason.APPROVED_LATER_THOUGH_REFUSED: (
        "{approved_later}: {shown_as}; this request was refused before that"
    ),
    Reason.RECORDED: "",
}
"""The sentence of each reason; the names in braces are those of `_PHRASES`."""

STATES_KIND: Final = frozenset(
    {
        *(Reason.REQUEST_NOT_SENT, Reason.NOT_SHOWN_WHOLE, Reason.UNREAD_BEFORE),
        *(Reason.ALWAYS_STALE, Reason.NOT_FOUND_IN_PART, Reason.NO_ANSWER_IN_TIME),
        *(Reason.BASIS_GONE, Reason.LOST_NO_EFFECT, Reason.LOST_UNREAD, Reason.REFUSED),
        *(Reason.YES_UNREAD, Reason.YES_LEFT, Reason.YES_SHOWN, Reason.REFUSED_UNREAD),
        *(Reason.REFUSED_KEY_READS, Reason.LOST_STILL_PENDING, Reason.LOST_LISTS_DISAGREE),
        *(Reason.LOST_APPROVED, Reason.SAME_AS_BEFORE, Reason.APPROVED_THOUGH_REFUSED),
        *(Reason.ANSWERED_DECIDED, Reason.APPROVED_LATER, Reason.APPROVED_LATER_THOUGH_REFUSED),
    }
)
"""Reasons whose sentence says by itself of what `OutcomeKind` the outcome is."""


def outcome_sentence(outcome: Outcome) -> SafeText:
    """Return what happened and what to do about it, for the user; without the title.

    An outcome that another dashboard wrote into the journal keeps the sentence that is there.
    """
    if outcome.recorded_sentence is not None:
        sentence = str(outcome.recorded_sentence)
    else:
        sentence = SENTENCES[outcome.reason].format_map(_Phrases(outcome))
    if outcome.approved_here_before:
        sentence += " (approved from this machine before)"
    if outcome.journal_trouble is not None:
        sent = ""
        if outcome.known_by is not KnownBy.HERE:  # which means that nothing was sent
            sent = "it was sent, and "
        sentence += f" ({sent}only the note of this is missing: {outcome.journal_trouble})"
    if outcome.resumed is not None:
        when = ""
        if outcome.resumed.age is not None:
            when = f" of {fmt.ago(outcome.resumed.age)}"
        sentence = f"the attempt{when} that was left unsettled: {sentence}"
    return mark_safe(sentence)


def sentence_with_platform_words(outcome: Outcome) -> SafeText:
    """Return the sentence, followed by the platform's message unless it is part of it already."""
    sentence = outcome_sentence(outcome)
    message = outcome.platform_words
    if not message or message in sentence:
        return sentence
    return mark_safe(f"{sentence} (platform: {message})")


def kind_and_sentence(outcome: Outcome) -> SafeText:
    """Return the sentence, after the kind of outcome where the sentence does not state it."""
    sentence = sentence_with_platform_words(outcome)
    if outcome.reason in STATES_KIND:
        return sentence
    return mark_safe(f"{outcome.kind}: {sentence}")


def approved_later(outcome: Outcome) -> SafeText:
    """Return when a task was approved after its attempt seemed to have failed.

    Such as "approved after all, at 12:04:31".
    """
    resolution = outcome.resolution
    decided_at = resolution.decided_at if resolution is not None else None
    moment = decided_at or Moment(_outcome_time(outcome))
    return mark_safe(f"approved after all, at {fmt.clock(moment, moment.at)}")


# ---- the phrases in braces


def _outcome_time(outcome: Outcome) -> float:
    return outcome.at or 0.0


def _decision_word(outcome: Outcome) -> str:
    if outcome.resolution is None:
        return "decided"
    return str(outcome.resolution.decision)


def _by_whom(outcome: Outcome) -> str:
    """Return who decided and when, as far as known: " by Wanda, 4 s ago", with its space."""
    resolution = outcome.resolution
    if resolution is None:
        return ""
    words = ""
    if resolution.decided_by:
        words += f" by {resolution.decided_by}"
    if resolution.decided_at is not None:
        words += f", {fmt.ago(_outcome_time(outcome) - resolution.decided_at.at)}"
    return words


def _status_word(outcome: Outcome) -> str:
    if isinstance(outcome.record, Task) and outcome.record.status:
        return outcome.record.status
    return "waiting"


def _shown_as(outcome: Outcome) -> str:
    """Return how the platform shows the record, such as a task that no longer waits."""
    status = getattr(outcome.record, "status", None) or "decided"
    by = ""
    if isinstance(outcome.record, Task) and outcome.record.decided_by:
        by = f", decided by {outcome.record.decided_by}"
    return f"the platform shows it as “{status}”{by}"


def _done_already_words(outcome: Outcome) -> str:
    """Return how it is known that a verb was done before; without a record, by its proof."""
    if outcome.record is None:
        return "it is done already"
    return f"{_shown_as(outcome)} already"


def _effect_words(outcome: Outcome) -> str:
    """Return what a create, a clone, a new limit or a verb of the platform's own did."""
    if outcome.verb == Verb.SET_LIMIT and outcome.limit is not None:
        return f"the monthly limit is {outcome.limit:f} now"
    if outcome.verb not in BUILT_IN_VERBS:
        has_status = getattr(outcome.record, "status", None) is not None
        shown = f"; {_shown_as(outcome)}" if has_status else ""
        return f"{clean_line(outcome.verb, 40)}: done{shown}"
    if outcome.record is None:
        return "created"
    return f"created: {clean_line(outcome.record.id)}"


def _difference_words(outcome: Outcome) -> str:
    sentences = [str(each.sentence) for each in outcome.differences[:MOST_DIFFERENCES]]
    others = len(outcome.differences) - MOST_DIFFERENCES
    if others > 0:
        sentences.append(f"and {others} more")
    return "; ".join(sentences)


def _limit_now(outcome: Outcome) -> str:
    if isinstance(outcome.record, Budget):
        return limit_words(outcome.record)
    return limit_words(None)


def _record_id(outcome: Outcome) -> str:
    if outcome.record is None:
        return ""
    return clean_line(outcome.record.id)


def _refusal_prefix(outcome: Outcome) -> str:
    """Return "refused: …; " to begin a sentence with; empty if this request was not refused."""
    if outcome.refusal is None:
        return ""
    return f"{_refused_words(outcome)}; "


def _refused_words(outcome: Outcome) -> str:
    return f"refused: {outcome.refusal}"


_PHRASES: Final[Mapping[str, Callable[[Outcome], str]]] = {
    "approved_later": approved_later,
    "by_whom": _by_whom,
    "cause": lambda outcome: outcome.cause or "",
    "colon_cause": lambda outcome: f": {outcome.cause}" if outcome.cause else "",
    "decision": _decision_word,
    "differences": _difference_words,
    "done_already": _done_already_words,
    "effect": _effect_words,
    "limit_now": _limit_now,
    "old_status": lambda outcome: outcome.old_status or "",
    "record_id": _record_id,
    "refusal": _refusal_prefix,
    "refused": _refused_words,
    "seconds": lambda outcome: f"{outcome.seconds or 0.0:g}",
    "shown_as": _shown_as,
    "status": _status_word,
    "verb_done": lambda outcome: "approved" if outcome.verb == Verb.APPROVE else "changed",
}


class _Phrases(dict[str, str]):
    """The phrases of one outcome; each is made when a sentence asks for it."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self._outcome = outcome

    def __missing__(self, name: str) -> str:
        return _PHRASES[name](self._outcome)
