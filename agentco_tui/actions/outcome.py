"""What became of a write, in values that a screen can show as they are.

The word "approved" stands only in sentences that a read, or the platform's clear yes, bears out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Generic, TypeVar

import msgspec

from agentco_tui.actions.fingerprint import Difference
from agentco_tui.api.errors import Answered, ApiError, KeyRejected, NotAllowed, Sent
from agentco_tui.model import Receipt, Record, TaskState
from agentco_tui.text import SafeText, plain

R = TypeVar("R", bound=Record)


class Verb(StrEnum):
    """Every write there is, by the word that stands in the journal."""

    APPROVE = "approve"
    CREATE_TASK = "create task"
    CREATE_COMPANY = "create company"
    CLONE_COMPANY = "clone company"
    SET_LIMIT = "set limit"


class OutcomeKind(StrEnum):
    """The sorts of outcome, after the good ones the most doubtful first; the value is the word in
    the journal.
    """

    APPROVED_HERE = "approved here"  # a yes to this attempt; `known_by`: if a read bears it out
    APPROVED = "approved"  # a read shows it, through this attempt or somebody else
    DONE = "done"  # a create, a clone or a new limit is there
    UNCLEAR = "unclear"  # the answer was lost, and what was read doesn't tell what happened
    STILL_PENDING = "still pending"  # a yes, and the list shows it as pending all the same
    NOT_DONE = "not done"  # the answer was lost, and reads over a while show that nothing happened
    CHANGED = "changed"  # it is not what was shown any more: nothing was sent
    REFUSED = "refused"
    NOT_ALLOWED = "not allowed"  # 403: the key lacks the permission
    KEY_REJECTED = "key rejected"  # 401, and reads are refused as well
    GONE = "gone"  # no list has it any more; what became of it can't be read
    DECIDED_ELSEWHERE = "decided elsewhere"  # by somebody else; no error
    NOT_SENT = "not sent"


GOOD = frozenset({OutcomeKind.APPROVED_HERE, OutcomeKind.APPROVED, OutcomeKind.DONE})
"""What the person wanted is so."""
ENDED_WAITING = frozenset(
    {OutcomeKind.APPROVED_HERE, OutcomeKind.APPROVED}
    | {OutcomeKind.DECIDED_ELSEWHERE, OutcomeKind.GONE}
)
"""Of a task: it is in the list of pending tasks no more."""
DOUBTFUL = frozenset({OutcomeKind.UNCLEAR, OutcomeKind.NOT_DONE, OutcomeKind.STILL_PENDING})
"""Sent without its being known to have done anything."""
NOT_CARRIED_OUT = DOUBTFUL | {
    OutcomeKind.GONE,
    OutcomeKind.REFUSED,
    OutcomeKind.KEY_REJECTED,
    OutcomeKind.NOT_ALLOWED,
}
"""Sent, and not known to have been carried out. Platforms do so later all the same, also after a
clear no: some queue a request before they answer, some answer for another instance."""
AFTER_ALL = "approved after all"
"""So begins the sentence of an approval that came about later than it was waited for."""


class KnownBy(StrEnum):
    READ = "read"  # from a read that began after the write was answered or given up
    ANSWER = "answer"  # from the platform's answer to the write alone
    HERE = "here"  # because nothing was sent


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one write."""

    verb: Verb
    kind: OutcomeKind
    subject: str  # the id of the task, company or agent acted on, or of the new one
    title: SafeText
    sentence: SafeText  # what happened and what to do, for a person; without the title
    known_by: KnownBy
    off: bool = False  # nothing was sent: read only, without the permission, or without a journal
    error: ApiError | None = None  # nothing was sent, because it could not be read again first
    words: SafeText | None = None
    differences: tuple[Difference, ...] = ()
    fields: Mapping[str, SafeText] = {}  # messages for a form, by the names of its fields
    attempt_id: str | None = None  # the attempt in the journal; None if it came to none
    record: Record | None = None  # as it was last read, where it was


class Step(StrEnum):
    """Where a decision stands, from the yes until it is known what became of it."""

    WAITING = "waiting"  # for its turn in a set
    HELD = "held"  # nothing is sent yet: it can be taken back
    READING = "reading"  # once more, before anything is sent
    SENDING = "sending"
    CONFIRMING = "confirming"  # the platform answered clearly; a read is to bear it out
    UNKNOWN = "unknown"  # no clear answer came: it is read until a read settles it
    SETTLED = "settled"


OnProgress = Callable[[Step], object]


class Found(StrEnum):
    """What one read shows of what was to come about."""

    DONE = "done"  # it is so; of a task: it waits no more
    BEFORE = "before"  # all is as it was before; of a task: it waits
    OTHERWISE = "otherwise"  # neither, or two reads disagree
    PARTIAL = "partial"  # the platform answered, with too little to tell
    FAILED = "failed"  # it could not be read


class Check(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """What one read shows, and by which record."""

    found: Found
    began: float
    record: R | None = None
    error: ApiError | None = None
    why: SafeText | None = None  # why no more can be told


class AnswerKind(StrEnum):
    """How clear the answer to a write is by itself."""

    YES = "yes"
    NO = "no"
    UNAUTHORISED = "unauthorised"  # 401, about the key or this record: only a read tells
    FORBIDDEN = "forbidden"
    LOST = "lost"  # it may have been applied
    UNSENT = "unsent"  # nothing left this machine


class WriteAnswer(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """The answer to one write, or the lack of one."""

    kind: AnswerKind
    told: SafeText  # the platform's words if it said any, else ours
    words: SafeText | None = None
    receipt: Receipt[R] | None = None
    error: ApiError | None = None


LEFT_BEHIND: WriteAnswer[Any] = WriteAnswer(
    kind=AnswerKind.LOST, told=plain("an earlier attempt ended without an answer")
)
ENDED = frozenset({TaskState.REJECTED, TaskState.CANCELLED})
"""An answer that says so is no yes, whatever its status."""
GAVE_UP = frozenset({408, 499})
"""4xx by number, but said by servers and proxies that stopped waiting: the write may be applied."""


def clarity(error: ApiError) -> AnswerKind:
    """How clear a write's error is about whether it was applied."""
    if error.status in GAVE_UP:
        return AnswerKind.LOST
    if isinstance(error, KeyRejected):
        return AnswerKind.UNAUTHORISED
    if isinstance(error, NotAllowed):
        return AnswerKind.FORBIDDEN
    if error.sent is not Sent.NO:
        return AnswerKind.LOST
    return AnswerKind.NO if isinstance(error, Answered) else AnswerKind.UNSENT
