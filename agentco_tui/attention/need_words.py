"""Describes a need in words: what is wrong, a figure, what follows if it is ignored, and its rank.

A `Need` is one item of the "needs you" list (what the user should look at); its record (of the
platform, the remote service) is a task, a budget, an alert, an AI agent or an entry of the log.
`words_of` returns the parts of a line, `sentence_of` all of it. The Overview, `status`, `--plain`,
notifications and hand-overs use these words, so they say the same. `Names` looks up names for ids,
`ForecastService` has the forecasts for budgets. A subject is an agent, a company, or the whole: all
companies together. `RankReason` says why a need is ranked as it is, for instance `STOPS`: tasks are
blocked by it. A budget's share is the spent part of its limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import inf
from typing import Final

import msgspec
from msgspec.structs import replace

from agentco_tui.attention.consequence import own_forecast, per_minute, until_limit
from agentco_tui.attention.needs import Need, NeedKind, RankReason
from agentco_tui.history.forecast import Forecast
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.live.insight import NOT_AT_WORK, is_failing, priority_rank, with_reason
from agentco_tui.live.names import UNNAMED_BUDGET, Names
from agentco_tui.live.sentences import action_words, actor_words
from agentco_tui.live.spend_rate import FastSpend
from agentco_tui.model import (
    Activity,
    Agent,
    Alert,
    Budget,
    BudgetScope,
    Money,
    Ref,
    Task,
)
from agentco_tui.model import format as fmt
from agentco_tui.model.period import DAY
from agentco_tui.text import SafeText, joined, mark_safe, signs

MINUTE: Final = 60
"""Seconds."""
MOST_OTHERS: Final = 3
"""So many further needs of a cause are named, the worst of them."""


class NeedWords(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a line about a need."""

    why: SafeText
    """A word or two: "approve", "stopped", "money low"."""
    what: SafeText
    """What it is about: the title of a task, the name of an agent or a company."""
    agent: SafeText
    figure: SafeText
    """The figure that matters: "119 % of $100.00", "×14 in 52 m"."""
    consequence: SafeText
    """What follows if it is ignored: "4 tasks stay blocked", "gone ~Tue 24 Nov"; or ""."""
    brief_consequence: SafeText | None = None
    """The same in fewer words, for a narrow column; None if there are none."""
    reason: SafeText
    """What it is ranked by among those of its level: "priority (urgent) and wait (1h11)"."""
    since: float | None = None
    """Since when it has been a need, in seconds since 1970."""
    also: SafeText = mark_safe("")
    """What else has the same cause: "also: Recover GLO-7: Ship release 2"; or ""."""


def words_of(need: Need, names: Names, forecasts: ForecastService, now: float) -> NeedWords:
    """The parts of a line about a need. `now` is in seconds since 1970 by the platform's clock."""
    match need.record:
        case Task() as task:
            words = _words_of_tasks(need, task, names, forecasts, now)
        case Activity() as entry:
            words = _words_of_failures(need, entry, names)
        case _:
            words = _words_of_subject(need, names, forecasts, now)
    if need.others:
        words = replace(words, also=_words_of_others(need.others, names, forecasts, now))
    return words


def _words_of_others(
    others: Sequence[Need], names: Names, forecasts: ForecastService, now: float
) -> SafeText:
    """What the other needs of a cause are about: of a task its title, else with what is wrong."""
    found: list[str] = []
    for other in others[:MOST_OTHERS]:
        words = words_of(other, names, forecasts, now)
        is_waiting = other.kind is NeedKind.TASK
        found.append(words.what if is_waiting else f"{words.what} {words.why}")
    more = len(others) - len(found)
    if more:
        found.append(f"and {fmt.count(more)} more")
    return mark_safe(f"also: {'; '.join(found)}")


def consequence_changes_at(need: Need, now: float) -> float:
    """When the clock changes the consequence of a need, in seconds since 1970.

    `inf` if it follows from the records alone, and `now` where it may change at any moment. The
    record may change earlier, and the forecasts may.
    """
    if need.snooze is not None:
        # A time of day is shown from a day before on.
        until = need.snooze.until
        return inf if until is None or until - now < DAY else until - DAY
    if isinstance(need.record, Task):
        expires = need.record.expires
        return inf if expires is None or expires.at <= now else now
    if isinstance(need.record, Activity):
        return inf
    if need.fast_spend is not None:
        return now  # minutes that are left
    # It names days, which begin with a minute in every time zone.
    return now - now % MINUTE + MINUTE


