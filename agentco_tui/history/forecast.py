"""Where a budget is going: the rate, the end of the period as a range, and when the money is gone.

Pure functions of samples; times are seconds since 1970, sums whole units (of money, or tokens).
What they are judged by is `python -m tests.benchmarks.forecast`; docs/forecast.md tells the method.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import Final, Literal

import msgspec

from agentco_tui.config import AlertLimits
from agentco_tui.history.observations import BudgetSample, Span, Track
from agentco_tui.live.spend_rate import Flow
from agentco_tui.model.period import DAY, HOUR, Period

PAST: Final = 60  # days that a forecast looks back
HABIT: Final = 14  # days that make an agent's habit, before the last one

_Z: Final = 1.2816  # 8 of 10 outcomes lie within so many sigmas
_RESET: Final = 0.2  # a figure that falls below this share of itself began anew
_EVENTS: Final = 3  # one job is no trend
_SETTLING: Final = HOUR  # after a change of the limit, in which a burn says nothing


class TooLittle(msgspec.Struct, frozen=True):
    """Too little is known for a forecast."""

    needed: float  # seconds of observed time that are still missing


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """Of one budget."""

    rate: float  # whole units an hour, now
    low: float  # spent at the end of the period: 8 of 10 outcomes lie between low and high
    middle: float
    high: float
    ends: float  # the end of the period
    early: bool = False  # less than seven days are known
    hit: float | None = None  # probability (0 to 1) that the limit is reached; None without one
    gone: tuple[float, float, float] | None = None
    """When the money is gone: earliest, likely, latest; only where that is likely enough to say."""


class NoData(msgspec.Struct, frozen=True):
    """A window was seen for less than half of its time: nothing can be said of it. It is falsy, as
    None is, which says that all is well.
    """

    def __bool__(self) -> Literal[False]:
        return False


class Burn(msgspec.Struct, frozen=True, kw_only=True):
    """A budget that burns too fast, by one tier of windows."""

    factor: float  # how many times faster than a spending that lasts to the end of the period
    rate: float  # whole units an hour in the long window
    gone_in: float  # seconds until the money is gone at that rate
    critical: bool


class Runaway(msgspec.Struct, frozen=True, kw_only=True):
    """An agent far above its own habit, in one window."""

    what: str  # "cost", "entries" or "failures"
    now: float  # in the window
    most: float  # the most that it ever was in such a window
    mean: float
    since: Span  # the window


# --- what was spent ---


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """A budget's samples as what came between them."""

    flows: Sequence[Flow]  # oldest first
    seen: Sequence[Span]
    first: float  # since when it is watched
    spent: float  # the figure now
    limit: float | None
    limited: float  # since when that limit is known


