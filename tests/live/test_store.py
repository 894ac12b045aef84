"""A poll in, a set of changes out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Change, Collection, Store
from agentco_tui.model import Agent, Budget, BudgetOverview, BudgetScope, Listing
from agentco_tui.text import plain

agents = st.dictionaries(
    st.sampled_from([f"ag_{n}" for n in range(12)]), st.sampled_from(["Ada", "Linus", "Grace"])
)


def listing(names: dict[str, str]) -> Listing[Agent]:
    return Listing(records=tuple(Agent(id=key, name=plain(name)) for key, name in names.items()))


@given(st.lists(agents, max_size=8))
def test_changes_lead_from_each_poll_to_the_next(polls: list[dict[str, str]]) -> None:
    collection: Collection[Agent] = Collection(FeedName.AGENTS)
    shown: dict[str, str] = {}
    for poll in polls:
        before = dict(collection.records)
        change = collection.replace(listing(poll))
        assert {*change.added} == {*poll} - {*shown}
        assert {*change.removed} == {*shown} - {*poll}
        assert {*change.changed} == {k for k in {*poll} & {*shown} if poll[k] != shown[k]}
        assert list(collection.records) == list(poll)
        for key in {*poll} & {*shown} - {*change.changed}:
            assert collection.get(key) is before[key]
        assert bool(change) == (poll != shown)
        shown = poll


def test_the_same_listing_again_changes_nothing() -> None:
    collection: Collection[Agent] = Collection(FeedName.AGENTS)
    same = listing({"ag_1": "Ada"})
    assert collection.replace(same)
    assert not collection.replace(same)
    collection.drop("ag_1")
    assert collection.replace(same).added == ("ag_1",)


def test_one_record_can_be_put_and_dropped() -> None:
    collection: Collection[Agent] = Collection(FeedName.AGENTS)
    ada = Agent(id="ag_1", name=plain("Ada"))
    assert collection.put(ada).added == ("ag_1",)
    assert not collection.put(Agent(id="ag_1", name=plain("Ada")))
    assert collection.put(Agent(id="ag_1", name=plain("Grace"))).changed == ("ag_1",)
    assert collection.drop("ag_1").removed == ("ag_1",)
    assert not collection.drop("ag_1")


def test_only_changes_are_told_and_only_to_those_who_listen() -> None:
    store = Store()
    told: list[Change] = []
    stop = store.subscribe(told.append)
    store.publish(store.agents.replace(listing({"ag_1": "Ada"})))
    store.publish(store.agents.replace(listing({"ag_1": "Ada"})))
    assert [change.added for change in told] == [("ag_1",)]
    stop()
    store.publish(store.agents.replace(listing({})))
    assert len(told) == 1


def test_the_parts_of_an_overview_stand_in_until_their_own_feed_answers() -> None:
    store = Store()
    whole = Budget(id="all", scope=BudgetScope.ALL)
    part = Budget(id="cmp_1", scope=BudgetScope.COMPANY)
    store.take_overview(BudgetOverview(whole=whole, parts=(part,)))
    assert store.whole_budget == whole
    assert list(store.company_budgets) == [part]
    own = Budget(id="cmp_2", scope=BudgetScope.COMPANY)
    store.company_budgets.replace(Listing(records=(own,)))
    store.set_freshness(
        FeedName.COMPANY_BUDGETS,
        type(store.freshness[FeedName.COMPANY_BUDGETS])(answered_at=1.0),
    )
    store.take_overview(BudgetOverview(whole=whole, parts=(part,)))
    assert list(store.company_budgets) == [own]
