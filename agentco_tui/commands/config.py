"""`agentco-tui config`: where the settings are, what is wrong, what counts; and its first file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from agentco_tui import config
from agentco_tui.commands.running import Exit, complain, say, say_json
from agentco_tui.config import Given, ViewSettings
from agentco_tui.config.file import ALERTS
from agentco_tui.config.resolve import IN_SECTIONS, PICKED, Resolver, config_path
from agentco_tui.config.validators import duration_text
from agentco_tui.keys.commands import COMMANDS, UNBOUND, keys_of
from agentco_tui.system.state_folder import write_private

WrongInViews = Callable[[Sequence[ViewSettings]], list[tuple[str, str]]]
"""Says what is wrong with views: each setting by its full name, and why. The lists that views are
of belong to the screens, which commands don't import."""


def run(given: Given, env: Mapping[str, str], wrong_in_views: WrongInViews) -> Exit:
    """The exit code is 2 if `check` or `show` found a problem.

    JSON of `path`: {"path": str, "source": str, "exists": bool}, of `check`: {"path", "exists":
    bool, "problems": [{"file", "line", "setting", "text"}]}, of `show`: {"config": str,
    "settings": [{"name", "value", "source"}], "problems": as above}; values are texts, null where
    nothing is set; of `keys`: {"config": str, "keys": [{"name", "keys": [str], "does"}],
    "problems"}.
    """
    what: str = given["what"]
    file, source = config_path(given, env)
    if what == "init":
        begin_config(file)
        say(f"{file} is written, with every setting commented out")
        return Exit.OK
    if what == "path":
        if given["json"]:
            say_json({"path": str(file), "source": source, "exists": file.exists()})
            return Exit.OK
        # Nothing else, so that `$EDITOR "$(agentco-tui config path)"` works.
        say(str(file))
        if not file.exists():
            complain("this file does not exist yet")
        return Exit.OK
    resolved = Resolver(given, env)
    path, exists, rows = str(resolved.path), resolved.file.exists, _rows(resolved)
    # The key is not fetched: no command is run and no keyring is asked.
    resolved.check_all()
    if what == "check":
        resolved.problems += resolved.broken_themes()
        for setting, why in wrong_in_views(resolved.file.views):
            resolved.problems.append(resolved.file.problem(setting, why))
    problems = sorted(resolved.problems, key=lambda problem: problem.line or 0)
    if resolved.entry:
        # Without a profile nothing says that this file is meant to hold an address and a key.
        problems += resolved.missing
    problems = list(dict.fromkeys(problems))
    if given["json"]:
        check, show = {"path": path, "exists": exists}, {"config": path, "settings": rows}
        keys = {"config": path, "keys": _keys(resolved.file.keys)}
        wrong = [{**asdict(each), "file": each.file and str(each.file)} for each in problems]
        told: dict[str, Any] = {"check": check, "show": show, "keys": keys}
        say_json({**told[what], "problems": wrong})
    elif what == "check":
        # On stdout, because that is what was asked for.
        fine = "nothing is wrong" if exists else "does not exist, and need not"
        say(*([str(problem) for problem in problems] or [f"{path}: {fine}"]))
    elif what == "keys":
        for row in _keys(resolved.file.keys):
            say(f"{row['name']:<20}  {' '.join(row['keys']) or 'no key':<16}  {row['does']}")
        complain(*map(str, problems))
    else:
        say(f"config file: {path}{'' if exists else ' (does not exist)'}")
        widest = max(len(row["name"] or "") for row in rows)
        for row in rows:
            value = "not set" if row["value"] is None else row["value"]
            say(f"{row['name']:<{widest}}  {value}  ({row['source']})")
        complain(*map(str, problems))
    return Exit.USAGE if problems else Exit.OK


def begin_config(file: Path, profile: str = r"\g<0>") -> None:
    """Write the commented config, its profile by these lines. Raises AtomicWriteError."""
    text = Path(config.__file__).with_name("commented.toml").read_text(encoding="utf-8")
    text = re.sub(r"# \[profiles.*\n.*\n.*", profile, text)
    write_private(file, text.encode(), replace=False)


def _keys(rebound: Mapping[str, str]) -> list[dict[str, Any]]:
    """Each binding with the keys it has now."""
    return [
        {"name": one.id, "keys": list(keys_of(one.id, rebound)), "does": does}
        for one in COMMANDS
        if (does := one.tooltip)
    ]


def _rows(resolved: Resolver) -> list[dict[str, str | None]]:
    """Each setting as it is now; the value is text for people, None where nothing is set."""
    values: dict[str, object] = {"profile": resolved.profile, "base_url": resolved.base_url}
    # Neither the length of the key nor a part of it is shown.
    values["api_key"] = "****" if resolved.key_place else None
    values |= {name: resolved.values[name] for name in PICKED}
    for name in ALERTS:
        value = getattr(resolved.values["alerts"], name)
        is_wait = name.startswith("waiting_")
        values[f"alerts.{name}"] = duration_text(value) if is_wait else value
    for name, section in IN_SECTIONS.items():
        values[f"{section}.{name}"] = resolved.values[name]
    for binding, keys in resolved.file.keys.items():
        values[f"keys.{binding}"] = "no key" if keys == UNBOUND else keys
    source = resolved.key_place.words if resolved.key_place else "not set"
    sources = {**resolved.sources, "api_key": source}
    return [
        {"name": name, "value": _text(value), "source": sources.get(name, "default")}
        for name, value in values.items()
    ]


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
