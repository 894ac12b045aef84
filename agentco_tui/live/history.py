"""The memory: what the platform was, from `history.sqlite3` in the state folder.

Times are seconds since 1970 by the platform's clock. Sums are whole units of the subject's
currency, as they were read.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Generic, TypeVar

import msgspec

from agentco_tui.model import BudgetScope, Severity, TaskState
from agentco_tui.text import SafeText

T = TypeVar("T")
S = TypeVar("S")

Span = tuple[float, float]
"""From when to when; both ends belong to it."""


class HistoryError(Exception):
    """The history can't be read or written; `str()` says why, for a person."""


class Track(msgspec.Struct, Generic[S], frozen=True):
    """What a figure was over time. A sample holds until the next one, but only within `seen`."""

    samples: tuple[S, ...] = ()  # oldest first, one wherever the figure changed
    seen: tuple[Span, ...] = ()  # when the platform was asked and answered: outside is a gap


class BudgetSample(msgspec.Struct, frozen=True, gc=False):
    at: float
    spent: Decimal | None
    limit: Decimal | None


class QueueSample(msgspec.Struct, frozen=True, gc=False):
    at: float
    waiting: int
    oldest: float | None  # since when the oldest waits


class AgentSample(msgspec.Struct, frozen=True, gc=False):
    at: float
    status: SafeText | None
    trust: Decimal | None
    completed: int | None


class Counted(msgspec.Struct, frozen=True, gc=False):
    """Entries of the log in one minute (an hour, where they are older than 30 days)."""

    at: float  # its beginning
    agent: str | None
    company: str | None
    kind: str  # the verb, in words
    severity: Severity
    count: int


class TaskLife(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is known of the life of one task that was seen."""

    id: str
    title: SafeText
    agent: str | None = None
    company: str | None = None
    first_seen: float
    waiting_since: float | None = None
    decided: float | None = None
    decided_by: SafeText | None = None
    ended: float | None = None
    state: TaskState | None = None  # the last that was seen of it
    estimate: Decimal | None = None  # while it waited: its estimate, else its cost
    cost: Decimal | None = None  # its cost at the end
    currency: SafeText | None = None


class AlertLife(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """When an alert came and went."""

    id: str
    scope: BudgetScope
    subject: str | None  # the id of whose budget it is about
    severity: Severity
    first_seen: float
    gone: float | None = None  # resolved, or left the list


class Reader:
    """Reads of one platform's history; runs in the history's thread only."""

    def first_seen(self) -> float | None:
        """When the platform was first seen; None if nothing is known of it."""
        raise NotImplementedError

    def budget(
        self,
        scope: BudgetScope,
        subject: str,
        since: float,
        until: float | None = None,
        *,
        every: float = 0.0,
    ) -> Track[BudgetSample]:
        """A budget over time, with what held at `since`; the subject of the whole is "".

        With `every`, at most one sample in each so many seconds: the last.
        """
        raise NotImplementedError

    def queue(self, company: str | None, since: float) -> Track[QueueSample]:
        """What waited of one company, or of all of them (None)."""
        raise NotImplementedError

    def agent(self, agent: str, since: float) -> Track[AgentSample]:
        raise NotImplementedError

    def activity(
        self, since: float, *, agent: str | None = None, company: str | None = None
    ) -> tuple[list[Counted], tuple[Span, ...]]:
        """Counts of the log, oldest first, and when the log was read without a gap."""
        raise NotImplementedError

    def lives(
        self, since: float, *, agent: str | None = None, company: str | None = None
    ) -> list[TaskLife]:
        """Tasks that were first seen, decided or ended since then, oldest first."""
        raise NotImplementedError

    def alerts(self, since: float) -> list[AlertLife]:
        """Alerts that came or went since then, oldest first."""
        raise NotImplementedError


class History:
    """The file, its writing thread, and the way to read it off the event loop."""

    async def ask(self, read: Callable[[Reader], T]) -> T:
        """Run a read in the history's thread. Raises HistoryError."""
        raise NotImplementedError
