"""Finds the effective settings.

A flag overrides the environment, which overrides the profile in the config file, which overrides
the top of the file, which overrides the default. `load` returns the settings of a command;
`Resolver` also has the source of each, and every mistake, for `config show` and `config check`.

A profile describes one platform, that is, one service that the dashboard can show. The dashboard
can switch between profiles while it runs; some flags and variables then apply only to the first.
`DECLARED` has the declarations of all settings, `EACH` stands for a name chosen by the user, and
`AS_SENT` is the mapping of field names of a platform that uses the usual ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec
import platformdirs
from msgspec.structs import replace

from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError
from agentco_tui.config import (
    DEFAULT_PROFILE,
    Arguments,
    NothingSetError,
    Problem,
    Settings,
    SettingsError,
)
from agentco_tui.config.api_key import API_KEY, NO_KEY, KeyLocation
from agentco_tui.config.declaration import EACH, DeclaredSetting, TakesEffect
from agentco_tui.config.file import KEY_SOURCES, ConfigFile
from agentco_tui.config.settings import DECLARED
from agentco_tui.config.validators import WrongError, nearest
from agentco_tui.reading.mapping import AS_SENT

CONFIG: Final = "AGENTCO_CONFIG"
"""The environment variable that names the config file."""
VARIABLES: Mapping[str, str] = {
    declared.name: declared.setting.variable for declared in DECLARED if declared.setting.variable
}
"""The environment variable of each setting that has one; an empty variable counts as not set."""
_VARIABLES_OF_START = frozenset(
    {API_KEY, VARIABLES["base_url"], VARIABLES["profile"], VARIABLES["platform"]}
)
"""Variables that apply only to the profile that the program started with."""
_FLAGS_OF_START = {*VARIABLES, "company", "screen"} - {"read_only"}
"""Flags that apply only to the profile that the program started with."""
_SETTINGS_BY_NAME = {declared.name: declared for declared in DECLARED if declared.group is None}
"""The settings that are fields of `Settings` themselves."""
_RECORDS: Mapping[str, type[msgspec.Struct]] = {
    declared.field: declared.group.record
    for declared in DECLARED
    if declared.group is not None and EACH not in declared.group.table
}
"""The fields of `Settings` that are a record of several settings, with the type of the record."""
_RESOLVED_FIRST = ("profile", "base_url")
"""Settings that `Resolver` finds before all others, because those depend on them."""


def load(arguments: Arguments, env: Mapping[str, str], *, with_key: bool = True) -> Settings:
    """Return the effective settings; without the key if `with_key` is false.

    Raises SettingsError with all problems, and NothingSetError if the user has set nothing yet.
    """
    resolved = Resolver(arguments, env)
    base_url = resolved.base_url
    key_location = resolved.key_location
    key = None
    if with_key and not (resolved.problems or resolved.missing):
        key = resolved.fetch_key()
    if resolved.problems or base_url is None or key_location is None:
        raise resolved.error()
    return Settings(
        profile=resolved.profile,
        base_url=base_url,
        key=key,
        key_source=key_location.description,
        key_location=key_location,
        **resolved.values,
    )


def of_profile(
    profile: str, first: str, arguments: Arguments, env: Mapping[str, str]
) -> tuple[Arguments, Mapping[str, str]]:
    """Return the arguments of `load` for a profile of the config file.

    Flags and variables that name a platform apply only to `first`, the profile of the start.
    """
    is_other = profile != first
    for_profile = dict(arguments)
    if is_other:
        for name in _FLAGS_OF_START:
            for_profile.pop(name, None)
    if profile != DEFAULT_PROFILE:
        for_profile["profile"] = profile
    return {**for_profile, "first": first, "is_other": is_other}, env


def load_any(arguments: Arguments, env: Mapping[str, str]) -> Settings:
    """Return the settings as `load` does, or those of the first profile that can be used."""
    try:
        return load(arguments, env)
    except SettingsError:
        for name in Resolver(arguments, env, with_profile=False).file.profiles:
            with suppress(SettingsError):
                return load(*of_profile(name, "", arguments, env))
        raise


def reread(
    now: Settings, arguments: Arguments, env: Mapping[str, str]
) -> tuple[Settings, list[str]]:
    """Read the files again, for a running dashboard with the settings `now`.

    Returns the new settings, and the names of changed settings that take effect only at the next
    start, and so are unchanged in them. No key is read. Raises SettingsError.
    """
    resolved = Resolver(arguments, env, with_profile=now.key_location is not None)
    if resolved.problems or resolved.missing:
        raise resolved.error()
    read = dict(resolved.values)
    if now.key_location is not None:
        read["base_url"] = resolved.base_url
        read["key_location"] = resolved.key_location
    postponed: dict[str, None] = {}
    for declared in DECLARED:
        field = declared.field
        group = declared.group
        if field not in read:
            continue
        value_now = getattr(now, field)
        value_read = read[field]
        if field in _RECORDS:
            # Each setting of a record is kept or replaced separately.
            setting_now = getattr(value_now, declared.name)
            if _waits_for_start(declared, setting_now, getattr(value_read, declared.name)):
                read[field] = replace(value_read, **{declared.name: setting_now})
                postponed[declared.full_name] = None
        elif _waits_for_start(declared, value_now, value_read):
            read[field] = value_now
            group_name = group.name if group else ""
            postponed[group_name or field] = None
    return replace(now, **read), list(postponed)


def _waits_for_start(declared: DeclaredSetting, now: object, read: object) -> bool:
    """Whether a changed value takes effect only at the next start."""
    match declared.setting.takes_effect:
        case TakesEffect.NEXT_START:
            return now != read
        case TakesEffect.TRUE_AT_ONCE:
            return now is True and read is False
    return False


def load_for_demo(
    arguments: Arguments, env: Mapping[str, str], base_url: BaseUrl, key: ApiKey
) -> Settings:
    """Return the settings for the demo's platform, to which no profile applies.

    Raises SettingsError.
    """
    resolved = Resolver(arguments, env, with_profile=False)
    if resolved.problems:
        raise SettingsError(resolved.problems)
    return Settings(
        profile="demo", base_url=base_url, key=key, key_source="the demo", **resolved.values
    )


def config_path(arguments: Arguments, env: Mapping[str, str]) -> tuple[Path, str]:
    """Return the config file and its source: "--config", "AGENTCO_CONFIG" or "default"."""
    for text, source in ((arguments.get("config"), "--config"), (env.get(CONFIG), CONFIG)):
        if text and text.strip():
            try:
                return Path(text).expanduser().absolute(), source
            except RuntimeError:
                return Path(text).absolute(), source
    folder = platformdirs.user_config_path("agentco-tui", appauthor=False)
    return folder / "config.toml", "default"


def _concerns(profile: str, problem: Problem) -> bool:
    """Whether a problem concerns a profile; those of other profiles must not stop the program."""
    table, _, name = (problem.setting or "").partition(".")
    return table != "profiles" or f"{name}.".startswith(f"{profile}.")


class Resolver:
    """Finds the value and the source of every setting, and all problems.

    The key is read only by `fetch_key`. With `with_profile` false no profile, address and key is
    needed, as for the demo, or to play back recorded answers.
    """

    def __init__(
        self, arguments: Arguments, env: Mapping[str, str], *, with_profile: bool = True
    ) -> None:
        self._given = arguments
        # For another profile the variables of the start do not count, except where the profile
        # names one of them as its `api_key_env`.
        ignored = _VARIABLES_OF_START if arguments.get("is_other") else frozenset[str]()
        self._whole_env = env
        self._own_env = {name: value for name, value in env.items() if name not in ignored}
        self._set_env = {name: value for name, value in self._own_env.items() if value.strip()}
        self.path, path_source = config_path(arguments, env)
        self.file = ConfigFile(self.path, must_exist=path_source != "default")
        self.problems: list[Problem] = list(self.file.problems)
        self.missing: list[Problem] = []
        """Required settings that are set nowhere: the address or the key."""
        self.sources: dict[str, str] = {"config_path": path_source}
        """The source of each setting by its full name: "--refresh", "default"."""
        self.profile: str = DEFAULT_PROFILE
        self.base_url: BaseUrl | None = None
        self.key_location: KeyLocation | None = None
        self._with_profile = with_profile
        if with_profile:
            self._choose_profile()
            self.problems = [each for each in self.problems if _concerns(self.profile, each)]
            self._find_base_url()
            self._find_key_location()
        self.values = self._find_values()
        """The values of `Settings`, except profile, address and key."""

    @property
    def entry(self) -> Mapping[str, Any]:
        """The settings in the table of the profile in use; empty if it has none."""
        return self.file.profiles.get(self.profile, {}) if self._with_profile else {}

    def error(self) -> SettingsError:
        """The exception for all problems; NothingSetError if the user has set nothing yet."""
        variables = {API_KEY, CONFIG, VARIABLES["base_url"], VARIABLES["profile"]}
        flags = ("profile", "base_url", "config")
        is_set = bool(variables & self._set_env.keys()) or any(map(self._given.get, flags))
        kind = SettingsError if is_set or self.file.exists else NothingSetError
        return kind((*self.problems, *self.missing))

    def fetch_key(self) -> ApiKey | None:
        """Read the key; returns None if that fails, with the reason in `problems`."""
        location = self.key_location
        if location is None or location.setting == NO_KEY:
            return None
        try:
            return location.read()
        except WrongError as wrong:
            self._report_value(location.setting, location.setting, str(wrong))
            return None

    def check_all(self) -> None:
        """Add the problems of all profiles; runs no command and reads no keyring."""
        for name in self.file.profiles:
            other = Resolver({"config": str(self.path), "profile": name}, {})
            if other.key_location is not None and other.key_location.is_file:
                other.fetch_key()
            self.problems += other.problems
        if self.key_location is not None and not self.key_location.can_change:
            self.fetch_key()

    def broken_themes(self) -> list[Problem]:
        """Return a problem for each theme file that can't be used.

        Themes that a setting names are left out, because the setting itself is reported.
        """
        reported = [problem.text for problem in self.problems]
        problems: list[Problem] = []
        for theme in self.file.themes.values():
            if not theme.problems:
                continue
            first, *more = theme.problems
            if any(str(first) in text for text in reported):
                continue
            reason = f"{first.setting}: {first.text}" if first.setting else first.text
            others = f" (and {len(more)} more)" if more else ""
            text = f"this theme cannot be used: {reason}{others}"
            problems.append(Problem(text=text, file=first.file, line=first.line))
        return problems

    def _choose_profile(self) -> None:
        names = tuple(self.file.profiles)
        chosen: str = self._pick(_SETTINGS_BY_NAME["profile"]).strip()
        if self.sources["profile"] == "default" and len(names) == 1:
            chosen = names[0]
            self.sources["profile"] = "the only profile"
        self.profile = chosen
        is_default = chosen == DEFAULT_PROFILE and self.sources["profile"] == "default"
        if chosen in names or is_default or self._is_reported(f"profiles.{chosen}"):
            return
        if names:
            hint = f"nearest valid name: {nearest(chosen, names)}; all: {', '.join(names)}"
        elif self.file.exists:
            hint = "the config file has no profiles"
        else:
            hint = f"there is no config file at {self.path}"
        self._report_value(
            "profile", self.sources["profile"], f'there is no profile "{chosen}" ({hint})'
        )

    def _find_base_url(self) -> None:
        text = self._pick(_SETTINGS_BY_NAME["base_url"])
        if text is None:
            if not self._is_reported(f"profiles.{self.profile}.base_url"):
                self.missing.append(Problem(text=self._why_no_base_url()))
            return
        try:
            self.base_url = BaseUrl.parse(text, allow_http=self.entry.get("allow_http", False))
        except CredentialError as error:
            self._report_value("base_url", self.sources["base_url"], str(error))

    def _why_no_base_url(self) -> str:
        variable = VARIABLES["base_url"]
        names = tuple(self.file.profiles)
        if self.entry:
            return f"no address: set base_url in profile {self.profile}, or {variable}"
        if names and self.sources["profile"] == "default":
            return (
                "there are several profiles and none was chosen: --profile NAME"
                f' ({", ".join(names)}), or profile = "NAME" at the top of {self.path}'
            )
        return f"no address: set {variable} or --base-url, or run agentco-tui login"

    def _find_key_location(self) -> None:
        if API_KEY in self._set_env:
            self.key_location = KeyLocation(API_KEY, self.profile, None, self._own_env)
            return
        for name in KEY_SOURCES:
            value = self.entry.get(name)
            if not value:
                continue
            if name == "api_key_file":
                value = self._absolute(value)
            env = self._whole_env if name == "api_key_env" else self._own_env
            self.key_location = KeyLocation(name, self.profile, value, env)
            return
        if self._is_reported(*(f"profiles.{self.profile}.{name}" for name in KEY_SOURCES)):
            return
        if self._pick(_SETTINGS_BY_NAME["platform"]) is not None:
            # Its file says whether it needs one; it is read when the platform is opened.
            self.key_location = KeyLocation(NO_KEY, self.profile, bool(self.entry), {})
            return
        if self.entry:
            hint = f"set {API_KEY}, or one of {', '.join(KEY_SOURCES)} in profile {self.profile}"
        else:
            hint = f"set {API_KEY} (no flag takes it: it would show in the process list)"
        self.missing.append(Problem(text=f"no API key: {hint}"))

    def _find_values(self) -> dict[str, Any]:
        """Find all settings except profile, address and key, and set their sources."""
        values: dict[str, Any] = {}
        for name, declared in _SETTINGS_BY_NAME.items():
            if name not in _RESOLVED_FIRST and not declared.is_table:
                values[name] = self._pick(declared)
        if not self._with_profile:
            # What was given is meant for a real one; the demo and recordings have the usual one.
            values["platform"] = None
        for field, record in _RECORDS.items():
            settings = [declared for declared in DECLARED if declared.field == field]
            values[field] = record(**{each.name: self._pick(each) for each in settings})
        if values["ca_file"] is not None:
            values["ca_file"] = self._existing_file("ca_file", values["ca_file"])
        for binding in self.file.keys:
            self.sources[f"keys.{binding}"] = self._source(f"keys.{binding}")
        own_keys = {each.command.id: each.command.keys for each in self.file.commands}
        mapping = AS_SENT
        if self.entry:
            mapping = self.file.mappings.get(self.profile, AS_SENT)
        themes = self.file.themes.items()
        return {
            **values,
            "mapping": mapping,
            "keys": self.file.keys | own_keys,
            "views": self.file.views,
            "commands": self.file.commands,
            "themes": {name: theme.colours for name, theme in themes if not theme.problems},
            "profiles": self._profiles_to_switch_to(),
            "config_path": self.path,
            "sources": dict(self.sources),
        }

    def _profiles_to_switch_to(self) -> tuple[str, ...]:
        if not self._with_profile or not self.file.profiles:
            return ()
        # `first`, the profile that the program was started with, comes first. It may have no table;
        # "" means that there is none.
        first = self._given.get("first", self.profile)
        names = [first, *self.file.profiles]
        return tuple(dict.fromkeys(filter(None, names)))

    def _pick(self, declared: DeclaredSetting) -> Any:
        """Return the effective value of a setting, and set its source."""
        name = declared.name
        value = declared.default
        source = "default"
        profile = self.profile if self._with_profile else ""
        for full_name, value_in_file in self.file.settings_of(declared, profile):
            value = value_in_file
            source = self._source(full_name)
        for origin, word in self._overrides(declared):
            try:
                value = self._convert(declared, word)
                source = origin
            except WrongError as wrong:
                self._report_value(name, origin, str(wrong))
        self.sources[declared.full_name] = source
        return value

    def _overrides(self, declared: DeclaredSetting) -> Iterator[tuple[str, Any]]:
        """Yield the variable and then the flag that set a setting: its name, and the text."""
        setting = declared.setting
        if setting.variable in self._set_env:
            yield setting.variable, self._set_env[setting.variable]
        if setting.flag:
            word = self._given.get(declared.name)
            is_given = word is not None and word is not False
            # An empty profile means that the dashboard begins with all of them.
            is_all_profiles = declared.name == "profile" and word == ""
            if is_given and not is_all_profiles:
                yield setting.flag, word

    def _convert(self, declared: DeclaredSetting, word: Any) -> Any:
        """Convert the text of a flag or variable; a flag without a value is True."""
        check_word = declared.setting.check_word
        if declared.name == "theme":
            # The config file may come with theme files.
            check_word = self.file.theme
        if check_word is None or word is True:
            return word
        return check_word(word)

    def _source(self, full_name: str) -> str:
        """Return the place of a setting in the file: "profile prod, FILE:6"."""
        is_of_profile = full_name.startswith("profiles.")
        table = f"profile {self.profile}" if is_of_profile else "config file"
        return f"{table}, {self.file.location_of(full_name)}"

    def _absolute(self, path: Path) -> Path:
        """Make a path absolute; a relative one starts in the folder of the config file."""
        return path if path.is_absolute() else self.path.parent / path

    def _existing_file(self, name: str, path: Path) -> Path:
        """Return the absolute path of a file that a setting names; report a missing one."""
        absolute = self._absolute(path)
        if not absolute.is_file():
            self._report(f"profiles.{self.profile}.{name}", f"there is no file {absolute}")
        return absolute

    def _is_reported(self, *settings: str) -> bool:
        """Whether there is already a problem with one of the settings, or with the whole file."""
        return not self.file.readable or any(
            problem.setting in settings for problem in self.problems
        )

    def _report_value(self, name: str, source: str, text: str) -> None:
        """Report a wrong value, at the flag, the variable or the line of the file it is from."""
        if source.startswith(("--", "AGENTCO_")):
            self.problems.append(Problem(text=text, setting=source))
        elif name in self.file.checked:
            self._report(name, text)
        else:
            self._report(f"profiles.{self.profile}.{name}", text)

    def _report(self, setting: str, text: str) -> None:
        problem = self.file.problem(setting, text)
        if problem not in self.problems:
            self.problems.append(problem)
