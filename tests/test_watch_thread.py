"""A check that runs in a thread and wakes the event loop only for news."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing

import pytest

from agentco_tui.system.watch_thread import watch_in_thread

OFTEN = 0.001


async def test_only_news_reaches_the_event_loop() -> None:
    checks = iter([None, "saved", None, None, "saved again"])
    news = watch_in_thread(lambda: next(checks, None), OFTEN, "check")
    async with aclosing(news):
        assert await anext(news) == "saved"
        assert await anext(news) == "saved again"


async def test_no_check_runs_while_its_news_is_dealt_with() -> None:
    checks: list[int] = []

    def check() -> int:
        checks.append(len(checks))
        return checks[-1]

    news = watch_in_thread(check, 0.0, "check")
    async with aclosing(news):
        assert await anext(news) == 0
        for _ in range(100):
            await asyncio.sleep(0)
        assert checks == [0]
        assert await anext(news) == 1


async def test_an_error_of_the_check_is_raised() -> None:
    def check() -> str | None:
        raise LookupError("the disk is gone")

    news = watch_in_thread(check, OFTEN, "check")
    async with aclosing(news):
        with pytest.raises(LookupError, match="the disk is gone"):
            await anext(news)


async def test_the_thread_ends_with_the_generator() -> None:
    threads: set[threading.Thread] = set()

    def check() -> bool:
        threads.add(threading.current_thread())
        return True

    news = watch_in_thread(check, OFTEN, "check")
    async with aclosing(news):
        await anext(news)
    (thread,) = threads
    await asyncio.to_thread(thread.join, 30.0)
    assert not thread.is_alive()
