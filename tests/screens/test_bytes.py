"""Cost follows change, in the whole dashboard: what is written is counted, never timed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import msgspec
import pytest

# private: Textual has no public name for what is written to the terminal.
from textual._compositor import CompositorUpdate

from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import Listing
from agentco_tui.screens.resting_trace import RestingTraceReader
from agentco_tui.terminal.line_speed import SPEED
from agentco_tui.text import SafeText
from agentco_tui.textual_patches import compositor
from agentco_tui.textual_patches.registry import PARTIAL_PAINT
from tests.screens.harness import PLACES, WIDE, Stage, Staging
from tests.widgets.host import size, spans

pytestmark = pytest.mark.paints

PRIORITY_WIDTH = 10
"""Cells of the column of priorities."""
FRAME = 22
"""Bytes that Textual adds to each frame: synchronised output, and the cursor's place."""


class Written:
    """Everything that the compositor hands to the terminal from now on."""

    def __init__(self, s: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        self.updates: list[CompositorUpdate] = []
        # private: as above; what is written passes only here.
        display = s.app._display

        def kept(screen: Any, renderable: Any) -> None:
            if isinstance(renderable, CompositorUpdate):
                self.updates.append(renderable)
            display(screen, renderable)

        # private: as above.
        monkeypatch.setattr(s.app, "_display", kept)

    @property
    def spans(self) -> list[tuple[int, int, int]]:
        return spans(self.updates)

    @property
    def size(self) -> int:
        return size(self.updates, 120)


Quiet = Callable[..., AbstractAsyncContextManager[tuple[Stage, Written]]]


@pytest.fixture
def quiet(on: Staging, monkeypatch: pytest.MonkeyPatch) -> Iterator[Quiet]:
    """A dashboard on which everything has been read and painted, and what is written from then."""

    @asynccontextmanager
    async def start(place: Place, **chosen: Any) -> AsyncIterator[tuple[Stage, Written]]:
        async with on(place=place, size=WIDE, **chosen) as s:
            await s.settle()
            yield s, Written(s, monkeypatch)

    compositor.install_partial_paint()
    yield start
    PARTIAL_PAINT.uninstall()


@pytest.mark.parametrize("place", PLACES)
async def test_a_poll_with_nothing_new_writes_nothing(quiet: Quiet, place: Place) -> None:
    async with quiet(place) as (s, written):
        for _ in range(3):
            feeds = [feed for feed in FeedName if s.workspace.poller.pace(feed).value != "off"]
            for feed in feeds:
                await s.workspace.poller.read_again(feed)
            s.main.ticker.tick()
            await s.pilot.pause()
        assert written.spans == []
        assert written.size == 0


@pytest.mark.parametrize("count", [1, 3, 7])
async def test_k_changed_cells_repaint_k_cells(quiet: Quiet, count: int) -> None:
    async with quiet("tasks") as (s, written):
        table, store = s.view.table, s.workspace.store
        # Not the line under the cursor, whose detail tells of it too.
        chosen = set(table.model.shown[3 : 3 + count])
        word = SafeText("odd")
        assert all(task.priority != word for task in store.pending)
        records = tuple(
            msgspec.structs.replace(task, priority=word) if task.id in chosen else task
            for task in store.pending
        )
        store.publish(store.pending.replace(Listing(records=records)))
        await s.pilot.pause()
        spans = written.spans
        assert len(spans) == count
        assert len({y for y, _, _ in spans}) == count
        lefts = [left for _, left, _ in spans]
        rights = [right for _, _, right in spans]
        assert max(rights) - min(lefts) <= PRIORITY_WIDTH, "only characters of that column"
        assert written.size + FRAME <= 80 * count


async def test_a_move_on_the_overview_costs_its_line_and_the_preview(
    quiet: Quiet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RestingTraceReader, "read", lambda _: None)
    async with quiet("overview") as (s, written):
        for _ in range(3):  # from task to task: the footer stays as it is
            written.updates.clear()
            await s.press("j")
            await s.at_rest()
            assert 0 < written.size <= 1_050


async def test_what_is_not_on_the_screen_costs_nothing_when_it_changes(quiet: Quiet) -> None:
    async with quiet("companies") as (s, written):
        store = s.workspace.store
        records = tuple(
            msgspec.structs.replace(task, description=SafeText("odd")) for task in store.pending
        )
        store.publish(store.pending.replace(Listing(records=records)))
        await s.pilot.pause()
        assert written.size == 0


async def test_a_thin_line_paints_less_and_tells_ages_every_ten_seconds(
    quiet: Quiet,
) -> None:
    async with quiet("tasks", thin=True) as (s, written):
        assert " thin" in s.lines[0]
        await s.pilot.press("j")
        await s.pilot.pause()
        written.updates.clear()
        table = s.view.table
        table.move_cursor_to(table.model.shown[3])
        table.move_cursor_to(table.model.shown[4])
        await s.pilot.pause()
        lines = {y for y, left, right in written.spans if left == 0 and right - left > 3}
        assert not lines, "the cursor is its sign only"
        told: list[None] = []
        s.view.tick = lambda: told.append(None)  # type: ignore[method-assign]
        for _ in range(40):
            s.main.ticker.tick()
        assert len(told) == 4


async def test_a_terminal_that_cannot_keep_up_gets_less_until_it_can(quiet: Quiet) -> None:
    async with quiet("tasks") as (s, _):
        assert " thin" not in s.lines[0]
        SPEED.slow = True
        s.app.check_line_speed()
        await s.sees("painting less")
        assert " thin" in s.lines[0]
        assert s.view.table.viewport.thin
        assert s.view.detail.display, "nothing jumps by itself"
        SPEED.slow = False
        s.app.check_line_speed()
        await s.sees("everything is painted")
        assert " thin" not in s.lines[0]
        assert not s.view.table.viewport.thin


async def test_a_second_passing_paints_ages_only(quiet: Quiet) -> None:
    async with quiet("tasks") as (s, written):
        s.platform.world.advance(1)
        s.main.ticker.tick()
        await s.settle()
        assert sum(right - left for _, left, right in written.spans) < 60


async def test_no_detail_stands_beside_a_list_on_a_thin_line(on: Staging) -> None:
    async with on(size=WIDE, place="tasks", thin=True) as s:
        await s.wait_until(lambda: s.rows and not s.view.detail.display, "a list alone")
        await s.sees(" thin ")
        await s.tap("enter")
        await s.wait_until(lambda: s.view.detail.display and s.view.reading, "the detail alone")
        await s.tap("escape")
        await s.wait_until(lambda: not s.view.detail.display, "a list alone again")
