"""One client's connection to the embedded platform over HTTP/1.1.

The embedded platform (`demo/server.py`) is a local server that takes the place of the real service
in demos and tests. h11 parses the head of a request. The rest is done here, on asyncio's streams,
because injected faults (`demo/faults.py`) break the connection in the middle of an answer. Bodies
have a Content-Length.
"""

from __future__ import annotations

import asyncio
import socket
import struct

import h11

from agentco_tui.demo.http_messages import Request

LONGEST_HEAD = 256 * 1024
"""The most bytes that the request line and the headers may have together."""


class ClientConnection:
    """The platform's side of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read_request(self) -> Request | None:
        """The next request, with as much of its body as came; None if there are no more."""
        try:
            head = _parsed_head(await self._reader.readuntil(b"\r\n\r\n"))
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            return None
        if head is None:
            return None
        headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
        try:
            body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        except asyncio.IncompleteReadError as error:
            body = error.partial
        path, _, query = head.target.decode("latin-1").partition("?")
        return Request(head.method.decode(), path, query, headers, body)

    async def send(self, data: bytes) -> None:
        """Send bytes. Raises ConnectionError if the client has gone."""
        self._writer.write(data)
        await self._writer.drain()

    async def pause(self, seconds: float | None) -> bool:
        """Wait, with None forever. False at once if the client goes meanwhile."""
        # A client that waits for its answer sends nothing: whatever can be read is the end.
        try:
            async with asyncio.timeout(seconds):
                await self._reader.read(1)
        except TimeoutError:
            return True
        except OSError:
            pass
        return False

    def end(self, *, reset: bool = False) -> None:
        """Close the connection in the regular way, or with a TCP reset."""
        if reset:
            sock: socket.socket = self._writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.abort()
        else:
            self._writer.close()

    def abort(self) -> None:
        """Cut the connection at once. A `pause` on it returns False."""
        self._writer.transport.abort()


def _parsed_head(data: bytes) -> h11.Request | None:
    """The head of a request; None if it is not HTTP."""
    parser = h11.Connection(h11.SERVER, max_incomplete_event_size=LONGEST_HEAD)
    parser.receive_data(data)
    try:
        event = parser.next_event()
    except h11.RemoteProtocolError:
        return None
    return event if isinstance(event, h11.Request) else None
