"""`LinkPane`: a text pane in which a cursor moves over the lines that lead somewhere.

A line leads somewhere if it has a `Pressable` cell, whose key names the target; enter or a click
posts `LinkOpened` with that key. While the pane has the focus, its cursor is visible; lines without
a target are scrolled past. The details of a record, the steps of a task, and the report of what
happened while the user was away are such panes.

`TextPane` breaks items of text into `lines` for its width (`_break_lines`). A line is a tuple of
`Cell`s, texts in a `Tone` such as WARNING, for which `style_of` returns the theme's style.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.segment import Segment
from textual import events, on
from textual.message import Message

from agentco_tui.text import signs
from agentco_tui.widgets.text_pane import LineCells, TextPane
from agentco_tui.widgets.tones import Pressable, Tone, with_readable_colour

_MAX_TEXT_CELLS = 2
"""Lines of running text have at most as many cells. They never lead anywhere, and are not searched:
there may be very many."""


class LinkPane(TextPane):
    """A text pane whose lines can lead somewhere."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"pane--cursor"}
    DEFAULT_CSS = """
    LinkPane > .pane--cursor {
        background: $block-cursor-background; color: $block-cursor-foreground;
    }
    LinkPane:ansi > .pane--cursor {
        background: transparent; color: $foreground; text-style: reverse;
    }
    """

    class LinkOpened(Message):
        """The user opened a line that leads somewhere: by enter, or by a click."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    _links: Mapping[int, str] = {}
    """The key of each target, by the index of the first line that leads there."""
    _cursor_index = -1
    """The index of the line with the cursor; -1 if no line leads anywhere."""
    initial_link = ""
    """The key of the line on which the cursor is until the user moves it; "" for the first one."""
    _user_has_moved = False

    @property
    def current_link(self) -> str:
        """The key of the line with the cursor; "" if no line leads anywhere."""
        return self._links.get(self._cursor_index, "")

    @property
    def cursor_line(self) -> int:
        """The line of the cursor, counted from the first visible one."""
        return self._cursor_index - self.scroll_offset.y

    def scroll_to_top(self) -> None:
        self._user_has_moved = False
        self._move_cursor(next(iter(self._links), -1))
        super().scroll_to_top()

    def _break_lines(self) -> None:
        """Break the lines, find those that lead somewhere, and keep the cursor on its target."""
        super()._break_lines()
        link = self.current_link if self._user_has_moved else self.initial_link
        index_by_link: dict[str, int] = {}
        for index, line in enumerate(self.lines):
            if len(line) > _MAX_TEXT_CELLS:
                index_by_link.setdefault(_link_of(line) or "", index)
        index_by_link.pop("", None)
        self._links = {index: key for key, index in index_by_link.items()}
        first_index = next(iter(self._links), -1)
        self._move_cursor(index_by_link.get(link, first_index))

    def move_to_link(self, key: str) -> None:
        """Move the cursor to the line that leads to `key`, and scroll it into view."""
        self._user_has_moved = True
        for index, link in self._links.items():
            if link == key:
                self._move_cursor(index)
                break
        third_of_pane = self.size.height // 3
        self.scroll_to(y=self._cursor_index - third_of_pane, animate=False, immediate=True)

    def _move_cursor(self, index: int) -> None:
        if index != self._cursor_index:
            self._cursor_index = index
            self.refresh()

    @on(events.Focus)
    @on(events.Blur)
    def _show_or_hide_cursor(self) -> None:
        self.refresh()

    def segments(self, index: int) -> list[Segment]:
        """Return the segments of a line, with the cursor's sign and colours if it is there."""
        if index != self._cursor_index or not self.has_focus:
            return super().segments(index)
        cursor_style = self.style_of("pane--cursor")
        line = self.lines[index]
        first_pressable = next(i for i, cell in enumerate(line) if isinstance(cell, Pressable))
        segments: list[Segment] = []
        for position, cell in enumerate(line):
            text = cell.text
            if position == first_pressable - 1 and text == " ":
                text = signs.cursor
            style = cursor_style
            if cell.tone in (Tone.WARNING, Tone.CRITICAL):
                style = with_readable_colour(cursor_style, self.style_of(cell.tone))
            segments.append(Segment(text, style))
        return segments

    def action_move(self, by: int) -> None:
        """Move to the next line that leads somewhere, if it is visible or nearly; else scroll.

        `by` is 1 for down and -1 for up.
        """
        self._user_has_moved = True
        top = self.scroll_offset.y
        end = top + self.scrollable_content_region.height
        start = self._cursor_index
        if not top <= start < end:
            start = top - 1 if by > 0 else end
        if by > 0:
            target = min((index for index in self._links if index > start), default=-1)
        else:
            target = max((index for index in self._links if index < start), default=-1)
        is_within_reach = target >= 0 and top - 1 <= target <= end
        if is_within_reach:
            self._move_cursor(target)
        if not top <= target < end:
            self.scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        self.scroll_relative(y=by * self.scrollable_content_region.height, animate=False)

    def action_first(self) -> None:
        self.scroll_to_top()

    def action_last(self) -> None:
        self._user_has_moved = True
        self._move_cursor(max(self._links, default=-1))
        self.scroll_end(animate=False)

    def action_open(self) -> None:
        top = self.scroll_offset.y
        if top <= self._cursor_index < top + self.scrollable_content_region.height:
            self.post_message(self.LinkOpened(self._links[self._cursor_index]))

    def on_click(self, event: events.Click) -> None:
        index = event.y + self.scroll_offset.y
        if index < len(self.lines):
            key = _link_of(self.lines[index])
            if key is not None:
                self.post_message(self.LinkOpened(key))


def _link_of(line: LineCells) -> str | None:
    """Return the key of the first cell that can be clicked; None if there is none."""
    for cell in line:
        if isinstance(cell, Pressable):
            return cell.key
    return None
