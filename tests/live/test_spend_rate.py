"""An agent that burns its limit is named within minutes, from the polls alone."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.attention.consequence import consequence
from agentco_tui.attention.need_words import sentence_of, words_of
from agentco_tui.attention.needs import Need, RankReason
from agentco_tui.attention.needs_model import NeedsModel
from agentco_tui.attention.snooze import Snoozes
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.live.feeds import Clock, FeedName, Freshness
from agentco_tui.live.insight import Level
from agentco_tui.live.names import Names
from agentco_tui.live.spend_rate import SpendSeries, fast_spend
from agentco_tui.live.store import Store
from agentco_tui.model import (
    Agent,
    AgentState,
    Budget,
    BudgetScope,
    Company,
    Listing,
    Money,
    Ref,
)
from agentco_tui.system.background import at_once
from agentco_tui.text import mark_safe
from tests.benchmarks import forecast as backtest

NOW = 1_790_000_000.0  # 2026-09-21: nine days before the calendar's month ends
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
GLOBEX = Ref("globex", mark_safe("Globex"))
USD = mark_safe("USD")


class Hand(Clock):
    """A clock that a test moves; the platform's may be moved apart from the steady one."""

    def __init__(self) -> None:
        super().__init__()
        self.at = 0.0
        self.platform_ahead = 0.0

    def monotonic(self) -> float:
        return self.at

    def now(self) -> float:
        return NOW + self.at + self.platform_ahead


class Polled:
    """A store that is polled by hand, and what is found in it."""

    def __init__(self) -> None:
        self.clock = Hand()
        self.store = Store()
        self.outlook = ForecastService(self.store, None, self.clock)
        self.names = Names(self.store)
        self.needs = NeedsModel(self.outlook, Snoozes(None, ""), lambda: None)
        self.store.take(
            FeedName.COMPANIES, Listing(records=(Company(id="globex", name=mark_safe("Globex")),))
        )
        self.states = {"priya": AgentState.ACTIVE, "bruno": AgentState.ACTIVE}
        self.take_agents()

    def take_agents(self) -> None:
        agents = tuple(
            Agent(id=each, name=mark_safe(each.title()), company=GLOBEX, state=state)
            for each, state in self.states.items()
        )
        self.store.take(FeedName.AGENTS, Listing(records=agents))

    def poll(self, feed: FeedName, *budgets: Budget) -> None:
        self.store.take(feed, Listing(records=budgets))
        self.store.set_freshness(feed, Freshness(answered_at=self.clock.at))

    def agents_spent(self, limit: object = 600, **spent: float) -> None:
        budgets = (
            budget(BudgetScope.AGENT, agent, sum_, limit, company=GLOBEX)
            for agent, sum_ in spent.items()
        )
        self.poll(FeedName.AGENT_BUDGETS, *budgets)

    def burning(self) -> list[Need]:
        at_once(self.needs.refresh_steps())
        return [need for need in self.needs.ranked(100) if need.rank_reason is RankReason.BURNING]

    def sentence(self, need: Need) -> str:
        return sentence_of(need, self.names, self.outlook, self.clock.now())


def budget(scope: BudgetScope, of: str, spent: float, limit: object, **more: object) -> Budget:
    sum_ = Decimal(f"{spent:.2f}")
    most = None if limit is None else Decimal(str(limit))
    return Budget(
        id=of,
        scope=scope,
        spent=Money(sum_, USD),
        limit=None if most is None else Money(most, USD),
        unlimited=most is None,
        share=None if most is None else sum_ / most,
        **more,  # type: ignore[arg-type]
    )


def until_named(polled: Polled, step: float, a_minute: float, start: float = 129.0) -> float:
    """Let Priya spend so much a minute; the minutes until she is named."""
    begun = polled.clock.at
    spent = start
    while spent < 600:
        polled.agents_spent(priya=spent)
        if polled.burning():
            return (polled.clock.at - begun) / MINUTE
        polled.clock.at += step
        spent += a_minute * step / MINUTE
    raise AssertionError("she was never named")


