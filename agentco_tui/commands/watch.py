"""`agentco-tui watch`: calls as the dashboard does, without a screen; others share its watcher."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final

from agentco_tui.actions.journal import platform_of
from agentco_tui.api.credentials import KeyInUse
from agentco_tui.commands.naming import company_or_words
from agentco_tui.commands.running import Exit, complain, connected, logged, say, say_json
from agentco_tui.config import Given, Settings
from agentco_tui.config.resolve import load
from agentco_tui.format import stamp
from agentco_tui.live.history import History
from agentco_tui.live.notifier import CriticalCommand, Notifier
from agentco_tui.live.snooze import Snoozes
from agentco_tui.live.watcher import FEEDS, Watcher
from agentco_tui.state_folder import HISTORY_FILE, SNOOZED_FILE, state_folder

SECONDS: Final = 25.0  # for the first answers, before anything is written
CLOSING: Final = 10.0  # seconds in which what is to be remembered is written at the end

Tell = Callable[[Watcher, Settings], Coroutine[Any, Any, int]]


def run(given: Given, env: Mapping[str, str]) -> int:
    """Print a line for each call until SIGINT, SIGTERM or SIGHUP, then 0."""
    return watched(given, env, partial(_tell, given, env))


async def _tell(given: Given, env: Mapping[str, str], watcher: Watcher, settings: Settings) -> int:
    notifier = Notifier(watcher.outlook, settings.notify, at_start=True)
    about = {"AGENTCO_PROFILE": settings.profile, "AGENTCO_BASE_URL": str(settings.base_url)}
    command = CriticalCommand({**env, **about}, watcher.key.redact)
    command.on_trouble = complain
    words = given["on_critical"] or settings.notify.on_critical
    complain(f"watching {settings.base_url} ({settings.profile})")
    async with asyncio.TaskGroup() as calls:
        while True:
            await watcher.next_look()
            freshness = {feed: watcher.store.freshness[feed] for feed in FEEDS}
            if causes := notifier.look(watcher.needs, freshness):
                at, text = stamp(time.time()), notifier.words(causes)
                told = {"at": at, "text": text, "causes": [cause._asdict() for cause in causes]}
                say_json(told) if given["json"] else say(f"{at} {text}")
                calls.create_task(command.run(words, causes))


def watched(given: Given, env: Mapping[str, str], tell: Tell, *, goes_on: bool = True) -> int:
    """Poll, remember and look ahead until all is told: its exit code; where it `goes_on`, 0 after
    SIGINT, SIGTERM or SIGHUP. Raises SettingsError, also where there is no such company.
    """
    settings = load(given, env)
    key = None if settings.key is None else KeyInUse(settings.key)

    async def until_told() -> int:
        async with watching(settings, key) as watcher:
            telling = asyncio.create_task(tell(watcher, settings))
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if goes_on else ():
                asyncio.get_running_loop().add_signal_handler(number, telling.cancel)
            async with asyncio.TaskGroup() as tasks:
                polling = tasks.create_task(watcher.run(remembers=goes_on))
                await asyncio.wait((telling,))
                polling.cancel()
            return Exit.OK if telling.cancelled() else telling.result()

    with logged(settings, key):
        return asyncio.run(until_told())


@asynccontextmanager
async def watching(
    settings: Settings, key: KeyInUse | None = None, tell: Callable[[str], object] = complain
) -> AsyncIterator[Watcher]:
    """A watcher as the settings want it, still to be run. Raises SettingsError as `watched`."""
    async with connected(settings, key) as client:
        company, history, place = settings.company, None, settings.key_place
        folder, origin = state_folder(), str(settings.base_url)
        if settings.history:
            most, redact = settings.history_mb * 1_000_000, client.transport.key.redact
            about = folder / HISTORY_FILE, settings.profile, origin
            history = History(*about, redact=redact, most_bytes=most)
            history.on_trouble = tell
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