def sentence_of(need: Need, names: Names, forecasts: ForecastService, now: float) -> SafeText:
    """All of it in one line: "stopped 119 % of $100.00: Ada (Acme); 4 tasks stay blocked"."""
    words = words_of(need, names, forecasts, now)
    record = need.record
    if need.fast_spend is not None:
        return _fast_spend_sentence(need, words, names)
    details: list[SafeText | None] = [names.company(names.company_of(record)), words.agent]
    if isinstance(record, Task) and need.kind is NeedKind.TASK:
        wait = ""
        if words.since is not None:
            wait = f" {fmt.age(now - words.since)}"
        text = f"task waits{wait}: {words.what}"
        details.insert(0, record.priority)
    else:
        figure = ""
        if words.figure != signs.missing:
            figure = f" {words.figure}"
        text = f"{_why_with_reason(need, words.why)}{figure}: {words.what}"
    known = [each for each in details if each and each not in (signs.missing, words.what)]
    if known:
        text += f" ({', '.join(known)})"
    return mark_safe("; ".join(filter(None, (text, words.consequence, words.also))))


def _fast_spend_sentence(need: Need, words: NeedWords, names: Names) -> SafeText:
    """One line: "Priya spends ~$18/min, limit reached in ~12 min (22 % of $600.00, Globex)"."""
    record = need.record
    details = [words.figure]
    if isinstance(record, Budget) and record.scope is BudgetScope.AGENT:
        details.append(names.company(names.company_of(record)))
    known = [each for each in details if each != signs.missing]
    text = f"{words.what}, {words.consequence} ({', '.join(known)})"
    return mark_safe("; ".join(filter(None, (text, words.also))))


def _task_count(number: int) -> str:
    noun = "task" if number == 1 else "tasks"
    return f"{fmt.count(number)} {noun}"


# --- tasks ---


def _words_of_tasks(
    need: Need, task: Task, names: Names, forecasts: ForecastService, now: float
) -> NeedWords:
    """A task that waits, several that are alike, or the stuck tasks of an agent."""
    tasks = need.alike or (task,)
    urgent_word = task.priority if priority_rank(task.priority) <= 1 else None
    if need.kind is NeedKind.STUCK:
        number = need.count
        why = mark_safe("stuck")
        consequence = _consequence_of_stuck(task, forecasts)
    else:
        number = len(tasks)
        why = urgent_word or mark_safe("approve")
        consequence = _consequence_of_waiting(need, task, names, now)
    reason = mark_safe(need.rank_reason)
    if need.rank_reason in (RankReason.URGENT, RankReason.WAIT) and need.since is not None:
        reason = mark_safe(f"wait ({fmt.age(now - need.since, fine=True)})")
        if urgent_word:
            reason = mark_safe(f"priority ({urgent_word}) and {reason}")
    title = task.keyed_title if number == 1 else task.title
    # `sharers` is the number of these tasks.
    if task.shared_id:  # other tasks in the same answer came with this id
        mark = f"{signs.warning} {task.sharers} tasks with this id {signs.separator}"
        title = mark_safe(f"{mark} {title}")
    if number > 1:
        title = mark_safe(f"{title} ×{fmt.count(number)}")
    return NeedWords(
        why=why,
        what=title,
        agent=joined(dict.fromkeys(names.agent(each.agent) for each in tasks), ", "),
        figure=_total_cost(tasks),
        consequence=consequence,
        reason=reason,
        since=need.since,
    )


def _consequence_of_stuck(task: Task, forecasts: ForecastService) -> SafeText:
    agent_id = task.agent.id if task.agent is not None else None
    usual_run = None
    if agent_id is not None and agent_id in forecasts.store.agents.records:
        usual_run = forecasts.of_agent(agent_id).usual_run
    if not usual_run:
        return mark_safe("stays undone")
    return mark_safe(f"stays undone, usually done in {fmt.age(usual_run)}")