@pytest.mark.parametrize(("step", "within"), [(5.0, 5), (15.0, 5), (60.0, 6)])
def test_priya_is_named_within_minutes_on_a_new_installation(step: float, within: int) -> None:
    polled = Polled()
    assert until_named(polled, step, 19.6) <= within
    [need] = polled.burning()
    assert need.level is Level.CRITICAL
    assert need.key == "agent:priya"
    left = round((600 - 129 - 19.6 * polled.clock.at / MINUTE) / 19.6)
    text = polled.sentence(need)
    assert text.startswith("Priya spends ~$"), text
    assert f"limit reached in ~{left} min (" in text or f"~{left + 1} min (" in text
    assert text.endswith("of $600.00, Globex)")


def test_the_words_of_the_overview() -> None:
    polled = Polled()
    polled.clock.at = 0
    for poll in range(41):  # ten minutes at $18 a minute
        polled.clock.at = 15.0 * poll
        polled.agents_spent(priya=129 + 4.5 * poll)
        found = polled.burning()
    [need] = found
    words = words_of(need, polled.names, polled.outlook, polled.clock.now())
    assert (words.why, words.what, words.agent) == ("burning", "Priya spends ~$18/min", "Priya")
    assert words.consequence == "limit reached in ~16 min"
    assert words.figure == "52 % of $600.00"
    [priya] = polled.store.agent_budgets
    told = consequence(priya, polled.outlook, polled.clock.now())
    assert told == "limit reached in ~16 min at ~$18/min"


def test_an_agent_that_was_watched_for_long_is_named_as_soon() -> None:
    polled = Polled()
    for poll in range(240):  # an hour of two cents a minute
        polled.clock.at += 15
        polled.agents_spent(priya=128 + poll * 0.005)
        assert not polled.burning()
    assert until_named(polled, 15.0, 19.6) <= 5
    [need] = polled.burning()
    assert need.fast_spend is not None
    assert 18 <= need.fast_spend.rate * MINUTE <= 21, "the rate of now, not of what was before"


def test_a_company_that_burns_is_named_with_the_agent_that_spends_most() -> None:
    """Its agents have no limit of their own."""
    polled = Polled()
    company = 0.0
    for _ in range(20):
        polled.clock.at += 15
        company += 5.0
        polled.agents_spent(limit=None, priya=10 + company * 0.9, bruno=10 + company * 0.1)
        polled.poll(
            FeedName.COMPANY_BUDGETS, budget(BudgetScope.COMPANY, "globex", 700 + company, 1000)
        )
        found = polled.burning()
    [need] = found
    assert need.key == "company:globex"
    text = polled.sentence(need)
    assert text.startswith("Globex spends ~$20/min, limit reached in ~10 min, mostly Priya ("), text


def test_no_agent_is_named_for_a_company_where_none_explains_it() -> None:
    polled = Polled()
    for poll in range(20):
        polled.clock.at += 15
        spent = 700 + poll * 5.0
        polled.poll(FeedName.COMPANY_BUDGETS, budget(BudgetScope.COMPANY, "globex", spent, 1000))
        found = polled.burning()
    [need] = found
    assert "mostly" not in polled.sentence(need)


def test_it_ends_when_the_spending_stops_and_does_not_flicker_before() -> None:
    polled = Polled()
    until_named(polled, 15.0, 19.6)
    [priya] = polled.store.agent_budgets
    assert priya.spent is not None
    spent = float(priya.spent.amount)
    polled.clock.at += 120
    polled.agents_spent(priya=spent)
    assert polled.burning()
    polled.clock.at += 200
    polled.agents_spent(priya=spent)
    assert not polled.burning()


def test_a_limit_that_is_raised_a_pause_and_the_limit_itself_end_it() -> None:
    def named() -> Polled:
        polled = Polled()
        until_named(polled, 15.0, 19.6)
        return polled

    raised = named()
    raised.agents_spent(limit=60_000, priya=200)
    assert not raised.burning()
    paused = named()
    paused.states["priya"] = AgentState.PAUSED
    paused.take_agents()
    assert not paused.burning()
    spent = named()
    spent.clock.at += 15
    spent.agents_spent(priya=600)
    assert not spent.burning()
    gone = named()
    gone.poll(FeedName.AGENT_BUDGETS)
    assert not gone.burning()


def test_without_a_limit_nothing_is_said() -> None:
    polled = Polled()
    for poll in range(40):
        polled.clock.at += 15
        polled.agents_spent(limit=None, priya=129 + poll * 50)
        assert not polled.burning()


