"""Long lists are compared in slices, whatever happens between two of them."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui import background
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Change, Collection, Comparison
from agentco_tui.model import Agent, Listing
from agentco_tui.text import plain

MANY = 5_000


def agent(number: int, name: str = "Ada") -> Agent:
    return Agent(id=f"ag_{number}", name=plain(name))


def listing(*agents: Agent) -> Listing[Agent]:
    return Listing(records=agents)


@pytest.fixture
def collection(monkeypatch: pytest.MonkeyPatch) -> Collection[Agent]:
    """Many agents, compared in the smallest slices."""
    monkeypatch.setattr(background, "SLICE", 0.0)
    held: Collection[Agent] = Collection(FeedName.AGENTS)
    held.replace(listing(*map(agent, range(MANY))))
    return held


async def test_others_have_their_turn_while_a_long_list_is_compared(
    collection: Collection[Agent],
) -> None:
    before = dict(collection.records)
    comparing = asyncio.create_task(
        collection.compare(listing(*map(agent, range(1, MANY)), agent(MANY), agent(0, "Grace")))
    )
    turns = 0
    while not comparing.done():
        turns += 1
        await asyncio.sleep(0)
        assert dict(collection.records) == before, "nothing is taken by halves"
    assert turns >= MANY / 500 * 2
    change = (await comparing)()
    assert change == Change(FeedName.AGENTS, added=(f"ag_{MANY}",), changed=("ag_0",))
    assert list(collection.records)[-1] == "ag_0"
    assert all(collection.get(key) is before[key] for key in before if key != "ag_0")


@pytest.mark.parametrize("turns", [1, 7, 15, 25])
async def test_a_write_in_the_middle_is_taken_into_account(
    collection: Collection[Agent], turns: int
) -> None:
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
    change = (await comparing)()
    assert change == Change(FeedName.AGENTS, ("ag_4",), ("ag_3",), (f"ag_{MANY + 1}",))
    assert tuple(collection) == coming.records
    assert not collection.replace(coming)


async def test_a_write_between_comparing_and_taking_is_taken_into_account(
    collection: Collection[Agent],
) -> None:
    take = await collection.compare(listing(agent(1), agent(2)))
    collection.put(agent(2, "Grace"))
    change = take()
    assert change.changed == ("ag_2",)
    assert len(change.removed) == MANY - 2
    assert collection.get("ag_2") == agent(2)


async def test_the_same_listing_is_not_compared_again(collection: Collection[Agent]) -> None:
    same = listing(agent(1))
    (await collection.compare(same))()
    assert not (await collection.compare(same))()


rows = st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["Ada", "Grace"])), max_size=14)


@given(rows, rows)
def test_of_an_id_given_twice_the_last_counts_and_is_told_once(
    first: list[tuple[int, str]], second: list[tuple[int, str]]
) -> None:
    before = {row.id: row for row in (agent(*pair) for pair in first)}
    coming = [agent(*pair) for pair in second]
    work = Comparison(before, coming)
    assert all(step is None for step in work.slices())
    wanted = {row.id: row for row in coming}
    if work.renewed is None:
        after = work.after
    else:
        assert list(work.renewed) == work.changed
        after = {**before, **work.renewed}
    assert after == wanted
    assert list(after) == list(wanted)
    assert sorted(work.added) == sorted(set(wanted) - set(before))
    assert sorted(work.removed) == sorted(set(before) - set(wanted))
    both = set(before) & set(wanted)
    assert sorted(work.changed) == sorted(key for key in both if before[key] != wanted[key])
    assert all(after[key] is before[key] for key in both if before[key] == wanted[key])


def test_few_changes_in_a_long_list_build_no_list_anew() -> None:
    records = [agent(number) for number in range(MANY)]
    before = {row.id: row for row in records}
    coming = [*records[:7], agent(7, "Grace"), agent(8), *records[9:]]
    work = Comparison(before, coming)
    assert all(step is None for step in work.slices())
    assert work.renewed == {"ag_7": agent(7, "Grace")}
    assert (work.after, work.changed) == ({}, ["ag_7"])


async def test_each_change_is_a_version_of_its_own(collection: Collection[Agent]) -> None:
    versions = [collection.version]
    same = list(collection)
    for coming in (
        [agent(0, "Grace"), *same[1:]],
        same[1:],
        same[:0:-1],
    ):
        (await collection.compare(listing(*coming)))()
        assert tuple(collection) == tuple(coming)
        versions.append(collection.version)
    assert len(set(versions)) == 4
    (await collection.compare(listing(*same[:0:-1])))()
    assert collection.version == versions[-1]


async def test_of_two_comparisons_at_once_the_later_takes_the_earlier_into_account(
    collection: Collection[Agent],
) -> None:
    same = list(collection)
    first = asyncio.create_task(collection.compare(listing(agent(0, "Grace"), *same[1:])))
    second = asyncio.create_task(collection.compare(listing(*same[:-1], agent(MANY - 1, "Grace"))))
    take_first, take_second = await first, await second
    assert take_first().changed == ("ag_0",)
    assert set(take_second().changed) == {"ag_0", f"ag_{MANY - 1}"}
    assert collection.get("ag_0") == agent(0)
