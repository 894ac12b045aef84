"""What the pictures show: each scene brings a dashboard on a frozen world to where it is drawn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from textual.widgets import Input

from agentco_tui.api.recording import Recording
from agentco_tui.cli.replay_dashboard import replay_app
from agentco_tui.commands.replay_command import replay_settings
from agentco_tui.config import Settings, ViewSettings
from agentco_tui.demo.recordings import unpack_recording
from agentco_tui.keys.places import Place
from agentco_tui.live.replay_poller import ReplayPoller
from agentco_tui.screens.dialogs.base import Question
from tests.platform import EmbeddedPlatform
from tests.screens.harness import (
    NARROW,
    PATIENT,
    WIDE,
    Stage,
    SteadyLatency,
    settings_for,
    stage,
)
from tests.screens.past import remembering
from tests.screens.recorded_stage import StagedPaperclip, settings_of_paperclip

PHONE, LARGE = (45, 20), (200, 50)
AMID = 68.0
"""Seconds after the beginning of a recorded demo: an agent works, another has been stopped."""
SIZES = (NARROW, WIDE)
EVERY_SIZE = (PHONE, NARROW, WIDE, LARGE)
DRAWN_WITH = {"textual": "8.2.8", "rich": "15.0.0"}
"""Other versions may draw borders, scroll bars and colours otherwise."""


@dataclass(frozen=True)
class Scene:
    """A picture: where it begins, and what is done there."""

    place: Place = "overview"
    keys: tuple[str, ...] = ()
    """Keys that are pressed, the words that show what they did, further keys, and so on."""
    theme: str | None = None
    read_only: bool = False
    danger: bool = False
    no_color: bool = False
    faults: tuple[str, ...] = ()
    """From the start, so that no feed answers."""
    fails: bool = False
    """The platform fails later: the last picture stays."""
    past: bool = False
    """With a past and what lies ahead of everything."""
    views: tuple[ViewSettings, ...] = ()
    bare: bool = False
    """On a platform that has nothing yet."""
    recorded: str = ""
    """The platform whose recorded demo it is of, in the middle of what happens there."""
    paperclip: bool = False
    """On the recorded Paperclip, at the time of the records."""
    sizes: tuple[tuple[int, int], ...] = SIZES

    def world(self, now: float) -> EmbeddedPlatform | StagedPaperclip:
        """The platform it is drawn from, which stands still at this moment."""
        if self.paperclip:
            return StagedPaperclip()
        if self.bare:
            return EmbeddedPlatform(companies=0, agents=0, tasks=0, speed=0, now=now)
        return EmbeddedPlatform(speed=0, now=now)


MANY = ("j", "", "space", "1 marked", "space", "2 marked", "space", "3 marked", "a", "3 tasks")
VIEWS = (
    ViewSettings(
        name="urgent",
        screen="tasks",
        filter="priority>=high",
        columns=("priority", "task", "agent", "cost", "id"),
    ),
    ViewSettings(name="near limit", screen="agents", filter="used>=80%"),
    ViewSettings(name="gone wrong", screen="activity", filter="level>=warning"),
)
LIMIT = ("g l", "SET LIMIT", "backspace " * 8 + "2 5 0", "until now $100.00")
REJECT = ("j", "R reject", "R", "REJECT", "t o o space d e a r enter", "Reject it?")
SCENES: dict[str, Scene] = {
    "overview": Scene(sizes=EVERY_SIZE),
    "overview-trends": Scene(past=True, sizes=(*SIZES, LARGE)),
    "companies": Scene("companies"),
    "company": Scene("companies", ("enter", "Waiting 1"), sizes=EVERY_SIZE),
    "company-trends": Scene("companies", ("enter", "2 Oct"), past=True, sizes=(WIDE, LARGE)),
    "agents": Scene("agents", sizes=(*SIZES, LARGE)),
    "agent": Scene("agents", ("enter", "Waiting")),
    "tasks": Scene("tasks", sizes=EVERY_SIZE),
    "task-detail": Scene("tasks", ("j enter", "Description")),
    "approve": Scene("tasks", ("j a", "5 steps"), sizes=(*SIZES, LARGE)),
    "production": Scene("tasks", ("j a", "5 steps"), danger=True),
    "approve-many": Scene("tasks", MANY),
    "trace": Scene("tasks", ("j t", "payments.refund")),
    "budget": Scene("budget", sizes=EVERY_SIZE),
    "activity": Scene("activity", sizes=(*SIZES, LARGE)),
    "limit": Scene("agents", LIMIT),
    "new-task": Scene("tasks", ("n", "Create a task", "tab enter", "✖")),
    "filter": Scene("tasks", ("slash a d a", "/ada")),
    "columns": Scene("tasks", ("C j j space >", "[ ] TASK")),
    "views": Scene(keys=("7", "9 gone 23", "", "by waiting"), views=VIEWS, sizes=(WIDE,)),
    "failing": Scene("tasks", fails=True),
    "no-data": Scene(keys=("", "no data yet"), faults=("*:status=503",)),
    "loading": Scene(keys=("", "loading"), faults=("*:hang",)),
    "empty": Scene(bare=True),
    "help": Scene("tasks", ("question_mark", "Keys on")),
    "light": Scene(theme="agentco-light", read_only=True),
    "reject": Scene("tasks", REJECT, paperclip=True, sizes=(WIDE,)),
    "no-color": Scene(no_color=True),
    "paperclip": Scene(recorded="paperclip"),
}


@asynccontextmanager
async def staged(
    name: str, platform: EmbeddedPlatform | StagedPaperclip, folder: Path, size: tuple[int, int]
) -> AsyncIterator[Stage]:
    """The scene, played to its end; `no_color` is the environment's, so the caller's to set."""
    scene = SCENES[name]
    if scene.recorded:
        assert isinstance(platform, EmbeddedPlatform)
        async with replayed(scene.recorded, platform, folder, size) as s:
            yield s
        return
    own: Any = {"theme": scene.theme, "read_only": scene.read_only, "views": scene.views}
    if isinstance(platform, StagedPaperclip):
        settings = settings_of_paperclip(platform, **own)
    else:
        settings = settings_for(platform, refresh=5.0, danger=scene.danger, **own)
    wait = not scene.faults
    chosen: Any = {"settings": settings, "wait": wait, "faults": scene.faults, "limits": PATIENT}
    # A past is that of the workspace, which is made as the stage opens.
    past = remembering() if scene.past else nullcontext()
    with past:
        async with stage(
            cast("Any", platform), folder, place=scene.place, size=size, **chosen
        ) as s:
            if wait:
                await s.poll()
            if scene.fails:
                assert isinstance(platform, EmbeddedPlatform)
                platform.faults.add("*:status=503")
                platform.world.advance(48)
                await s.fail_once()
                await s.sees("48 s old")
                s.main.ticker.tick()  # what the next second brings
            for keys, words in zip(scene.keys[::2], scene.keys[1::2], strict=True):
                await s.press(*keys.split())
                await s.sees(words)
                await s.at_rest()
            if isinstance(s.app.screen, Question):
                await s.armed()
            for entry in s.app.screen.query(Input):
                entry.cursor_blink = False
            await s.at_rest()
            yield s


def unpacked(recorded: str, folder: Path) -> tuple[Recording, Settings]:
    """The recorded demo of a platform, and its settings without those of whoever draws it."""
    folder.mkdir(exist_ok=True)
    unpack_recording(recorded, folder / "demo.rec")
    (folder / "config.toml").touch()
    recording = Recording(folder / "demo.rec")
    return recording, replay_settings(recording.about, {"config": str(folder / "config.toml")}, {})


@asynccontextmanager
async def replayed(
    recorded: str, platform: EmbeddedPlatform, folder: Path, size: tuple[int, int]
) -> AsyncIterator[Stage]:
    """The recorded demo of a platform, which stands still; the other platform is not asked."""
    recording, settings = unpacked(recorded, folder)
    app = replay_app(settings, recording, folder / "replay")
    app.workspace.client.transport.measured = SteadyLatency()
    assert isinstance(app.workspace.poller, ReplayPoller)
    app.workspace.poller.set(at=recording.begins + AMID, paused=True)
    async with app.run_test(size=size, notifications=True) as pilot:
        s = Stage(platform, app.dashboard, app, pilot)
        await s.sees("LATEST")
        await s.loaded()
        await s.poll()
        await s.at_rest()
        yield s
    await app.workspace.aclose()
    app.workspace.close()
    await app.workspace.client.aclose()
