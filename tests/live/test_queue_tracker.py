"""How many tasks wait: always what counting all of them would give, whoever takes changes in."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import waiting_since
from agentco_tui.live.queue_tracker import QueueTracker
from agentco_tui.live.store import Store
from agentco_tui.live.waiting_queue import EVERYTHING, Owner
from agentco_tui.model import Agent, BudgetScope, Listing, Moment, Ref, Task, TaskState
from agentco_tui.text import SafeText

R = TypeVar("R", Agent, Task)
COMPANIES = ("", "c1", "c2")
AGENTS = ("a1", "a2")


def reference(record_id: str) -> Ref | None:
    return Ref(id=record_id) if record_id else None


def make_task(task_id: str, company: str, agent: str, since: int | None, state: TaskState) -> Task:
    return Task(
        id=task_id,
        title=SafeText("a task"),
        company=reference(company),
        agent=reference(agent),
        state=state,
        created=None if since is None else Moment(float(since)),
    )


TASKS = st.builds(
    make_task,
    st.sampled_from([f"t{number}" for number in range(6)]),
    st.sampled_from(COMPANIES),
    st.sampled_from(("", *AGENTS)),
    st.none() | st.integers(1, 9),
    st.sampled_from([TaskState.PENDING, TaskState.RUNNING]),
)
AGENT_RECORDS = st.builds(
    lambda agent_id, company: Agent(id=agent_id, company=reference(company)),
    st.sampled_from(AGENTS),
    st.sampled_from(COMPANIES),
)
STEPS = st.lists(
    st.lists(TASKS, max_size=6).map(lambda tasks: (FeedName.PENDING, tasks))
    | st.lists(AGENT_RECORDS, max_size=2).map(lambda agents: (FeedName.AGENTS, agents))
    | st.sampled_from([None, "c1"]).map(lambda scope: ("scope", scope)),
    max_size=12,
)


def unique(records: list[R]) -> tuple[R, ...]:
    return tuple({record.id: record for record in records}.values())


def take_all(tracker: QueueTracker) -> None:
    for _ in tracker.take_in_steps():
        pass


@given(STEPS)
def test_the_counts_are_those_of_a_queue_counted_now(
    steps: list[tuple[str, object]],
) -> None:
    store = Store()
    scopes: list[str | None] = [None]
    tracker = QueueTracker(store, lambda: scopes[-1])
    changes = tracker.collect_changes()
    counts: dict[Owner, tuple[int, float | None]] = {}
    for kind, value in steps:
        waited = tracker.queue.ids()
        scope_before = tracker.queue.scope
        if kind == "scope":
            scopes.append(value)  # type: ignore[arg-type]
        else:
            store.take(FeedName(kind), Listing(records=unique(value)))  # type: ignore[arg-type]
        take_all(tracker)
        queue = tracker.queue
        counted_now = QueueTracker(store, lambda: scopes[-1])
        take_all(counted_now)
        assert queue.waiting_by_owner == counted_now.queue.waiting_by_owner
        assert queue.ids() == counted_now.queue.ids()
        assert queue.oldest_now() == counted_now.queue.oldest_now()
        now = {
            owner: (number, oldest_of(tracker, owner))
            for owner, number in queue.waiting_by_owner.items()
        }
        differing = {owner for owner in counts.keys() | now if counts.get(owner) != now.get(owner)}
        assert differing <= changes.owners
        counts = now
        changes.owners.clear()
        if scope_before == scopes[-1]:
            assert changes.departed == waited - queue.ids()
        changes.departed.clear()


def oldest_of(tracker: QueueTracker, owner: Owner) -> float | None:
    if owner == EVERYTHING:
        return tracker.queue.oldest_now()
    return tracker.queue.oldest_of(owner)


def test_a_task_that_comes_back_has_not_departed() -> None:
    store = Store()
    tracker = QueueTracker(store, lambda: None)
    changes = tracker.collect_changes()
    task = make_task("t1", "c1", "a1", 1, TaskState.PENDING)
    store.take(FeedName.PENDING, Listing(records=(task,)))
    take_all(tracker)
    store.take(FeedName.PENDING, Listing(records=()))
    take_all(tracker)
    assert changes.departed == {"t1"}
    store.take(FeedName.PENDING, Listing(records=(task,)))
    take_all(tracker)
    assert changes.departed == set()
    assert tracker.queue.waiting_by_owner[BudgetScope.COMPANY, "c1"] == 1
    assert tracker.queue.oldest_of((BudgetScope.COMPANY, "c1")) == waiting_since(task)


def test_a_task_that_came_and_left_before_it_was_counted_has_departed() -> None:
    store = Store()
    tracker = QueueTracker(store, lambda: None)
    changes = tracker.collect_changes()
    task = make_task("t1", "c1", "a1", 1, TaskState.PENDING)
    store.take(FeedName.PENDING, Listing(records=(task,)))
    store.take(FeedName.PENDING, Listing(records=()))
    take_all(tracker)
    assert changes.departed == {"t1"}
    assert tracker.queue.ids() == frozenset()


def test_two_may_take_changes_in_at_the_same_time() -> None:
    store = Store()
    tracker = QueueTracker(store, lambda: None)
    tasks = [make_task(f"t{number}", "", "a1", number, TaskState.PENDING) for number in range(500)]
    store.take(FeedName.PENDING, Listing(records=tuple(tasks)))
    runs = [tracker.take_in_steps(), tracker.take_in_steps()]
    while runs:
        runs = [run for run in runs if next(run, "over") != "over"]
    assert tracker.queue.waiting_by_owner[EVERYTHING] == len(tasks)
