"""The config file: one TOML file, read whole, checked whole, and never written.

profile = "prod"            the profile used when none is named
theme = "nord"

[profiles.prod]
base_url = "https://platform.example.com"
api_key_command = "pass show agentco/prod"   # or api_key_env, api_key_file, keyring = true
read_only = true
refresh = 5
ca_file = "~/ca.pem"

[profiles.prod.fields.agent_budget]          # a platform's own names, see docs/reading.md
spent = "usage.cost_cents"

[profiles.prod.money]
unit = "cents"
currency = "EUR"

[profiles.prod.status]
pending = ["needs_ok"]

[keys]
"tasks.approve" = "A"

[alerts]
warn_percent = 80
waiting_critical = "1h"

[approve]
hold = 2
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentco_tui.config import validators
from agentco_tui.config.problems import Problem, WrongError, nearest
from agentco_tui.config.rebinding import read_keys
from agentco_tui.config.settings import AlertLimits
from agentco_tui.model import TaskState
from agentco_tui.patterns import lazy_pattern
from agentco_tui.reading.mapping import ProfileMapping, field_names

Table = Mapping[str, Callable[[object], Any]]
"""Settings by name, each with what checks its value; see `validators`."""

KEY_SOURCES: Table = {
    "api_key_command": validators.command,
    "api_key_env": validators.variable,
    "api_key_file": validators.path,
    "keyring": validators.boolean,
}
"""Where a profile's key can come from; exactly one may be set."""

PROFILE: Table = {
    "base_url": validators.text,
    **KEY_SOURCES,
    "read_only": validators.boolean,
    "refresh": validators.refresh,
    "ca_file": validators.path,
    "allow_http": validators.boolean,
    "trust_env": validators.boolean,
    "company": validators.text,
    "screen": validators.screen,
    "theme": validators.theme,
}
ALERTS: Table = {
    "warn_percent": validators.percent,
    "critical_percent": validators.percent,
    "waiting_warning": validators.duration,
    "waiting_critical": validators.duration,
}
MONEY: Table = {"unit": validators.unit, "currency": validators.currency}
MAPPING = ("fields", "money", "status")
"""Tables of a profile that tell how its platform departs."""
APPROVE: Table = {"hold": validators.hold}
TOP: Table = {"profile": validators.text, "theme": validators.theme}
TABLES = ("profiles", "keys", "alerts", "approve")

MAX_BYTES = 1024 * 1024
_KEY_ITSELF = ("api_key", "apikey", "key", "token", "api_token", "secret")
_AT_LINE = re.compile(r"^(.*?) \(at (?:line (\d+), column \d+|end of document)\)$", re.DOTALL)
_STRINGS = r"""\"{3}(?:[^\\]|\\.)*?"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'"""
_SKIPPED = lazy_pattern(rf"{_STRINGS}|#[^\n]*", re.DOTALL)
_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_NAME = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_KEY_LINE = lazy_pattern(rf"[ \t]*(?:\[\[?[ \t]*({_NAME})[ \t]*\]|({_NAME})[ \t]*=)")


