"""The question about a hire says first who is hired, and for how much."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentco_tui.demo.renderer import Json
from tests.platform import EmbeddedPlatform
from tests.screens.harness import NOW, stage

PAYLOAD = {
    "name": "Cleo",
    "role": "finance",
    "title": "Finance lead",
    "budgetMonthlyCents": 75000,
    "capabilities": "Keeps the books",
}


def _all_hires(kind: str, record: Json) -> Json:
    """A task as Paperclip sends a request to hire: all that counts is in its payload."""
    if kind != "tasks":
        return record
    kept = ("id", "status", "company_id", "agent_id", "created_at", "updated_at")
    sent = {name: record[name] for name in kept}
    return {**sent, "type": "hire_agent", "payload": PAYLOAD}


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_who_is_hired_and_for_how_much_are_at_the_head(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    with EmbeddedPlatform(speed=0, now=NOW, edit=_all_hires) as platform:
        async with stage(platform, tmp_path, place="tasks", size=size) as s:
            await s.sees("hire agent")
            await s.press("a")
            await s.sees("APPROVE 1 task", "Keeps the books")
            head = next(at for at, line in enumerate(s.lines) if "APPROVE 1 task" in line)
            assert "hire agent: Cleo, Finance lead" in s.lines[head + 1]
            assert "budgetMonthlyCents  75,000 = 750.00" in s.lines[head + 2]
            assert s.text.count("75,000") == 1
            assert re.search(r"│ cost +not sent ", s.text)
            assert re.search(r"│ name +Cleo ", s.text)
