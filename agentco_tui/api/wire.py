"""How far a request got on its way out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import httpcore


_SENDING: Final = "http11.send_request_headers.started"
_OWNED: Final = frozenset({"connection.start_tls.complete", _SENDING})
"""After these httpcore closes the connection itself, whatever happens."""


class Wire:
    """How far one attempt got, told by httpcore's trace events."""

    __slots__ = ("_half_open", "began", "bytes_left", "fresh")

    def __init__(self) -> None:
        self.bytes_left = False
        """A byte of the request may have left."""
        self.fresh = False
        """The connection was made for it."""
        self.began = False
        """The head of the answer came."""
        self._half_open: httpcore.AsyncNetworkStream | None = None

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Given to httpx as the "trace" extension; of `info` only a new connection is kept."""
        if event == "connection.connect_tcp.started":
            self.fresh = True
            # A kept connection was given up for it, before a byte of the request had left.
            self.bytes_left = False
        elif event == "connection.connect_tcp.complete":
            self._half_open = info["return_value"]
        elif event in _OWNED:
            self._half_open = None
            self.bytes_left = self.bytes_left or event == _SENDING
        elif event == "http11.receive_response_headers.complete":
            self.began = True

    async def close_half_open(self) -> None:
        """Close a connection that was left in its TLS handshake.

        httpcore forgets it there when the task is cancelled, and the event loop then holds it for
        as long as the other side does.
        """
        if self._half_open is not None:
            stream, self._half_open = self._half_open, None
            await stream.aclose()
