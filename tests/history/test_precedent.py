"""What became of tasks alike, put together from several sources."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Any

from agentco_tui.history.observations import TaskLife
from agentco_tui.history.precedent import Precedent, find_precedents, likeness_of
from agentco_tui.model import Money, Ref, Task, TaskState
from agentco_tui.text import SafeText, clean_line, mark_safe

USD, EUR = mark_safe("USD"), mark_safe("EUR")
LINUS = Ref(id="linus")
REFUND = Task(id="t0", title=mark_safe("Refund 214 customers"), agent=LINUS)


def life(number: int, state: TaskState | None, **more: Any) -> TaskLife:
    told = {"title": "Refund 9 customers", "agent": "linus", "waiting_since": 1.0, **more}
    told["title"] = clean_line(told["title"])
    return TaskLife(id=f"t{number}", first_seen=float(number), state=state, **told)


def found(*lives: TaskLife | None, here: set[str] | None = None, task: Task = REFUND) -> Precedent:
    known = find_precedents([task], lives, here or set(), 0.0, None, unit_assumed=False)
    return known.precedents[likeness_of(task)]


def test_what_became_of_tasks_alike_and_of_no_others() -> None:
    told = found(
        life(1, TaskState.DONE),
        life(2, TaskState.FAILED),
        life(3, TaskState.REJECTED),
        life(4, TaskState.RUNNING),
        life(5, TaskState.DONE, waiting_since=None),
        life(6, TaskState.PENDING),
        life(7, TaskState.CANCELLED),
        life(8, TaskState.DONE, title="Close the books"),
        life(9, TaskState.DONE, agent="ada"),
        life(0, TaskState.DONE),
        here={"t1", "t0"},
    )
    counts = (told.approved, told.approved_here, told.rejected, told.failed, told.not_asked)
    assert counts == (3, 1, 1, 1, 1), "itself is none of them"
    assert told.last_at == 5.0
    assert told.count == 5
    assert found() == Precedent()


def test_what_several_sources_know_of_one_task_counts_once() -> None:
    waited = life(1, TaskState.PENDING)
    journal = TaskLife(id="t1", title=REFUND.title, agent="linus", first_seen=3.0, decided=3.0,
                       state=TaskState.APPROVED)  # fmt: skip
    log = TaskLife(id="t1", title=clean_line(""), first_seen=9.0, ended=9.0, state=TaskState.FAILED)
    unknown = TaskLife(
        id="t2", title=clean_line(""), agent="linus", first_seen=9.0, state=log.state
    )
    told = found(waited, journal, log, unknown, here={"t1"})
    assert (told.approved, told.approved_here, told.failed, told.count) == (1, 1, 1, 1)
    assert told.last_at == 9.0


def test_what_they_cost_is_the_middle_of_one_currency_and_so_is_the_share() -> None:
    def cost(number: int, cost: str, currency: SafeText, estimate: str | None = None) -> TaskLife:
        sums: Any = {"cost": Decimal(cost), "currency": currency}
        sums["estimate"] = None if estimate is None else Decimal(estimate)
        return life(number, TaskState.DONE, **sums)

    told = found(cost(1, "2", USD, "2"), cost(2, "900", EUR), cost(3, "8", USD), cost(4, "3", USD))
    assert told.cost == Money(Decimal(3), USD, derived=True)
    assert told.cost_ratio == 1
    assert found(cost(1, "3", USD, "2")).cost_ratio == Decimal("1.5")
    assert found(life(1, TaskState.DONE)).cost is None
    other = life(1, TaskState.DONE, title="Close the books", cost=Decimal(2))
    assert found(other).cost is None


def test_agents_without_an_id_are_known_by_name_and_words_by_what_they_have_in_common() -> None:
    titles = ("Refund 3 customers", "Refund 1,200 customers", "Refund Fairview customers")
    tasks = [
        Task(id=title, title=mark_safe(title), agent=Ref(name=mark_safe("Linus")))
        for title in titles
    ]
    assert all(likeness_of(one) == likeness_of(other) for one, other in pairwise(tasks))
    assert likeness_of(tasks[0]) != likeness_of(REFUND)