class ConfigFile:
    """What the config file says; values are checked, those that were wrong are left out.

    Whatever is wrong with it is in `problems`; nothing is raised. A file that does not exist is an
    empty one, unless it was asked for by name (`must_exist`).
    """

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.path = path
        self.exists = True
        self.readable = True
        """False if nothing is known of what it says; `problems` has the reason."""
        self.top: Mapping[str, Any] = {}
        self.profiles: Mapping[str, Mapping[str, Any]] = {}
        self.alerts: Mapping[str, Any] = {}
        self.approve: Mapping[str, Any] = {}
        self.keys: Mapping[str, str] = {}
        """Rebound keys by binding id."""
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
        """Something that is wrong with a setting, at its line or that of the table it is in.

        `setting` is dotted, "profiles.prod.refresh".
        """
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
        top = {name: value for name, value in data.items() if name not in TABLES}
        self.top = self._right("", top, TOP)
        self.profiles = {
            name: self._profile(f"profiles.{name}", value)
            for name, value in self._table(data, "profiles").items()
        }
        self.approve = self._right("approve", self._table(data, "approve"), APPROVE)
        self.alerts = self._right("alerts", self._table(data, "alerts"), ALERTS)
        alerts = AlertLimits(**self.alerts)
        for low, high in (
            ("warn_percent", "critical_percent"),
            ("waiting_warning", "waiting_critical"),
        ):
            if getattr(alerts, low) > getattr(alerts, high):
                written = low if low in self.alerts else high
                self._wrong(f"alerts.{written}", f"{low} must not be more than {high}")
        self.keys, wrong = read_keys(self._table(data, "keys"))
        for name, text in wrong:
            self._wrong(f"keys.{name}", text)

    def _profile(self, table: str, written: object) -> Mapping[str, Any]:
        if not isinstance(written, dict):
            self._wrong(table, f"must be a table, [{table}], is {validators.what(written)}")
            return {}
        name = table.removeprefix("profiles.")
        if not name.strip() or not name.isprintable():
            self._wrong(table, "is no name for a profile: use letters, digits, - and _")
        given = [key for key in written if key in KEY_SOURCES and written[key] is not False]
        for extra in given[1:]:
            self._wrong(
                f"{table}.{extra}",
                f"the key comes from exactly one place, and {given[0]} is set already:"
                " remove one of the two",
            )
        rest = {key: value for key, value in written.items() if key not in MAPPING}
        right = self._right(table, rest, PROFILE)
        if len(rest) < len(written):
            right["mapping"] = self._mapping(table, written)
        return right

    def _mapping(self, table: str, written: Mapping[str, Any]) -> ProfileMapping:
        """What the tables of a profile tell of its platform's names, units and words."""
        from agentco_tui.reading.kinds import mappable  # noqa: PLC0415 - few profiles have any

        below = {name: self._table(written, name, table) for name in MAPPING}
        fields: dict[str, Mapping[str, str]] = {}
        for kind in below["fields"]:
            known = mappable()
            if kind not in known:
                valid = nearest(kind, tuple(known))
                self._wrong(f"{table}.fields.{kind}", f"unknown kind (nearest valid name: {valid})")
            else:
                slots = dict.fromkeys(field_names(known[kind]), validators.dotted_name)
                told = self._table(below["fields"], kind, f"{table}.fields")
                fields[kind] = self._right(f"{table}.fields.{kind}", told, slots)
        money = self._right(f"{table}.money", below["money"], MONEY)
        states = dict.fromkeys((state.value for state in TaskState), validators.words)
        status = self._right(f"{table}.status", below["status"], states)
        return ProfileMapping(fields, status=status, **money)

    def _table(self, data: Mapping[str, Any], name: str, under: str = "") -> Mapping[str, Any]:
        value = data.get(name, {})
        if isinstance(value, dict):
            return value
        setting = f"{under}.{name}" if under else name
        self._wrong(setting, f"must be a table, is {validators.what(value)}")
        return {}

    def _right(self, table: str, written: Mapping[str, object], known: Table) -> dict[str, Any]:
        """The values of a table that are right."""
        right: dict[str, Any] = {}
        for name, value in written.items():
            setting = f"{table}.{name}" if table else name
            if name not in known:
                self._wrong(setting, _unknown(name, known))
                continue
            try:
                right[name] = known[name](value)
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


def _unknown(name: str, known: Table) -> str:
    if name in _KEY_ITSELF:
        return (
            "the key itself never stands in this file: use api_key_command, api_key_env,"
            " api_key_file or keyring = true"
        )
    if known is TOP:
        for table, names in (("profiles.NAME", PROFILE), ("alerts", ALERTS), ("approve", APPROVE)):
            if name in names:
                return f"unknown setting here: it belongs under [{table}]"
    valid = (*TOP, *TABLES) if known is TOP else tuple(known)
    valid += MAPPING if known is PROFILE else ()
    return f"unknown setting (nearest valid name: {nearest(name, valid)})"
