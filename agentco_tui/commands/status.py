"""`agentco-tui status`: checks once what needs the user, and exits like a monitoring plugin.

The worst finding decides: critical, then unknown, then warning, then ok, as in most monitoring
plugins. A part that could not be read must not hide a known critical state, and it may be worse
than a warning.

The figures are those of the dashboard: `NeedsModel` ranks the needs, which are what needs the user,
the store has the records that were read, and `ForecastService` (the outlook) forecasts spending. A
feed is one list that is read from the platform (the service that is watched), such as the pending
tasks. A need is snoozed if the user has put it off for a while. A company, a group of AI agents
that do tasks and spend money, is in scope if the check is limited to it. A budget's share is the
spent part of its limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from agentco_tui.api.errors import ApiError, NotOffered, TimedOut
from agentco_tui.attention.need_words import sentence_of
from agentco_tui.attention.needs_model import NeedsModel
from agentco_tui.commands.command_context import command_context
from agentco_tui.commands.command_output import error_json, print_json, print_lines
from agentco_tui.commands.command_workspace import open_workspace
from agentco_tui.config import Arguments, Settings, SettingsError
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import Level, alert_level, is_open
from agentco_tui.live.names import Names, of_company
from agentco_tui.live.store import Store
from agentco_tui.model import Alert, Budget
from agentco_tui.model import format as figures
from agentco_tui.system.state_folder import HISTORY_FILE, state_folder
from agentco_tui.text import SafeText, clean_line, mark_safe, signs
from agentco_tui.workspace.workspace import FIRST_ANSWERS

MAX_SUMS = 3
"""The first line shows the spending of at most so many companies, if there is no total."""
MAX_FINDINGS = 20
"""At most so many findings are printed below the first line; `--json` has all of them."""
EXIT_CODES = {Level.OK: 0, Level.WARNING: 1, Level.CRITICAL: 2, Level.UNKNOWN: 3}
# From the best to the worst, as monitoring plugins rank them.
_RISING_LEVELS = (Level.OK, Level.WARNING, Level.UNKNOWN, Level.CRITICAL)
CHECKED_FEEDS: tuple[FeedName, ...] = tuple(
    feed for feed in FeedName if feed not in (FeedName.TASKS, FeedName.ACTIVITY)
)
"""The feeds that a check reads."""


class Finding(NamedTuple):
    """A reason for a level other than ok."""

    level: Level
    kind: str
    """What the id is of: task, budget, alert or agent; "part" if a feed could not be read."""
    id: str | None
    text: str
    also: tuple[tuple[str, str], ...] = ()
    """Kind and id of what else has the same cause, and is no finding of its own."""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a check. A figure is None if it is unknown."""

    level: Level
    company: str | None = None  # the id of the company that is checked; None for all
    company_name: SafeText | None = None
    findings: tuple[Finding, ...] = ()  # the worst first
    companies: int | None = None
    agents: int | None = None
    pending: int | None = None
    pending_is_least: bool = False  # more may be pending than were counted
    oldest_wait: float | None = None  # seconds
    needs: Mapping[Level, int] = msgspec.field(default_factory=dict)
    """The number of needs of each level, as the dashboard's header counts them."""
    snoozed: int = 0  # needs that the user has snoozed; `needs` does not count them
    alerts: dict[str, int] | None = None  # open ones by level: critical, warning, info
    budget: Budget | None = None  # the total, or that of the company that is checked
    sums: tuple[tuple[SafeText, Budget], ...] = ()
    """The budgets whose spending is shown, each with the name of its owner."""
    failed: Mapping[FeedName, ApiError] = msgspec.field(default_factory=dict)
    requests: int = len(CHECKED_FEEDS)  # those that the platform offers


