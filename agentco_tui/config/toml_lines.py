"""Where in a TOML text each key stands, which tomllib does not tell.

The text has already been read by tomllib without an error, so this walks over it without checking
it again: tables, arrays of tables, dotted and quoted keys, inline tables and arrays over several
lines, and strings that look like any of these.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable

from agentco_tui.patterns import lazy_pattern

KeyPath = tuple[str, ...]

_BARE = lazy_pattern(r"[A-Za-z0-9_-]+")
_SPACE = lazy_pattern(r"[ \t]*")
_BLANK = lazy_pattern(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SCALAR = lazy_pattern(r"[^,\]}#\n]*")
_STRINGS = (
    lazy_pattern(r'"""(?:[^\\]|\\.)*?"{3,5}', re.DOTALL),
    lazy_pattern(r"'''.*?'{3,5}", re.DOTALL),
    lazy_pattern(r'"(?:[^"\\\n]|\\.)*"'),
    lazy_pattern(r"'[^'\n]*'"),
)


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line, from 1, at which each key of a valid TOML text is first written.

    A key is its path from the top, `("profiles", "prod", "refresh")`; elements of arrays are
    numbered, `("keys", "list.down", "0")`.
    """
    return _Walk(text).lines


class _Walk:
    """One pass over the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._line_at = 0
        self._elements: dict[KeyPath, int] = {}
        self.lines: dict[KeyPath, int] = {}
        self._document()

    def _document(self) -> None:
        table: KeyPath = ()
        self._skip(_BLANK)
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BLANK)

    def _header(self) -> KeyPath:
        array = self._text.startswith("[[", self._at)
        self._at += 2 if array else 1
        line = self._line_here()
        path = self._inside_elements(self._key())
        self._at += 2 if array else 1
        if array:
            number = self._elements.get(path, -1) + 1
            self._elements[path] = number
            self._note((), path, line)
            path = (*path, str(number))
        self._note((), path, line)
        return path

    def _inside_elements(self, path: KeyPath) -> KeyPath:
        """The path with the number of the newest element after each array of tables above it."""
        found: KeyPath = ()
        for part in path[:-1]:
            found = (*found, part)
            if found in self._elements:
                found = (*found, str(self._elements[found]))
        return (*found, path[-1])

    def _pair(self, table: KeyPath) -> None:
        line = self._line_here()
        path = (*table, *self._key())
        self._note(table, path, line)
        self._at += 1  # the equals sign
        self._value(path)

    def _key(self) -> KeyPath:
        parts: list[str] = []
        while True:
            self._skip(_SPACE)
            if bare := _BARE.match(self._text, self._at):
                parts.append(bare.group())
                self._at = bare.end()
            else:
                start = self._at
                self._string()
                parts.append(str(tomllib.loads(f"k = {self._text[start : self._at]}")["k"]))
            self._skip(_SPACE)
            if self._text[self._at] != ".":
                return tuple(parts)
            self._at += 1

    def _value(self, path: KeyPath) -> None:
        self._skip(_SPACE)
        opening = self._text[self._at]
        if opening in "\"'":
            self._string()
        elif opening == "[":
            self._items("]", lambda number: self._element((*path, str(number))))
        elif opening == "{":
            self._items("}", lambda _number: self._pair(path))
        else:
            self._skip(_SCALAR)

    def _items(self, closing: str, item: Callable[[int], None]) -> None:
        self._at += 1
        number = 0
        while True:
            self._skip(_BLANK)
            if self._text[self._at] == closing:
                self._at += 1
                return
            if self._text[self._at] == ",":
                self._at += 1
                continue
            item(number)
            number += 1

    def _element(self, path: KeyPath) -> None:
        self.lines.setdefault(path, self._line_here())
        self._value(path)

    def _string(self) -> None:
        for pattern in _STRINGS:
            if found := pattern.match(self._text, self._at):
                self._at = found.end()
                return
        raise ValueError(f"no string at line {self._line_here()}")

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self._text, self._at)
        if found:
            self._at = found.end()

    def _note(self, table: KeyPath, path: KeyPath, line: int) -> None:
        for length in range(len(table) + 1, len(path) + 1):
            self.lines.setdefault(path[:length], line)

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._line_at, self._at)
        self._line_at = self._at
        return self._line
