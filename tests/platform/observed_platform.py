"""The embedded platform as tests need it: it logs every request, and is controlled from outside.

The log is in `requests`; over HTTP there is a control path:

    POST          /_demo/reset      world, keys, faults and requests as at the start
    POST, DELETE  /_demo/faults     {"specs": ["tasks:hang"]}
    GET, DELETE   /_demo/requests   the request log
    GET, POST     /_demo/world      any of {"advance": 60, "revoke": "full"|"read",
                                    "restore": "full"|"read",
                                    "replace": {"which": "full"|"read", "key"}}

It is in no request log, no fault strikes it, and it needs the full key of the start (also when that
is revoked or replaced, or a revocation could not be taken back).
"""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import msgspec

from agentco_tui.demo import server
from agentco_tui.demo.connection import ClientConnection
from agentco_tui.demo.faults import Fault, Faults
from agentco_tui.demo.http_messages import Answer, Request
from agentco_tui.demo.incidents import SimulationWithIncidents
from agentco_tui.demo.record_fields import Fields
from agentco_tui.demo.renderer import Json, Renderer
from agentco_tui.demo.rest_api import Keys, RestApi
from agentco_tui.demo.world import World
from agentco_tui.demo.world_state import DemoTask, RefusedError
from tests.platform.faults import KINDS
from tests.platform.shaped_renderer import ShapedRenderer
from tests.platform.shapes import SHAPE_NAMES, SHAPES

_CONTROL = "/_demo/"
Edit = Callable[[str, Json], Json]
"""Returns what is sent instead of a record, by the record's kind and its JSON."""
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})


class LoggedRequest(msgspec.Struct, frozen=True):
    """One request. `status` is 0 if no answer left; `fault` names the fault that struck it."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]  # without Authorization and Cookie
    body: bytes
    status: int
    authorised: bool  # whether a valid key was sent
    operation: str | None
    """The operation of the interface, such as `approve`; None for an unknown path."""
    fault: str | None
    started: float  # monotonic seconds when the request was read
    took: float  # real seconds until the answer left


class RequestLog(deque[LoggedRequest]):
    """The last requests, oldest first."""

    def matching(self, operation: str) -> list[LoggedRequest]:
        return [request for request in self if request.operation == operation]

    def __iter__(self) -> Iterator[LoggedRequest]:
        return iter(list(super().__iter__()))  # at once, whatever other threads add


class RevocableKeys(Keys):
    """Keys of which each can be revoked, and restored."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._revoked: set[str] = set()

    def revoke(self, which: str) -> None:
        self._revoked.add(self[which])

    def restore(self, which: str) -> None:
        self._revoked.discard(self[which])

    def permission(self, authorization: str | None) -> str | None:
        which = super().permission(authorization)
        return None if which and self[which] in self._revoked else which


class LoggedFaults(Faults):
    """Faults that note for a request how long they made it wait."""

    def __init__(self, specs: Iterable[str] = ()) -> None:
        super().__init__(specs, KINDS)

    def choose(self, request: Request) -> tuple[float, Fault | None]:
        latency, fault = super().choose(request)
        vars(request)["latency"] = latency
        return latency, fault


class SimulationWithNumbers(SimulationWithIncidents):
    """A simulation whose ids are numbers without a prefix."""

    def new_id(self, prefix: str) -> str:
        return str(self.next_scattered_number(prefix))


class WorldWithNumbers(World):
    simulation_class = SimulationWithNumbers


def _world_class(shape: str) -> type[World]:
    has_numbers = shape in SHAPES and SHAPES[shape].ids == "numbers"
    return WorldWithNumbers if has_numbers else World


class EditedRenderer(Renderer):
    """Renders records as the embedded platform does, and has each edited before it is sent."""

    def __init__(self, edit: Edit) -> None:
        super().__init__()
        self._edit = edit

    def record(self, kind: str, fields: Fields) -> Json:
        return self._edit(kind, super().record(kind, fields))


def _renderer(shape: str, page_size: int | None, edit: Edit | None) -> Renderer:
    if edit is not None:
        return EditedRenderer(edit)
    if shape not in SHAPES:
        return Renderer()
    if page_size is None:
        return ShapedRenderer(SHAPES[shape])
    return ShapedRenderer(msgspec.structs.replace(SHAPES[shape], page_size=page_size))


