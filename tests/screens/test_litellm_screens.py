"""The screens on a platform that offers money only: LiteLLM's proxy, by its file.

What it does not have is said in plain words, dimmed and without alarm, and never asked for again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import ActivityFilter, FeedName
from agentco_tui.live.filtered_log import FilteredLog
from agentco_tui.screens.dialogs.form_dialog import Form
from agentco_tui.screens.plain_views import ActivityView
from agentco_tui.text import signs
from agentco_tui.widgets.tones import Tone
from tests.platforms.composed_litellm import GLOBEX, QUILL, RANGER, SCOUT, ComposedLiteLLM
from tests.screens.harness import NARROW, PLACES, WIDE, Stage, settings_for, stage, tone_of

WORDS = "LiteLLM does not offer this"
NOT_OFFERED = (FeedName.PENDING, FeedName.ACTIVITY, FeedName.ALERTS, FeedName.BUDGET)
BOTH_SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])
Opening = Callable[..., AbstractAsyncContextManager[Stage]]


@pytest.fixture
def server() -> Iterator[ComposedLiteLLM]:
    with ComposedLiteLLM() as running:
        yield running


@pytest.fixture
def on_litellm(server: ComposedLiteLLM, tmp_path: Path) -> Opening:
    """A dashboard on the server, on a clock that stands still."""

    @asynccontextmanager
    async def opened(**chosen: Any) -> AsyncIterator[Stage]:
        # It has what the harness wants of a platform: address, key, time and requests.
        platform = cast("Any", server)
        settings = replace(settings_for(platform), platform="litellm", profile="llm")
        async with stage(platform, tmp_path, settings=settings, **chosen) as s:
            yield s

    return opened


def row(s: Stage, name: str) -> list[str]:
    """The words of a record's line, without its gauge; lines of its detail are beside it."""
    right = s.view.table.region.right
    lines = [line[:right].split() for line in s.lines]
    [found] = [words for words in lines if name in words]
    return [word for word in found if not set(word) & set("█▏▎▍▌▋▊▉─│")]


def assert_calm(s: Stage) -> None:
    """Nothing looks like an error, or as if it were still to come."""
    alarming = (signs.critical, "no data", "could be read", "again in")
    awaited = ("loading", "not read yet")
    for words in (*alarming, *awaited):
        assert words not in s.text, words
    # private: a toast says what went wrong.
    assert list(s.app._notifications) == []


@BOTH_SIZES
async def test_the_overview_shows_the_budgets_that_run_out(
    on_litellm: Opening, size: tuple[int, int]
) -> None:
    async with on_litellm(size=size) as s:
        await s.sees("NEEDS YOU ▲ 3", "● live", "96 %")
        assert s.rows == [f"company:{GLOBEX}", f"agent:{SCOUT}", f"agent:{RANGER}"]
        for at, name, share in ((4, "Globex", 96), (5, "scout", 99), (6, "ranger", 98)):
            assert "▲  money low" in s.lines[at]
            assert name in s.lines[at]
            assert f"{share} %" in s.lines[at]
        assert s.shows("SPEND 30d", "LATEST", WORDS)
        assert_calm(s)


@BOTH_SIZES
async def test_an_overview_without_needs_is_good_news(
    on_litellm: Opening, server: ComposedLiteLLM, size: tuple[int, int]
) -> None:
    server.teams[0]["spend"] = server.keys[0]["spend"] = 1.0
    server.keys[3]["spend"] = 0.5
    async with on_litellm(size=size) as s:
        await s.sees(f"{signs.good} nothing needs you")
        assert "as far as is known" not in s.text
        assert_calm(s)


@BOTH_SIZES
async def test_the_budgets_are_a_tree(on_litellm: Opening, size: tuple[int, int]) -> None:
    async with on_litellm(place="budget", size=size) as s:
        await s.at_rest()
        assert row(s, "Globex")[-5:] == ["96", "%", "$96.50", "$100.00", "~$3.50"]
        assert row(s, "scout")[-5:] == ["99", "%", "$49.50", "$50.00", "~$0.50"]
        assert row(s, "Acme")[-4:] == ["–", "$12.35", "–", "–"]
        assert len(s.rows) == 8
        assert s.shows("ALERTS –", WORDS)
        assert_calm(s)


