"""The command line as a table, of which its parser, help, completion and manual page are made.

No flag takes the API key, because other users see it in the process list.
"""

from __future__ import annotations

import argparse
import shlex
import unicodedata
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from agentco_tui.keys.places import SCREENS
from agentco_tui.text import is_blank, safe

PROG: Final = "agentco-tui"
_UNSEEN: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Control characters, what is no text, and ends of lines; joiners of emoji are none of them."""
_ENVIRONMENT = """\
environment:
  AGENTCO_BASE_URL   address of the platform
  AGENTCO_API_KEY    API key (no flag takes it: it would show in the process list)
  AGENTCO_PROFILE    profile of the config file
  AGENTCO_CONFIG     the config file itself
  AGENTCO_READ_ONLY  1 to refuse every change
  NO_COLOR           set to anything: no colours

A flag beats the environment, which beats the profile.
"""
_STATUS_MORE = """\
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
_TAIL_MORE = """\
Oldest first, newest last. With --follow it goes on until it is stopped, and comes back by itself
when the platform does. It says on stderr when entries may have been missed.
"""
_WRITE_MORE = """\
It is sent at once: nothing holds it back for a moment, as the dashboard does with a yes, and it
can't be taken back. An argument or a variable AGENTCO_… that is empty is an error.

exit codes: 0 done, 1 refused or not done, 2 wrong usage, unknown id or read-only, 3 nothing was
sent, 4 changed since it was read, 5 sent and not known to be done, 6 decided by somebody else. What
was sent is never sent again: `agentco-tui journal` has it, and the next start reads what became of
it.
"""
_REPLAY_MORE = """\
Nothing is asked of the platform, and nothing can be changed. P pauses, < and > set the speed,
[ and ] go a minute back and on, N goes to the next need, @ to any time.
"""
_METRICS_MORE = """\
Without --listen and --textfile they are printed once; exit code 3 if nothing was answered. With
them it goes on until SIGTERM, whatever the platform does: what was last known stays, and
agentco_feed_up and agentco_feed_age_seconds say how old it is. Needs the extra `metrics`.
"""
_HELP_MORE = """\
topics: approving, screens, settings, scripts, shifts, notifications, history, record-and-replay,
terminals
"""
_CONFIG_MORE = """\
  path   where the config file is
  check  everything that is wrong with it; exit code 2 if something is
  show   each setting that is in effect and where it comes from, the key masked
  keys   what the keys do: the names that [keys] of the config file binds, and their keys now
  init   write a config file with every setting commented out, where there is none
"""


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


def _not_blank(text: str) -> str:
    """An argument with something in it. For a variable that is not set a shell passes an empty one,
    and that must never stand for something that was not meant.
    """
    if is_blank(text):
        raise argparse.ArgumentTypeError("must not be empty (is a variable not set?)")
    return text


def _one_line(text: str) -> str:
    """An argument with something in it, and nothing that can't be seen."""
    has_unseen = not _UNSEEN.isdisjoint(map(unicodedata.category, text))
    if text.strip() and has_unseen:
        raise argparse.ArgumentTypeError("must be one line without control characters")
    return _not_blank(text)


class Flag:
    """A flag ("--limit N", "--follow -f": one without a value) or a word without dashes."""

    def __init__(self, words: str, help_: str, **options: Any) -> None:
        *names, last = words.split()
        if last.startswith("-"):
            self.names = [*names, last]
            self.options = {"action": "store_true", "help": help_, **options}
        else:
            self.names = names
            self.options = {"metavar": last, "help": help_, "type": _not_blank, **options}


class Subcommand(NamedTuple):
    """A command of the command line, or the dashboard."""

    told: str
    examples: tuple[str, ...]
    """What may stand behind the program's name; behind a # what it is for."""
    flags: tuple[Flag, ...] = ()
    more: str = ""
    """What else its help says, in lines of at most 100 characters."""


_shared = partial(Flag, default=argparse.SUPPRESS)
"""A flag of several commands: absent unless given, so that it may stand before or after them."""

_PLATFORM = (
    _shared("--profile NAME", "profile of the config file"),
    _shared("--base-url URL", "address of the platform"),
    _shared("--company ID", "only this company (cmp_…), or its name"),
    _shared("--config FILE", "config file to use"),
    _shared("--log-file FILE", "write a log there, without the key"),
    _shared("--log-json", "a JSON object for each line of the log"),
)
_LOGIN = _PLATFORM[0], _PLATFORM[3], _PLATFORM[1]
_LOOK = (
    _shared("--screen NAME", f"screen to open with: {', '.join(SCREENS)}", choices=SCREENS),
    _shared("--read-only", "refuse every change"),
    _shared("--thin", "paint less, for slow lines"),
    _shared("--theme NAME", "colours to show it in"),
)
_PACE = _number(0.5, 86_400, float)
_REFRESH = _shared("--refresh SECONDS", "how often to ask (default 5, from 0.5)", type=_PACE)
_ALL = _shared("--all-profiles", "begin with what needs you on the platforms of all profiles")
_RECORD = _shared("--record FILE", "write every answer there, for `replay`; never the key")
_AGENT = Flag("--agent ID", "only this agent (ag_…), or its name")
_CSV = Flag("--csv", "as CSV, for spreadsheets")
_JSON = Flag("--json", "as JSON, for scripts")
_SPEED = "how fast the world lives (default 1; 0 stands still)"
_PORT = "port on this machine (default: any that is free)"
_SEED = "another world for another number (default 7)"

