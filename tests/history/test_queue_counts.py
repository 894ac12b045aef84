"""How many tasks wait: always what counting all of them would give."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.history.queue_counts import ALL, QueueCounts

Step = tuple[str, str, float | None] | str
TASKS = st.sampled_from([f"t{number}" for number in range(6)])
COMPANIES = st.sampled_from(["", "c1", "c2"])
TIMES = st.none() | st.integers(0, 9).map(float)
STEPS = st.lists(st.tuples(TASKS, COMPANIES, TIMES) | TASKS, max_size=40)


@given(STEPS)
def test_counts_are_those_of_all_tasks(steps: list[Step]) -> None:
    queue = QueueCounts()
    tasks: dict[str, tuple[str, float | None]] = {}
    for step in steps:
        if isinstance(step, str):
            assert queue.drop(step) is (step in tasks)
            tasks.pop(step, None)
        else:
            task, company, since = step
            queue.put(task, company, None, since)
            tasks[task] = (company, since)
        for company in (ALL, "c1", "c2"):
            members = [since for of, since in tasks.values() if company in (of, ALL)]
            sample = queue.take_sample(company, 5.0)
            assert sample.waiting == len(members)
            assert sample.oldest == min((at for at in members if at is not None), default=None)
        assert queue.without_company == sum(not company for company, _ in tasks.values())
        assert queue.ids() == tasks.keys()


def test_only_what_differs_has_changed() -> None:
    queue = QueueCounts()
    queue.put("t1", "c1", "a1", 1.0)
    queue.put("t2", "c2", "a2", 2.0)
    assert queue.changed == {ALL, "c1", "c2"}
    for company in (ALL, "c1", "c2"):
        queue.take_sample(company, 5.0)
    queue.put("t1", "c1", "a1", 1.0)
    assert queue.changed == set()
    queue.put("t1", "c2", "a1", 1.0)
    assert queue.changed == {ALL, "c1", "c2"}
    assert queue.tasks_of_agent("a1") == ("t1",)
