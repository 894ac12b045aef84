"""`agentco-tui status`: one look at everything that needs a person, with an exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agentco_tui.commands.asking import connected, read_feeds
from agentco_tui.commands.judgement import PARTS, Judgement, State, headline, judge, performance
from agentco_tui.commands.output import error_json, say, say_json
from agentco_tui.config import Settings, SettingsError
from agentco_tui.live.clock import SystemClock
from agentco_tui.live.feeds import Query
from agentco_tui.live.store import Store
from agentco_tui.model import Budget
from agentco_tui.text import safe, signs

SECONDS = 25.0
"""For all questions together: schedulers of monitoring give up on a plugin after a while."""
TOLD = 20
"""How many reasons are written out below the first line; `--json` has all of them."""


def run(settings: Settings, *, as_json: bool) -> int:
    """Look once, tell, and return 0 all well, 1 warning, 2 critical, 3 unknown.

    Critical beats unknown beats warning (see `judgement`). Raises SettingsError if no client
    can be made of the settings.
    """
    try:
        judged = asyncio.run(_look(settings))
    except SettingsError as error:
        return unusable(error, as_json=as_json)
    if as_json:
        say_json(_as_json(judged, settings))
    else:
        say(*_as_lines(judged, settings))
    return judged.state


def unusable(error: SettingsError, *, as_json: bool) -> int:
    """Tell that the settings are wrong: unknown, since 2 would say that the platform is critical.

    JSON: {"status": "unknown", "exit_code": 3, "settings": [str]}.
    """
    problems = [safe(str(problem)) for problem in error.problems]
    if as_json:
        say_json({"status": "unknown", "exit_code": int(State.UNKNOWN), "settings": problems})
    else:
        say(f"UNKNOWN - the settings cannot be used: {_unpiped(problems[0])}")
        say(*(f"{signs.unknown} {_unpiped(problem)}" for problem in problems[1:]))
    return State.UNKNOWN


async def _look(settings: Settings) -> Judgement:
    store = Store()
    async with connected(settings) as client:
        query = Query(company=settings.company)
        failed = await read_feeds(client, store, query, tuple(PARTS), SECONDS)
        now = SystemClock(lambda: client.transport.measured.clock_skew).now()
        return judge(store, failed, settings.company, now, settings.alerts)


def _as_lines(judged: Judgement, settings: Settings) -> Sequence[str]:
    """The first line as monitoring plugins write it, then a line for each reason."""
    figures = performance(judged, settings.alerts)
    first = f"{judged.state.name} - {_unpiped(headline(judged))}"
    lines = [f"{first} | {figures}" if figures else first]
    mark = {State.WARNING: signs.warning, State.CRITICAL: signs.critical}
    for finding in judged.findings[:TOLD]:
        lines.append(f"{mark.get(finding.state, signs.unknown)} {_unpiped(finding.text)}")
    if len(judged.findings) > TOLD:
        lines.append(f"{signs.ellipsis} and {len(judged.findings) - TOLD} more")
    return lines


def _unpiped(text: str) -> str:
    """A `|` begins the figures for whoever reads plugins' output."""
    return text.replace("|", "/")


def _as_json(judged: Judgement, settings: Settings) -> dict[str, object]:
    """Everything as JSON; null is what the platform did not tell.

    {"status": "ok"|"warning"|"critical"|"unknown", "exit_code": int, "profile": str,
    "base_url": str, "company": str|null,
    "companies": int|null, "agents": int|null,
    "pending": {"count": int|null, "at_least": bool, "oldest_seconds": number|null},
    "alerts": {"critical": int, "warning": int, "info": int}|null,
    "budget": {"spent", "limit", "remaining": number|null, "currency": str|null,
    "percent": number|null, "unlimited": bool, "derived": [str]}|null,
    "findings": [{"status", "kind", "id": str|null, "text": str}],
    "failed": [{"part", "error", "http_status": int|null, "text"}]}
    """
    return {
        "status": judged.state.name.lower(),
        "exit_code": int(judged.state),
        "profile": settings.profile,
        "base_url": str(settings.base_url),
        "company": settings.company,
        "companies": judged.companies,
        "agents": judged.agents,
        "pending": {
            "count": judged.pending,
            "at_least": judged.pending_is_least,
            "oldest_seconds": None if judged.oldest_wait is None else round(judged.oldest_wait),
        },
        "alerts": judged.alerts,
        "budget": None if judged.budget is None else _budget(judged.budget),
        "findings": [
            {"status": state.name.lower(), "kind": kind, "id": record_id, "text": safe(text)}
            for state, kind, record_id, text in judged.findings
        ],
        "failed": [
            {"part": PARTS[feed], **error_json(error)} for feed, error in judged.failed.items()
        ],
    }


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
