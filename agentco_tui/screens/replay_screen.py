"""The dashboard on a recording, with a timeline below it, for `agentco-tui replay FILE`.

A recording is a file with the answers of a platform (the remote service that is watched).
`MainScreen` is the ordinary dashboard. Here its data come from a `ReplayPoller`, which answers each
poll with what was recorded at the `ReplayClock`'s time. The keys pause, change the speed, jump to
another time, or play on until something new needs the operator (a need) or its level, which says
how urgent it is, rises. A place is a screen, or a state like "replay", with keys of its own; the
workspace is what is open for one platform (poller, settings).
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from agentco_tui.keys.commands import COMMANDS, shown_key
from agentco_tui.keys.places import Place
from agentco_tui.live.insight import Level
from agentco_tui.live.replay_clock import SPEEDS, ReplayClock
from agentco_tui.live.replay_poller import ReplayPoller
from agentco_tui.model import Moment
from agentco_tui.model import format as fmt
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.frame import MainScreen
from agentco_tui.screens.frame_lines import FrameLines
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.system.state_folder import Remembered
from agentco_tui.text import clean_line, mark_safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.tones import Cell, Pressable, Tone, total_width
from agentco_tui.widgets.workers import start_worker

SHORTEST_BAR = 10
"""Columns of the timeline's bar at least; keys are left out before it becomes shorter."""
MOVING = "moving"
"""The worker group of all that changes the time shown: a new jump cancels the one before."""
STEP = 5.0
"""Seconds of the recording between two searches for new needs, at least."""
LONGEST_STEP = 60.0
"""Seconds between two searches at most: tasks grow urgent by waiting, without any new answer."""


class ReplayLines(FrameLines):
    """The lines of the frame with the timeline, which is painted together with the header."""

    def __init__(self, frame: BaseFrame) -> None:
        super().__init__(frame)
        poller = frame.workspace.poller
        assert isinstance(poller, ReplayPoller)
        self.timeline = StatusLine(classes="frame--timeline")
        self._clock = poller.clock

    def show_status(self) -> None:
        """Paint the timeline, too."""
        super().show_status()
        self.timeline.show(*self._timeline_cells(self._frame.size.width))

    def _timeline_cells(self, width: int) -> tuple[list[Cell], list[Cell]]:
        """Return the timeline: the state and the bar on the left, the keys on the right."""
        clock = self._clock
        state: str = signs.bar_over  # the sign ▶, for playing
        if clock.ended:
            state = "at the end"
        elif clock.paused:
            state = "paused"
        # A Moment is a time as the platform sends it; its `at` is in seconds since 1970, as all
        # times.
        left = [
            Cell(mark_safe(" REPLAY "), Tone.BADGE),
            Cell(mark_safe(f" {fmt.clock(Moment(at=clock.now()), clock.now())}"), Tone.STRONG),
            Cell(mark_safe(f"  x{clock.speed} {state} "), Tone.ACCENT),
        ]
        right: list[Cell] = []
        for command in COMMANDS:
            key = shown_key(command.id, self._workspace.settings.keys)
            if command.where == "replay" and key:
                label = mark_safe(f" {command.label.lower()}")
                right.append(Pressable(mark_safe(f"  {key}"), Tone.ACCENT, key=command.id))
                right.append(Pressable(label, key=command.id))
        room = width - total_width(left) - SHORTEST_BAR
        while right and total_width(right) > room:
            del right[-2:]
        bar_width = max(3, width - total_width([*left, *right]) - 3)
        return [*left, *self._bar_cells(bar_width)], right

    def _bar_cells(self, width: int) -> list[Cell]:
        """Return the bar of the timeline, with a mark at the time that is shown."""
        recording = self._clock.recording
        duration = recording.ends - recording.begins
        before = 0
        if duration:
            passed = (self._clock.time() - recording.begins) / duration
            before = int(passed * (width - 1))
        after = width - 1 - before
        return [
            Cell(mark_safe(signs.horizontal * before), Tone.ACCENT),
            Cell(mark_safe(signs.vertical), Tone.STRONG),
            Cell(mark_safe(signs.horizontal * after), Tone.DIM),
        ]


