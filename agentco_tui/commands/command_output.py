"""Exit codes, results on standard output and complaints on standard error, cleaned."""

from __future__ import annotations

import json
import sys
from enum import IntEnum

from agentco_tui.api.errors import ApiError
from agentco_tui.text import safe


class Exit(IntEnum):
    """Exit codes. `status` has the same numbers with the meanings of monitoring plugins."""

    OK = 0
    FAILED = 1  # an unexpected error; the log holds the traceback
    USAGE = 2  # the arguments or the settings cannot be used
    NO_ANSWER = 3  # the platform did not give all that was requested
    INTERRUPTED = 130


class OutputError(Exception):
    """Standard output cannot be written; `str()` says why."""


def say(*lines: str) -> None:
    """Write lines to standard output, each cleaned, so they may hold text from the platform.

    Raises BrokenPipeError if the reader has gone, OutputError for any other reason.
    """
    write("".join(f"{safe(line, 100_000)}\n" for line in lines))


def say_json(value: object) -> None:
    """Write a JSON value as one line to standard output. A Decimal is written as a float.

    All characters outside ASCII are escaped, so a terminal can show the line safely. Raises as
    `say` does.
    """
    write(json.dumps(value, default=float) + "\n")


def error_json(error: ApiError | None) -> dict[str, object]:
    """An error for scripts: {"error": kind, "http_status": int|null, "text": str}, or all null."""
    if error is None:
        return {"error": None, "http_status": None, "text": None}
    return {"error": error.kind, "http_status": error.status, "text": safe(str(error))}


def write(text: str | bytes) -> None:
    """Write clean text, or bytes unchanged, to standard output and flush it. Raises as `say` does.

    Empty text only flushes. Without a standard output nothing is written.
    """
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
    """Write lines about what went wrong to standard error, each cleaned."""
    for line in lines:
        print(f"agentco-tui: {safe(line, 10_000)}", file=sys.stderr, flush=True)
