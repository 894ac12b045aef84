"""The operations of the embedded platform's REST API, and its requests and answers as data.

The embedded platform is a local server that takes the place of the real service in demos and tests.
`RefusedError` is answered with an error status; `check` raises it for fields that break a rule.
"""

from __future__ import annotations

import json
import re
from datetime import date
from functools import cached_property, lru_cache
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import msgspec

from agentco_tui.demo.world_state import RefusedError, check


class Operation(NamedTuple):
    """An operation of the REST API."""

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
    """The pattern of a path: `{id}`, `:id` or `*` is one segment, `**` any number of them."""
    pattern = ""
    for piece in re.split(r"(\*\*|\*|\{\w+\}|:\w+)", template):
        if piece == "**":
            pattern += "(.*)"
        elif piece == "*":
            pattern += "([^/]*)"
        elif piece.startswith(("{", ":")):
            pattern += "([^/]+)"
        else:
            pattern += re.escape(piece)
    return re.compile(pattern)


def phrase_of(status: int) -> str:
    """The reason phrase of a status, such as "Not Found"."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


class Request(msgspec.Struct, frozen=True, dict=True):
    """A request as it was read, the path still percent-encoded.

    The methods that read a value raise RefusedError for one of the wrong form.
    """

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @cached_property
    def operation(self) -> Operation | None:
        """The operation that is requested; None if the REST API has no such path."""
        for operation in OPERATIONS:
            is_path = path_pattern(operation.path).fullmatch(self.path)
            if operation.method == self.method and is_path:
                return operation
        return None

    @cached_property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the query, sorted."""
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
            problem = "must be a day in the form YYYY-MM-DD"
            raise _invalid_query(name, problem) from None

    def whole(self, *names: str, least: int = 1) -> int | None:
        """A whole number of the query, under the first of these names that was sent."""
        text = self.get(*names)
        if text is None:
            return None
        is_short_number = text.isascii() and text.isdigit() and len(text) < 10
        if not is_short_number or int(text) < least:
            raise _invalid_query(names[0], f"must be a whole number from {least}")
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
        """The values of these fields of the body, which must be strings.

        A field that is `optional` may be left out, and is "" then.
        """
        body = dict.fromkeys(optional, "") | self.json()
        rules = []
        for name in names:
            rules.append((name not in body, name, "is required"))
            is_string = isinstance(body.get(name, ""), str)
            rules.append((not is_string, name, "must be a string"))
        check(*rules)
        return [body[name] for name in names]


def _invalid_query(name: str, problem: str) -> RefusedError:
    return RefusedError(422, "invalid_query", "Validation error", ((name, problem),))


class Answer(msgspec.Struct, frozen=True):
    """A whole answer, before anything of it is sent; header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes = b""

    def replaced(self, body: bytes, **headers: str) -> Answer:
        """The answer with another body and other headers: `www_authenticate` sets one of these."""
        changed = {name.replace("_", "-"): value for name, value in headers.items()}
        return Answer(self.status, self.headers | changed, body)

    def head(self) -> bytes:
        """The status line and the headers as they are sent."""
        headers = dict(self.headers)
        if "transfer-encoding" not in headers and self.status not in {204, 304}:
            headers["content-length"] = str(len(self.body))
        lines = [f"HTTP/1.1 {self.status} {phrase_of(self.status)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")
