"""What needs a person: everything that does, the worst first, and what waits in the queue.

Used by the Overview, the header, `agentco-tui status` and all else that tells it, so that they
agree; `need_words` says it in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import chain, islice
from math import inf
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from agentco_tui.live.forecast import Forecast, Runaway
from agentco_tui.live.insight import (
    NOT_AT_WORK,
    Level,
    alert_level,
    budget_level,
    in_scope,
    is_failing,
    priority_rank,
    task_level,
    waiting_since,
    waits_for_person,
)
from agentco_tui.live.log_findings import AT_WORK
from agentco_tui.live.outlook import Outlook
from agentco_tui.live.period import HOUR
from agentco_tui.live.snooze import Snooze
from agentco_tui.live.spend_rate import FastSpend
from agentco_tui.live.store import Names, Store
from agentco_tui.model import (
    Activity,
    Agent,
    AgentState,
    Alert,
    AlertLimits,
    Budget,
    BudgetScope,
    Ref,
    Task,
)

NO_SNOOZES: Mapping[str, Snooze] = MappingProxyType({})
_CHUNK = 250  # records between two pauses
STANDS_AT_LEAST = 600.0  # seconds for which nothing moved, below which no task stands still
TIMES_USUAL = 2.0  # how many times longer than usual (95 %) that must be
STANDS_IDLE, STANDS_BUSY = HOUR, 4 * HOUR  # the same where nothing is usual, by its agent's state
STEP = 600.0  # seconds to which moments ahead are rounded, so that no order flickers


class NeedKind(StrEnum):
    BUDGET = "budget"
    TASK = "task"
    ALERT = "alert"
    AGENT = "agent"
    STUCK = "stuck"
    FAILURES = "failures"


class Because(StrEnum):
    """What a need is ranked by among those of its level: the order of consequences."""

    DECIDED = "a yes that is not known to be done"
    BURNING = "a limit that is reached within the hour"
    STOPS = "work that waits for it"
    WHOLE = "money of more than one agent"
    URGENT = "urgent and high tasks"
    SOON = "money that is gone before its period is over"
    RUNAWAY = "far above its own habit"
    STUCK = "a yes after which nothing moves"
    REPEATS = "the same failure over and over"
    ONE = "one agent, and nothing is stopped"
    WAIT = "how long tasks wait"


_PLACES = {because: place for place, because in enumerate(Because)}


class Need(msgspec.Struct, frozen=True):
    """One thing that needs a person, with the record that shows it."""

    level: Level
    kind: NeedKind
    record: Task | Budget | Alert | Agent | Activity
    because: Because
    rank: tuple[float, ...] = ()
    """Order among the needs of one level with the same because, smaller first."""
    handle: str = ""
    """Whom or what it is about, where that is more than its record."""
    alike: tuple[Task, ...] = ()
    """All that it stands for, where several tasks are alike."""
    beside: tuple[Alert | Agent | Budget | Task, ...] = ()
    """What belongs to it and is not told again: its agent, alerts, further tasks that stand."""
    count: int = 0
    """Tasks that wait for whom it is about; of a task those of its agent; how many stand still, or
    how often it failed."""
    longest: bool = False
    """Of a task: whether none of its agent's waits longer."""
    since: float | None = None
    gone: float | None = None
    """When the money will be gone."""
    runaway: Runaway | None = None
    fast: FastSpend | None = None
    """The alarm that its limit is reached within the hour."""
    snooze: Snooze | None = None
    """It is put off."""

    @property
    def key(self) -> str:
        """Stays the same while the need does, also over restarts."""
        return self.handle or f"{self.kind}:{self.record.id}"

    @property
    def keys(self) -> list[str]:
        """Of all that it stands for: each is snoozed by itself."""
        return [f"{self.kind}:{task.id}" for task in self.alike] or [self.key]


class _Subject:
    """What is known against an agent, a company or the whole."""

    def __init__(self) -> None:
        self.level = Level.WARNING
        self.budget: Budget | None = None
        self.agent: Agent | None = None
        self.alerts: list[Alert] = []
        self.gone: float | None = None
        self.runaway: Runaway | None = None
        self.fast: FastSpend | None = None
        self.stuck: list[tuple[float, Task]] = []


def of_company(
    store: Store, company: str | None
) -> Callable[[Task | Agent | Budget | Alert | Activity], bool]:
    """Whether a record is of that company, or of any if None. What names none is, but for the money
    of all and alerts about agents that are not among those of the company.
    """
    names = Names(store)

    def is_ours(record: Task | Agent | Budget | Alert | Activity) -> bool:
        if company is None:
            return True
        if isinstance(record, Budget) and record.scope is BudgetScope.ALL:
            return False
        owner = names.company_of(record)
        if owner is None and isinstance(record, Alert) and record.agent and len(store.agents):
            return names.agent_of(record.agent) is not None
        return in_scope(owner, company)

    return is_ours


