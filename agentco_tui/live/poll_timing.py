"""Computes when a feed is polled next: the interval, and the back-off after a failure.

A feed is one list of the platform (the remote service) that is polled. Its pace is how often: the
screen that is shown needs some feeds at every refresh, and others more slowly. Times are in
seconds.
"""

from __future__ import annotations

from random import Random
from typing import Final

from agentco_tui.api.errors import ApiError
from agentco_tui.live.feeds import Pace, poll_interval

JITTER: Final = (
    0.1  # share of an interval, so that the dashboards of a platform do not poll in step
)
BACK_OFF_CEILING: Final = 30.0  # also how long a platform that came back can go unnoticed
LONGEST_RETRY_AFTER: Final = 600.0  # a longer Retry-After is cut to this
CLOCK_CHECK: Final = 5.0
"""Seconds after which a waiting loop reads the clock again: the timers of the event loop stand
still while a laptop sleeps."""
SHARE_OF_TIME: Final = 4
"""A feed is busy for at most one part in this many: a slow platform is polled less often."""


def poll_spacing(pace: Pace, refresh: float, took: float) -> tuple[float, bool]:
    """Seconds from one poll's start to the next's, and whether slow answers make it that long.

    `took` is how long the poll took, `refresh` the configured interval.

    >>> poll_spacing(Pace.REFRESH, 5.0, 0.1), poll_spacing(Pace.REFRESH, 5.0, 3.0)
    ((5.0, False), (12.0, True))
    """
    wished = poll_interval(pace, refresh)
    least = took * SHARE_OF_TIME
    return max(wished, least), least > wished


def after_failure(error: ApiError, failures: int, refresh: float, random: Random) -> float:
    """Seconds until the next try after `failures` failed polls in a row (at least one).

    Doubles from the refresh interval to the ceiling; a longer Retry-After is obeyed.
    """
    doubled = max(1.0, refresh) * 2.0 ** min(failures - 1, 10)
    delay = min(BACK_OFF_CEILING, doubled) * random.uniform(1 - JITTER, 1)
    if error.retry_after is not None:
        delay = max(delay, min(error.retry_after, LONGEST_RETRY_AFTER))
    return delay
