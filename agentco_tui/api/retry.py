"""The retry policy for reads: which failures are worth another attempt, and after which wait.

A read is a GET from the platform, the remote service; other requests are never sent again.
"""

from __future__ import annotations

import random
from typing import Final

from agentco_tui.api import errors
from agentco_tui.api.errors import ApiError

_TRANSIENT: Final = (errors.Unreachable, errors.TimedOut, errors.Broken, errors.RateLimited)
_TRANSIENT_STATUSES: Final = frozenset({500, 502, 503, 504})
_LONGEST_RETRY_AFTER: Final = 60.0
"""Seconds: a platform that asks for a longer wait gets no automatic retry."""
_RETRY_BUDGET: Final = 75.0
"""Seconds after the start of the first attempt within which another attempt may begin."""
_FIRST_CEILING: Final = 0.25  # seconds
_HIGHEST_CEILING: Final = 8.0  # seconds
_MOST_DOUBLINGS: Final = 30


def retry_wait(error: ApiError, failed: int, elapsed: float) -> float | None:
    """Seconds to wait before a read is sent again, or None if the error is to be raised.

    `failed` is the number of attempts that failed so far, `elapsed` the seconds since the first
    began. Exponential back-off with full jitter: each wait is drawn between 0 and a ceiling that
    doubles. A long Retry-After is left to the caller, who finds it in the error.
    """
    requested = error.retry_after or 0.0
    if not _is_transient(error) or requested > _LONGEST_RETRY_AFTER:
        return None
    doublings = min(failed - 1, _MOST_DOUBLINGS)
    ceiling = min(_HIGHEST_CEILING, _FIRST_CEILING * 2.0**doublings)
    # The jitter comes on top of the requested wait, so that not all clients come back at once.
    wait = requested + ceiling * random.random()  # noqa: S311 (jitter, not secrecy)
    return wait if elapsed + wait <= _RETRY_BUDGET else None


def _is_transient(error: ApiError) -> bool:
    if isinstance(error, errors.PlatformFailed):
        return error.status in _TRANSIENT_STATUSES
    # A certificate that was not accepted will not be accepted a second later either.
    return isinstance(error, _TRANSIENT) and not isinstance(error, errors.TlsFailure)
