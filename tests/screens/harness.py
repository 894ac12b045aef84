"""A dashboard on an embedded platform over real HTTP, on a clock that stands still.

What a test waits for is what a person would see: `wait_until` looks until it is so, within a bound,
and nothing here sleeps to let time pass.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from textual import events

# private: only these say how Textual names the key that a test presses.
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.pilot import Pilot
from textual.strip import Strip

from agentco_tui.actions.outcome import Outcome
from agentco_tui.actions.services import Timing
from agentco_tui.api.client import open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.limits import Limits
from agentco_tui.api.measurements import Measurements
from agentco_tui.api.recorder import Recorder
from agentco_tui.app import NOTHING_REMEMBERED, DashboardApp
from agentco_tui.config import Settings
from agentco_tui.keys.key_arrivals import KeyArrivals
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import Clock, FeedName, Pace, paces_of_screen
from agentco_tui.live.poller import Poller, Schedule
from agentco_tui.platforms.opener import open_platform_of
from agentco_tui.screens.dashboard_context import DashboardContext, write_permissions
from agentco_tui.screens.frame import MainScreen
from agentco_tui.screens.key_app import REPEAT, KeyPresses
from agentco_tui.screens.list_view import ListView
from agentco_tui.system.state_folder import Remembered
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import TextPane
from agentco_tui.widgets.tones import Tone
from agentco_tui.workspace.opening import snoozes_for
from agentco_tui.workspace.workspace import Workspace
from tests.actions.user import QUICK
from tests.platform import EmbeddedPlatform, LoggedRequest

NOW = 1_790_000_000.0
"""When every world begins: 2026-09-21 14:13:20 UTC."""
NARROW, WIDE = (80, 24), (120, 40)
PATIENCE = 60.0
"""Seconds after which what is waited for is taken not to come."""
PLACES: tuple[Place, ...] = ("overview", "companies", "agents", "tasks", "budget", "activity")
PATIENT = Limits(connect=PATIENCE, read=600, write=600, pool=600, total=600)
"""What hangs does so for as long as a test looks at it, also on a slow machine."""
WRITES = ("POST", "PUT", "PATCH", "DELETE")


class WorldClock(Clock):
    """The platform's own time, for ages and for freshness; only `World.advance` moves it."""

    def __init__(self, platform: EmbeddedPlatform) -> None:
        super().__init__()
        self._world = platform.world

    def monotonic(self) -> float:
        """Seconds; polls are due only when the world has been moved or somebody asks."""
        return 1_000.0 + self._world.time() - NOW

    def now(self) -> float:
        return self._world.time()


class RunningClock(WorldClock):
    """The platform's time for ages, and the machine's for when a feed is due."""

    def monotonic(self) -> float:
        return time.monotonic()


class SteadyLatency(Measurements):
    """Every answer seems to have taken the same time, so that a picture is always the same."""

    def add_answer(self, latency: float, date: str = "", now: float = 0.0) -> None:
        super().add_answer(0.042, date, now)


class NoJitter(Random):
    def uniform(self, a: float, b: float) -> float:
        return max(a, b)


def steady(poller: Poller) -> None:
    """Take away what differs from run to run: the jitter, and how long answers really took."""
    # private: a workspace builds its poller; jitter and durations are no settings.
    poller._random = NoJitter()
    answered = poller._record_answer

    def at_once(feed: FeedName, turn: Schedule, begun: float, _: float) -> None:
        answered(feed, turn, begun, 0.0)

    # private: as above.
    poller._record_answer = at_once  # type: ignore[method-assign,assignment]


