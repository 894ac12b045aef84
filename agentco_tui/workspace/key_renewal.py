"""Uses an API key that was replaced at its source, such as a file, without a restart.

A file is read whenever the platform (the service that the program watches) refuses the key in use.
A command or a keyring may want something of the user, a touch or a passphrase, so it is read only
when the user asks for it. `KeyInUse` is the key that requests are sent with; `KeyLocation` says
where a key is kept, and reads it; WrongError says why that failed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from agentco_tui.api.credentials import KeyInUse
from agentco_tui.config.api_key import KeyLocation
from agentco_tui.config.validators import WrongError
from agentco_tui.system.background import while_wanted

log = logging.getLogger(__name__)


class KeyRenewal:
    """Reads the key again, and replaces the one in use if it has changed.

    After `note_refusal`, `run` reads it if the key is in a file.
    """

    def __init__(
        self,
        key: KeyInUse,
        find_location: Callable[[], KeyLocation | None],
        on_renewed: Callable[[], object],
    ) -> None:
        """`find_location` returns where the key is now; `on_renewed` is called after a change."""
        self._key = key
        self._find_location = find_location
        self._on_renewed = on_renewed
        self._reading = asyncio.Lock()
        self._refused = asyncio.Event()

    @property
    def is_reading(self) -> bool:
        return self._reading.locked()

    def note_refusal(self) -> None:
        """Have `run` read the key again, because the platform has refused the one in use."""
        self._refused.set()

    async def run(self) -> None:
        """After each refusal, read the key again if it is kept in a file, until cancelled."""
        while True:
            await self._refused.wait()
            self._refused.clear()
            location = self._find_location()
            if location is not None and location.is_file:
                # The file may be missing or half written; another refusal follows, and another try.
                with suppress(WrongError):
                    await self.read_again(location)

    async def read_again(self, location: KeyLocation) -> bool:
        """Read the key from its location; True if it was another one, which is used from now on.

        May take as long as a command or a keyring takes. Raises WrongError.
        """
        async with self._reading:
            # In a thread. `until` is a file descriptor that becomes readable if this is cancelled;
            # `apart` keeps a command from the terminal, which the dashboard uses.
            key = await while_wanted(lambda until: location.read(apart=True, until=until))
        if key == self._key.key:
            return False
        self._key.replace(key)
        log.info("the key was read again from %s", location.description)
        self._on_renewed()
        return True
