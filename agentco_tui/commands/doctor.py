"""`agentco-tui doctor`: reports what works: settings, requests, API key, clock and terminal.

It sends every kind of read request once (`doctor_reads`) to the platform, the service that the
dashboard watches, and never a write. Whether the key may write is taken from the journal: it has an
`Attempt` for each change that was sent from this machine, and what became of it. A profile is the
user's name for a platform with its key and settings. `figures` formats numbers and times.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentco_tui import __version__
from agentco_tui.actions.journal_lines import attempt_histories, seconds_of
from agentco_tui.actions.outcome import GOOD, OPERATION_OF_VERB, OutcomeKind
from agentco_tui.api.errors import KeyRejected, NotAllowed
from agentco_tui.api.origin import platform_of
from agentco_tui.commands.command_context import command_context
from agentco_tui.commands.command_output import Exit, error_json, print_json, print_lines
from agentco_tui.commands.doctor_fields import examine_fields
from agentco_tui.commands.doctor_platform import examine_platform
from agentco_tui.commands.doctor_reads import Examination, ReadResult, examine_reads
from agentco_tui.commands.doctor_terminal import describe_terminal
from agentco_tui.config import Arguments, Settings, platform_line
from agentco_tui.live.feeds import SKEW_THAT_MATTERS
from agentco_tui.model import Moment
from agentco_tui.model import format as figures
from agentco_tui.system.state_folder import state_folder
from agentco_tui.terminal.fitness import check_terminal
from agentco_tui.text import signs

if TYPE_CHECKING:
    from agentco_tui.api.capabilities import Capabilities
    from agentco_tui.commands.doctor_bundle import Bundle

NEVER_WRITTEN = "not known: never done from here"


def run(arguments: Arguments, env: Mapping[str, str]) -> int:
    """Print a report; returns 0 if every request that was sent was answered, else 3."""
    with command_context(arguments, env) as settings:
        if arguments["fields"]:
            return asyncio.run(examine_fields(settings, as_json=arguments["json"]))
        as_lines = not arguments["json"]
        # `check` finds out what the terminal can do.
        terminal = describe_terminal(check_terminal(env), env)
        if as_lines:
            print_lines(*_settings_lines(settings, terminal), "", "reads:")
        # A recording of the answers for a bug report, with names and texts replaced.
        bundle: Bundle | None = None
        if arguments["bundle"]:
            # Imported only here, because few runs write a bundle.
            from agentco_tui.commands.doctor_bundle import Bundle  # noqa: PLC0415

            bundle = Bundle(arguments["bundle"], settings)
        recorder = None if bundle is None else bundle.recorder
        found = asyncio.run(examine_reads(settings, recorder, as_lines=as_lines))
        report = _as_json(settings, found, terminal)
        bundle_lines = [] if bundle is None else ["", *bundle.finish()]
        answered = all(read.answered for read in found.reads if read.note is None)
        failures = [read.error for read in found.reads]
        platform, platform_lines = asyncio.run(examine_platform(settings, failures))
        if as_lines:
            lines = platform_lines + conclusion_lines(found, last_write_permissions(settings))
            if found.log_lacks:
                limitations = ", ".join(found.log_lacks)
                lines.append(f"{signs.warning} limits of the activity log: {limitations}")
            print_lines("", *lines, *bundle_lines)
        else:
            report["log_lacks"] = found.log_lacks
            print_json({"ok": answered, **report, "platform": platform})
        return Exit.OK if answered else Exit.NO_ANSWER


def write_requests(capabilities: Capabilities) -> dict[str, str]:
    """The request of each kind of change that the platform offers, by the journal's verb for it.

    Doctor never sends one, because it would change something.
    """
    return {
        verb: capabilities.requests[operation]
        for verb, operation in OPERATION_OF_VERB.items()
        if operation in capabilities.requests
    }


def last_write_permissions(settings: Settings) -> dict[str, tuple[str, str | None]]:
    """For each verb in the journal: ("allowed" or "denied", the time of its last outcome).

    The API key may have changed since then.
    """
    last_writes: dict[str, tuple[str, str | None]] = {}
    origin = platform_of(str(settings.base_url))  # the address, always spelt the same way
    with suppress(OSError), (state_folder() / "journal.jsonl").open("rb") as file:
        # `GOOD` are the outcomes that say that the change was made.
        for attempt, outcomes in attempt_histories(file):
            if not outcomes:
                continue
            if attempt.profile != settings.profile or platform_of(attempt.origin) != origin:
                continue
            last = outcomes[-1]
            if last.outcome == OutcomeKind.NOT_ALLOWED:
                last_writes[attempt.verb] = ("denied", last.time)
            elif last.outcome in GOOD:
                last_writes[attempt.verb] = ("allowed", last.time)
    return last_writes


def _settings_lines(settings: Settings, terminal: Mapping[str, Any]) -> list[str]:
    """Lines about the settings in effect and the terminal, followed by hints."""
    sources = settings.sources
    config = str(settings.config_path)
    if settings.config_path is None or not settings.config_path.exists():
        config = f"{config} (does not exist)"
    interface: list[str] = []
    if settings.platform is not None:
        source = sources.get("platform", "default")
        interface.append(f"interface   {platform_line(settings.platform)} ({source})")
    writing = "refused (read-only)" if settings.read_only else "allowed from here"
    lines = [
        f"agentco-tui {__version__}",
        f"profile     {settings.profile} ({sources.get('profile', 'default')})",
        f"config      {config}",
        f"platform    {settings.base_url} ({sources.get('base_url', 'default')})",
        *interface,
        f"connection  {_connection_words(settings)}",
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
    """Where the key comes from, and whether a running dashboard can read it again."""
    if settings.key is None:
        return f"none ({settings.key_source})"
    words = f"from {settings.key_source}"
    location = settings.key_location
    if location is None:
        return words
    if location.can_change:
        return f"{words}, which the dashboard can read again"
    return f"{words}, read only at the start"


def _terminal_facts(terminal: Mapping[str, Any]) -> list[str]:
    """The terminal in a few words; `terminal` is what `describe_terminal` returns."""
    colours = "no"
    if terminal["colours"]:
        colours = figures.count(terminal["colours"])
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


def conclusion_lines(
    found: Examination, written: Mapping[str, tuple[str, str | None]]
) -> list[str]:
    """Lines about what the key may do, how fast the platform is, and how far its clock is off.

    `written` is what `last_write_permissions` returns.
    """
    reads = found.reads
    measured = found.measured
    answered = sum(read.answered for read in reads)
    sent = sum(read.note is None for read in reads)
    lines = [f"{answered} of {sent} reads answered"]
    if any(isinstance(read.error, KeyRejected) for read in reads):
        words = "the key is not accepted" if found.has_key else "a key is needed"
        lines.append(f"{signs.critical} {words}")
    else:
        lines += _permission_lines(reads, has_key=found.has_key)
        if found.why_read_only is not None:
            lines.append(f"{signs.warning} {found.why_read_only}")
        number = len(write_requests(found.capabilities))
        lines.append(f"writes were not tried ({number} operations)")
        for verb, operation in OPERATION_OF_VERB.items():
            permission, written_at = written.get(verb, (NEVER_WRITTEN, None))
            permission = found.capabilities.why_not(operation) or permission
            line = f"  {verb:<15} {permission}"
            at = None if written_at is None else seconds_of(written_at)
            if at is not None:
                line = f"{line}, as of {figures.moment(Moment(at=at))}"
            lines.append(line)
    if measured.smoothed_latency is not None:
        latency = figures.duration(measured.smoothed_latency)
        lines.append(f"the platform answers within {latency}")
    lines.append(_clock_line(measured.clock_skew))
    return lines


def _clock_line(skew: float | None) -> str:
    """How far the platform's clock is off; `skew` in seconds, None if it sent no time."""
    if skew is None:
        return "the platform does not send its time"
    if abs(skew) < SKEW_THAT_MATTERS:
        return "the clocks agree"
    side = "ahead of" if skew > 0 else "behind"
    return (
        f"{signs.warning} the platform's clock is {figures.duration(abs(skew))}"
        f" {side} this machine's; ages are shown by the platform's"
    )


