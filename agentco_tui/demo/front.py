"""The outermost layer of the embedded platform: notes every request, and lets faults strike."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from http import HTTPStatus

from agentco_tui.demo.faults import Fault, Faults
from agentco_tui.demo.interface import Interface
from agentco_tui.demo.model import Refusal
from agentco_tui.demo.operations import Answer, Request
from agentco_tui.demo.renderer import encode
from agentco_tui.demo.strikes import (
    ON_THE_ANSWER,
    ON_THE_LINE,
    PAST_THE_PROTOCOL,
    Line,
    Message,
    Receive,
    Scope,
    Send,
    send_whole,
)

LOGIN_PAGE = """<!doctype html>
<html><head><title>Sign in</title></head>
<body><h1>Sign in</h1><form method="post" action="/login">
<input name="user"><input name="password" type="password"></form></body></html>
"""
CONTROL = "/_demo/"
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})
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
        self._seen: deque[Seen] = deque(maxlen=_KEPT)
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


@dataclass(slots=True)
class _Exchange:
    """A request, and what became of it."""

    request: Request
    send: Send
    started: float = field(default_factory=time.monotonic)
    status: int = 0
    fault: str | None = None
    noted: bool = False


class Front:
    """An ASGI application around the interface and the control path."""

    def __init__(
        self,
        interface: Interface,
        control: Callable[[Request], Answer],
        faults: Faults,
        requests: RequestLog,
    ) -> None:
        self._interface = interface
        self._control = control
        self._faults = faults
        self._requests = requests
        self.errors: list[Exception] = []
        """What went wrong in the platform itself; always empty unless it has a fault of its own."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = await read_request(scope, receive)
        exchange = _Exchange(request, send)
        line = Line(scope, receive, self._dated(exchange))
        is_control = request.path.startswith(CONTROL)
        try:
            if is_control:
                await send_whole(Line(scope, receive, send), self._control(request))
            else:
                await self._serve(exchange, line)
        except Exception as error:
            self.errors.append(error)
            raise
        finally:
            if not is_control:
                self._note(exchange)

    async def _serve(self, exchange: _Exchange, line: Line) -> None:
        request = exchange.request
        latency, fault = self._faults.choose(request.method, request.path, request.operation)
        try:
            if latency:
                exchange.fault = "latency"
                if not await line.pause(latency):
                    return
                await line.release()
            if fault is None:
                await send_whole(line, self._interface.answer(request))
                return
            exchange.fault = fault.kind
            answer = Answer(0, (), b"")
            if fault.applied:
                answer = self._interface.answer(request)
                answer = replace(answer, headers=(*answer.headers, self._date()))
            if fault.kind in PAST_THE_PROTOCOL:
                exchange.status = answer.status if PAST_THE_PROTOCOL[fault.kind] else 0
                self._note(exchange)
            if fault.kind == "status":
                await send_whole(line, self._status(fault))
            elif fault.kind in ON_THE_ANSWER:
                await send_whole(line, ON_THE_ANSWER[fault.kind](fault, answer))
            else:
                await ON_THE_LINE[fault.kind](line, fault, answer)
        finally:
            await line.release()

    def _dated(self, exchange: _Exchange) -> Send:
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
        page = (
            LOGIN_PAGE if status < 300 else f"<html><body><h1>{status} {phrase}</h1></body></html>"
        )
        media, body = {
            "html": ("text/html; charset=utf-8", page.encode()),
            "text": ("text/plain", b"upstream connect error or disconnect/reset before headers"),
            "empty": ("application/json", b""),
            "null": ("application/json", b"null"),
            "json": ("", b""),
        }[fault.body]
        if fault.body == "json":
            code = phrase.lower().replace(" ", "_")
            out = self._interface.renderer.refusal(Refusal(status, code, phrase))
            media, body = out.media, encode(out.body)
        headers = []
        if fault.retry_after is not None:
            headers.append((b"retry-after", self._retry_after(fault.retry_after)))
        if status == HTTPStatus.NO_CONTENT:
            return Answer(status, tuple(headers), b"")
        return Answer(status, tuple(headers), b"").replaced(body, content_type=media.encode())

    def _retry_after(self, wanted: str) -> bytes:
        if wanted == "odd":
            return b"in a moment"
        if wanted.startswith("date"):
            at = self._interface.world.clock.now() + float(wanted.removeprefix("date") or 0)
            return formatdate(at, usegmt=True).encode()
        return wanted.encode("latin-1", "replace")

    def _note(self, exchange: _Exchange) -> None:
        if exchange.noted:
            return
        exchange.noted = True
        request = exchange.request
        authorization = request.headers.get("authorization")
        self._requests.add(
            Seen(
                request.method,
                request.path,
                request.query,
                tuple((k, v) for k, v in request.headers.items() if k not in _SECRET_HEADERS),
                request.body,
                exchange.status,
                self._interface.keys.permission(authorization) is not None,
                authorization is not None,
                request.operation.name if request.operation else None,
                exchange.fault,
                self._interface.world.clock.now(),
                exchange.started,
                time.monotonic() - exchange.started,
            )
        )


async def read_request(scope: Scope, receive: Receive) -> Request:
    """A request with its whole body; with what came so far if the client has gone."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            break
    return Request(
        str(scope["method"]),
        scope["raw_path"].decode("latin-1"),
        scope["query_string"].decode("latin-1"),
        {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]},
        b"".join(parts),
    )
