"""Finds the id of the company or agent that the user named in a flag or in the settings.

The REST API wants ids; users know names. A name that several records have is an error that lists
their ids. A `Listing` is the answer to a list request: it is `whole` if it has every record that
exists. `records_named` returns the records with that id or, if there is none, with that name.

A feed is one list that is polled; `NAMES` are the two feeds of companies and AI agents.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from agentco_tui.api.errors import ApiError, Invalid, NotFound, NotSent
from agentco_tui.config import Problem, Settings, SettingsError
from agentco_tui.config.validators import nearest
from agentco_tui.live.feeds import NAMES, Query
from agentco_tui.live.fetch import fetch, of_all_companies
from agentco_tui.live.names import records_named
from agentco_tui.live.store import Store
from agentco_tui.model import Agent, Company, Listing
from agentco_tui.text import clean_line

if TYPE_CHECKING:
    from agentco_tui.api.platform import Platform

R = TypeVar("R", Agent, Company)

_IDS_NAMED = 5
"""At most so many ids that the error lists if several records have the name."""


async def company_id_of(settings: Settings, client: Platform) -> str | None:
    """Return the id of the company that the settings name; None if they name none.

    Raises SettingsError if there is no such company or several, and ApiError.
    """
    words = settings.company
    if words is None:
        return None
    # The flag, variable or file that the setting comes from, for the error.
    source = settings.sources.get("company", "--company")
    return await id_of("company", words, source, await client.companies(), client.company)


async def company_id_or_words(settings: Settings, client: Platform) -> str | None:
    """Return the id of the company that the settings name, or the name if it can't be read.

    Raises SettingsError if there is no such company or several.
    """
    with suppress(ApiError):
        return await company_id_of(settings, client)
    return settings.company


async def agent_id_of(words: str, client: Platform, company: str | None) -> str:
    """Return the id of the agent that `--agent` names, in one company or in all.

    Raises as `record_of` does.
    """
    return (await named_agent(words, client, company)).id


async def named_agent(words: str, client: Platform, company: str | None) -> Agent:
    """Return the agent that `--agent` names, in one company or in all. Raises as `record_of`."""
    # Some platforms list agents of one company only: then each company's list is read in turn.
    agents = await of_all_companies(client.agents, Store(), company, client.companies)
    return await record_of("agent", words, "--agent", agents, client.agent)


async def id_of(
    kind: str,
    words: str,
    setting: str,
    listing: Listing[R],
    read_one: Callable[[str], Awaitable[R]],
) -> str:
    """Return the id of the record with that id or name; see `record_of`."""
    return (await record_of(kind, words, setting, listing, read_one)).id


async def record_of(
    kind: str,
    words: str,
    setting: str,
    listing: Listing[R],
    read_one: Callable[[str], Awaitable[R]],
) -> R:
    """Return the record of a listing with that id or name.

    `kind` is "company" or "agent", for the error. `words` are the id or name, and `setting` is the
    flag or setting that they come from. If the listing is incomplete, `read_one` is called with the
    words as an id. Raises SettingsError if there is no such record, or several; and ApiError.
    """
    matches = records_named(words, listing.records)
    if len(matches) == 1:
        return matches[0]
    if not matches and not listing.whole:
        # The words are no id that the platform knows, or not even a possible one (NotSent).
        with suppress(NotFound, Invalid, NotSent):
            return await read_one(words)
    shown = clean_line(words, 60)
    if matches:
        ids = ", ".join(
            dict.fromkeys(clean_line(each.sent_id, 60) for each in matches[:_IDS_NAMED])
        )
        text = f"{len(matches)} have the name {shown}: say which by its id ({ids})"
    else:
        text = f"no {kind} has the name or id {shown}"
        names = [record.name or clean_line(record.id) for record in listing.records]
        if names:
            text += f"; the nearest is {nearest(words, names)}"
    raise SettingsError([Problem(text=text, setting=setting)])


async def read_names(client: Platform, store: Store, query: Query) -> list[str]:
    """Read the companies and agents into the store, from which `Names` looks up names for ids.

    `query` limits the agents to one company, if it names one. Returns a sentence for each list that
    could not be read.
    """
    troubles = []
    for feed in sorted(NAMES):
        try:
            take = await fetch(feed, client, store, query)
        except ApiError as error:
            troubles.append(f"{error}; so the names of {feed} are left out")
        else:
            take()  # puts the answer into the store
    return troubles
