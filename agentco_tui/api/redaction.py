"""The second wall before the logs: whatever a layer below may write, the key is masked in it."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Iterable
from typing import Final

from agentco_tui.api.credentials import ApiKey, KeyInUse

_BEARER: Final = re.compile(r"(?i)(bearer\s+)[^\s'\"]+")


class KeyFilter(logging.Filter):
    """Put on a handler: masks the given keys, and anything that follows the word Bearer.

    The record's message is formed here, and its traceback too, so that no argument and no
    exception text of a lower layer reaches the handler unread.
    """

    def __init__(self, keys: Iterable[ApiKey | KeyInUse]) -> None:
        super().__init__()
        self._keys = tuple(keys)

    def redacted(self, text: str) -> str:
        """`text` without any of the keys."""
        for key in self._keys:
            text = key.redact(text)
        return _BEARER.sub(r"\1****", text)

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean the record where it stands (Python 3.11 takes no copy); it is always kept."""
        try:
            message = record.getMessage()
        except (TypeError, ValueError, KeyError):
            # A wrong format string is the caller's slip; its arguments may still hold the key.
            message = f"{record.msg} {record.args}"
        record.msg, record.args = self.redacted(message), ()
        if record.exc_info and record.exc_info[0] is not None:
            record.exc_text = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
            record.exc_info = None
        if record.exc_text:
            record.exc_text = self.redacted(record.exc_text)
        if record.stack_info:
            record.stack_info = self.redacted(record.stack_info)
        return True


def quiet_http_loggers() -> None:
    """Keep httpx and httpcore from logging whole URLs and headers (they do at INFO and DEBUG)."""
    for name in ("httpx", "httpcore"):
        logger = logging.getLogger(name)
        if logger.level < logging.WARNING:
            logger.setLevel(logging.WARNING)
