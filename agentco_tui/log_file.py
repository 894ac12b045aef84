"""The log that `--log-file` asks for: readable by its owner only, and without the key."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from agentco_tui.api.credentials import ApiKey, KeyFilter, KeyInUse, quiet_http_loggers
from agentco_tui.text import safe_block


class _OneEntry(logging.Formatter):
    """An entry whose text can bring no control characters into the log."""

    def format(self, record: logging.LogRecord) -> str:
        return safe_block(super().format(record))


def nowhere_else() -> None:
    """Keep what is logged off the terminal, where Python puts warnings that nobody handles."""
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.NullHandler())


def log_to(path: Path, keys: Iterable[ApiKey | KeyInUse]) -> Callable[[], None]:
    """Let everything that the program logs go to the end of `path`; the result ends that.

    The file gets mode 0600 if it is made here. Raises OSError if it cannot be written.
    """
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    stream = os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_OneEntry("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(KeyFilter(keys))
    quiet_http_loggers()
    logger = logging.getLogger("agentco_tui")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)

    def end() -> None:
        logger.removeHandler(handler)
        logger.setLevel(before)
        with suppress(OSError):
            stream.close()

    return end
