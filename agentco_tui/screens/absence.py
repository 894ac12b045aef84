"""When a person was away, so that what happened meanwhile can be told."""

from __future__ import annotations

from typing import Final

from agentco_tui.keys.commands import shown_key
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import format as fmt
from agentco_tui.screens.dashboard_workspace import DashboardWorkspace
from agentco_tui.text import SafeText, plain

LEAST: Final = 2 * 3_600.0  # seconds without a sign of a person, from which on one was away
SHIFT: Final = 8 * 3_600.0  # seconds of a shift whose beginning isn't known
TOLD_FOR: Final = 20.0  # seconds that the notice stands


class Absence:
    """The last one, and since when the shift goes; times by the platform's clock."""

    def __init__(self, session: DashboardWorkspace, left_at: float | None) -> None:
        """`left_at`: when the dashboard was left the last time."""
        self._session, self._is_begun = session, False
        self.sign = left_at  # when there was the last sign of a person
        self.since: float | None = None  # when the last absence began, or what was chosen

    @property
    def shift_since(self) -> float:
        return self.since or self._session.clock.now() - SHIFT

    def look(self, *, is_here: bool = True) -> SafeText | None:
        """What to say to a person who was away for long: as soon as the platform's time is known
        after the start, and at a key.
        """
        session = self._session
        if session.store.freshness[FeedName.PENDING].answered_at is None:
            return None
        if self._is_begun and not is_here:
            return None
        now, left_at = session.clock.now(), self.sign
        self._is_begun, self.sign = True, now
        if left_at is None or now - left_at < LEAST:
            return None
        self.since = left_at
        key = shown_key("app.since", session.settings.keys)
        shows = f": {key} shows what happened" if key else ""
        return plain(f"{fmt.duration(now - left_at)} since you left{shows}")
