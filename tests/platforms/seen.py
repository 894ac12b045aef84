"""What a server of the tests remembers of a request."""

from __future__ import annotations

from typing import Any, NamedTuple


class Seen(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    authorization: str | None
    status: int

    @property
    def line(self) -> str:
        return f"{self.method} {self.path}"