class EmbeddedPlatform(server.EmbeddedPlatform):
    """`shape` is one of `SHAPE_NAMES`, `world_options` are those of `World`.

    `page_size` replaces the length of the pages of a shape that has some. `edit` gets the kind and
    the JSON of each record of the shape `plain`, and returns what is sent instead.
    """

    def __init__(
        self,
        seed: int = 7,
        *,
        shape: str = "plain",
        page_size: int | None = None,
        edit: Edit | None = None,
        faults: Iterable[str] = (),
        port: int = 0,
        **world_options: Any,
    ) -> None:
        if shape not in SHAPE_NAMES:
            raise ValueError(f"unknown shape {shape!r}: choose one of {', '.join(SHAPE_NAMES)}")
        self._build_world = partial(_world_class(shape), seed, **world_options)
        self._shape = shape
        self._page_size = page_size
        self._edit = edit
        self._seed = seed
        self._fault_specs = tuple(faults)
        self.keys: RevocableKeys
        super().__init__(
            self._build_world(),
            RevocableKeys(seed),
            LoggedFaults(self._fault_specs),
            renderer=_renderer(shape, page_size, edit),
            port=port,
        )
        self.requests = RequestLog(maxlen=20_000)
        self._control_authorization = f"Bearer {self.full_key}"

    def reset(self) -> None:
        """Begin again with the world, keys, faults and an empty request log of the start."""
        self.world = self._build_world()
        self.keys = RevocableKeys(self._seed)
        self.faults = LoggedFaults(self._fault_specs)
        self._api = RestApi(
            self.world, self.keys, _renderer(self._shape, self._page_size, self._edit)
        )
        self.requests.clear()

    async def serve(self, connection: ClientConnection, request: Request) -> None:
        if request.path.startswith(_CONTROL):
            status, told = 200, dict[str, Any]()
            try:
                told = self._control(request)
            except RefusedError as refusal:
                status, told = refusal.status, {"error": str(refusal)}
            except (ValueError, TypeError, KeyError) as error:
                status, told = 422, {"error": str(error)}
            headers = {"content-type": "application/json"}
            answer = Answer(status, headers, json.dumps(told).encode())
            await connection.send(answer.head() + answer.body)
            return
        began = vars(request)["began"] = time.monotonic()
        await super().serve(connection, request)
        if vars(request).pop("began", None) is not None:
            self._log(request, 0, "latency", began)  # the client went while it had to wait

    def answer(self, request: Request, fault: Fault | None) -> Answer:
        """Log a request before the first byte leaves: whoever has an answer finds it in the log."""
        answer = super().answer(request, fault)
        status = answer.status
        waited = vars(request).pop("latency") > 0
        struck = "latency" if waited else None
        if fault is not None:
            struck = fault.kind
            if not KINDS[fault.kind].sends_head:
                status = 0
        self._log(request, status, struck, vars(request).pop("began"))
        return answer

    def _log(self, request: Request, status: int, fault: str | None, started: float) -> None:
        authorization = request.headers.get("authorization")
        self.requests.append(
            LoggedRequest(
                request.method,
                request.path,
                request.query,
                tuple((k, v) for k, v in request.headers.items() if k not in _SECRET_HEADERS),
                request.body,
                status,
                authorised=self.keys.permission(authorization) is not None,
                operation=request.operation.name if request.operation else None,
                fault=fault,
                started=started,
                took=time.monotonic() - started,
            )
        )

    def _control(self, request: Request) -> dict[str, Any]:
        if request.headers.get("authorization") != self._control_authorization:
            raise RefusedError(401, "unauthorized", "the control path needs the full key")
        world, keys, faults, requests = self.world, self.keys, self.faults, self.requests
        sent = request.json() if request.method == "POST" else {}
        match request.path.removeprefix(_CONTROL):
            case "reset":
                self.reset()
                return {}
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
                return {"count": len(requests), "requests": told}
            case "world":
                changes: dict[str, Callable[[Any], object]] = {
                    "advance": world.advance,
                    "revoke": keys.revoke,
                    "restore": keys.restore,
                    "replace": lambda told: keys.update({told["which"]: told["key"]}),
                }
                for name, value in sent.items():
                    changes[name](value)
                with world.locked() as state:
                    return {
                        "tasks": dict(Counter(task.status for task in state.tasks.values())),
                        "applied": dict(world.applied),
                        "attempts": dict(world.attempts),
                    }
        raise RefusedError(404, "not_found", "no such path")


def decide_elsewhere(world: World, task_id: str, decision: str, who: str = "Wanda") -> DemoTask:
    """Approve or reject a task as another operator, not over the REST API. Raises RefusedError."""
    assert decision in {"approve", "reject"}
    with world.locked() as state:
        task = world.task(task_id)
        state.decide(task, decision, who, state.now)
        return task
