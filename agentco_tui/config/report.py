"""What `config show` and `config check` tell: each effective setting, its source, every problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agentco_tui.config.file import ALERTS
from agentco_tui.config.problems import Problem
from agentco_tui.config.resolve import Resolver
from agentco_tui.config.settings import Flags
from agentco_tui.config.validators import duration_text
from agentco_tui.keys import UNBOUND

_PLAIN = (
    *("company", "screen", "refresh", "read_only", "thin", "allow_http", "trust_env"),
    *("ca_file", "theme", "log_file"),
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
    exists: bool
    settings: tuple[Effective, ...]
    problems: tuple[Problem, ...]


def report(flags: Flags, env: Mapping[str, str]) -> Report:
    """Look at everything without fetching the key: no command is run and no keyring is asked."""
    resolved = Resolver(flags, env)
    resolved.check_all()
    problems = sorted(resolved.problems, key=lambda problem: problem.line or 0)
    if resolved.has_profile:
        # Without a profile nothing says that this file is meant to hold an address and a key.
        problems += resolved.missing
    return Report(
        resolved.path,
        resolved.file.exists,
        tuple(_rows(resolved)),
        tuple(dict.fromkeys(problems)),
    )


def _rows(resolved: Resolver) -> list[Effective]:
    values: dict[str, object] = {"profile": resolved.profile, "base_url": resolved.base_url}
    values |= {name: resolved.values[name] for name in _PLAIN}
    for name in ALERTS:
        value = getattr(resolved.values["alerts"], name)
        is_wait = name.startswith("waiting_")
        values[f"alerts.{name}"] = duration_text(value) if is_wait else value
    values["approve.hold"] = resolved.values["hold"]
    for binding, keys in resolved.file.keys.items():
        values[f"keys.{binding}"] = "no key" if keys == UNBOUND else keys
    rows = [
        Effective(name, _text(value), resolved.sources.get(name, "default"))
        for name, value in values.items()
    ]
    key = Effective("api_key", MASK if resolved.key_setting else None, resolved.key_source)
    return [*rows[:2], key, *rows[2:]]


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
