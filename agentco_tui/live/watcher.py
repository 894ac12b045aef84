"""One platform watched without a screen; several may run in one event loop, and none prints."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from agentco_tui.api.client import Client
from agentco_tui.api.credentials import ApiKey
from agentco_tui.api.errors import KeyRejected
from agentco_tui.config import AlertLimits
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.history.history import History
from agentco_tui.history.observations import HistoryError
from agentco_tui.history.snooze import Snoozes
from agentco_tui.live.feeds import Clock, FeedName, Pace, Query
from agentco_tui.live.names import Names, named
from agentco_tui.live.needs import Need, of_company
from agentco_tui.live.needs_model import MOST_SHOWN, NeedsModel
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from agentco_tui.model import Budget
from agentco_tui.system.background import sleep_unless

FEEDS: Final = sorted(set(FeedName) - {FeedName.TASKS})
AHEAD: Final = 10.0  # seconds at most for what lies ahead, before a command tells it
GLANCE, GATHER = 10.0, 0.2  # seconds between looks at most; and in which what comes is one look


class Watcher:
    """`needs` are as the last `look` found them; all else is as it is now."""

    def __init__(
        self,
        client: Client,
        *,
        company: str | None = None,
        refresh: float = 5.0,
        limits: AlertLimits | None = None,
        history: History | None = None,
        snoozes: Snoozes,
        key_in_file: Callable[[], ApiKey | None] | None = None,
    ) -> None:
        """`key_in_file` reads the key again, in a thread, once the one in use is refused."""
        self.key, self._key_in_file = client.transport.key, key_in_file
        self.store, self.snoozes = Store(), snoozes
        self.names = Names(self.store)
        self.clock = Clock(lambda: client.transport.measured.clock_skew)
        query = Query(company=company)
        self.poller = Poller(client, self.store, self.clock, refresh=refresh, query=query)
        self.outlook = ForecastService(self.store, history, self.clock, limits)
        self.needs_model = NeedsModel(self.outlook, snoozes, lambda: self.poller.query.company)
        self.needs: list[Need] = []
        self._changed, self._refused = asyncio.Event(), asyncio.Event()
        self.store.on_freshness = self._answered
        self.outlook.on_change = self._changed.set
        self.poller.set_paces(dict.fromkeys(FEEDS, Pace.REFRESH))

    async def run(self, *, remembers: bool = True) -> None:
        """Poll and look ahead until cancelled; where it `remembers`, also write the history."""
        async with asyncio.TaskGroup() as work:
            work.create_task(self.poller.run())
            work.create_task(self._renew_key())
            if self.outlook.history is not None:
                if remembers:
                    await self.poller.backfill.remember(self.outlook.history)
                work.create_task(self.outlook.run())

    async def next_look(self, within: float = GLANCE) -> None:
        """Look as soon as something has changed, and after `within` seconds at most, for waits
        grow.
        """
        await sleep_unless(self._changed, within, asyncio.sleep)
        await asyncio.sleep(GATHER)
        self._changed.clear()
        await self.look()

    def look_soon(self) -> None:
        """End the wait of `next_look`."""
        self._changed.set()

    async def first_answers(
        self, until: float | None = None, feeds: Iterable[FeedName] = FEEDS
    ) -> None:
        """Wait until each feed has been answered or has failed, but for none beyond `until`, a time
        of the event loop; then work out what lies ahead by what is remembered.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await asyncio.gather(*map(self.poller.read_again, feeds))
        with suppress(HistoryError, TimeoutError):
            async with asyncio.timeout(AHEAD):
                await self.outlook.work_out(self.budgets())

    def budgets(self) -> list[Budget]:
        """Of what is in scope: the whole, companies, then agents, each the worst share first."""
        ours = of_company(self.store, self.poller.query.company)
        held = self.store.budgets.values()
        ranked = (sorted(filter(ours, of), key=lambda each: -(each.share or 0)) for of in held)
        return [each for budgets in ranked for each in budgets]

    async def look(self) -> None:
        """Bring the needs up to date: the worst first, those that are snoozed among them."""
        await asyncio.to_thread(self.snoozes.sync)
        await self.needs_model.refresh()
        self.needs = self.needs_model.ranked(MOST_SHOWN)

    def _answered(self, feed: FeedName) -> None:
        """Ask by the id of the company in scope, once its name is known to be one."""
        self._changed.set()
        scope = self.poller.query.company
        if feed is FeedName.COMPANIES and scope is not None:
            found = named(scope, self.store.companies)
            if len(found) == 1 and found[0].id != scope:
                self.poller.set_query(Query(company=found[0].id))
        if isinstance(self.store.freshness[feed].failure, KeyRejected):
            self._refused.set()

    async def _renew_key(self) -> None:
        """Take up the key that is in its file by now, each time the one in use is refused."""
        while self._key_in_file is not None:
            await self._refused.wait()
            self._refused.clear()
            found = await asyncio.to_thread(self._key_in_file)
            if found is not None and found != self.key.key:
                self.key.replace(found)
                self.poller.poll_now()
