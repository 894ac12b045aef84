"""The pseudo-terminal with more patience: these tests paint much, on machines that are busy."""

from __future__ import annotations

from tests.terminal.pty_session import Condition
from tests.terminal.pty_session import PtySession as _PtySession

PATIENCE = 90.0
"""Seconds after which what is waited for is taken not to come; a good run never gets near."""


class PtySession(_PtySession):
    """As the other, with longer waits unless a test says how long."""

    def wait_for(self, wanted: Condition, timeout: float = PATIENCE) -> str:
        """Wait until the screen shows it."""
        return super().wait_for(wanted, timeout)

    def wait_raw(self, wanted: bytes, timeout: float = PATIENCE, *, mark: int = 0) -> None:
        """Wait until the bytes were written."""
        super().wait_raw(wanted, timeout, mark=mark)

    def wait_quiet(self, quiet: float = 0.3, timeout: float = PATIENCE) -> int:
        """Wait until nothing was written for a while."""
        return super().wait_quiet(quiet, timeout)

    def wait_gone(self, timeout: float = PATIENCE) -> int:
        """Wait for the end."""
        return super().wait_gone(timeout)
