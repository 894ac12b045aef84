"""The page of what happened since a moment; each line opens what it is about."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType

from agentco_tui.actions.handover import sent_from_here
from agentco_tui.history.changes_since import (
    Section,
    changes_since,
    read_slice,
    slice_of_log,
    to_minute,
)
from agentco_tui.history.observations import HistoryError
from agentco_tui.live.feeds import FeedName, began_at
from agentco_tui.model import format as fmt
from agentco_tui.model.period import HOUR
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.cells import TONES, level_sign
from agentco_tui.screens.dialogs.base import WholeScreen
from agentco_tui.screens.key_app import DetailPane
from agentco_tui.system.background import beside
from agentco_tui.text import plain
from agentco_tui.widgets.text_pane import Cells, Gap, Heading, Item, Text, columns
from agentco_tui.widgets.tones import Cell, Pressable, Tone
from agentco_tui.widgets.workers import start_worker

SPANS: Final = (1, 2, 4, 8, 12, 24, 72, 168)
"""Hours to look back."""
FIRST: Final = 5
"""Events of each section that are shown at first."""
MOST: Final = 500
"""Events of each section that are shown on request."""
MORE: Final = "more:"
"""Key of the line that shows the rest of a section: `more:NAME`."""
WHO: Final = 24
"""Columns of when and by whom."""


async def gather(frame: BaseFrame, since: float) -> list[Section]:
    """Return what happened since then, by the history, or without one by the log in memory.

    Both are read off the event loop.
    """
    workspace = frame.workspace
    store = workspace.store
    now = workspace.clock.now()
    why = plain("without a history only what the log still holds is known")
    past = None
    if workspace.history is not None:
        try:
            read = partial(read_slice, since, tuple(store.companies.records))
            past = await workspace.history.ask(read, up_to_now=True)
        except HistoryError as error:
            why = plain(str(error))
    if past is None:
        read_to = began_at(store.freshness[FeedName.ACTIVITY], workspace.clock)
        past = slice_of_log(tuple(store.activity), since, read_to, why)
    services = frame.dashboard.services
    journal = await services.journaled(services.journal.latest, workspace.origin)
    sent = sent_from_here(journal, since, now - time.time())
    limits = workspace.settings.alerts
    return await beside(lambda: changes_since(past, store, limits, (since, now), sent))


class SinceScreen(WholeScreen[str]):
    """Returns the key of the line that was opened; None if none was."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("L", "dismiss", "Back", show=False, id="app.since"),
        Binding("plus,equals_sign", "look_back(1)", "Further back", show=False),
        Binding("minus", "look_back(-1)", "Less far back", show=False),
        Binding("H", "handover", "Hand over", show=False, id="app.handover"),
    ]

    def __init__(self, frame: BaseFrame, at: str) -> None:
        """`at` is the key of the line to put the cursor on, "" for the first."""
        super().__init__([])
        self.frame = frame
        self.pane = DetailPane(classes="dialog--body")
        self.pane.first = at
        self.keys = {
            " esc": " back ",
            " enter": " open ",
            " + -": " further, less far back ",
            " H": " hand over ",
        }
        self._sections: Sequence[Section] = ()
        self._shows_all = False
        """Whether sections are shown with up to `MOST` events."""

    def on_mount(self) -> None:
        self._read_again()

    def action_look_back(self, way: int) -> None:
        """Show the next longer time, or (-1) the next shorter one."""
        tracker = self.frame.idle_tracker
        now = self.frame.workspace.clock.now()
        span = round((now - tracker.shift_since) / HOUR, 1)
        beyond = [each for each in SPANS[::way] if (each - span) * way > 0]
        if beyond:
            tracker.since = now - beyond[0] * HOUR
            self._read_again()

    def _read_again(self) -> None:
        now = self.frame.workspace.clock.now()
        since = self.frame.idle_tracker.shift_since
        words = plain(f" SINCE {to_minute(since, now)} ")
        span = Cell(plain(f"({fmt.duration(now - since)})"))
        zone = Cell(plain(f"{fmt.zone(now)} "), Tone.DIM)
        self.title_line.show([Cell(words, Tone.STRONG), span], [zone])
        self.pane.show([Text(plain("reading what happened"), Tone.DIM)])
        start_worker(self, self._read, "read what happened", exclusive=True)

    async def _read(self) -> None:
        self._sections = await gather(self.frame, self.frame.idle_tracker.shift_since)
        self._show_sections()

    def _show_sections(self) -> None:
        now = self.frame.workspace.clock.now()
        self.pane.show(item for each in self._sections for item in self._items_of(each, now))

    def action_handover(self) -> None:
        self.frame.action_form("app.handover")

    @on(DetailPane.Entered)
    def _entered(self, message: DetailPane.Entered) -> None:
        if message.key.startswith(MORE):
            self._shows_all = True
            self._show_sections()
        else:
            self.dismiss(message.key)

    def _items_of(self, section: Section, now: float) -> Iterable[Item]:
        """Yield the heading of a section, its notes, and a line for each event."""
        events = section.events
        shown = events[: MOST if self._shows_all else FIRST]
        count = fmt.count(len(events)) if events else ""
        yield Gap()
        yield Heading(plain(f"{section.name} {count}"))
        for note in section.notes:
            yield Text(plain(f"  {note}"), Tone.DIM)
        rows: list[list[Cell]] = []
        for event in shown:
            who, what = event.words(now)
            tone = TONES[event.level]
            sign = Cell(plain(f"{level_sign(event.level)} "), tone)
            rows.append([sign, Cell(who, Tone.DIM), Cell(plain("  ")), Cell(what, tone)])
        for event, row in zip(shown, columns(rows, (2, WHO)), strict=True):
            cells = row
            if event.key:
                cells = [Pressable(cell.text, cell.tone, event.key) for cell in row]
            yield Cells((Cell(plain(" ")), *cells))
        if len(events) > len(shown):
            more = plain(f"  and {fmt.count(len(events) - len(shown))} more")
            yield Cells((Cell(plain(" ")), Pressable(more, Tone.DIM, f"{MORE}{section.name}")))
        elif not events:
            yield Text(plain(f"  {section.none}"), Tone.DIM)
