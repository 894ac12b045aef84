"""Hands changes of the store to the history, on the event loop and in slices.

The history is a database of what was polled from the platform, the remote service that is watched.
The store holds the newest answer of each feed (one list that is polled, such as the alerts) and
publishes what each poll changed. `Sampler` turns that into `Observed`: samples of budgets, AI
agents and of the queue (the tasks that wait for the user), counts of the activity log, lives of
tasks and alerts (when each came and ended), and the spans in which each feed was seen without a
gap. A task departs when it leaves the queue. `listing.whole` says that an answer had all records.

What is not known is not remembered as a figure: a list that isn't whole has no count, and one in
another scope (of another company) says nothing of the records outside it. No poll costs a pass over
all records, except the first one after a pause or in another scope. A `status` is the platform's
word, the `state` what it means to this program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Final, NamedTuple

from agentco_tui.history.history import History
from agentco_tui.history.log_counts import LogCounts, life_from_log
from agentco_tui.history.observations import (
    AgentSample,
    AlertLife,
    BudgetSample,
    Departure,
    Observed,
    QueueSample,
    QueueSeen,
    Span,
    TaskLife,
)
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.feeds import SCOPED, Clock, FeedName, Query
from agentco_tui.live.insight import is_open, waiting_since, waits_for_person
from agentco_tui.live.log_findings import ENDED
from agentco_tui.live.names import Names
from agentco_tui.live.queue_tracker import QueueTracker
from agentco_tui.live.store import Change, Store
from agentco_tui.live.waiting_queue import EVERYTHING
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
    Task,
    TaskState,
)

ALL: Final = ""
"""Stands for all companies where the id of one is expected."""
SHORTEST_GAP: Final = 60.0
"""Seconds without an answer that are a gap, or three intervals of polls if those are longer."""
OLD_ENTRY: Final = 23 * 3_600.0
"""Age in seconds above which minutes of the log may be stored in longer buckets: then all minutes
of the hour are counted again, so that the bucket is complete."""
_HOUR: Final = 3_600  # seconds
_STEP: Final = 50  # records that are prepared in one step


class _Answer(NamedTuple):
    """One answer of a feed."""

    scope: str  # the id of the company that was asked about; "" for all
    span: Span  # since the answer before, if that was no gap
    patience: float  # the steady clock's time until which the next answer leaves no gap

    @property
    def follows_another(self) -> bool:
        """Whether there was an answer in the same scope before it, without a gap."""
        begin, end = self.span
        return begin < end


class Sampler:
    """Observes a store for a history, for as long as both exist."""

    def __init__(
        self,
        history: History,
        store: Store,
        query: Callable[[], Query],
        clock: Clock,
        tracker: QueueTracker,
        *,
        on_departures: Callable[[], None] | None = None,
    ) -> None:
        """Take up what the store has already, and follow its changes.

        `query` returns what the feeds are asked about now. `tracker` counts the tasks that wait, in
        the scope of that query. `on_departures` is called when tasks have left the queue, or may
        have.
        """
        self._history = history
        self._store = store
        self._query = query
        self._clock = clock
        self._tracker = tracker
        self._queue_changes = tracker.collect_changes()  # fills up as the tracker takes in answers
        self._on_departures = on_departures
        self._names = Names(store)
        self._answers = dict[FeedName, _Answer]()  # the last of each
        self._answered_at = dict[FeedName, float]()  # by the freshness of each feed
        self._generation = history.generation  # another one: everything must be written again
        self._forget_everything()
        self._hand_over_everything()
        store.subscribe(self._take_change)
        store.follow_freshness(self._take_freshness)

    def life_of_record(self, task: Task, at: float) -> TaskLife:
        """What the record of a task says that was read at a time, in whichever list."""
        return self._life(FeedName.TASKS, task, at)

    def _forget_everything(self) -> None:
        self._answered_at.clear()
        self._answers.clear()
        self._queue_changes.owners.update(self._tracker.queue.waiting_by_owner)
        self._queue_changes.departed.clear()
        self._uncounted = {ALL}  # companies of which a sample of the queue is due
        self._queue_counts = dict[str, tuple[int, float | None]]()  # the last sample of each
        self._departed_alerts = set[
            str
        ]()  # ids of alerts that are missing since the last whole answer
        self._log = LogCounts()
        self._log_scope: str | None = None  # None: the spans of the log are not written yet
        self._log_gaps = set[str]()  # ids of the marks for gaps
        self._log_seen_until = 0.0

    def _hand_over_everything(self) -> None:
        for feed in FeedName:
            if self._store.freshness[feed].answered_at is not None:
                records = self._store.collections.get(feed, self._store.activity)
                self._take_change(Change(feed, added=tuple(record.id for record in records)))
                self._take_freshness(feed)

    # Changes: at once, because a record may be gone from the list with the next answer

    def _take_change(self, change: Change) -> None:
        feed = change.feed
        at = self._clock.now()
        # The records of now: the steps below may run when the next answer has come.
        records_of_feed = self._store.collections.get(feed, self._store.activity)
        records = [records_of_feed.get(key) for key in (*change.added, *change.changed)]
        if feed is FeedName.ACTIVITY:
            self._history.observe(self._log_change(records, change.removed, at))
            return
        if feed is FeedName.COMPANIES:
            # Each has a count, also if it never had a task.
            self._uncounted.update(change.added)
        if feed is FeedName.ALERTS:
            self._history.observe(self._alerts_change(records, change.removed, at))
        elif records:
            self._history.observe(self._records(feed, records, at))

    def _scope(self, feed: FeedName) -> str:
        """The id of the company that a feed is asked about; "" for all."""
        if feed not in SCOPED:
            return ALL
        return self._query().company or ALL

    def _records(
        self, feed: FeedName, records: Iterable[Record | None], at: float
    ) -> Iterator[Observed]:
        """What records say that were read at a time."""
        observed = Observed()
        for record in records:
            if record is None or record.shared_id:
                continue  # with a shared id, its figures are those of several records in turn
            match record:
                case Company():
                    observed.names.append(("company", record.id, record.name, None))
                case Agent():
                    observed.names.append(("agent", record.id, record.name, _id(record.company)))
                    sample = AgentSample(at, record.status, record.trust, record.tasks_completed)
                    observed.samples.append((feed, record.id, "", sample))
                case Budget():
                    _add_budget(observed, feed, at, record)
                case Task():
                    observed.lives.append(self._life(feed, record, at))
            if len(observed) >= _STEP:
                yield observed
                observed = Observed()
        yield observed

    def _alerts_change(
        self, records: Iterable[Record | None], removed: Iterable[str], at: float
    ) -> Iterator[Observed]:
        observed = Observed()
        for alert in records:
            if not isinstance(alert, Alert):
                continue
            if is_open(alert):
                self._departed_alerts.discard(alert.id)
                observed.alerts.append(_alert_life(alert, at))
            else:
                self._departed_alerts.add(alert.id)
            if len(observed) >= _STEP:
                yield observed
                observed = Observed()
        self._departed_alerts.update(removed)
        yield observed

    def _log_change(
        self, entries: Iterable[Record | None], removed: Iterable[str], now: float
    ) -> Iterator[Observed]:
        """Count the entries of each minute for which some came or left the window."""
        for key in removed:
            self._log.remove(key)
            if key in self._log_gaps:
                self._log_gaps.discard(key)
                self._log_scope = None
        minutes = dict[int, None]()
        observed = Observed()
        for number, entry in enumerate(entries, start=1):
            if not isinstance(entry, Activity):
                continue
            if is_gap(entry):
                self._log_gaps.add(entry.id)
                self._log_scope = None
                continue
            minute = self._log.add(entry)
            if minute is not None:
                minutes[minute] = None
            life = life_from_log(entry)
            if life is not None:
                observed.lives.append(life)
            if number % _STEP == 0:
                yield observed
                observed = Observed()
        yield observed
        yield from self._counts_of(minutes, now)

    def _counts_of(self, minutes: Iterable[int], now: float) -> Iterator[Observed]:
        """The counts of these minutes, an hour at a time.

        Old minutes are stored in longer buckets, for which all minutes of the hour are needed.
        """
        minutes_of_hour = dict[int, set[int]]()
        for minute in minutes:
            hour = minute // _HOUR
            is_old = now - minute > OLD_ENTRY
            if not is_old:
                minutes_of_hour.setdefault(hour, set()).add(minute)
            elif hour not in minutes_of_hour:
                minutes_of_hour[hour] = {*self._log.minutes_of_hour(minute)}
        for counted in minutes_of_hour.values():
            yield Observed(counts=self._log.counted(sorted(counted)))

    # Answers: when a feed was seen, and what is missing in its list

    def _take_freshness(self, feed: FeedName) -> None:
        freshness = self._store.freshness
        answered_at = freshness[feed].answered_at
        if answered_at is None or answered_at == self._answered_at.get(feed):
            return
        if self._generation != self._history.generation:
            self._generation = self._history.generation
            self._forget_everything()
            self._hand_over_everything()
            return
        self._answered_at[feed] = answered_at
        interval = (freshness[feed].next_try_at or answered_at) - answered_at
        self._take_answer(feed, interval)
        if feed is FeedName.BUDGET:
            for part in (FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS):
                # The parts of the overview stand in for lists that did not answer.
                if freshness[part].answered_at is None and self._store.collections[part]:
                    self._take_answer(part, interval)

    def _take_answer(self, feed: FeedName, interval: float) -> None:
        """Note an answer; `interval` is the planned time in seconds until the next one."""
        scope = self._scope(feed)
        now = self._clock.now()
        steady = self._clock.monotonic()
        since = now
        last = self._answers.get(feed)
        if last is not None and last.scope == scope and steady <= last.patience:
            since = min(now, last.span[1])
        patience = steady + max(SHORTEST_GAP, 3 * interval)
        answer = _Answer(scope, (since, now), patience)
        self._answers[feed] = answer
        if feed is FeedName.PENDING:
            if self._store.pending.listing.whole:
                is_known = self._store.freshness[FeedName.AGENTS].answered_at is not None
                position = self._tracker.position()
                steps = self._queue_answer(answer, position, is_owner_known=is_known)
                self._history.observe(steps)
        elif feed is FeedName.ACTIVITY:
            self._history.observe(self._log_answer(answer))
        elif feed is FeedName.ALERTS:
            is_whole = self._store.alerts.listing.whole
            open_now: frozenset[str] | None = None
            if is_whole and not answer.follows_another:
                open_now = frozenset(alert.id for alert in self._store.alerts if is_open(alert))
            self._history.observe(self._alerts_answer(answer, open_now, is_whole=is_whole))
        elif feed is not FeedName.TASKS:
            self._history.hand(Observed(seen=[(feed, scope, answer.span)]))

    def _queue_answer(
        self, answer: _Answer, position: int, *, is_owner_known: bool
    ) -> Iterator[Observed]:
        """The counts of the queue that changed, and the tasks that left it.

        `position` is that of the tracker when the answer came: what later answers changed is not
        counted yet. `is_owner_known` says whether the agents are known, by which tasks belong to
        companies.
        """
        for _ in self._tracker.take_in_steps(position):
            yield Observed()
        scope = answer.scope
        after, at = answer.span
        observed = Observed(seen=[(FeedName.PENDING, scope, answer.span)])
        queue = self._tracker.queue
        if (queue.scope or ALL) != scope:
            # Another company has come into scope since the answer: the counts are not of it.
            yield observed
            return
        if answer.follows_another and self._tracker.is_beyond(position):
            # The counts are those of a later answer, which gives them their time.
            yield observed
            return
        for company in self._companies_due(scope, is_owner_known=is_owner_known):
            sample = self._queue_sample(company, at)
            counts = (sample.waiting, sample.oldest_since)
            if self._queue_counts.get(company) != counts:
                self._queue_counts[company] = counts
                observed.samples.append((FeedName.PENDING, company, "", sample))
        departed = self._queue_changes.departed
        if answer.follows_another:
            observed.departures = [Departure(task, at, after) for task in departed]
        else:
            observed.queue = QueueSeen(at, scope, queue.ids())
        departed.clear()
        yield observed
        may_have_departed = observed.departures or observed.queue is not None
        if self._on_departures is not None and may_have_departed:
            self._on_departures()

    def _companies_due(self, scope: str, *, is_owner_known: bool) -> set[str]:
        """The companies of which a sample of the queue is due, `ALL` among them.

        They are those whose tasks have changed since their last sample. No company has a count
        before it is known whose the tasks are, except the one in scope: a task that names none is
        taken to be of that one, because its list has it.
        """
        owners = self._queue_changes.owners
        for owner in owners:
            owner_scope, company = owner
            if owner == EVERYTHING:
                self._uncounted |= {scope, ALL}
            elif owner_scope is BudgetScope.COMPANY and company:
                self._uncounted.add(company)
        owners.clear()
        due = {scope} & self._uncounted
        if not scope:
            without_company = self._tracker.queue.waiting_by_owner[BudgetScope.COMPANY, ""]
            if is_owner_known or not without_company:
                due |= self._uncounted
        self._uncounted -= due
        return due

    def _queue_sample(self, company: str, at: float) -> QueueSample:
        """How many tasks of a company wait at a time, or of all companies, and since when."""
        queue = self._tracker.queue
        if company == (queue.scope or ALL):
            return QueueSample(at, queue.waiting_by_owner[EVERYTHING], queue.oldest_now())
        owner = (BudgetScope.COMPANY, company)
        return QueueSample(at, queue.waiting_by_owner[owner], queue.oldest_of(owner))

    def _alerts_answer(
        self, answer: _Answer, open_now: frozenset[str] | None, *, is_whole: bool
    ) -> Iterator[Observed]:
        """Which alerts have ended: those that left the list, or all but those that are open.

        `open_now` are all open ones, unless the answer follows another.
        """
        scope, (_, at), _ = answer
        observed = Observed(seen=[(FeedName.ALERTS, scope, answer.span)])
        if is_whole:
            if open_now is None:
                observed.ended_alerts = [(alert, at) for alert in self._departed_alerts]
            else:
                observed.open_alerts = (at, open_now)
            self._departed_alerts.clear()
        yield observed

    def _log_answer(self, answer: _Answer) -> Iterator[Observed]:
        """When the log is known without a gap: as far back as the window goes, then since the last
        answer.
        """
        scope, (since, now), _ = answer
        if self._log_scope == scope:
            spans = [(min(self._log_seen_until, now), now)]
        else:
            self._log_scope = scope
            spans = _spans_of_log(self._store.activity, since, now)
        self._log_seen_until = now
        yield Observed(seen=[(FeedName.ACTIVITY, scope, span) for span in spans])

    def _life(self, feed: FeedName, task: Task, at: float) -> TaskLife:
        waits = feed is FeedName.PENDING and waits_for_person(task)
        state = task.state
        if waits and state in (None, TaskState.OTHER):
            state = TaskState.PENDING
        is_over = state in ENDED
        estimate = task.estimate
        if estimate is None and state in (TaskState.PENDING, TaskState.QUEUED):
            estimate = task.cost
        cost = task.cost if is_over else None
        with_currency = cost or estimate
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
            currency=None if with_currency is None else with_currency.currency,
            waits=True if waits else None,
        )


def _add_budget(observed: Observed, feed: FeedName, at: float, budget: Budget) -> None:
    unit = _unit(budget.spent or budget.limit)
    spent = _amount_in(unit, budget.spent)
    limit = _amount_in(unit, budget.limit)
    subject = budget.subject
    observed.samples.append((feed, subject, unit, BudgetSample(at, spent, limit)))
    if subject and (budget.name or budget.company):
        company = _id(budget.company)
        observed.names.append((budget.scope.value, subject, budget.name, company))


def _alert_life(alert: Alert, at: float) -> AlertLife:
    """What is known of an alert that is open at a time."""
    owner = alert.agent or alert.company
    scope = BudgetScope.ALL
    if alert.agent is not None:
        scope = BudgetScope.AGENT
    elif alert.company is not None:
        scope = BudgetScope.COMPANY
    return AlertLife(
        id=alert.id,
        scope=scope,
        subject=_id(owner),
        severity=alert.severity,
        first_seen=at if alert.at is None else min(alert.at.at, at),
        text=alert.text,
        is_dated=alert.at is not None,
    )


def _spans_of_log(entries: Iterable[Activity], since: float, now: float) -> list[Span]:
    """The times between marks for gaps; without any entry, that of the last answer."""
    spans = [list[float]()]
    for entry in entries:
        if is_gap(entry):
            spans.append([])
        elif entry.at is not None:
            spans[-1].append(min(entry.at.at, now))
    spans[-1] = [*(spans[-1] or [since]), now]
    return [(times[0], times[-1]) for times in spans if times]


def _id(ref: Ref | None) -> str | None:
    return None if ref is None else ref.id


def _amount_in(unit: str, amount: Money | None) -> Decimal | None:
    """A sum, if it is in that unit."""
    return amount.amount if amount is not None and _unit(amount) == unit else None


def _unit(amount: Money | None) -> str:
    """The unit of a sum, with a question mark where it is assumed."""
    if amount is None:
        return ""
    return f"{amount.currency or ''}{'?' if amount.unit_assumed else ''}"
