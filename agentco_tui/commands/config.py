"""`agentco-tui config`: shows and checks the settings, and writes a first config file.

`Resolver` finds the effective value and the source of every setting; `DECLARED` lists the settings.
A profile is a table of the config file, with the address and the API key of one platform (the
service that is watched) under a name that the user chose. A view is a list that the user saved with
its filter and columns. A `Problem` is one thing that is wrong, with file, line and setting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec.structs import asdict

from agentco_tui.commands.command_output import Exit, print_json, print_lines, print_to_stderr
from agentco_tui.config import Arguments, Problem, ViewSettings
from agentco_tui.config.api_key import NO_KEY
from agentco_tui.config.commented import commented_config
from agentco_tui.config.declaration import PROFILE, DeclaredSetting
from agentco_tui.config.file import KEY_SOURCES, ConfigFile
from agentco_tui.config.resolve import Resolver, config_path
from agentco_tui.config.settings import DECLARED
from agentco_tui.config.validators import format_value
from agentco_tui.keys.commands import COMMANDS, UNBOUND, keys_of
from agentco_tui.system.state_folder import write_private

FindMistakesInViews = Callable[[Sequence[ViewSettings]], list[tuple[str, str]]]
"""Returns the mistakes in saved views: the full name of a setting, and what is wrong with it.

It is passed in, because only `screens` knows the columns of a view, and commands don't import that.
"""
FindMistakesInPlatforms = Callable[[ConfigFile], list[Problem]]
"""Returns the mistakes in the files of platforms that lie beside a config file, or that its
profiles name. It is passed in, because no command knows how a platform is described."""
Row = dict[str, str | None]
"""A setting for `config show`: "name", "value" (None if it is not set) and "source"."""
_MASKED: Final = "****"
"""Shown in place of the API key; it reveals neither the key's length nor a part of it."""


def run(
    arguments: Arguments,
    env: Mapping[str, str],
    find_mistakes_in_views: FindMistakesInViews,
    find_mistakes_in_platforms: FindMistakesInPlatforms,
) -> Exit:
    """Run `config path`, `check`, `show`, `keys` or `init`; exit code 2 if there is a problem.

    With `--json` they print:
    path: {"path": str, "source": str, "exists": bool}
    check: {"path": str, "exists": bool, "problems": [{"file", "line", "setting", "text"}]}
    show: {"config": str, "settings": [{"name", "value", "source"}], "problems": [...]}
    keys: {"config": str, "keys": [{"name", "keys": [str], "does"}], "problems": [...]}
    A value is a string, or null if the setting is not set.
    """
    action: str = arguments["what"]
    if action == "init":
        file, _ = config_path(arguments, env)
        begin_config(file)
        print_lines(f"{file} is written, with every setting commented out")
        return Exit.OK
    if action == "path":
        return _run_path(arguments, env)
    resolved = Resolver(arguments, env)
    rows = _setting_rows(resolved)
    resolved.check_all()  # adds the problems of all profiles, not only of the one in use
    if action == "check":
        resolved.problems += resolved.broken_themes()
        resolved.problems += find_mistakes_in_platforms(resolved.file)
        for setting, reason in find_mistakes_in_views(resolved.file.views):
            resolved.problems.append(resolved.file.problem(setting, reason))
    problems = _sorted_problems(resolved)
    if arguments["json"]:
        problem_rows = [_problem_row(problem) for problem in problems]
        print_json({**_as_json(action, resolved, rows), "problems": problem_rows})
    elif action == "check":
        _say_check(resolved, problems)
    elif action == "keys":
        for row in _key_rows(resolved.file.keys):
            keys = " ".join(row["keys"]) or "no key"
            print_lines(f"{row['name']:<20}  {keys:<16}  {row['does']}")
        print_to_stderr(*map(str, problems))
    else:
        _say_settings(resolved, rows)
        print_to_stderr(*map(str, problems))
    return Exit.USAGE if problems else Exit.OK


def begin_config(file: Path, profile_lines: Sequence[str] = ()) -> None:
    """Write a config file with the lines of a profile, if any, and all settings commented out.

    Raises AtomicWriteError, also if the file exists.
    """
    write_private(file, commented_config(profile_lines).encode(), replace=False)


def _run_path(arguments: Arguments, env: Mapping[str, str]) -> Exit:
    file, source = config_path(arguments, env)
    if arguments["json"]:
        print_json({"path": str(file), "source": source, "exists": file.exists()})
        return Exit.OK
    # Nothing else on stdout, so that `$EDITOR "$(agentco-tui config path)"` works.
    print_lines(str(file))
    if not file.exists():
        print_to_stderr("this file does not exist yet")
    return Exit.OK


def _sorted_problems(resolved: Resolver) -> list[Problem]:
    """Return each problem once, sorted by line, then the required settings that are missing."""
    problems = sorted(resolved.problems, key=lambda problem: problem.line or 0)
    # `entry` is the table of the profile in use.
    if resolved.entry:
        # Without a profile, the file need not hold an address and a key.
        problems += resolved.missing
    return list(dict.fromkeys(problems))


