"""Bodies below the cap that would fill the memory once they are parsed."""

from __future__ import annotations

import pytest

from agentco_tui.reading import json_body
from tests.reading import decode

SIZE = 60_000_000
"""Bytes: below the cap of a body."""
UNITS = (
    b"{},", b"[],", b"1.5,", b'"ab",', b'{"a":1},', b'{"a":{}},', b'{"a":', b"[", b"null,",
    '"\U0001f600",'.encode(), b"{}\n", b"\n{", b"data:1\n\n",
)  # fmt: skip


def whole(unit: bytes, size: int = SIZE) -> bytes:
    """A body of so many bytes made of one piece again and again, closed where it is a list."""
    if unit.endswith(b","):
        return b"[" + unit * (size // len(unit)) + unit[:-1] + b"]"
    return unit * (size // len(unit))


@pytest.mark.parametrize("unit", UNITS)
def test_what_would_not_fit_is_not_parsed(unit: bytes) -> None:
    with pytest.raises(json_body.BodyError) as caught:
        json_body.parse_json(whole(unit))
    assert caught.value.reason in (
        "more values than fit into memory",
        "JSON that is nested too deeply",
    )


def test_as_many_records_are_kept_and_more_are_told() -> None:
    rows = [{"agent_id": f"ag_{number}"} for number in range(50_002)]
    page = decode.decode_page(decode.AGENT_BUDGETS, rows)
    assert len(page.records) == 50_000
    assert page.unread == 2
    assert page.unread_reasons == ("more than 50,000 agent budgets",)


def test_a_long_list_is_read_as_a_short_one_is() -> None:
    """What the rows say about each other counts, though their first half is not kept."""
    rows = [{"agent_id": f"ag_{number}", "pct": "0.5"} for number in range(6_000)]
    for count, last in ((6_000, 80), (10, 80)):
        some = [*rows[:count], {"agent_id": "last", "pct": str(last)}]
        records = decode.decode_page(decode.AGENT_BUDGETS, some).records
        assert [str(each.share) for each in (records[0], records[-1])] == ["0.005", "0.8"]
