"""An embedded platform that is choosy about the questions it answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode

from msgspec import structs

from agentco_tui.demo.connection import Answer, ClientConnection, Request
from agentco_tui.demo.server import EmbeddedPlatform

Query = dict[str, str]
Choice = Callable[[str, Query], int | Query | bytes]
"""From path and query to a status to refuse with, a query to answer instead, or a JSON body."""


class ChoosyPlatform(EmbeddedPlatform):
    """The embedded platform behind a choice; what that answers is in no request log but its own."""

    def __init__(self, choice: Choice, **options: Any) -> None:
        super().__init__(seed=7, speed=0.0, **options)
        self._choice = choice
        self.refused: list[tuple[str, Query]] = []
        """The questions that were refused."""
        self.asked: list[tuple[str, Query]] = []
        """All questions, as they were asked."""

    async def serve(self, connection: ClientConnection, request: Request) -> None:
        query = dict(parse_qsl(request.query))
        self.asked.append((request.path, query))
        choice = self._choice(request.path, query)
        if isinstance(choice, dict):
            await super().serve(connection, structs.replace(request, query=urlencode(choice)))
            return
        status, body = 200, choice
        if isinstance(choice, int):
            self.refused.append((request.path, query))
            told = {"error": "company_id is required" if choice == 422 else "too much"}
            status, body = choice, json.dumps(told).encode()
        assert isinstance(body, bytes)
        answer = Answer(status, {"content-type": "application/json"}, body)
        await connection.send(answer.head() + answer.body)
