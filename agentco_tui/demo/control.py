"""What a test may see of a platform and do to it: the request log, and the control path over HTTP.

    POST, DELETE  /_demo/faults     {"specs": ["tasks:hang"]}
    GET, DELETE   /_demo/requests   the request log
    GET, POST     /_demo/world      any of {"advance": 60, "revoke": "full"|"read",
                                    "restore": "full"|"read",
                                    "replace": {"which": "full"|"read", "key"}}

The control path is in no request log, no fault strikes it, and it needs the full key of the start
(also when that is revoked or replaced, or a revocation could not be taken back).
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from agentco_tui.demo.connection import Answer, Request
from agentco_tui.demo.faults import Faults
from agentco_tui.demo.operations import Keys
from agentco_tui.demo.world import World
from agentco_tui.demo.world_state import RefusedError

CONTROL = "/_demo/"
_KEPT = 20_000


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
    operation: str | None
    """The operation of the interface, such as `approve`; None for an unknown path."""
    fault: str | None
    at: float
    """Virtual time, seconds since 1970 UTC."""
    started: float
    """Monotonic seconds when the request was read."""
    took: float
    """Real seconds until the answer left."""


class RequestLog:
    """The last requests, oldest first; `count` is how many there were in all."""

    def __init__(self) -> None:
        self._seen: deque[Seen] = deque(maxlen=_KEPT)
        self.count = 0

    def add(self, seen: Seen) -> None:
        self._seen.append(seen)
        self.count += 1

    def clear(self) -> None:
        self._seen.clear()
        self.count = 0

    def matching(
        self, operation: str | None = None, *, method: str | None = None, path: str | None = None
    ) -> list[Seen]:
        """The requests with this operation, method and path; None matches any."""
        return [
            seen
            for seen in self
            if operation in {None, seen.operation}
            and method in {None, seen.method}
            and path in {None, seen.path}
        ]

    def __iter__(self) -> Iterator[Seen]:
        return iter(self._seen.copy())  # a copy is taken at once, whatever other threads add

    def __len__(self) -> int:
        return len(self._seen)

    def __getitem__(self, index: int) -> Seen:
        return self._seen[index]


class Control:
    def __init__(self, world: World, keys: Keys, faults: Faults, requests: RequestLog) -> None:
        self._world = world
        self._keys = keys
        self._faults = faults
        self._requests = requests
        self._authorization = f"Bearer {keys['full']}"
        self._paths: dict[str, Callable[[Request], dict[str, Any]]] = {
            "/_demo/faults": self._on_faults,
            "/_demo/requests": self._on_requests,
            "/_demo/world": self._on_world,
        }

    def answer(self, request: Request) -> Answer:
        told: dict[str, Any]
        try:
            if request.path not in self._paths:
                status, told = 404, {"error": "no such path"}
            elif request.headers.get("authorization") != self._authorization:
                status, told = 401, {"error": "the control path needs the full key"}
            else:
                status, told = 200, self._paths[request.path](request)
        except RefusedError as refusal:
            status, told = refusal.status, {"error": str(refusal)}
        except (ValueError, TypeError, KeyError) as error:
            status, told = 422, {"error": str(error)}
        return Answer(status, {"content-type": "application/json"}, json.dumps(told).encode())

    def _on_faults(self, request: Request) -> dict[str, Any]:
        if request.method == "DELETE":
            self._faults.clear()
        elif request.method == "POST":
            for spec in request.json()["specs"]:
                self._faults.add(spec)
        return {"faults": len(self._faults.in_force())}

    def _on_requests(self, request: Request) -> dict[str, Any]:
        if request.method == "DELETE":
            self._requests.clear()
        told = [
            {**asdict(seen), "body": seen.body.decode("utf-8", "replace")}
            for seen in self._requests
        ]
        return {"count": self._requests.count, "requests": told}

    def _on_world(self, request: Request) -> dict[str, Any]:
        world = self._world
        changes: dict[str, Callable[[Any], object]] = {
            "advance": world.advance,
            "revoke": self._keys.revoke,
            "restore": self._keys.restore,
            "replace": lambda told: self._keys.replace(**told),
        }
        for name, value in (request.json() if request.method == "POST" else {}).items():
            changes[name](value)
        with world.living() as state:
            return {
                "tasks": dict(Counter(task.status for task in state.tasks.values())),
                "applied": dict(world.applied),
                "attempts": dict(world.attempts),
            }
