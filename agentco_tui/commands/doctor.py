"""`agentco-tui doctor`: what answers, how fast, what the key may do, what the terminal can show."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from agentco_tui import __version__
from agentco_tui import format as figures
from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError, KeyRejected, NotAllowed, Unreachable
from agentco_tui.commands.running import Exit, connected, error_json, running, say, say_json
from agentco_tui.config import Given, Settings
from agentco_tui.keys import COMMANDS
from agentco_tui.live.feeds import SKEW_THAT_MATTERS
from agentco_tui.live.poller import of_all_companies
from agentco_tui.live.store import Store
from agentco_tui.model import BudgetOverview, Listing, Trace
from agentco_tui.reading.decode import Unshaped
from agentco_tui.reading.json_body import BodyError, parse_json
from agentco_tui.reading.kinds import mappable
from agentco_tui.reading.mapping import FieldReport, report_fields
from agentco_tui.terminal.fitness import Fitness, check
from agentco_tui.text import SafeText, fit, plain, safe, signs

if TYPE_CHECKING:
    from agentco_tui.api.transport import Measured

WRITES = tuple(
    command.operation
    for command in COMMANDS
    if command.operation is not None and command.operation.startswith("POST ")
)
"""Never tried here: trying one would change something."""

PATHS: Mapping[str, str] = {
    "company": "/api/companies", "agent": "/api/agents", "task": "/api/tasks",
    "company_budget": "/api/budget/companies", "agent_budget": "/api/budget/agents",
    "budget": "/api/budget", "alert": "/api/budget/alerts", "activity": "/api/activity",
}  # fmt: skip
"""What is asked for each kind of record: one page of it."""

Ask = Callable[[str], Awaitable[object]]
"""Puts a question; takes the id of a record, "" for a question without one."""


class ReadResult(NamedTuple):
    """How one operation went."""

    operation: str  # method and path
    asked: bool = True
    """False if there was nothing to ask for, such as a first task."""
    seconds: float | None = None
    """How long the whole answer took, all its pages."""
    shape: str | None = None  # the envelope that was seen
    records: int | None = None
    unread: int = 0
    pages: int = 1
    capped: bool = False
    note: SafeText | None = None
    error: ApiError | None = None

    @property
    def answered(self) -> bool:
        return self.asked and self.error is None


def run(given: Given, env: Mapping[str, str]) -> int:
    """Tell, and return 0 if every read that was asked was answered, else 3. Changes nothing."""
    with running(given, env) as settings:
        if given["fields"]:
            return asyncio.run(_examine_fields(settings, as_json=given["json"]))
        terminal = look(check(env), env)
        if not given["json"]:
            say(*_about(settings, terminal), "", "reads:")
        reads, measured = asyncio.run(_examine(settings, as_lines=not given["json"]))
        answered = all(read.answered for read in reads if read.asked)
        if given["json"]:
            say_json({"ok": answered, **_as_json(settings, reads, measured, terminal)})
        else:
            say("", *_conclusions(reads, measured))
        return Exit.OK if answered else Exit.NO_ANSWER


async def _examine(settings: Settings, *, as_lines: bool) -> tuple[list[ReadResult], Measured]:
    """Ask every read operation once; about one record, for the first of the list before it."""
    reads: list[ReadResult] = []
    company = settings.company
    found: dict[str, str | None] = {} if company is None else {"company": company}
    async with connected(settings) as client:

        def of_all(ask: Callable[[str | None], Awaitable[Listing[object]]]) -> Ask:
            return lambda _: of_all_companies(ask, Store(), company, client.companies)  # type: ignore[type-var]

        operations: tuple[tuple[str, Ask, str], ...] = (
            ("/companies", lambda _: client.companies(), "company"),
            ("/companies/:id", client.company, "company"),
            ("/agents", of_all(client.agents), "agent"),  # type: ignore[arg-type]
            ("/agents/:id", client.agent, "agent"),
            ("/tasks", lambda _: client.tasks(company_id=company), "task"),
            ("/tasks/:id/trace", client.task_trace, "task"),
            ("/activity", lambda _: client.activity(company_id=company, limit=100), ""),
            ("/activity/export", lambda _: _beginning_of_export(client), ""),
            ("/budget", lambda _: client.budget(), ""),
            ("/budget/companies", lambda _: client.company_budgets(), ""),
            ("/budget/agents", of_all(client.agent_budgets), ""),  # type: ignore[arg-type]
            ("/budget/alerts", lambda _: client.budget_alerts(), ""),
        )
        for path, ask, kind in operations:
            operation = f"GET /api{path}"
            record_id = found.get(kind)
            if "/:id" in path and record_id is None:
                note = plain(f"not asked: no {kind} is known")
                read = ReadResult(operation, asked=False, note=note)
            else:
                began = time.monotonic()
                try:
                    answer = await ask(record_id or "")
                    if isinstance(answer, Listing) and answer.records:
                        found.setdefault(kind, answer.records[0].id)
                    read = _read(operation, time.monotonic() - began, answer)
                except ApiError as error:
                    read = ReadResult(operation, seconds=time.monotonic() - began, error=error)
            reads.append(read)
            if as_lines:
                say(_read_line(read))
            if isinstance(read.error, Unreachable | KeyRejected):
                # Nothing else can be answered; eleven more of the same help nobody.
                break
        return reads, client.transport.measured


def _read(operation: str, seconds: float, answer: object) -> ReadResult:
    read = ReadResult(operation, seconds=seconds, records=1)
    match answer:
        case Listing(shape=shape, unread=unread, pages=pages, capped=capped):
            records = len(answer.records)
            return read._replace(
                shape=shape, records=records, unread=unread, pages=pages, capped=capped
            )
        case Trace(shape=shape, unread=unread):
            return read._replace(shape=shape, records=len(answer.steps), unread=unread)
        case BudgetOverview(shape=shape):
            return read._replace(shape=shape)
        case str():
            return read._replace(records=None, note=plain(answer))
    return read


async def _beginning_of_export(client: Client) -> str:
    """Open the export and read its beginning: it may be as long as the platform is old."""
    async with client.export_activity("csv") as chunks, aclosing(chunks):
        async for chunk in chunks:
            if chunk:
                return "it begins; the rest was not read"
    return "it is empty"


def _about(settings: Settings, terminal: Mapping[str, Any]) -> list[str]:
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
        *below,
    ]


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


def _conclusions(reads: Sequence[ReadResult], measured: Measured) -> list[str]:
    answered, asked = sum(read.answered for read in reads), sum(read.asked for read in reads)
    lines = [f"{answered} of {asked} reads answered"]
    if any(isinstance(read.error, KeyRejected) for read in reads):
        lines.append(f"{signs.critical} the key is not accepted")
    else:
        denied = [read.operation for read in reads if isinstance(read.error, NotAllowed)]
        if denied:
            lines.append(f"{signs.warning} the key may not: {', '.join(denied)}")
        elif answered:
            lines.append("the key may read everything that was asked")
        lines.append(f"writes were not tried ({len(WRITES)} operations)")
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


def _as_json(
    settings: Settings, reads: Sequence[ReadResult], measured: Measured, terminal: Mapping[str, Any]
) -> dict[str, object]:
    """For scripts; of each permission "allowed", "denied", "unknown" or "not tried"."""
    permissions = dict.fromkeys(WRITES, "not tried")
    for read in reads:
        denied = isinstance(read.error, NotAllowed)
        told = "allowed" if read.answered else "denied" if denied else "unknown"
        permissions[read.operation] = told
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
            {**read._asdict(), "answered": read.answered, "seconds": _seconds(read.seconds)}
            | error_json(read.error)
            for read in reads
        ],
        "permissions": permissions,
        "terminal": dict(terminal),
    }


def _seconds(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


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


async def _examine_fields(settings: Settings, *, as_json: bool) -> int:
    """Read one page of each kind and tell; 0 if each was read, else 3. Changes nothing."""
    told: dict[str, object] = {}
    failed = False
    company = settings.company
    async with connected(settings) as client:
        for name, kind in mappable().items():
            scoped = company is not None and name in ("agent", "task", "agent_budget")
            params = (("company_id", str(company)),) if scoped else ()
            try:
                reply = await client.transport.request("GET", PATHS[name], params=params)
                report = report_fields(name, client.mapping.kind(kind), parse_json(reply.body))
            except (ApiError, Unshaped, BodyError) as error:
                failed = True
                told[name] = {
                    "error": error_json(error)
                    if isinstance(error, ApiError)
                    else {"message": safe(str(error))}
                }
                lines = [f"{signs.warning} {name} ({PATHS[name]}): {error}"]
                hopeless = isinstance(error, Unreachable | KeyRejected)
            else:
                told[name], lines, hopeless = _field_json(report), _field_lines(name, report), False
            if not as_json:
                say(*lines, "")
            if hopeless:
                break
    if as_json:
        say_json({"kinds": told})
    else:
        say('what is left over can be read: [profiles.NAME.fields.KIND] our_field = "its.name"')
    return Exit.NO_ANSWER if failed else Exit.OK


def _field_lines(kind: str, found: FieldReport) -> list[str]:
    lines = [f"{kind} ({PATHS[kind]}), {found.records} records"]
    for each in found.read:
        unit = f", {each.unit}" if each.unit else ""
        lines.append(f"  {fit(SafeText(each.field), 15)} {each.name}{unit}: {each.sample}")
    if found.missing:
        lines.append(f"  missing:   {', '.join(found.missing)}")
    if found.left:
        lines.append(f"  left over: {', '.join(found.left)}")
    return lines


def _field_json(found: FieldReport) -> object:
    return {
        "records": found.records,
        "read": {
            each.field: {
                "name": each.name, "unit": each.unit, "sample": each.sample, "records": each.rows
            }
            for each in found.read
        },
        "missing": found.missing,
        "left_over": found.left,
    }  # fmt: skip
