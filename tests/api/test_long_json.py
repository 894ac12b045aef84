"""A long body parsed in pieces is the body parsed as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from agentco_tui.api import long_json
from agentco_tui.api.long_json import parse_long
from agentco_tui.reading import json_body
from agentco_tui.reading.json_body import BodyError, parse_json

ROWS = [
    {"agent_id": f"ag_{at}", "limit": at / 7, "spent": 12.50, "note": '},{"x":[{', "tags": [{}, {}]}
    for at in range(6_000)
]


@pytest.fixture
def longest(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How long each text was that was parsed in one go."""
    lengths: list[int] = []

    def spy(body: bytes) -> Any:
        lengths.append(len(body))
        return parse_json(body)

    monkeypatch.setattr(long_json, "parse_json", spy)
    return lengths


@pytest.mark.parametrize(
    "body",
    [
        ROWS,
        {"agents": ROWS, "total": 6_000, "page": {"next": None}},
        {"meta": {"tags": ["a", {}]}, "data": {"inner": {"agents": ROWS}}},
    ],
    ids=["bare", "envelope", "nested"],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_lists_are_parsed_in_pieces(body: Any, indent: int | None, longest: list[int]) -> None:
    sent = json.dumps(body, indent=indent).encode()
    assert parse_long(sent) == parse_json(sent)
    assert max(longest) < 100_000


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"[]",
        b"<html>",
        json.dumps(ROWS).encode()[:-1],
        json.dumps(ROWS).replace("12.5", "NaN").encode(),
        json.dumps({row["agent_id"]: row for row in ROWS}).encode(),
        json.dumps({"a": ROWS, "b": ROWS}).encode(),
        json.dumps({"data": ROWS, "included": [{"id": "cmp_1"}], "errors": [{}, {}]}).encode(),
        json.dumps([{"agents": ROWS}]).encode(),
        b'{"a":' + json.dumps(ROWS).encode() + b',"a":[{"x":1}]}',
        json.dumps([{"agentco_tui": "the list"}, *ROWS]).replace(": ", ":").encode(),
        b"\n".join(json.dumps(row).encode() for row in ROWS),
    ],
    ids=[
        *("nothing", "empty", "page", "cut", "no number", "map", "two", "beside", "inside"),
        *("twice", "stand-in", "lines"),
    ],
)
def test_all_else_is_as_ever(sent: bytes) -> None:
    assert outcome(parse_long, sent) == outcome(parse_json, sent)


def outcome(parse: Callable[[bytes], Any], sent: bytes) -> Any:
    """What it gives, or why not."""
    try:
        return parse(sent)
    except BodyError as error:
        return error.reason, error.is_html, error.excerpt


def test_what_would_fill_the_memory_is_refused() -> None:
    with pytest.raises(json_body.OverfullBodyError):
        parse_long(b'{"a":[' + b",".join([b"{}"] * 3_000_000) + b"]}")
