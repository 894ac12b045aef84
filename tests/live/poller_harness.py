"""A poller with a real client on an embedded platform, and hours that pass by hand.

The event loop's time runs a thousand times slower than real time and is moved on by the test, so
that no test waits for an interval and none depends on how fast the machine is.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlencode

from msgspec import structs

from agentco_tui.api.client import Client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.errors import ApiError
from agentco_tui.api.limits import Limits
from agentco_tui.api.transport import Transport
from agentco_tui.demo.connection import ClientConnection
from agentco_tui.demo.http_messages import Answer, Request
from agentco_tui.live.feeds import Clock, FeedName, Freshness, Pace, Query, paces_of_screen
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from tests.platform import EmbeddedPlatform, LoggedRequest

SLOW_MOTION = 0.001
OPERATIONS = {
    FeedName.COMPANIES: "companies",
    FeedName.AGENTS: "agents",
    FeedName.PENDING: "tasks",
    FeedName.TASKS: "tasks",
    FeedName.BUDGET: "budget",
    FeedName.COMPANY_BUDGETS: "company_budgets",
    FeedName.AGENT_BUDGETS: "agent_budgets",
    FeedName.ALERTS: "alerts",
    FeedName.ACTIVITY: "activity",
}
EVERYTHING = dict.fromkeys(FeedName, Pace.REFRESH)


class Hours(Clock):
    """The loop's time and the dashboard's clock in one; both moved by hand."""

    def __init__(self, rate: float = SLOW_MOTION) -> None:
        super().__init__()
        self.rate = rate
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._real = self._loop.time
        self._ahead = 0.0
        self._slept = 0.0

    def __enter__(self) -> Hours:
        self._loop.time = self.time  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.time = self._real  # type: ignore[method-assign]

    def time(self) -> float:
        """What the event loop takes for the time."""
        return self._began + (self._real() - self._began) * self.rate + self._ahead

    def monotonic(self) -> float:
        """What the dashboard takes for it."""
        return self.time() + self._slept

    def now(self) -> float:
        """The platform's time; nothing here asks for it."""
        return time.time()

    def go_by(self, seconds: float) -> None:
        """Let time pass."""
        self._ahead += seconds

    def sleep(self, seconds: float) -> None:
        """The laptop is shut for so long: the loop's timers stand still."""
        self._slept += seconds


@dataclass(slots=True)
class Stage:
    """All there is to look at."""

    platform: EmbeddedPlatform
    client: Client
    store: Store
    poller: Poller
    hours: Hours
    running: asyncio.Task[None]

    def show(self, screen: str, *, all_tasks: bool = False) -> None:
        """Go to a screen."""
        self.poller.set_paces(paces_of_screen(screen, all_tasks=all_tasks))

    def freshness(self, feed: FeedName) -> Freshness:
        return self.store.freshness[feed]

    def wait(self, feed: FeedName) -> float:
        """Seconds to the feed's next try."""
        wait = self.freshness(feed).wait(self.hours.monotonic())
        assert wait is not None
        return wait

    async def until(self, seen: Callable[[], bool]) -> None:
        """Wait for what a test needs to see; the test's own time limit ends it otherwise."""
        while not seen():
            assert not self.running.done(), "the poller has ended"
            await asyncio.sleep(0.001 * self.hours.rate)

    def is_settled(self) -> bool:
        """Whether every feed that is polled has an outcome and is not due."""
        now = self.hours.monotonic()
        return all(
            (next_try := self.freshness(feed).next_try_at) is not None and next_try > now
            for feed in FeedName
            if self.poller.pace(feed) is not Pace.OFF
        )

    async def settled(self) -> None:
        """Wait until nothing is due."""
        await self.until(self.is_settled)

    async def arrived(self) -> None:
        """Wait for an answer, so that what was sent before, if anything, has been seen by now."""
        with suppress(ApiError):
            await self.client.company("nobody")

    async def go_by(self, seconds: float) -> None:
        """Let time pass, and what is due then happen."""
        self.hours.go_by(seconds)
        await self.settled()

    def asked(self) -> Counter[str]:
        """How often each feed was asked, as the platform saw it."""
        return Counter(name_of(seen) for seen in self.platform.requests if is_polled(seen))


def is_polled(seen: LoggedRequest) -> bool:
    """Whether it came from the poller and not from `arrived`."""
    return not seen.path.startswith("/api/companies/")


def name_of(seen: LoggedRequest) -> str:
    """The feed that a request was for."""
    if seen.operation == "tasks" and "status=pending" in seen.query:
        return "pending"
    return seen.operation or seen.path


@asynccontextmanager
async def stage(
    platform: EmbeddedPlatform,
    *,
    wanted: Mapping[FeedName, Pace] | None = None,
    refresh: float = 1_000.0,
    limits: Limits | None = None,
    query: Query | None = None,
    rate: float = SLOW_MOTION,
    key: str | None = None,
    store: Store | None = None,
    base_url: str | None = None,
) -> AsyncIterator[Stage]:
    """Start to poll; at the end everything that was started has ended."""
    transport = Transport(
        BaseUrl.parse(base_url or platform.base_url),
        ApiKey.parse(key or platform.full_key),
        limits=limits,
        attempts=1,
    )
    with Hours(rate) as hours:
        async with Client(transport) as client:
            kept = store or Store()
            poller = Poller(client, kept, hours, refresh=refresh, query=query, random=Random(7))
            poller.set_paces(EVERYTHING if wanted is None else wanted)
            running = asyncio.create_task(poller.run())
            try:
                yield Stage(platform, client, kept, poller, hours, running)
            finally:
                running.cancel()
                with suppress(asyncio.CancelledError):
                    await running


# --- an embedded platform that is choosy about the questions it answers ---

Parameters = dict[str, str]
Choice = Callable[[str, Parameters], int | Parameters | bytes]
"""From path and query to a status to refuse with, a query to answer instead, or a JSON body."""


class ChoosyPlatform(EmbeddedPlatform):
    """The embedded platform behind a choice; what that answers is in no request log but its own."""

    def __init__(self, choice: Choice, **options: Any) -> None:
        super().__init__(seed=7, speed=0.0, **options)
        self.choice = choice
        self.refused: list[tuple[str, Parameters]] = []
        """The questions that were refused."""
        self.asked: list[tuple[str, Parameters]] = []
        """All questions, as they were asked."""

    async def serve(self, connection: ClientConnection, request: Request) -> None:
        query = dict(parse_qsl(request.query))
        self.asked.append((request.path, query))
        choice = self.choice(request.path, query)
        if isinstance(choice, dict):
            await super().serve(connection, structs.replace(request, query=urlencode(choice)))
            return
        status, body = 200, choice
        if isinstance(choice, int):
            self.refused.append((request.path, query))
            told = {"error": "company_id is required" if choice == 422 else "too much"}
            status, body = choice, json.dumps(told).encode()
        assert isinstance(body, bytes)
        answer = Answer(status, {"content-type": "application/json"}, body)
        await connection.send(answer.head() + answer.body)
