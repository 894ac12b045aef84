"""An embedded platform that is choosy about the questions it answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode

from agentco_tui.demo.front import Front
from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.demo.strikes import Receive, Scope, Send

Query = dict[str, str]
Choice = Callable[[str, Query], int | Query | bytes]
"""From path and query to a status to refuse with, a query to answer instead, or a JSON body."""


async def respond(receive: Receive, send: Send, status: int, body: bytes) -> None:
    """Answer with this JSON, once the whole request has come."""
    while (await receive()).get("more_body", False):
        continue
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class ChoosyFront:
    """Stands before the platform's own front; refusals are in no request log but its own."""

    def __init__(self, front: Front, choice: Choice) -> None:
        self._front = front
        self._choice = choice
        self.errors = front.errors
        self.refused: list[tuple[str, Query]] = []
        """The questions that were refused."""
        self.asked: list[tuple[str, Query]] = []
        """All questions, as they were asked."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        query = dict(parse_qsl(scope["query_string"].decode()))
        path: str = scope["path"]
        self.asked.append((path, query))
        choice = self._choice(path, query)
        if isinstance(choice, int):
            self.refused.append((path, query))
            told = {"error": "company_id is required" if choice == 422 else "too much"}
            await respond(receive, send, choice, json.dumps(told).encode())
            return
        if isinstance(choice, bytes):
            await respond(receive, send, 200, choice)
            return
        scope["query_string"] = urlencode(choice).encode()
        await self._front(scope, receive, send)


class ChoosyPlatform(EmbeddedPlatform):
    """The embedded platform behind a `ChoosyFront`."""

    def __init__(self, choice: Choice, **options: Any) -> None:
        super().__init__(seed=7, speed=0.0, **options)
        self.front = ChoosyFront(self._app, choice)
        self._app = self.front  # type: ignore[assignment]
