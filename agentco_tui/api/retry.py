"""Whether a failed request is worth another try, and when: a pure function of what is known.

Only reads are repeated. A write that failed has an unknown outcome, and only a read can tell
(law 2); the platform may have acted on it however it failed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agentco_tui.api.errors import (
    ApiError,
    Broken,
    PlatformFailed,
    RateLimited,
    TimedOut,
    TlsFailure,
    Unreachable,
)

_READS: Final = frozenset({"GET", "HEAD"})
_PASSING_STATUSES: Final = frozenset({500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Back-off with full jitter: each wait is drawn between 0 and a ceiling that doubles."""

    attempts: int = 3
    """How often a read is sent at most; 1 means that nothing is repeated."""
    base: float = 0.25
    """Seconds: the ceiling of the first wait."""
    cap: float = 8.0
    """Seconds: the highest ceiling."""
    budget: float = 75.0
    """Seconds after the start of the first attempt in which another one may still begin."""
    longest_wait: float = 60.0
    """Seconds: a longer Retry-After is left to the caller, who finds it in the error."""

    def delay(
        self,
        error: ApiError,
        *,
        attempt: int,
        method: str,
        elapsed: float,
        draw: Callable[[], float] = random.random,
    ) -> float | None:
        """Seconds to wait before the next attempt, or None to give up and raise the error.

        `attempt` counts from 1 and is the one that failed, `elapsed` is the time since the first
        began, `draw` gives a number from 0 to 1.
        """
        if method not in _READS or attempt >= self.attempts or not is_passing(error):
            return None
        ceiling = min(self.cap, self.base * 2.0 ** min(attempt - 1, 30))
        wait = ceiling * draw()
        if error.retry_after is not None:
            if error.retry_after > self.longest_wait:
                return None
            # After what was asked for, so that not all who were told the same come back at once.
            wait += error.retry_after
        return wait if elapsed + wait <= self.budget else None


def is_passing(error: ApiError) -> bool:
    """True for a failure that may be over soon; a bad certificate, a refusal or a 404 is not."""
    if isinstance(error, PlatformFailed):
        return error.status in _PASSING_STATUSES
    if isinstance(error, TlsFailure):
        return False
    return isinstance(error, Unreachable | TimedOut | Broken | RateLimited)
