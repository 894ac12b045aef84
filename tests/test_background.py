"""Work in slices, and how it makes room for a person."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from time import perf_counter

from agentco_tui import background


def steps(count: int, done: list[int]) -> Generator[None, None, str]:
    """Work of so many steps."""
    for step in range(count):
        done.append(step)
        yield
    return "all of it"


async def test_slices_bring_the_result_and_let_others_run() -> None:
    done: list[int] = []
    work = asyncio.create_task(background.in_slices(steps(200_000, done)))
    turns = 0
    while not work.done():
        await asyncio.sleep(0)
        turns += 1
    assert await work == "all of it"
    assert len(done) == 200_000
    assert turns > 2


async def test_after_a_key_the_loop_is_left_alone() -> None:
    pressed = perf_counter()
    background.person_acts()
    await background.turn()
    assert perf_counter() - pressed >= background.QUIET


async def test_keys_that_go_on_do_not_stop_the_work() -> None:
    turned = asyncio.create_task(background.turn())
    presses = 0
    while not turned.done():
        background.person_acts()
        presses += 1
        await asyncio.sleep(background.QUIET / 4)
        assert presses < 100


def test_a_thread_makes_room_as_well() -> None:
    pressed = perf_counter()
    background.person_acts()
    working = threading.Thread(target=background.turn_of_thread)
    working.start()
    working.join()
    assert perf_counter() - pressed >= background.QUIET
