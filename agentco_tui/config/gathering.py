"""Flags, environment and file put together; a flag beats the environment, which beats the
profile, which beats the default (DESIGN, contract).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError
from agentco_tui.config import key_sources, kinds
from agentco_tui.config.file import KEY_SOURCES, Found, read_file
from agentco_tui.config.key_place import KeyPlace
from agentco_tui.config.problems import (
    NothingSetError,
    Problem,
    SettingsError,
    WrongError,
    nearest,
)
from agentco_tui.config.settings import HOLD, AlertLimits, Flags
from agentco_tui.config.sources import API_KEY, BASE_URL, CONFIG, PROFILE, READ_ONLY, config_path

DEFAULT_PROFILE = "default"


class Gathering:
    """One reading of all settings: their values, their sources, and what is wrong with them.

    The key is not fetched before `fetch_key`, so looking at settings runs no command.
    """

    def __init__(self, flags: Flags, env: Mapping[str, str], *, with_profile: bool = True) -> None:
        self._flags = flags
        self._whole_env = env
        self._env = {name: value for name, value in env.items() if value.strip()}
        self.path, self.path_source = config_path(flags, env)
        self.file = read_file(self.path, must_exist=self.path_source != "default")
        self.problems: list[Problem] = list(self.file.problems)
        """What is wrong."""
        self.missing: list[Problem] = []
        """What is needed to reach a platform and set nowhere."""
        self.sources: dict[str, str] = {"config_path": self.path_source}
        self.profile = DEFAULT_PROFILE
        self._entry: Mapping[str, Found] = {}
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

    @property
    def key_place(self) -> KeyPlace | None:
        """Where the key is kept; None if that was not set."""
        name = self.key_setting
        if name is None:
            return None
        value: Any = None if name == API_KEY else self._entry[name].value
        if name == "api_key_file":
            value = self._absolute(value)
        return KeyPlace(
            words=self.key_source,
            setting=name,
            profile=self.profile,
            value=value,
            env=self._whole_env,
        )

    def fetch_key(self) -> ApiKey | None:
        """The key from its place; None if that failed, and `problems` holds why.

        May take as long as the profile's command, and ask the system's keyring.
        """
        name, place = self.key_setting, self.key_place
        if place is None:
            return None
        try:
            return place.read()
        except WrongError as wrong:
            if name == API_KEY:
                self.problems.append(Problem(text=str(wrong), setting=API_KEY))
            else:
                self._at(self.profile, str(name), str(wrong))
            return None

    def check_all(self) -> None:
        """Add to `problems` what is wrong with every profile, also those that are not in use.

        Addresses, key files and certificates are looked at; no command is run, no keyring asked.
        """
        for name, entry in self.file.profiles.items():
            if address := entry.get("base_url"):
                http = bool(entry["allow_http"].value) if "allow_http" in entry else False
                try:
                    BaseUrl.parse(address.value, allow_http=http)
                except CredentialError as error:
                    self._at(name, "base_url", str(error))
            if key_file := entry.get("api_key_file"):
                try:
                    key_sources.check_file(self._absolute(key_file.value))
                except WrongError as wrong:
                    self._at(name, "api_key_file", str(wrong))
            if "ca_file" in entry:
                self._ca_file(name, entry["ca_file"])
        if self.key_setting in (API_KEY, "api_key_env"):
            self.fetch_key()

    # -- which profile

    def _choose_profile(self) -> None:
        named = self.file.top.get("profile")
        choices = (
            (self._flags.profile, "--profile"),
            (self._env.get(PROFILE), PROFILE),
            (named.value if named else None, self._file_source(named)),
        )
        for name, source in choices:
            if name:
                self.profile, self.sources["profile"] = name.strip(), source
                break
        else:
            profiles = tuple(self.file.profiles)
            only = len(profiles) == 1
            self.profile = profiles[0] if only else DEFAULT_PROFILE
            self.sources["profile"] = "the only profile" if only else "default"
            self._entry = self.file.profiles.get(self.profile, {})
            return
        if self.profile in self.file.profiles:
            self._entry = self.file.profiles[self.profile]
        elif self.file.readable and not self._told(f"profiles.{self.profile}"):
            self.problems.append(self._no_profile())

    def _no_profile(self) -> Problem:
        source = self.sources["profile"]
        names = tuple(self.file.profiles)
        if names:
            where = f"nearest valid name: {nearest(self.profile, names)}; all: {', '.join(names)}"
        elif self.file.exists:
            where = "the config file has no profiles"
        else:
            where = f"there is no config file at {self.path}"
        from_file = source.startswith("config file")
        return Problem(
            text=f'there is no profile "{self.profile}" ({where})',
            setting="profile" if from_file else source,
            file=self.path if from_file else None,
            line=self.file.top["profile"].line if from_file else None,
        )

    # -- single settings

    def _values(self) -> dict[str, Any]:
        """Every setting but profile, address and key."""
        flags = self._flags
        read_only: tuple[tuple[Any, str], ...] = (
            (flags.read_only or None, "--read-only"),
            (self._env_read_only(), READ_ONLY),
        )
        ca_file = self._entry.get("ca_file")
        values: dict[str, Any] = {
            "company": self._pick("company", ((flags.company, "--company"),), None),
            "screen": self._pick("screen", ((flags.screen, "--screen"),), None),
            "refresh": self._pick("refresh", ((flags.refresh, "--refresh"),), 5.0),
            "read_only": self._pick("read_only", read_only, False),
            "thin": self._pick("thin", ((flags.thin or None, "--thin"),), False),
            "allow_http": self._pick("allow_http", (), False),
            "trust_env": self._pick("trust_env", (), False),
            "ca_file": self._pick("ca_file", (), None),
            "theme": self._theme(),
            "keys": self.file.keys,
            "alerts": self._alerts(),
            "hold": self._hold(),
            "log_file": self._log_file(),
            "config_path": self.path,
        }
        if ca_file is not None:
            values["ca_file"] = self._ca_file(self.profile, ca_file)
        for binding, line in self.file.key_lines.items():
            self.sources[f"keys.{binding}"] = self._file_source(Found(None, line))
        values["sources"] = dict(self.sources)
        return values

    def _pick(self, name: str, outer: tuple[tuple[Any, str], ...], default: Any) -> Any:
        for value, source in outer:
            if value is not None:
                self.sources[name] = source
                return value
        if found := self._entry.get(name):
            self.sources[name] = self._profile_source(found)
            return found.value
        self.sources[name] = "default"
        return default

    def _log_file(self) -> Path | None:
        if self._flags.log_file is None:
            return None
        self.sources["log_file"] = "--log-file"
        try:
            return kinds.path(self._flags.log_file)
        except WrongError as wrong:
            self.problems.append(Problem(text=str(wrong), setting="--log-file"))
            return None

    def _theme(self) -> str | None:
        if "theme" in self._entry or "theme" not in self.file.top:
            return self._pick("theme", (), None)  # type: ignore[no-any-return]
        found = self.file.top["theme"]
        self.sources["theme"] = self._file_source(found)
        return str(found.value)

    def _alerts(self) -> AlertLimits:
        for name in ("warn_percent", "critical_percent", "waiting_warning", "waiting_critical"):
            found = self.file.alerts.get(name)
            self.sources[f"alerts.{name}"] = self._file_source(found) if found else "default"
        return AlertLimits(**{name: found.value for name, found in self.file.alerts.items()})

    def _hold(self) -> float:
        found = self.file.approve.get("hold")
        self.sources["approve.hold"] = self._file_source(found) if found else "default"
        return float(found.value) if found else HOLD

    def _env_read_only(self) -> bool | None:
        if READ_ONLY not in self._env:
            return None
        try:
            return kinds.boolean_word(self._env[READ_ONLY])
        except WrongError as wrong:
            self.problems.append(Problem(text=str(wrong), setting=READ_ONLY))
            return None

    def _ca_file(self, profile: str, found: Found) -> Path:
        path = self._absolute(found.value)
        if not path.is_file():
            self._at(profile, "ca_file", f"there is no file {path}")
        return path

    def _absolute(self, path: Path) -> Path:
        """A relative path in the config file is meant from the folder of that file."""
        return path if path.is_absolute() else self.path.parent / path

    def _find_base_url(self) -> None:
        text = self._pick(
            "base_url",
            ((self._flags.base_url, "--base-url"), (self._env.get(BASE_URL), BASE_URL)),
            None,
        )
        if text is None:
            if not self._told(f"profiles.{self.profile}.base_url"):
                self.missing.append(Problem(text=self._no_address()))
            return
        http = self._entry.get("allow_http")
        try:
            self.base_url = BaseUrl.parse(text, allow_http=bool(http and http.value))
        except CredentialError as error:
            source = self.sources["base_url"]
            if source in ("--base-url", BASE_URL):
                self.problems.append(Problem(text=str(error), setting=source))
            else:
                self._at(self.profile, "base_url", str(error))

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

    # -- the key

    def _find_key_setting(self) -> None:
        names = [
            name
            for name in KEY_SOURCES
            if name in self._entry and self._entry[name].value is not False
        ]
        self.key_setting = API_KEY if API_KEY in self._env else names[0] if names else None
        if self.key_setting is None and not self._told(
            *(f"profiles.{self.profile}.{name}" for name in KEY_SOURCES)
        ):
            self.missing.append(Problem(text=self._no_key()))

    def _no_key(self) -> str:
        if self._entry:
            sources = ", ".join(KEY_SOURCES)
            return f"no API key: set {API_KEY}, or one of {sources} in profile {self.profile}"
        return f"no API key: set {API_KEY} (no flag takes it: it would show in the process list)"

    # -- where things stand

    def _told(self, *settings: str) -> bool:
        """True if a missing value is explained already: it was ill-typed, or no file was read."""
        return not self.file.readable or any(
            problem.setting in settings for problem in self.problems
        )

    def _at(self, profile: str, name: str, text: str) -> None:
        found = self.file.profiles[profile].get(name)
        problem = Problem(
            text=text,
            setting=f"profiles.{profile}.{name}",
            file=self.path,
            line=found.line if found else self.file.profile_lines.get(profile),
        )
        if problem not in self.problems:
            self.problems.append(problem)

    def _profile_source(self, found: Found) -> str:
        return f"profile {self.profile}, {self.path}:{found.line}"

    def _file_source(self, found: Found | None) -> str:
        return f"config file, {self.path}:{found.line}" if found else "default"
