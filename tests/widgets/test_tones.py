"""What is wrong is seen under the cursor too, in every theme."""

from __future__ import annotations

from decimal import Decimal

import pytest
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from agentco_tui.text.signs import use_ascii
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.tones import (
    MIN_CONTRAST,
    MIN_RELATIVE_CONTRAST,
    contrast_ratio,
    share_bar,
    with_readable_colour,
)
from tests.widgets.host import Host, Job

THEMES = {name: theme for name, theme in BUILTIN_THEMES.items() if not name.startswith("ansi")}


def test_contrast_is_that_of_the_standard() -> None:
    black, white = Color(0, 0, 0), Color(255, 255, 255)
    assert contrast_ratio(black, white) == contrast_ratio(white, black) == pytest.approx(21)
    assert contrast_ratio(white, white) == 1
    assert contrast_ratio(Color(119, 119, 119), white) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("tone", ["text-warning", "text-error"])
@pytest.mark.parametrize("ground", ["panel", "surface"])
@pytest.mark.parametrize("name", THEMES)
def test_every_theme_can_be_read(name: str, ground: str, tone: str) -> None:
    colors = THEMES[name].to_color_system().generate()
    text, under = Color.parse(colors["foreground"]), Color.parse(colors[ground])
    base = Style(color=text.rich_color, bgcolor=under.rich_color)
    style = with_readable_colour(base, Style(color=Color.parse(colors[tone]).rich_color, bold=True))
    assert style.color is not None
    found = Color.from_rich_color(style.color)
    assert contrast_ratio(found, under) >= min(
        MIN_CONTRAST, MIN_RELATIVE_CONTRAST * contrast_ratio(text, under)
    )
    assert found.rgb != text.rgb, "still a colour of its own"
    assert style.bgcolor == base.bgcolor
    assert not style.bold, "the letters' weight stays that of the row"


def test_the_terminals_own_colours_are_taken_as_they_are() -> None:
    base = Style.parse("default on default reverse")
    style = with_readable_colour(base, Style.parse("bold red"))
    assert style == base + Style.parse("red")
    assert with_readable_colour(base, Style(bold=True)) == base


@pytest.mark.parametrize(
    ("share", "passed", "drawn", "in_ascii"),
    [
        ("0", None, "──────── ", "-------- "),
        ("0.001", None, "▏─────── ", "#------- "),
        ("0.5", None, "████──── ", "####---- "),
        ("0.55", 0.75, "████▍─│─ ", "####--|- "),
        ("0.999", 1.0, "███████│ ", "#######| "),
        ("1", None, "████████ ", "######## "),
        ("1.001", 0.0, "│███████▶", "|#######>"),
        ("-0.2", None, "──────── ", "-------- "),
        (None, 0.5, "         ", "         "),
    ],
)
def test_a_gauge_has_the_mark_of_today_and_what_is_too_much_sticks_out(
    share: str | None, passed: float | None, drawn: str, in_ascii: str
) -> None:
    known = None if share is None else Decimal(share)
    assert share_bar(known, 9, passed=passed) == drawn
    assert share_bar(known, 9, passed=passed, track=False) == drawn.replace("─", " ")
    use_ascii()
    try:
        assert share_bar(known, 9, passed=passed) == in_ascii
    finally:
        use_ascii(False)


PRIORITIES = {"high": True, "raised": True, "medium": False, "low": False}
"""Whether the priority's cell is to be told from the rest of the line by its colour."""


def style_of(table: RecordTable[Job], word: str) -> Style:
    """The style of the piece of the cursor's line that holds the word."""
    line = 1 + table.model.shown.index(str(table.viewport.cursor))
    style = next(s.style for s in table.render_line(line) if word in s.text)
    assert style is not None
    return style


@pytest.mark.parametrize("priority", PRIORITIES)
async def test_colours_under_the_cursor(priority: str) -> None:
    app = Host()
    app.first = [Job(one, f"Title {one}", "Ada", "Acme", priority=one) for one in PRIORITIES]
    async with app.run_test(size=(100, 12)) as pilot:
        assert app.table.move_cursor_to(priority)
        await pilot.pause()
        title, told = style_of(app.table, "Title"), style_of(app.table, priority)
        assert told.bgcolor == title.bgcolor
        assert (told.color != title.color) == PRIORITIES[priority]
        app.table.set_state(app.table.empty_text, stale=True)
        await pilot.pause()
        assert style_of(app.table, priority) == style_of(app.table, "Title"), "old is but old"
