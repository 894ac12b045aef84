"""Time limits and size limits of requests."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Time limits in seconds, sizes in bytes."""

    connect: float = 5.0
    read: float = 10.0
    """Between two arrivals of bytes."""
    write: float = 10.0
    pool: float = 10.0
    """Until a connection becomes free."""
    total: float = 30.0
    """For one attempt as a whole: a server that sends a byte now and then passes all others."""
    body: int = 64 * 1024 * 1024
    """Of one body, both as sent and after unpacking."""
    idle: float = 15.0
    """For which an unused connection is kept."""
    silence: float = 30.0
    """Between two pings on a web socket, each of which must be answered within `read`."""
