"""Bytes to JSON, whatever the bytes."""

from __future__ import annotations

import contextlib
import time
from decimal import Decimal

import pytest

from agentco_tui.reading import json_body
from agentco_tui.reading.json_body import BodyError, looks_like_html, parse_json
from tests.reading import decode


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"", None),
        (b"  \r\n", None),
        (b"null", None),
        (b"[0.1]", [Decimal("0.1")]),
        (b"[12345678901234567890.123]", [Decimal("12345678901234567890.123")]),
        (b"[9007199254740993]", [9007199254740993]),
        (b"\xef\xbb\xbf[1]", [1]),
        (b"[NaN, Infinity, -Infinity, 1]", [None, None, None, 1]),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'["caf\xe9"]', ["café"]),
        ('["café caf'.encode() + b'\xe9"]', ["café café"]),
        (b'["a\tb\nc"]', ["a\tb\nc"]),
        (b'["\\ud800x"]', ["\ufffdx"]),
        (b'{"\\udc00":{"k":["\\ud83d\\ude00"]}}', {"\ufffd": {"k": ["\U0001f600"]}}),
        (b"[1e5]", [Decimal("1e5")]),
        (b'{"a":1}\n{"a":2}\n', [{"a": 1}, {"a": 2}]),
        (b'\x1e{"a":1}\n\x1e{"a":2}\n', [{"a": 1}, {"a": 2}]),
        (b'data: {"a":1}\n\n: ping\n\ndata: {"a":2}\n\ndata: [DONE]\n\n', [{"a": 1}, {"a": 2}]),
        (b'event: x\nid: 1\ndata: {"a":\ndata: 1}\n\n', [{"a": 1}]),
        (b'data: {"a":1}\nid: 7\n\n', [{"a": 1}]),
        (b"5", 5),
        (b'"x"', "x"),
        (b'"{\\"a\\": 1}"', {"a": 1}),
        (b'\xef\xbb\xbf"{\\"a\\": 1}"', {"a": 1}),
        ('"\ufeff[1]"'.encode(), [1]),
        (b'"{\\"a\\": NaN}"', {"a": None}),
        (b'\xef\xbb\xbf"[NaN, 1]"', [None, 1]),
        (b'"[x] is no JSON"', "[x] is no JSON"),
    ],
)
def test_what_bodies_hold(body: bytes, found: object) -> None:
    assert parse_json(body) == found


def test_fractions_are_never_floats() -> None:
    assert all(
        type(value) is Decimal for value in parse_json(b"[0.06000000000000001, 1e2, NaN]")[:2]
    )


def test_thousands_of_digits_stay_text_and_take_no_time() -> None:
    digits = "9" * 5_000
    assert parse_json(f'{{"id":{digits}}}'.encode()) == {"id": digits}
    assert parse_json(b"[" + b"1" * 500_000 + b"]")[0] == "1" * 500_000


@pytest.mark.parametrize("text", ["1e999999999999999999999", "1e99999999", "-1E+9999999999999999"])
def test_exponents_past_sense_become_no_giant_numbers(text: str) -> None:
    (found,) = parse_json(f"[{text}]".encode())
    assert len(str(found)) < 50


@pytest.mark.parametrize(
    ("body", "reason", "is_html"),
    [
        (b"<!doctype html><html><title>Sign in</title>", "a web page", True),
        (b"\n <html lang=en>", "a web page", True),
        (b"<head><title>x", "a web page", True),
        (b"<?xml version='1.0'?><error/>", "XML", False),
        (b"<?xml version='1.0'?><!DOCTYPE html PUBLIC 'x'><html>", "a web page", True),
        (b'{"tasks":[{"id":"t1"},{"id', "cut off or broken", False),
        (b"Too Many Requests", "no JSON", False),
        (b'data: {"a":1}\nthe connection was reset\n\n', "no JSON", False),
        (b"\x00\xff\xfe\x01", "no JSON", False),
        (b"[" * 100_000, "nested too deeply", False),
        (b'{"a":' * 100_000, "nested too deeply", False),
        (b"[NaN," + b"[" * 100_000, "nested too deeply", False),
    ],
)
def test_what_is_no_json_is_told_in_a_few_words(body: bytes, reason: str, is_html: bool) -> None:
    with pytest.raises(BodyError, match=reason) as caught:
        parse_json(body)
    assert caught.value.is_html is is_html
    assert looks_like_html(body) is is_html


def test_the_reason_holds_no_escape_and_no_long_piece_of_the_body() -> None:
    with pytest.raises(BodyError) as caught:
        parse_json(b"\x1b]52;c;xx\x07 secret " * 1_000)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 60


NOISE = [
    b"[" * 1_000_000, b"[1," * 300_000, b'{"a":' * 200_000, b'"' * 1_000_000, b"\\" * 1_000_000,
    b"[" + b"1" * 1_000_000, b"data: x\n" * 120_000, b"{}\n" * 300_000, b"x\n" * 500_000,
    b'["' + b"\\ud800" * 160_000 + b'"]', b"\xff" * 1_000_000, b" " * 1_000_000 + b"x",
    b"<" * 1_000_000, b"NaN " * 250_000, b"[1e9" + b"9" * 900_000 + b"]", b"-" * 1_000_000,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("body", NOISE, ids=range(len(NOISE)))
def test_a_megabyte_of_noise_is_read_in_linear_time(body: bytes) -> None:
    def seconds(part: bytes) -> float:
        best = 9.9
        for _ in range(2):
            start = time.process_time()
            with contextlib.suppress(BodyError):
                parse_json(part)
            best = min(best, time.process_time() - start)
        return best

    def is_linear() -> bool:
        """Whether four times as much takes about four times as long, and not sixteen."""
        quarter, whole = seconds(body[: len(body) // 4]), seconds(body)
        return whole < 0.05 or whole < 10 * max(quarter, 0.001)

    assert any(is_linear() for _ in range(5)), "also once the machine has calmed down"


# --- bodies below the cap that would fill the memory once they are parsed ---

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


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_what_would_not_fit_is_not_parsed(unit: bytes) -> None:
    with pytest.raises(json_body.BodyError) as caught:
        json_body.parse_json(whole(unit))
    assert caught.value.reason in (
        "more values than fit into memory",
        "JSON that is nested too deeply",
    )


@pytest.mark.slow
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
