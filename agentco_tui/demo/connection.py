"""HTTP/1.1 on a connection of asyncio's own: requests, answers, and breaking them off midway.

As little of the protocol as clients of the platform use, and the connection within reach, because
faults are to break it: bodies come with a Content-Length, and answers go out in one piece.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
from datetime import date
from functools import cached_property, lru_cache
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import msgspec

from agentco_tui.demo.world_state import RefusedError, check

HEAD_MOST = 256 * 1024


class Operation(NamedTuple):
    """One row of the interface's tables."""

    name: str
    method: str
    path: str

    @property
    def writes(self) -> bool:
        return self.method == "POST"


OPERATIONS = (
    Operation("companies", "GET", "/api/companies"),
    Operation("company", "GET", "/api/companies/{id}"),
    Operation("create_company", "POST", "/api/companies"),
    Operation("clone_company", "POST", "/api/companies/{id}/clone"),
    Operation("agents", "GET", "/api/agents"),
    Operation("agent", "GET", "/api/agents/{id}"),
    Operation("tasks", "GET", "/api/tasks"),
    Operation("create_task", "POST", "/api/tasks"),
    Operation("approve", "POST", "/api/tasks/{id}/approve"),
    Operation("trace", "GET", "/api/tasks/{id}/trace"),
    Operation("activity", "GET", "/api/activity"),
    Operation("export", "GET", "/api/activity/export"),
    Operation("budget", "GET", "/api/budget"),
    Operation("company_budgets", "GET", "/api/budget/companies"),
    Operation("agent_budgets", "GET", "/api/budget/agents"),
    Operation("set_limit", "POST", "/api/budget/agents/{id}"),
    Operation("alerts", "GET", "/api/budget/alerts"),
)
BY_NAME = {operation.name: operation for operation in OPERATIONS}


@lru_cache(maxsize=256)
def path_pattern(template: str) -> re.Pattern[str]:
    """A path with `{id}`, `:id` or `*` for one segment, `**` for any number of them."""
    pieces = re.split(r"(\*\*|\*|\{\w+\}|:\w+)", template)
    kinds = {"**": ".*", "*": "[^/]*"}
    return re.compile(
        "".join(
            f"({kinds.get(piece, '[^/]+')})" if turn % 2 else re.escape(piece)
            for turn, piece in enumerate(pieces)
        )
    )


def phrase_of(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


class Request(msgspec.Struct, frozen=True, dict=True):
    """A request as it was read, the path still percent-encoded; RefusedError for odd values."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @cached_property
    def operation(self) -> Operation | None:
        """What is asked for; None if the interface has no such path."""
        return next(
            (
                each
                for each in OPERATIONS
                if each.method == self.method and path_pattern(each.path).fullmatch(self.path)
            ),
            None,
        )

    @cached_property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Those of the query, sorted."""
        return tuple(sorted(parse_qsl(self.query, keep_blank_values=True)))

    def get(self, *names: str) -> str | None:
        """The first of these query parameters that was sent."""
        return next((value for name, value in self.parameters if name in names), None)

    def day(self, name: str) -> date | None:
        """A day of the query in the form YYYY-MM-DD."""
        text = self.get(name)
        try:
            return None if text is None else date.fromisoformat(text)
        except ValueError:
            words = "must be a day in the form YYYY-MM-DD"
            raise RefusedError(422, "invalid_query", "Validation error", ((name, words),)) from None

    def whole(self, *names: str, least: int = 1) -> int | None:
        """A whole number of the query, under the first of these names that was sent."""
        text = self.get(*names)
        if text is None:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):
            words = f"must be a whole number from {least}"
            raise RefusedError(422, "invalid_query", "Validation error", ((names[0], words),))
        return int(text)

    def json(self) -> dict[str, Any]:
        """The body as a JSON object."""
        try:
            fields = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise RefusedError(400, "bad_json", "the body is no valid JSON") from error
        if not isinstance(fields, dict):
            raise RefusedError(422, "validation_failed", "the body must be a JSON object")
        return fields

    def texts(self, *names: str, optional: tuple[str, ...] = ()) -> list[str]:
        """These fields of the body, which must be texts; what is `optional` may be left out."""
        body = dict.fromkeys(optional, "") | self.json()
        check(
            *(
                (not isinstance(body.get(name), str), name, "must be a string")
                if name in body
                else (True, name, "is required")
                for name in names
            )
        )
        return [body[name] for name in names]


class Answer(msgspec.Struct, frozen=True):
    """A whole answer, before anything of it was sent; names of headers in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes = b""

    def replaced(self, body: bytes, **headers: str) -> Answer:
        changed = {name.replace("_", "-"): value for name, value in headers.items()}
        return Answer(self.status, self.headers | changed, body)

    def head(self) -> bytes:
        told = dict(self.headers)
        if "transfer-encoding" not in told and self.status not in {204, 304}:
            told["content-length"] = str(len(self.body))
        lines = (f"{name}: {value}" for name, value in told.items())
        return "\r\n".join(
            [f"HTTP/1.1 {self.status} {phrase_of(self.status)}", *lines, "", ""]
        ).encode("latin-1")


class ClientConnection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def request(self) -> Request | None:
        """The next request, with as much of its body as came; None once there is no more."""
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
            pairs = (line.partition(":") for line in lines)
            headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
            method, target, _ = first.split(" ")
            length = int(headers.get("content-length", "0"))
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, OSError):
            return None
        try:
            body = await self._reader.readexactly(length)
        except asyncio.IncompleteReadError as error:
            body = error.partial
        path, _, query = target.partition("?")
        return Request(method, path, query, headers, body)

    async def send(self, data: bytes) -> None:
        """Send this; ConnectionError if the client has gone."""
        self._writer.write(data)
        await self._writer.drain()

    async def pause(self, seconds: float | None) -> bool:
        """Wait so long, None for ever; False at once if the client goes meanwhile."""
        # A client that waits for its answer sends nothing more, so whatever can be read is the end.
        try:
            async with asyncio.timeout(seconds):
                await self._reader.read(1)
        except TimeoutError:
            return True
        except OSError:
            pass
        return False

    def end(self, *, reset: bool = False) -> None:
        """End the connection in good order as TCP sees it, or with a reset."""
        if reset:
            sock: socket.socket = self._writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.abort()
        else:
            self._writer.close()

    def abort(self) -> None:
        """Cut it at once; whoever waits for it hears that the client has gone."""
        self._writer.transport.abort()
