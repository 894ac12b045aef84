"""A key that takes another's place: what is sent with which, and that neither is ever shown."""

from __future__ import annotations

import json
import logging
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.api.credentials import ApiKey, KeyFilter, KeyInUse, Redactor
from tests.api.canary import CANARY, failure, transport
from tests.api.wire_server import answering, http

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
        assert Redactor(in_use).feed(LONGER.encode(), is_last=True) == b"ag_****"


def test_nothing_that_describes_it_shows_a_key() -> None:
    in_use = used(CANARY, NEW)
    for shown in (repr(in_use), str(in_use), f"{in_use}", repr(Redactor(in_use))):
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
    redactor = Redactor(in_use)
    told = b"".join([*map(redactor.feed, pieces), redactor.feed(b"", is_last=True)])
    assert not any(key.encode() in told for key in (CANARY, NEW, LONGER))
    assert told.decode() == in_use.redact("".join(said))


def test_only_what_may_be_the_key_waits() -> None:
    redactor = Redactor(used(CANARY))
    assert redactor.feed(b"x" * 100_000 + b"ag_c") == b"x" * 100_000
    assert redactor.feed(b"!") == b"ag_c!"
    assert redactor.feed(b"", is_last=True) == b""
    redactor.feed(CANARY[:-1].encode())
    assert CANARY[:6] not in repr(redactor)
    assert not hasattr(redactor, "__dict__")
