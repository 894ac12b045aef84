"""Words of figures and of tasks: short, whole, and no more than what is known."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentco_tui.config import AlertLimits
from agentco_tui.live.feeds import Clock, Freshness
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store
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
from agentco_tui.reading import json_body
from agentco_tui.reading.identity import mark_shared
from agentco_tui.screens.cells import CellContext, remaining_money, spent_text, task_status_cell
from agentco_tui.screens.detail_pane import task_in_full
from agentco_tui.screens.header_footer import health_cells
from agentco_tui.screens.task_columns import task_columns
from agentco_tui.text import cell_width, mark_safe, signs
from agentco_tui.text.signs import ASCII, UNICODE
from agentco_tui.widgets.text_pane import break_into_lines
from tests.platform import EmbeddedPlatform
from tests.reading import decode
from tests.screens.harness import WIDE, Staging, stage, text_of


def dollars(amount: str) -> Money:
    return Money(amount=Decimal(amount), currency=mark_safe("USD"))


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
            Money(amount=Decimal(7), currency=mark_safe("USD"), unit_assumed=True),
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
    assert remaining_money(agent, budget_of("10", remaining=other)) == shown
    assert remaining_money(agent, None) == own
    assert remaining_money(agent, budget_of(None)) is None


async def test_the_detail_of_an_agent_is_in_its_budgets_currency(on: Staging) -> None:
    async with on(place="agents", size=WIDE) as s:
        await s.poll()
        for key in "gjjj":
            await s.press(key)
            await s.at_rest()
            left = next(
                line for line in text_of(s.view.detail).splitlines() if line.startswith("left")
            )
            assert "$" in left


def test_pending_is_known_well() -> None:
    cell = task_status_cell(Task(id="t", title=mark_safe("T"), state=TaskState.PENDING))
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
                Agent(
                    id="a1", name=mark_safe("Maya"), trust=Decimal("0.7"), company=Ref("c1", None)
                ),
                Agent(id="a2", name=mark_safe("Arne"), trust=Decimal(0)),
            )
        )
    )
    store.companies.replace(Listing(records=(Company(id="c1", name=mark_safe("Initech")),)))
    clock = Clock()
    context = CellContext(store, Names(store), clock, LIMITS)
    refs = (
        None,
        Ref("a1", None),
        Ref("a1", mark_safe("maya")),
        Ref("a2", mark_safe("Zoe")),
        Ref("a9", None),
    )
    companies = (
        None,
        Ref("c1", None),
        Ref("c2", mark_safe("Globex")),
        Ref(None, mark_safe("Hooli")),
    )
    trusts = (None, Decimal(0), Decimal("0.4"))
    waited = (None, 10.0, 1_000.0, 9_000.0)
    tasks = [
        Task(
            id=f"t{at}",
            title=mark_safe(f"Pay {at % 7}"),
            agent=agent,
            company=company,
            trust=trust,
            priority=(None, mark_safe("urgent"), mark_safe("low"))[at % 3],
            created=None if age is None else Moment(clock.now() - age),
        )
        for at, (agent, company, trust, age) in enumerate(product(refs, companies, trusts, waited))
    ]
    for statuses in (False, True):
        read = 0
        for column in task_columns(context, statuses=statuses):
            if column.sort_reader is None or column.sort_key is None:
                continue
            read += 1
            found = list(map(column.sort_reader(), tasks))
            assert found == [column.sort_key(task) for task in tasks], column.key
        assert read >= 5


# ---- the substance of a task: whole, sums first


STORE = Store()
CONTEXT = CellContext(STORE, Names(STORE), Clock(), AlertLimits())


def read(**fields: Any) -> Task:
    record = {"id": "t1", "title": "Pay ACME", **fields}
    sent = json.dumps([{name: each for name, each in record.items() if each is not ...}]).encode()
    [task] = decode.decode_page(decode.TASKS, json_body.parse_json(sent)).records
    return task


def lines(task: Task, width: int = 60) -> list[str]:
    rows = [
        "".join(cell.text for cell in line)
        for line in break_into_lines(task_in_full(task, CONTEXT), width)
    ]
    assert all(cell_width(row) <= width for row in rows)
    return [row.rstrip() for row in rows]


def test_sums_stand_first_and_say_what_they_come_to_where_that_is_told() -> None:
    shown = lines(
        read(
            estimated_cost_usd=40,
            description="For reach.",
            note="by mail",
            payload={
                "vendor": "ACME",
                "amount_cents": 4_000,
                "currency": "USD",
                "quantity": 12_000,
                "lines": [{"item": "Banner", "price_cents": 2_500, "qty": 1}],
            },
        )
    )
    assert shown == [
        "Pay ACME",
        "id           t1",
        "cost          $40.00",
        "amount_cents  4,000 = $40.00",
        "quantity      12,000",
        "",
        "Description",
        "For reach.",
        "",
        "payload",
        "vendor            ACME",
        "currency          USD",
        "lines",
        "  1  price_cents  2,500 = $25.00",
        "     qty          1",
        "     item         Banner",
        "",
        "Other fields",
        "note         by mail",
        "",
        "created      –",
    ]


def test_without_a_cost_the_other_sums_stand_below_the_title() -> None:
    shown = lines(read(payload={"name": "Cleo", "monthly_cents": 75_000, "currency": "USD"}))
    assert shown[:4] == ["Pay ACME", "monthly_cents  75,000 = $750.00", "id           t1",
                         "cost         not sent"]  # fmt: skip
    many = lines(read(payload={f"fee_{number}": number for number in range(1, 6)}))
    assert [line.split()[0] for line in many[1:8]] == [
        "fee_1", "fee_2", "fee_3", "id", "cost", "fee_4", "fee_5",
    ]  # fmt: skip


def test_a_sum_whose_unit_is_not_told_is_not_made_into_another() -> None:
    shown = "\n".join(
        lines(read(total=4_000, payload={"to": "ACME", "amount": 5_000, "currency": "EUR"}))
    )
    assert "total        4,000\n" in shown
    assert "amount       5,000 EUR" in shown
    assert "$" not in shown


def test_words_for_yes_no_and_nothing() -> None:
    shown = "\n".join(lines(read(payload={"urgent": True, "legal": False, "memo": "", "tags": []})))
    for words in ("urgent       yes", "legal        no", "memo         an empty text"):
        assert words in shown
    assert "decisionNote" not in "\n".join(lines(read(decisionNote=None)))


async def test_how_a_value_came_is_told_by_the_raw_detail_alone(on: Staging) -> None:
    async with on(place="tasks", size=WIDE) as s:
        await s.poll()
        task = read(title=..., cost=4, decisionNote=None, payload={"title": "Pay ACME"})
        s.view.show_change(s.workspace.store.pending.replace(Listing(records=(task,))))
        await s.press("g")
        await s.at_rest()
        told = text_of(s.view.detail)
        assert "Pay ACME" in told
        assert "4.00" in told
        assert "sent" not in told
        assert "decisionNote" not in told
        await s.press("x")
        raw = " ".join(text_of(s.view.detail).split())
        assert "title not sent; this is its payload.title" in raw
        assert "cost unit and currency not sent" in raw


def test_a_long_title_is_shown_to_its_end() -> None:
    title = "Pay ACME " + "for services rendered " * 30 + "$90,000"
    assert "$90,000" in " ".join(lines(read(title=title)))
    assert "$90,000" in " ".join(lines(read(title=..., payload={"title": title})))


def test_what_is_cut_or_hidden_is_told() -> None:
    shown = " ".join(lines(read(payload={"note": "x" * 30_100})))
    assert "100 characters missing" in shown
    shown = " ".join(lines(read(payload={"to": "AC\u200bME"})))
    assert "characters that can't be shown in payload.to" in shown
    assert read(payload={"note": "x" * 30_100}).cut
    assert read(payload={"note": "x" * 29_000}).cut is None
    assert "more character" in " ".join(lines(read(description="é" * 31_000)))
    assert read(description="é" * 31_000).cut


def test_a_shared_id_is_told_and_shown_as_sent() -> None:
    for task in mark_shared((read(), read(title="Pay EVIL"))):
        shown = lines(task)
        assert shown[1] == "▲ 2 tasks with this id: nothing can be done to them here"
        assert shown[2:4] == ["id           t1", "cost         –"]


WORD = st.text("abcxyz09", min_size=1, max_size=12)
WORDS = st.lists(WORD, min_size=1, max_size=12).map(" ".join)
LEAVES = WORDS | st.integers(10**6, 10**9) | WORDS.map(lambda text: text.replace(" ", "\n"))
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4)
        | st.dictionaries(st.text("ab_", min_size=1, max_size=30), inner, min_size=1, max_size=4)
    ),
    max_leaves=12,
)


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(leaf for each in value.values() for leaf in leaves(each))]
    if isinstance(value, list):
        return [leaf for each in value for leaf in leaves(each)]
    return [f"{value:,}"] if isinstance(value, int) else value.split()


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(["payload", "plan", "b", "c"]), VALUES), st.integers(36, 90))
def test_every_name_and_every_word_is_there_at_any_width(sent: dict[str, Any], width: int) -> None:
    shown = "".join(lines(read(**sent), width)).replace(" ", "").replace(",", "")
    for leaf in leaves(sent):
        assert leaf.replace(" ", "").replace(",", "") in shown


def test_a_gauge_with_its_per_cent_is_as_wide_for_every_share() -> None:
    """So that no line of the money of the Overview is cut where one has 1,170 %."""

    def used(share: str) -> str:
        budget = Budget(id="a1", scope=BudgetScope.AGENT, share=Decimal(share))
        return CONTEXT.used(budget, 10).text

    assert used("0.5") == "████▌────   50 %"
    assert used("11.699") == "███████▶ 1,170 %"
    assert used("1234") == "█████▶ >99,999 %"
