"""A partial repaint asks only who can be seen, for the lines that are repainted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyte
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.geometry import Region
from textual.widget import Widget
from textual.widgets import Static

from agentco_tui.textual_patches import partial_paint

WIDTH, HEIGHT = 40, 12


class Layers(App[None]):
    """Widgets beside, behind and half in front of each other, some of them scrolled."""

    CSS = """
    Screen { layers: below above; background: $surface; }
    #left { width: 15; border: solid green; }
    #right { width: 1fr; background: $panel; }
    #rolled { height: 5; }
    #float { layer: above; offset: 9 3; width: 12; height: 4; background: $error; }
    """

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static("left\nof it", id="left")
            with Vertical(id="right"):
                yield Static("one line")
                with VerticalScroll(id="rolled"):
                    yield Static("\n".join(f"line {at} of many" for at in range(30)))
                yield Static("below the rolled")
        yield Static("in front\nof both", id="float")


@pytest.fixture(autouse=True)
def left_as_it_was() -> Iterator[None]:
    yield
    partial_paint.uninstall()


def repainted(app: App[None], regions: set[Region]) -> tuple[str, list[Widget]]:
    """What is written for a repaint of these regions, and who was asked for it."""
    asked: list[Widget] = []
    compositor = app.screen._compositor
    compositor._dirty_regions = set(regions)
    with pytest.MonkeyPatch.context() as patch:
        original = Widget.render_lines

        def render_lines(self: Widget, crop: Region) -> Any:
            asked.append(self)
            return original(self, crop)

        patch.setattr(Widget, "render_lines", render_lines)
        update = compositor.render_partial_update()
    assert update is not None
    console = Console(color_system="truecolor", force_terminal=True, width=WIDTH, height=HEIGHT)
    return partial_paint.render_chops(update, console), asked


def picture(written: str) -> list[list[Any]]:
    screen = pyte.Screen(WIDTH, HEIGHT)
    pyte.Stream(screen).feed(written)
    return [[screen.buffer[y][x] for x in range(WIDTH)] for y in range(HEIGHT)]


REGIONS = st.sets(
    st.builds(
        lambda x, y, width, height: Region(x, y, min(width, WIDTH - x), min(height, HEIGHT - y)),
        st.integers(0, WIDTH - 1),
        st.integers(0, HEIGHT - 1),
        st.integers(1, WIDTH),
        st.integers(1, HEIGHT),
    ),
    min_size=1,
    max_size=4,
)


async def test_the_picture_is_that_of_textual_itself() -> None:
    app = Layers()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.query_one("#rolled", VerticalScroll).scroll_to(y=7, animate=False)
        await pilot.pause()

        @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
        @given(REGIONS)
        def same(regions: set[Region]) -> None:
            partial_paint.uninstall()
            own, _ = repainted(app, regions)
            assert partial_paint.install()
            ours, _ = repainted(app, regions)
            assert picture(ours) == picture(own)

        same()


async def test_nobody_is_asked_who_stands_behind_others() -> None:
    app = Layers()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        assert partial_paint.install()
        _, asked = repainted(app, {Region(1, 1, 5, 1)})
        assert [widget.id for widget in asked] == ["left"]
        _, asked = repainted(app, {Region(10, 4, 3, 1)})
        assert [widget.id for widget in asked] == ["float"]
        _, asked = repainted(app, {Region(16, 11, 20, 1)})
        assert app.screen not in asked
