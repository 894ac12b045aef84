"""What a response shape consists of: a style, envelopes, refusals and answers to approvals."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from agentco_tui.demo.fields import Fields
from agentco_tui.demo.model import Refusal
from agentco_tui.demo.styles import Style

Json = Any

SINGULAR = {
    "companies": "company",
    "agents": "agent",
    "tasks": "task",
    "activity": "entry",
    "company_budgets": "budget",
    "agent_budgets": "budget",
    "alerts": "alert",
    "overview": "budget",
    "trace": "trace",
}
"""The kinds of answers, and what a single record of each is called."""

LIST_KEY = {
    "companies": "companies",
    "agents": "agents",
    "tasks": "tasks",
    "activity": "entries",
    "company_budgets": "budgets",
    "agent_budgets": "budgets",
    "alerts": "alerts",
}
"""What a list of each kind is called where it is named after what it holds."""


@dataclass(frozen=True, slots=True)
class Out:
    """An answer before it is written: JSON to encode (or bytes), and what goes with it."""

    body: Json
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    media: str = "application/json"


@dataclass(frozen=True, slots=True)
class Ask:
    """What of a request the envelopes need: its address and query, for links to other pages."""

    origin: str
    path: str
    query: tuple[tuple[str, str], ...]

    def get(self, *names: str) -> str | None:
        """The first of these query parameters that was sent."""
        return next((value for name, value in self.query if name in names), None)

    def address(self, *, absolute: bool = True, **changed: object) -> str:
        """The same request with other parameters."""
        kept = [(name, value) for name, value in self.query if name not in changed]
        query = urlencode([*kept, *((name, str(value)) for name, value in changed.items())])
        return f"{self.origin if absolute else ''}{self.path}?{query}"


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list is sent: `start` and `size` in rows of `total`."""

    start: int
    size: int
    total: int
    ids: tuple[str, ...] = ()
    """The ids of the rows on this page."""

    @property
    def number(self) -> int:
        """The page's number, from 1."""
        return self.start // max(1, self.size) + 1

    @property
    def pages(self) -> int:
        """How many pages there are; at least one."""
        return max(1, -(-self.total // max(1, self.size)))

    @property
    def end(self) -> int:
        """The position after the last row of this page."""
        return min(self.total, self.start + self.size)

    @property
    def cursor(self) -> str:
        """An opaque cursor for what follows: base64, at times with `+`, `/` and `=`."""
        last_id = self.ids[-1] if self.ids else ""
        return base64.b64encode(f"{self.end}>{last_id}?~".encode()).decode()

    @property
    def more(self) -> bool:
        """Whether rows follow after this page."""
        return self.end < self.total


Rows = Sequence[Json]
Listing = Callable[[str, Rows, Page, Ask], Out]
Reshape = Callable[[str, Fields, Json], Json]
"""Takes the kind, the neutral fields and the dressed record; gives what is sent."""


Approved = Callable[[Json, Fields, Style], Out]
"""Takes the dressed record, its neutral fields and the style."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A coherent way to answer, over the whole interface."""

    about: str
    listing: Listing
    single: Callable[[str, Json], Json]
    refuse: Callable[[Refusal], Out]
    approved: Approved
    trace: Callable[[list[Fields], Fields, Style], Json]
    """Takes the steps and the task, neutral, and the style."""
    style: Style = field(default_factory=Style)
    paging: str = "none"
    """none, page, page0, offset, cursor, after, token: how the next page is asked for."""
    page_size: int = 25
    reshape: Reshape | None = None
    """A last change of every dressed record."""
    in_list: Reshape | None = None
    """A change of records in lists only: list and detail of one thing may differ (SHAPES B)."""
