"""The operations of the interface, the keys for them, and what a request and an answer are."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import parse_qsl

from agentco_tui.demo.model import Refusal

Header = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Operation:
    """One row of the interface's tables."""

    name: str
    method: str
    path: str

    @property
    def writes(self) -> bool:
        """Whether it changes the platform."""
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


def operation_of(method: str, raw_path: str) -> Operation | None:
    """The operation that a request means; None if the interface has no such path."""
    for operation in OPERATIONS:
        if operation.method == method and path_pattern(operation.path).fullmatch(raw_path):
            return operation
    return None


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

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; Refusal if it is none."""
        try:
            fields = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise Refusal(400, "bad_json", "the body is no valid JSON") from error
        if not isinstance(fields, dict):
            raise Refusal(422, "validation_failed", "the body must be a JSON object")
        return fields


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, before anything of it was sent."""

    status: int
    headers: tuple[Header, ...]
    body: bytes

    def replaced(self, body: bytes, **headers: bytes) -> Answer:
        """With another body, its true length, and these headers (`_` for `-`)."""
        changed = {name.replace("_", "-").encode(): value for name, value in headers.items()}
        changed[b"content-length"] = str(len(body)).encode()
        kept = tuple(pair for pair in self.headers if pair[0] not in changed)
        return Answer(self.status, (*kept, *changed.items()), body)


class Keys:
    """A key that may do everything and one that may only read; each can be revoked or replaced.

    Generated from the seed unless given, with the prefix `ag_`.
    """

    def __init__(self, seed: int, full: str | None = None, read: str | None = None) -> None:
        self.full = full or _generate(seed, "full")
        self.read = read or _generate(seed, "read")
        self._revoked: set[str] = set()
        self._full_ever = [self.full]

    def replace(self, which: str, key: str) -> None:
        """Let `key` be the `full` or `read` key from now on, and the one before it none any more.

        Raises ValueError for what cannot stand in a header.
        """
        if not (key.isascii() and key.isprintable() and key.split() == [key]):
            raise ValueError("a key is one word of plain letters, digits and signs")
        self._named(which)
        setattr(self, which, key)
        if which == "full":
            self._full_ever.append(key)

    def revoke(self, which: str) -> None:
        """Make the `full` or `read` key invalid from now on."""
        self._revoked.add(self._named(which))

    def restore(self, which: str) -> None:
        """Make a revoked key valid again."""
        self._revoked.discard(self._named(which))

    def permission(self, authorization: str | None) -> str | None:
        """`full`, `read`, or None if the header holds no valid key."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        for which, key in (("full", self.full), ("read", self.read)):
            if hmac.compare_digest(token.encode(), key.encode()):
                return None if key in self._revoked else which
        return None

    def holds_full(self, authorization: str | None) -> bool:
        """Whether a full key was sent, one that still holds or not: the control path stays open."""
        sent = (authorization or "").encode()
        return any(hmac.compare_digest(sent, f"Bearer {key}".encode()) for key in self._full_ever)

    def _named(self, which: str) -> str:
        if which not in {"full", "read"}:
            raise ValueError("a key is named full or read")
        return self.full if which == "full" else self.read


def _generate(seed: int, which: str) -> str:
    digest = hashlib.sha256(f"agentco demo key {seed} {which}".encode()).hexdigest()
    return f"ag_{which}_{digest[:32]}"