def spending(
    track: Track[BudgetSample], period: Period, limit: Decimal | None, now: float
) -> Spending | None:
    """What was spent between the samples, under the limit of now; None if no sample has a figure.

    What came in a gap is spread over it, and what came in a bucket over that. A figure that falls
    to less than a fifth, or at the turn of the period, began anew; any other fall is a correction,
    and a negative flow.
    """
    known = [(each.at, float(each.spent)) for each in track.samples if each.spent is not None]
    if not known:
        return None
    flows, (first, figure) = list[Flow](), known[0]
    if period.start_told and first > period.start:
        flows.append((period.start, first, figure))
    starts = [start for start, _ in track.seen]
    for (before, old), (at, new) in pairwise(known):
        begin = at
        bucket_seconds = track.bucket_seconds(at)
        if bucket_seconds:
            # Of a bucket only the last reading is known: it came since the bucket began.
            begin = max(before, at // bucket_seconds * bucket_seconds)
        span = bisect_right(starts, at) - 1
        # Old buckets are hours, so the first reading after a gap may be late.
        if span > 0 and before < starts[span] and at - starts[span] <= HOUR:
            begin = max(before, track.seen[span - 1][1])
        is_turn = before < period.start <= at
        if is_turn:
            begin = max(begin, period.start)
        is_anew = new < old and (is_turn or new < _RESET * old)
        amount = new if is_anew else new - old
        if amount:
            flows.append((begin, at, amount))
    limits = [*((each.at, each.limit) for each in track.samples), (now, limit)]
    changes = (at for (_, one), (at, two) in pairwise(limits) if one != two)
    return Spending(
        flows=flows,
        seen=track.seen,
        first=first,
        spent=known[-1][1],
        limit=float(limit) if limit is not None and limit > 0 else None,
        limited=max(changes, default=-math.inf),
    )


def summed(flows: Iterable[Flow], until: float, size: float, count: int) -> list[float]:
    """What came in each of `count` slots of so many seconds, counted back from `until`; what was
    taken back is left out.
    """
    sums, begin = [0.0] * count, until - size * count
    for came, at, amount in flows:
        if amount <= 0 or at <= begin or came > until:
            continue
        if came == at:
            sums[min(count - 1, int((until - at) / size))] += amount
            continue
        newest, oldest = int((until - at) / size), int((until - came) / size)
        for slot in range(max(0, newest), min(count, oldest + 1)):
            end = until - slot * size
            within = max(0.0, min(at, end) - max(came, end - size))
            sums[slot] += amount * within / (at - came)
    return sums


def is_seen(seen: Sequence[Span], since: float, until: float) -> bool:
    """Whether at least half of a window was seen."""
    watched = sum(max(0.0, min(until, end) - max(since, start)) for start, end in seen)
    return watched >= (until - since) / 2


def _parts(flows: Iterable[Flow], since: float) -> int:
    """In how many parts came what came since then."""
    return sum(at > since and amount > 0 for _, at, amount in flows)


# --- the forecast ---

_STEP, _STEPS = 6 * HOUR, 240  # in which what is to come is summed up, and their most
_TIED: Final = (1 + 0.2) / (1 - 0.2)  # for a day is like the one before: a correlation of 0.2


def forecast(
    past: Spending, period: Period, now: float, limits: AlertLimits, *, shown: bool = False
) -> Forecast | TooLittle:
    """Where it goes until the end of the period; `shown` says if a date stands on the screen now.

    Days of 24 hours are counted back from the last look, which takes the hour of the day out. What
    weekdays and weekends differ by is divided out; of what is left the part since the last shift of
    level counts, its newer days more. What is to come is lognormal about that.
    """
    made = min(now, past.seen[-1][1]) if past.seen else now
    watched = made - past.first
    if watched < 2 * DAY:
        return TooLittle(2 * DAY - watched)
    begin = min([past.first, *(came for came, _, _ in past.flows[:1])])
    path = _Path(summed(past.flows, made, DAY, min(PAST, int((made - begin) / DAY))), made)
    spent = past.spent if made >= period.start else 0.0
    start = max(made, period.start)
    steps = min(_STEPS, max(1, math.ceil((period.end - start) / _STEP)))
    length = max(0.0, period.end - start) / steps
    middles = [start + (step + 0.5) * length for step in range(steps)]
    sums = [*accumulate(path.a_day(at) * length / DAY for at in middles)]
    left, sigma = sums[-1], path.sigma(period.end)
    spread = math.exp(_Z * sigma)
    hit, gone = None, None
    if past.limit is not None:
        room = past.limit - spent
        hit = 1.0 if room <= 0 else 0.0
        if room > 0 and left > 0:
            hit = (1 + math.erf(math.log(left / room) / sigma / math.sqrt(2))) / 2
        if room > 0 and hit * 100 >= (limits.forecast_off if shown else limits.forecast_on):

            def crossed(z: float) -> float:
                bounds = zip(middles, sums, strict=True)
                above = (at for at, sum_ in bounds if sum_ * math.exp(z * path.sigma(at)) >= room)
                return next(above, period.end)

            gone = crossed(_Z), crossed(0.0), crossed(-_Z)
    return Forecast(
        rate=_rate(past, made),
        low=spent + left / spread,
        middle=spent + left,
        high=spent + left * spread,
        ends=period.end,
        early=watched < 7 * DAY,
        hit=hit,
        gone=gone,
    )


def _rate(past: Spending, now: float) -> float:
    """Units an hour in the last hour; in the last 6, or 24, where few things happened in less."""
    enough = (hours for hours in (1, 6) if _parts(past.flows, now - hours * HOUR) >= _EVENTS)
    hours = next(enough, 24)
    return summed(past.flows, now, hours * HOUR, 1)[0] / hours


def _weekend(begin: float, end: float) -> float:
    """How much of a time of at most two days is a Saturday or Sunday (UTC)."""
    at = (begin + 3 * DAY) % (7 * DAY)  # since Monday; 1970 began on a Thursday
    until = at + end - begin
    inside = max(0.0, min(until, 7 * DAY) - max(at, 5 * DAY)) + max(0.0, until - 12 * DAY)
    return inside / (end - begin)


class _Path:
    """What days cost: a level, what weekends differ by, a trend, and how far it all scatters."""

    def __init__(self, days: Sequence[float], until: float) -> None:
        """`days` are sums of 24 hours, the newest first, up to `until`."""
        self.until = until
        shares = [_weekend(until - (age + 1) * DAY, until - age * DAY) for age in range(len(days))]
        mean = sum(days) / len(days)
        sums, weights = [mean, mean], [1.0, 1.0]  # weekday, weekend: each begun with a usual day
        for age, (day, share) in enumerate(zip(days, shares, strict=True)):
            for cell, part in enumerate((1 - share, share)):
                sums[cell] += 0.5 ** (age / 30) * part * day
                weights[cell] += 0.5 ** (age / 30) * part
        self.profile = [s / w / mean if mean else 1.0 for s, w in zip(sums, weights, strict=True)]
        usual = [max(0.05, self._usual(share)) for share in shares]
        ratios = [day / each for day, each in zip(days, usual, strict=True)]
        kept = _since_shift(ratios, [share < 0.5 for share in shares])
        ratios, weights = ratios[:kept], [0.5 ** (age / 21) for age in range(kept)]
        total = sum(weight * each for weight, each in zip(weights, usual, strict=False))
        self.level = sum(weight * day for weight, day in zip(weights, days, strict=False)) / total
        self.known = sum(weights) ** 2 / sum(weight**2 for weight in weights)
        squares = sum((each / self.level - 1) ** 2 for each in ratios) if self.level else 0.0
        self.scatter = (squares + 2 * 0.45**2) / (kept + 2)
        self.trend = _trend(ratios)
        # The level is that of the middle of what it was taken from.
        middle = sum(weight * age for age, weight in enumerate(weights)) / sum(weights)
        self.level *= math.exp(self.trend * middle)

    def _usual(self, weekend: float) -> float:
        return self.profile[0] * (1 - weekend) + self.profile[1] * weekend

    def a_day(self, then: float) -> float:
        """What a day costs then."""
        ahead = min(30.0, (then - self.until) / DAY)
        return self.level * self._usual(_weekend(then, then + 1)) * math.exp(self.trend * ahead)

    def sigma(self, then: float) -> float:
        """Of the logarithm of what comes until then."""
        days = max((then - self.until) / DAY, 1 / 24)
        variance = _TIED * self.scatter * (1 / days + 1 / self.known) + 0.02**2 * min(days, 14)
        return math.sqrt(math.log1p(variance))


def _logs(ratios: Sequence[float]) -> list[float]:
    floor = 0.2 * sum(ratios) / len(ratios)
    return [math.log(each + floor) if floor else 0.0 for each in ratios]


def _line(figures: Sequence[float]) -> tuple[float, float]:
    """The slope of a line through figures, and the squares of what is off it."""
    count, mean = len(figures), sum(figures) / len(figures)
    spread = count * (count**2 - 1) / 12
    tilt = sum((at - (count - 1) / 2) * each for at, each in enumerate(figures))
    return tilt / spread, sum((each - mean) ** 2 for each in figures) - tilt**2 / spread


def _since_shift(ratios: Sequence[float], is_weekday: Sequence[bool]) -> int:
    """How many of the newest days, at least two, came after the level shifted; all, if it didn't.

    A weekend alone shows none: what weekends differ by is not known well in the first weeks. Nor
    does what a slope explains better.
    """
    count, logs = len(ratios), _logs(ratios)
    plain = [0.0, *accumulate(ratios)]
    sums, squares = [0.0, *accumulate(logs)], sum(each**2 for each in logs)
    sloping = _line(logs)[1] if count >= _TREND_DAYS else math.inf
    worst, kept = 4.0, count
    for new in range(2, count - 1):
        old = count - new
        if not (any(is_weekday[:new]) and any(is_weekday[new:])):
            continue
        newer, older = sums[new] / new, (sums[-1] - sums[new]) / old
        rest = max(0.0, squares - new * newer**2 - old * older**2)
        scatter = (rest + 2 * 0.3**2) / count
        z = abs(newer - older) / math.sqrt(scatter * (1 / new + 1 / old))
        # Nor does one day among them, however dear.
        usual = (plain[-1] - plain[new]) / old
        is_up = plain[new] - max(ratios[:new]) > 1.6 * usual * (new - 1)
        is_down = 1.6 * (plain[new] - min(ratios[:new])) < usual * (new - 1)
        if (is_up or is_down) and rest < sloping and z > worst:
            worst, kept = z, new
    return kept


_TREND_DAYS: Final = 14


def _trend(ratios: Sequence[float]) -> float:
    """Growth a day, as a logarithm: 0 unless 14 days or more show it beyond doubt."""
    count = len(ratios)
    if count < _TREND_DAYS:
        return 0.0
    slope, rest = _line(_logs(ratios))
    doubt = math.sqrt(max(rest, 1e-9) / (count - 2) * 12 / (count * (count**2 - 1)))
    return -min(0.05, max(-0.05, slope)) if abs(slope) > 3.5 * doubt else 0.0


# --- burn ---

_TIERS: Final = (
    ("burn_1h", HOUR, HOUR / 4, 1.0, True),
    ("burn_6h", 6 * HOUR, HOUR / 2, 2.0, True),
    ("burn_24h", DAY, 2 * HOUR, 4.0, False),
)
"""By the factor's setting: long and short window, days within which the money must be gone at that
rate, and if it is critical. After "Alerting on SLOs", chapter 5 of Google's SRE workbook; its tier
of three days is missing, since to spend all of a budget is the plan: there the forecast speaks."""


def burn(past: Spending, period: Period, now: float, limits: AlertLimits) -> Burn | NoData | None:
    """The worst tier that burns; None if none does, NoData if a window was hardly seen."""
    if past.limit is None or past.spent >= past.limit:
        return None  # what is gone can't be saved
    if now - past.limited < _SETTLING:
        return NoData()
    unknown: NoData | None = None
    recent = [flow for flow in past.flows if flow[1] > now - DAY]
    fair, room = past.limit / (period.end - period.start), past.limit - past.spent
    for setting, window, short, within, critical in _TIERS:
        if not is_seen(past.seen, now - window, now):
            unknown = NoData()
            continue
        rate, lately = (summed(recent, now, size, 1)[0] / size for size in (window, short))
        is_fast = min(rate, lately) >= getattr(limits, setting) * fair
        if is_fast and room <= rate * within * DAY and _parts(recent, now - window) >= _EVENTS:
            return Burn(
                factor=rate / fair,
                rate=rate * HOUR,
                gone_in=room / rate,
                critical=critical,
            )
    return unknown


# --- runaway ---

_HABITS: Final = ((1, 4.0), (3, 3.0), (6, 3.0), (24, 2.5))  # hours, and times the mean


def runaway(
    what: str,
    flows: Sequence[Flow],
    seen: Sequence[Span],
    now: float,
    *,
    least: float,
    factor: float,
) -> Runaway | NoData | None:
    """An agent far above its own habit: more than `factor` times the most of two weeks before the
    last day, and well above its mean, by more than `least`. None if it isn't; NoData if less than
    four days are known of it, or of a window less than half.
    """
    begin = max(now - (HABIT + 1) * DAY, seen[0][0] if seen else now)
    hours = int((now - begin) / HOUR)
    if hours < 4 * 24:
        return NoData()
    bins = summed(flows, now, HOUR, hours)
    totals, unknown = [0.0, *accumulate(bins[24:])], None
    for size, times in _HABITS:
        since = now - size * HOUR
        if not is_seen(seen, since, now):
            unknown = NoData()
            continue
        came, mean = sum(bins[:size]), totals[-1] / (hours - 24) * size
        most = max(two - one for one, two in zip(totals, totals[size:], strict=False))
        is_far = came > max(mean + least, times * mean, factor * most)
        if is_far and _parts(flows, since) >= _EVENTS:
            return Runaway(what=what, now=came, most=most, mean=mean, since=(since, now))
    return unknown
