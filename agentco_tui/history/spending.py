"""Turns the samples of a budget into flows: how much was spent, and in which span of time.

Forecasts (`history.forecast`) and alarms (`history.spending_alarms`) are computed from flows, not
from samples, because a sample is a running total: it is reset when a period begins, it may be
corrected, and some samples are missing. `Track` holds the samples with the spans in which the
platform, the remote service that reports the budgets, was polled; `Period` is the time that a limit
is for, and `start_told` says whether the platform sent its start. Old samples are stored in
buckets, the last one of each minute, ten minutes or hour. A `Flow` is (begin, end, amount).

Times are seconds since 1970. Amounts are whole units of the budget, which are money or tokens. All
functions are pure.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Final

import msgspec

from agentco_tui.history.observations import BudgetSample, Span, Track
from agentco_tui.live.spend_rate import Flow
from agentco_tui.model.period import HOUR, Period

_RESET_SHARE: Final = 0.2
"""A total that falls below this share of itself was reset; a smaller fall is a correction."""


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """What was spent of one budget."""

    flows: Sequence[Flow]  # oldest first; a correction is a negative amount
    seen: Sequence[Span]  # when the platform was polled
    watched_since: float  # the time of the first sample
    spent: float  # the newest total, in units
    limit: float | None  # in units; None if there is none
    limit_since: float  # when the limit last changed; -inf if it never did


def spending_of(
    track: Track[BudgetSample], period: Period, limit: Decimal | None, now: float
) -> Spending | None:
    """The flows between the samples of a budget; None if no sample has a total.

    `limit` is the limit at the time `now`. What was spent in a gap between two polls is spread over
    the gap. What was spent in a bucket of the history is spread over the bucket, because only its
    last sample is stored.
    """
    totals = [(each.at, float(each.spent)) for each in track.samples if each.spent is not None]
    if not totals:
        return None
    first_at, first_total = totals[0]
    flows: list[Flow] = []
    if period.start_told and first_at > period.start:
        # The total counts from the start of the period.
        flows.append((period.start, first_at, first_total))
    span_begins = [begin for begin, _ in track.seen]
    for (at_before, total_before), (at, total) in pairwise(totals):
        begin = _begin_of_flow(track, span_begins, at_before, at)
        has_period_begun = at_before < period.start <= at
        if has_period_begun:
            begin = max(begin, period.start)
        has_fallen = total < total_before
        is_reset = has_fallen and (has_period_begun or total < _RESET_SHARE * total_before)
        amount = total if is_reset else total - total_before
        if amount:
            flows.append((begin, at, amount))
    return Spending(
        flows=flows,
        seen=track.seen,
        watched_since=first_at,
        spent=totals[-1][1],
        limit=float(limit) if limit is not None and limit > 0 else None,
        limit_since=_last_change_of_limit(track, limit, now),
    )


def _begin_of_flow(
    track: Track[BudgetSample], span_begins: Sequence[float], at_before: float, at: float
) -> float:
    """Since when what the sample at `at` adds to the one at `at_before` may have been spent.

    That is `at` itself if the platform was polled all the time between, because then the amount was
    seen as it came. `span_begins` are the begins of `track.seen`.
    """
    begin = at
    bucket_seconds = track.bucket_seconds(at)
    if bucket_seconds:
        bucket_begin = at // bucket_seconds * bucket_seconds
        begin = max(at_before, bucket_begin)
    span_count = bisect_right(span_begins, at)
    if span_count < 2:
        return begin
    gap_begin = track.seen[span_count - 2][1]
    gap_end = span_begins[span_count - 1]
    # Old buckets are hours, so the first sample after a gap may be that late.
    is_first_after_gap = at_before < gap_end and at - gap_end <= HOUR
    return max(at_before, gap_begin) if is_first_after_gap else begin


def _last_change_of_limit(
    track: Track[BudgetSample], limit_now: Decimal | None, now: float
) -> float:
    """When the limit last changed; -inf if it never did."""
    limits = [(each.at, each.limit) for each in track.samples]
    limits.append((now, limit_now))
    changes = (at for (_, before), (at, limit) in pairwise(limits) if before != limit)
    return max(changes, default=-math.inf)


def spent_by_slot(
    flows: Iterable[Flow], until: float, slot_seconds: float, slot_count: int
) -> list[float]:
    """What was spent in each of several slots of equal length, the newest first.

    The newest slot ends at `until`. A flow that covers several slots is divided among them in
    proportion to time. Corrections are left out.
    """
    sums = [0.0] * slot_count
    oldest_begin = until - slot_seconds * slot_count
    for begin, end, amount in flows:
        if amount <= 0 or end <= oldest_begin or begin > until:
            continue
        newest_slot = int((until - end) / slot_seconds)
        if begin == end:
            sums[min(slot_count - 1, newest_slot)] += amount
            continue
        oldest_slot = int((until - begin) / slot_seconds)
        for slot in range(max(0, newest_slot), min(slot_count, oldest_slot + 1)):
            slot_end = until - slot * slot_seconds
            overlap = max(0.0, min(end, slot_end) - max(begin, slot_end - slot_seconds))
            sums[slot] += amount * overlap / (end - begin)
    return sums


def is_half_seen(seen: Sequence[Span], since: float, until: float) -> bool:
    """Whether the platform was polled for at least half of the time between two times."""
    seconds_seen = sum(max(0.0, min(until, end) - max(since, begin)) for begin, end in seen)
    return seconds_seen >= (until - since) / 2


def count_flows_since(flows: Iterable[Flow], since: float) -> int:
    """How many amounts were spent after a time, corrections excluded."""
    return sum(end > since and amount > 0 for _, end, amount in flows)
