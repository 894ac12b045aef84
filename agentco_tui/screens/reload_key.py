"""Reads the API key again when the platform refuses it, and reports the result on the screen.

The platform is the remote service that is watched, and the workspace what is known of it in memory,
with its settings and its key. A feed is one list of records that is polled from it; its `Pace` is
how often, and its `freshness.failure` why the last poll failed. `KeyRenewal`
(`workspace.key_renewal`) does the reading; `settings.key_location` says where the key is: a file, a
keyring, a command, or an environment variable, which cannot change. `WrongError` says why there is
no usable key. `permissions.lacks_any` says whether the key in use may not write all that another
may.
"""

from __future__ import annotations

from collections.abc import Callable

from agentco_tui.api.errors import KeyRejected
from agentco_tui.config.validators import WrongError
from agentco_tui.keys.commands import shown_key
from agentco_tui.live.feeds import FeedName, Pace
from agentco_tui.screens.dashboard_context import DashboardContext


class ReloadKey:
    """The action of the refresh key for a refused API key."""

    def __init__(self, dashboard: DashboardContext, say: Callable[..., None]) -> None:
        workspace = dashboard.workspace
        self._dashboard = dashboard
        self._workspace = workspace
        self._say = say

    async def run(self) -> None:
        """Read the key again, if the one in use is refused or lacks a permission."""
        location = self._workspace.settings.key_location
        renewal = self._workspace.key_renewal
        lacks_permission = self._dashboard.permissions.lacks_any
        if (
            location is None
            or renewal.is_reading
            or not (lacks_permission or self._refused_feeds())
        ):
            return
        if not location.can_change:
            words = "can't change while this runs: start again with another key"
            await self._say_unless_accepted(f"{location.description} {words}")
            return
        if not location.is_file:
            self._say(f"reading the key again: {location.description}")
        try:
            is_renewed = await renewal.read_again(location)
        except WrongError as wrong:
            words = self._workspace.key.redact(str(wrong))
            self._say(f"{location.description}: {words}", bad=True)
            return
        if not is_renewed:
            key = shown_key("app.refresh", self._workspace.settings.keys)
            words = f"put another into {location.description}, then press {key}"
            await self._say_unless_accepted(f"the key is still the one that was refused: {words}")

    def _refused_feeds(self) -> list[FeedName]:
        """Return the polled feeds whose last request was refused because of the key."""
        freshness = self._workspace.store.freshness
        return [
            feed
            for feed in FeedName
            if self._workspace.poller.pace(feed) is not Pace.OFF
            and isinstance(freshness[feed].failure, KeyRejected)
        ]

    async def _say_unless_accepted(self, words: str) -> None:
        """Say it, unless the platform accepts the key by now: it is asked once more."""
        is_refused = self._dashboard.permissions.lacks_any
        refused_feeds = self._refused_feeds()
        if not is_refused and refused_feeds:
            freshness = await self._workspace.poller.read_again(refused_feeds[0])
            is_refused = isinstance(freshness.failure, KeyRejected)
        if is_refused:
            self._say(words, bad=True)
