"""Which subjects are due: as if all were looked at, at a cost that follows what changes."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from agentco_tui.history.forecast_schedule import WHOLE, ForecastSchedule, Subject
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Store
from agentco_tui.model import Agent, Budget, BudgetScope, Listing, Money

EVERY = 3_600.0
CLOSE_EVERY = 120.0
AGENTS = "abcd"


def agent(name: str) -> Subject:
    return BudgetScope.AGENT, name


def take_agents(store: Store, names: str) -> None:
    store.take(FeedName.AGENTS, Listing(records=tuple(Agent(id=name) for name in names)))


class Naive:
    """Looks at every subject at every search."""

    def __init__(self) -> None:
        self.listed: set[Subject] = {WHOLE}
        self.wanted: set[Subject] = set()
        self.computed: dict[Subject, tuple[float, bool]] = {}

    def due(self, now: float) -> set[Subject]:
        found: set[Subject] = set()
        for subject in self.listed | self.wanted:
            computed = self.computed.get(subject)
            if computed is None:
                found.add(subject)
                continue
            at, has_alarm = computed
            every = 600.0 if subject == WHOLE else EVERY
            if subject in self.wanted or has_alarm:
                every = CLOSE_EVERY
            if now - at >= every:
                found.add(subject)
        return found

    def forget(self, subject: Subject) -> None:
        assert subject not in self.listed | self.wanted, "it is still needed"
        self.computed.pop(subject, None)


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("list"), st.text(AGENTS, max_size=4)),
        st.tuples(st.just("want"), st.text(AGENTS, max_size=2)),
        st.tuples(st.just("wait"), st.sampled_from([1.0, 100.0, 200.0, 700.0, 4_000.0])),
        st.tuples(st.just("search"), st.booleans()),
    ),
    max_size=30,
)


@settings(max_examples=300, deadline=None)
@given(EVENTS)
def test_it_finds_what_is_due(events: list[tuple[str, object]]) -> None:
    store = Store()
    naive = Naive()
    schedule = ForecastSchedule(store, naive.forget)
    now = 0.0
    for kind, value in [*events, ("search", False)]:
        match kind, value:
            case "list", str(names):
                take_agents(store, "".join(dict.fromkeys(names)))
                naive.listed = {WHOLE, *map(agent, names)}
            case "want", str(names):
                before = naive.wanted
                naive.wanted = set(map(agent, names))
                has_new = schedule.want(map(agent, names))
                assert has_new or naive.wanted - before <= naive.computed.keys()
            case "wait", float(seconds):
                now += seconds
            case "search", bool(has_alarm):
                due = schedule.take_due(now, 100)
                assert naive.computed.keys() <= naive.listed | naive.wanted, "the rest is forgotten"
                assert len(due) == len(set(due))
                # One that was wanted a moment ago may be computed once more.
                assert naive.due(now) <= set(due)
                assert set(due) <= naive.due(now) | (set(map(agent, AGENTS)) - naive.listed)
                for subject in due:
                    naive.computed[subject] = now, has_alarm
                    schedule.note_computed(subject, now, None, has_alarm=has_alarm)


def test_what_is_put_back_is_due_again_and_what_shows_comes_first() -> None:
    store = Store()
    take_agents(store, "ab")
    schedule = ForecastSchedule(store, print)
    schedule.want([agent("z")])
    due = schedule.take_due(0.0, 2)
    assert due == [agent("z"), WHOLE]
    schedule.put_back(due)
    assert set(schedule.take_due(0.0, 9)) == {agent("z"), WHOLE, agent("a"), agent("b")}


def test_a_budget_on_the_screen_is_due_as_soon_as_its_limit_is_another() -> None:
    store = Store()
    budget = Budget(id="a", scope=BudgetScope.AGENT, unlimited=True)
    store.take(FeedName.AGENT_BUDGETS, Listing(records=(budget,)))
    schedule = ForecastSchedule(store, print)
    schedule.want([agent("a")])
    for subject in schedule.take_due(0.0, 9):
        schedule.note_computed(subject, 0.0, None, has_alarm=False)
    assert schedule.take_due(1.0, 9) == []
    limited = Budget(id="a", scope=BudgetScope.AGENT, limit=Money(Decimal(5)))
    store.take(FeedName.AGENT_BUDGETS, Listing(records=(limited,)))
    assert schedule.take_due(1.0, 9) == [agent("a")]


def test_a_search_looks_at_no_subject_that_is_not_due() -> None:
    store = Store()
    names = [f"ag_{number}" for number in range(1_000)]
    store.take(FeedName.AGENTS, Listing(records=tuple(Agent(id=name) for name in names)))
    schedule = ForecastSchedule(store, print)
    for subject in schedule.take_due(0.0, 2_000):
        schedule.note_computed(subject, 0.0, None, has_alarm=False)
    changed = tuple(Agent(id=name, role=None, tasks_completed=1) for name in names)
    store.take(FeedName.AGENTS, Listing(records=changed))
    calls = 0
    # private: what a search looks at is shown nowhere else.
    schedule_of = schedule._schedule

    def counted(subject: Subject) -> None:
        nonlocal calls
        calls += 1
        schedule_of(subject)

    schedule._schedule = counted  # type: ignore[method-assign]  # private: as above
    assert schedule.take_due(1.0, 20) == []
    assert calls == 0
    assert WHOLE in schedule.take_due(601.0, 20)
