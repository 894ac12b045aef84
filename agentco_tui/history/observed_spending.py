"""What was spent in the time that was observed: exactly that, and which time it is.

A budget tells what was spent since its period began. So what was spent between two readings is the
difference of the two figures, also where nobody looked in between; of the time before the first
reading, and after the last, nothing is known. No figure here is an estimate.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

import msgspec

from agentco_tui.history.observations import BudgetSample, Span, Track
from agentco_tui.history.period import DAY, HOUR, Period
from agentco_tui.history.reader import MENDED

THINNED: Final = ((2 * DAY, 600.0), (30 * DAY, HOUR))
"""The age in seconds from which only the last sample of each so many seconds is kept, the youngest
first: as `history_file.TIERS`."""
RESET_SHARE: Final = Decimal("0.2")  # a figure that falls below this share of itself began anew


class ObservedSum(msgspec.Struct, frozen=True):
    """What was spent between the two ends of `span`, except in the times in `lost`."""

    amount: Decimal
    span: Span
    lost: Sequence[Span] = ()
    """Between the last reading before the figure began anew and that beginning, where nobody looked
    for long: what was spent then is not in the amount."""

    @property
    def seconds(self) -> float:
        """The time that the amount covers."""
        return self.span[1] - self.span[0] - sum(end - begin for begin, end in self.lost)


def first_exact_time(since: float, now: float) -> float:
    """The first time from `since` on at which the figure that held is still known exactly, though
    samples are thinned as they grow old.
    """
    exact = since
    for age, step in THINNED:
        if since <= now - age:
            exact = math.ceil(since / step) * step
    return exact


def common_span(tracks: Iterable[Track[BudgetSample]], within: Span) -> Span | None:
    """The longest time within another at both ends of which every track has a reading; None if
    there is none. Sums of that time can be compared.
    """
    seen: list[Span] | None = None
    for track in tracks:
        first = next((each.at for each in track.samples if each.spent is not None), None)
        if first is None:
            continue
        known = max(first, within[0]), within[1]
        own = [cut for span in track.seen if (cut := _overlap(span, known)) is not None]
        if seen is None:
            seen = own
        else:
            pairs = (_overlap(one, other) for one in seen for other in own)
            seen = [both for both in pairs if both is not None]
    if not seen:
        return None
    begin = min(first for first, _ in seen)
    end = max(last for _, last in seen)
    return (begin, end) if end > begin else None


def spent_in(track: Track[BudgetSample], period: Period, span: Span) -> ObservedSum | None:
    """What was spent between two readings; None if there is no figure at the first of them.

    Corrections are part of it: a figure that falls a little lowers the sum. A figure that falls to
    less than a fifth, or at a turn of the period, began anew.
    """
    begin, end = span
    known = _figures(track)
    before = [each for each in known if each[0] <= begin]
    if not before:
        return None
    readings = [(begin, before[-1][1]), *(each for each in known if begin < each[0] <= end)]
    increments = list(_increments(readings, track.seen, period))
    amount = sum((each.amount for each in increments), Decimal(0))
    return ObservedSum(amount, span, [each.lost for each in increments if each.lost is not None])


def spent_by_part(
    track: Track[BudgetSample],
    period: Period,
    ends: Sequence[float],
    length: float,
    *,
    every: float = 0.0,
) -> list[ObservedSum | None]:
    """What was spent in each of some parts of a time, by the ends of the parts and their length in
    seconds. Of a part that was seen in part, what is known of it; None if that is nothing. The
    track has at most one sample in each `every` seconds, the last.
    """
    track = Track(track.samples, _from_first_sample(track, every))
    known = _figures(track)
    times = [at for at, _ in known]
    rises = (each.amount for each in _increments(known, track.seen, period))
    totals = list(accumulate(rises, initial=Decimal(0)))
    found = list[ObservedSum | None]()
    for end in ends:
        span = common_span([track], (end - length, end))
        first = -1 if span is None else bisect_right(times, span[0]) - 1
        if span is None or first < 0:
            found.append(None)
            continue
        last = bisect_right(times, span[1]) - 1
        found.append(ObservedSum(totals[last] - totals[first], span))
    return found


def spent_together(
    tracks: Mapping[str, Track[BudgetSample]], periods: Mapping[str, Period], within: Span
) -> dict[str, ObservedSum]:
    """What was spent of each budget, all in the same time, so that the sums agree.

    Without a time that all of them have in common, each sum is of its own time.
    """
    common = common_span(tracks.values(), within)
    found: dict[str, ObservedSum] = {}
    for key, track in tracks.items():
        span = common or common_span([track], within)
        known = None if span is None else spent_in(track, periods[key], span)
        if known is not None:
            found[key] = known
    return found


def _from_first_sample(track: Track[BudgetSample], every: float) -> tuple[Span, ...]:
    """The spans that were seen, each from its first sample on if that comes so soon that the
    reading at the beginning of the span may have been left out for it.
    """
    times = [at for at, _ in _figures(track)]
    found = list[Span]()
    for begin, end in track.seen:
        first = bisect_left(times, begin)
        is_late = first < len(times) and times[first] < begin + every
        found.append((min(times[first], end) if is_late else begin, end))
    return tuple(found)


class _Increment(NamedTuple):
    amount: Decimal  # between a reading and the one before it
    lost: Span | None  # of this time in between nothing is known


def _figures(track: Track[BudgetSample]) -> list[tuple[float, Decimal]]:
    return [(each.at, each.spent) for each in track.samples if each.spent is not None]


def _increments(
    readings: Sequence[tuple[float, Decimal]], seen: Sequence[Span], period: Period
) -> Iterator[_Increment]:
    """By how much the figure rose from each reading to the next."""
    for (before, old), (at, new) in pairwise(readings):
        last_read = _last_seen_before(seen, at, before)
        turn = _turn_between(period, last_read, at)
        # A turn that nobody saw may be hidden by what was spent after it.
        is_turn_unseen = turn is not None and period.start_told and at - last_read > MENDED
        has_fallen = new < old and (turn is not None or new < RESET_SHARE * old)
        if not (has_fallen or is_turn_unseen):
            yield _Increment(new - old, None)
            continue
        restart = at if turn is None else turn
        is_long = restart - last_read > MENDED
        yield _Increment(new, (last_read, restart) if is_long else None)


def _overlap(one: Span, other: Span) -> Span | None:
    begin = max(one[0], other[0])
    end = min(one[1], other[1])
    return (begin, end) if begin <= end else None


def _last_seen_before(seen: Sequence[Span], at: float, earliest: float) -> float:
    """When the figure was last read before the reading at a time that brought another one.

    That is `at` itself where the platform was being polled, since polls follow closely.
    """
    following = bisect_left(seen, at, key=lambda span: span[0])
    if following == 0:
        return earliest
    end = seen[following - 1][1]
    return at if at <= end else max(earliest, end)


def _turn_between(period: Period, first: float, last: float) -> float | None:
    """The beginning of a period that lies between two times; None if there is none.

    Periods are taken to have the length of the present one. Where both times are the same, the
    figure was being polled, and the turn may lie just before.
    """
    length = period.end - period.start
    if length <= 0:
        return None
    periods_before = max(0, math.ceil((period.start - last) / length))
    turn = period.start - periods_before * length
    return turn if first - MENDED < turn <= last else None