def _permission_lines(reads: Sequence[ReadResult], *, has_key: bool) -> list[str]:
    """Lines about what the key may read; a failed read leaves that unknown."""
    sent = [read for read in reads if read.note is None]
    denied = [read.operation for read in sent if isinstance(read.error, NotAllowed)]
    answered = sum(read.answered for read in sent)
    unknown = len(sent) - answered - len(denied)
    lines: list[str] = []
    if not has_key:
        if answered and not unknown:
            lines.append("no key is needed for anything that was requested")
        return lines
    if denied:
        # Several reads can be the same request.
        requests = ", ".join(dict.fromkeys(denied))
        lines.append(f"{signs.warning} the key may not: {requests}")
    if unknown and not (answered or denied):
        lines.append(f"{signs.unknown} what the key may read is not known: no read was answered")
    elif unknown:
        failed = "1 read that" if unknown == 1 else f"{unknown} reads that"
        lines.append(f"{signs.unknown} whether the key may make {failed} failed is not known")
    elif answered and not denied:
        lines.append("the key may read everything that was requested")
    return lines


def _as_json(
    settings: Settings,
    found: Examination,
    terminal: Mapping[str, Any],
) -> dict[str, object]:
    """The report for scripts, as docs/scripts.md describes it."""
    reads = found.reads
    measured = found.measured
    request_by_verb = write_requests(found.capabilities)
    permissions = dict.fromkeys(request_by_verb.values(), "not tried")
    permissions |= {read.operation: _permission(read) for read in reads}
    last_writes = {
        request_by_verb[verb]: {"told": permission, "time": written_at}
        for verb, (permission, written_at) in last_write_permissions(settings).items()
        if verb in request_by_verb
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
                **read.facts,
                **error_json(read.error),
            }
            for read in reads
        ],
        "permissions": permissions,
        "why_read_only": found.why_read_only,
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
