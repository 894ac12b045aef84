"""Follows the journal while the dashboard runs.

The platform is the remote service that is watched; a write is an approval or another change on it.
The journal is a file in which every write is noted before it is sent. Other dashboards of this user
append to it too, and earlier runs may have left writes in it whose outcome is unknown. Dashboards
also share a file of snoozes: needs (items of the list "needs you") that the user put off.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from agentco_tui.actions.journal_errors import JournalError
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.text import signs
from agentco_tui.widgets.workers import start_worker

FOLLOW_INTERVAL: Final = 1.0
"""Seconds between two reads of the journal."""


async def follow_journal(frame: BaseFrame) -> None:
    """Show what other dashboards write, settle what earlier runs left open, and share snoozes.

    Runs until the journal cannot be used any more; that is reported.
    """
    dashboard = frame.dashboard
    snoozes = frame.workspace.snoozes
    reported: set[str] = set()
    while True:
        try:
            found = await dashboard.services.follow()
            # Read and write the file of snoozes; True if any of them differ now.
            if await dashboard.services.in_journal_thread(snoozes.sync):
                dashboard.needs_refresh.start(frame)
        except JournalError as error:
            frame.say(f"{signs.warning} {error.sentence}", bad=True)
            return
        dashboard.decisions.follow_attempts(found.elsewhere)
        # `left` are writes without an outcome. Only the dashboard that claims one looks it up.
        left_open = await dashboard.services.claim(found.left) if found.left else []
        if left_open:
            work = partial(frame.dialogs.recover_attempts, left_open)
            start_worker(frame, work, "settle what another run left open", group="writes")
        troubles = {trouble for trouble in (found.trouble, snoozes.trouble) if trouble}
        for trouble in troubles - reported:
            frame.say(f"{signs.warning} {trouble}", bad=True)
        reported = troubles
        await asyncio.sleep(FOLLOW_INTERVAL)
