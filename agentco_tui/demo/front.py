"""The outermost layer of the embedded platform: notes every request, and lets faults strike."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentco_tui.demo.app import Interface
from agentco_tui.demo.faults import Fault, Faults
from agentco_tui.demo.operations import Operation, operation_of
from agentco_tui.demo.renderer import encode
from agentco_tui.demo.requestlog import RequestLog, Seen
from agentco_tui.demo.shape import Refusal
from agentco_tui.demo.strike import (
    NEEDS_HEAD,
    NO_ANSWER,
    PAST_THE_PROTOCOL,
    STRIKES,
    Answer,
    Line,
    send_whole,
)

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
    noted: bool = False

    @property
    def method(self) -> str:
        """The method in capitals."""
        return str(self.scope["method"])

    @property
    def path(self) -> str:
        """The path as it was sent, still percent-encoded."""
        return str(self.scope["raw_path"].decode("latin-1"))

    @property
    def operation(self) -> Operation | None:
        """The operation it means; None for an unknown path."""
        return operation_of(self.method, self.path)


class Front:
    """An ASGI application around the interface and the control path."""

    def __init__(
        self, interface: Interface, control: ASGIApp, faults: Faults, requests: RequestLog
    ) -> None:
        self._interface = interface
        self._control = control
        self._faults = faults
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
        is_control = exchange.path.startswith(CONTROL)
        try:
            if is_control:
                await self._control(scope, replay(exchange), send)
            else:
                await self._serve(exchange)
        except Exception as error:
            self.errors.append(error)
            raise
        finally:
            if not is_control:
                self._note(exchange)

    async def _serve(self, exchange: Exchange) -> None:
        latency, fault = self._faults.choose(exchange.method, exchange.path, exchange.operation)
        line = Line(exchange.scope, exchange.receive, self._dated(exchange))
        try:
            if latency:
                exchange.fault = "latency"
                if not await line.pause(latency):
                    return
                await line.release()
            if fault is None:
                await self._interface.app(exchange.scope, replay(exchange), line.send)
                return
            exchange.fault = fault.kind
            answer = await self._true_answer(exchange) if fault.applied else NO_ANSWER
            if fault.kind == "status":
                await send_whole(line, self._status(fault))
            else:
                if fault.kind in PAST_THE_PROTOCOL:
                    exchange.status = answer.status if fault.kind in NEEDS_HEAD else 0
                    self._note(exchange)
                await STRIKES[fault.kind](line, fault, answer)
        finally:
            await line.release()

    async def _true_answer(self, exchange: Exchange) -> Answer:
        """Let the request be applied, and catch the answer."""
        start: Message = {}
        parts: list[bytes] = []

        async def catch(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                parts.append(message.get("body", b""))

        await self._interface.app(exchange.scope, replay(exchange), catch)
        return Answer(start["status"], (*start["headers"], self._date()), b"".join(parts))

    def _dated(self, exchange: Exchange) -> Send:
        """Send with the status noted, and with the Date header that every answer carries."""

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                # Noted before the first byte leaves, so whoever has an answer finds it noted.
                self._note(exchange)
                headers = list(message["headers"])
                if all(name != b"date" for name, _ in headers):
                    headers.append(self._date())
                message = {**message, "headers": headers}
            await exchange.send(message)

        return send

    def _date(self) -> tuple[bytes, bytes]:
        """The platform's own idea of the time: that of its world."""
        return b"date", formatdate(self._interface.world.clock.now(), usegmt=True).encode()

    def _status(self, fault: Fault) -> Answer:
        status = fault.number(500)
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "Unknown"
        headers: list[tuple[bytes, bytes]] = []
        if fault.retry_after is not None:
            headers.append((b"retry-after", self._retry_after(fault.retry_after)))
        body, media = b"", "text/plain"
        if fault.body == "json":
            code = phrase.lower().replace(" ", "_")
            out = self._interface.renderer.refusal(Refusal(status, code, phrase))
            body, media = encode(out.body), out.media
        elif fault.body == "html":
            page = f"<html><body><h1>{status} {phrase}</h1></body></html>"
            body, media = page.encode(), "text/html"
        elif fault.body == "text":
            body = b"upstream connect error or disconnect/reset before headers"
        headers.append((b"content-type", media.encode()))
        return Answer(status, tuple(headers), b"").replaced(body)

    def _retry_after(self, wanted: str) -> bytes:
        if wanted == "odd":
            return b"in a moment"
        if wanted.startswith("date"):
            at = self._interface.world.clock.now() + float(wanted.removeprefix("date") or 0)
            return formatdate(at, usegmt=True).encode()
        return wanted.encode("latin-1", "replace")

    def _note(self, exchange: Exchange) -> None:
        if exchange.noted:
            return
        exchange.noted = True
        authorization = exchange.headers.get("authorization")
        operation = exchange.operation
        self._requests.add(
            Seen(
                exchange.method,
                exchange.path,
                exchange.scope["query_string"].decode("latin-1"),
                tuple((k, v) for k, v in exchange.headers.items() if k not in _SECRET_HEADERS),
                exchange.body,
                exchange.status,
                self._interface.keys.permission(authorization) is not None,
                authorization is not None,
                operation.name if operation else None,
                exchange.fault,
                self._interface.world.clock.now(),
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
