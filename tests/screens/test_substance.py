"""The substance of a task on the screen: whole, sums first, in words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentco_tui.config import AlertLimits
from agentco_tui.live.feeds import SystemClock
from agentco_tui.live.store import Names, Store
from agentco_tui.model import Task
from agentco_tui.reading import json_body
from agentco_tui.reading.content import marked
from agentco_tui.screens.cells import Look
from agentco_tui.screens.detail_pane import substance
from agentco_tui.text import cell_width
from agentco_tui.widgets.text_pane import broken
from tests.reading import decode

STORE = Store()
LOOK = Look(STORE, Names(STORE), SystemClock(), AlertLimits())


def read(**fields: Any) -> Task:
    record = {"id": "t1", "title": "Pay ACME", **fields}
    sent = json.dumps([{name: each for name, each in record.items() if each is not ...}]).encode()
    [task] = decode.decode_page(decode.TASKS, json_body.parse_json(sent)).records
    return task


def lines(task: Task, width: int = 60) -> list[str]:
    rows = ["".join(cell.text for cell in line) for line in broken(substance(task, LOOK), width)]
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
        "id           t1",
    ]


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
    assert "nothing in decisionNote" in "\n".join(lines(read(decisionNote=None)))


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
    for task in marked((read(), read(title="Pay EVIL"))):
        shown = lines(task)
        assert shown[1] == "▲ 2 tasks with this id: nothing can be done to them here"
        assert shown[-1] == "id           t1"


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


@pytest.mark.parametrize("width", [20, 36, 50, 74, 120])
def test_it_fits_any_width(width: int) -> None:
    deep = {"a_name_that_is_much_longer_than_a_column": {"of": [{"x": [[1, 2]]}]}}
    assert "column" in "".join(lines(read(payload=deep), width))
