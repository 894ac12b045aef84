"""A transport with a key that must turn up nowhere, and the search for it."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable
from typing import Any

import pytest

from agentco_tui.api.client import Client, open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.errors import ApiError
from agentco_tui.api.limits import Limits
from agentco_tui.api.transport import Transport
from tests.api.wire_server import WireServer
from tests.platform import EmbeddedPlatform

CANARY = "ag_canary_7d1c0b66e2f94a58"
SMALL = Limits(body=64 * 1024)
SHORT = Limits(connect=2, read=0.15, write=1, pool=1, total=0.4, body=64 * 1024)
"""Times that a hang costs, for what hangs and nothing else: a busy machine takes them, too."""


class Wire(Transport):
    """Closed where its block ends."""

    async def __aenter__(self) -> Wire:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()


def transport(base: str, **settings: Any) -> Wire:
    settings.setdefault("attempts", 1)
    return Wire(BaseUrl.parse(base, allow_http=True), ApiKey(CANARY), **settings)


def client_of(at: WireServer | EmbeddedPlatform, **settings: Any) -> Client:
    """A client of a server, with a key that must turn up nowhere, or of the embedded platform."""
    base, key = (at.base, CANARY) if isinstance(at, WireServer) else (at.base_url, at.full_key)
    return open_client(BaseUrl.parse(base), ApiKey(key), **{"attempts": 1, **settings})


def assert_no_key(error: BaseException) -> None:
    """Neither the error nor what it hangs on to shows the key, local variables included."""
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    everything = "".join(told.format(chain=True)) + repr(error) + str(error) + repr(error.args)
    assert CANARY not in everything
    assert "canary_7d1c" not in everything
    assert error.__cause__ is None
    assert error.__context__ is None


async def failure(work: Awaitable[object]) -> ApiError:
    """The ApiError that `work` ends in, searched for the key."""
    with pytest.raises(ApiError) as caught:
        await work
    error = caught.value
    assert_no_key(error)
    assert str(error).isprintable()
    assert repr(error).isprintable()
    assert error.sentence
    return error
