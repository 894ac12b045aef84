"""What a terminal makes of a screen's bytes: each cell's text, colours and attributes.

`kept` is how the scenes lie in `looks/`, to be compared, and to be read by a person in a diff. Made
anew with the pictures: python screenshots/make.py
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from rich.color import Color
from rich.console import Console
from textual.screen import Screen

from agentco_tui.terminal.fitness import COLOUR_SYSTEMS
from agentco_tui.text import cell_width
from agentco_tui.textual_patches.compositor import SHOWN, install_partial_paint
from tests.screens.harness import Stage
from tests.screens.scenes import SCENES

FOLDER = Path(__file__).with_name("looks")
NAMES = [name for name, scene in SCENES.items() if not scene.no_color]
"""Each scene is drawn in every theme, and without colours, too."""


class Variant(NamedTuple):
    """A theme in a terminal of so many colours; of none under NO_COLOR."""

    theme: str
    colours: int

    def __str__(self) -> str:
        return f"{self.theme} in {self.colours} colours"


OWN = ("agentco-dark", "agentco-light", "agentco-contrast")
VARIANTS = (
    *(Variant(theme, colours) for theme in OWN for colours in (256, 16_777_216)),
    *(Variant(theme, 16) for theme in ("ansi-dark", "ansi-light")),
    Variant("agentco-dark", 0),
)


class Look(NamedTuple):
    """How a cell looks. A colour is `#rrggbb`, or one of the terminal's own 16 by its number; ""
    is the terminal's default.
    """

    color: str = ""
    ground: str = ""
    attributes: str = ""
    """Letters: bold, dim, italic, underlined, reversed, struck out."""

    @functools.cache  # noqa: B019 - there are some hundreds of them
    def __str__(self) -> str:
        return f"{self.attributes}{_short(self.color)}/{_short(self.ground)}"


class Cell(NamedTuple):
    """One cell; the second of a wide character has no text."""

    text: str
    look: Look


Picture = list[list[Cell]]
_PALETTE = {number: Color.from_ansi(number).get_truecolor().hex for number in range(16, 256)}
_NUMBERS = {color: number for number, color in _PALETTE.items()}
_ON = {1: "b", 2: "d", 3: "i", 4: "u", 7: "r", 9: "s"}
_OFF = {22: "bd", 23: "i", 24: "u", 27: "r", 29: "s"}
_SEQUENCE = re.compile(r"\x1b\[([\d;]*)([Hm])|\x1b\]8;[^\x1b]*\x1b\\|([^\x1b\n])")


def _short(color: str) -> str:
    """A colour by its number in the palette of 256, if it has one."""
    return str(_NUMBERS.get(color, color)) or "-"


def cells_of(written: str, width: int, height: int) -> Picture:
    """The picture of what was written onto an empty screen: text at places, in styles."""
    rows = [[Cell(" ", Look())] * width for _ in range(height)]
    x = y = end = 0
    look = Look()
    for found in _SEQUENCE.finditer(written):
        assert found.start() == end, f"not understood: {written[end : found.start()]!r}"
        end = found.end()
        numbers, kind, text = found.groups()
        if text:
            rows[y][x] = Cell(text, look)
            x += 1
            if cell_width(text) == 2:
                rows[y][x] = Cell("", look)
                x += 1
        elif kind == "H":
            y, x = (int(number or 1) - 1 for number in f"{numbers};1".split(";")[:2])
        elif kind == "m":
            look = _changed(look, [int(number or 0) for number in numbers.split(";")])
    assert end == len(written)
    return rows


def _changed(look: Look, codes: list[int]) -> Look:
    color, ground, attributes = look
    rest = iter(codes)
    for code in rest:
        kind, number = divmod(code, 10)
        if code == 0:
            color, ground, attributes = Look()
        elif code in _ON:
            attributes = "".join(sorted({*attributes, _ON[code]}))
        elif code in _OFF:
            attributes = "".join(sorted({*attributes} - {*_OFF[code]}))
        elif kind in (3, 9):
            color = _color(kind, number, rest)
        else:
            assert kind in (4, 10), codes
            ground = _color(kind, number, rest)
    return Look(color, ground, attributes)


def _color(kind: int, number: int, rest: Iterator[int]) -> str:
    if number < 8:
        return str(number if kind < 9 else number + 8)
    if number == 9:
        return ""
    if next(rest) == 5:
        return _PALETTE[next(rest)]
    return f"#{next(rest):02x}{next(rest):02x}{next(rest):02x}"


def written(screen: Screen[object], variant: Variant) -> str:
    """The bytes of the whole screen, and of what stands behind it, in a terminal as the variant's.

    The terminal's own answers and environment are left out of it.
    """
    system = COLOUR_SYSTEMS.get(variant.colours, "standard")
    settings: Any = {"color_system": system, "force_terminal": True, "_environ": {}}
    # private: Textual draws to text only with its compositor.
    behind = screen.app._background_screens
    update: Any = screen._compositor.render_update(full=True, screen_stack=behind)
    SHOWN.forget()  # each picture is drawn on an empty terminal
    return str(update.render_segments(Console(**settings)))


async def drawn(s: Stage, variant: Variant) -> Picture:
    """The screen in a variant, whatever it was in before."""
    install_partial_paint()
    s.app.no_color = not variant.colours
    s.app.theme = variant.theme
    s.app.refresh_css(animate=False)
    before = ""
    while (now := written(s.app.screen, variant)) != before:
        before = now
        await s.settle()
    return cells_of(now, *s.app.screen.size)


# ---- as it is kept


def kept(pictures: dict[Variant, Picture]) -> str:
    """Every row as runs of text, each with its look in the first variant before it; below what each
    look is in the other variants. Colours are numbers of the palette of 256, if they are in it.
    """
    rows = pictures[VARIANTS[0]]
    lines = []
    for row in rows:
        runs = groupby(row, key=lambda cell: cell.look)
        line = "".join(f"«{look}»{''.join(cell.text for cell in run)}" for look, run in runs)
        lines.append(line.rstrip())
    found: dict[str, dict[Variant, set[str]]] = {}
    for variant, picture in pictures.items():
        for row, first in zip(picture, rows, strict=True):
            for cell, key in zip(row, first, strict=True):
                found.setdefault(str(key.look), {}).setdefault(variant, set()).add(str(cell.look))
    lines += ["", "; ".join(map(str, VARIANTS))]
    for _, looks in sorted(found.items()):
        lines.append("; ".join(" or ".join(sorted(looks[variant])) for variant in VARIANTS))
    return "\n".join(lines) + "\n"


async def every_variant(s: Stage) -> dict[Variant, Picture]:
    """What is on the screen, drawn in all variants."""
    return {variant: await drawn(s, variant) for variant in VARIANTS}
