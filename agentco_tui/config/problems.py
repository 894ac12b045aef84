"""What is wrong with the settings, told all at once and with the place to mend it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong, and where.

    The text may quote the config file or the environment, so it passes `agentco_tui.text` before
    it is shown. It never holds an API key.
    """

    text: str
    setting: str | None = None
    """The setting's full name, `profiles.prod.refresh`, or the flag or variable that set it."""
    file: Path | None = None
    line: int | None = None  # counted from 1

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}:"
        if place and self.line is not None:
            place += f"{self.line}:"
        return " ".join(
            part for part in (place, self.setting and f"{self.setting}:", self.text) if part
        )


class SettingsError(Exception):
    """The settings cannot be used; `problems` holds every reason, at least one."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems))


class NothingSetError(SettingsError):
    """No address, no key and no profile: somebody starts the program for the first time."""


class WrongError(ValueError):
    """A value that a setting cannot have; `str()` says what it must be, fit for a `Problem`."""


def nearest(word: str, names: Sequence[str]) -> str:
    """The name most like a word, as `_`, `-` and case aside; `names` must hold at least one."""

    def folded(text: str) -> str:
        return text.replace("-", "_").casefold()

    by_folded = {folded(name): name for name in names}
    found = difflib.get_close_matches(folded(word), by_folded, n=1, cutoff=0.0)
    return by_folded[found[0]] if found else names[0]
