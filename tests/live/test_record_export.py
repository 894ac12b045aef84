"""Records as JSON, as flat texts and as an environment."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from typing import Any

import pytest

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.names import Names
from agentco_tui.live.record_export import (
    KINDS,
    LISTS,
    LONGEST,
    as_json,
    csv_cell,
    csv_row,
    export_columns,
    flat_record,
    kind_of,
    record_environment,
)
from agentco_tui.live.store import Store
from agentco_tui.model import (
    Activity,
    Agent,
    Budget,
    BudgetScope,
    IdDoubt,
    Listing,
    Moment,
    Money,
    Ref,
    Task,
    TaskState,
    TraceStep,
)
from agentco_tui.text import clean_block, clean_line, mark_safe
from tests.live import records_page

FEW = {"scope": BudgetScope.AGENT, "title": "t", "text": "t"}


@pytest.fixture
def names() -> Names:
    store = Store()
    linus = Agent(
        id="ag_1", name=mark_safe("Linus"), company=Ref(id="cmp_1", name=mark_safe("Acme"))
    )
    store.take(FeedName.AGENTS, Listing(records=(linus,)))
    return Names(store)


def a_task(**more: object) -> Task:
    return Task(
        **{  # type: ignore[arg-type]
            "id": "tsk_1",
            "title": mark_safe("Refund 214"),
            "description": clean_block("two\nlines"),
            "status": mark_safe("needs_ok"),
            "state": TaskState.PENDING,
            "agent": Ref(id="ag_1"),
            "created": Moment(at=1_700_000_000.5, zone_assumed=True),
            "cost": Money(amount=Decimal("12.50"), currency=mark_safe("USD"), unit_assumed=True),
            "content": b"\x01\xff",
            "extra": b'{"risk": {"score": 1E+400}}',
            **more,
        }
    )


def test_a_task_is_told_with_its_units_and_what_was_assumed_or_worked_out(names: Names) -> None:
    told = as_json(a_task(), names)
    some = {name: told[name] for name in told if told[name] is not None}
    assert some == {
        "id": "tsk_1",
        "title": "Refund 214",
        "title_from": "title",
        "description": "two\nlines",
        "status": "needs_ok",
        "state": "pending",
        "agent": {"id": "ag_1", "name": "Linus"},
        "company": {"id": "cmp_1", "name": "Acme"},
        "created": "2023-11-14T22:13:20.500Z",
        "cost": {"amount": "12.50", "currency": "USD"},
        "fingerprint": "01ff",
        "extra": {"risk": {"score": "1E+400"}},
        "assumed": ["created", "cost"],
        "derived": ["company"],
    }
    assert told["priority"] is None
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_each_kind_has_the_same_flat_names_whatever_was_sent(names: Names) -> None:
    few, much = flat_record(Task(id="1", title=mark_safe("t")), names), flat_record(a_task(), names)
    assert few.keys() == much.keys()
    assert (few["cost_amount"], few["cost_currency"], few["created"]) == ("", "", "")
    assert (much["cost_amount"], much["cost_currency"]) == ("12.50", "USD")
    assert (much["assumed"], much["derived"]) == ("created cost", "company")
    assert much["extra"] == '{"risk": {"score": "1E+400"}}'


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_not_sent_is_null(names: Names, kind: str) -> None:
    of = KINDS[kind]
    needed: dict[str, Any] = {
        name: FEW[name] for name, _ in export_columns(kind).values() if name in FEW
    }
    record = of(id="x", **needed)
    assert kind_of(record) == kind
    told = as_json(record, names)
    assert [*told][-2:] == [*LISTS]
    assert json.loads(json.dumps(told)) == told
    assert all(isinstance(cell, str) for cell in flat_record(record, names).values())


def test_a_task_that_shares_its_id_has_the_id_that_was_sent(names: Names) -> None:
    doubt = IdDoubt(reason=mark_safe("2 tasks with this id"), sharers=2, nth=2, sent_id="7")
    told = as_json(Task(id="7\x002", title=mark_safe("t"), id_doubt=doubt), names)
    assert (told["id"], told["sharers"], told["nth"]) == ("7", 2, 2)
    assert told["unwritable"] == "2 tasks with this id"
    alone = as_json(Task(id="7", title=mark_safe("t")), names)
    assert [alone[name] for name in ("unwritable", "sharers", "nth")] == [None, None, None]


def test_what_marks_a_field_is_told_in_derived(names: Names) -> None:
    budget = Budget(
        id="ag_1",
        scope=BudgetScope.AGENT,
        share=Decimal("0.5"),
        share_derived=True,
        remaining=Money(amount=Decimal(1), derived=True),
    )
    told = as_json(budget, names)
    assert (told["share"], told["name"]) == (0.5, "Linus")
    assert told["derived"] == ["name", "company", "remaining", "share"]
    entry = Activity(id="e", verb=mark_safe("approved"), agent=Ref(id="ag_1"), id_derived=True)
    told = as_json(entry, names)
    assert told["text"] == "Linus approved"
    assert told["derived"] == ["id", "text", "company"]
    assert as_json(TraceStep(id="s", duration=1.5), names)["duration_seconds"] == 1.5


def test_an_environment_is_of_short_lines_without_nul(names: Names) -> None:
    hostile = a_task(id="tsk\x00\u202e1", description=clean_line("x" * 9_000, 20_000))
    variables = record_environment(hostile, names)
    assert variables["AGENTCO_TASK_TITLE"] == "Refund 214"
    assert variables["AGENTCO_TASK_AGENT_NAME"] == "Linus"
    assert len(variables["AGENTCO_TASK_DESCRIPTION"]) == LONGEST
    assert record_environment(a_task(), names)["AGENTCO_TASK_DESCRIPTION"] == "two⏎lines"
    assert all(value.isprintable() for value in variables.values())


def test_no_cell_of_a_sheet_is_run() -> None:
    cells = {
        "=1+1": "'=1+1",
        "@SUM(A1)": "'@SUM(A1)",
        "-2+3|cmd": "'-2+3|cmd",
        "\uff1d1+1": "'\uff1d1+1",
        "-12.50": "-12.50",
        "+3": "+3",
        'a "b", c\nd': 'a "b", c\nd',
    }
    assert {text: csv_cell(text) for text in cells} == cells
    assert "\x1b" not in csv_cell("\x1b[2J")
    sheet = io.StringIO(newline="")
    csv.writer(sheet).writerow(map(csv_cell, cells))
    assert next(csv.reader(io.StringIO(sheet.getvalue(), newline=""))) == [*cells.values()]


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "",
        "-5",
        "=1+1",
        "a|=b",
        "|-1",
        "\t=x",
        "\uff1dx",
        "a\x1b[31mb",
        "é",
        "two\nlines",
        "x" * 30_000,
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_row_of_a_sheet_is_made_of_its_cells(text: str, place: int) -> None:
    texts = ["id", "words, with a comma", 'and a "quote"']
    texts[place] = text
    sheet = io.StringIO(newline="")
    csv.writer(sheet).writerow(map(csv_cell, texts))
    assert csv_row(texts) == sheet.getvalue()


def test_the_page_of_records_is_generated_from_them() -> None:
    page = records_page.PAGE.read_text(encoding="utf-8")
    assert page == records_page.page(), "python -m tests.live.records_page"
