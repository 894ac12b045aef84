"""Crash reports: without local variables, without the API key, readable by their owner only.

Textual's own report prints the local variables of every frame, which may hold headers and answers.
It is never shown; this report is written instead.
"""

from __future__ import annotations

import os
import platform
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from agentco_tui import __version__
from agentco_tui.text import escaped
from agentco_tui.text.patterns import lazy_pattern

KEPT: Final = 20
"""Reports kept in the folder: older ones are deleted, so that a crash in a loop fills no disk."""

_SECRETS: Final = (
    lazy_pattern(r"(?i)(\b(?:bearer|basic)\s+)[^\s'\",;)\]}]+"),
    lazy_pattern(
        r"(?i)((?:authorization|api[-_ ]?key|token|secret|password)['\"]?\s*[:=]\s*['\"]?)"
        r"(?!(?:bearer|basic)\b)[^\s'\",;)\]}]+"
    ),
)
_PACKAGES: Final = ("textual", "rich", "httpx", "httpcore", "h11", "msgspec")


class Crash(msgspec.Struct, frozen=True):
    """The exceptions that ended the program, in order, and Textual's own message, if any."""

    errors: tuple[BaseException, ...]
    words: str = ""
    """Textual's own message, such as that of `App.panic`."""

    def summary(self) -> str:
        """One line: what happened and where, without the error's message (it may hold secrets)."""
        if not self.errors:
            return "an error in the program"
        error = _cause(self.errors[0])
        frames = traceback.extract_tb(error.__traceback__)
        if not frames:
            return type(error).__name__
        # The innermost frame of this package, or simply the innermost.
        frame = next(filter(_is_in_program, reversed(frames)), frames[-1])
        return f"{type(error).__name__} in {Path(frame.filename).name}, line {frame.lineno}"

    def report(self, redact: Callable[[str], str]) -> str:
        """The whole report: versions and tracebacks, redacted and without control characters.

        `redact` takes the API keys out of a text.
        """
        # Imported late: it takes 40 ms of the start, and is needed for a crash only.
        from importlib.metadata import version  # noqa: PLC0415

        lines = [
            f"agentco-tui {__version__}",
            f"at {datetime.now(UTC).isoformat(timespec='seconds')}",
            f"Python {platform.python_version()} on {platform.system()} {platform.release()}",
            f"terminal {os.environ.get('TERM', '–')}",
            f"encoding {getattr(sys.__stderr__, 'encoding', '–')}",
            *(f"{name} {version(name)}" for name in _PACKAGES),
        ]
        for error in self.errors:
            trace = traceback.TracebackException.from_exception(_cause(error), capture_locals=False)
            lines += ["", *"".join(trace.format()).split("\n")]
        if self.words:
            lines += ["", *self.words.split("\n")]
        # Redacted before escaping, because an escape sign might split a key, and again after it.
        text = redacted("\n".join(lines), redact)
        clean = "\n".join(escaped(line) for line in text.split("\n"))
        return redacted(clean, redact) + "\n"


def _is_in_program(frame: traceback.FrameSummary) -> bool:
    """Whether a frame is in this package, except in the guard, which runs everything else."""
    room = Path(__file__).parent
    path = Path(frame.filename)
    return path.is_relative_to(room.parent) and not path.is_relative_to(room)


def redacted(text: str, redact: Callable[[str], str]) -> str:
    """A text without what `redact` removes, and without anything that looks like a key."""
    text = redact(text)
    for pattern in _SECRETS:
        text = pattern.sub(r"\1****", text)
    return text


def write(crash: Crash, folder: Path, redact: Callable[[str], str]) -> Path:
    """Write the report to a new file (mode 0600) in a folder (mode 0700), and return its path.

    The folder is created if necessary. Raises OSError.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    path = folder / f"crash-{stamp}-{os.getpid()}.txt"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(crash.report(redact))
    for old in sorted(folder.glob("crash-*.txt"))[:-KEPT]:
        old.unlink(missing_ok=True)
    return path


def _cause(error: BaseException) -> BaseException:
    """The error inside Textual's WorkerFailed, which has no traceback of its own."""
    inner = getattr(error, "error", None)
    return inner if isinstance(inner, BaseException) else error
