"""`agentco-tui status`: one look at everything that needs a person, with an exit code.

Critical beats unknown, unknown beats warning, warning beats well. That is how plugins for
monitoring mostly rank: what is known to be bad must not be hidden by what could not be asked, and
what could not be asked may be worse than a warning.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from agentco_tui.api.errors import ApiError, TimedOut
from agentco_tui.commands.running import error_json, running, say, say_json
from agentco_tui.commands.with_workspace import opened
from agentco_tui.config import Given, Settings, SettingsError
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import Level, alert_level, is_open
from agentco_tui.live.names import Names
from agentco_tui.live.need_words import sentence_of
from agentco_tui.live.needs import Need, of_company
from agentco_tui.live.needs_model import NeedsModel
from agentco_tui.model import Budget
from agentco_tui.model import format as figures
from agentco_tui.system.state_folder import HISTORY_FILE, state_folder
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.workspace.workspace import FIRST_ANSWERS

MOST_SUMS = 3  # companies whose sums stand in the first line, where no total was sent
TOLD = 20  # how many reasons are written out below the first line; `--json` has all of them


_RANK = (Level.OK, Level.WARNING, Level.UNKNOWN, Level.CRITICAL).index
EXIT_CODES = {Level.OK: 0, Level.WARNING: 1, Level.CRITICAL: 2, Level.UNKNOWN: 3}
PARTS: tuple[FeedName, ...] = tuple(
    feed for feed in FeedName if feed not in (FeedName.TASKS, FeedName.ACTIVITY)
)


class Finding(NamedTuple):
    level: Level
    kind: str  # task, budget, alert or agent, and part for what could not be asked or read
    id: str | None
    text: str


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """The level, its reasons (the worst first), and the figures; None is what is not known."""

    level: Level
    company: str | None = None  # the id of the one that was asked for; None for all
    company_name: SafeText | None = None
    findings: tuple[Finding, ...] = ()
    companies: int | None = None
    agents: int | None = None
    pending: int | None = None
    pending_is_least: bool = False  # more may be pending than were counted
    oldest_wait: float | None = None
    needs: Mapping[Level, int] = msgspec.field(default_factory=dict)
    """How many needs there are of each level, as the dashboard's header counts them."""
    snoozed: int = 0  # needs that the user has put off; they are in no count of `needs`
    alerts: dict[str, int] | None = None  # open ones by level: critical, warning, info
    budget: Budget | None = None  # the total, or that of the company that was asked for
    sums: tuple[tuple[SafeText, Budget], ...] = ()
    """The budgets that say what is spent in scope, each with the name of its owner."""
    failed: Mapping[FeedName, ApiError] = msgspec.field(default_factory=dict)


def run(given: Given, env: Mapping[str, str]) -> int:
    """Look once, tell, and return 0 all well, 1 warning, 2 critical, 3 unknown.

    Unknown is also where the settings are wrong, since 2 would say that the platform is critical.
    JSON then: {"status": "unknown", "exit_code": 3, "settings": [str]}.
    """
    try:
        with running(given, env) as settings:
            judged = asyncio.run(_look(settings))
            if given["json"]:
                say_json(_as_json(judged, settings))
            else:
                mark = {Level.WARNING: signs.warning, Level.CRITICAL: signs.critical}
                lines = [f"{judged.level.name} - {headline(judged)}"]
                for finding in judged.findings[:TOLD]:
                    lines.append(f"{mark.get(finding.level, signs.unknown)} {finding.text}")
                if len(judged.findings) > TOLD:
                    lines.append(f"{signs.ellipsis} and {len(judged.findings) - TOLD} more")
                # Behind a `|` whoever reads plugins' output expects figures.
                say(*(line.replace("|", "/") for line in lines))
            return EXIT_CODES[judged.level]
    except SettingsError as error:
        first, *more = (safe(str(problem)) for problem in error.problems)
    code = EXIT_CODES[Level.UNKNOWN]
    if given["json"]:
        say_json({"status": "unknown", "exit_code": code, "settings": [first, *more]})
    else:
        say(f"UNKNOWN - the settings cannot be used: {first}")
        say(*(f"{signs.unknown} {problem}" for problem in more))
    return code


