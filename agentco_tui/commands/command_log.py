"""Writes the log of a command or a dashboard to the file of `--log-file`.

A line is plain text or, with `--log-json`, a JSON object. A `KeyFilter` removes the API key from
every line; `KeyInUse` is that key, which may be replaced by another one while a dashboard runs.
`clean_block` removes control characters and escape sequences from a text of several lines.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from agentco_tui.api.credentials import KeyFilter, KeyInUse
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.command_output import OutputError
from agentco_tui.config import Settings, SettingsError
from agentco_tui.text import clean_block

_EXPECTED = (BrokenPipeError, OutputError, SettingsError)
"""Errors that the program reports in one sentence; their tracebacks are not logged."""


class _TextFormatter(logging.Formatter):
    """Formats a log record as text without control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return clean_block(super().format(record))


class _JsonFormatter(logging.Formatter):
    """Formats a log record as a JSON object.

    The field `words` is the message's template without its arguments, so it quotes nothing that the
    platform (the service that is watched) sent. `KeyFilter` adds `words` to each record; the HTTP
    transport adds `about`, a dictionary of facts of a request, such as its status and duration.
    """

    def format(self, record: logging.LogRecord) -> str:
        extra = vars(record)
        created = datetime.fromtimestamp(record.created, UTC)
        entry = {
            "time": created.isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": clean_block(record.getMessage()),
            "words": extra["words"],
            **extra.get("about", {}),
        }
        return json.dumps(entry)


@contextmanager
def log_to_file(settings: Settings, key: KeyInUse | None = None) -> Iterator[None]:
    """Log to the file that the settings name, if any, including tracebacks of unexpected errors.

    `key` is removed from the log. It is passed if the program can replace its key while it runs;
    the default is the settings' key. Raises UsageError if the file cannot be written.
    """
    if settings.log_file is None:
        yield
        return
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        handle = os.open(settings.log_file, flags, 0o600)
    except OSError as error:
        raise UsageError(f"--log-file cannot be written: {error.strerror}") from None
    stream = os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_formatter(settings))
    if key is None and settings.key is not None:
        key = KeyInUse(settings.key)
    handler.addFilter(KeyFilter(key))
    logger = logging.getLogger("agentco_tui")
    level_before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    except Exception as error:
        if not isinstance(error, _EXPECTED):
            logging.getLogger(__name__).exception("unforeseen")
        raise
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level_before)
        with suppress(OSError):
            stream.close()


def _formatter(settings: Settings) -> logging.Formatter:
    if settings.log_json:
        return _JsonFormatter()
    return _TextFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
