"""When a feed is due: pure arithmetic on seconds, so that it can be tested without waiting."""

from __future__ import annotations

from random import Random

from agentco_tui.api.errors import ApiError
from agentco_tui.live.feeds import SLOWER, Pace

JITTER = 0.1
"""Share of an interval, so that many dashboards don't ask in step."""
BACK_OFF_FLOOR = 1.0
BACK_OFF_CEILING = 30.0
"""Seconds; also how long a platform that came back can stay unseen."""
LONGEST_WAIT_ASKED = 600.0
"""Seconds; a longer Retry-After is cut to this."""
SHARE_OF_TIME = 4
"""A feed is busy for at most one part in this many: a slow platform is asked less often."""


def interval(pace: Pace, refresh: float) -> float | None:
    """Seconds between polls at this pace, None if it is not polled."""
    match pace:
        case Pace.REFRESH:
            return refresh
        case Pace.SLOW:
            return refresh * SLOWER
        case Pace.OFF:
            return None


def spacing(wished: float, took: float) -> tuple[float, bool]:
    """Seconds from the start of a poll that took `took` seconds to the next, and if that is slowed.

    >>> spacing(5.0, 0.1), spacing(5.0, 3.0)
    ((5.0, False), (12.0, True))
    """
    least = took * SHARE_OF_TIME
    return max(wished, least), least > wished


def after_answer(wished: float, took: float, random: Random) -> tuple[float, bool]:
    """The same as `spacing`, jittered."""
    seconds, slowed = spacing(wished, took)
    return seconds * random.uniform(1 - JITTER, 1 + JITTER), slowed


def after_failure(error: ApiError, failures: int, refresh: float, random: Random) -> float:
    """Seconds until the next try after `failures` failed polls in a row (at least one).

    Doubles from the refresh interval to the ceiling; a Retry-After is obeyed where it is longer.
    """
    doubled = max(BACK_OFF_FLOOR, refresh) * 2.0 ** min(failures - 1, 10)
    delay = min(BACK_OFF_CEILING, doubled) * random.uniform(1 - JITTER, 1)
    if error.retry_after is not None:
        delay = max(delay, min(error.retry_after, LONGEST_WAIT_ASKED))
    return delay
