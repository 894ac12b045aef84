"""Notices when the user returns after hours without a key, and offers what happened meanwhile.

`MainScreen` calls `check` at every key. The key that the notice offers opens a page of what
happened on the platform, the remote service that is watched (`since_dialog`); the page starts at
`shift_since`. All times are seconds since 1970 by the platform's clock, which is known from its
first answer on.
"""

from __future__ import annotations

from typing import Final

from agentco_tui.keys.commands import shown_key
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import format as fmt
from agentco_tui.text import SafeText, mark_safe
from agentco_tui.workspace.workspace import Workspace

IDLE_TIMEOUT: Final = 2 * 3_600.0
"""Seconds without a key after which the user counts as absent."""
SHIFT: Final = 8 * 3_600.0  # as long as an operator's shift
"""Seconds of the past to show if there was no absence."""
NOTICE_SECONDS: Final = 20.0
"""Seconds for which the notice is shown."""


class IdleTracker:
    """The last absence of the user, and when the user was last active."""

    def __init__(self, workspace: Workspace, left_at: float | None) -> None:
        """`left_at` is when the user quit the dashboard the last time; None if not known."""
        self._workspace = workspace
        self._has_begun = False
        self.active_at = left_at
        """When the user was last active."""
        self.since: float | None = None
        """When the last absence began, or the time that the user chose instead."""

    @property
    def shift_since(self) -> float:
        """The time at which the page of what happened starts."""
        return self.since or self._workspace.clock.now() - SHIFT

    def check(self, *, is_active: bool = True) -> SafeText | None:
        """Return a notice for a user who comes back; None if there was no absence.

        Call it at every key, and once a second with `is_active` false. The latter counts as
        activity only once, as soon as the platform's time is known after the start.
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
        return mark_safe(f"{fmt.duration(now - left_at)} since you left{hint}")
