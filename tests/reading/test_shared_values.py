"""Records share equal values, and nothing that they say changes by it."""

from __future__ import annotations

from collections.abc import Hashable
from decimal import Decimal

from msgspec.structs import replace

from agentco_tui.model import Budget, BudgetScope, Moment, Money, Ref, Task, TaskState
from agentco_tui.reading.shared_values import SharedValues
from agentco_tui.text import mark_safe


def task(number: int) -> Task:
    """A task whose values are equal to those of others, and never the same objects."""
    return Task(
        id=f"t{number}",
        title=mark_safe(f"Refund {500} customers"),
        status=mark_safe("".join(("pend", "ing"))),
        state=TaskState.PENDING,
        needs_approval=True,
        agent=Ref(f"a{number % 2}", mark_safe("Ada")),
        created=Moment(1000.0 + number),
        updated=Moment(1000.0 + number),
        cost=Money(Decimal("1.50"), mark_safe("USD")),
        trust=Decimal(1),
    )


def test_equal_values_of_two_records_are_one_object() -> None:
    values = SharedValues()
    of_reading: dict[Hashable, Hashable] = {}
    first, second = task(0), task(2)
    for each in (first, second):
        values.share(each, of_reading)
    assert (first, second) == (task(0), task(2))
    for name in ("title", "status", "agent", "cost"):
        assert getattr(first, name) is getattr(second, name), name
    assert first.updated is first.created


def test_a_flag_and_a_state_stay_what_they_are_beside_equal_values() -> None:
    values = SharedValues()
    one = task(1)
    values.share(one, {})
    assert one.needs_approval is True
    assert type(one.trust) is Decimal
    assert one.state is TaskState.PENDING
    assert type(one.status) is str


def test_a_later_moment_that_differs_is_kept() -> None:
    changed = replace(task(3), updated=Moment(2000.0))
    SharedValues().share(changed, {})
    assert changed.updated == Moment(2000.0)


def test_a_sum_is_shared_within_a_reading_and_a_limit_for_longer() -> None:
    values = SharedValues()
    budgets = [
        Budget(
            id=f"b{number}",
            scope=BudgetScope.AGENT,
            limit=Money(Decimal(100)),
            spent=Money(Decimal(7)),
        )
        for number in range(2)
    ]
    values.share(budgets[0], {})
    values.share(budgets[1], {})
    assert budgets[0].limit is budgets[1].limit
    assert budgets[0].spent is not budgets[1].spent


def test_sums_that_are_written_differently_stay_as_they_were_sent() -> None:
    """1.5 and 1.50 are equal, and an export of one must not depend on the other."""
    shared_values = SharedValues()
    texts: list[str] = []
    for number, amount in enumerate(("1.5", "1.50")):
        cost = Money(Decimal(amount))
        one = Task(id=f"t{number}", title=mark_safe("Refund"), cost=cost)
        shared_values.share(one, {})
        assert one.cost is not None
        texts.append(str(one.cost.amount))
    assert texts == ["1.5", "1.50"]
