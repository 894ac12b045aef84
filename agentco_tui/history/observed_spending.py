"""Exact sums of what was spent, each with the time that it covers. No sum is an estimate.

The platform is the remote service that reports the budgets; the history, a database, keeps what was
polled from it. A budget's figure is what was spent since its period began. So the difference of two
readings is what was spent between them, even if the platform was not polled in between. Nothing is
known of the time before the first reading and after the last. A `Track` holds the readings
(`samples`, each one that differs from the one before) and the spans in which the platform was
polled (`seen`); old readings are kept in buckets, the last one of each minute, ten minutes or hour.
`MENDED` is the number of seconds between two polls below which there is no gap.
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
from agentco_tui.history.reader import MENDED
from agentco_tui.model.period import Period

RESET_SHARE: Final = Decimal("0.2")
"""A figure that falls below this share of itself was reset to zero; a smaller fall corrects it."""


class ObservedSum(msgspec.Struct, frozen=True):
    """What was spent between the two ends of `span`, except in the times in `lost`."""

    amount: Decimal
    span: Span
    lost: Sequence[Span] = ()
    """The times between the last reading before a reset and the reset, if they are long.

    What was spent then is not in the amount.
    """

    @property
    def seconds(self) -> float:
        """The time that the amount covers."""
        return self.span[1] - self.span[0] - sum(end - begin for begin, end in self.lost)


def common_span(tracks: Iterable[Track[BudgetSample]], within: Span) -> Span | None:
    """The longest span in `within` for whose ends every track has a figure; None without one.

    Sums of that span can be compared.
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
    # Twice, because the first exact time of one track may lie in a bucket of another.
    for _ in range(2):
        begin = max(_next_exact_time(track, begin) for track in tracks)
    end = min(_last_exact_time(track, end) for track in tracks)
    return (begin, end) if end > begin else None


def _spans_with_reading(track: Track[BudgetSample], within: Span) -> list[Span]:
    """The parts of `within` in which a track was observed and has a figure."""
    first = next((each.at for each in track.samples if each.spent is not None), None)
    if first is None:
        return []
    known = (max(first, within[0]), within[1])
    cuts = [_overlap(span, known) for span in track.seen]
    return [cut for cut in cuts if cut is not None]


def _overlaps(some: Iterable[Span], others: Sequence[Span]) -> list[Span]:
    """The overlaps of each span of one list with each of the other."""
    pairs = [_overlap(one, other) for one in some for other in others]
    return [pair for pair in pairs if pair is not None]


def _next_exact_time(track: Track[BudgetSample], at: float) -> float:
    """The first time from `at` on at which the figure is known exactly.

    A bucket keeps only its last reading. So the figure in the middle of a bucket is known only if
    the bucket has no later reading, and at its beginning only if it was observed just before.
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
    """Whether the platform was observed right before a time."""
    return any(first < at <= last for first, last in track.seen)


def _end_of_bucket(track: Track[BudgetSample], at: float) -> float | None:
    """When the bucket of a time ends; None if all readings are kept there."""
    seconds = track.bucket_seconds(at)
    return (at // seconds + 1) * seconds if seconds else None


def _has_reading_between(track: Track[BudgetSample], begin: float, end: float) -> bool:
    following = bisect_right(track.samples, begin, key=lambda sample: sample.at)
    return following < len(track.samples) and track.samples[following].at < end


def spent_in(track: Track[BudgetSample], period: Period, span: Span) -> ObservedSum | None:
    """What was spent in a span; None if no figure is known at its beginning.

    A figure that falls a little is a correction, which lowers the sum. A figure that falls below
    `RESET_SHARE`, or when a new period begins, was reset to zero.
    """
    begin, end = span
    figures = _figures(track)
    figures_before = [spent for at, spent in figures if at <= begin]
    if not figures_before:
        return None
    readings = [(begin, figures_before[-1])]
    readings += [(at, spent) for at, spent in figures if begin < at <= end]
    increments = list(_increments(readings, track, period))
    amount = sum((each.amount for each in increments), Decimal(0))
    return ObservedSum(amount, span, [each.lost for each in increments if each.lost is not None])


def spent_by_part(
    track: Track[BudgetSample],
    period: Period,
    ends: Sequence[float],
    length: float,
) -> list[ObservedSum | None]:
    """What was spent in each part, given the ends of the parts and their length in seconds.

    The sum of a part that was observed incompletely covers what is known of it; None without any.
    """
    figures = _figures(track)
    times = [at for at, _ in figures]
    rises = (each.amount for each in _increments(figures, track, period))
    totals = list(accumulate(rises, initial=Decimal(0)))
    sums: list[ObservedSum | None] = []
    for end in ends:
        span = common_span([track], (end - length, end))
        first = -1 if span is None else bisect_right(times, span[0]) - 1
        if span is None or first < 0:
            sums.append(None)
            continue
        last = bisect_right(times, span[1]) - 1
        sums.append(ObservedSum(totals[last] - totals[first], span))
    return sums


def spent_together(
    tracks: Mapping[str, Track[BudgetSample]], periods: Mapping[str, Period], within: Span
) -> dict[str, ObservedSum]:
    """What was spent of each budget, by key, in a span that is the same for all.

    Without a common span each sum covers its own. Budgets without a known sum are left out.
    """
    common = common_span(tracks.values(), within)
    sums: dict[str, ObservedSum] = {}
    for key, track in tracks.items():
        span = common or common_span([track], within)
        if span is None:
            continue
        spent = spent_in(track, periods[key], span)
        if spent is not None:
            sums[key] = spent
    return sums


class _Increment(NamedTuple):
    """What was spent between a reading and the one before it."""

    amount: Decimal
    lost: Span | None  # the time before a reset whose spending is unknown


def _figures(track: Track[BudgetSample]) -> list[tuple[float, Decimal]]:
    """The readings with a figure: (time, spent since the period began)."""
    return [(each.at, each.spent) for each in track.samples if each.spent is not None]


def _increments(
    readings: Sequence[tuple[float, Decimal]], track: Track[BudgetSample], period: Period
) -> Iterator[_Increment]:
    """The increment from each reading to the next."""
    for (before, old), (at, new) in pairwise(readings):
        last_read = _last_seen_before(track.seen, at, before)
        seconds = track.bucket_seconds(at)
        if seconds > MENDED:
            # The bucket has only its last reading, so the figure is unknown from its beginning.
            last_read = min(last_read, at // seconds * seconds)
        turn = _turn_between(period, last_read, at)  # the beginning of a period, if there is one
        # After a reset that was not observed, new spending may lift the figure above the old one.
        # start_told: the platform sent the start of the period; else it is derived.
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
    """When the figure was last read before the reading at `at`, which differs; or `earliest`.

    While the platform is polled that is `at` itself, because polls follow each other closely.
    """
    following = bisect_left(seen, at, key=lambda span: span[0])
    if following == 0:
        return earliest
    end = seen[following - 1][1]
    return at if at <= end else max(earliest, end)


def _turn_between(period: Period, first: float, last: float) -> float | None:
    """The beginning of a period between two times; None if there is none.

    All periods are assumed to be as long as the current one. If both times are equal, the platform
    was being polled, and the period may have begun just before.
    """
    length = period.end - period.start
    if length <= 0:
        return None
    periods_before = max(0, math.ceil((period.start - last) / length))
    turn = period.start - periods_before * length
    return turn if first - MENDED < turn <= last else None
