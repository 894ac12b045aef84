"""Polls soon after the platform says that something has changed.

The platform, the remote service, says so for each company (`Platform.news_of`). What it says is
never shown: it is a reason to poll earlier than by the clock. Polling by the clock goes on, so that
nothing depends on the news. Whenever a connection is open, everything is polled once, as things may
have changed before.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from random import Random
from typing import Final

from agentco_tui.api import errors
from agentco_tui.api.errors import ApiError
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.poller import REFUSED, Poller
from agentco_tui.system.background import sleep_unless
from agentco_tui.text import mark_safe

GATHER: Final = 0.2
"""Seconds for which news is gathered into one poll."""
LEAST_SPACING: Final = 2.0
"""Seconds between two polls after news, at least."""
LONGEST_WAIT: Final = 60.0
"""Seconds until a lost connection is tried again, at most. After one that lasted longer, the waits
begin anew."""
MOST_COMPANIES: Final = 40
"""Companies whose news is followed; the others are polled by the clock alone."""

PASSING: Final = (
    errors.Unreachable,
    errors.TimedOut,
    errors.Broken,
    errors.PlatformFailed,
    errors.RateLimited,
    errors.TooLarge,
)
"""Failures after which the news of a company is asked for again; others are final."""

log = logging.getLogger(__name__)


class NewsFollower:
    """Follows the news of the companies that are shown: the one in scope, or all."""

    def __init__(self, poller: Poller, random: Random | None = None) -> None:
        """`random` gives the jitter of what is tried again."""
        self._poller = poller
        self._store = poller.store
        self._random = random or Random()  # noqa: S311 (jitter, not secrecy)
        self._followed: dict[str, asyncio.Task[None]] = {}
        """By company, as the platform calls it."""
        self._refused = set[str]()
        """Companies of which there is no news in this run."""
        self._told = asyncio.Event()
        """Set when something has changed since the last poll."""
        self._must_read_all = False
        """Whether things may have changed that no one was told."""
        self._may_differ = asyncio.Event()
        """Set when there may be other companies than those that are followed."""

    async def run(self) -> None:
        """Follow until cancelled."""
        # Each list is read again after the scope has changed, and the companies by the clock.
        self._store.follow_freshness(self._freshness_changed)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._poll_after_news(), name="polls after news")
            while True:
                self._may_differ.clear()
                self._follow_companies(tasks)
                await self._may_differ.wait()

    def _follow_companies(self, tasks: asyncio.TaskGroup) -> None:
        """Follow the companies that are shown now, and no others."""
        shown = self._shown_companies()
        for company, task in list(self._followed.items()):
            if company not in shown:
                task.cancel()
                del self._followed[company]
        # The order of a platform's companies may change: those that are followed stay.
        for company in shown:
            has_room = len(self._followed) + len(self._refused) < MOST_COMPANIES
            if has_room and company not in self._followed and company not in self._refused:
                following = tasks.create_task(self._follow(company), name=f"news of {company}")
                self._followed[company] = following

    def _freshness_changed(self, feed: FeedName) -> None:
        self._may_differ.set()

    def _shown_companies(self) -> list[str]:
        """The companies that are shown, as far as they are known, by the platform's ids."""
        scope = self._poller.query.company
        companies = self._store.companies
        if scope is None:
            return [company.sent_id for company in companies]
        company = companies.get(scope)
        if company is not None:
            return [company.sent_id]
        # A key that may not list companies has one of its own, whose id the settings have.
        is_unlisted = isinstance(self._store.freshness[FeedName.COMPANIES].failure, REFUSED)
        return [scope] if is_unlisted else []

    async def _follow(self, company: str) -> None:
        """Follow the news of a company until it is refused for good."""
        loop = asyncio.get_running_loop()
        failures = 0
        while True:
            began = loop.time()
            error = await self._next_failure(company)
            if not isinstance(error, PASSING):
                log.info("the news of company %s is not followed in this run: %r", company, error)
                self._refused.add(company)
                del self._followed[company]
                return
            if loop.time() - began > LONGEST_WAIT:
                failures = 0
            failures += 1
            wait = min(LONGEST_WAIT, 2.0 ** min(failures - 1, 10)) * self._random.uniform(0.5, 1)
            wait = max(wait, error.retry_after or 0.0)
            log.info("the news of company %s: %r; again in %.0f s", company, error, wait)
            await asyncio.sleep(wait)

    async def _next_failure(self, company: str) -> ApiError:
        """Note all news of a company, and return the error that ends it."""
        is_open = False
        try:
            async with aclosing(self._poller.client.news_of(company)) as news:
                async for _ in news:
                    if not is_open:
                        self._must_read_all = True
                    is_open = True
                    self._told.set()
        except ApiError as error:
            return error.without_traceback()
        except Exception:
            # A bug of ours here must not end the dashboard, which does not depend on it.
            log.exception("following the news of a company failed")
        return errors.NotSent(mark_safe("the news ended through a fault of this program"))

    async def _poll_after_news(self) -> None:
        """Poll soon after news; as long as there is more and more, hardly more than by the clock.

        The pause after each poll doubles, up to the interval of the clock, until there was no news
        for such an interval.
        """
        pause = LEAST_SPACING
        while True:
            await self._told.wait()
            await asyncio.sleep(GATHER)
            self._told.clear()
            every = self._must_read_all
            self._must_read_all = False
            self._poller.poll_soon(every=every)
            interval = self._poller.unfocused_interval or self._poller.refresh
            await asyncio.sleep(pause)
            await sleep_unless(self._told, interval - pause, asyncio.sleep)
            is_busy = self._told.is_set()
            pause = min(2 * pause, max(interval, LEAST_SPACING)) if is_busy else LEAST_SPACING
