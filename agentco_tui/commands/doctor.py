"""`agentco-tui doctor`: what answers, how fast, what the key may do, what the terminal can show."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import asdict, replace

from agentco_tui import __version__
from agentco_tui.actions.journal_lines import histories, seconds_of
from agentco_tui.actions.outcome import GOOD, OutcomeKind
from agentco_tui.api.credentials import BaseUrl, KeyInUse
from agentco_tui.api.errors import (
    ApiError,
    Broken,
    KeyRejected,
    NotAllowed,
    TimedOut,
    Unreachable,
    Unreadable,
)
from agentco_tui.api.origin import platform_of
from agentco_tui.commands.command_output import Exit, error_json, say, say_json
from agentco_tui.commands.running import connected, running
from agentco_tui.config import Given, Settings
from agentco_tui.keys.commands import COMMANDS
from agentco_tui.live.feeds import SKEW_THAT_MATTERS, ActivityFilter, FeedName, Query
from agentco_tui.live.fetch import fetch, of_all_companies
from agentco_tui.live.log_reader import LogReader
from agentco_tui.live.store import Store
from agentco_tui.model import Activity, Listing, Moment, Trace
from agentco_tui.model import format as figures
from agentco_tui.reading.field_meanings import MEANINGS
from agentco_tui.reading.field_report import FieldReport, report_fields, report_unreadable
from agentco_tui.reading.kinds import PATHS, mappable
from agentco_tui.reading.mapping import ProfileMapping
from agentco_tui.reading.schema import Kind
from agentco_tui.system.atomic_write import AtomicWriteError, atomic_write
from agentco_tui.system.clipboard import tools
from agentco_tui.system.state_folder import state_folder
from agentco_tui.terminal.fitness import Fitness, check
from agentco_tui.text import SafeText, fit, plain, safe, signs
from agentco_tui.workspace.named_records import company_id_or_words

if TYPE_CHECKING:
    from agentco_tui.api.measurements import Measurements
    from agentco_tui.api.pseudonyms import Pseudonyms
    from agentco_tui.api.recorder import Recorder

WRITES = {
    command.verb: command.operation
    for command in COMMANDS
    if command.operation is not None and command.verb is not None
}
"""By their verbs. Never tried here: trying one would change something."""
_ENTRIES = 100  # of the log
_TOLD = ("time", "level", "logger", "words", "request", "target", "status", "outcome", "seconds")
Ask = Callable[[str], Awaitable[object]]
"""Puts a question; takes the id of a record, "" for a question without one."""


class ReadResult(NamedTuple):
    """How one operation went."""

    operation: str  # method and path
    note: SafeText | None  # why it was not asked
    seconds: float | None  # until all of the answer was there, all its pages
    seen: Mapping[str, Any]
    error: ApiError | None

    @property
    def answered(self) -> bool:
        return self.note is None and self.error is None


def run(given: Given, env: Mapping[str, str]) -> int:
    """Tell, and return 0 if every read that was asked was answered, else 3. Changes nothing."""
    with running(given, env) as settings:
        if given["fields"]:
            return asyncio.run(examine_fields(settings, as_json=given["json"]))
        terminal = look(check(env), env)
        if not given["json"]:
            say(*_about(settings, terminal), "", "reads:")
        bundle = given["bundle"] and _bundle(given["bundle"], settings)
        recorder = bundle and bundle[0]
        as_lines = not given["json"]
        reads, measured, lacks = asyncio.run(examine(settings, recorder, as_lines=as_lines))
        report = _as_json(settings, reads, measured, terminal)
        about = ["", *_bundled(*bundle, settings.log_file)] if bundle else []
        answered = all(read.answered for read in reads if read.note is None)
        if given["json"]:
            say_json({"ok": answered, **report, "log_lacks": lacks})
        else:
            lines = conclusions(reads, measured, written_before(settings))
            if lacks:
                lines.append(f"{signs.warning} of the activity log it gives: {', '.join(lacks)}")
            say("", *lines, *about)
        return Exit.OK if answered else Exit.NO_ANSWER


async def examine(
    settings: Settings,
    recorder: Recorder | None,
    *,
    as_lines: bool,
    answer_within: float | None = None,
) -> tuple[list[ReadResult], Measurements, list[SafeText]]:
    """Ask every read operation once; about one record, for the first of the list before it. And
    what can't be had of the log: of a day before its newest ones a few entries are asked for.

    `answer_within`: seconds for each read; the first that has no answer by then is the last.
    """
    is_cut_short = False
    reads: list[ReadResult] = []
    log: Listing[Activity] = Listing(records=())
    async with connected(settings) as client:
        client.transport.recorder = recorder
        # A bundle is of all companies: their ids are others in it.
        company = None if recorder else await company_id_or_words(settings, client)
        found: dict[str, str | None] = {} if company is None else {"company": company}

        def of_all(ask: Callable[[str | None], Awaitable[Listing[object]]]) -> Ask:
            return lambda _: of_all_companies(ask, Store(), company, client.companies)  # type: ignore[type-var]

        operations: tuple[tuple[str, Ask | None, str], ...] = (
            ("/companies", lambda _: client.companies(), "company"),
            ("/companies/:id", client.company, "company"),
            ("/agents", of_all(client.agents), "agent"),  # type: ignore[arg-type]
            ("/agents/:id", client.agent, "agent"),
            ("/tasks", lambda _: client.tasks(company_id=company), "task"),
            ("/tasks/:id/trace", client.task_trace, "task"),
            ("/activity", lambda _: client.activity(company_id=company, limit=_ENTRIES), "log"),
            ("/activity/export", None, ""),
            ("/budget", lambda _: client.budget(), ""),
            ("/budget/companies", lambda _: client.company_budgets(), ""),
            ("/budget/agents", of_all(client.agent_budgets), ""),  # type: ignore[arg-type]
            ("/budget/alerts", lambda _: client.budget_alerts(), ""),
        )
        for path, ask, kind in operations:
            record_id, began = found.get(kind), time.monotonic()
            note = answer = failure = took = None
            if ask is None:
                note = plain("not asked: some platforms log who exports")
            elif "/:id" in path and record_id is None:
                note = plain(f"not asked: no {kind} is known")
            else:
                try:
                    async with asyncio.timeout(answer_within):
                        answer = await ask(record_id or "")
                except ApiError as error:
                    failure = error
                except TimeoutError:
                    words = f"no whole answer within {answer_within:g} s: it is silent or too slow"
                    failure = TimedOut(plain(words), path=f"/api{path}")
                took = time.monotonic() - began
            if kind == "log" and isinstance(answer, Listing):
                log = answer
            elif isinstance(answer, Listing) and answer.records:
                found.setdefault(kind, answer.records[0].id)
            reads.append(ReadResult(f"GET /api{path}", note, took, _seen(answer), failure))
            if as_lines:
                say(_read_line(reads[-1]))
            if isinstance(failure, Unreachable | KeyRejected):
                # Nothing else can be answered; eleven more of the same help nobody.
                break
            if answer_within is not None and isinstance(failure, TimedOut | Broken):
                is_cut_short = True
                break
        reader = LogReader(client)
        if not is_cut_short:
            with suppress(ApiError, TimeoutError):
                async with asyncio.timeout(answer_within):
                    await reader.try_days(ActivityFilter(company=company), log, _ENTRIES)
        if recorder is not None and any(read.answered for read in reads):
            # Ask what the dashboard would, for its pictures.
            for feed in FeedName:
                with suppress(ApiError):
                    await fetch(feed, client, Store(), Query())
        return reads, client.transport.measured, reader.told()


def _bundle(file: str, settings: Settings) -> tuple[Recorder, Pseudonyms]:
    """A recording in which nobody is named. Raises UsageError if the file can't be written."""
    from agentco_tui.api.pseudonyms import NOWHERE, Pseudonyms  # noqa: PLC0415 (for a bundle only)
    from agentco_tui.commands.replay_command import begun  # noqa: PLC0415

    nowhere = BaseUrl.parse(NOWHERE)
    masked = replace(settings, base_url=nowhere, profile="bundle", company=None)
    key = None if settings.key is None else KeyInUse(settings.key)
    mapped = settings.mapping.told
    kept = [name for names_by_field in mapped.fields.values() for name in names_by_field.values()]
    kept += [word for words in mapped.status.values() for word in words]
    names = Pseudonyms(str(settings.base_url), kept)
    return begun(file, masked, key, alter=names.alter), names


