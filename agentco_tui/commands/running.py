"""What a command runs with: settings, log, connection, output, and a way out for signals."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from enum import IntEnum
from types import FrameType
from typing import TYPE_CHECKING

from agentco_tui.api.credentials import CredentialError, KeyFilter, KeyInUse
from agentco_tui.api.errors import ApiError
from agentco_tui.cli.arguments import UsageError
from agentco_tui.config import Given, Problem, Settings, SettingsError
from agentco_tui.config.resolve import load
from agentco_tui.text import safe, safe_block

if TYPE_CHECKING:
    from agentco_tui.api.client import Client


class Exit(IntEnum):
    """Exit codes. `status` has the same numbers with the meanings of monitoring plugins."""

    OK = 0
    FAILED = 1  # something unforeseen; a log holds more
    USAGE = 2  # the arguments or the settings cannot be used
    NO_ANSWER = 3  # the platform did not give what was asked for
    INTERRUPTED = 130


class OutputError(Exception):
    """What was to be written could not be; `str()` says why."""


def say(*lines: str) -> None:
    """Write result lines. Each is cleaned, so text of the platform may stand in them.

    Raises BrokenPipeError if the reader has gone, OutputError if it cannot be written otherwise.
    """
    write("".join(f"{safe(line, 100_000)}\n" for line in lines))


def say_json(value: object) -> None:
    """Write one JSON value on a line of its own, all that is not ASCII escaped: safe to show.
    A Decimal is written as a float.
    """
    write(json.dumps(value, default=float) + "\n")


def error_json(error: ApiError | None) -> dict[str, object]:
    """An error for scripts: {"error": kind, "http_status": int|null, "text": str}, or all null."""
    if error is None:
        return {"error": None, "http_status": None, "text": None}
    return {"error": error.kind, "http_status": error.status, "text": safe(str(error))}


def write(text: str | bytes) -> None:
    """Write text that is clean already, or bytes as they are, and all that waits, at once."""
    if sys.stdout is None:
        return
    try:
        if isinstance(text, bytes):
            sys.stdout.buffer.write(text)
        elif text:
            sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"the output cannot be written: {error.strerror}") from None


def complain(*lines: str) -> None:
    """Write what went wrong to stderr, cleaned."""
    for line in lines:
        print(f"agentco-tui: {safe(line, 10_000)}", file=sys.stderr, flush=True)


def at_terminal() -> bool:
    """Whether there is a person to ask: a terminal on standard input and output."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def ask(question: str, read: Callable[[str], str] = input) -> str:
    """What a person types on a line. Raises UsageError without one, EOFError at the line's end."""
    if not at_terminal():
        raise UsageError(f"no terminal to ask at, and no flag or variable says: {question}")
    return read(f"{question} ").strip()


def agreed(question: str) -> bool:
    """Whether there is a person who says yes; all but `y` is a no."""
    return at_terminal() and ask(f"{question} (y/n)").lower() in ("y", "yes")


class _OneEntry(logging.Formatter):
    """An entry whose text can bring no control characters into the log."""

    def format(self, record: logging.LogRecord) -> str:
        return safe_block(super().format(record))


class _OneObject(logging.Formatter):
    """The same as JSON; its `words` are those of the source, in which nothing is filled in."""

    def format(self, record: logging.LogRecord) -> str:
        extra, text = vars(record), safe_block(record.getMessage())
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told = {"time": when, "level": record.levelname, "logger": record.name, "message": text}
        return json.dumps(told | {"words": extra["words"], **extra.get("about", {})})


@contextmanager
def running(given: Given, env: Mapping[str, str]) -> Iterator[Settings]:
    """Settings for a command that SIGTERM and SIGHUP end without a half-written file."""
    settings = load(given, env)

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    with logged(settings):
        before = {
            number: signal.signal(number, leave)
            for number in (signal.SIGTERM, signal.SIGHUP)
            if signal.getsignal(number) is signal.SIG_DFL
        }
        try:
            yield settings
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def logged(settings: Settings, key: KeyInUse | None = None) -> Iterator[None]:
    """Log, without any key, to the file that was asked for; what is unforeseen with its place.

    `key` where another may take the place of the settings' own.
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
    as_text = _OneEntry("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(_OneObject() if settings.log_json else as_text)
    if key is None and settings.key is not None:
        key = KeyInUse(settings.key)
    handler.addFilter(KeyFilter(key))
    logger = logging.getLogger("agentco_tui")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    except Exception as error:
        if not isinstance(error, (BrokenPipeError, OutputError, SettingsError)):
            logging.getLogger(__name__).exception("unforeseen")
        raise
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
        with suppress(OSError):
            stream.close()


@asynccontextmanager
async def connected(settings: Settings, key: KeyInUse | None = None) -> AsyncIterator[Client]:
    """A client for the settings' platform; `key` as in `logged`. Raises SettingsError if it cannot
    be made of them.
    """
    from agentco_tui.api.client import open_client  # noqa: PLC0415 - the dashboard begins without

    try:
        about = settings.base_url, key or settings.key
        client = open_client(*about, mapping=settings.mapping, **settings.transport_options)
    except CredentialError as error:
        raise SettingsError([Problem(text=str(error))]) from None
    async with client:
        yield client
