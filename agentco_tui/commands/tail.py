"""`agentco-tui tail`: the activity feed as lines, oldest first; with --follow it goes on."""

from __future__ import annotations

import asyncio
import select
import sys
from collections.abc import Mapping

from agentco_tui import format as figures
from agentco_tui.actions.journal_file import stamp
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
from agentco_tui.commands.running import Exit, complain, connected, running, say, say_json
from agentco_tui.config import Given, Settings
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.feeds import ActivityFilter, FeedName, Query
from agentco_tui.live.poller import fetch
from agentco_tui.live.store import Store
from agentco_tui.model import Activity, Moment, Ref, Severity
from agentco_tui.text import safe, signs

DEFAULT_LIMIT = 100
LONGEST_PAUSE = 60.0
"""Seconds between two tries while the platform does not answer."""
MISSING = "entries may be missing here: more came than one poll can bring"
_NOT_PASSING = (Invalid, KeyRejected, NotAllowed, NotFound, NotSent, TlsFailure)
"""Errors that a person must mend: told at the first poll instead of waited out."""


def run(given: Given, env: Mapping[str, str]) -> int:
    """0, or 3 if the platform did not give it. With `follow` it does not return."""
    with running(given, env) as settings:
        return asyncio.run(_tail(settings, given))


async def _tail(settings: Settings, options: Given) -> int:
    news, told, failures = News(settings, options), "", 0
    async with connected(settings) as client:
        while True:
            pause = settings.refresh
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
                pause = min(LONGEST_PAUSE, pause * 2.0 ** min(failures, 10))
                pause = max(pause, min(error.retry_after or 0.0, 3600.0))
                failures += 1
            else:
                for entry in entries:
                    if is_gap(entry):
                        complain(MISSING)
                    elif options["json"]:
                        say_json(as_json(entry))
                    else:
                        say(as_line(entry))
                if told:
                    complain("the platform answers again")
                told, failures = "", 0
                if not options["follow"]:
                    return Exit.OK
            await asyncio.sleep(pause)
            _see_that_somebody_reads()


class News:
    """What each poll brings that is new."""

    def __init__(self, settings: Settings, options: Given) -> None:
        self._limit: int = options["limit"] or DEFAULT_LIMIT
        asked = ActivityFilter(agent=options["agent"], limit=self._limit)
        self._query = Query(company=settings.company, activity=asked)
        self._store = Store()
        self.answered = False

    async def poll(self, client: Client) -> list[Activity]:
        """What is new, oldest first, with a mark where entries may be missing.

        A poll that reached further back to close a gap brings the past, too: that is no news.
        """
        window = self._store.activity
        before = {entry.id for entry in window}
        take = await fetch(FeedName.ACTIVITY, client, self._store, self._query)
        take()
        if window.listing.unread:
            complain(f"{window.listing.unread} entries could not be read")
        entries = list(window)
        if not self.answered:
            self.answered = True
            return entries[-self._limit :]
        if not before and len(entries) >= self._limit:
            complain(MISSING)
        known = (at for at, entry in enumerate(entries) if entry.id in before)
        return [entry for entry in entries[next(known, 0) :] if entry.id not in before]


def _see_that_somebody_reads() -> None:
    """Raises BrokenPipeError once the reader of stdout has gone, also while nothing is written."""
    if sys.stdout is None or sys.stdout.isatty():
        return
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        gone = any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    except (OSError, ValueError):
        # Not a stream that can be asked (a test's capture): writing to it will tell.
        return
    if gone:
        raise BrokenPipeError


def as_line(entry: Activity) -> str:
    """An entry for people: local time, how bad it is, who and where, what."""
    mark = {Severity.WARNING: signs.warning, Severity.CRITICAL: signs.critical}
    refs = filter(None, (entry.agent or entry.actor, entry.company))
    who = [ref.name or safe(ref.id, 80) for ref in refs]
    parts = [
        figures.moment(entry.at),
        mark.get(entry.severity, " "),
        f"{f' {signs.separator} '.join(who)}:" if who else "",
        entry.text,
        f"({entry.outcome})" if entry.outcome else "",
    ]
    return " ".join(part for part in parts if part)


def as_json(entry: Activity) -> dict[str, object]:
    """An entry for scripts; null is what the platform did not send.

    {"id": str, "id_derived": bool, "at": ISO 8601 in UTC|null, "zone_assumed": bool, "text": str,
    "verb", "agent", "actor", "company", "task": {"id", "name"}|null,
    "severity": "info"|"warning"|"critical"|"unknown", "outcome": str|null}
    """
    return {
        "id": entry.id,
        "id_derived": entry.id_derived,
        "at": _iso(entry.at),
        "zone_assumed": entry.at is not None and entry.at.zone_assumed,
        "text": entry.text,
        "verb": entry.verb,
        **{name: _ref(getattr(entry, name)) for name in ("agent", "actor", "company", "task")},
        "severity": str(entry.severity),
        "outcome": entry.outcome,
    }


def _ref(ref: Ref | None) -> dict[str, str | None] | None:
    return None if ref is None else {"id": ref.id, "name": ref.name}


def _iso(moment: Moment | None) -> str | None:
    if moment is None:
        return None
    try:
        return stamp(moment.at)
    except (ValueError, OverflowError, OSError):
        return None
