"""From what the store is told to what the history remembers.

The event loop passes references on, and nothing more; the history's thread reads the records. What
is not known is not remembered as a figure: a listing that isn't whole has no count, one of another
scope says nothing of who is not in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from agentco_tui.history.history import History
from agentco_tui.history.observations import (
    AgentSample,
    AlertLife,
    BudgetSample,
    Counted,
    Observed,
    QueueSample,
    QueueSeen,
    Span,
    TaskLife,
)
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.feeds import SCOPED, Clock, FeedName, Query
from agentco_tui.live.insight import is_open, waiting_since, waits_for_person
from agentco_tui.live.log_findings import ENDED, told_state
from agentco_tui.live.names import Names
from agentco_tui.live.store import Change, Store
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
from agentco_tui.reading.field_names import phrase
from agentco_tui.system.background import turn_of_thread
from agentco_tui.text import SafeText, safe

SHORTEST_GAP: Final = 60.0
"""Seconds without an answer that are a gap, or three intervals of polls if those are longer."""
_CHUNK: Final = 500  # records between two pauses of the thread
_LONGEST_KIND: Final = 60  # cells
_MINUTE: Final = 60
_DECIDES: Final = (TaskState.APPROVED, TaskState.REJECTED)


class _Answer(NamedTuple):
    """One answer of a feed."""

    scope: str  # the id of the company that was asked about; "" for all
    span: Span  # since the answer before, if that was no gap
    patience: float  # the steady clock's time until which the next answer leaves no gap


class Sampler:
    """Observes a store for a history, for as long as both are there."""

    def __init__(
        self,
        history: History,
        store: Store,
        query: Callable[[], Query],
        clock: Clock,
        on_queue: Callable[[], None] | None = None,
    ) -> None:
        """`query` tells what the feeds are asked about now. What is there already is taken up.
        `on_queue` is called when the queue has changed, or is there for the first time.
        """
        self._history, self._store, self._query, self._clock = history, store, query, clock
        self._on_queue = on_queue
        self._names = Names(store)
        self._answers = dict[FeedName, _Answer]()  # the last of each
        self._known = dict[FeedName, float]()  # when each answered, as its freshness says
        self._counted: tuple[object, ...] = ()  # of what the queue was counted last
        self._companies = set[str]()  # of which there is a count; in the history's thread only
        self._lost = history.lost
        self._tell_everything()
        store.subscribe(self._changed)
        store.follow_freshness(self._fresh)

    # In the event loop

    def _tell_everything(self) -> None:
        self._known.clear()
        self._counted = ()
        for feed in FeedName:
            if self._store.freshness[feed].answered_at is not None:
                held = self._store.collections.get(feed, self._store.activity)
                self._changed(Change(feed, added=tuple(record.id for record in held)))
                self._fresh(feed)

    def _changed(self, change: Change) -> None:
        """At once: what a write has read may be gone from the list with the next answer."""
        feed, came = change.feed, (*change.added, *change.changed)
        if not came or feed is FeedName.ALERTS:
            return
        if feed is FeedName.ACTIVITY:
            entries, ids = tuple(self._store.activity), {*came}
            self._history.hand(lambda: [observe_log(entries, ids)])
        else:
            records, at = self._store.collections[feed].records, self._clock.now()
            self._history.hand(partial(self._records, feed, records, came, at))

    def _fresh(self, feed: FeedName) -> None:
        freshness = self._store.freshness
        answered, due = freshness[feed].answered_at, freshness[feed].next_try_at
        if answered is None or answered == self._known.get(feed):
            return
        if self._lost != self._history.lost:
            self._lost = self._history.lost
            self._tell_everything()
            return
        self._known[feed] = answered
        planned = (due or answered) - answered
        self._answered(feed, planned)
        if feed is FeedName.BUDGET:
            for part in (FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS):
                # What came with the overview stands in.
                if freshness[part].answered_at is None and self._store.collections[part]:
                    self._answered(part, planned)

    def _answered(self, feed: FeedName, planned: float) -> None:
        query, store = self._query(), self._store
        scope = (query.company if feed in SCOPED else None) or ""
        now, steady = self._clock.now(), self._clock.monotonic()
        since, last = now, self._answers.get(feed)
        if last is not None and last.scope == scope and steady <= last.patience:
            since = min(now, last.span[1])
        patience = steady + max(SHORTEST_GAP, 3 * planned)
        answer = self._answers[feed] = _Answer(scope, (since, now), patience)
        if feed is FeedName.PENDING:
            listing = store.pending.listing
            if listing.whole:
                versions = store.pending.version, store.agents.version, store.companies.version
                is_counted = self._counted == (scope, *versions)
                self._counted = scope, *versions
                tasks = None if is_counted else listing.records
                self._history.hand(partial(self._queues, answer, tasks))
                if tasks is not None and self._on_queue is not None:
                    self._on_queue()
        elif feed is FeedName.ACTIVITY:
            self._history.hand(partial(_log_seen, answer, tuple(store.activity)))
        elif feed is FeedName.ALERTS:
            told = store.alerts.listing
            self._history.hand(partial(_alerts, answer, told.records, told.whole))
        elif feed is not FeedName.TASKS:
            seen = Observed(seen=[(feed, scope, answer.span)])
            self._history.hand(lambda: [seen])

    # In the history's thread

    def _records(
        self, feed: FeedName, records: Mapping[str, Record], ids: Iterable[str], at: float
    ) -> Iterator[Observed]:
        """What those with these ids tell."""
        observed = Observed()
        for record in filter(None, map(records.get, ids)):
            if record.shared_id:
                continue  # its figures are those of several records in turn
            match record:
                case Company():
                    observed.names.append(("company", record.id, record.name, None))
                case Agent():
                    observed.names.append(("agent", record.id, record.name, _id(record.company)))
                    told = AgentSample(at, record.status, record.trust, record.tasks_completed)
                    observed.samples.append((feed, record.id, "", told))
                case Budget():
                    _budget(observed, feed, at, record)
                case Task():
                    observed.lives.append(self._life(feed, record, at))
            if len(observed) >= _CHUNK:
                yield observed
                observed = Observed()
        yield observed

    def _queues(self, answer: _Answer, tasks: Sequence[Task] | None) -> Iterator[Observed]:
        """Count what waits; None: as before."""
        scope, span = answer[:2]
        observed = Observed(seen=[(FeedName.PENDING, scope, span)])
        waiting, oldest, is_known = Counter[str](), dict[str, float](), True
        ids = set[str]()
        for place, task in enumerate(tasks or ()):
            if place % _CHUNK == 0:
                turn_of_thread()
            if not waits_for_person(task):
                continue
            ids.add(task.id)
            # What names no company may be of the one in scope: there it is listed, too.
            company = (self._names.company_of(task) or Ref()).id or scope
            is_known = is_known and bool(company)
            since = waiting_since(task)
            for each in {company, ""}:
                waiting[each] += 1
                if since is not None:
                    oldest[each] = min(since, oldest.get(each, since))
        companies = {scope}
        # A task may name its agent only, and whose that is may not be known yet.
        is_known = is_known or self._store.freshness[FeedName.AGENTS].answered_at is not None
        if is_known and not scope:
            self._companies |= {*tuple(self._store.companies.records), *waiting}
            companies |= self._companies
        for each in companies if tasks is not None else ():
            told = QueueSample(span[1], waiting[each], oldest.get(each))
            observed.samples.append((FeedName.PENDING, each, "", told))
        if tasks is not None:
            observed.queue = QueueSeen(span[1], span[0], scope, frozenset(ids))
        yield observed

    def life_of_record(self, task: Task, at: float) -> TaskLife:
        """What the record of a task tells that was read at a time, wherever it is listed."""
        return self._life(FeedName.TASKS, task, at)

    def _life(self, feed: FeedName, task: Task, at: float) -> TaskLife:
        waits = feed is FeedName.PENDING and waits_for_person(task)
        state = TaskState.PENDING if waits and task.state in (None, TaskState.OTHER) else task.state
        is_over, is_early = state in ENDED, state in (TaskState.PENDING, TaskState.QUEUED)
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
            waits=True if waits else None,
        )


def _budget(observed: Observed, feed: FeedName, at: float, budget: Budget) -> None:
    unit = _unit(budget.spent or budget.limit)
    spent, limit = (
        sum_.amount if sum_ is not None and _unit(sum_) == unit else None
        for sum_ in (budget.spent, budget.limit)
    )
    subject = budget.subject
    observed.samples.append((feed, subject, unit, BudgetSample(at, spent, limit)))
    if subject and (budget.name or budget.company):
        company = _id(budget.company)
        observed.names.append((budget.scope.value, subject, budget.name, company))


def _alerts(answer: _Answer, alerts: Sequence[Alert], is_whole: bool) -> Iterator[Observed]:
    scope, span = answer[:2]
    standing = [alert for alert in alerts if is_open(alert)]
    observed = Observed(seen=[(FeedName.ALERTS, scope, span)])
    for alert in standing:
        about = alert.agent or alert.company
        of = BudgetScope.COMPANY if alert.agent is None else BudgetScope.AGENT
        life = AlertLife(
            id=alert.id,
            scope=BudgetScope.ALL if about is None else of,
            subject=_id(about),
            severity=alert.severity,
            first_seen=span[1] if alert.at is None else min(alert.at.at, span[1]),
            text=alert.text,
            is_dated=alert.at is not None,
        )
        observed.alerts.append(life)
    if is_whole:
        observed.standing = span[1], frozenset(alert.id for alert in standing)
    yield observed


def _log_seen(answer: _Answer, entries: Sequence[Activity]) -> Iterator[Observed]:
    """When the log is known without a gap, as far back as it is held."""
    (since, now), spans = answer.span, [list[float]()]
    for entry in entries:
        if is_gap(entry):
            spans.append([])
        elif entry.at is not None:
            spans[-1].append(min(entry.at.at, now))
    spans[-1] = [*(spans[-1] or [since]), now]
    yield Observed(
        seen=[(FeedName.ACTIVITY, answer.scope, (times[0], times[-1])) for times in spans if times]
    )


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
        agent, kind, severity = kind_of(entry)
        counts[minute, agent, _id(entry.company), kind, severity] += 1
        if (ids is None or entry.id in ids) and (life := told_life(entry)) is not None:
            observed.lives.append(life)
    for (minute, agent, company, kind, severity), count in counts.items():
        observed.counts.append(Counted(minute, agent, company, kind, severity, count))
    return observed


def kind_of(entry: Activity) -> tuple[str | None, str, Severity]:
    """What is counted as one: the agent's id, the verb in words, and how bad it is."""
    verb = safe(phrase(entry.verb), _LONGEST_KIND) if entry.verb else ""
    return _id(entry.agent), verb, entry.severity


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
        ended=at if state in ENDED else None,
        state=state,
    )


def _id(ref: Ref | None) -> str | None:
    return None if ref is None else ref.id


def _unit(sum_: Money | None) -> str:
    """The unit of a series of sums: another is another series."""
    return "" if sum_ is None else f"{sum_.currency or ''}{'?' * sum_.unit_assumed}"
