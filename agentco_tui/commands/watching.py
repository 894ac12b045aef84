"""A platform watched for a command that goes on until it is ended, and remembered meanwhile."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from agentco_tui.actions.journal import platform_of
from agentco_tui.api.credentials import KeyInUse
from agentco_tui.commands.naming import company_or_words
from agentco_tui.commands.running import Exit, complain, connected, logged
from agentco_tui.config import Given, Settings
from agentco_tui.config.resolve import load
from agentco_tui.live.history import History
from agentco_tui.live.snooze import Snoozes
from agentco_tui.live.watcher import Watcher
from agentco_tui.state_folder import HISTORY_FILE, SNOOZED_FILE, state_folder

SECONDS: Final = 25.0  # for the first answers, before anything is written
CLOSING: Final = 10.0  # seconds in which what is to be remembered is written at the end

Begin = Callable[[Watcher, Settings], tuple[Coroutine[Any, Any, int], Callable[[], object] | None]]
"""Gives what is done meanwhile, with an exit code, and what is called after each look."""


def watched(given: Given, env: Mapping[str, str], begin: Begin, *, goes_on: bool = True) -> int:
    """Poll, remember and look ahead, as the dashboard does, until what `begin` gives has ended; or
    where it `goes_on`, 0 after SIGINT, SIGTERM or SIGHUP. Raises SettingsError, also where the
    platform answers and has no such company.
    """
    settings = load(given, env)
    key = None if settings.key is None else KeyInUse(settings.key)
    with logged(settings, key):
        return asyncio.run(_watched(settings, key, begin, goes_on=goes_on))


async def _watched(settings: Settings, key: KeyInUse | None, begin: Begin, *, goes_on: bool) -> int:
    async with watching(settings, key) as watcher:
        work, on_found = begin(watcher, settings)
        telling = asyncio.create_task(work)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if goes_on else ():
            asyncio.get_running_loop().add_signal_handler(number, telling.cancel)
        async with asyncio.TaskGroup() as tasks:
            polling = tasks.create_task(watcher.run(on_found, remembers=goes_on))
            await asyncio.wait((telling,))
            polling.cancel()
        return Exit.OK if telling.cancelled() else telling.result()


@asynccontextmanager
async def watching(settings: Settings, key: KeyInUse | None = None) -> AsyncIterator[Watcher]:
    """A watcher as the settings want it, still to be run. Raises SettingsError as `watched`."""
    async with connected(settings, key) as client:
        company, history, place = settings.company, None, settings.key_place
        folder, origin = state_folder(), str(settings.base_url)
        if settings.history:
            most, redact = settings.history_mb * 1_000_000, client.transport.key.redact
            about = folder / HISTORY_FILE, settings.profile, origin
            history = History(*about, redact=redact, most_bytes=most)
            history.on_trouble = complain
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS):
                company = await company_or_words(settings, client)
        platform = f"{settings.profile} {platform_of(origin)}"
        try:
            yield Watcher(
                client,
                company=company,
                refresh=settings.refresh,
                limits=settings.alerts,
                history=history,
                snoozes=Snoozes(folder / SNOOZED_FILE, platform),
                key_in_file=None if place is None else place.in_file,
            )
        finally:
            if history is not None:
                await asyncio.to_thread(history.close, CLOSING)
