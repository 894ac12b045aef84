"""The filter language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.text import clean_line, mark_safe
from agentco_tui.text.row_filter import ColumnKind, Filter, complete_column_name, parse_filter
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.table.model import TableModel
from agentco_tui.widgets.tones import Cell


@dataclass(frozen=True)
class Task:
    title: str
    agent: str = "Ada"
    age: float | None = 0.0
    spent: Decimal | None = None
    trust: int | None = None
    state: str = "pending"
    urgency: str | None = None


def column(key: str, title: str, **more: Any) -> Column[Task]:
    """A column of what the field says; unless it is text, a filter compares the field's value."""
    value = attrgetter(key)
    if "kind" in more:
        more["filter_value"] = value
    return Column(key, mark_safe(title), 8, lambda task: Cell(clean_line(value(task))), **more)


COLUMNS: list[Column[Task]] = [
    column("title", "TASK"),
    column("agent", "AGENT", aliases=("who",)),
    column("age", "WAITING", uses_clock=True, kind=ColumnKind.SECONDS),
    column("spent", "SPENT %", kind=ColumnKind.SHARE),
    column("trust", "TRUST", kind=ColumnKind.NUMBER),
    Column(
        "state",
        mark_safe("STATE"),
        6,
        lambda _: Cell(mark_safe("●")),
        filter_value=attrgetter("state"),
    ),
    Column(
        "urgency",
        mark_safe("HOW SOON"),
        6,
        lambda _: Cell(mark_safe("!")),
        filter_value=attrgetter("urgency"),
        rank={"low": 0, "high": 1, "urgent": 2}.get,
        shown_by_default=False,
    ),
]


def passes(typed: str, task: Task) -> bool:
    rows = TableModel(COLUMNS)
    for _ in rows.load([("t", task)]):
        pass
    wanted = parse_filter(typed, COLUMNS)
    assert isinstance(wanted, Filter), wanted
    return wanted.select(rows.read_values, ["t"]) == ["t"]


def typed_lines(text: str) -> list[str]:
    """What was typed, one after the other, between semicolons."""
    return [typed.strip() for line in text.strip().splitlines() for typed in line.split(" ; ")]


REFUND = Task(
    "Refund 214 customers",
    "Linus Ö",
    age=7_300,
    spent=Decimal("0.834"),
    trust=38,
    urgency="high",
)


PASSING = """
refund ; REFUND linus ; 214 ; "refund 214" ; ö ; agent:linus ; who:linus
agent:"linus ö" ; AGENT:linus ; task:refund ; !publish ; !agent:ada ; age>2h
age>=7300s ; age<3h ; waiting>1.5h ; age=2h ; age=121m ; age!=3h ; !age>1d
spent>80% ; spent>80 ; spent=83% ; spent<=83.4% ; trust<50 ; trust=38 ; trust!=39
trust<1k ; trust<0.05k ; trust<1,000 ; trust>-1 ; state:pend ; state=pending
!state=done ; title="refund 214 customers" ; trust:38 ; agent: ; ! ; !agent: ; age>
urgency>=high ; urgency<urgent ; urgency=high ; urgency:hi ; how_soon>low ; !urgency<high
zz|refund ; zz | refund ; zz |refund ; zz| refund ; refund || zz ; agent:zz|linus ; refund|
agent:zz|"linus ö" ; agent:zz|trust>3 ; zz | agent:linus | yy ; !agent:zz|yy ; refund |
zz|!yy refund ; trust=3|38 ; | ; | refund ; age<1h|3h ; "refund|x" | linus ; state=done|pending
"refund ; agent:"lin ; refund agent:linus age>2h !publish trust<50
"""


@pytest.mark.parametrize("typed", ["", "  ", *typed_lines(PASSING)])
def test_passes(typed: str) -> None:
    assert passes(typed, REFUND)


@pytest.mark.parametrize(
    "typed",
    typed_lines(
        """
        publish ; refund publish ; "214 refund" ; !refund ; agent:ada ; !agent:linus
        age>3h ; age=1h ; age=3h ; spent>84% ; spent=84% ; trust>50 ; trust!=38 ; state:done
        state=pend ; title=refund ; refund customers214
        urgency>high ; urgency<=low ; urgency:urgent ; !urgency>=low ; urgency=low|urgent
        zz|yy ; refund zz|yy ; !agent:zz|linus ; agent:zz | state:done ; "refund|linus" ; ! | zz
        """
    ),
)
def test_does_not_pass(typed: str) -> None:
    assert not passes(typed, REFUND)


@pytest.mark.parametrize(
    "typed", ["age>0s", "age<1w", "age=0s", "spent>0%", "trust<50", "trust=0", "spent<=100%"]
)
def test_what_is_not_known_matches_no_comparison(typed: str) -> None:
    unknown = Task("x", age=None)
    assert not passes(typed, unknown)
    assert passes("!" + typed, unknown)


def test_a_word_does_not_reach_across_cells_nor_into_what_ticks() -> None:
    assert not passes("customersLinus", REFUND)
    assert not passes("7300", REFUND)


def error(typed: str) -> str:
    found = parse_filter(typed, COLUMNS)
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize(
    ("typed", "nearest"), [("agnet:ada", "agent"), ("wating>2h", "age"), ("trsut<5", "trust")]
)
def test_an_unknown_column_is_told_with_the_nearest_name(typed: str, nearest: str) -> None:
    assert f"did you mean {nearest}" in error(f"refund {typed}")