def _consequence_of_waiting(need: Need, task: Task, names: Names, now: float) -> SafeText:
    """Return when the task expires, and what holds up its agent or company; "" if nothing follows.

    Of the tasks of one agent only the one that waits longest says so.
    """
    number = max(1, len(need.alike))
    parts: list[str] = []
    if task.expires is not None and number == 1:
        seconds_left = task.expires.at - now
        parts.append(f"expires in {fmt.age(seconds_left)}" if seconds_left > 0 else "expired")
    agent = names.agent_of(task.agent)
    name = names.agent(task.agent)
    idle_company = names.idle_company_of(task)
    if agent is not None and agent.state in NOT_AT_WORK:
        parts.append(f"{name} is {agent.status or agent.state}")
    elif idle_company is not None:
        parts.append(idle_company)
    elif number > 1:
        parts.append(f"{_task_count(number)} wait")
    elif task.agent is not None and need.count > 1 and need.waits_longest:
        parts.append(f"longest of {name}'s {fmt.count(need.count)}")
    return mark_safe(", ".join(parts))


def _total_cost(tasks: Iterable[Task]) -> SafeText:
    """What tasks cost together, if all of them say so in one currency; else the missing sign."""
    costs = [task.estimate or task.cost for task in tasks]
    known = [cost for cost in costs if cost is not None]
    currencies = {cost.currency for cost in known}
    if len(known) < len(costs) or len(currencies) > 1:
        return signs.missing
    total = sum((cost.amount for cost in known), Decimal(0))
    if not total:
        return signs.missing
    return fmt.money(Money(total, known[0].currency))


# --- failures ---


def _words_of_failures(need: Need, entry: Activity, names: Names) -> NeedWords:
    """A failure that repeats, shown by its newest entry in the log."""
    span = 0.0
    if entry.at is not None and need.since is not None:
        span = entry.at.at - need.since
    interval = span / max(1, need.count - 1)
    return NeedWords(
        why=mark_safe("failing"),
        what=action_words(entry, names),
        agent=actor_words(entry, names),
        figure=mark_safe(f"×{fmt.count(need.count)} in {fmt.age(max(60.0, span))}"),
        consequence=mark_safe(f"again every ~{fmt.age(interval)}"),
        reason=mark_safe(need.rank_reason),
        since=need.since,
    )


# --- agents, companies and the whole ---


class _Parts:
    """The records of a need about an agent, a company or the whole."""

    def __init__(self, need: Need) -> None:
        records = need.record, *need.related
        self.budget = next((each for each in records if isinstance(each, Budget)), None)
        self.agent = next((each for each in records if isinstance(each, Agent)), None)
        self.alert = next((each for each in records if isinstance(each, Alert)), None)
        self.is_spent = self.budget is not None and (self.budget.share or 0) >= 1
        self.is_idle = self.agent is not None and self.agent.state in NOT_AT_WORK


def _words_of_subject(
    need: Need, names: Names, forecasts: ForecastService, now: float
) -> NeedWords:
    parts = _Parts(need)
    if parts.budget is not None and need.fast_spend is not None:
        return _words_of_fast_spend(parts.budget, need.fast_spend, need, names, now)
    what = signs.missing
    agent_name = signs.missing
    if parts.alert is not None:
        what = parts.alert.text
        agent_name = names.agent(parts.alert.agent)
    if parts.budget is not None:
        what = names.budget(parts.budget)
        is_agents = parts.budget.scope is BudgetScope.AGENT
        agent_name = signs.missing
        if is_agents:
            agent_name = what
    if parts.agent is not None:
        what = parts.agent.name or names.agent(Ref(parts.agent.id))
        agent_name = what
    brief = None
    if need.rank_reason is RankReason.STOPS:
        brief = mark_safe(f"{_task_count(need.count)} blocked")
    return NeedWords(
        why=mark_safe(_why_words(need, parts)),
        what=what,
        agent=agent_name,
        figure=_figure_words(need, parts),
        consequence=_consequence_of_subject(need, parts, forecasts, now),
        brief_consequence=brief,
        reason=mark_safe(need.rank_reason),
        since=need.since,
    )


