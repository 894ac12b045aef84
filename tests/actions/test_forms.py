"""What forms say before anything is sent, and what the platform's refusals say beside fields."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.actions.form_check import check_form
from agentco_tui.actions.limit_text import check_limit
from agentco_tui.actions.write_flow import sort_messages
from agentco_tui.text import mark_safe


def test_a_whole_form_has_no_problems() -> None:
    for title in ("Do it", "x" * 10_000):
        assert check_form({"title": title, "priority": "high"}) == {}
    assert check_form({"name": "Acme", "template": "shop", "mission": "Sell\nthings"}) == {}


def test_every_field_that_is_missing_says_so() -> None:
    """What the platform may do without is not demanded."""
    for names, demanded in (
        (("title", "priority"), {"title", "priority"}),
        (("name", "template", "mission"), {"name"}),
        (("name", "mission"), {"name"}),
    ):
        assert set(check_form(dict.fromkeys(names, ""))) == demanded


@pytest.mark.parametrize("title", [" ", "\u00a0", "\u200b", "\u2060\ufeff", "\u3164", "\u2800"])
def test_a_title_that_cannot_be_seen_is_none(title: str) -> None:
    assert check_form({"title": title, "priority": "high"}) == {"title": "say what is to be done"}


@pytest.mark.parametrize("title", ["two\nlines", "a\x1b[31m", "x" * 10_001, "a\ud800", "a\u2028b"])
def test_a_title_is_one_line_of_text(title: str) -> None:
    assert set(check_form({"title": title, "priority": "high"})) == {"title"}


@pytest.mark.parametrize(("typed", "limit"), [
    ("0", "0"), (" 250 ", "250"), ("99.50", "99.50"), (".5", "0.5"), ("7.", "7"), ("007", "7"),
    ("1" * 12, "1" * 12), ("0.123456", "0.123456"),
])  # fmt: skip
def test_limits(typed: str, limit: str) -> None:
    assert check_limit(typed) == Decimal(limit)


@pytest.mark.parametrize(
    "typed",
    ["", "-1", "\u22125", "1,250", "1e3", "NaN", "inf", "$5", "٣", "1.2.3", "1" * 13, "0.1234567"],
)
def test_what_is_no_limit(typed: str) -> None:
    assert isinstance(check_limit(typed), str)


@given(st.text())
def test_any_text_is_a_limit_or_a_sentence(typed: str) -> None:
    found = check_limit(typed)
    assert isinstance(found, str) or (found.is_finite() and found >= 0)


def test_messages_find_their_fields() -> None:
    told = [
        (mark_safe("agentId"), mark_safe("no such agent")),
        (mark_safe("body.title"), mark_safe("too long")),
        (mark_safe("/data/attributes/title"), mark_safe("too dull")),
        (mark_safe("colour"), mark_safe("is unknown")),
        (mark_safe(""), mark_safe("in general")),
    ]
    by_field, others = sort_messages(told, ("title", "agent_id"))
    assert by_field == {"agent_id": "no such agent", "title": "too long; too dull"}
    assert others == ("colour: is unknown", "in general")
