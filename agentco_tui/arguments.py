"""The command line's grammar: flags, commands and their help. What they do is in `commands`.

No flag takes the API key, because other users see it in the process list.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from agentco_tui import __version__
from agentco_tui.config.problems import WrongError, nearest
from agentco_tui.config.settings import Flags
from agentco_tui.config.validators import refresh_word
from agentco_tui.keys import SCREENS
from agentco_tui.text import safe

PROG = "agentco-tui"
_KEY_FLAGS = ("--api-key", "--api_key", "--apikey", "--key", "--token", "--bearer")

_EPILOG = """\
examples:
  agentco-tui demo                        try it, with a platform of its own
  agentco-tui                             the dashboard
  agentco-tui --profile prod --read-only  the same, where nothing can be changed
  agentco-tui status --json               one look, for scripts and monitoring
  agentco-tui tail --follow               the activity feed as lines
  agentco-tui config check                what is wrong with the config file

environment:
  AGENTCO_BASE_URL   address of the platform
  AGENTCO_API_KEY    API key (no flag takes it: it would show in the process list)
  AGENTCO_PROFILE    profile of the config file
  AGENTCO_CONFIG     the config file itself
  AGENTCO_READ_ONLY  1 to refuse every change
  NO_COLOR           set to anything: no colours

A flag beats the environment, which beats the profile.
"""
_STATUS_EPILOG = """\
exit codes, as monitoring plugins have them:
  0  all well
  1  warning
  2  critical
  3  unknown: the platform, or a part of it, could not be asked, or the settings are wrong

What is known to be critical is told as critical, even if another part could not be asked;
what could not be asked is told before a warning. From when on something counts is set in
[alerts] of the config file.
"""
_TAIL_EPILOG = """\
Oldest first, newest last. With --follow it goes on until it is stopped, and comes back by itself
when the platform does. It says on stderr when entries may have been missed.
"""
_CONFIG_EPILOG = """\
  path   where the config file is
  check  everything that is wrong with it; exit code 2 if something is
  show   each setting that is in effect and where it comes from, the key masked
"""


class UsageError(Exception):
    """Arguments that make no sense; `str()` is the one line to say."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage before it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        kwargs["allow_abbrev"] = False
        super().__init__(*args, **kwargs)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (help: {self.prog} --help)")

    def flags(self) -> list[str]:
        """All long flags that may be shown."""
        return [
            name
            for action in self._actions
            if action.help is not argparse.SUPPRESS
            for name in action.option_strings
            if name.startswith("--")
        ]


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments; `command` is None for the dashboard.

    Flags that were not given are absent. Raises UsageError, and SystemExit(0) after --help and
    --version.
    """
    parser = _parser()
    _refuse_flags(argv, parser)
    found, extra = parser.parse_known_args(argv)
    if extra:
        raise UsageError(f"unknown argument: {safe(extra[0], 60)} (help: {PROG} --help)")
    return found


def flags_of(found: argparse.Namespace) -> Flags:
    """What the arguments say about the settings."""
    names = ("profile", "base_url", "company", "screen", "refresh", "read_only", "thin", "config")
    given = {name: getattr(found, name) for name in (*names, "log_file") if hasattr(found, name)}
    return Flags(**given)


def _refuse_flags(argv: Sequence[str], parser: _Parser) -> None:
    """Refuse a flag that no command has before its value is taken for a command."""
    parsers = [parser, *_commands(parser).values()]
    known = {name for each in parsers for name in each._option_string_actions}
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
        if name.startswith("--") and name not in known:
            shown = [flag for each in parsers for flag in each.flags()]
            near = nearest(name, shown)
            raise UsageError(f"unknown flag {safe(name, 60)}; the nearest is {near}")


def _commands(parser: argparse.ArgumentParser) -> dict[str, _Parser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _checked(kind: Callable[[object], Any]) -> Callable[[str], Any]:
    """A kind of setting as an argument's type."""

    def convert(text: str) -> Any:
        try:
            return kind(text)
        except WrongError as wrong:
            raise argparse.ArgumentTypeError(str(wrong)) from None

    return convert


def _number(low: float, high: float, *, whole: bool) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        try:
            value = int(text) if whole else float(text)
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            noun = "a whole number" if whole else "a number"
            raise argparse.ArgumentTypeError(
                f'must be {noun} from {low:,g} to {high:,.0f}, is "{safe(text, 40)}"'
            )
        return value

    return convert


