"""What Paperclip tells by web socket is read long before the clock would have it read."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import pytest

from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.live.feeds import Clock, FeedName, Query, paces_of_screen
from agentco_tui.live.news_follower import NewsFollower
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from agentco_tui.platforms.declared_platform import open_platform
from agentco_tui.platforms.platform_file import load_platform
from tests.platforms.recorded_answers import ACME, GLOBEX, INITECH, body_of
from tests.platforms.recorded_paperclip import AGENT_KEY, KEY, RecordedPaperclip

COMPANIES = {ACME, GLOBEX, INITECH}
COUNTING = body_of("live-events-ws")[0]


@pytest.fixture
def server() -> Iterator[RecordedPaperclip]:
    """One that needs no key, as one does that listens on this machine only."""
    with RecordedPaperclip(needs_key=False) as running:
        yield running


class Stage(NamedTuple):
    """A poller that would not read again for an hour, and follows the news."""

    server: RecordedPaperclip
    poller: Poller

    def reads(self, name: str, server: RecordedPaperclip | None = None) -> int:
        """How often a list of Globex was read."""
        path = f"/api/companies/{GLOBEX}/{name}"
        return sum(seen.path == path for seen in list((server or self.server).requests))

    def upgrades(self) -> Counter[tuple[str, int]]:
        """The requests for a web socket, by company and status."""
        seen = [each for each in list(self.server.requests) if each.path.endswith("/ws")]
        return Counter((each.path.split("/")[3], each.status) for each in seen)

    async def until(self, seen: Callable[[], object]) -> None:
        """Wait for what must come; the test's own time limit ends it otherwise."""
        while not seen():  # noqa: ASYNC110 - there is nothing that could be waited for
            await asyncio.sleep(0.01)

    async def has_task(self, task_id: str) -> None:
        await self.until(lambda: self.poller.store.pending.get(task_id))

    async def settled(self) -> None:
        """Wait until all news is followed, and what came before was read for that."""
        await self.until(lambda: len(self.server.news.open) == len(COMPANIES))
        await self.until(lambda: self.reads("agents") == 2)
        await self.until(lambda: not self.poller.asked_since())


@asynccontextmanager
async def following(
    server: RecordedPaperclip, key: str | None = None, company: str | None = None
) -> AsyncIterator[Stage]:
    file = load_platform("paperclip", None)
    base = BaseUrl.parse(server.base)
    async with open_platform(file, base, ApiKey(key) if key else None, attempts=1) as platform:
        query = Query(company)
        poller = Poller(platform, Store(), Clock(), refresh=3_600.0, query=query)
        poller.set_paces(paces_of_screen("overview"))

        async def run() -> None:
            async with asyncio.TaskGroup() as work:
                work.create_task(poller.run())
                work.create_task(NewsFollower(poller).run())

        running = asyncio.create_task(run())
        try:
            yield Stage(server, poller)
            assert not running.done(), "it has ended"
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


async def test_a_change_is_read_as_soon_as_it_is_told(server: RecordedPaperclip) -> None:
    async with following(server) as on:
        await on.settled()
        assert on.upgrades() == {(company, 101): 1 for company in COMPANIES}
        # "attention" would rest, and is read all the same.
        before = on.reads("attention"), on.reads("approvals")
        server.add_approval("new", "A printer")
        await on.has_task("new")
        await on.until(lambda: on.reads("attention") == before[0] + 1)
        assert on.reads("approvals") == before[1] + 1


async def test_a_burst_makes_few_reads(server: RecordedPaperclip) -> None:
    async with following(server) as on:
        await on.settled()
        before = on.reads("approvals")
        server.news.tell(GLOBEX, *[COUNTING] * 500)
        await on.until(lambda: on.reads("approvals") > before)
        server.news.tell(GLOBEX, *[COUNTING] * 500)
        server.add_approval("last", "After all of them")
        await on.has_task("last")
        assert on.reads("approvals") <= before + 3


async def test_a_board_key_is_refused_and_everything_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    with RecordedPaperclip() as server:
        async with following(server, KEY) as on:
            await on.until(lambda: caplog.text.count("is not followed in this run") == 3)
            assert on.upgrades() == {(company, 403): 1 for company in COMPANIES}
            server.add_approval("new", "A printer")
            await on.poller.read_again(FeedName.PENDING)
            await on.has_task("new")
            assert on.upgrades() == {(company, 403): 1 for company in COMPANIES}
    assert KEY not in caplog.text


async def test_an_agents_key_follows_its_company(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with RecordedPaperclip() as server:
        async with following(server, AGENT_KEY, ACME) as on:
            await on.until(lambda: server.news.opened == [ACME])
            [upgrade] = [seen for seen in server.requests if seen.status == 101]
            assert upgrade.authorization == f"Bearer {AGENT_KEY}"
            assert AGENT_KEY not in upgrade.path
            await on.until(lambda: not on.poller.asked_since())
            server.add_approval("new", "A printer", ACME)
            await on.has_task("new")
    assert AGENT_KEY not in caplog.text


async def test_after_a_restart_what_was_missed_is_read(server: RecordedPaperclip) -> None:
    async with following(server) as on:
        await on.settled()
        server.__exit__()
        with RecordedPaperclip(needs_key=False, port=server.port) as again:
            again.add_approval("missed", "While nobody followed")
            await on.has_task("missed")
            await on.until(lambda: set(again.news.opened) == COMPANIES)
            # Everything was read, also what the screen is not about.
            await on.until(lambda: on.reads("agents", again) >= 1)


@pytest.mark.parametrize(
    "messages",
    [
        ["x" * 1_100_000],
        [17, None, [], {}, {"type": 17}, {"type": {"type": "activity.logged"}}, "activity.logged"],
        [[[]] * 300_000],
    ],
    ids=["too long", "other JSON", "very many lists"],
)
async def test_odd_messages_do_no_harm(server: RecordedPaperclip, messages: list[Any]) -> None:
    async with following(server) as on:
        await on.settled()
        server.news.tell(GLOBEX, *messages)
        server.news.close()
        # All is followed again a second later, and read.
        await on.until(lambda: on.reads("agents") == 3)
        await on.until(lambda: len(server.news.open) == len(COMPANIES))
        server.add_approval("new", "A printer")
        await on.has_task("new")


async def test_in_a_replay_nothing_is_followed(server: RecordedPaperclip) -> None:
    async def replay(target: str, etag: str | None) -> Any:
        raise AssertionError(target)

    file, base = load_platform("paperclip", None), BaseUrl.parse(server.base)
    async with open_platform(file, base, None) as platform:
        assert platform.capabilities.has_news
    async with open_platform(file, base, None, replay=replay) as platform:
        assert not platform.capabilities.has_news
