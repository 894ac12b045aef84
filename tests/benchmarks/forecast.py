"""How good forecasts, burn alerts and runaways are: a backtest on made-up months.

    python -m tests.benchmarks.forecast [--seeds N] [--choosing] [--part forecast|alerts|minutes]

Twelve kinds of series of 60 days (the month before, and the one that is judged), each seen every
five minutes but for gaps. What was picked by looking was picked on the seeds of `--choosing`; those
that are judged by default are others. What is run is the product's own: samples in, forecasts out.
"""

from __future__ import annotations

import argparse
import math
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from random import Random
from statistics import median

import msgspec

from agentco_tui.config import AlertLimits
from agentco_tui.history import forecast as product
from agentco_tui.history.forecast import Forecast
from agentco_tui.history.observations import BudgetSample, Span, Track
from agentco_tui.history.spending import Spending, spending_of
from agentco_tui.history.spending_alarms import Burn, Runaway, burn, runaway
from agentco_tui.live import spend_rate as product_rate
from agentco_tui.live.spend_rate import Flow
from agentco_tui.model.period import Period

HOUR, DAY = 3_600.0, 86_400.0
STEP = 300.0
START = datetime(2026, 6, 1, tzinfo=UTC).timestamp()  # a Monday
MONTH = Period(START, START + 30 * DAY)
STEPS = int(DAY / STEP)
KINDS = (
    *("steady", "bursty", "weekly", "step", "reset", "limit", "sparse", "growth"),
    *("runaway", "corrected", "gaps", "platform"),
)
HABITS = ("steady", "bursty", "weekly", "sparse")
CHOOSING, JUDGING = 0, 10_000  # the first seed of each
LIMITS = AlertLimits()


