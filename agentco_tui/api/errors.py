"""The errors that the client raises, each with a sentence for the user.

`ApiError.sent` says whether the platform (the remote service) may have acted on the request: only
`Sent.NO` is proof that it has not. Code that writes to the platform decides by it whether the
outcome is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Self

from agentco_tui.text import SafeText

__all__ = [
    "AgentcoError",
    "Answered",
    "ApiError",
    "Broken",
    "Conflict",
    "Invalid",
    "KeyRejected",
    "NameNotFound",
    "NotAllowed",
    "NotFound",
    "NotJson",
    "NotOffered",
    "NotSent",
    "OtherStatus",
    "PlatformFailed",
    "RateLimited",
    "Redirected",
    "Refused",
    "Sent",
    "TimedOut",
    "TlsFailure",
    "TooLarge",
    "Unreachable",
    "Unreadable",
    "Unwritable",
    "WebPage",
    "Withheld",
    "WrongArgument",
    "WrongArgumentType",
]


class Sent(StrEnum):
    """Whether the platform may have acted on the request."""

    NO = "no"  # nothing left this machine, or the platform clearly refused
    UNKNOWN = "unknown"  # it may have been applied: read before doing anything


class AgentcoError(Exception):
    """Base class of every error that the client, its credentials or the settings raise.

    `str()` is a sentence for the user.
    """


class ApiError(AgentcoError):
    """A request that did not bring what was asked for.

    `str(error)` is the sentence, followed by the platform's own words; `repr(error)` is for a log.
    Neither contains the key, a query or a body.
    """

    kind = "error"
    """A stable word for scripts, such as "timed_out"."""
    sent = Sent.UNKNOWN

    def __init_subclass__(cls, *, kind: str = "", sent: Sent | None = None) -> None:
        snake_case = re.sub(r"(?<!^)([A-Z])", r"_\1", cls.__name__).lower()
        cls.kind = kind or snake_case
        cls.sent = sent or cls.sent

    def __init__(
        self,
        sentence: SafeText,
        *,
        method: str = "GET",
        path: str = "",
        sent: Sent | None = None,
        status: int | None = None,
        platform_message: SafeText | None = None,
        fields: tuple[tuple[SafeText, SafeText], ...] = (),
        retry_after: float | None = None,
        once_reached: SafeText | None = None,
        reached: Callable[[], bool] | None = None,
    ) -> None:
        """`sentence` says in our words what happened and what to do.

        `once_reached` takes its place as soon as `reached` returns True: the address has answered
        another request by then, so it is not in doubt. `sent` replaces what the class says.
        `status` is the HTTP status, if an answer came. `fields` are the (field, message) pairs of a
        refusal. `retry_after` is the number of seconds that the platform asked us to wait.
        """
        super().__init__(sentence)
        self._sentence = sentence
        self._once_reached = once_reached or sentence
        self._reached = reached
        self.method = method
        self.path = path
        self.status = status
        self.sent = sent or self.sent
        self.platform_message = platform_message
        self.fields = fields
        self.retry_after = retry_after

    @property
    def sentence(self) -> SafeText:
        """What happened and what to do, as far as it is true now."""
        if self._reached is not None and self._reached():
            return self._once_reached
        return self._sentence

    @property
    def doubts_address(self) -> bool:
        """Whether the sentence will be another one if the address answers a later request."""
        if self._reached is None or self._once_reached == self._sentence:
            return False
        return not self._reached()

    def without_traceback(self) -> Self:
        """Return the error without its traceback, whose frames keep whole bodies in memory."""
        self.__cause__ = self.__context__ = None
        return self.with_traceback(None)

    def __str__(self) -> str:
        if self.platform_message and self.platform_message not in self.sentence:
            return f"{self.sentence} (platform: {self.platform_message})"
        return self.sentence

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.method} {self.path} {self.status or '-'}: {self})"


class NotSent(ApiError, sent=Sent.NO):
    """Refused here: wrong origin, no key, an argument that cannot be sent."""


class NotOffered(NotSent):
    """Refused here: the platform does not offer this, so that there is nothing to send."""


class Withheld(ApiError, sent=Sent.NO):
    """A write was held back here: when it was about to leave, its reason was no longer valid."""

    def __init__(self, sentence: SafeText, *, method: str = "POST", **about: Any) -> None:
        """`about` as for ApiError."""
        super().__init__(sentence, method=method, **about)


class Unwritable(NotSent):
    """Refused here: by the last listing, the id does not identify one record to write to."""


class WrongArgument(NotSent, ValueError, kind="not_sent"):
    """An argument of the right type that can't be used, such as an empty id."""


class WrongArgumentType(NotSent, TypeError, kind="not_sent"):
    """An argument of the wrong type."""


class Unreachable(ApiError, sent=Sent.NO):
    """No connection was made, so nothing was sent."""


class Refused(Unreachable):
    """Nothing listens at the address."""


class NameNotFound(Unreachable):
    """The host name does not resolve."""


class TlsFailure(Unreachable, kind="tls"):
    """The certificate or the TLS handshake was not accepted."""


class TimedOut(ApiError):
    """The answer was not complete within the connect, read or total timeout."""


class Broken(ApiError):
    """The connection was closed or reset, or broke the protocol, before the answer was complete."""


class Answered(ApiError):
    """An answer came, but not the one that was asked for."""


class KeyRejected(Answered, sent=Sent.NO):
    """401: the key is missing or invalid."""


class NotAllowed(Answered, sent=Sent.NO):
    """403: the key lacks the permission."""


class NotFound(Answered, sent=Sent.NO):
    """404."""


class Conflict(Answered, sent=Sent.NO):
    """409: the record was changed by someone else first."""


class Invalid(Answered, sent=Sent.NO):
    """400 or 422: the fields were refused."""


class RateLimited(Answered, sent=Sent.NO):
    """429."""


class PlatformFailed(Answered):
    """5xx: the platform failed, perhaps after it acted."""


class Redirected(Answered):
    """3xx: not followed, so that the key stays with the configured origin."""


class OtherStatus(Answered, sent=Sent.NO):
    """Any other 4xx or 1xx status."""


class NotJson(Answered):
    """The body is no JSON."""


class WebPage(Answered):
    """HTML instead of JSON: the page of a proxy, or a login page."""


class TooLarge(Answered):
    """The body is longer than the limit."""


class Unreadable(Answered):
    """JSON that does not contain what was asked for."""
