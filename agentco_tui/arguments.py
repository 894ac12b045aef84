"""The command line's grammar: flags, commands and their help. What they do is in `commands`.

No flag takes the API key, because other users see it in the process list.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NoReturn

from agentco_tui import __version__
from agentco_tui.config.validators import REFRESH_FROM, REFRESH_TO, nearest
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
  3  unknown: the platform, or a part of it, could not be asked, the settings are wrong, or there
     is no such company

What is known to be critical is told as critical, even if another part could not be asked;
what could not be asked is told before a warning. From when on something counts is set in
[alerts] of the config file.
"""
_TAIL_EPILOG = """\
Oldest first, newest last. With --follow it goes on until it is stopped, and comes back by itself
when the platform does. It says on stderr when entries may have been missed.
"""
_REPLAY_EPILOG = """\
Nothing is asked of the platform, and nothing can be changed. P pauses, < and > set the speed,
[ and ] go a minute back and on, N goes to the next need, @ to any time.
"""
_METRICS_EPILOG = """\
Without --listen and --textfile they are printed once; exit code 3 if nothing was answered. With
them it goes on until SIGTERM, whatever the platform does: what was last known stays, and
agentco_feed_up and agentco_feed_age_seconds say how old it is. Needs the extra `metrics`.
"""
_CONFIG_EPILOG = """\
  path   where the config file is
  check  everything that is wrong with it; exit code 2 if something is
  show   each setting that is in effect and where it comes from, the key masked
  keys   what the keys do: the names that [keys] of the config file binds, and their keys now
"""