@dataclass
class Series:
    """One budget over 60 days, the last 30 of them the month that is judged."""

    kind: str
    costs: list[float]  # what was spent in each step
    figures: list[float]  # what the platform told at the end of each step
    limits: list[float]
    seen: list[bool]
    event: float | None = None  # when what nobody can foresee happened
    event_of_limit: float = math.inf  # when the limit was changed
    samples: list[BudgetSample] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    final: float = 0.0  # spent at the end of the month
    hit: float | None = None  # when the limit was reached

    def track(self, now: float, since: float) -> Track[BudgetSample]:
        """What the history has of it: hourly samples but for the last day's, and when it looked."""
        first = bisect_right(self.times, since)
        detailed = bisect_right(self.times, now - DAY)
        last = bisect_right(self.times, now)
        old = self.samples[first:detailed]
        hourly = [one for one, two in pairwise(old) if one.at // HOUR != two.at // HOUR]
        spans = tuple((max(since, a), min(now, b)) for a, b in self.spans if b > since and a <= now)
        return Track((*hourly, *old[-1:], *self.samples[detailed:last]), spans)


def _noise(random: Random, days: int, spread: float, tied: float) -> list[float]:
    """A factor for each day, each like the one before to some degree."""
    found, now = [], random.gauss(0, spread)
    for _ in range(days):
        found.append(math.exp(now - spread**2 / 2))
        now = tied * now + random.gauss(0, spread * math.sqrt(1 - tied**2))
    return found


def costs_of(habit: str, random: Random) -> list[float]:
    """60 days of an agent with such a habit; about 1 a day."""
    costs = [0.0] * (60 * STEPS)

    def job(at: float, size: float) -> None:
        if 0 <= at < len(costs):
            costs[int(at)] += size

    if habit == "steady":
        for day, factor in enumerate(_noise(random, 60, 0.12, 0.4)):
            for step in range(STEPS):
                if random.random() < 0.6:
                    job(day * STEPS + step, factor * random.expovariate(1) / STEPS / 0.6)
    elif habit == "weekly":
        for day, factor in enumerate(_noise(random, 60, 0.3, 0.3)):
            busy = 0.06 if day % 7 in WEEKEND else 1.0
            for step in range(8 * 12, 18 * 12):
                if random.random() < 0.5 * busy:
                    job(day * STEPS + step, factor * random.lognormvariate(-0.5, 1) / 60)
    elif habit == "sparse":
        for day, factor in enumerate(_noise(random, 60, 0.2, 0.3)):
            rate = 3.0 * factor * (0.5 if day % 7 in WEEKEND else 1.2)
            at = random.expovariate(rate)
            while at < 1:
                job((day + at) * STEPS, random.lognormvariate(-0.32, 0.8) / 3)
                at += random.expovariate(rate)
    else:  # bursty: hours of work in which much is spent, with quiet between
        at = random.expovariate(1)
        while at < 60:
            steps = int(random.uniform(1, 6) * 12)
            size = 0.9 * random.lognormvariate(-0.3, 0.8) / steps
            for step in range(steps):
                job(at * STEPS + step, size * random.expovariate(1))
            at += random.expovariate(1.1) + steps / STEPS
        for step in range(len(costs)):
            if random.random() < 0.1:
                costs[step] += 0.1 / STEPS / 0.1 * random.expovariate(1)
    return costs


WEEKEND = (35 % 7, 36 % 7)
"""Days of the series that are Saturdays and Sundays, its 30th being a Monday."""


def make(kind: str, seed: int) -> Series:
    random = Random(f"{kind}{seed}")
    habit = kind if kind in HABITS else random.choice(HABITS)
    if kind == "platform":
        parts = [costs_of(random.choice(HABITS), random) for _ in range(20)]
        sizes = [random.lognormvariate(0, 1) for _ in parts]
        costs = [
            sum(size * step for size, step in zip(sizes, steps, strict=True))
            for steps in zip(*parts, strict=True)
        ]
    else:
        costs = costs_of(habit, random)
    scale = random.lognormvariate(3, 1.5)
    costs = [cost * scale for cost in costs]
    usual = sum(costs) / 2
    event: int | None = None
    if kind == "growth":
        a_day = math.log(random.uniform(1.02, 1.05))
        costs = [cost * math.exp(a_day * (n / STEPS - 30)) for n, cost in enumerate(costs)]
    if kind in ("step", "runaway", "reset", "limit"):
        event = int((30 + random.uniform(3, 20)) * STEPS)
    if kind in ("step", "runaway"):
        # More jobs, not dearer ones: what runs away runs in a loop.
        times = 10 if kind == "runaway" else random.choice((0, 2, 2, 3))
        more = [costs_of(habit, random) for _ in range(times - 1)]
        begins = event or 0
        while times == 10 and not any(each[begins] for each in more):
            begins += 1  # a runaway begins with the first job too many
        event = begins
        for n in range(begins, len(costs)):
            costs[n] = costs[n] + scale * sum(each[n] for each in more) if times else 0.3 * costs[n]
    limit = usual * random.lognormvariate(0 if kind == "runaway" else 0.25, 0.35)
    if kind == "growth":
        limit *= 1.5
    limits = [limit] * len(costs)
    if kind == "limit":
        after = limit * random.choice((0.6, 0.75, 1.3, 1.6))
        limits = [after if n >= (event or 0) else limit for n in range(len(costs))]
    figures, figure = [], 0.0
    corrections = set[int]()
    if kind == "corrected":
        corrections = {int(random.uniform(0, 60) * STEPS) for _ in range(random.randint(4, 10))}
    for n, cost in enumerate(costs):
        if n == 30 * STEPS or (kind == "reset" and n == event):
            figure = 0.0
        if n in corrections:
            figure *= 1 - random.uniform(0.02, 0.12)
        figure += cost
        figures.append(figure)
    seen = [True] * len(costs)
    for _ in range(random.randint(8, 20)):
        gap = int(random.uniform(0, 60) * STEPS)
        for n in range(gap, min(len(seen), gap + int(random.uniform(1, 6) * 12))):
            seen[n] = False
    if kind == "gaps":
        for day in range(60):
            off = random.random() < 0.8 if day % 7 in WEEKEND else False
            for step in range(STEPS):
                if off or not 8 * 12 <= step < 19 * 12:
                    seen[day * STEPS + step] = False
    series = Series(kind, costs, figures, limits, seen)
    if event is not None:
        setattr(
            series,
            "event_of_limit" if kind == "limit" else "event",
            START + (event / STEPS - 30) * DAY,
        )
    return _watched(series)


def _watched(series: Series) -> Series:
    before: tuple[float, float] | None = None
    begin: float | None = None
    at = START - 30 * DAY
    for figure, limit, seen in zip(series.figures, series.limits, series.seen, strict=True):
        at += STEP
        if seen:
            begin = at if begin is None else begin
            if (figure, limit) != before:
                before = figure, limit
                sample = BudgetSample(at, Decimal(f"{figure:.4f}"), Decimal(f"{limit:.2f}"))
                series.samples.append(sample)
        elif begin is not None:
            series.spans.append((begin, at - STEP))
            begin = None
        if series.hit is None and at > START and figure >= limit:
            series.hit = at
    if begin is not None:
        series.spans.append((begin, at))
    series.times = [sample.at for sample in series.samples]
    series.final = series.figures[-1]
    return series


def spending_at(series: Series, now: float, since: float) -> Spending | None:
    track = series.track(now, since)
    return spending_of(track, MONTH, track.samples[-1].limit, now) if track.samples else None


# --- what is measured ---


@dataclass
class Told:
    """What was forecast of one series on one day, beside what came."""

    kind: str
    day: int
    warm: bool
    truth: float
    found: Forecast
    month_to_date: float
    limit: float
    hit: float | None  # when the limit was reached


def forecasts(series: Series, *, warm: bool, days: Sequence[int]) -> Iterator[Told]:
    shown = False
    since = START - 30 * DAY if warm else START
    for day in days:
        now = START + day * DAY
        past = spending_at(series, now, since)
        if past is None:
            continue
        found = product.forecast(past, MONTH, now, LIMITS, is_date_shown=shown)
        if not isinstance(found, Forecast):
            continue
        shown = found.gone is not None
        if series.event is not None and series.event > now - DAY:
            continue
        limit = past.limit or math.inf
        month_to_date = past.spent * 30 / day
        yield Told(series.kind, day, warm, series.final, found, month_to_date, limit, series.hit)


@dataclass
class Alerts:
    """What the alerts said of one series."""

    kind: str
    weeks: float
    false_burns: int = 0
    false_runaways: int = 0


def alerts(series: Series) -> Alerts:
    """Look every ten minutes, every half hour for runaways, from the start of the month to where
    the limit or a runaway comes. What goes and comes back within a day is one.
    """
    end = min(series.hit or MONTH.end, MONTH.end)
    if series.kind == "runaway":
        end = min(end, series.event or end)
    result = Alerts(series.kind, (end - START) / DAY / 7)
    samples = tuple(series.samples)
    whole = spending_of(Track(samples, tuple(series.spans)), MONTH, samples[-1].limit, end)
    assert whole is not None
    came = [flow[1] for flow in whole.flows]
    burned = ran = last = -math.inf
    for index in range(bisect_right(came, START), bisect_right(came, end)):
        now = came[index]
        if now - last < 600:
            continue
        last = now
        at = bisect_right(series.times, now) - 1
        sample = series.samples[at]
        limit = float(sample.limit or 0)
        limited = series.event_of_limit if series.event_of_limit <= now else -math.inf
        day = bisect_right(came, now - DAY)
        past = msgspec.structs.replace(
            whole,
            flows=whole.flows[day : index + 1],
            spent=float(sample.spent or 0),
            limit=limit,
            limit_since=limited,
        )
        if isinstance(burn(past, MONTH, now, LIMITS), Burn):
            result.false_burns += now - burned > DAY and series.hit is None
            burned = now
    for tick in range(int((end - START) / 1800)):
        now = START + tick * 1800
        index = bisect_right(came, now)
        # Only what was spent can be a runaway.
        if came[index - 1] < now - 1800:
            continue
        flows = hourly(whole.flows, came, now)
        least = 0.02 * series.limits[0]
        found = runaway("cost", flows, whole.seen, now, least=least, factor=LIMITS.runaway)
        if isinstance(found, Runaway):
            result.false_runaways += now - ran > DAY
            ran = now
    return result


def hourly(flows: Sequence[Flow], came: Sequence[float], now: float) -> list[Flow]:
    """What of 15 days a detector is given: older than a day as one flow an hour."""
    first, day, last = (bisect_right(came, at) for at in (now - 15 * DAY, now - DAY, now))
    folded: list[Flow] = []
    for begin, at, amount in flows[first:day]:
        if folded and begin == at and folded[-1][1] // HOUR == at // HOUR and amount > 0:
            folded[-1] = (folded[-1][0], folded[-1][1], folded[-1][2] + amount)
        else:
            folded.append((begin, at, amount))
    return [*folded, *flows[day:last]]


@dataclass
class Caught:
    """When a runaway was told, in seconds from its onset; None if never before the limit."""

    burned: float | None
    ran: float | None
    left: float  # from the onset to the limit

    @property
    def told(self) -> float | None:
        return min((at for at in (self.burned, self.ran) if at is not None), default=None)


def caught(series: Series) -> Caught | None:
    """What was told of a runaway that reaches the limit, looking every ten minutes; what burned
    before already tells nobody of it.
    """
    if series.event is None or series.hit is None or series.hit <= series.event:
        return None
    result = Caught(None, None, series.hit - series.event)
    burned_before = ran_before = True
    now = series.event - 600
    while now < series.hit and (result.burned is None or result.ran is None):
        past = spending_at(series, now, now - 16 * DAY)
        assert past is not None
        least = 0.02 * (past.limit or 0)
        burns = isinstance(burn(past, MONTH, now, LIMITS), Burn)
        found = runaway("cost", past.flows, past.seen, now, least=least, factor=LIMITS.runaway)
        runs = isinstance(found, Runaway)
        if now > series.event:
            if burns and not burned_before and result.burned is None:
                result.burned = now - series.event
            if runs and not ran_before and result.ran is None:
                result.ran = now - series.event
        burned_before, ran_before = burns, runs
        now += 600
    return result


# --- the report ---

DAYS = (3, 7, 15, 22)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def middle(figures: Sequence[float]) -> float:
    return median(figures) if figures else math.nan


def share(figures: Sequence[bool]) -> float:
    return 100 * sum(figures) / len(figures) if figures else math.nan


def error(told: Told, figure: float) -> float:
    return 100 * abs(figure - told.truth) / told.truth if told.truth else 0.0


class Report:
    def __init__(self) -> None:
        self.missed = 0

    def target(self, what: str, figure: float, low: float, high: float, unit: str = "") -> None:
        is_met = low <= figure <= high
        self.missed += not is_met
        wished = f"at most {high:g}" if low <= 0 else f"at least {low:g}"
        if low > 0 and high < math.inf:
            wished = f"{low:g} to {high:g}"
        say(f"  {'met   ' if is_met else 'MISSED'} {what}: {figure:.2f}{unit} (wished: {wished})")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=48, help="series of each kind")
    parser.add_argument("--choosing", action="store_true", help="the seeds for choosing")
    parser.add_argument("--part", choices=("forecast", "alerts", "minutes"), help="only this part")
    given = parser.parse_args(arguments)
    first = CHOOSING if given.choosing else JUDGING
    seeds, report = range(first, first + given.seeds), Report()
    if given.part in (None, "forecast"):
        report_forecasts(report, seeds)
    if given.part in (None, "alerts"):
        report_alerts(report, seeds)
    if given.part in (None, "minutes"):
        report_minutes(report, seeds)
    say(f"{report.missed} targets missed" if report.missed else "all targets met")
    return 1 if report.missed else 0