def _parser() -> _Parser:
    platform = _group(_platform_flags)
    look = _group(_look_flags)
    refresh = _group(_refresh_flag)
    parser = _Parser(
        prog=PROG,
        usage=f"{PROG} [flags] [command]",
        description="A dashboard for the Agent Company Platform: what needs a person, and the"
        " keys to decide it.",
        epilog=_EPILOG,
        parents=[platform, look, refresh],
    )
    parser.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(
        title="commands (without one: the dashboard)",
        prog=PROG,
        dest="command",
        metavar="command",
        parser_class=_Parser,
    )

    def command(name: str, words: str, parents: list[_Parser], epilog: str = "") -> _Parser:
        made: _Parser = commands.add_parser(
            name, help=words, description=words, parents=parents, epilog=epilog
        )
        return made

    _demo_flags(command("demo", "a platform of its own, and the dashboard on it", [look, refresh]))
    status = command("status", "one look, with an exit code", [platform], _STATUS_EPILOG)
    _json_flag(status)
    doctor = command("doctor", "what answers, how fast, and what is wrong", [platform])
    doctor.add_argument(
        "--fields", action="store_true", help="which of the platform's fields are read, and how"
    )
    _json_flag(doctor)
    tail = command("tail", "the activity feed as lines", [platform, refresh], _TAIL_EPILOG)
    _tail_flags(tail)
    _export_flags(command("export", "write what the platform exports", [platform]))
    journal = command("journal", "what was changed from here, and what became of it", [])
    journal.add_argument(
        "--since", metavar="WHEN", default=None, help="only from then on: 2h, 3d, or a date"
    )
    _json_flag(journal)
    config = command("config", "look at the settings", [platform, look, refresh], _CONFIG_EPILOG)
    config.add_argument("what", choices=("path", "check", "show"), metavar="{path,check,show}")
    _json_flag(config)
    return parser


def _group(add: Callable[[_Parser], None]) -> _Parser:
    """Flags shared by several commands; absent unless given, so that both places work."""
    group = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    add(group)
    return group


def _platform_flags(group: _Parser) -> None:
    group.add_argument("--profile", metavar="NAME", help="profile of the config file")
    group.add_argument("--base-url", metavar="URL", help="address of the platform")
    group.add_argument("--company", metavar="ID", help="only this company (cmp_…)")
    group.add_argument("--config", metavar="FILE", help="config file to use")
    group.add_argument("--log-file", metavar="FILE", help="write a log there, without the key")


def _look_flags(group: _Parser) -> None:
    group.add_argument(
        "--screen",
        choices=SCREENS,
        metavar="NAME",
        help=f"screen to open with: {', '.join(SCREENS)}",
    )
    group.add_argument("--read-only", action="store_true", help="refuse every change")
    group.add_argument("--thin", action="store_true", help="paint less, for slow lines")


def _refresh_flag(group: _Parser) -> None:
    group.add_argument(
        "--refresh",
        metavar="SECONDS",
        type=_checked(refresh_word),
        help="how often to ask (default 5, from 0.5)",
    )


def _json_flag(parser: _Parser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON, for scripts")


def _demo_flags(parser: _Parser) -> None:
    parser.add_argument(
        "--serve", action="store_true", help="only the platform; prints its address and keys"
    )
    for flag, low, high, words in (
        ("--port", 0, 65_535, "port on this machine (default: any that is free)"),
        ("--seed", 0, 2**31 - 1, "another world for another number (default 7)"),
        ("--companies", 1, 1_000, "how many companies (default 3)"),
        ("--agents", 0, 100_000, "how many agents"),
        ("--tasks", 0, 1_000_000, "how many tasks"),
    ):
        metavar = flag.removeprefix("--").upper()
        kind = _number(low, high, whole=True)
        parser.add_argument(flag, metavar=metavar, type=kind, default=None, help=words)
    parser.add_argument(
        "--speed",
        metavar="FACTOR",
        type=_number(0, 10_000, whole=False),
        default=None,
        help="how fast the world lives (default 1; 0 stands still)",
    )
    parser.add_argument("--shape", metavar="NAME", help="form of the answers (default plain)")
    parser.add_argument(
        "--fault", metavar="SPEC", action="append", default=[], help="something that goes wrong"
    )
    parser.add_argument("--company", metavar="ID", default=argparse.SUPPRESS, help="only this one")
    for flag in ("--config", "--log-file"):
        parser.add_argument(flag, metavar="FILE", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.add_argument("--until-stdin-closes", action="store_true", help=argparse.SUPPRESS)


def _tail_flags(parser: _Parser) -> None:
    parser.add_argument("--follow", "-f", action="store_true", help="go on with what comes")
    _json_flag(parser)
    parser.add_argument("--agent", metavar="ID", default=None, help="only this agent (ag_…)")
    parser.add_argument(
        "--limit",
        metavar="N",
        type=_number(1, 100_000, whole=True),
        default=None,
        help="how many entries to ask for (default 100)",
    )


def _export_flags(parser: _Parser) -> None:
    parser.add_argument("what", choices=("activity",), metavar="activity", help="the activity log")
    parser.add_argument("--format", choices=("csv",), default="csv", help="default: csv")
    parser.add_argument("--out", metavar="FILE", help="where to (default: standard output)")
    parser.add_argument("--force", action="store_true", help="replace the file if it is there")
