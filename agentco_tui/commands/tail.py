"""`agentco-tui tail`: prints the activity log, oldest first; --follow waits for new entries."""

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
    NotSent,
    TlsFailure,
)
from agentco_tui.commands.command_output import Exit, complain, say, say_json
from agentco_tui.commands.running import running
from agentco_tui.config import Given, Settings
from agentco_tui.live.activity_window import MISSING, is_gap
from agentco_tui.live.feeds import ActivityFilter, Query
from agentco_tui.live.filtered_log import FilteredLog
from agentco_tui.live.names import Names
from agentco_tui.live.poll_timing import after_failure
from agentco_tui.live.record_export import as_json
from agentco_tui.live.sentences import deed, doer
from agentco_tui.model import Activity, Severity
from agentco_tui.model import format as figures
from agentco_tui.text import safe, signs
from agentco_tui.workspace.named_records import agent_id_of, company_id_of, read_names
from agentco_tui.workspace.opening import opened_workspace
from agentco_tui.workspace.workspace import Workspace

log = logging.getLogger(__name__)

DEFAULT_LIMIT: Final = 100
_LASTING: Final = (Invalid, KeyRejected, NotAllowed, NotFound, NotSent, TlsFailure)
"""Errors that do not go away by waiting: at the first poll they end the command."""


def run(given: Given, env: Mapping[str, str]) -> int:
    """0, 2 if the named company or agent does not exist, or 3 if the platform did not answer.

    With `follow` it returns only after an error at the first poll.
    """
    with running(given, env) as settings:
        return asyncio.run(_tail(settings, given))


async def _tail(settings: Settings, given: Given) -> int:
    # The names are found with the first poll, which is retried.
    reads_only = replace(settings, history=False)
    async with opened_workspace(reads_only, on_trouble=complain, finds_company=False) as workspace:
        tail = Tail(workspace, given)
        stdout_poll = _poll_of_stdout()
        while True:
            seconds = await tail.print_new()
            if seconds is None:
                return tail.exit_code
            await asyncio.sleep(seconds)
            if stdout_poll.poll(0):
                raise BrokenPipeError


def _poll_of_stdout() -> select.poll:
    """Reports when the reader of the output has gone, also while there is nothing to write."""
    polled = select.poll()
    with suppress(OSError, TypeError, ValueError):
        polled.register(sys.stdout, 0)
    return polled


async def do_not_wait() -> bool:
    """Wait for nothing before a request that fills a gap; True, because it is always wanted."""
    await asyncio.sleep(0)
    return True


class Tail:
    """Prints the entries that each poll of the log brings, and retries failed polls."""

    def __init__(self, workspace: Workspace, given: Given) -> None:
        self.exit_code = Exit.OK
        self._workspace = workspace
        self._new_entries = NewEntries(workspace, given["agent"], given["limit"] or DEFAULT_LIMIT)
        self._follows: bool = given["follow"]
        self._as_json: bool = given["json"]
        self._failures = 0  # in a row
        self._failure_shown = ""

    async def print_new(self) -> float | None:
        """Poll once and print what is new.

        Returns the seconds until the next poll; None if there is none, with `exit_code` set.
        """
        is_first = not self._new_entries.is_answered
        try:
            entries = await self._new_entries.poll()
        except ApiError as error:
            return self._failed(error)
        for entry in entries:
            self._print(entry)
        if is_first and not entries:
            complain(f"there are no entries{self._new_entries.subject}")
        if self._failures:
            complain("the platform answers again")
        self._failures = 0
        self._failure_shown = ""
        return self._workspace.settings.refresh if self._follows else None

    def _failed(self, error: ApiError) -> float | None:
        is_lasting = not self._new_entries.is_answered and isinstance(error, _LASTING)
        if is_lasting or not self._follows:
            complain(str(error))
            self.exit_code = Exit.NO_ANSWER
            return None
        if str(error) != self._failure_shown:
            self._failure_shown = str(error)
            complain(f"{error}; it is asked again and again until it answers")
        self._failures += 1
        refresh = self._workspace.settings.refresh
        return after_failure(error, self._failures, refresh, Random())  # noqa: S311 (jitter)

    def _print(self, entry: Activity) -> None:
        if is_gap(entry):
            complain(entry.text or MISSING)
        elif self._as_json:
            say_json(as_json(entry, self._workspace.names))
        else:
            say(as_line(entry, self._workspace.names))


