"""The evidence about a write: how clear the platform's answer was, and what each read showed.

A write is one request that changes the platform (the remote service); reads before and after it
show whether it took effect. A `Receipt` is the decoded 2xx answer to a write, which may still
contain a no. `Sent.NO` of an error says that the request certainly had no effect. `write_flow` and
its subclasses conclude outcomes from these types; nothing is read or sent here.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Generic, Self, TypeVar

import msgspec

from agentco_tui.api.errors import Answered, ApiError, KeyRejected, NotAllowed, Sent
from agentco_tui.model import Receipt, Record, TaskState
from agentco_tui.text import SafeText, mark_safe

R = TypeVar("R", bound=Record)


class Observation(StrEnum):
    """What one read shows of whether a write came about."""

    DONE = "done"  # it did; a task no longer waits
    UNCHANGED = "unchanged"  # all is as before the write; a task still waits
    UNEXPECTED = "unexpected"  # neither, or two reads disagree
    INCOMPLETE = "incomplete"  # the platform answered, with too little to tell
    FAILED = "failed"  # it could not be read


class Check(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """The result of one read."""

    observation: Observation
    began: float  # when the read began, by the monotonic clock
    record: R | None = None
    error: ApiError | None = None
    why: SafeText | None = None  # why the read does not tell more

    @classmethod
    def failed(cls, began: float, error: ApiError) -> Self:
        """The result of a read that began then and ended in an error."""
        return cls(observation=Observation.FAILED, began=began, error=error, why=error.sentence)


class AnswerKind(StrEnum):
    """How clear the answer to a write is by itself."""

    YES = "yes"
    NO = "no"  # a clear refusal, with any other status than 401 and 403
    UNAUTHORISED = "unauthorised"  # 401, about the key or about this record: only a read tells
    FORBIDDEN = "forbidden"  # 403
    LOST = "lost"  # the platform may have applied the write
    UNSENT = "unsent"  # nothing left this machine


class WriteAnswer(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """The answer to one write, or the lack of one."""

    kind: AnswerKind
    message: SafeText  # the platform's words if it sent any, else ours
    platform_words: SafeText | None = None
    receipt: Receipt[R] | None = None
    error: ApiError | None = None


NO_ANSWER: WriteAnswer[Any] = WriteAnswer(
    kind=AnswerKind.LOST, message=mark_safe("an earlier attempt ended without an answer")
)
"""The answer of a write that was not sent yet, or that an earlier run sent."""
ENDED_UNAPPROVED = frozenset({TaskState.REJECTED, TaskState.CANCELLED})
"""States of a task that is over without an approval: an answer that shows one is no yes, whatever
its HTTP status."""
GAVE_UP = frozenset({408, 499})
"""HTTP statuses of servers and proxies that stopped waiting: the write may have been applied."""


def answer_kind_of(error: ApiError) -> AnswerKind:
    """Return how clear the error of a write is about whether the write was applied."""
    if error.status in GAVE_UP:
        return AnswerKind.LOST
    if isinstance(error, KeyRejected):
        return AnswerKind.UNAUTHORISED
    if isinstance(error, NotAllowed):
        return AnswerKind.FORBIDDEN
    if error.sent is not Sent.NO:
        return AnswerKind.LOST
    if isinstance(error, Answered):
        return AnswerKind.NO
    return AnswerKind.UNSENT
