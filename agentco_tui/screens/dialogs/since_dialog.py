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
from agentco_tui.actions.handover import decided_here, not_known, said, since_words
from agentco_tui.background import beside, start_worker
from agentco_tui.live.feeds import FeedName, began_at
from agentco_tui.live.history import HistoryError
from agentco_tui.live.since import (
    Chapter,
    Happened,
    Happening,
    Known,
    happened,
    log_past,
    merged,
    read_past,
)
from agentco_tui.screens.cells import TONES, level_sign
from agentco_tui.screens.dialogs.base import WholeScreen, key_cells
from agentco_tui.screens.key_app import DetailPane
from agentco_tui.text import plain, signs
from agentco_tui.widgets.text_pane import Cells, Gap, Heading, Item, Text, columns
from agentco_tui.widgets.tones import Cell, Pressable, Tone

if TYPE_CHECKING:
    from agentco_tui.screens.frame import MainScreen

HOUR = 3_600.0
SPANS = (HOUR, 4 * HOUR, 8 * HOUR, 24 * HOUR, 72 * HOUR, 168 * HOUR)  # seconds to look back
FIRST, MOST = 5, 500  # lines of one chapter, and when all of it is asked for
MORE = "more:"  # before the name of a chapter: what its last line leads to
WHO = 24  # columns of when and who
BLANK, GAP = Cell(plain(" ")), Cell(plain("  "))


async def gather(frame: MainScreen, since: float) -> Happened:
    """What happened since then, by the history and the log that is held; off the event loop."""
    session, absence, now = frame.session, frame.absence, frame.session.clock.now()
    store, why, past = session.store, None, Known()
    try:
        if session.history is not None:
            read = read_past(since, tuple(store.companies.records))
            past = await session.history.ask(read)
        else:
            why = plain("without a history only what the log still holds is known")
    except HistoryError as error:
        why = plain(str(error))
    skew, journal = now - time.time(), session.journal.path
    here = await session.journaled(decided_here, journal, session.origin, since, skew)
    entries = tuple(store.activity)
    read_to = began_at(store.freshness[FeedName.ACTIVITY], session.clock)
    left = absence.left_needs if since == absence.away_since else None
    others = absence.other_needs().items()
    needs = {need: Happening(None, name, key=row) for need, (name, row) in others}

    def work() -> Happened:
        known = merged(log_past(entries, since, read_to), past)
        limits, span = session.settings.alerts, (since, now)
        told = partial(happened, known, store, limits, span)
        return told(here=here, left=left, needs=needs, why=why)

    return await beside(work)


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
        self._found: Happened | None = None
        self._whole = set[str]()  # the chapters of which all is shown

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
        self.frame.absence.since = now - SPANS[max(0, min(at, len(SPANS) - 1))]
        self._found = None
        self.action_read()

    def action_handover(self) -> None:
        self.frame.dialogs.form("app.handover", None)

    @on(DetailPane.Entered)
    def _entered(self, message: DetailPane.Entered) -> None:
        if message.key.startswith(MORE):
            self._whole.add(message.key.removeprefix(MORE))
            self.show_items()
        else:
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
            self.pane.show(self._items(self._found))

    def _items(self, found: Happened) -> Iterable[Item]:
        counts = [
            f"{fmt.count(len(each.happenings))} {each.name.lower()}"
            for each in found.chapters
            if each.happenings and each.name != "Spent"
        ]
        yield Text(
            plain(f" {signs.separator} ".join(counts) or "nothing is known to have happened"),
            Tone.STRONG,
        )
        for unknown in not_known(found):
            yield Text(plain(f"{signs.unknown} {unknown}"), Tone.WARNING)
        for chapter in found.chapters:
            yield from self._chapter(chapter, found.until)

    def _chapter(self, chapter: Chapter, now: float) -> Iterable[Item]:
        count, rows = len(chapter.happenings), list[list[Cell]]()
        shown = chapter.happenings[: MOST if chapter.name in self._whole else FIRST]
        yield from (Gap(), Heading(plain(f"{chapter.name} {fmt.count(count) if count else ''}")))
        for each in shown:
            (who, what), tone = said(each, now), TONES[each.level]
            sign = Cell(plain(f"{level_sign(each.level)} "), tone)
            rows.append([sign, Cell(who, Tone.DIM), GAP, Cell(what, tone)])
        for each, row in zip(shown, columns(rows, (2, WHO)), strict=True):
            there = (Pressable(cell.text, cell.tone, each.key) for cell in row)
            yield Cells((BLANK, *(there if each.key else row)))
        if count > len(shown):
            words = plain(f"  and {fmt.count(count - len(shown))} more")
            more = Pressable(words, Tone.DIM, f"{MORE}{chapter.name}")
            yield Cells((BLANK, Cell(words, Tone.DIM) if chapter.name in self._whole else more))
        elif not count:
            yield Text(plain(f"  {chapter.none}"), Tone.DIM)
