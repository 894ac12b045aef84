"""A text pane whose lines may lead somewhere: those with a cell that can be pressed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.segment import Segment
from textual import events, on
from textual.message import Message

from agentco_tui.text import signs
from agentco_tui.widgets.text_pane import TextPane
from agentco_tui.widgets.tones import Pressable, Tone, coloured


class LinkPane(TextPane):
    """While it has the keys, a cursor stands on one of those lines, and else it scrolls."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"pane--cursor"}
    DEFAULT_CSS = """
    LinkPane > .pane--cursor {
        background: $block-cursor-background; color: $block-cursor-foreground;
    }
    LinkPane:ansi > .pane--cursor {
        background: transparent; color: $foreground; text-style: reverse;
    }
    """

    class Entered(Message):
        """Enter on a line that leads somewhere, or a click on it."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    _links: Mapping[int, str] = {}  # the first line of each, and where it leads
    _at = -1  # the line with the cursor
    first = ""  # where the line leads on which it stands at first, if there is one
    _moved = False  # whether somebody moved here

    @property
    def here(self) -> str:
        """Where the line with the cursor leads; "" if no line does."""
        return self._links.get(self._at, "")

    @property
    def cursor_line(self) -> int:
        return self._at - self.scroll_offset.y

    def show_top(self) -> None:
        self._moved = False
        self._put(next(iter(self._links), -1))
        self.scroll_home(animate=False, immediate=True)

    def _break(self) -> None:
        super()._break()
        kept, where = self.here if self._moved else self.first, dict[str, int]()
        for at, line in enumerate(self.lines):
            # One cell or two are running text, of which there may be very much.
            if len(line) > 2:
                where.setdefault(next((c.key for c in line if isinstance(c, Pressable)), ""), at)
        where.pop("", None)
        self._links = {at: key for key, at in where.items()}
        self._put(where.get(kept, next(iter(self._links), -1)))

    def go_to(self, key: str) -> None:
        """Put the cursor on the line that leads there, in sight."""
        self._moved = True
        self._put(next((at for at, to in self._links.items() if to == key), self._at))
        self.scroll_to(y=self._at - self.size.height // 3, animate=False, immediate=True)

    def _put(self, at: int) -> None:
        if at != self._at:
            self._at = at
            self.refresh()

    @on(events.Focus)
    @on(events.Blur)
    def _keys_moved(self) -> None:
        self.refresh()

    def segments(self, at: int) -> list[Segment]:
        found = super().segments(at)
        if at != self._at or not self.has_focus:
            return found
        line, cursor = self.lines[at], self.style_of("pane--cursor")
        first = next(i for i, cell in enumerate(line) if isinstance(cell, Pressable))
        return [
            Segment(
                signs.cursor if i == first - 1 and cell.text == " " else cell.text,
                coloured(cursor, self.style_of(cell.tone))
                if cell.tone in (Tone.WARNING, Tone.CRITICAL)
                else cursor,
            )
            for i, cell in enumerate(line)
        ]

    def action_move(self, by: int) -> None:
        """To the next line that leads somewhere, if it is in sight or nearly, else scroll."""
        self._moved = True
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        in_sight = top <= self._at < top + height
        here = self._at if in_sight else top - 1 if by > 0 else top + height
        beyond = [at for at in self._links if (at - here) * by > 0]
        to = (min if by > 0 else max)(beyond, default=-1)
        if top - 1 <= to <= top + height and to >= 0:
            self._put(to)
        if not top <= to < top + height:
            self.scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        self.scroll_relative(y=by * self.scrollable_content_region.height, animate=False)

    def action_first(self) -> None:
        self.show_top()

    def action_last(self) -> None:
        self._moved = True
        self._put(max(self._links, default=-1))
        self.scroll_end(animate=False)

    def action_open(self) -> None:
        top = self.scroll_offset.y
        if top <= self._at < top + self.scrollable_content_region.height:
            self.post_message(self.Entered(self._links[self._at]))

    def on_click(self, event: events.Click) -> None:
        line = self.lines[event.y + self.scroll_offset.y :][:1]
        for cell in line[0] if line else ():
            if isinstance(cell, Pressable):
                self.post_message(self.Entered(cell.key))
                return
