"""What needs a person: everything that does, the worst first, and what waits in the queue.

Used by the Overview, the header, `agentco-tui status` and all else that tells it, so that they
agree; `need_words` says it in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Iterable, Mapping
from enum import IntEnum, StrEnum
from itertools import islice
from math import inf

import msgspec
from msgspec.structs import replace

from agentco_tui.live.forecast import Forecast, Runaway
from agentco_tui.live.insight import (
    NOT_AT_WORK,
    Level,
    alert_level,
    budget_level,
    is_failing,
    priority_rank,
    task_level,
    waiting_since,
    waits_for_person,
)
from agentco_tui.live.log_findings import HOUR, LogFindings, Repeated
from agentco_tui.live.outlook import Outlook
from agentco_tui.live.snooze import Snooze
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
    TaskState,
)

_CHUNK = 250  # records between two pauses
SOON = 24 * HOUR  # seconds within which money that will be gone comes before what is merely low
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


class Because(IntEnum):
    """What a need comes by among those of its level: the order of consequences."""

    DECIDED = -1  # a yes that is not known to have been done
    STOPS = 0  # money is gone or an agent stopped, and work waits for it
    WHOLE = 1  # money of a company, or of all
    URGENT = 2  # urgent and high tasks
    SOON = 3  # an agent's money is gone within a day
    RUNAWAY = 4  # far above its own habit
    STUCK = 5  # said yes to, and nothing moves
    REPEATS = 6  # the same failure over and over
    ONE = 7  # what is wrong with one agent, and no work waits for it
    WAIT = 8  # the other tasks, by how long they wait


class Need(msgspec.Struct, frozen=True):
    """One thing that needs a person, with the record that shows it."""

    level: Level
    kind: NeedKind
    record: Task | Budget | Alert | Agent | Activity
    rank: tuple[float, ...]
    """Order among the needs of one level, smaller first; begins with why."""
    handle: str = ""
    """Whom or what it is about, where that is more than its record."""
    alike: tuple[Task, ...] = ()
    """All that it stands for, where several tasks are alike."""
    beside: tuple[Alert | Agent | Budget | Task, ...] = ()
    """What belongs to it and is not told again: its agent, alerts, further tasks that stand."""
    held: int = 0
    """Tasks that wait with the agent or company that it is about."""
    stands: int = 0
    """Tasks of it that were said yes to, and can't go on."""
    longest: bool = False
    """Of a task: whether none of its agent's waits longer."""
    since: float | None = None
    gone: float | None = None
    """When the money will be gone."""
    runaway: Runaway | None = None
    times: int = 1
    """How often it failed."""
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

    @property
    def because(self) -> Because:
        return Because(int(self.rank[0]))


class _Subject:
    """What is known against an agent, a company or the whole."""

    def __init__(self) -> None:
        self.level = Level.OK
        self.budget: Budget | None = None
        self.agent: Agent | None = None
        self.alerts: list[Alert] = []
        self.gone: float | None = None
        self.runaway: Runaway | None = None
        self.stuck: list[tuple[float, Task]] = []


Key = tuple[BudgetScope, str]


def money_ahead(
    budget: Budget, limits: AlertLimits, outlook: Outlook | None, now: float
) -> tuple[Level, float | None]:
    """How badly a budget needs a person, as it is and by what lies ahead of it; and when its money
    will be gone: at the rate of now if that burns, else as forecast before the end of its period.
    """
    level = budget_level(budget, limits)
    if outlook is None or budget.unlimited or (budget.share or 0) >= 1:
        return level, None
    ahead, burn, gone = outlook.forecast(budget), outlook.burn(budget), None
    if isinstance(ahead, Forecast) and ahead.gone is not None and ahead.gone[1] < ahead.ends:
        gone = ahead.gone[1]
    if burn:
        gone = min(now + burn.gone_in, gone or inf)
        level = max(level, Level.CRITICAL if burn.critical else Level.WARNING)
    if gone is None:
        return level, None
    return max(level, Level.WARNING), round(gone / STEP) * STEP


