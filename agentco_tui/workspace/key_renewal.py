"""Takes up an API key that was replaced where it is kept, without a restart.

A file is read whenever the key in use is refused. A command or a keyring may want something of the
user, a touch or a passphrase, so it is read only when the user asks for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from agentco_tui.api.credentials import KeyInUse
from agentco_tui.config.api_key import KeyPlace
from agentco_tui.config.validators import WrongError
from agentco_tui.system.background import while_wanted

log = logging.getLogger(__name__)


class KeyRenewal:
    """Reads the key again, and replaces the one in use if it has changed."""

    def __init__(
        self,
        key: KeyInUse,
        place: Callable[[], KeyPlace | None],
        on_renewed: Callable[[], object],
    ) -> None:
        """`place` returns where the key is kept now; `on_renewed` is called after a replacement."""
        self._key = key
        self._place = place
        self._on_renewed = on_renewed
        self._reading = asyncio.Lock()
        self._refused = asyncio.Event()

    @property
    def is_reading(self) -> bool:
        return self._reading.locked()

    def note_refusal(self) -> None:
        """The platform has refused the key in use: have `run` look for another."""
        self._refused.set()

    async def run(self) -> None:
        """After each refusal, read the key again if it is kept in a file, until cancelled."""
        while True:
            await self._refused.wait()
            self._refused.clear()
            place = self._place()
            if place is not None and place.is_file:
                # The file may be missing or half written; another refusal follows, and another try.
                with suppress(WrongError):
                    await self.read_again(place)

    async def read_again(self, place: KeyPlace) -> bool:
        """Read the key from its place; True if it was another one, which is used from now on.

        May take as long as a command or a keyring takes. Raises WrongError.
        """
        async with self._reading:
            key = await while_wanted(lambda until: place.read(apart=True, until=until))
        if key == self._key.key:
            return False
        self._key.replace(key)
        log.info("the key was read again from %s", place.words)
        self._on_renewed()
        return True
