"""The config file: one TOML file, read whole, checked whole, and never written.

profile = "prod"            the profile used when none is named
theme = "nord"

[profiles.prod]
base_url = "https://platform.example.com"
api_key_command = "pass show agentco/prod"   # or api_key_env, api_key_file, keyring = true
read_only = true
refresh = 5
ca_file = "~/ca.pem"

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
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentco_tui.config import kinds
from agentco_tui.config.problems import Problem, WrongError, nearest
from agentco_tui.config.rebinding import read_keys
from agentco_tui.config.settings import AlertLimits

if TYPE_CHECKING:
    from agentco_tui.config.toml_lines import KeyPath

Kind = Callable[[object], Any]

KEY_SOURCES: Mapping[str, Kind] = {
    "api_key_command": kinds.command,
    "api_key_env": kinds.variable,
    "api_key_file": kinds.path,
    "keyring": kinds.boolean,
}
"""Where a profile's key can come from; exactly one may be set."""

PROFILE: Mapping[str, Kind] = {
    "base_url": kinds.text,
    **KEY_SOURCES,
    "read_only": kinds.boolean,
    "refresh": kinds.refresh,
    "ca_file": kinds.path,
    "allow_http": kinds.boolean,
    "trust_env": kinds.boolean,
    "company": kinds.text,
    "screen": kinds.screen,
    "theme": kinds.theme,
}
ALERTS: Mapping[str, Kind] = {
    "warn_percent": kinds.percent,
    "critical_percent": kinds.percent,
    "waiting_warning": kinds.duration,
    "waiting_critical": kinds.duration,
}
APPROVE: Mapping[str, Kind] = {"hold": kinds.hold}
TOP: Mapping[str, Kind] = {"profile": kinds.text, "theme": kinds.theme}
TABLES = ("profiles", "keys", "alerts", "approve")

_DEFAULT_ALERTS = AlertLimits()
_KEY_ITSELF = ("api_key", "apikey", "key", "token", "api_token", "secret")
MAX_BYTES = 1024 * 1024
_AT_LINE = re.compile(r"^(.*?) \(at (?:line (\d+), column \d+|end of document)\)$", re.DOTALL)


@dataclass(frozen=True)
class Found:
    """A setting's value, and the line it stands on."""

    value: Any
    line: int | None


@dataclass(frozen=True, kw_only=True)
class ConfigFile:
    """What the config file says; values are checked, those that were wrong are left out."""

    path: Path
    exists: bool = False
    readable: bool = True
    """False if nothing is known of what it says; `problems` has the reason."""
    top: Mapping[str, Found] = field(default_factory=dict)
    profiles: Mapping[str, Mapping[str, Found]] = field(default_factory=dict)
    profile_lines: Mapping[str, int | None] = field(default_factory=dict)
    alerts: Mapping[str, Found] = field(default_factory=dict)
    approve: Mapping[str, Found] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    key_lines: Mapping[str, int | None] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def read_file(path: Path, *, must_exist: bool = False) -> ConfigFile:
    """Read the config file; whatever is wrong with it is in `problems`, nothing is raised.

    A file that does not exist is an empty one, unless it was asked for by name (`must_exist`).
    """
    try:
        with path.open("rb") as opened:
            raw = opened.read(MAX_BYTES + 1)
    except FileNotFoundError:
        missing = (Problem(text="this config file does not exist", file=path),)
        return ConfigFile(
            path=path, readable=not must_exist, problems=missing if must_exist else ()
        )
    except IsADirectoryError:
        return _unreadable(path, "this is a folder; the config is a TOML file")
    except OSError as error:
        return _unreadable(path, f"cannot be read: {error.strerror or type(error).__name__}")
    if len(raw) > MAX_BYTES:
        return _unreadable(path, f"is larger than {MAX_BYTES // 1024} KiB: is it the right file?")
    try:
        written = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return _unreadable(path, "is not UTF-8 text here", line)
    # Most have no such file, and nobody should wait for what reads it.
    import tomllib  # noqa: PLC0415

    from agentco_tui.config.toml_lines import key_lines  # noqa: PLC0415

    try:
        return _Reader(path, tomllib.loads(written), key_lines(written)).file()
    except tomllib.TOMLDecodeError as error:
        return _unreadable(path, *_syntax(str(error), written))
    except (ValueError, RecursionError):
        return _unreadable(path, "is no TOML that can be read: a number or a nesting is too long")


def _unreadable(path: Path, text: str, line: int | None = None) -> ConfigFile:
    return ConfigFile(
        path=path, exists=True, readable=False, problems=(Problem(text=text, file=path, line=line),)
    )


def _syntax(message: str, written: str) -> tuple[str, int]:
    """Tomllib's message as (sentence, line); "end of document" is the last line with text."""
    found = _AT_LINE.match(message)
    last = written.rstrip().count("\n") + 1
    if not found:
        return f"is no valid TOML: {message}", last
    return f"is no valid TOML: {found[1]}", int(found[2]) if found[2] else last


