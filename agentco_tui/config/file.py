"""The config file, and those of a person's own themes beside it (`themes/NAME.toml`).

`SETTINGS` and `THEME` are all that they may say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from agentco_tui.config import OwnCommand, ViewSettings, validators
from agentco_tui.config.toml_file import EACH, Table, TomlFile
from agentco_tui.config.validators import WrongError, nearest
from agentco_tui.keys.commands import (
    COMMANDS,
    COMMANDS_BY_ID,
    LEAVING_KEYS,
    RESERVED_KEYS,
    UNBOUND,
    Command,
)
from agentco_tui.keys.key_names import KNOWN_NAMES, MODIFIERS, key_names
from agentco_tui.model import AgentState, AlertLimits, Severity, TaskState
from agentco_tui.reading.mapping import NULL, OPEN, Mapped, ProfileMapping, field_names
from agentco_tui.reading.values.status_word import fold_word

T = TypeVar("T", ViewSettings, OwnCommand)

KEY_SOURCES: Table = {
    "api_key_command": validators.command,
    "api_key_env": validators.variable,
    "api_key_file": validators.path,
    "keyring": validators.boolean,
}
"""Where a profile's key can come from; exactly one may be set."""
TASK_STATUS: Table = validators.status_words("tasks", [state.value for state in TaskState])
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
    "history": validators.boolean,
    "label": validators.text,
    "colour": validators.colour,
    "danger": validators.boolean,
    "protected": validators.boolean,
    "web_url": validators.web_url,
    "fields": {},  # by kind, see `_settings`
    "money": {"unit": validators.unit, "currency": validators.currency},
    "status": {
        **TASK_STATUS,
        "task": TASK_STATUS,
        "agent": validators.status_words("agents", [state.value for state in AgentState]),
        "alert": validators.status_words("alerts", OPEN),
    },
    "severity": dict.fromkeys(
        (level.value for level in Severity if level is not Severity.UNKNOWN), validators.words
    ),
}
ALERTS: Table = {
    "warn_percent": validators.percent,
    "critical_percent": validators.percent,
    "waiting_warning": validators.duration,
    "waiting_critical": validators.duration,
    "burn_1h": validators.factor,
    "burn_6h": validators.factor,
    "burn_24h": validators.factor,
    "runaway": validators.factor,
    "forecast_on": validators.chance,
    "forecast_off": validators.chance,
}
NOTIFY: Table = {
    "bell": validators.boolean,
    "desktop": validators.boolean,
    "title": validators.boolean,
    "priority": validators.priority,
    "outage": validators.duration,
    "quiet": validators.quiet_hours,
    "on_critical": validators.arguments,
}
VIEW: Table = {
    "screen": validators.screen,
    "filter": validators.text,
    "sort": validators.text,
    "columns": validators.words,
}
COMMAND: Table = {
    "key": validators.text,
    "scope": validators.kinds,
    "run": validators.arguments,
    "confirm": validators.boolean,
    "writes": validators.boolean,
    "background": validators.boolean,
}
SETTINGS: Table = {
    "profile": validators.text,
    "theme": validators.theme,
    "history": validators.boolean,
    "history_mb": validators.megabytes,
    "profiles": {EACH: PROFILE},
    "keys": {EACH: lambda value: value},  # see `read_keys`
    "alerts": ALERTS,
    "approve": {"hold": validators.hold},
    "list": {"advance": validators.boolean},
    "notify": NOTIFY,
    "views": {EACH: VIEW},
    "commands": {EACH: COMMAND},
}

ROLES = (
    *("background", "surface", "panel", "text", "muted", "faint", "accent"),
    *("good", "warning", "critical", "cursor", "cursor_text", "blurred"),
)
THEME: Table = {**dict.fromkeys(ROLES, validators.hex_colour), "dark": validators.boolean}

SECTIONS = tuple(
    name for name, table in SETTINGS.items() if isinstance(table, Mapping) and EACH not in table
)
"""The tables that are of no profile, and whose names are those of settings."""
_KEY_ITSELF = ("api_key", "apikey", "key", "token", "api_token", "secret")


class ThemeFile(TomlFile):
    """What a theme's file says; it can be used if nothing is in `problems`."""

    def _check(self, data: Mapping[str, Any]) -> None:
        self.colours = self._right("", data, THEME)  # and whether it is `dark`
        if missing := [role for role in ROLES if role not in data]:
            self._unreadable(f"needs {', '.join(missing)}")


