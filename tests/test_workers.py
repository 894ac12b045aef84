"""Work that never comes to run leaves nothing behind, not even a warning."""

from __future__ import annotations

import asyncio
import gc
import warnings
from functools import partial
from pathlib import Path

from textual.app import App

import agentco_tui
from agentco_tui.background import start_worker


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
    assert [name for name, _ in lines] == ["background.py"]
