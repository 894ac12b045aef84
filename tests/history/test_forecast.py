"""Forecasts, burns and runaways: each awkward case by itself, and what must hold of all."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentco_tui.config import AlertLimits
from agentco_tui.history import forecast as ahead
from agentco_tui.history.forecast import Forecast, TooLittle
from agentco_tui.history.observations import BudgetSample, Track
from agentco_tui.history.spending import Spending, spending_of, spent_by_slot
from agentco_tui.history.spending_alarms import Burn, NoData, Runaway, burn, runaway
from agentco_tui.model import Budget, BudgetScope, Moment
from agentco_tui.model.period import DAY, HOUR, Period, period_of
from agentco_tui.text import clean_line
from tests.benchmarks.forecast import KINDS, Report, report_forecasts

START = datetime(2026, 11, 1, tzinfo=UTC).timestamp()
MONTH = Period(START, START + 30 * DAY)
LIMITS = AlertLimits()


def track(
    figures: Callable[[float], float],
    since: float,
    until: float,
    *,
    step: float = HOUR,
    limit: Decimal | None = Decimal(1000),
    gaps: tuple[tuple[float, float], ...] = (),
) -> Track[BudgetSample]:
    """Samples of a figure by the days since the month's start; days are those of the month too."""
    samples, spans, begin = list[BudgetSample](), list[tuple[float, float]](), None
    for number in range(int((until - since) * DAY / step) + 1):
        at = START + since * DAY + number * step
        day = (at - START) / DAY
        if any(one <= day < two for one, two in gaps):
            if begin is not None:
                spans.append((begin, at - step))
            begin = None
            continue
        begin = at if begin is None else begin
        spent = Decimal(repr(round(figures(day), 6)))
        if not samples or samples[-1].spent != spent:
            samples.append(BudgetSample(at, spent, limit))
    if begin is not None:
        spans.append((begin, START + until * DAY))
    return Track(tuple(samples), tuple(spans))


def known(track: Track[BudgetSample], period: Period = MONTH) -> Spending:
    past = spending_of(track, period, track.samples[-1].limit, track.samples[-1].at)
    assert past is not None
    return past


def told(track: Track[BudgetSample], day: float, *, shown: bool = False) -> Forecast:
    found = ahead.forecast(known(track), MONTH, START + day * DAY, LIMITS, is_date_shown=shown)
    assert isinstance(found, Forecast)
    return found


def steadily(day: float) -> float:
    """Ten a day, month by month."""
    return 10 * (day % 30)


def test_a_steady_month_ends_where_it_must() -> None:
    found = told(track(steadily, -30, 10), 10)
    assert found.low < 300 < found.high
    assert found.middle == pytest.approx(300, rel=0.03)
    assert found.high - found.low < 60
    assert found.rate == pytest.approx(10 / 24, rel=0.2)
    assert (found.gone, found.early, found.ends) == (None, False, MONTH.end)


def test_nothing_before_two_days_and_early_before_seven() -> None:
    watched = track(steadily, 12, 13.5)
    found = ahead.forecast(known(watched), MONTH, START + 13.5 * DAY, LIMITS)
    assert found == TooLittle(needed=DAY / 2)
    assert told(track(steadily, 12, 14.5), 14.5).early
    assert not told(track(steadily, 12, 19.5), 19.5).early
    assert spending_of(Track((BudgetSample(START, None, None),), ()), MONTH, None, START) is None


def test_what_was_spent_before_the_first_look_counts_where_the_period_began() -> None:
    """120 spent in 12 days and nothing since: month to date is known, and one day more."""
    found = told(track(lambda day: 120.0, 12, 14.5), 14.5)
    assert 120 < found.middle < 300


def test_one_burst_is_no_new_level() -> None:
    burst = track(lambda day: steadily(day) + (60 if day > 9.5 else 0), -30, 10)
    assert 340 < told(burst, 10).middle < 460, "a day of 70 beside days of 10"


