"""From what the store is told to what the history remembers.

The event loop passes references on, and nothing more; the history's thread reads the records. What
is not known is not remembered as a figure: a listing that isn't whole has no count, one of another
scope says nothing of who is not in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Final, NamedTuple

from agentco_tui.background import turn_of_thread
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.feeds import BY_COMPANY, Clock, FeedName, Query
from agentco_tui.live.history import (
    AgentSample,
    AlertLife,
    BudgetSample,
    Counted,
    History,
    Observed,
    QueueSample,
    Span,
    TaskLife,
)
from agentco_tui.live.insight import is_open, waiting_since, waits_for_person
from agentco_tui.live.store import Change, Names, Store
from agentco_tui.model import (
    Activity,
    Agent,
    Alert,
    Budget,
    BudgetScope,
    Company,
    Money,
    Record,
    Ref,
    Severity,
    Task,
    TaskState,
)
from agentco_tui.reading.field_names import phrase, word_set
from agentco_tui.reading.values.status_word import task_state
from agentco_tui.text import SafeText, safe

SHORTEST_GAP: Final = 60.0
"""Seconds without an answer that are a gap, or three intervals of polls if those are longer."""
_MOST_PICKED: Final = 5_000  # records that the event loop looks up one by one
_CHUNK: Final = 500  # tasks between two pauses of the thread
_LONGEST_KIND: Final = 60  # cells
_MINUTE: Final = 60
_ENDS: Final = (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED, TaskState.REJECTED)
_DECIDES: Final = (TaskState.APPROVED, TaskState.REJECTED)
_TASK_WORDS: Final = word_set("task issue job todo ticket approval")


class _Answered(NamedTuple):
    """One answer of a feed."""

    feed: FeedName
    scope: str  # the id of the company that was asked about; "" for all
    span: Span  # since the answer before, if that was no gap
    steady: float  # the steady clock's time, and how long after it the next answer may come
    patience: float


class Sampler:
    """Observes a store for a history, for as long as both are there."""

    def __init__(
        self, history: History, store: Store, query: Callable[[], Query], clock: Clock
    ) -> None:
        """`query` tells what the feeds are asked about now. What is there already is taken up."""
        self._history, self._store, self._query, self._clock = history, store, query, clock
        self._names = Names(store)
        self._ids = dict[FeedName, list[str]]()  # of records that came or changed since an answer
        self._left = set[FeedName]()  # feeds of which records went since an answer
        self._answers = dict[FeedName, _Answered]()  # the last of each
        self._known = dict[FeedName, float]()  # when each answered, as its freshness says
        self._queue: tuple[_Answered, Sequence[Task]] | None = None  # still to be counted
        self._lost = 0  # in the thread only, as all below
        self._whole = set[tuple[FeedName, str]]()  # feeds and scopes told whole in this run
        self._counted: tuple[object, ...] = ()  # of what the queue was counted last
        self._companies = set[str]()  # of which there is a count
        for feed in FeedName:
            if store.freshness[feed].answered_at is not None:
                log = [entry.id for entry in store.activity]
                held = log if feed is FeedName.ACTIVITY else store.collections[feed].records
                self._changed(Change(feed, added=(*held,)))
                self._fresh(feed)
        store.subscribe(self._changed)
        store.follow_freshness(self._fresh)

    # In the event loop

    def _changed(self, change: Change) -> None:
        feed, came = change.feed, chain(change.added, change.changed)
        if feed in (FeedName.PENDING, FeedName.TASKS):
            # At once: what a write has read may be gone from the list with the next answer.
            tasks = self._records(feed, [*came])
            self._history.hand(partial(self._lives, feed, tasks, self._clock.now()))
        elif feed is FeedName.ACTIVITY:
            if change.added or change.changed:
                entries, ids = tuple(self._store.activity), {*came}
                self._history.hand(partial(self._entries, entries, ids))
        else:
            self._ids.setdefault(feed, []).extend(came)
            if change.removed:
                self._left.add(feed)

    def _fresh(self, feed: FeedName) -> None:
        fresh = self._store.freshness[feed]
        if fresh.answered_at is None or fresh.answered_at == self._known.get(feed):
            return
        self._known[feed] = fresh.answered_at
        planned = (fresh.next_try_at or fresh.answered_at) - fresh.answered_at
        self._answered(feed, planned)
        if feed is FeedName.BUDGET:
            for part in (FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS):
                # What came with the overview stands in.
                is_unasked = self._store.freshness[part].answered_at is None
                if is_unasked and self._store.collections[part]:
                    self._answered(part, planned)

    def _answered(self, feed: FeedName, planned: float) -> None:
        query, store = self._query(), self._store
        scope = (query.company if feed in BY_COMPANY else None) or ""
        if feed is FeedName.ACTIVITY:
            scope = query.log.company or ""
        now, steady = self._clock.now(), self._clock.monotonic()
        patience, since = max(SHORTEST_GAP, 3 * planned), now
        last = self._answers.get(feed)
        is_same = last is not None and last.scope == scope
        if last is not None and is_same and steady - last.steady <= max(patience, last.patience):
            since = min(now, last.span[1])
        answer = _Answered(feed, scope, (since, now), steady, patience)
        self._answers[feed] = answer
        if feed is FeedName.PENDING:
            listing = store.pending.listing
            if listing.whole:
                self._queue = answer, listing.records
                self._history.hand(self._count_queue)
        elif feed is FeedName.ACTIVITY:
            log = query.log
            if (log.agent, log.from_date, log.to_date) == (None, None, None):
                self._history.hand(partial(self._read_log, answer, tuple(store.activity)))
        elif feed is FeedName.ALERTS:
            told = store.alerts.listing
            self._history.hand(partial(self._alerts, answer, told.records, told.whole))
        elif feed is not FeedName.TASKS:
            new, has_left = self._records(feed, self._ids.pop(feed, [])), feed in self._left
            self._left.discard(feed)
            everything = store.collections[feed].listing.records
            self._history.hand(partial(self._figures, answer, new, everything, has_left))

    def _records(self, feed: FeedName, ids: Sequence[str]) -> Sequence[Any]:
        """The records with these ids as they are now; all of the feed instead of most of them."""
        held = self._store.collections[feed]
        if len(ids) > _MOST_PICKED:
            return held.listing.records
        return [record for key in ids if (record := held.records.get(key)) is not None]

    # In the history's thread

    def _is_first(self, answer: _Answered) -> bool:
        """Whether all of a feed is to be told, and not only what is new."""
        if self._lost != self._history.lost:
            self._lost = self._history.lost
            self._whole.clear()
            self._counted = ()
        key = answer.feed, answer.scope
        is_first = key not in self._whole
        self._whole.add(key)
        return is_first

    def _figures(
        self,
        answer: _Answered,
        new: Sequence[Record],
        everything: Sequence[Record],
        has_left: bool,
    ) -> Iterator[Observed]:
        feed, scope, (_, at) = answer[:3]
        observed = Observed(seen=[(feed, scope, answer.span)])
        is_first = self._is_first(answer)
        for record in everything if is_first else new:
            match record:
                case Company() as company:
                    observed.names.append(("company", company.id, company.name, None))
                case Agent() as agent:
                    observed.names.append(("agent", agent.id, agent.name, _id(agent.company)))
                    told = agent.status, agent.trust, agent.tasks_completed
                    observed.samples.append((feed, agent.id, "", AgentSample(at, *told)))
                case Budget() as budget:
                    self._budget(observed, feed, at, budget)
        if is_first or has_left:
            is_one = feed is FeedName.BUDGET
            here = frozenset("" if is_one else record.id for record in everything)
            observed.present.append((feed, scope, at, here))
        yield observed

    def _budget(self, observed: Observed, feed: FeedName, at: float, budget: Budget) -> None:
        first = budget.spent or budget.limit
        unit = _unit(first)
        spent, limit = (
            sum_.amount if sum_ is not None and _unit(sum_) == unit else None
            for sum_ in (budget.spent, budget.limit)
        )
        subject = "" if budget.scope is BudgetScope.ALL else budget.id
        observed.samples.append((feed, subject, unit, BudgetSample(at, spent, limit)))
        if subject and (budget.name or budget.company):
            company = _id(budget.company)
            observed.names.append((budget.scope.value, subject, budget.name, company))

    def _count_queue(self) -> Iterator[Observed]:
        """Count what waits, of the newest list only; again only where something has changed."""
        job, self._queue = self._queue, None
        if job is None:
            return
        (feed, scope, span, _, _), tasks = answer, _ = job
        observed = Observed(seen=[(feed, scope, span)])
        is_first, store = self._is_first(answer), self._store
        told = scope, tasks, store.agents.version, store.companies.version
        if is_first or any(a is not b for a, b in zip(told, self._counted, strict=True)):
            self._counted = told
            observed.samples = self._queues(scope, tasks, span[1])
        yield observed

    def _queues(self, scope: str, tasks: Sequence[Task], at: float) -> list[Any]:
        waiting, oldest, is_known = Counter[str](), dict[str, float](), True
        for place, task in enumerate(tasks):
            if place % _CHUNK == 0:
                turn_of_thread()
            if not waits_for_person(task):
                continue
            # What names no company may be of the one in scope: there it is listed, too.
            company = (self._names.company_of(task) or Ref()).id or scope
            is_known = is_known and bool(company)
            since = waiting_since(task)
            for each in {company, ""}:
                waiting[each] += 1
                if since is not None:
                    oldest[each] = min(since, oldest.get(each, since))
        if scope:
            companies = {scope}
        else:
            companies = {""}
            # A task may name its agent only, and whose that is may not be known yet.
            if is_known or self._store.freshness[FeedName.AGENTS].answered_at is not None:
                self._companies |= {*tuple(self._store.companies.records), *waiting}
                companies |= self._companies
        return [
            (FeedName.PENDING, each, "", QueueSample(at, waiting[each], oldest.get(each)))
            for each in companies
        ]

    def _alerts(
        self, answer: _Answered, alerts: Sequence[Alert], is_whole: bool
    ) -> Iterator[Observed]:
        feed, scope, span = answer[:3]
        standing = [alert for alert in alerts if is_open(alert)]
        observed = Observed(seen=[(feed, scope, span)])
        for alert in standing:
            about = alert.agent or alert.company
            of = BudgetScope.COMPANY if alert.agent is None else BudgetScope.AGENT
            life = AlertLife(
                id=alert.id,
                scope=BudgetScope.ALL if about is None else of,
                subject=_id(about),
                severity=alert.severity,
                first_seen=span[1] if alert.at is None else min(alert.at.at, span[1]),
            )
            observed.alerts.append(life)
        if is_whole:
            observed.standing = span[1], frozenset(alert.id for alert in standing)
        yield observed

    def _lives(self, feed: FeedName, tasks: Sequence[Task], at: float) -> Iterator[Observed]:
        observed = Observed()
        for task in tasks:
            if not task.shared_id:
                observed.lives.append(self._life(feed, task, at))
            if len(observed) >= _CHUNK:
                yield observed
                observed = Observed()
        yield observed

    def _life(self, feed: FeedName, task: Task, at: float) -> TaskLife:
        waits = feed is FeedName.PENDING and waits_for_person(task)
        state = TaskState.PENDING if waits and task.state in (None, TaskState.OTHER) else task.state
        is_over, is_early = state in _ENDS, state in (TaskState.PENDING, TaskState.QUEUED)
        estimate = task.estimate or (task.cost if is_early else None)
        cost = task.cost if is_over else None
        told = cost or estimate
        return TaskLife(
            id=task.id,
            title=task.title,
            agent=_id(task.agent),
            company=_id(self._names.company_of(task)),
            first_seen=at,
            waiting_since=waiting_since(task) if waits else None,
            decided=None if task.decided is None else task.decided.at,
            decided_by=task.decided_by,
            ended=task.updated.at if is_over and task.updated else None,
            state=state,
            estimate=None if estimate is None else estimate.amount,
            cost=None if cost is None else cost.amount,
            currency=None if told is None else told.currency,
        )

    def _read_log(self, answer: _Answered, entries: Sequence[Activity]) -> Iterator[Observed]:
        """When the log is known without a gap, as far back as it is held."""
        now, start = answer.span[1], None
        observed = Observed()
        last = None
        for entry in entries:
            if is_gap(entry):
                if start is not None and last is not None:
                    observed.seen.append((answer.feed, answer.scope, (start, last)))
                start = None
            elif entry.at is not None:
                last = min(entry.at.at, now)
                start = last if start is None else start
        begun = answer.span[0] if start is None else start
        observed.seen.append((answer.feed, answer.scope, (begun, now)))
        yield observed

    def _entries(self, entries: Sequence[Activity], ids: set[str]) -> Iterator[Observed]:
        """Count the minutes that have changed, whole, and take what is told of tasks."""
        lost = self._history.lost != self._lost
        yield observe_log(entries, None if lost else ids)


def observe_log(entries: Sequence[Activity], ids: set[str] | None = None) -> Observed:
    """What the log tells, of all entries or of those with these ids and whoever shares a minute
    with them. A minute is counted whole: `entries` hold all that is known of it.
    """
    timed = [
        (entry.at.at // _MINUTE * _MINUTE, entry)
        for entry in entries
        if entry.at is not None and not is_gap(entry)
    ]
    observed = Observed()
    minutes = {minute for minute, entry in timed if ids is None or entry.id in ids}
    counts = Counter[tuple[float, str | None, str | None, str, Severity]]()
    for minute, entry in timed:
        if minute not in minutes:
            continue
        kind = safe(phrase(entry.verb or ""), _LONGEST_KIND) if entry.verb else ""
        counts[minute, _id(entry.agent), _id(entry.company), kind, entry.severity] += 1
        if (ids is None or entry.id in ids) and (life := told_life(entry)) is not None:
            observed.lives.append(life)
    for (minute, agent, company, kind, severity), count in counts.items():
        observed.counts.append(Counted(minute, agent, company, kind, severity, count))
    return observed


def told_life(entry: Activity) -> TaskLife | None:
    """What an entry tells of the task that it names; None if nothing."""
    task, state = _id(entry.task), told_state(entry.verb or "")
    if task is None or state is None or entry.task is None or entry.at is None:
        return None
    at, actor = entry.at.at, entry.actor
    is_decision = state in _DECIDES
    return TaskLife(
        id=task,
        title=entry.task.name or SafeText(""),
        agent=_id(entry.agent),
        company=_id(entry.company),
        first_seen=at,
        decided=at if is_decision else None,
        decided_by=(actor.name or safe(actor.id, 80)) if is_decision and actor else None,
        ended=at if state in _ENDS else None,
        state=state,
    )


@lru_cache(maxsize=1024)
def told_state(verb: str) -> TaskState | None:
    """The state that a verb of the log says a task has come to; None if it says none.

    >>> told_state("task.approved"), told_state("task_failed"), told_state("tool.failed")
    (<TaskState.APPROVED: 'approved'>, <TaskState.FAILED: 'failed'>, None)
    """
    words = phrase(verb).split()
    while words and words[0] in _TASK_WORDS:
        del words[0]
    state = task_state("_".join(words)) if words else TaskState.OTHER
    if state is TaskState.FAILED and not words[0].startswith("fail"):
        return None  # "error" and the like are said of what is tried again, too
    return state if state in (*_ENDS, TaskState.APPROVED, TaskState.RUNNING) else None


def _id(ref: Ref | None) -> str | None:
    return None if ref is None else ref.id


def _unit(sum_: Money | None) -> str:
    """The unit of a series of sums: another is another series."""
    return "" if sum_ is None else f"{sum_.currency or ''}{'?' * sum_.unit_assumed}"