class ConfigFile(TomlFile):
    """What the config file says; values are checked, those that were wrong are left out."""

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.top: Mapping[str, Any] = {}
        self.profiles: Mapping[str, dict[str, Any]] = {}
        self.tables: Mapping[str, Mapping[str, Any]] = {table: {} for table in SECTIONS}
        self.views: tuple[ViewSettings, ...] = ()
        self.commands: tuple[OwnCommand, ...] = ()
        self.keys: dict[str, str] = {}  # rebound keys by binding id
        files = sorted(path.parent.glob("themes/*.toml"))
        self.themes = {each.stem: ThemeFile(each, must_exist=True) for each in files}
        super().__init__(path, must_exist=must_exist)

    def theme(self, value: object) -> str:
        """The name of a theme, also of one that has a file. Raises WrongError."""
        name = validators.text(value)
        if (own := self.themes.get(name)) is None:
            return validators.theme(name, names=(*validators.THEMES, *self.themes))
        if own.problems:
            raise WrongError(f"cannot be used: {own.problems[0]}")
        return name

    def _check(self, data: Mapping[str, Any]) -> None:
        right = self._right("", data, self._settings(data))
        self.profiles = right.pop("profiles", {})
        for name, entry in self.profiles.items():
            table, written = f"profiles.{name}", data["profiles"][name]
            told = written if isinstance(written, dict) else {}
            given = [key for key in told if key in KEY_SOURCES and told[key] is not False]
            for extra in given[1:]:
                self._wrong(
                    f"{table}.{extra}",
                    f"the key comes from exactly one place, and {given[0]} is set already:"
                    " remove one of the two",
                )
            mapped = self._mapped(table, entry)
            if mapped != Mapped():
                entry["mapping"] = ProfileMapping(mapped)
        self.tables = {table: right.pop(table, {}) for table in SECTIONS}
        self.views = self._named("views", right, ViewSettings, "screen")
        alerts = AlertLimits(**self.tables["alerts"])
        for low, high in (
            ("warn_percent", "critical_percent"),
            ("waiting_warning", "waiting_critical"),
            ("forecast_off", "forecast_on"),
        ):
            if getattr(alerts, low) > getattr(alerts, high):
                self._wrong(
                    f"alerts.{low if low in self.tables['alerts'] else high}",
                    f"{low} must not be more than {high}",
                )
        own = self._named("commands", right, OwnCommand, "run", "scope")
        self.keys, wrong = read_keys(right.pop("keys", {}), own)
        keys = [self.keys.pop(each.command.id, "") for each in own]
        self.commands = tuple(replace(each, key=key) for each, key in zip(own, keys, strict=True))
        for setting, text in wrong:
            self._wrong(setting, text)
        self.top = right

    def _mapped(self, table: str, entry: dict[str, Any]) -> Mapped:
        """What a profile's entry says of its platform's names and words, taken out of the entry."""
        status = entry.pop("status", {})
        of_agents = status.pop("agent", {})
        of_alerts = status.pop("alert", {})
        of_tasks: dict[str, Any] = status.pop("task", {})
        task_table = f"{table}.status.task" if of_tasks else f"{table}.status"
        for state, words in status.items():
            both = (*of_tasks.get(state, ()), *words)
            of_tasks[state] = words if state == NULL else both
        severity = entry.pop("severity", {})
        null_status: dict[str, str] = {}
        of_kinds = {"task": of_tasks, "agent": of_agents, "alert": of_alerts}
        for kind, words_by_state in of_kinds.items():
            if NULL in words_by_state:
                null_status[kind] = words_by_state.pop(NULL)
            written = task_table if kind == "task" else f"{table}.status.{kind}"
            self._one_meaning(written, words_by_state)
        self._one_meaning(f"{table}.severity", severity)
        return Mapped(
            entry.pop("fields", {}),
            **entry.pop("money", {}),
            status=of_tasks,
            agent_status=of_agents,
            alert_status=of_alerts,
            severity=severity,
            null_status=null_status,
        )

    def _one_meaning(self, table: str, words_by_state: Mapping[str, Any]) -> None:
        """Report words that are written for two states of one table."""
        state_of: dict[str, str] = {}
        for state, words in words_by_state.items():
            for word in words if state != NULL else ():
                other = state_of.setdefault(fold_word(word), state)
                if other != state:
                    self._wrong(f"{table}.{state}", f'"{word}" means {other} already')

    def _named(
        self, table: str, right: dict[str, Any], kind: type[T], *needed: str
    ) -> tuple[T, ...]:
        """Of each entry of a table a record with its name, where it has what is needed."""
        found = []
        for name, entry in right.pop(table, {}).items():
            missing = [each for each in needed if each not in entry]
            if not missing:
                found.append(kind(name=name, **entry))
            elif not any((p.setting or "").startswith(f"{table}.{name}.") for p in self.problems):
                self._wrong(f"{table}.{name}", f"needs {' and '.join(missing)}")
        return tuple(found)

    def _unknown(self, name: str, known: Table) -> str:
        if name in _KEY_ITSELF:
            return (
                "the key itself never stands in this file: use api_key_command, api_key_env,"
                " api_key_file or keyring = true"
            )
        if "profiles" in known:
            tables = {"profiles.NAME": PROFILE, **{table: known[table] for table in known}}
            for table, names in tables.items():
                if isinstance(names, Mapping) and name in names:
                    return f"unknown setting here: it belongs under [{table}]"
        return super()._unknown(name, known)

    def _settings(self, data: Mapping[str, Any]) -> Table:
        """All that the file may say, with the fields of each kind if it speaks of any."""
        profiles, profile = data.get("profiles", {}), {**PROFILE, "theme": self.theme}
        entries = profiles.values() if isinstance(profiles, dict) else ()
        if any(isinstance(entry, dict) and "fields" in entry for entry in entries):
            from agentco_tui.reading.kinds import mappable  # noqa: PLC0415 - few profiles have any

            profile["fields"] = {
                kind: dict.fromkeys(field_names(slots), validators.field_path)
                for kind, slots in mappable().items()
            }
        return {**SETTINGS, "theme": self.theme, "profiles": {EACH: profile}}