def find(
    outlook: Outlook, company: str | None, snoozes: Mapping[str, Snooze], now: float, most: int
) -> Generator[None, None, tuple[Queue, list[Need]]]:
    """What waits, and everything that needs a person, the worst first, of a company or of all; of
    tasks that wait the `most` that come first, and all that are snoozed. Those that `snoozes` hold,
    by key, say so. Pauses often.

    All that is known against one agent, one company or the whole is one need: its budget, alerts
    about it, that it is stopped or runs away, and how much work waits for it.
    """
    store, limits, known = outlook.store, outlook.limits, dict[tuple[BudgetScope, str], _Subject]()
    yield from outlook.read_log()
    yield from outlook.rates.take_in()
    is_ours = of_company(store, company)
    pending = filter(is_ours, store.pending)
    waits = yield from queue(pending, now, limits, most, Names(store), snoozes=snoozes)

    def subject(scope: BudgetScope, of: str | None) -> _Subject:
        return known.setdefault((scope, of or ""), _Subject())

    for number, budget in enumerate(filter(is_ours, chain(*store.budgets.values()))):
        if number % _CHUNK == 0:
            yield
        level, gone = money_ahead(budget, outlook, now)
        if level >= Level.WARNING:
            its = subject(budget.scope, budget.subject)
            its.level, its.budget, its.gone = level, budget, gone
            its.fast = outlook.fast_spend(budget)
    for alert in filter(is_ours, store.alerts):
        if (level := alert_level(alert, limits)) >= Level.WARNING:
            about, scope = alert.agent or alert.company or Ref(), BudgetScope.ALL
            if alert.agent or alert.company:
                scope = BudgetScope.AGENT if alert.agent else BudgetScope.COMPANY
            its = subject(scope, about.id or about.name)
            its.level = max(its.level, level)
            its.alerts.append(alert)
    stands = dict[str, list[tuple[float, Task]]]()
    for at, task in filter(lambda each: is_ours(each[1]), _stuck(outlook, now)):
        stands.setdefault((task.agent and task.agent.id) or "", []).append((at, task))
    for number, agent in enumerate(filter(is_ours, store.agents)):
        if number % _CHUNK == 0:
            yield
        key, runaway = (BudgetScope.AGENT, agent.id), outlook.of_agent(agent.id).runaway or None
        is_idle = agent.state in NOT_AT_WORK
        holds = is_idle and (waits.held[key] or agent.id in stands)
        if key in known or runaway or is_failing(agent) or holds:
            its = subject(*key)
            its.agent, its.runaway = agent, runaway
            if is_idle or _is_spent(its.budget):
                its.stuck = stands.pop(agent.id, [])
    found = [_of_subject(*key, its, waits.held[key]) for key, its in known.items()]
    yield
    found += (_standing(agent, each) for agent, each in stands.items())
    for each in outlook.log.repeated:
        if is_ours(each.newest) and now - each.times[0] <= HOUR:
            found.append(
                Need(
                    Level.WARNING,
                    NeedKind.FAILURES,
                    each.newest,
                    Because.REPEATS,
                    (-each.times[0],),
                    handle=f"{NeedKind.FAILURES}:{each.handle}",
                    since=each.times[-1],
                    count=len(each.times),
                )
            )
    found = sorted((*found, *waits.worst), key=_order)
    for place, need in enumerate(found):
        snooze = snoozes.get(need.key)
        if snooze is not None and snooze.holds(need.level, now):
            found[place] = replace(need, snooze=snooze)
    return waits, found


def count_levels(waits: Queue, needs: Iterable[Need]) -> Counter[Level]:
    """How many needs there are of each level, of `find`'s; those snoozed are left out.

    Tasks that are alike count each. The dashboard's header and the first line of `status` both
    show this.
    """
    counted = Counter(waits.levels)
    for need in needs:
        is_task = need.kind is NeedKind.TASK  # the queue has counted those
        if is_task and need.snooze is not None:
            counted[need.level] -= 1
        elif not is_task and need.snooze is None:
            counted[need.level] += 1
    return counted