_DEMO = (
    Flag("--serve", "only the platform; prints its address and keys"),
    Flag("--port PORT", _PORT, type=_number(0, 65_535)),
    Flag("--seed SEED", _SEED, type=_number(0, 2**31 - 1)),
    Flag("--companies COMPANIES", "how many companies (default 3)", type=_number(1, 1_000)),
    Flag("--agents AGENTS", "how many agents", type=_number(0, 100_000)),
    Flag("--tasks TASKS", "how many tasks", type=_number(0, 1_000_000)),
    Flag("--speed FACTOR", _SPEED, type=_number(0, 10_000, float)),
    Flag("--shape NAME", "form of the answers (default plain)"),
    Flag("--fault SPEC", "something that goes wrong", action="append", default=[]),
    _shared("--company ID", "only this one, or its name"),
    _shared("--config FILE", argparse.SUPPRESS),
    *_PLATFORM[-2:],
    Flag("--until-stdin-closes", argparse.SUPPRESS),
    Flag("--past FILE", argparse.SUPPRESS),
)
_TAIL = (
    Flag("--follow -f", "go on with what comes"),
    _JSON,
    _AGENT,
    Flag("--limit N", "how many entries to ask for (default 100)", type=_number(1, 100_000)),
)
_EXPORT = (
    Flag("what activity", "the activity log", choices=("activity",)),
    Flag("--format {csv}", "default: csv", choices=("csv",), default="csv"),
    Flag("--out FILE", "where to (default: standard output)"),
    Flag("--force", "replace the file if it is there"),
    Flag("--names", "add the names of companies and agents beside their ids"),
)
_FIELDS = Flag("--fields", "which of the platform's fields are read, and how")
_BUNDLE = Flag("--bundle FILE", "write a recording for a bug report, with names and texts replaced")
_SINCE = Flag("--since WHEN", "only from then on: 2h, 3d, or a date")
_METRICS = (
    Flag("--listen HOST:PORT", "serve them there, under /metrics (a PORT alone: on this machine"
        " only)", type=_place),
    Flag("--textfile PATH", "write them there again and again, for node_exporter"),
)  # fmt: skip
_TOLD = ("path", "check", "show", "keys", "init")
_WHAT = Flag(f"what {{{','.join(_TOLD)}}}", "", choices=_TOLD)

_REPLAY = (
    Flag("file FILE", "what --record or doctor --bundle has written"),
    *(_LOOK[0], *_LOOK[2:]),
    _shared("--config FILE", "config file to take keys, theme and thresholds from"),
    *_PLATFORM[-2:],
)

