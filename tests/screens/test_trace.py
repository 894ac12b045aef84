"""The trace over the whole screen: its steps fold, words are found in them."""

from __future__ import annotations

from functools import partial

import pytest

from agentco_tui.model import Task, Trace, TraceStep
from agentco_tui.screens.dialogs.trace_dialog import TraceScreen
from agentco_tui.text import SafeText, mark_safe
from tests.screens.harness import Stage, Staging, text_of


def trace_of(steps: int, text: str = "line {at}\nmore\nof it") -> Trace:
    return Trace(
        steps=tuple(
            TraceStep(
                id=str(at),
                kind=mark_safe("output"),
                name=mark_safe(f"tool_{at}"),
                text=SafeText(text.format(at=at)),
                failed=at == 7,
            )
            for at in range(1, steps + 1)
        )
    )


def shows(screen: TraceScreen, count: int) -> bool:
    return text_of(screen.pane).count("more") == count


async def opened(s: Stage, monkeypatch: pytest.MonkeyPatch, trace: Trace) -> TraceScreen:
    async def read(_: Task) -> Trace:
        return trace

    monkeypatch.setattr(s.workspace.traces, "read", read)
    await s.press("t")
    await s.sees("TRACE", "tool_1 ")
    assert isinstance(s.app.screen, TraceScreen)
    return s.app.screen


async def test_a_long_trace_is_folded_but_for_what_failed_and_unfolds(
    on: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on(place="tasks") as s:
        screen = await opened(s, monkeypatch, trace_of(30))
        assert text_of(screen.pane).count("more") == 1, "the text of the one that failed"
        assert "line 1" in s.line_with("tool_1 "), "of the others the first line"
        await s.press("j", "enter")
        await s.wait_until(lambda: text_of(screen.pane).count("more") == 2, "the second step")
        assert screen.links.current_link == "2"
        await s.press("enter")
        await s.wait_until(lambda: text_of(screen.pane).count("more") == 1, "folded again")
        for count in (0, 30):
            await s.press("z")
            await s.wait_until(partial(shows, screen, count), "z")
        await s.press("escape")
        await s.sees_no("TRACE")


async def test_a_short_trace_is_not_folded(on: Staging, monkeypatch: pytest.MonkeyPatch) -> None:
    async with on(place="tasks") as s:
        screen = await opened(s, monkeypatch, trace_of(3))
        assert text_of(screen.pane).count("more") == 3


async def test_words_are_found_in_it_and_unfolded(
    on: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on(place="tasks") as s:
        screen = await opened(s, monkeypatch, trace_of(40, "one\nNEEDLE {at}0 in it"))
        await s.press("/", *"8 needle", "enter")
        await s.sees("1 of 4 found")
        for key, here, place in (("n", "18", 2), ("N", "8", 1), ("N", "38", 4), ("n", "8", 1)):
            await s.press(key)
            await s.sees(f"{place} of 4 found", f"NEEDLE {here}0")
            assert screen.links.current_link == here
        assert not s.writes
        await s.press("/", "ctrl+u", *"nowhere", "enter")
        await s.sees("0 found")
        await s.press("escape")  # the search first
        assert s.app.screen is screen
        await s.press("escape")
        await s.sees_no("TRACE")


async def test_ten_thousand_steps_hold_nothing_up(
    on: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on(place="tasks") as s:
        screen = await opened(s, monkeypatch, trace_of(10_000))
        assert len(screen.pane.lines) > 10_000
        await s.press("G")
        await s.press("/", *"tool_9999", "enter")
        await s.sees("1 of 1 found", "tool_9999")