async def _look(settings: Settings) -> Judgement:
    """Read each feed once, by the same rules as the dashboard's."""
    until = asyncio.get_running_loop().time() + FIRST_ANSWERS  # monitoring gives up after a while
    remembered = settings.history and (state_folder() / HISTORY_FILE).exists()
    async with opened(replace(settings, history=remembered)) as workspace:
        await workspace.first_answers(until, PARTS)
        late = TimedOut(plain(f"no answer within {FIRST_ANSWERS:g} seconds"))
        freshness = {feed: workspace.store.freshness[feed] for feed in PARTS}
        failed = {
            feed: state.failure or late
            for feed, state in freshness.items()
            if state.answered_at is None
        }
        await workspace.refresh_needs()
        company = workspace.poller.query.company
        return judge(workspace.outlook, workspace.needs, failed, company, workspace.clock.now())


def judge(
    outlook: ForecastService,
    model: NeedsModel,
    failed: Mapping[FeedName, ApiError],
    company: str | None,
    now: float,
) -> Judgement:
    """The judgement for all companies, or for the one with the id `company`, by a refreshed model.

    `now` is the platform's time. What is snoozed is said to be, and counts all the same.
    """
    store = outlook.store
    waits = model.queue
    needs = model.ranked(len(store.pending))
    names = Names(store)

    def known(feed: FeedName, value: int) -> int | None:
        return None if feed in failed else value

    def told(need: Need) -> str:
        words, snooze = sentence_of(need, names, outlook, now), need.snooze
        return words if snooze is None else f"{words}; snoozed, {snooze.told(now)}"

    ours = of_company(store, company)
    findings = [Finding(need.level, need.kind, need.record.id, told(need)) for need in needs]
    for reason, parts in _reasons(failed):
        findings.append(Finding(Level.UNKNOWN, "part", None, f"{', '.join(parts)}: {reason}"))
    for each in (store.pending, store.company_budgets, store.agent_budgets, store.alerts):
        if unread := each.listing.unread:
            why = f": {each.listing.unread_reasons[0]}" if each.listing.unread_reasons else ""
            text = f"{each.feed}: {unread} could not be read{why}"
            findings.append(Finding(Level.UNKNOWN, "part", None, text))
    findings.sort(key=lambda finding: -_RANK(finding.level))
    alerts = filter(ours, store.alerts)
    levels = [alert_level(alert, outlook.limits) for alert in alerts if is_open(alert)]
    critical = levels.count(Level.CRITICAL)
    warning = levels.count(Level.WARNING)
    by_level = {"critical": critical, "warning": warning, "info": len(levels) - critical - warning}
    budgets = store.budgets_of_scope(company)
    has_total = company is not None or store.is_total_known
    return Judgement(
        level=findings[0].level if findings else Level.OK,
        company=company,
        company_name=None if company is None else names.scope(company),
        findings=tuple(findings),
        companies=known(FeedName.COMPANIES, 1 if company else len(store.companies)),
        agents=known(FeedName.AGENTS, len([*filter(ours, store.agents)])),
        pending=known(FeedName.PENDING, waits.count),
        pending_is_least=store.pending.listing.capped or store.pending.listing.more,
        oldest_wait=None if waits.oldest is None else max(0.0, now - waits.oldest),
        needs=model.levels,
        snoozed=len(model.snoozed),
        alerts=None if FeedName.ALERTS in failed else by_level,
        budget=budgets[0] if budgets and has_total else None,
        sums=tuple((names.owner(budget), budget) for budget in budgets),
        failed=failed,
    )