_RECORDS = ("companies", "agents", "tasks", "budget", "alerts", "activity")
_GET = (
    Flag("what WHAT", f"{', '.join(_RECORDS)}; company, agent, task or trace with an ID",
        choices=(*_RECORDS, "company", "agent", "task", "trace")),
    Flag("id ID", "of a company, an agent (or its name), or a task", nargs="?"),
    _JSON,
    _CSV,
    Flag("--table", "in columns, for people (the default)"),
    Flag("--filter WORDS", "as typed after / on the screen: “agent:linus priority>=high age>2h”"),
    Flag("--status WORD", "only of this status or state; all: of any (default for tasks: pending,"
        " else all)"),
    _AGENT,
    Flag("--limit N", "no more than so many", type=_number(1, 1_000_000)),
)  # fmt: skip
_WRITE = (
    *_PLATFORM, _LOOK[1], _JSON,
    Flag("--wait SECONDS", "how long what became of it is read for (default 60)",
        type=_number(1, 86_400, float), default=60.0),
)  # fmt: skip
DASHBOARD = Subcommand(
    "A dashboard for the Agent Company Platform: what needs a person, and the keys to decide it.",
    (
        "demo                        # try it, with a platform of its own",
        "                            # the dashboard",
        "--profile prod --read-only  # the same, where nothing can be changed",
        "status --json               # one look, for scripts and monitoring",
        "config check                # what is wrong with the config file",
    ),
    (*_PLATFORM, _ALL, *_LOOK, _REFRESH, _RECORD,
        _shared("--plain", "lines and prompts instead of a screen, for screen readers and logs")),
    _ENVIRONMENT,
)  # fmt: skip
COMMANDS: dict[str, Subcommand] = {
    "demo": Subcommand("a platform of its own, and the dashboard on it",
        ("demo", "demo --serve --port 8080", "demo --shape cents --fault reads:latency=2s"),
        (*_LOOK, _REFRESH, _RECORD, *_DEMO)),
    "login": Subcommand("try address and key, keep the key", ("login --profile prod",), _LOGIN),
    "logout": Subcommand("remove the key that login keeps", ("logout",), _LOGIN[:2]),
    "status": Subcommand("one look, with an exit code",
        ("status", "status --company acme --json"), (*_PLATFORM, _JSON), _STATUS_MORE),
    "doctor": Subcommand("what answers, how fast, and what is wrong",
        ("doctor", "doctor --fields", "doctor --bundle report.rec  # for a bug report"),
        (*_PLATFORM, _FIELDS, _BUNDLE, _JSON)),
    "tail": Subcommand("the activity feed as lines",
        ("tail --limit 20", "tail --follow --agent linus"),
        (*_PLATFORM, _REFRESH, *_TAIL), _TAIL_MORE),
    "get": Subcommand("records as they were read, for scripts: as JSON, as CSV or in columns",
        ("get tasks --json", "get tasks --status failed --filter 'cost>5' --csv",
            "get task tsk_42 --json  # one, with the fingerprint for `approve`"),
        (*_PLATFORM, *_GET)),
    "approve": Subcommand("approve a task that is what was read, and tell what became of it",
        ("approve tsk_42 --expect 9b33f707a34270900cb5e35becd672",),
        (*_WRITE, Flag("id ID", "of the task", type=_one_line), Flag("--expect FINGERPRINT",
            "what `get task` told; nothing is sent if it changed since", type=_one_line)),
        _WRITE_MORE),
    "create-task": Subcommand("give an agent something to do",
        ("create-task --agent linus --title 'Close the books' --priority high",),
        (*_WRITE, Flag("--agent ID", "which, or its name", required=True, type=_one_line),
            Flag("--title TEXT", "what is to be done", required=True, type=_one_line),
            Flag("--priority WORD", "as the platform calls it (default medium)", default="medium",
                type=_one_line)), _WRITE_MORE),
    "set-limit": Subcommand("set what an agent may spend in a month",
        ("set-limit linus 250.00", "set-limit linus 250.00 --expect 200  # only if it is 200 now"),
        (*_WRITE, Flag("agent AGENT", "its id or name", type=_one_line),
            Flag("limit AMOUNT", "in whole units", type=_one_line),
            Flag("--expect AMOUNT", "the limit that was read; nothing is sent if it is another now",
                type=_one_line)), _WRITE_MORE),
    "export": Subcommand("write what the platform exports",
        ("export activity --out log.csv --names",), (*_PLATFORM, *_EXPORT)),
    "replay": Subcommand("the dashboard on a recording, at any time of it",
        ("--record monday.rec", "replay monday.rec"), _REPLAY, _REPLAY_MORE),
    "journal": Subcommand("what was changed from here, and what became of it",
        ("journal --since 8h",), (_SINCE, _JSON)),
    "history": Subcommand("what was seen of the platform, without asking it",
        ("history --agent linus --since 3d",), (*_PLATFORM, _AGENT, _SINCE, _JSON, _CSV)),
    "metrics": Subcommand("figures for Prometheus, in the OpenMetrics format",
        ("metrics", "metrics --listen 9464"), (*_PLATFORM, _REFRESH, *_METRICS), _METRICS_MORE),
    "watch": Subcommand("a line, and a command of yours, for each thing that needs a person",
        ("watch", "watch --on-critical 'page \"Agents need you\"'  # without a shell"),
        (*_PLATFORM, _REFRESH, _JSON, Flag("--on-critical COMMAND", "run it where one is critical",
            type=shlex.split))),
    "config": Subcommand("look at the settings", ("config check", "config show --profile prod"),
        (*_PLATFORM, *_LOOK, _REFRESH, _WHAT, _JSON), _CONFIG_MORE),
    "completion": Subcommand("what makes a shell complete commands, flags, and names once seen",
        ('completion bash  # in ~/.bashrc: eval "$(agentco-tui completion bash)"',),
        (Flag("shell {bash,zsh,fish}", "", choices=("bash", "zsh", "fish")),)),
    "help": Subcommand("what a command does, or a page of the manual",
        ("help status", "help approving"),
        (Flag("what TOPIC", "a command or a topic (default: all commands)", nargs="?"),),
        _HELP_MORE),
    "version": Subcommand("which version this is", ("version",)),
}  # fmt: skip