def money_ahead(budget: Budget, outlook: Outlook, now: float) -> tuple[Level, float | None]:
    """How badly a budget needs a person, as it is and by what lies ahead of it; and when its money
    will be gone: at the rate of now if that burns, else as forecast before the end of its period.
    """
    level = budget_level(budget, outlook.limits)
    if budget.unlimited or _is_spent(budget):
        return level, None
    fast = outlook.fast_spend(budget)
    if fast is not None:
        return Level.CRITICAL, round(fast.reached_at / STEP) * STEP
    ahead, burn, gone = outlook.of(budget).forecast, outlook.of(budget).burn, inf
    if isinstance(ahead, Forecast) and ahead.gone is not None and ahead.gone[1] < ahead.ends:
        gone = ahead.gone[1]
    if burn:
        gone = min(now + burn.gone_in, gone)
        level = max(level, Level.CRITICAL if burn.critical else Level.WARNING)
    if gone == inf:
        return level, None
    return max(level, Level.WARNING), round(gone / STEP) * STEP


def _is_spent(budget: Budget | None) -> bool:
    return budget is not None and budget.share is not None and budget.share >= 1


def _of_subject(scope: BudgetScope, of: str, its: _Subject, held: int) -> Need:
    """The one need that all which is known against one subject is."""
    its.alerts.sort(key=lambda alert: (-(alert.at.at if alert.at else 0.0), alert.id))
    agent, budget, share = its.agent, its.budget, -float((its.budget and its.budget.share) or 0)
    is_idle = agent is not None and agent.state in NOT_AT_WORK
    waits = held + len(its.stuck)
    times = [alert.at.at for alert in its.alerts if alert.at]
    since, rank = min(times, default=None), tuple[float, ...]()
    if its.fast is not None:
        # In steps, so that two that burn do not change places with every poll.
        because, rank = Because.BURNING, (round(its.fast.reached_at / STEP), share)
        since = its.fast.since
    elif waits and (is_idle or _is_spent(budget)):
        because, rank = Because.STOPS, (-waits, share)
    elif scope is not BudgetScope.AGENT and (of or budget):
        because, rank = Because.WHOLE, (its.gone or inf, share)
    elif its.gone is not None:
        because, rank = Because.SOON, (its.gone, share)
    elif its.runaway is not None:
        because, rank = Because.RUNAWAY, (its.runaway.since[0], share)
    else:
        because, rank = Because.ONE, (share, -max(times, default=0.0))
    if its.runaway is not None and since is None:
        since = its.runaway.since[0]
    told = [each for each in (budget, *its.alerts, agent) if each is not None]
    if agent is not None and (is_failing(agent) or (budget is None and (its.runaway or is_idle))):
        told.sort(key=lambda each: each is not agent)
    record, *beside = told
    return Need(
        its.level,
        NeedKind(type(record).__name__.lower()),
        record,
        because,
        rank,
        handle=f"{scope}:{of}",
        beside=(*beside, *(task for _, task in its.stuck)),
        count=waits,
        since=since,
        gone=its.gone,
        runaway=its.runaway,
        fast=its.fast,
    )


def _stuck(outlook: Outlook, now: float) -> Iterator[tuple[float, Task]]:
    """Tasks that were said yes to and in which nothing moved for longer than usual, with since
    when.
    """
    store, log = outlook.store, outlook.log
    for at, task in log.at_work.values():
        agent_id, listed = (task.agent and task.agent.id) or "", store.tasks.get(task.id) or task
        agent, usual = (
            store.agents.get(agent_id),
            outlook.of_agent(agent_id).usual_run or log.usual_run,
        )
        is_idle = agent is not None and agent.state in (*NOT_AT_WORK, AgentState.IDLE)
        patience = STANDS_IDLE if is_idle else STANDS_BUSY
        if usual is not None:
            patience = max(STANDS_AT_LEAST, TIMES_USUAL * usual)
        stands = now - at > patience and listed.state in AT_WORK
        if stands and store.pending.get(task.id) is None:
            yield at, task


def _standing(agent: str, stuck: list[tuple[float, Task]]) -> Need:
    """The tasks of one agent that stand still, as one: that which stands longest."""
    stuck.sort(key=lambda each: (each[0], each[1].id))
    (since, first), *rest = stuck
    return Need(
        Level.WARNING,
        NeedKind.STUCK,
        first,
        Because.STUCK,
        (since,),
        handle=f"{NeedKind.STUCK}:{agent or first.id}",
        beside=tuple(task for _, task in rest),
        count=len(stuck),
        since=since,
    )


def _order(need: Need) -> tuple[int, int, tuple[float, ...], str]:
    return -need.level, _PLACES[need.because], need.rank, need.key