class _Reader:
    """Takes a parsed file apart, and collects what is wrong on the way."""

    def __init__(self, path: Path, data: dict[str, Any], lines: Mapping[KeyPath, int]) -> None:
        self._path = path
        self._data = data
        self._lines = lines
        self._problems: list[Problem] = []

    def file(self) -> ConfigFile:
        """The whole file, checked."""
        top: dict[str, Found] = {}
        profiles: dict[str, Mapping[str, Found]] = {}
        for name, value in self._data.items():
            if name in TOP:
                self._take(top, TOP, (name,), value)
            elif name not in TABLES:
                self._unknown_top(name)
        for name, value in self._table(("profiles",)).items():
            profiles[name] = self._profile(name, value)
        alerts = self._alerts()
        approve: dict[str, Found] = {}
        for name, value in self._table(("approve",)).items():
            self._take(approve, APPROVE, ("approve", name), value)
        keys = read_keys(self._table(("keys",)))
        for wrong in keys.wrong:
            self._problem(wrong.text, ("keys", *wrong.path))
        ordered = sorted(self._problems, key=lambda problem: problem.line or 0)
        return ConfigFile(
            path=self._path,
            exists=True,
            top=top,
            profiles=profiles,
            profile_lines={name: self._lines.get(("profiles", name)) for name in profiles},
            alerts=alerts,
            approve=approve,
            keys=keys.keymap,
            key_lines={
                binding: self._lines.get(("keys", *path)) for binding, path in keys.paths.items()
            },
            problems=tuple(ordered),
        )

    def _profile(self, name: str, value: object) -> Mapping[str, Found]:
        path = ("profiles", name)
        if not isinstance(value, dict):
            self._problem(f"must be a table, [profiles.{name}], is {kinds.what(value)}", path)
            return {}
        if not name.strip() or not name.isprintable():
            self._problem("is no name for a profile: use letters, digits, - and _", path)
        settings: dict[str, Found] = {}
        for key, item in value.items():
            self._take(settings, PROFILE, (*path, key), item)
        self._one_key_source(path, value)
        return settings

    def _one_key_source(self, path: KeyPath, written: Mapping[str, object]) -> None:
        given = [key for key in written if key in KEY_SOURCES and written[key] is not False]
        for extra in given[1:]:
            self._problem(
                f"the key comes from exactly one place, and {given[0]} is set already:"
                " remove one of the two",
                (*path, extra),
            )

    def _alerts(self) -> Mapping[str, Found]:
        alerts: dict[str, Found] = {}
        for name, value in self._table(("alerts",)).items():
            self._take(alerts, ALERTS, ("alerts", name), value)
        for low, high in (
            ("warn_percent", "critical_percent"),
            ("waiting_warning", "waiting_critical"),
        ):
            values = [
                alerts[name].value if name in alerts else getattr(_DEFAULT_ALERTS, name)
                for name in (low, high)
            ]
            if values[0] > values[1]:
                written = low if low in alerts else high
                self._problem(f"{low} must not be more than {high}", ("alerts", written))
        return alerts

    def _table(self, path: KeyPath) -> Mapping[str, Any]:
        value = self._data.get(path[0], {})
        if isinstance(value, dict):
            return value
        self._problem(f"must be a table, is {kinds.what(value)}", path)
        return {}

    def _take(
        self, into: dict[str, Found], kinds_: Mapping[str, Kind], path: KeyPath, value: object
    ) -> None:
        name = path[-1]
        kind = kinds_.get(name)
        if kind is None and name in _KEY_ITSELF:
            self._problem(
                "the key itself never stands in this file: use api_key_command, api_key_env,"
                " api_key_file or keyring = true",
                path,
            )
            return
        if kind is None:
            self._problem(
                f"unknown setting (nearest valid name: {nearest(name, tuple(kinds_))})", path
            )
            return
        try:
            into[name] = Found(kind(value), self._lines.get(path))
        except WrongError as wrong:
            self._problem(str(wrong), path)

    def _unknown_top(self, name: str) -> None:
        for table, known in (("profiles.NAME", PROFILE), ("alerts", ALERTS), ("approve", APPROVE)):
            if name in known:
                self._problem(f"unknown setting here: it belongs under [{table}]", (name,))
                return
        names = (*TOP, *TABLES)
        self._problem(f"unknown setting (nearest valid name: {nearest(name, names)})", (name,))

    def _problem(self, text: str, path: KeyPath) -> None:
        line = next(
            (
                self._lines[path[:length]]
                for length in range(len(path), 0, -1)
                if path[:length] in self._lines
            ),
            None,
        )
        setting = ".".join(path)
        self._problems.append(Problem(text=text, setting=setting, file=self._path, line=line))
