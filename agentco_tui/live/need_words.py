"""A need in words: why it is one, its figure, what follows if nobody acts, and why it comes first.

Made here for all that tells of needs: the Overview, `status`, a hand-over, metrics.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

import msgspec
from msgspec.structs import replace

from agentco_tui import format as fmt
from agentco_tui.live.consequence import consequence
from agentco_tui.live.forecast import Forecast
from agentco_tui.live.insight import NOT_AT_WORK, is_failing, priority_rank, waiting_since
from agentco_tui.live.needs import SOON, Because, Need, NeedKind
from agentco_tui.live.outlook import Outlook
from agentco_tui.live.sentences import deed, doer
from agentco_tui.live.store import Names
from agentco_tui.model import (
    Activity,
    Agent,
    Alert,
    Budget,
    BudgetScope,
    Money,
    Ref,
    SharedTask,
    Task,
)
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
    reason: SafeText
    """What it is ranked by among those of its level: "urgent, waiting 1h11"."""
    since: float | None = None


def words_of(need: Need, names: Names, outlook: Outlook, now: float) -> NeedWords:
    match need.record:
        case Task() if need.kind is NeedKind.STUCK:
            return _of_stuck(need, need.record, names, outlook)
        case Task() as task:
            return _of_tasks(need, need.alike or (task,), names, now)
        case Activity() as entry:
            span = entry.at.at - need.since if entry.at and need.since is not None else 0.0
            return NeedWords(
                why=plain("failing"),
                what=deed(entry, names),
                agent=doer(entry, names),
                figure=plain(f"×{fmt.count(need.times)} in {fmt.age(max(60.0, span))}"),
                consequence=plain(f"again every ~{fmt.age(span / max(1, need.times - 1))}"),
                reason=plain("the same failure over and over"),
                since=need.since,
            )
    return _of_subject(need, names, outlook, now)


def sentence_of(need: Need, names: Names, outlook: Outlook, now: float) -> SafeText:
    """All of it in one line: "stopped 119 % of $100.00: Ada (Acme); 4 tasks wait for it"."""
    words, record = words_of(need, names, outlook, now), need.record
    of: tuple[SafeText | None, ...] = names.company(names.company_of(record)), words.agent
    if isinstance(record, Task) and need.kind is NeedKind.TASK:
        wait = "" if words.since is None else f" {fmt.age(now - words.since)}"
        text, of = f"task waits{wait}: {words.what}", (record.priority, *of)
    else:
        figure = f" {words.figure}" if words.figure != signs.missing else ""
        text = f"{words.why}{figure}: {words.what}"
    told = ", ".join(each for each in of if each and each not in (signs.missing, words.what))
    text += (f" ({told})" if told else "") + (f"; {words.consequence}" * bool(words.consequence))
    return plain(text)


def agents_of(tasks: Iterable[Task], names: Names) -> SafeText:
    return joined(dict.fromkeys(names.agent(task.agent) for task in tasks), ", ")


def _tasks(number: int) -> str:
    return f"{fmt.count(number)} {'task' if number == 1 else 'tasks'}"


def _title(task: Task, number: int) -> SafeText:
    title = task.title
    if isinstance(task, SharedTask):
        words = f"{task.sharers} tasks with this id"
        title = plain(f"{signs.warning} {words} {signs.separator} {title}")
    return plain(f"{title} ×{fmt.count(number)}") if number > 1 else title


def _cost(tasks: Iterable[Task]) -> SafeText | None:
    """What they cost together, if all of them say so in one unit."""
    costs = [task.estimate or task.cost for task in tasks]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs) or len({cost.currency for cost in known}) > 1:
        return None
    sum_ = sum((cost.amount for cost in known), Decimal(0))
    return fmt.money(Money(sum_, known[0].currency)) if sum_ else None


def trust_of(tasks: Iterable[Task], names: Names) -> SafeText | None:
    """Of their agents: "trust 72", "trust 38–72"."""
    agents = ((task.trust, names.agent_of(task.agent)) for task in tasks)
    known = (own if own is not None or agent is None else agent.trust for own, agent in agents)
    trusts = sorted({trust for trust in known if trust is not None})
    ends = "–".join(map(fmt.number, trusts[:: max(1, len(trusts) - 1)]))
    return plain(f"trust {ends}") if ends else None


def _of_tasks(need: Need, tasks: tuple[Task, ...], names: Names, now: float) -> NeedWords:
    task, since = tasks[0], min(filter(None, map(waiting_since, tasks)), default=None)
    agent, who = names.agent_of(task.agent), names.agent(task.agent)
    is_urgent = priority_rank(task.priority) <= 1
    told = list[str]()
    if task.expires is not None and len(tasks) == 1:
        left = task.expires.at - now
        told.append(f"expires in {fmt.age(left)}" if left > 0 else "expired")
    if agent is not None and agent.state in NOT_AT_WORK:
        told.append(f"{who} is {agent.status or agent.state}")
    elif len(tasks) > 1:
        told.append(f"{_tasks(len(tasks))} wait")
    elif task.agent is not None and need.held > 1:
        told.append(f"{'longest' if need.longest else 'one'} of {who}'s {fmt.count(need.held)}")
    elif task.agent is not None and need.held == 1:
        told.append(f"{who}'s only one")
    reasons = [task.priority if is_urgent else None, None]
    if need.because is Because.DECIDED:
        reasons[0] = plain("a yes that is not known to be done")
    elif since is not None:
        reasons[1] = plain(f"waiting {fmt.age(now - since, fine=True)}")
    return NeedWords(
        why=(task.priority if is_urgent else None) or plain("approve"),
        what=_title(task, len(tasks)),
        agent=agents_of(tasks, names),
        figure=_cost(tasks) or signs.missing,
        consequence=plain(", ".join(told)),
        reason=joined(filter(None, reasons), ", "),
        since=since,
    )


def _of_stuck(need: Need, task: Task, names: Names, outlook: Outlook) -> NeedWords:
    usual = outlook.usual_run(task.agent.id) if task.agent and task.agent.id else None
    done = "" if usual is None else f", usually done in {fmt.age(usual)}"
    return NeedWords(
        why=plain("stuck"),
        what=_title(task, need.stands),
        agent=names.agent(task.agent),
        figure=_cost((task,)) or signs.missing,
        consequence=plain(f"stays undone{done}"),
        reason=plain("a yes after which nothing moves"),
        since=need.since,
    )


def _of_subject(need: Need, names: Names, outlook: Outlook, now: float) -> NeedWords:
    """Of an agent, a company or the whole."""
    parts = need.record, *need.beside
    budget = next((each for each in parts if isinstance(each, Budget)), None)
    agent = next((each for each in parts if isinstance(each, Agent)), None)
    alert = next((each for each in parts if isinstance(each, Alert)), None)
    who = agent and (agent.name or names.agent(Ref(agent.id)))
    what = who or (names.budget(budget) if budget else None)
    if budget is not None and budget.scope is BudgetScope.ALL:
        what = budget.name or names.scope(None)
    of = names.agent(alert.agent) if alert and not what else what or signs.missing
    is_spent = budget is not None and (budget.share or 0) >= 1
    is_idle = agent is not None and agent.state in NOT_AT_WORK
    figure, why = signs.missing, "alert"
    if budget is not None:
        figure = plain(f"{fmt.percent(budget.share)} of {fmt.money(budget.limit)}")
        why = "spent" if is_spent else "money low"
    elif alert is not None:
        figure = fmt.percent(alert.share)
        if alert.spent is not None and alert.limit is not None:
            figure = plain(f"{fmt.money(alert.spent)} of {fmt.money(alert.limit)}")
    if need.gone is not None:
        why = "gone soon" if need.gone - now <= SOON else "runs out"
    if need.runaway is not None and not is_idle:
        why = "runaway"
        times = need.runaway.now / max(need.runaway.most, need.runaway.mean, 1e-9)
        how = f"{times:.0f}×" if times < 1000 else ">999×"
        figure = plain(f"{how} its most {need.runaway.what}")
    if agent is not None and is_idle:
        why = "in error" if is_failing(agent) else "stopped" if is_spent else str(agent.state)
    ahead = None if budget is None or is_spent else _ahead(budget, outlook, now)
    told: list[str | None] = []
    if need.because is Because.STOPS and need.stands:
        told.append(f"{_tasks(need.held)} wait{'s' * (need.held == 1)}" * (need.held > 0))
        told.append(f"{fmt.count(need.stands)} {'' if need.held else 'approved '}can't go on")
    elif need.because is Because.STOPS:
        told.append(f"{_tasks(need.held)} wait{'s' * (need.held == 1)} for it")
    else:
        told += [ahead, f"stops {_tasks(need.held)}" * (need.gone is not None and need.held > 0)]
    if not any(told) and (need.runaway or is_spent) and not is_idle:
        told = ["spends on beyond its limit" if is_spent else "goes on until it is stopped"]
    elif not any(told):
        told = [f"would stop {_tasks(need.held)}" if need.held else "stops nothing now"]
    return NeedWords(
        why=plain(why),
        what=what or (alert.text if alert else signs.missing),
        agent=of if agent or (budget and budget.scope is BudgetScope.AGENT) else signs.missing,
        figure=figure,
        consequence=plain(", ".join(filter(None, told))),
        reason=plain(_REASONS[need.because]),
        since=need.since,
    )


def _ahead(budget: Budget, outlook: Outlook, now: float) -> SafeText | None:
    """Where its money is going, by what is worked out here, else by what the platform says."""
    if burn := outlook.burn(budget):
        return plain(f"gone in {signs.derived}{fmt.age(max(0.0, burn.gone_in))}")
    if isinstance(outlook.forecast(budget), Forecast):
        return consequence(replace(budget, forecast=None), outlook, now)
    limit, forecast = budget.limit, budget.forecast
    if forecast is None or limit is None or not limit.amount:
        return None
    return plain(f"platform says {fmt.percent(forecast.amount / limit.amount)}")


_REASONS = {
    **dict.fromkeys(Because, ""),
    Because.STOPS: "work that waits for it",
    Because.WHOLE: "money of more than one agent",
    Because.SOON: "money that is gone before its period is over",
    Because.RUNAWAY: "far above its own habit",
    Because.ONE: "one agent, and nothing is stopped",
}
