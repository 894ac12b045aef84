"""The one change to httpcore: a connection on which surplus bytes arrived is not used again.

A `Patch` (`system/patches.py`) is checked against the installed version before it takes effect.
`tests/api` has a test that fails once httpcore no longer needs it. `Connection` is our own network
stream below httpcore, which notices bytes that no request asked for; `LINE_ENDS` behind an answer
are none.
"""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import Any, Final

import h11
import httpcore

from agentco_tui.api.tcp_connection import LINE_ENDS, Connection
from agentco_tui.system.patches import Patch

SURPLUS_BYTES: Final = Patch(
    "surplus_bytes",
    "A connection is kept after an answer although more bytes came behind it in the same packet,"
    " and they are read as the answer to the next request. They are held by the parser, which"
    " httpcore shows to nobody, so the method that ends an answer is wrapped. Without this patch no"
    " connection is kept.",
    library="httpcore",
    version="1.0.9",
)

_WHOLE_ANSWER: Final = (h11.DONE, h11.MUST_CLOSE, h11.CLOSED)
"""States of the other side after a complete answer."""


def watch_answers() -> bool:
    """Install the patch: a connection is closed if any bytes came after the end of an answer.

    Returns False if httpcore is not as expected. Then no connection may be kept for reuse.
    """
    owner: Any = httpcore.AsyncHTTP11Connection

    def as_expected() -> bool:
        return iscoroutinefunction(owner._response_closed)

    def members() -> list[tuple[Any, str, Any]]:
        end_answer = owner._response_closed

        async def response_closed(self: Any) -> None:
            parser = getattr(self, "_h11_state", None)
            if not isinstance(parser, h11.Connection):
                await self.aclose()
                return
            stream = getattr(self, "_network_stream", None)
            left_over, _ = parser.trailing_data
            if isinstance(stream, Connection) and parser.their_state in _WHOLE_ANSWER:
                stream.surplus = bool(left_over.strip(LINE_ENDS)) or await stream.has_more()
            if left_over or getattr(stream, "surplus", False):
                await self.aclose()
            else:
                await end_answer(self)

        return [(owner, "_response_closed", response_closed)]

    return SURPLUS_BYTES.install(as_expected, members)


PATCHES: Final = (SURPLUS_BYTES,)
