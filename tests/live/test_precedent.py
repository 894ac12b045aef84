"""What became of tasks alike, put together from several sources."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from statistics import median
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.background import at_once
from agentco_tui.live.history import TaskLife
from agentco_tui.live.precedent import Precedent, alike_of, lives_of, precedents, spread, usual
from agentco_tui.model import Moment, Money, Ref, Task, TaskState
from agentco_tui.text import plain, safe

USD, EUR = plain("USD"), plain("EUR")
LINUS = Ref(id="linus")
REFUND = Task(id="t0", title=plain("Refund 214 customers"), agent=LINUS)


def life(number: int, state: TaskState | None, **more: Any) -> TaskLife:
    told = {"title": "Refund 9 customers", "agent": "linus", "waiting_since": 1.0, **more}
    told["title"] = safe(told["title"])
    return TaskLife(id=f"t{number}", first_seen=float(number), state=state, **told)


def found(*lives: TaskLife | None, here: set[str] | None = None, task: Task = REFUND) -> Precedent:
    return at_once(precedents([task], lives, here or set(), assumed=False))[alike_of(task)]


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
    counts = (told.approved, told.here, told.rejected, told.failed, told.unasked)
    assert counts == (3, 1, 1, 1, 1), "itself is none of them"
    assert told.last == 5.0
    assert told.count == 5
    assert told.is_bad, "half of four"
    assert not found(*(life(number, TaskState.DONE) for number in (1, 2))).is_bad
    assert found() == Precedent(of_agent=True)


def test_what_several_sources_know_of_one_task_counts_once() -> None:
    waited = life(1, TaskState.PENDING)
    journal = TaskLife(id="t1", title=REFUND.title, agent="linus", first_seen=3.0, decided=3.0,
                       state=TaskState.APPROVED)  # fmt: skip
    log = TaskLife(id="t1", title=safe(""), first_seen=9.0, ended=9.0, state=TaskState.FAILED)
    unknown = TaskLife(id="t2", title=safe(""), agent="linus", first_seen=9.0, state=log.state)
    told = found(waited, journal, log, unknown, here={"t1"})
    assert (told.approved, told.here, told.failed, told.count) == (1, 1, 1, 1)
    assert told.last == 9.0
    assert found(log, waited) == found(waited), "what has no title must be known before"


def test_the_lists_tell_what_they_know_of_what_is_past_waiting() -> None:
    sums: Any = {"cost": Money(Decimal(3), USD), "estimate": Money(Decimal(2), USD)}
    done = Task(id="t1", title=REFUND.title, agent=LINUS, state=TaskState.DONE,
                decided_by=plain("Theo"), updated=Moment(5.0), **sums)  # fmt: skip
    waits = Task(id="t2", title=REFUND.title, agent=LINUS, state=TaskState.PENDING)
    told = found(*lives_of([done, waits]))
    assert (told.approved, told.count, told.last) == (1, 1, 5.0)
    assert told.ratio == (Decimal("1.5"), Decimal("1.5"))
    assert told.cost == Money(Decimal(3), USD, derived=True)


def test_cost_is_of_tasks_alike_else_of_the_agent() -> None:
    sums: Any = {"currency": USD, "cost": Decimal(2), "estimate": Decimal(2)}
    other = life(1, TaskState.DONE, title="Close the books", **sums)
    assert found(other).of_agent
    assert found(other).cost == Money(Decimal(2), USD, derived=True)
    assert found(other).ratio is None
    more = life(2, TaskState.DONE, **{**sums, "cost": Decimal(8)})
    assert found(other, more).cost == Money(Decimal(8), USD, derived=True)
    assert not found(other, more).of_agent


COSTS = st.tuples(st.sampled_from([USD, EUR, None]), st.decimals(-5, 1000, places=2))


@given(st.lists(COSTS))
def test_the_usual_cost_is_the_middle_of_one_currency(costs: list[tuple[None, Decimal]]) -> None:
    known = usual(costs, assumed=True)
    amounts = [amount for _, amount in costs if amount >= 0]
    if known is None:
        assert not amounts
        return
    own = [amount for currency, amount in costs if currency == known.currency and amount >= 0]
    assert known.amount == median(own)
    assert known.unit_assumed
    assert len(own) * 3 >= len(amounts)


@given(st.lists(st.decimals("0.01", 100, places=2), min_size=1, max_size=40))
def test_a_few_extremes_say_nothing_of_the_rest(shares: list[Decimal]) -> None:
    told = spread(shares)
    assert told is not None
    low, high = told
    assert min(shares) <= low <= high <= max(shares)
    if len(shares) >= 12:
        assert spread([*shares, Decimal(10**6)])[1] <= max(shares)  # type: ignore[index]


def test_agents_without_an_id_are_known_by_name_and_words_by_what_they_have_in_common() -> None:
    titles = ("Refund 3 customers", "Refund 1,200 customers", "Refund Fairview customers")
    tasks = [Task(id=title, title=plain(title), agent=Ref(name=plain("Linus"))) for title in titles]
    assert all(alike_of(one) == alike_of(other) for one, other in pairwise(tasks))
    assert alike_of(tasks[0]) != alike_of(REFUND)