def _bundled(recorder: Recorder, names: Pseudonyms, log: Path | None) -> list[str]:
    """Write the rest of a bundle, the log beside it; lines that say what it holds."""
    recorder.close(60.0)
    path = safe(str(recorder.path), 200)
    if recorder.trouble is not None:
        return [f"{path}: {recorder.trouble}"]
    return [
        f"{path} holds one answer to each read.",
        "All is replaced but what this program's own tables have: names of fields, words of status,"
        " and the figures and times under these names.",
        f"Look before you send it: agentco-tui replay {path}",
        *([_log_beside(recorder.path, names, log)] if log else []),
    ]


def _log_beside(bundle: Path, names: Pseudonyms, log: Path) -> str:
    """Write the end of a log of JSON without its messages, which may quote anything; says where."""
    path = bundle.with_name(f"{bundle.name}.log")
    try:
        with atomic_write(path, mode=0o600) as file:
            for line in log.read_text("utf-8").splitlines()[-1_000:]:
                entry = {name: told for name, told in json.loads(line).items() if name in _TOLD}
                target = {"target": names.target(entry["target"])} if "target" in entry else {}
                file.write(f"{json.dumps(entry | target)}\n".encode())
    except (AtomicWriteError, ValueError, AttributeError) as error:
        return f"The log is left out, which must be one of --log-json: {safe(str(error), 200)}"
    return f"{safe(str(path), 200)} has the end of the log, without its messages."


