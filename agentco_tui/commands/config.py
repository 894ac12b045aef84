"""`agentco-tui config path|check|show`: where the settings are, what is wrong, what counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec.structs import asdict

from agentco_tui.commands.output import Exit, complain, complain_of, say, say_json
from agentco_tui.config import Flags, Problem
from agentco_tui.config.file import ALERTS
from agentco_tui.config.resolve import PICKED, Resolver, config_path
from agentco_tui.config.validators import duration_text
from agentco_tui.keys import UNBOUND

MASK = "****"
"""Stands for the key: neither its length nor a part of it is shown."""


def run(what: str, flags: Flags, env: Mapping[str, str], *, as_json: bool) -> Exit:
    """Run `config WHAT`; the exit code is 2 if `check` or `show` found a problem.

    JSON of `path`: {"path": str, "source": str, "exists": bool}, of `check`: {"path", "exists":
    bool, "problems": [{"file", "line", "setting", "text"}]} and of `show`: {"config": str,
    "settings": [{"name", "value", "source"}], "problems": as above}; values are texts, null where
    nothing is set.
    """
    if what == "path":
        return _path(flags, env, as_json=as_json)
    resolved = Resolver(flags, env)
    path, exists = str(resolved.path), resolved.file.exists
    problems, rows = _problems(resolved), _rows(resolved)
    if as_json:
        told: dict[str, Any] = {"path": path, "exists": exists}
        if what == "show":
            told = {"config": path, "settings": [row._asdict() for row in rows]}
        wrong = [{**asdict(each), "file": each.file and str(each.file)} for each in problems]
        say_json({**told, "problems": wrong})
    elif what == "check":
        # On stdout, because that is what was asked for.
        fine = "nothing is wrong" if exists else "does not exist, and need not"
        say(*([str(problem) for problem in problems] or [f"{path}: {fine}"]))
    else:
        say(f"config file: {path}{'' if exists else ' (does not exist)'}")
        widest = max(len(row.name) for row in rows)
        for row in rows:
            value = "not set" if row.value is None else row.value
            say(f"{row.name:<{widest}}  {value}  ({row.source})")
        complain_of(problems)
    return Exit.USAGE if problems else Exit.OK


def _path(flags: Flags, env: Mapping[str, str], *, as_json: bool) -> Exit:
    """Print the path and nothing else, so that `$EDITOR "$(agentco-tui config path)"` works."""
    path, source = config_path(flags, env)
    if as_json:
        say_json({"path": str(path), "source": source, "exists": path.exists()})
        return Exit.OK
    say(str(path))
    if not path.exists():
        complain("this file does not exist yet")
    return Exit.OK


class Effective(NamedTuple):
    """One setting as it is now; the value is text for people, None where nothing is set."""

    name: str
    value: str | None
    source: str


def _problems(resolved: Resolver) -> list[Problem]:
    """All that is wrong, without fetching the key: no command is run and no keyring is asked."""
    resolved.check_all()
    problems = sorted(resolved.problems, key=lambda problem: problem.line or 0)
    # Without a profile nothing says that this file is meant to hold an address and a key.
    return list(dict.fromkeys(problems + (resolved.missing if resolved.entry else [])))


def _rows(resolved: Resolver) -> list[Effective]:
    values: dict[str, object] = {"profile": resolved.profile, "base_url": resolved.base_url}
    values |= {name: resolved.values[name] for name in PICKED}
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
