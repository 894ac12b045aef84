"""An embedded platform that is choosy about the questions it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from agentco_tui.demo.front import Front
from agentco_tui.demo.server import EmbeddedPlatform

Query = dict[str, str]
Choice = Callable[[str, Query], int | Query | bytes]
"""From path and query to a status to refuse with, a query to answer instead, or a JSON body."""


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
            await JSONResponse(told, choice)(scope, receive, send)
            return
        if isinstance(choice, bytes):
            await Response(choice, media_type="application/json")(scope, receive, send)
            return
        scope["query_string"] = urlencode(choice).encode()
        await self._front(scope, receive, send)


class ChoosyPlatform(EmbeddedPlatform):
    """The embedded platform behind a `ChoosyFront`."""

    def __init__(self, choice: Choice, **options: Any) -> None:
        super().__init__(seed=7, speed=0.0, **options)
        self.front = ChoosyFront(self._app, choice)
        self._app = self.front  # type: ignore[assignment]
