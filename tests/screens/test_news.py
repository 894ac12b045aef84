"""What the platform tells by web socket is on the screen long before the next poll."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from agentco_tui.live.feeds import FeedName
from tests.platforms.recorded_answers import GLOBEX, body_of
from tests.platforms.recorded_paperclip import KEY, RecordedPaperclip
from tests.screens.harness import NOW, WIDE, Stage, Staging, settings_for, stage


class StagedPaperclip(RecordedPaperclip):
    """It has what the harness wants of a platform: address, key and time."""

    full_key = KEY
    world = SimpleNamespace(time=lambda: NOW)

    @property
    def base_url(self) -> str:
        return self.base


@pytest.fixture
def server() -> Iterator[StagedPaperclip]:
    with StagedPaperclip(needs_key=False) as running:
        yield running


def workers_of(s: Stage) -> set[str]:
    return {worker.description for worker in s.app.workers}


async def test_a_new_request_is_shown_when_it_comes(
    server: StagedPaperclip, tmp_path: Path
) -> None:
    """On a clock that stands still, nothing is ever due."""
    server.companies = [row for row in server.companies if row["id"] == GLOBEX]
    platform = cast("Any", server)
    settings = replace(settings_for(platform), platform="paperclip", key=None, profile="paper")
    async with stage(platform, tmp_path, place="tasks", size=WIDE, settings=settings) as s:
        assert "follow the platform's news" in workers_of(s)
        await s.wait_until(lambda: len(server.news.open) == 1, "a web socket")
        told = body_of("live-events-ws")[0]
        title = "Buy a printer at once"
        server.add_approval("new", title)
        await s.sees(title)
        assert s.workspace.store.freshness[FeedName.PENDING].failure is None
        # What a message says is never shown.
        hostile = "\x1b]0;OWNED\x07OWNED"
        payload = {"action": hostile, "entityId": hostile, "details": {"title": hostile}}
        server.news.tell(GLOBEX, {**told, "payload": payload})
        server.add_approval("newer", "Buy paper for it")
        await s.sees("Buy paper for it")
        assert "OWNED" not in s.text
    # The web sockets are closed with the dashboard; each has a thread of the server.
    while server.news.open:  # noqa: ASYNC110 - a thread says when
        await asyncio.sleep(0.01)


async def test_the_usual_interface_is_not_asked_for_news(on: Staging) -> None:
    async with on() as s:
        assert "follow the journal" in workers_of(s)
        assert "follow the platform's news" not in workers_of(s)
