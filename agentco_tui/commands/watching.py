"""A platform watched for a command that goes on until it is ended, and remembered meanwhile."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from agentco_tui.actions.journal import platform_of
from agentco_tui.api.credentials import KeyInUse
from agentco_tui.commands.naming import company_or_words
from agentco_tui.commands.running import Exit, complain, connected
from agentco_tui.config import Settings
from agentco_tui.live.history import History
from agentco_tui.live.snooze import Snoozes
from agentco_tui.live.watcher import Watcher
from agentco_tui.state_folder import HISTORY_FILE, SNOOZED_FILE, state_folder

SECONDS: Final = 25.0  # for the first answers, before anything is written
CLOSING: Final = 10.0  # seconds in which what is to be remembered is written at the end


@asynccontextmanager
async def watching(settings: Settings, key: KeyInUse | None) -> AsyncIterator[Watcher]:
    """A watcher as the settings want it, still to be run. Raises SettingsError, also where the
    platform answers and has no such company.
    """
    async with connected(settings, key) as client:
        company, history = settings.company, None
        folder, origin = state_folder(), str(settings.base_url)
        if settings.history:
            most, redact = settings.history_mb * 1_000_000, client.transport.key.redact
            about = folder / HISTORY_FILE, settings.profile, origin
            history = History(*about, redact=redact, most_bytes=most)
            history.on_trouble = complain
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS):
                company = await company_or_words(settings, client)
        place, platform = settings.key_place, f"{settings.profile} {platform_of(origin)}"
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


async def until_ended(
    telling: Coroutine[Any, Any, int], polling: Coroutine[Any, Any, None], *, goes_on: bool
) -> int:
    """Poll until all is told; gives its exit code, and where it `goes_on` 0 after SIGINT, SIGTERM
    or SIGHUP. Raises what ended the polling: a fault of ours.
    """
    told, polled = asyncio.create_task(telling), asyncio.create_task(polling)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if goes_on else ():
        loop.add_signal_handler(number, told.cancel)
    try:
        await asyncio.wait((told, polled), return_when="FIRST_COMPLETED")
        if polled.done():
            polled.result()
        return Exit.OK if told.cancelled() else told.result()
    finally:
        told.cancel()
        polled.cancel()
        await asyncio.gather(told, polled, return_exceptions=True)
