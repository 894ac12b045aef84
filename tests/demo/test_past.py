"""What an embedded world was before its start: it ends in what it begins with."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from agentco_tui.api.client import open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl, KeyInUse
from agentco_tui.commands.demo import remember_past
from agentco_tui.demo.past import PastBudget, budgets_before, queues_before
from agentco_tui.demo.world import World
from agentco_tui.live.feeds import Clock, FeedName
from agentco_tui.live.history import History, Reader
from agentco_tui.live.history_sampler import Sampler
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from agentco_tui.model import BudgetScope, TaskState
from tests.demo.conftest import NOW
from tests.embedded import EmbeddedPlatform

DAY = 86_400.0
PATIENCE = 60.0


@pytest.fixture
def world() -> World:
    return World(7, speed=0, now=NOW)


def test_the_past_ends_in_the_sums_of_the_start_and_falls_where_a_period_ends(world: World) -> None:
    state, of = world.state, defaultdict[str, list[PastBudget]](list)
    for was in budgets_before(state):
        of[was.of].append(was)
    owners = {**state.agents, **state.companies}
    assert set(of) == {"", *owners}
    for owner_id, owner in owners.items():
        assert abs(of[owner_id][-1].spent - owner.spent) < 20
    for budgets in of.values():
        falls = [b for a, b in pairwise(budgets) if b.spent < a.spent]
        assert all(fall.at - state.period_start <= 3_600 for fall in falls)
        assert budgets[-1].at - budgets[0].at > 45 * DAY


def test_the_queue_of_the_past_ends_in_that_of_the_start(world: World) -> None:
    last = {was.of: was for was in queues_before(world.state)}
    assert last[""].waiting == len(world.state.pending)
    assert last[""].oldest == min(task.created for task in world.state.pending.values())
    for company in world.state.companies.values():
        assert last[company.id].waiting == company.pending


async def test_the_history_of_a_demo_holds_its_past(world: World, tmp_path: Path) -> None:
    path, address = tmp_path / "history.sqlite3", "http://127.0.0.1:8111"
    remember_past(path, world, address)
    history = History(path, "demo", address)
    try:
        whole = await history.ask(lambda reader: reader.budget(BudgetScope.ALL, "", 0.0))
        lives = await history.ask(lambda reader: reader.lives(0.0))
        queue = await history.ask(lambda reader: reader.queue(None, 0.0))
    finally:
        history.close()
    (span,) = whole.seen
    assert span[1] - span[0] > 45 * DAY
    assert len(whole.samples) > 1_000
    assert {life.state for life in lives} >= {TaskState.DONE, TaskState.FAILED, TaskState.REJECTED}
    assert queue.samples[-1].waiting == len(world.state.pending)


async def test_the_sums_of_the_past_go_on_in_those_that_are_polled(tmp_path: Path) -> None:
    with EmbeddedPlatform(speed=0, now=NOW) as platform:
        address, key = BaseUrl.parse(platform.base_url), ApiKey.parse(platform.full_key)
        path = tmp_path / "history.sqlite3"
        remember_past(path, platform.world, platform.base_url)
        history = History(path, "demo", str(address))
        poller = Poller(open_client(address, KeyInUse(key)), Store(), Clock())
        Sampler(history, poller.store, lambda: poller.query, poller.clock)
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
