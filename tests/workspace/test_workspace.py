"""A workspace without a screen: its needs, whatever the platform does, next to others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agentco_tui.api.client import open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.attention.snooze import Snooze, Snoozes
from agentco_tui.config import Settings
from agentco_tui.config.api_key import KeyLocation
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import Level
from agentco_tui.workspace.workspace import Workspace
from tests.platform import EmbeddedPlatform


@asynccontextmanager
async def running(
    served: EmbeddedPlatform,
    key: str | None = None,
    snoozes: Snoozes | None = None,
    **chosen: Any,
) -> AsyncIterator[tuple[Workspace, Callable[[Callable[[], bool]], Any]]]:
    """A workspace that polls, and how to wait until a condition holds after a refresh."""
    settings = Settings(base_url=BaseUrl.parse(served.base_url), refresh=0.5, **chosen)
    key_in_use = ApiKey.parse(key or served.full_key)
    async with open_client(settings.base_url, key_in_use, attempts=1) as client:
        workspace = Workspace(settings, client, snoozes=snoozes or Snoozes(None, ""))

        async def until(is_so: Callable[[], bool]) -> None:
            async with asyncio.timeout(30):
                while not is_so():
                    await workspace.next_refresh()

        work = asyncio.create_task(workspace.run_without_screen())
        try:
            yield workspace, until
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            await workspace.aclose()
            workspace.close()


async def test_needs_are_found_and_kept_while_the_platform_is_down() -> None:
    with EmbeddedPlatform(speed=0) as platform:
        async with running(platform) as (workspace, until):
            await until(lambda: workspace.needs.queue.count == len(platform.world.state.pending))
            await until(
                lambda: any(need.level is Level.CRITICAL for need in workspace.ranked_needs)
            )
            await workspace.first_answers()
            await workspace.refresh_needs()
            keys = {need.key for need in workspace.ranked_needs}
            platform.stop()
            freshness = workspace.store.freshness
            failed = {Phase.STALE, Phase.FAILED}
            await until(lambda: freshness[FeedName.PENDING].phase in failed)
            assert {need.key for need in workspace.ranked_needs} == keys
            platform.start()
            await until(lambda: freshness[FeedName.PENDING].phase is Phase.LIVE)


async def test_a_company_is_found_by_name_and_a_platform_that_hangs_delays_no_other() -> None:
    with EmbeddedPlatform(speed=0) as good, EmbeddedPlatform(speed=0) as bad:
        bad.faults.add("*:hang")
        async with (
            running(bad) as (other, _),
            running(good, company="globex") as (workspace, until),
        ):
            globex = next(c for c in good.world.state.companies.values() if c.name == "Globex")
            await until(lambda: workspace.poller.query.company == globex.id)
            await until(lambda: workspace.needs.queue.count == globex.pending)
            assert {each.answered_at for each in other.store.freshness.values()} == {None}


async def test_a_refused_key_is_replaced_from_its_file_and_snoozed_needs_are_marked(
    tmp_path: Path,
) -> None:
    key_file = tmp_path / "the-key"
    key_file.touch(0o600)
    key_file.write_text("ag_not_the_one")
    place = KeyLocation("api_key_file", "prod", str(key_file), {})
    with EmbeddedPlatform(speed=0) as platform:
        snoozes = Snoozes(None, "here")
        async with running(platform, "ag_refused_0000", snoozes, key_location=place) as (
            workspace,
            until,
        ):
            await until(lambda: workspace.key.key == ApiKey.parse("ag_not_the_one"))
            assert not workspace.ranked_needs
            key_file.write_text(platform.full_key)
            await until(lambda: bool(workspace.ranked_needs))
            first = workspace.ranked_needs[0]
            assert first.snooze is None
            snoozes.set([first.key], Snooze(first.level))
            await until(lambda: any(each.snooze is not None for each in workspace.ranked_needs))
            assert next(need for need in workspace.ranked_needs if need.snooze).key == first.key


async def test_a_users_command_is_told_the_interface_of_this_platform(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not that with which the program was started, which may be another profile's."""
    monkeypatch.setenv("AGENTCO_PLATFORM", "of-the-start")
    with EmbeddedPlatform(speed=0) as platform:
        for name in (None, "mine"):
            async with running(platform, platform=name) as (workspace, _):
                environment = workspace.child_environment(AGENTCO_ID="1")
            assert environment.get("AGENTCO_PLATFORM") == name
            assert environment["AGENTCO_ID"] == "1"
