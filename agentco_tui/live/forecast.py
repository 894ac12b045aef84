"""Where a budget is going: the rate, the end of the period as a range, and when the money is gone.

Pure functions of samples; times are seconds since 1970, sums whole units (of money, or tokens).
What they are judged by is `python -m tests.benchmarks.forecast`; docs/forecast.md tells the method.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from agentco_tui.live.history_records import BudgetSample, Span, Track
from agentco_tui.live.period import DAY, HOUR, Period
from agentco_tui.model import AlertLimits

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
    """Of one budget, as of `made`."""

    made: float
    rate: float  # whole units an hour, now
    low: float  # spent at the end of the period: 8 of 10 outcomes lie between low and high
    middle: float
    high: float
    ends: float  # the end of the period
    ends_assumed: bool = False  # True if the platform told no end, and the calendar's is taken
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
    window: float  # seconds of the long window
    rate: float  # whole units an hour in it
    gone_in: float  # seconds until the money is gone at that rate
    critical: bool


class Runaway(msgspec.Struct, frozen=True, kw_only=True):
    """An agent far above its own habit, in one window."""

    what: str  # "cost", "entries" or "failures"
    window: float  # seconds
    now: float  # in the window
    most: float  # the most that it ever was in such a window
    mean: float
    since: Span  # the window


# --- what was spent ---

Flow = tuple[float, float, float]
"""Between when and when how much came; both times are the same where it was seen as it came."""


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """A budget's samples as what came between them."""

    flows: Sequence[Flow]  # oldest first
    seen: Sequence[Span]
    first: float  # since when it is watched
    spent: float  # the figure now
    limit: float | None
    limited: float  # since when that limit is known

    def of_limit(self, limit: Decimal | None, now: float) -> Spending:
        """The same under the limit of now, where that is another than the last sample's."""
        most = None if limit is None or not limit.is_finite() or limit <= 0 else float(limit)
        return self if most == self.limit else replace(self, limit=most, limited=now)


def spending(track: Track[BudgetSample], period: Period) -> Spending | None:
    """What was spent between the samples; None if no sample has a figure.

    What came in a gap is spread over it. A figure that falls to less than a fifth, or at the turn
    of the period, began anew; any other fall is a correction, and a negative flow.
    """
    known = [
        (each.at, float(each.spent))
        for each in track.samples
        if each.spent is not None and each.spent.is_finite()
    ]
    if not known:
        return None
    flows: list[Flow] = []
    (first, figure), seen, at_span = known[0], track.seen, 0
    if period.start_told and first > period.start:
        flows.append((period.start, first, figure))
    for (before, old), (at, new) in pairwise(known):
        while at_span < len(seen) - 1 and seen[at_span + 1][0] <= at:
            at_span += 1
        begin = at
        # Samples are thinned to hours as they get older, so the first after a gap may be late.
        if at_span and before < seen[at_span][0] and at - seen[at_span][0] <= HOUR:
            begin = max(before, min(at, seen[at_span - 1][1]))
        amount = new - old
        if new < old and (new < _RESET * old or before < period.start <= at):
            amount = new
            if before < period.start <= at:
                begin = max(begin, period.start)
        if amount:
            flows.append((begin, at, amount))
    limits = [(each.at, each.limit) for each in track.samples]
    changed = (after for (_, one), (after, two) in pairwise(limits) if one != two)
    since, spent = max(changed, default=-math.inf), known[-1][1]
    found = Spending(
        flows=flows, seen=seen, first=first, spent=spent, limit=None, limited=-math.inf
    )
    return found.of_limit(limits[-1][1], since)


def summed(flows: Iterable[Flow], until: float, size: float, count: int) -> list[float]:
    """What came in each of `count` slots of so many seconds, counted back from `until`."""
    sums, begin = [0.0] * count, until - size * count
    for came, at, amount in flows:
        if at <= begin or came > until:
            continue
        if came == at:
            sums[min(count - 1, int((until - at) / size))] += amount
            continue
        each = amount / (at - came)
        for slot in range(
            max(0, int((until - at) / size)), min(count, int((until - came) / size) + 1)
        ):
            end = until - slot * size
            sums[slot] += each * max(0.0, min(at, end) - max(came, end - size))
    return sums


def is_seen(seen: Sequence[Span], since: float, until: float) -> bool:
    """Whether at least half of a window was seen."""
    watched = sum(max(0.0, min(until, end) - max(since, start)) for start, end in seen)
    return watched >= (until - since) / 2


# --- the forecast ---

