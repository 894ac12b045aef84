"""Sums of what was spent: exactly of the time between two readings, and which time that is."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.history.observations import BudgetSample, Span, Track
from agentco_tui.history.observed_spending import (
    ObservedSum,
    common_span,
    spent_by_part,
    spent_in,
    spent_together,
)
from agentco_tui.model.period import DAY, HOUR, Period

NOW = 1_790_000_000.0
MINUTE = 60.0
MONTH = Period(NOW - 10 * DAY, NOW + 20 * DAY)


def track(*figures: tuple[float, int], seen: list[Span] | None = None) -> Track[BudgetSample]:
    """Samples at so many seconds before now."""
    samples = tuple(BudgetSample(NOW - ago, Decimal(spent), None) for ago, spent in figures)
    spans = seen or [(figures[0][0], 0.0)]
    return Track(samples, tuple((NOW - first, NOW - last) for first, last in spans))


def total(observed: ObservedSum | None) -> tuple[Decimal, float] | None:
    return None if observed is None else (observed.amount, observed.seconds)


def test_one_minute_of_history_is_a_sum_of_one_minute() -> None:
    """The platform moved by $480 in the hour; what was seen of it is $8 in a minute."""
    short = track((60, 472), (20, 480))
    found = spent_together({"": short}, {"": MONTH}, (NOW - HOUR, NOW))
    assert total(found[""]) == (Decimal(8), MINUTE)
    assert found[""].span == (NOW - MINUTE, NOW)


def test_the_time_between_two_readings_counts_though_nobody_looked() -> None:
    with_gap = track((3_600, 100), (60, 580), seen=[(3_600, 3_540), (60, 0)])
    assert total(spent_in(with_gap, MONTH, (NOW - HOUR, NOW))) == (Decimal(480), HOUR)


def test_a_window_that_begins_in_a_gap_begins_at_the_next_reading() -> None:
    with_gap = track((7_200, 100), (60, 580), (30, 590), seen=[(7_200, 7_000), (60, 0)])
    found = spent_together({"": with_gap}, {"": MONTH}, (NOW - HOUR, NOW))
    assert total(found[""]) == (Decimal(10), MINUTE)


def test_nothing_is_known_without_two_readings() -> None:
    assert spent_together({"": Track()}, {"": MONTH}, (NOW - HOUR, NOW)) == {}
    old = track((9_000, 100), seen=[(9_000, 8_000)])
    assert spent_together({"": old}, {"": MONTH}, (NOW - HOUR, NOW)) == {}


def test_a_turn_of_the_period_in_a_gap_loses_what_was_spent_before_it() -> None:
    turned = Period(NOW - 1_800, NOW + DAY)
    for figure in (30, 130):  # also where more was spent since than before
        with_gap = track((3_600, 100), (60, figure), seen=[(3_600, 3_540), (60, 0)])
        found = spent_in(with_gap, turned, (NOW - HOUR, NOW))
        assert found is not None
        assert found.amount == figure
        assert found.lost == [(NOW - 3_540, NOW - 1_800)]
        assert found.seconds == HOUR - 1_740
    watched = track((3_600, 100), (1_790, 3), (60, 30))
    assert total(spent_in(watched, turned, (NOW - HOUR, NOW))) == (Decimal(30), HOUR)


def test_a_correction_lowers_the_sum() -> None:
    corrected = track((3_600, 100), (1_800, 150), (60, 140))
    assert total(spent_in(corrected, MONTH, (NOW - HOUR, NOW))) == (Decimal(40), HOUR)


def test_sums_of_one_page_are_of_the_same_time() -> None:
    whole = track((3_600, 0), (1_800, 50), (0, 100))
    part = track((1_800, 50), (0, 100), seen=[(1_800, 0)])
    budgets = {"": whole, "c1": part}
    found = spent_together(budgets, dict.fromkeys(budgets, MONTH), (NOW - HOUR, NOW))
    assert {key: total(each) for key, each in found.items()} == {
        "": (Decimal(50), 1_800.0),
        "c1": (Decimal(50), 1_800.0),
    }


readings = st.lists(st.tuples(st.floats(1, 900), st.integers(0, 50)), min_size=1, max_size=20)


@given(readings, st.lists(st.booleans(), min_size=20, max_size=20), st.floats(0, 9_000))
def test_no_sum_differs_from_the_figures_of_the_platform(
    steps: list[tuple[float, int]], looks: list[bool], since: float
) -> None:
    """Whatever was seen and not: the sum is the difference of the true figures at its two ends."""
    at, figure = NOW - 20_000, 100
    true, samples, seen = [(at, figure)], [], list[Span]()
    for (length, amount), is_watched in zip(steps, looks, strict=False):
        if is_watched:
            samples.append(BudgetSample(at, Decimal(figure), None))
            seen.append((at, at + length * 0.9))
        at, figure = at + length, figure + amount
        true.append((at, figure))
    watched = Track(tuple(samples), tuple(seen))
    window = NOW - 20_000 + since, NOW
    found = spent_together({"": watched}, {"": MONTH}, window)
    span = common_span([watched], window)
    assert bool(found) == (span is not None)
    if found:

        def held(moment: float) -> int:
            return [spent for when, spent in true if when <= moment][-1]

        begin, end = found[""].span
        assert window[0] <= begin < end <= window[1]
        assert found[""].amount == held(end) - held(begin)


def test_parts_of_a_time_are_of_what_was_seen_of_them() -> None:
    """What came while nobody looked belongs to no hour, unless both ends lie in it."""
    with_gap = track(
        *((3 * HOUR, 0), (2.5 * HOUR, 10), (0.5 * HOUR, 500), (0, 520)),
        seen=[(3 * HOUR, 2.4 * HOUR), (0.6 * HOUR, 0)],
    )
    ends = [NOW - 2 * HOUR, NOW - HOUR, NOW]
    first, unseen, last = spent_by_part(with_gap, MONTH, ends, HOUR)
    assert unseen is None
    assert first is not None
    assert first.amount == 10
    assert round(first.seconds) == 2_160
    assert last is not None
    assert last.amount == 510
    assert round(last.seconds) == 2_160


def bucketed(whole: Track[BudgetSample], seconds: int) -> Track[BudgetSample]:
    """The same figures as the database has them: the last of each bucket."""
    last_of_bucket = {each.at // seconds: each for each in whole.samples}
    return Track(tuple(last_of_bucket.values()), whole.seen, ((0.0, seconds),))


@given(
    steps=readings,
    looks=st.lists(st.booleans(), min_size=20, max_size=20),
    since=st.floats(0, 9_000),
    seconds=st.sampled_from([60, 600, 3_600]),
)
def test_sums_of_buckets_are_those_of_the_platform(
    steps: list[tuple[float, int]], looks: list[bool], since: float, seconds: int
) -> None:
    """Whatever readings the buckets left out, the sum is exact for the time that it names."""
    at = NOW - 20_000
    figure = 100
    true = [(at, figure)]
    samples = list[BudgetSample]()
    seen = list[Span]()
    for (length, amount), is_watched in zip(steps, looks, strict=False):
        if is_watched:
            samples.append(BudgetSample(at, Decimal(figure), None))
            seen.append((at, at + length * 0.9))
        at += length
        figure += amount
        true.append((at, figure))
    watched = bucketed(Track(tuple(samples), tuple(seen)), seconds)
    window = (NOW - 20_000 + since, NOW)
    found = spent_together({"": watched}, {"": MONTH}, window)
    if not found:
        return

    def figure_at(moment: float) -> int:
        return [spent for when, spent in true if when <= moment][-1]

    begin, end = found[""].span
    assert window[0] <= begin < end <= window[1]
    assert found[""].amount == figure_at(end) - figure_at(begin)


def test_a_sum_of_buckets_begins_at_a_full_bucket() -> None:
    """What was spent in the first minute, of which only the last reading is kept, is left out."""
    readings_each_10_s = track(*((205.0 - 10 * step, step) for step in range(21)))
    in_minutes = bucketed(readings_each_10_s, 60)
    found = spent_together({"": in_minutes}, {"": MONTH}, (NOW - 100, NOW))
    begin, end = found[""].span
    assert begin % 60 == 0
    assert 0 <= begin - (NOW - 100) < 60
    assert end == NOW
    assert found[""].amount == 8, "one in each 10 s since then"


def test_a_turn_within_a_bucket_loses_what_was_spent_before_it() -> None:
    """Of an hour only the last reading is kept; the period turned in the middle of it."""
    hour = (NOW - 3 * HOUR) // HOUR * HOUR
    period = Period(hour + 1_800, hour + 1_800 + 30 * DAY)
    samples = (
        BudgetSample(hour - 60, Decimal(100), None),
        BudgetSample(hour + 3_500, Decimal(5), None),
    )
    in_hours = Track(samples, ((hour - DAY, NOW),), ((0.0, 3_600),))
    found = spent_in(in_hours, period, (hour - 60, NOW))
    assert found is not None
    assert found.amount == 5
    assert found.lost == [(hour, hour + 1_800)]
