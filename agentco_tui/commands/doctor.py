"""`agentco-tui doctor`: what answers, how fast, what the key may do, what the terminal can show."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from agentco_tui import __version__
from agentco_tui import format as figures
from agentco_tui.api.errors import KeyRejected, NotAllowed, Unreachable
from agentco_tui.commands.asking import connected
from agentco_tui.commands.doctor_reads import WRITES, ReadResult, all_reads
from agentco_tui.commands.output import Exit, error_json, say, say_json
from agentco_tui.config import Settings
from agentco_tui.live.clock import SKEW_THAT_MATTERS
from agentco_tui.terminal.fitness import Fitness, check
from agentco_tui.text import signs


class Examined(NamedTuple):
    """What the platform showed of itself."""

    reads: tuple[ReadResult, ...]
    latency: float | None
    """Seconds to the head of an answer, smoothed."""
    skew: float | None
    """Seconds that the platform's clock is ahead of this machine's."""

    @property
    def all_answered(self) -> bool:
        return all(read.answered for read in self.reads if read.asked)


def run(settings: Settings, env: Mapping[str, str], *, as_json: bool) -> int:
    """Examine, tell, and return 0 if every read that was asked was answered, else 3.

    Changes nothing. Raises SettingsError if no client can be made of the settings.
    """
    terminal = look(check(env), env)
    if not as_json:
        say(*_about_settings(settings), *_about_terminal(terminal), "", "reads:")
    examined = asyncio.run(_examine(settings, as_lines=not as_json))
    if as_json:
        say_json(_as_json(settings, examined, terminal))
    else:
        say("", *_conclusions(examined))
    return Exit.OK if examined.all_answered else Exit.NO_ANSWER


async def _examine(settings: Settings, *, as_lines: bool) -> Examined:
    reads: list[ReadResult] = []
    async with connected(settings) as client:
        async for read in all_reads(client, settings.company):
            reads.append(read)
            if as_lines:
                say(_read_line(read))
            if isinstance(read.error, Unreachable | KeyRejected):
                # Nothing else can be answered; eleven more of the same help nobody.
                break
        measured = client.transport.measured
        return Examined(tuple(reads), measured.smoothed_latency, measured.clock_skew)


# -- for people


def _about_settings(settings: Settings) -> list[str]:
    url, place = settings.base_url, settings.key_place
    if url.scheme == "https":
        line = f"TLS, certificates of {settings.ca_file or 'the system'}"
    elif url.is_loopback:
        line = "plain http, on this machine only"
    else:
        line = f"{signs.warning} plain http: the key travels in the open (allow_http)"
    exists = settings.config_path is not None and settings.config_path.exists()
    again = ", which the dashboard can read again"
    if place is None or not place.can_change:
        again = ", read at the start only" if place else ""
    return [
        f"agentco-tui {__version__}",
        f"profile     {settings.profile} ({settings.sources.get('profile', 'default')})",
        f"config      {settings.config_path}{'' if exists else ' (does not exist)'}",
        f"platform    {url} ({settings.sources.get('base_url', 'default')})",
        f"line        {line}{', proxies of the environment' if settings.trust_env else ''}",
        f"key         from {settings.key_source}{again}",
        f"writing     {'refused (read-only)' if settings.read_only else 'allowed from here'}",
    ]


def _about_terminal(terminal: Mapping[str, Any]) -> list[str]:
    colours = figures.count(terminal["colours"]) if terminal["colours"] else "no"
    where = (terminal["multiplexer"], "SSH" if terminal["ssh"] else None)
    facts = [
        terminal["term"] or "TERM is not set",
        f"{terminal['columns']}x{terminal['rows']}",
        f"{colours} colours",
        "ASCII signs" if terminal["ascii"] else terminal["encoding"],
        *(f"in {word}" for word in where if word),
    ]
    refusal = [f"{signs.warning} {terminal['refusal']}"] if terminal["refusal"] else []
    below = [f"            {hint}" for hint in (*refusal, *terminal["hints"])]
    return [f"terminal    {', '.join(facts)}", *below]


def _read_line(read: ReadResult) -> str:
    name = f"{read.operation:<29}"
    if not read.asked:
        return f"{signs.unknown} {name} {read.note}"
    took = f"{figures.duration(read.seconds):>8}"
    if read.error is not None:
        return f"{signs.critical} {name} {took}  {read.error}"
    facts = []
    if read.records is not None:
        facts.append("1 record" if read.records == 1 else f"{figures.count(read.records)} records")
    if read.pages > 1:
        facts.append(f"{read.pages} pages")
    if read.capped:
        facts.append("cut at the cap: there are more")
    if read.shape:
        facts.append(f"shape {read.shape}")
    if read.note:
        facts.append(read.note)
    sign = signs.good
    if read.unread:
        sign = signs.warning
        facts.append(f"{figures.count(read.unread)} could not be read")
    return f"{sign} {name} {took}  {', '.join(facts)}"


def _conclusions(examined: Examined) -> list[str]:
    reads = examined.reads
    answered, asked = sum(read.answered for read in reads), sum(read.asked for read in reads)
    lines = [f"{answered} of {asked} reads answered", *_permissions(reads)]
    if examined.latency is not None:
        lines.append(f"the platform answers within {figures.duration(examined.latency)}")
    if examined.skew is None:
        lines.append("the platform does not tell its time")
    elif abs(examined.skew) >= SKEW_THAT_MATTERS:
        side = "ahead of" if examined.skew > 0 else "behind"
        lines.append(
            f"{signs.warning} the platform's clock is {figures.duration(abs(examined.skew))}"
            f" {side} this machine's; ages are shown by the platform's"
        )
    else:
        lines.append("the clocks agree")
    return lines


def _permissions(reads: Sequence[ReadResult]) -> list[str]:
    if any(isinstance(read.error, KeyRejected) for read in reads):
        return [f"{signs.critical} the key is not accepted"]
    denied = [read.operation for read in reads if isinstance(read.error, NotAllowed)]
    lines = []
    if denied:
        lines.append(f"{signs.warning} the key may not: {', '.join(denied)}")
    elif any(read.answered for read in reads):
        lines.append("the key may read everything that was asked")
    return [*lines, f"writes were not tried ({len(WRITES)} operations)"]


# -- for scripts


def _as_json(
    settings: Settings, examined: Examined, terminal: Mapping[str, Any]
) -> dict[str, object]:
    """Everything as JSON.

    {"version": str, "ok": bool, "profile", "config", "base_url", "tls": bool, "key_source": str,
    "read_only": bool, "sources": {setting: source}, "latency_seconds": number|null,
    "clock_skew_seconds": number|null,
    "reads": [{"operation", "asked", "answered": bool, "seconds", "shape", "records", "unread",
    "pages", "capped", "note", "error": str|null, "http_status": int|null, "text": str|null}],
    "permissions": {operation: "allowed"|"denied"|"unknown"|"not tried"},
    "terminal": {"fits", "refusal", "term", "encoding", "ascii", "colours", "columns", "rows",
    "no_color", "multiplexer", "ssh", "hints"}}
    """
    return {
        "version": __version__,
        "ok": examined.all_answered,
        "profile": settings.profile,
        "config": None if settings.config_path is None else str(settings.config_path),
        "base_url": str(settings.base_url),
        "tls": settings.base_url.scheme == "https",
        "key_source": settings.key_source,
        "read_only": settings.read_only,
        "sources": dict(settings.sources),
        "latency_seconds": _seconds(examined.latency),
        "clock_skew_seconds": _seconds(examined.skew),
        "reads": [
            {**read._asdict(), "answered": read.answered, "seconds": _seconds(read.seconds)}
            | error_json(read.error)
            for read in examined.reads
        ],
        "permissions": {
            **{read.operation: _permission(read) for read in examined.reads},
            **dict.fromkeys(WRITES, "not tried"),
        },
        "terminal": dict(terminal),
    }


def _permission(read: ReadResult) -> str:
    if read.answered:
        return "allowed"
    return "denied" if isinstance(read.error, NotAllowed) else "unknown"


def _seconds(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


# -- what the terminal can show


def look(fitness: Fitness, env: Mapping[str, str]) -> dict[str, Any]:
    """The terminal as the dashboard would find it: facts, and hints that a person can act on."""
    facts: dict[str, Any] = msgspec.structs.asdict(fitness)
    ssh = any(env.get(name) for name in ("SSH_TTY", "SSH_CONNECTION", "SSH_CLIENT"))
    facts |= {
        "fits": fitness.refusal is None,
        "no_color": "NO_COLOR" in env,
        "multiplexer": "tmux" if env.get("TMUX") else "screen" if env.get("STY") else None,
        "ssh": ssh,
    }
    plain_tmux = facts["multiplexer"] == "tmux" and not fitness.term.startswith(("tmux", "screen"))
    small = fitness.columns < 60 or fitness.rows < 16
    sixteen = 0 < fitness.colours <= 16 and fitness.term != "linux"
    hints = {
        "the window is too small: the dashboard needs 60 columns and 16 rows": small,
        "from 80 columns and 24 rows on the dashboard shows more": (
            not small and (fitness.columns < 80 or fitness.rows < 24)
        ),
        "signs are drawn in ASCII: for others the locale must be UTF-8 (LANG, LC_ALL)": (
            fitness.ascii
        ),
        "NO_COLOR is set: there are no colours, signs tell the same": facts["no_color"],
        "16 colours: if the terminal has more, set TERM=xterm-256color": (
            sixteen and not facts["no_color"]
        ),
        "copying goes through tmux only with: set -g set-clipboard on": (
            facts["multiplexer"] == "tmux"
        ),
        f"inside tmux TERM should be tmux-256color, and is {fitness.term}": plain_tmux,
        "copying through screen works in pieces, and not in every terminal": (
            facts["multiplexer"] == "screen"
        ),
        "over SSH a copied id goes to the clipboard of your own terminal (OSC 52),"
        " if that terminal allows it": ssh,
    }
    return {**facts, "hints": [hint for hint, applies in hints.items() if applies]}
