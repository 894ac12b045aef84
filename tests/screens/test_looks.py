"""Every screen in every theme, at 16, 256 and 16 million colours and without: it can be read,
a colour means one thing, and it is as it is kept in `looks/` and, for people, in `screenshots/`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from difflib import unified_diff
from itertools import groupby
from pathlib import Path

import pytest
from textual.color import Color
from textual.geometry import Region

from agentco_tui.widgets.tones import MIN_CONTRAST, contrast_ratio
from tests.screens import drawing
from tests.screens.harness import NOW, WIDE, Stage
from tests.screens.looks import (
    FOLDER,
    NAMES,
    VARIANTS,
    Cell,
    Look,
    Picture,
    Variant,
    cells_of,
    drawn,
    kept,
)
from tests.screens.scenes import SCENES, staged
from tests.screens.test_pictures import CAN_COMPARE, assert_as_kept

CONSOLES = {
    "VGA": "000000 aa0000 00aa00 aa5500 0000aa aa00aa 00aaaa aaaaaa"
    " 555555 ff5555 55ff55 ffff55 5555ff ff55ff 55ffff ffffff",
    "xterm": "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5"
    " 7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff",
}
"""The 16 colours as terminals have them."""
FRAMES = "╭╮╰╯┌┐└┘"
UPRIGHT = re.compile(r"(?<= )│|│(?= )")
COLOURS = {name: [f"#{each}" for each in words.split()] for name, words in CONSOLES.items()}


@functools.cache
def colours_of(look: Look, variant: Variant, console: str) -> tuple[Color, Color]:
    """Of the text and of its ground. The default is as the theme takes it to be."""
    defaults = ("0", "15") if variant.theme == "ansi-light" else ("7", "0")
    chosen = [one or default for one, default in zip(look[:2], defaults, strict=True)]
    text, ground = (
        Color.parse(COLOURS[console][int(one)] if one.isdigit() else one) for one in chosen
    )
    return (ground, text) if "r" in look.attributes else (text, ground)


@functools.cache
def contrast_of(look: Look, variant: Variant, console: str) -> float:
    """How much the text stands out from its ground."""
    return contrast_ratio(*colours_of(look, variant, console))


def hard_to_read(picture: Picture, variant: Variant) -> Iterator[str]:
    """The runs of cells whose text stands out too little."""
    for console in COLOURS if variant.colours == 16 else ["xterm"]:
        for y, row in enumerate(picture):
            for look, run in groupby(row, key=lambda cell: cell.look):
                text = "".join(cell.text for cell in run).strip()
                if text:
                    found = contrast_of(look, variant, console)
                    if found < MIN_CONTRAST:
                        yield f"{variant}, {console}, row {y}: {found:.2f} {look} {text!r}"


class Meanings:
    """What a theme's colours mean, as they come out in a variant."""

    def __init__(self, s: Stage) -> None:
        words = s.app.theme_variables
        names = ("success", "warning", "error", "accent", "muted", "disabled")
        self.good, self.warning, self.critical, self.accent, *self.old = (
            color_of(words[f"text-{name}"]) for name in names
        )
        self.text = color_of(words["foreground"])
        self.cursors = [
            color_of(words[f"block-cursor-{name}"]) for name in ("background", "blurred-background")
        ]

    def on_cursor(self, cell: Cell) -> bool:
        """The cursor's line may be in colours of its own, or reversed."""
        return bool(cell.look.ground) and cell.look.ground in self.cursors

    def wrong(self, rows: Picture) -> Iterator[str]:
        """Where a colour or a sign means something else than it should."""
        before: set[tuple[int, str]] = set()
        for row in rows:
            told: set[tuple[int, str]] = set()
            for x, pane in panes(row):
                words = "".join(cell.text for cell in pane)
                for color, allowed in ((self.warning, "▲◌"), (self.critical, "✖")):
                    colored = "".join(c.text for c in pane if c.look.color == color).strip()
                    if not colored:
                        continue
                    # Or it goes on from the line above, and all of it.
                    goes_on = (x, color) in before and colored == words.strip()
                    if not set(allowed) & set(words) and not goes_on:
                        yield f"{colored!r} has no sign in {words!r}"
                    told.add((x, color))
                yield from (f"{c.text} {c.look} in {words!r}" for c in pane if self.is_wrong(c))
            before = told

    def is_wrong(self, cell: Cell) -> bool:
        """Whether a sign is in the colour of another meaning, or a line in one of any meaning."""
        text, color = cell.text, cell.look.color
        state = {self.good, self.warning, self.critical, self.accent} - {self.text}
        if self.on_cursor(cell):
            return False
        if text in FRAMES:
            return color in state - {self.accent}
        own = {"●": self.good, "▲": self.warning, "◌": self.warning, "✖": self.critical}
        return text in own and color in state - {own[text]}


def color_of(word: str) -> str:
    """A colour of a theme as a cell has it."""
    codes = ";".join(Color.parse(word.partition(" ")[0]).rich_color.get_ansi_codes())
    return cells_of(f"\x1b[{codes}mx", 1, 1)[0][0].look.color


def panes(row: list[Cell]) -> Iterator[tuple[int, list[Cell]]]:
    """The parts of a row between its upright lines, each with where it begins. A line within a
    gauge is its mark of today.
    """
    start, words = 0, "".join(cell.text or " " for cell in row)
    for found in UPRIGHT.finditer(f"{words} │"):
        yield start, row[start : found.start()]
        start = found.end()


def box(s: Stage) -> Region:
    """What has the keys: the whole screen, or the dialog in it."""
    shown = [child.region for child in s.app.screen.children if child.display]
    return shown[0] if s.app.screen.is_modal else s.app.screen.region


@pytest.mark.parametrize("name", NAMES)
async def test_it_can_be_read_means_one_thing_and_is_as_it_is_kept(
    name: str, tmp_path: Path
) -> None:
    found: list[str] = []
    pictures: dict[Variant, Picture] = {}
    with SCENES[name].world(NOW) as platform:
        async with staged(name, platform, tmp_path, WIDE) as s:
            svg = drawing.picture(s)
            for variant in VARIANTS:
                picture = pictures[variant] = await drawn(s, variant)
                if not variant.colours:
                    looks = {cell.look for row in picture for cell in row}
                    assert {look[:2] for look in looks} == {("", "")}, "NO_COLOR"
                    continue
                # What stands behind a question is dimmed.
                x, y, width, height = box(s)
                rows = [row[x : x + width] for row in picture[y : y + height]]
                found += hard_to_read(rows, variant)
                found += (f"{variant}: {each}" for each in Meanings(s).wrong(rows))
    assert not found, "\n".join(found)
    if CAN_COMPARE:
        assert_as_kept(name, WIDE, svg)
        was = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        assert "\n".join(unified_diff(was, kept(pictures).splitlines(), lineterm="")) == ""
