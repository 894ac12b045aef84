"""How far a request got on its way out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Wire:
    """How far one attempt got, told by httpcore's trace events."""

    __slots__ = ("began", "bytes_left", "fresh")

    def __init__(self) -> None:
        self.bytes_left = False
        """A byte of the request may have left."""
        self.fresh = False
        """The connection was made for it."""
        self.began = False
        """The head of the answer came."""

    async def trace(self, event: str, _info: Mapping[str, Any]) -> None:
        """Given to httpx as the "trace" extension; what `_info` holds is not kept."""
        if event == "connection.connect_tcp.started":
            self.fresh = True
        elif event == "http11.send_request_headers.started":
            self.bytes_left = True
        elif event == "http11.receive_response_headers.complete":
            self.began = True
