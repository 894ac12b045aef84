"""What an answer to a write says by itself: a clear yes, a clear no, or nothing certain (law 2)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from agentco_tui.api.errors import (
    Answered,
    ApiError,
    KeyRejected,
    NotAllowed,
    Sent,
)
from agentco_tui.model.records import Receipt, Verdict
from agentco_tui.text import SafeText, plain

R = TypeVar("R")

log = logging.getLogger(__name__)

GAVE_UP = frozenset({408, 499})
"""4xx by number, but said by servers and proxies that stopped waiting: the write may be applied."""


class AnswerKind(StrEnum):
    """How clear an answer is."""

    YES = "yes"
    NO = "no"
    UNAUTHORISED = "unauthorised"
    """401: about the key, or about this record (SHAPES C29); only a read tells."""
    FORBIDDEN = "forbidden"
    LOST = "lost"
    """It may have been applied."""
    UNSENT = "unsent"
    """Nothing left this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[R]):
    """The answer to one write, or the lack of one."""

    kind: AnswerKind
    sentence: SafeText
    """In our words."""
    words: SafeText | None = None
    """The platform's own."""
    http_status: int | None = None
    receipt: Receipt[R] | None = None
    error: ApiError | None = None

    @property
    def told(self) -> SafeText:
        """The platform's words if it said any, else ours."""
        return self.words or self.sentence


async def answer_to(call: Awaitable[Receipt[R]]) -> Answer[R]:
    """Wait for a write and say how clear its answer is. Raises nothing but cancellation."""
    try:
        receipt = await call
    except ApiError as error:
        return Answer(
            kind=_kind(error),
            sentence=error.sentence,
            words=error.platform_message,
            http_status=error.status,
            error=error,
        )
    except Exception as error:
        # Whatever failed here may have failed after the platform acted.
        log.exception("a write failed in an unforeseen way")
        return Answer(
            kind=AnswerKind.LOST,
            sentence=plain(f"a fault of this program ({type(error).__name__}) lost the answer"),
        )
    if receipt.verdict is Verdict.NO:
        return Answer(
            kind=AnswerKind.NO,
            sentence=plain("the platform said no, without a reason"),
            words=receipt.message,
            http_status=receipt.http_status,
            receipt=receipt,
        )
    return Answer(
        kind=AnswerKind.YES,
        sentence=plain("the platform said yes"),
        words=receipt.message,
        http_status=receipt.http_status,
        receipt=receipt,
    )


def _kind(error: ApiError) -> AnswerKind:
    if error.status in GAVE_UP:
        return AnswerKind.LOST
    match error:
        case KeyRejected():
            return AnswerKind.UNAUTHORISED
        case NotAllowed():
            return AnswerKind.FORBIDDEN
        case _ if error.sent is not Sent.NO:
            return AnswerKind.LOST
        case Answered():
            return AnswerKind.NO
        case _:
            return AnswerKind.UNSENT