def run(arguments: Arguments, env: Mapping[str, str]) -> int:
    """Check once, print the result, and return 0 for ok, 1 warning, 2 critical, 3 unknown.

    Wrong settings are unknown, because 2 would mean that the platform is critical. Their JSON is
    {"status": "unknown", "exit_code": 3, "settings": [str]}.
    """
    try:
        with command_context(arguments, env) as settings:
            judgement = asyncio.run(_check(settings))
            if arguments["json"]:
                print_json(_as_json(judgement, settings))
            else:
                _print(judgement)
            return EXIT_CODES[judgement.level]
    except SettingsError as error:
        problems = [clean_line(str(problem)) for problem in error.problems]
    code = EXIT_CODES[Level.UNKNOWN]
    if arguments["json"]:
        print_json({"status": "unknown", "exit_code": code, "settings": problems})
    else:
        print_lines(f"UNKNOWN - the settings cannot be used: {problems[0]}")
        print_lines(*(f"{signs.unknown} {problem}" for problem in problems[1:]))
    return code


def _print(judgement: Judgement) -> None:
    """Print a line with the level and the figures, and a line for each of the worst findings."""
    mark_by_level = {Level.WARNING: signs.warning, Level.CRITICAL: signs.critical}
    lines = [f"{judgement.level.name} - {headline(judgement)}"]
    for finding in judgement.findings[:MAX_FINDINGS]:
        mark = mark_by_level.get(finding.level, signs.unknown)
        lines.append(f"{mark} {finding.text}")
    more = len(judgement.findings) - MAX_FINDINGS
    if more > 0:
        lines.append(f"{signs.ellipsis} and {more} more")
    # Monitoring systems take what follows a "|" for performance data.
    print_lines(*(line.replace("|", "/") for line in lines))


async def _check(settings: Settings) -> Judgement:
    """Read each feed once, and judge by the rules of the dashboard."""
    # A monitoring system kills a plugin that takes too long, and then has no level at all.
    deadline = asyncio.get_running_loop().time() + FIRST_ANSWERS
    # Forecasts need a history, the file of what was observed; a check reads it, and begins none.
    has_history = settings.history and (state_folder() / HISTORY_FILE).exists()
    async with open_workspace(replace(settings, history=has_history)) as workspace:
        await workspace.first_answers(deadline, CHECKED_FEEDS)
        timed_out = TimedOut(mark_safe(f"no answer within {FIRST_ANSWERS:g} seconds"))
        failed: dict[FeedName, ApiError] = {}
        for feed in CHECKED_FEEDS:
            freshness = workspace.store.freshness[feed]
            if freshness.answered_at is None:
                failed[feed] = freshness.failure or timed_out
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
    """Judge all companies, or the one with the id `company`, from needs that are up to date.

    `now` is the platform's time in seconds since 1970. `failed` has the feeds that could not be
    read. A snoozed need counts as a finding, and is marked as snoozed.
    """
    store = outlook.store
    names = Names(store)
    is_in_scope = of_company(store, company)
    findings = _need_findings(outlook, model, names, now)
    # What the platform does not offer has no figure, and is no reason for a worse level.
    unread = {feed: error for feed, error in failed.items() if not isinstance(error, NotOffered)}
    findings += _unread_findings(store, unread)
    findings.sort(key=lambda finding: _RISING_LEVELS.index(finding.level), reverse=True)

    def unless_failed(feed: FeedName, value: int) -> int | None:
        return None if feed in failed else value

    oldest_wait = None
    if model.queue.oldest is not None:
        oldest_wait = max(0.0, now - model.queue.oldest)
    alerts = None
    if FeedName.ALERTS not in failed:
        alerts = _count_alerts(outlook, filter(is_in_scope, store.alerts))
    budgets = store.budgets_of_scope(company)
    has_total = company is not None or store.is_total_known
    return Judgement(
        level=findings[0].level if findings else Level.OK,
        company=company,
        company_name=None if company is None else names.scope(company),
        findings=tuple(findings),
        companies=unless_failed(FeedName.COMPANIES, 1 if company else len(store.companies)),
        agents=unless_failed(FeedName.AGENTS, sum(map(is_in_scope, store.agents))),
        pending=unless_failed(FeedName.PENDING, model.queue.count),
        # capped: our limit of records was reached; more: the platform gave no way to the others.
        pending_is_least=store.pending.listing.capped or store.pending.listing.more,
        oldest_wait=oldest_wait,
        needs=model.levels,  # the number of needs of each level
        snoozed=len(model.snoozed),
        alerts=alerts,
        budget=budgets[0] if budgets and has_total else None,
        sums=tuple((names.budget_owner(budget), budget) for budget in budgets),
        failed=unread,
        requests=len(CHECKED_FEEDS) - (len(failed) - len(unread)),
    )


