"""Equal values of records become one object, unless something would look different then."""

from __future__ import annotations

from collections.abc import Hashable
from decimal import Decimal
from typing import Any

from agentco_tui.model import Moment, Money, Ref, Task
from agentco_tui.reading.shared_values import SharedValues
from agentco_tui.text import clean_line


def a_task(task_id: str, cost: str, title: str = "Refund") -> Task:
    return Task(
        id=task_id,
        title=clean_line(title),
        agent=Ref("ag_1", clean_line("Ada")),
        cost=Money(Decimal(cost)),
        created=Moment(5.0),
        updated=Moment(5.0),
    )


def test_equal_values_are_one_object() -> None:
    shared_values = SharedValues()
    of_reading: dict[Hashable, Any] = {}
    one = a_task("t1", "1.50")
    other = a_task("t2", "1.50")
    assert one.agent is not other.agent
    for task in (one, other):
        shared_values.share(task, of_reading)
    assert one.agent is other.agent
    assert one.cost is other.cost
    assert other.updated is other.created


def test_sums_that_are_written_differently_stay_as_they_were_sent() -> None:
    """1.5 and 1.50 are equal, and an export of one must not depend on the other."""
    shared_values = SharedValues()
    one = a_task("t1", "1.5")
    other = a_task("t2", "1.50")
    for task in (one, other):
        shared_values.share(task, {})
    assert one.cost is not None
    assert other.cost is not None
    assert (str(one.cost.amount), str(other.cost.amount)) == ("1.5", "1.50")
