"""Whether a person is called depends on who looks; `[notify]` says how."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.events import AppBlur, AppFocus

from agentco_tui.live.feeds import FeedName, Pace
from agentco_tui.screens import notification_controller
from agentco_tui.screens.notification_controller import NotificationController
from tests.commands.test_watch import calm, limit
from tests.platform import EmbeddedPlatform
from tests.screens.harness import settings_for, stage

__all__ = ["calm"]


async def test_where_focus_is_not_told_it_only_rings_and_only_long_after_a_key(
    calm: EmbeddedPlatform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notification_controller, "BELL_EVERY", 0.0)
    settings = settings_for(calm)
    settings = replace(settings, notify=replace(settings.notify, desktop=True))
    async with stage(calm, tmp_path, settings=settings, running=True) as on:
        refresh, written = on.dashboard.needs_refresh, list[str]()
        monkeypatch.setattr(on.app, "to_terminal", written.append)
        NotificationController(on.app, on.dashboard)
        refresh.on_refreshed()

        async def worse(number: int) -> None:
            before = on.workspace.needs.levels.total()
            limit(calm, number, 0.01)
            on.workspace.poller.poll_now()
            await on.wait_until(lambda: on.workspace.needs.levels.total() > before)

        await worse(0)
        assert written == []  # it has just begun: somebody is there
        monkeypatch.setattr(notification_controller, "PRESENT_FOR", -1.0)
        await worse(1)
        assert written == ["\a"]
        on.app.app_focus = False
        await worse(2)
        assert written[1] == "\a"
        assert "]777;notify;agentco-tui" in written[2]
        on.app.app_focus = True
        await worse(3)
        assert len(written) == 3
        on.app.app_focus = False
        silent = replace(settings.notify, bell=False, desktop=False)
        on.app.take_settings(replace(settings, notify=silent))
        await worse(4)
        assert len(written) == 3, "what was saved counts from now on"


async def test_without_focus_it_polls_as_configured_or_says_how_often(
    calm: EmbeddedPlatform, tmp_path: Path
) -> None:
    settings = settings_for(calm, refresh=5.0)
    silent = replace(settings.notify, bell=False, desktop=False, title=False)
    async with stage(calm, tmp_path, settings=settings, place="agents") as on:
        on.app.post_message(AppBlur())
        await on.wait_until(lambda: not on.app.app_focus, "the blur")
        await on.settle()
        assert on.workspace.poller.pace(FeedName.AGENTS) is Pace.REFRESH
        assert on.workspace.poller.pace(FeedName.ALERTS) is Pace.REFRESH
        assert "no focus" not in on.lines[0]
        on.app.take_settings(replace(settings, notify=silent))
        await on.sees("no focus: 15 s")
        assert on.workspace.poller.pace(FeedName.AGENTS) is Pace.SLOW
        for columns in (80, 60):
            await on.pilot.resize_terminal(columns, 24)
            await on.sees("no focus: 15 s")
        on.app.post_message(AppFocus())
        await on.sees_no("no focus")
        on.app.post_message(AppBlur())
        await on.sees("no focus: 15 s")
        await on.press("j")
        await on.sees_no("no focus")
        assert on.workspace.poller.pace(FeedName.AGENTS) is Pace.REFRESH
