"""The operations of the interface, and the keys for them."""

from __future__ import annotations

import hashlib
import hmac
import re
from functools import lru_cache
from typing import NamedTuple


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


class Keys:
    """A `full` key that may do everything and a `read` key; each can be revoked or replaced.

    Generated from the seed unless given, with the prefix `ag_`.
    """

    def __init__(self, seed: int, full: str | None = None, read: str | None = None) -> None:
        self._keys: dict[str, str] = {}
        for which, given in (("full", full), ("read", read)):
            digest = hashlib.sha256(f"agentco demo key {seed} {which}".encode()).hexdigest()
            self._keys[which] = given or f"ag_{which}_{digest[:32]}"
        self._revoked: set[str] = set()

    def __getitem__(self, which: str) -> str:
        if which not in self._keys:
            raise ValueError("a key is named full or read")
        return self._keys[which]

    def replace(self, which: str, key: str) -> None:
        """Let `key` take the place of one; ValueError for what cannot stand in a header."""
        if not (key.isascii() and key.isprintable() and key.split() == [key]):
            raise ValueError("a key is one word of plain letters, digits and signs")
        if self[which]:
            self._keys[which] = key

    def revoke(self, which: str) -> None:
        self._revoked.add(self[which])

    def restore(self, which: str) -> None:
        self._revoked.discard(self[which])

    def permission(self, authorization: str | None) -> str | None:
        """`full`, `read`, or None if the header holds no valid key."""
        scheme, _, token = (authorization or "").partition(" ")
        for which, key in self._keys.items():
            if scheme.lower() == "bearer" and hmac.compare_digest(token.encode(), key.encode()):
                return None if key in self._revoked else which
        return None
