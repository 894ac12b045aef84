"""Work in slices that makes room for a person, and work that never comes to run."""

from __future__ import annotations

import asyncio
import gc
import threading
import warnings
from collections.abc import Generator
from functools import partial
from pathlib import Path
from time import perf_counter

from textual.app import App

import agentco_tui
from agentco_tui.system import background
from agentco_tui.widgets.workers import start_worker


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


async def test_work_is_run_with_what_it_was_given() -> None:
    done: list[int] = []

    async def work(number: int = 1) -> None:
        done.append(number)

    app: App[None] = App()
    async with app.run_test() as pilot:
        start_worker(app, work, "work")
        start_worker(app, partial(work, 2), "other work")
        await app.workers.wait_for_complete()
        await pilot.pause()
    assert done == [1, 2]


async def test_work_that_never_comes_to_run_is_not_complained_of() -> None:
    async def work() -> None:
        await asyncio.sleep(0)

    app: App[None] = App()
    async with app.run_test():
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            start_worker(app, work, "work")
            # private: Textual has no public way to cancel a worker before it runs and to forget it.
            app.workers._workers.pop().cancel()
            gc.collect()
    assert [str(one.message) for one in told] == []


def test_all_workers_are_started_so() -> None:
    package = Path(agentco_tui.__file__).parent
    lines = [
        (path.name, line)
        for path in package.rglob("*.py")
        for line in path.read_text().splitlines()
        if ".run_worker(" in line and "thread=True" not in line
    ]
    assert sorted(name for name, _ in lines) == ["patched_app.py", "workers.py"]