def test_a_shift_of_level_is_taken_up_in_two_days() -> None:
    shift = track(lambda day: steadily(day) + max(0.0, day - 8) * 40, -30, 10)
    assert told(shift, 10).middle == pytest.approx(180 + 20 * 50, rel=0.1)


def test_a_reset_begins_anew_and_is_no_spending_taken_back() -> None:
    reset = track(lambda day: steadily(day) if day < 5.5 else 10 * (day - 5.5), -30, 10)
    found = told(reset, 10)
    assert found.middle == pytest.approx(245, rel=0.05)
    assert all(amount >= 0 for _, _, amount in known(reset).flows)


def test_a_correction_lowers_and_does_not_reset() -> None:
    corrected = track(lambda day: steadily(day) - (30 if day > 5 else 0), -30, 10)
    assert sum(amount for _, _, amount in known(corrected).flows if amount < 0) == pytest.approx(
        -30, abs=1
    )
    assert told(corrected, 10).middle == pytest.approx(270, rel=0.05)
    rising = [flow for flow in known(corrected).flows if flow[2] > 0]
    assert sum(spent_by_slot(rising, START + 10 * DAY, DAY, 10)) == pytest.approx(100, rel=0.02)


def test_what_came_in_a_gap_is_spread_over_it() -> None:
    gap = track(steadily, -30, 10, gaps=((4, 6.5),))
    days = spent_by_slot(known(gap).flows, START + 10 * DAY, DAY, 8)
    assert days == pytest.approx([10] * 8, rel=0.05)
    assert told(gap, 10).middle == pytest.approx(300, rel=0.03)


def test_after_a_gap_until_now_the_rest_is_still_to_come() -> None:
    assert told(track(steadily, -30, 10), 12).middle == pytest.approx(300, rel=0.03)


def test_a_change_of_the_limit_leaves_the_past_and_quiets_the_burn_for_an_hour() -> None:
    before = track(lambda day: 30 * day, 0, 10, step=300.0)
    lowered = replace(before.samples[-1], at=START + 10 * DAY, limit=Decimal(301))
    changed = Track((*before.samples[:-1], lowered), before.seen)
    assert known(changed).flows == known(before).flows
    assert isinstance(burn(known(changed), MONTH, START + 10 * DAY + 60, LIMITS), NoData)
    assert told(changed, 10).hit == pytest.approx(1, abs=0.01)
    assert told(before, 10).hit == pytest.approx(0, abs=0.3)


def test_no_limit_is_no_hit_and_no_burn() -> None:
    free = track(lambda day: 30 * day, 0, 10, step=300.0, limit=None)
    found = told(free, 10)
    assert (found.hit, found.gone) == (None, None)
    assert burn(known(free), MONTH, START + 10 * DAY, LIMITS) is None


def test_the_day_comes_late_and_goes_later() -> None:
    """Shown from 90 % on, until it is below 75."""
    likely = track(lambda day: 36 * day, 0, 10)
    chance = told(likely, 10).hit
    assert chance is not None
    assert 0.75 < chance < 0.9
    assert told(likely, 10).gone is None
    earliest, day, latest = told(likely, 10, shown=True).gone or (0, 0, 0)
    assert START + 10 * DAY < earliest < day < latest <= MONTH.end
    assert day == pytest.approx(START + 1000 / 36 * DAY, abs=DAY)
    assert told(track(lambda day: 60 * day, 0, 10), 10).gone is not None


def burning(rate: float, *, jobs: float = 12.0, seen: float = 10.0) -> Spending:
    """500 of 1,000 spent in ten days, and so much an hour in the last six of them."""

    def figure(day: float) -> float:
        hours = max(0.0, (day - 9.75) * 24)
        return 500 + rate * math.floor(hours * jobs) / jobs

    gaps = ((9.75, 9.75 + (10 - seen)),) if seen < 10 else ()
    return known(track(figure, 5, 10, step=300.0, gaps=gaps))


