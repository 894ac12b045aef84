"""What was asked of the embedded platform, kept so that tests can look at it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

KEPT = 20_000


@dataclass(frozen=True, slots=True)
class Seen:
    """One request. `status` is 0 if no answer left; `fault` names the fault that struck it."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    """Without Authorization and Cookie."""
    body: bytes
    status: int
    authorised: bool
    """Whether a valid key was sent."""
    has_key: bool
    """Whether an Authorization header was sent at all."""
    operation: str | None
    """The operation of the interface, such as `approve`; None for an unknown path."""
    fault: str | None
    at: float
    """Virtual time, seconds since 1970 UTC."""
    started: float
    """Monotonic seconds when the request was read."""
    took: float
    """Real seconds."""


class RequestLog:
    """The last requests, oldest first; `count` is how many there were in all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: deque[Seen] = deque(maxlen=KEPT)
        self.count = 0

    def add(self, seen: Seen) -> None:
        """Note a request."""
        with self._lock:
            self._seen.append(seen)
            self.count += 1

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._seen.clear()
            self.count = 0

    def matching(
        self, operation: str | None = None, *, method: str | None = None, path: str | None = None
    ) -> list[Seen]:
        """The requests with this operation, method and path; None matches any."""
        return [
            seen
            for seen in self
            if (operation is None or seen.operation == operation)
            and (method is None or seen.method == method)
            and (path is None or seen.path == path)
        ]

    def __iter__(self) -> Iterator[Seen]:
        with self._lock:
            return iter(list(self._seen))

    def __len__(self) -> int:
        return len(self._seen)

    def __getitem__(self, index: int) -> Seen:
        with self._lock:
            return self._seen[index]
