"""The page "since": what has happened on the platform since the operator was last active.

The platform is the remote service that is watched. The page lists decisions, failures, spending,
alerts and waiting tasks, a section each. The facts come from the history, a database in which
earlier polls are recorded; without it, from the activity log as far as it is in memory; what was
sent from here comes from the journal, the file of all writes. Each line opens the record that it is
about. `+` and `-` choose how far back the page reaches; `idle_tracker.shift_since` is where it
begins: at the user's last absence, else eight hours ago, as long as a shift. The hand-over is a
report for the user of the next shift.

The frame is the dashboard's main screen, `frame.dashboard` what all its screens share, and the
workspace what is known of one platform, whose address is the `origin`. A company is one on the
platform, with AI agents. `DetailPane` is a pane of text whose lines lead somewhere.
"""

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
from agentco_tui.screens.dialogs.base import FullScreenDialog
from agentco_tui.screens.key_app import DetailPane
from agentco_tui.system.background import beside
from agentco_tui.text import mark_safe
from agentco_tui.widgets.text_pane import (
    BlankLine,
    CellLine,
    Heading,
    PaneItem,
    Paragraph,
    align_columns,
)
from agentco_tui.widgets.tones import Cell, Pressable, Tone
from agentco_tui.widgets.workers import start_worker

PERIODS: Final = (1, 2, 4, 8, 12, 24, 72, 168)
"""Hours to look back."""
FEW_EVENTS: Final = 5
"""Events of each section that are shown at first."""
MOST_EVENTS: Final = 500
"""Events of each section that are shown on request."""
MORE: Final = "more:"
"""The key of the line that shows the rest of a section begins with it: `more:NAME`."""
WHO_WIDTH: Final = 24
"""Columns of when and by whom."""


async def read_changes(frame: BaseFrame, since: float) -> list[Section]:
    """Return what has happened since a time, read off the event loop.

    `since` is in seconds since the epoch, by the platform's clock.
    """
    workspace = frame.workspace
    store = workspace.store
    now = workspace.clock.now()
    past = None
    why_incomplete = mark_safe("without a history only what the log still holds is known")
    if workspace.history is not None:
        try:
            read = partial(read_slice, since, tuple(store.companies.records))
            # In the history's thread, once everything polled so far is written.
            past = await workspace.history.ask(read, up_to_now=True)
        except HistoryError as error:
            why_incomplete = mark_safe(str(error))
    if past is None:
        log_read_at = began_at(store.freshness[FeedName.ACTIVITY], workspace.clock)
        past = slice_of_log(tuple(store.activity), since, log_read_at, why_incomplete)
    services = frame.dashboard.services
    journal = await services.in_journal_thread(services.journal.latest, workspace.origin)
    clock_skew = now - time.time()
    sent = sent_from_here(journal, since, clock_skew)
    limits = workspace.settings.alerts
    return await beside(lambda: changes_since(past, store, limits, (since, now), sent))


class SinceScreen(FullScreenDialog[str]):
    """The page. Its result is the key of the line that was opened, such as "tasks:tsk_1"."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("L", "dismiss", "Back", show=False, id="app.since"),
        Binding("plus,equals_sign", "change_period(1)", "Longer", show=False),
        Binding("minus", "change_period(-1)", "Shorter", show=False),
        Binding("H", "handover", "Hand over", show=False, id="app.handover"),
    ]

    def __init__(self, frame: BaseFrame, line: str) -> None:
        """`line` is the key of the line to put the cursor on; "" is the first line."""
        super().__init__([])
        self.frame = frame
        self.pane = DetailPane(classes="dialog--body")
        self.pane.initial_link = line
        self.key_hints = {
            " esc": " back ",
            " enter": " open ",
            " + -": " longer, shorter ",
            " H": " hand over ",
        }
        self._sections: Sequence[Section] = ()
        self._shows_all = False
        """Whether up to `MOST_EVENTS` of each section are shown, instead of `FEW_EVENTS`."""

    def on_mount(self) -> None:
        self._start_reading()

    def action_change_period(self, direction: int) -> None:
        """Reach back to the next longer period (1), or to the next shorter one (-1)."""
        tracker = self.frame.idle_tracker
        now = self.frame.workspace.clock.now()
        hours = round((now - tracker.shift_since) / HOUR, 1)
        if direction > 0:
            periods = [period for period in PERIODS if period > hours]
        else:
            periods = [period for period in reversed(PERIODS) if period < hours]
        if periods:
            tracker.since = now - periods[0] * HOUR
            self._start_reading()

    def _start_reading(self) -> None:
        now = self.frame.workspace.clock.now()
        since = self.frame.idle_tracker.shift_since
        title = Cell(mark_safe(f" SINCE {to_minute(since, now)} "), Tone.STRONG)
        period = Cell(mark_safe(f"({fmt.duration(now - since)})"))
        zone = Cell(mark_safe(f"{fmt.zone(now)} "), Tone.DIM)
        self.title_line.show([title, period], [zone])
        self.pane.show([Paragraph(mark_safe("reading what happened"), Tone.DIM)])
        start_worker(self, self._read, "read what happened", exclusive=True)

    async def _read(self) -> None:
        self._sections = await read_changes(self.frame, self.frame.idle_tracker.shift_since)
        self._show_sections()

    def _show_sections(self) -> None:
        now = self.frame.workspace.clock.now()
        items: list[PaneItem] = []
        for section in self._sections:
            items += self._section_items(section, now)
        self.pane.show(items)

    def action_handover(self) -> None:
        self.frame.action_form("app.handover")

    @on(DetailPane.LinkOpened)
    def _line_entered(self, message: DetailPane.LinkOpened) -> None:
        """Close with the line's key, or show the rest of all sections."""
        if message.key.startswith(MORE):
            self._shows_all = True
            self._show_sections()
        else:
            self.dismiss(message.key)

    def _section_items(self, section: Section, now: float) -> Iterable[PaneItem]:
        """Yield the heading of a section, its notes, and a line for each event."""
        events = section.events
        most = MOST_EVENTS if self._shows_all else FEW_EVENTS
        shown = events[:most]
        count = fmt.count(len(events)) if events else ""
        margin = Cell(mark_safe(" "))
        yield BlankLine()
        yield Heading(mark_safe(f"{section.name} {count}"))
        for note in section.notes:
            yield Paragraph(mark_safe(f"  {note}"), Tone.DIM)
        rows: list[list[Cell]] = []
        for event in shown:
            who, what = event.words(now)
            tone = TONES[event.level]
            sign = Cell(mark_safe(f"{level_sign(event.level)} "), tone)
            rows.append([sign, Cell(who, Tone.DIM), Cell(mark_safe("  ")), Cell(what, tone)])
        for event, row in zip(shown, align_columns(rows, (2, WHO_WIDTH)), strict=True):
            cells = row
            if event.key:
                cells = [Pressable(cell.text, cell.tone, event.key) for cell in row]
            yield CellLine((margin, *cells))
        hidden = len(events) - len(shown)
        if hidden:
            more = mark_safe(f"  and {fmt.count(hidden)} more")
            yield CellLine((margin, Pressable(more, Tone.DIM, f"{MORE}{section.name}")))
        elif not events:
            yield Paragraph(mark_safe(f"  {section.none}"), Tone.DIM)
