"""What `config show` and `config check` tell: each effective setting, its source, every problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agentco_tui.config import kinds
from agentco_tui.config.file import ALERTS
from agentco_tui.config.gathering import Gathering
from agentco_tui.config.problems import Problem
from agentco_tui.config.settings import Flags
from agentco_tui.keys import UNBOUND

_PLAIN = (
    "company",
    "screen",
    "refresh",
    "read_only",
    "thin",
    "allow_http",
    "trust_env",
    "ca_file",
    "theme",
    "log_file",
)
MASK = "****"
"""Stands for the key: neither its length nor a part of it is shown."""


@dataclass(frozen=True)
class Effective:
    """One setting as it is now; the value is text for people, None where nothing is set."""

    name: str
    value: str | None
    source: str


@dataclass(frozen=True)
class Report:
    """All settings, and what is wrong with them."""

    path: Path
    path_source: str
    exists: bool
    settings: tuple[Effective, ...]
    problems: tuple[Problem, ...]


def report(flags: Flags, env: Mapping[str, str]) -> Report:
    """Look at everything without fetching the key: no command is run and no keyring is asked."""
    gathering = Gathering(flags, env)
    gathering.check_all()
    problems = sorted(gathering.problems, key=lambda problem: problem.line or 0)
    if gathering.has_profile:
        # Without a profile nothing says that this file is meant to hold an address and a key.
        problems += gathering.missing
    return Report(
        path=gathering.path,
        path_source=gathering.path_source,
        exists=gathering.file.exists,
        settings=tuple(_rows(gathering)),
        problems=tuple(dict.fromkeys(problems)),
    )


def _rows(gathering: Gathering) -> list[Effective]:
    def row(name: str, value: object) -> Effective:
        return Effective(name, _text(value), gathering.sources.get(name, "default"))

    values = {name: value for name, value in gathering.values.items() if name in _PLAIN}
    alerts = gathering.values["alerts"]
    for name in ALERTS:
        value = getattr(alerts, name)
        is_wait = name.startswith("waiting_")
        values[f"alerts.{name}"] = kinds.duration_text(value) if is_wait else value
    values["approve.hold"] = gathering.values["hold"]
    values |= {
        f"keys.{binding}": "no key" if keys == UNBOUND else keys
        for binding, keys in gathering.file.keys.items()
    }
    return [
        row("profile", gathering.profile),
        row("base_url", gathering.base_url),
        Effective("api_key", MASK if gathering.key_setting else None, gathering.key_source),
        *(row(name, value) for name, value in values.items()),
    ]


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
