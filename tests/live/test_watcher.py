"""A platform watched without a screen: its needs, whatever it does, beside others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from agentco_tui.api.client import open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.history.snooze import Snooze, Snoozes
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import Level
from agentco_tui.live.watcher import Watcher
from tests.embedded import EmbeddedPlatform


@asynccontextmanager
async def watching(
    platform: EmbeddedPlatform, key: str | None = None, **options: Any
) -> AsyncIterator[tuple[Watcher, Callable[[Callable[[], bool]], Any]]]:
    """A watcher that runs, and how to wait until something is so after a look."""
    url = BaseUrl.parse(platform.base_url)
    async with open_client(url, ApiKey.parse(key or platform.full_key), attempts=1) as client:
        options.setdefault("snoozes", Snoozes(None, ""))
        watcher = Watcher(client, refresh=0.5, **options)

        async def until(seen: Callable[[], bool]) -> None:
            async with asyncio.timeout(30):
                while not seen():
                    await watcher.next_look()

        running = asyncio.create_task(watcher.run())
        try:
            yield watcher, until
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def test_needs_are_found_by_themselves_and_kept_while_it_is_down() -> None:
    with EmbeddedPlatform(speed=0) as platform:
        async with watching(platform) as (watcher, until):
            await until(
                lambda: watcher.needs_model.queue.count == len(platform.world.state.pending)
            )
            await until(lambda: any(need.level is Level.CRITICAL for need in watcher.needs))
            await watcher.first_answers()
            await watcher.look()
            found = {need.key for need in watcher.needs}
            platform.stop()
            failed = {Phase.STALE, Phase.FAILED}
            phases = watcher.store.freshness
            await until(lambda: phases[FeedName.PENDING].phase in failed)
            assert {need.key for need in watcher.needs} == found
            platform.start()
            await until(lambda: phases[FeedName.PENDING].phase is Phase.LIVE)


async def test_a_company_is_known_by_name_and_one_that_fails_holds_no_other_up() -> None:
    with EmbeddedPlatform(speed=0) as good, EmbeddedPlatform(speed=0) as bad:
        bad.faults.add("*:hang")
        async with (
            watching(bad) as (other, _),
            watching(good, company="globex") as (watcher, until),
        ):
            globex = next(c for c in good.world.state.companies.values() if c.name == "Globex")
            await until(lambda: watcher.poller.query.company == globex.id)
            await until(lambda: watcher.needs_model.queue.count == globex.pending)
            assert {each.answered_at for each in other.store.freshness.values()} == {None}


async def test_what_is_snoozed_is_told_and_a_key_is_taken_from_its_file() -> None:
    with EmbeddedPlatform(speed=0) as platform:
        keys = ["ag_not_the_one", platform.full_key]

        def key_in_file() -> ApiKey:
            return ApiKey.parse(keys.pop(0) if len(keys) > 1 else keys[0])

        snoozes = Snoozes(None, "here")
        options = {"snoozes": snoozes, "key_in_file": key_in_file}
        async with watching(platform, "ag_refused_0000", **options) as (watcher, until):
            await until(lambda: bool(watcher.needs))
            first = watcher.needs[0]
            assert first.snooze is None
            snoozes.set([first.key], Snooze(first.level))
            await until(lambda: any(each.snooze is not None for each in watcher.needs))
            assert next(n for n in watcher.needs if n.snooze).key == first.key