_CELL, _CELLS = 6 * HOUR, 240  # steps in which what is to come is summed up, and their most
_SHIFT_Z, _SHIFT_RATIO = 4.0, 1.6  # from where on it is one


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
    begin = min(past.first, past.flows[0][0]) if past.flows else past.first
    count = min(PAST, int((made - begin) / DAY))
    days = summed((flow for flow in past.flows if flow[2] > 0), made, DAY, count)
    gross = sum(days)
    taken_back = -sum(amount for _, at, amount in past.flows if amount < 0 and at > begin)
    net = max(0.0, 1 - 0.5 * taken_back / gross) if gross else 0.0
    path = _Path(days, made)
    spent = past.spent if made >= period.start else 0.0
    start = max(made, period.start)
    steps = min(_CELLS, max(1, math.ceil((period.end - start) / _CELL)))
    length = max(0.0, period.end - start) / steps
    sums = [
        *accumulate(net * length / DAY * path.at(start + (n + 0.5) * length) for n in range(steps))
    ]
    left, sigma = sums[-1], path.sigma((period.end - made) / DAY)
    spread = math.exp(_Z * sigma)
    hit, gone = None, None
    if past.limit is not None:
        room = past.limit - spent
        hit = 1.0 if room <= 0 else 0.0
        if room > 0 and left > 0:
            hit = (1 + math.erf(math.log(left / room) / sigma / math.sqrt(2))) / 2
            on = limits.forecast_off if shown else limits.forecast_on
            if hit * 100 >= on:

                def crossed(z: float) -> float:
                    for number, total in enumerate(sums, 1):
                        then = start + number * length
                        if total * math.exp(z * path.sigma((then - made) / DAY)) >= room:
                            return then - length / 2
                    return period.end

                gone = crossed(_Z), crossed(0.0), crossed(-_Z)
    return Forecast(
        made=now,
        rate=_rate(past, made),
        low=spent + left / spread,
        middle=spent + left,
        high=spent + left * spread,
        ends=period.end,
        ends_assumed=not period.end_told,
        early=watched < 7 * DAY,
        hit=hit,
        gone=gone,
    )


def _rate(past: Spending, now: float) -> float:
    """Units an hour in the last hour; in the last 6, or 24, where few things happened in less."""
    for hours in (1, 6, 24):
        came = [flow for flow in past.flows if flow[1] > now - hours * HOUR and flow[2] > 0]
        if len(came) >= _EVENTS:
            break
    return summed(came, now, hours * HOUR, 1)[0] / hours


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
        shares = [_weekend(until - (age + 1) * DAY, until - age * DAY) for age in range(7)]
        mean = sum(days) / len(days)
        cells = [mean, mean]  # a weekday and a day of a weekend, each begun with one usual day
        weights = [1.0, 1.0]
        for age, day in enumerate(days):
            weight, share = 0.5 ** (age / 30), shares[age % 7]
            for cell, part in enumerate((1 - share, share)):
                cells[cell] += weight * part * day
                weights[cell] += weight * part
        self.profile = [
            (cell / weight / mean if mean else 1.0)
            for cell, weight in zip(cells, weights, strict=True)
        ]
        usual = [max(0.05, self._profile(shares[age % 7])) for age in range(len(days))]
        ratios = [day / each for day, each in zip(days, usual, strict=True)]
        kept = _since_shift(ratios, [shares[age % 7] < 0.5 for age in range(len(days))])
        ratios, days, usual = ratios[:kept], days[:kept], usual[:kept]
        weights = [0.5 ** (age / 21) for age in range(kept)]
        total = sum(weight * each for weight, each in zip(weights, usual, strict=True))
        self.level = sum(weight * day for weight, day in zip(weights, days, strict=True)) / total
        self.trend = _trend(ratios)
        if self.trend:
            # The level is that of the middle of what it was taken from.
            middle = sum(w * age for age, w in enumerate(weights)) / sum(weights)
            self.level *= math.exp(self.trend * middle)
        self.known = sum(weights) ** 2 / sum(weight**2 for weight in weights)
        off = [
            each / self.level - 1 if not self.trend else each / _mean(ratios) - 1
            for each in ratios
            if self.level
        ]
        squares = sum(each**2 for each in off)
        self.scatter = (squares + 2 * 0.45**2) / (len(off) + 2)
        paired = sum(one * two for one, two in pairwise(off))
        tied = (paired / squares * len(off) + 10 * 0.3) / (len(off) + 10) if squares else 0.3
        self.tied = min(0.8, max(0.0, tied))

    def _profile(self, weekend: float) -> float:
        return self.profile[0] * (1 - weekend) + self.profile[1] * weekend

    def at(self, then: float) -> float:
        """What a day costs then."""
        ahead = min(30.0, (then - self.until) / DAY)
        return self.level * self._profile(_weekend(then, then + 1)) * math.exp(self.trend * ahead)

    def sigma(self, days: float) -> float:
        """Of the logarithm of what the next so many days cost together."""
        days = max(days, 1 / 24)
        tied = (1 + self.tied) / (1 - self.tied)
        variance = tied * self.scatter * (1 / days + 1 / self.known) + 0.02**2 * min(days, 14)
        return math.sqrt(math.log1p(variance))