def _need_findings(
    outlook: ForecastService, model: NeedsModel, names: Names, now: float
) -> list[Finding]:
    """A finding for each need, including the snoozed ones."""
    findings: list[Finding] = []
    # As many tasks as there are: none is left out.
    for need in model.ranked(len(outlook.store.pending)):
        text: str = sentence_of(need, names, outlook, now)
        if need.snooze is not None:
            text = f"{text}; snoozed, {need.snooze.return_words(now)}"
        also = tuple((str(other.kind), other.record.id) for other in need.others)
        findings.append(Finding(need.level, need.kind, need.record.id, text, also))
    return findings


def _unread_findings(store: Store, failed: Mapping[FeedName, ApiError]) -> list[Finding]:
    """A finding for each feed that was not answered, or with records that could not be read."""
    findings: list[Finding] = []
    for reason, parts in _parts_by_reason(failed):
        findings.append(Finding(Level.UNKNOWN, "part", None, f"{', '.join(parts)}: {reason}"))
    for records in (store.pending, store.company_budgets, store.agent_budgets, store.alerts):
        listing = records.listing
        if not listing.unread:
            continue
        text = f"{records.feed}: {listing.unread} could not be read"
        if listing.unread_reasons:
            text = f"{text}: {listing.unread_reasons[0]}"
        findings.append(Finding(Level.UNKNOWN, "part", None, text))
    return findings


def _count_alerts(outlook: ForecastService, alerts: Iterable[Alert]) -> dict[str, int]:
    """The number of open alerts of each level: critical, warning, info."""
    # limits: those of `[alerts]` in the settings
    levels = [alert_level(alert, outlook.limits) for alert in alerts if is_open(alert)]
    critical = levels.count(Level.CRITICAL)
    warning = levels.count(Level.WARNING)
    return {"critical": critical, "warning": warning, "info": len(levels) - critical - warning}


def headline(judgement: Judgement) -> str:
    """The figures in words.

    `5 critical, 2 warning; 37 pending, oldest 3 h; 9 alerts; all companies spent $43 of $90`. Each
    sum has the name of its owner before it.
    """
    parts: list[str] = []
    if judgement.company_name is not None:
        parts.append(f"only {judgement.company_name}")
    needs = _needs_in_words(judgement)
    if needs:
        parts.append(needs)
    if judgement.pending is not None:
        parts.append(_pending_in_words(judgement, judgement.pending))
    if judgement.alerts is not None:
        parts.append(_alerts_in_words(sum(judgement.alerts.values())))
    parts += _sums_in_words(judgement.sums)
    if judgement.failed:
        parts.append(_failures_in_words(judgement))
    return "; ".join(parts)


def _count(judgement: Judgement, level: Level) -> int:
    return judgement.needs.get(level, 0)


def _needs_in_words(judgement: Judgement) -> str:
    """The number of needs of each level, and of snoozed ones; "" if there are none."""
    counts: list[str] = []
    for level in (Level.CRITICAL, Level.WARNING):
        count = _count(judgement, level)
        if count:
            counts.append(f"{count} {level.name.lower()}")
    if judgement.snoozed:
        counts.append(f"{judgement.snoozed} snoozed")
    return ", ".join(counts)


def _pending_in_words(judgement: Judgement, pending: int) -> str:
    words = f"{figures.count(pending)} pending"
    if judgement.pending_is_least:
        words = f"at least {words}"
    if judgement.oldest_wait is not None:
        words = f"{words}, oldest {figures.age(judgement.oldest_wait)}"
    return words


def _alerts_in_words(count: int) -> str:
    if count == 0:
        return "no alerts"
    return "1 alert" if count == 1 else f"{figures.count(count)} alerts"


