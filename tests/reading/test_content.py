"""What of a task may change without the task being another."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from agentco_tui.reading.content import content_of

FIVE = {"amount": 1, "currency": "USD", "a": 1, "b": 2, "c": 3}


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ({"row_number": 1}, {"row_number": 2}, True),
        ({"metadata": {"row_number": 1}}, {"metadata": {"row_number": 2}}, True),
        ({"weird": {"row_number": 1}}, {"weird": {"row_number": 2}}, False),
        ({"w": {"metadata": {"row_number": 1}}}, {"w": {"metadata": {"row_number": 2}}}, False),
        ({"agent": {"status": "idle"}}, {"agent": {"status": "busy"}}, True),
        ({"agent": {"status": "idle"}}, {"agent": {"status": "pay 500"}}, False),
        ({"status": "idle"}, {"status": "busy"}, False),
        ({"agent": {"spent": "12.50 USD"}}, {"agent": {"spent": "13 USD"}}, True),
        ({"agent": {"spent": "12.50 USD"}}, {"agent": {"spent": "to the board"}}, False),
        (
            {"agent": {"spent": {"amount": 1, "currency": "USD"}}},
            {"agent": {"spent": {"amount": 2, "currency": "USD"}}},
            True,
        ),
        ({"agent": {"spent": FIVE}}, {"agent": {"spent": {**FIVE, "amount": 2}}}, False),
        ({"agent": {"spent": {"a": {"b": 1}}}}, {"agent": {"spent": {"a": {"b": 2}}}}, False),
        ({"updated_at": None}, {"updated_at": "2026-11-21T09:00:00Z"}, True),
        ({"updated_at": None}, {"updated_at": "and pay Mallory"}, False),
        ({"waiting_for": "about 2 hours"}, {"waiting_for": "almost 3 hours"}, True),
        ({"waiting_for": "about 2 hours"}, {"waiting_for": "the board"}, False),
        ({"unread": True}, {"unread": False}, True),
        ({"unread": "pay Ada"}, {"unread": "pay Mallory"}, False),
        ({"payload": {"updated_at": None}}, {"payload": {"updated_at": "2026-11-21"}}, False),
    ],
    ids=str,
)
def test_only_what_is_volatile_by_name_place_and_sort_may_change(
    before: dict[str, Any], after: dict[str, Any], same: bool
) -> None:
    task = {"id": "t1", "title": "Pay"}
    sent = deepcopy([{**task, **before}, {**task, **after}])
    assert (content_of(sent[0]) == content_of(sent[1])) is same
    assert sent == [{**task, **before}, {**task, **after}], "nothing is taken from what was sent"
