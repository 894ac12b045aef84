"""Resolves the host of a platform (the remote service that is watched) to IP addresses.

Two names of hosts may lead to one platform. The journal notes each write (a request that changes
the platform) before it is sent, and compares the addresses, so that the same write is not sent
twice under two names. An origin is the platform's address as configured, which `platform_of`
normalizes.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from typing import Final
from urllib.parse import urlsplit

from agentco_tui.api.origin import fold_host, platform_of

log = logging.getLogger(__name__)

LOOKUP_PATIENCE: Final = 2.0  # seconds that the first write waits for the host to be resolved
MOST_ADDRESSES: Final = 16  # of a host, that are kept with an attempt


def addresses_of(origin: str, patience: float = LOOKUP_PATIENCE) -> tuple[str, ...]:
    """Return the IP addresses of an origin's host, each with the port, sorted.

    All addresses of this machine are given as "localhost". Returns nothing, and logs that, if the
    host can't be resolved within `patience` seconds.
    """
    parts = urlsplit(platform_of(origin))
    host = parts.hostname or ""
    port = parts.port
    found: list[str] = []

    def look_up() -> None:
        with contextlib.suppress(OSError, UnicodeError):
            for family, *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
                found.append(f"{_folded_address(family, str(address[0]))}:{port}")

    # A daemon thread, so that a resolver that hangs doesn't hold up the end of the program.
    thread = threading.Thread(target=look_up, name="journal-lookup", daemon=True)
    thread.start()
    thread.join(patience)
    if not found:
        log.warning("%s could not be resolved: the journal knows it by its name only", host)
    return tuple(sorted(set(found)))[:MOST_ADDRESSES]


def _folded_address(family: int, address: str) -> str:
    """Return an IP address in its usual spelling; "localhost" for one of this machine."""
    try:
        # Nothing is sent: only the route is looked up, and a route to oneself starts where it ends.
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            is_own = probe.getsockname()[0] == address
    except OSError:
        return fold_host(address)
    return "localhost" if is_own else fold_host(address)
