"""A connection for one command, and feeds read once by the same rules as the dashboard's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from agentco_tui.api.client import Client, open_client
from agentco_tui.api.credentials import CredentialError
from agentco_tui.api.errors import ApiError, TimedOut
from agentco_tui.config import Problem, Settings, SettingsError
from agentco_tui.live.feeds import FeedName, Query
from agentco_tui.live.poller import AT_ONCE, Take, fetch
from agentco_tui.live.store import Store
from agentco_tui.text import plain


@asynccontextmanager
async def connected(settings: Settings) -> AsyncIterator[Client]:
    """A client for the settings' platform. Raises SettingsError if it cannot be made of them."""
    try:
        client = open_client(
            settings.base_url,
            settings.key,
            ca_file=settings.ca_file,
            trust_env=settings.trust_env,
            key_source=settings.key_source,
            mapping=settings.mapping,
        )
    except CredentialError as error:
        raise SettingsError([Problem(text=str(error))]) from None
    async with client:
        yield client


async def read_feeds(
    client: Client, store: Store, query: Query, feeds: Sequence[FeedName], seconds: float
) -> dict[FeedName, ApiError]:
    """Read feeds once into the store, several at a time; the errors of those that failed.

    What is not answered after `seconds` in all has timed out.
    """
    deadline = asyncio.get_running_loop().time() + seconds
    places = asyncio.Semaphore(AT_ONCE)

    async def read(feed: FeedName) -> Take | ApiError:
        try:
            async with asyncio.timeout_at(deadline), places:
                return await fetch(feed, client, store, query)
        except ApiError as error:
            return error
        except TimeoutError:
            return TimedOut(plain(f"no answer within {seconds:g} seconds"))

    failed: dict[FeedName, ApiError] = {}
    for feed, answer in zip(feeds, await asyncio.gather(*map(read, feeds)), strict=True):
        if isinstance(answer, ApiError):
            failed[feed] = answer
        else:
            answer()
    return failed
