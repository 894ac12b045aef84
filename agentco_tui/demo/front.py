"""The outermost layer of the embedded platform: notes every request, and lets faults strike."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentco_tui.demo.keys import Keys
from agentco_tui.demo.operations import operation_of
from agentco_tui.demo.requestlog import RequestLog, Seen
from agentco_tui.demo.world import World

CONTROL = "/_demo/"
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})


@dataclass(slots=True)
class Exchange:
    """A request as it was read, and what became of it."""

    scope: Scope
    receive: Receive
    send: Send
    body: bytes
    headers: dict[str, str]
    started: float = field(default_factory=time.monotonic)
    status: int = 0
    fault: str | None = None

    @property
    def method(self) -> str:
        """The method in capitals."""
        return str(self.scope["method"])

    @property
    def path(self) -> str:
        """The path as it was sent, still percent-encoded."""
        return str(self.scope["raw_path"].decode("latin-1"))


class Front:
    """An ASGI application around the interface."""

    def __init__(self, app: ASGIApp, world: World, keys: Keys, requests: RequestLog) -> None:
        self._app = app
        self._world = world
        self._keys = keys
        self._requests = requests
        self.errors: list[Exception] = []
        """What went wrong in the platform itself; always empty unless it has a fault of its own."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            raise RuntimeError(f"unexpected {scope['type']} scope")
        body = await read_body(receive)
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        exchange = Exchange(scope, receive, send, body, headers)
        try:
            await self._pass_on(exchange)
        except Exception as error:
            self.errors.append(error)
            raise
        finally:
            if not exchange.path.startswith(CONTROL):
                self._note(exchange)

    async def _pass_on(self, exchange: Exchange) -> None:
        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
            await exchange.send(message)

        await self._app(exchange.scope, replay(exchange), send)

    def _note(self, exchange: Exchange) -> None:
        authorization = exchange.headers.get("authorization")
        operation = operation_of(exchange.method, exchange.path)
        self._requests.add(
            Seen(
                exchange.method,
                exchange.path,
                exchange.scope["query_string"].decode("latin-1"),
                tuple((k, v) for k, v in exchange.headers.items() if k not in _SECRET_HEADERS),
                exchange.body,
                exchange.status,
                self._keys.permission(authorization) is not None,
                authorization is not None,
                operation.name if operation else None,
                exchange.fault,
                self._world.clock.now(),
                exchange.started,
                time.monotonic() - exchange.started,
            )
        )


async def read_body(receive: Receive) -> bytes:
    """The whole body of a request; what came so far if the client has gone."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            break
    return b"".join(parts)


def replay(exchange: Exchange) -> Receive:
    """Gives the body that was read already, then waits for the client to go."""
    given = False

    async def receive() -> Message:
        nonlocal given
        if given:
            return await exchange.receive()
        given = True
        return {"type": "http.request", "body": exchange.body, "more_body": False}

    return receive
