"""Error bodies, and what of them a person gets to see."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentco_tui.reading.error_body import ErrorBody, read_error


def told(body: Any, content_type: str = "application/json") -> ErrorBody:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_error(raw, content_type)


@pytest.mark.parametrize(
    "body", [b"Failed to deserialize the JSON body", b"upstream connect error\nand more"]
)
def test_the_words_of_a_refusal(body: bytes) -> None:
    assert str(told(body).message).startswith(body.decode().splitlines()[0])


def test_fields_are_part_of_the_message_and_at_most_five_of_them() -> None:
    found = told(
        {"detail": [{"loc": ["body", f"f{i}"], "msg": "Field required"} for i in range(40)]}
    )
    assert found.message is not None
    assert found.message.startswith("f0: Field required; f1: Field required")
    assert found.message.count(";") == 4
    assert len(found.fields) <= 20


def test_the_code_goes_in_brackets() -> None:
    assert (
        told({"code": "approval_expired", "message": "too late"}).text
        == "too late [approval_expired]"
    )
    assert ErrorBody().text is None


@pytest.mark.parametrize(
    "body",
    [b"", b"   ", b"null", b"{}", b"[]", b"5", b"true", {"status": 500}, {"code": 3},
     {"stack": "at x (y.js:1)"},
     {"traceback": "Traceback"}],
)  # fmt: skip
def test_an_answer_without_words(body: Any) -> None:
    assert told(body).message is None


def test_a_web_page_is_told_as_one() -> None:
    page = b"<!doctype html><html><head><title>Sign in</title></head><body>Token: abc</body>"
    for content_type in ("text/html; charset=utf-8", ""):
        found = read_error(page, content_type)
        assert found.message == "the address answered with a web page, not with data"


@pytest.mark.parametrize(
    "key", ["sk-live-abcdefgh12345678", "Bearer abcdefgh12345678", "ghp_abcdefghijkl1234"]
)
def test_keys_echoed_in_a_message_are_hidden(key: str) -> None:
    found = told({"error": f"Incorrect key provided: {key}. See the docs.", "fields": {"x": [key]}})
    assert key not in repr(found)
    assert "Incorrect key provided" in str(found.message)


def test_controls_are_made_harmless_and_length_is_bounded() -> None:
    found = told({"message": "\x1b]52;c;QQ==\x07" + "x" * 100_000, "code": "\x1b[2J"})
    assert "\x1b" not in repr(found)
    assert found.message is not None
    assert len(found.message) < 2_000


def test_what_else_stands_in_an_answer_is_no_reason() -> None:
    task = {"id": "t1", "title": "Pay the invoice"}
    assert told({"error": "Conflict", "task": task}).message == "Conflict"
