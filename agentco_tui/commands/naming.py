"""Names where the interface wants ids: the company or the agent that a flag or a profile names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from agentco_tui.api.errors import ApiError, Invalid, NotFound, NotSent
from agentco_tui.config import Problem, Settings, SettingsError
from agentco_tui.config.validators import nearest
from agentco_tui.live.feeds import NAMES, Query
from agentco_tui.live.fetch import fetch, of_all_companies
from agentco_tui.live.names import named
from agentco_tui.live.store import Store
from agentco_tui.model import Agent, Company, Listing
from agentco_tui.text import safe

if TYPE_CHECKING:
    from agentco_tui.api.client import Client

R = TypeVar("R", Agent, Company)


async def company_of(settings: Settings, client: Client) -> str | None:
    """The id of the company that the settings name, or None. Raises as `id_of`."""
    words = settings.company
    if words is None:
        return None
    source = settings.sources.get("company", "--company")
    return await id_of("company", words, source, await client.companies(), client.company)


async def company_or_words(settings: Settings, client: Client) -> str | None:
    """The same; as the company is named where its id can't be read. Raises SettingsError."""
    with suppress(ApiError):
        return await company_of(settings, client)
    return settings.company


async def agent_of(words: str, client: Client, company: str | None) -> str:
    """The id of the agent that `--agent` names, in that company or in all. Raises as `id_of`."""
    return (await named_agent(words, client, company)).id


async def named_agent(words: str, client: Client, company: str | None) -> Agent:
    """The agent that `--agent` names, in that company or in all. Raises as `id_of`."""
    agents = await of_all_companies(client.agents, Store(), company, client.companies)
    return await record_of("agent", words, "--agent", agents, client.agent)


async def id_of(
    kind: str,
    words: str,
    setting: str,
    listing: Listing[R],
    ask_one: Callable[[str], Awaitable[R]],
) -> str:
    """The id of the record with that id or name; parameters and errors as of `record_of`."""
    return (await record_of(kind, words, setting, listing, ask_one)).id


async def record_of(
    kind: str,
    words: str,
    setting: str,
    listing: Listing[R],
    ask_one: Callable[[str], Awaitable[R]],
) -> R:
    """The record with that id or name; `setting` says where the words are from, `ask_one` asks for
    a record that a listing may lack because it isn't whole.

    Raises SettingsError if there is none, or if several have the name, and ApiError.
    """
    found, shown = named(words, listing.records), safe(words, 60)
    if len(found) == 1:
        return found[0]
    if not found and not listing.whole:
        with suppress(NotFound, Invalid, NotSent):
            return await ask_one(words)
    text = f"no {kind} has the name or id {shown}"
    if found:
        ids = ", ".join(dict.fromkeys(safe(record.sent_id, 60) for record in found[:5]))
        text = f"{len(found)} have the name {shown}: say which by its id ({ids})"
    elif known := [record.name or safe(record.id) for record in listing.records]:
        text += f"; the nearest is {nearest(words, known)}"
    raise SettingsError([Problem(text=text, setting=setting)])


async def learn_names(client: Client, store: Store, query: Query) -> list[str]:
    """Read the lists of companies and agents; what to say of those that can't be read."""
    unread = []
    for feed in sorted(NAMES):
        try:
            (await fetch(feed, client, store, query))()
        except ApiError as error:
            unread.append(f"{error}; so the names of {feed} are left out")
    return unread
