"""When the user was away, so that what happened meanwhile can be shown."""

from __future__ import annotations

from typing import Final

from agentco_tui.keys.commands import shown_key
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import format as fmt
from agentco_tui.text import SafeText, plain
from agentco_tui.workspace.workspace import Workspace

IDLE_TIMEOUT: Final = 2 * 3_600.0  # seconds without a key after which the user counts as away
SHIFT: Final = 8 * 3_600.0  # seconds of a shift whose beginning is not known
NOTICE_SECONDS: Final = 20.0  # for which the notice is shown


class IdleTracker:
    """The last absence of the user, and when the shift began; times by the platform's clock."""

    def __init__(self, workspace: Workspace, left_at: float | None) -> None:
        """`left_at` is when the dashboard was left the last time."""
        self._workspace = workspace
        self._has_begun = False
        self.active_at = left_at
        """When the user was last active."""
        self.since: float | None = None
        """When the last absence began, or the time that the user chose instead."""

    @property
    def shift_since(self) -> float:
        return self.since or self._workspace.clock.now() - SHIFT

    def check(self, *, is_active: bool = True) -> SafeText | None:
        """A notice for a user who comes back; None if there was no absence.

        To be called at every key, and once a second with `is_active` false: that counts only until
        the platform's time is known after the start.
        """
        workspace = self._workspace
        if workspace.store.freshness[FeedName.PENDING].answered_at is None:
            return None
        if self._has_begun and not is_active:
            return None
        now = workspace.clock.now()
        left_at = self.active_at
        self._has_begun = True
        self.active_at = now
        if left_at is None or now - left_at < IDLE_TIMEOUT:
            return None
        self.since = left_at
        key = shown_key("app.since", workspace.settings.keys)
        hint = f": {key} shows what happened" if key else ""
        return plain(f"{fmt.duration(now - left_at)} since you left{hint}")
