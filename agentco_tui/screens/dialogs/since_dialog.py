"""What happened since a moment, over the whole screen; each line opens what it is about."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from agentco_tui.actions.handover import sent_from_here
from agentco_tui.history.changes_since import Section, happened, held, remembered, to_minute
from agentco_tui.history.observations import HistoryError
from agentco_tui.history.period import HOUR
from agentco_tui.live.feeds import FeedName, began_at
from agentco_tui.model import format as fmt
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.cells import TONES, level_sign
from agentco_tui.screens.dialogs.base import WholeScreen
from agentco_tui.screens.key_app import DetailPane
from agentco_tui.system.background import beside
from agentco_tui.text import plain
from agentco_tui.widgets.text_pane import Cells, Gap, Heading, Item, Text, columns
from agentco_tui.widgets.tones import Cell, Pressable, Tone
from agentco_tui.widgets.workers import start_worker

SPANS = (1, 2, 4, 8, 12, 24, 72, 168)  # hours to look back
FIRST, MOST = 5, 500  # lines of one chapter, and when all of it is asked for
MORE = "more:"  # before the name of a chapter: where the line leads that stands for its rest
WHO = 24  # columns of when and who


async def gather(frame: BaseFrame, since: float) -> list[Section]:
    """What happened since then, by the history or the log that is held; off the event loop."""
    session, store, now = frame.session, frame.session.store, frame.session.clock.now()
    why, past = plain("without a history only what the log still holds is known"), None
    if session.history is not None:
        try:
            read = partial(remembered, since, tuple(store.companies.records))
            past = await session.history.ask(read, up_to_now=True)
        except HistoryError as error:
            why = plain(str(error))
    if past is None:
        read_to = began_at(store.freshness[FeedName.ACTIVITY], session.clock)
        past = held(tuple(store.activity), since, read_to, why)
    journal = await session.services.journaled(session.services.journal.latest, session.origin)
    sent, limits = sent_from_here(journal, since, now - time.time()), session.settings.alerts
    return await beside(lambda: happened(past, store, limits, (since, now), sent))


class SinceScreen(WholeScreen[str]):
    """Comes to the key of the line that was opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("L", "dismiss", "Back", show=False, id="app.since"),
        Binding("plus,equals_sign", "look_back(1)", "Further back", show=False),
        Binding("minus", "look_back(-1)", "Less far back", show=False),
        Binding("H", "handover", "Hand over", show=False, id="app.handover"),
    ]

    def __init__(self, frame: BaseFrame, at: str) -> None:
        super().__init__([])
        self.frame, self.pane = frame, DetailPane(classes="dialog--body")
        self.pane.first = at
        keys = {" esc": " back ", " enter": " open ", " + -": " further, less far back "}
        self.keys = {**keys, " H": " hand over "}
        self._found: Sequence[Section] = ()
        self._is_whole = False  # whether all of each chapter is shown

    def on_mount(self) -> None:
        self._read_anew()

    def action_look_back(self, way: int) -> None:
        """Show the next longer time, or (-1) the next shorter one."""
        tracker, now = self.frame.idle_tracker, self.frame.session.clock.now()
        span = round((now - tracker.shift_since) / HOUR, 1)
        beyond = [each for each in SPANS[::way] if (each - span) * way > 0]
        if beyond:
            tracker.since = now - beyond[0] * HOUR
            self._read_anew()

    def _read_anew(self) -> None:
        now, since = self.frame.session.clock.now(), self.frame.idle_tracker.shift_since
        words = plain(f" SINCE {to_minute(since, now)} ")
        span = Cell(plain(f"({fmt.duration(now - since)})"))
        zone = Cell(plain(f"{fmt.zone(now)} "), Tone.DIM)
        self.title_line.show([Cell(words, Tone.STRONG), span], [zone])
        self.pane.show([Text(plain("reading what happened"), Tone.DIM)])
        start_worker(self, self._read, "read what happened", exclusive=True)

    async def _read(self) -> None:
        self._found = await gather(self.frame, self.frame.idle_tracker.shift_since)
        self._show_found()

    def _show_found(self) -> None:
        now = self.frame.session.clock.now()
        self.pane.show(item for each in self._found for item in self._chapter(each, now))

    def action_handover(self) -> None:
        self.frame.action_form("app.handover")

    @on(DetailPane.Entered)
    def _entered(self, message: DetailPane.Entered) -> None:
        if message.key.startswith(MORE):
            self._is_whole = True
            self._show_found()
        else:
            self.dismiss(message.key)

    def _chapter(self, chapter: Section, now: float) -> Iterable[Item]:
        found, rows = chapter.happenings, list[list[Cell]]()
        shown = found[: MOST if self._is_whole else FIRST]
        count = fmt.count(len(found)) if found else ""
        yield from (Gap(), Heading(plain(f"{chapter.name} {count}")))
        for note in chapter.notes:
            yield Text(plain(f"  {note}"), Tone.DIM)
        for each in shown:
            (who, what), tone = each.said(now), TONES[each.level]
            sign = Cell(plain(f"{level_sign(each.level)} "), tone)
            rows.append([sign, Cell(who, Tone.DIM), Cell(plain("  ")), Cell(what, tone)])
        for each, row in zip(shown, columns(rows, (2, WHO)), strict=True):
            there = (Pressable(cell.text, cell.tone, each.key) for cell in row)
            yield Cells((Cell(plain(" ")), *(there if each.key else row)))
        if len(found) > len(shown):
            more = plain(f"  and {fmt.count(len(found) - len(shown))} more")
            yield Cells((Cell(plain(" ")), Pressable(more, Tone.DIM, f"{MORE}{chapter.name}")))
        elif not found:
            yield Text(plain(f"  {chapter.none}"), Tone.DIM)
