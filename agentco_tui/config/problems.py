"""`Problem`, a mistake in the settings with its place, and the exceptions that report problems."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from agentco_tui.api.errors import AgentcoError


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A mistake in the settings, and where it is.

    The text may quote the config file or the environment, so it must be cleaned (`text.safe`)
    before it is shown. It never contains an API key.
    """

    text: str
    setting: str | None = None
    """The name of the setting with its table `[profiles.prod]`, such as
    "profiles.prod.refresh", or the flag or variable that set it."""
    file: Path | None = None
    line: int | None = None  # counted from 1

    def __str__(self) -> str:
        """Return file, line, setting and text, each followed by a colon: "FILE:6: theme: …"."""
        parts = []
        if self.file is not None:
            line = "" if self.line is None else f"{self.line}:"
            parts.append(f"{self.file}:{line}")
        if self.setting:
            parts.append(f"{self.setting}:")
        if self.text:
            parts.append(self.text)
        return " ".join(parts)


class SettingsError(AgentcoError):
    """The settings cannot be used; `problems` has every reason, at least one."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems))


class NothingSetError(SettingsError):
    """Nothing is set: no address, no key and no profile, as when the program is first started."""
