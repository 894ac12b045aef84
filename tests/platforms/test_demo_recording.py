"""The recorded demo: all that its platform's file asks for is in it, and nothing private."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agentco_tui.api.recording import Recording
from agentco_tui.cli.replay_dashboard import ReplayApp
from agentco_tui.demo.recordings import recorded_platforms, unpack_recording
from agentco_tui.live.feeds import FeedName, Freshness
from agentco_tui.live.fetch import ACTIVITY_LIMIT
from tests.platforms.demo_recording import PAGES_EVERY, REFRESH
from tests.platforms.test_replay import poller_of, replayed

PRIVATE = re.compile(
    rb"/(?:home|Users|root|tmp|var|usr|opt|private)\b|[A-Z]:\\\\|[\w.-]+@[\w-]+\.\w|\bsk-|pcp_|Bearer"
    rb"|(?i:password|api.?key|localhost|hostname)"
)
"""Paths of a machine, addresses of people, keys."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    unpack_recording("paperclip", tmp_path / "demo.rec")
    return tmp_path / "demo.rec"


@pytest_asyncio.fixture
async def app(file: Path) -> AsyncIterator[ReplayApp]:
    async with replayed(file) as opened:
        yield opened


def is_current(freshness: Freshness) -> bool:
    return freshness.answered_at is not None and freshness.failure is None


async def test_it_has_every_answer_at_any_time_and_much_happens(app: ReplayApp) -> None:
    poller, store = poller_of(app), app.workspace.store
    recording = poller.clock.recording
    states: dict[str, list[str]] = {"Ada": [], "Maya": [], "Grace": []}
    sums, waiting, log = list[object](), list[set[str]](), list[int]()
    at = recording.begins + REFRESH
    while at < recording.ends:
        poller.set(at=at)
        await poller.poll_all()
        failed = [feed for feed in FeedName if not is_current(store.freshness[feed])]
        assert failed == [], "record it again: tests/platforms/demo_recording.py says how"
        for agent in store.agents:
            if agent.name in states and states[agent.name][-1:] != [agent.state]:
                states[agent.name].append(str(agent.state))
        whole, *_ = app.workspace.budgets()
        sums.append(whole.spent)
        waiting.append({str(task.title) for task in store.pending})
        log.append(len(store.activity))
        at += REFRESH
    assert states == {
        "Ada": ["idle", "active", "idle"],
        "Maya": ["idle", "paused", "idle"],
        "Grace": ["idle", "active", "idle"],
    }
    assert len(set(map(str, sums))) > 4
    assert sorted(log) == log
    assert log[-1] > log[0] + 10
    assert "Hire Cleo, Finance lead, $250/month" in waiting[-1] - waiting[0]
    assert waiting[0] - waiting[-1] == {"Buy a licence of the map data"}


async def test_traces_and_the_logs_of_agents_are_there(app: ReplayApp) -> None:
    poller, client = poller_of(app), app.workspace.client
    poller.set(at=poller.clock.recording.begins + PAGES_EVERY * REFRESH)
    await poller.poll_all()
    steps = [(await client.task_trace(task.id)).steps for task in app.workspace.store.pending]
    assert sum(map(bool, steps)) > 3
    for agent in app.workspace.store.agents:
        await client.activity(agent_id=agent.id, limit=ACTIVITY_LIMIT)


def test_nothing_in_it_is_private(file: Path) -> None:
    recording = Recording(file)
    # private: a recording has no public list of all its answers.
    found = [each for answers in recording._by_target.values() for each in answers]
    targets = [each.answer.target.encode() for each in found]
    whole = b"\n".join([*targets, *map(recording.body, found)])
    assert len(found) > 500
    assert set(PRIVATE.findall(whole)) == set()
    assert (recording.about.profile, recording.about.platform) == ("demo", "paperclip")
    assert recording.about.base_url == "http://127.0.0.1:3100"


def test_each_recording_is_named_as_its_platform(tmp_path: Path) -> None:
    for name in recorded_platforms():
        unpack_recording(name, tmp_path / name)
        assert Recording(tmp_path / name).about.platform == name
