"""A TOML file of settings: read whole, checked whole by a table, and never written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentco_tui.config import Problem, validators
from agentco_tui.config.validators import WrongError, nearest
from agentco_tui.text.patterns import lazy_pattern

Table = Mapping[str, Any]
"""Settings by name, each with what checks its value (see `validators`), or with another table."""

EACH = "NAME"  # stands in a table for any name

MAX_BYTES = 1024 * 1024
_AT_LINE = re.compile(r"^(.*?) \(at (?:line (\d+), column \d+|end of document)\)$", re.DOTALL)
_STRINGS = r"""\"{3}(?:[^\\]|\\.)*?"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'"""
_SKIPPED = lazy_pattern(rf"{_STRINGS}|#[^\n]*", re.DOTALL)
_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_NAME = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_KEY_LINE = lazy_pattern(rf"[ \t]*(?:\[\[?[ \t]*({_NAME})[ \t]*\]|({_NAME})[ \t]*=)")


class TomlFile:
    """A file, and what is wrong with it, in `problems`; nothing is raised. One that does not exist
    is an empty one, unless it was asked for by name (`must_exist`).
    """

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.path = path
        self.exists = True
        self.readable = True
        """False if nothing is known of what it says; `problems` has the reason."""
        self.problems: list[Problem] = []
        self._lines: Mapping[str, int] = {}
        try:
            self._read()
        except FileNotFoundError:
            self.exists = False
            if must_exist:
                self._unreadable("this config file does not exist")
        except IsADirectoryError:
            self._unreadable("this is a folder; the config is a TOML file")
        except OSError as error:
            self._unreadable(f"cannot be read: {error.strerror or type(error).__name__}")
        self.problems.sort(key=lambda problem: problem.line or 0)

    def problem(self, setting: str, text: str) -> Problem:
        """Something that is wrong with a setting, at its line or that of the table it is in."""
        known = setting
        while known and known not in self._lines:
            known = known.rpartition(".")[0]
        return Problem(text=text, setting=setting, file=self.path, line=self._lines.get(known))

    def _unreadable(self, text: str, line: int | None = None) -> None:
        self.readable = False
        self.problems.append(Problem(text=text, file=self.path, line=line))

    def _read(self) -> None:
        with self.path.open("rb") as opened:
            raw = opened.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            return self._unreadable(
                f"is larger than {MAX_BYTES // 1024} KiB: is it the right file?"
            )
        # Most have no such file, and nobody should wait for what reads it.
        import tomllib  # noqa: PLC0415

        try:
            written = raw.decode("utf-8-sig")
            data = tomllib.loads(written)
        except UnicodeDecodeError as error:
            self._unreadable("is not UTF-8 text here", raw.count(b"\n", 0, error.start) + 1)
        except tomllib.TOMLDecodeError as error:
            found = _AT_LINE.match(str(error))
            at = found[2] if found else None
            line = int(at) if at else written.rstrip().count("\n") + 1
            self._unreadable(f"is no valid TOML: {found[1] if found else error}", line)
        except (ValueError, RecursionError):
            self._unreadable("is no TOML that can be read: a number or a nesting is too long")
        else:
            self._lines = key_lines(written)
            self._check(data)

    def _check(self, data: Mapping[str, Any]) -> None:
        """Keep what is right of a file that could be read."""
        raise NotImplementedError

    def _unknown(self, name: str, known: Table) -> str:
        return f"unknown setting (nearest valid name: {nearest(name, tuple(known))})"

    def _right(self, table: str, written: object, known: Table) -> dict[str, Any]:
        if not isinstance(written, dict):
            self._wrong(table, f"must be a table, [{table}], is {validators.what(written)}")
            return {}
        right: dict[str, Any] = {}
        for name, value in written.items():
            setting = f"{table}.{name}" if table else name
            rule = known.get(name, known.get(EACH))
            if rule is None:
                self._wrong(setting, self._unknown(name, known))
            elif EACH in known and not (name.strip() and name.isprintable()):
                self._wrong(setting, "is no name: use letters, digits, - and _")
            elif isinstance(rule, Mapping):
                right[name] = self._right(setting, value, rule)
            else:
                try:
                    right[name] = rule(value)
                except WrongError as wrong:
                    self._wrong(setting, str(wrong))
        return right

    def _wrong(self, setting: str, text: str) -> None:
        self.problems.append(self.problem(setting, text))


def key_lines(text: str) -> dict[str, int]:
    """The line, from 1, at which each table and key of a valid TOML text is first written.

    tomllib does not tell it. Names are dotted from the top, "profiles.prod.refresh". What stands
    inside inline tables has no line of its own.
    """
    import tomllib  # noqa: PLC0415 - as above

    def without(found: re.Match[str]) -> str:
        many = found[0].startswith(('"""', "'''", "#"))
        return "\n" * found[0].count("\n") if many else found[0]

    lines: dict[str, int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(_SKIPPED.sub(without, text).split("\n"), 1):
        if not (found := _KEY_LINE.match(line)):
            continue
        inner: Any = tomllib.loads(f"{found[1] or found[2]} = 0")
        path: tuple[str, ...] = () if found[1] else table
        while isinstance(inner, dict):
            ((name, inner),) = inner.items()
            path = (*path, name)
            lines.setdefault(".".join(path), number)
        table = path if found[1] else table
    return lines
