"""A key that was replaced where it is kept, taken up without a new start.

A file is read by itself while the key is refused. A command or a keyring may want something of
the person, a touch or a passphrase: only when the person asks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from agentco_tui.api.credentials import ApiKey
from agentco_tui.api.errors import KeyRejected
from agentco_tui.config.api_key import KeyPlace
from agentco_tui.config.validators import WrongError
from agentco_tui.keys.commands import shown_key
from agentco_tui.live.feeds import FeedName, Pace
from agentco_tui.screens.session import Session
from agentco_tui.system.background import while_wanted

log = logging.getLogger(__name__)


class KeyRenewal:
    """Reads the key again for one dashboard, and has another one used if there is another."""

    def __init__(self, session: Session, say: Callable[..., None]) -> None:
        self._session, self._say = session, say
        self._one_at_a_time = asyncio.Lock()

    async def asked(self) -> None:
        place, transport = self._session.settings.key_place, self._session.client.transport
        too_little = bool(self._session.permissions.missing) or self._refusing()
        if place is None or not too_little or self._one_at_a_time.locked():
            return
        if not place.can_change:
            words = "can't change while this runs: start again with another key"
            await self._nothing_new(f"{place.words} {words}")
            return
        if not place.is_file:
            self._say(f"reading the key again: {place.words}")
        found = await self._read(place)
        if isinstance(found, WrongError):
            words = transport.key.redact(str(found))
            self._say(f"{place.words}: {words}", bad=True)
        elif not self._take(found, place):
            key = shown_key("app.refresh", self._session.settings.keys)
            words = f"put another into {place.words}, then press {key}"
            await self._nothing_new(f"the key is still the one that was refused: {words}")

    async def refused(self) -> None:
        """A poll was refused: another key may be in its file by now, or is just being written."""
        place = self._session.settings.key_place
        if place is None or not place.is_file or self._one_at_a_time.locked():
            return
        found = await self._read(place)
        if isinstance(found, ApiKey):
            self._take(found, place)

    def _refusing(self) -> list[FeedName]:
        known, poller = self._session.store.freshness, self._session.poller
        polled = (feed for feed in FeedName if poller.pace(feed) is not Pace.OFF)
        return [feed for feed in polled if isinstance(known[feed].failure, KeyRejected)]

    async def _nothing_new(self, words: str) -> None:
        """Say so, unless the platform takes the key by now: it was asked again meanwhile."""
        lacks = bool(self._session.permissions.missing)
        if not lacks and (refusing := self._refusing()):
            freshness = await self._session.poller.read_again(refusing[0])
            lacks = isinstance(freshness.failure, KeyRejected)
        if lacks:
            self._say(words, bad=True)

    def _take(self, found: ApiKey, place: KeyPlace) -> bool:
        in_use = self._session.client.transport.key
        if found == in_use.key:
            return False
        in_use.replace(found)
        log.info("the key was read again from %s", place.words)
        self._session.permissions.key_changed()
        self._session.poller.poll_now()
        self._say("the key was read again: another one is used from now on")
        return True

    async def _read(self, place: KeyPlace) -> ApiKey | WrongError:
        async with self._one_at_a_time:
            try:
                return await while_wanted(lambda until: place.read(apart=True, until=until))
            except WrongError as wrong:
                return wrong
