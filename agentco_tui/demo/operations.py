"""The operations of the interface by name, and which one a request means (INTERFACE 4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


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
            (kinds.get(piece, "[^/]+") if turn % 2 else re.escape(piece))
            for turn, piece in enumerate(pieces)
        )
    )


def operation_of(method: str, raw_path: str) -> Operation | None:
    """The operation that a request means; None if the interface has no such path."""
    for operation in OPERATIONS:
        if operation.method == method and path_pattern(operation.path).fullmatch(raw_path):
            return operation
    return None