def _why_words(need: Need, parts: _Parts) -> str:
    if parts.agent is not None and parts.is_idle:
        if is_failing(parts.agent):
            return "in error"
        if parts.is_spent:
            return "stopped"
        return str(parts.agent.state)
    if need.runaway is not None:
        return "runaway"
    if need.money_gone_at is not None:
        return "runs out"
    if parts.budget is not None:
        return "spent" if parts.is_spent else "money low"
    return "alert"


def _why_with_reason(need: Need, why: SafeText) -> SafeText:
    """Why an agent is a need, with the reason of its state, unless the figure says it all."""
    parts = _Parts(need)
    if parts.agent is None or not parts.is_idle or why == "stopped":
        return why
    return with_reason(why, parts.agent)


def _figure_words(need: Need, parts: _Parts) -> SafeText:
    if need.runaway is not None and not parts.is_idle:
        runaway = need.runaway
        times = runaway.now / max(runaway.most, runaway.mean, 1e-9)
        return mark_safe(f"{times:,.0f}× its most {runaway.what}")
    if parts.budget is not None:
        return _share_of_limit(parts.budget)
    alert = parts.alert
    if alert is None:
        return signs.missing
    if alert.spent is not None and alert.limit is not None:
        return mark_safe(f"{fmt.money(alert.spent)} of {fmt.money(alert.limit)}")
    return fmt.percent(alert.share)


def _share_of_limit(budget: Budget) -> SafeText:
    return mark_safe(f"{fmt.percent(budget.share)} of {fmt.money(budget.limit)}")


def _consequence_of_subject(
    need: Need, parts: _Parts, forecasts: ForecastService, now: float
) -> SafeText:
    if need.rank_reason is RankReason.STOPS:
        verb = "stays" if need.count == 1 else "stay"
        return mark_safe(f"{_task_count(need.count)} {verb} blocked")
    ahead = None
    if parts.budget is not None and not parts.is_spent:
        ahead = _money_ahead(parts.budget, forecasts, now)
    goes_on = (parts.is_spent or need.runaway is not None) and not parts.is_idle
    known: list[SafeText] = []
    if ahead is not None:
        known.append(ahead)
    if need.count and need.money_gone_at is not None:
        known.append(mark_safe(f"blocks {_task_count(need.count)}"))
    elif need.count and ahead is None and not goes_on:
        known.append(mark_safe(f"would block {_task_count(need.count)}"))
    if known:
        return joined(known, ", ")
    if goes_on:
        return mark_safe("continues until stopped")
    return mark_safe("no agent is blocked")


def _money_ahead(budget: Budget, forecasts: ForecastService, now: float) -> SafeText | None:
    """The forecast of a budget by our own figures, else by the platform's; None if unknown."""
    subject_forecast = forecasts.of(budget)
    if isinstance(subject_forecast.forecast, Forecast) or subject_forecast.burn:
        return own_forecast(budget, forecasts, now)
    if budget.forecast is None or budget.limit is None or not budget.limit.amount:
        return None
    share = budget.forecast.amount / budget.limit.amount
    # Without the mark for derived figures: the detail names it as the platform's.
    return mark_safe(f"forecast {fmt.percent(share)}")


def _words_of_fast_spend(
    budget: Budget, fast_spend: FastSpend, need: Need, names: Names, now: float
) -> NeedWords:
    """A budget whose limit is reached soon: who spends how much a minute, and until when."""
    owner = names.budget_owner(budget)
    is_total = budget.scope is BudgetScope.ALL and owner != UNNAMED_BUDGET
    verb = "spend" if is_total else "spends"
    agent_name = signs.missing
    left = until_limit(fast_spend, now)
    consequence = [mark_safe(f"limit reached in {left}")]
    if budget.scope is BudgetScope.AGENT:
        agent_name = names.budget(budget)
    elif fast_spend.mostly is not None:
        agent_name = names.agent(Ref(fast_spend.mostly))
        consequence.append(mark_safe(f"mostly {agent_name}"))
    return NeedWords(
        why=mark_safe("burning"),
        what=mark_safe(f"{owner} {verb} {per_minute(budget, fast_spend)}"),
        agent=agent_name,
        figure=_share_of_limit(budget),
        consequence=joined(consequence, ", "),
        brief_consequence=mark_safe(f"limit in {left}"),
        reason=mark_safe(need.rank_reason),
        since=need.since,
    )
