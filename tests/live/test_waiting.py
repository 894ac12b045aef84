"""The queue in figures, counted on from change to change."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.config import AlertLimits
from agentco_tui.live import insight
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import Queue, Waiting, in_scope, waiting_since, waits_for_person
from agentco_tui.live.store import Names, Store
from agentco_tui.model import (
    Agent,
    Alert,
    Listing,
    Moment,
    Ref,
    Severity,
    Task,
    TaskState,
)
from agentco_tui.text import plain

IDS = st.sampled_from("abcdefgh")
AGENTS = ("ag_1", "ag_2")
COMPANIES = ("cmp_1", "cmp_2")


def agents_in(first: str, second: str) -> Listing[Agent]:
    """Both agents, each in the company given."""
    owners = zip(AGENTS, (first, second), strict=True)
    return Listing(records=tuple(Agent(id=who, company=Ref(id=of)) for who, of in owners))


MOMENTS = st.none() | st.builds(Moment, at=st.integers(0, 9).map(float))
TASKS = st.builds(
    Task,
    id=IDS,
    title=st.just(plain("Pay")),
    state=st.sampled_from((None, TaskState.PENDING, TaskState.DONE)),
    needs_approval=st.sampled_from((None, True, False)),
    company=st.none() | st.builds(Ref, id=st.sampled_from(COMPANIES)),
    agent=st.none() | st.builds(Ref, id=st.sampled_from(AGENTS)),
    created=MOMENTS,
    waiting_since=MOMENTS,
)
STEPS = st.one_of(
    st.tuples(st.just("put"), TASKS),
    st.tuples(st.just("drop"), IDS),
    st.tuples(st.just("list"), st.lists(TASKS, max_size=6)),
    st.tuples(st.just("clear"), st.none()),
    st.tuples(st.just("agents"), st.tuples(*[st.sampled_from(COMPANIES)] * 2)),
    st.tuples(st.just("ask"), st.none() | st.sampled_from(COMPANIES)),
)


def counted(store: Store, names: Names, scope: str | None) -> Queue:
    """The same from all the tasks there are."""
    waiting_tasks = [
        task
        for task in store.pending
        if waits_for_person(task) and in_scope(names.company_of(task), scope)
    ]
    since = [at for at in map(waiting_since, waiting_tasks) if at is not None]
    return Queue(len(waiting_tasks), min(since, default=None))


@given(st.lists(STEPS, max_size=30))
def test_counting_on_says_what_counting_anew_says(steps: list[tuple[str, object]]) -> None:
    store = Store()
    names = Names(store)
    figures = Waiting(store, names, AlertLimits())
    scope: str | None = None
    for what, given_ in steps:
        match what, given_:
            case "put", Task() as task:
                store.publish(store.pending.put(task))
            case "drop", str() as task_id:
                store.publish(store.pending.drop(task_id))
            case "list", list() as tasks:
                store.publish(store.pending.replace(Listing(records=tuple(tasks))))
            case "agents", (str() as first, str() as second):
                store.publish(store.agents.replace(agents_in(first, second)))
            case "clear", _:
                store.take(FeedName.PENDING, Listing(records=()))
            case _:
                scope = given_ if isinstance(given_, str) else None
        assert figures.of(scope) == counted(store, names, scope)


def test_tasks_that_did_not_change_are_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store()
    figures = Waiting(store, Names(store), AlertLimits())
    looked_at: list[str] = []

    def seen(task: Task) -> bool:
        looked_at.append(task.id)
        return waits_for_person(task)

    monkeypatch.setattr(insight, "waits_for_person", seen)
    # A task whose platform names no state is not told by the shortcut.
    tasks = [Task(id=f"t{n}", title=plain("Pay"), created=Moment(float(n))) for n in range(50)]
    store.publish(store.pending.replace(Listing(records=tuple(tasks))))
    assert figures.of(None) == Queue(50, 0.0)
    assert len(looked_at) == 50
    assert figures.of(None) == figures.of(None)
    assert len(looked_at) == 50
    tasks[7] = Task(id="t7", title=plain("Pay twice"), created=Moment(99.0))
    store.publish(store.pending.replace(Listing(records=tuple(tasks))))
    assert figures.of(None) == Queue(50, 0.0)
    assert looked_at[50:] == ["t7"]


def test_alerts_are_counted_by_level_and_scope_and_anew_when_an_agent_moves() -> None:
    store = Store()
    figures = Waiting(store, Names(store), AlertLimits())

    def alert(name: str, severity: Severity, **more: Any) -> Alert:
        return Alert(id=name, text=plain(name), severity=severity, **more)

    alerts = (
        alert("a1", Severity.CRITICAL, company=Ref(id="acme")),
        alert("a2", Severity.WARNING, company=Ref(id="globex")),
        alert("a3", Severity.WARNING, agent=Ref(id="ag_1")),
        alert("a4", Severity.INFO),
        alert("a5", Severity.CRITICAL, open=False),
    )
    store.alerts.replace(Listing(records=alerts))
    assert figures.open_alerts(None) == (1, 2)
    assert figures.open_alerts("acme") == (1, 1)
    assert figures.open_alerts("globex") == (0, 2)
    for company, counted in (("acme", (1, 1)), ("globex", (1, 0))):
        ada = Agent(id="ag_1", name=plain("Ada"), company=Ref(id=company))
        store.agents.replace(Listing(records=(ada,)))
        assert figures.open_alerts("acme") == counted
