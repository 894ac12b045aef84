"""The command line as a table: every command with its flags, examples and help.

The parser, the help, the completion and the manual page are made from it. It is imported for
`--help`, so it imports little itself. No flag takes the API key, because other users of the machine
see it in the process list. The platform is the service whose companies of AI agents are watched; a
profile is the user's name in the config file for its address, its key and other settings.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from agentco_tui.keys.places import SCREENS

PROG: Final = "agentco-tui"
_CONTROL_CATEGORIES: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Unicode categories: control characters, surrogates, line and paragraph separators.

The joiners inside emoji are in none of them.
"""
_ENVIRONMENT = """\
environment:
  AGENTCO_BASE_URL   address of the platform
  AGENTCO_API_KEY    API key (no flag takes it: it would show in the process list)
  AGENTCO_PROFILE    profile of the config file
  AGENTCO_PLATFORM   the platform's interface, if it is not the usual one: paperclip
  AGENTCO_CONFIG     the config file itself
  AGENTCO_READ_ONLY  1 to refuse every change
  NO_COLOR           set to anything: no colours

A flag beats the environment, which beats the profile.
"""
_STATUS_MORE = """\
exit codes, the same as those of monitoring plugins:
  0  all well
  1  warning
  2  critical
  3  unknown: the platform or a part of it could not be read, the settings are wrong, or there
     is no such company

A known critical state is reported as critical, even if another part could not be read.
A part that could not be read is reported before a warning. The thresholds are set in [alerts]
of the config file.
"""
_TAIL_MORE = """\
The oldest entry comes first. With --follow it runs until it is stopped, and retries while the
platform does not answer. It reports on stderr if entries may have been missed.
"""
_WRITE_MORE = """\
It is sent at once and can't be taken back: there is no undo window as in the dashboard. An empty
argument or an empty variable AGENTCO_… is an error.

exit codes: 0 done, 1 refused or not done, 2 wrong usage, unknown id or read-only, 3 nothing was
sent, 4 changed since it was read, 5 sent, and not known to be done, 6 decided by someone else. A
request is never sent twice: `agentco-tui journal` lists it, and the next start reads its result.
"""
_REPLAY_MORE = """\
No request is sent to the platform, and nothing can be changed. P pauses, < and > set the speed,
[ and ] go a minute back and forward, N goes to the next need, @ to any time.
"""
_METRICS_MORE = """\
Without --listen and --textfile they are printed once; exit code 3 if nothing was answered. With
either it runs until SIGTERM, even if the platform stops answering: the last known figures stay, and
agentco_feed_up and agentco_feed_age_seconds say how old they are. Needs the extra `metrics`.
"""
_HELP_MORE = """\
topics: approving, screens, settings, scripts, shifts, notifications, history, record-and-replay,
terminals
"""
_CONFIG_MORE = """\
  path   where the config file is
  check  everything that is wrong with it; exit code 2 if something is
  show   each setting in effect and where it comes from, with the API key masked
  keys   what each key does: the names to bind in [keys] of the config file, and their keys now
  init   write a config file with every setting commented out, if there is none
"""