def _seen(answer: object) -> dict[str, Any]:
    """What an answer shows of itself; null is what it doesn't."""
    records = None if answer is None else 1
    if isinstance(answer, Listing | Trace):
        records = len(answer.records if isinstance(answer, Listing) else answer.steps)
    return {
        "shape": getattr(answer, "shape", None),
        "records": records,
        "unread": getattr(answer, "unread", 0),
        "pages": getattr(answer, "pages", 1),
        "capped": getattr(answer, "capped", False),
    }


def written_before(settings: Settings) -> dict[str, tuple[str, str | None]]:
    """What became of the last write of each sort from here, by operation: "allowed" or "denied",
    and when. The key may be another by now; no write is tried to find out.
    """
    found: dict[str, tuple[str, str | None]] = {}
    here = settings.profile, platform_of(str(settings.base_url))
    with suppress(OSError), (state_folder() / "journal.jsonl").open("rb") as file:
        for attempt, outcomes in histories(file):
            operation = WRITES.get(attempt.verb)
            ours = (attempt.profile, platform_of(attempt.origin)) == here
            if operation is not None and ours and outcomes:
                became = outcomes[-1].outcome
                told = "denied" if became == OutcomeKind.NOT_ALLOWED else "allowed"
                if told == "denied" or became in GOOD:
                    found[operation] = told, outcomes[-1].time
    return found


def _about(settings: Settings, terminal: Mapping[str, Any]) -> list[str]:
    url, place = settings.base_url, settings.key_location
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
    return [
        f"agentco-tui {__version__}",
        f"profile     {settings.profile} ({settings.sources.get('profile', 'default')})",
        f"config      {settings.config_path}{'' if exists else ' (does not exist)'}",
        f"platform    {url} ({settings.sources.get('base_url', 'default')})",
        f"line        {line}{', proxies of the environment' if settings.trust_env else ''}",
        f"key         from {settings.key_source}{again}",
        f"writing     {'refused (read-only)' if settings.read_only else 'allowed from here'}",
        f"terminal    {', '.join(facts)}",
        f"clipboard   {terminal['clipboard']}",
        *below,
    ]


def _read_line(read: ReadResult) -> str:
    name, seen = f"{read.operation:<29}", read.seen
    if read.note is not None:
        return f"{signs.unknown} {name} {read.note}"
    took = f"{figures.duration(read.seconds):>8}"
    if read.error is not None:
        return f"{signs.critical} {name} {took}  {read.error}"
    records, unread = seen["records"], seen["unread"]
    facts = {
        "1 record" if records == 1 else f"{figures.count(records)} records": True,
        f"{seen['pages']} pages": seen["pages"] > 1,
        "cut at the cap: there are more": seen["capped"],
        f"shape {seen['shape']}": seen["shape"],
        f"{figures.count(unread)} could not be read": unread,
    }
    told = ", ".join(fact for fact, applies in facts.items() if applies)
    return f"{signs.warning if unread else signs.good} {name} {took}  {told}"


def conclusions(
    reads: Sequence[ReadResult],
    measured: Measurements,
    written: Mapping[str, tuple[str, str | None]],
) -> list[str]:
    answered, asked = (sum(read.answered for read in reads), sum(not read.note for read in reads))
    lines = [f"{answered} of {asked} reads answered"]
    if any(isinstance(read.error, KeyRejected) for read in reads):
        lines.append(f"{signs.critical} the key is not accepted")
    else:
        lines += _permission_lines(reads)
        lines.append(f"writes were not tried ({len(set(WRITES.values()))} operations)")
        for verb, operation in WRITES.items():
            told, when = written.get(operation, ("not known: never done from here", None))
            at = None if when is None else seconds_of(when)
            since = "" if at is None else f", as of {figures.moment(Moment(at=at))}"
            lines.append(f"  {verb:<15} {told}{since}")
    if measured.smoothed_latency is not None:
        latency = figures.duration(measured.smoothed_latency)
        lines.append(f"the platform answers within {latency}")
    skew = measured.clock_skew
    if skew is None:
        lines.append("the platform does not tell its time")
    elif abs(skew) >= SKEW_THAT_MATTERS:
        side = "ahead of" if skew > 0 else "behind"
        lines.append(
            f"{signs.warning} the platform's clock is {figures.duration(abs(skew))}"
            f" {side} this machine's; ages are shown by the platform's"
        )
    else:
        lines.append("the clocks agree")
    return lines


