"""Every exception that httpx, httpcore and the standard library may raise has its error.

Whether a write left this machine is decided by the type of httpx's public exceptions only.
"""

from __future__ import annotations

import socket
from typing import Any

import httpcore
import httpx
import pytest

from agentco_tui.api import errors
from agentco_tui.api.connection_errors import (
    LIBRARY_EXCEPTIONS,
    PROVE_NOT_SENT,
    error_for_exception,
)
from agentco_tui.api.error_messages import RequestInfo
from agentco_tui.api.errors import Sent
from agentco_tui.api.limits import Limits
from agentco_tui.text import clean_line
from tests.api.canary import failure, transport
from tests.api.test_transport_faults import FAULTS, limits_for
from tests.api.wire_server import Answer, answering, http

ASKED = RequestInfo("POST", "/api/tasks/t/approve", clean_line("h.example"))


def exceptions_of(module: object) -> list[type[Exception]]:
    found = vars(module).values()
    return [kind for kind in found if isinstance(kind, type) and issubclass(kind, Exception)]


def made(kind: type[BaseException]) -> BaseException:
    if kind is httpx.HTTPStatusError:
        request = httpx.Request("GET", "http://h.example")
        return httpx.HTTPStatusError("x", request=request, response=httpx.Response(500))
    if issubclass(kind, httpx.StreamError) and kind is not httpx.StreamError:
        return kind()  # type: ignore[call-arg]
    return kind("\x1b[31mBearer ag_canary_7d1c")


EXPECTED: dict[type[errors.ApiError], set[str]] = {
    errors.TimedOut: {
        *("ConnectTimeout", "PoolTimeout", "ReadTimeout", "WriteTimeout", "TimeoutException")
    },
    errors.Unreachable: {"ConnectError", "ProxyError"},
    errors.NotSent: {"UnsupportedProtocol"},
}
"""All else is Broken."""


@pytest.mark.parametrize("kind", exceptions_of(httpx))
def test_every_exception_of_httpx_has_its_error(kind: type[BaseException]) -> None:
    assert issubclass(kind, LIBRARY_EXCEPTIONS)
    cause = made(kind)
    sent = Sent.NO if isinstance(cause, PROVE_NOT_SENT) else Sent.UNKNOWN
    assert (sent is Sent.NO) == (
        kind.__name__ in ("ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol")
    )
    error = error_for_exception(cause, ASKED, Limits())
    expected = [kind_ for kind_, names in EXPECTED.items() if kind.__name__ in names]
    assert [type(error)] == (expected or [errors.Broken])
    assert error.sent is sent
    assert ("may have been applied" in error.sentence) is (sent is Sent.UNKNOWN)
    assert "canary" not in str(error)


@pytest.mark.parametrize("kind", [*exceptions_of(httpcore), OSError, UnicodeError])
async def test_all_exceptions_below(monkeypatch: pytest.MonkeyPatch, kind: type[Exception]) -> None:
    async def fails(*_: object) -> None:
        raise kind("\x1b[31mBearer ag_canary_7d1c")

    monkeypatch.setattr(httpcore.AsyncConnectionPool, "handle_async_request", fails)
    async with transport("http://127.0.0.1:1") as wire:
        error = await failure(wire.request("POST", "/api/tasks/t/approve"))
    names = {each.__name__ for each in PROVE_NOT_SENT}
    assert error.sent is (Sent.NO if kind.__name__ in names else Sent.UNKNOWN)


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (ConnectionRefusedError(111, "x"), errors.Refused),
        (ExceptionGroup("all", [OSError("a"), ConnectionRefusedError(111, "x")]), errors.Refused),
        (socket.gaierror(-2, "x"), errors.NameNotFound),
        (UnicodeEncodeError("idna", "x", 0, 1, "label too long"), errors.NameNotFound),
        (OSError(101, "x"), errors.Unreachable),
        (PermissionError(13, "x"), errors.Unreachable),
        (OSError(24, "x"), errors.Unreachable),
        (TimeoutError(110, "x"), errors.TimedOut),
        (ConnectionResetError(104, "x"), errors.Unreachable),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_why_there_is_no_connection(cause: BaseException, kind: type[errors.ApiError]) -> None:
    above = httpx.ConnectError("x")
    above.__cause__ = cause
    assert type(error_for_exception(above, ASKED, Limits())) is kind


def test_an_endless_chain_of_causes_ends() -> None:
    first, second = httpx.ConnectError("a"), OSError("b")
    first.__context__, second.__context__ = second, first
    assert error_for_exception(first, ASKED, Limits())


def renamed(name: str) -> list[str]:
    return [f"later.{name}"]


def dropped(_: str) -> list[str]:
    return []


def added(name: str) -> list[str]:
    return ["connection.connect_tcp.started", name, "connection.connect_tcp.started"]


@pytest.mark.parametrize("events", [renamed, dropped, added])
async def test_no_event_tells_not_sent(monkeypatch: pytest.MonkeyPatch, events: Any) -> None:
    """As with a later httpcore whose events are others."""
    # private: httpcore has no public way to rename its events.
    told: Any = httpcore._trace.Trace.atrace

    async def atrace(self: object, name: str, info: dict[str, Any]) -> None:
        for each in events(name):
            await told(self, each, info)

    # private: as above.
    monkeypatch.setattr("httpcore._trace.Trace.atrace", atrace)
    answers: list[Answer] = [fault[1] for fault in FAULTS]
    async with answering(*answers, http(b"", 503)) as server:
        for count in range(1, len(answers) + 2):
            kind = FAULTS[count - 1][2] if count <= len(answers) else errors.Broken
            async with transport(server.base, limits=limits_for(kind)) as wire:
                error = await failure(wire.request("POST", "/api/tasks/t/approve"))
            assert len(server.requests) == count
            assert error.sent is Sent.UNKNOWN or error.status == 403, error
