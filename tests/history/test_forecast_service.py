"""The outlook over a real history: what it works out, in which order, and how little it takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from decimal import Decimal
from math import isnan
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import pytest
from msgspec.structs import replace

from agentco_tui.attention.consequence import consequence
from agentco_tui.history import forecast_service as outlook_module
from agentco_tui.history.forecast import Forecast, TooLittle
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.history.history import History
from agentco_tui.history.observations import BudgetSample, Counted, Observed, QueueSample, TaskLife
from agentco_tui.history.spending_alarms import NoData, Runaway
from agentco_tui.live.feeds import Clock, FeedName
from agentco_tui.live.store import Store
from agentco_tui.model import Budget, BudgetScope, Listing, Moment, Money, Severity
from agentco_tui.model.period import DAY, HOUR, Period, period_of
from agentco_tui.text import clean_line
from tests.benchmarks.forecast import START, make
from tests.history.observed_file import ObservedDatabase
from tests.live.poller_harness import stage
from tests.platform import EmbeddedPlatform

T = TypeVar("T")
ABOUT = "prod", "https://platform.example"
NOW = START + 12 * DAY + 0.5 * HOUR
USD = clean_line("USD")
AGENT_BUDGETS = FeedName.AGENT_BUDGETS


class Hands(Clock):
    """A clock whose hands are moved."""

    at = NOW

    def now(self) -> float:
        return self.at


def agents_budget(name: str, spent: object = "120", limit: object = 1000) -> Budget:
    sums = (Money(Decimal(str(amount)), USD) for amount in (limit, spent))
    return Budget(
        id=name,
        scope=BudgetScope.AGENT,
        limit=next(sums),
        spent=next(sums),
        period=clean_line("monthly"),
    )


def spending_of(subject: str, kind: str, seed: int = 3, feed: FeedName = AGENT_BUDGETS) -> Observed:
    """42 days of a series of the backtest."""
    series = make(kind, seed)
    track = series.track(NOW, START - 30 * DAY)
    return Observed(
        samples=[(feed, subject, "USD", sample) for sample in track.samples],
        seen=[(feed, "", span) for span in track.seen],
    )


def written(folder: Path, *observed: Observed) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "history.sqlite3"
    file = ObservedDatabase(path, *ABOUT)
    file.store(observed)
    file.close()
    return path


@asynccontextmanager
async def remembering(folder: Path, *observed: Observed) -> AsyncIterator[History]:
    history = History(written(folder, *observed), *ABOUT)
    try:
        yield history
    finally:
        history.close()


async def test_a_budget_with_a_past_has_a_forecast_in_words(tmp_path: Path) -> None:
    budget = agents_budget("ada", limit=round(make("steady", 3).limits[0], 2))
    async with remembering(tmp_path, spending_of("ada", "steady")) as history:
        outlook = ForecastService(Store(), history, Hands())
        assert outlook.of(budget).forecast is None
        assert isinstance(outlook.of(budget).burn, NoData)
        assert consequence(budget, outlook, NOW) is None
        await outlook.work_out([budget])
        found = outlook.of(budget).forecast
        assert isinstance(found, Forecast)
        assert found.low < make("steady", 3).final < found.high
        assert outlook.of(budget).burn is None
        words = consequence(budget, outlook, NOW)
        assert words is not None
        assert words.startswith("~$")
        hours = outlook.of(budget).spent_by_hour
        assert len(hours) == 24
        # Of an hour that begins in a gap only what was seen of it counts.
        assert all(hour is None or hour >= 0 for hour in hours)
        assert sum(hour or 0 for hour in hours) > 0
        assert outlook.of(agents_budget("bob")).forecast is None


@pytest.mark.slow
async def test_a_runaway_is_told_and_goes_on_being_told(tmp_path: Path) -> None:
    series, hands, ada = make("runaway", 2), Hands(), agents_budget("ada")
    assert series.event is not None
    for hours, runs in ((-1, False), (8, True), (20, True)):
        hands.at = until = series.event + hours * HOUR
        known = Observed(
            samples=[
                (AGENT_BUDGETS, "ada", "USD", sample)
                for sample in series.samples
                if sample.at <= until
            ],
            seen=[(AGENT_BUDGETS, "", (a, min(b, until))) for a, b in series.spans if a < until],
        )
        async with remembering(tmp_path / str(hours), known) as history:
            outlook = ForecastService(Store(), history, hands)
            await outlook.work_out([ada])
            found = outlook.of_agent("ada").runaway
            assert isinstance(found, Runaway) is runs, hours
            if isinstance(found, Runaway):
                assert found.what == "cost"
                assert found.now > 2 * found.most


async def test_too_little_is_said_and_nothing_guessed(tmp_path: Path) -> None:
    budget = agents_budget("ada")
    young = Observed(
        samples=[
            (AGENT_BUDGETS, "ada", "USD", BudgetSample(NOW - n * HOUR, Decimal(99 - n), None))
            for n in range(20, -1, -1)
        ],
        seen=[(AGENT_BUDGETS, "", (NOW - 20 * HOUR, NOW))],
    )
    async with remembering(tmp_path, young) as history:
        outlook = ForecastService(Store(), history, Hands())
        await outlook.work_out([budget])
        assert outlook.of(budget).forecast == TooLittle(needed=28 * HOUR)
        assert consequence(budget, outlook, NOW) == "not enough history yet (1 d 04 h to go)"
        assert isinstance(outlook.of_agent("ada").runaway, NoData)
        hours = outlook.of(budget).spent_by_hour
        assert hours[:3] == (None, None, None)
        assert hours[-3:] == (1, 1, 1)


async def test_an_agents_entries_failures_and_usual_run(tmp_path: Path) -> None:
    minutes = range(0, 8 * 24 * 60, 20)
    counts = [
        Counted(NOW - 30 * 60 - n * 60, "ada", None, "tool used", Severity.INFO, 1) for n in minutes
    ]
    failed = [
        Counted(NOW - 30 * 60 - n * 60, "ada", None, "run failed", Severity.UNKNOWN, 4)
        for n in range(0, 60, 6)
    ]
    lives = [
        TaskLife(
            id=f"t{n}",
            title=clean_line("A task"),
            agent="ada",
            first_seen=NOW - n * HOUR,
            decided=NOW - n * HOUR,
            ended=NOW - n * HOUR + 60 * n,
        )
        for n in range(1, 21)
    ]
    seen = [(FeedName.ACTIVITY, "", (NOW - 8 * DAY, NOW))]
    observed = Observed(counts=counts + failed, lives=lives, seen=seen)
    async with remembering(tmp_path, observed) as history:
        outlook = ForecastService(Store(), history, Hands())
        await outlook.work_out([agents_budget("ada"), agents_budget("bob")])
        found = outlook.of_agent("ada").runaway
        assert isinstance(found, Runaway)
        assert (found.what, found.now, found.most) == ("failures", 24, 0)
        assert outlook.of_agent("ada").usual_run == 19 * 60
        assert outlook.of_agent("bob").usual_run is None
        hours = outlook.of_agent("ada").entries_by_hour
        assert len(hours) == 24
        assert hours[0] == 3
        assert sum(hour or 0 for hour in hours[-2:]) > 40


async def test_what_waited_by_hour_has_gaps_where_nobody_looked(tmp_path: Path) -> None:
    queue = [
        (FeedName.PENDING, "", "", QueueSample(NOW - 10 * HOUR, 4, None)),
        (FeedName.PENDING, "", "", QueueSample(NOW - 2.5 * HOUR, 7, None)),
    ]
    seen = [
        (FeedName.PENDING, "", (NOW - 10 * HOUR, NOW - 8 * HOUR)),
        (FeedName.PENDING, "", (NOW - 3 * HOUR, NOW)),
    ]
    async with remembering(tmp_path, Observed(samples=[*queue], seen=seen)) as history:
        outlook = ForecastService(Store(), history, Hands())
        await outlook.work_out([Budget(id="whatever", scope=BudgetScope.ALL)])
        hours = outlook.of_company(None).waiting_by_hour
        assert hours[-4:] == (4, 7, 7, 7)
        assert hours[-7] is None
        assert hours[0] is None
        assert outlook.of_company("cmp_1").waiting_by_hour == ()


async def test_a_periods_spending_has_gaps_and_nothing_of_the_period_before(
    tmp_path: Path,
) -> None:
    now = START + 15 * DAY
    start = period_of(agents_budget("ada"), now).start
    budget = replace(agents_budget("ada"), period_start=Moment(at=start))
    length = (now - start) / 120
    samples = [(start - DAY, 900), *((start + at * length, at) for at in range(10, 121))]
    spans = (start - DAY, start + DAY), (start + 10 * length, start + 60 * length)
    observed = Observed(
        samples=[
            (AGENT_BUDGETS, "ada", "USD", BudgetSample(at, Decimal(spent), Decimal(1000)))
            for at, spent in samples
        ],
        seen=[(AGENT_BUDGETS, "", span) for span in (*spans, (now - 30 * length, now))],
    )
    async with remembering(tmp_path, observed) as history:
        hands = Hands()
        hands.at = now
        outlook = ForecastService(Store(), history, hands)
        assert len(outlook.of(budget).spent_in_period) == 0
        await outlook.work_out([budget])
        spent = outlook.of(budget).spent_in_period
        known = [at for at, figure in enumerate(spent) if not isnan(figure)]
        assert len(spent) == 120
        assert known == [*range(9, 60), *range(89, 120)]
        assert [round(spent[at]) for at in (9, 59, 119)] == [10, 60, 120]


async def until(seen: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while True:
            await asyncio.sleep(0.001)
            if seen():
                return


@asynccontextmanager
async def running(outlook: ForecastService) -> AsyncIterator[None]:
    task = asyncio.create_task(outlook.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_what_shows_comes_first_and_again_when_its_limit_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, hands, order = Store(), Hands(), list[str]()
    names = ["ada", "bob", "cid", "dan"]
    store.take(AGENT_BUDGETS, Listing(records=tuple(map(agents_budget, names))))
    async with remembering(tmp_path, spending_of("dan", "steady")) as history:
        outlook = ForecastService(store, history, hands)
        # private: the order in which subjects are computed is shown nowhere else.
        look = outlook._compute

        async def noted(subject: tuple[BudgetScope, str], budget: Budget | None) -> None:
            order.append(subject[1])
            await look(subject, budget)

        changed = asyncio.Event()
        outlook.on_change = changed.set
        # private: the pauses between computations are no parameters.
        for pace in ("_SEARCH_EVERY", "_PAUSE"):
            monkeypatch.setattr(outlook_module, pace, 0.01)
        # private: as above.
        with patch.object(outlook, "_compute", noted):
            outlook.want([agents_budget("dan")])
            async with running(outlook):
                await until(lambda: len(order) >= 5)
                assert order[0] == "dan"
                assert set(order) == {*names, ""}
                await until(changed.is_set)
                assert isinstance(outlook.of(agents_budget("dan")).forecast, Forecast)
                order.clear()
                dan = agents_budget("dan", limit=2000)
                budgets = dan, *map(agents_budget, names[:3])
                store.take(AGENT_BUDGETS, Listing(records=budgets))
                await until(lambda: order == ["dan"])
                hands.at += 601
                await until(lambda: len(order) == 3)
                assert order == ["dan", "dan", ""], "the other agents were looked at a moment ago"


async def test_one_that_cannot_be_worked_out_holds_up_no_other(tmp_path: Path) -> None:
    store = Store()
    names = ("ada", "bob", "cid")
    budgets = {name: agents_budget(name) for name in names}
    store.take(AGENT_BUDGETS, Listing(records=(*budgets.values(),)))

    def fails(budget: Budget, now: float) -> Period:
        assert budget.id != "ada"
        return period_of(budget, now)

    past = (spending_of(name, "steady") for name in names)
    async with remembering(tmp_path, *past) as history:
        outlook = ForecastService(store, history, Hands())
        with patch.object(outlook_module, "period_of", fails):
            async with running(outlook):
                await until(lambda: all(outlook.of(b).forecast for b in [*budgets.values()][1:]))
        assert outlook.of(budgets["ada"]).forecast is None


def test_of_a_very_large_platform_only_some_are_looked_at_and_all_that_show() -> None:
    store = Store()
    names = [f"ag_{number}" for number in range(10_000)]
    store.take(AGENT_BUDGETS, Listing(records=tuple(map(agents_budget, names))))
    outlook = ForecastService(store, clock=Hands())
    outlook.want([agents_budget("ag_9999")])
    # private: the order in which 10,000 subjects are due is shown nowhere else.
    due = [owner_id for _, owner_id in outlook._schedule.take_due(0.0, 10_000)]
    assert due[:2] == ["ag_9999", ""]
    assert len(due) == 2_002


async def test_a_limit_that_was_raised_counts_at_once(tmp_path: Path) -> None:
    series = make("steady", 3)
    past = spending_of("ada", "steady")
    async with remembering(tmp_path, past) as history:
        outlook = ForecastService(Store(), history, Hands())
        for limit, likely in ((series.final * 0.6, True), (series.final * 2, False)):
            budget = agents_budget("ada", limit=round(limit, 2))
            await outlook.work_out([budget])
            found = outlook.of(budget).forecast
            assert isinstance(found, Forecast)
            assert (found.gone is not None) is likely
            assert isinstance(outlook.of(budget).burn, NoData), "for an hour after a change"


async def test_without_a_history_nothing_is_known_and_nothing_fails() -> None:
    outlook = ForecastService(Store())
    await outlook.run()
    await outlook.work_out([agents_budget("ada")])
    assert outlook.of(agents_budget("ada")).forecast is None
    assert isinstance(outlook.of_agent("ada").runaway, NoData)
    assert outlook.of(agents_budget("ada")).spent_by_hour == ()


async def test_on_the_platform_every_budget_gets_its_end(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    """Each was spent evenly since its period began, as the history saw every hour."""
    async with stage(platform, rate=1.0) as here:
        await here.settled()
        now, budgets = here.hours.now(), [*here.store.budget, *here.store.company_budgets]
        samples = []
        for budget in budgets:
            assert budget.spent is not None
            assert budget.period_start is not None
            begin = budget.period_start.at
            hours = int((now - begin) / HOUR)
            feed = FeedName.BUDGET if budget.scope is BudgetScope.ALL else FeedName.COMPANY_BUDGETS
            for hour in range(hours + 1):
                spent = budget.spent.amount * hour / hours
                samples.append(
                    (
                        feed,
                        outlook_module.subject_of(budget)[1],
                        "USD",
                        BudgetSample(
                            begin + hour * HOUR, spent, budget.limit and budget.limit.amount
                        ),
                    )
                )
        seen = [
            (feed, "", (now - 30 * DAY, now))
            for feed in (FeedName.BUDGET, FeedName.COMPANY_BUDGETS)
        ]
        async with remembering(tmp_path, Observed(samples=[*samples], seen=seen)) as history:
            outlook = ForecastService(here.store, history, here.hours)
            outlook.want(budgets)  # as they show
            async with running(outlook):
                await until(lambda: all(outlook.of(budget).computed_at > 0 for budget in budgets))
            for budget in budgets:
                found = outlook.of(budget).forecast
                assert isinstance(found, Forecast)
                assert budget.spent is not None
                assert budget.period_start is not None
                assert budget.resets is not None
                assert found.ends == budget.resets.at
                passed = (now - budget.period_start.at) / (found.ends - budget.period_start.at)
                assert found.middle == pytest.approx(float(budget.spent.amount) / passed, rel=0.1)
                words = consequence(budget, outlook, now)
                assert words is not None
                assert words.startswith(("~", "gone ~"))
