"""A need in words: why it is one, its figure, what follows if nobody acts, and why it comes first.

Made here for all that tells of needs: the Overview, `status`, a hand-over, metrics.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

import msgspec

from agentco_tui.history.forecast import Forecast
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.live.consequence import own_forecast, per_minute, until_limit
from agentco_tui.live.insight import NOT_AT_WORK, is_failing, priority_rank
from agentco_tui.live.names import UNNAMED_BUDGET, Names
from agentco_tui.live.needs import Need, NeedKind, RankReason
from agentco_tui.live.sentences import deed, doer
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
from agentco_tui.text import SafeText, joined, plain, signs


class NeedWords(msgspec.Struct, frozen=True, kw_only=True):
    why: SafeText
    """A word or two: "approve", "stopped", "money low"."""
    what: SafeText
    """Whom or what it is about."""
    agent: SafeText
    figure: SafeText
    """The one that matters: "119 % of $100.00", "×14 in 52 m"."""
    consequence: SafeText
    """What follows if nobody acts: "4 tasks wait for it", "gone ~Tue 24 Nov"; or ""."""
    brief_consequence: SafeText | None = None
    """The same in fewer words, for a narrow column; None if there are none."""
    reason: SafeText
    """What it is ranked by among those of its level: "urgent, waiting 1h11"."""
    since: float | None = None


def words_of(need: Need, names: Names, outlook: ForecastService, now: float) -> NeedWords:
    match need.record:
        case Task() as task:
            return _of_tasks(need, task, names, outlook, now)
        case Activity() as entry:
            span = entry.at.at - need.since if entry.at and need.since is not None else 0.0
            return NeedWords(
                why=plain("failing"),
                what=deed(entry, names),
                agent=doer(entry, names),
                figure=plain(f"×{fmt.count(need.count)} in {fmt.age(max(60.0, span))}"),
                consequence=plain(f"again every ~{fmt.age(span / max(1, need.count - 1))}"),
                reason=plain(need.because),
                since=need.since,
            )
    return _of_subject(need, names, outlook, now)


def sentence_of(need: Need, names: Names, outlook: ForecastService, now: float) -> SafeText:
    """All of it in one line: "stopped 119 % of $100.00: Ada (Acme); 4 tasks wait for it"."""
    words, record = words_of(need, names, outlook, now), need.record
    of: tuple[SafeText | None, ...] = names.company(names.company_of(record)), words.agent
    if isinstance(record, Task) and need.kind is NeedKind.TASK:
        wait = "" if words.since is None else f" {fmt.age(now - words.since)}"
        text, of = f"task waits{wait}: {words.what}", (record.priority, *of)
    elif need.fast is not None:
        return _fast_sentence(need, words, names)
    else:
        figure = f" {words.figure}" if words.figure != signs.missing else ""
        text = f"{words.why}{figure}: {words.what}"
    told = ", ".join(each for each in of if each and each not in (signs.missing, words.what))
    text += (f" ({told})" if told else "") + (f"; {words.consequence}" * bool(words.consequence))
    return plain(text)


def _fast_sentence(need: Need, words: NeedWords, names: Names) -> SafeText:
    """One line: "Priya spends ~$18/min, limit reached in ~12 min (22 % of $600.00, Globex)"."""
    record = need.record
    about = [words.figure]
    if isinstance(record, Budget) and record.scope is BudgetScope.AGENT:
        about.append(names.company(names.company_of(record)))
    known = [each for each in about if each != signs.missing]
    return plain(f"{words.what}, {words.consequence} ({', '.join(known)})")


def _tasks(number: int) -> str:
    return f"{fmt.count(number)} {'task' if number == 1 else 'tasks'}"


def _cost(tasks: Iterable[Task]) -> SafeText:
    """What they cost together, if all of them say so in one unit."""
    costs = [task.estimate or task.cost for task in tasks]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs) or len({cost.currency for cost in known}) > 1:
        return signs.missing
    sum_ = sum((cost.amount for cost in known), Decimal(0))
    return fmt.money(Money(sum_, known[0].currency)) if sum_ else signs.missing


def _of_tasks(
    need: Need, task: Task, names: Names, outlook: ForecastService, now: float
) -> NeedWords:
    tasks, agent, who = need.alike or (task,), names.agent_of(task.agent), names.agent(task.agent)
    urgent = task.priority if priority_rank(task.priority) <= 1 else None
    since, number, follows, title = need.since, len(tasks), list[str](), task.title
    if task.shared_id:
        words = f"{task.sharers} tasks with this id"
        title = plain(f"{signs.warning} {words} {signs.separator} {title}")
    if need.kind is NeedKind.STUCK:
        number, usual = need.count, outlook.of_agent(agent.id).usual_run if agent else None
        follows += ["stays undone", *([f"usually done in {fmt.age(usual)}"] if usual else [])]
    elif task.expires is not None and number == 1:
        left = task.expires.at - now
        follows.append(f"expires in {fmt.age(left)}" if left > 0 else "expired")
    if need.kind is NeedKind.TASK and agent is not None and agent.state in NOT_AT_WORK:
        follows.append(f"{who} is {agent.status or agent.state}")
    elif need.kind is NeedKind.TASK and number > 1:
        follows.append(f"{_tasks(number)} wait")
    elif need.kind is NeedKind.TASK and task.agent is not None and need.count:
        place = f"{'longest' if need.longest else 'one'} of {who}'s {fmt.count(need.count)}"
        follows.append(place if need.count > 1 else f"{who}'s only one")
    reason = plain(need.because)
    if need.because in (RankReason.URGENT, RankReason.WAIT) and since is not None:
        waits = plain(f"waiting {fmt.age(now - since, fine=True)}")
        reason = joined(filter(None, (urgent, waits)), ", ")
    return NeedWords(
        why=plain("stuck") if need.kind is NeedKind.STUCK else urgent or plain("approve"),
        what=plain(f"{title} ×{fmt.count(number)}") if number > 1 else title,
        agent=joined(dict.fromkeys(names.agent(task.agent) for task in tasks), ", "),
        figure=_cost(tasks),
        consequence=plain(", ".join(follows)),
        reason=reason,
        since=since,
    )


def _of_subject(need: Need, names: Names, outlook: ForecastService, now: float) -> NeedWords:
    """Of an agent, a company or the whole."""
    parts = need.record, *need.beside
    budget = next((each for each in parts if isinstance(each, Budget)), None)
    agent = next((each for each in parts if isinstance(each, Agent)), None)
    alert = next((each for each in parts if isinstance(each, Alert)), None)
    what, of = alert.text if alert else signs.missing, names.agent(alert.agent if alert else None)
    if budget is not None:
        what = names.budget(budget)
        of = what if budget.scope is BudgetScope.AGENT else signs.missing
    if agent is not None:
        what = of = agent.name or names.agent(Ref(agent.id))
    if budget is not None and need.fast is not None:
        return _of_fast_spend(budget, need.fast, need, names, now)
    is_spent = budget is not None and (budget.share or 0) >= 1
    is_idle = agent is not None and agent.state in NOT_AT_WORK
    figure, why, ahead = signs.missing, "alert", None
    if budget is not None:
        figure = plain(f"{fmt.percent(budget.share)} of {fmt.money(budget.limit)}")
        why = "spent" if is_spent else "money low"
        ahead = None if is_spent else _ahead(budget, outlook, now)
    elif alert is not None and alert.spent is not None and alert.limit is not None:
        figure = plain(f"{fmt.money(alert.spent)} of {fmt.money(alert.limit)}")
    elif alert is not None:
        figure = fmt.percent(alert.share)
    if need.gone is not None:
        why = "runs out"
    if agent is not None and is_idle:
        why = "in error" if is_failing(agent) else "stopped" if is_spent else str(agent.state)
    elif need.runaway is not None:
        times = need.runaway.now / max(need.runaway.most, need.runaway.mean, 1e-9)
        why, figure = "runaway", plain(f"{times:,.0f}× its most {need.runaway.what}")
    goes_on = (is_spent or need.runaway) and not is_idle
    follows = [ahead] if ahead else []
    if need.because is RankReason.STOPS:
        follows = [plain(f"{_tasks(need.count)} wait{'s' * (need.count == 1)} for it")]
    elif need.count and (need.gone is not None or not (ahead or goes_on)):
        follows.append(plain(f"{'stops' if need.gone else 'would stop'} {_tasks(need.count)}"))
    elif not follows:
        follows = [plain("goes on until it is stopped" if goes_on else "stops nothing now")]
    return NeedWords(
        why=plain(why),
        what=what,
        agent=of,
        figure=figure,
        consequence=joined(follows, ", "),
        reason=plain(need.because),
        since=need.since,
    )


def _ahead(budget: Budget, outlook: ForecastService, now: float) -> SafeText | None:
    """Where its money is going, by what is worked out here, else by what the platform says."""
    is_known_here = isinstance(outlook.of(budget).forecast, Forecast) or outlook.of(budget).burn
    if is_known_here:
        return own_forecast(budget, outlook, now)
    if budget.forecast is None or budget.limit is None or not budget.limit.amount:
        return None
    share = budget.forecast.amount / budget.limit.amount
    # Without the mark of what is worked out here; the detail names it as the platform's.
    return plain(f"forecast {fmt.percent(share)}")


def _of_fast_spend(
    budget: Budget, fast: FastSpend, need: Need, names: Names, now: float
) -> NeedWords:
    """Of a budget whose limit is reached soon: who spends how much a minute, and until when."""
    owner = names.owner(budget)
    is_total = budget.scope is BudgetScope.ALL and owner != UNNAMED_BUDGET
    verb = "spend" if is_total else "spends"
    agent = signs.missing
    left = until_limit(fast, now)
    follows = [plain(f"limit reached in {left}")]
    if budget.scope is BudgetScope.AGENT:
        agent = names.budget(budget)
    elif fast.mostly is not None:
        agent = names.agent(Ref(fast.mostly))
        follows.append(plain(f"mostly {agent}"))
    return NeedWords(
        why=plain("burning"),
        what=plain(f"{owner} {verb} {per_minute(budget, fast)}"),
        agent=agent,
        figure=plain(f"{fmt.percent(budget.share)} of {fmt.money(budget.limit)}"),
        consequence=joined(follows, ", "),
        brief_consequence=plain(f"limit in {left}"),
        reason=plain(need.because),
        since=need.since,
    )