def test_an_unknown_column_that_resembles_none_lists_them_and_tells_of_quotes() -> None:
    found = error("http://x")
    assert "title, agent, age, spent, trust, state, urgency" in found
    assert "quotes" in found
    assert passes('"http://x"', Task("see http://x"))


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("age>2", "a time with its unit"),
        ("age>2x", "a time with its unit"),
        ("age>old", "a time with its unit"),
        ("spent>2h", "a share"),
        ("trust>2h", "a number"),
        ("trust=high", "a number"),
        ("title>5", "title is text: use title:5"),
        ("state<done", "state is text"),
        ("urgency>soon", "urgency needs a rank"),
        ("refund | age>2", "a time with its unit"),
        ("trust>3|many", "a number"),
    ],
)
def test_an_operand_that_does_not_fit_its_column_is_told(typed: str, said: str) -> None:
    assert said in error(typed)


def test_what_was_typed_comes_back_safe_in_the_message() -> None:
    assert "\x1b" not in error("title>\x1b[31m")


@given(st.text(max_size=40))
def test_anything_typed_is_a_filter_or_an_error_and_never_raises(typed: str) -> None:
    wanted = parse_filter(typed, COLUMNS)
    if isinstance(wanted, Filter):
        passes(typed, REFUND)
    else:
        assert wanted


WORDS = st.lists(st.sampled_from(["refund", "re", "214", "linus", "zz", "!zz", "!re"]), max_size=4)


@given(WORDS)
def test_all_words_must_match_in_whatever_order(words: list[str]) -> None:
    expected = all(
        (word.lstrip("!") in "refund 214 customers\nlinus ö") is not word.startswith("!")
        for word in words
    )
    assert passes(" ".join(words), REFUND) == expected
    assert passes(" ".join(reversed(words)), REFUND) == expected


@pytest.mark.parametrize(
    ("typed", "whole"),
    [
        ("ag", "agent:"),
        ("refund !AG", "refund !AGent:"),
        ("zz|tr", "zz|trust:"),
        ("wh", "who:"),
        ("agent:li", None),
        ("zz", None),
        ("", None),
        ('"ag', None),
    ],
)
def test_a_column_that_is_begun_is_completed(typed: str, whole: str | None) -> None:
    assert complete_column_name(typed, COLUMNS) == whole


# ---- any filter, against what its parts say by themselves

WHATS: dict[str, Callable[[Task], bool]] = {
    "refund": lambda task: "refund" in f"{task.title}\n{task.agent}".casefold(),
    '"214 cus"': lambda task: "214 cus" in task.title.casefold(),
    '"a|b"': lambda task: "a|b" in task.title,
    "agent:linus": lambda task: "linus" in task.agent.casefold(),
    "age>2h": lambda task: task.age is not None and task.age > 7_200,
    "spent<=80%": lambda task: task.spent is not None and task.spent <= Decimal("0.8"),
    "trust!=38": lambda task: task.trust != 38,
    "urgency>=high": lambda task: task.urgency in ("high", "urgent"),
    "urgency:low": lambda task: task.urgency == "low",
    "state=pending|done": lambda task: task.state in ("pending", "done"),
    "agent:linus|ada": lambda task: any(name in task.agent.casefold() for name in ("linus", "ada")),
}
ONE = st.tuples(st.booleans(), st.sampled_from(sorted(WHATS)))
CLAUSES = st.lists(st.lists(ONE, min_size=1, max_size=3), max_size=3)
TASKS = st.builds(
    Task,
    st.sampled_from(["Refund 214 customers", "Publish", "a|b", "refund"]),
    st.sampled_from(["Linus Ö", "Ada", "Grace"]),
    st.sampled_from([None, 0.0, 7_300.0]),
    st.sampled_from([None, Decimal("0.5"), Decimal("0.9")]),
    st.sampled_from([None, 38, 90]),
    st.sampled_from(["pending", "done", "failed"]),
    st.sampled_from([None, "low", "high", "urgent"]),
)


def matching(wanted: Filter, tasks: list[Task]) -> list[str]:
    rows = TableModel(COLUMNS)
    for _ in rows.load((str(at), task) for at, task in enumerate(tasks)):
        pass
    return wanted.select(rows.read_values, list(rows.records))


def spelled(clauses: list[list[tuple[bool, str]]], bar: str) -> str:
    terms = [bar.join("!" * negated + what for negated, what in clause) for clause in clauses]
    return " ".join(terms)


@given(CLAUSES, st.lists(TASKS, max_size=6), st.sampled_from([" | ", " |", "| "]))
def test_every_clause_must_hold_and_one_of_its_terms_is_enough(
    clauses: list[list[tuple[bool, str]]], tasks: list[Task], bar: str
) -> None:
    wanted = parse_filter(spelled(clauses, bar), COLUMNS)
    assert isinstance(wanted, Filter), wanted
    expected = [
        str(at)
        for at, task in enumerate(tasks)
        if all(any(WHATS[what](task) is not negated for negated, what in c) for c in clauses)
    ]
    assert matching(wanted, tasks) == expected
