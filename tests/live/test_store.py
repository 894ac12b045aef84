"""A poll in, a set of changes out; long lists are compared in slices."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.names import Names
from agentco_tui.live.store import Change, Collection, Store
from agentco_tui.model import (
    Agent,
    Alert,
    Budget,
    BudgetOverview,
    BudgetScope,
    Company,
    Listing,
    Ref,
    Task,
)
from agentco_tui.system import background
from agentco_tui.text import mark_safe, signs

MANY = 5_000


def agent(number: int, name: str = "Ada") -> Agent:
    return Agent(id=f"ag_{number}", name=mark_safe(name))


def listing(*agents: Agent) -> Listing[Agent]:
    return Listing(records=agents)


@pytest.fixture
def collection(monkeypatch: pytest.MonkeyPatch) -> Collection[Agent]:
    """Many agents, compared in the smallest slices."""
    monkeypatch.setattr(background, "SLICE", 0.0)
    held: Collection[Agent] = Collection(FeedName.AGENTS)
    held.replace(listing(*map(agent, range(MANY))))
    return held


async def test_others_have_their_turn_meanwhile(collection: Collection[Agent]) -> None:
    before = dict(collection.records)
    coming = listing(*map(agent, range(1, MANY)), agent(MANY), agent(0, "Grace"))
    comparing = asyncio.create_task(collection.compare(coming))
    turns = 0
    while not comparing.done():
        turns += 1
        await asyncio.sleep(0)
        assert dict(collection.records) == before, "nothing is taken by halves"
    assert turns >= MANY / 500
    change = collection.replace(coming, await comparing)
    assert change == Change(FeedName.AGENTS, added=(f"ag_{MANY}",), changed=("ag_0",))
    assert list(collection.records)[-1] == "ag_0"
    assert all(collection.get(key) is before[key] for key in before if key != "ag_0")


@pytest.mark.parametrize("turns", [1, 7, 15, 25])
async def test_a_write_in_the_middle_counts(collection: Collection[Agent], turns: int) -> None:
    shown = dict(collection.records)
    coming = listing(*map(agent, range(MANY)))
    comparing = asyncio.create_task(collection.compare(coming))
    for _ in range(turns):
        await asyncio.sleep(0)
    collection.put(agent(3, "Grace"))
    collection.put(agent(MANY + 1))
    collection.drop("ag_4")
    shown |= {"ag_3": agent(3, "Grace"), f"ag_{MANY + 1}": agent(MANY + 1)}
    del shown["ag_4"]
    change = collection.replace(coming, await comparing)
    assert change == Change(FeedName.AGENTS, ("ag_4",), ("ag_3",), (f"ag_{MANY + 1}",))
    assert tuple(collection) == coming.records
    assert not collection.replace(coming)


async def test_a_write_between_comparing_and_taking_counts(collection: Collection[Agent]) -> None:
    coming = listing(*map(agent, range(1, MANY)))
    compared = await collection.compare(coming)
    collection.put(agent(2, "Grace"))
    change = collection.replace(coming, compared)
    assert (change.changed, change.removed) == (("ag_2",), ("ag_0",))
    assert collection.get("ag_2") == agent(2)


rows = st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["Ada", "Grace"])), max_size=14)


@given(st.lists(rows, max_size=8))
def test_changes_lead_from_poll_to_poll_and_of_an_id_given_twice_the_last_counts(
    polls: list[list[tuple[int, str]]],
) -> None:
    held: Collection[Agent] = Collection(FeedName.AGENTS)
    for poll in polls:
        before = dict(held.records)
        coming = [agent(*pair) for pair in poll]
        change = held.replace(listing(*coming))
        wanted = {row.id: row for row in coming}
        assert list(held.records.items()) == list(wanted.items())
        assert sorted(change.added) == sorted(set(wanted) - set(before))
        assert sorted(change.removed) == sorted(set(before) - set(wanted))
        both = set(before) & set(wanted)
        assert sorted(change.changed) == sorted(key for key in both if before[key] != wanted[key])
        assert all(held.records[key] is before[key] for key in both if before[key] == wanted[key])
        assert bool(change) == (before != wanted)


async def test_few_changes_in_a_long_list_build_no_list_anew(collection: Collection[Agent]) -> None:
    records = list(collection)
    coming = listing(*records[:7], agent(7, "Grace"), agent(8), *records[9:])
    compared = await collection.compare(coming)
    assert compared is not None
    assert compared.records == {"ag_7": agent(7, "Grace")}
    assert compared.change == Change(FeedName.AGENTS, changed=("ag_7",))


def test_one_record_can_be_put_and_dropped() -> None:
    collection: Collection[Agent] = Collection(FeedName.AGENTS)
    ada = agent(1)
    assert collection.put(ada).added == ("ag_1",)
    assert not collection.put(agent(1))
    assert collection.put(agent(1, "Grace")).changed == ("ag_1",)
    assert collection.drop("ag_1").removed == ("ag_1",)
    assert not collection.drop("ag_1")


def test_only_changes_are_told_and_only_to_those_who_listen() -> None:
    store = Store()
    told: list[Change] = []
    stop = store.subscribe(told.append)
    store.publish(store.agents.replace(listing(agent(1))))
    store.publish(store.agents.replace(listing(agent(1))))
    assert [change.added for change in told] == [("ag_1",)]
    stop()
    store.publish(store.agents.replace(listing()))
    assert len(told) == 1


def test_the_parts_of_an_overview_stand_in_until_their_own_feed_answers() -> None:
    store = Store()
    whole = Budget(id="all", scope=BudgetScope.ALL)
    part = Budget(id="cmp_1", scope=BudgetScope.COMPANY)
    store.take_overview(BudgetOverview(whole=whole, parts=(part,)))
    assert list(store.budget) == [whole]
    assert list(store.company_budgets) == [part]
    own = Budget(id="cmp_2", scope=BudgetScope.COMPANY)
    store.company_budgets.replace(Listing(records=(own,)))
    store.set_freshness(
        FeedName.COMPANY_BUDGETS, type(store.freshness[FeedName.COMPANY_BUDGETS])(answered_at=1.0)
    )
    store.take_overview(BudgetOverview(whole=whole, parts=(part,)))
    assert list(store.company_budgets) == [own]


# --- names for ids --------------------------------------------------------------------------

ACME = Ref(id="cmp_1")
ADA = Ref(id="ag_1")


@pytest.fixture
def names() -> Names:
    """Ada of Acme is known; so are an agent without a company and a company without a name."""
    store = Store()
    ada = Agent(id="ag_1", name=mark_safe("Ada"), company=ACME)
    nameless = Agent(id="ag_2")
    store.agents.replace(Listing(records=(ada, nameless)))
    acme = Company(id="cmp_1", name=mark_safe("Acme"))
    store.companies.replace(Listing(records=(acme, Company(id="cmp_2"))))
    return Names(store)


def test_an_agent_or_company_is_named_by_the_record_then_the_list_then_the_id(names: Names) -> None:
    assert names.agent(ADA) == "Ada"
    assert names.agent(Ref(id="ag_1", name=mark_safe("Ada Lovelace"))) == "Ada Lovelace"
    assert names.agent(Ref(name=mark_safe("Grace"))) == "Grace"
    assert names.company(ACME) == "Acme"
    assert names.company(Ref(id="cmp_1", name=mark_safe("Acme Ltd"))) == "Acme Ltd"
    for unnamed in ("ag_2", "ag_9"):
        assert names.agent(Ref(id=unnamed)) == unnamed
    for unnamed in ("cmp_2", "cmp_9"):
        assert names.company(Ref(id=unnamed)) == unnamed
    assert names.agent(None) == names.company(None) == signs.missing
    assert names.agent(Ref()) == names.company(Ref()) == signs.missing


def test_the_scope_is_a_company_or_all(names: Names) -> None:
    assert names.scope(None) == "all companies"
    assert names.scope("cmp_1") == "Acme"
    assert names.scope("cmp_2") == "cmp_2"
    assert names.scope("cmp_9") == "cmp_9"


def test_a_records_company_is_its_own_else_its_agents(names: Names) -> None:
    other = Ref(id="cmp_2")
    task = Task(id="t", title=mark_safe("t"), agent=ADA)
    assert names.company_of(task) == ACME
    assert names.company_of(Task(id="t", title=mark_safe("t"), agent=ADA, company=other)) == other
    assert names.company_of(Task(id="t", title=mark_safe("t"))) is None
    assert names.company_of(Task(id="t", title=mark_safe("t"), agent=Ref(id="ag_9"))) is None
    assert names.company_of(Alert(id="a", text=mark_safe("a"), agent=ADA)) == ACME
    assert names.company_of(Agent(id="ag_1")) is None
    assert names.company_of(Agent(id="ag_1", company=ACME)) == ACME
    assert names.company_of(Budget(id="ag_1", scope=BudgetScope.AGENT)) == ACME
    assert names.company_of(Budget(id="ag_2", scope=BudgetScope.AGENT)) is None
    own = names.company_of(Budget(id="cmp_2", scope=BudgetScope.COMPANY, name=mark_safe("Two")))
    assert own == Ref(id="cmp_2", name=mark_safe("Two"))


def test_a_budget_is_named_by_what_it_is_for(names: Names) -> None:
    assert names.budget(Budget(id="all", scope=BudgetScope.ALL)) == "all"
    assert names.budget(Budget(id="all", scope=BudgetScope.ALL, name=mark_safe("Org"))) == "Org"
    assert names.budget(Budget(id="cmp_1", scope=BudgetScope.COMPANY)) == "Acme"
    assert names.budget(Budget(id="ag_1", scope=BudgetScope.AGENT)) == "Ada"
    assert names.budget(Budget(id="ag_9", scope=BudgetScope.AGENT)) == "ag_9"


def test_an_agents_record_is_found_by_reference(names: Names) -> None:
    found = names.agent_of(ADA)
    assert found is not None
    assert found.name == "Ada"
    assert names.agent_of(None) is names.agent_of(Ref(id="ag_9")) is names.agent_of(Ref()) is None