def _sums_in_words(sums: Sequence[tuple[SafeText, Budget]]) -> list[str]:
    """What each owner has spent; only for the first `MAX_SUMS` owners."""
    words: list[str] = []
    for owner, budget in sums:
        spent = figures.money(budget.spent)
        if spent == signs.missing and budget.limit is None:
            continue
        limit = ", no limit" if budget.unlimited else f" of {figures.money(budget.limit)}"
        words.append(f"{owner} spent {spent}{limit}")
    if len(words) > MAX_SUMS:
        more = len(words) - MAX_SUMS
        return [*words[:MAX_SUMS], f"and {more} more"]
    return words


def _failures_in_words(judgement: Judgement) -> str:
    """The number of requests that failed, and the most common reason."""
    reasons = _parts_by_reason(judgement.failed)
    most_common, parts = reasons[0]
    words = f"{len(judgement.failed)} of {judgement.requests} requests without an answer"
    if len(reasons) > 1:
        words = f"{words}, {len(parts)} of them"
    return f"{words}: {most_common}"


def _parts_by_reason(failed: Mapping[FeedName, ApiError]) -> list[tuple[str, list[FeedName]]]:
    """Each reason for a failure with the feeds that failed for it, the most common reason first."""
    parts_by_reason: dict[str, list[FeedName]] = {}
    for feed, error in failed.items():
        parts_by_reason.setdefault(str(error), []).append(feed)
    return sorted(parts_by_reason.items(), key=lambda reason: -len(reason[1]))


def _as_json(judgement: Judgement, settings: Settings) -> dict[str, object]:
    """The judgement for scripts; null is a figure that the platform did not send."""
    oldest_seconds = None if judgement.oldest_wait is None else round(judgement.oldest_wait)
    return {
        "status": judgement.level.name.lower(),
        "exit_code": EXIT_CODES[judgement.level],
        "profile": settings.profile,
        "base_url": str(settings.base_url),
        "company": judgement.company,
        "companies": judgement.companies,
        "agents": judgement.agents,
        "pending": {
            "count": judgement.pending,
            "at_least": judgement.pending_is_least,
            "oldest_seconds": oldest_seconds,
        },
        "needs": {
            "critical": _count(judgement, Level.CRITICAL),
            "warning": _count(judgement, Level.WARNING),
            "snoozed": judgement.snoozed,
        },
        "alerts": judgement.alerts,
        "budget": None if judgement.budget is None else _budget_as_json(judgement.budget),
        "sums": [
            {
                "of": owner,
                "scope": budget.scope,
                "id": budget.subject or None,
                **_budget_as_json(budget),
            }
            for owner, budget in judgement.sums
        ],
        "findings": [_finding_as_json(finding) for finding in judgement.findings],
        "failed": [{"part": feed, **error_json(error)} for feed, error in judgement.failed.items()],
    }


def _finding_as_json(finding: Finding) -> dict[str, object]:
    fields: dict[str, object] = {
        "status": finding.level.name.lower(),
        "kind": finding.kind,
        "id": finding.id,
        "text": clean_line(finding.text),
    }
    if finding.also:
        fields["also"] = [{"kind": kind, "id": record_id} for kind, record_id in finding.also]
    return fields


def _budget_as_json(budget: Budget) -> dict[str, object]:
    """The sums of a budget; "derived" names those that were computed from others."""
    amounts: dict[str, object] = {}
    derived: list[str] = []
    currency = None
    sums = {"spent": budget.spent, "limit": budget.limit, "remaining": budget.remaining}
    for name, money in sums.items():
        amounts[name] = None if money is None else money.amount
        if money is not None and money.derived:
            derived.append(name)
        if money is not None and currency is None:
            currency = money.currency or None
    if budget.share_derived:
        derived.append("percent")
    return {
        **amounts,
        "currency": currency,
        "percent": None if budget.share is None else round(budget.share * 100, 2),
        "unlimited": budget.unlimited,
        "derived": derived,
    }
