"""How fresh a feed is (law 1: every figure has an age)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agentco_tui.api.errors import ApiError
from agentco_tui.live.clock import Clock


class Phase(StrEnum):
    """Four outcomes, never mixed up: nothing yet, live, old data after a failure, no data."""

    LOADING = "loading"
    LIVE = "live"
    STALE = "stale"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Freshness:
    """When a feed last answered, and if it doesn't now, why and when it is asked again.

    Times are readings of the clock's `monotonic`, in seconds.
    """

    answered_at: float | None = None
    failure: ApiError | None = None
    """The error of the last poll; None if it answered."""
    next_try_at: float | None = None
    failures: int = 0
    """Failed polls in a row."""
    took: float | None = None
    """Seconds the last answered poll took, all its pages together."""
    slowed: bool = False
    """True if the platform answers so slowly that this feed is asked less often than wished."""

    @property
    def phase(self) -> Phase:
        """Which of the four outcomes it is."""
        if self.failure is None:
            return Phase.LOADING if self.answered_at is None else Phase.LIVE
        return Phase.FAILED if self.answered_at is None else Phase.STALE

    def age(self, monotonic: float) -> float | None:
        """Seconds since the last answer; None if there was none."""
        return None if self.answered_at is None else max(0.0, monotonic - self.answered_at)

    def wait(self, monotonic: float) -> float | None:
        """Seconds until the next try; None if none is planned."""
        return None if self.next_try_at is None else max(0.0, self.next_try_at - monotonic)


def began_at(freshness: Freshness, clock: Clock) -> float:
    """When the last answered read of a feed began, in seconds since 1970 by the platform's clock;
    now, if none was answered yet.
    """
    if freshness.answered_at is None:
        return clock.now()
    began = freshness.answered_at - (freshness.took or 0.0)
    return clock.now() - (clock.monotonic() - began)
