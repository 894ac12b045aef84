"""`agentco-tui tail`: prints the activity log, oldest first; --follow waits for new entries.

The activity log is the platform's list of what the AI agents of its companies did; the platform is
the service that is watched. `FilteredLog` reads the log of one company or agent, and marks gaps:
places where entries may be missing because more were logged between two polls than one answer
holds. A gap is an entry of ours (`is_gap`) with a text such as MISSING. `Names` looks up the names
for ids. The workspace is what is known of the platform in memory.
"""

from __future__ import annotations

import asyncio
import logging
import select
import sys
from collections.abc import Mapping
from contextlib import suppress
from random import Random
from typing import Final

from msgspec.structs import replace

from agentco_tui.api.errors import (
    ApiError,
    Invalid,
    KeyRejected,
    NotAllowed,
    NotFound,
    NotOffered,
    NotSent,
    TlsFailure,
)
from agentco_tui.commands.command_context import command_context
from agentco_tui.commands.command_output import Exit, print_json, print_lines, print_to_stderr
from agentco_tui.config import Arguments, Settings
from agentco_tui.live.activity_window import MISSING, is_gap
from agentco_tui.live.feeds import ActivityFilter, FeedName, Query
from agentco_tui.live.filtered_log import FilteredLog
from agentco_tui.live.names import Names
from agentco_tui.live.poll_timing import after_failure
from agentco_tui.live.record_export import as_json
from agentco_tui.live.sentences import action_words, actor_words
from agentco_tui.model import Activity, Severity
from agentco_tui.model import format as figures
from agentco_tui.system.garbage import collect_as_usual
from agentco_tui.text import clean_line, signs
from agentco_tui.workspace.named_records import agent_id_of, company_id_of, read_names
from agentco_tui.workspace.opening import opened_workspace
from agentco_tui.workspace.workspace import Workspace

log = logging.getLogger(__name__)

DEFAULT_LIMIT: Final = 100
"""Entries that are requested without --limit."""
_PERMANENT_ERRORS: Final = (Invalid, KeyRejected, NotAllowed, NotFound, NotSent, TlsFailure)
"""Errors that waiting does not cure: at the first poll they end the command."""


def run(arguments: Arguments, env: Mapping[str, str]) -> int:
    """Print the log; returns 0, or 3 if the platform did not answer with it.

    With --follow it returns only after an error at the first poll. Raises SettingsError if the
    company or agent does not exist.
    """
    with command_context(arguments, env) as settings:
        return asyncio.run(_tail(settings, arguments))


async def _tail(settings: Settings, arguments: Arguments) -> int:
    # The company and the agent are looked up with the first poll, which is retried.
    # No history: the database of what was observed, for forecasts, gains nothing from the log.
    reads_only = replace(settings, history=False)
    async with opened_workspace(
        reads_only, on_trouble=print_to_stderr, finds_company=False
    ) as workspace:
        tail = Tail(workspace, arguments)
        if arguments["follow"]:
            collect_as_usual()
        stdout_poll = _poll_of_stdout()
        while True:
            seconds = await tail.print_new()
            if seconds is None:
                return tail.exit_code
            await asyncio.sleep(seconds)
            if stdout_poll.poll(0):
                raise BrokenPipeError


def _poll_of_stdout() -> select.poll:
    """A poll object that reports when the reader of the output has closed the pipe.

    Without it, `tail --follow | head` would only end when the next entry is written.
    """
    polled = select.poll()
    with suppress(OSError, TypeError, ValueError):
        polled.register(sys.stdout, 0)
    return polled


async def never_wait() -> bool:
    """Allow a request that fills a gap at once; `FilteredLog` calls this before each of them.

    The dashboard waits there until the user is idle. True: the gap is still to be filled.
    """
    await asyncio.sleep(0)
    return True


class Tail:
    """Polls the log, prints the new entries, and retries failed polls."""

    def __init__(self, workspace: Workspace, arguments: Arguments) -> None:
        self.exit_code = Exit.OK
        self._workspace = workspace
        self._new_entries = NewEntries(
            workspace, arguments["agent"], arguments["limit"] or DEFAULT_LIMIT
        )
        self._follows: bool = arguments["follow"]
        self._as_json: bool = arguments["json"]
        self._failures = 0  # consecutive failed polls
        self._printed_failure = ""

    async def print_new(self) -> float | None:
        """Poll once and print the new entries.

        Returns the seconds until the next poll; None if the command ends, with `exit_code` set.
        """
        is_first = not self._new_entries.is_answered
        try:
            entries = await self._new_entries.poll()
        except ApiError as error:
            return self._handle_failure(error)
        for entry in entries:
            self._print_entry(entry)
        if is_first and not entries:
            print_to_stderr(f"there are no entries{self._new_entries.subject}")
        if self._failures:
            print_to_stderr("the platform answers again")
        self._failures = 0
        self._printed_failure = ""
        return self._workspace.settings.refresh if self._follows else None

    def _handle_failure(self, error: ApiError) -> float | None:
        """Report a failed poll; returns what `print_new` does."""
        is_first = not self._new_entries.is_answered
        if not self._follows or (is_first and isinstance(error, _PERMANENT_ERRORS)):
            is_offered = not isinstance(error, NotOffered)
            print_to_stderr(str(error) if is_offered else f"{FeedName.ACTIVITY}: {error}")
            self.exit_code = Exit.NO_ANSWER
            return None
        if str(error) != self._printed_failure:
            self._printed_failure = str(error)
            print_to_stderr(f"{error}; the request is repeated until it is answered")
        self._failures += 1
        refresh = self._workspace.settings.refresh
        # Longer after each failure in a row, or as long as the platform asks for.
        return after_failure(error, self._failures, refresh, Random())  # noqa: S311 (jitter)

    def _print_entry(self, entry: Activity) -> None:
        if is_gap(entry):
            print_to_stderr(entry.text or MISSING)
        elif self._as_json:
            print_json(as_json(entry, self._workspace.names))
        else:
            print_lines(entry_line(entry, self._workspace.names))