def _as_json(action: str, resolved: Resolver, rows: list[Row]) -> dict[str, Any]:
    path = str(resolved.path)
    if action == "check":
        return {"path": path, "exists": resolved.file.exists}
    if action == "keys":
        return {"config": path, "keys": _key_rows(resolved.file.keys)}
    return {"config": path, "settings": rows}


def _problem_row(problem: Problem) -> dict[str, Any]:
    return {**asdict(problem), "file": problem.file and str(problem.file)}


def _say_check(resolved: Resolver, problems: Sequence[Problem]) -> None:
    """Print the problems on stdout, because they are what the user asked for."""
    if problems:
        print_lines(*map(str, problems))
        return
    if resolved.file.exists:
        print_lines(f"{resolved.path}: nothing is wrong")
    else:
        print_lines(f"{resolved.path}: does not exist, and need not")


def _say_settings(resolved: Resolver, rows: Sequence[Row]) -> None:
    existence = "" if resolved.file.exists else " (does not exist)"
    print_lines(f"config file: {resolved.path}{existence}")
    widest = max(len(row["name"] or "") for row in rows)
    for row in rows:
        value = "not set" if row["value"] is None else row["value"]
        print_lines(f"{row['name']:<{widest}}  {value}  ({row['source']})")


def _key_rows(rebound: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the name, the keys and the purpose of each key binding.

    `COMMANDS` has everything that keys of the dashboard do; `rebound` is the user's `[keys]`.
    """
    return [
        {"name": command.id, "keys": list(keys_of(command.id, rebound)), "does": command.tooltip}
        for command in COMMANDS
        if command.tooltip
    ]


def _setting_rows(resolved: Resolver) -> list[Row]:
    """Return every setting with its value and source.

    Field mappings, `[keys]`, and tables whose names the user chooses are listed only as far as the
    config file sets them.
    """
    rows: list[Row] = []
    for declared in DECLARED:
        # The settings that say where the API key is (a file, a command, ...) are one row together.
        if declared.name == KEY_SOURCES[0]:
            rows.append(_api_key_row(resolved))
        # Repeated: in a table of which there may be several, such as [views.NAME].
        if declared.name in KEY_SOURCES or declared.is_repeated:
            continue
        if declared.field == "keys":
            rows += _binding_rows(resolved)
        # A group is a table of settings; those inside a profile are the field mappings.
        elif declared.group is not None and declared.group.table.startswith(PROFILE):
            for full_name, value in resolved.file.settings_of(declared, resolved.profile):
                source = f"profile {resolved.profile}, {resolved.file.location_of(full_name)}"
                rows += _nested_rows(declared.full_name, value, source)
        else:
            name = declared.full_name
            value = declared.format(_value_of(declared, resolved))
            rows.append(_row(name, value, resolved.sources[name]))
    return rows + _repeated_rows(resolved)


def _row(name: str, value: str | None, source: str) -> Row:
    return {"name": name, "value": value, "source": source}


def _value_of(declared: DeclaredSetting, resolved: Resolver) -> object:
    if declared.name == "profile":
        return resolved.profile
    if declared.name == "base_url":
        return resolved.base_url
    # The values of a group are fields of one record.
    value = resolved.values[declared.field]
    if declared.group is None:
        return value
    return getattr(value, declared.name)


def _api_key_row(resolved: Resolver) -> Row:
    """Return where the key comes from; never the setting's value, which could be the key."""
    location = resolved.key_location
    if location is None or location.setting == NO_KEY:
        return _row("api_key", None, "not set")
    return _row("api_key", _MASKED, location.description)


def _binding_rows(resolved: Resolver) -> list[Row]:
    rows = []
    for binding, keys in resolved.file.keys.items():
        name = f"keys.{binding}"
        shown_keys = "no key" if keys == UNBOUND else keys
        rows.append(_row(name, shown_keys, resolved.sources[name]))
    return rows


def _nested_rows(name: str, value: object, source: str) -> list[Row]:
    """Return a row for a value, or for each value in a table."""
    if not isinstance(value, Mapping):
        return [_row(name, format_value(value), source)]
    rows = []
    for inner, inner_value in value.items():
        rows += _nested_rows(f"{name}.{inner}", inner_value, source)
    return rows


def _repeated_rows(resolved: Resolver) -> list[Row]:
    """Return the settings in `[views.NAME]` and `[commands.NAME]` that the config file sets."""
    repeated = [declared for declared in DECLARED if declared.is_repeated]
    rows = []
    for table in dict.fromkeys(declared.tables[0] for declared in repeated):
        section = table.partition(".")[0]
        for name, entry in resolved.file.checked.get(section, {}).items():
            for declared in repeated:
                if declared.tables[0] == table and declared.name in entry:
                    full_name = f"{section}.{name}.{declared.name}"
                    source = f"config file, {resolved.file.location_of(full_name)}"
                    rows.append(_row(full_name, declared.format(entry[declared.name]), source))
    return rows