def read_keys(
    table: Mapping[str, object], own: Sequence[OwnCommand] = ()
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The table `[keys]`, and the keys of a person's own commands, as (command's id to Textual's
    key names, what is wrong by setting).

    Names are parted by commas, or `UNBOUND`. Refuses unknown ids, words that are no key, keys that
    terminals' own programs use, two things on one key in the same place, and a program that no key
    can leave. `tasks.approve = "A"` without quotes round the id is a table within a table in TOML;
    both are taken.
    """
    keymap: dict[str, str] = {}
    wrong: list[tuple[str, str]] = []
    written = [(f"keys.{name}", COMMANDS_BY_ID.get(name), value) for name, value in _entries(table)]
    written += [(f"{each.command.id}.key", each.command, each.key) for each in own]
    commands = (*COMMANDS, *(each.command for each in own))
    for setting, binding, value in written:
        if binding is None:
            name = setting.removeprefix("keys.")
            near = nearest(name, tuple(known.id for known in COMMANDS if not known.fixed))
            wrong.append((setting, f"unknown key binding (nearest valid name: {near})"))
            continue
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            told = f'must be keys in quotes, such as "j,down", is {validators.what(value)}'
            wrong.append((setting, told))
            continue
        names, reasons = _keys_of([str(text) for text in texts], binding)
        wrong += [(setting, reason) for reason in reasons]
        if not reasons:
            keymap[binding.id] = ",".join(names) if names else UNBOUND
    settings = {binding.id: setting for setting, binding, _ in written if binding is not None}
    for number, first in enumerate(commands):
        for second in commands[number + 1 :]:
            rebound, other = (second, first) if second.id in keymap else (first, second)
            if rebound.id not in keymap or not first.places & second.places:
                continue
            if second.over == first.id or first.over == second.id:
                continue
            theirs = keymap.get(other.id, other.keys).split(",")
            for key in keymap[rebound.id].split(","):
                if key in theirs and key != UNBOUND:
                    text = f"the key {key} is taken by {other.id} in the same place"
                    wrong.append((settings[rebound.id], text))
    return keymap, wrong


def nearest_key(word: str) -> str:
    """The key that was probably meant: "ctrl+x" for "cntrl+x", "pagedown" for "pgdwn"."""
    *modifiers, base = word.split("+")
    near = [nearest(modifier, MODIFIERS) for modifier in modifiers]
    return "+".join((*near, base if len(base) == 1 else nearest(base, KNOWN_NAMES)))


def _entries(table: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _entries(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _keys_of(texts: list[str], binding: Command) -> tuple[list[str], list[str]]:
    if binding.fixed:
        return [], [f"cannot be changed: {binding.keys} in every dialog"]
    names: list[str] = []
    reasons: list[str] = []
    for text in texts:
        found, unknown = key_names(text)
        names += [name for name in found if name not in names]
        reasons += [
            f'"{word[:40]}" is no key (nearest valid name: {nearest_key(word)})' for word in unknown
        ]
    reasons += [
        f"{name} belongs to the terminal's own programs (tmux, screen, vim, the shell):"
        " choose another key"
        for name in names
        if name in RESERVED_KEYS
    ]
    reasons += [
        f"{name} always leaves what is open: choose another key"
        for name in names
        if name in LEAVING_KEYS and binding.id != "app.quit"
    ]
    if binding.id == "app.quit" and not names and not reasons:
        reasons.append("must have a key: there would be no key to leave the program")
    return names, reasons