def headline(judged: Judgement) -> str:
    """The figures in words, which the dashboard shows as well.

    `5 critical, 2 warning; 37 pending, oldest 3 h; 9 alerts; all companies spent $43 of $90`. A sum
    always stands behind its owner.
    """
    parts: list[str] = []
    if judged.company_name is not None:
        parts.append(f"only {judged.company_name}")
    levels = (Level.CRITICAL, Level.WARNING)
    counts = [f"{count} {each.name.lower()}" for each in levels if (count := _count(judged, each))]
    if judged.snoozed:
        counts.append(f"{judged.snoozed} snoozed")
    if counts:
        parts.append(", ".join(counts))
    if judged.pending is not None:
        least = "at least " if judged.pending_is_least else ""
        wait = "" if judged.oldest_wait is None else f", oldest {figures.age(judged.oldest_wait)}"
        parts.append(f"{least}{figures.count(judged.pending)} pending{wait}")
    if judged.alerts is not None:
        parts.append(_alerts_in_words(sum(judged.alerts.values())))
    parts += _sums_in_words(judged.sums)
    if judged.failed:
        [(reason, about), *others] = _reasons(judged.failed)
        failed = f"{len(judged.failed)} of {len(PARTS)} questions without an answer"
        if others:
            failed += f", {len(about)} of them"
        parts.append(f"{failed}: {reason}")
    return "; ".join(parts)


def _count(judged: Judgement, level: Level) -> int:
    return judged.needs.get(level, 0)


def _alerts_in_words(count: int) -> str:
    if count == 0:
        return "no alerts"
    return "1 alert" if count == 1 else f"{figures.count(count)} alerts"


def _sums_in_words(sums: Sequence[tuple[SafeText, Budget]]) -> list[str]:
    """What is spent, each sum with its owner; of many companies the first few."""
    words: list[str] = []
    for owner, budget in sums:
        spent = figures.money(budget.spent)
        if spent == signs.missing and budget.limit is None:
            continue
        limit = ", no limit" if budget.unlimited else f" of {figures.money(budget.limit)}"
        words.append(f"{owner} spent {spent}{limit}")
    if len(words) > MOST_SUMS:
        words[MOST_SUMS:] = [f"and {len(words) - MOST_SUMS} more"]
    return words


def _reasons(failed: Mapping[FeedName, ApiError]) -> list[tuple[str, list[str]]]:
    """Why there was no answer, each with the parts that this concerns; the most common first."""
    found: dict[str, list[str]] = {}
    for feed, error in failed.items():
        found.setdefault(str(error), []).append(feed)
    return sorted(found.items(), key=lambda reason: -len(reason[1]))


def _as_json(judged: Judgement, settings: Settings) -> dict[str, object]:
    """For scripts; null is what the platform did not tell."""
    return {
        "status": judged.level.name.lower(),
        "exit_code": EXIT_CODES[judged.level],
        "profile": settings.profile,
        "base_url": str(settings.base_url),
        "company": judged.company,
        "companies": judged.companies,
        "agents": judged.agents,
        "pending": {
            "count": judged.pending,
            "at_least": judged.pending_is_least,
            "oldest_seconds": None if judged.oldest_wait is None else round(judged.oldest_wait),
        },
        "needs": {
            "critical": _count(judged, Level.CRITICAL),
            "warning": _count(judged, Level.WARNING),
            "snoozed": judged.snoozed,
        },
        "alerts": judged.alerts,
        "budget": None if judged.budget is None else _budget(judged.budget),
        "sums": [
            {"of": owner, **_whose(budget), **_budget(budget)} for owner, budget in judged.sums
        ],
        "findings": [
            {"status": level.name.lower(), "kind": kind, "id": record_id, "text": safe(text)}
            for level, kind, record_id, text in judged.findings
        ],
        "failed": [{"part": feed, **error_json(error)} for feed, error in judged.failed.items()],
    }


def _whose(budget: Budget) -> dict[str, object]:
    return {"scope": budget.scope, "id": budget.subject or None}


def _budget(budget: Budget) -> dict[str, object]:
    sums = {"spent": budget.spent, "limit": budget.limit, "remaining": budget.remaining}
    derived = [name for name, sum_ in sums.items() if sum_ and sum_.derived]
    return {
        **{name: None if sum_ is None else sum_.amount for name, sum_ in sums.items()},
        "currency": next((sum_.currency for sum_ in sums.values() if sum_ and sum_.currency), None),
        "percent": None if budget.share is None else round(budget.share * 100, 2),
        "unlimited": budget.unlimited,
        "derived": [*derived, "percent"] if budget.share_derived else derived,
    }
