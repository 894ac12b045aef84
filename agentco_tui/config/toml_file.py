"""Reads and checks a TOML file of settings.

All mistakes are reported, not only the first, each with the line of its setting. The file is never
written. A `Table` maps the names of settings to their checks, or to inner tables; its key `EACH`
has the check for names that the user chooses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentco_tui.config.declaration import EACH, Table
from agentco_tui.config.problems import Problem
from agentco_tui.config.validators import WrongError, describe, nearest
from agentco_tui.text.patterns import lazy_pattern

MAX_BYTES = 1024 * 1024
"""A larger file is refused: it is probably not the right one."""

_ERROR_WITH_LINE = re.compile(
    r"^(.*?) \(at (?:line (\d+), column \d+|end of document)\)$", re.DOTALL
)
"""Matches the text of tomllib's errors: the reason, and the line unless it is the end."""
_STRINGS = r"""\"{3}(?:[^\\]|\\.)*?"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'"""
_STRING_OR_COMMENT = lazy_pattern(rf"{_STRINGS}|#[^\n]*", re.DOTALL)
_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_NAME = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_KEY_LINE = lazy_pattern(rf"[ \t]*(?:\[\[?[ \t]*({_NAME})[ \t]*\]|({_NAME})[ \t]*=)")
"""A line that begins a table (first group) or sets a key (second group)."""


class TomlFile:
    """The checked settings of a file; mistakes are in `problems`, and never raised.

    A missing file counts as an empty one, unless the user named it (`must_exist`). Subclasses check
    the content in `_check`.
    """

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.path = path
        self.exists = True
        self.readable = True
        """False if the file could not be read or parsed; `problems` has the reason."""
        self.problems: list[Problem] = []
        self.checked: dict[str, Any] = {}
        """The valid settings as nested tables, with converted values."""
        self._lines: Mapping[str, int] = {}
        try:
            self._read()
        except FileNotFoundError:
            self.exists = False
            if must_exist:
                self._mark_unreadable("this config file does not exist")
        except IsADirectoryError:
            self._mark_unreadable("this is a folder; the config is a TOML file")
        except OSError as error:
            self._mark_unreadable(f"cannot be read: {error.strerror or type(error).__name__}")
        self.problems.sort(key=lambda problem: problem.line or 0)

    def problem(self, setting: str, text: str) -> Problem:
        """Return a problem with a setting, at its line or that of the table around it."""
        return Problem(text=text, setting=setting, file=self.path, line=self._line_of(setting))

    def location_of(self, setting: str) -> str:
        """Return the place of a setting in the file, "FILE:12"."""
        return f"{self.path}:{self._line_of(setting)}"

    def _line_of(self, setting: str) -> int | None:
        name = setting
        while name and name not in self._lines:
            name = name.rpartition(".")[0]
        return self._lines.get(name)

    def _mark_unreadable(self, text: str, line: int | None = None) -> None:
        self.readable = False
        self.problems.append(Problem(text=text, file=self.path, line=line))

    def _read(self) -> None:
        with self.path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            self._mark_unreadable(f"is larger than {MAX_BYTES // 1024} KiB: is it the right file?")
            return
        # Imported late, because it delays the start, and most users have no config file.
        import tomllib  # noqa: PLC0415

        try:
            text = raw.decode("utf-8-sig")
            data = tomllib.loads(text)
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            self._mark_unreadable("is not UTF-8 text here", line)
        except tomllib.TOMLDecodeError as error:
            self._mark_invalid(str(error), text)
        except (ValueError, RecursionError):
            self._mark_unreadable("is not TOML that can be read: a number or a nesting is too long")
        else:
            self._lines = key_lines(text)
            self._check(data)

    def _mark_invalid(self, error: str, text: str) -> None:
        match = _ERROR_WITH_LINE.match(error)
        reason = match[1] if match else error
        line = text.rstrip().count("\n") + 1
        if match and match[2]:
            line = int(match[2])
        self._mark_unreadable(f"is not valid TOML: {reason}", line)

    def _check(self, data: Mapping[str, Any]) -> None:
        """Set `checked` to the valid settings of the parsed file, and report the others."""
        raise NotImplementedError

    def _unknown_setting(self, name: str, table: Table) -> str:
        """Return the message for a name that is not a setting of the table."""
        return f"unknown setting (nearest valid name: {nearest(name, tuple(table))})"

    def _checked_table(self, name: str, written: object, table: Table) -> dict[str, Any]:
        """Return the valid settings of a table, converted; report the others.

        `name` is the table's full name ("" for the whole file), and `table` has its checks.
        """
        if not isinstance(written, dict):
            self._report(name, f"must be a table, [{name}], is {describe(written)}")
            return {}
        checked: dict[str, Any] = {}
        for key, value in written.items():
            setting = f"{name}.{key}" if name else key
            check = table.get(key, table.get(EACH))
            is_blank = not key.strip() or not key.isprintable()
            if check is None:
                self._report(setting, self._unknown_setting(key, table))
            elif EACH in table and is_blank:
                self._report(setting, "is not a name: use letters, digits, - and _")
            elif isinstance(check, Mapping):
                checked[key] = self._checked_table(setting, value, check)
            else:
                try:
                    checked[key] = check(value)
                except WrongError as wrong:
                    self._report(setting, str(wrong))
        return checked

    def _report(self, setting: str, text: str) -> None:
        self.problems.append(self.problem(setting, text))


def key_lines(text: str) -> dict[str, int]:
    """The first line, counted from 1, of each table and key of a valid TOML text.

    tomllib does not report lines. Names are dotted, "profiles.prod.refresh". The keys of inline
    tables are left out.
    """
    import tomllib  # noqa: PLC0415 - as above

    lines: dict[str, int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(_STRING_OR_COMMENT.sub(_blank, text).split("\n"), 1):
        match = _KEY_LINE.match(line)
        if match is None:
            continue
        begins_table = match[1] is not None
        nested: Any = tomllib.loads(f"{match[1] or match[2]} = 0")
        path = () if begins_table else table
        while isinstance(nested, dict):
            ((name, nested),) = nested.items()
            path = (*path, name)
            lines.setdefault(".".join(path), number)
        if begins_table:
            table = path
    return lines


def _blank(match: re.Match[str]) -> str:
    """Replace a comment or a multi-line string by its line ends, so that no key is found in it.

    A string of one line is unchanged, because it can be a key.
    """
    can_hide_keys = match[0].startswith(('"""', "'''", "#"))
    return "\n" * match[0].count("\n") if can_hide_keys else match[0]
