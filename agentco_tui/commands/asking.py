"""A connection for one command, and questions that must not hold it up for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from agentco_tui.api.client import Client, open_client
from agentco_tui.api.credentials import CredentialError
from agentco_tui.api.errors import ApiError, Invalid, NotFound, TimedOut
from agentco_tui.config import Problem, Settings, SettingsError
from agentco_tui.live.clock import SystemClock
from agentco_tui.live.fetch import one_by_one
from agentco_tui.model.records import Company, Listing, Record
from agentco_tui.text import plain

AT_ONCE = 4
"""Requests under way at the same time, as the dashboard has it."""

T = TypeVar("T")
R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What one question brought: a value, or the error in its place."""

    value: T | None = None
    error: ApiError | None = None


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
        )
    except CredentialError as error:
        raise SettingsError([Problem(text=str(error))]) from None
    async with client:
        yield client


def clock_of(client: Client) -> SystemClock:
    """The platform's clock, as far as its answers tell it."""
    return SystemClock(lambda: client.transport.measured.clock_skew)


class Questions:
    """Asks several things at once, `AT_ONCE` of them at a time, until a common deadline."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadline = asyncio.get_running_loop().time() + seconds
        self._places = asyncio.Semaphore(AT_ONCE)

    async def ask(self, question: Callable[[], Awaitable[T]]) -> Answer[T]:
        """The answer; a question that is not answered at the deadline has TimedOut."""
        try:
            async with asyncio.timeout_at(self._deadline), self._places:
                return Answer(value=await question())
        except ApiError as error:
            return Answer(error=error)
        except TimeoutError:
            sentence = plain(f"no answer within {self._seconds:g} seconds")
            return Answer(error=TimedOut(sentence))


async def of_company_or_all(
    ask: Callable[[str | None], Awaitable[Listing[R]]],
    company: str | None,
    companies: Callable[[], Awaitable[Listing[Company]]],
) -> Listing[R]:
    """A listing for a company, or for all; where a platform wants a company, each is asked."""
    try:
        return await ask(company)
    except (Invalid, NotFound) as refusal:
        if company is not None:
            raise
        known = [record.id for record in (await companies()).records]
        return await one_by_one(ask, known, refusal)
