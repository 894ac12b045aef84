"""What a column is sorted by is the same, whether read one by one or for all records at once."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from types import SimpleNamespace
from typing import Any

from agentco_tui.live.clock import SystemClock
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store
from agentco_tui.model import Agent, Company, Listing, Moment, Ref, Task
from agentco_tui.screens.columns.cells import Look
from agentco_tui.screens.columns.task_columns import task_columns
from agentco_tui.text import plain

LIMITS: Any = SimpleNamespace(
    warn_percent=80, critical_percent=100, waiting_warning=900.0, waiting_critical=3_600.0
)


def test_of_tasks() -> None:
    store = Store()
    store.agents.replace(
        Listing(
            records=(
                Agent(
                    id="a1",
                    name=plain("Maya"),
                    trust=Decimal("0.7"),
                    company=Ref("c1", None),
                ),
                Agent(id="a2", name=plain("Arne"), trust=Decimal(0)),
            )
        )
    )
    store.companies.replace(Listing(records=(Company(id="c1", name=plain("Initech")),)))
    clock = SystemClock()
    look = Look(store, Names(store), clock, LIMITS)
    refs = (
        None,
        Ref("a1", None),
        Ref("a1", plain("maya")),
        Ref("a2", plain("Zoe")),
        Ref("a9", None),
    )
    companies = (None, Ref("c1", None), Ref("c2", plain("Globex")), Ref(None, plain("Hooli")))
    trusts = (None, Decimal(0), Decimal("0.4"))
    waited = (None, 10.0, 1_000.0, 9_000.0)
    tasks = [
        Task(
            id=f"t{at}",
            title=plain(f"Pay {at % 7}"),
            agent=agent,
            company=company,
            trust=trust,
            priority=(None, plain("urgent"), plain("low"))[at % 3],
            created=None if age is None else Moment(clock.now() - age),
        )
        for at, (agent, company, trust, age) in enumerate(product(refs, companies, trusts, waited))
    ]
    for statuses in (False, True):
        read = 0
        for column in task_columns(look, statuses=statuses):
            if column.sort_reader is None or column.sort_key is None:
                continue
            read += 1
            found = list(map(column.sort_reader(), tasks))
            assert found == [column.sort_key(task) for task in tasks], column.key
        assert read >= 5
