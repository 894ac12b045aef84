"""HTTP/1.1 on a connection of asyncio's own: requests, answers, and breaking them off midway.

As little of the protocol as clients of the platform use, and the connection within reach, because
faults are to break it: bodies come with a Content-Length, and answers go out in one piece.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from dataclasses import dataclass, replace
from functools import cached_property
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from agentco_tui.demo.operations import Operation, operation_of
from agentco_tui.demo.world_state import RefusedError

_HEAD_MOST = 256 * 1024


def phrase_of(status: int) -> str:
    """What a status is called."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


@dataclass(frozen=True)
class Request:
    """A request as it was read; the path is still percent-encoded."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @cached_property
    def operation(self) -> Operation | None:
        """The operation it means; None for an unknown path."""
        return operation_of(self.method, self.path)

    @cached_property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The query, sorted."""
        return tuple(sorted(parse_qsl(self.query, keep_blank_values=True)))

    def get(self, *names: str) -> str | None:
        """The first of these query parameters that was sent."""
        return next((value for name, value in self.parameters if name in names), None)

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; RefusedError if it is none."""
        try:
            fields = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise RefusedError(400, "bad_json", "the body is no valid JSON") from error
        if not isinstance(fields, dict):
            raise RefusedError(422, "validation_failed", "the body must be a JSON object")
        return fields


@dataclass(frozen=True)
class Answer:
    """A whole answer, before anything of it was sent; names of headers in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes = b""

    def replaced(self, body: bytes, **headers: str) -> Answer:
        """With another body, and these headers (`_` for `-`)."""
        changed = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, body=body, headers=self.headers | changed)

    def head(self) -> bytes:
        """Status line and headers, ready to be sent."""
        told = dict(self.headers)
        if "transfer-encoding" not in told and self.status not in {204, 304}:
            told["content-length"] = str(len(self.body))
        lines = (f"{name}: {value}" for name, value in told.items())
        return "\r\n".join(
            [f"HTTP/1.1 {self.status} {phrase_of(self.status)}", *lines, "", ""]
        ).encode("latin-1")


class ClientConnection:
    """One client's connection: its requests one after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._unread = b""
        self._coming: asyncio.Task[bytes] | None = None

    async def request(self) -> Request | None:
        """The next request, with as much of its body as came; None once there is no more."""
        while b"\r\n\r\n" not in self._unread:
            if len(self._unread) > _HEAD_MOST or not await self._more():
                return None
        head, _, self._unread = self._unread.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        try:
            method, target, _ = first.split(" ")
            length = int(headers.get("content-length", "0"))
        except ValueError:
            return None
        while len(self._unread) < length and await self._more():
            continue
        body, self._unread = self._unread[:length], self._unread[length:]
        path, _, query = target.partition("?")
        return Request(method, path, query, headers, body)

    async def send(self, data: bytes) -> None:
        """Send this; ConnectionError if the client has gone."""
        self._writer.write(data)
        await self._writer.drain()

    async def pause(self, seconds: float | None) -> bool:
        """Wait so long, None for ever; False at once if the client goes meanwhile."""
        if self._coming is None:
            self._coming = asyncio.create_task(self._read())
        done, _ = await asyncio.wait({self._coming}, timeout=seconds)
        return not done or await self._more()

    async def end(self, *, reset: bool = False) -> None:
        """End the connection in good order as TCP sees it, or with a reset."""
        if reset:
            sock: socket.socket = self._writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._writer.transport.abort()
        else:
            self._writer.close()
        while await self._more():
            continue

    def abort(self) -> None:
        """Cut it at once; whoever waits for it hears that the client has gone."""
        self._writer.transport.abort()

    async def _more(self) -> bool:
        """Take in what comes next; False once the client has gone."""
        coming, self._coming = self._coming, None
        piece = await (coming or self._read())
        self._unread += piece
        return bool(piece)

    async def _read(self) -> bytes:
        try:
            return await self._reader.read(65_536)
        except OSError:
            return b""
