"""The picture that a terminal shows for a stream of bytes, and which modes were left on."""

from __future__ import annotations

import copy
import re
from typing import Any

import pyte
import pyte.modes as mo
from pyte.screens import Char
from wcwidth import wcwidth

_NOT_FOR_PYTE = re.compile(rb"\x1b\[[<=>][0-9;:]*[ -/]*[@-~]")
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-9;:<=>?]*[ -/]*)?\Z")
_ALTERNATE_SCREEN = 1049

_PRIVATE = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")
_KITTY = re.compile(rb"\x1b\[([<>])[0-9;]*u")
_COLOUR = re.compile(rb"\x1b\[([0-9;:]*)m")
_MODES = {1049: "alternate screen", 2004: "bracketed paste"}
_ON_BY_NATURE = {25: "cursor hidden", 7: "no line wrap"}


def modes_left_on(raw: bytes) -> set[str]:
    """Names of the modes that a stream of bytes turns on and does not turn off after that."""
    state: dict[int, bool] = {}
    for numbers, switch in _PRIVATE.findall(raw):
        for number in numbers.split(b";"):
            state[int(number)] = switch == b"h"
    left = {_MODES.get(mode, f"mode {mode}") for mode, on in state.items() if on}
    left -= {f"mode {mode}" for mode in _ON_BY_NATURE}
    left |= {name for mode, name in _ON_BY_NATURE.items() if not state.get(mode, True)}
    depth = 0
    for direction in _KITTY.findall(raw):
        depth = depth + 1 if direction == b">" else max(0, depth - 1)
    if depth:
        left.add("kitty keyboard protocol")
    colours = _COLOUR.findall(raw)
    if colours and colours[-1] not in {b"", b"0"}:
        left.add("colours")
    return left


def _is_wide(text: str) -> bool:
    """Whether a cell's text takes two columns, in pyte's own reckoning."""
    return text != "" and wcwidth(text[0]) == 2


def _is_second_half(text: str) -> bool:
    """Whether pyte has nothing in a cell but what combines with the wide character before it."""
    return text == "" or wcwidth(text[0]) == 0


class _TwoScreens(pyte.Screen):
    """pyte's screen with the alternate one that it lacks: the shell's picture comes back."""

    _main: tuple[Any, Any] | None = None

    def draw(self, data: str) -> None:
        """The same as pyte's for plain text within a line, in a third of the time."""
        x, y = self.cursor.x, self.cursor.y
        if x + len(data) > self.columns or not data.isascii() or self.mode & {mo.IRM}:
            super().draw(data)
            return
        line, style = self.buffer[y], self.cursor.attrs[1:]
        for at, letter in enumerate(data, x):
            line[at] = tuple.__new__(Char, (letter, *style))
        self.cursor.x += len(data)
        self.dirty.add(y)

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        if kwargs.get("private") and _ALTERNATE_SCREEN in modes and self._main is None:
            self._main = copy.deepcopy(self.buffer), copy.copy(self.cursor)
            self.erase_in_display(2)
        super().set_mode(*modes, **kwargs)

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        super().reset_mode(*modes, **kwargs)
        if kwargs.get("private") and _ALTERNATE_SCREEN in modes and self._main is not None:
            (self.buffer, self.cursor), self._main = self._main, None
            self.dirty.update(range(self.lines))


class Picture:
    """A terminal of so many columns and rows: bytes in, rows out."""

    def __init__(self, columns: int, rows: int) -> None:
        self._screen = _TwoScreens(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._rest = b""
        self._rows = [""] * rows

    def feed(self, data: bytes) -> None:
        """Draw more bytes; a sequence cut in two is kept for the next call."""
        data = self._rest + data
        cut = _UNFINISHED.search(data)
        self._rest = cut.group() if cut else b""
        data = data[: len(data) - len(self._rest)]
        # pyte shows the last letter of these; a terminal that doesn't know them shows nothing.
        self._stream.feed(_NOT_FOR_PYTE.sub(b"", data))

    def rows(self) -> list[str]:
        """The rows as text, without blanks at the end of each.

        Half of a wide character, whose other half has been written over, is a blank, as on a
        terminal. pyte's own `display` raises IndexError there, between two reads of a paint.
        """
        for row in self._screen.dirty:
            if row < len(self._rows):
                self._rows[row] = self._row(self._screen.buffer[row])
        self._screen.dirty.clear()
        return self._rows.copy()

    def cells(self) -> list[list[Char]]:
        """All cells with their colours and attributes; the second half of a wide one is empty."""
        screen = self._screen
        return [[screen.buffer[y][x] for x in range(screen.columns)] for y in range(screen.lines)]

    def cursor(self) -> tuple[int, int]:
        """Where the real cursor stands: its row and its column, from 0."""
        return self._screen.cursor.y, self._screen.cursor.x

    def _row(self, line: Any) -> str:
        texts = ["", *(line[column].data for column in range(self._screen.columns)), ""]
        if (plain := "".join(texts)).isascii() and len(plain) == self._screen.columns:
            return plain.rstrip()
        shown = []
        for before, text, after in zip(texts, texts[1:], texts[2:], strict=False):
            if _is_second_half(text):
                shown.append("" if _is_wide(before) else " ")
            else:
                shown.append(" " if _is_wide(text) and not _is_second_half(after) else text)
        return "".join(shown).rstrip()

    def resize(self, rows: int, columns: int) -> None:
        """Another size, as `PtySession.resize` gives it."""
        self._screen.resize(rows, columns)
        self._screen.dirty.update(range(rows))
        self._rows = [""] * rows
