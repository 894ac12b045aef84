"""What an embedded world was before its start: it ends in what it begins with."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from agentco_tui.api.client import open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl, KeyInUse
from agentco_tui.commands.demo_past import write_past
from agentco_tui.demo.simulation import ENTRIES_AN_HOUR
from agentco_tui.demo.world import World
from agentco_tui.demo.world_state import DOLLAR
from agentco_tui.history.history import History
from agentco_tui.history.reader import Reader
from agentco_tui.history.sampler import Sampler
from agentco_tui.live.feeds import Clock, FeedName
from agentco_tui.live.poller import Poller
from agentco_tui.live.queue_tracker import QueueTracker
from agentco_tui.live.store import Store
from agentco_tui.model import BudgetScope, TaskState
from tests.demo.conftest import NOW
from tests.platform import EmbeddedPlatform

DAY = 86_400.0
PATIENCE = 60.0


@pytest.fixture
def world() -> World:
    return World(7, speed=0, now=NOW)


async def test_the_history_of_a_demo_ends_in_what_it_begins_with(
    world: World, tmp_path: Path
) -> None:
    state, path, address = world.state, tmp_path / "history.sqlite3", "http://127.0.0.1:8111"
    write_past(path, world, address)
    agent = next(each for each in state.agents.values() if each.limit is None)

    def read(reader: Reader) -> tuple[Any, ...]:
        budgets = [
            (owner, reader.budget(scope, of, 0.0))
            for scope, owners in (
                (BudgetScope.AGENT, state.agents),
                (BudgetScope.COMPANY, state.companies),
            )
            for of, owner in owners.items()
        ]
        entries = reader.entries(NOW - 15 * DAY, 3_600.0, agent.id)
        return budgets, reader.lives(0.0), reader.queue(None, 0.0), entries

    history = History(path, "demo", address)
    try:
        budgets, lives, queue, (entries, logged) = await history.ask(read)
    finally:
        history.close()
    for owner, track in budgets:
        (span,) = track.seen
        assert span[1] - span[0] > 45 * DAY
        assert abs(track.samples[-1].spent * DOLLAR - owner.spent) < 20
        falls = [b.at for a, b in pairwise(track.samples) if b.spent < a.spent]
        assert all(at - state.period_start <= 7_200 for at in falls)
    assert {life.state for life in lives} >= {TaskState.DONE, TaskState.FAILED, TaskState.REJECTED}
    assert queue.samples[-1].waiting == len(state.pending)
    assert queue.samples[-1].oldest_since == min(task.created for task in state.pending.values())
    ((since, until),) = logged
    assert len(entries) > (until - since) / 3_600 - 2 > 4.5 * 24


def test_agents_go_on_at_the_rates_of_their_past(world: World) -> None:
    active = [agent for agent in world.agents() if agent.status == "active"]
    spent = {agent.id: agent.spent for agent in active}
    days = (world.state.start - world.state.period_start) / DAY
    world.advance(DAY / 4)
    ratios = [(agent.spent - spent[agent.id]) / (spent[agent.id] / days / 4) for agent in active]
    assert 0.7 < median(ratios) < 1.4
    assert sum(ratio > 4 for ratio in ratios) < len(ratios) / 3  # who has run away
    came = [entry for entry in world.activity() if entry.at > world.state.start]
    assert 0.8 < len(came) / 6 / ENTRIES_AN_HOUR < 1.2


async def test_the_sums_of_the_past_go_on_in_those_that_are_polled(tmp_path: Path) -> None:
    with EmbeddedPlatform(speed=0, now=NOW) as platform:
        address, key = BaseUrl.parse(platform.base_url), ApiKey.parse(platform.full_key)
        path = tmp_path / "history.sqlite3"
        write_past(path, platform.world, platform.base_url)
        history = History(path, "demo", str(address))
        poller = Poller(open_client(address, KeyInUse(key)), Store(), Clock())
        tracker = QueueTracker(poller.store, lambda: poller.query.company)
        Sampler(history, poller.store, lambda: poller.query, poller.clock, tracker)
        async with poller.client:
            await poller.read_again(FeedName.COMPANY_BUDGETS)
        (company, *_) = platform.world.state.companies
        history.close(patience=PATIENCE)
        history = History(path, "demo", str(address))
        read = partial(Reader.budget, scope=BudgetScope.COMPANY, subject=company, since=0.0)
        track = await history.ask(read)
        history.close()
    assert None not in {sample.spent for sample in track.samples}
    assert track.samples[0].at < NOW - 45 * DAY
