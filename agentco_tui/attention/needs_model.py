"""Keeps the list of everything that requires the user up to date, the worst first.

A `Need` is one item of the "needs you" list. Needs are about single tasks that wait for approval,
which follow from the `QueueTracker`'s queue, or about a topic: an AI agent, a company, the whole
(all companies together), or a repeated failure in the activity log. A task is stuck if it was
approved and nothing happens to it. The company in scope is the only one whose records are shown.
The store is the snapshot of the platform, the remote service; a feed is one list of it that is
polled. Needs of the same cause are one, where the platform says which cause a record reports.
`ForecastService` has the forecasts and alarms for budgets and the findings from the log;
`Snoozes` are the needs that the user has put off. The dashboard, `status`, `--plain`, `watch` and
`metrics` all use this model, so they agree.

Changes of the store, of forecasts and of alarms are noted as they come; `refresh` computes again
only what they concern, and what the clock alone makes due. No refresh looks at all tasks, agents or
budgets.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from math import inf, nextafter
from operator import itemgetter, length_hint
from typing import Final, TypeVar

from msgspec.structs import replace

from agentco_tui.attention.needs import (
    Need,
    NeedKind,
    RankedNeed,
    RankKey,
    RankReason,
    group_alike_tasks,
    join_needs,
    rank_key,
)
from agentco_tui.attention.snooze import Snoozes
from agentco_tui.attention.subject_needs import (
    StuckTask,
    Subject,
    is_idle,
    is_spent,
    money_ahead,
    need_of_failures,
    need_of_stuck_tasks,
    need_of_subject,
    stuck_after,
)
from agentco_tui.attention.task_needs import TaskNeeds, need_of_task
from agentco_tui.config import AlertLimits
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.live.agent_counts import AgentCounts
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import (
    Level,
    alert_level,
    is_failing,
    task_level,
    task_level_changes_at,
    waiting_since,
)
from agentco_tui.live.log_findings import AT_WORK, LogFindings, Repeated
from agentco_tui.live.names import of_company
from agentco_tui.live.ordered_collections import DueTimes, SortedKeys
from agentco_tui.live.queue_tracker import QueueTracker
from agentco_tui.live.spend_rate import FastSpend
from agentco_tui.live.status_counts import StatusCounts
from agentco_tui.live.store import Change
from agentco_tui.live.waiting_queue import agent_id_of
from agentco_tui.model import Agent, Alert, Budget, BudgetScope, Task
from agentco_tui.model.period import HOUR
from agentco_tui.system.background import at_once, in_slices

R = TypeVar("R", Task, Agent, Budget, Alert)

FEEDS: Final = tuple(feed for feed in FeedName if feed not in (FeedName.TASKS, FeedName.ACTIVITY))
"""The feeds that needs come from. A need that is not found any more is known to be over only if all
of these are live."""
MOST_SHOWN: Final = 500  # needs in the list; the queue counts all
MOST_CRITICAL: Final = 5_000  # critical tasks of which the user can be notified
_CHUNK: Final = 50  # records or subjects between two pauses

Topic = tuple[str, str]
"""The unit of recomputation: a subject by scope and id, a repeated failure, or a cause.

