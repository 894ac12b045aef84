"""Crash reports: tracebacks without local variables and API keys, readable by their owner only.

Textual's own report prints the local variables of every frame, which may contain HTTP headers and
responses. It is never shown: `TerminalGuard` writes a `Crash` with `write_report` instead.
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

MOST_REPORTS: Final = 20
"""Reports that stay in the folder; older ones are deleted, so that they cannot fill the disk."""

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
    message: str = ""

    def summary(self) -> str:
        """Return one line: the type of the error and its place, without its text (it may have
        secrets).
        """
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
        """Return the whole report: versions and tracebacks, with no secrets or control characters.

        `redact` returns a text without the API keys in use.
        """
        # Imported late, because it takes 40 ms and is needed for a crash only.
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
        if self.message:
            lines += ["", *self.message.split("\n")]
        # Redacted before escaping, because an escape sign might split a key, and again after it.
        text = redact_secrets("\n".join(lines), redact)
        clean = "\n".join(escaped(line) for line in text.split("\n"))
        return redact_secrets(clean, redact) + "\n"


def _is_in_program(frame: traceback.FrameSummary) -> bool:
    """Return whether a frame is in this program, but not in this folder.

    The guard, which is in this folder, calls everything else.
    """
    folder = Path(__file__).parent
    path = Path(frame.filename)
    return path.is_relative_to(folder.parent) and not path.is_relative_to(folder)


def redact_secrets(text: str, redact: Callable[[str], str]) -> str:
    """Return a text without what `redact` removes, and without anything that looks like a key."""
    text = redact(text)
    for pattern in _SECRETS:
        text = pattern.sub(r"\1****", text)
    return text


def write_report(crash: Crash, folder: Path, redact: Callable[[str], str]) -> Path:
    """Write a report to a new file (mode 0600), and return its path.

    The folder is created with mode 0700 if it does not exist. Raises OSError.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    path = folder / f"crash-{stamp}-{os.getpid()}.txt"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(crash.report(redact))
    for old in sorted(folder.glob("crash-*.txt"))[:-MOST_REPORTS]:
        old.unlink(missing_ok=True)
    return path


def _cause(error: BaseException) -> BaseException:
    """Return the error inside Textual's WorkerFailed, which has no traceback itself."""
    inner_error = getattr(error, "error", None)
    if isinstance(inner_error, BaseException):
        return inner_error
    return error
