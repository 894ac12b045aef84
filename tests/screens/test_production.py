"""What says which platform it is: label, colour, danger, and a name to be typed."""

from __future__ import annotations

import pytest
from rich.style import Style
from textual.color import Color

from agentco_tui.api.credentials import BaseUrl
from agentco_tui.config import Settings
from agentco_tui.config.validators import COLOURS
from agentco_tui.screens.header_footer import environment
from agentco_tui.widgets import themes
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.tones import MIN_CONTRAST, Tone, contrast_ratio
from tests.screens.harness import Stage, Staging

HERE = BaseUrl.parse("https://platform.example.com")


def test_every_colour_of_the_settings_is_a_tone() -> None:
    assert [Tone(colour).value for colour in COLOURS] == list(COLOURS)


@pytest.mark.parametrize(
    ("chosen", "text", "is_filled"),
    [
        ({"profile": "staging"}, " staging ", False),
        ({"profile": "reproduce"}, " reproduce ", False),
        ({"profile": "Production"}, " Production ", True),
        ({"profile": "eu_prod"}, " eu_prod ", True),
        ({"profile": "eu", "label": "Live, Europe"}, " Live, Europe ", True),
        ({"profile": "prod", "danger": False}, " prod ", False),
        ({"profile": "eu", "danger": True, "colour": "red"}, " eu ", True),
        ({}, " platform.example.com ", False),
    ],
)
def test_the_platform_is_called_by_its_label_and_production_is_known_by_name_or_danger(
    chosen: dict[str, object], text: str, is_filled: bool
) -> None:
    cell = environment(Settings(base_url=HERE, **chosen))  # type: ignore[arg-type]
    assert cell.text == text
    assert cell.filled is (cell.tone if is_filled else None)
    assert chosen.get("colour") in (None, cell.tone.value)


def _stands_out(style: Style) -> float:
    assert style.color is not None
    assert style.bgcolor is not None
    colors = map(Color.from_rich_color, (style.color, style.bgcolor))
    return contrast_ratio(*colors)


async def test_every_colour_can_be_read_in_each_of_our_themes(on: Staging) -> None:
    async with on() as s:
        for theme in themes.THEMES:
            s.app.theme = theme.name
            await s.settle()
            for line in (s.main.lines.header, s.main.lines.tabs):
                for colour in COLOURS:
                    style = line.style_of(Tone(colour))
                    assert style.reverse
                    assert _stands_out(style) >= MIN_CONTRAST, (theme.name, colour)


def _ends(s: Stage, line: StatusLine) -> list[Style]:
    """The styles of a line's first and last column."""
    strip = s.strips[line.region.y]
    styles = [segment.style or Style() for segment in strip]
    return [styles[0], styles[-1]]


@pytest.mark.parametrize("no_color", [False, True])
async def test_production_fills_header_footer_and_every_question(
    on: Staging, monkeypatch: pytest.MonkeyPatch, no_color: bool
) -> None:
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    chosen = {"profile": "eu-1", "label": "Shop", "danger": True, "colour": "red"}
    async with on(place="tasks", **chosen) as s:
        for line in (s.main.lines.header, s.main.lines.footer):
            assert all(style.reverse for style in _ends(s, line))
        await s.press("a")
        await s.sees("Shop  (eu-1) APPROVE 1 task")
        title = s.app.screen.query(StatusLine).first()
        assert title.filled is Tone.RED
        await s.press("escape")
        await s.press("n")
        await s.sees("Shop  (eu-1) Create a task")
        assert s.app.screen.query(StatusLine).first().filled is Tone.RED


async def test_what_is_no_production_fills_nothing(on: Staging) -> None:
    async with on(place="tasks", profile="staging", colour="blue") as s:
        assert not any(style.reverse for style in _ends(s, s.main.lines.footer))
        assert s.main.lines.header.filled is None
        await s.press("a")
        await s.sees("staging  APPROVE 1 task")
        assert s.app.screen.query(StatusLine).first().filled is None


async def test_a_set_of_a_protected_platform_asks_for_the_name_of_the_profile(on: Staging) -> None:
    async with on(place="tasks", profile="any-1", protected=True) as s:
        await s.press("j", "space", "space", "a")
        await s.sees("2 tasks", "type any-1, then press y")
        await s.yes()
        await s.press(*"ann")
        await s.sees("then press y:  yann")
        assert not s.writes, "letters of a name are no answers"
        await s.press(*["backspace"] * 4, *"any-1")
        await s.sees("press y to approve them")
        await s.yes()
        await s.sees("APPROVING 2 tasks")