A failure has a handle, a text that identifies it (`live.log_findings`)."""
_WHOLE: Final[Topic] = (BudgetScope.ALL, "")
_CAUSE: Final = "cause"
_MONEY: Final = (NeedKind.BUDGET, NeedKind.ALERT)
_SCOPE_OF_FEED: Final = {
    FeedName.COMPANY_BUDGETS: BudgetScope.COMPANY,
    FeedName.AGENT_BUDGETS: BudgetScope.AGENT,
}


def _no_decisions() -> Sequence[Task]:
    return ()


class NeedsModel:
    """The needs of the company in scope, or of all, as of the last `refresh`."""

    def __init__(
        self,
        forecasts: ForecastService,
        snoozes: Snoozes,
        scope: Callable[[], str | None],
        decided_tasks: Callable[[], Sequence[Task]] = _no_decisions,
    ) -> None:
        """`scope` returns the id of the company in scope, or None for all.

        `decided_tasks` returns the tasks of decisions that are not known to be done: their needs
        come first.
        """
        self.tracker = QueueTracker(forecasts.store, scope)  # the history takes its counts from it
        self.queue = self.tracker.queue
        self.agents = AgentCounts()
        self.statuses = StatusCounts(forecasts.store)
        self.levels = Counter[Level]()  # of severity: OK, WARNING, CRITICAL
        """How many needs there are of each level: each of several alike tasks, none snoozed."""
        self.money_levels = Counter[Level]()  # of needs that are about budgets
        self.shown: list[Need] = []
        """The list as the user sees it: the worst first, tasks that are alike as one need, and
        snoozed needs at the end."""
        self.listed = 0
        """How many needs `shown` stands for, without those snoozed."""
        self.snoozed: list[Need] = []
        self.next_snooze_end: float | None = None
        """When the first of all snoozes ends, by the platform's clock; None if none does."""
        self.quiet_since: float | None = None
        """Since when nothing requires the user, as far as is known; None while something does."""
        self.snoozes = snoozes

        self._forecasts = forecasts
        self._store = forecasts.store
        self._scope_now = scope
        self._decided_tasks = decided_tasks
        # The inputs of the needs below: if one of them differs, everything is computed again.
        self._scope: str | None = None
        self._limits: AlertLimits | None = None
        self._now = -inf
        self._is_ours = of_company(self._store, None)
        self._has_agents = False
        # Changes are counted here; another object than `agents` while all is computed again.
        self._next_agents = self.agents
        self._queue_changes = self.tracker.collect_changes()
        # What is still to be taken in.
        self._changes: deque[tuple[FeedName, Iterator[str]]] = deque()
        self._stale: dict[Topic, None] = {}
        self._due = DueTimes[Topic]()
        # What was taken in.
        self._alerts = _AlertTopics()
        self._alarms: dict[Topic, FastSpend] = {}
        self._log = _LogTopics()
        # The needs, except those that are single tasks: these follow from the queue.
        self._by_topic = _NeedsByTopic()
        # What the last refresh showed.
        self._task_needs = TaskNeeds()
        self._critical_task_needs = TaskNeeds()
        self._critical_tasks: Sequence[Need] = ()
        self._critical_known_for: tuple[object, ...] = ()
        self._snoozed_by_key: dict[str, RankedNeed] = {}
        self._met_snoozes: set[str] = set()  # keys of snoozed needs that were found in this run
        self._grouped_from: list[Need] = []
        self._decided_ids: list[str] = []
        self._quiet_scope: str | None = None

        self._store.subscribe(self._note_change)
        forecasts.subscribe(self._note_forecast)

    # Noting what changed: called while others work, so it does as little as possible

    def _note_change(self, change: Change) -> None:
        for ids in (change.added, change.changed, change.removed):
            if ids and change.feed is not FeedName.ACTIVITY:
                self._changes.append((change.feed, iter(ids)))

    def _note_forecast(self, topic: Topic) -> None:
        self._stale[topic] = None

    # Refreshing

    async def refresh(self) -> None:
        """Bring the needs up to date, in slices between which keys are handled."""
        await in_slices(self.refresh_steps())

    def is_much_to_do(self, most: int) -> bool:
        """Whether a refresh would take in more than so many records or log entries."""
        activity = self._store.activity
        # `log_of` is the answer after which the findings from the log were computed.
        work = 0 if self._forecasts.log_of is activity.listing else len(activity)
        if self._is_outdated():
            work += sum(len(self._store.collections[feed]) for feed in FEEDS)
        work += len(self._stale)
        for _, ids in self._changes:
            work += length_hint(ids)
        return work > most

    def has_other_decisions(self) -> bool:
        """Whether other decisions are open than at the last refresh."""
        return self._decided_ids != [task.id for task in self._decided_tasks()]

    def refresh_steps(self) -> Generator[None, None, None]:
        """Bring the needs up to date; pauses often. Two of these may run at the same time."""
        # Update the findings from the log, and the alarms for budgets that are spent fast.
        yield from self._forecasts.read_log()
        yield from self._forecasts.rates.take_in()
        while True:
            if self._is_outdated():
                self._start_over()
            self._take_log()
            self._take_alarms()
            yield from self._take_changes()
            now = self._forecasts.clock.now()
            self._stale |= dict.fromkeys(self._due.pop_due(now))
            yield from self._compute_stale(now)
            if not (self._changes or self._stale or self._is_outdated()):
                break
        self._publish(now)

    def _is_outdated(self) -> bool:
        """Whether everything has to be computed again, not only what changed."""
        is_time_back = self._forecasts.clock.now() < self._now  # as a replay may go
        is_other = self._scope_now() != self._scope or self._limits is not self._forecasts.limits
        return is_other or is_time_back

    def _start_over(self) -> None:
        """Forget everything, and take in all records of the store as if they were new."""
        self._scope = self._scope_now()
        self._limits = self._forecasts.limits
        self._now = self._forecasts.clock.now()
        self._is_ours = of_company(self._store, self._scope)
        self._has_agents = len(self._store.agents) > 0
        self._changes.clear()
        self._stale.clear()
        self._due.clear()
        self._next_agents = AgentCounts()
        self._alerts = _AlertTopics()
        self._log = _LogTopics()
        self._by_topic = _NeedsByTopic()
        queue = self.tracker.queue
        if queue.scope == self._scope:
            self._queue_changes.owners.update(queue.waiting_by_owner)
        queue.changed_causes.update(queue.ids_by_cause)
        for feed in (FeedName.AGENTS, *(each for each in FEEDS if each is not FeedName.AGENTS)):
            self._changes.append((feed, iter(tuple(self._store.collections[feed].records))))

    # Taking in changes

    def _take_changes(self) -> Generator[None, None, None]:
        taken = 0
        while self._changes:
            feed, ids = self._changes[0]
            record_id = next(ids, None)
            if record_id is None:
                # Another refresh may have taken the last id, and this change from the queue.
                if self._changes and self._changes[0][1] is ids:
                    self._changes.popleft()
                continue
            self._take_record(feed, record_id)
            taken += 1
            if taken % _CHUNK == 0:
                yield
        has_agents = len(self._store.agents) > 0
        if has_agents != self._has_agents:
            # Until agents are known, an alert about any of them may be ours.
            self._has_agents = has_agents
            self._stale |= dict.fromkeys(self._alerts.ids_by_topic)
        yield from self.tracker.take_in_steps()
        owners = self._queue_changes.owners
        while owners:
            scope, owner_id = owners.pop()
            self._take_waiting_count(scope, owner_id)
            if scope is BudgetScope.AGENT:
                self._task_needs.note_agent(owner_id)
                self._critical_task_needs.note_agent(owner_id)
            if len(owners) % _CHUNK == 0:
                yield
        self._mark_causes_stale()

    def _take_waiting_count(self, scope: BudgetScope, owner_id: str) -> None:
        """Take in that another number of tasks waits with an owner.

        The need about an owner shows that number. Whether there is one does not depend on it,
        except for an agent that does not work: it is one as soon as a task waits for it.
        """
        topic = scope, owner_id
        if scope is BudgetScope.AGENT:
            # What is said of a task has that number, too.
            self._stale |= {(_CAUSE, cause): None for cause in self._by_topic.causes_of(owner_id)}
        subject = self._by_topic.subjects.get(topic)
        waiting = self.tracker.queue.waiting_by_owner[scope, owner_id]
        if subject is None or not waiting:
            agent = self._store.agents.get(owner_id) if scope is BudgetScope.AGENT else None
            if agent is not None and is_idle(agent):
                self._stale[topic] = None
                return
        if subject is None:
            return
        need = need_of_subject(subject, waiting)
        others = [each for each in self._by_topic.needs_of(topic) if each.own_key != need.own_key]
        self._by_topic.replace(topic, [need, *others])

    def _mark_causes_stale(self) -> None:
        for causes in (self.tracker.queue.changed_causes, self._by_topic.changed_causes):
            while causes:
                self._stale[_CAUSE, causes.pop()] = None

    def _take_record(self, feed: FeedName, record_id: str) -> None:
        """Take in what the store has under this id now, which may be nothing."""
        match feed:
            case FeedName.PENDING | FeedName.TASKS:
                self._mark_stuck_stale(record_id)
            case FeedName.AGENTS:
                self._take_agent(record_id)
            case FeedName.ALERTS:
                alert = self._store.alerts.get(record_id)
                self._stale |= dict.fromkeys(self._alerts.update(record_id, alert))
            case FeedName.BUDGET:
                self._stale[_WHOLE] = None
            case FeedName.COMPANY_BUDGETS | FeedName.AGENT_BUDGETS:
                self._stale[_SCOPE_OF_FEED[feed], record_id] = None

    def _mark_stuck_stale(self, task_id: str) -> None:
        agent_id = self._log.agent_by_task.get(task_id)
        if agent_id is not None:
            self._stale[BudgetScope.AGENT, agent_id] = None

    def _take_agent(self, agent_id: str) -> None:
        agent = self._store.agents.get(agent_id)
        company_before = self._next_agents.company_of(agent_id)
        self._next_agents.update(agent_id, agent)
        self._stale[BudgetScope.AGENT, agent_id] = None
        company_id = self._next_agents.company_of(agent_id)
        if company_id == company_before:
            return
        if self._scope is not None:
            self._stale |= dict.fromkeys((NeedKind.FAILURES, each) for each in self._log.failures)

    def _take_log(self) -> None:
        if self._log.findings is not self._forecasts.log:
            self._stale |= dict.fromkeys(self._log.take(self._forecasts.log))

    def _take_alarms(self) -> None:
        alarms: dict[Topic, FastSpend] = {}
        alarms.update(self._forecasts.rates.alarms.items())
        for topic in self._alarms.keys() | alarms.keys():
            if self._alarms.get(topic) != alarms.get(topic):
                self._stale[topic] = None
        self._alarms = alarms

    # Computing what is stale

    def _compute_stale(self, now: float) -> Generator[None, None, None]:
        computed = 0
        while self._stale:
            topic = next(iter(self._stale))
            del self._stale[topic]
            self._compute_topic(topic, now)
            computed += 1
            if computed % _CHUNK == 0:
                yield

    def _compute_topic(self, topic: Topic, now: float) -> None:
        """Replace the needs of a topic, and schedule when time alone will change them."""
        scope, topic_id = topic
        if scope == _CAUSE:
            changes_at = self._join_cause(topic_id, now)
        elif scope == NeedKind.FAILURES:
            needs, changes_at = self._failure_needs(topic_id, now)
            self._by_topic.replace(topic, needs)
        else:
            needs, changes_at = self._subject_needs(BudgetScope(scope), topic_id, now)
            self._by_topic.replace(topic, needs)
        if self._by_topic.changed_causes:
            self._mark_causes_stale()
        if changes_at <= now:
            changes_at = nextafter(now, inf)
        self._due.schedule(topic, changes_at)

    def _join_cause(self, cause: str, now: float) -> float:
        """Show the needs of a cause as one; returns when time alone changes that.

        A task that has its cause for itself stays in the queue, which ranks it with all others.
        """
        queue = self.tracker.queue
        limits = self._forecasts.limits
        ranked = self._by_topic.needs_of_cause(cause)
        task_ids = queue.ids_by_cause.get(cause, ())
        is_shared = len(ranked) + len(task_ids) > 1
        queue.set_aside(cause, is_aside=is_shared)
        changes_at = inf
        agent_ids: set[str] = set()
        for task_id in task_ids if is_shared else ():
            task = queue.counted_task(task_id)
            if task is None:
                continue
            rank, need = need_of_task(queue, task_level(task, now, limits), task)
            changes_at = min(changes_at, task_level_changes_at(task, now, limits))
            if agent_id_of(task):
                agent_ids.add(agent_id_of(task))
            else:
                # Those of no agent are nobody's queue, and too many to follow how many they are.
                need = replace(need, count=0, waits_longest=False)
            ranked.append((rank, need))
        self._by_topic.show_cause(cause, join_needs(ranked), agent_ids)
        return changes_at

    def _failure_needs(self, handle: str, now: float) -> tuple[list[Need], float]:
        repeated = self._log.failures.get(handle)
        if repeated is None or not self._is_ours(repeated.newest):
            return [], inf
        newest = repeated.times[0]
        if now - newest > HOUR:
            return [], inf
        return [need_of_failures(repeated)], nextafter(newest + HOUR, inf)

    def _subject_needs(
        self, scope: BudgetScope, subject_id: str, now: float
    ) -> tuple[list[Need], float]:
        """What is wrong with an agent, a company or the whole, and its stuck tasks.

        An agent that works, and whose money is not spent, is not why its tasks are stuck: then
        these are a need of their own.
        """
        topic = scope, subject_id
        subject = Subject(scope, subject_id, alerts=[])
        changes_at = self._judge_budget(subject, now)
        for alert_id in self._alerts.ids_by_topic.get(topic, ()):
            alert = self._store.alerts.get(alert_id)
            if alert is None or not self._is_ours(alert):
                continue
            level = alert_level(alert, self._forecasts.limits)
            if level >= Level.WARNING:
                subject.level = max(subject.level, level)
                subject.alerts.append(alert)
        is_need = subject.budget is not None or bool(subject.alerts)
        waiting = self.tracker.queue.waiting_by_owner[scope, subject_id]
        stuck: list[StuckTask] = []
        if scope is BudgetScope.AGENT:
            stuck, stuck_changes_at = self._stuck_tasks(subject_id, now)
            changes_at = min(changes_at, stuck_changes_at)
            agent = self._store.agents.get(subject_id)
            if agent is not None and self._is_ours(agent):
                runaway = self._forecasts.of_agent(subject_id).runaway or None
                blocks = is_idle(agent) and bool(waiting or stuck)
                if is_need or runaway is not None or is_failing(agent) or blocks:
                    is_need = True
                    subject.agent = agent
                    subject.runaway = runaway
                    if is_idle(agent) or is_spent(subject.budget):
                        subject.stuck = stuck
                        stuck = []
        needs: list[Need] = []
        self._by_topic.subjects.pop(topic, None)
        if is_need:
            self._by_topic.subjects[topic] = subject
            needs.append(need_of_subject(subject, waiting))
        if stuck:
            needs.append(need_of_stuck_tasks(subject_id, stuck))
        return needs, changes_at

    def _judge_budget(self, subject: Subject, now: float) -> float:
        """Note a subject's budget if it needs the user; returns when time alone changes that."""
        changes_at = inf
        collection = self._store.budgets[subject.scope]
        if subject.scope is BudgetScope.ALL:
            budgets = list(collection)
        else:
            budget = collection.get(subject.id)
            budgets = [] if budget is None else [budget]
        for budget in budgets:
            if not self._is_ours(budget):
                continue
            ahead = money_ahead(budget, self._forecasts, now)
            changes_at = min(changes_at, ahead.changes_at)
            if ahead.level >= Level.WARNING:
                subject.level = ahead.level
                subject.budget = budget
                subject.gone_at = ahead.gone_at
                subject.fast_spend = self._forecasts.fast_spend(budget)
        return changes_at

    def _stuck_tasks(self, agent_id: str, now: float) -> tuple[list[StuckTask], float]:
        """The approved tasks of an agent in which nothing moves, and when the next becomes one."""
        stuck: list[StuckTask] = []
        changes_at = inf
        at_work = self._log.at_work_by_agent.get(agent_id)
        if not at_work:
            return stuck, changes_at
        usual_run = self._forecasts.of_agent(agent_id).usual_run or self._forecasts.log.usual_run
        allowed = stuck_after(self._store.agents.get(agent_id), usual_run)
        for since, task in at_work.values():
            listed = self._store.tasks.get(task.id) or task
            is_pending = self._store.pending.get(task.id) is not None
            # `AT_WORK`: approved, queued or running.
            if listed.state not in AT_WORK or is_pending or not self._is_ours(task):
                continue
            if now - since > allowed:
                stuck.append(StuckTask(since, task))
            else:
                changes_at = min(changes_at, nextafter(since + allowed, inf))
        return stuck, changes_at

    # What the refresh shows

    def _publish(self, now: float) -> None:
        self._now = now
        self.agents = self._next_agents
        self.queue = self.tracker.queue
        self.queue.settle_counts()  # its counts show all changes up to now
        self._find_snoozed(now)
        self._count_levels(now)
        at_once(self._update_task_needs(self._task_needs, MOST_SHOWN))
        self._update_list(now)

    def _find_snoozed(self, now: float) -> None:
        """Find the needs that are put off: only snoozes are looked at, and there are few."""
        found: dict[str, RankedNeed] = {}
        for key, snooze in self.snoozes.all.items():
            ranked_need = self._need_by_key(key, now)
            if ranked_need is not None and snooze.holds(ranked_need[1].level, now):
                rank, need = ranked_need
                found[key] = rank, replace(need, snooze=snooze)
        self._snoozed_by_key = found
        self.snoozed = [need for _, need in sorted(found.values(), key=itemgetter(0))]

    def _count_levels(self, now: float) -> None:
        self.levels = Counter()
        self.money_levels = Counter()
        for (level, kind), count in self.counts(now).items():
            self.levels[level] += count
            if kind in _MONEY:
                self.money_levels[level] += count
        for need in self.snoozed:
            self.levels[need.level] -= 1
            if need.kind in _MONEY:
                self.money_levels[need.level] -= 1

    def counts(self, now: float) -> Counter[tuple[Level, NeedKind]]:
        """How many needs there are of each level and kind, those that are snoozed included."""
        counts = self._by_topic.counts.copy()
        for level, count in self.queue.count_levels(now, self._forecasts.limits).items():
            counts[level, NeedKind.TASK] += count
        return counts

    def _need_by_key(self, key: str, now: float) -> RankedNeed | None:
        """The need with this key, whether it is put off or not; None if none is listed itself."""
        known = self._by_topic.needs.get(key)
        if known is not None:
            return known
        kind, _, task_id = key.partition(":")
        queue = self.tracker.queue
        task = queue.counted_task(task_id) if kind == NeedKind.TASK else None
        if task is None or queue.is_aside(task):
            return None
        level = task_level(task, now, self._forecasts.limits)
        if level < Level.WARNING:
            return None
        return need_of_task(queue, level, task)

    def _update_task_needs(self, task_needs: TaskNeeds, most: int) -> Generator[None, None, None]:
        prefix = f"{NeedKind.TASK}:"
        snoozed_ids = {key.removeprefix(prefix) for key in self._snoozed_by_key}
        limits = self._forecasts.limits
        yield from task_needs.update_steps(self.queue, most, self._now, limits, snoozed_ids)

    def _update_list(self, now: float) -> None:
        """Make the list that the user sees, and say since when it is empty, if it is."""
        snoozed = self._snoozed_by_key
        ranked = [
            self._by_topic.needs[rank[-1]]
            for rank in self._by_topic.ranked.slice(0, MOST_SHOWN + len(snoozed))
            if rank[-1] not in snoozed
        ]
        ranked += self._task_needs.by_id.values()
        ranked.sort(key=itemgetter(0))
        listed = ranked[:MOST_SHOWN]
        beyond: list[RankedNeed] = []
        undecided: list[Need] = []
        decided = self._decided_tasks()
        for place, task in enumerate(decided):
            # What a decision is open about is shown however many needs come before it.
            known = self._need_about(task.id)
            if known is None:
                undecided.append(_undecided_need(task, place))
            elif known[1].snooze is None and known[0] > listed[-1][0]:
                beyond.append(known)
        beyond.sort(key=itemgetter(0))
        needs = [*undecided, *[need for _, need in listed], *[need for _, need in beyond]]
        self.listed = len(needs)
        for need in undecided:
            is_counted = self._need_by_key(need.key, now) is not None
            if not is_counted:
                self.levels[need.level] += 1
        self._group(needs, [task.id for task in decided])
        is_same_scope = self._quiet_scope == self._scope
        if needs:
            self.quiet_since = None
        elif self.quiet_since is None or not is_same_scope:
            self.quiet_since = now
        self._quiet_scope = self._scope

    def _need_about(self, task_id: str) -> RankedNeed | None:
        """The need that shows a task, if it is among those that come first, stuck or snoozed."""
        key = f"{NeedKind.TASK}:{task_id}"
        known = self._task_needs.by_id.get(task_id) or self._snoozed_by_key.get(key)
        known = known or self._by_topic.needs.get(key)
        if known is not None:
            return known
        agent_id = self._log.agent_by_task.get(task_id)
        stuck_key = f"{NeedKind.STUCK}:{agent_id or task_id}"
        stuck = self._snoozed_by_key.get(stuck_key) or self._by_topic.needs.get(stuck_key)
        return stuck if stuck is not None and stuck[1].record.id == task_id else None

    def _group(self, needs: list[Need], decided_ids: list[str]) -> None:
        """Put tasks that are alike together, unless nothing has changed since that was done."""
        sources = [*needs, *self.snoozed]
        if sources == self._grouped_from and decided_ids == self._decided_ids:
            return
        self._grouped_from = sources
        self._decided_ids = decided_ids
        apart = set(decided_ids)
        self.shown = [*group_alike_tasks(needs, apart), *group_alike_tasks(self.snoozed, apart)]

    # More than what is shown

    def of_scope(self, records: Iterable[R]) -> Iterator[R]:
        """Those of the records that belong to the company in scope."""
        return filter(of_company(self._store, self._scope_now()), records)

    def ranked(self, most_tasks: int) -> list[Need]:
        """All needs, the worst first, those that are snoozed among them.

        Of tasks there are the `most_tasks` that come first, and all that are snoozed.
        """
        snoozed = self._snoozed_by_key
        found = [known for key, known in self._by_topic.needs.items() if key not in snoozed]
        tasks = self._task_needs
        if most_tasks != MOST_SHOWN:
            tasks = TaskNeeds()
            at_once(self._update_task_needs(tasks, most_tasks))
        found += tasks.by_id.values()
        found += snoozed.values()
        found.sort(key=itemgetter(0))
        return [need for _, need in found]

    def critical(self) -> list[Need]:
        """The critical needs that are not snoozed, the worst first; of tasks those shown."""
        below = (True, 1 - Level.CRITICAL, 0, (), "")
        ranks = self._by_topic.ranked.slice(0, self._by_topic.ranked.count_below(below))
        found = [
            self._by_topic.needs[rank[-1]] for rank in ranks if rank[-1] not in self._snoozed_by_key
        ]
        found += [known for known in self._task_needs.by_id.values() if known[0] < below]
        found.sort(key=itemgetter(0))
        return [need for _, need in found]

    def critical_tasks(self) -> Sequence[Need]:
        """The critical tasks that wait and are not snoozed, also those that are not shown.

        There are at most `MOST_CRITICAL`. Returns the same sequence until one comes or leaves.
        """
        at_once(self.critical_task_steps())
        return self._critical_tasks

    def critical_task_steps(self) -> Generator[None, None, None]:
        """Find the critical tasks in short steps, so that `critical_tasks` returns at once."""
        limits = self._forecasts.limits
        count = self.queue.count_levels(self._now, limits)[Level.CRITICAL]
        known_for = self.queue, self.queue.revision, count, limits, tuple(self._snoozed_by_key)
        if known_for == self._critical_known_for:
            return
        yield from self._update_task_needs(self._critical_task_needs, min(count, MOST_CRITICAL))
        needs = [need for _, need in self._critical_task_needs.by_id.values()]
        self._critical_tasks = [need for need in needs if need.level is Level.CRITICAL]
        self._critical_known_for = known_for

    def end_snoozes(self) -> None:
        """Take off the snoozes that ended, and those of needs that are worse by now or are over."""
        if not self.snoozes.all:
            self.next_snooze_end = None
            return
        now = self._now
        freshness = (self._store.freshness[feed] for feed in FEEDS)
        feeds = (each.phase for each in freshness if each.is_offered)
        is_whole = self._scope is None and set(feeds) == {Phase.LIVE}
        for key, snooze in self.snoozes.all.items():
            known = self._need_by_key(key, now)
            if known is not None:
                # Those by the log or by a forecast are found some time after the start.
                self._met_snoozes.add(key)
            is_pending = key.removeprefix(f"{NeedKind.TASK}:") in self._store.pending.records
            is_there = known is not None or is_pending or self._by_topic.is_joined(key)
            is_over = key in self._met_snoozes and is_whole and not is_there
            level = Level.OK if known is None else known[1].level
            if is_over or not snooze.holds(level, now):
                self.snoozes.set([key], None)
        ends = [each.until for each in self.snoozes.all.values() if each.until is not None]
        self.next_snooze_end = min(ends, default=None)


