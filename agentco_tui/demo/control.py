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
from typing import Any

import msgspec

from agentco_tui.demo.connection import Answer, Request
from agentco_tui.demo.faults import Faults
from agentco_tui.demo.operations import Keys
from agentco_tui.demo.world import World
from agentco_tui.demo.world_state import RefusedError

CONTROL = "/_demo/"


class Seen(msgspec.Struct, frozen=True):
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


class RequestLog(deque[Seen]):
    """The last requests, oldest first; `total` is how many there were in all."""

    def __init__(self) -> None:
        super().__init__(maxlen=20_000)
        self.total = 0

    def append(self, seen: Seen) -> None:
        super().append(seen)
        self.total += 1

    def clear(self) -> None:
        super().clear()
        self.total = 0

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
        return iter(list(super().__iter__()))  # at once, whatever other threads add


class Control:
    def __init__(self, world: World, keys: Keys, faults: Faults, requests: RequestLog) -> None:
        self._world = world
        self._keys = keys
        self._faults = faults
        self._requests = requests
        self._authorization = f"Bearer {keys['full']}"

    def answer(self, request: Request) -> Answer:
        status, told = 200, dict[str, Any]()
        try:
            told = self._done(request)
        except RefusedError as refusal:
            status, told = refusal.status, {"error": str(refusal)}
        except (ValueError, TypeError, KeyError) as error:
            status, told = 422, {"error": str(error)}
        return Answer(status, {"content-type": "application/json"}, json.dumps(told).encode())

    def _done(self, request: Request) -> dict[str, Any]:
        if request.headers.get("authorization") != self._authorization:
            raise RefusedError(401, "unauthorized", "the control path needs the full key")
        world, keys, faults, requests = self._world, self._keys, self._faults, self._requests
        sent = request.json() if request.method == "POST" else {}
        match request.path.removeprefix(CONTROL):
            case "faults":
                if request.method == "DELETE":
                    faults.clear()
                for spec in sent["specs"] if request.method == "POST" else ():
                    faults.add(spec)
                return {"faults": len(faults.armed)}
            case "requests":
                if request.method == "DELETE":
                    requests.clear()
                told = [
                    {**msgspec.structs.asdict(seen), "body": seen.body.decode("utf-8", "replace")}
                    for seen in requests
                ]
                return {"count": requests.total, "requests": told}
            case "world":
                changes: dict[str, Callable[[Any], object]] = {
                    "advance": world.advance,
                    "revoke": keys.revoke,
                    "restore": keys.restore,
                    "replace": lambda told: keys.replace(**told),
                }
                for name, value in sent.items():
                    changes[name](value)
                with world.living() as state:
                    return {
                        "tasks": dict(Counter(task.status for task in state.tasks.values())),
                        "applied": dict(world.applied),
                        "attempts": dict(world.attempts),
                    }
        raise RefusedError(404, "not_found", "no such path")
