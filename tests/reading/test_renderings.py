"""The same world decodes to equal records, however it is written; nothing else ever happens."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentco_tui.model import Moment, Money, Ref, Task
from agentco_tui.reading.values.status_word import task_state
from agentco_tui.text import clean_line
from tests.reading import decode
from tests.reading.decode import parsed
from tests.reading.renderings import (
    ENVELOPES,
    ID_NAMES,
    KEY_STYLES,
    MONEY_STYLES,
    TIME_STYLES,
    WORDS,
    Row,
    restyled,
)

TIMES = st.integers(
    int(datetime(2015, 1, 1, tzinfo=UTC).timestamp()),
    int(datetime(2032, 1, 1, tzinfo=UTC).timestamp()),
)
SUMS = st.integers(100, 10_000_000).map(lambda cents: Decimal(cents) / 100)
STATES = ("pending", "running", "completed", "failed", "cancelled", "rejected", "peculiar")
REFS = ("flat", "object", "flat id and object name")


@st.composite
def tasks(draw: st.DrawFn) -> list[Task]:
    ids = draw(st.lists(ID_NAMES, min_size=1, max_size=4, unique=True))
    return [
        Task(
            id=each,
            title=clean_line(draw(WORDS)),
            status=clean_line(word := draw(st.sampled_from(STATES))),
            state=task_state(word),
            agent=Ref(draw(ID_NAMES), clean_line(draw(WORDS))),
            company=Ref(draw(ID_NAMES), clean_line(draw(WORDS))),
            priority=clean_line(draw(st.sampled_from(["low", "high"]))),
            created=Moment(float(draw(TIMES))),
            updated=draw(st.none() | TIMES.map(lambda at: Moment(float(at)))),
            trust=draw(st.none() | st.integers(0, 100).map(Decimal)),
            cost=draw(st.none() | SUMS.map(lambda value: Money(value, clean_line("USD")))),
        )
        for each in ids
    ]  # fmt: skip


def task_row(task: Task, time_style: str, money_style: str, refs: str, as_text: bool) -> Row:
    when, money = TIME_STYLES[time_style], MONEY_STYLES[money_style]
    assert task.created is not None
    row: Row = {
        "id": task.id, "title": str(task.title), "status": str(task.status),
        "priority": str(task.priority),
        "created_at": when(int(task.created.at)),
        "updated_at": None if task.updated is None else when(int(task.updated.at)),
    }  # fmt: skip
    if task.trust is not None:
        row["trust_score"] = str(task.trust) if as_text else int(task.trust)
    if task.cost is not None:
        row[f"cost{money.suffix}"] = money.written(task.cost.amount)
        row.update(money.beside)
    for name, ref in (("agent", task.agent), ("company", task.company)):
        assert ref is not None
        if refs == "flat":
            row |= {f"{name}_id": ref.id, f"{name}_name": ref.name}
        elif refs == "object":
            row[name] = {"id": ref.id, "name": ref.name}
        else:
            row |= {f"{name}_id": ref.id, name: {"name": ref.name}}
    return row


@pytest.mark.slow
@settings(max_examples=40)
@given(
    tasks(), st.sampled_from(sorted(ENVELOPES)), st.sampled_from(sorted(KEY_STYLES)),
    st.sampled_from(sorted(TIME_STYLES)),
    st.sampled_from(sorted(MONEY_STYLES)), st.sampled_from(REFS), st.booleans(), st.randoms(),
)  # fmt: skip
def test_tasks(
    world: list[Task],
    envelope: str,
    keys: str,
    when: str,
    money: str,
    refs: str,
    as_text: bool,
    shuffler: Any,
) -> None:
    rows = []
    for task in world:
        items = list(restyled(task_row(task, when, money, refs, as_text), KEY_STYLES[keys]).items())
        shuffler.shuffle(items)
        rows.append(dict(items))
    page = decode.decode_page(decode.TASKS, parsed(ENVELOPES[envelope](rows, "tasks")))
    assert page.unread == 0
    assumed = MONEY_STYLES[money].assumed
    assert [msgspec.structs.replace(found, extra=b"", content=b"") for found in page.records] == [
        msgspec.structs.replace(
            task, cost=task.cost and msgspec.structs.replace(task.cost, unit_assumed=assumed)
        )
        for task in world
    ]


@st.composite
def budgets(draw: st.DrawFn) -> list[tuple[str, Decimal, Decimal]]:
    ids = draw(st.lists(ID_NAMES, min_size=1, max_size=4, unique=True))
    return [(each, draw(SUMS), draw(SUMS)) for each in ids]


NAMES = (
    ("monthly_limit", "spent", "remaining"), ("budget_monthly", "spent_monthly", "remaining"),
    ("limit", "usage", "limit_remaining"),
    ("max_budget", "spend", "budget_remaining"),
    ("budget_limit", "current_spend", "remaining_budget"),
    ("quota", "used", "left"), ("month_budget", "month_spend", "remaining_amount"),
    ("cap", "consumed", "left"),
)  # fmt: skip
INNER_NAMES = (
    ("limit", "spent", "remaining"), ("monthly_limit", "monthly_spend", "remaining"),
    ("max_budget", "spend", "left"), ("amount", "used", "remaining"),
)  # fmt: skip
"""Those that stand inside an object `budget`."""


@settings(max_examples=40)
@given(
    budgets(), st.sampled_from(sorted(ENVELOPES)), st.sampled_from(sorted(KEY_STYLES)),
    st.sampled_from(sorted(MONEY_STYLES)),
    st.sampled_from(NAMES), st.sampled_from([None, *INNER_NAMES]), st.booleans(),
)  # fmt: skip
def test_budgets(
    world: list[tuple[str, Decimal, Decimal]], envelope: str, keys: str, money: str,
    names: tuple[str, str, str], inner_names: tuple[str, str, str] | None,
    sends_remaining: bool,
) -> None:  # fmt: skip
    style, key = MONEY_STYLES[money], KEY_STYLES[keys]
    names = inner_names or names
    rows = []
    for agent_id, limit, spent in world:
        sums = {
            f"{names[0]}{style.suffix}": style.written(limit),
            f"{names[1]}{style.suffix}": style.written(spent),
        }
        if sends_remaining:
            sums[f"{names[2]}{style.suffix}"] = style.written(limit - spent)
        figures = restyled(sums, key)
        row = {key("agent_id"): agent_id, **restyled(dict(style.beside), key)}
        rows.append(row | ({key("budget"): figures} if inner_names else figures))
    page = decode.decode_page(decode.AGENT_BUDGETS, parsed(ENVELOPES[envelope](rows, "agents")))
    assert page.unread == 0
    assert [found.id for found in page.records] == [each[0] for each in world]
    for found, (_, limit, spent) in zip(page.records, world, strict=True):
        assert found.limit == Money(limit, clean_line("USD"), style.assumed)
        assert found.spent == Money(spent, clean_line("USD"), style.assumed)
        assert found.remaining == Money(
            limit - spent, clean_line("USD"), style.assumed, derived=not sends_remaining
        )
        assert found.share is not None
        assert abs(found.share - spent / limit) < Decimal("0.000001")
        assert not found.unlimited


BROKEN: st.SearchStrategy[Any] = st.sampled_from(
    [None, 7, "x", [], [[]], {}, True, {"title": "no id"}, {"id": None}, {"id": []}]
)


@pytest.mark.slow
@settings(max_examples=30)
@given(tasks(), st.lists(st.tuples(st.integers(0, 5), BROKEN), max_size=5))
def test_broken_records_never_cost_others(world: list[Task], broken: list[tuple[int, Any]]) -> None:
    rows: list[Any] = [task_row(task, "iso z", "usd", "flat", False) for task in world]
    for place, value in broken:
        rows.insert(min(place, len(rows)), value)
    page = decode.decode_page(decode.TASKS, parsed({"tasks": rows}))
    assert [found.id for found in page.records] == [task.id for task in world]
    assert page.unread == len(broken)
