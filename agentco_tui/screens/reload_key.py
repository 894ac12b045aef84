"""A key that was replaced where it is kept, taken up without a new start.

A file is read by itself while the key is refused. A command or a keyring may want something of
the person, a touch or a passphrase: only when the person asks.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

from agentco_tui.api.credentials import ApiKey
from agentco_tui.api.errors import KeyRejected
from agentco_tui.config.api_key import KeyPlace
from agentco_tui.config.validators import WrongError
from agentco_tui.live.feeds import FeedName, Pace
from agentco_tui.screens.header_footer import refresh_key

if TYPE_CHECKING:
    from agentco_tui.screens.frame import MainScreen

LONGEST: Final = 45.0  # seconds after which a reading is given up that has no limit of its own
ENDING: Final = 0.2  # seconds that the program's end waits for that of a command

log = logging.getLogger(__name__)


class KeyRenewal:
    """Reads the key again for one dashboard, and has another one used if there is another."""

    def __init__(self, frame: MainScreen) -> None:
        self._session, self._say = frame.session, frame.say
        self._asked = False
        self._one_at_a_time = asyncio.Lock()
        self._thread: threading.Thread | None = None

    async def asked(self) -> None:
        place, transport = self._session.settings.key_place, self._session.client.transport
        too_little = self._session.permissions.lacks_any or self._refusing()
        if place is None or self._asked or not too_little:
            return
        self._asked = True
        try:
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
                words = f"put another into {place.words}, then press "
                words += refresh_key(self._session.settings)
                await self._nothing_new(f"the key is still the one that was refused: {words}")
        finally:
            self._asked = False

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
        lacks = self._session.permissions.lacks_any
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
            if self._thread is not None and self._thread.is_alive():
                return WrongError("it hangs, and is still being read")
            hear, tell = os.pipe()
            ended = False
            result: Future[ApiKey | WrongError] = Future()
            # So that who waits in vain can't cancel it.
            result.set_running_or_notify_cancel()
            # A daemon, which the end of the program does not wait for.
            args = place, hear, result
            self._thread = threading.Thread(target=_read, args=args, name="key", daemon=True)
            self._thread.start()
            try:
                async with asyncio.timeout(LONGEST):
                    return await asyncio.wrap_future(result)
            except TimeoutError:
                return WrongError(f"it could not be read within {LONGEST:g} seconds")
            except asyncio.CancelledError:
                ended = True
                raise
            finally:
                # Whatever was started for it is not wanted any more.
                os.close(tell)
                if ended:
                    # The program ends, and its threads with it: this one has a command to end yet.
                    self._thread.join(ENDING)


def _read(place: KeyPlace, until: int, result: Future[ApiKey | WrongError]) -> None:
    try:
        result.set_result(place.read(apart=True, until=until))
    except WrongError as wrong:
        result.set_result(wrong)
    except Exception as error:  # a fault of ours: for who waits, not for this thread
        result.set_exception(error)
    finally:
        os.close(until)
