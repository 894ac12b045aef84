"""`agentco-tui tail`: the activity feed as lines, oldest first; with --follow it goes on."""

from __future__ import annotations

import asyncio
import logging
import select
import sys
from collections.abc import Mapping
from contextlib import suppress
from random import Random

from agentco_tui.api.client import Client
from agentco_tui.api.errors import (
    ApiError,
    Invalid,
    KeyRejected,
    NotAllowed,
    NotFound,
    NotSent,
    TlsFailure,
)
from agentco_tui.commands.naming import agent_of, company_of, learn_names
from agentco_tui.commands.running import Exit, complain, connected, running, say, say_json
from agentco_tui.config import Given, Settings
from agentco_tui.live.activity_window import MISSING, is_gap
from agentco_tui.live.feeds import ActivityFilter, Clock, Query
from agentco_tui.live.filtered_log import FilteredLog
from agentco_tui.live.names import Names
from agentco_tui.live.poll_timing import after_failure
from agentco_tui.live.record_export import as_json
from agentco_tui.live.sentences import deed, doer
from agentco_tui.live.store import Store
from agentco_tui.model import Activity, Severity
from agentco_tui.model import format as figures
from agentco_tui.text import safe, signs

log = logging.getLogger(__name__)

DEFAULT_LIMIT = 100
_NOT_PASSING = (Invalid, KeyRejected, NotAllowed, NotFound, NotSent, TlsFailure)
"""Errors that a person must mend: told at the first poll instead of waited out."""


def run(given: Given, env: Mapping[str, str]) -> int:
    """0, 2 if there is nobody of the name that was given, or 3 if the platform did not give it.
    With `follow` it does not return.
    """
    with running(given, env) as settings:
        return asyncio.run(_tail(settings, given))


async def _tail(settings: Settings, options: Given) -> int:
    news, told, failures = News(settings, options), "", 0
    # Tells when the reader goes, also while there is nothing to write.
    reader = select.poll()
    with suppress(OSError, TypeError, ValueError):
        reader.register(sys.stdout, 0)
    async with connected(settings) as client:
        while True:
            pause, is_first = settings.refresh, not news.answered
            try:
                entries = await news.poll(client)
            except ApiError as error:
                hopeless = not news.answered and isinstance(error, _NOT_PASSING)
                if hopeless or not options["follow"]:
                    complain(str(error))
                    return Exit.NO_ANSWER
                if str(error) != told:
                    told = str(error)
                    complain(f"{error}; it is asked again and again until it answers")
                failures += 1
                pause = after_failure(error, failures, settings.refresh, Random())  # noqa: S311
            else:
                for entry in entries:
                    if is_gap(entry):
                        complain(entry.text or MISSING)
                    elif options["json"]:
                        say_json(as_json(entry, news.names))
                    else:
                        say(as_line(entry, news.names))
                if is_first and not entries:
                    complain(f"there are no entries{news.about}")
                if told:
                    complain("the platform answers again")
                told, failures = "", 0
                if not options["follow"]:
                    return Exit.OK
            await asyncio.sleep(pause)
            if reader.poll(0):
                raise BrokenPipeError


async def let_others_run() -> bool:
    """Wait for nothing before a request that fills a gap; True, because it is always wanted."""
    await asyncio.sleep(0)
    return True


class News:
    """What each poll brings that is new."""

    def __init__(self, settings: Settings, options: Given) -> None:
        self._limit: int = options["limit"] or DEFAULT_LIMIT
        self._settings, self._agent = settings, options["agent"]
        words = (("agent", self._agent), ("company", settings.company))
        self.about = "".join(f" of {kind} {safe(name, 60)}" for kind, name in words if name)
        self._log: FilteredLog | None = None  # until it is known that there is what was asked for
        self._store = Store()
        self.names = Names(self._store)
        self._unnamed = set[str]()  # ids that were asked about in vain
        self.answered = False

    async def _ask_for(self, client: Client) -> ActivityFilter:
        """The ids of the company and the agent that were named. Raises SettingsError, ApiError."""
        company, agent = self._settings.company, self._agent
        try:
            company = await company_of(self._settings, client)
            if agent is not None:
                agent = await agent_of(agent, client, company)
        except (NotAllowed, NotFound) as error:
            complain(f"{error}; so what was named{self.about} is taken for an id")
        return ActivityFilter(company=company, agent=agent, limit=self._limit)

    async def poll(self, client: Client) -> list[Activity]:
        """What is new, oldest first, with a mark where entries may be missing.

        A poll that reached further back to close a gap brings the past, too: that is no news.
        """
        if self._log is None:
            asked = await self._ask_for(client)
            self._log = FilteredLog(client, Clock(), asked, self.names, rest=let_others_run)
        before = {entry.id for entry in self._log}
        await self._log.read()
        with suppress(ApiError):  # what it didn't bring is told as missing
            await self._log.fill_gaps()
        if self._log.listing.unread:
            complain(f"{self._log.listing.unread} entries could not be read")
        entries = list(self._log)
        await self._learn_names(client, Query(company=self._log.asked.company), entries)
        if not self.answered:
            self.answered = True
            return entries[-self._limit :]
        if not before and len(entries) >= self._limit:
            complain(MISSING)
        known = (at for at, entry in enumerate(entries) if entry.id in before)
        return [entry for entry in entries[next(known, 0) :] if entry.id not in before]

    async def _learn_names(self, client: Client, query: Query, entries: list[Activity]) -> None:
        """Read the lists of agents and companies where an entry has an id without a name."""
        refs = (getattr(entry, slot) for entry in entries for slot in ("agent", "actor", "company"))
        unnamed = {ref.id for ref in refs if ref is not None and self.names.known(ref) is None}
        if not unnamed <= self._unnamed:
            self._unnamed |= unnamed
            for why in await learn_names(client, self._store, query):
                log.info("%s", why)  # ids stand for them


def as_line(entry: Activity, names: Names) -> str:
    """An entry for people: local time, how bad it is, who and where, what; `~` stands before what
    wasn't sent.
    """
    mark = {Severity.WARNING: signs.warning, Severity.CRITICAL: signs.critical}
    derived = signs.derived if entry.severity_derived else ""
    company = names.company(entry.company) if entry.company else ""
    who = [each for each in (doer(entry, names), company) if each not in ("", signs.missing)]
    parts = [
        figures.moment(entry.at),
        f"{derived}{mark.get(entry.severity, ' ')}",
        f"{f' {signs.separator} '.join(who)}:" if who else "",
        deed(entry, names),
        f"({entry.outcome})" if entry.outcome and entry.text else "",
    ]
    return " ".join(part for part in parts if part)