def test_a_burn_needs_its_windows_its_events_and_an_end_in_sight() -> None:
    now, fair = START + 10 * DAY, 1000 / 720
    found = burn(burning(20 * fair), MONTH, now, LIMITS)
    assert isinstance(found, Burn)
    assert found.critical
    assert found.factor == pytest.approx(20, rel=0.1)
    assert found.gone_in == pytest.approx((500 - 6 * found.rate) / found.rate * HOUR, rel=0.2)
    assert burn(burning(2 * fair), MONTH, now, LIMITS) is None
    assert burn(burning(40 * fair, jobs=0.4), MONTH, now, LIMITS) is None, "two jobs"
    quiet = replace(burning(20 * fair), limit=1e6)
    assert burn(quiet, MONTH, now, LIMITS) is None, "not gone for weeks"
    sharp = AlertLimits(burn_1h=30, burn_6h=30, burn_24h=30)
    assert burn(burning(20 * fair), MONTH, now, sharp) is None


def test_a_window_that_was_hardly_seen_is_no_data() -> None:
    now = START + 10 * DAY
    assert isinstance(burn(burning(1, seen=9.8), MONTH, now, LIMITS), NoData)
    assert not NoData()
    new = known(track(steadily, 9.9, 10, step=300.0))
    assert isinstance(burn(new, MONTH, now, LIMITS), NoData)


def running(
    times: float, *, days: float = 8.0, least: float = 0.0, last: float = 3.0
) -> Runaway | NoData | None:
    """Entries an hour, so many times the usual one in the last hours."""
    now = START + 10 * DAY
    flows = []
    for number in range(int(days * 24)):
        at = now - number * HOUR
        each = times if number < last else 1.0
        flows += [(at - n * 300, at - n * 300, each) for n in range(5)]
    seen = ((now - days * DAY, now),)
    return runaway("entries", sorted(flows), seen, now, least=least, factor=2.0)


def test_an_agent_far_above_its_own_habit_runs_away() -> None:
    found = running(6)
    assert isinstance(found, Runaway)
    assert (found.what, found.since[1] - found.since[0]) == ("entries", HOUR)
    assert (found.now, found.most, found.mean) == (30, 5, 5)
    assert running(1.5) is None
    assert running(6, least=100.0) is None
    assert isinstance(running(6, days=3.5), NoData), "a new agent has no habit"
    assert isinstance(running(6, last=20), Runaway), "it is one for as long as a day"


def test_one_large_job_is_no_runaway() -> None:
    now = START + 10 * DAY
    flows = [(now - n * HOUR, now - n * HOUR, 1.0) for n in range(1, 200)][::-1]
    flows.append((now, now, 500.0))
    seen = ((now - 9 * DAY, now),)
    found = runaway("cost", flows, seen, now, least=0.0, factor=2.0)
    assert not found or found.since[1] - found.since[0] >= 3 * HOUR


def test_a_habit_that_was_not_watched_enough_is_no_data() -> None:
    now = START + 10 * DAY
    flows = [(now - n * HOUR, now - n * HOUR, 1.0) for n in range(1, 200)][::-1]
    seen = ((now - 9 * DAY, now - 2 * DAY),)
    assert isinstance(runaway("cost", flows, seen, now, least=0.0, factor=2.0), NoData)


def date(year: int, month: int, day: int) -> float:
    return datetime(year, month, day, tzinfo=UTC).timestamp()


def budget(**fields: object) -> Budget:
    told = {
        name: Moment(date(*value)) if isinstance(value, tuple) else value
        for name, value in fields.items()
    }
    return replace(Budget(id="", scope=BudgetScope.ALL), **told)


