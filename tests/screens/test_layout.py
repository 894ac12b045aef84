"""What stands where at the usual sizes of a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.keys import Place
from agentco_tui.text import signs
from tests.screens.harness import Stage, stage

COLUMNS: dict[tuple[Place, int], str] = {
    ("overview", 80): "WHY SINCE WHAT FIGURE",
    ("overview", 120): "WHY SINCE WHAT AGENT COMPANY FIGURE",
    ("companies", 80): "COMPANY AGENTS WAITING SPENT OF LIMIT",
    ("companies", 120): "COMPANY AGENTS WAITING SPENT OF LIMIT",
    ("agents", 80): "AGENT COMPANY STATUS TRUST LEFT",
    ("agents", 100): "AGENT ROLE COMPANY STATUS TRUST LEFT DONE",
    ("agents", 120): "AGENT COMPANY STATUS TRUST LEFT",
    ("tasks", 80): "WAITS PRIORITY TASK AGENT",
    ("tasks", 100): "WAITS PRIORITY TASK AGENT COMPANY TRUST",
    ("tasks", 120): "WAITS PRIORITY TASK AGENT",
    ("budget", 80): "BUDGET OF USED % SPENT LIMIT LEFT",
    ("budget", 100): "BUDGET OF COMPANY USED % SPENT LIMIT LEFT",
    ("activity", 80): "AGE AGENT WHAT HAPPENED",
    ("activity", 100): "AGE AGENT WHAT HAPPENED COMPANY",
}
"""The columns of a screen by the terminal's width, in the order of their importance elsewhere."""


def titles(s: Stage) -> str:
    """The titles of the columns that show, without the sign of the order."""
    area = s.view.table.region
    words = s.lines[area.y][area.x : area.right].split()
    return " ".join(word for cell in words if (word := cell.strip(f"{signs.up}{signs.down}")))


@pytest.mark.parametrize(("place", "width"), COLUMNS)
async def test_columns_by_width(
    platform: EmbeddedPlatform, tmp_path: Path, place: Place, width: int
) -> None:
    async with stage(platform, tmp_path, place=place, size=(width, 30)) as s:
        await s.poll()
        assert titles(s) == COLUMNS[place, width]


async def test_needs_you_is_said_once(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path) as s:
        await s.poll()
        assert s.text.upper().count("NEEDS YOU") == 1