def _permission_lines(reads: Sequence[ReadResult]) -> list[str]:
    """What the reads show of what the key may read; what was not answered shows nothing."""
    asked = [read for read in reads if read.note is None]
    denied = [read.operation for read in asked if isinstance(read.error, NotAllowed)]
    answered = sum(read.answered for read in asked)
    not_known = len(asked) - answered - len(denied)
    lines: list[str] = []
    if denied:
        lines.append(f"{signs.warning} the key may not: {', '.join(denied)}")
    if not_known and not (answered or denied):
        lines.append(f"{signs.unknown} what the key may read is not known: no read was answered")
    elif not_known:
        others = "1 read that" if not_known == 1 else f"{not_known} reads that"
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
    """For scripts; of each permission "allowed", "denied", "unknown" or "not tried"."""
    permissions = dict.fromkeys(WRITES.values(), "not tried")
    before = written_before(settings)
    for read in reads:
        denied = isinstance(read.error, NotAllowed)
        told = "allowed" if read.answered else "denied" if denied else "unknown"
        permissions[read.operation] = "not tried" if read.note else told
    return {
        "version": __version__,
        "profile": settings.profile,
        "config": None if settings.config_path is None else str(settings.config_path),
        "base_url": str(settings.base_url),
        "tls": settings.base_url.scheme == "https",
        "key_source": settings.key_source,
        "read_only": settings.read_only,
        "sources": dict(settings.sources),
        "latency_seconds": _seconds(measured.smoothed_latency),
        "clock_skew_seconds": _seconds(measured.clock_skew),
        "reads": [
            {
                "operation": read.operation,
                "asked": read.note is None,
                "answered": read.answered,
                "note": read.note,
                "seconds": _seconds(read.seconds),
                **read.seen,
                **error_json(read.error),
            }
            for read in reads
        ],
        "permissions": permissions,
        "last_writes": {name: {"told": told, "time": at} for name, (told, at) in before.items()},
        "terminal": dict(terminal),
    }


