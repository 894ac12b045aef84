"""Our themes can be read, and are the same with 256 colours as with 16 million."""

from __future__ import annotations

from itertools import product

import pytest
from rich.color import ColorSystem, ColorType
from textual.color import Color
from textual.theme import Theme

from agentco_tui.textual_patches.rendition import nearest_color
from agentco_tui.widgets.themes import THEMES
from agentco_tui.widgets.tones import MIN_CONTRAST, contrast_ratio

GROUNDS = ("background", "surface", "panel")
STATES = ("text-success", "text-warning", "text-error")
each_theme = pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)


def colors_of(theme: Theme) -> dict[str, Color]:
    words = {**theme.to_color_system().generate(), **theme.variables}
    names = (*GROUNDS, *STATES, "foreground", "text-muted", "text-accent", *theme.variables)
    return {name: Color.parse(words[name]) for name in names}


@each_theme
def test_text_stands_out_from_every_ground(theme: Theme) -> None:
    colors = colors_of(theme)
    names = (*STATES, "foreground", "text-muted", "text-accent", "text-disabled")
    for name, ground in product(names, GROUNDS):
        found = contrast_ratio(colors[name], colors[ground])
        assert found >= MIN_CONTRAST, f"{name} on {ground}: {found:.2f}"
    under = colors["block-cursor-background"]
    assert contrast_ratio(colors["block-cursor-foreground"], under) >= 7, "the strongest line"


@each_theme
def test_colours_of_state_are_of_state_only(theme: Theme) -> None:
    colors = colors_of(theme)
    chrome = {colors[name].rgb for name in colors if name not in STATES}
    assert chrome.isdisjoint(colors[name].rgb for name in STATES)
    assert len({colors[name].rgb for name in STATES}) == len(STATES)


@each_theme
def test_with_256_colours_they_are_the_same(theme: Theme) -> None:
    for name, color in colors_of(theme).items():
        found = nearest_color(color.rich_color, ColorSystem.EIGHT_BIT)
        assert found.type is ColorType.EIGHT_BIT
        assert found.get_truecolor() == color.rich_color.triplet, name


def test_a_dark_blue_grey_is_no_navy() -> None:
    """As Rich would have it, which takes for grey only what has no tint."""
    panel = Color.parse("#242f38").rich_color
    assert panel.downgrade(ColorSystem.EIGHT_BIT).number == 17
    assert nearest_color(panel, ColorSystem.EIGHT_BIT).number == 236
    assert nearest_color(panel, ColorSystem.TRUECOLOR) is panel