class ReplayScreen(MainScreen):
    """The dashboard on a recording, with its timeline and the keys that move it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("replay")
    LINES = ReplayLines
    DEFAULT_CSS = "ReplayScreen .frame--timeline { background: $surface; }"

    lines: ReplayLines

    def __init__(self, dashboard: DashboardContext, place: Place) -> None:
        workspace = dashboard.workspace
        super().__init__(dashboard, place, Remembered())  # nothing is remembered of earlier runs
        assert isinstance(workspace.poller, ReplayPoller)
        self.poller = workspace.poller
        self.commands.extra_places = ("replay",)  # the help lists the keys of this place, too
        self.ticker.reports_absence = False  # jumps in time are no absence of the user

    @property
    def clock(self) -> ReplayClock:
        return self.poller.clock

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self.lines.timeline

    @on(StatusLine.Pressed)
    def _timeline_pressed(self, event: StatusLine.Pressed) -> None:
        if event.line is self.lines.timeline:
            start_worker(self, partial(self.commands.run, event.key), event.key)

    def action_replay_pause(self) -> None:
        if self.clock.ended:
            self.say("that was the end of the recording")
        self.poller.set(paused=not self.clock.paused)
        self.lines.show()

    def action_replay_speed(self, by: int) -> None:
        at = SPEEDS.index(self.clock.speed) + by
        self.poller.set(speed=SPEEDS[max(0, min(at, len(SPEEDS) - 1))])
        self.lines.show()

    def action_replay_step(self, seconds: float) -> None:
        self.jump(self.clock.time() + seconds)

    def action_replay_at(self) -> None:
        TimeWords(self)

    def action_replay_need(self) -> None:
        start_worker(self, self._next_need, "find a need", group=MOVING, exclusive=True)

    def jump(self, at: float) -> None:
        """Show another time, a number of seconds since 1970; a search for a need ends."""
        show = partial(self._show, at)
        start_worker(self, show, "show another time", group=MOVING, exclusive=True)

    async def _show(self, at: float) -> None:
        self.poller.set(at=at)
        self.lines.show()
        await self.poller.poll_all()
        self.dashboard.needs_refresh.start(self)  # time alone makes needs, too
        self.view.freezer.release()  # rows that were kept still may move now

    async def _next_need(self) -> None:
        """Play on, faster than time, until a need appears or grows worse, and show that time.

        If that does not happen until the end of the recording, the time from before is shown again.
        """
        clock = self.clock
        needs = self.dashboard.needs_refresh
        shown = clock.time()
        await self.poller.poll_all()
        before = await needs.levels_by_key()
        while not clock.ended:
            at = clock.time()
            after = clock.recording.next_after(at + STEP) or clock.recording.ends
            self.poller.set(at=min(after, at + LONGEST_STEP))
            self.lines.show()
            await self.poller.poll_all()
            levels = await needs.levels_by_key()
            if any(level > before.get(key, Level.OK) for key, level in levels.items()):
                shown = clock.time()
                break
            before = levels
        else:
            self.say("no need appears or grows worse until the end of the recording")
        await self._show(shown)


class TimeWords:
    """The prompt for a time to jump to: a time of day, a date, or a span such as +5m."""

    def __init__(self, frame: ReplayScreen) -> None:
        self._frame = frame
        frame.lines.footer.display = False
        frame.prompt.ask("@", "", mark_safe("03:12  2026-11-23 03:12  +5m  -1h"), handler=self)

    def text_changed(self, text: str) -> None:
        self._frame.prompt.show_hint(mark_safe(f"enter: go there {signs.separator} esc: cancel"))

    async def text_entered(self, text: str) -> None:
        at = self._frame.clock.parse_time(text.strip())
        if at is None:
            words = f"{clean_line(text, 40)} is no time of the recording: 03:12, +5m or -1h"
            self._frame.prompt.show_error(mark_safe(words))
            return
        self._frame.close_prompt()
        self._frame.jump(at)

    def cancelled(self) -> None:
        self._frame.close_prompt()

    def move_choice(self, by: int) -> bool:
        return False  # there are no suggestions to choose from