@dataclass
class Stage:
    """A running dashboard, the platform beneath it, and hands and eyes for a test."""

    platform: EmbeddedPlatform
    dashboard: DashboardContext
    app: DashboardApp
    pilot: Pilot[None]

    @property
    def workspace(self) -> Workspace:
        return self.dashboard.workspace

    @property
    def main(self) -> MainScreen:
        assert self.app.main_screen is not None
        return self.app.main_screen

    @property
    def view(self) -> ListView[Any]:
        return self.main.view

    # ---- eyes

    @property
    def strips(self) -> list[Strip]:
        """What is on the screen now, dialogs and messages over it."""
        # private: Textual draws to text only with its compositor.
        screen, behind = self.app.screen, self.app._background_screens
        drawn: Any = screen._compositor.render_inline(screen.size, screen_stack=behind)
        return list(drawn.strips)

    @property
    def lines(self) -> list[str]:
        return [strip.text for strip in self.strips]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def shows(self, *words: str) -> bool:
        text = self.text
        return all(word in text for word in words)

    def line_with(self, words: str) -> str:
        """The first line that holds these words; fails if none does."""
        found = next((line for line in self.lines if words in line), None)
        assert found is not None, f"{words!r} is not on the screen:\n{self.text}"
        return found

    @property
    def rows(self) -> list[str]:
        return list(self.view.table.model.shown)

    @property
    def cursor(self) -> str | None:
        return self.view.table.viewport.cursor

    def svg(self) -> str:
        return self.app.export_screenshot(title="agentco-tui", simplify=True)

    # ---- hands

    async def wait_until(self, seen: Callable[[], object], what: str = "") -> None:
        """Look until it is so; fails with the screen's text after `PATIENCE` seconds."""
        end, nap = time.monotonic() + PATIENCE, 0.005
        while not seen():
            # private: Textual has no public way to read the error that ended an app.
            if self.app._exception is not None:
                raise self.app._exception
            assert time.monotonic() < end, f"waited in vain for {what}:\n{self.text}"
            await self.settle()
            await asyncio.sleep(nap)
            nap = min(nap * 1.2, 0.1)  # a look costs a drawing

    async def sees(self, *words: str) -> None:
        """Wait until all these words are on the screen."""
        await self.wait_until(lambda: self.shows(*words), repr(words))

    async def sees_no(self, *words: str) -> None:
        """Wait until none of these words is on the screen."""
        await self.wait_until(lambda: not any(word in self.text for word in words), f"no {words!r}")

    async def tap(self, *keys: str) -> None:
        """Press keys as fast as they can be dealt with one after the other."""
        for key in keys:
            self.app.post_message(key_event(key))
            for _ in range(60):
                await asyncio.sleep(0)

    async def settle(self) -> None:
        """Let all widgets deal with the messages they have, and with the keys typed ahead."""
        end = time.monotonic() + PATIENCE
        # private: no public way shows that keys typed ahead are waiting.
        while self.app._ahead and self.app.is_running and time.monotonic() < end:
            await self.pilot.pause(0)
        for _ in range(3):
            await self.pilot.pause(0)

    async def press(self, *keys: str) -> None:
        for key in keys:
            self.app.post_message(key_event(key))
            await self.settle()

    async def type(self, text: str) -> None:
        await self.press(*text)

    async def go(self, place: Place) -> None:
        """Show a screen by its key, and wait until its list is there."""
        await self.press(str(PLACES.index(place) + 1))
        await self.wait_until(lambda: self.main.place == place and self.view.table.size.height)
        await self.settle()

    async def poll(self, *feeds: FeedName) -> None:
        """Ask the platform now, and wait until these feeds (default: all polled) have answered."""
        poller = self.workspace.poller
        asked = feeds or tuple(feed for feed in FeedName if poller.pace(feed) != "off")
        await asyncio.gather(*(poller.read_again(feed) for feed in asked))
        await self.settle()

    async def fail_once(self) -> None:
        """Have the poller ask a platform that fails, and wait until each feed has failed once.

        With `poll`, feeds that are due meanwhile would be asked, and fail, twice.
        """
        poller = self.workspace.poller
        freshness = self.workspace.store.freshness
        polled = [feed for feed in FeedName if poller.pace(feed) != "off"]
        poller.poll_now()
        await self.wait_until(
            lambda: all(freshness[feed].failures == 1 for feed in polled), "a failure of each"
        )
        await self.settle()

    async def at_rest(self) -> None:
        """Wait until nothing is about to be drawn: a move draws its detail a moment later."""
        await self.wait_until(lambda: not self.main.view.detail.follows, "the detail")
        before: list[Strip] = []
        while (now := self.strips) != before:
            before = now
            await self.settle()
            await self.pilot.pause()

    async def resize(self, width: int, height: int) -> None:
        await self.pilot.resize_terminal(width, height)
        await self.settle()

    async def loaded(self) -> None:
        """Wait until every feed that the screen wants has been answered."""
        freshness = self.workspace.store.freshness
        wanted = [
            feed for feed, pace in paces_of_screen(self.app.place).items() if pace is not Pace.OFF
        ]
        await self.wait_until(
            lambda: all(freshness[feed].answered_at is not None for feed in wanted),
            "the first answers",
        )
        await self.settle()

    async def anew(self) -> None:
        """Wait until no key that comes can be one that is still held down."""
        presses = self.app.presses
        await self.wait_until(lambda: time.monotonic() - presses.at > REPEAT, "a pause")

    async def armed(self) -> None:
        """Wait until the question on the screen takes a yes."""

        def is_armed() -> bool:
            at = getattr(self.app.screen, "armed_at", None)
            return at is not None and time.monotonic() >= at

        await self.wait_until(is_armed, "the question")

    async def yes(self) -> None:
        """Answer the question with a `y` that comes long after every other key, and long before
        the next.
        """
        await self.armed()
        self.alone()
        await self.press("y")
        question = self.app.screen
        await self.wait_until(lambda: getattr(question, "pending_yes", None) is None, "the answer")

    async def by_hand(self, *keys: str) -> None:
        """Press keys that count as pressed one after the other, each by itself."""
        for key in keys:
            self.alone()
            await self.press(key)

    def alone(self) -> None:
        """Let the next key count as pressed long after those before it."""
        self.app.presses = KeyPresses()
        self.app.arrivals = KeyArrivals()

    # ---- what became of it

    def outcome_of(self, task_id: str) -> Outcome | None:
        """What became of the decision about a task; None while that is not known."""
        decision = self.dashboard.decisions.by_task.get(task_id)
        return None if decision is None else decision.outcome

    # ---- what the platform saw

    @property
    def writes(self) -> list[LoggedRequest]:
        return [seen for seen in self.platform.requests if seen.method in WRITES]

    def queries(self, operation: str) -> list[str]:
        return [seen.query for seen in self.platform.requests.matching(operation)]


