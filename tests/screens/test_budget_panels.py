"""The two lists of the Budget: a key leads from one to the other, and all say what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.live.feeds import FeedName
from agentco_tui.screens.budget_view import BudgetView
from tests.screens.harness import NARROW, WIDE, Stage, settings_for, stage


def budget(s: Stage) -> BudgetView:
    view = s.main.view
    assert isinstance(view, BudgetView)
    return view


@pytest.mark.parametrize("size", [NARROW, (100, 30), WIDE])
async def test_tab_leads_to_the_alerts_and_back(
    platform: EmbeddedPlatform, tmp_path: Path, size: tuple[int, int]
) -> None:
    async with stage(platform, tmp_path, place="budget", size=size) as s:
        await s.poll()
        await s.sees("tab alerts", "tab to these")
        await s.press("j", "tab")
        await s.sees("tab back")
        assert budget(s).alerts.has_focus
        await s.press("j")
        alerts = budget(s).alerts
        assert alerts.cursor_id == alerts.rows.shown[1]
        await s.press("tab")
        await s.sees("tab to these")
        assert budget(s).table.has_focus
        assert s.cursor == s.rows[1]
        await s.press("?")
        await s.sees("To the alerts, and back")


async def test_the_detail_says_what_it_is_of(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="budget", size=WIDE) as s:
        await s.poll()
        await s.sees("DETAIL of the budget")
        await s.press("tab")
        await s.sees("DETAIL of the alert", "threshold")
        await s.press("tab")
        await s.sees("DETAIL of the budget")
        await s.sees_no("threshold")


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_an_alert_is_read_until_it_is_left(
    platform: EmbeddedPlatform, tmp_path: Path, size: tuple[int, int]
) -> None:
    """Answers that come meanwhile don't put the budget's detail in its place."""
    async with stage(platform, tmp_path, place="budget", size=size) as s:
        await s.poll()
        await s.press("tab", "enter")
        await s.sees("DETAIL of the alert", "threshold", "esc back")
        platform.world.advance(60)
        await s.poll(FeedName.BUDGET, FeedName.AGENT_BUDGETS, FeedName.COMPANY_BUDGETS)
        await s.sees("DETAIL of the alert", "threshold")
        await s.press("tab")
        await s.sees("DETAIL of the alert", "threshold")
        await s.press("escape")
        await s.wait_until(lambda: budget(s).alerts.has_focus, "the alerts")


async def test_another_key_is_named(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    for key, words in (("f6", "f6 to these"), ("unbound", "ALERTS")):
        settings = settings_for(platform, keys={"budget.alerts": key})
        async with stage(platform, tmp_path, place="budget", settings=settings) as s:
            await s.poll()
            await s.sees(words)
            assert "tab" not in s.text
