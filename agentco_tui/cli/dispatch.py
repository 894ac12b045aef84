"""Runs what the parsed arguments ask for: a command, or the dashboard; and reports how it ended.

No traceback is ever printed. A part is imported when it is run, so that `status` and `tail` import
neither Textual nor what starts a dashboard. A platform is the service whose companies of AI agents
are watched; the settings name its address, its API key and the lists (views) that the user saved.
A profile is the part of the settings for one platform. The history is the database of what was read
from it, the journal the file of what was sent to it. `replay` shows a recorded session again, and
`--plain` shows numbered lines instead of screens.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

from agentco_tui.api.errors import ApiError
from agentco_tui.cli.arguments import UsageError, parse
from agentco_tui.cli.terminal_signs import choose_signs
from agentco_tui.commands.command_output import Exit, OutputError, print_to_stderr, write_stdout
from agentco_tui.config import Arguments, NothingSetError, Problem, SettingsError, ViewSettings
from agentco_tui.system.atomic_write import AtomicWriteError

if TYPE_CHECKING:
    from agentco_tui.config.file import ConfigFile

MODULES: Final = {
    "approve": "writing",
    "create-task": "writing",
    "set-limit": "writing",
    "history": "history_command",
    "journal": "journal_command",
    "logout": "login",
}
"""The modules in `commands` whose name is not that of their command."""

_WELCOME = """\
agentco-tui has no platform to show yet. To start:

  d   agentco-tui demo    try it now, on a simulated platform
  l   agentco-tui login   connect your platform: enter and test its address and API key
  e                       show how to set both in the environment or in a file
  q                       quit
"""
_HOW_TO_SET = """\
  AGENTCO_BASE_URL=https://platform.example.com AGENTCO_API_KEY=… agentco-tui
  (the platform shows the key under Settings, API Keys); or permanently, in a config file:
  agentco-tui config init
"""


def run(argv: list[str], arguments: Arguments, env: Mapping[str, str]) -> int:
    """Run what the arguments ask for; returns the exit code.

    `arguments` are those that were parsed from `argv`; `env` is the environment.
    """
    choose_signs()  # ASCII or Unicode, as the output can show them
    try:
        code = _run(argv, arguments, env)
        write_stdout("")  # flushes, so that an error of the output is reported here
    except (UsageError, AtomicWriteError) as error:
        return report_usage(str(error))
    except SettingsError as error:
        print_to_stderr(*map(str, error.problems))
        return Exit.USAGE
    except ApiError as error:
        print_to_stderr(str(error))
        return Exit.NO_ANSWER
    except BrokenPipeError:
        # The reader, such as `head` or a pager, closed the pipe: it has what it wanted.
        drop_stdout()
        return Exit.OK
    except OutputError as error:
        drop_stdout()
        print_to_stderr(str(error))
        return Exit.FAILED
    except EOFError:  # the input ended where the user was asked something
        return Exit.USAGE
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except Exception as error:  # a defect of the program: the user must not see a traceback
        from agentco_tui.terminal.crash import Crash

        # The type and the place of the error, without its text, which may quote secrets.
        print_to_stderr(
            f"stopped by an error in the program: {Crash((error,)).summary()}",
            "to report it, run it again with --log-file FILE: the details are written there",
        )
        return Exit.FAILED
    return code


def report_usage(problem: str) -> int:
    """Print what is wrong with the arguments; returns the exit code."""
    print_to_stderr(problem)
    return Exit.USAGE


def _run(argv: list[str], arguments: Arguments, env: Mapping[str, str]) -> int:
    if not logging.getLogger().handlers:
        # Otherwise Python prints warnings to the terminal.
        logging.getLogger().addHandler(logging.NullHandler())
    command: str | None = arguments["command"]
    if command == "config":
        from agentco_tui.commands import config

        return config.run(arguments, env, _find_mistakes_in_views, _find_mistakes_in_platforms)
    if command not in (None, "demo", "replay"):
        module = import_module(f"agentco_tui.commands.{MODULES.get(command, command)}")
        code: int = module.run(arguments, env)
        return code
    if command == "demo" and arguments["platform"] is not None:
        from agentco_tui.cli.launch import launch_replay
        from agentco_tui.commands import demo

        return demo.play(arguments, env, launch_replay)
    if command == "demo" and arguments["serve"]:
        from agentco_tui.commands import demo

        return demo.serve(arguments)
    if command == "replay":
        from agentco_tui.cli.launch import launch_replay
        from agentco_tui.commands import replay_command

        return replay_command.run(arguments, env, launch_replay)
    if arguments.get("plain"):
        from agentco_tui.commands import plain

        return plain.run(arguments, env)
    return _run_dashboard(argv, arguments, env)


def _run_dashboard(argv: list[str], arguments: Arguments, env: Mapping[str, str]) -> int:
    """Run the dashboard, on a simulated platform for `demo`; returns the exit code."""
    from agentco_tui.cli.launch import launch_dashboards
    from agentco_tui.config.resolve import load, load_any
    from agentco_tui.terminal.fitness import check_terminal

    refusal = check_terminal(env).refusal
    if refusal:
        print_to_stderr(refusal)
        return Exit.USAGE
    if arguments["command"] == "demo":
        from agentco_tui.commands import demo

        return demo.run(arguments, env, partial(launch_dashboards, arguments, env))
    # `load_any` takes the first profile that can be used, where `load` raises SettingsError.
    load_settings = load_any if arguments.get("all_profiles") else load
    try:
        settings = load_settings(arguments, env)
    except NothingSetError:  # no address, no key and no config file: a new user
        return _welcome(argv, env)
    except SettingsError as error:
        from agentco_tui.commands.command_context import with_platform_hint

        raise with_platform_hint(error, arguments, env) from None
    return launch_dashboards(arguments, env, settings)


def _welcome(argv: list[str], env: Mapping[str, str]) -> int:
    """Show how to start, and run what the user chooses; returns the exit code."""
    from agentco_tui.commands.user_prompt import ask

    write_stdout(f"{_WELCOME}\n")
    choice = ""
    while choice not in ("d", "l", "e", "q"):
        choice = ask("d, l, e or q, then enter:").lower()
    if choice == "d":
        return _run_command(argv, "demo", env)
    if choice == "l":
        return _run_command(argv, "login", env)
    if choice == "e":
        write_stdout(_HOW_TO_SET)
    return Exit.USAGE


def _run_command(argv: list[str], command: str, env: Mapping[str, str]) -> int:
    """Run a command with the flags that were given for the dashboard."""
    words = [*argv, command]
    return _run(words, parse(words), env)


def _find_mistakes_in_views(views: Sequence[ViewSettings]) -> list[tuple[str, str]]:
    """The mistakes in saved views, for `config check`; imports the screens only if there are views.

    Each is the full name of a setting, and what is wrong with it.
    """
    if not views:
        return []
    from agentco_tui.screens.view_check import wrong_in_views

    return wrong_in_views(views)


def drop_stdout() -> None:
    """Redirect stdout to nowhere, because Python flushes it again at exit, and would fail again."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _find_mistakes_in_platforms(config: ConfigFile) -> list[Problem]:
    """The mistakes in the files of platforms, for `config check`, if there is anything to check."""
    is_named = any("platform" in profile for profile in config.profiles.values())
    if not is_named and not any(config.path.parent.glob("platforms/*.toml")):
        return []
    from agentco_tui.platforms.platform_file import platform_problems

    return platform_problems(config)
