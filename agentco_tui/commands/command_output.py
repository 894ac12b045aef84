"""The exit codes of the commands, and the functions with which they write to stdout and stderr.

Results go to standard output, errors and notices to standard error. All printed text is cleaned by
`clean_line`, which removes control characters and escape sequences: it may come from the platform,
the service that is watched. The second argument of `clean_line` is the greatest width in terminal
cells.
"""

from __future__ import annotations

import json
import sys
from enum import IntEnum

from agentco_tui.api.errors import ApiError
from agentco_tui.text import clean_line


class Exit(IntEnum):
    """The exit codes of all commands but `status`, which has those of monitoring plugins."""

    OK = 0
    FAILED = 1  # an unexpected error; the log holds the traceback
    USAGE = 2  # the arguments or the settings cannot be used
    NO_ANSWER = 3  # the platform did not send everything that was requested
    INTERRUPTED = 130  # by ctrl+c


class OutputError(Exception):
    """Standard output cannot be written; the message says why."""


def print_lines(*lines: str) -> None:
    """Clean the lines and write them to standard output.

    Raises BrokenPipeError if the reader has closed the pipe, and OutputError for any other failure.
    """
    write_stdout("".join(f"{clean_line(line, 100_000)}\n" for line in lines))


def print_json(value: object) -> None:
    """Write a JSON value as one line to standard output; a Decimal is written as a float.

    All characters outside ASCII are escaped, so that the line is safe on a terminal. Raises the
    errors of `print_lines`.
    """
    write_stdout(f"{json_text(value)}\n")


def json_text(value: object) -> str:
    """A JSON value as text, as `print_json` writes it."""
    return json.dumps(value, default=float)


def error_json(error: ApiError | None) -> dict[str, object]:
    """The JSON fields that describe an error of a request; each is null if there is none.

    They are {"error": str, "http_status": int|null, "text": str}; "error" is a kind such as
    "timed_out", and "text" the sentence for the user.
    """
    if error is None:
        return {"error": None, "http_status": None, "text": None}
    return {"error": error.kind, "http_status": error.status, "text": clean_line(str(error))}


def write_stdout(text: str | bytes) -> None:
    """Write text that is clean already, or bytes unchanged, to standard output, and flush it.

    Empty text only flushes. Nothing is written if the process has no standard output. Raises the
    errors of `print_lines`.
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


def print_to_stderr(*lines: str) -> None:
    """Clean lines and write them to standard error: errors, and notices that are no results."""
    for line in lines:
        print(f"agentco-tui: {clean_line(line, 10_000)}", file=sys.stderr, flush=True)
