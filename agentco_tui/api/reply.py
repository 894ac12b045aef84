"""A usable answer to a request, as the transport returns it.

It comes from the platform, the remote service. `RequestInfo` names the request it answers; a
`ListReader` decodes a long list while it arrives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from agentco_tui.api.error_messages import RequestInfo
from agentco_tui.reading.stream import ListReader


class Reply(msgspec.Struct, frozen=True):
    """An answer with a 2xx status, or a 304 to a request with an ETag."""

    request: RequestInfo
    status: int
    headers: Mapping[str, str]
    """Names in lower case. Values are the platform's text, not cleaned."""
    body: bytes = b""
    """Unpacked; empty if it was streamed."""
    streamed: ListReader[Any] | None = None
    """The reader that has read a long body while it arrived."""
    pieces: list[bytes] = []
    """The whole body in pieces if the session is being recorded, else empty."""