def needs(
    *,
    tasks: Iterable[Need],
    budgets: Iterable[Budget],
    alerts: Iterable[Alert],
    agents: Iterable[Agent],
    limits: AlertLimits,
    now: float = 0.0,
    queue: Queue | None = None,
    outlook: Outlook | None = None,
    repeated: Iterable[Repeated] = (),
    standing: Iterable[tuple[float, Task]] = (),
) -> list[Need]:
    """Everything that needs a person, the worst first; the needs of `tasks` as `queue` finds them.

    All that is known against one agent, one company or the whole is one need: its budget, alerts
    about it, that it is stopped or runs away, and how much work waits for it. `standing` are tasks
    that were said yes to and stand still (`stuck`). Where nothing is given, nothing is told of it.
    """
    known: dict[Key, _Subject] = {}
    queue = queue or Queue()

    def subject(scope: BudgetScope, of: str | None) -> _Subject:
        return known.setdefault((scope, of or ""), _Subject())

    for budget in budgets:
        level, gone = money_ahead(budget, limits, outlook, now)
        if level >= Level.WARNING:
            its = subject(budget.scope, "" if budget.scope is BudgetScope.ALL else budget.id)
            its.level, its.budget, its.gone = level, budget, gone
    for alert in alerts:
        level = alert_level(alert, limits)
        if level >= Level.WARNING:
            about, scope = alert.agent or alert.company or Ref(), BudgetScope.ALL
            if alert.agent or alert.company:
                scope = BudgetScope.AGENT if alert.agent else BudgetScope.COMPANY
            its = subject(scope, about.id or about.name)
            its.level = max(its.level, level)
            its.alerts.append(alert)
    stands = dict[str, list[tuple[float, Task]]]()
    for at, task in standing:
        stands.setdefault((task.agent and task.agent.id) or "", []).append((at, task))
    company_of = dict[str, str | None]()
    for agent in agents:
        company_of[agent.id] = agent.company.id if agent.company else None
        runaway = (outlook and outlook.runaway(agent.id)) or None
        is_idle = agent.state in NOT_AT_WORK
        waits = queue.held[agent.id] + len(stands.get(agent.id, ()))
        key = BudgetScope.AGENT, agent.id
        if key in known or runaway or is_failing(agent) or (is_idle and waits):
            its = subject(*key)
            its.level = max(its.level, Level.WARNING)
            its.agent, its.runaway = agent, runaway
            if is_idle or _is_spent(its.budget):
                its.stuck = stands.pop(agent.id, [])
    whole = known.get((BudgetScope.ALL, ""))
    for (scope, _), its in known.items():
        if scope is BudgetScope.COMPANY and whole and _is_same(its.budget, whole.budget):
            del known[BudgetScope.ALL, ""]  # there is one company only
            break
    found = [
        _of_subject(scope, of, its, _held(scope, of, queue, company_of))
        for (scope, of), its in known.items()
    ]
    found += (_stuck(agent, each) for agent, each in stands.items())
    found += (_repeated(each) for each in repeated if _goes_on(each, now))
    return sorted((*found, *tasks), key=_order)


def _is_same(one: Budget | None, other: Budget | None) -> bool:
    if one is None or other is None or one.spent is None:
        return False
    return (one.spent, one.limit) == (other.spent, other.limit)


def _is_spent(budget: Budget | None) -> bool:
    return budget is not None and budget.share is not None and budget.share >= 1


def _held(scope: BudgetScope, of: str, queue: Queue, company_of: Mapping[str, str | None]) -> int:
    """How many tasks wait with it: with a company by what they say, else by their agents."""
    if scope is BudgetScope.AGENT:
        return queue.held[of]
    if scope is BudgetScope.ALL:
        return queue.count
    if queue.of_company:
        return queue.of_company[of]
    return sum(n for agent, n in queue.held.items() if company_of.get(agent or "") == of)


def _of_subject(scope: BudgetScope, of: str, its: _Subject, held: int) -> Need:
    """The one need that all which is known against one subject is."""
    its.alerts.sort(key=lambda alert: (-(alert.at.at if alert.at else 0.0), alert.id))
    agent, budget, share = its.agent, its.budget, -float((its.budget and its.budget.share) or 0)
    is_idle = agent is not None and agent.state in NOT_AT_WORK
    blocked = held + len(its.stuck) if is_idle or _is_spent(budget) else 0
    times = [alert.at.at for alert in its.alerts if alert.at]
    since, rank = min(times, default=None), tuple[float, ...]()
    if blocked:
        rank = (Because.STOPS, -blocked, share)
    elif scope is not BudgetScope.AGENT and (of or budget):
        rank = (Because.WHOLE, its.gone or inf, share)
    elif its.gone is not None:
        rank = (Because.SOON, its.gone)
    elif its.runaway is not None:
        rank = (Because.RUNAWAY, its.runaway.since[0])
    else:
        rank = (Because.ONE, share, -max(times, default=0.0))
    if its.runaway is not None and since is None:
        since = its.runaway.since[0]
    told = [each for each in (budget, agent, *its.alerts) if each is not None]
    if agent is not None and (is_failing(agent) or (budget is None and (its.runaway or is_idle))):
        told.sort(key=lambda each: each is not agent)
    elif budget is None:
        told.sort(key=lambda each: each is agent)
    record, *beside = told
    return Need(
        its.level,
        NeedKind(type(record).__name__.lower()),
        record,
        rank,
        handle=f"{scope}:{of}",
        beside=(*beside, *(task for _, task in its.stuck)),
        held=held,
        stands=len(its.stuck),
        since=since,
        gone=its.gone,
        runaway=its.runaway,
    )


def _stuck(agent: str, standing: list[tuple[float, Task]]) -> Need:
    """The tasks of one agent that stand still, as one: that which stands longest."""
    standing.sort(key=lambda each: (each[0], each[1].id))
    (since, first), *rest = standing
    return Need(
        Level.WARNING,
        NeedKind.STUCK,
        first,
        (Because.STUCK, since),
        handle=f"{NeedKind.STUCK}:{agent or first.id}",
        beside=tuple(task for _, task in rest),
        stands=len(standing),
        since=since,
    )


def _goes_on(repeated: Repeated, now: float) -> bool:
    return now - repeated.times[0] <= HOUR


