"""Parses the command line by the table in `grammar`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from agentco_tui import __version__
from agentco_tui.cli.grammar import COMMANDS, DASHBOARD, PROG, Subcommand
from agentco_tui.text import safe

_KEY_FLAGS = ("--api-key", "--api_key", "--apikey", "--key", "--token", "--bearer")


class UsageError(Exception):
    """Arguments that make no sense; `str()` is the one line to say."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage before it."""

    def __init__(self, **options: Any) -> None:
        kind = argparse.RawDescriptionHelpFormatter
        super().__init__(**options, formatter_class=kind, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        if word := re.match(r"argument command: invalid choice: '(.*?)'", message):
            from agentco_tui.config.validators import nearest  # noqa: PLC0415 (slow)

            near = nearest(word[1], tuple(COMMANDS))
            message = f"no command {safe(word[1], 60)}; did you mean {near}?"
        raise UsageError(f"{message} (help: {self.prog} --help)")


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = _made(_Parser, DASHBOARD, prog=PROG, usage=f"{PROG} [flags] [command]")
    parser.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(
        title="commands (without one: the dashboard)",
        prog=PROG,
        dest="command",
        metavar="command",
        parser_class=_Parser,
    )
    for name, command in COMMANDS.items():
        _made(partial(commands.add_parser, name, help=command.summary), command)
    return parser


def parse(argv: Sequence[str]) -> dict[str, Any]:
    """The arguments by name; `command` is None for the dashboard.

    Flags of the settings that were not given are absent. Raises UsageError, and SystemExit(0)
    after what prints help or the version.
    """
    _refuse_flags(argv)
    found, extra = build_parser().parse_known_args(argv)
    if extra:
        raise UsageError(f"unknown argument: {safe(extra[0], 60)} (help: {PROG} --help)")
    if found.command == "version":
        return parse(["--version"])
    if found.command == "help":
        return _help(found.what)
    return vars(found)


def _help(what: str | None) -> dict[str, Any]:
    """Show the help of a command or a page of the manual; without a name, of the whole program.

    Where a command and a page have the same name, both are shown. Raises SystemExit(0) when it has
    been shown, and UsageError if there is no such command or page.
    """
    from agentco_tui.cli import manual  # noqa: PLC0415 (only needed here)

    if what is None:
        return parse(["--help"])
    is_command = what in COMMANDS
    if not is_command and what not in manual.TOPICS:
        from agentco_tui.config.validators import nearest  # noqa: PLC0415 (slow)

        near = nearest(what, (*COMMANDS, *manual.TOPICS))
        raise UsageError(f"no command or topic {safe(what, 60)}; did you mean {near}?")
    if what not in manual.TOPICS:
        return parse([what, "--help"])
    manual.show(what, command_help=_command_help(what) if is_command else "")
    raise SystemExit(0)


def _command_help(name: str) -> str:
    """The text that `agentco-tui NAME --help` prints."""
    return _made(partial(_Parser, prog=f"{PROG} {name}"), COMMANDS[name]).format_help()


def _made(make: Callable[..., _Parser], command: Subcommand, **options: str) -> _Parser:
    told = ("examples:", *(f"  {PROG} {line}" for line in command.examples), "", command.more)
    parser = make(**options, description=command.summary, epilog="\n".join(told))
    for flag in command.flags:
        parser.add_argument(*flag.names, **flag.options)
    return parser


def _refuse_flags(argv: Sequence[str]) -> None:
    """Refuse a flag that the command doesn't have before its value is taken for a command."""
    own = next((COMMANDS[word] for word in argv if word in COMMANDS), DASHBOARD)
    known = {"--help": "", "--version": ""}
    known |= {name: flag.options["help"] for flag in reversed(own.flags) for name in flag.names}
    before = {name for flag in DASHBOARD.flags for name in flag.names}
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
        if name.startswith("--") and name not in known.keys() | before:
            from agentco_tui.config.validators import nearest  # noqa: PLC0415 (slow)

            near = nearest(name, [one for one, told in known.items() if told != argparse.SUPPRESS])
            raise UsageError(f"unknown flag {safe(name, 60)}; the nearest is {near}")
