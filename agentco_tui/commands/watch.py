"""`agentco-tui watch`: notifies as the dashboard does, without a screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from agentco_tui.api.origin import platform_of
from agentco_tui.attention.critical_command import CriticalCommand
from agentco_tui.attention.notification_event import NotificationEvent, words_of_events
from agentco_tui.attention.notified import Notified, NotifiedFile
from agentco_tui.attention.notifier import Notifier
from agentco_tui.commands.command_output import complain, say, say_json
from agentco_tui.commands.with_workspace import run_polling
from agentco_tui.config import Given
from agentco_tui.model.format import stamp
from agentco_tui.system.state_folder import NOTIFIED_FILE, state_folder
from agentco_tui.workspace.workspace import FEEDS, FIRST_ANSWERS, LONGEST_PAUSE, Workspace

SAVE_EVERY: Final = 300.0  # seconds after which needs that still exist are written again


def run(given: Given, env: Mapping[str, str]) -> int:
    """Print a line for each notification until SIGINT, SIGTERM or SIGHUP; returns 0."""
    return run_polling(given, env, partial(_watch, given, env))


async def _watch(given: Given, env: Mapping[str, str], workspace: Workspace) -> int:
    settings = workspace.settings
    words = given["on_critical"] or settings.notify.on_critical
    # As it was given: its id is not known while the platform does not answer.
    scope = str(settings.company or "")
    path = state_folder() / NOTIFIED_FILE
    memory = NotifiedFile(path, platform_of(workspace.origin), scope, *words)
    remembered = await asyncio.to_thread(memory.load)
    notify = settings.notify
    notifier = Notifier(workspace.outlook, notify, at_start=True, remembered=remembered)
    about = {"AGENTCO_PROFILE": workspace.profile, "AGENTCO_BASE_URL": workspace.origin}
    command = CriticalCommand({**env, **about}, workspace.key.redact)
    command.on_trouble = complain
    command.waiting += [NotificationEvent(*fields) for fields in remembered.unsent]
    complain(f"watching {settings.base_url} ({settings.profile})")
    command_runs = _CommandRuns(command, words, notifier, memory, remembered)
    until = asyncio.get_running_loop().time() + FIRST_ANSWERS
    first_answers = asyncio.create_task(workspace.first_answers(until))
    first_answers.add_done_callback(lambda _done: workspace.refresh_soon())
    first_sight = FirstSight()
    try:
        async with asyncio.TaskGroup() as running:
            while True:
                is_complete = first_answers.done()
                await workspace.next_refresh(min(LONGEST_PAUSE, max(1.0, notify.outage / 2)))
                events = notifier.look(
                    workspace.ranked_needs,
                    {feed: workspace.store.freshness[feed] for feed in FEEDS},
                    critical_tasks=workspace.needs.critical_tasks(),
                    asked_since=workspace.poller.asked_since(),
                    is_complete=is_complete,
                )
                about_feeds = [each for each in events if each.kind == "feed"]
                about_needs = [each for each in events if each.kind != "feed"]
                for group in (about_needs, about_feeds):
                    if group:
                        _report(group, words_of_events(group), as_json=given["json"])
                freshness = [workspace.store.freshness[feed] for feed in FEEDS]
                answered = sum(each.answered_at is not None for each in freshness)
                is_first_sight = first_sight.note_look(answered, is_complete=is_complete)
                if events or not command_runs.is_busy:
                    running.create_task(command_runs.run(events, as_one=is_first_sight))
    finally:
        first_answers.cancel()
        await command_runs.close()


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


def _report(events: Sequence[NotificationEvent], text: str, *, as_json: bool) -> None:
    """Print one line for what was found together."""
    at = stamp(time.time())
    if as_json:
        say_json({"at": at, "text": text, "causes": [event._asdict() for event in events]})
    else:
        say(f"{at} {text}")


class _CommandRuns:
    """Runs the command for what `watch` reports, and keeps in a file what it was run for."""

    def __init__(
        self,
        command: CriticalCommand,
        command_line: Sequence[str],
        notifier: Notifier,
        memory: NotifiedFile,
        remembered: Notified,
    ) -> None:
        self._command = command
        self._command_line = command_line
        self._notifier = notifier
        self._memory = memory
        self._saved = remembered
        self._saving = asyncio.Lock()
        self._under_way = 0
        self._trouble: str | None = None

    @property
    def is_busy(self) -> bool:
        return self._under_way > 0

    async def run(self, events: Sequence[NotificationEvent], *, as_one: bool) -> None:
        """Run the command for these and for what waits, and then save that it was."""
        self._under_way += 1
        try:
            await self._command.run(self._command_line, events, as_one=as_one)
            await self._save()
        finally:
            self._under_way -= 1

    async def close(self) -> None:
        """Run the command for what waits, and save: nothing that was found is dropped."""
        await self._command.close(self._command_line)
        await self._save()

    async def _save(self) -> None:
        """Write what was notified, if the file has something else."""
        async with self._saving:
            new = self._notifier.remembered()
            new.unsent = [tuple(event) for event in self._command.unsent]
            saved = self._saved
            is_same = (
                new.last_seen.keys() == saved.last_seen.keys()
                and new.outages == saved.outages
                and new.unsent == saved.unsent
            )
            is_recent = new.saved_at - saved.saved_at < SAVE_EVERY
            if is_same and (is_recent or not new.last_seen):
                return
            await asyncio.to_thread(self._memory.save, new)
            self._saved = new
            if self._memory.trouble is not None and self._memory.trouble != self._trouble:
                complain(self._memory.trouble)
            self._trouble = self._memory.trouble