def _mean(figures: Sequence[float]) -> float:
    return sum(figures) / len(figures)


def _since_shift(ratios: Sequence[float], is_weekday: Sequence[bool]) -> int:
    """How many of the newest days, at least two, came after the level shifted; all, if it didn't.

    A weekend alone shows none: what weekends differ by is not known well in the first weeks. Nor
    does what a slope explains better.
    """
    count, floor = len(ratios), 0.2 * _mean(ratios)
    if count < 3 or not floor:
        return count
    logs = [math.log(each + floor) for each in ratios]
    sums, squares = [0.0, *accumulate(logs)], [0.0, *accumulate(each**2 for each in logs)]
    worst, kept, sloping = 0.0, count, math.inf
    if count >= 14:
        ages = range(count)
        mid = (count - 1) / 2
        around = squares[-1] - sums[-1] ** 2 / count
        tilt = sum((age - mid) * each for age, each in zip(ages, logs, strict=True))
        sloping = around - tilt**2 / (count * (count**2 - 1) / 12)
    plain = [0.0, *accumulate(ratios)]
    for new in range(2, count - 1):
        old = count - new
        if not (any(is_weekday[:new]) and any(is_weekday[new:])):
            continue
        newer, older = sums[new] / new, (sums[-1] - sums[new]) / old
        rest = squares[-1] - new * newer**2 - old * older**2
        scatter = (max(0.0, rest) + 2 * 0.3**2) / count
        z = abs(newer - older) / math.sqrt(scatter * (1 / new + 1 / old))
        # Nor does one day among them, however dear.
        most, least = max(ratios[:new]), min(ratios[:new])
        usual = (plain[-1] - plain[new]) / old
        is_up = (plain[new] - most) / (new - 1) > _SHIFT_RATIO * usual
        is_down = _SHIFT_RATIO * (plain[new] - least) / (new - 1) < usual
        if (is_up or is_down) and rest < sloping and z > max(worst, _SHIFT_Z):
            worst, kept = z, new
    return kept


def _trend(ratios: Sequence[float]) -> float:
    """Growth a day, as a logarithm: 0 unless 14 days or more show it beyond doubt.

    The test is Mann and Kendall's, the slope Theil and Sen's, which no single day can bend.
    """
    count = len(ratios)
    if count < 14:
        return 0.0
    rises = sum(
        (newer > older) - (newer < older)
        for at, newer in enumerate(ratios)
        for older in ratios[at + 1 :]
    )
    if abs(rises) / math.sqrt(count * (count - 1) * (2 * count + 5) / 18) < 3:
        return 0.0
    floor = 0.05 * _mean(ratios)
    logs = [math.log(each + floor) for each in ratios]
    slopes = sorted(
        (newer - older) / (after - at)
        for at, newer in enumerate(logs)
        for after, older in enumerate(logs[at + 1 :], at + 1)
    )
    return min(0.05, max(-0.05, 0.8 * slopes[len(slopes) // 2]))


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
    recent = [flow for flow in past.flows if flow[1] > now - DAY and flow[2] > 0]
    fair, room = past.limit / (period.end - period.start), past.limit - past.spent
    for setting, window, short, within, critical in _TIERS:
        if not is_seen(past.seen, now - window, now):
            unknown = NoData()
            continue
        rates = [summed(recent, now, size, 1)[0] / size for size in (window, short)]
        events = sum(flow[1] > now - window for flow in recent)
        factor = rates[0] / fair
        if min(rates) < getattr(limits, setting) * fair or events < _EVENTS:
            continue
        gone_in = room / rates[0]
        if gone_in <= within * DAY:
            rate = rates[0] * HOUR
            return Burn(factor=factor, window=window, rate=rate, gone_in=gone_in, critical=critical)
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
    three days are known of it, or of a window less than half.
    """
    begin = max(now - (HABIT + 1) * DAY, seen[0][0] if seen else now)
    hours = int((now - begin) / HOUR)
    if hours < 4 * 24:
        return NoData()
    rising = [flow for flow in flows if flow[2] > 0]
    bins = summed(rising, now, HOUR, hours)
    unknown: NoData | None = None
    for size, times in _HABITS:
        since = now - size * HOUR
        if not is_seen(seen, since, now):
            unknown = NoData()
            continue
        came, habit = sum(bins[:size]), bins[24:]
        mean = _mean(habit) * size
        if came - mean <= least or came <= times * mean:
            continue
        totals = [0.0, *accumulate(habit)]
        most = max(two - one for one, two in zip(totals, totals[size:], strict=False))
        if came > factor * most and sum(flow[1] > since for flow in rising) >= _EVENTS:
            return Runaway(
                what=what, window=size * HOUR, now=came, most=most, mean=mean, since=(since, now)
            )
    return unknown