def text_of(shown: TextPane | StatusLine) -> str:
    """What a pane or a line says, without its colours."""
    lines = shown.lines if isinstance(shown, TextPane) else [shown.cells]
    return "\n".join("".join(cell.text for cell in line) for line in lines)


async def says(s: Stage, *words: str) -> None:
    """Wait for a message with all these words, however its lines are broken."""
    await s.wait_until(
        # private: a toast on the screen may break its lines anywhere.
        lambda: any(all(word in toast.message for word in words) for toast in s.app._notifications),
        repr(words),
    )


def tone_of(line: StatusLine, words: str) -> Tone:
    return next(cell.tone for cell in line.cells if words in cell.text)


def key_event(key: str) -> events.Key:
    """The event that a terminal's key becomes."""
    if len(key) == 1 and not key.isalnum():
        key = _character_to_key(key)
    if len(key) == 1:
        return events.Key(key, key)
    try:
        import unicodedata

        name = _get_unicode_name_from_key(REPLACED_KEYS.get(key, key))
        return events.Key(key, unicodedata.lookup(name))
    except KeyError:
        return events.Key(key, None)


def settings_for(platform: EmbeddedPlatform, *, key: str | None = None, **chosen: Any) -> Settings:
    """What a person would have set up for this platform.

    Refreshed so slowly that no machine is too slow for it: what is polled is asked for.
    """
    usual = {"profile": "demo", "refresh": 60.0, "hold": 0.0}
    return Settings(
        base_url=BaseUrl.parse(platform.base_url),
        key=ApiKey.parse(key or platform.full_key),
        key_source="AGENTCO_API_KEY",
        **{**usual, **chosen},
    )


@asynccontextmanager
async def stage(
    platform: EmbeddedPlatform,
    folder: Path,
    *,
    place: Place = "overview",
    size: tuple[int, int] = NARROW,
    settings: Settings | None = None,
    running: bool = False,
    timing: Timing | None = None,
    limits: Limits | None = None,
    faults: Iterable[str] = (),
    wait: bool = True,
    recorder: Recorder | None = None,
    remembered: Remembered = NOTHING_REMEMBERED,
    **chosen: Any,
) -> AsyncIterator[Stage]:
    """Run a dashboard; with `wait` not before its first answers are in.

    With `running` feeds are due as time really passes, and waits of the actions are short. `faults`
    are the platform's from the start; what else is `chosen` is as for `settings_for`.
    """
    settings = settings or settings_for(platform, **chosen)
    clock = RunningClock(platform) if running else WorldClock(platform)
    timing = timing or (QUICK if running else None)
    for fault in faults:
        platform.faults.add(fault)
    options: dict[str, Any] = {"attempts": 1, "limits": limits, "clock": platform.world.time}
    if settings.platform is None:
        options["key_source"] = settings.key_source
        client = open_client(settings.base_url, settings.key, **options)
    else:
        client = open_platform_of(settings, **options)
    client.transport.measured = SteadyLatency()
    client.transport.recorder = recorder
    workspace = Workspace(
        settings,
        client,
        snoozes=snoozes_for(settings, None if settings.profile == "demo" else folder),
        clock=clock,
    )
    dashboard = DashboardContext(
        workspace,
        folder / "journal.jsonl",
        permissions=write_permissions(settings, folder),
        timing=timing or Timing(hold_one=settings.hold),
    )
    steady(workspace.poller)
    app = DashboardApp(dashboard, place, remembered)
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            stage = Stage(platform, dashboard, app, pilot)
            if wait:
                await stage.loaded()
            yield stage
    finally:
        await workspace.aclose()
        workspace.close()
        await client.transport.aclose()
        # What was closed lets go of its socket in the loop's next turn, and the loop ends here.
        await asyncio.sleep(0)
        await asyncio.sleep(0)


Staging = Callable[..., AbstractAsyncContextManager[Stage]]
"""`stage` on a platform and in a folder of its own: the fixture `on`."""
