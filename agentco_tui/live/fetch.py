"""How each feed is fetched: one function a feed from client and query to an answer."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from msgspec import structs

from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError, Invalid, NotFound
from agentco_tui.live.feeds import FeedName, Query
from agentco_tui.live.names import Names
from agentco_tui.live.store import Change, Collection, Store
from agentco_tui.model import (
    Activity,
    Budget,
    BudgetOverview,
    BudgetScope,
    Company,
    Listing,
    Record,
)

R = TypeVar("R", bound=Record)

log = logging.getLogger(__name__)

AT_ONCE = 4
"""Feeds that are asked at the same time."""
ACTIVITY_LIMIT = 200
"""Entries asked for at a poll, where the person chose no limit."""
ACTIVITY_CATCH_UP = 1_000
"""Entries asked for once, where a poll doesn't join the entries that are known."""


Take = Callable[[], Change]
"""Puts a fetched answer into the store; called only if the query is still the same."""
Fetch = Callable[[Client, Store, Query], Awaitable[Take]]


async def whole(store: Store, collection: Collection[R], listing: Listing[R]) -> Take:
    """A listing as all there is of a collection."""
    take = await collection.compare(listing)
    return lambda: store.publish(take())


def _listed(feed: FeedName, ask: Callable[[Client, Store, Query], Awaitable[Any]]) -> Fetch:
    """A feed whose answer is all there is of its collection."""

    async def fetch(client: Client, store: Store, query: Query) -> Take:
        listing = await ask(client, store, query)
        return await whole(store, store.collection(feed), listing)

    return fetch


async def budget(client: Client, store: Store, query: Query) -> Take:
    """GET /api/budget."""
    overview: BudgetOverview = await client.budget()
    return lambda: store.take_overview(_in_scope(overview, query.company, store))


def _in_scope(overview: BudgetOverview, company: str | None, store: Store) -> BudgetOverview:
    """The overview without other companies' agents, who must not stand in for those in scope."""
    if company is None:
        return overview
    names = Names(store)

    def belongs(part: Budget) -> bool:
        owner = names.company_of(part)
        return part.scope is not BudgetScope.AGENT or (owner is not None and owner.id == company)

    return structs.replace(overview, parts=tuple(filter(belongs, overview.parts)))


async def activity(client: Client, store: Store, query: Query) -> Take:
    """GET /api/activity; asks once for more where the answer doesn't join what is known."""
    chosen = query.activity
    # What the window would not keep need not come over the line.
    limit = min(chosen.limit or ACTIVITY_LIMIT, store.activity.capacity)

    async def ask(limit: int) -> Listing[Activity]:
        return await client.activity(
            company_id=query.activity_company,
            agent_id=chosen.agent,
            from_date=chosen.from_date,
            to_date=chosen.to_date,
            limit=limit,
        )

    listing = await ask(limit)
    if limit < ACTIVITY_CATCH_UP and not store.activity.joins(listing):
        try:
            listing = await ask(ACTIVITY_CATCH_UP)
        except ApiError as error:
            # Whether that limit is refused or too much for the platform: what it did answer is
            # true, and the window shows the gap.
            log.info("the log could not be caught up with: %r", error)
    return lambda: store.take_activity(listing)


async def of_all_companies(
    ask: Callable[[str | None], Awaitable[Listing[R]]],
    store: Store,
    company: str | None,
    companies: Callable[[], Awaitable[Listing[Company]]] | None = None,
) -> Listing[R]:
    """A listing for a company, or for all of them.

    The interface doesn't say whether `company_id` may be left out; where the platform refuses a
    request without it, every known company is asked in turn. `companies` asks which there are,
    for when none is known yet.
    """
    try:
        return await ask(company)
    except (Invalid, NotFound) as refusal:
        if company is not None:
            raise
        known = [record.id for record in store.companies]
        if not known and companies is not None:
            known = [record.id for record in (await companies()).records]
        return await one_by_one(ask, known, refusal)


async def one_by_one(
    ask: Callable[[str | None], Awaitable[Listing[R]]],
    companies: Iterable[str],
    refusal: ApiError,
) -> Listing[R]:
    """The listings of several companies as one; `refusal` is raised if there are none."""
    listings = [await ask(company) for company in companies]
    if not listings:
        raise refusal
    return Listing(
        records=tuple(record for listing in listings for record in listing.records),
        unread=sum(listing.unread for listing in listings),
        unread_reasons=tuple(why for listing in listings for why in listing.unread_reasons)[:5],
        capped=any(listing.capped for listing in listings),
        more=any(listing.more for listing in listings),
        shape=listings[0].shape,
        pages=sum(listing.pages for listing in listings),
    )


FETCHES: dict[FeedName, Fetch] = {
    FeedName.BUDGET: budget,
    FeedName.ACTIVITY: activity,
    **{
        feed: _listed(feed, ask)
        for feed, ask in {
            FeedName.COMPANIES: lambda client, _, __: client.companies(),
            FeedName.AGENTS: lambda client, store, query: of_all_companies(
                client.agents, store, query.company, client.companies
            ),
            FeedName.PENDING: lambda client, _, query: client.tasks(
                company_id=query.company, status="pending"
            ),
            FeedName.TASKS: lambda client, _, query: client.tasks(company_id=query.company),
            FeedName.COMPANY_BUDGETS: lambda client, _, __: client.company_budgets(),
            FeedName.AGENT_BUDGETS: lambda client, store, query: of_all_companies(
                client.agent_budgets, store, query.company, client.companies
            ),
            FeedName.ALERTS: lambda client, _, __: client.budget_alerts(),
        }.items()
    },
}


def forget(store: Store, feed: FeedName) -> None:
    """Empty a feed whose question changed, so that no answer to the old one is shown as the new."""
    if feed is FeedName.ACTIVITY:
        store.publish(Change(feed, removed=store.activity.clear()))
    else:
        store.publish(store.collection(feed).clear())
