"""The dashboard on platforms of the response shapes that differ most, over a real network.

What is expected on the screen comes from the world itself, which is the same for the same seed.
That every shape is read whole is shown by the client's tests; `AGENTCO_ALL_SHAPES=1` walks the
screens in every shape, too.
"""

from __future__ import annotations

import os
import re
from functools import cache, partial
from pathlib import Path

import pytest

from agentco_tui.demo.shapes import SHAPES
from agentco_tui.demo.world import World
from agentco_tui.demo.world_state import DemoTask
from tests.terminal.dashboard import dashboard, leave, ready, rows_with, say_yes, show
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.pty_session import PtySession

ODD = "odd rows"
"""The plain shape, with rows that are no records and fields that are none among the good ones."""
WORDLESS = {"cents", "epoch"}
"""These send activity entries without a sentence."""
WALKED = (
    (*SHAPES, ODD)
    if os.environ.get("AGENTCO_ALL_SHAPES")
    else ("cents", "graphql", "linkheader", "envelope_ok", ODD)
)
SIZE = (150, 50)
TITLE = 20
"""Characters of a title that every column shows."""


@cache
def world() -> World:
    """The world that `demo --serve` begins with."""
    return World(7, speed=0.0)


def rows_of(screen: str, task: DemoTask) -> list[str]:
    """The rows that show a task with its agent."""
    return rows_with(screen, task.title[:TITLE], task.agent.name)


@pytest.mark.parametrize("shape", WALKED)
def test_every_screen_in_every_shape(shape: str, tmp_path: Path) -> None:
    options = ("--fault", "reads:odd_rows") if shape == ODD else ("--shape", shape)
    with (
        PlatformProcess(*options) as platform,
        dashboard(platform, tmp_path, size=SIZE) as session,
    ):
        ready(session)
        for number, check in enumerate(CHECKS, start=1):
            shows_all = partial(check, shape=shape)
            screen = show(session, number, shows_all)
            assert ("could not be read" in screen) <= (shape == ODD)
            assert "✖ no data" not in screen
        approves(session, platform)
        leave(session)


def check_overview(screen: str, shape: str) -> None:
    """Waiting tasks by title, with agent and company; the cursor on the worst, the first line."""
    pending = world().tasks(status="pending")
    shown = [
        task
        for task in pending
        for words in [(task.title[:TITLE], task.agent.name, task.agent.company.name)]
        if rows_with(screen, "approve", *words)
    ]
    assert len(shown) >= (4 if shape == ODD else 8)
    assert f"{len(pending)} tasks wait" in screen
    assert rows_with(screen, " all ", "48 %")
    assert screen.split("\n")[4].startswith("▌  ✖")


def check_companies(screen: str, shape: str) -> None:
    """Each company by name, with its agents and what waits there."""
    companies = [task.agent.company for task in world().tasks(status="pending")]
    for company in {agent.company.name: agent.company for agent in world().agents()}.values():
        waiting = companies.count(company)
        assert re.search(rf"{company.name} .*\b{company.agents} +{waiting} ", screen)


def check_agents(screen: str, shape: str) -> None:
    """Each agent by name, with its status."""
    names = [agent.name for agent in world().agents()]
    shown = [name for name in names if re.search(rf"^.{{6}}{name} ", screen, re.MULTILINE)]
    assert f"{len(names)} " in screen
    assert len(shown) >= (len(names) // 2 if shape == ODD else len(names))
    assert rows_with(screen, "Ada", "▲ ", "(bud")
    assert "-0.000001" not in screen


def check_tasks(screen: str, shape: str) -> None:
    """The longest waiting first, each with its agent."""
    pending = sorted(world().tasks(status="pending"), key=lambda task: task.created)
    shown = [task for task in pending if rows_of(screen, task)]
    if shape == ODD:
        assert len(shown) >= len(pending) // 4
        return
    assert shown == pending
    assert pending[0].title in screen, "the detail of the first stands beside the list"
    order = [screen.index(rows_of(screen, task)[0]) for task in pending[:10]]
    assert order == sorted(order)


def check_budgets(screen: str, shape: str) -> None:
    """Gauges for the whole, for companies and for agents, and alerts beside them."""
    assert rows_with(screen, "Acme Robotics", "83 %", "1,151.28", "1,390.00")
    assert rows_with(screen, "Ada", "119 %", "118.80", "100.00", "✖")
    assert rows_with(screen, " all ", "48 %", "3,182.91")
    if shape != ODD:
        assert "ALERTS 9" in screen
        assert rows_with(screen, "Initech Content", "81 %", "▲")


def check_activity(screen: str, shape: str) -> None:
    """The newest first, by agent, with what happened."""
    for entry in world().activity()[:5]:
        who = entry.agent.name if entry.agent else ""
        words = "" if shape in WORDLESS else entry.message[:TITLE]
        if shape != ODD:
            assert rows_with(screen, who, words)
    assert "200" in screen or shape == ODD


CHECKS = (
    check_overview,
    check_companies,
    check_agents,
    check_tasks,
    check_budgets,
    check_activity,
)


def approves(session: PtySession, platform: PlatformProcess) -> None:
    """Approve the task that waits longest: sent once, and applied once."""
    show(session, 4)
    session.press("g", "a")
    session.wait_for("APPROVE 1 task")
    say_yes(session, "APPROVE 1 task")
    session.wait_for("TASKS pending · all companies · 39")
    session.wait_for("approved")
    applied = platform.world()["applied"]
    assert list(applied.values()) == [1]
    sent = [seen["path"] for seen in platform.requests() if seen["method"] == "POST"]
    assert sent == [f"/api/tasks/{task_id}/approve" for task_id in applied]