class NewEntries:
    """Polls the log, and returns the entries that earlier polls did not have."""

    def __init__(self, workspace: Workspace, agent: str | None, limit: int) -> None:
        """`agent` is the name or id of an agent; None for all."""
        self.is_answered = False
        """Whether a poll was answered."""
        self._workspace = workspace
        self._agent = agent
        self._limit = limit
        self._log: FilteredLog | None = None  # None until the company and the agent were looked up
        self._ids_without_names: set[str] = set()  # ids that are in no list of names

    @property
    def subject(self) -> str:
        """The agent and the company that were asked for: " of agent X of company Y", or ""."""
        words = ""
        if self._agent:
            words = f" of agent {clean_line(self._agent, 60)}"
        company = self._workspace.settings.company
        if company:
            words = f"{words} of company {clean_line(company, 60)}"
        return words

    async def poll(self) -> list[Activity]:
        """The new entries, oldest first, with an entry that marks each gap.

        A poll that reads further back to fill a gap also returns older entries, which are left out.
        Raises SettingsError and ApiError.
        """
        if self._log is None:
            self._log = await self._open_log()
        log = self._log
        ids_before = {entry.id for entry in log}
        await log.read()
        with suppress(ApiError):  # then the gap remains, and is reported
            await log.fill_gaps()
        if log.listing.unread:
            print_to_stderr(f"{log.listing.unread} entries could not be read")
        entries = list(log)
        await self._read_missing_names(entries)
        if not self.is_answered:
            self.is_answered = True
            return entries[-self._limit :]
        if not ids_before and len(entries) >= self._limit:
            print_to_stderr(MISSING)
        # Entries before the first that was there already are older, and not new.
        first_known = 0
        for position, entry in enumerate(entries):
            if entry.id in ids_before:
                first_known = position
                break
        return [entry for entry in entries[first_known:] if entry.id not in ids_before]

    async def _open_log(self) -> FilteredLog:
        """Look up the company and the agent, and return their log.

        Raises SettingsError and ApiError.
        """
        workspace = self._workspace
        company_id = workspace.settings.company
        agent_id = self._agent
        try:
            company_id = await company_id_of(workspace.settings, workspace.client)
            if agent_id is not None:
                agent_id = await agent_id_of(agent_id, workspace.client, company_id)
        except (NotAllowed, NotFound) as error:
            print_to_stderr(f"{error}; so names can't be looked up, and are used as ids")
        workspace.set_company(company_id)  # so that names are read of this company only
        return FilteredLog(
            workspace.client,
            workspace.clock,
            ActivityFilter(company=company_id, agent=agent_id, limit=self._limit),
            workspace.names,
            wait_until_idle=never_wait,
        )

    async def _read_missing_names(self, entries: list[Activity]) -> None:
        """Read the lists of agents and companies if an entry has an id without a name."""
        workspace = self._workspace
        unnamed: set[str] = set()
        for entry in entries:
            for reference in (entry.agent, entry.actor, entry.company):
                if reference is None or reference.id is None:
                    continue
                if workspace.names.known_name(reference) is None:
                    unnamed.add(reference.id)
        if unnamed <= self._ids_without_names:
            return
        self._ids_without_names |= unnamed
        query = Query(company=workspace.poller.query.company)
        for trouble in await read_names(workspace.client, workspace.store, query):
            log.info("%s", trouble)  # the ids are printed instead


def entry_line(entry: Activity, names: Names) -> str:
    """An entry as a line: local time, severity, who and where, what.

    A `~` before the severity marks one that the platform did not send.
    """
    mark_by_severity = {Severity.WARNING: signs.warning, Severity.CRITICAL: signs.critical}
    mark = mark_by_severity.get(entry.severity, " ")
    if entry.severity_derived:
        mark = f"{signs.derived}{mark}"
    parts = [figures.moment(entry.at), mark]
    who_and_where = [actor_words(entry, names)]
    if entry.company:
        who_and_where.append(names.company(entry.company))
    names_to_print = [name for name in who_and_where if name not in ("", signs.missing)]
    if names_to_print:
        subject = f" {signs.separator} ".join(names_to_print)
        parts.append(f"{subject}:")
    parts.append(action_words(entry, names))
    if entry.outcome and entry.text:
        parts.append(f"({entry.outcome})")
    return " ".join(part for part in parts if part)
