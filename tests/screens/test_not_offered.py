"""What a platform does not offer is dimmed with its name, and its key says so."""

from __future__ import annotations

import pytest

from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.screens.dialogs.form_dialog import Form
from agentco_tui.screens.dialogs.help_screen import HelpScreen
from agentco_tui.widgets.tones import Tone
from tests.lesser_platform import take_away
from tests.screens.harness import Staging, text_of, tone_of

WORDS = "Lesser does not offer this"


async def test_a_key_is_dimmed_with_the_reason_and_sends_nothing(
    on: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_away(monkeypatch, "approve_task", "create_task")
    async with on(place="tasks", size=(150, 40)) as s:
        footer = s.main.lines.footer
        assert tone_of(footer, " approve") is Tone.DIM
        assert tone_of(footer, " trace") is Tone.PLAIN
        assert text_of(footer).count(WORDS) == 1
        await s.press("a")
        await s.sees(WORDS)
        await s.press("n")
        assert not isinstance(s.app.screen, Form)
        await s.press("question_mark")
        help_screen = s.app.screen
        assert isinstance(help_screen, HelpScreen)
        denied = {"tasks.approve", "tasks.new"}
        assert {name for name, why in help_screen.denied.items() if why == WORDS} == denied
        assert s.writes == []


async def test_a_list_that_is_not_offered_says_so_and_is_never_asked_for(
    on: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_away(monkeypatch, "budget_alerts", "agents")
    async with on(place="agents", size=(120, 40), wait=False) as s:
        await s.sees(WORDS, "not offered")
        freshness = s.dashboard.workspace.store.freshness
        for feed in (FeedName.AGENTS, FeedName.ALERTS):
            assert (freshness[feed].phase, freshness[feed].next_try_at) == (Phase.FAILED, None)
        await s.go("overview")
        await s.poll(FeedName.PENDING)
        await s.sees("live")
        assert not s.platform.requests.matching("agents")
        assert not s.platform.requests.matching("alerts")
