"""The report of an error in the program: no local variables, no key, readable by its owner only.

Textual's own report prints the locals of every frame, and with them whatever header or answer
was at hand; so it is never shown and this one is written instead.
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
"""Reports kept in the folder; the oldest go, so that a crash in a loop fills no disk."""

_SECRETS: Final = (
    lazy_pattern(r"(?i)(\b(?:bearer|basic)\s+)[^\s'\",;)\]}]+"),
    lazy_pattern(
        r"(?i)((?:authorization|api[-_ ]?key|token|secret|password)['\"]?\s*[:=]\s*['\"]?)"
        r"(?!(?:bearer|basic)\b)[^\s'\",;)\]}]+"
    ),
)
_PACKAGES: Final = ("textual", "rich", "httpx", "httpcore", "h11", "msgspec")


class Crash(msgspec.Struct, frozen=True):
    """What ended the program: the exceptions in the order they came, and other words, if any."""

    errors: tuple[BaseException, ...]
    words: str = ""

    def told(self) -> str:
        """One line of what and where, without the error's own message (that may quote anything)."""
        if not self.errors:
            return "an error in the program"
        error = _cause(self.errors[0])
        frames = traceback.extract_tb(error.__traceback__)
        if not frames:
            return type(error).__name__
        # The innermost in this package, but for the guard that runs all; or simply the last.
        room = Path(__file__).parent
        paths = [Path(frame.filename) for frame in frames]
        ours = [
            path.is_relative_to(room.parent) and not path.is_relative_to(room) for path in paths
        ]
        at = max((at for at, own in enumerate(ours) if own), default=len(frames) - 1)
        return f"{type(error).__name__} in {paths[at].name}, line {frames[at].lineno}"

    def report(self, redact: Callable[[str], str]) -> str:
        """The whole report: versions, then each traceback without locals, redacted, no controls."""
        # It reads mail headers, zip and csv files: 40 ms of the start, for nothing but a crash.
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
            found = traceback.TracebackException.from_exception(_cause(error), capture_locals=False)
            lines += ["", *"".join(found.format()).split("\n")]
        if self.words:
            lines += ["", *self.words.split("\n")]
        # Redaction before escaping, so that no escape sign splits a key, and once more after it.
        text = redacted("\n".join(lines), redact)
        clean = "\n".join(escaped(line) for line in text.split("\n"))
        return redacted(clean, redact) + "\n"


def redacted(text: str, redact: Callable[[str], str]) -> str:
    """`text` without what `redact` knows and without anything that looks like a key."""
    text = redact(text)
    for pattern in _SECRETS:
        text = pattern.sub(r"\1****", text)
    return text


def write(crash: Crash, folder: Path, redact: Callable[[str], str]) -> Path:
    """Write the report as a new file (mode 0600) into `folder` (made with 0700); gives its path.

    Raises OSError when the folder can't be made or written.
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
    """A worker's failure wraps what failed, without its place."""
    inner = getattr(error, "error", None)
    return inner if isinstance(inner, BaseException) else error
