"""How long a request may take, and how much may come back."""

from __future__ import annotations

from dataclasses import dataclass

from agentco_tui.api.unanswered import Trouble


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """All times are in seconds, all sizes in bytes."""

    connect: float = 5.0
    read: float = 10.0
    """Between two arrivals of bytes."""
    write: float = 10.0
    pool: float = 10.0
    """For a connection to become free."""
    total: float = 30.0
    """For one attempt as a whole: a server that drips outlives all the others."""
    body: int = 64 * 1024 * 1024
    """Of one body, as it comes and after unpacking."""
    idle: float = 15.0
    """For which an unused connection is kept."""

    def of(self, trouble: Trouble) -> float | None:
        """The time limit that passed, if this is a trouble of time."""
        return {
            Trouble.CONNECT_WAIT: self.connect,
            Trouble.READ_WAIT: self.read,
            Trouble.WRITE_WAIT: self.write,
            Trouble.POOL_WAIT: self.pool,
            Trouble.TOTAL_WAIT: self.total,
        }.get(trouble)
