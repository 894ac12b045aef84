"""`agentco-tui doctor`: which reads are answered, how fast, and what the key and terminal allow."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentco_tui import __version__
from agentco_tui.actions.journal_lines import histories, seconds_of
from agentco_tui.actions.outcome import GOOD, OutcomeKind
from agentco_tui.api.errors import KeyRejected, NotAllowed
from agentco_tui.api.origin import platform_of
from agentco_tui.commands.command_output import Exit, error_json, say, say_json
from agentco_tui.commands.doctor_fields import examine_fields
from agentco_tui.commands.doctor_reads import ReadResult, examine
from agentco_tui.commands.doctor_terminal import describe_terminal
from agentco_tui.commands.running import running
from agentco_tui.config import Given, Settings
from agentco_tui.keys.commands import COMMANDS
from agentco_tui.live.feeds import SKEW_THAT_MATTERS
from agentco_tui.model import Moment
from agentco_tui.model import format as figures
from agentco_tui.system.state_folder import state_folder
from agentco_tui.terminal.fitness import check
from agentco_tui.text import signs

if TYPE_CHECKING:
    from agentco_tui.api.measurements import Measurements
    from agentco_tui.commands.doctor_bundle import Bundle

WRITES = {
    command.verb: command.operation
    for command in COMMANDS
    if command.operation is not None and command.verb is not None
}
"""Write operations by their verb. Doctor never tries one, because it would change something."""
NEVER_WRITTEN = "not known: never done from here"


def run(given: Given, env: Mapping[str, str]) -> int:
    """Print a report; 0 if every read that was sent was answered, else 3. Changes nothing."""
    with running(given, env) as settings:
        if given["fields"]:
            return asyncio.run(examine_fields(settings, as_json=given["json"]))
        as_lines = not given["json"]
        terminal = describe_terminal(check(env), env)
        if as_lines:
            say(*_settings_lines(settings, terminal), "", "reads:")
        bundle: Bundle | None = None
        if given["bundle"]:
            # Imported only here, because few runs write a bundle.
            from agentco_tui.commands.doctor_bundle import Bundle  # noqa: PLC0415

            bundle = Bundle(given["bundle"], settings)
        recorder = None if bundle is None else bundle.recorder
        reads, measured, log_lacks = asyncio.run(examine(settings, recorder, as_lines=as_lines))
        report = _as_json(settings, reads, measured, terminal)
        bundle_lines = [] if bundle is None else ["", *bundle.finish()]
        answered = all(read.answered for read in reads if read.note is None)
        if as_lines:
            lines = conclusions(reads, measured, written_before(settings))
            if log_lacks:
                lacks = ", ".join(log_lacks)
                lines.append(f"{signs.warning} of the activity log it gives: {lacks}")
            say("", *lines, *bundle_lines)
        else:
            say_json({"ok": answered, **report, "log_lacks": log_lacks})
        return Exit.OK if answered else Exit.NO_ANSWER


def written_before(settings: Settings) -> dict[str, tuple[str, str | None]]:
    """By operation, whether its last write from here was "allowed" or "denied", and its time.

    It comes from the journal, and the key may have changed since then.
    """
    last_writes: dict[str, tuple[str, str | None]] = {}
    origin = platform_of(str(settings.base_url))
    with suppress(OSError), (state_folder() / "journal.jsonl").open("rb") as file:
        for attempt, outcomes in histories(file):
            operation = WRITES.get(attempt.verb)
            if operation is None or not outcomes:
                continue
            if attempt.profile != settings.profile or platform_of(attempt.origin) != origin:
                continue
            last = outcomes[-1]
            if last.outcome == OutcomeKind.NOT_ALLOWED:
                last_writes[operation] = ("denied", last.time)
            elif last.outcome in GOOD:
                last_writes[operation] = ("allowed", last.time)
    return last_writes


def _settings_lines(settings: Settings, terminal: Mapping[str, Any]) -> list[str]:
    """The settings in effect and the terminal, a line each, with hints below."""
    sources = settings.sources
    config = str(settings.config_path)
    if settings.config_path is None or not settings.config_path.exists():
        config = f"{config} (does not exist)"
    writing = "refused (read-only)" if settings.read_only else "allowed from here"
    lines = [
        f"agentco-tui {__version__}",
        f"profile     {settings.profile} ({sources.get('profile', 'default')})",
        f"config      {config}",
        f"platform    {settings.base_url} ({sources.get('base_url', 'default')})",
        f"line        {_connection_words(settings)}",
        f"key         {_key_words(settings)}",
        f"writing     {writing}",
        f"terminal    {', '.join(_terminal_facts(terminal))}",
        f"clipboard   {terminal['clipboard']}",
    ]
    hints = list(terminal["hints"])
    if terminal["refusal"]:
        hints.insert(0, f"{signs.warning} {terminal['refusal']}")
    return lines + [f"            {hint}" for hint in hints]


def _connection_words(settings: Settings) -> str:
    url = settings.base_url
    if url.scheme == "https":
        words = f"TLS, certificates of {settings.ca_file or 'the system'}"
    elif url.is_loopback:
        words = "plain http, on this machine only"
    else:
        words = f"{signs.warning} plain http: the key is sent unencrypted (allow_http)"
    if settings.trust_env:
        words = f"{words}, proxies of the environment"
    return words


def _key_words(settings: Settings) -> str:
    """Where the key comes from, and whether a dashboard that runs can read a changed one."""
    words = f"from {settings.key_source}"
    location = settings.key_location
    if location is None:
        return words
    if location.can_change:
        return f"{words}, which the dashboard can read again"
    return f"{words}, read at the start only"


def _terminal_facts(terminal: Mapping[str, Any]) -> list[str]:
    colours = figures.count(terminal["colours"]) if terminal["colours"] else "no"
    facts = [
        terminal["term"] or "TERM is not set",
        f"{terminal['columns']}x{terminal['rows']}",
        f"{colours} colours",
        "ASCII signs" if terminal["ascii"] else terminal["encoding"],
    ]
    if terminal["multiplexer"]:
        facts.append(f"in {terminal['multiplexer']}")
    if terminal["ssh"]:
        facts.append("in SSH")
    return facts


def conclusions(
    reads: Sequence[ReadResult],
    measured: Measurements,
    written: Mapping[str, tuple[str, str | None]],
) -> list[str]:
    """What the reads show of the key and the platform, a line each.

    `written` has the last writes, as of `written_before`.
    """
    answered = sum(read.answered for read in reads)
    sent = sum(read.note is None for read in reads)
    lines = [f"{answered} of {sent} reads answered"]
    if any(isinstance(read.error, KeyRejected) for read in reads):
        lines.append(f"{signs.critical} the key is not accepted")
    else:
        lines += _permission_lines(reads)
        lines.append(f"writes were not tried ({len(set(WRITES.values()))} operations)")
        for verb, operation in WRITES.items():
            permission, written_at = written.get(operation, (NEVER_WRITTEN, None))
            at = None if written_at is None else seconds_of(written_at)
            since = "" if at is None else f", as of {figures.moment(Moment(at=at))}"
            lines.append(f"  {verb:<15} {permission}{since}")
    if measured.smoothed_latency is not None:
        latency = figures.duration(measured.smoothed_latency)
        lines.append(f"the platform answers within {latency}")
    lines.append(_clock_line(measured.clock_skew))
    return lines


def _clock_line(skew: float | None) -> str:
    """How the platform's clock differs from this machine's; `skew` in seconds, None if unknown."""
    if skew is None:
        return "the platform does not send its time"
    if abs(skew) < SKEW_THAT_MATTERS:
        return "the clocks agree"
    side = "ahead of" if skew > 0 else "behind"
    return (
        f"{signs.warning} the platform's clock is {figures.duration(abs(skew))}"
        f" {side} this machine's; ages are shown by the platform's"
    )


def _permission_lines(reads: Sequence[ReadResult]) -> list[str]:
    """What the reads show of what the key may read; a read that failed shows nothing."""
    sent = [read for read in reads if read.note is None]
    denied = [read.operation for read in sent if isinstance(read.error, NotAllowed)]
    answered = sum(read.answered for read in sent)
    unknown = len(sent) - answered - len(denied)
    lines: list[str] = []
    if denied:
        lines.append(f"{signs.warning} the key may not: {', '.join(denied)}")
    if unknown and not (answered or denied):
        lines.append(f"{signs.unknown} what the key may read is not known: no read was answered")
    elif unknown:
        others = "1 read that" if unknown == 1 else f"{unknown} reads that"
        lines.append(f"{signs.unknown} whether the key may make {others} failed is not known")
    elif answered and not denied:
        lines.append("the key may read everything that was asked")
    return lines


def _as_json(
    settings: Settings,
    reads: Sequence[ReadResult],
    measured: Measurements,
    terminal: Mapping[str, Any],
) -> dict[str, object]:
    """The report for scripts."""
    permissions = dict.fromkeys(WRITES.values(), "not tried")
    permissions |= {read.operation: _permission(read) for read in reads}
    last_writes = {
        operation: {"told": permission, "time": written_at}
        for operation, (permission, written_at) in written_before(settings).items()
    }
    return {
        "version": __version__,
        "profile": settings.profile,
        "config": None if settings.config_path is None else str(settings.config_path),
        "base_url": str(settings.base_url),
        "tls": settings.base_url.scheme == "https",
        "key_source": settings.key_source,
        "read_only": settings.read_only,
        "sources": dict(settings.sources),
        "latency_seconds": _rounded(measured.smoothed_latency),
        "clock_skew_seconds": _rounded(measured.clock_skew),
        "reads": [
            {
                "operation": read.operation,
                "asked": read.note is None,
                "answered": read.answered,
                "note": read.note,
                "seconds": _rounded(read.seconds),
                **read.seen,
                **error_json(read.error),
            }
            for read in reads
        ],
        "permissions": permissions,
        "last_writes": last_writes,
        "terminal": dict(terminal),
    }


def _permission(read: ReadResult) -> str:
    """Whether the key may make a read: "allowed", "denied", "unknown" or "not tried"."""
    if read.note:
        return "not tried"
    if read.answered:
        return "allowed"
    return "denied" if isinstance(read.error, NotAllowed) else "unknown"


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
