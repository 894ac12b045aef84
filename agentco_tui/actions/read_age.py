"""Decides how old the read before a write may be, for every write.

A write is a request that changes the platform (the remote service), such as an approval. Before it,
the record it is about is read again, and the journal (a file on disk) notes it. A yes applies to
what is there now. Between the read that was compared with what the user saw and the moment in which
the request leaves lie the lock of the journal, the disk, the connection, and whatever else stops
the process. What was read before all that may not be so any more.
"""

from __future__ import annotations

from typing import Final

from agentco_tui.live.feeds import Clock
from agentco_tui.text import SafeText, mark_safe

OLDEST_READ: Final = 1.0
"""Seconds from the beginning of the read to the first byte of the write. Reading, writing it down
and sending take some tens of milliseconds on a healthy machine and line, and a few hundred on a bad
one; a second leaves room for that, and for nothing that a user would notice as a wait."""
MOST_READS: Final = 4
"""Reads for one write after which the user is shown that reading takes too long here."""


def why_too_old(clock: Clock, read_began: float) -> SafeText | None:
    """Return why a read is too old to act on; None if it is not.

    `read_began` is a reading of `clock.monotonic`, which goes on while the process is stopped and
    while a laptop sleeps.
    """
    age = clock.monotonic() - read_began
    if age <= OLDEST_READ:
        return None
    return mark_safe(f"{age:.1f} s have passed since it was read, more than {OLDEST_READ:g} s")
