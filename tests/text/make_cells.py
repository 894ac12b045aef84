"""Builds agentco_tui/cells.txt: which characters may be shown, and how many cells each takes.

Run with `python tests/text/make_cells.py` from the top of the project. A character is kept only
if rich (which Textual measures with), wcwidth (alone and inside a string) and pyte (as a stand-in
for a terminal) give it the same width, and if Unicode 14 already gave it that width, because older
terminals still use the older tables.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

import wcwidth
from rich.cells import cell_len, get_character_cell_size

INVISIBLE = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159\ufffc")
FLAGS_AND_SKIN = frozenset(map(chr, [*range(0x1F1E6, 0x1F200), *range(0x1F3FB, 0x1F400)]))
NEIGHBOURS = ("a", "\u0915", "\u0e01", "\u4e00", "\u0644", "\u0301", "\U0001f600", "\u1100", "\xa9")
"""Latin, Devanagari, Thai, Han, Arabic, an accent, an emoji, a Jamo, a text-style emoji."""


def width_of(char: str) -> int | None:
    """Cells that `char` takes by every judge; None if it must not be shown as it is."""
    category = unicodedata.category(char)
    if char == " ":
        return 1
    if category[0] in "CZ" or category in {"Mc", "Me"}:
        return None
    if char in INVISIBLE or char in FLAGS_AND_SKIN:
        return None
    width = get_character_cell_size(char)
    if wcwidth.wcwidth(char) != width:
        return None
    if width == 0 and not (category == "Mn" and unicodedata.combining(char)):
        return None  # pyte stops drawing at a zero-width character of combining class 0
    if width and (2 if unicodedata.east_asian_width(char) in "WF" else 1) != width:
        return None
    for near in NEIGHBOURS:
        for text in (near + char, char + near, near + char + near, near + char + char):
            added = sum(map(wcwidth.wcwidth, text))
            if wcwidth.wcswidth(text) != added or cell_len(text) != added:
                return None
    return width


def ranges(points: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Ascending code points, as closed ranges."""
    first = last = -2
    for point in points:
        if point != last + 1:
            if first >= 0:
                yield first, last
            first = point
        last = point
    if first >= 0:
        yield first, last


def table() -> dict[str, str]:
    """Name of the class to its ranges in hexadecimal, "20-7e a1 ..."."""
    widths = {char: width_of(char) for char in map(chr, range(0x20, 0x110000))}
    classes: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for char, width in widths.items():
        composed = unicodedata.normalize("NFC", char) if width is not None else char
        # Cleaning composes, which takes some characters apart into what must not be shown.
        if width is not None and all(widths[part] is not None for part in composed):
            classes[width].append(ord(char))
    return {
        name: " ".join(f"{a:x}-{b:x}" if a != b else f"{a:x}" for a, b in ranges(classes[width]))
        for name, width in (("narrow", 1), ("wide", 2), ("marks", 0))
    }


def source() -> str:
    """The text of agentco_tui/cells.txt."""
    out = [
        "# Characters that may be shown, by the cells they take, as ranges of code points: `narrow`"
        " one,",
        f"# `wide` two, `marks` none. Of Unicode {unicodedata.unidata_version}. Written by"
        " tests/text/make_cells.py, which holds the rules.",
    ]
    for name, text in table().items():
        out += ["", f"[{name}]", *textwrap.wrap(text, 100)]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    target = Path(__file__).parents[2] / "agentco_tui" / "cells.txt"
    target.write_text(source(), encoding="utf-8")
