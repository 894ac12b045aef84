"""Runs the user's `on_critical` command for critical events, and logs each run.

A critical event is a need (an item of the "needs you" list, what the user should look at) that has
become critical. The command is a setting, for instance a script that pages someone. It gets the
event in environment variables, such as AGENTCO_NEED_TEXT. The log is `on_critical.log` in the state
folder.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Final

from agentco_tui.attention.notification_event import NotificationEvent, summary_of
from agentco_tui.model import format as fmt
from agentco_tui.model.period import HOUR
from agentco_tui.system.child_process import CommandError, run_for_output, without_key
from agentco_tui.system.state_folder import FILE_MODE, create_state_folder
from agentco_tui.text import SafeText, clean_line, mark_safe

LONGEST_RUN: Final = 30.0  # seconds
RUNS_PER_HOUR: Final = 10  # events in an hour that have a run of their own
RETRIES: Final = (60.0, 300.0, 1_800.0)
"""Seconds from each failed run in a row to the next; after these it is given up."""
LOG_FILE: Final = "on_critical.log"
LOG_BYTES: Final = 200_000  # above which a new log is begun; the previous one is kept


def _ignore(_words: SafeText) -> None:
    """Do nothing with a message."""


class CriticalCommand:
    """Runs `on_critical`, one run at a time, each with a line in the log.

    At most `RUNS_PER_HOUR` events an hour have a run of their own; the others share one run an
    hour. The events of runs that failed are retried together, a few times.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        redact: Callable[[str], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`env` is the program's environment: the command gets it without the API key.

        `redact` takes the API key out of a text. `clock` returns steady seconds.
        """
        self.waiting: list[NotificationEvent] = []
        """The events for which the command was not run yet."""
        self.on_trouble: Callable[[SafeText], object] = _ignore
        """Called with why the command failed, or why it runs less often."""
        self._redact = redact
        self._clock = clock
        self._running = asyncio.Lock()
        self._env = without_key(env, redact)
        self._runs_at: list[float] = []  # the runs of the last hour
        self._summary_at = -inf  # when several events last shared one run
        self._is_throttled = False
        self._failed: list[NotificationEvent] = []
        self._failed_runs = 0  # in a row
        self._retry_at = -inf
        self._log_trouble = ""

    @property
    def unsent(self) -> list[NotificationEvent]:
        """The events for which the command has yet to run, or to succeed."""
        return [*self._failed, *self.waiting]

    async def run(
        self, command: Sequence[str], events: Iterable[NotificationEvent], *, as_one: bool = False
    ) -> None:
        """Run the command, if there is one, for the critical events and for those that wait.

        With `as_one` it runs once for all of them, as for everything that is critical at the start.
        """
        if not command:
            return
        critical = [event for event in events if event.level == "critical"]
        if as_one and critical:
            critical = [summary_of(critical)]
        self.waiting += critical
        async with self._running:
            await self._run_waiting(command)
            for event in critical:
                if event in self.waiting:
                    await asyncio.to_thread(self._log, "waits for its turn", event)

    async def close(self, command: Sequence[str]) -> None:
        """Run the command once more for everything that is unsent: the program ends."""
        async with self._running:
            self.waiting = self.unsent
            self._failed = []
            if self.waiting and command:
                await self._run_next(command, len(self.waiting))

    async def _run_waiting(self, command: Sequence[str]) -> None:
        if self._failed and self._clock() >= self._retry_at:
            failed = self._failed
            self._failed = []
            await self._run_for(command, failed)
        while self.waiting:
            now = self._clock()
            self._runs_at = [at for at in self._runs_at if now - at < HOUR]
            has_free_run = len(self._runs_at) < RUNS_PER_HOUR
            may_summarise = now - self._summary_at >= HOUR
            if has_free_run and not self._is_throttled:
                self._runs_at.append(now)
                await self._run_next(command, 1)
            elif has_free_run or may_summarise:
                self._summary_at = now
                self._is_throttled = False
                await self._run_next(command, len(self.waiting))
            else:
                if not self._is_throttled:
                    limit = f"{RUNS_PER_HOUR} times an hour at most"
                    self.on_trouble(mark_safe(f"on_critical runs {limit}: the rest is one run"))
                self._is_throttled = True
                return

    async def _run_next(self, command: Sequence[str], count: int) -> None:
        """Run the command once for the first `count` events that wait."""
        events = self.waiting[:count]
        del self.waiting[:count]
        await self._run_for(command, events)

    async def _run_for(self, command: Sequence[str], events: Sequence[NotificationEvent]) -> None:
        """Run the command once for all these events, and keep them if that fails."""
        # The run goes on if the program is ended meanwhile.
        loop = asyncio.get_running_loop()
        run = loop.run_in_executor(None, self._run, command, summary_of(events))
        failure = await asyncio.shield(run)
        if failure:
            self._keep_for_retry(events)
        else:
            self._failed_runs = 0
        trouble = failure or self._log_trouble
        if trouble:
            self.on_trouble(mark_safe(f"on_critical {clean_line(trouble)}"))

    def _keep_for_retry(self, events: Sequence[NotificationEvent]) -> None:
        """Keep these events for another run, unless too many runs have failed in a row."""
        if self._failed_runs >= len(RETRIES):
            self._failed_runs = 0
            return
        self._retry_at = self._clock() + RETRIES[self._failed_runs]
        self._failed_runs += 1
        self._failed += events

    def _run(self, command: Sequence[str], event: NotificationEvent) -> str:
        """Run the command and log its result; returns why it failed, or ""."""
        need = {f"AGENTCO_NEED_{name.upper()}": text for name, text in event._asdict().items()}
        failure = ""
        try:
            run_for_output(command, {**self._env, **need}, LONGEST_RUN, apart=True)
        except CommandError as error:
            failure = self._redact(str(error))
        self._log_trouble = self._log(failure or "ended with exit code 0", event)
        return failure

    def _log(self, what: str, event: NotificationEvent) -> str:
        """Write a line about an event into the log; returns why that failed, or ""."""
        line = f"{fmt.stamp(time.time())} {clean_line(what)}: {event.text}\n"
        try:
            path = create_state_folder() / LOG_FILE
            if path.exists() and path.stat().st_size > LOG_BYTES:
                path.replace(path.with_suffix(".log.1"))
            path.touch(FILE_MODE)
            with path.open("a", encoding="utf-8") as log:
                log.write(line)
        except OSError as error:
            return f"can't be logged: {error.strerror}"
        return ""
