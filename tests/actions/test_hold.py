"""The hold: as long as was said, taken back at any moment of it, all of it again after a stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from agentco_tui.actions.decisions import Decisions, Hold
from agentco_tui.demo.server import EmbeddedPlatform
from tests.actions.office import QUICK, office, until


class Steps:
    """A clock that moves only when a test lets a sleep end."""

    def __init__(self) -> None:
        self.at = 1_000.0
        self.sleeps: list[float] = []
        self.stopped_for = 0.0
        self.after: Callable[[], object] = lambda: None

    def monotonic(self) -> float:
        return self.at

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.at += seconds + self.stopped_for
        self.stopped_for = 0.0
        await asyncio.sleep(0)
        self.after()


async def test_it_lasts_as_long_as_was_said() -> None:
    steps = Steps()
    hold = Hold(2.0, steps, steps.sleep)
    assert hold.left() == 2.0
    assert await hold.wait()
    assert 1_002.0 <= steps.at < 1_002.1
    assert hold.left() == 0.0
    assert not hold.take_back(), "too late"


async def test_none_at_all() -> None:
    steps = Steps()
    assert await Hold(0.0, steps, steps.sleep).wait()
    assert steps.sleeps == []


async def test_it_is_taken_back_before_and_while_it_runs() -> None:
    steps = Steps()
    before = Hold(2.0, steps, steps.sleep)
    assert before.take_back()
    assert not await before.wait()
    assert steps.sleeps == []
    hold = Hold(2.0, steps, steps.sleep)
    steps.after = lambda: hold.left() > 1.0 or hold.take_back()
    assert not await hold.wait()
    assert hold.left() == 0.0
    assert not hold.take_back(), "once"


async def test_taken_back_ends_a_sleep_that_would_not() -> None:
    steps = Steps()
    hold = Hold(2.0, steps, lambda _: asyncio.Event().wait())  # type: ignore[arg-type, return-value]
    waiting = asyncio.create_task(hold.wait())
    await asyncio.sleep(0)
    assert hold.take_back()
    assert await waiting is False


async def test_it_begins_anew_after_the_process_was_stopped() -> None:
    steps = Steps()
    hold = Hold(2.0, steps, steps.sleep)
    left: list[float] = []

    def stop_once() -> None:
        left.append(hold.left())
        if len(left) == 8:
            steps.stopped_for = 60.0

    steps.after = stop_once
    assert await hold.wait()
    assert left[7] < 0.5 < 1.9 < left[8], "the ninth tick saw the stop"
    assert sum(steps.sleeps) >= 3.5


async def test_a_stop_too_short_to_be_known_costs_next_to_nothing() -> None:
    steps = Steps()
    hold = Hold(2.0, steps, steps.sleep)
    steps.stopped_for = 0.7
    assert await hold.wait()
    assert sum(steps.sleeps) >= 1.7


async def test_what_is_held_is_taken_back_the_newest_first(
    platform: EmbeddedPlatform, path: Path
) -> None:
    async def never(_: float) -> None:
        await asyncio.Event().wait()

    timing, steps = replace(QUICK, hold_one=2.0, sleep=never), Steps()
    async with office(platform, path, timing=timing, clock=steps) as desk:
        first, second, third = (await desk.pending())[:3]
        decisions = Decisions(desk.services)
        assert decisions.take_back() is None
        told: list[str] = []
        decisions.subscribe(told.append)
        yes = [asyncio.create_task(decisions.hold(task)) for task in
               (first, second, third)]  # fmt: skip
        await until(lambda: len(decisions.open) == 3)
        assert decisions.hold_left(first.id) == 2.0
        assert decisions.take_back(first.id) is first
        assert decisions.take_back(first.id) is None
        assert decisions.take_back() is third
        assert decisions.take_all_back() == [second]
        assert await asyncio.gather(*yes) == [False] * 3
        assert decisions.hold_left(first.id) == 0.0
        assert sorted(told) == sorted([first.id, second.id, third.id] * 2)
        assert (decisions.open, decisions.take_all_back(), desk.sends()) == ([], [], [])
