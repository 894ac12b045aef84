"""Error bodies, and what of them a person gets to see."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.reading.error_body import ErrorBody, read_error


def told(body: Any, content_type: str = "application/json") -> ErrorBody:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_error(raw, content_type)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": "Approval not found"}, "Approval not found"),
        ({"error": {"message": "Budget has been exceeded!", "type": "budget_exceeded",
         "param": None, "code": "429"}},
         "Budget has been exceeded!"),
        ({"success": False, "error": {"code": "ERROR", "message": "No such budget"}},
         "No such budget"),
        ({"ok": False, "error": "No such budget"}, "No such budget"),
        ({"detail": "already been updated"}, "already been updated"),
        ({"type": "about:blank", "title": "Conflict", "status": 409, "detail": "Already decided",
         "instance": "/x"},
         "Already decided"),
        ({"type": "https://errors/x", "title": "Quota used up", "status": 409}, "Quota used up"),
        ({"message": "Bad credentials", "documentation_url": "https://x", "status": "401"},
         "Bad credentials"),
        ({"message": "401 Unauthorized"}, "401 Unauthorized"),
        ({"message": {"title": ["is too long"]}}, "title: is too long"),
        ({"code": 5, "message": "workflow not found", "details": []}, "workflow not found"),
        ({"__type": "ThrottlingException", "message": "Rate exceeded"}, "Rate exceeded"),
        ({"Message": "Rate exceeded"}, "Rate exceeded"),
        ({"timestamp": "2026-11-21", "status": 404, "error": "Not Found", "path": "/api/x"},
         "Not Found"),
        ({"status": 404, "error": "Not Found", "message": "no task t9"}, "no task t9"),
        ({"errors": [{"message": "slow down", "extensions": {"code": "RATELIMITED"}}],
         "data": None}, "slow down"),
        ({"error": {"code": "ratelimited", "info": "too many"}}, "too many"),
        ({"error": "invalid_grant", "error_description": "The key has expired"},
         "The key has expired"),
        ({"msg": "nope"}, "nope"), ({"reason": "nope"}, "nope"),
        ({"errorMessages": ["nope"], "errors": {}}, "nope"),
        ({"errors": ["first", "second"]}, "first"), ({"data": {"error": "inner"}}, "inner"),
        ("just a text", "just a text"), (["first thing"], "first thing"),
        (b"Failed to deserialize the JSON body", "Failed to deserialize the JSON body"),
        (b"upstream connect error\nand more", "upstream connect error"),
        (b"Too Many Requests", "Too Many Requests"),
        ({"error": {"error": {"message": "deep"}}}, "deep"),
    ],
)  # fmt: skip
def test_the_words_of_a_refusal(body: Any, message: str) -> None:
    found = told(body)
    assert found.message is not None
    assert found.message.startswith(message)


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"error": "Validation error",
         "details": [{"path": ["title"], "message": "Required", "code": "x"}]},
         (("title", "Required"),)),
        ({"error": "Validation error",
         "details": [{"path": ["items", 0, "title"], "message": "Required"}]},
         (("items.0.title", "Required"),)),
        ({"detail": [{"loc": ["body", "items", 0, "title"], "msg": "Field required",
         "type": "missing"}]},
         (("items.0.title", "Field required"),)),
        ({"title": ["This field is required."], "non_field_errors": ["No."]},
         (("title", "This field is required."), ("non_field_errors", "No."))),
        ({"message": "The title field is required.",
         "errors": {"title": ["The title field is required."]}},
         (("title", "The title field is required."),)),
        ({"errors": [{"status": "422", "title": "Invalid", "detail": "must be set",
                      "source": {"pointer": "/data/attributes/title"}}]},
                      (("title", "must be set"),)),
        ({"message": {"title": ["is too long"]}}, (("title", "is too long"),)),
        ({"error": {"message": "must be positive", "param": "monthly_limit"}},
         (("monthly_limit", "must be positive"),)),
        ({"errors": [{"field": "name", "message": "is taken"},
         {"field": "mission", "message": "is empty"}]},
         (("name", "is taken"), ("mission", "is empty"))),
        ({"message": "x", "errors": {"non_field_errors": ["no"]}}, (("non_field_errors", "no"),)),
        ({"violations": [{"propertyPath": "name", "message": "is blank"}], "title": "Bad"},
         (("name", "is blank"),)),
        ({"errors": {"name": "is already taken by another"}},
         (("name", "is already taken by another"),)),
    ],
)  # fmt: skip
def test_which_fields_were_refused(body: Any, fields: tuple[tuple[str, str], ...]) -> None:
    assert told(body).fields == fields


def test_fields_are_part_of_the_message_and_at_most_five_of_them() -> None:
    found = told(
        {"detail": [{"loc": ["body", f"f{i}"], "msg": "Field required"} for i in range(40)]}
    )
    assert found.message is not None
    assert found.message.startswith("f0: Field required; f1: Field required")
    assert found.message.count(";") == 4
    assert len(found.fields) <= 20


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"code": "approval_expired", "message": "too late"}, "approval_expired"),
        ({"error": {"code": "E42", "message": "x y"}}, "E42"), ({"code": 5, "message": "x"}, None),
        ({"code": "429", "message": "x"}, None),
        ({"__type": "ns#ThrottlingException", "message": "x"}, "ThrottlingException"),
        ({"errors": [{"message": "x", "extensions": {"code": "RATELIMITED"}}]}, "RATELIMITED"),
        ({"error": "invalid_grant", "error_description": "expired"}, "invalid_grant"),
        ({"message": "x"}, None),
    ],
)  # fmt: skip
def test_codes_that_are_words(body: Any, code: str | None) -> None:
    assert told(body).code == code


def test_the_code_goes_in_brackets() -> None:
    assert (
        told({"code": "approval_expired", "message": "too late"}).told
        == "too late [approval_expired]"
    )
    assert ErrorBody().told is None


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
    "body",
    [
        {"message": "boom", "stack": "Error: boom\n    at handler (/srv/app.js:10:5)"},
        {"message": "boom\n    at handler (/srv/app.js:10:5)\n    at next"},
        {"detail": 'boom Traceback (most recent call last):\n  File "/srv/app.py", line 3'},
        {"error": {"message": "boom", "traceback": 'File "/srv/app.py"'}},
        {"error": "boom", "exception": "java.lang.X at com.x.Y(Z.java:1) /srv/app"},
    ],
)
def test_stacks_are_never_shown(body: Any) -> None:
    found = told(body)
    assert found.message == "boom"
    assert "/srv" not in repr(found)


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


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["error", "errors", "message", "detail", "details", "code", "title", "loc",
         "path",
                         "field", "msg", "status", "data", "source", "pointer", "extensions",
                         "param", "x"]),
        inner, max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@given(json_values)
def test_any_json_is_a_refusal_without_a_failure(body: Any) -> None:
    found = told(body)
    assert found.message is None or len(found.message) < 2_000


@given(st.binary(max_size=200))
def test_any_bytes_are(body: bytes) -> None:
    read_error(body)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": "x", "message": {"lang": "en", "value": "Not pending"}}},
        {"odata.error": {"message": {"lang": "en", "value": "Not pending"}}},
        {"Fault": {"faultcode": "Client", "faultstring": "Not pending"}},
        {"response": {"errors": [{"userMessage": "Not pending", "internalMessage": "x"}]}},
        {"meta": {"code": 400, "error_message": "Not pending"}},
        {"status": {"code": 4003, "message": "Not pending"}, "data": None},
        {"responseStatus": {"errorCode": "E", "message": "Not pending"}},
        {"resultCode": "E1", "resultMessage": "Not pending"},
        {"errors": {"base": [{"message": "Not pending"}]}},
        {"problems": [{"message": "Not pending"}]},
        {"messages": {"error": ["Not pending"]}},
        {"err": {"msg": "Not pending"}},
        {"errorCode": "E1", "errorSummary": "Not pending"},
        {"errors": [{"message": "Not pending", "path": ["approve"], "locations": []}]},
        {"code": 9, "message": "Not pending", "details": [{"reason": "TASK_NOT_PENDING"}]},
    ],
)
def test_the_words_wherever_they_stand(body: Any) -> None:
    assert told(body).message == "Not pending"


@pytest.mark.parametrize(
    "body",
    [
        {"title": "Invalid", "errors": {"/title": ["is too long"]}},
        {"title": "Invalid", "errors": [{"pointer": "#/title", "detail": "is too long"}]},
        {"message": "Invalid", "errors": {"title": {"message": "is too long", "path": "title"}}},
        {"message": "Invalid", "errors": {"title": [{"message": "is too long"}]}},
        {"message": "Invalid", "fields": {"title": "is too long"}},
        {"message": "Invalid", "errors": {"title": "is too long"}},
        {"message": "Invalid", "invalidFields": [{"name": "title", "message": "is too long"}]},
    ],
)
def test_fields_by_pointers_and_objects(body: Any) -> None:
    assert told(body).fields == (("title", "is too long"),)


def test_what_else_stands_in_an_answer_is_no_reason() -> None:
    task = {"id": "t1", "title": "Pay the invoice"}
    assert told({"error": "Conflict", "task": task}).message == "Conflict"