@pytest.mark.parametrize(
    ("fields", "start", "end"),
    [
        ({}, (2026, 11, 1), (2026, 12, 1)),
        ({"period": clean_line("monthly")}, (2026, 11, 1), (2026, 12, 1)),
        ({"period": clean_line("weekly")}, (2026, 11, 16), (2026, 11, 23)),
        ({"period": clean_line("daily")}, (2026, 11, 19), (2026, 11, 20)),
        ({"resets": (2026, 12, 5), "period": clean_line("monthly")}, (2026, 11, 5), (2026, 12, 5)),
        ({"resets": (2026, 11, 24), "period": clean_line("week")}, (2026, 11, 17), (2026, 11, 24)),
        ({"resets": (2026, 11, 10)}, (2026, 11, 10), (2026, 12, 10)),
        (
            {"period_start": (2026, 11, 15), "resets": (2026, 11, 30)},
            (2026, 11, 15),
            (2026, 11, 30),
        ),
        ({"period_start": (2026, 10, 1), "resets": (2026, 11, 1)}, (2026, 11, 1), (2026, 12, 1)),
        ({"period_start": (2026, 11, 1), "resets": (2026, 11, 11)}, (2026, 11, 11), (2026, 11, 21)),
    ],
)
def test_the_period_is_the_platforms_or_the_calendars(
    fields: dict[str, object], start: tuple[int, int, int], end: tuple[int, int, int]
) -> None:
    now = datetime(2026, 11, 19, 12, tzinfo=UTC).timestamp()
    period = period_of(budget(**fields), now)
    assert (period.start, period.end) == (date(*start), date(*end))


@given(
    steps=st.lists(st.tuples(st.integers(300, 200_000), st.integers(-500, 5_000)), max_size=60),
    unit=st.sampled_from([1, 100, 1_000_000]),
    limit=st.one_of(st.none(), st.integers(1, 100_000)),
    ahead_of=st.floats(0, 20 * DAY),
)
def test_whatever_the_figures_the_range_is_one_and_the_unit_does_not_matter(
    steps: list[tuple[int, int]], unit: int, limit: int | None, ahead_of: float
) -> None:
    def found(by: int) -> Forecast | TooLittle | None:
        at, spent, samples = START - 10 * DAY, 0, []
        for wait, amount in steps:
            at, spent = at + wait, max(0, spent + amount)
            most = None if limit is None else Decimal(limit * by)
            samples.append(BudgetSample(at, Decimal(spent * by), most))
        seen = ((samples[0].at, at),) if samples else ()
        now = min(at + ahead_of, MONTH.end - 1)
        most = None if limit is None else Decimal(limit * by)
        past = spending_of(Track(tuple(samples), seen), MONTH, most, now)
        if past is None:
            return None
        burn(past, MONTH, now, LIMITS)
        runaway("cost", past.flows, past.seen, now, least=0.0, factor=2.0)
        return ahead.forecast(past, MONTH, now, LIMITS)

    one, other = found(1), found(unit)
    assert type(one) is type(other)
    if isinstance(one, Forecast) and isinstance(other, Forecast):
        assert 0 <= one.low <= one.middle <= one.high < math.inf
        assert one.rate >= 0
        for figure in ("low", "middle", "high", "rate"):
            assert getattr(other, figure) == pytest.approx(getattr(one, figure) * unit, rel=1e-6)
        if one.hit is not None:
            assert 0 <= one.hit <= 1
            assert other.hit == pytest.approx(one.hit, abs=1e-6)
        if one.gone is not None:
            assert one.gone[0] <= one.gone[1] <= one.gone[2] <= one.ends


class Quiet(Report):
    """Keeps what would be printed as met or missed."""

    def __init__(self) -> None:
        super().__init__()
        self.figures: dict[str, float] = {}

    def target(self, what: str, figure: float, low: float, high: float, unit: str = "") -> None:
        self.figures[what] = figure


@pytest.mark.slow
def test_a_small_backtest_is_near_what_the_large_one_shows() -> None:
    """As `python -m tests.benchmarks.forecast`, of which this is a glance, with wide bounds."""
    report = Quiet()
    report_forecasts(report, range(1))
    assert len(KINDS) == 12
    assert report.figures["outcomes within the 80 % range"] > 60
    assert report.figures["error against month-to-date on day 22"] < 1.0
    assert report.figures["median lead of a date"] > 4
