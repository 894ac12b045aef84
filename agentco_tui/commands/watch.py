"""`agentco-tui watch`: prints a line, and runs a command, for each thing that needs the user.

`Notifier` decides what is worth a notification, by the rules of the dashboard, and `NotifiedFile`
stores what was notified, so that a restart does not repeat it. `CriticalCommand` runs the user's
command for each event, or once for several if there are many in an hour.

A need is one item on the list of what needs the user; a feed is one list that is read from the
platform, the service that is watched. A `NotificationEvent` is about a need, or says (with the kind
"feed") that a feed fails for long (an outage), or is answered again. The workspace is what is known
of the platform in memory.
"""

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
from agentco_tui.commands.command_output import print_json, print_lines, print_to_stderr
from agentco_tui.commands.command_workspace import run_with_polling
from agentco_tui.config import Arguments
from agentco_tui.model.format import stamp
from agentco_tui.system.state_folder import NOTIFIED_FILE, state_folder
from agentco_tui.workspace.workspace import FEEDS, FIRST_ANSWERS, LONGEST_PAUSE, Workspace

SAVE_EVERY: Final = 300.0
"""Seconds after which needs that still exist are saved again, as last seen then."""


def run(arguments: Arguments, env: Mapping[str, str]) -> int:
    """Print a line for each notification until SIGINT, SIGTERM or SIGHUP; returns 0."""
    return run_with_polling(arguments, env, partial(_watch, arguments, env))


async def _watch(arguments: Arguments, env: Mapping[str, str], workspace: Workspace) -> int:
    settings = workspace.settings
    # The command to run, as a list of words; it may be empty.
    words = arguments["on_critical"] or settings.notify.on_critical
    # The company as the user wrote it: its id is unknown while the platform does not answer.
    scope = str(settings.company or "")
    path = state_folder() / NOTIFIED_FILE
    # The entry of this file for this platform, company and command.
    memory = NotifiedFile(path, platform_of(workspace.origin), scope, *words)
    remembered = await asyncio.to_thread(memory.load)
    notify = settings.notify
    # `at_start`: also of what exists already, unless an earlier run has notified of it.
    notifier = Notifier(workspace.outlook, notify, at_start=True, remembered=remembered)
    about = {"AGENTCO_PROFILE": workspace.profile, "AGENTCO_BASE_URL": workspace.origin}
    if settings.platform is not None:
        about["AGENTCO_PLATFORM"] = settings.platform
    command = CriticalCommand({**env, **about}, workspace.key.redact)
    command.on_trouble = print_to_stderr
    # Events of an earlier run for which the command could not be run any more.
    command.waiting += [NotificationEvent(*fields) for fields in remembered.unsent]
    print_to_stderr(f"watching {settings.base_url} ({settings.profile})")
    command_runs = _CommandRuns(command, words, notifier, memory, remembered)
    until = asyncio.get_running_loop().time() + FIRST_ANSWERS
    first_answers = asyncio.create_task(workspace.first_answers(until))
    first_answers.add_done_callback(lambda _done: workspace.refresh_soon())
    startup = StartupPhase()
    try:
        async with asyncio.TaskGroup() as running:
            while True:
                is_complete = first_answers.done()
                # `outage`: seconds for which a feed must fail before that is reported.
                await workspace.next_refresh(min(LONGEST_PAUSE, max(1.0, notify.outage / 2)))
                # What is new since the last call. `ranked_needs` has only the worst tasks, so all
                # critical ones are passed, too. `asked_since`: for each feed whose answer is
                # awaited, since when.
                events = notifier.find_events(
                    workspace.ranked_needs,
                    {feed: workspace.store.freshness[feed] for feed in FEEDS},
                    critical_tasks=workspace.needs.critical_tasks(),
                    asked_since=workspace.poller.asked_since(),
                    is_complete=is_complete,
                )
                about_feeds = [event for event in events if event.kind == "feed"]
                about_needs = [event for event in events if event.kind != "feed"]
                for group in (about_needs, about_feeds):
                    if group:
                        _report(group, words_of_events(group), as_json=arguments["json"])
                freshness = [workspace.store.freshness[feed] for feed in FEEDS]
                answered = sum(feed.answered_at is not None for feed in freshness)
                is_startup = startup.is_startup_check(answered, is_complete=is_complete)
                # Also without events: some may wait for their turn, or for another try.
                if events or not command_runs.is_busy:
                    running.create_task(command_runs.run(events, as_one=is_startup))
    finally:
        first_answers.cancel()
        await command_runs.close()


class StartupPhase:
    """Tells checks that may find needs from before `watch` started from the others.

    They are the checks until all feeds have been requested, and those after the first answer of a
    feed, which may come later. What such a check finds is reported to the command all at once.
    """

    def __init__(self) -> None:
        self._was_complete = False
        self._answered = 0
        self._answered_before = 0

    def is_startup_check(self, answered: int, *, is_complete: bool) -> bool:
        """Whether the present check is one of them; must be called once for each check.

        `answered` is the number of feeds that have ever answered; `is_complete` says that all have
        been requested. An answer may arrive during a check, so that only the next one finds what it
        contains: therefore two checks count for each first answer.
        """
        is_startup = not self._was_complete or answered > self._answered_before
        self._was_complete = is_complete
        self._answered_before = self._answered
        self._answered = answered
        return is_startup


def _report(events: Sequence[NotificationEvent], text: str, *, as_json: bool) -> None:
    """Print one line about events that were found by the same check."""
    at = stamp(time.time())
    if as_json:
        print_json({"at": at, "text": text, "causes": [event._asdict() for event in events]})
    else:
        print_lines(f"{at} {text}")


class _CommandRuns:
    """Runs the user's command for events, and saves what it was run for."""

    def __init__(
        self,
        command: CriticalCommand,
        command_line: Sequence[str],
        notifier: Notifier,
        memory: NotifiedFile,
        remembered: Notified,
    ) -> None:
        """`remembered` is what the file, `memory`, has now.

        With an empty `command_line` no command is run, but what was notified is saved.
        """
        self._command = command
        self._command_line = command_line
        self._notifier = notifier
        self._memory = memory
        self._saved = remembered
        self._saving = asyncio.Lock()
        self._under_way = 0  # calls of `run` that have not returned
        self._trouble: str | None = None

    @property
    def is_busy(self) -> bool:
        return self._under_way > 0

    async def run(self, events: Sequence[NotificationEvent], *, as_one: bool) -> None:
        """Run the command for the events and for those that still wait, and save that.

        With `as_one` it is run once for all of them.
        """
        self._under_way += 1
        try:
            await self._command.run(self._command_line, events, as_one=as_one)
            await self._save()
        finally:
            self._under_way -= 1

    async def close(self) -> None:
        """Run the command for the events that still wait, and save, so that none is lost."""
        await self._command.close(self._command_line)
        await self._save()

    async def _save(self) -> None:
        """Save what was notified, if that differs from what the file has."""
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
                print_to_stderr(self._memory.trouble)
            self._trouble = self._memory.trouble
