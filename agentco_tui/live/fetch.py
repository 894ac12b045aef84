"""Reads one feed from the platform once, for the store.

A feed is one list or record of the platform (the remote service that runs AI agents) that is
polled; the store is the snapshot of all of them; the query is the company that the feeds are
limited to. `fetch` calls the client and compares the answer with the store; the caller decides
whether it still wants it, and then calls the `Take` it got.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from agentco_tui.api import errors
from agentco_tui.live.feeds import OPERATION_OF_FEED, FeedName, Query
from agentco_tui.live.store import Change, Store
from agentco_tui.model import Company, Listing, Record
from agentco_tui.reading.joined_listing import join_listings

if TYPE_CHECKING:
    from agentco_tui.api.platform import Platform

R = TypeVar("R", bound=Record)

Take = Callable[[], Change]
"""Puts a fetched answer into the store; called only if the query is still the same."""

ACTIVITY_LIMIT: Final = 200  # entries of the log that a poll asks for


async def fetch(
    feed: FeedName,
    client: Platform,
    store: Store,
    query: Query,
    begins: Callable[[Sequence[Any]], None] | None = None,
) -> Take:
    """Read a feed once, and return how to put the answer into the store. Raises ApiError.

    NotOffered is raised for a feed that the platform does not have; nothing is sent then.
    `begins` is called with the first rows of a long list, as for `Platform.tasks`.
    """
    not_offered = client.capabilities.why_not(OPERATION_OF_FEED[feed])
    if not_offered is not None:
        raise errors.NotOffered(not_offered)
    company = query.company
    listing: Listing[Any]
    match feed:
        case FeedName.BUDGET:
            return partial(store.take_overview, await client.budget(), company)
        case FeedName.PENDING:
            listing = await client.tasks(company_id=company, status="pending", begins=begins)
        case FeedName.TASKS:
            listing = await client.tasks(company_id=company, begins=begins)
        case FeedName.AGENTS:
            listing = await of_all_companies(client.agents, store, company, client.companies)
        case FeedName.AGENT_BUDGETS:
            listing = await of_all_companies(client.agent_budgets, store, company, client.companies)
        case FeedName.COMPANIES:
            listing = await client.companies()
        case FeedName.COMPANY_BUDGETS:
            listing = await client.company_budgets()
        case FeedName.ALERTS:
            listing = await client.budget_alerts()
        case FeedName.ACTIVITY:
            # Entries that the window would not keep need not be sent.
            limit = min(ACTIVITY_LIMIT, store.activity.capacity)
            entries = await client.activity(company, limit=limit)
            return lambda: store.publish(Change(feed, *store.activity.merge(entries)))
    return partial(store.take, feed, listing, await store.collections[feed].compare(listing))


async def of_all_companies(
    read: Callable[[str | None], Awaitable[Listing[R]]],
    store: Store,
    company: str | None,
    read_companies: Callable[[], Awaitable[Listing[Company]]],
) -> Listing[R]:
    """A listing for a company, or with None for all of them. Raises ApiError.

    No documentation says whether `company_id` may be left out. If the platform refuses a
    request without it, the listing of every known company is read in turn; `read_companies` is
    called if none is known yet. If there is no list of companies either, the refusal is raised.
    """
    try:
        return await read(company)
    except (errors.Invalid, errors.NotFound) as refusal:
        if company is not None:
            raise
        companies: Sequence[Company] = list(store.companies)
        if not companies:
            try:
                companies = (await read_companies()).records
            except errors.NotFound:
                raise refusal from None
        if not companies:
            raise
        company_ids = dict.fromkeys(each.sent_id for each in companies)
        listings = [await read(company_id) for company_id in company_ids]
    return join_listings(listings)
