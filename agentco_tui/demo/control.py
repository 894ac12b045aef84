"""What a test may see of a platform and do to it: the request log, and the control path over HTTP.

    GET, POST, DELETE /_demo/faults     {"spec": "tasks:hang"} or {"specs": [...]}
    GET, DELETE       /_demo/requests   the request log
    GET, POST         /_demo/world      any of {"advance": 60, "speed": 0,
                                        "another_operator": {"task_id", "decision", "who"},
                                        "revoke": "full"|"read", "restore": "full"|"read",
                                        "replace": {"which": "full"|"read", "key"}}

The control path is in no request log, no fault strikes it, and it needs the full key (a revoked or
replaced one too, or a revocation could not be taken back).
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any

from agentco_tui.demo.connection import Answer, Request
from agentco_tui.demo.faults import Faults
from agentco_tui.demo.operations import Keys
from agentco_tui.demo.world import World
from agentco_tui.demo.world_state import RefusedError

CONTROL = "/_demo/"
_KEPT = 20_000


@dataclasses.dataclass(frozen=True, slots=True)
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
    """Real seconds until the answer left."""


class RequestLog:
    """The last requests, oldest first; `count` is how many there were in all."""

    def __init__(self) -> None:
        self._seen: deque[Seen] = deque(maxlen=_KEPT)
        self.count = 0

    def add(self, seen: Seen) -> None:
        """Note a request."""
        self._seen.append(seen)
        self.count += 1

    def clear(self) -> None:
        """Forget all."""
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
    """The control path."""

    def __init__(self, world: World, keys: Keys, faults: Faults, requests: RequestLog) -> None:
        self._world = world
        self._keys = keys
        self._faults = faults
        self._requests = requests

    def answer(self, request: Request) -> Answer:
        """Do what was asked, and tell how things stand."""
        serve = {
            "/_demo/faults": self._on_faults,
            "/_demo/requests": self._on_requests,
            "/_demo/world": self._on_world,
        }.get(request.path)
        told: dict[str, Any]
        try:
            if serve is None:
                status, told = 404, {"error": "no such path"}
            elif not self._keys.holds_full(request.headers.get("authorization")):
                status, told = 401, {"error": "the control path needs the full key"}
            else:
                status, told = 200, serve(request)
        except RefusedError as refusal:
            status, told = refusal.status, {"error": str(refusal)}
        except (ValueError, TypeError, KeyError) as error:
            status, told = 422, {"error": str(error)}
        return Answer(status, {"content-type": "application/json"}, json.dumps(told).encode())

    def _on_faults(self, request: Request) -> dict[str, Any]:
        if request.method == "DELETE":
            self._faults.clear()
        elif request.method == "POST":
            wanted = request.json()
            for spec in wanted.get("specs", [wanted.get("spec")]):
                self._faults.add(str(spec))
        told = [
            {**dataclasses.asdict(armed.fault), "matched": armed.matched, "struck": armed.struck}
            for armed in self._faults.in_force()
        ]
        return {"faults": told}

    def _on_requests(self, request: Request) -> dict[str, Any]:
        if request.method == "DELETE":
            self._requests.clear()
        told = [
            {**dataclasses.asdict(seen), "body": seen.body.decode("utf-8", "replace")}
            for seen in self._requests
        ]
        return {"count": self._requests.count, "requests": told}

    def _on_world(self, request: Request) -> dict[str, Any]:
        world = self._world
        changes: dict[str, Callable[[Any], object]] = {
            "speed": lambda speed: setattr(world.clock, "speed", float(speed)),
            "advance": lambda seconds: world.advance(float(seconds)),
            "another_operator": lambda told: world.another_operator(**told),
            "revoke": self._keys.revoke,
            "restore": self._keys.restore,
            "replace": lambda told: self._keys.replace(**told),
        }
        wanted = request.json() if request.method == "POST" else {}
        if unknown := set(wanted) - set(changes):
            raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
        for name, value in wanted.items():
            changes[name](value)
        with world.living() as state:
            return {
                "now": world.now,
                "speed": world.clock.speed,
                "companies": len(state.companies),
                "agents": len(state.agents),
                "tasks": dict(Counter(task.status for task in state.tasks.values())),
                "applied": dict(world.applied),
                "attempts": dict(world.attempts),
            }
