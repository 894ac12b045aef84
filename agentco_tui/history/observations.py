"""What is observed of a platform: figures over time, counts of the log, lives of tasks and alerts.

The platform is the remote service whose AI agents are watched; the history, a database, stores what
was polled from it. A feed is one list that is polled; the scope is the company that it was asked
about, "" for all. The queue is the list of tasks that wait for approval. A subject is the owner of
a figure: a company, an agent, or everything ("").

Times are seconds since 1970 by the platform's clock. Sums are whole units of the subject's
currency, as they were read.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Generic, TypeVar

import msgspec

from agentco_tui.live.feeds import FeedName
from agentco_tui.model import BudgetScope, Severity, TaskState
from agentco_tui.text import SafeText

S = TypeVar("S")
"""The samples of a track."""

Span = tuple[float, float]
"""From when to when; both ends belong to it."""


class HistoryError(Exception):
    """The history can't be read or written; `str()` says why, for the user."""


class Track(msgspec.Struct, Generic[S], frozen=True):
    """A figure over time. A sample holds until the next one, but only within `seen`.

    Samples from the database are the last of their buckets; `resolutions` says how long buckets
    are. Without it every reading is a sample.
    """

    samples: tuple[S, ...] = ()  # oldest first
    seen: tuple[Span, ...] = ()  # when the platform was polled and answered: outside is a gap
    resolutions: tuple[tuple[float, int], ...] = ()
    """From which time on buckets have how many seconds, oldest first."""

    def bucket_seconds(self, at: float) -> int:
        """The length of the bucket that holds a time; 0 if every reading is a sample."""
        length = 0
        for begin, seconds in self.resolutions:
            if at >= begin:
                length = seconds
        return length


class BudgetSample(msgspec.Struct, frozen=True, gc=False):
    """What was spent of a budget since its period began, and its limit, at one time."""

    at: float
    spent: Decimal | None
    limit: Decimal | None


class QueueSample(msgspec.Struct, frozen=True, gc=False):
    """How many tasks waited at one time."""

    at: float
    waiting: int
    oldest_since: float | None  # since when the task waits that has waited longest


class AgentSample(msgspec.Struct, frozen=True, gc=False):
    """What the record of an agent said at one time; `completed` is a number of tasks."""

    at: float
    status: SafeText | None
    trust: Decimal | None
    completed: int | None


class Counted(msgspec.Struct, frozen=True, gc=False):
    """Entries of the log in one minute; as they grow old, in ten minutes or an hour."""

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
    waits: bool | None = None  # whether it was in the queue; None if this says nothing of it
    departed: float | None = None  # when it was first seen to have left the queue
    departed_after: float | None = None  # when it was last seen in the queue before that


class AlertLife(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """When an alert came and went."""

    id: str
    scope: BudgetScope
    subject: str | None  # the id of whose budget it is about
    severity: Severity
    first_seen: float  # when it came, as the platform says, else when it was first seen
    gone: float | None = None  # resolved, or left the list
    text: SafeText | None = None  # None where it was written by a version that kept no text
    is_dated: bool = True  # False if the platform sent no time, so that `first_seen` is ours


class QueueSeen(msgspec.Struct, frozen=True):
    """The whole queue at one moment, after a time in which it was not polled: a task that waited
    before, and is not in it, has left.
    """

    at: float
    scope: str  # the id of the company in scope; "" for all
    ids: frozenset[str]  # of the tasks that wait


class Departure(msgspec.Struct, frozen=True, gc=False):
    """A task that left the queue between two polls."""

    task: str
    at: float  # when it was first missing
    after: float  # when it was last there


class Observed(msgspec.Struct, kw_only=True):
    """What was learnt in one go: from one answer, or of a past that the demo invents."""

    samples: list[tuple[FeedName, str, str, BudgetSample | QueueSample | AgentSample]] = []
    """Each with its feed, the id of its subject ("" for the whole, or all companies) and the unit
    of its sums ("USD", "USD?" where it is assumed, "" where there is none)."""
    seen: list[tuple[FeedName, str, Span]] = []
    """When a feed was polled and answered, with the company in scope ("" for all)."""
    names: list[tuple[str, str, SafeText | None, str | None]] = []
    """Kind ("company", "agent"), id, name, and the id of its company."""
    counts: list[Counted] = []
    """Of whole minutes: if a minute is counted again, the higher count stays."""
    lives: list[TaskLife] = []
    """Fields that are None keep their stored value; the state is that of `first_seen`, of which
    the earliest is stored."""
    alerts: list[AlertLife] = []
    open_alerts: tuple[float, frozenset[str]] | None = None
    """The ids of all open alerts, and when: others have ended."""
    ended_alerts: list[tuple[str, float]] = []
    """Ids of alerts that ended, and when that was seen."""
    queue: QueueSeen | None = None
    """Set if the departures are not known, because the queue was not polled for some time."""
    departures: list[Departure] = []
    looked_up: list[str] = []
    """Ids of departed tasks whose records were read, with or without an answer."""

    def __len__(self) -> int:
        """The number of rows, about."""
        row_lists = (
            self.samples,
            self.seen,
            self.names,
            self.counts,
            self.lives,
            self.alerts,
            self.ended_alerts,
            self.departures,
            self.looked_up,
        )
        return sum(len(rows) for rows in row_lists)