class UsageError(Exception):
    """Arguments that make no sense; `str()` is the one line to say."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage before it."""

    def __init__(self, **options: Any) -> None:
        kind = argparse.RawDescriptionHelpFormatter
        super().__init__(**options, formatter_class=kind, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        if word := re.match(r"argument command: invalid choice: '(.*?)'", message):
            near = nearest(word[1], tuple(_COMMANDS))
            message = f"no command {safe(word[1], 60)}; did you mean {near}?"
        raise UsageError(f"{message} (help: {self.prog} --help)")


def _number(low: float, high: float, kind: type[int | float] = int) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            noun = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(
                f'must be {noun} from {low:,g} to {high:,.0f}, is "{safe(text, 40)}"'
            )
        return value

    return convert


def _place(text: str) -> tuple[str, int]:
    """A host and a port to listen on; without a host it is this machine alone."""
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise argparse.ArgumentTypeError(f'must be HOST:PORT, is "{safe(text, 60)}"')
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


class _Flag:
    """A flag ("--limit N", "--follow -f": one without a value) or a word without dashes."""

    def __init__(self, words: str, help_: str, **options: Any) -> None:
        *names, last = words.split()
        if last.startswith("-"):
            self.names = [*names, last]
            self.options = {"action": "store_true", "help": help_, **options}
        else:
            self.names = names or [last]
            self.options = {"metavar": last, "help": help_, **options}


_shared = partial(_Flag, default=argparse.SUPPRESS)
"""A flag of several commands: absent unless given, so that it may stand before or after them."""

_PLATFORM = (
    _shared("--profile NAME", "profile of the config file"),
    _shared("--base-url URL", "address of the platform"),
    _shared("--company ID", "only this company (cmp_…), or its name"),
    _shared("--config FILE", "config file to use"),
    _shared("--log-file FILE", "write a log there, without the key"),
)
_LOOK = (
    _shared("--screen NAME", f"screen to open with: {', '.join(SCREENS)}", choices=SCREENS),
    _shared("--read-only", "refuse every change"),
    _shared("--thin", "paint less, for slow lines"),
)
_PACE = _number(REFRESH_FROM, REFRESH_TO, float)
_REFRESH = _shared("--refresh SECONDS", "how often to ask (default 5, from 0.5)", type=_PACE)
_RECORD = _shared("--record FILE", "write every answer there, for `replay`; never the key")
_JSON = _Flag("--json", "as JSON, for scripts")
_SPEED = "how fast the world lives (default 1; 0 stands still)"
_PORT = "port on this machine (default: any that is free)"
_SEED = "another world for another number (default 7)"

_DEMO = (
    _Flag("--serve", "only the platform; prints its address and keys"),
    _Flag("--port PORT", _PORT, type=_number(0, 65_535)),
    _Flag("--seed SEED", _SEED, type=_number(0, 2**31 - 1)),
    _Flag("--companies COMPANIES", "how many companies (default 3)", type=_number(1, 1_000)),
    _Flag("--agents AGENTS", "how many agents", type=_number(0, 100_000)),
    _Flag("--tasks TASKS", "how many tasks", type=_number(0, 1_000_000)),
    _Flag("--speed FACTOR", _SPEED, type=_number(0, 10_000, float)),
    _Flag("--shape NAME", "form of the answers (default plain)"),
    _Flag("--fault SPEC", "something that goes wrong", action="append", default=[]),
    _shared("--company ID", "only this one, or its name"),
    _shared("--config FILE", argparse.SUPPRESS),
    _shared("--log-file FILE", argparse.SUPPRESS),
    _Flag("--until-stdin-closes", argparse.SUPPRESS),
    _Flag("--past FILE", argparse.SUPPRESS),
)
_TAIL = (
    _Flag("--follow -f", "go on with what comes"),
    _JSON,
    _Flag("--agent ID", "only this agent (ag_…), or its name"),
    _Flag("--limit N", "how many entries to ask for (default 100)", type=_number(1, 100_000)),
)
_EXPORT = (
    _Flag("what activity", "the activity log", choices=("activity",)),
    _Flag("--format {csv}", "default: csv", choices=("csv",), default="csv"),
    _Flag("--out FILE", "where to (default: standard output)"),
    _Flag("--force", "replace the file if it is there"),
    _Flag("--names", "add the names of companies and agents beside their ids"),
)
_FIELDS = _Flag("--fields", "which of the platform's fields are read, and how")
_BUNDLE = _Flag(
    "--bundle FILE", "write a recording for a bug report, with names and texts replaced"
)
_SINCE = _Flag("--since WHEN", "only from then on: 2h, 3d, or a date")
_HISTORY = (
    _Flag("--agent ID", "only this agent (ag_…), or its name"),
    _SINCE,
    _JSON,
    _Flag("--csv", "as CSV, for spreadsheets"),
)
_METRICS = (
    _Flag("--listen HOST:PORT", "serve them there, under /metrics (a PORT alone: on this machine"
        " only)", type=_place),
    _Flag("--textfile PATH", "write them there again and again, for node_exporter"),
)  # fmt: skip
_WHAT = _Flag("what {path,check,show,keys}", "", choices=("path", "check", "show", "keys"))

_REPLAY = (
    _Flag("file FILE", "what --record or doctor --bundle has written"),
    *(_LOOK[0], _LOOK[2]),
    _shared("--config FILE", "config file to take keys, theme and thresholds from"),
    _shared("--log-file FILE", argparse.SUPPRESS),
)

_COMMANDS: dict[str, tuple[str, tuple[_Flag, ...], str]] = {
    "demo": (
        "a platform of its own, and the dashboard on it",
        (*_LOOK, _REFRESH, _RECORD, *_DEMO),
        "",
    ),
    "status": ("one look, with an exit code", (*_PLATFORM, _JSON), _STATUS_EPILOG),
    "doctor": (
        "what answers, how fast, and what is wrong",
        (*_PLATFORM, _FIELDS, _BUNDLE, _JSON),
        "",
    ),
    "tail": ("the activity feed as lines", (*_PLATFORM, _REFRESH, *_TAIL), _TAIL_EPILOG),
    "export": ("write what the platform exports", (*_PLATFORM, *_EXPORT), ""),
    "replay": ("the dashboard on a recording, at any time of it", _REPLAY, _REPLAY_EPILOG),
    "journal": ("what was changed from here, and what became of it", (_SINCE, _JSON), ""),
    "history": ("what was seen of the platform, without asking it", (*_PLATFORM, *_HISTORY), ""),
    "metrics": (
        "figures for Prometheus, in the OpenMetrics format",
        (*_PLATFORM, _REFRESH, *_METRICS),
        _METRICS_EPILOG,
    ),
    "config": (
        "look at the settings",
        (*_PLATFORM, *_LOOK, _REFRESH, _WHAT, _JSON),
        _CONFIG_EPILOG,
    ),
}
_DASHBOARD = (*_PLATFORM, *_LOOK, _REFRESH, _RECORD)


def parse(argv: Sequence[str]) -> dict[str, Any]:
    """The arguments by name; `command` is None for the dashboard.

    Flags of the settings that were not given are absent. Raises UsageError, and SystemExit(0)
    after --help and --version.
    """
    _refuse_flags(argv)
    parser = _Parser(
        prog=PROG,
        usage=f"{PROG} [flags] [command]",
        description="A dashboard for the Agent Company Platform: what needs a person, and the"
        " keys to decide it.",
        epilog=_EPILOG,
    )
    _add(parser, _DASHBOARD)
    parser.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(
        title="commands (without one: the dashboard)",
        prog=PROG,
        dest="command",
        metavar="command",
        parser_class=_Parser,
    )
    for name, (words, flags, epilog) in _COMMANDS.items():
        _add(commands.add_parser(name, help=words, description=words, epilog=epilog), flags)
    found, extra = parser.parse_known_args(argv)
    if extra:
        raise UsageError(f"unknown argument: {safe(extra[0], 60)} (help: {PROG} --help)")
    return vars(found)


def _refuse_flags(argv: Sequence[str]) -> None:
    """Refuse a flag that the command doesn't have before its value is taken for a command."""
    own = next((_COMMANDS[word][1] for word in argv if word in _COMMANDS), _DASHBOARD)
    known = {"--help": "", "--version": ""}
    known |= {name: flag.options["help"] for flag in reversed(own) for name in flag.names}
    before = {name for flag in _DASHBOARD for name in flag.names}
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
            shown = [one for one, help_ in known.items() if help_ != argparse.SUPPRESS]
            near = nearest(name, shown)
            raise UsageError(f"unknown flag {safe(name, 60)}; the nearest is {near}")


def _add(parser: argparse.ArgumentParser, flags: Iterable[_Flag]) -> None:
    for flag in flags:
        parser.add_argument(*flag.names, **flag.options)
