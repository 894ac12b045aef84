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
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from agentco_tui.demo.faults import BadFaultError, Faults
from agentco_tui.demo.keys import Keys
from agentco_tui.demo.requestlog import RequestLog
from agentco_tui.demo.world import AlreadyDecidedError, NoSuchRecordError, RefusedFieldsError, World


class Control:
    """What a test may do to a platform from outside."""

    def __init__(self, world: World, keys: Keys, faults: Faults, requests: RequestLog) -> None:
        self._world = world
        self._keys = keys
        self._faults = faults
        self._requests = requests
        self.app = Starlette(
            routes=[
                Route("/_demo/faults", self._serve_faults, methods=["GET", "POST", "DELETE"]),
                Route("/_demo/requests", self._serve_requests, methods=["GET", "DELETE"]),
                Route("/_demo/world", self._serve_world, methods=["GET", "POST"]),
            ]
        )

    def _barred(self, request: Request) -> JSONResponse | None:
        if self._keys.holds_full(request.headers.get("authorization")):
            return None
        return JSONResponse({"error": "the control path needs the full key"}, 401)

    async def _serve_faults(self, request: Request) -> JSONResponse:
        if barred := self._barred(request):
            return barred
        if request.method == "DELETE":
            self._faults.clear()
        elif request.method == "POST":
            try:
                wanted = await _object(request)
                for spec in wanted.get("specs", [wanted.get("spec")]):
                    self._faults.add(str(spec))
            except BadFaultError as error:
                return JSONResponse({"error": str(error)}, 422)
        told = [
            {**dataclasses.asdict(armed.fault), "matched": armed.matched, "struck": armed.struck}
            for armed in self._faults.in_force()
        ]
        return JSONResponse({"faults": told})

    async def _serve_requests(self, request: Request) -> JSONResponse:
        if barred := self._barred(request):
            return barred
        if request.method == "DELETE":
            self._requests.clear()
        told = [
            {**dataclasses.asdict(seen), "body": seen.body.decode("utf-8", "replace")}
            for seen in self._requests
        ]
        return JSONResponse({"count": self._requests.count, "requests": told})

    async def _serve_world(self, request: Request) -> JSONResponse:
        if barred := self._barred(request):
            return barred
        if request.method == "POST":
            try:
                self._change(await _object(request))
            except (NoSuchRecordError, AlreadyDecidedError) as error:
                return JSONResponse({"error": str(error)}, 409)
            except (RefusedFieldsError, ValueError, TypeError, KeyError) as error:
                return JSONResponse({"error": str(error)}, 422)
        with self._world.living() as state:
            return JSONResponse(
                {
                    "now": self._world.now,
                    "speed": self._world.clock.speed,
                    "companies": len(state.companies),
                    "agents": len(state.agents),
                    "tasks": dict(Counter(task.status for task in state.tasks.values())),
                    "applied": dict(self._world.applied),
                    "attempts": dict(self._world.attempts),
                }
            )

    def _change(self, wanted: dict[str, Any]) -> None:
        unknown = set(wanted) - {
            *("advance", "speed", "another_operator", "revoke", "restore", "replace")
        }
        if unknown:
            raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
        if "speed" in wanted:
            self._world.clock.speed = float(wanted["speed"])
        if "advance" in wanted:
            self._world.advance(float(wanted["advance"]))
        if "another_operator" in wanted:
            self._world.another_operator(**wanted["another_operator"])
        if "revoke" in wanted:
            self._keys.revoke(wanted["revoke"])
        if "restore" in wanted:
            self._keys.restore(wanted["restore"])
        if "replace" in wanted:
            self._keys.replace(**wanted["replace"])


async def _object(request: Request) -> dict[str, Any]:
    """The body as a JSON object; ValueError if it is none."""
    body = json.loads(await request.body())
    if not isinstance(body, dict):
        raise TypeError("the body must be a JSON object")
    return body
