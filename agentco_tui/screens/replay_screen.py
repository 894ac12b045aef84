"""The frame on a recording: beneath all else a line with the time that is shown, and its keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from agentco_tui import format as fmt
from agentco_tui.background import start_worker
from agentco_tui.keys import Place, shown_key
from agentco_tui.live.feeds import FeedName, Pace
from agentco_tui.live.insight import Level
from agentco_tui.live.replay import SPEEDS, ReplayClock, ReplayPoller, moment_of
from agentco_tui.model import Moment
from agentco_tui.screens.frame import MainScreen
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.session import Session
from agentco_tui.state_folder import Remembered
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.tones import Cell, Pressable, Tone, total_width

KEYS = {
    ("replay.pause",): "pause",
    ("replay.slower", "replay.faster"): "speed",
    ("replay.back", "replay.forward"): "1 min",
    ("replay.need",): "next need",
    ("replay.at",): "time",
    ("replay.far_back", "replay.far_forward"): "10 min",
}
"""What the line offers, the most wanted first."""
SHORTEST_BAR = 10  # columns
WITH_SPAN = 100  # columns from which on the line tells when the recording begins and ends
LOOKING = "looking"  # the group of the worker that looks for a need
STEP = 4.0  # seconds of a recording between two looks for a need
WAITING = 60.0  # seconds after which a look is due in any case: tasks grow urgent by waiting
NEEDED = (
    *(FeedName.PENDING, FeedName.ALERTS, FeedName.AGENTS, FeedName.COMPANIES),
    *(FeedName.BUDGET, FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS, FeedName.ACTIVITY),
)
"""What needs are found in."""


class ReplayScreen(MainScreen):
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("replay")
    DEFAULT_CSS = "ReplayScreen .frame--timeline { background: $surface; }"

    def __init__(self, session: Session, place: Place, another: Callable[[], Session]) -> None:
        """`another`: a session of its own on the same recording, to look ahead with."""
        super().__init__(session, place, Remembered())
        self.timeline = StatusLine(classes="frame--timeline")
        assert isinstance(session.poller, ReplayPoller)
        self.poller, self._another = session.poller, another
        self.more = ("replay",)
        self._looking_at: float | None = None  # how far it was looked ahead

    @property
    def clock(self) -> ReplayClock:
        return self.poller.clock

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self.timeline

    def look_for_absence(self, *, is_here: bool = True) -> None:
        """Time jumps here without anybody being away."""

    def show_frame(self) -> None:
        super().show_frame()
        self.timeline.show(*self._cells(self.size.width))

    def _cells(self, width: int) -> tuple[list[Cell], list[Cell]]:
        clock, recording, rebound = self.clock, self.clock.recording, self.session.settings.keys
        now, at = clock.now(), clock.time()

        def shown(at: float) -> SafeText:
            return fmt.clock(Moment(at=clock.told(at)), now)

        state = "at the end" if clock.ended else "paused" if clock.paused else signs.bar_over
        if self._looking_at is not None:
            state = f"looking at {shown(self._looking_at)}"
        left = [
            Cell(plain(" REPLAY "), Tone.BADGE),
            Cell(plain(f" {shown(at)}"), Tone.STRONG),
            Cell(plain(f"  x{clock.speed} {state} "), Tone.ACCENT),
        ]
        span = Cell(plain(f" {shown(recording.begins)} to {shown(recording.ends)}"), Tone.DIM)
        if width < WITH_SPAN:
            span = Cell(plain(" "))
        right, room = list[Cell](), width - total_width([*left, span]) - SHORTEST_BAR
        for ids, words in KEYS.items():
            parts = [
                Pressable(plain(f"{' ' * (1 + (id_ == ids[0]))}{key}"), Tone.ACCENT, key=id_)
                for id_ in ids
                if (key := shown_key(id_, rebound))
            ]
            label = "go on" if ids[0] == "replay.pause" and clock.paused else words
            cells = [*parts, Pressable(plain(f" {label}"), key=ids[-1])] if parts else []
            if total_width([*right, *cells]) > room:
                break
            right += cells
        whole = recording.ends - recording.begins
        length = max(3, width - total_width([*left, span, *right]) - 3)
        place = int((at - recording.begins) / whole * (length - 1)) if whole else 0
        bar = [signs.bar_empty * place, signs.vertical, signs.bar_empty * (length - 1 - place)]
        tones = Tone.ACCENT, Tone.STRONG, Tone.DIM
        drawn = [Cell(plain(part), tone) for part, tone in zip(bar, tones, strict=True)]
        return [*left, *drawn, span], right

    @on(StatusLine.Pressed)
    def _timeline_pressed(self, event: StatusLine.Pressed) -> None:
        if event.line is self.timeline:
            start_worker(self, partial(self.run, event.key), event.key)

    def action_replay_pause(self) -> None:
        if self.clock.ended:
            self.say("that was the end of the recording")
        self.poller.set(paused=not self.clock.paused)
        self.show_frame()

    def action_replay_speed(self, by: int) -> None:
        at = SPEEDS.index(self.clock.speed) + by
        self.poller.set(speed=SPEEDS[max(0, min(at, len(SPEEDS) - 1))])
        self.show_frame()

    def action_replay_step(self, seconds: float) -> None:
        self.jump(self.clock.time() + seconds)

    def jump(self, at: float) -> None:
        """Show another time, and look for no need any more."""
        self.workers.cancel_group(self, LOOKING)
        self._go(at)

    def _go(self, at: float) -> None:
        self.poller.set(at=at)
        self.show_frame()
        start_worker(self, self._arrive, "show another time", group="arrive", exclusive=True)

    async def _arrive(self) -> None:
        await self.poller.poll_all()
        self.session.needs.look(self)  # time alone makes needs, too
        self.view.bring_up_to_date()

    def action_replay_at(self) -> None:
        TimeWords(self)

    def action_replay_need(self) -> None:
        start_worker(self, self._look_ahead, "find a need", group=LOOKING, exclusive=True)

    async def _look_ahead(self) -> None:
        """Jump to where a need appears or grows worse, by looking at all that comes until then."""
        recording, at = self.clock.recording, self.clock.time()
        session = self._another()
        poller = session.poller
        assert isinstance(poller, ReplayPoller)
        poller.set(at=at, paused=True)
        poller.set_query(self.session.poller.query)
        poller.set_paces(dict.fromkeys(NEEDED, Pace.REFRESH))
        before: dict[str, Level] | None = None
        try:
            while True:
                poller.set(at=at)
                await poller.poll_all()
                levels = await session.needs.levels_by_key()
                if before is not None and any(
                    level > before.get(key, Level.OK) for key, level in levels.items()
                ):
                    self._go(at)
                    return
                awaited = (session.store.freshness[feed].awaited for feed in NEEDED)
                before = None if any(awaited) else levels
                if at >= recording.ends:
                    break
                after = recording.next_after(at + STEP, changed=True) or recording.ends
                at = self._looking_at = min(after, at + WAITING)
                self.show_frame()
            self.say("no need appears or grows worse until the end of the recording")
        finally:
            self._looking_at = None
            self.show_frame()
            await session.close()
            await session.client.aclose()


class TimeWords:
    """Goes to the time that is typed."""

    def __init__(self, frame: ReplayScreen) -> None:
        self._frame = frame
        frame.footer.display = False
        frame.prompt.ask("@", "", plain("03:12  2026-11-23 03:12  +5m  -1h"), asking=self)

    def _meant(self, text: str) -> float | None:
        clock = self._frame.clock
        begins, ends = map(clock.told, (clock.recording.begins, clock.recording.ends))
        return moment_of(text, clock.now(), begins, ends)

    def typed(self, text: str) -> None:
        self._frame.prompt.hint(plain("enter goes there, esc leaves it"))

    async def entered(self, text: str) -> None:
        clock, at = self._frame.clock, self._meant(text)
        if at is None:
            words = f"{safe(text, 40)} is no time of the recording: 03:12, +5m or -1h"
            self._frame.prompt.hint(plain(words), bad=True)
            return
        self._frame.close_prompt()
        self._frame.jump(clock.when_told(at))

    def left(self) -> None:
        self._frame.close_prompt()

    def step(self, by: int) -> bool:
        return False
