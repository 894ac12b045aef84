"""The generic REST interface in data: the request of each operation, and the first one of all.

`api.client.Client` implements it, and `docs/interface.md` describes it. What is here is known
without a client, so that the first request can be sent while the rest is still being imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from agentco_tui.api.capabilities import (
    Capabilities,
    Conventions,
    FirstRequest,
    Operation,
    Read,
)
from agentco_tui.text import mark_safe

REQUESTS: Final[Mapping[Operation, str]] = {
    "companies": "GET /api/companies",
    "company": "GET /api/companies/:id",
    "create_company": "POST /api/companies",
    "clone_company": "POST /api/companies/:id/clone",
    "agents": "GET /api/agents",
    "agent": "GET /api/agents/:id",
    "tasks": "GET /api/tasks",
    "create_task": "POST /api/tasks",
    "approve_task": "POST /api/tasks/:id/approve",
    "task_trace": "GET /api/tasks/:id/trace",
    "activity": "GET /api/activity",
    "export_activity": "GET /api/activity/export",
    "budget": "GET /api/budget",
    "company_budgets": "GET /api/budget/companies",
    "agent_budgets": "GET /api/budget/agents",
    "set_agent_limit": "POST /api/budget/agents/:id",
    "budget_alerts": "GET /api/budget/alerts",
}
"""Method and path, with `:id` for an identifier."""
CAPABILITIES: Final = Capabilities(mark_safe("the Agent Company Platform"), REQUESTS)
CONVENTIONS: Final = Conventions(
    collections=frozenset(
        path
        for method, path in map(str.split, REQUESTS.values())
        if method == "GET" and ":id" not in path
    ),
    right_key=mark_safe("made in the platform's Settings, API Keys"),
)

_QUERY_NAMES: Final[Mapping[str, str]] = {"from_date": "from", "to_date": "to"}
"""Arguments that are sent under another name."""


def first_request(company: str | None) -> FirstRequest:
    """The request for the tasks that wait in a company, or in all."""
    path, params = address_of(Read("tasks", {"company_id": company, "status": "pending"}))
    return FirstRequest(path, params)


def address_of(read: Read) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The path of a read, and its query parameters in the order of the arguments."""
    _, path = REQUESTS[read.operation].split()
    arguments = {name: str(value) for name, value in read.arguments.items() if value is not None}
    if ":id" in path:
        collection, rest = path.split("/:id")
        identifier = arguments.popitem()[1]
        # An id can hold half a surrogate pair, which has no bytes, and can only be shown.
        identifier = identifier.encode(errors="replace").decode()
        return path_with_id(collection, identifier, rest), ()
    return path, tuple((_QUERY_NAMES.get(name, name), text) for name, text in arguments.items())


def path_with_id(collection: str, identifier: str, rest: str = "") -> str:
    """A path with an identifier as exactly one segment."""
    return f"{collection}/{path_segment(identifier)}{rest}"


def path_segment(identifier: str) -> str:
    """An identifier as exactly one segment of a path.

    The dots of "." and ".." are encoded, too: clients and proxies would remove such segments.
    """
    if identifier in (".", ".."):
        return identifier.replace(".", "%2E")
    return quote(identifier, safe="")
