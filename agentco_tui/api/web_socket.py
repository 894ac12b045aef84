"""Opens a web socket to the platform, the remote service, and receives its messages.

`Transport.web_socket` checks the address, adds the key, and turns what is raised here into an
ApiError. The library is kept from what no request of this program does: it follows no redirect,
takes nothing from the environment, and unpacks nothing.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Final, TypeAlias

import httpcore
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.frames import CloseCode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from agentco_tui.api import errors
from agentco_tui.api.error_messages import (
    RequestInfo,
    error_for,
    error_for_status,
    fill_template,
)
from agentco_tui.api.errors import ApiError
from agentco_tui.api.limits import Limits
from agentco_tui.api.network import connect_to_host

LONGEST_MESSAGE: Final = 1024 * 1024
"""Bytes; a longer message ends the connection."""
_MOST_WAITING: Final = 4
"""Frames that wait to be received before the other side is made to wait (back-pressure)."""
_CLOSING: Final = 0.2
"""Seconds that the other side has to close, too."""

_NO_WEB_SOCKET: Final = "{host} answers at this path, but not as a web socket ({status})"
_NOT_UNDERSTOOD: Final = "{host} gave no answer to the request for a web socket, or a wrong one"
_ErrorTemplate: TypeAlias = tuple[type[ApiError], str]
"""The class of the error, and the template of its sentence."""
_ENDED: Final[_ErrorTemplate] = (errors.Broken, "{host} closed the web socket, or broke its rules")
_ENDED_HERE: Final[Mapping[int, _ErrorTemplate]] = {
    CloseCode.MESSAGE_TOO_BIG: (errors.TooLarge, "{host} sent a message of more than 1 MiB"),
    CloseCode.INTERNAL_ERROR: (errors.TimedOut, "{host} answered no ping in time"),
}
"""Why this side has closed a connection, by the code that it sent."""


class PromptConnection(ClientConnection):
    """A connection that is over as soon as either side has closed it, or it was broken.

    The library leaves it to the other side to hang up, and reads on until the next ping.
    """

    def data_received(self, data: bytes) -> None:
        """Take what came, and hang up if it was the end."""
        super().data_received(data)
        if self.state is State.CLOSING:
            self.transport.abort()


class WebSocket:
    """An open web socket; close it."""

    def __init__(self, connection: ClientConnection, info: RequestInfo) -> None:
        self._connection = connection
        self._info = info

    async def receive(self) -> bytes:
        """Wait for the next message. Raises ApiError once the connection has ended."""
        try:
            return await self._connection.recv(decode=False)
        except ConnectionClosed as closed:
            error_class, template = _reason_of(closed)
            sentence = fill_template(template, host=self._info.host)
            raise error_for(error_class, sentence, self._info) from None

    async def close(self) -> None:
        """Close the connection, with or without the other side."""
        await self._connection.close()


async def open_web_socket(
    info: RequestInfo,
    url: str,
    headers: Mapping[str, str],
    *,
    context: ssl.SSLContext,
    limits: Limits,
    now: float,
) -> WebSocket:
    """Open a web socket at `url`, which begins with ws: or wss:.

    `now` is in seconds since 1970. Has no time limit as a whole. Raises ApiError, and httpcore's
    ConnectError and ConnectTimeout.
    """
    address = parse_uri(url)
    connected = await connect_to_host(address.host, address.port, limits.connect)
    try:
        connection = await connect(
            url,
            sock=connected,  # with a socket that is given, the library follows no redirect
            ssl=context if address.secure else None,
            proxy=None,
            compression=None,
            additional_headers=headers,
            user_agent_header=None,
            open_timeout=None,
            ping_interval=limits.silence,
            ping_timeout=limits.read,
            close_timeout=_CLOSING,
            max_size=LONGEST_MESSAGE,
            max_queue=_MOST_WAITING,
            create_connection=PromptConnection,
        )
    except OSError as error:  # ssl.SSLError is one
        raise httpcore.ConnectError("the handshake failed") from error
    except (WebSocketException, ValueError) as error:
        # That a redirect can't be followed has the answer as its context.
        for cause in (error, error.__context__):
            if isinstance(cause, InvalidStatus):
                raise _error_for_answer(info, cause.response, now) from None
        sentence = fill_template(_NOT_UNDERSTOOD, host=info.host)
        raise error_for(errors.Broken, sentence, info) from None
    return WebSocket(connection, info)


def _reason_of(closed: ConnectionClosed) -> _ErrorTemplate:
    if closed.sent is None or closed.rcvd is not None:
        return _ENDED
    return _ENDED_HERE.get(closed.sent.code, _ENDED)


def _error_for_answer(info: RequestInfo, response: Response, now: float) -> ApiError:
    """The error for an answer that opens no web socket; its body is not looked at."""
    status = response.status_code
    if 200 <= status < 300:
        sentence = fill_template(_NO_WEB_SOCKET, host=info.host, status=status)
        return error_for(errors.OtherStatus, sentence, info, status=status)
    headers = {name.lower(): value for name, value in response.headers.raw_items()}
    return error_for_status(info, status, headers, b"", now)
