"""The outcome of a write, as data; `outcome_words.py` turns it into sentences.

A write is one request that changes the platform (the remote service): an approval, a new task or
company, a new limit. The subject is the task, AI agent or company acted on. The journal is the file
in which each attempt at a write is noted before it is sent. Reads are list requests before and
after the write, to compare and to confirm. A set is a batch of tasks approved together. An outcome
claims no more than what was read, or what the platform clearly answered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

from agentco_tui.actions.fingerprint import Difference
from agentco_tui.api.errors import ApiError
from agentco_tui.model import Moment, Record
from agentco_tui.text import SafeText

if TYPE_CHECKING:
    from agentco_tui.api.capabilities import Operation


class Verb(StrEnum):
    """The kinds of write that this program knows; the value is written into the journal.

    A platform can have others ("reject"), and so can a journal that another version has written:
    elsewhere a verb is any text, which equals one of these or none.
    """

    APPROVE = "approve"
    CREATE_TASK = "create task"
    CREATE_COMPANY = "create company"
    CLONE_COMPANY = "clone company"
    SET_LIMIT = "set limit"


OPERATION_OF_VERB: Final[Mapping[str, Operation]] = {
    Verb.APPROVE: "approve_task",
    Verb.CREATE_TASK: "create_task",
    Verb.CREATE_COMPANY: "create_company",
    Verb.CLONE_COMPANY: "clone_company",
    Verb.SET_LIMIT: "set_agent_limit",
}
"""The operation of the platform that each verb needs."""


class OutcomeKind(StrEnum):
    """What is claimed about a write; the value is written into the journal.

    The order is that of summaries: what succeeded, then the most doubtful first.
    """

    APPROVED_HERE = "approved here"  # the platform said yes to this attempt
    APPROVED = "approved"  # a read shows it as approved, by this attempt or by someone else
    DONE = "done"  # a create, a clone or a new limit is in effect
    UNCLEAR = "unclear"  # the answer was lost, and reads do not tell what happened
    STILL_PENDING = "still pending"  # the platform said yes, but still lists the task as pending
    NOT_DONE = "not done"  # the answer was lost, and reads over some time show no effect
    CHANGED = "changed"  # the subject differs from what the user saw: nothing was sent
    REFUSED = "refused"
    NOT_ALLOWED = "not allowed"  # 403: the key lacks the permission
    KEY_REJECTED = "key rejected"  # 401, and reads are refused as well
    GONE = "gone"  # it is in no list any more, and what became of it can't be read
    DECIDED_ELSEWHERE = "decided elsewhere"  # someone else decided; this is no error
    NOT_SENT = "not sent"


GOOD = frozenset({OutcomeKind.APPROVED_HERE, OutcomeKind.APPROVED, OutcomeKind.DONE})
"""What the user wanted is the case."""
ENDED_WAITING = frozenset(
    {OutcomeKind.APPROVED_HERE, OutcomeKind.APPROVED}
    | {OutcomeKind.DECIDED_ELSEWHERE, OutcomeKind.GONE}
)
"""The task is no longer in the list of pending tasks."""
DOUBTFUL = frozenset({OutcomeKind.UNCLEAR, OutcomeKind.NOT_DONE, OutcomeKind.STILL_PENDING})
"""Sent, with no known effect."""
NOT_CARRIED_OUT = DOUBTFUL | {
    OutcomeKind.GONE,
    OutcomeKind.REFUSED,
    OutcomeKind.KEY_REJECTED,
    OutcomeKind.NOT_ALLOWED,
}
"""Sent, and not known to have been carried out. A platform may still carry it out later, even after
a clear no: some queue a request before they answer, and some answer for another instance."""


class KnownBy(StrEnum):
    """What an outcome is known from; the value is written into the journal."""

    READ = "read"  # a read that began after the write was answered or given up
    ANSWER = "answer"  # the platform's answer to the write alone
    HERE = "here"  # nothing was sent


class Reason(StrEnum):
    """Why an outcome is of its kind: one for each way in which a write can end.

    The value is written into the journal, so that another dashboard can tell the ends apart. The
    comments end with the fields of `Outcome` that are set: cause, seconds, record, …
    """

    # Nothing was sent. `cause` says why, where it is mentioned.
    NOT_OFFERED = "not offered"  # by this platform; cause
    WRITING_OFF = "writing is off"  # read-only, or without permission; cause
    NOT_WRITABLE = "not writable"  # the id does not identify one record; cause
    NO_JOURNAL = "no journal"  # the journal can't be written; cause
    IN_FLIGHT = "in flight"  # another attempt at the same is open; cause
    KEEPS_CHANGING = "keeps changing"
    """Other processes on this machine acted on the subject during each read."""
    ALWAYS_STALE = (
        "always stale"  # each read was too old when the request was about to leave; cause
    )
    REQUEST_NOT_SENT = "request not sent"  # the connection failed before the request left; cause
    SET_STOPPED = "set stopped"  # the set it belongs to was stopped before its turn; cause
    SET_PAUSED = "set paused"  # the platform asked for a pause (429)
    NOT_SHOWN_WHOLE = "not shown whole"  # the task was too large to show all of it; cause
    UNREAD_BEFORE = "unread before"  # the read before the write failed; cause, error
    TASK_UNREAD_BEFORE = "task unread before"  # the same for a task; cause, error
    NOT_FOUND_IN_PART = "not found in part"  # it is in no list that could be read; cause
    NOT_AS_EXPECTED = "not as expected"  # its fingerprint is not the one that was given
    NO_ANSWER_IN_TIME = "no answer in time"  # seconds
    DIFFERS = "differs"  # it differs from what the user saw; differences
    SIMILAR_CREATED = "similar created"  # a record like the new one has appeared; record
    BASIS_GONE = "basis gone"  # what the new record is made from is not listed any more; cause
    LIMIT_ALREADY_SET = "limit already set"  # record
    ALREADY_DONE = "already done"  # record

    # A create, a clone, a limit or a verb of the platform's own was sent.
    DONE = "done"
    DONE_BY_ANSWER = "done by answer"  # the platform said yes, and a read does not show it yet
    DONE_THOUGH_REFUSED = "done though refused"  # cause
    YES_BUT = "yes but"  # the platform said yes, and a read shows something else; cause
    LOST_AND = "lost and"  # the answer was lost, and a read shows something else; cause
    LOST_NO_EFFECT = "lost, no effect"  # the answer was lost, and reads show no effect; seconds

    # Any write was sent.
    REFUSED = "refused"  # cause
    FORBIDDEN = "forbidden"  # 403; cause
    KEY_INVALID = "key invalid"  # 401, and reads get it as well
    LOST_UNREAD = "lost, unread"  # the answer was lost, and reads do not tell; cause
    UNSETTLED_IN_TIME = "unsettled in time"  # seconds

    # An approval was sent, and answered.
    YES_STILL_LISTED = "yes, still listed"
    YES_UNREAD = "yes, unread"  # the platform said yes, and no read could confirm it; cause
    YES_LEFT = "yes, left"  # the platform said yes, and the task no longer waits
    YES_SHOWN = "yes, shown"  # the platform said yes, and shows it as decided; record
    YES_BUT_ENDED = "yes, but ended"  # the platform said yes, and shows it as rejected; record
    REFUSED_UNREAD = "refused, unread"  # and it could not be read since; cause
    REFUSED_KEY_READS = "refused, key reads"  # 401, while the key is good for reading; cause
    KEY_REFUSED_UNREAD = "key refused, unread"  # 401, and nothing could be read since; cause

    # The answer to an approval was lost.
    LOST_STILL_PENDING = "lost, still pending"  # seconds
    LOST_STATUS_MOVED = "lost, status moved"  # it waits with another status; old_status, record
    LOST_LISTS_DISAGREE = "lost, lists disagree"  # record
    LOST_IN_NO_LIST = "lost, in no list"  # cause
    LOST_APPROVED = "lost, approved"  # record
    LOST_SET_GOING = "lost, set going"  # it is queued, running or done; record
    LOST_OTHER_STATUS = "lost, other status"  # it no longer waits; record

    # A task left the list of pending tasks by something other than this attempt, as far as known.
    DECIDED = "decided"  # resolution
    LEFT_LIST = "left the list"  # refusal if it was sent, and the record says it still waits
    OTHER_STATUS = "other status"  # record
    LISTS_DISAGREE = "lists disagree"  # record, refusal if it was sent
    IN_NO_LIST = "in no list"  # refusal if it was sent
    UNREAD_SINCE = "unread since"  # refusal if it was sent
    SAME_AS_BEFORE = "same as before"  # an earlier attempt from here approved it; resolution
    APPROVED_THOUGH_REFUSED = "approved though refused"  # resolution, refusal
    ANSWERED_DECIDED = "answered decided"  # the answer itself was a decision; resolution, refusal
    APPROVED_LATER = "approved later"  # after the attempt was settled otherwise; resolution, record
    APPROVED_LATER_THOUGH_REFUSED = "approved later though refused"  # resolution, record

    RECORDED = "recorded"
    """The journal has the outcome with a sentence only, as older versions write it."""


class TaskDecision(StrEnum):
    """What can be decided about a task that waits; the value is written into the journal."""

    APPROVED = "approved"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Resolution(msgspec.Struct, frozen=True, kw_only=True):
    """How a task stopped waiting, as far as its record and the platform's log tell."""

    decision: TaskDecision
    decided_by: SafeText | None = None
    decided_at: Moment | None = None  # by the platform's clock


class ResumedAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """The attempt of an earlier run, whose outcome was found out now."""

    age: float | None  # seconds since it was made; None if the journal has no readable time


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one write. `Reason` says which of the optional fields are set."""

    verb: str
    kind: OutcomeKind
    reason: Reason
    known_by: KnownBy
    subject: str  # the id of the task, company or agent acted on, or of the new record
    title: SafeText
    at: float | None = None  # when this was found, in seconds since 1970 by the platform's clock
    cause: SafeText | None = None
    """Details from elsewhere in words: the platform's message, an API error, what a read shows."""
    platform_words: SafeText | None = None  # the platform's message in its answer to the write
    resolution: Resolution | None = None
    refusal: SafeText | None = None  # how this request was refused, where something else counts
    differences: tuple[Difference, ...] = ()
    limit: Decimal | None = None  # the monthly limit that was wanted
    seconds: float | None = None  # how long was waited, or for how long reads showed the same
    old_status: SafeText | None = None  # the task's status when the approval was sent
    approved_here_before: bool = False  # by an earlier attempt from this machine
    fields: Mapping[str, SafeText] = {}  # the platform's messages by form field
    is_writing_off: bool = False
    """Nothing was sent because nothing can be: read-only, no permission, or no journal."""
    error: ApiError | None = None  # the failed read, where that is why nothing was sent
    attempt_id: str | None = None  # the attempt in the journal; None if none was written
    record: Record | None = None  # as last read
    resumed: ResumedAttempt | None = None
    journal_trouble: SafeText | None = None  # why this outcome could not be written down
    recorded_sentence: SafeText | None = None  # the sentence in the journal, if it comes from there


class Step(StrEnum):
    """How far a write has come, from the user's yes until its outcome is known."""

    WAITING = "waiting"  # for its turn in a set
    HELD = "held"  # in its undo window: nothing is sent yet
    READING = "reading"  # the read before the write
    SENDING = "sending"
    CONFIRMING = "confirming"  # the platform answered clearly; reads are to confirm it
    UNKNOWN = "unknown"  # no clear answer came; reads go on until one settles it
    SETTLED = "settled"


OnProgress = Callable[[Step], object]


def ignore_progress(step: Step) -> None:
    """Do nothing: for writes that no one watches."""
