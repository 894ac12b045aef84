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
from agentco_tui.history.period import Period
from agentco_tui.history.reader import MENDED

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


def common_span(tracks: Iterable[Track[BudgetSample]], within: Span) -> Span | None:
    """The longest time within another at both ends of which every track has a reading; None if
    there is none. Sums of that time can be compared.
    """
    tracks = [*tracks]
    spans: list[Span] | None = None
    for track in tracks:
        own_spans = _spans_with_reading(track, within)
        spans = own_spans if spans is None else _overlaps(spans, own_spans)
    if not spans:
        return None
    begin = min(first for first, _ in spans)
    end = max(last for _, last in spans)
    # Twice: the first time that one track is known exactly may lie in a bucket of another.
    for _ in range(2):
        begin = max(_next_exact_time(track, begin) for track in tracks)
    end = min(_last_exact_time(track, end) for track in tracks)
    return (begin, end) if end > begin else None


def _spans_with_reading(track: Track[BudgetSample], within: Span) -> list[Span]:
    """The times within another at which a track was seen and has a reading."""
    first = next((each.at for each in track.samples if each.spent is not None), None)
    if first is None:
        return []
    known = (max(first, within[0]), within[1])
    cuts = [_overlap(span, known) for span in track.seen]
    return [cut for cut in cuts if cut is not None]


def _overlaps(some: Iterable[Span], others: Sequence[Span]) -> list[Span]:
    """The times that lie in a span of both."""
    pairs = [_overlap(one, other) for one in some for other in others]
    return [pair for pair in pairs if pair is not None]


def _next_exact_time(track: Track[BudgetSample], at: float) -> float:
    """The first time from `at` on at which the figure is known exactly.

    A bucket has only its last reading. So a figure in the middle of a bucket is known if no later
    reading of that bucket follows; at the beginning of a bucket it is, if it was seen before.
    """
    end = _end_of_bucket(track, at)
    if end is None or not _has_reading_between(track, at, end):
        return at
    if at == end - track.bucket_seconds(at) and _is_seen_up_to(track, at):
        return at
    seen_until = max((last for first, last in track.seen if first <= at), default=at)
    if seen_until < end and not _has_reading_between(track, seen_until, end):
        return seen_until
    return end


def _last_exact_time(track: Track[BudgetSample], at: float) -> float:
    """The last time until `at` at which the figure is known exactly."""
    end = _end_of_bucket(track, at)
    if end is None or not _has_reading_between(track, at, end):
        return at
    begin = end - track.bucket_seconds(at)
    if _is_seen_up_to(track, begin):
        return begin
    return max((last for _, last in track.seen if last < begin), default=begin)


def _is_seen_up_to(track: Track[BudgetSample], at: float) -> bool:
    """Whether the time right before a moment was seen."""
    return any(first < at <= last for first, last in track.seen)


def _end_of_bucket(track: Track[BudgetSample], at: float) -> float | None:
    """When the bucket that holds a time ends; None if every reading is a sample."""
    seconds = track.bucket_seconds(at)
    return (at // seconds + 1) * seconds if seconds else None


def _has_reading_between(track: Track[BudgetSample], begin: float, end: float) -> bool:
    following = bisect_right(track.samples, begin, key=lambda sample: sample.at)
    return following < len(track.samples) and track.samples[following].at < end


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
    increments = list(_increments(readings, track, period))
    amount = sum((each.amount for each in increments), Decimal(0))
    return ObservedSum(amount, span, [each.lost for each in increments if each.lost is not None])


def spent_by_part(
    track: Track[BudgetSample],
    period: Period,
    ends: Sequence[float],
    length: float,
) -> list[ObservedSum | None]:
    """What was spent in each of some parts of a time, by the ends of the parts and their length in
    seconds. Of a part that was seen in part, what is known of it; None if that is nothing.
    """
    known = _figures(track)
    times = [at for at, _ in known]
    rises = (each.amount for each in _increments(known, track, period))
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


class _Increment(NamedTuple):
    amount: Decimal  # between a reading and the one before it
    lost: Span | None  # of this time in between nothing is known


def _figures(track: Track[BudgetSample]) -> list[tuple[float, Decimal]]:
    return [(each.at, each.spent) for each in track.samples if each.spent is not None]


def _increments(
    readings: Sequence[tuple[float, Decimal]], track: Track[BudgetSample], period: Period
) -> Iterator[_Increment]:
    """By how much the figure rose from each reading to the next."""
    for (before, old), (at, new) in pairwise(readings):
        last_read = _last_seen_before(track.seen, at, before)
        seconds = track.bucket_seconds(at)
        if seconds > MENDED:
            # Earlier readings of this bucket are not known.
            last_read = min(last_read, at // seconds * seconds)
        turn = _turn_between(period, last_read, at)
        # A turn that was not seen may be hidden by what was spent after it.
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
