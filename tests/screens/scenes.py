"""What the pictures show: each scene brings a dashboard on a frozen world to where it is drawn."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from textual.widgets import Input

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.keys import Place
from tests.screens.harness import NARROW, WIDE, Stage, settings_for, stage

SIZES = (NARROW, WIDE)
DRAWN_WITH = {"textual": "8.2.8", "rich": "15.0.0"}
"""Other versions may draw borders, scroll bars and colours otherwise."""


async def nothing(_: Stage) -> None:
    """As it opens."""


async def detail(s: Stage) -> None:
    """A task's detail: beside the list where there is room, else in its place."""
    await s.press("j", "enter")
    await s.sees("Description")


async def approve(s: Stage) -> None:
    """The question whether to approve, with the end of the trace."""
    await s.press("j", "a")
    await s.armed()
    await s.sees("5 steps")


async def approve_many(s: Stage) -> None:
    """The question whether to approve three."""
    for key in ("j", "space", "space", "space"):
        await s.press(key)
        await s.at_rest()
    await s.press("a")
    await s.armed()
    await s.sees("3 tasks")


async def trace(s: Stage) -> None:
    """What the agent did for a task."""
    await s.press("j", "t")
    await s.sees("payments.refund")


async def limit(s: Stage) -> None:
    """The form for an agent's limit, with a new one typed."""
    await s.press("l")
    await s.sees("SET LIMIT")
    await s.press(*["backspace"] * 8, *"250")
    await s.sees("+$150.00")


async def new_task(s: Stage) -> None:
    """The form for a task, with a field that is wrong."""
    await s.press("n")
    await s.sees("CREATE")
    for entry in s.app.screen.query(Input):
        entry.focus()
    await s.settle()
    await s.press("enter")
    await s.sees("✖")


async def filtered(s: Stage) -> None:
    """A filter while it is typed."""
    await s.press("slash", *"ada")
    await s.sees("/ada")


async def failing(s: Stage) -> None:
    """The platform fails: the last picture stays."""
    s.platform.faults.add("*:status=503")
    s.platform.world.advance(48)
    await s.poll()
    await s.sees("48 s old")


async def failing_from_the_start(s: Stage) -> None:
    """Nothing could be read yet."""
    await s.sees("no data yet")


async def loading(s: Stage) -> None:
    """Nothing has answered yet."""
    await s.sees("loading")


async def keys(s: Stage) -> None:
    """The keys of the screen."""
    await s.press("question_mark")
    await s.sees("Keys on")


@dataclass(frozen=True)
class Scene:
    """A picture: what is set up, where it begins, and what is done there."""

    place: Place = "overview"
    play: Callable[[Stage], Awaitable[None]] = nothing
    theme: str | None = None
    read_only: bool = False
    no_color: bool = False
    faults: tuple[str, ...] = ()
    """From the start, so that no feed answers."""
    bare: bool = False
    """On a platform that has nothing yet."""

    def world(self, now: float) -> EmbeddedPlatform:
        """The platform it is drawn from, which stands still at this moment."""
        if self.bare:
            return EmbeddedPlatform(companies=0, agents=0, tasks=0, speed=0, now=now)
        return EmbeddedPlatform(speed=0, now=now)


SCENES: dict[str, Scene] = {
    "overview": Scene(),
    "companies": Scene("companies"),
    "agents": Scene("agents"),
    "tasks": Scene("tasks"),
    "task-detail": Scene("tasks", detail),
    "approve": Scene("tasks", approve),
    "approve-many": Scene("tasks", approve_many),
    "trace": Scene("tasks", trace),
    "budget": Scene("budget"),
    "activity": Scene("activity"),
    "limit": Scene("agents", limit),
    "new-task": Scene("tasks", new_task),
    "filter": Scene("tasks", filtered),
    "failing": Scene("tasks", failing),
    "no-data": Scene("overview", failing_from_the_start, faults=("*:status=503",)),
    "loading": Scene("overview", loading, faults=("*:hang",)),
    "empty": Scene("overview", bare=True),
    "help": Scene("tasks", keys),
    "light": Scene(theme="textual-light", read_only=True),
    "no-color": Scene(no_color=True),
}


@asynccontextmanager
async def staged(
    name: str, platform: EmbeddedPlatform, folder: Path, size: tuple[int, int]
) -> AsyncIterator[Stage]:
    """The scene, played to its end; `no_color` is the environment's, so the caller's to set."""
    scene = SCENES[name]
    for fault in scene.faults:
        platform.faults.add(fault)
    settings = settings_for(platform, theme=scene.theme, read_only=scene.read_only, refresh=5.0)
    async with stage(
        platform, folder, place=scene.place, size=size, settings=settings, wait=not scene.faults
    ) as s:
        if not scene.faults:
            await s.poll()
        await scene.play(s)
        for entry in s.app.screen.query(Input):
            entry.cursor_blink = False
        await s.at_rest()
        yield s


def picture(s: Stage) -> str:
    """The screen as SVG, without what differs from run to run, and without fonts from elsewhere."""
    svg = re.sub(r"\bterminal-\d+-", "terminal-", s.svg())
    svg = re.sub(r"\bterminal-\d+\b", "terminal", svg)
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    lines = (line.rstrip() for line in svg.splitlines())
    return "\n".join(line for line in lines if line) + "\n"
