"""Flags, environment and file put together.

A flag beats the environment, which beats the profile, which beats the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import platformdirs

from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError
from agentco_tui.config import validators
from agentco_tui.config.api_key import API_KEY, KeyPlace, check_file
from agentco_tui.config.file import ALERTS, KEY_SOURCES, ConfigFile
from agentco_tui.config.problems import (
    NothingSetError,
    Problem,
    SettingsError,
    WrongError,
    nearest,
)
from agentco_tui.config.settings import AlertLimits, Flags, Settings
from agentco_tui.reading.mapping import AS_SENT

BASE_URL = "AGENTCO_BASE_URL"
PROFILE = "AGENTCO_PROFILE"
CONFIG = "AGENTCO_CONFIG"
READ_ONLY = "AGENTCO_READ_ONLY"
"""The environment variables the settings come from; one that is empty counts as not set."""

DEFAULT_PROFILE = "default"
_DEFAULTS = dict(
    zip(reversed(Settings.__struct_fields__), reversed(Settings.__struct_defaults__), strict=False)
)
_PICKED = ("company", "screen", "refresh", "read_only", "thin", "allow_http", "trust_env")
"""Settings that a flag, a variable or the profile gives, as they stand there."""


def load(flags: Flags, env: Mapping[str, str]) -> Settings:
    """The effective settings, the key fetched from its source.

    Raises SettingsError with every problem there is; NothingSetError if nothing was set anywhere.
    """
    resolved = Resolver(flags, env)
    base_url = resolved.base_url
    key = None if resolved.problems or resolved.missing else resolved.fetch_key()
    if base_url is None or key is None:
        raise resolved.error()
    return Settings(
        profile=resolved.profile,
        base_url=base_url,
        key=key,
        key_source=resolved.key_source,
        key_place=resolved.key_place,
        **resolved.values,
    )


def load_for_demo(flags: Flags, env: Mapping[str, str], base_url: BaseUrl, key: ApiKey) -> Settings:
    """The settings for a platform that the program started itself.

    Flags and the file's theme, keys and alert limits count, no profile does. Raises SettingsError.
    """
    resolved = Resolver(flags, env, with_profile=False)
    if resolved.problems:
        raise SettingsError(resolved.problems)
    return Settings(
        profile="demo", base_url=base_url, key=key, key_source="the demo", **resolved.values
    )


def default_config_path() -> Path:
    """The config file in the platform's config folder; it need not exist."""
    return platformdirs.user_config_path("agentco-tui", appauthor=False) / "config.toml"


def config_path(flags: Flags, env: Mapping[str, str]) -> tuple[Path, str]:
    """(the config file, what named it: "--config", "AGENTCO_CONFIG" or "default")."""
    for text, source in ((flags.config, "--config"), (env.get(CONFIG), CONFIG)):
        if text and text.strip():
            try:
                return Path(text).expanduser().absolute(), source
            except RuntimeError:
                return Path(text).absolute(), source
    return default_config_path(), "default"


