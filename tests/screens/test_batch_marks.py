"""Marks belong to tasks, survive what a person does meanwhile, and are told of when they go."""

from __future__ import annotations

from pathlib import Path

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.live.feeds import FeedName
from agentco_tui.screens.dialogs.batch_dialog import BatchQuestion
from tests.actions.office import QUICK
from tests.screens.harness import RunningClock, Stage, stage


async def says(s: Stage, *words: str) -> None:
    """Wait for a message with all these words, however its lines are broken."""
    await s.wait_until(
        lambda: any(all(word in toast.message for word in words) for toast in s.app._notifications),
        repr(words),
    )


async def test_one_a_range_all_that_the_filter_shows_and_none(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        rows = s.rows
        await s.press("space")
        assert list(s.view.table.marked) == [rows[0]]
        await s.press("j", "j", "j", "m")
        assert set(s.view.table.marked) == set(rows[:5])
        await s.sees("5 marked")
        await s.press("escape")
        assert not len(s.view.table.marked)
        await s.press("slash")
        await s.type("priority:urgent")
        await s.press("enter", "asterisk")
        shown = s.rows
        assert 0 < len(shown) < len(rows)
        assert set(s.view.table.marked) == set(shown)
        await s.press("escape", "space")
        assert len(s.view.table.marked) in (len(shown) - 1, len(shown) + 1), "one by its own key"
        await s.press("escape")
        assert not s.view.table.marked
        assert not s.writes


async def test_marks_survive_refreshes_a_filter_and_other_screens(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        marked = (s.rows[0], s.rows[1], s.rows[2])
        await s.press("space", "space", "space")
        await s.press("r")
        await s.poll()
        await s.press("slash")
        await s.type("zzzz no such task")
        await s.press("enter")
        assert not s.rows
        await s.sees("3 marked")
        await s.press("escape")
        for place in ("agents", "overview"):
            await s.go(place)
            await s.poll()
        await s.go("tasks")
        assert s.view.table.marked == marked
        await s.press("v")
        await s.sees("all statuses")
        while not s.shows("TASKS pending"):
            await s.press("v")
        assert set(s.view.table.marked) == set(marked), "nor does a look at other statuses"
        await s.sees("3 marked")


async def test_marked_tasks_that_vanish_are_told_and_not_sent(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    clock = RunningClock(platform)
    async with stage(platform, tmp_path, place="tasks", clock=clock, timing=QUICK) as s:
        first, second, third = s.rows[:3]
        title = platform.world.task(second).title
        await s.press("space", "space", "space")
        platform.world.another_operator(second, "reject", "Wanda")
        await s.poll(FeedName.ACTIVITY)
        await s.poll(FeedName.PENDING)
        await says(s, "not marked any more", title, "rejected elsewhere")
        await s.sees("2 marked")
        await s.press("a")
        await s.wait_until(lambda: isinstance(s.app.screen, BatchQuestion), "the question")
        await s.sees("2 tasks")
        await s.yes()
        await s.sees("2 approved here")
        assert {seen.path.split("/")[3] for seen in s.writes} == {first, third}
        lost = [toast for toast in s.app._notifications if "not marked any more" in toast.message]
        assert len(lost) == 1, "those approved from here are no surprise"