class _NeedsByTopic:
    """The needs of each topic, all of them ranked and counted, those of one cause as one."""

    def __init__(self) -> None:
        self.needs: dict[str, RankedNeed] = {}
        """All needs that are listed, by their keys."""
        self.ranked = SortedKeys[RankKey]()
        self.counts = Counter[tuple[Level, NeedKind]]()
        self.subjects: dict[Topic, Subject] = {}
        """What was found wrong with those topics that are subjects."""
        self.changed_causes: set[str] = set()
        """Causes whose needs changed; the `NeedsModel` clears the set, and shows them again."""
        self._of_topic: dict[Topic, list[tuple[str | None, Need]]] = {}
        """Needs with their causes."""
        self._of_cause: dict[str, dict[str, RankedNeed]] = {}
        """Needs of topics by their causes and keys; what is listed of them, `show_cause` says."""
        self._joined_keys = Counter[str]()
        """How many needs of topics with a cause have each key."""
        self._listed_for: dict[str, Need] = {}
        """By cause, the need that was listed for it last."""
        self._agents_of_cause: dict[str, set[str]] = {}
        self._causes_of_agent: dict[str, set[str]] = {}

    def needs_of(self, topic: Topic) -> list[Need]:
        """Return the needs of one topic."""
        return [need for _, need in self._of_topic.get(topic, ())]

    def replace(self, topic: Topic, needs: Sequence[Need]) -> None:
        """Replace the needs of a topic; it may have none."""
        for cause, need in self._of_topic.pop(topic, ()):
            if cause is None:
                self._unlist(need)
                continue
            self.changed_causes.add(cause)
            of_cause = self._of_cause[cause]
            del of_cause[need.own_key]
            if not of_cause:
                del self._of_cause[cause]
            self._joined_keys[need.own_key] -= 1
            if not self._joined_keys[need.own_key]:
                del self._joined_keys[need.own_key]
        of_topic: list[tuple[str | None, Need]] = []
        for need in needs:
            cause = need.cause
            of_topic.append((cause, need))
            ranked_need = rank_key(need.level, need.rank_reason, need.rank, need.own_key), need
            if cause is None:
                self._list(ranked_need)
                continue
            self.changed_causes.add(cause)
            self._of_cause.setdefault(cause, {})[need.own_key] = ranked_need
            self._joined_keys[need.own_key] += 1
        if of_topic:
            self._of_topic[topic] = of_topic

    def needs_of_cause(self, cause: str) -> list[RankedNeed]:
        """The needs of topics that have a cause, those that are not listed among them."""
        return [*self._of_cause.get(cause, {}).values()]

    def show_cause(self, cause: str, joined: RankedNeed | None, agent_ids: set[str]) -> None:
        """List one need for a cause, or none. `agent_ids` are the agents of its tasks."""
        listed = self._listed_for.pop(cause, None)
        if listed is not None:
            self._unlist(listed)
        if joined is not None:
            self._list(joined)
            self._listed_for[cause] = joined[1]
        for agent_id in self._agents_of_cause.pop(cause, ()):
            causes = self._causes_of_agent[agent_id]
            causes.remove(cause)
            if not causes:
                del self._causes_of_agent[agent_id]
        for agent_id in agent_ids:
            self._causes_of_agent.setdefault(agent_id, set()).add(cause)
        if agent_ids:
            self._agents_of_cause[cause] = agent_ids

    def causes_of(self, agent_id: str) -> Iterable[str]:
        """The causes that an agent has tasks of, if these are listed with other needs."""
        return self._causes_of_agent.get(agent_id, ())

    def is_joined(self, key: str) -> bool:
        """Whether a topic has a need with this key that is joined with those of its cause."""
        return key in self._joined_keys

    def _list(self, ranked_need: RankedNeed) -> None:
        rank, need = ranked_need
        if need.own_key in self.needs:
            # It had another cause before, which is still to be shown without it.
            self._unlist(self.needs[need.own_key][1])
        self.needs[need.own_key] = ranked_need
        self.ranked.add(rank)
        self.counts[need.level, need.kind] += 1

    def _unlist(self, need: Need) -> None:
        """Take a need off the list, unless it is not there any more."""
        rank, listed = self.needs.get(need.own_key, (None, None))
        if rank is None or listed is not need:
            return
        del self.needs[need.own_key]
        self.ranked.remove(rank)
        self.counts[need.level, need.kind] -= 1


