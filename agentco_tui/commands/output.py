"""What commands write: results on stdout, everything else on stderr, and how they end."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from enum import IntEnum

from agentco_tui.api.errors import ApiError
from agentco_tui.text import safe


class Exit(IntEnum):
    """Exit codes. `status` has the same numbers with the meanings of monitoring plugins."""

    OK = 0
    FAILED = 1  # something unforeseen; a log holds more
    USAGE = 2
    """The arguments or the settings cannot be used."""
    NO_ANSWER = 3
    """The platform did not give what was asked for."""
    INTERRUPTED = 130


class OutputError(Exception):
    """What was to be written could not be; `str()` says why."""


def say(*lines: str) -> None:
    """Write result lines. Each is cleaned, so text of the platform may stand in them.

    Raises BrokenPipeError if the reader has gone, OutputError if it cannot be written otherwise.
    """
    write("".join(f"{safe(line, 100_000)}\n" for line in lines))


def say_json(value: object) -> None:
    """Write one JSON value on a line of its own, all that is not ASCII escaped: safe to show."""

    def plain_number(value: Decimal) -> int | float:
        return int(value) if value == value.to_integral_value() else float(value)

    write(json.dumps(value, default=plain_number) + "\n")


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
