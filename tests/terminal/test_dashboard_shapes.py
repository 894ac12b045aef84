"""The dashboard on a platform of another response shape and with odd rows, over a real network.

What is expected on the screen comes from the world itself, which is the same for the same seed.
That every shape is read whole is shown by the client's tests; `AGENTCO_ALL_SHAPES=1` walks the
screens in every shape, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from agentco_tui.demo.world import World
from tests.platform.shapes import SHAPE_NAMES
from tests.terminal.dashboard import approve, dashboard, leave, ready, rows_with, show
from tests.terminal.platform_process import PlatformProcess

ODD = "odd rows"
"""The plain shape, with rows that are no records and fields that are none among the good ones."""
WORDLESS = {"cents", "epoch"}
"""These send activity entries without a sentence."""
WALKED = (*SHAPE_NAMES, ODD) if os.environ.get("AGENTCO_ALL_SHAPES") else ("graphql", ODD)
TITLE = 20
"""Characters of a title that every column shows."""


def checks(shape: str) -> list[Callable[[str], None]]:
    """For each screen, what stands on it: all of the world, or with odd rows the half of it."""
    world = World(7, speed=0.0)
    pending = sorted(world.tasks(status="pending"), key=lambda task: task.created)
    least = 0.25 if shape == ODD else 1.0

    def overview(screen: str) -> None:
        titles = [task.title[:TITLE] for task in pending]
        shown = [title for title in titles if rows_with(screen, "approve", title)]
        assert len(shown) >= 8 * least
        assert f"{len(pending)} tasks wait" in screen
        assert rows_with(screen, " all ", "48 %")
        assert screen.split("\n")[4].startswith("▌  ✖"), "the cursor is on the worst"

    def companies(screen: str) -> None:
        waiting = [task.agent.company.name for task in pending]
        for company in {agent.company.name: agent.company for agent in world.agents()}.values():
            count = waiting.count(company.name)
            assert re.search(rf"{company.name} .*\b{company.agents} +{count} ", screen)

    def agents(screen: str) -> None:
        names = [agent.name for agent in world.agents()]
        shown = [name for name in names if re.search(rf"^.{{6}}{name} ", screen, re.MULTILINE)]
        assert len(shown) >= len(names) * least
        assert rows_with(screen, "Ada", "▲ ", "(bud")
        assert "-0.000001" not in screen

    def tasks(screen: str) -> None:
        rows = [rows_with(screen, task.title[:TITLE], task.agent.name) for task in pending]
        assert sum(map(bool, rows)) >= len(pending) * least
        if shape != ODD:
            order = [screen.index(row[0]) for row in rows[:10]]
            assert order == sorted(order), "the longest waiting first"
            assert pending[0].title in screen, "its detail stands beside the list"

    def budgets(screen: str) -> None:
        assert rows_with(screen, "Acme Robotics", "83 %", "1,151.28", "1,390.00")
        assert rows_with(screen, "Ada", "119 %", "118.80", "100.00", "✖")
        assert rows_with(screen, " all ", "48 %", "3,182.91")
        if shape != ODD:
            assert "ALERTS 9" in screen
            assert rows_with(screen, "Initech Content", "81 %", "▲")

    def activity(screen: str) -> None:
        for entry in () if shape == ODD else world.activity()[:5]:
            words = "" if shape in WORDLESS else entry.message[:TITLE]
            assert rows_with(screen, entry.agent.name if entry.agent else "", words)

    return [overview, companies, agents, tasks, budgets, activity]


@pytest.mark.parametrize("shape", WALKED)
def test_every_screen_in_every_shape(shape: str, tmp_path: Path) -> None:
    options = ("--fault", "reads:odd_rows") if shape == ODD else ("--shape", shape)
    with (
        PlatformProcess(*options) as platform,
        dashboard(platform, tmp_path, size=(150, 50)) as session,
    ):
        ready(session)
        for number, check in enumerate(checks(shape), start=1):
            screen = show(session, number, check)
            assert ("could not be read" in screen) <= (shape == ODD)
            assert "✖ no data" not in screen
        show(session, 4)
        session.press("g")
        approve(session)
        session.wait_for("TASKS ▌pending 39 ")
        session.wait_for("approved")
        applied = platform.world()["applied"]
        assert list(applied.values()) == [1]
        sent = [seen["path"] for seen in platform.requests() if seen["method"] == "POST"]
        assert sent == [f"/api/tasks/{task_id}/approve" for task_id in applied]
        leave(session)
