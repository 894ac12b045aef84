"""`agentco-tui watch`: calls as the dashboard does, without a screen; others share its watcher."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final

from agentco_tui.api.credentials import KeyInUse
from agentco_tui.api.origin import platform_of
from agentco_tui.commands.naming import company_or_words
from agentco_tui.commands.running import Exit, complain, connected, logged, say, say_json
from agentco_tui.config import Given, Settings
from agentco_tui.config.resolve import load
from agentco_tui.format import stamp
from agentco_tui.live.history import History
from agentco_tui.live.notified import Notified, NotifiedFile
from agentco_tui.live.notifier import Cause, CriticalCommand, Notifier
from agentco_tui.live.snooze import Snoozes
from agentco_tui.live.watcher import FEEDS, GLANCE, Watcher
from agentco_tui.state_folder import HISTORY_FILE, NOTIFIED_FILE, SNOOZED_FILE, state_folder

SECONDS: Final = 25.0  # for the first answers, before anything is written
SAVE_EVERY: Final = 300.0  # seconds after which what still stands is written as standing again
CLOSING: Final = 10.0  # seconds in which what is to be remembered is written at the end

Tell = Callable[[Watcher, Settings], Coroutine[Any, Any, int]]


def run(given: Given, env: Mapping[str, str]) -> int:
    """Print a line for each call until SIGINT, SIGTERM or SIGHUP, then 0."""
    return watched(given, env, partial(_tell, given, env))


async def _tell(given: Given, env: Mapping[str, str], watcher: Watcher, settings: Settings) -> int:
    words = given["on_critical"] or settings.notify.on_critical
    origin = platform_of(str(settings.base_url))
    # As it was given: its id is not known while the platform does not answer.
    scope = str(settings.company or "")
    memory = NotifiedFile(state_folder() / NOTIFIED_FILE, origin, scope, *words)
    remembered = await asyncio.to_thread(memory.load)
    notify = settings.notify
    notifier = Notifier(watcher.outlook, notify, at_start=True, remembered=remembered)
    about = {"AGENTCO_PROFILE": settings.profile, "AGENTCO_BASE_URL": str(settings.base_url)}
    command = CriticalCommand({**env, **about}, watcher.key.redact)
    command.on_trouble = complain
    command.waiting += [Cause(*fields) for fields in remembered.unsent]
    complain(f"watching {settings.base_url} ({settings.profile})")
    calls = _Calls(command, words, notifier, memory, remembered)
    until = asyncio.get_running_loop().time() + SECONDS
    first_answers = asyncio.create_task(watcher.first_answers(until))
    first_answers.add_done_callback(lambda _done: watcher.look_soon())
    first_sight = FirstSight()
    try:
        async with asyncio.TaskGroup() as running:
            while True:
                is_complete = first_answers.done()
                await watcher.next_look(min(GLANCE, max(1.0, notify.outage / 2)))
                causes = notifier.look(
                    watcher.needs,
                    {feed: watcher.store.freshness[feed] for feed in FEEDS},
                    waits=watcher.queue,
                    asked_since=watcher.poller.asked_since(),
                    is_complete=is_complete,
                )
                about_feeds = [each for each in causes if each.kind == "feed"]
                about_needs = [each for each in causes if each.kind != "feed"]
                for group in (about_needs, about_feeds):
                    if group:
                        _report(group, notifier.words(group), as_json=given["json"])
                freshness = [watcher.store.freshness[feed] for feed in FEEDS]
                answered = sum(each.answered_at is not None for each in freshness)
                is_first_sight = first_sight.note_look(answered, is_complete=is_complete)
                if causes or not calls.is_busy:
                    running.create_task(calls.make(causes, as_one=is_first_sight))
    finally:
        first_answers.cancel()
        await calls.close()


class FirstSight:
    """Knows which looks may find what was there before `watch` could see it: those at the start,
    and those after the first answer of a feed, which may come late.
    """

    def __init__(self) -> None:
        self._was_complete = False
        self._answered = 0
        self._answered_before = 0

    def note_look(self, answered: int, *, is_complete: bool) -> bool:
        """Whether this look is such a one; `answered`: how many feeds have ever answered.

        An answer may come while the needs are being found, so that only the next look finds what it
        brought. So two looks count for each first answer.
        """
        is_first = not self._was_complete or answered > self._answered_before
        self._was_complete = is_complete
        self._answered_before = self._answered
        self._answered = answered
        return is_first


def _report(causes: Sequence[Cause], text: str, *, as_json: bool) -> None:
    """Print one line for what was found together."""
    at = stamp(time.time())
    if as_json:
        say_json({"at": at, "text": text, "causes": [cause._asdict() for cause in causes]})
    else:
        say(f"{at} {text}")


class _Calls:
    """Runs the command for what `watch` reports, and keeps in a file what it was run for."""

    def __init__(
        self,
        command: CriticalCommand,
        words: Sequence[str],
        notifier: Notifier,
        memory: NotifiedFile,
        remembered: Notified,
    ) -> None:
        self._command = command
        self._words = words
        self._notifier = notifier
        self._memory = memory
        self._saved = remembered
        self._saving = asyncio.Lock()
        self._under_way = 0
        self._trouble: str | None = None

    @property
    def is_busy(self) -> bool:
        return self._under_way > 0

    async def make(self, causes: Sequence[Cause], *, as_one: bool) -> None:
        """Run the command for these and for what waits, and then save that it was."""
        self._under_way += 1
        try:
            await self._command.run(self._words, causes, as_one=as_one)
            await self._save()
        finally:
            self._under_way -= 1

    async def close(self) -> None:
        """Run the command for what waits, and save: nothing that was found is dropped."""
        await self._command.close(self._words)
        await self._save()

    async def _save(self) -> None:
        """Write what was notified, if the file has something else."""
        async with self._saving:
            new = self._notifier.remembered()
            new.unsent = [tuple(cause) for cause in self._command.unsent]
            saved = self._saved
            is_same = (
                new.stood.keys() == saved.stood.keys()
                and new.outages == saved.outages
                and new.unsent == saved.unsent
            )
            is_recent = new.saved_at - saved.saved_at < SAVE_EVERY
            if is_same and (is_recent or not new.stood):
                return
            await asyncio.to_thread(self._memory.save, new)
            self._saved = new
            if self._memory.trouble is not None and self._memory.trouble != self._trouble:
                complain(self._memory.trouble)
            self._trouble = self._memory.trouble


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
        try:
            yield Watcher(
                client,
                company=company,
                refresh=settings.refresh,
                limits=settings.alerts,
                history=history,
                snoozes=Snoozes(folder / SNOOZED_FILE, platform_of(origin)),
                key_in_file=None if place is None else place.in_file,
            )
        finally:
            if history is not None:
                await asyncio.to_thread(history.close, CLOSING)