class _AlertTopics:
    """The alerts by the topics they are about."""

    def __init__(self) -> None:
        self.ids_by_topic: dict[Topic, dict[str, None]] = {}
        self._topic_by_id: dict[str, Topic] = {}

    def update(self, alert_id: str, alert: Alert | None) -> list[Topic]:
        """Take in what the store has under this id now; returns the topics that this concerns."""
        topics: list[Topic] = []
        before = self._topic_by_id.pop(alert_id, None)
        if before is not None:
            topics.append(before)
            ids = self.ids_by_topic[before]
            del ids[alert_id]
            if not ids:
                del self.ids_by_topic[before]
        if alert is not None:
            topic = _topic_of(alert)
            topics.append(topic)
            self._topic_by_id[alert_id] = topic
            self.ids_by_topic.setdefault(topic, {})[alert_id] = None
        return topics


class _LogTopics:
    """What the log shows, by the topics it belongs to."""

    def __init__(self) -> None:
        self.findings: LogFindings | None = None
        """What was taken in last."""
        self.failures: dict[str, Repeated] = {}
        """Failures that repeat, by their handles."""
        self.at_work_by_agent: dict[str, dict[str, tuple[float, Task]]] = {}
        """Approved tasks by their agent and their id, with when the log last spoke of each."""
        self.agent_by_task: dict[str, str] = {}
        """The agents of these tasks."""

    def take(self, findings: LogFindings) -> list[Topic]:
        """Take in what a log shows now; returns the topics of which it shows something else.

        A log holds a few thousand entries at most, so all findings are compared.
        """
        before = self.findings
        self.findings = findings
        failures = {each.handle: each for each in findings.repeated}
        stale: list[Topic] = [
            (NeedKind.FAILURES, handle)
            for handle in self.failures.keys() | failures.keys()
            if self.failures.get(handle) is not failures.get(handle)
        ]
        self.failures = failures
        at_work: dict[str, dict[str, tuple[float, Task]]] = {}
        for task_id, since_and_task in findings.at_work.items():
            at_work.setdefault(agent_id_of(since_and_task[1]), {})[task_id] = since_and_task
        is_other_usual = before is None or before.usual_run != findings.usual_run
        stale += [
            (BudgetScope.AGENT, agent_id)
            for agent_id in self.at_work_by_agent.keys() | at_work.keys()
            if is_other_usual or self.at_work_by_agent.get(agent_id) != at_work.get(agent_id)
        ]
        self.at_work_by_agent = at_work
        self.agent_by_task = {
            task_id: agent_id for agent_id, tasks in at_work.items() for task_id in tasks
        }
        return stale


def _topic_of(alert: Alert) -> Topic:
    """The subject that an alert is about: its agent, else its company, else the whole."""
    if alert.agent is not None:
        return BudgetScope.AGENT, alert.agent.id or alert.agent.name or ""
    if alert.company is not None:
        return BudgetScope.COMPANY, alert.company.id or alert.company.name or ""
    return _WHOLE


def _undecided_need(task: Task, place: int) -> Need:
    """An approval that is not known to be done, as a need before all others."""
    return Need(
        Level.WARNING,
        NeedKind.TASK,
        task,
        RankReason.DECIDED,
        (place,),
        since=waiting_since(task),
    )