class Resolver:
    """One reading of all settings: their values, their sources, and what is wrong with them.

    The key is not fetched before `fetch_key`, so looking at settings runs no command.
    """

    def __init__(self, flags: Flags, env: Mapping[str, str], *, with_profile: bool = True) -> None:
        self._flags = flags
        self._whole_env = env
        self._env = {name: value for name, value in env.items() if value.strip()}
        self.path, self.path_source = config_path(flags, env)
        self.file = ConfigFile(self.path, must_exist=self.path_source != "default")
        self.problems: list[Problem] = list(self.file.problems)
        """What is wrong."""
        self.missing: list[Problem] = []
        """What is needed to reach a platform and set nowhere."""
        self.sources: dict[str, str] = {"config_path": self.path_source}
        self.profile = DEFAULT_PROFILE
        self._entry: Mapping[str, Any] = {}
        self.base_url: BaseUrl | None = None
        self.key_setting: str | None = None
        """AGENTCO_API_KEY, or which of the profile's settings brings the key."""
        if with_profile:
            self._choose_profile()
            self._find_base_url()
            self._find_key_setting()
        self.values = self._values()
        """Every setting but profile, address and key, as `Settings` takes them."""

    @property
    def has_profile(self) -> bool:
        """True if a profile of the file is in use."""
        return bool(self._entry)

    @property
    def key_source(self) -> str:
        """Where the key is from, in words."""
        if self.key_setting == API_KEY:
            return API_KEY
        return f"{self.key_setting} of profile {self.profile}" if self.key_setting else "not set"

    @property
    def key_place(self) -> KeyPlace | None:
        """Where the key is kept; None if that was not set."""
        name = self.key_setting
        if name is None:
            return None
        value: Any = None if name == API_KEY else self._entry[name]
        if name == "api_key_file":
            value = self._absolute(value)
        return KeyPlace(self.key_source, name, self.profile, value, self._whole_env)

    def error(self) -> SettingsError:
        """Everything that is wrong or missing; NothingSetError if nothing was set anywhere."""
        set_somewhere = (
            self.file.exists
            or any(name in self._env for name in (BASE_URL, API_KEY, PROFILE, CONFIG))
            or self._flags.profile
            or self._flags.base_url
            or self._flags.config
        )
        kind = SettingsError if set_somewhere else NothingSetError
        return kind((*self.problems, *self.missing))

    def fetch_key(self) -> ApiKey | None:
        """The key from its place; None if that failed, and `problems` holds why.

        May take as long as the profile's command, and ask the system's keyring.
        """
        place = self.key_place
        if place is None:
            return None
        try:
            return place.read()
        except WrongError as wrong:
            self._blame(place.setting, place.setting, str(wrong))
            return None

    def check_all(self) -> None:
        """Add to `problems` what is wrong with every profile, also those that are not in use.

        Addresses, key files and certificates are looked at; no command is run, no keyring asked.
        """
        for name, entry in self.file.profiles.items():
            if address := entry.get("base_url"):
                try:
                    BaseUrl.parse(address, allow_http=entry.get("allow_http", False))
                except CredentialError as error:
                    self._wrong(f"profiles.{name}.base_url", str(error))
            if key_file := entry.get("api_key_file"):
                try:
                    check_file(self._absolute(key_file))
                except WrongError as wrong:
                    self._wrong(f"profiles.{name}.api_key_file", str(wrong))
            if "ca_file" in entry:
                self._ca_file(name, entry["ca_file"])
        if self.key_setting in (API_KEY, "api_key_env"):
            self.fetch_key()

    # -- which profile

    def _choose_profile(self) -> None:
        names = tuple(self.file.profiles)
        for name, source in (
            (self._flags.profile, "--profile"),
            (self._env.get(PROFILE), PROFILE),
            (self.file.top.get("profile"), self._file_source("profile")),
        ):
            if name:
                self.profile, self.sources["profile"] = name.strip(), source
                break
        else:
            only = len(names) == 1
            self.profile = names[0] if only else DEFAULT_PROFILE
            self.sources["profile"] = "the only profile" if only else "default"
        self._entry = self.file.profiles.get(self.profile, {})
        unknown = bool(name) and self.profile not in names
        if unknown and not self._explained(f"profiles.{self.profile}"):
            self.problems.append(self._no_profile(names))

    def _no_profile(self, names: tuple[str, ...]) -> Problem:
        if names:
            where = f"nearest valid name: {nearest(self.profile, names)}; all: {', '.join(names)}"
        elif self.file.exists:
            where = "the config file has no profiles"
        else:
            where = f"there is no config file at {self.path}"
        text = f'there is no profile "{self.profile}" ({where})'
        source = self.sources["profile"]
        if source in ("--profile", PROFILE):
            return Problem(text=text, setting=source)
        return self.file.problem("profile", text)

    # -- single settings

    def _values(self) -> dict[str, Any]:
        """Every setting but profile, address and key."""
        values: dict[str, Any] = {name: self._pick(name) for name in _PICKED}
        ca_file = self._pick("ca_file")
        values["ca_file"] = ca_file and self._ca_file(self.profile, ca_file)
        values["theme"] = self._pick("theme")
        if values["theme"] is None and "theme" in self.file.top:
            values["theme"] = self.file.top["theme"]
            self.sources["theme"] = self._file_source("theme")
        for name in ALERTS:
            self._note(f"alerts.{name}", name in self.file.alerts)
        self._note("approve.hold", "hold" in self.file.approve)
        for binding in self.file.keys:
            self._note(f"keys.{binding}", True)
        return values | {
            "mapping": self._entry.get("mapping", AS_SENT),
            "keys": self.file.keys,
            "alerts": AlertLimits(**self.file.alerts),
            "hold": self.file.approve.get("hold", _DEFAULTS["hold"]),
            "log_file": self._log_file(),
            "config_path": self.path,
            "sources": dict(self.sources),
        }

    def _pick(self, name: str) -> Any:
        """The value of a setting; notes where it is from."""
        value, source = _DEFAULTS.get(name), "default"
        if name in self._entry:
            value = self._entry[name]
            source = f"profile {self.profile}, {self._place(f'profiles.{self.profile}.{name}')}"
        if name == "base_url" and BASE_URL in self._env:
            value, source = self._env[BASE_URL], BASE_URL
        if name == "read_only" and READ_ONLY in self._env:
            try:
                value = validators.boolean_word(self._env[READ_ONLY])
                source = READ_ONLY
            except WrongError as wrong:
                self._blame(name, READ_ONLY, str(wrong))
        flag = getattr(self._flags, name, None)
        if flag is not None and flag is not False:
            value, source = flag, f"--{name.replace('_', '-')}"
        self.sources[name] = source
        return value

    def _log_file(self) -> Path | None:
        if self._flags.log_file is None:
            return None
        self.sources["log_file"] = "--log-file"
        try:
            return validators.path(self._flags.log_file)
        except WrongError as wrong:
            self._blame("log_file", "--log-file", str(wrong))
            return None

    def _ca_file(self, profile: str, path: Path) -> Path:
        path = self._absolute(path)
        if not path.is_file():
            self._wrong(f"profiles.{profile}.ca_file", f"there is no file {path}")
        return path

    def _absolute(self, path: Path) -> Path:
        """A relative path in the config file is meant from the folder of that file."""
        return path if path.is_absolute() else self.path.parent / path

    # -- address and key

    def _find_base_url(self) -> None:
        text = self._pick("base_url")
        if not isinstance(text, str):
            if not self._explained(f"profiles.{self.profile}.base_url"):
                self.missing.append(Problem(text=self._no_address()))
            return
        try:
            http = self._entry.get("allow_http", False)
            self.base_url = BaseUrl.parse(text, allow_http=http)
        except CredentialError as error:
            self._blame("base_url", self.sources["base_url"], str(error))

    def _no_address(self) -> str:
        names = tuple(self.file.profiles)
        if names and not self._entry and self.sources.get("profile") == "default":
            return (
                "there are several profiles and none was chosen: --profile NAME"
                f' ({", ".join(names)}), or profile = "NAME" at the top of {self.path}'
            )
        if self._entry:
            return f"no address: set base_url in profile {self.profile}, or {BASE_URL}"
        return f"no address: set {BASE_URL} or --base-url, or make a profile in {self.path}"

    def _find_key_setting(self) -> None:
        given = (name for name in KEY_SOURCES if self._entry.get(name, False) is not False)
        self.key_setting = API_KEY if API_KEY in self._env else next(given, None)
        settings = (f"profiles.{self.profile}.{name}" for name in KEY_SOURCES)
        if self.key_setting is not None or self._explained(*settings):
            return
        if self._entry:
            text = f"set {API_KEY}, or one of {', '.join(KEY_SOURCES)} in profile {self.profile}"
        else:
            text = f"set {API_KEY} (no flag takes it: it would show in the process list)"
        self.missing.append(Problem(text=f"no API key: {text}"))

    # -- where things stand

    def _explained(self, *settings: str) -> bool:
        """True if a missing value is explained already: it was ill-typed, or no file was read."""
        return not self.file.readable or any(
            problem.setting in settings for problem in self.problems
        )

    def _blame(self, name: str, source: str, text: str) -> None:
        """Something is wrong with what a flag, a variable or the profile's setting `name` says."""
        if source.startswith(("--", "AGENTCO_")):
            self.problems.append(Problem(text=text, setting=source))
        else:
            self._wrong(f"profiles.{self.profile}.{name}", text)

    def _wrong(self, setting: str, text: str) -> None:
        problem = self.file.problem(setting, text)
        if problem not in self.problems:
            self.problems.append(problem)

    def _note(self, setting: str, in_file: bool) -> None:
        self.sources[setting] = self._file_source(setting) if in_file else "default"

    def _file_source(self, setting: str) -> str:
        return f"config file, {self._place(setting)}"

    def _place(self, setting: str) -> str:
        return f"{self.path}:{self.file.problem(setting, '').line}"
