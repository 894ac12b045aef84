"""When a feed is due."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.api.errors import RateLimited, TimedOut
from agentco_tui.live.feeds import SLOWER, Freshness, Pace, began_at
from agentco_tui.live.poller import BACK_OFF_CEILING, LONGEST_WAIT_ASKED, after_failure, spacing
from agentco_tui.text import plain

seeds = st.integers(0, 2**32)


@given(st.sampled_from([Pace.REFRESH, Pace.SLOW]), st.floats(0.5, 60), st.floats(0, 100))
def test_a_feed_is_never_asked_sooner_than_wished(pace: Pace, refresh: float, took: float) -> None:
    wished = refresh if pace is Pace.REFRESH else refresh * SLOWER
    gap, slowed = spacing(pace, refresh, took)
    assert gap == max(wished, took * 4)
    assert slowed == (took * 4 > wished)


@given(st.integers(1, 10_000), st.floats(0.5, 20), seeds)
def test_back_off_grows_to_the_ceiling(failures: int, refresh: float, seed: int) -> None:
    error = TimedOut(plain("no answer"))
    delay = after_failure(error, failures, refresh, Random(seed))
    assert 0 < delay <= BACK_OFF_CEILING


@given(st.floats(0, 1e9), seeds)
def test_a_wait_that_is_asked_for_is_kept_within_reason(asked: float, seed: int) -> None:
    error = RateLimited(plain("slow down"), retry_after=asked)
    delay = after_failure(error, 1, 5.0, Random(seed))
    assert delay >= min(asked, LONGEST_WAIT_ASKED)
    assert delay <= max(BACK_OFF_CEILING, LONGEST_WAIT_ASKED)


class Noon:
    """A clock that stands still."""

    def monotonic(self) -> float:
        return 100.0

    def now(self) -> float:
        return 5_000.0


def test_a_read_began_as_long_before_its_answer_as_it_took() -> None:
    assert began_at(Freshness(answered_at=80.0, took=3.0), Noon()) == 4_977.0
    assert began_at(Freshness(), Noon()) == 5_000.0