def grouped(found: Iterable[Need], apart: Collection[str]) -> list[Need]:
    """Tasks of one title and level as one need, in the place of the worst of them; but for those
    of the ids `apart`, and those that no write may name.
    """
    groups: dict[object, list[Need]] = {}
    for need in found:
        task, alike = need.record, None
        if isinstance(task, Task) and task.unwritable is None and task.id not in apart:
            alike = need.kind, need.level, task.title, need.snooze
        groups.setdefault(alike or need.key, []).append(need)
    return [
        replace(group[0], alike=tuple(n.record for n in group if isinstance(n.record, Task)))
        if len(group) > 1
        else group[0]
        for group in groups.values()
    ]


class Queue(msgspec.Struct):
    """What waits for a person: how much of it, and its worst."""

    count: int = 0
    oldest: float | None = None  # seconds since 1970; None if no task says since when it waits
    levels: Counter[Level] = msgspec.field(default_factory=Counter)  # from a warning on
    held: Counter[tuple[BudgetScope, str]] = msgspec.field(default_factory=Counter)
    """With whom, by id: an agent, a company, or all ("")."""
    longest: dict[tuple[BudgetScope, str], float] = {}
    """Since when the oldest of each, and of all, waits."""
    worst: list[Need] = []
    critical: list[Need] = []
    """The critical tasks that are not snoozed, however many there are; without their counts."""

    def counted(self, need: Need) -> Need:
        """The need of a task with how many wait for its agent, and whether it waits longest."""
        owner = BudgetScope.AGENT, _agent_of(need.record)
        is_longest = need.since is not None and need.since == self.longest.get(owner)
        return replace(need, count=self.held[owner], longest=is_longest)


def queue(
    pending: Iterable[Task],
    now: float,
    limits: AlertLimits,
    most: int,
    names: Names,
    *,
    snoozes: Mapping[str, Snooze] = NO_SNOOZES,
) -> Generator[None, None, Queue]:
    """What waits, with the `most` tasks that come first, in the order of `find`; pauses often.

    Snoozed tasks are kept besides these: counted among them, they would take the places of tasks
    that need someone now.
    """
    rest, found, kept = iter(pending), Queue(), list[Need]()
    snoozed: list[Need] = []
    # By ids alone, which are faster than with the scope: how many wait, and since when the oldest.
    agents, companies = Counter[str](), Counter[str]()
    oldest, oldest_of = dict[str, float](), dict[str, float]()
    last: tuple[object, ...] | None = None
    while chunk := list(islice(rest, _CHUNK)):
        for task in filter(waits_for_person, chunk):
            found.count += 1
            since, agent, company = waiting_since(task), _agent_of(task), names.company_of(task)
            owner = (company and company.id) or ""
            if since is not None:
                found.oldest = min(since, found.oldest or inf)
                oldest[agent] = min(since, oldest.get(agent, inf))
                oldest_of[owner] = min(since, oldest_of.get(owner, inf))
            agents[agent] += 1
            companies[owner] += 1
            level = task_level(task, now, limits)
            if level >= Level.WARNING:
                found.levels[level] += 1
                # High and urgent ones early, then by how long they wait.
                rank = min(2.0, priority_rank(task.priority)), inf if since is None else since
                because = Because.WAIT if rank[0] > 1 else Because.URGENT
                snooze = snoozes.get(f"{NeedKind.TASK}:{task.id}") if snoozes else None
                is_snoozed = snooze is not None and snooze.holds(level, now)
                # What comes after the last of those kept can't be among the first.
                is_cut = not is_snoozed and last is not None and (-level, rank) > last
                if is_cut and level < Level.CRITICAL:
                    continue
                need = Need(level, NeedKind.TASK, task, because, rank, since=since)
                if is_snoozed:
                    snoozed.append(need)
                    continue
                if level is Level.CRITICAL:
                    found.critical.append(need)
                if not is_cut:
                    kept.append(need)
        if len(kept) > 2 * most:
            kept = sorted(kept, key=_order)[:most]
            last = -kept[-1].level, kept[-1].rank
        yield
    found.held[BudgetScope.ALL, ""] = found.count
    if found.oldest is not None:
        found.longest[BudgetScope.ALL, ""] = found.oldest
    for scope, counts, since_when in (
        (BudgetScope.AGENT, agents, oldest),
        (BudgetScope.COMPANY, companies, oldest_of),
    ):
        found.held.update({(scope, of): count for of, count in counts.items()})
        found.longest |= {(scope, of): at for of, at in since_when.items()}
        yield
    for need in (*sorted(kept, key=_order)[:most], *snoozed):
        found.worst.append(found.counted(need))
    return found


def _agent_of(record: object) -> str:
    """The id of a task's agent."""
    return (isinstance(record, Task) and record.agent and record.agent.id) or ""