def _number(low: float, high: float, kind: type[int | float] = int) -> Callable[[str], Any]:
    """A function that converts an argument to a number of type `kind` from `low` to `high`.

    It raises ArgumentTypeError for any other argument.
    """

    def convert(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            noun = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(
                f'must be {noun} from {low:,g} to {high:,.0f}, is "{_shown(text, 40)}"'
            )
        return value

    return convert


def _listen_address(text: str) -> tuple[str, int]:
    """Convert HOST:PORT or PORT; without a host only this machine can connect."""
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise argparse.ArgumentTypeError(f'must be HOST:PORT, is "{_shown(text, 60)}"')
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


def _not_blank(text: str) -> str:
    """Return an argument that is not blank; refuse any other.

    A shell passes an empty argument for a variable that is not set. That must not mean the default.
    """
    from agentco_tui.text import is_blank  # noqa: PLC0415 (not needed for --help)

    if is_blank(text):
        raise argparse.ArgumentTypeError("must not be empty (is a variable not set?)")
    return text


def _one_line(text: str) -> str:
    """Return an argument that is one line without control characters; refuse any other."""
    import unicodedata  # noqa: PLC0415 (not needed for --help)

    has_control_character = not _CONTROL_CATEGORIES.isdisjoint(map(unicodedata.category, text))
    if text.strip() and has_control_character:
        raise argparse.ArgumentTypeError("must be one line without control characters")
    return _not_blank(text)


def _command_words(text: str) -> list[str]:
    """Split a command line into words, as a shell does."""
    import shlex  # noqa: PLC0415 (not needed for --help)

    return shlex.split(text)


def _shown(text: str, cells: int) -> str:
    """An argument for an error message: cleaned, and cut to so many cells."""
    from agentco_tui.cli.terminal_signs import choose_signs  # noqa: PLC0415 (not for --help)
    from agentco_tui.text import clean_line  # noqa: PLC0415 (not needed for --help)

    choose_signs()
    return clean_line(text, cells)


class Flag:
    """A flag or a positional argument of a command: the arguments of argparse's `add_argument`.

    `words` has the names, and then the placeholder of the value: "--limit N"; "--follow -f", which
    takes no value; "id ID", which is positional.
    """

    def __init__(self, words: str, help_: str, **options: Any) -> None:
        *names, last = words.split()
        if last.startswith("-"):
            self.names = [*names, last]
            self.options = {"action": "store_true", "help": help_, **options}
        else:
            self.names = names
            self.options = {"metavar": last, "help": help_, "type": _not_blank, **options}


class Subcommand(NamedTuple):
    """A command, or the dashboard, which is started without one."""

    summary: str
    examples: tuple[str, ...]
    """Arguments of the program; a # begins an explanation."""
    flags: tuple[Flag, ...] = ()
    more: str = ""
    """The end of the command's help, in lines of at most 100 characters."""


_shared = partial(Flag, default=argparse.SUPPRESS)
"""Makes a flag of several commands, which may come before or after the command.

It has no default: that of the command's parser would overwrite the value from before the command.
"""

# The names below are flags, or groups of them, that the commands at the end share.
_PLATFORM = (
    _shared("--profile NAME", "profile of the config file"),
    _shared("--base-url URL", "address of the platform"),
    _shared("--platform NAME", "its interface, if it is not the usual one: paperclip"),
    _shared("--company ID", "only this company (cmp_…), or its name"),
    _shared("--config FILE", "config file to use"),
    _shared("--log-file FILE", "write a log to FILE, without the API key"),
    _shared("--log-json", "write each line of the log as a JSON object"),
)
_LOGIN = _PLATFORM[0], _PLATFORM[4], *_PLATFORM[1:3]
_DASHBOARD_FLAGS = (
    _shared("--screen NAME", f"screen to start with: {', '.join(SCREENS)}", choices=SCREENS),
    _shared("--read-only", "refuse every change"),
    _shared("--thin", "redraw less, for slow connections"),
    _shared("--theme NAME", "colour theme"),
)
_SECONDS = _number(0.5, 86_400, float)
_REFRESH = _shared(
    "--refresh SECONDS", "seconds between refreshes (default 5, from 0.5)", type=_SECONDS
)
_ALL = _shared("--all-profiles", "start with what needs you on the platforms of all profiles")
_RECORD = _shared("--record FILE", "record every answer in FILE, for `replay`; never the API key")
_AGENT = Flag("--agent ID", "only this agent (ag_…), or its name")
_CSV = Flag("--csv", "as CSV, for spreadsheets")
_JSON = Flag("--json", "as JSON, for scripts")
_SPEED = "speed of the simulation (default 1; 0 stops it)"
_PORT = "port on this machine (default: any that is free)"
_SEED = "number that determines the generated data (default 7)"

_FAULT = "a failure to inject, such as tasks:status=503 or reads:latency=2s (see `help scripts`)"

_DEMO = (
    Flag("--platform NAME", "play a recording of this platform, such as paperclip, instead"),
    Flag("--serve", "run only the platform, and print its address and API keys"),
    Flag("--port PORT", _PORT, type=_number(0, 65_535)),
    Flag("--seed SEED", _SEED, type=_number(0, 2**31 - 1)),
    Flag("--companies COMPANIES", "how many companies (default 3)", type=_number(1, 1_000)),
    Flag("--agents AGENTS", "how many agents", type=_number(0, 100_000)),
    Flag("--tasks TASKS", "how many tasks", type=_number(0, 1_000_000)),
    Flag("--speed FACTOR", _SPEED, type=_number(0, 10_000, float)),
    Flag("--fault SPEC", _FAULT, action="append", default=[]),
    _shared("--company ID", "only this company (cmp_…), or its name"),
    _shared("--config FILE", argparse.SUPPRESS),
    *_PLATFORM[-2:],
    # Of the process that `demo` starts: when to end, and the history file to write.
    Flag("--until-stdin-closes", argparse.SUPPRESS),
    Flag("--past FILE", argparse.SUPPRESS),
)
_TAIL = (
    Flag("--follow -f", "continue with new entries"),
    _JSON,
    _AGENT,
    Flag("--limit N", "number of entries to request (default 100)", type=_number(1, 100_000)),
)
_EXPORT = (
    Flag("what activity", "the activity log", choices=("activity",)),
    Flag("--format {csv}", "default: csv", choices=("csv",), default="csv"),
    Flag("--out FILE", "file to write (default: standard output)"),
    Flag("--force", "replace the file if it exists"),
    Flag("--names", "add the names of companies and agents next to their ids"),
)
_FIELDS = Flag("--fields", "which of the platform's fields are read, and how")
_BUNDLE = Flag("--bundle FILE", "write a recording for a bug report, with names and texts replaced")
_SINCE = Flag("--since WHEN", "only since then: 2h, 3d, or a date")
_METRICS = (
    Flag(
        "--listen HOST:PORT",
        "serve them under /metrics (a PORT alone: to this machine only)",
        type=_listen_address,
    ),
    Flag("--textfile PATH", "write them to a file at each refresh, for node_exporter"),
)
# Explained by `_CONFIG_MORE`.
_CONFIG_ACTIONS = ("path", "check", "show", "keys", "init")
_CONFIG_ACTION = Flag(f"what {{{','.join(_CONFIG_ACTIONS)}}}", "", choices=_CONFIG_ACTIONS)

_REPLAY = (
    Flag("file FILE", "a recording made by --record or doctor --bundle"),
    *(_DASHBOARD_FLAGS[0], *_DASHBOARD_FLAGS[2:]),
    _shared("--config FILE", "config file to take keys, theme and thresholds from"),
    *_PLATFORM[-2:],
)

_RECORDS = ("companies", "agents", "tasks", "budget", "alerts", "activity")
_GET = (
    Flag(
        "what WHAT",
        f"{', '.join(_RECORDS)}; company, agent, task or trace with an ID",
        choices=(*_RECORDS, "company", "agent", "task", "trace"),
    ),
    Flag("id ID", "of a company, an agent (or its name), or a task", nargs="?"),
    _JSON,
    _CSV,
    Flag("--table", "as a table (the default)"),
    Flag("--filter WORDS", "as typed after / on the screen: “agent:linus priority>=high age>2h”"),
    Flag(
        "--status WORD",
        "only with this status or state, or all (default: pending for tasks, else all)",
    ),
    _AGENT,
    Flag("--limit N", "at most N records", type=_number(1, 1_000_000)),
)
_WRITE = (
    *_PLATFORM,
    _DASHBOARD_FLAGS[1],
    _JSON,
    Flag(
        "--wait SECONDS",
        "how long to wait for the result (default 60)",
        type=_number(1, 86_400, float),
        default=60.0,
    ),
)
DASHBOARD = Subcommand(
    "A dashboard for the Agent Company Platform: shows what needs you, and lets you decide it.",
    (
        "demo                        # try it on a simulated platform",
        "                            # open the dashboard",
        "--profile prod --read-only  # the same, and refuse every change",
        "status --json               # check once, for scripts and monitoring",
        "config check                # report what is wrong with the config file",
    ),
    (
        *_PLATFORM,
        _ALL,
        *_DASHBOARD_FLAGS,
        _REFRESH,
        _RECORD,
        _shared(
            "--plain",
            "lines and prompts instead of full-screen output, for screen readers and logs",
        ),
    ),
    _ENVIRONMENT,
)
COMMANDS: dict[str, Subcommand] = {
    "demo": Subcommand(
        "open the dashboard on a simulated platform",
        (
            "demo",
            "demo --platform paperclip  # a recording of a real one",
            "demo --serve --port 8080",
            "demo --fault reads:latency=2s",
        ),
        (*_DASHBOARD_FLAGS, _REFRESH, _RECORD, *_DEMO),
    ),
    "login": Subcommand(
        "test the address and the API key, and store the key", ("login --profile prod",), _LOGIN
    ),
    "logout": Subcommand("remove the API key that login stored", ("logout",), _LOGIN[:2]),
    "status": Subcommand(
        "check once what needs you; the exit code says how bad it is",
        ("status", "status --company acme --json"),
        (*_PLATFORM, _JSON),
        _STATUS_MORE,
    ),
    "doctor": Subcommand(
        "check the connection, the API key and the terminal",
        ("doctor", "doctor --fields", "doctor --bundle report.rec  # for a bug report"),
        (*_PLATFORM, _FIELDS, _BUNDLE, _JSON),
    ),
    "tail": Subcommand(
        "print the activity log",
        ("tail --limit 20", "tail --follow --agent linus"),
        (*_PLATFORM, _REFRESH, *_TAIL),
        _TAIL_MORE,
    ),
    "get": Subcommand(
        "print records as JSON, as CSV or as a table",
        (
            "get tasks --json",
            "get tasks --status failed --filter 'cost>5' --csv",
            "get task tsk_42 --json  # one, with the fingerprint for `approve`",
        ),
        (*_PLATFORM, *_GET),
    ),
    "approve": Subcommand(
        "approve a task that has not changed since it was read, and print the result",
        ("approve tsk_42 --expect 9b33f707a34270900cb5e35becd672",),
        (
            *_WRITE,
            Flag("id ID", "of the task", type=_one_line),
            Flag(
                "--expect FINGERPRINT",
                "as printed by `get task`; nothing is sent if the task has changed since",
                type=_one_line,
            ),
        ),
        _WRITE_MORE,
    ),
    "create-task": Subcommand(
        "create a task for an agent",
        ("create-task --agent linus --title 'Close the books' --priority high",),
        (
            *_WRITE,
            Flag("--agent ID", "the agent (ag_…), or its name", required=True, type=_one_line),
            Flag("--title TEXT", "title of the task", required=True, type=_one_line),
            Flag(
                "--priority WORD",
                "priority, in the platform's words (default medium)",
                default="medium",
                type=_one_line,
            ),
        ),
        _WRITE_MORE,
    ),
    "set-limit": Subcommand(
        "set the monthly limit of an agent",
        ("set-limit linus 250.00", "set-limit linus 250.00 --expect 200  # only if it is 200 now"),
        (
            *_WRITE,
            Flag("agent AGENT", "its id or name", type=_one_line),
            Flag("limit AMOUNT", "the new limit in whole currency units", type=_one_line),
            Flag(
                "--expect AMOUNT",
                "the limit that you read; nothing is sent if it has changed since",
                type=_one_line,
            ),
        ),
        _WRITE_MORE,
    ),
    "export": Subcommand(
        "save the platform's export",
        ("export activity --out log.csv --names",),
        (*_PLATFORM, *_EXPORT),
    ),
    "replay": Subcommand(
        "open the dashboard on a recording",
        ("--record monday.rec", "replay monday.rec"),
        _REPLAY,
        _REPLAY_MORE,
    ),
    "journal": Subcommand(
        "print the changes sent from this machine, and their results",
        ("journal --since 8h",),
        (_SINCE, _JSON),
    ),
    "history": Subcommand(
        "print what was observed of the platform, without a request",
        ("history --agent linus --since 3d",),
        (*_PLATFORM, _AGENT, _SINCE, _JSON, _CSV),
    ),
    "metrics": Subcommand(
        "provide metrics for Prometheus, in the OpenMetrics format",
        ("metrics", "metrics --listen 9464"),
        (*_PLATFORM, _REFRESH, *_METRICS),
        _METRICS_MORE,
    ),
    "watch": Subcommand(
        "print a line, and run a command, for each thing that needs you",
        ("watch", "watch --on-critical 'page \"Agents need you\"'  # without a shell"),
        (
            *_PLATFORM,
            _REFRESH,
            _JSON,
            Flag(
                "--on-critical COMMAND",
                "command to run for each critical one",
                type=_command_words,
            ),
        ),
    ),
    "config": Subcommand(
        "show and check the settings",
        ("config check", "config show --profile prod"),
        (*_PLATFORM, *_DASHBOARD_FLAGS, _REFRESH, _CONFIG_ACTION, _JSON),
        _CONFIG_MORE,
    ),
    "completion": Subcommand(
        "print a script that completes commands, flags and known names in a shell",
        ('completion bash  # in ~/.bashrc: eval "$(agentco-tui completion bash)"',),
        (Flag("shell {bash,zsh,fish}", "", choices=("bash", "zsh", "fish")),),
    ),
    "help": Subcommand(
        "explain a command, or show a page of the manual",
        ("help status", "help approving"),
        (Flag("what TOPIC", "a command or a topic (default: all commands)", nargs="?"),),
        _HELP_MORE,
    ),
    "version": Subcommand("print the version", ("version",)),
}