def report_forecasts(report: Report, seeds: Sequence[int]) -> None:
    told: list[Told] = []
    never, leads, shown_days, covered, off = 0, list[float](), list[bool](), list[bool](), []
    plain_days, plain_leads = list[bool](), list[float]()  # by month to date
    for kind in KINDS:
        for seed in seeds:
            series = make(kind, seed)
            told += forecasts(series, warm=False, days=DAYS)
            daily = [*forecasts(series, warm=True, days=range(2, 30))]
            told += (each for each in daily if each.day in DAYS)
            if series.hit is None:
                shown_days += (each.found.gone is not None for each in daily)
                plain_days += (each.month_to_date > each.limit for each in daily)
            elif kind != "runaway":
                before = [each for each in daily if START + each.day * DAY < series.hit]
                dates = [each for each in before if each.found.gone]
                plain = [each.day for each in before if each.month_to_date > each.limit]
                plain_leads += [(series.hit - START) / DAY - day for day in plain[:1]]
                never += not dates
                if dates:
                    leads.append((series.hit - START) / DAY - dates[0].day)
                for each in dates:
                    earliest, likely, latest = each.found.gone or (0, 0, 0)
                    covered.append(earliest <= series.hit <= latest)
                    off.append(abs(likely - series.hit) / (series.hit - START - each.day * DAY))
    for warm in (True, False):
        which = "with" if warm else "without"
        say(f"median error in % of the month's end, {which} the month before")
        say(" " * 10 + "".join(f"  day {day:2} (month to date)" for day in DAYS))
        for kind in (*KINDS, "pooled"):
            cells = []
            for day in DAYS:
                of = [
                    each
                    for each in told
                    if each.warm is warm and each.day == day and kind in (each.kind, "pooled")
                ]
                ours = middle([error(each, each.found.middle) for each in of])
                theirs = middle([error(each, each.month_to_date) for each in of])
                cells.append(f"{ours:8.1f} ({theirs:13.1f})")
                if kind == "pooled":
                    wished = {3: 0.5, 7: 0.75, 15: 0.7, 22: 0.7}[day] if warm else 1.1
                    cells.append("")
                    RATIOS[warm, day] = ours / theirs, wished
            say(f"{kind:10}" + "".join(cells))
        for day in DAYS:
            ratio, wished = RATIOS[warm, day]
            report.target(f"error against month-to-date on day {day}", ratio, 0, wished)
        for day in DAYS:
            of = [each for each in told if each.warm is warm and each.day == day]
            held = [each.found.low <= each.truth <= each.found.high for each in of]
            widths = [100 * (e.found.high - e.found.low) / e.truth for e in of if e.truth]
            say(f"  the range on day {day} holds {share(held):.0f} %, {middle(widths):.0f} % wide")
        of, cells = [each for each in told if each.warm is warm], []
        for kind in KINDS:
            held = [e.found.low <= e.truth <= e.found.high for e in of if e.kind == kind]
            cells.append(f"{kind} {share(held):.0f}")
        say("  within the range, by kind, %: " + ", ".join(cells))
        held = [each.found.low <= each.truth <= each.found.high for each in of]
        if warm:
            report.target("outcomes within the 80 % range", share(held), 75, 88, " %")
        else:
            say(f"  outcomes within the 80 % range: {share(held):.0f} %")
    report.target("moments within their range", share(covered), 75, 88, " %")
    report.target("days with a date, of limits never hit", share(shown_days), 0, 1.5, " %")
    report.target("median lead of a date", middle(leads), 10, math.inf, " days")
    say(
        f"  by month to date: {share(plain_days):.1f} % of those days, "
        f"a lead of {middle(plain_leads):.1f} days"
    )
    say(
        f"  never told before: {never} of {never + len(leads)}; median error of the moment "
        f"{100 * middle(off):.0f} % of the time left"
    )


