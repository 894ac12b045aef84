"""The records by id: a poll in, a set of changes out.

A poll that brings nothing new gives an empty change, and records that are equal keep their
identity, so that whoever caches by identity keeps the cache.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import is_
from time import perf_counter
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import msgspec

from agentco_tui import background
from agentco_tui.live.activity_window import ActivityWindow
from agentco_tui.live.feeds import FeedName, Freshness
from agentco_tui.model import (
    Activity,
    Agent,
    Alert,
    Budget,
    BudgetOverview,
    Company,
    Listing,
    Record,
    Task,
)

R = TypeVar("R", bound=Record)

log = logging.getLogger(__name__)

_ROWS = 500
"""Records between two looks at the time."""


class Change(msgspec.Struct, frozen=True):
    """What one poll changed in one collection: ids, each in one of the three."""

    feed: FeedName
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


class Told(msgspec.Struct, frozen=True):
    """What a listing says about itself besides its records."""

    unread: int = 0
    unread_reasons: tuple[str, ...] = ()
    capped: bool = False
    more: bool = False
    total: int | None = None
    pages: int = 1


class Comparison(Generic[R]):
    """Records held before against those of a listing; `before` must stay as it is meanwhile.

    Done once `slices` has come to its end. Then `renewed` holds those of the same ids in the same
    order that are to be put in the place of others. If it is None the listing has other ids or
    another order, and `after` holds its records by id, equal ones as the objects that were held
    before; of an id given twice the last record counts.
    """

    def __init__(self, before: Mapping[str, R], records: Sequence[R]) -> None:
        self.before = before
        self.renewed: dict[str, R] | None = None
        self.after: dict[str, R] = {}
        self.added: list[str] = []
        self.changed: list[str] = []
        self.removed: list[str] = []
        self._records = records

    def slices(self) -> Iterator[None]:
        """Work, and yield after each slice."""
        yield from self._in_step()
        if self.renewed is None:
            yield from self._anew()

    def _in_step(self) -> Iterator[None]:
        """See whether the ids are the same in the same order, and what has changed if so."""
        records = self._records
        if len(records) != len(self.before):
            return
        renewed: dict[str, R] = {}
        held = iter(self.before.items())
        ends = perf_counter() + background.SLICE
        for start in range(0, len(records), _ROWS):
            coming = records[start : start + _ROWS]
            keys, known = zip(*islice(held, _ROWS), strict=True)
            if not all(map(is_, known, coming)):
                for key, old, new in zip(keys, known, coming, strict=True):
                    if new.id != key:
                        return
                    if new is not old and new != old:
                        renewed[key] = new
            if perf_counter() > ends:
                yield
                ends = perf_counter() + background.SLICE
        self.renewed, self.changed = renewed, list(renewed)

    def _anew(self) -> Iterator[None]:
        before, after = self.before, self.after
        ends = perf_counter() + background.SLICE
        for start in range(0, len(self._records), _ROWS):
            for record in self._records[start : start + _ROWS]:
                known = before.get(record.id)
                if known is not record and known is not None and known == record:
                    after[record.id] = known
                else:
                    after[record.id] = record
            if perf_counter() > ends:
                yield
                ends = perf_counter() + background.SLICE
        for start, (record_id, record) in enumerate(after.items()):
            known = before.get(record_id)
            if known is None:
                self.added.append(record_id)
            elif known is not record:
                self.changed.append(record_id)
            if not start % _ROWS and perf_counter() > ends:
                yield
                ends = perf_counter() + background.SLICE
        for start, record_id in enumerate(before):
            if record_id not in after:
                self.removed.append(record_id)
            if not start % _ROWS and perf_counter() > ends:
                yield
                ends = perf_counter() + background.SLICE


class Collection(Generic[R]):
    """Records of one feed by id, in the platform's order."""

    def __init__(self, feed: FeedName) -> None:
        self.feed = feed
        self.told = Told()
        self._records: dict[str, R] = {}
        """Another dict whenever there are other ids, so that nobody who walks through it trips."""
        self._version = object()
        self._listing: Listing[R] | None = None

    @property
    def records(self) -> Mapping[str, R]:
        """A read-only view, in the platform's order; of now, later ones may differ."""
        return MappingProxyType(self._records)

    @property
    def version(self) -> object:
        """The same object as long as nothing has changed, and another after every change."""
        return self._version

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[R]:
        return iter(self._records.values())

    def get(self, record_id: str | None) -> R | None:
        """The record with that id, or None."""
        return None if record_id is None else self._records.get(record_id)

    def replace(self, listing: Listing[R]) -> Change:
        """Take a whole listing: what it lacks is removed."""
        if listing is self._listing:
            return Change(self.feed)
        change = self.replace_records(listing.records)
        self._keep(listing)
        return change

    async def compare(self, listing: Listing[R]) -> Callable[[], Change]:
        """`replace` for long listings: compares in slices, and gives back what takes the result.

        That is to be called at once; if anything else changes the collection first, it compares
        again, in one go.
        """
        if listing is self._listing:
            return lambda: Change(self.feed)
        while True:
            comparison, version = Comparison(self._records, listing.records), self._version
            for _ in comparison.slices():
                await background.turn()
                if self._version is not version:
                    break
            else:
                break

        def take() -> Change:
            if self._version is not version:
                return self.replace(listing)
            self._keep(listing)
            return self._take(comparison)

        return take

    def replace_records(self, records: Iterable[R]) -> Change:
        """Take these records as all there are."""
        self._listing = None
        comparison = Comparison(self._records, tuple(records))
        for _ in comparison.slices():
            continue
        return self._take(comparison)

    def _keep(self, listing: Listing[R]) -> None:
        self._listing = listing
        self.told = told_by(listing)

    def _take(self, comparison: Comparison[R]) -> Change:
        if comparison.renewed is None:
            self._set(comparison.after)
        elif comparison.renewed:
            # Not another dict of a hundred thousand because a few of them have changed.
            self._records.update(comparison.renewed)
            self._set(self._records)
        return Change(
            self.feed,
            tuple(comparison.added),
            tuple(comparison.changed),
            tuple(comparison.removed),
        )

    def _set(self, records: dict[str, R]) -> None:
        self._records, self._version = records, object()

    def put(self, record: R) -> Change:
        """Take one record, read by itself after a write."""
        known = self._records.get(record.id)
        if known == record:
            return Change(self.feed)
        self._set({**self._records, record.id: record})
        self._listing = None
        if known is None:
            return Change(self.feed, added=(record.id,))
        return Change(self.feed, changed=(record.id,))

    def drop(self, record_id: str) -> Change:
        """Forget one record that a read has shown to be gone."""
        if record_id not in self._records:
            return Change(self.feed)
        self._set({key: kept for key, kept in self._records.items() if key != record_id})
        self._listing = None
        return Change(self.feed, removed=(record_id,))

    def clear(self) -> Change:
        """Forget all, because the question changed (another company, another filter)."""
        self.told = Told()
        self._listing = None
        return self.replace_records(())