def _seconds(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def look(fitness: Fitness, env: Mapping[str, str]) -> dict[str, Any]:
    """The terminal as the dashboard would find it: facts, and hints that a person can act on."""
    facts: dict[str, Any] = asdict(fitness)
    ssh = any(env.get(name) for name in ("SSH_TTY", "SSH_CONNECTION", "SSH_CLIENT"))
    facts |= {
        "fits": fitness.refusal is None,
        "no_color": "NO_COLOR" in env,
        "multiplexer": "tmux" if env.get("TMUX") else "screen" if env.get("STY") else None,
        "ssh": ssh,
        "clipboard": next(iter(tools(env)), ["the terminal (OSC 52)"])[0],
    }
    in_tmux, in_screen = (facts["multiplexer"] == name for name in ("tmux", "screen"))
    hints = {
        "the window is too small: the dashboard needs 40 columns and 12 rows": (
            fitness.columns < 40 or fitness.rows < 12
        ),
        "signs are drawn in ASCII: for others the locale must be UTF-8 (LANG, LC_ALL)": (
            fitness.ascii
        ),
        "NO_COLOR is set: there are no colours, signs tell the same": facts["no_color"],
        "16 colours: if the terminal has more, set TERM=xterm-256color": (
            0 < fitness.colours <= 16 and fitness.term != "linux"
        ),
        "tmux drops what is copied by OSC 52 but with set-clipboard on, and notifications but with"
        " allow-passthrough on (tmux show -g; tmux show -gw)": in_tmux,
        f"inside tmux TERM should be tmux-256color, and is {fitness.term}": (
            in_tmux and not fitness.term.startswith(("tmux", "screen"))
        ),
        "copying through screen works in pieces, and not in every terminal": in_screen,
    }
    return {**facts, "hints": [hint for hint, applies in hints.items() if applies]}


async def examine_fields(settings: Settings, *, as_json: bool) -> int:
    """Read one page of each kind and tell; 0 if each was read, else 3. Changes nothing."""
    told: dict[str, object] = {}
    failed = False
    async with connected(settings) as client:
        company = await company_id_or_words(settings, client)
        for name, kind in mappable().items():
            scoped = company is not None and name in ("agent", "task", "agent_budget")
            params = (("company_id", str(company)),) if scoped else ()
            failure: ApiError | None = None
            report: FieldReport | None = None
            bodies: list[Any] = []
            read = partial(_report_of, kind, client.mapping, bodies)
            try:
                report = await client.read_with(PATHS[name], params, read)
            except ApiError as error:
                failure = error
                failed = True
                if isinstance(error, Unreadable) and bodies:
                    report = report_unreadable(kind, bodies[0], client.mapping)
            told[name] = _fields_as_json(report, failure)
            if not as_json:
                say(*_field_lines(name, settings.profile, report, failure), "")
            if isinstance(failure, Unreachable | KeyRejected):
                break
    if as_json:
        say_json({"kinds": told})
    else:
        say(
            "Lines under [profiles.…] can be pasted into the config file; those that begin with #"
            " name the nearest of our fields, and need a look first."
        )
    return Exit.NO_ANSWER if failed else Exit.OK


def _report_of(
    kind: Kind[Any], mapping: ProfileMapping, bodies: list[Any], body: Any
) -> FieldReport:
    """What is read of a body, which is kept in `bodies` for where that fails."""
    bodies.append(body)
    return report_fields(kind, body, mapping)


def _fields_as_json(report: FieldReport | None, failure: ApiError | None) -> dict[str, object]:
    told: dict[str, object] = {} if failure is None else {"error": error_json(failure)}
    if report is not None:
        told |= asdict(report)
        told["read"] = {each.field: asdict(each) for each in report.read}
        for name in ("unread", "unmatched"):
            told[name] = [asdict(each) for each in getattr(report, name)]
    return told


def _field_lines(
    kind: str, profile: str, report: FieldReport | None, failure: ApiError | None
) -> list[str]:
    """What is read of one kind, and what of it could be mapped, as lines of a config file."""
    if failure is not None:
        lines = [f"{signs.warning} {kind} ({PATHS[kind]}): {failure}"]
    else:
        assert report is not None
        lines = [f"{kind} ({PATHS[kind]}), {_records_words(report)}"]
    if report is None:
        return lines
    for each in report.read:
        unit = f", {each.unit}" if each.unit else ""
        lines.append(f"  {fit(SafeText(each.field), 15)} {each.name}{unit}: {each.sample}")
    lines += [f"  {signs.warning} {risk}" for risk in report.risks]
    for wrong in report.unmatched:
        lines.append(f'  {signs.warning} {wrong.field} = "{wrong.path}": {wrong.reason}')
    if report.unread:
        lines += ["", f"  [profiles.{_toml_key(profile)}.fields.{kind}]"]
        lines += [f"  {line}" for line in _mapping_lines(kind, report)]
    if report.always_null:
        lines.append(f"  # null in every record: {', '.join(report.always_null)}")
    if report.missing and (report.records or report.unread):
        lines.append("  not read, and can be mapped:")
        lines += [
            f"    {fit(SafeText(field), 15)} {MEANINGS[kind][field]}" for field in report.missing
        ]
    return lines


def _records_words(report: FieldReport) -> str:
    records = "1 record" if report.records == 1 else f"{figures.count(report.records)} records"
    if not report.unread_records:
        return records
    why = f" ({'; '.join(report.unread_reasons)})" if report.unread_reasons else ""
    return f"{records}, {figures.count(report.unread_records)} could not be read{why}"


def _mapping_lines(kind: str, report: FieldReport) -> list[str]:
    """A line for each field that nothing was read from; what is only a hint begins with `#`."""
    lines = []
    for each in sorted(report.unread, key=lambda each: not each.proposed):
        if each.similar is None:
            lines.append(f"# {_toml_text(each.path)}: {each.sample}")
            continue
        begin = "" if each.proposed else "# "
        meaning = MEANINGS[kind][each.similar]
        line = f"{begin}{each.similar} = {_toml_text(each.path)}"
        lines.append(f"{line}  # {each.sample}: {meaning}?")
    return lines


def _toml_text(text: str) -> str:
    """A text as TOML writes it: in single quotes where it has double ones in it."""
    if "'" not in text and ('"' in text or "\\" in text):
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False)


def _toml_key(name: str) -> str:
    """The name of a table as TOML writes it."""
    is_bare = all(char.isascii() and (char.isalnum() or char in "-_") for char in name) and name
    return name if is_bare else json.dumps(name, ensure_ascii=False)
