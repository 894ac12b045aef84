"""A widget is told that it is shown, whatever was asked between two layouts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual._compositor import Compositor
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.widget import Widget

from agentco_tui.textual_patches import compositor
from agentco_tui.textual_patches.registry import SHOWN_EVENTS


class Told(Widget):
    """Notes what it is told."""

    DEFAULT_CSS = "Told { height: 1fr; }"

    def __init__(self, number: int) -> None:
        super().__init__(id=f"w{number}")
        self.told: list[str] = []

    def on_show(self) -> None:
        self.told.append("show")

    def on_hide(self) -> None:
        self.told.append("hide")

    def on_resize(self) -> None:
        self.told.append(f"resize {self.size.width} {self.size.height}")


class Pair(App[None]):
    """Two widgets of which one is displayed."""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Told(1)
            yield Told(2)

    def on_mount(self) -> None:
        self.query_one("#w2").display = False


@pytest.fixture(autouse=True)
def _in_force() -> Iterator[None]:
    installed_before = bool(SHOWN_EVENTS.replaced)
    assert compositor.install_shown_events()
    yield
    if not installed_before:
        SHOWN_EVENTS.uninstall()


@pytest.mark.parametrize("asked", [False, True], ids=["not asked", "asked"])
async def test_what_is_shown_is_told_so(*, asked: bool) -> None:
    app = Pair()
    async with app.run_test(size=(30, 10)) as pilot:
        first, second = app.query_one("#w1", Told), app.query_one("#w2", Told)
        await pilot.pause()
        for shown, hidden in ((second, first), (first, second)) * 3:
            first.told.clear()
            second.told.clear()
            # As when a widget that isn't on the screen was refreshed.
            app.screen._compositor._full_map_invalidated = True
            shown.display, hidden.display = True, False
            if asked:
                assert shown.size.width == 30, "asked before it was laid out"
            await pilot.pause()
            assert sorted(shown.told) == ["resize 30 10", "show"]
            assert hidden.told == ["hide"]


async def test_a_second_layout_tells_nothing_again() -> None:
    app = Pair()
    async with app.run_test(size=(30, 10)) as pilot:
        first, second = app.query_one("#w1", Told), app.query_one("#w2", Told)
        await pilot.pause()
        second.display = True
        app.screen._compositor._full_map_invalidated = True
        assert first.size == (30, 5)
        await pilot.pause()
        assert sorted(second.told) == ["resize 30 5", "show"]
        assert first.told[-1] == "resize 30 5"
        told = list(first.told), list(second.told)
        app.screen._compositor._full_map_invalidated = True
        assert first.size == (30, 5)
        first.refresh(layout=True)
        await pilot.pause()
        assert (first.told, second.told) == told


def test_textual_is_left_alone_where_it_is_not_as_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    SHOWN_EVENTS.uninstall()
    try:
        with monkeypatch.context() as patched:
            patched.setattr(Compositor, "reflow", lambda self, size: (self, size))
            assert not compositor.install_shown_events()
            patched.setattr(Compositor, "full_map", None)
            assert not compositor.install_shown_events()
    finally:
        assert compositor.install_shown_events()