def _repeated(each: Repeated) -> Need:
    return Need(
        Level.WARNING,
        NeedKind.FAILURES,
        each.newest,
        (Because.REPEATS, -each.times[0]),
        handle=f"{NeedKind.FAILURES}:{each.handle}",
        since=each.times[-1],
        times=len(each.times),
    )


def stuck(
    log: LogFindings, listed: Iterable[Task], outlook: Outlook, now: float
) -> Generator[None, None, list[tuple[float, Task]]]:
    """Tasks that were said yes to and in which nothing moved for longer than usual, with since
    when; `listed` are tasks of any status as they were read a moment ago. Pauses often.
    """
    moved, rest = dict(log.at_work), iter(listed)
    while chunk := list(islice(rest, _CHUNK)):
        for task in chunk:
            if task.state not in (TaskState.APPROVED, TaskState.RUNNING):
                moved.pop(task.id, None)
            elif ats := [m.at for m in (task.updated, task.decided) if m]:
                moved[task.id] = max(*ats, moved.get(task.id, (0.0, task))[0]), task
        yield
    found = []
    for at, task in moved.values():
        agent_id = (task.agent and task.agent.id) or ""
        agent = outlook.store.agents.get(agent_id)
        usual = outlook.usual_run(agent_id) or log.usual_run
        if usual is not None:
            patience = max(STANDS_AT_LEAST, TIMES_USUAL * usual)
        else:
            is_idle = agent is not None and agent.state in (*NOT_AT_WORK, AgentState.IDLE)
            patience = STANDS_IDLE if is_idle else STANDS_BUSY
        if now - at > patience and outlook.store.pending.get(task.id) is None:
            found.append((at, task))
    return found


def _order(need: Need) -> tuple[int, tuple[float, ...], str]:
    return -need.level, need.rank, need.key


def grouped(found: Iterable[Need], apart: Collection[str]) -> list[Need]:
    """Tasks of one title and level as one need, in the place of the worst of them; but for those
    of the ids `apart`, and those that share an id.
    """
    groups: dict[object, list[Need]] = {}
    for need in found:
        task, alike = need.record, None
        if isinstance(task, Task) and not task.shared_id and task.id not in apart:
            alike = need.level, task.title, need.snooze
        groups.setdefault(alike or need.key, []).append(need)
    return [
        replace(group[0], alike=tuple(n.record for n in group if isinstance(n.record, Task)))
        if len(group) > 1
        else group[0]
        for group in groups.values()
    ]


def _task_rank(task: Task, since: float | None) -> tuple[float, ...]:
    """Among the needs of a level: high and urgent ones early, then by how long they wait."""
    rank = priority_rank(task.priority)
    first = (Because.URGENT, rank) if rank <= 1 else (Because.WAIT, 0.0)
    return (*first, inf if since is None else since)


class Queue(msgspec.Struct):
    """What waits for a person: how much of it, and its worst."""

    count: int = 0
    oldest: float | None = None  # seconds since 1970; None if no task says since when it waits
    levels: Counter[Level] = msgspec.field(default_factory=Counter)  # from a warning on
    held: Counter[str | None] = msgspec.field(default_factory=Counter)  # by the agent's id
    of_company: Counter[str | None] = msgspec.field(default_factory=Counter)
    longest: dict[str | None, float] = {}  # since when the oldest of each agent waits
    worst: list[Need] = []


def queue(
    pending: Iterable[Task], now: float, limits: AlertLimits, most: int
) -> Generator[None, None, Queue]:
    """What waits, with the `most` tasks that come first, in the order of `needs`; pauses often."""
    rest, found, kept = iter(pending), Queue(), list[Need]()
    last: tuple[float, ...] | None = None
    while chunk := list(islice(rest, _CHUNK)):
        for task in filter(waits_for_person, chunk):
            found.count += 1
            since = waiting_since(task)
            if since is not None and (found.oldest is None or since < found.oldest):
                found.oldest = since
            if task.company is not None:
                found.of_company[task.company.id] += 1
            if task.agent is not None:
                agent = task.agent.id
                found.held[agent] += 1
                if since is not None and since < found.longest.get(agent, inf):
                    found.longest[agent] = since
            level = task_level(task, now, limits)
            if level >= Level.WARNING:
                found.levels[level] += 1
                rank = _task_rank(task, since)
                # What comes after the last of those kept can't be among the first.
                if last is None or (-level, *rank) <= last:
                    kept.append(Need(level, NeedKind.TASK, task, rank))
        if len(kept) > 2 * most:
            kept = sorted(kept, key=_order)[:most]
            last = (-kept[-1].level, *kept[-1].rank)
        yield
    found.worst = [_among(found, need) for need in sorted(kept, key=_order)[:most]]
    return found


def _among(queue: Queue, need: Need) -> Need:
    """A task's need with what it is among its agent's."""
    task = need.record
    if not isinstance(task, Task) or task.agent is None:
        return need
    agent, since = task.agent.id, waiting_since(task)
    longest = since is not None and since == queue.longest.get(agent)
    return replace(need, held=queue.held[agent], longest=longest)
