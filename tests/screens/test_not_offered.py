"""What a platform does not offer is dimmed with its name, and its key says so."""

from __future__ import annotations

import pytest

from agentco_tui.api.client import Client
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.model import Record
from agentco_tui.screens.dialogs.approve_dialog import ApproveQuestion
from agentco_tui.screens.dialogs.form_dialog import Form
from agentco_tui.screens.dialogs.help_screen import HelpScreen
from agentco_tui.widgets.tones import Tone
from tests.lesser_platform import take_away
from tests.screens.harness import Staging, says, text_of, tone_of

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
        await says(s, WORDS)
        await s.press("n")
        assert not isinstance(s.app.screen, Form)
        await s.press("question_mark")
        help_screen = s.app.screen
        assert isinstance(help_screen, HelpScreen)
        denied = {"tasks.approve", "tasks.new"}
        assert {name for name, why in help_screen.denied.items() if why == WORDS} == denied
        assert s.writes == []


async def test_a_row_that_does_not_have_the_verb_is_not_asked_about(
    on: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on(place="tasks", size=(150, 40)) as s:
        first, second = s.rows[:2]

        def verbs_of(_: Client, record: Record) -> tuple[str, ...]:
            return () if record.id == first else ("approve",)

        monkeypatch.setattr(Client, "verbs_of", verbs_of)
        assert s.cursor == first
        await s.press("a")
        await says(s, "does not offer to approve this one")
        assert not isinstance(s.app.screen, ApproveQuestion)
        await s.press("space", "space", "a")
        question = s.app.screen
        assert isinstance(question, ApproveQuestion), "only one of the two is left"
        assert question.subject.id == second
        assert s.writes == []


async def test_a_list_that_is_not_offered_says_so_and_is_never_asked_for(
    on: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_away(monkeypatch, "budget_alerts", "agents")
    async with on(place="agents", size=(120, 40), wait=False) as s:
        await s.sees(WORDS, "not offered")
        freshness = s.dashboard.workspace.store.freshness
        missing = (FeedName.AGENTS, FeedName.ALERTS)
        await s.wait_until(lambda: all(freshness[feed].failure for feed in missing))
        for feed in missing:
            assert (freshness[feed].phase, freshness[feed].next_try_at) == (Phase.FAILED, None)
        await s.go("overview")
        await s.poll(FeedName.PENDING)
        await s.sees("live")
        assert not s.platform.requests.matching("agents")
        assert not s.platform.requests.matching("alerts")
