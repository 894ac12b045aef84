"""Every exception that httpx, httpcore, anyio and the standard library may raise has its error."""

from __future__ import annotations

import socket

import anyio
import httpcore
import httpx
import pytest

from agentco_tui.api import errors
from agentco_tui.api.answered import Asked
from agentco_tui.api.errors import Sent
from agentco_tui.api.transport import BELOW
from agentco_tui.api.unanswered import Trouble, trouble_of, unanswered
from agentco_tui.text import safe


def made(kind: type[BaseException]) -> BaseException:
    request = httpx.Request("GET", "http://h.example")
    if kind is httpx.HTTPStatusError:
        return httpx.HTTPStatusError("x", request=request, response=httpx.Response(500))
    if kind in (httpx.StreamConsumed, httpx.StreamClosed, httpx.ResponseNotRead):
        return kind()
    if kind is httpx.RequestNotRead:
        return kind()
    return kind("\x1b[31mBearer ag_canary_7d1c")


PUBLIC_HTTPX = [
    kind
    for kind in vars(httpx).values()
    if isinstance(kind, type) and issubclass(kind, BaseException)
]
PUBLIC_HTTPCORE = [
    kind
    for kind in vars(httpcore).values()
    if isinstance(kind, type) and issubclass(kind, BaseException)
]


def test_every_exception_of_the_layers_below_is_caught() -> None:
    assert len(PUBLIC_HTTPX) > 20
    assert len(PUBLIC_HTTPCORE) > 10
    for kind in (*PUBLIC_HTTPX, *PUBLIC_HTTPCORE):
        assert issubclass(kind, BELOW), kind


EXPECTED = {
    "ConnectTimeout": Trouble.CONNECT_WAIT,
    "PoolTimeout": Trouble.POOL_WAIT,
    "ReadTimeout": Trouble.READ_WAIT,
    "WriteTimeout": Trouble.WRITE_WAIT,
    "TimeoutException": Trouble.READ_WAIT,
    "ConnectError": Trouble.CONNECT,
    "ReadError": Trouble.CUT,
    "WriteError": Trouble.CUT,
    "CloseError": Trouble.CUT,
    "NetworkError": Trouble.CUT,
    "ProxyError": Trouble.PROXY,
    "UnsupportedProtocol": Trouble.ADDRESS,
    "ProtocolError": Trouble.PROTOCOL,
    "LocalProtocolError": Trouble.ADDRESS,
    "RemoteProtocolError": Trouble.PROTOCOL,
    "ConnectionNotAvailable": Trouble.CUT,
    "DecodingError": Trouble.DAMAGED,
    "TooManyRedirects": Trouble.PROTOCOL,
    "HTTPError": Trouble.CUT,
    "HTTPStatusError": Trouble.CUT,
    "RequestError": Trouble.CUT,
    "TransportError": Trouble.CUT,
    "InvalidURL": Trouble.ADDRESS,
    "CookieConflict": Trouble.PROTOCOL,
    "StreamError": Trouble.CUT,
    "StreamConsumed": Trouble.CUT,
    "StreamClosed": Trouble.CUT,
    "ResponseNotRead": Trouble.CUT,
    "RequestNotRead": Trouble.CUT,
}


@pytest.mark.parametrize(
    "kind",
    [*PUBLIC_HTTPX, *PUBLIC_HTTPCORE],
    ids=lambda kind: f"{kind.__module__.split('.')[0]}.{kind.__name__}",
)
def test_every_exception_has_its_step_and_its_sentence(kind: type[BaseException]) -> None:
    cause = made(kind)
    assert trouble_of(cause) is EXPECTED[kind.__name__]
    for bytes_left in (False, True):
        asked = Asked("POST", "/api/tasks/t/approve", safe("h.example"))
        error = unanswered(trouble_of(cause), cause, asked, bytes_left=bytes_left)
        assert error.sent is (Sent.UNKNOWN if bytes_left else Sent.NO)
        assert "canary" not in str(error)
        assert "h.example" in error.sentence or isinstance(
            error, errors.Unreachable | errors.Broken
        )
        assert not (isinstance(error, errors.NotSent) and bytes_left)


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (anyio.BrokenResourceError(), errors.Unreachable),
        (anyio.EndOfStream(), errors.Unreachable),
        (ConnectionRefusedError(111, "x"), errors.Refused),
        (ExceptionGroup("all", [OSError("a"), ConnectionRefusedError(111, "x")]), errors.Refused),
        (socket.gaierror(-2, "x"), errors.NameNotFound),
        (UnicodeEncodeError("idna", "x", 0, 1, "label too long"), errors.NotSent),
        (OSError(101, "x"), errors.Unreachable),
        (OSError(113, "x"), errors.Unreachable),
        (PermissionError(13, "x"), errors.Unreachable),
        (OSError(24, "x"), errors.Unreachable),
        (TimeoutError(110, "x"), errors.TimedOut),
        (ConnectionResetError(104, "x"), errors.Unreachable),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_leaks_of_the_lowest_layers(cause: BaseException, kind: type[errors.ApiError]) -> None:
    asked = Asked("POST", "/api/tasks", safe("h.example"))
    error = unanswered(trouble_of(cause), cause, asked, bytes_left=False)
    assert type(error) is kind
    assert error.sent is Sent.NO


def test_an_endless_chain_of_causes_ends() -> None:
    first, second = OSError("a"), OSError("b")
    first.__context__, second.__context__ = second, first
    asked = Asked("GET", "/api/tasks", safe("h.example"))
    assert unanswered(Trouble.CONNECT, first, asked, bytes_left=False)
