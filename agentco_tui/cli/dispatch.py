"""Runs the dashboard or a command for arguments that were parsed, and reports what ended it.

No traceback is ever printed. Each part is imported when it is needed, so that `status` and `tail`
never wait for Textual.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Final

from agentco_tui.api.errors import ApiError
from agentco_tui.cli.arguments import UsageError, parse
from agentco_tui.cli.launch import launch_dashboards, launch_replay
from agentco_tui.cli.terminal_signs import choose_signs
from agentco_tui.commands.command_output import Exit, OutputError, print_to_stderr, write_stdout
from agentco_tui.commands.user_prompt import ask
from agentco_tui.config import (
    Arguments,
    NothingSetError,
    SettingsError,
    ViewSettings,
)
from agentco_tui.config.resolve import load, load_any
from agentco_tui.system.atomic_write import AtomicWriteError
from agentco_tui.terminal.fitness import check

MODULES: Final = {
    "approve": "writing",
    "create-task": "writing",
    "set-limit": "writing",
    "history": "history_command",
    "journal": "journal_command",
    "logout": "login",
}
"""The modules of the commands whose module has another name."""

_WELCOME = """\
agentco-tui has no platform to show yet. To start:

  d   agentco-tui demo    see it at once, on a platform of its own
  l   agentco-tui login   a platform of yours: its address and key are asked for and tried
  e                       how to set both in the environment or a file
  q                       quit
"""
_BY_HAND = """\
  AGENTCO_BASE_URL=https://platform.example.com AGENTCO_API_KEY=… agentco-tui
  (the key: Settings, API Keys); or, for good, in a file of profiles: agentco-tui config init
"""


def run(argv: list[str], arguments: Arguments, env: Mapping[str, str]) -> int:
    """Run what the arguments ask for; returns the exit code. `arguments` was parsed from `argv`."""
    choose_signs()
    try:
        code = _run(argv, arguments, env)
        write_stdout("")
    except (UsageError, AtomicWriteError) as error:
        return report_usage(str(error))
    except SettingsError as error:
        print_to_stderr(*map(str, error.problems))
        return Exit.USAGE
    except ApiError as error:
        print_to_stderr(str(error))
        return Exit.NO_ANSWER
    except BrokenPipeError:
        # The reader (`head`, a closed pager) has what it wanted.
        drop_stdout()
        return Exit.OK
    except OutputError as error:
        drop_stdout()
        print_to_stderr(str(error))
        return Exit.FAILED
    except EOFError:  # the end of input at a question
        return Exit.USAGE
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except Exception as error:  # the last door: nothing may print a traceback at a person
        from agentco_tui.terminal.crash import Crash

        # What and where, without the error's own text, which may quote anything.
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
        # Else Python puts warnings that nobody handles on the terminal.
        logging.getLogger().addHandler(logging.NullHandler())
    command: str | None = arguments["command"]
    if command == "config":
        from agentco_tui.commands import config

        return config.run(arguments, env, _wrong_in_views)
    if command not in (None, "demo", "replay"):
        module = import_module(f"agentco_tui.commands.{MODULES.get(command, command)}")
        code: int = module.run(arguments, env)
        return code
    if command == "demo" and arguments["serve"]:
        from agentco_tui.commands import demo

        return demo.serve(arguments)
    if command == "replay":
        from agentco_tui.commands import replay_command

        return replay_command.run(arguments, env, launch_replay)
    if arguments.get("plain"):
        from agentco_tui.commands import plain

        return plain.run(arguments, env)
    if refusal := check(env).refusal:
        print_to_stderr(refusal)
        return Exit.USAGE
    if command == "demo":
        from agentco_tui.commands import demo

        return demo.run(arguments, env, partial(launch_dashboards, arguments, env))
    try:
        settings = (load_any if arguments.get("all_profiles") else load)(arguments, env)
    except NothingSetError:
        return _welcome(argv, env)
    return launch_dashboards(arguments, env, settings)


def _welcome(argv: list[str], env: Mapping[str, str]) -> int:
    """Say how to start, and do what the user chooses; returns the exit code."""
    write_stdout(f"{_WELCOME}\n")
    choice = ""
    while choice not in ("d", "l", "e", "q"):
        choice = ask("d, l, e or q, then enter:").lower()
    if choice == "d":
        return _run_more(argv, "demo", env)
    if choice == "l":
        return _run_more(argv, "login", env)
    if choice == "e":
        write_stdout(_BY_HAND)
    return Exit.USAGE


def _run_more(argv: list[str], command: str, env: Mapping[str, str]) -> int:
    """Run a command with the flags that were given for the dashboard."""
    words = [*argv, command]
    return _run(words, parse(words), env)


def _wrong_in_views(views: Sequence[ViewSettings]) -> list[tuple[str, str]]:
    """As `wrong_in_views`; the screens are imported only where there is a view to check."""
    if not views:
        return []
    from agentco_tui.screens.view_check import wrong_in_views

    return wrong_in_views(views)


def drop_stdout() -> None:
    """Python flushes stdout once more at its end, and would complain about the same again."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