@BOTH_SIZES
async def test_teams_and_keys_are_companies_and_agents(
    on_litellm: Opening, server: ComposedLiteLLM, size: tuple[int, int]
) -> None:
    async with on_litellm(place="companies", size=size) as s:
        await s.at_rest()
        assert row(s, "Globex")[-7:] == ["Globex", "–", "2", "–", "$96.50", "96", "%"]
        footer = s.main.lines.footer
        assert tone_of(footer, " scope") is Tone.PLAIN, "which needs no request of its own"
        assert tone_of(footer, " new company") is Tone.DIM
        await s.go("agents")
        await s.at_rest()
        assert row(s, "scout")[-3:] == ["Globex", "–", "~$0.50"]
        assert "paused" in row(s, "quill")
        # What a list has of a record is all that there is: no single one is asked for.
        s.view.table.move_cursor_to(QUILL)
        await s.press("enter")
        await s.sees("Agents › quill", "Waiting", "Latest", WORDS)
        assert "all of its log" not in s.text
        assert_calm(s)
        await s.press("escape")
        await s.go("companies")
        await s.press("enter")
        await s.sees("Companies › Globex", "Failures", WORDS)
        assert s.workspace.poller.query.company == GLOBEX
        await s.poll()
        await s.sees("3 Agents 2")
        assert_calm(s)
    assert GLOBEX in {seen.query.get("team_id") for seen in server.requests}


@BOTH_SIZES
@pytest.mark.parametrize("place", ["tasks", "activity"])
async def test_tasks_and_activity_say_that_they_are_not_offered(
    on_litellm: Opening, server: ComposedLiteLLM, place: Place, size: tuple[int, int]
) -> None:
    async with on_litellm(size=size) as s:
        await s.go(place)
        await s.sees(f"{signs.missing} {WORDS}", "not offered")
        head, *_ = s.lines
        assert f"{signs.missing} not offered" in head
        assert tone_of(s.main.lines.header, "not offered") is Tone.DIM
        assert f"{place.upper()}" in s.lines[2]
        assert "following" not in s.text
        for label in {"tasks": (" new task",), "activity": (" filters", " export")}[place]:
            assert tone_of(s.main.lines.footer, label) is Tone.DIM
        assert_calm(s)
        await s.press("r")
        await s.poll(FeedName.PENDING, FeedName.ACTIVITY)
        if place == "tasks":
            await s.press("v", "a")  # the tasks of every status
            await s.poll(FeedName.TASKS)
            await s.sees(f"{signs.missing} {WORDS}", "▌all –")
        for feed in NOT_OFFERED:
            assert s.workspace.store.freshness[feed].next_try_at is None
        assert_calm(s)
    assert {seen.path for seen in server.requests} == {"/v2/team/list", "/key/list"}


async def test_every_place_is_calm_at_once(on_litellm: Opening) -> None:
    """From the first answers on, and in the scope of a company as soon as it is entered."""
    async with on_litellm() as s:
        for place in PLACES:
            await s.go(place)
            assert_calm(s)
        s.main.set_scope(GLOBEX)
        for place in PLACES:
            await s.go(place)
            assert "not read yet" not in s.text
            for feed in NOT_OFFERED:
                assert not s.workspace.store.freshness[feed].is_offered


async def test_a_filtered_log_is_not_asked_for_either(on_litellm: Opening) -> None:
    async with on_litellm(place="activity", running=True) as s:
        view = s.view
        assert isinstance(view, ActivityView)
        view.filter_log(ActivityFilter(agent=SCOUT))
        log = view.shown_log
        assert isinstance(log, FilteredLog)
        await s.wait_until(lambda: log.freshness.failures > 0, "its first read")
        assert log.freshness.next_try_at is None
        assert log.freshness.why_not_offered == WORDS
        assert_calm(s)


async def test_a_limit_is_set_from_the_list(on_litellm: Opening, server: ComposedLiteLLM) -> None:
    async with on_litellm(place="agents", running=True) as s:
        s.view.table.move_cursor_to(SCOUT)
        await s.press("l")
        await s.wait_until(lambda: isinstance(s.app.screen, Form), "the form")
        await s.press(*["backspace"] * 8)
        await s.type("60.25")
        await s.press("enter")
        await s.yes()
        await s.wait_until(lambda: server.keys[0]["max_budget"] == 60.25, "the limit")
        await s.poll(FeedName.AGENT_BUDGETS)
        limit = s.workspace.store.agent_budgets.records[SCOUT].limit
        assert limit is not None
        assert str(limit.amount) == "60.25"
    assert [seen.body for seen in server.requests if seen.method == "POST"] == [
        {"key": SCOUT, "max_budget": 60.25}
    ]


async def test_what_happened_since_does_not_miss_what_there_never_was(on_litellm: Opening) -> None:
    async with on_litellm() as s:
        await s.press("L")
        await s.sees("SINCE", "Decided", "Newly waiting", "Globex", WORDS)
        assert s.text.count(WORDS) == 4
        assert "was not read" not in s.text
