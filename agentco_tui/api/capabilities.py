"""What a platform offers, in data: the names of its operations, and the requests behind them.

A platform is a remote service with companies of AI agents; `platform.Platform` is what the program
asks of it. Nothing here needs a connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
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


BUILT_IN_VERBS: Final = frozenset(
    {"approve", "create task", "create company", "clone company", "set limit"}
)
"""The verbs of the operations that change a platform, as the journal has them."""


class Read(msgspec.Struct, frozen=True):
    """One read: an operation and the arguments of its method, by their names there.

    Arguments that are None are left out.
    """

    operation: Operation
    arguments: Mapping[str, object] = {}


VerbKind: TypeAlias = Literal["task", "agent", "company", "alert"]
"""The kinds of records that can have verbs."""


class OfferedVerb(msgspec.Struct, frozen=True, kw_only=True):
    """What a platform lets a person do to some of its records, beside its operations."""

    name: str
    """The verb as the journal has it: "reject"."""
    kind: VerbKind
    """The kind of records that it is for; `Platform.verbs_of` says for which of them."""
    key: str
    """The key of the dashboard for it, by Textual's name."""
    label: SafeText
    """One or two words for the footer."""
    note: Literal["none", "optional", "required"] = "none"
    """Whether a text of the user goes with it."""
    takes_amount: bool = False
    """Whether a sum goes with it, in whole units of the currency."""
    done: tuple[str, ...] = ()
    """The status words of the record that show that it was done. Empty if `Platform.proof_of`
    shows it."""
    proof_is_new: bool = False
    """Whether only a proof counts that was not there before."""


class VerbInput(msgspec.Struct, frozen=True):
    """What the user adds to a verb."""

    note: str | None = None
    amount: Decimal | None = None


NO_INPUT: Final = VerbInput()


class VerbProof(msgspec.Struct, frozen=True):
    """What a read shows of the effect of a verb."""

    shown_by: frozenset[str]
    """What shows that it was done, such as the ids of comments; empty if nothing does."""
    row: Mapping[str, str] = {}
    """What the same read needs later, when the record may be in no list any more."""


class Capabilities(msgspec.Struct, frozen=True):
    """What a platform offers."""

    platform: SafeText
    """Its name, as the user is told: "Paperclip"."""
    requests: Mapping[Operation, str]
    """Each operation that it offers, with the request that is sent for it, in the words of its own
    documentation: "GET /api/tasks". If several are sent, the first that matters."""
    reasons: Mapping[Operation, SafeText] = {}
    """Why it does not offer an operation, where more can be said than that it doesn't."""
    verbs: tuple[OfferedVerb, ...] = ()
    """What it offers beside the operations."""
    warnings: Mapping[Operation, SafeText] = {}
    """What the user should know before an operation is carried out."""
    has_news: bool = False
    """Whether it tells when something has changed (`Platform.news_of`)."""

    def verb(self, name: str) -> OfferedVerb | None:
        """The verb of a name; None if the platform has none."""
        return next((verb for verb in self.verbs if verb.name == name), None)

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
