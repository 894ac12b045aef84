"""The store: a snapshot of the platform's records by id. A poll goes in, and a change comes out.

The platform is the remote service that runs companies of AI agents. There is one `Collection` for
each feed (a list that is polled), an `ActivityWindow` for the log, and a `Freshness` for each feed.
`Poller` puts answers in; whoever shows or counts records subscribes to the changes. A poll that
brings nothing new gives an empty change. Equal records stay the same objects, so that caches by
identity stay valid. The scope is the company to which all screens are limited, or all companies.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from agentco_tui import model
from agentco_tui.live.activity_window import ActivityWindow
from agentco_tui.live.feeds import FeedName, Freshness
from agentco_tui.live.ownership import company_of
from agentco_tui.live.whole_budget import company_of_whole, has_figures, is_less_than_companies
from agentco_tui.model import (
    Agent,
    Alert,
    Budget,
    BudgetScope,
    Company,
    Listing,
    Record,
    Task,
)
from agentco_tui.system import background

R = TypeVar("R", bound=Record)
Known = TypeVar("Known", Agent, Company)

log = logging.getLogger(__name__)

_MOST_NARROWED = 10_000  # records above which an answer is not filtered for one company
_STEP = 500  # records that are compared in one step


class Change(msgspec.Struct, frozen=True):
    """The ids that one poll added, changed and removed in one collection."""

    feed: FeedName
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


class Compared(NamedTuple, Generic[R]):
    """What a listing would change in a collection, found in advance."""

    version: object  # of the collection that it was compared with
    change: Change
    records: dict[str, R]
    in_place: bool
    """True if `records` are only those that differ, each of which replaces one of the same id."""


class Collection(Generic[R]):
    """Records of one feed by id, in the platform's order."""

    def __init__(self, feed: FeedName) -> None:
        self.feed = feed
        self.listing: Listing[R] = Listing(records=())  # the last one taken
        self.version = object()  # a new one after every change
        self.records: dict[str, R] = {}
        """A new dict whenever ids are added or removed, so that iterating over it stays safe."""
        self._is_listing = True  # False after a record was put or dropped

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[R]:
        return iter(self.records.values())

    def get(self, record_id: str | None) -> R | None:
        if record_id is None:
            return None
        return self.records.get(record_id)

    def replace(self, listing: Listing[R], compared: Compared[R] | None = None) -> Change:
        """Take a listing as all there is: what it lacks is removed.

        `compared` is the result of `compare` for it. If the collection has changed since, the
        comparison is repeated in one go.
        """
        if listing is self.listing and self._is_listing:
            return Change(self.feed)
        if compared is None or compared.version is not self.version:
            compared = background.at_once(self._compare_steps(listing.records))
        self.listing = listing
        self._is_listing = True
        if not compared.in_place:
            self.records = compared.records
        elif compared.records:
            self.records.update(compared.records)
        if compared.change or not compared.in_place:
            self.version = object()
        return compared.change

    async def compare(self, listing: Listing[R]) -> Compared[R] | None:
        """Compare a long listing in slices, for `replace`; None if it is short or not new."""
        if len(listing.records) <= _STEP or (listing is self.listing and self._is_listing):
            return None
        while True:
            compared = await background.in_slices(self._compare_steps(listing.records))
            if compared.version is self.version:
                return compared

    def _compare_steps(self, records: Sequence[R]) -> Generator[None, None, Compared[R]]:
        """Compare in short steps.

        If the listing has the same ids in the same order, the result holds only the records that
        differ: no dict of a hundred thousand records is built because a few have changed. Otherwise
        it holds all, equal ones as the same objects as before. Of an id that occurs twice, the last
        record counts.
        """
        version = self.version
        before = self.records
        steps = range(0, len(records), _STEP)
        renewed: dict[str, R] | None = {} if len(records) == len(before) else None
        held = iter(before.items())
        for start in steps:
            if renewed is None:
                break
            coming = records[start : start + _STEP]
            for (key, known), record in zip(islice(held, len(coming)), coming, strict=True):
                if known is record:
                    continue
                if record.id != key:
                    renewed = None
                    break
                if known != record:
                    renewed[key] = record
            yield
        if renewed is not None:
            return Compared(version, Change(self.feed, changed=(*renewed,)), renewed, in_place=True)
        after: dict[str, R] = {}
        added: dict[str, None] = {}
        changed: dict[str, None] = {}
        for start in steps:
            coming = records[start : start + _STEP]
            ids = [record.id for record in coming]
            after.update(zip(ids, coming, strict=True))
            for record, held_before in zip(coming, map(before.get, ids), strict=True):
                if held_before is record and not changed:
                    continue
                if held_before is None:
                    added[record.id] = None
                elif held_before is record or held_before == record:
                    after[record.id] = held_before
                    changed.pop(record.id, None)
                else:
                    after[record.id] = record
                    changed[record.id] = None
            yield
        removed: list[str] = []
        is_some_removed = len(after) != len(before) + len(added)
        if is_some_removed:
            removed = [key for key in before if key not in after]
        change = Change(self.feed, (*added,), (*changed,), (*removed,))
        return Compared(version, change, after, in_place=False)

    def put(self, record: R) -> Change:
        """Take one record, which was read after a write."""
        known = self.records.get(record.id)
        if known == record:
            return Change(self.feed)
        self.records = {**self.records, record.id: record}
        self._is_listing = False
        self.version = object()
        if known is None:
            return Change(self.feed, added=(record.id,))
        return Change(self.feed, changed=(record.id,))

    def drop(self, record_id: str) -> Change:
        """Remove one record, which a read has shown to be gone."""
        if record_id not in self.records:
            return Change(self.feed)
        self.records = {key: kept for key, kept in self.records.items() if key != record_id}
        self._is_listing = False
        self.version = object()
        return Change(self.feed, removed=(record_id,))


