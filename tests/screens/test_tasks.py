from __future__ import annotations

from pathlib import Path

from agentco_tui.demo.server import EmbeddedPlatform
from tests.screens.harness import NARROW, WIDE, stage


async def test_the_longest_wait_first(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        created = [platform.world.task(row).created for row in s.rows]
        assert created == sorted(created)
        assert all(platform.world.task(row).status == "pending" for row in s.rows)
        assert {t.id for t in platform.world.tasks(status="pending")} == set(s.rows)


async def test_one_key_shows_the_other_statuses(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        await s.press("v")
        await s.sees("all statuses")
        await s.wait_until(lambda: len(s.rows) == len(platform.world.state.tasks), "all tasks")
        words = sorted({task.status for task in platform.world.state.tasks.values()} - {"pending"})
        for word in words:
            await s.press("v")
            await s.sees(f"TASKS {word}")
            wanted = {t.id for t in platform.world.tasks(status=word)}
            assert set(s.rows) == wanted
        await s.press("v")
        await s.sees("TASKS pending")
        assert len(s.rows) == 40


async def test_the_detail_is_beside_where_there_is_room(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks", size=WIDE) as s:
        row = s.cursor
        assert row is not None
        await s.sees(row, "Description", "PRIORITY")
        await s.press("j")
        await s.wait_until(lambda: s.shows(str(s.cursor)), "the next one's detail")
        assert s.cursor != row


async def test_the_detail_is_on_enter_where_there_is_not(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks", size=NARROW) as s:
        row = str(s.cursor)
        assert row not in s.text
        await s.press("enter")
        await s.sees(row, "Description", "esc back")
        assert "Refund 214" not in s.text, "the list gives way"
        await s.press("a")
        await s.sees("APPROVE")
        await s.press("escape")
        await s.sees(row)
        await s.press("escape")
        await s.sees("Refund 214 customers", "WAITS")
        assert s.cursor == row


async def test_the_trace_shows_its_steps(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="tasks", size=WIDE) as s:
        await s.press("j", "t")
        await s.sees("TRACE", "Refund 214 customers", "tool_call", "payments.refund")
        (request,) = platform.requests.matching("trace")
        assert request.path == f"/api/tasks/{s.cursor}/trace"
        await s.press("x")
        await s.sees("hidden characters shown")
        await s.press("x")
        await s.sees_no("hidden characters shown")
        await s.press("q")
        await s.sees("TASKS")


async def test_raw_shows_all_fields_with_what_hides(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks", size=WIDE) as s:
        await s.press("x")
        await s.wait_until(lambda: '"title_from": "title"' in s.listed.detail.shown, "all fields")
        assert '"estimated_cost": 0.34' in s.listed.detail.shown, "those not understood as well"
        assert "\\n" not in s.listed.detail.shown
        await s.press("x")
        await s.wait_until(lambda: "title_from" not in s.listed.detail.shown, "the detail again")
