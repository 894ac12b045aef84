"""Parses the command line by the tables in `grammar`.

This module and what it imports is all that `--help` and `version` need, so it imports little: text
cleaning and the settings only when there is an error to report. `COMMANDS` has a `Subcommand` for
each command, and `DASHBOARD` is that of the program without a command.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, NoReturn

from agentco_tui import __version__
from agentco_tui.cli.grammar import COMMANDS, DASHBOARD, PROG, Subcommand

_KEY_FLAGS = ("--api-key", "--api_key", "--apikey", "--key", "--token", "--bearer")
"""Flags with which users try to pass the API key. None takes it, and the error says why."""
_DEFAULT_COLUMNS = 80
"""The width of the help if the terminal's is unknown."""


class UsageError(Exception):
    """The arguments are wrong; the message is one line for the user."""


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Formats the help in the width of the terminal."""

    def __init__(self, prog: str) -> None:
        # Given a width, argparse does not import shutil, which takes longer than the help.
        super().__init__(prog, width=_terminal_columns() - 2)


class _Parser(argparse.ArgumentParser):
    """Raises UsageError instead of printing the usage and leaving the program."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, formatter_class=_HelpFormatter, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        unknown = re.match(r"argument command: invalid choice: '(.*?)'", message)
        if unknown:
            message = f"no command {_shown(unknown[1])}; did you mean {_nearest(unknown[1])}?"
        raise UsageError(f"{message} (help: {self.prog} --help)")


def build_parser(commands: Collection[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser of the command line, which can parse the given commands.

    Of the others it only has the name and the summary, for the help of the whole program.
    """
    parser = _add_flags(_Parser, DASHBOARD, prog=PROG, usage=f"{PROG} [flags] [command]")
    parser.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    parser.set_defaults(command=None)
    subparsers: Any = parser.add_subparsers(  # type: ignore[call-overload]  # a function, no class
        title="commands (without one: the dashboard)",
        prog=PROG,
        dest="command",
        metavar="command",
        parser_class=_make_command_parser,
    )
    for name, command in COMMANDS.items():
        add_parser = partial(subparsers.add_parser, name, help=command.summary)
        if name in commands:
            _add_flags(add_parser, command)
        else:
            add_parser(is_needed=False)  # `_make_command_parser` gets this option
    return parser


def _make_command_parser(*, is_needed: bool = True, **options: Any) -> _Parser | None:
    """The parser of a command for argparse; None if the command can't be on the command line.

    argparse takes longer to make the parsers of all commands than for the rest of `--help`.
    """
    return _Parser(**options) if is_needed else None


def parse(argv: Sequence[str]) -> dict[str, Any]:
    """Parse the command line; returns the arguments by name.

    `command` is None for the dashboard. A flag that sets a setting is absent if it was not given.
    Raises UsageError, and SystemExit(0) after it has printed help or the version.
    """
    _refuse_unknown_flags(argv)
    # These can be more than one, because a word may also be the value of a flag.
    named_commands = COMMANDS.keys() & set(argv)
    namespace, extra = build_parser(named_commands).parse_known_args(argv)
    if extra:
        raise UsageError(f"unknown argument: {_shown(extra[0])} (help: {PROG} --help)")
    if namespace.command == "version":
        return parse(["--version"])
    if namespace.command == "help":
        return _show_help(namespace.what)  # raises SystemExit
    return vars(namespace)


def _show_help(topic: str | None) -> dict[str, Any]:
    """Show the help of a command or a page of the manual; for None, that of the whole program.

    If a command and a page have the same name, both are shown. Raises SystemExit(0) after that, and
    UsageError if there is no such command or page.
    """
    if topic is None:
        return parse(["--help"])
    from agentco_tui.cli import manual  # noqa: PLC0415 (only needed here)

    is_command = topic in COMMANDS
    if not is_command and topic not in manual.TOPICS:
        nearest = _nearest(topic, (*COMMANDS, *manual.TOPICS))
        raise UsageError(f"no command or topic {_shown(topic)}; did you mean {nearest}?")
    if topic not in manual.TOPICS:
        return parse([topic, "--help"])
    manual.show(topic, command_help=_command_help(topic) if is_command else "")
    raise SystemExit(0)


def _command_help(name: str) -> str:
    """The text that `agentco-tui NAME --help` prints."""
    return _add_flags(partial(_Parser, prog=f"{PROG} {name}"), COMMANDS[name]).format_help()


def _add_flags(make_parser: Callable[..., _Parser], command: Subcommand, **options: str) -> _Parser:
    """Make a parser with the flags and the help of a command."""
    examples = [f"  {PROG} {line}" for line in command.examples]
    epilog = "\n".join(("examples:", *examples, "", command.more))
    parser = make_parser(**options, description=command.summary, epilog=epilog)
    for flag in command.flags:
        parser.add_argument(*flag.names, **flag.options)
    return parser


def _refuse_unknown_flags(argv: Sequence[str]) -> None:
    """Raise UsageError for a flag that the command does not have.

    argparse would take the value after it for a command, and report that.
    """
    command = DASHBOARD
    for word in argv:
        if word in COMMANDS:
            command = COMMANDS[word]
            break
    hidden_flags: set[str] = set()
    shown_flags = ["--help", "--version"]
    for flag in command.flags:
        if flag.options["help"] == argparse.SUPPRESS:
            hidden_flags.update(flag.names)
        else:
            shown_flags += flag.names
    # The flags of the dashboard may also come before a command.
    flags_of_dashboard = {name for flag in DASHBOARD.flags for name in flag.names}
    for word in argv:
        if word == "--":
            return
        name = word.partition("=")[0]
        if name.lower() in _KEY_FLAGS:
            raise UsageError(
                "no flag takes the API key: everybody on this machine would see it in the process"
                " list. Set AGENTCO_API_KEY, or api_key_command, api_key_env, api_key_file or"
                " keyring in a profile"
            )
        is_known = name in shown_flags or name in hidden_flags or name in flags_of_dashboard
        if name.startswith("--") and not is_known:
            nearest = _nearest(name, shown_flags)
            raise UsageError(f"unknown flag {_shown(name)}; the nearest is {nearest}")


def _terminal_columns() -> int:
    """The width of the terminal in characters, as `shutil.get_terminal_size` finds it."""
    try:
        columns = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        columns = 0
    if columns > 0:
        return columns
    try:
        columns = os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        # There is no standard output, or it is no terminal.
        columns = 0
    return columns if columns > 0 else _DEFAULT_COLUMNS


def _nearest(word: str, names: Sequence[str] = tuple(COMMANDS)) -> str:
    """The name that is most like a mistyped word."""
    from agentco_tui.config.validators import nearest  # noqa: PLC0415 (slow)

    return nearest(word, names)


def _shown(word: str) -> str:
    """A word of the command line for an error message: cleaned, and cut if it is long."""
    from agentco_tui.cli.terminal_signs import choose_signs  # noqa: PLC0415 (not for --help)
    from agentco_tui.text import clean_line  # noqa: PLC0415 (not needed for --help)

    choose_signs()  # ASCII or Unicode, as the output can show them
    return clean_line(word, 60)