class NewEntries:
    """What each poll of the log brings that is new."""

    def __init__(self, workspace: Workspace, agent: str | None, limit: int) -> None:
        """`agent` is the name or id of the agent whose entries are wanted; None for all."""
        self.is_answered = False
        self._workspace = workspace
        self._agent = agent
        self._limit = limit
        self._log: FilteredLog | None = None  # until the company and the agent have been found
        self._ids_without_names: set[str] = set()  # ids whose names were looked for in vain

    @property
    def subject(self) -> str:
        """The named agent and company as words: " of agent X of company Y", or ""."""
        named = (("agent", self._agent), ("company", self._workspace.settings.company))
        return "".join(f" of {kind} {safe(name, 60)}" for kind, name in named if name)

    async def poll(self) -> list[Activity]:
        """The new entries, oldest first, with a mark where entries may be missing.

        A poll that reached further back to close a gap also brings older entries, which are not
        new. Raises SettingsError and ApiError.
        """
        if self._log is None:
            self._log = await self._open_log()
        log = self._log
        before = {entry.id for entry in log}
        await log.read()
        with suppress(ApiError):  # the gap remains, and is reported
            await log.fill_gaps()
        if log.listing.unread:
            complain(f"{log.listing.unread} entries could not be read")
        entries = list(log)
        await self._read_missing_names(entries)
        if not self.is_answered:
            self.is_answered = True
            return entries[-self._limit :]
        if not before and len(entries) >= self._limit:
            complain(MISSING)
        known = (at for at, entry in enumerate(entries) if entry.id in before)
        newer = entries[next(known, 0) :]
        return [entry for entry in newer if entry.id not in before]

    async def _open_log(self) -> FilteredLog:
        """The log of the company and the agent that were named. Raises SettingsError, ApiError."""
        workspace = self._workspace
        company_id = workspace.settings.company
        agent_id = self._agent
        try:
            company_id = await company_id_of(workspace.settings, workspace.client)
            if agent_id is not None:
                agent_id = await agent_id_of(agent_id, workspace.client, company_id)
        except (NotAllowed, NotFound) as error:
            complain(f"{error}; so what was named{self.subject} is taken for an id")
        workspace.set_company(company_id)
        return FilteredLog(
            workspace.client,
            workspace.clock,
            ActivityFilter(company=company_id, agent=agent_id, limit=self._limit),
            workspace.names,
            wait_until_idle=do_not_wait,
        )

    async def _read_missing_names(self, entries: list[Activity]) -> None:
        """Read the lists of agents and companies if an entry has an id without a name."""
        workspace = self._workspace
        references = (
            getattr(entry, field) for entry in entries for field in ("agent", "actor", "company")
        )
        unnamed = {
            reference.id
            for reference in references
            if reference is not None and workspace.names.known(reference) is None
        }
        if unnamed <= self._ids_without_names:
            return
        self._ids_without_names |= unnamed
        query = Query(company=workspace.poller.query.company)
        for trouble in await read_names(workspace.client, workspace.store, query):
            log.info("%s", trouble)  # the ids are shown instead


def as_line(entry: Activity, names: Names) -> str:
    """An entry as a line: local time, severity, who and where, what; `~` marks derived values."""
    mark_by_severity = {Severity.WARNING: signs.warning, Severity.CRITICAL: signs.critical}
    mark = mark_by_severity.get(entry.severity, " ")
    if entry.severity_derived:
        mark = f"{signs.derived}{mark}"
    parts = [figures.moment(entry.at), mark]
    who_and_where = [doer(entry, names)]
    if entry.company:
        who_and_where.append(names.company(entry.company))
    known = [name for name in who_and_where if name not in ("", signs.missing)]
    if known:
        parts.append(f"{f' {signs.separator} '.join(known)}:")
    parts.append(deed(entry, names))
    if entry.outcome and entry.text:
        parts.append(f"({entry.outcome})")
    return " ".join(part for part in parts if part)
