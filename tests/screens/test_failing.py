"""A platform that fails or hangs: what is old dims, the light says so soon, and the words fit."""

from __future__ import annotations

import re

from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.screens.overview_view import OverviewView
from agentco_tui.widgets.tones import Tone
from tests.screens.harness import WIDE, Stage, Staging

OLD = {Tone.DIM, Tone.STRONG}  # of a title its name stays


def overview(s: Stage) -> OverviewView:
    assert isinstance(s.view, OverviewView)
    return s.view


def tones_of(s: Stage, words: str) -> set[Tone]:
    """Of the frame's cells with these words."""
    cells = (*s.main.lines.header.cells, *s.main.lines.tabs.cells, *s.view.head.title_line.cells)
    found = {cell.tone for cell in cells if words in cell.text}
    assert found, words
    return found


async def test_the_light_goes_amber_after_one_answer_that_does_not_come(on: Staging) -> None:
    async with on(refresh=5.0) as s:
        await s.poll()
        hanging = s.platform.faults.add("*:hang")
        s.workspace.poller.poll_now()
        await s.wait_until(lambda: hanging.struck == 4, "four that hang")
        s.platform.world.advance(5)
        s.main.ticker.tick()
        await s.settle()
        assert "● live" in s.lines[0]
        assert tones_of(s, "✖ ") & {Tone.ALARM, Tone.CRITICAL}
        s.platform.world.advance(1)
        s.main.ticker.tick()
        await s.sees("◌ no answer", "6 s old", "asked, and no answer yet")
        assert "live" not in s.lines[0]
        assert s.view.table.viewport.stale
        assert tones_of(s, "✖") == tones_of(s, "40") == {Tone.DIM}
        assert overview(s).spend.pane.is_stale
        assert overview(s).latest.pane.is_stale


async def test_all_that_is_old_dims_and_is_bright_again(on: Staging) -> None:
    async with on(size=WIDE) as s:
        await s.poll()
        failing = s.platform.faults.add("*:status=503")
        await s.poll()
        view = overview(s)
        assert [pane.is_stale for pane in (view.spend.pane, view.latest.pane)] == [True, True]
        assert tones_of(s, "✖") == {Tone.DIM}
        await s.go("tasks")
        await s.poll()
        detail = s.view.detail
        await s.wait_until(lambda: detail.is_stale, "a dim detail")
        s.platform.faults.remove(failing)
        await s.poll()
        await s.wait_until(lambda: not detail.is_stale, "a bright detail")
        await s.go("overview")
        await s.poll()
        assert [pane.is_stale for pane in (view.spend.pane, view.latest.pane)] == [False, False]
        assert not view.table.viewport.stale
        assert tones_of(s, "✖") & {Tone.ALARM, Tone.CRITICAL}


async def test_the_sentence_fits_what_has_answered(on: Staging) -> None:
    async with on(place="activity", size=WIDE) as s:
        s.platform.faults.add("GET /api/activity:status=404")
        await s.poll()
        await s.sees("has no /api/activity (404), though it answers at other paths")
        await s.sees_no("base_url")
        s.platform.stop()
        await s.poll()
        await s.sees("is the platform running?")
        await s.sees_no("port right", "base_url")
        s.platform.start()


async def test_a_first_answer_that_does_not_come_is_told(on: Staging) -> None:
    async with on(faults=["*:hang"], wait=False) as s:
        await s.sees("connecting")
        await s.wait_until(lambda: len(s.platform.requests) >= 4, "the questions")
        s.platform.world.advance(6)
        s.main.ticker.tick()
        await s.sees("no answer yet", "asked, and no answer yet")
        known = s.workspace.store.freshness[FeedName.PENDING]
        assert (known.phase, known.late, known.awaited) == (Phase.LOADING, True, False)


async def test_of_a_list_that_was_never_read_no_number_is_said(on: Staging) -> None:
    async with on(place="agents", size=WIDE, wait=False, faults=["agents:status=500"]) as s:
        await s.sees("nothing could be read yet")
        assert re.search(r"AGENTS +all companies +· +– ", s.text), s.text
