"""The key stays behind its mask, and only usable addresses are taken."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.api.credentials import (
    ApiKey,
    BaseUrl,
    CredentialError,
    KeyFilter,
    KeyInUse,
)
from tests.api.canary import CANARY, failure, transport
from tests.api.wire_server import answering, http


def test_no_way_of_showing_a_key_shows_it() -> None:
    key = ApiKey.parse(CANARY)
    shown = [repr(key), str(key), f"{key}", f"{key!r}", repr([key])]
    assert not any("canary" in text for text in shown)
    assert key.masked == "ag_****"
    assert ApiKey("sk-0123456789").masked == "****"
    with pytest.raises(TypeError):
        vars(key)
    assert key.reveal() == CANARY


@pytest.mark.parametrize("store", [pickle.dumps, json.dumps, copy.copy])
def test_a_key_is_not_stored(store: object) -> None:
    assert callable(store)
    with pytest.raises(TypeError) as caught:
        store(ApiKey(CANARY))
    assert "canary" not in "".join(traceback.format_exception(caught.value))


def test_keys_compare() -> None:
    key = ApiKey(CANARY)
    assert key == ApiKey(CANARY + "\n")
    assert key != ApiKey(CANARY + "x")
    assert hash(key) == hash(ApiKey(CANARY))
    assert key != CANARY


@pytest.mark.parametrize(
    "text", [CANARY + "\n", f"  {CANARY}\t", f"{CANARY}\r\n", CANARY, f"\n{CANARY}"]
)
def test_blanks_around_a_key_are_taken_off(text: str) -> None:
    assert ApiKey.parse(text).reveal() == CANARY


@pytest.mark.parametrize(
    "text",
    [f"{CANARY} x", f"{CANARY}\nX-Evil: 1", f"{CANARY}\r\nHost: evil", f"{CANARY}\x00",
     f"{CANARY}\x1b[2J", f"{CANARY}é", f"{CANARY}\u202e", f"{CANARY}\x7f", CANARY * 300, "",
     "  \n"],
)  # fmt: skip
def test_a_key_that_cannot_be_sent_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(CredentialError) as caught:
        ApiKey.parse(text)
    assert "canary" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("text", "shown"),
    [(shown, shown) for shown in (
        "https://agents.example.com", "https://agents.example.com:8443", "http://localhost:8000",
        "http://127.0.0.1:8000", "http://127.9.9.9", "https://bücher.example",
        "https://under_score.example")]
    + [
        ("https://agents.example.com/", "https://agents.example.com"),
        ("HTTPS://Agents.Example.com:443/", "https://agents.example.com"),
        ("https://h.example/tools/agents/", "https://h.example/tools/agents"),
        ("https://h.example//", "https://h.example"), (" https://h.example\n", "https://h.example"),
        ("http://[::1]:8000/", "http://[::1]:8000"),
        ("https://[2001:DB8::1]", "https://[2001:db8::1]"),
    ],
)  # fmt: skip
def test_usable_addresses(text: str, shown: str) -> None:
    assert str(BaseUrl.parse(text)) == shown
    assert str(BaseUrl.parse(shown)) == shown


@pytest.mark.parametrize(
    "text",
    ["", "agents.example.com", "localhost:8000", "ftp://h.example", "file:///etc/passwd",
     "https:h.example", "https://", "https:///x", "https://:8443", "https://user@h.example",
     "https://user:word@h.example", "https://h.example?x=1", "https://h.example/#top",
     "https://h.example/?", "https://h.example:", "https://h.example:0", "https://h.example:70000",
     "https://h.example:8a", "https://h.example:-1", "https://[::1", "https://[zz]",
     "https://h ost.example", "https://h\nost.example", "https://h.example\x00",
     "https://h.example\\@evil.example", "https://h..example", "https://-h.example",
     "https://h.example/a/../b", "https://h.example/a/%2e%2E/b", "https://h.example/a//b",
     "https://h.example/a%zz", "https://h.example/\x1b[31m", "https://h\u202e.example",
     "https://" + "a" * 300, "http://h.example", "http://10.0.0.1", "http://0.0.0.0:8000",
     "http://127.0.0.1.evil.example", "http://localhost.evil.example", "http://2130706433"],
)  # fmt: skip
def test_refused_addresses(text: str) -> None:
    with pytest.raises(CredentialError) as caught:
        BaseUrl.parse(text)
    sentence = str(caught.value)
    assert sentence.isprintable()
    assert "word" not in sentence.replace("password", "").replace("one word", "")


def test_plain_http_elsewhere_only_when_allowed() -> None:
    assert str(BaseUrl.parse("http://h.example", allow_http=True)) == "http://h.example"
    with pytest.raises(CredentialError, match="allow_http = true"):
        BaseUrl.parse("http://h.example")


def test_the_filter_masks_messages_arguments_and_tracebacks() -> None:
    wall = KeyFilter(KeyInUse(ApiKey(CANARY)))
    lines: list[str] = []

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    handler = Lines()
    handler.addFilter(wall)
    logger = logging.Logger("canary")
    logger.addHandler(handler)
    logger.error("sent %s to %s", f"Bearer {CANARY}", {"key": CANARY})
    logger.error("Authorization: Bearer some-other-secret")
    logger.error("wrong %d", CANARY)
    try:
        int(f"illegal header value b'Bearer {CANARY}'")
    except ValueError:
        logger.exception("while sending")
    logger.error(CANARY, stack_info=True)
    written = "\n".join(lines)
    assert len(lines) == 5
    assert "canary_7d" not in written
    assert "some-other-secret" not in written
    assert "illegal header value" in written


# --- a key that takes another's place ---

NEW = "ag_canary_of_today_33c1"
LONGER = f"{NEW}_longer"
"""Begins like the one before it."""
QUOTED = f'{{"error": {{"message": "{CANARY} was replaced by {NEW}"}}}}'.encode()
MASKED = "ag_**** was replaced by ag_****"


def used(*keys: str) -> KeyInUse:
    """The first of these keys, and the others in its place one after the other."""
    in_use = KeyInUse(ApiKey(keys[0]))
    for key in keys[1:]:
        in_use.replace(ApiKey(key))
    return in_use


def sent_with(request: bytes) -> str:
    head = request.decode().split("\r\n\r\n")[0]
    return next(line for line in head.split("\r\n") if line.startswith("Authorization"))


async def test_the_next_request_goes_out_with_the_new_key() -> None:
    async with answering(http()) as server, transport(server.base) as wire:
        await wire.request("GET", "/api/tasks")
        wire.key.replace(ApiKey(NEW))
        await wire.request("GET", "/api/tasks")
        await wire.request("POST", "/api/tasks/t1/approve")
    assert [sent_with(request) for request in server.requests] == [
        f"Authorization: Bearer {CANARY}",
        f"Authorization: Bearer {NEW}",
        f"Authorization: Bearer {NEW}",
    ]


async def test_both_are_masked_in_a_refusal_a_body_and_the_export() -> None:
    answers = (http(QUOTED, 401), http(QUOTED), http(QUOTED))
    async with answering(*answers) as server, transport(server.base) as wire:
        wire.key.replace(ApiKey(NEW))
        error = await failure(wire.request("GET", "/api/tasks"))
        reply = await wire.request("GET", "/api/tasks")
        async with wire.stream("/api/activity/export") as (_, coming):
            export = b"".join([piece async for piece in coming])
    assert error.platform_message == MASKED
    assert NEW not in repr(error)
    assert MASKED.encode() in reply.body
    assert MASKED.encode() in export


def test_the_log_masks_a_key_that_came_after_it_was_opened() -> None:
    in_use = used(CANARY)
    wall = KeyFilter(in_use)
    in_use.replace(ApiKey(NEW))
    record = logging.LogRecord("n", logging.INFO, "f", 1, "%s then %s", (CANARY, NEW), None)
    assert wall.filter(record)
    assert record.getMessage() == "ag_**** then ag_****"


def test_of_a_key_that_begins_like_another_nothing_is_left() -> None:
    for keys in ((NEW, LONGER), (LONGER, NEW)):
        in_use = used(*keys)
        assert in_use.key == ApiKey(keys[-1])
        assert in_use.redact(f"{LONGER} {NEW}") == "ag_**** ag_****"
        assert in_use.clean(LONGER.encode(), is_last=True) == (b"ag_****", b"")


def test_nothing_that_describes_it_shows_a_key() -> None:
    in_use = used(CANARY, NEW)
    for shown in (repr(in_use), str(in_use), f"{in_use}"):
        assert "canary" not in shown
    with pytest.raises(TypeError):
        vars(in_use)
    for store in (pickle.dumps, json.dumps):
        with pytest.raises(TypeError):
            store(in_use)


parts = st.lists(
    st.sampled_from([CANARY, NEW, LONGER, NEW[:4], LONGER[:-1], "ag_", "c", "_", "\n"]), max_size=12
)


@given(parts, st.data())
def test_pieces_say_what_the_whole_says(said: list[str], data: st.DataObject) -> None:
    body = "".join(said).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    pieces = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    in_use = used(CANARY, NEW, LONGER)
    told = held = b""
    for piece in pieces:
        clean, held = in_use.clean(held + piece)
        told += clean
    told += in_use.clean(held, is_last=True)[0]
    assert not any(key.encode() in told for key in (CANARY, NEW, LONGER))
    assert told.decode() == in_use.redact("".join(said))


def test_only_what_may_be_the_key_waits() -> None:
    in_use = used(CANARY)
    assert in_use.clean(b"x" * 100_000 + b"ag_c") == (b"x" * 100_000, b"ag_c")
    assert in_use.clean(b"ag_c!") == (b"ag_c!", b"")
    assert in_use.clean(b"ag_c", is_last=True) == (b"ag_c", b"")
