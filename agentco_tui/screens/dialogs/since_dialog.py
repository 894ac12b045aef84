"""What happened since a moment, over the whole screen; each line opens what it is about."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.binding import Binding, BindingType

from agentco_tui import format as fmt
from agentco_tui.actions.handover import decided_here, said, since_words
from agentco_tui.background import beside, start_worker
from agentco_tui.live.history import HistoryError
from agentco_tui.live.since import Happened, Happening, Part, happened, log_past, read_past
from agentco_tui.screens.cells import TONES, level_sign
from agentco_tui.screens.dialogs.base import WholeScreen, key_cells
from agentco_tui.screens.key_app import DetailPane
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.text_pane import Cells, Gap, Heading, Item, Text, columns
from agentco_tui.widgets.tones import Cell, Pressable, Tone

if TYPE_CHECKING:
    from agentco_tui.screens.frame import MainScreen

HOUR = 3_600.0
SPANS = (HOUR, 4 * HOUR, 8 * HOUR, 24 * HOUR, 72 * HOUR, 168 * HOUR)  # seconds to look back
MOST_LINES = 12  # of one part; further ones are counted
WHO = 22  # columns of when and who


async def gather(frame: MainScreen, since: float) -> tuple[Happened, SafeText | None]:
    """What happened since then, and why the history doesn't tell it, if it doesn't."""
    session, now = frame.session, frame.session.clock.now()
    store, trouble = session.store, None
    past = log_past(tuple(store.activity), since, now)
    if session.history is None:
        trouble = plain("without a history only what the log still holds is known")
    else:
        try:
            past = await session.history.ask(read_past(since, tuple(store.companies.records)))
        except HistoryError as error:
            trouble = plain(str(error))
    here = await session.journaled(
        decided_here, session.journal.path, session.origin, since, now - time.time()
    )
    absence = frame.absence
    left = absence.left_needs if since == absence.away_since else None
    needs = [(key, Happening(None, words)) for key, words in absence.other_needs().items()]
    limits = session.settings.alerts
    work = partial(happened, past, store, limits, since, now, here=here, left=left, needs=needs)
    return await beside(work), trouble


class SinceScreen(WholeScreen[str]):
    """Comes to the key of the line that was opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back", show=False),
        Binding("L", "dismiss", "Back", show=False, id="app.since"),
        Binding("plus,equals_sign", "look_back(True)", "Further back", show=False),
        Binding("minus", "look_back(False)", "Less far back", show=False),
        Binding("H", "handover", "Hand over", show=False, id="app.handover"),
        Binding("r", "read", "Refresh", show=False, id="app.refresh"),
    ]

    def __init__(self, frame: MainScreen) -> None:
        super().__init__([])
        self.frame, self.pane = frame, DetailPane(classes="dialog--body")
        self._found: tuple[Happened, SafeText | None] | None = None

    def on_mount(self) -> None:
        keys = {" enter": " open ", " + -": " further, less far back ", " H": " hand over "}
        self.keys_line.show(key_cells({" esc": " back ", **keys, " r": " read again "}))
        self.pane.focus()
        self.action_read()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.show_items)

    def action_read(self) -> None:
        self.show_items()
        start_worker(self, self._read, "read what happened", exclusive=True)

    async def _read(self) -> None:
        self._found = await gather(self.frame, self.frame.absence.shift_since)
        self.show_items()

    def action_look_back(self, further: bool) -> None:
        """Show the next longer, or the next shorter time."""
        now = self.frame.session.clock.now()
        span = now - self.frame.absence.shift_since
        at = bisect_right(SPANS, span + 60) if further else bisect_left(SPANS, span - 60) - 1
        self.frame.absence.shift_since = now - SPANS[max(0, min(at, len(SPANS) - 1))]
        self._found = None
        self.action_read()

    def action_handover(self) -> None:
        self.frame.dialogs.form("app.handover", None)

    @on(DetailPane.Entered)
    def _entered(self, message: DetailPane.Entered) -> None:
        self.dismiss(message.key)

    def show_items(self) -> None:
        now, since = self.frame.session.clock.now(), self.frame.absence.shift_since
        words = f" SINCE {since_words(since, now)} "
        self.title_line.show(
            [Cell(plain(words), Tone.STRONG), Cell(plain(f"({fmt.duration(now - since)})"))],
            [Cell(plain(f"{fmt.zone(now)} "), Tone.DIM)],
        )
        if self._found is None:
            self.pane.show([Text(plain("reading what happened"), Tone.DIM)])
        else:
            self.pane.show(self._items(*self._found))

    def _items(self, found: Happened, trouble: SafeText | None) -> Iterable[Item]:
        now = found.until
        if trouble is not None:
            yield Text(plain(f"{signs.unknown} {trouble}"), Tone.WARNING)
        for first, last in found.gaps:
            words = f"nothing is known from {since_words(first, now)} to {since_words(last, now)}"
            yield Text(plain(f"{signs.unknown} {words}"), Tone.WARNING)
        for part in found.parts:
            yield from self._part(part, now)

    def _part(self, part: Part, now: float) -> Iterable[Item]:
        number = part.total or len(part.happenings)
        yield from (Gap(), Heading(plain(f"{part.name} {fmt.count(number) if number else ''}")))
        shown, rows = part.happenings[:MOST_LINES], list[list[Cell]]()
        for each in shown:
            who, what = said(each, now)
            tone = TONES[each.level]
            sign = plain(f"{level_sign(each.level)} ")
            rows.append([Cell(sign, tone), Cell(plain(f"{who}  "), Tone.DIM), Cell(what, tone)])
        for each, row in zip(shown, columns(rows, (2, WHO)), strict=True):
            there = (Pressable(cell.text, cell.tone, each.key) for cell in row)
            yield Cells((Cell(plain(" ")), *(there if each.key else row)))
        if number > MOST_LINES:
            yield Text(plain(f"  and {fmt.count(number - MOST_LINES)} more"), Tone.DIM)
        elif not number:
            yield Text(plain(f"  {part.none}"), Tone.DIM)