def told_by(listing: Listing[R]) -> Told:
    """What the listing says of itself: unread records, the cap, the total."""
    return Told(
        unread=listing.unread,
        unread_reasons=tuple(listing.unread_reasons),
        capped=listing.capped,
        more=listing.more,
        total=listing.total,
        pages=listing.pages,
    )


Listener = Callable[[Change], None]


@dataclass(slots=True)
class Store:
    """The current picture: one collection a feed, and how fresh each is."""

    companies: Collection[Company] = field(default_factory=lambda: Collection(FeedName.COMPANIES))
    agents: Collection[Agent] = field(default_factory=lambda: Collection(FeedName.AGENTS))
    pending: Collection[Task] = field(default_factory=lambda: Collection(FeedName.PENDING))
    tasks: Collection[Task] = field(default_factory=lambda: Collection(FeedName.TASKS))
    budget: Collection[Budget] = field(default_factory=lambda: Collection(FeedName.BUDGET))
    company_budgets: Collection[Budget] = field(
        default_factory=lambda: Collection(FeedName.COMPANY_BUDGETS)
    )
    agent_budgets: Collection[Budget] = field(
        default_factory=lambda: Collection(FeedName.AGENT_BUDGETS)
    )
    alerts: Collection[Alert] = field(default_factory=lambda: Collection(FeedName.ALERTS))
    activity: ActivityWindow = field(default_factory=ActivityWindow)
    freshness: dict[FeedName, Freshness] = field(
        default_factory=lambda: dict.fromkeys(FeedName, Freshness())
    )
    _listeners: list[Listener] = field(default_factory=list)
    _freshness_listeners: list[Callable[[FeedName], None]] = field(default_factory=list)

    @property
    def whole_budget(self) -> Budget | None:
        """The budget of everything, if the platform has told it."""
        return next(iter(self.budget), None)

    def collection(self, feed: FeedName) -> Collection[Any]:
        """The records of any feed but the activity's."""
        found = (
            *(self.companies, self.agents, self.pending, self.tasks, self.budget),
            *(self.company_budgets, self.agent_budgets, self.alerts),
        )
        return next(each for each in found if each.feed is feed)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every change that is not empty; returns how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def subscribe_freshness(self, listener: Callable[[FeedName], None]) -> Callable[[], None]:
        """Call `listener` when a feed's freshness changed; returns how to stop that."""
        self._freshness_listeners.append(listener)
        return lambda: self._freshness_listeners.remove(listener)

    def set_freshness(self, feed: FeedName, freshness: Freshness) -> None:
        """Keep how fresh a feed is, and tell those who show it."""
        self.freshness[feed] = freshness
        for listener in tuple(self._freshness_listeners):
            try:
                listener(feed)
            except Exception:
                # Whoever shows it must not stop what keeps it.
                log.exception("showing how fresh %s is failed", feed)

    def publish(self, change: Change) -> Change:
        """Tell the listeners of a change; an empty one is told to nobody.

        If listeners fail, all the others still hear of it before the first failure is raised.
        """
        failures: list[Exception] = []
        for listener in tuple(self._listeners) if change else ():
            try:
                listener(change)
            except Exception as failure:  # raised below
                failures.append(failure)
        for later in failures[1:]:
            log.error("showing a change of %s failed", change.feed, exc_info=later)
        if failures:
            raise failures[0]
        return change

    def take_overview(self, overview: BudgetOverview) -> Change:
        """Take the answer to /api/budget; its parts stand in where no feed of their own answered.

        Some platforms send companies and agents inside the overview only.
        """
        for scope_feed, collection in (
            (FeedName.COMPANY_BUDGETS, self.company_budgets),
            (FeedName.AGENT_BUDGETS, self.agent_budgets),
        ):
            scope = "company" if scope_feed is FeedName.COMPANY_BUDGETS else "agent"
            parts = [part for part in overview.parts if part.scope == scope]
            if parts and self.freshness[scope_feed].answered_at is None:
                self.publish(collection.replace_records(parts))
        return self.publish(self.budget.replace_records((overview.whole,)))

    def take_activity(self, listing: Listing[Activity]) -> Change:
        """Merge a poll of the log into the window."""
        added, changed, removed = self.activity.merge(listing)
        return self.publish(Change(FeedName.ACTIVITY, added, changed, removed))
