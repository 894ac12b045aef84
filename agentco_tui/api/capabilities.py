"""What a platform offers, in data: the names of its operations, and the requests behind them.

A platform is a remote service with companies of AI agents; `platform.Platform` is what the program
asks of it. Nothing here needs a connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, cast, get_args

import msgspec

from agentco_tui.text import SafeText, mark_safe

Operation: TypeAlias = Literal[
    "companies", "company", "create_company", "clone_company",
    "agents", "agent",
    "tasks", "create_task", "approve_task", "task_trace",
    "activity", "export_activity",
    "budget", "company_budgets", "agent_budgets", "set_agent_limit", "budget_alerts",
]  # fmt: skip
"""The name of a method of `Platform`."""
OPERATIONS: Final[tuple[Operation, ...]] = get_args(Operation)

LIST_OF_KIND: Final[Mapping[str, Operation]] = {
    "company": "companies", "agent": "agents", "task": "tasks",
    "company_budget": "company_budgets", "agent_budget": "agent_budgets",
    "budget": "budget", "alert": "budget_alerts", "activity": "activity",
}  # fmt: skip
"""The operation that lists the records of each kind (`reading.kinds.mappable_kinds`)."""


class Read(msgspec.Struct, frozen=True):
    """One read: an operation and the arguments of its method, by their names there.

    Arguments that are None are left out.
    """

    operation: Operation
    arguments: Mapping[str, object] = {}


class Capabilities(msgspec.Struct, frozen=True):
    """What a platform offers."""

    platform: SafeText
    """Its name, as the user is told: "Paperclip"."""
    requests: Mapping[Operation, str]
    """Each operation that it offers, with the request that is sent for it, in the words of its own
    documentation: "GET /api/tasks". If several are sent, the first that matters."""
    reasons: Mapping[Operation, SafeText] = {}
    """Why it does not offer an operation, where more can be said than that it doesn't."""

    def why_not(self, operation: str | None) -> SafeText | None:
        """Return why an operation can't be used, for the user; None if the platform offers it.

        None also if there is no `operation`: what needs none can be used on every platform.
        """
        if operation is None or operation in self.requests:
            return None
        reason = self.reasons.get(cast("Operation", operation))
        words = f"{self.platform} does not offer this"
        return mark_safe(f"{words}: {reason}" if reason else words)

    def path(self, operation: Operation) -> str:
        """The request of an operation without its method; "" if it is not offered."""
        return self.requests.get(operation, "").partition(" ")[2]


class Conventions(msgspec.Struct, frozen=True, kw_only=True):
    """How the requests of an interface are sent, and what an error about one can say."""

    key_header: tuple[str, str] | None = ("Authorization", "Bearer ")
    """The header that has the key, and what stands in it before the key; None: no key is sent."""
    prefix: str = "/api"
    """How all paths begin."""
    collections: frozenset[str] = frozenset()
    """The paths of lists: a 404 there is about the address, not about a record."""
    right_key: SafeText | None = None
    """Which key the user needs, or where it is made; None if that is not known."""


class FirstRequest(msgspec.Struct, frozen=True):
    """The request that is sent before anything else: what every screen shows.

    The dashboard sends it while the rest of the program is still being imported, so that it must be
    known from the settings alone. The first read of the same path and parameters takes its answer.
    """

    path: str
    params: tuple[tuple[str, str], ...]
    has_tasks: bool = True
    """Whether the answer is a list of tasks, whose rows are decoded while a long one arrives."""


class Recognised(msgspec.Struct, frozen=True):
    """A platform that was recognised by what it says about itself without a key."""

    name: str
    """That of its file, for the setting `platform`."""
    title: SafeText
    """What it is called, with its version if the answer had it: "Paperclip 2026.916.1"."""
    needs_key: bool
    right_key: SafeText | None
    """Which key it needs, in words, if its file says so."""
