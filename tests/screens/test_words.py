"""Words of figures: short, and no more than what is known."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.live.feeds import Freshness, SystemClock
from agentco_tui.live.store import Names, Store
from agentco_tui.model import (
    Agent,
    Budget,
    BudgetScope,
    Company,
    Listing,
    Moment,
    Money,
    Ref,
    Task,
    TaskState,
)
from agentco_tui.screens.cells import Look, left_of, spent_text, task_status_cell
from agentco_tui.screens.header_footer import health_cells
from agentco_tui.screens.tasks_view import task_columns
from agentco_tui.signs import ASCII, UNICODE
from agentco_tui.text import plain, signs
from tests.screens.harness import WIDE, Staging, stage, text_of


def dollars(amount: str) -> Money:
    return Money(amount=Decimal(amount), currency=plain("USD"))


def budget_of(limit: str | None, *, remaining: Money | None = None) -> Budget:
    return Budget(
        id="ag_1",
        scope=BudgetScope.AGENT,
        limit=None if limit is None else dollars(limit),
        spent=dollars("3"),
        remaining=remaining,
        unlimited=limit is None,
    )


async def test_an_empty_platform_has_no_part_of_no_limit(
    empty_platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(empty_platform, tmp_path) as s:
        await s.poll()
        assert "of no limit" not in s.text
        await s.resize(*WIDE)
        assert "of no limit" not in s.text


def test_what_is_spent() -> None:
    assert spent_text(budget_of(None)) == "$3.00, no limit"
    assert spent_text(budget_of("10")) == "$3.00 of $10.00"


@pytest.mark.parametrize(
    ("own", "other", "shown"),
    [
        (Money(amount=Decimal(7), unit_assumed=True), dollars("7"), dollars("7")),
        (
            Money(amount=Decimal(7), unit_assumed=True),
            dollars("8"),
            Money(amount=Decimal(7), currency=plain("USD"), unit_assumed=True),
        ),
        (Money(amount=Decimal(7)), None, Money(amount=Decimal(7))),
        (None, dollars("7"), dollars("7")),
        (None, None, None),
    ],
)
def test_an_agents_budget_tells_the_currency_of_its_record(
    own: Money | None, other: Money | None, shown: Money | None
) -> None:
    agent = Agent(id="ag_1", budget_remaining=own)
    assert left_of(agent, budget_of("10", remaining=other)) == shown
    assert left_of(agent, None) == own
    assert left_of(agent, budget_of(None)) is None


async def test_the_detail_of_an_agent_is_in_its_budgets_currency(on: Staging) -> None:
    async with on(place="agents", size=WIDE) as s:
        await s.poll()
        for key in "jjjj":
            await s.press(key)
            await s.at_rest()
            left = next(line for line in text_of(s.view.detail).splitlines() if "left" in line)
            assert "$" in left
            assert "currency not sent" not in left


def test_pending_is_known_well() -> None:
    cell = task_status_cell(Task(id="t", title=plain("T"), state=TaskState.PENDING))
    assert cell.text == f"{signs.waiting} pending"
    for which in (UNICODE, ASCII):
        others = {which.unknown, which.warning, which.critical, which.good, which.missing}
        assert which.waiting not in others


@pytest.mark.parametrize(
    ("age", "refresh", "shown"),
    [
        (0.0, 5.0, "<6 s"),
        (5.9, 5.0, "<6 s"),
        (6.1, 5.0, "<12 s"),
        (0.0, 60.0, "<2 m"),
        (70.0, 5.0, "<2 m"),
        (4000.0, 5.0, "<2 h"),
    ],
)
def test_the_headers_age_is_a_bound(age: float, refresh: float, shown: str) -> None:
    fresh = Freshness(answered_at=100.0)
    cells = health_cells(fresh, None, 100.0 + age, refresh=refresh)
    assert "".join(cell.text for cell in cells).endswith(shown)


def test_the_header_says_that_it_is_one() -> None:
    fresh = Freshness(answered_at=100.0)
    cells = health_cells(fresh, 0.084, 101.0, refresh=5.0)
    assert "".join(cell.text for cell in cells) == "● live <6 s · 84 ms"


LIMITS: Any = SimpleNamespace(
    warn_percent=80, critical_percent=100, waiting_warning=900.0, waiting_critical=3_600.0
)


def test_of_tasks() -> None:
    store = Store()
    store.agents.replace(
        Listing(
            records=(
                Agent(id="a1", name=plain("Maya"), trust=Decimal("0.7"), company=Ref("c1", None)),
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
