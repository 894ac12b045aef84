"""The control path of the embedded platform, for tests that run it as a process of its own.

    GET, POST, DELETE /_demo/faults     {"spec": "tasks:hang"} or {"specs": [...]}
    GET, DELETE       /_demo/requests   the request log
    GET, POST         /_demo/world      any of {"advance": 60, "speed": 0,
                                        "another_operator": {"task_id", "decision", "who"},
                                        "revoke": "full"|"read", "restore": "full"|"read",
                                        "replace": {"which": "full"|"read", "key"}}

It lies outside /api, is not in the request log, no fault strikes it, and it needs the full key
(a revoked or replaced one too, or a revocation could not be taken back).
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from agentco_tui.demo.faults import Faults
from agentco_tui.demo.front import RequestLog
from agentco_tui.demo.model import Refusal
from agentco_tui.demo.operations import Answer, Keys, Request
from agentco_tui.demo.world import World

Json = dict[str, Any]


class Control:
    """What a test may do to a platform from outside."""

    def __init__(self, world: World, keys: Keys, faults: Faults, requests: RequestLog) -> None:
        self._world = world
        self._keys = keys
        self._faults = faults
        self._requests = requests
        self._paths: dict[str, Callable[[Request], Json]] = {
            "/_demo/faults": self._on_faults,
            "/_demo/requests": self._on_requests,
            "/_demo/world": self._on_world,
        }

    def answer(self, request: Request) -> Answer:
        """Do what was asked, and tell how things stand."""
        serve = self._paths.get(request.path)
        try:
            if serve is None:
                status, told = 404, {"error": "no such path"}
            elif not self._keys.holds_full(request.headers.get("authorization")):
                status, told = 401, {"error": "the control path needs the full key"}
            else:
                status, told = 200, serve(request)
        except Refusal as refusal:
            status, told = refusal.status, {"error": str(refusal)}
        except (ValueError, TypeError, KeyError) as error:
            status, told = 422, {"error": str(error)}
        bare = Answer(status, ((b"content-type", b"application/json"),), b"")
        return bare.replaced(json.dumps(told).encode())

    def _on_faults(self, request: Request) -> Json:
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

    def _on_requests(self, request: Request) -> Json:
        if request.method == "DELETE":
            self._requests.clear()
        told = [
            {**dataclasses.asdict(seen), "body": seen.body.decode("utf-8", "replace")}
            for seen in self._requests
        ]
        return {"count": self._requests.count, "requests": told}

    def _on_world(self, request: Request) -> Json:
        world = self._world
        if request.method == "POST":
            self._change(request.json())
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

    def _change(self, wanted: Json) -> None:
        changes: dict[str, Callable[[Any], object]] = {
            "speed": lambda speed: setattr(self._world.clock, "speed", float(speed)),
            "advance": lambda seconds: self._world.advance(float(seconds)),
            "another_operator": lambda told: self._world.another_operator(**told),
            "revoke": self._keys.revoke,
            "restore": self._keys.restore,
            "replace": lambda told: self._keys.replace(**told),
        }
        if unknown := set(wanted) - set(changes):
            raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
        for name, change in changes.items():
            if name in wanted:
                change(wanted[name])
