"""A company that does not work says so: in its list at every width, and where its tasks and agents
are judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentco_tui.demo.renderer import Json
from agentco_tui.demo.world_state import DemoAgent, DemoTask
from agentco_tui.live.feeds import FeedName
from tests.platform import EmbeddedPlatform
from tests.screens.harness import NOW, Stage, stage

SIZES = [(40, 20), (60, 20), (80, 24), (120, 40), (200, 50)]
STATUS = {"Globex": "active"}
STOPPED = {"Globex": False}
"""Whether a company is stopped by its budget, as the budget says it."""


def _with_status(kind: str, record: Json) -> Json:
    """A company and its budget as a platform sends them that can pause whole companies."""
    if kind == "companies":
        record["status"] = STATUS.get(record["name"], "active")
    if kind == "company_budgets":
        record["paused"] = STOPPED.get(record["company_name"], False)
    return record


@pytest.fixture(autouse=True)
def _globex_is_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STATUS, "Globex", "paused")


@pytest.fixture(params=["paused", "archived", "stopped by its budget"])
def idle(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Why Globex does not work; returns the word that says so."""
    is_stopped = request.param == "stopped by its budget"
    monkeypatch.setitem(STATUS, "Globex", "active" if is_stopped else request.param)
    monkeypatch.setitem(STOPPED, "Globex", is_stopped)
    return "paused" if is_stopped else request.param


@pytest.mark.parametrize("size", SIZES)
async def test_its_status_is_at_every_width_wherever_it_counts(
    tmp_path: Path, size: tuple[int, int], idle: str
) -> None:
    """On Companies, beside its agents and tasks, on the Overview and in the question."""
    with EmbeddedPlatform(speed=0, now=NOW, edit=_with_status) as platform:
        task = next(t for t in platform.world.tasks(status="pending") if _is_of_globex(t))
        async with stage(platform, tmp_path, place="companies", size=size) as s:
            await s.sees("Globex", idle)
            assert idle in s.line_with("Globex")
            await s.go("overview")
            await s.sees(f"▲ Globex {idle}")
            assert "NEEDS YOU" in s.line_with(f"▲ Globex {idle}")
            await s.go("agents")
            name = next(a.name for a in platform.world.agents() if _is_at_work_in_globex(a))
            await s.press("/")
            await s.type(name)
            await s.press("enter")
            await s.wait_until(lambda: _is_beside(s, name, idle), idle)
            await s.go("tasks")
            await s.press("/")
            await s.type(task.title)
            await s.press("enter")
            start = task.title[:12]
            await s.wait_until(lambda: _is_beside(s, start, f"▲ {idle}"), idle)
            await s.press("a")
            await s.sees("APPROVE 1 task", f"Globex ▲ {idle}")


def _is_beside(s: Stage, name: str, words: str) -> bool:
    return any(name in line and words in line for line in s.lines)


def _is_of_globex(task: DemoTask) -> bool:
    return task.agent.company.name == "Globex"


def _is_at_work_in_globex(agent: DemoAgent) -> bool:
    return agent.company.name == "Globex" and agent.status == "active"


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
            assert "▲ company paused" in s.line_with(task.agent.name)
            await s.go("tasks")
            await s.press("/")
            await s.type(task.title[:12])
            await s.press("enter")
            await s.sees("Globex ▲ paused")
            await s.press("a")
            await s.sees("APPROVE", "Globex ▲ paused")
