"""What the program was told to do: one frozen record, made once at the start; and why not.

Files, environment and flags become it in `resolve`; the file is never written.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.errors import AgentcoError
from agentco_tui.config.api_key import KeyPlace
from agentco_tui.keys.commands import PLACE_OF, UNBOUND, Command
from agentco_tui.model import AlertLimits, Notify
from agentco_tui.reading.mapping import AS_SENT, ProfileMapping
from agentco_tui.text import SafeText, plain, safe

Given = Mapping[str, Any]
"""The command line's arguments by name; a flag that was not given is absent."""


DEFAULT_PROFILE: Final = "default"
"""Of a platform that no profile names."""


class ViewSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A list as a person wants it again and again (`[views.NAME]`)."""

    name: str
    screen: str
    filter: str = ""
    sort: str | None = None
    """A column; `-` before it is the other way round."""
    columns: tuple[str, ...] = ()

    @property
    def tab(self) -> str:
        return f"{self.screen}:{self.name}"


class OwnCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command of a person's own (`[commands.NAME]`), run without a shell."""

    name: str
    run: tuple[str, ...]
    scope: tuple[str, ...]
    """The kinds of record under the cursor that it is for: company, agent, task, budget, alert,
    activity."""
    key: str = ""  # in Textual's names, parted by commas
    confirm: bool = False
    writes: bool = False
    """Whether it changes something, so that it is refused in read-only."""
    background: bool = False
    """Whether it has no terminal, and what it prints comes in a pane."""

    @property
    def command(self) -> Command:
        """As one of the table of commands, with the screens where such a record may be."""
        where, *also = dict.fromkeys(PLACE_OF[kind] for kind in self.scope)
        if self.scope != ("company",):
            also += ["overview"]
        words, name = safe(shlex.join(self.run), 200), safe(self.name)
        key = self.key or UNBOUND
        return Command(f"commands.{self.name}", key, name, words, where, "", also=(*also,))


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every effective setting; holds the key of the start, which masks itself."""

    base_url: BaseUrl
    """Where the platform is; checked, and the only origin the key goes to."""
    profile: str = DEFAULT_PROFILE
    key: ApiKey | None = None
    key_source: str = ""
    """In words: "AGENTCO_API_KEY", "api_key_command of profile prod"."""
    key_place: KeyPlace | None = None
    """Where another may be read; None if there is no such place, as for the demo's."""
    company: str | None = None
    screen: str | None = None
    refresh: float = 5.0  # seconds between two polls
    read_only: bool = False
    thin: bool = False
    allow_http: bool = False  # to other hosts than this one
    ca_file: Path | None = None
    """Certificates to trust instead of the system's, PEM."""
    trust_env: bool = False
    """True if proxies from the environment are used."""
    mapping: ProfileMapping = AS_SENT
    theme: str | None = None
    themes: Mapping[str, Mapping[str, Any]] = msgspec.field(default_factory=dict)
    """Those of a person's own: name to colours by their roles, of every file that is right."""
    keys: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Rebound keys: binding id to Textual's key names, parted by commas, ready for `set_keymap`;
    and those of `commands`.

    A binding left without a key has the name `agentco_tui.keys.commands.UNBOUND`."""
    alerts: AlertLimits = AlertLimits()
    hold: float = 2.0
    """Seconds for which a yes to one task can be taken back before it is sent (`[approve]`)."""
    advance: bool = True
    """Whether the cursor goes on to the next task after a yes to one (`[list]`)."""
    history: bool = True
    """Whether what is seen of the platform is remembered."""
    history_mb: int = 200
    """How large the file of it may be, in millions of bytes."""
    label: str | None = None
    """What the platform is called on the screen; the profile's name without it."""
    colour: str | None = None  # of its bar and questions, one of `validators.COLOURS`
    danger: bool | None = None
    """Whether it is painted as production; None: if its name tells of that."""
    protected: bool = False
    """Whether a set is decided only with the platform's name typed."""
    web_url: str | None = None
    """Where people look at a record: `https://host/{kind}/{id}`."""
    notify: Notify = Notify()
    views: tuple[ViewSettings, ...] = ()
    commands: tuple[OwnCommand, ...] = ()
    profiles: tuple[str, ...] = ()
    """Those that can be switched to, by name."""
    log_file: Path | None = None
    log_json: bool = False  # whether each of its lines is a JSON object
    config_path: Path | None = None
    """The config file, also if it does not exist."""
    sources: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Setting to where it came from, in words: "--refresh", "profile prod, FILE:12", "default"."""

    @property
    def line(self) -> dict[str, Any]:
        """How the platform is reached, as a Transport takes it."""
        about = {"ca_file": self.ca_file, "trust_env": self.trust_env}
        return {**about, "key_source": self.key_source}


class Switch(msgspec.Struct, frozen=True):
    """What a dashboard gives way to: that of another profile. By that of "" one begins with all."""

    profile: str
    need: str | None = None  # on whose line of the Overview it begins
    told: SafeText | None = None  # why it is that of before again


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong, and where.

    The text may quote the config file or the environment, so it passes `agentco_tui.text` before
    it is shown. It never holds an API key.
    """

    text: str
    setting: str | None = None
    """The setting's full name, `profiles.prod.refresh`, or the flag or variable that set it."""
    file: Path | None = None
    line: int | None = None  # counted from 1

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}:"
        if place and self.line is not None:
            place += f"{self.line}:"
        return " ".join(
            part for part in (place, self.setting and f"{self.setting}:", self.text) if part
        )


class SettingsError(AgentcoError):
    """The settings cannot be used; `problems` holds every reason, at least one."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems))


class NothingSetError(SettingsError):
    """No address, no key and no profile: somebody starts the program for the first time."""


def off_by(settings: Settings) -> SafeText | None:
    """What turned writing off, if something did."""
    by = settings.sources.get("read_only", "--read-only").partition(",")[0]
    return plain(f"writing is off ({safe(by, 40)})") if settings.read_only else None
