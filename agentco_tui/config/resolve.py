"""A flag beats the environment, which beats the profile, which beats the default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs
from msgspec.structs import replace

from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError
from agentco_tui.config import (
    DEFAULT_PROFILE,
    Given,
    NothingSetError,
    Problem,
    Settings,
    SettingsError,
    validators,
)
from agentco_tui.config.api_key import API_KEY, KeyPlace
from agentco_tui.config.file import KEY_SOURCES, PROFILE, SECTIONS, SETTINGS, ConfigFile
from agentco_tui.config.validators import WrongError, nearest
from agentco_tui.model import AlertLimits, Notify
from agentco_tui.reading.mapping import AS_SENT

CONFIG = "AGENTCO_CONFIG"
VARIABLES = {
    "base_url": "AGENTCO_BASE_URL",
    "profile": "AGENTCO_PROFILE",
    "read_only": "AGENTCO_READ_ONLY",
}
"""The settings that the environment may hold; a variable that is empty counts as not set."""
VARIABLES_OF_START = frozenset({API_KEY, VARIABLES["base_url"], VARIABLES["profile"]})
"""The variables that say what the dashboard begins with, and count for that profile only."""
_WORDS: Mapping[str, Callable[[str], Any]] = {
    "read_only": validators.boolean_word,
    "log_file": validators.path,
}
"""How the text of a variable or a flag is read where it is not what is wanted."""
_DEFAULTS = dict(
    zip(reversed(Settings.__struct_fields__), reversed(Settings.__struct_defaults__), strict=False)
)
_FLAG_ONLY = ("thin", "log_file", "log_json")
_READ_APART = ("profile", "base_url", *KEY_SOURCES, "fields", "money", "status", "severity")
"""Names in the file that are no field of `Settings`, or are resolved by a method of their own."""
RECORDS: Mapping[str, type[AlertLimits | Notify]] = {"alerts": AlertLimits, "notify": Notify}
"""Sections of the file that are one setting each, a record with a field for each name."""
IN_SECTIONS = {
    name: section for section in SECTIONS if section not in RECORDS for name in SETTINGS[section]
}
"""Settings that stand in another section of the file, with the section."""


def _declared() -> set[str]:
    """The settings that a profile or the top of the file may hold."""
    tables = {**SETTINGS, **PROFILE}
    no_setting = {*_READ_APART, *SECTIONS, "profiles", "keys", "views", "commands"}
    return tables.keys() - no_setting


PICKED = tuple(
    name for name in Settings.__struct_fields__ if name in _declared() or name in _FLAG_ONLY
)
"""Settings that a flag, a variable, the profile or the top of the file gives."""


def _check_declared() -> None:
    """Raise TypeError if the file may hold a setting that nothing would ever read.

    A setting is declared in a table of `config.file`, and read as a field of `Settings` (of a
    record, in the sections of `RECORDS`). One without the other would be accepted and ignored.
    """
    fields = {*Settings.__struct_fields__}
    lost = [name for name in (*_declared(), *IN_SECTIONS) if name not in fields]
    lost += [f"{name} (twice)" for name in IN_SECTIONS if name in PICKED]
    for section, record in RECORDS.items():
        known = record.__struct_fields__
        lost += [f"{section}.{name}" for name in SETTINGS[section] if name not in known]
    if sum(len(SETTINGS[each]) for each in SECTIONS if each not in RECORDS) != len(IN_SECTIONS):
        lost.append("a name that two sections have")
    if lost:
        words = "settings that config/file.py declares and nothing reads; give each a field in"
        raise TypeError(f"{words} config/__init__.py: {', '.join(sorted(lost))}")


_check_declared()


def load(given: Given, env: Mapping[str, str], *, with_key: bool = True) -> Settings:
    """The effective settings, the key fetched from its source, or `with_key` False still to be.

    Raises SettingsError with every problem there is; NothingSetError if nothing was set anywhere.
    """
    resolved = Resolver(given, env)
    base_url, place, key = resolved.base_url, resolved.key_place, None
    if with_key and not (resolved.problems or resolved.missing):
        key = resolved.fetch_key()
    if resolved.problems or base_url is None or place is None:
        raise resolved.error()
    return Settings(
        profile=resolved.profile,
        base_url=base_url,
        key=key,
        key_source=place.words,
        key_place=place,
        **resolved.values,
    )


def of_profile(
    profile: str, first: str, given: Given, env: Mapping[str, str]
) -> tuple[Given, Mapping[str, str]]:
    """The arguments and the environment with which a profile is loaded: what flags and the
    environment say of a platform counts only for the `first` profile, that of the start.
    """
    words = {"profile": profile} if profile != DEFAULT_PROFILE else {}
    is_other = profile != first
    if is_other:
        of_first = {*VARIABLES, "company", "screen"} - {"read_only"}
        given = {name: each for name, each in given.items() if name not in of_first}
    return {**given, **words, "first": first, "is_other": is_other}, env


def load_any(given: Given, env: Mapping[str, str]) -> Settings:
    """As `load`, or of the first profile that can be used."""
    try:
        return load(given, env)
    except SettingsError:
        for name in Resolver(given, env, with_profile=False).file.profiles:
            with suppress(SettingsError):
                return load(*of_profile(name, "", given, env))
        raise


AS_STARTED = (
    *("base_url", "key_place", "company", "screen", "thin", "allow_http", "ca_file", "trust_env"),
    *("mapping", "history", "history_mb", "log_file"),
)
"""What a dashboard begins with and keeps, whatever the files say later."""


def reread(now: Settings, given: Given, env: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """The settings of now as the files have them by this time, and the names of those that hold
    only from the next start on. No key is read. Raises SettingsError.
    """
    resolved = Resolver(given, env, with_profile=now.key_place is not None)
    if resolved.problems or resolved.missing:
        raise resolved.error()
    changed = {"base_url": now.base_url, "key_place": None, **resolved.values}
    if now.key_place is not None:
        changed |= {"base_url": resolved.base_url, "key_place": resolved.key_place}
    kept = [name for name in AS_STARTED if changed[name] != getattr(now, name)]
    if now.read_only and not changed["read_only"]:
        kept.append("read_only")
    return replace(now, **{n: each for n, each in changed.items() if n not in kept}), kept


def load_for_demo(given: Given, env: Mapping[str, str], base_url: BaseUrl, key: ApiKey) -> Settings:
    """For a platform that the program started itself: no profile counts. Raises SettingsError."""
    resolved = Resolver(given, env, with_profile=False)
    if resolved.problems:
        raise SettingsError(resolved.problems)
    return Settings(
        profile="demo", base_url=base_url, key=key, key_source="the demo", **resolved.values
    )


def config_path(given: Given, env: Mapping[str, str]) -> tuple[Path, str]:
    """(the config file, what named it: "--config", "AGENTCO_CONFIG" or "default")."""
    for text, source in ((given.get("config"), "--config"), (env.get(CONFIG), CONFIG)):
        if text and text.strip():
            try:
                return Path(text).expanduser().absolute(), source
            except RuntimeError:
                return Path(text).absolute(), source
    folder = platformdirs.user_config_path("agentco-tui", appauthor=False)
    return folder / "config.toml", "default"


def _is_of(profile: str, problem: Problem) -> bool:
    """Whether it concerns this profile: what is wrong with others holds up nobody."""
    table, _, name = (problem.setting or "").partition(".")
    return table != "profiles" or f"{name}.".startswith(f"{profile}.")


class Resolver:
    """All settings, where they are from and what is wrong; no key is fetched before `fetch_key`."""

    def __init__(self, given: Given, env: Mapping[str, str], *, with_profile: bool = True) -> None:
        self._given = given
        # Of another profile than that of the start: the address, the key and the profile that the
        # environment holds don't count for it. A variable that it names itself does.
        ignored = VARIABLES_OF_START if given.get("is_other") else frozenset[str]()
        self._whole_env = env
        self._own_env = {name: value for name, value in env.items() if name not in ignored}
        self._env = {name: value for name, value in self._own_env.items() if value.strip()}
        self.path, path_source = config_path(given, env)
        self.file = ConfigFile(self.path, must_exist=path_source != "default")
        self.problems: list[Problem] = list(self.file.problems)
        self.missing: list[Problem] = []
        """What is needed to reach a platform and set nowhere."""
        self.sources: dict[str, str] = {"config_path": path_source}
        self.profile: str = _DEFAULTS["profile"]
        self.entry: Mapping[str, Any] = {}
        self.base_url: BaseUrl | None = None
        self.key_place: KeyPlace | None = None
        if with_profile:
            self._choose_profile()
            self.problems = [each for each in self.problems if _is_of(self.profile, each)]
            self._find_base_url()
            self._find_key_place()
        values: dict[str, Any] = {name: self._pick(name) for name in PICKED}
        if values["ca_file"] is not None:
            values["ca_file"] = ca_file = self._absolute(values["ca_file"])
            if not ca_file.is_file():
                self._wrong(f"profiles.{self.profile}.ca_file", f"there is no file {ca_file}")
        own = [each.command for each in self.file.commands]
        # That of the start may have no table; "" is none.
        first, names = filter(None, [given.get("first", self.profile)]), self.file.profiles
        tables = self.file.tables
        told = {
            f"{section}.{name}": name in tables[section]
            for section in SECTIONS
            for name in SETTINGS[section]
        }
        told |= dict.fromkeys((f"keys.{binding}" for binding in self.file.keys), True)
        for setting, in_file in told.items():
            self.sources[setting] = f"config file, {self._place(setting)}" if in_file else "default"
        self.values = values | {
            "mapping": self.entry.get("mapping", AS_SENT),
            "keys": self.file.keys | {one.id: one.keys for one in own},
            **{section: record(**tables[section]) for section, record in RECORDS.items()},
            **{
                name: tables[section].get(name, _DEFAULTS[name])
                for name, section in IN_SECTIONS.items()
            },
            "views": self.file.views,
            "profiles": tuple(dict.fromkeys((*first, *names))) if with_profile and names else (),
            "themes": {n: own.colours for n, own in self.file.themes.items() if not own.problems},
            "commands": self.file.commands,
            "config_path": self.path,
            "sources": dict(self.sources),
        }
        """Every setting but profile, address and key, as `Settings` takes them."""

    def error(self) -> SettingsError:
        named = {API_KEY, CONFIG, VARIABLES["base_url"], VARIABLES["profile"]}
        told = named & set(self._env) or any(
            map(self._given.get, ("profile", "base_url", "config"))
        )
        kind = SettingsError if told or self.file.exists else NothingSetError
        return kind((*self.problems, *self.missing))

    def fetch_key(self) -> ApiKey | None:
        """The key from its place; None if that failed, and `problems` holds why."""
        place = self.key_place
        if place is None:
            return None
        try:
            return place.read()
        except WrongError as wrong:
            self._blame(place.setting, place.setting, str(wrong))
            return None

    def check_all(self) -> None:
        """Add what is wrong with every profile; no command is run, no keyring asked."""
        for name in self.file.profiles:
            other = Resolver({"config": str(self.path), "profile": name}, {})
            if other.key_place is not None and other.key_place.is_file:
                other.fetch_key()
            self.problems += other.problems
        if self.key_place is not None and not self.key_place.can_change:
            self.fetch_key()

    def broken_themes(self) -> list[Problem]:
        """One problem for each theme file that can't be used and that no setting names: for those
        that are named, the setting is what is wrong.
        """
        named = [problem.text for problem in self.problems]
        found = list[Problem]()
        for own in self.file.themes.values():
            if not own.problems:
                continue
            first, *more = own.problems
            if any(str(first) in text for text in named):
                continue
            words = f"{first.setting}: {first.text}" if first.setting else first.text
            others = f" (and {len(more)} more)" if more else ""
            text = f"this theme cannot be used: {words}{others}"
            found.append(Problem(text=text, file=first.file, line=first.line))
        return found

    def _choose_profile(self) -> None:
        names = tuple(self.file.profiles)
        default = self.profile
        given = self._pick("profile").strip()
        if self.sources["profile"] == "default" and len(names) == 1:
            given, self.sources["profile"] = names[0], "the only profile"
        self.profile = given
        self.entry = self.file.profiles.get(given, {})
        known = given in names or (given == default and self.sources["profile"] == "default")
        if known or self._explained(f"profiles.{given}"):
            return
        if names:
            where = f"nearest valid name: {nearest(given, names)}; all: {', '.join(names)}"
        elif self.file.exists:
            where = "the config file has no profiles"
        else:
            where = f"there is no config file at {self.path}"
        self._blame("profile", self.sources["profile"], f'there is no profile "{given}" ({where})')

    def _pick(self, name: str) -> Any:
        value, source = _DEFAULTS.get(name), "default"
        if name in self.file.top:
            value, source = self.file.top[name], f"config file, {self._place(name)}"
        if name in self.entry:
            place = self._place(f"profiles.{self.profile}.{name}")
            value, source = self.entry[name], f"profile {self.profile}, {place}"
        variable, flag = VARIABLES.get(name, ""), f"--{name.replace('_', '-')}"
        for where, text in ((variable, self._env.get(variable)), (flag, self._given.get(name))):
            if text is None or text is False or (name == "profile" and not text):
                continue
            try:
                words = {**_WORDS, "theme": self.file.theme}
                value = words[name](text) if name in words and text is not True else text
                source = where
            except WrongError as wrong:
                self._blame(name, where, str(wrong))
        self.sources[name] = source
        return value

    def _absolute(self, path: Path) -> Path:
        """A relative path in the config file is meant from the folder of that file."""
        return path if path.is_absolute() else self.path.parent / path

    def _find_base_url(self) -> None:
        text, variable = self._pick("base_url"), VARIABLES["base_url"]
        names = tuple(self.file.profiles)
        if text is not None:
            try:
                http = self.entry.get("allow_http", False)
                self.base_url = BaseUrl.parse(text, allow_http=http)
            except CredentialError as error:
                self._blame("base_url", self.sources["base_url"], str(error))
            return
        if self._explained(f"profiles.{self.profile}.base_url"):
            return
        if self.entry:
            words = f"no address: set base_url in profile {self.profile}, or {variable}"
        elif names and self.sources["profile"] == "default":
            words = (
                "there are several profiles and none was chosen: --profile NAME"
                f' ({", ".join(names)}), or profile = "NAME" at the top of {self.path}'
            )
        else:
            words = f"no address: set {variable} or --base-url, or run agentco-tui login"
        self.missing.append(Problem(text=words))

    def _find_key_place(self) -> None:
        given = [name for name in KEY_SOURCES if self.entry.get(name)]
        if name := API_KEY if API_KEY in self._env else next(iter(given), None):
            value: Any = self.entry.get(name)
            value = self._absolute(value) if name == "api_key_file" else value
            env = self._whole_env if name == "api_key_env" else self._own_env
            self.key_place = KeyPlace(name, self.profile, value, env)
            return
        if self._explained(*(f"profiles.{self.profile}.{name}" for name in KEY_SOURCES)):
            return
        if self.entry:
            text = f"set {API_KEY}, or one of {', '.join(KEY_SOURCES)} in profile {self.profile}"
        else:
            text = f"set {API_KEY} (no flag takes it: it would show in the process list)"
        self.missing.append(Problem(text=f"no API key: {text}"))

    def _explained(self, *settings: str) -> bool:
        """Whether a missing value is explained already: it was ill-typed, or no file was read."""
        return not self.file.readable or any(
            problem.setting in settings for problem in self.problems
        )

    def _blame(self, name: str, source: str, text: str) -> None:
        """Something is wrong with what a flag, a variable or the file says for a setting."""
        if source.startswith(("--", "AGENTCO_")):
            self.problems.append(Problem(text=text, setting=source))
        else:
            self._wrong(name if name in self.file.top else f"profiles.{self.profile}.{name}", text)

    def _wrong(self, setting: str, text: str) -> None:
        problem = self.file.problem(setting, text)
        if problem not in self.problems:
            self.problems.append(problem)

    def _place(self, setting: str) -> str:
        return f"{self.path}:{self.file.problem(setting, '').line}"
