"""A company that does not work says so: in its list at every width, and where its tasks and agents
are judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentco_tui.demo.renderer import Json
from agentco_tui.live.feeds import FeedName
from tests.platform import EmbeddedPlatform
from tests.screens.harness import NOW, stage

STATUS = {"Globex": "active"}


def _with_status(kind: str, record: Json) -> Json:
    """A company as a platform sends it that can pause whole companies."""
    if kind == "companies":
        record["status"] = STATUS.get(record["name"], "active")
    return record


@pytest.fixture(autouse=True)
def _globex_is_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STATUS, "Globex", "paused")


@pytest.mark.parametrize("size", [(40, 20), (60, 20), (80, 24), (120, 40), (200, 50)])
async def test_its_status_is_in_the_list_at_every_width(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    with EmbeddedPlatform(speed=0, now=NOW, edit=_with_status) as platform:
        async with stage(platform, tmp_path, place="companies", size=size) as s:
            await s.sees("Globex")
            assert "▲ paused" in s.line_with("Globex")


async def test_as_long_as_all_work_the_status_gives_way_to_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STATUS, "Globex", "active")
    with EmbeddedPlatform(speed=0, now=NOW, edit=_with_status) as platform:
        async with stage(platform, tmp_path, place="companies", size=(120, 40)) as s:
            await s.sees("Globex")
            assert "STATUS" not in s.text
            globex = next(c for c in platform.world.state.companies.values() if c.name == "Globex")
            for status in ("paused", "active"):
                monkeypatch.setitem(STATUS, "Globex", status)
                platform.world.state.changed(globex)
                await s.poll(FeedName.COMPANIES)
                if status == "paused":
                    await s.sees("STATUS", "▲ paused")
                else:
                    await s.sees_no("STATUS")


async def test_its_agents_and_tasks_say_so(tmp_path: Path) -> None:
    with EmbeddedPlatform(speed=0, now=NOW, edit=_with_status) as platform:
        waiting = platform.world.tasks(status="pending")
        task = next(t for t in waiting if t.agent.company.name == "Globex")
        async with stage(platform, tmp_path, place="agents", size=(120, 40)) as s:
            await s.sees(task.agent.name)
            assert "▲ active, " in s.line_with(task.agent.name)
            await s.go("tasks")
            await s.press("/")
            await s.type(task.title[:12])
            await s.press("enter")
            await s.sees("Globex ▲ paused")
            await s.press("a")
            await s.sees("APPROVE", "Globex ▲ paused")
