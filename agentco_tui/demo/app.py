"""The interface as a Starlette application: exactly its paths, over one world, in one shape."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agentco_tui.demo.answers import Answers
from agentco_tui.demo.keys import Keys
from agentco_tui.demo.operations import OPERATIONS, Operation
from agentco_tui.demo.renderer import Renderer, encode
from agentco_tui.demo.shape import Ask, Out, Refusal, Shape
from agentco_tui.demo.styles import moment
from agentco_tui.demo.world import AlreadyDecidedError, NoSuchRecordError, RefusedFieldsError, World

_KEPT_ANSWERS = 10_000


@dataclass(frozen=True, slots=True)
class Call:
    """A request that has passed the gate: its address, the id in its path, its JSON body."""

    ask: Ask
    record_id: str
    fields: dict[str, Any]


class Interface:
    """Answers the operations of INTERFACE 4, behind the gate of INTERFACE 5."""

    def __init__(self, world: World, keys: Keys, shape: Shape, *, etag: bool = False) -> None:
        self.world = world
        self.keys = keys
        self.renderer = Renderer(shape)
        self._answers = Answers(world, self.renderer)
        self._etag = etag
        self._remembered: dict[tuple[str, str, str], Out] = {}
        self.app = Starlette(
            routes=[
                *(self._route(operation) for operation in OPERATIONS),
                Route("/{rest:path}", self._unknown, methods=["GET", "POST", "PUT", "DELETE"]),
            ]
        )

    def _route(self, operation: Operation) -> Route:
        answer: Callable[[Call], Out] = getattr(self._answers, operation.name)

        async def serve(request: Request) -> Response:
            body = await request.body()
            return self._written(request, self._answer(operation, answer, request, body))

        return Route(operation.path, serve, methods=[operation.method], name=operation.name)

    async def _unknown(self, request: Request) -> Response:
        refusal = Refusal(404, "not_found", "no such path", path=request.url.path)
        return self._written(request, self.renderer.refusal(refusal))

    def _answer(
        self, operation: Operation, answer: Callable[[Call], Out], request: Request, body: bytes
    ) -> Out:
        path = request.url.path
        try:
            self._gate(operation, request.headers.get("authorization"))
            once = request.headers.get("idempotency-key") if operation.writes else None
            remembered = (request.method, path, once or "")
            if once and remembered in self._remembered:
                return self._remembered[remembered]
            out = answer(_call(operation, request, body))
            if once:
                if len(self._remembered) >= _KEPT_ANSWERS:
                    self._remembered.clear()
                self._remembered[remembered] = out
        except Refusal as refusal:
            told = refusal
        except NoSuchRecordError as error:
            told = Refusal(404, "not_found", f"{error.kind} not found")
        except RefusedFieldsError as error:
            told = Refusal(422, "validation_failed", "Validation error", error.fields)
        except AlreadyDecidedError as error:
            told = _decided(error)
        else:
            return out
        with_path = Refusal(told.status, told.code, told.message, told.fields, path=path)
        return self.renderer.refusal(with_path)

    def _gate(self, operation: Operation, authorization: str | None) -> None:
        permission = self.keys.permission(authorization)
        if permission is None:
            words = "API key missing or invalid" if authorization else "API key missing"
            raise Refusal(401, "unauthorized", words)
        if operation.writes and permission != "full":
            raise Refusal(403, "forbidden", "API key lacks the permission to change anything")

    def _written(self, request: Request, out: Out) -> Response:
        status = out.status or 200
        content = b"" if out.body is None and status == 204 else encode(out.body)
        headers = dict(out.headers)
        if status == 401:
            headers.setdefault("WWW-Authenticate", "Bearer")
        if self._etag and request.method == "GET" and status == 200:
            tag = f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
            headers["ETag"] = tag
            if request.headers.get("if-none-match") == tag:
                return Response(status_code=304, headers=headers)
        if status == 204:
            return Response(status_code=204, headers=headers)
        return Response(content, status, headers, media_type=out.media)


def _call(operation: Operation, request: Request, body: bytes) -> Call:
    ask = Ask(
        str(request.base_url).rstrip("/"),
        request.url.path,
        tuple(sorted(request.query_params.multi_items())),
    )
    record_id = unquote(request.path_params.get("id", ""))
    return Call(ask, record_id, _fields(operation, body))


def _fields(operation: Operation, body: bytes) -> dict[str, Any]:
    if not operation.writes or operation.name == "approve":
        return {}
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, "bad_json", "the body is no valid JSON") from error
    if not isinstance(fields, dict):
        raise Refusal(422, "validation_failed", "the body must be a JSON object")
    return fields


def _decided(error: AlreadyDecidedError) -> Refusal:
    task = error.task
    by = f" by {task.decided_by}" if task.decided_by else ""
    when = ""
    if task.decided is not None:
        when = f" at {moment(task.decided, 'z')}"
    words = f"only pending tasks can be approved: this one is {task.status}, decided{by}{when}"
    return Refusal(409, "already_decided", words)
