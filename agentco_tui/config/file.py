"""Reads the config file, and checks it against the declarations in `config/settings.py`.

A profile, `[profiles.NAME]`, describes one platform (a remote service that runs companies of AI
agents). If that has other names for fields or states than the usual ones, the profile maps its
names to ours; the result is a `ProfileMapping`, with which its answers are read. In these tables
the word `NULL` says which state a status of null means. `[views.NAME]` (`ViewSettings`) are lists
with a saved filter, and `[commands.NAME]` (`OwnCommand`) are the user's own programs. A `Table` is
a mapping of names to checks, in which `EACH` stands for any name that the user chooses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from agentco_tui.config import validators
from agentco_tui.config.declaration import EACH, DeclaredSetting, Table, checks_of, table_parts
from agentco_tui.config.key_bindings import read_keys
from agentco_tui.config.settings import DECLARED, AlertLimits, KeySources, OwnCommand, ViewSettings
from agentco_tui.config.theme_file import ThemeFile, themes_beside
from agentco_tui.config.toml_file import TomlFile
from agentco_tui.config.validators import WrongError
from agentco_tui.reading.mapping import NULL, DeclaredMapping, ProfileMapping, field_names
from agentco_tui.reading.values.status_word import snake_case

R = TypeVar("R", ViewSettings, OwnCommand)

KEY_SOURCES: tuple[str, ...] = KeySources.__struct_fields__
"""Settings of a profile that say where its API key comes from; at most one may be set."""
_ORDERED_LIMITS = (
    ("warn_percent", "critical_percent"),
    ("waiting_warning", "waiting_critical"),
    ("forecast_off", "forecast_on"),
)
"""Pairs of settings of `[alerts]` of which the first must not be greater than the second."""
_NAMES_OF_THE_KEY = ("api_key", "apikey", "key", "token", "api_token", "secret")
"""Names under which users write the API key into the file, which is refused."""


class ConfigFile(TomlFile):
    """The settings of the config file, checked and converted; wrong values are left out."""

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.mappings: dict[str, ProfileMapping] = {}
        """The mapping of each profile that has one."""
        self.views: tuple[ViewSettings, ...] = ()
        self.commands: tuple[OwnCommand, ...] = ()
        self.keys: dict[str, str] = {}
        """The rebound keys by binding id."""
        self.themes = {
            theme.stem: ThemeFile(theme, must_exist=True) for theme in themes_beside(path)
        }
        """The theme files of the user by name, including those with mistakes."""
        super().__init__(path, must_exist=must_exist)

    @property
    def profiles(self) -> Mapping[str, dict[str, Any]]:
        """The settings of each profile by name, in the order of the file."""
        profiles: dict[str, dict[str, Any]] = self.checked.get("profiles", {})
        return profiles

    def theme(self, value: object) -> str:
        """Check the name of a theme, which may be that of a theme file. Raises WrongError."""
        name = validators.text(value)
        theme_file = self.themes.get(name)
        if theme_file is None:
            return validators.theme_among((*validators.THEMES, *self.themes))(name)
        if theme_file.problems:
            raise WrongError(f"cannot be used: {theme_file.problems[0]}")
        return name

    def settings_of(self, declared: DeclaredSetting, profile: str) -> Iterator[tuple[str, Any]]:
        """Yield each value of a setting in the file with its full name, "profiles.prod.refresh".

        The last one counts.
        """
        for table in declared.tables:
            parts = [profile if part == EACH else part for part in table_parts(table)]
            values: Any = self.checked
            for part in parts:
                values = values.get(part, {})
            if declared.name in values:
                yield ".".join([*parts, declared.name]), values[declared.name]

    def _check(self, data: Mapping[str, Any]) -> None:
        self.checked = self._checked_table("", data, self._checks(data))
        for name, entry in self.profiles.items():
            self._check_key_sources(name, data["profiles"][name])
            mapped = self._mapped(f"profiles.{name}", entry)
            if mapped != DeclaredMapping():
                self.mappings[name] = ProfileMapping(mapped)
        self._check_limits(self.checked.get("alerts", {}))
        self.views = self._records("views", ViewSettings)
        self._read_keys(self._records("commands", OwnCommand))

    def _checks(self, data: Mapping[str, Any]) -> Table:
        """The checks of the file, with the user's themes and the fields that can be mapped."""
        table = checks_of(DECLARED)
        profile_table = {**table["profiles"][EACH], "theme": self.theme}
        if _maps_fields(data.get("profiles")):
            # Imported late, because few profiles map fields, and these are many modules.
            from agentco_tui.reading.kinds import mappable_kinds  # noqa: PLC0415

            # For each kind of record (task, agent, …): the names of its fields, with a check each.
            profile_table["fields"] = {
                kind: dict.fromkeys(field_names(slots), validators.field_path)
                for kind, slots in mappable_kinds().items()
            }
        return {**table, "theme": self.theme, "profiles": {EACH: profile_table}}

    def _check_key_sources(self, profile: str, written: object) -> None:
        """Report the second and every further source of a profile's API key."""
        if not isinstance(written, dict):
            return
        sources = [name for name in written if name in KEY_SOURCES and written[name] is not False]
        for surplus in sources[1:]:
            self._report(
                f"profiles.{profile}.{surplus}",
                f"the key comes from exactly one source, and {sources[0]} is set already:"
                " remove one of the two",
            )

    def _check_limits(self, written: Mapping[str, Any]) -> None:
        """Report pairs of limits in the wrong order, such as a warning above the critical level."""
        limits = AlertLimits(**written)
        for low, high in _ORDERED_LIMITS:
            if getattr(limits, low) > getattr(limits, high):
                setting = low if low in written else high
                self._report(f"alerts.{setting}", f"{low} must not be more than {high}")

    def _read_keys(self, own: tuple[OwnCommand, ...]) -> None:
        """Set the rebound keys, and the user's commands (`[commands.NAME]`) with their keys."""
        keys, mistakes = read_keys(self.checked.get("keys", {}), own)
        self.commands = tuple(
            replace(command, key=keys.pop(command.command.id, "")) for command in own
        )
        self.keys = keys
        for setting, text in mistakes:
            self._report(setting, text)

    def _mapped(self, table: str, entry: Mapping[str, Any]) -> DeclaredMapping:
        """Return the field names and words that a profile maps; report words with two meanings."""
        status = dict(entry.get("status", {}))
        agent_words = dict(status.pop("agent", {}))
        alert_words = dict(status.pop("alert", {}))
        task_words = dict(status.pop("task", {}))
        # Words of tasks are written in `status.task`, or in `status` itself.
        task_table = f"{table}.status.task" if task_words else f"{table}.status"
        for state, words in status.items():
            both = words if state == NULL else (*task_words.get(state, ()), *words)
            task_words[state] = both
        null_status: dict[str, str] = {}
        for kind, kind_table, words_by_state in (
            ("task", task_table, task_words),
            ("agent", f"{table}.status.agent", agent_words),
            ("alert", f"{table}.status.alert", alert_words),
        ):
            if NULL in words_by_state:
                null_status[kind] = words_by_state.pop(NULL)
            self._report_ambiguous_words(kind_table, words_by_state)
        severity = entry.get("severity", {})
        self._report_ambiguous_words(f"{table}.severity", severity)
        return DeclaredMapping(
            entry.get("fields", {}),
            **entry.get("money", {}),
            status=task_words,
            agent_status=agent_words,
            alert_status=alert_words,
            severity=severity,
            null_status=null_status,
        )

    def _report_ambiguous_words(
        self, table: str, words_by_state: Mapping[str, tuple[str, ...]]
    ) -> None:
        """Report words that a table has for two states."""
        state_by_word: dict[str, str] = {}
        for state, words in words_by_state.items():
            for word in words:
                first_state = state_by_word.setdefault(snake_case(word), state)
                if first_state != state:
                    self._report(f"{table}.{state}", f'"{word}" means {first_state} already')

    def _records(self, table: str, record: type[R]) -> tuple[R, ...]:
        """Return a record for each entry of a table; report missing required settings."""
        required = [
            field.encode_name
            for field in msgspec.structs.fields(record)
            if field.required and field.name != "name"
        ]
        records = []
        for name, entry in self.checked.get(table, {}).items():
            missing = [setting for setting in required if setting not in entry]
            prefix = f"{table}.{name}."
            is_reported = any((each.setting or "").startswith(prefix) for each in self.problems)
            if not missing:
                records.append(record(name=name, **entry))
            elif not is_reported:
                self._report(f"{table}.{name}", f"needs {' and '.join(missing)}")
        return tuple(records)

    def _unknown_setting(self, name: str, table: Table) -> str:
        if name in _NAMES_OF_THE_KEY:
            return (
                "the key itself must not be in this file: use api_key_command, api_key_env,"
                " api_key_file or keyring = true"
            )
        is_top = "profiles" in table
        if is_top:
            for declared in DECLARED:
                if declared.name == name and declared.tables:
                    return f"unknown setting here: it belongs under [{declared.tables[-1]}]"
        return super()._unknown_setting(name, table)


def _maps_fields(profiles: object) -> bool:
    """Whether a profile has a table `fields`; `profiles` is unchecked."""
    if not isinstance(profiles, dict):
        return False
    return any(isinstance(entry, dict) and "fields" in entry for entry in profiles.values())
