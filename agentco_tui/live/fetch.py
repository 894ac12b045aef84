"""How each feed is fetched: from client and query to an answer that the store can take."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from msgspec import structs

from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError, Invalid, NotFound
from agentco_tui.live.feeds import FeedName, Query
from agentco_tui.live.names import Names
from agentco_tui.live.store import Change, Store
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


async def fetch(feed: FeedName, client: Client, store: Store, query: Query) -> Take:
    """Ask for a feed once. Raises ApiError."""
    if feed is FeedName.BUDGET:
        return partial(_take_overview, store, await client.budget(), query.company)
    if feed is FeedName.ACTIVITY:
        return partial(store.take_activity, await _activity(client, store, query))
    listing = await LISTINGS[feed](client, store, query)
    return partial(store.take, feed, listing, await store.collections[feed].compare(listing))


LISTINGS: dict[FeedName, Callable[[Client, Store, Query], Awaitable[Listing[Any]]]] = {
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
}
"""The feeds whose answer is all there is of their collection."""


def _take_overview(store: Store, overview: BudgetOverview, company: str | None) -> Change:
    """Without other companies' agents, who must not stand in for those in scope."""
    names = Names(store)

    def belongs(part: Budget) -> bool:
        owner = names.company_of(part)
        return part.scope is not BudgetScope.AGENT or (owner is not None and owner.id == company)

    if company is not None:
        overview = structs.replace(overview, parts=tuple(filter(belongs, overview.parts)))
    return store.take_overview(overview)


async def _activity(client: Client, store: Store, query: Query) -> Listing[Activity]:
    """GET /api/activity; asks once for more where the answer doesn't join what is known."""
    chosen = query.activity
    ask = partial(
        client.activity,
        company_id=query.activity_company,
        agent_id=chosen.agent,
        from_date=chosen.from_date,
        to_date=chosen.to_date,
    )
    # What the window would not keep need not come over the line.
    limit = min(chosen.limit or ACTIVITY_LIMIT, store.activity.capacity)
    listing = await ask(limit=limit)
    if limit < ACTIVITY_CATCH_UP and not store.activity.joins(listing):
        try:
            return await ask(limit=ACTIVITY_CATCH_UP)
        except ApiError as error:
            # Whether that limit is refused or too much for the platform: what it did answer is
            # true, and the window shows the gap.
            log.info("the log could not be caught up with: %r", error)
    return listing


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
    except (Invalid, NotFound):
        if company is not None:
            raise
        known = [record.id for record in store.companies]
        if not known and companies is not None:
            known = [record.id for record in (await companies()).records]
        if not known:
            raise
        listings = [await ask(each) for each in known]
    return Listing(
        records=tuple(record for listing in listings for record in listing.records),
        unread=sum(listing.unread for listing in listings),
        unread_reasons=tuple(why for listing in listings for why in listing.unread_reasons)[:5],
        capped=any(listing.capped for listing in listings),
        more=any(listing.more for listing in listings),
        shape=listings[0].shape,
        pages=sum(listing.pages for listing in listings),
    )
