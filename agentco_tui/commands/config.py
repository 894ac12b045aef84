"""`agentco-tui config path|check|show`: where the settings are, what is wrong, what counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from agentco_tui.commands.output import Exit, complain, complain_of, say, say_json
from agentco_tui.config import Flags, Problem
from agentco_tui.config.report import Report, report
from agentco_tui.config.resolve import config_path


def run(what: str, flags: Flags, env: Mapping[str, str], *, as_json: bool) -> Exit:
    """Run `config WHAT`; the exit code is 2 if `check` or `show` found a problem."""
    if what == "path":
        return _path(flags, env, as_json=as_json)
    found = report(flags, env)
    return _check(found, as_json) if what == "check" else _show(found, as_json)


def _path(flags: Flags, env: Mapping[str, str], *, as_json: bool) -> Exit:
    """Print the path and nothing else, so that `$EDITOR "$(agentco-tui config path)"` works.

    JSON: {"path": str, "source": str, "exists": bool}.
    """
    path, source = config_path(flags, env)
    if as_json:
        say_json({"path": str(path), "source": source, "exists": path.exists()})
        return Exit.OK
    say(str(path))
    if not path.exists():
        complain("this file does not exist yet")
    return Exit.OK


def _check(found: Report, as_json: bool) -> Exit:
    """Tell every problem, on stdout, because that is what was asked for.

    JSON: {"path": str, "exists": bool, "problems": [{"file", "line", "setting", "text"}]}.
    """
    if as_json:
        say_json(
            {
                "path": str(found.path),
                "exists": found.exists,
                "problems": [_problem(problem) for problem in found.problems],
            }
        )
    elif found.problems:
        say(*(str(problem) for problem in found.problems))
    elif found.exists:
        say(f"{found.path}: nothing is wrong")
    else:
        say(f"{found.path}: does not exist, and need not")
    return Exit.USAGE if found.problems else Exit.OK


def _show(found: Report, as_json: bool) -> Exit:
    """Each effective setting and its source; problems go to stderr.

    JSON: {"config": str, "settings": [{"name", "value", "source"}], "problems": as in `check`};
    values are texts, null where nothing is set.
    """
    if as_json:
        say_json(
            {
                "config": str(found.path),
                "settings": [asdict(row) for row in found.settings],
                "problems": [_problem(problem) for problem in found.problems],
            }
        )
    else:
        say(f"config file: {found.path}{'' if found.exists else ' (does not exist)'}")
        widest = max(len(row.name) for row in found.settings)
        for row in found.settings:
            value = "not set" if row.value is None else row.value
            say(f"{row.name:<{widest}}  {value}  ({row.source})")
        complain_of(found.problems)
    return Exit.USAGE if found.problems else Exit.OK


def _problem(problem: Problem) -> dict[str, object]:
    return {
        "file": None if problem.file is None else str(problem.file),
        "line": problem.line,
        "setting": problem.setting,
        "text": problem.text,
    }
