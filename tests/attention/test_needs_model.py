"""The needs that follow changes are those that the same records give when they are read at once."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace

from agentco_tui.attention.needs import RankReason
from agentco_tui.attention.needs_model import NeedsModel
from agentco_tui.attention.snooze import Snooze, Snoozes
from agentco_tui.config import AlertLimits
from agentco_tui.history.forecast import Forecast
from agentco_tui.history.forecast_schedule import Subject
from agentco_tui.history.forecast_service import ForecastService, SubjectForecast
from agentco_tui.history.spending_alarms import Burn, Runaway
from agentco_tui.live.feeds import Clock, FeedName
from agentco_tui.live.insight import Level
from agentco_tui.live.log_findings import LogFindings, Repeated
from agentco_tui.live.ownership import cause_of, company_of
from agentco_tui.live.spend_rate import FastSpend
from agentco_tui.live.store import Store
from agentco_tui.model import (
    Activity,
    Agent,
    AgentState,
    Alert,
    Budget,
    BudgetScope,
    IdDoubt,
    Listing,
    Moment,
    Money,
    Ref,
    Severity,
    Task,
    TaskState,
)
from agentco_tui.system.background import at_once
from agentco_tui.text import mark_safe

START = 1_790_000_000.0
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0

agent_ids = st.sampled_from(["a0", "a1", "a2", "a3", "a4"])
company_ids = st.sampled_from(["c0", "c1", "c2"])
task_ids = st.sampled_from([f"t{number}" for number in range(9)])
logged_task_ids = st.sampled_from(["t0", "t1", "t2"])
companies = st.none() | st.builds(Ref, company_ids)
agent_refs = st.none() | st.builds(Ref, agent_ids) | st.just(Ref(None, mark_safe("Ada")))
ages = st.sampled_from([0.0, 5.0, 14.9, 15.0, 16.0, 45.0, 59.0, 60.0, 70.0, 500.0])
shares = st.sampled_from([None, "0.3", "0.6", "0.85", "1", "1.2"])
causes = st.sampled_from([None, None, "x", "y"])
doubts = st.none() | st.just(IdDoubt(reason=mark_safe("decide this elsewhere")))


def moment(age: float | None, now: float) -> Moment | None:
    return None if age is None else Moment(now - age * MINUTE)


class NeedsFollowChanges(RuleBasedStateMachine):
    """Whatever happens to the records, the forecasts, the log and the clock, in whatever order."""

    def __init__(self) -> None:
        super().__init__()
        self.now = START
        self.store = Store()
        self.clock = Clock(machine=lambda: self.now)
        self.outlook = ScriptedOutlook(self.store, self.clock)
        self.snoozes = Snoozes(None, "")
        self.scope: str | None = None
        self.decided: list[Task] = []
        self.model = self.new_model()
        self.is_refresh_awaited = False

    def new_model(self) -> NeedsModel:
        return NeedsModel(self.outlook, self.snoozes, lambda: self.scope, lambda: self.decided)

    def put(self, feed: FeedName, record: Any) -> None:
        records = {**self.store.collections[feed].records, record.id: record}
        self.store.take(feed, Listing(records=tuple(records.values())))

    @rule(feed=st.sampled_from(sorted(set(FeedName) - {FeedName.ACTIVITY})), data=st.data())
    def remove(self, feed: FeedName, data: st.DataObject) -> None:
        records = self.store.collections[feed].records
        if records:
            gone = data.draw(st.sampled_from(sorted(records)))
            kept = tuple(record for key, record in records.items() if key != gone)
            self.store.take(feed, Listing(records=kept))

    @rule(feed=st.sampled_from(sorted(set(FeedName) - {FeedName.ACTIVITY})))
    def forget(self, feed: FeedName) -> None:
        self.store.forget_feed(feed)

    @rule(
        feed=st.sampled_from([FeedName.PENDING, FeedName.PENDING, FeedName.TASKS]),
        id=task_ids,
        title=st.sampled_from(["Publish", "Refund"]),
        state=st.sampled_from([TaskState.PENDING, TaskState.DONE, TaskState.RUNNING, None]),
        agent=agent_refs,
        company=companies,
        priority=st.sampled_from([None, "urgent", "high", "low"]),
        age=st.none() | ages,
        cause=causes,
        id_doubt=doubts,
    )
    def put_task(self, feed: FeedName, age: float | None, **fields: Any) -> None:
        fields["title"] = mark_safe(fields["title"])
        fields["priority"] = fields["priority"] and mark_safe(fields["priority"])
        self.put(feed, Task(created=moment(age, self.now), **fields))

    @rule(id=agent_ids, state=st.sampled_from(AgentState), company=companies, cause=causes)
    def put_agent(self, **fields: Any) -> None:
        self.put(FeedName.AGENTS, Agent(**fields))

    @rule(
        feed=st.sampled_from([FeedName.AGENT_BUDGETS, FeedName.COMPANY_BUDGETS, FeedName.BUDGET]),
        agent_id=agent_ids,
        company_id=company_ids,
        share=shares,
        company=companies,
        unlimited=st.sampled_from([False, False, True]),
        cause=causes,
    )
    def put_budget(
        self, feed: FeedName, agent_id: str, company_id: str, share: str | None, **fields: Any
    ) -> None:
        collection = self.store.collections[feed]
        [scope] = [scope for scope, each in self.store.budgets.items() if each is collection]
        known = None if share is None else Decimal(share)
        spent = None if known is None else Money(known * 100)
        record_id = {FeedName.AGENT_BUDGETS: agent_id, FeedName.COMPANY_BUDGETS: company_id}
        budget = Budget(
            id=record_id.get(feed, "all"),
            scope=scope,
            share=known,
            spent=spent,
            limit=Money(Decimal(100)),
            **fields,
        )
        self.put(feed, budget)

    @rule(
        id=st.sampled_from(["al0", "al1", "al2", "al3"]),
        severity=st.sampled_from(Severity),
        agent=agent_refs,
        company=companies,
        age=st.none() | ages,
        open=st.sampled_from([None, True, False]),
        cause=causes,
    )
    def put_alert(self, age: float | None, **fields: Any) -> None:
        at = moment(age, self.now)
        self.put(FeedName.ALERTS, Alert(text=mark_safe("Trouble"), at=at, **fields))

    @rule(data=st.data())
    def read_log(self, data: st.DataObject) -> None:
        at_work = {
            task_id: (self.now - age * MINUTE, Task(id=task_id, title=mark_safe("Do"), agent=agent,
                state=TaskState.APPROVED, company=company))
            for task_id, age, agent, company in data.draw(
                st.lists(st.tuples(logged_task_ids, ages, agent_refs, companies), max_size=4)
            )
        }  # fmt: skip
        repeated = {
            handle: Repeated(
                handle,
                Activity(id=handle, company=company, agent=agent),
                (self.now - age * MINUTE, self.now - HOUR),
            )
            for handle, age, agent, company in data.draw(
                st.lists(st.tuples(st.sampled_from("xyz"), ages, agent_refs, companies), max_size=2)
            )
        }
        usual = data.draw(st.sampled_from([None, 400.0, 2_000.0]))
        self.outlook.log = LogFindings(
            repeated=[*repeated.values()], at_work=at_work, usual_run=usual
        )

    @rule(
        id=agent_ids | company_ids,
        hours=st.sampled_from([None, 0.4, 5.0, 40.0]),
        burns=st.booleans(),
    )
    def forecast(self, id: str, hours: float | None, burns: bool) -> None:
        ahead = None
        if hours is not None:
            gone = (self.now, self.now + hours * HOUR, self.now + 9 * DAY)
            ahead = Forecast(rate=1, low=9, middle=10, high=11, ends=self.now + DAY, gone=gone)
        burn = None
        if burns:
            burn = Burn(factor=20, rate=12, gone_in=(hours or 3) * HOUR, critical=hours is None)
        fast = None
        if hours == 0.4:
            fast = FastSpend(rate=1, reached_in=HOUR, lasts=200, reached_at=self.now + HOUR)
        scope = BudgetScope.AGENT if id.startswith("a") else BudgetScope.COMPANY
        self.outlook.learn((scope, id), forecast=ahead, burn=burn, fast=fast)

    @rule(id=agent_ids, runs_away=st.booleans(), usual=st.sampled_from([None, 400.0, 2_000.0]))
    def habit(self, id: str, runs_away: bool, usual: float | None) -> None:
        since = self.now - HOUR, self.now
        away = Runaway(what="cost", now=90.0, most=10.0, mean=1.0, since=since)
        runaway = away if runs_away else None
        self.outlook.learn((BudgetScope.AGENT, id), runaway=runaway, usual_run=usual)

    @rule(key=st.sampled_from(["agent:a0", "company:c0", "all:", "stuck:a1", "failures:x",
        *(f"task:t{number}" for number in range(5))]), level=st.sampled_from(Level),
        minutes=st.sampled_from([None, 1.0, 100.0]))  # fmt: skip
    def snooze(self, key: str, level: Level, minutes: float | None) -> None:
        until = None if minutes is None else self.now + minutes * MINUTE
        self.snoozes.set([key], Snooze(level, until))

    @rule(key=st.sampled_from(["agent:a0", "task:t0"]))
    def wake(self, key: str) -> None:
        self.snoozes.set([key], None)

    @rule(scope=st.none() | company_ids)
    def set_scope(self, scope: str | None) -> None:
        self.scope = scope

    @rule(percent=st.sampled_from([50, 80]), warning=st.sampled_from([MINUTE, 900.0, 9_000.0]))
    def set_limits(self, percent: int, warning: float) -> None:
        self.outlook.limits = AlertLimits(warn_percent=Decimal(percent), waiting_warning=warning)

    @rule(seconds=st.sampled_from([0.5, MINUTE, 7 * MINUTE, 15 * MINUTE, HOUR, 5 * HOUR]))
    def let_time_pass(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def replay_from_before(self) -> None:
        self.now -= HOUR

    @rule(ids=st.lists(task_ids, max_size=2, unique=True))
    def decide(self, ids: list[str]) -> None:
        self.decided = [Task(id=each, title=mark_safe("Publish")) for each in ids]

    @rule()
    def let_more_changes_come_first(self) -> None:
        self.is_refresh_awaited = True

    @invariant()
    def the_same_as_from_the_start(self) -> None:
        if self.is_refresh_awaited:
            self.is_refresh_awaited = False
            return
        at_once(self.model.refresh_steps())
        fresh = self.new_model()
        at_once(fresh.refresh_steps())
        assert content(self.model, self.now) == content(fresh, self.now)
        self.check_that_each_cause_is_one_need_and_nothing_is_lost()
        agents = [*self.store.agents]
        assert +self.model.agents.by_state == Counter(agent.state for agent in agents)
        refs = [agent.company or Ref() for agent in agents]
        assert +self.model.agents.by_company == Counter(ref.id or "" for ref in refs)

    def check_that_each_cause_is_one_need_and_nothing_is_lost(self) -> None:
        needs = self.model.ranked(500)
        tasks = [self.model.queue.counted_task(each) for each in self.model.queue.ids()]
        counted_tasks = [task for task in tasks if task is not None]
        assert self.model.queue.listed == len(counted_tasks)
        assert self.model.queue.count == len({cause_of(each) or each.id for each in counted_tasks})
        causes = Counter(need.cause for need in needs if need.cause is not None)
        assert set(causes.values()) <= {1}
        of_each_record = {need.key: need for need in self.model_without_causes().ranked(500)}
        keys = Counter(key for need in needs for key in need.keys)
        assert set(keys.values()) <= {1}
        assert keys.keys() >= of_each_record.keys()
        for need in needs:
            levels = [of_each_record[key].level for key in need.keys if key in of_each_record]
            assert need.level == max(levels)
            if not need.is_decidable:
                assert not any(other.is_decidable for other in need.others)
        counted = Counter(need.level for need in needs if need.snooze is None)
        undecided = [need for need in self.model.shown if need.rank_reason is RankReason.DECIDED]
        listed = {need.key for need in needs}
        counted.update(need.level for need in undecided if need.key not in listed)
        assert +self.model.levels == counted

    def model_without_causes(self) -> NeedsModel:
        """The needs of the same records, if the platform did not say which cause each reports."""
        store = Store()
        outlook = ScriptedOutlook(store, self.clock)
        outlook.script = self.outlook.script
        outlook.log = self.outlook.log
        outlook.limits = self.outlook.limits
        for feed, collection in self.store.collections.items():
            records = [replace(each, cause=None) for each in collection.records.values()]
            store.take(feed, Listing(records=tuple(records)))
        model = NeedsModel(outlook, self.snoozes, lambda: self.scope)
        at_once(model.refresh_steps())
        return model

    @invariant()
    def the_counts_of_all_tasks_are_right(self) -> None:
        companies = [company_of(task, self.store.agents.records) for task in self.store.tasks]
        owners = [None if company is None else company.id for company in companies]
        statuses = Counter(
            (task.status, task.state)
            for task, owner in zip(self.store.tasks, owners, strict=True)
            if self.scope in (None, owner)
        )
        assert self.model.statuses.counts(self.scope) == statuses


def content(model: NeedsModel, now: float) -> dict[str, object]:
    """All that a model says."""
    return {
        "needs": model.ranked(500),
        "first": model.ranked(2),
        "shown": model.shown,
        "listed": model.listed,
        "critical": model.critical(),
        "critical tasks": model.critical_tasks(),
        "snoozed": model.snoozed,
        "levels": +model.levels,
        "money": +model.money_levels,
        "counts": +model.counts(now),
        "count": model.queue.count,
        "waiting tasks": model.queue.listed,
        "oldest": model.queue.oldest,
        "waiting": model.queue.waiting_by_owner,
        "oldest_of": {
            owner: model.queue.oldest_of(owner) for owner in model.queue.waiting_by_owner
        },
    }


class ScriptedOutlook(ForecastService):
    """An outlook that knows what a test says."""

    def __init__(self, store: Store, clock: Clock) -> None:
        super().__init__(store, None, clock)
        self.script: dict[Subject, dict[str, Any]] = {}

    def learn(self, subject: Subject, **fields: Any) -> None:
        computed = {"computed_at": self.clock.now()}
        self.script[subject] = self.script.get(subject, {}) | fields | computed
        self.publish(subject)

    def of(self, budget: Budget) -> SubjectForecast:
        return SubjectForecast(
            **{"computed_at": 0.0, **self.script.get((budget.scope, budget.subject), {})}
        )

    def of_agent(self, agent: str | None) -> SubjectForecast:
        return SubjectForecast(
            **{"computed_at": 0.0, **self.script.get((BudgetScope.AGENT, agent or ""), {})}
        )


NeedsFollowChanges.TestCase.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None
)
TestNeedsFollowChanges = pytest.mark.slow(NeedsFollowChanges.TestCase)
