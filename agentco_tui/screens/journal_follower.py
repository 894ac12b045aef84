"""Follows the journal while the dashboard runs.

The platform is the remote service that is watched; a write is an approval or another change on it.
The journal is a file in which every write is noted before it is sent. Other dashboards of this user
append to it too, and earlier runs may have left writes in it whose outcome is unknown. Dashboards
also share a file of snoozes: needs (items of the list "needs you", what the user should look at)
that the user put off. The frame is the dashboard's main screen.
"""

from __future__ import annotations

from contextlib import aclosing
from functools import partial
from typing import Final

import msgspec

from agentco_tui.actions.journal import OpenAttempts
from agentco_tui.actions.journal_errors import JournalError
from agentco_tui.actions.services import Services
from agentco_tui.attention.snooze import Snoozes
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.system.watch_thread import watch_in_thread
from agentco_tui.text import signs
from agentco_tui.widgets.workers import start_worker

FOLLOW_INTERVAL: Final = 1.0
"""Seconds between two reads of the journal."""
NOTHING_OPEN: Final = OpenAttempts([], [], None)


class JournalNews(msgspec.Struct, frozen=True):
    """What the last read of the journal, and of the snoozes, has found."""

    open_attempts: OpenAttempts
    snoozes_changed: bool
    trouble_with_snoozes: str


QUIET: Final = JournalNews(NOTHING_OPEN, snoozes_changed=False, trouble_with_snoozes="")
"""Nothing is open, and nothing is wrong."""


class JournalReader:
    """Reads the journal and the snoozes in a thread, once an interval."""

    def __init__(self, services: Services, snoozes: Snoozes) -> None:
        self._services = services
        self._snoozes = snoozes
        self._was_quiet = False

    def check(self) -> JournalNews | None:
        """Return what was found; None if there was nothing open or wrong, now and the last time.

        An attempt that is open is reported each time: its process may have ended meanwhile.
        Raises JournalError.
        """
        services = self._services
        open_attempts = services.journal.follow(services.origin)
        snoozes_changed = self._snoozes.sync()
        news = JournalNews(open_attempts, snoozes_changed, self._snoozes.trouble)
        was_quiet = self._was_quiet
        self._was_quiet = news == QUIET
        return None if was_quiet and self._was_quiet else news


async def follow_journal(frame: BaseFrame) -> None:
    """Show what other dashboards write, settle what earlier runs left open, and share snoozes.

    Runs until the journal cannot be used any more; that is reported.
    """
    reader = JournalReader(frame.dashboard.services, frame.workspace.snoozes)
    reported: set[str] = set()
    followed = watch_in_thread(reader.check, FOLLOW_INTERVAL, "journal-follower")
    try:
        async with aclosing(followed):
            async for news in followed:
                reported = await _take_news(frame, news, reported)
    except JournalError as error:
        frame.say(f"{signs.warning} {error.sentence}", bad=True)


async def _take_news(frame: BaseFrame, news: JournalNews, reported: set[str]) -> set[str]:
    """Show the news, and return the troubles there are; those in `reported` are not said again."""
    dashboard = frame.dashboard
    open_attempts = news.open_attempts
    if news.snoozes_changed:
        dashboard.needs_refresh.start(frame)
    dashboard.decisions.follow_attempts(open_attempts.elsewhere)
    # `left` are writes without an outcome. Only the dashboard that claims one looks it up.
    left_open = []
    if open_attempts.left:
        left_open = await dashboard.services.claim(open_attempts.left)
    if left_open:
        work = partial(frame.dialogs.recover_attempts, left_open)
        start_worker(frame, work, "settle what another run left open", group="writes")
    troubles: set[str] = {*filter(None, (open_attempts.trouble, news.trouble_with_snoozes))}
    for trouble in troubles - reported:
        frame.say(f"{signs.warning} {trouble}", bad=True)
    return troubles