RATIOS: dict[tuple[bool, int], tuple[float, float]] = {}


def report_alerts(report: Report, seeds: Sequence[int]) -> None:
    some = seeds[: max(1, len(seeds) // 4)]
    found = [alerts(make(kind, seed)) for kind in KINDS for seed in some]
    for kind in KINDS:
        of = [each for each in found if each.kind == kind]
        weeks = sum(each.weeks for each in of)
        burns, runs = sum(e.false_burns for e in of), sum(e.false_runaways for e in of)
        say(f"  {kind:10} false burns {burns / weeks:.2f}, runaways {runs / weeks:.2f} a week")
    all_weeks = sum(each.weeks for each in found)
    report.target("false burns a week", sum(e.false_burns for e in found) / all_weeks, 0, 0.2)
    say(f"  false runaways a week: {sum(e.false_runaways for e in found) / all_weeks:.2f}")
    away = [each for seed in seeds if (each := caught(make("runaway", seed))) is not None]
    hours = sorted((each.told or math.inf) / HOUR for each in away)
    report.target(
        "runaways told before the limit", share([h < math.inf for h in hours]), 95, math.inf, " %"
    )
    report.target("half of them told within", middle(hours), 0, 4, " h")
    for name in ("burned", "ran"):
        these = sorted((getattr(each, name) or math.inf) / HOUR for each in away)
        say(f"  {name}: {share([h < math.inf for h in these]):.0f} %, median {middle(these):.1f} h")
    say(f"  of {len(away)}; from onset to limit {middle([e.left / HOUR for e in away]):.0f} h")


# --- the alarm of the last minutes, by the polls alone ---

POLL = 15.0  # seconds between two polls of agents' budgets
RESTART = 8 * HOUR  # seconds after which another dashboard begins, and knows nothing
NOT_SOON = 3 * HOUR  # an alarm is false unless the limit is reached within so many seconds
PRIYA_FROM, PRIYA_LIMIT, PRIYA_LASTS = 129.0, 600.0, 24 * 60.0


@dataclass
class Alarms:
    """What the alarm of the last minutes said of one series."""

    kind: str
    weeks: float
    raised: int = 0
    false: int = 0


def polled(costs: Sequence[float], random: Random) -> Iterator[tuple[int, float]]:
    """The polls at which a figure changes, counted from the start, and what came until then.

    What was spent in a step of five minutes comes in one to four amounts at moments within it.
    """
    polls_per_step = int(STEP / POLL)
    for step, cost in enumerate(costs):
        if cost <= 0:
            continue
        count = random.randint(1, 4)
        moments = sorted(random.randrange(polls_per_step) for _ in range(count))
        weights = [random.expovariate(1) for _ in moments]
        total = sum(weights)
        for moment, weight in zip(moments, weights, strict=True):
            yield step * polls_per_step + moment, cost * weight / total


def lumps(random: Random) -> list[float]:
    """A month of long runs whose cost is booked at their end: each 1 to 6 % of a month's."""
    costs = [0.0] * (30 * STEPS)
    at = random.expovariate(1.2)
    while at < 30:
        costs[int(at * STEPS)] += random.uniform(0.01, 0.06) * 30
        at += random.expovariate(1.2)
    return costs


def minutes_of(
    kind: str,
    costs: Sequence[float],
    limit: float,
    random: Random,
    *,
    period: float = 30 * DAY,
    seen: Sequence[bool] | None = None,
) -> Alarms:
    """Poll a series until its limit is reached, with a new dashboard every eight hours."""
    result = Alarms(kind, len(costs) * STEP / DAY / 7)
    figure = 0.0
    poll_before = -1
    series: product_rate.SpendSeries | None = None
    started = -math.inf
    standing = False
    raised_at: float | None = None
    spent_up = False
    for poll, amount in polled(costs, random):
        at = poll * POLL
        if at // period != poll_before * POLL // period:
            figure = 0.0
            spent_up = False
            raised_at = None
        confirmed_at = at - POLL
        if seen is not None and not seen[poll // int(STEP / POLL)]:
            figure += amount
            continue
        figure += amount
        if figure >= limit and not spent_up:
            spent_up = True
            if raised_at is not None and at - raised_at <= NOT_SOON:
                result.false -= 1
        poll_before = poll
        if at - started >= RESTART:
            series = product_rate.SpendSeries(confirmed_at, figure - amount)
            started = at
            standing = False
        assert series is not None
        if seen is not None and not seen[max(0, int((at - POLL) // STEP))]:
            confirmed_at = series.at
        series.add(confirmed_at, at, figure)
        if spent_up:
            continue
        found = product_rate.fast_spend(
            series.flows,
            series.watched_since,
            figure,
            limit,
            at,
            period=period,
            period_left=period - at % period,
            standing=standing,
        )
        if found is not None and not standing and (raised_at is None or at - raised_at > HOUR):
            result.raised += 1
            result.false += 1
            raised_at = at
        standing = found is not None
    return result


def minutes_to_name_priya(random: Random, watched_before: float, poll: float) -> float:
    """Minutes from the first entry too many until the alarm; inf if it never comes.

    She spends her limit from $129 to $600 within 24 minutes, in amounts of about $1.50, and is
    watched from `watched_before` seconds before that on: 0 is a dashboard that begins with it.
    """
    entries = 314
    apart = PRIYA_LASTS / entries
    moments = [entry * apart * random.uniform(0.9, 1.1) for entry in range(entries)]
    amount = (PRIYA_LIMIT - PRIYA_FROM) / entries
    series = product_rate.SpendSeries(-watched_before, PRIYA_FROM)
    at = -watched_before
    while at < PRIYA_LASTS:
        before = at
        at += poll * random.uniform(0.9, 1.1)
        figure = PRIYA_FROM + amount * sum(moment <= at for moment in moments)
        if figure == series.spent:
            continue
        series.add(before, at, figure)
        found = product_rate.fast_spend(
            series.flows,
            series.watched_since,
            figure,
            PRIYA_LIMIT,
            at,
            period=30 * DAY,
            period_left=11 * DAY,
        )
        if found is not None:
            return at / 60
    return math.inf


def report_minutes(report: Report, seeds: Sequence[int]) -> None:
    some = seeds[: max(1, len(seeds) // 4)]
    found: list[Alarms] = []
    for kind in KINDS:
        for seed in some:
            whole = make(kind, seed)
            begins = 30 * STEPS
            costs = whole.costs[begins:]
            if whole.event is not None and kind == "runaway":
                costs = costs[: int((whole.event - START) / STEP)]
            limit = whole.limits[begins]
            random = Random(f"minutes {kind}{seed}")
            found.append(minutes_of(kind, costs, limit, random, seen=whole.seen[begins:]))
    for seed in some:
        random = Random(f"minutes more {seed}")
        found.append(minutes_of("lumps", lumps(random), 30 * random.uniform(0.7, 1.5), random))
        for habit in HABITS:
            costs = costs_of(habit, random)[: 30 * STEPS]
            limit = random.lognormvariate(0.25, 0.35)
            found.append(minutes_of(f"daily {habit}", costs, limit, random, period=DAY))
    for kind in dict.fromkeys(each.kind for each in found):
        of_kind = [each for each in found if each.kind == kind]
        weeks = sum(each.weeks for each in of_kind)
        raised = sum(each.raised for each in of_kind) / weeks
        false = sum(each.false for each in of_kind) / weeks
        say(f"  {kind:13} alarms of the last minutes {raised:.3f}, false {false:.3f} a week")
    monthly = [each for each in found if not each.kind.startswith("daily")]
    for name, of_these in (("monthly limits", monthly), ("all limits", found)):
        weeks = sum(each.weeks for each in of_these)
        false = sum(each.false for each in of_these) / weeks
        report.target(f"false alarms of the last minutes a week, {name}", false, 0, 0.2)
    for name, before, poll, wished in (
        ("new installation, polls of 5 s", 0.0, 5.0, 5),
        ("new installation, polls of 15 s", 0.0, POLL, 5),
        ("watched before, polls of 15 s", HOUR, POLL, 5),
        ("new installation, polls of 60 s", 0.0, 60.0, 6),
    ):
        delays = [minutes_to_name_priya(Random(f"priya{seed}"), before, poll) for seed in seeds]
        report.target(f"Priya is named, {name}", max(delays), 0, wished, " min at most")


if __name__ == "__main__":
    sys.exit(main())