@pytest.mark.parametrize(
    "figures",
    [
        pytest.param([100, 100, 100, 400, 400, 400, 400], id="one large job"),
        pytest.param([100, 200, 300, 300, 300, 300, 300], id="two large jobs"),
        pytest.param([500, 450, 500, 450, 500, 450, 500, 450, 500] * 3, id="up and down"),
        pytest.param([500, 0, 500, 0, 500, 0, 500, 0] * 3, id="a replica without data"),
        pytest.param([590, 5, 5.1, 5.2, 5.3, 5.4, 5.5], id="a reset"),
        pytest.param([500, 480, 490, 500, 500, 500, 500], id="a correction taken back"),
    ],
)
def test_what_is_no_rate_raises_no_alarm(figures: list[float]) -> None:
    polled = Polled()
    for figure in figures:
        polled.clock.at += 60
        polled.agents_spent(priya=figure)
        assert not polled.burning(), figure


def test_what_came_in_a_gap_is_spread_over_it() -> None:
    """An hour without an answer, in which a tenth of the limit was spent."""
    polled = Polled()
    for poll in range(10):
        polled.clock.at += 15
        polled.agents_spent(priya=100 + poll * 0.1)
    polled.clock.at += HOUR
    for poll in range(10):
        polled.clock.at += 15
        polled.agents_spent(priya=500 + poll * 0.1)
        assert not polled.burning()


def test_the_scope_is_left_and_comes_back() -> None:
    """While the dashboard showed another company she went on; it is known since when."""
    polled = Polled()
    until_named(polled, 15.0, 19.6)
    last = polled.clock.at
    polled.poll(FeedName.AGENT_BUDGETS)
    assert not polled.burning()
    polled.clock.at = last + 60
    polled.agents_spent(priya=220)
    for poll in range(1, 4):
        polled.clock.at += 15
        polled.agents_spent(priya=220 + 4.9 * poll)
    assert polled.burning()


@pytest.mark.parametrize("jump", [-3 * HOUR, 3 * HOUR])
def test_a_jump_of_the_platforms_clock_changes_nothing(jump: float) -> None:
    polled = Polled()
    polled.agents_spent(priya=129)
    polled.clock.platform_ahead = jump
    assert until_named(polled, 15.0, 19.6) <= 5
    polled.clock.platform_ahead = 0
    polled.clock.at += 15
    polled.agents_spent(priya=230)
    assert polled.burning()


def test_near_the_end_of_the_period_only_what_matters_is_told() -> None:
    flows = [(n * 60.0, n * 60 + 60.0, 5.0) for n in range(15)]

    def judged(period_left: float) -> bool:
        found = fast_spend(
            flows, 0.0, 400.0, 500.0, 900.0, period=30 * DAY, period_left=period_left
        )
        return found is not None

    assert judged(10 * DAY)
    assert judged(3 * HOUR)
    assert not judged(15 * MINUTE)
    assert not judged(-1)


@given(
    st.lists(st.tuples(st.floats(1.0, 2_000.0), st.floats(0.0, 1_000.0)), min_size=2, max_size=60)
)
def test_a_series_never_counts_more_than_the_figure_rose(
    polls: list[tuple[float, float]],
) -> None:
    series = SpendSeries(0.0, polls[0][1])
    at = 0.0
    for later, figure in polls[1:]:
        at += later
        series.add(at - later, at, figure)
        assert all(begin <= end and amount > 0 for begin, end, amount in series.flows)
        assert sum(amount for _, _, amount in series.flows) <= max(one for _, one in polls) + 1e-6
        if series.flows:
            assert series.flows[-1][1] <= at
            assert series.flows[0][1] > at - 15 * MINUTE


def test_the_backtest_counts_no_false_alarm_too_many() -> None:
    """A few of its series; `python -m tests.benchmarks.forecast --part minutes` runs all."""
    weeks = false = 0.0
    for kind in ("steady", "bursty", "weekly", "sparse", "platform"):
        series = backtest.make(kind, backtest.JUDGING)
        begins = 30 * backtest.STEPS
        found = backtest.minutes_of(kind, series.costs[begins:], series.limits[begins], Random(7))
        weeks += found.weeks
        false += found.false
    assert false / weeks <= 0.2
    for before, poll in ((0.0, 5.0), (0.0, 15.0), (HOUR, 15.0)):
        assert backtest.minutes_to_name_priya(Random(3), before, poll) <= 5
