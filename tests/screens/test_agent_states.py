"""Why an agent does not work, and whom it reports to: wherever its state is shown with room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentco_tui.attention.need_words import sentence_of
from agentco_tui.demo.renderer import Json
from tests.platform import EmbeddedPlatform
from tests.screens.harness import NOW, WIDE, Stage, stage

REASON = "Process exited with code 3"


def _edited(kind: str, record: Json) -> Json:
    """Agents as a platform sends them that says why, and whom they report to."""
    if kind != "agents":
        return record
    if record["name"] == "Linus":
        record |= {"status": "error", "errorReason": REASON}
    if record["name"] == "Sofia":
        record |= {"status": "paused", "pauseReason": "manual", "errorReason": "an old one"}
    return {**record, "reportsTo": BOSS.get("id")}


BOSS: dict[str, str] = {}
"""The id of the agent that all report to."""


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedPlatform]:
    with EmbeddedPlatform(speed=0, now=NOW, edit=_edited) as platform:
        boss = next(agent for agent in platform.world.agents() if agent.name == "Ada")
        monkeypatch.setitem(BOSS, "id", boss.id)
        yield platform


async def _open(s: Stage, name: str) -> None:
    await s.press("/")
    await s.type(name)
    await s.press("enter")
    await s.wait_until(lambda: len(s.rows) == 1, name)


@pytest.mark.parametrize(
    ("name", "state"), [("Linus", f"✖ error ({REASON})"), ("Sofia", "▲ paused (manual)")]
)
async def test_the_page_has_the_reason_and_whom_it_reports_to(
    platform: EmbeddedPlatform, tmp_path: Path, name: str, state: str
) -> None:
    async with stage(platform, tmp_path, place="agents", size=(200, 50)) as s:
        await _open(s, name)
        await s.sees(f"status       {state}", "reports to   Ada ▲ paused (budget)  ag_")
        assert "an old one" not in s.line_with("status  ")
        await s.go("tasks")
        task = next(t for t in platform.world.tasks(status="pending") if t.agent.name == name)
        await _open(s, task.title)
        await s.sees(f"agent        {name} {state}")
        await s.press("a")
        await s.sees("APPROVE 1 task", f"{name} {state} (")


async def test_without_one_nothing_is_said_of_it(tmp_path: Path) -> None:
    with EmbeddedPlatform(speed=0, now=NOW) as platform:
        async with stage(platform, tmp_path, place="agents", size=WIDE) as s:
            await s.sees("status       ▲ paused (budget)")
            assert "reports to" not in s.text


async def test_the_overview_has_the_reason_beside_what_follows(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, size=WIDE) as s:
        await s.press("/")
        await s.type("why:error")
        await s.press("enter")
        await s.wait_until(lambda: len(s.rows) == 1, "the agent in error")
        await s.sees("in error", f"error ({REASON})")
        workspace = s.workspace
        now = workspace.clock.now()
        sentences = [
            sentence_of(need, workspace.names, workspace.outlook, now)
            for need in workspace.needs.shown
        ]
        [words] = [each for each in sentences if "in error" in each]
        assert words.startswith(f"in error ({REASON})")
        assert ": Linus (Globex); " in words