def _ignore_feed(_feed: FeedName) -> None:
    """Do nothing with a feed."""


class Store:
    """The snapshot of the platform: a collection for each feed, and how fresh each is."""

    def __init__(self) -> None:
        self.companies = Collection[Company](FeedName.COMPANIES)
        self.agents = Collection[Agent](FeedName.AGENTS)
        self.pending = Collection[Task](FeedName.PENDING)  # tasks that wait for the user
        self.tasks = Collection[Task](FeedName.TASKS)
        self.budget = Collection[Budget](FeedName.BUDGET)
        self.company_budgets = Collection[Budget](FeedName.COMPANY_BUDGETS)
        self.agent_budgets = Collection[Budget](FeedName.AGENT_BUDGETS)
        self.alerts = Collection[Alert](FeedName.ALERTS)
        self.activity = ActivityWindow()
        self.collections: Mapping[FeedName, Collection[Any]] = {
            each.feed: each for each in vars(self).values() if isinstance(each, Collection)
        }
        """All collections by their feed; the activity log is not among them."""
        self.budgets: Mapping[BudgetScope, Collection[Budget]] = {
            BudgetScope.ALL: self.budget,
            BudgetScope.COMPANY: self.company_budgets,
            BudgetScope.AGENT: self.agent_budgets,
        }
        self.freshness = dict.fromkeys(FeedName, Freshness())
        self._overview: model.BudgetOverview | None = None  # the last answer for the budget
        self._overview_scope: str | None = None  # the company in scope when it was asked for
        self._compared_with_companies: tuple[Budget, object] | None = None
        self._is_less_than_companies = False
        self._listeners: list[tuple[Callable[[Change], None], frozenset[FeedName]]] = []
        self.on_freshness: Callable[[FeedName], object] = _ignore_feed
        """Called with a feed whose freshness has changed."""
        self._followers: list[Callable[[FeedName], object]] = []

    def subscribe(
        self, listener: Callable[[Change], None], feeds: Iterable[FeedName] = FeedName
    ) -> Callable[[], None]:
        """Call `listener` with every change of these feeds that is not empty.

        Returns a function that ends this.
        """
        listening = listener, frozenset(feeds)
        self._listeners.append(listening)
        return partial(self._listeners.remove, listening)

    def set_freshness(self, feed: FeedName, freshness: Freshness) -> None:
        self.freshness[feed] = freshness
        for listener in (self.on_freshness, *self._followers):
            try:
                listener(feed)
            except Exception:
                # A bug in showing it must not stop the polling.
                log.exception("showing how fresh %s is failed", feed)

    def follow_freshness(self, listener: Callable[[FeedName], object]) -> None:
        """Also call `listener` with a feed whose freshness has changed."""
        self._followers.append(listener)

    def publish(self, change: Change) -> Change:
        """Call the listeners with a change, unless it is empty, and return it.

        If a listener fails, the others are still called before the first failure is raised.
        """
        failures: list[Exception] = []
        for listener, feeds in tuple(self._listeners) if change else ():
            if change.feed not in feeds:
                continue
            try:
                listener(change)
            except Exception as failure:  # raised below
                failures.append(failure)
        for later in failures[1:]:
            log.error("showing a change of %s failed", change.feed, exc_info=later)
        if failures:
            raise failures[0]
        return change

    def take(
        self, feed: FeedName, listing: Listing[R], compared: Compared[R] | None = None
    ) -> Change:
        """Take a listing as all there is of a feed; `compared` as for `Collection.replace`."""
        change = self.publish(self.collections[feed].replace(listing, compared))
        # The whole is the budget that `Platform.budget` has returned last.
        if change and feed in (FeedName.COMPANIES, FeedName.COMPANY_BUDGETS):
            # Only now it may be known whose budget the last overview was; no part of it replaces
            # a list that has just come.
            self._place_whole(stands_in=feed is FeedName.COMPANIES)
        return change

    def take_overview(self, overview: model.BudgetOverview, company: str | None = None) -> Change:
        """Take the answer for the budget, which was asked for with `company` in scope.

        Some platforms send the budgets of companies and agents only there, so these parts are used
        as long as their own feeds have not answered; of agents only those of the company in scope.
        The collection `budget` holds the total. It is empty if the answer was the budget of one
        company or agent, which is a part like the others.
        """
        self._overview = overview
        self._overview_scope = company
        for scope in (BudgetScope.COMPANY, BudgetScope.AGENT):
            self._take_parts(scope, overview.parts)
        return self._place_whole()

    def _place_whole(self, *, stands_in: bool = True) -> Change:
        """Put the figures of the last overview itself where they belong: the total, or a part.

        With `stands_in`, a part is used as long as its own feed has not answered.
        """
        if self._overview is None:
            return Change(FeedName.BUDGET)
        whole = self._overview.whole
        # ALL is also what the overview of a platform gets that does not say whose figures these
        # are.
        if whole.scope is BudgetScope.ALL:
            companies = self.companies.records
            owner = company_of_whole(whole, companies, self.company_budgets.records)
            if owner is None:
                found = self.budget.replace(Listing(records=(whole,)))
                return self.publish(found)
            whole = replace(whole, id=owner, scope=BudgetScope.COMPANY, name=None)
        parts = self._overview.parts
        is_new = all((part.scope, part.id) != (whole.scope, whole.id) for part in parts)
        if stands_in and is_new:
            self._take_parts(whole.scope, (*parts, whole))
        return self.publish(self.budget.replace(Listing(records=())))

    def _take_parts(self, scope: BudgetScope, parts: Sequence[Budget]) -> None:
        """Take the parts of that scope, unless their own feed has answered."""
        collection = self.budgets[scope]
        if self.freshness[collection.feed].answered_at is not None:
            return
        found = [part for part in parts if part.scope is scope]
        if scope is BudgetScope.AGENT and self._overview_scope is not None:
            found = [part for part in found if self._company_id(part) == self._overview_scope]
        if found:
            self.publish(collection.replace(Listing(records=tuple(found))))

    def budgets_of_scope(self, company: str | None) -> list[Budget]:
        """The budgets that together say what is spent in scope, each shown with its owner.

        That is the budget of the company in scope, or the total. If the platform sends no total,
        it is those of the companies, and whatever it sent instead of the total.
        """
        if company is not None:
            own = self.company_budgets.get(company)
            if own is None:
                return []
            return [own]
        if self.is_total_known:
            return list(self.budget)
        return [*filter(has_figures, self.budget), *self.company_budgets]

    @property
    def is_total_known(self) -> bool:
        """Whether `budget` holds a budget that can be that of all companies.

        It can't be if it says neither what was spent nor what may be, as where only budgets of
        parts were sent, or if less was spent of it than of the companies' budgets together.
        """
        return any(
            has_figures(each) and not self.is_less_than_companies(each) for each in self.budget
        )

    def is_less_than_companies(self, whole: Budget) -> bool:
        """Whether less was spent of a budget than of those of the companies together.

        It is asked for at every tick, and worked out when one of these budgets has changed.
        """
        compared = (whole, self.company_budgets.version)
        if compared != self._compared_with_companies:
            self._compared_with_companies = compared
            self._is_less_than_companies = is_less_than_companies(whole, self.company_budgets)
        return self._is_less_than_companies

    def narrow_to_company(self, feed: FeedName, company: str) -> None:
        """Keep only the records of one company, until its own answer comes.

        A long list is forgotten instead: filtering it would block the event loop.
        """
        freshness = self.freshness[feed]
        held = self.collections.get(feed)
        if held is None or freshness.answered_at is None or len(held) > _MOST_NARROWED:
            self.forget_feed(feed)
            return
        kept = tuple(each for each in held if self._company_id(each) == company)
        self.set_freshness(feed, replace(freshness, filtered_from_all=True))
        self.take(feed, replace(held.listing, records=kept))

    def forget_feed(self, feed: FeedName) -> None:
        """Empty a feed whose query changed: the old answer must not be shown for the new one."""
        # What the platform does not offer, it offers for no other query.
        if self.freshness[feed].is_offered:
            self.set_freshness(feed, Freshness())
        if feed is FeedName.BUDGET:
            self._overview = None
        if feed is FeedName.ACTIVITY:
            self.publish(Change(feed, removed=self.activity.clear()))
        else:
            self.take(feed, Listing(records=()))

    def _company_id(self, record: Task | Agent | Budget | Alert) -> str | None:
        owner = company_of(record, self.agents.records)
        if owner is None:
            return None
        return owner.id
