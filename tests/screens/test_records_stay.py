"""Cursor, view and filter belong to records, through whatever a refresh brings."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.keys import Place
from agentco_tui.live.feeds import FeedName
from tests.screens.harness import Stage, stage


def new_task(platform: EmbeddedPlatform, title: str, priority: str = "low") -> str:
    agent = next(iter(platform.world.state.agents.values()))
    return platform.world.create_task(agent.company.id, title, agent.id, priority).id


def place_of(s: Stage, row_id: str) -> int:
    """The line of the screen that a row stands on."""
    record = s.view.table.rows.record(row_id)
    title = str(getattr(record, "title", ""))[:20]
    return next(at for at, line in enumerate(s.lines) if title in line and "TASK" not in line)


async def test_cursor_through_inserts_and_removals(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        await s.press(*"jjjjj")
        kept = s.cursor
        assert kept is not None
        assert s.rows.index(kept) == 5
        at = place_of(s, kept)
        platform.world.another_operator(s.rows[1], "approve")
        platform.world.another_operator(s.rows[2], "reject")
        await s.press("r")
        await s.wait_until(lambda: s.rows.index(kept) == 3, "two rows fewer above it")
        assert s.cursor == kept
        assert place_of(s, kept) in (at, at - 2)
        new_task(platform, "Water the plants", "urgent")
        await s.press("r")
        await s.wait_until(lambda: len(s.rows) == 39, "the new task")
        assert s.cursor == kept


async def test_cursor_through_sorts(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        await s.press(*"jjjjjjj")
        kept = s.cursor
        seen = set()
        for _ in range(7):
            await s.press("s")
            seen.add(s.view.table.sort[0])
            assert s.cursor == kept
            assert f"by {s.view.table.sort[0]} " in s.lines[2]
        assert len(seen) > 4
        order = s.rows
        await s.press("S")
        assert s.cursor == kept
        await s.wait_until(lambda: s.rows != order, "the other order")
        shown = [line for line in s.lines if line.startswith("▌")]
        assert len(shown) == 1, "the cursor can be seen"


async def test_a_refresh_re_sorts_and_the_cursor_stays(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="agents") as s:
        while s.view.table.sort[0] != "left":
            await s.press("s")
        await s.press("g", *"jjjj")
        kept = s.cursor
        assert kept is not None
        before = s.rows.index(kept)
        platform.world.set_limit(kept, 5_000)
        await s.press("r")
        await s.wait_until(lambda: s.rows.index(kept) != before, "another place in the order")
        assert s.cursor == kept


async def test_the_detail_shows_the_record_and_follows_its_changes(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="agents", size=(120, 40)) as s:
        await s.press("j", "j", "j")
        agent = platform.world.agent(str(s.cursor))
        await s.wait_until(lambda: agent.id in s.listed.detail.shown, "its detail")
        with platform.world.living() as state:
            agent.model = "quite-another-model"
            state.changed(agent)
        await s.poll(FeedName.AGENTS)
        await s.sees("quite-another-model")
        assert s.cursor == agent.id


@pytest.mark.parametrize("place", ["overview", "tasks"])
async def test_what_another_feed_brings_later_is_shown(
    platform: EmbeddedPlatform, tmp_path: Path, place: Place
) -> None:
    """Trust comes with the agents; the tasks themselves do not change by it."""
    platform.faults.add("agents:status=503")
    async with stage(platform, tmp_path, place=place, size=(160, 40), wait=False) as s:
        await s.sees("Refund 214 customers")
        assert "38" not in s.line_with("Refund 214 customers").replace("Refund 214", "")
        platform.faults.clear()
        await s.poll(FeedName.AGENTS)
        await s.wait_until(lambda: "38" in s.line_with("Refund 214 customers"), "Linus's trust")
