"""The errors of the journal, with sentences for the user.

The journal is the file in which each write (a request that changes the remote service) is noted
before it is sent; while it can't be used, nothing is sent.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from agentco_tui.text import SafeText, clean_line, mark_safe


class JournalError(Exception):
    """The journal can't be written or read, so nothing may be sent."""

    def __init__(self, why: str, advice: str = "mend that and try again") -> None:
        self.why: SafeText = mark_safe(why)
        self.sentence: SafeText = mark_safe(f"{why}: nothing is sent without it; {advice}")
        super().__init__(self.sentence)


class JournalBusyError(JournalError):
    """Another process keeps the lock."""


class JournalLostError(JournalError):
    """The file at the path, or its content, is not the one that was read before."""


class JournalDamagedError(JournalLostError):
    """The running digest does not match: a line was changed, removed or inserted."""

    def __init__(self, path: Path, line: int) -> None:
        super().__init__(
            f"the journal {clean_line(str(path), 200)} was changed by something else, "
            f"in or before line {line:,}",
            "keep it for whoever looks into that, move it out of the way, and start again: "
            "a new one is begun then",
        )


@contextlib.contextmanager
def os_errors(what: str) -> Iterator[None]:
    """Turn an OSError into a JournalError about `what`."""
    try:
        yield
    except OSError as error:
        reason = clean_line(error.strerror or type(error).__name__, 120)
        raise JournalError(f"{what} can't be used ({reason})") from error
