"""Leaving a dashboard for that of another profile."""

from __future__ import annotations

from agentco_tui.screens.trail import Switch
from tests.screens.harness import Stage, Staging

NAMES = ("shop", "eu west")


async def _ask_for_the_other(s: Stage) -> None:
    await s.press("colon", *"profile eu")
    await s.sees("profile  eu west")
    await s.press("enter")


async def test_profiles_are_gone_to_by_their_names(on: Staging) -> None:
    async with on(profile="shop", profiles=NAMES) as s:
        await s.press("colon", *"profile")
        await s.sees("profile  shop", "start it anew", "leave for this platform")
        await s.press("escape")
        await _ask_for_the_other(s)
        await s.wait_until(lambda: s.app.switch, "the switch")
        assert s.app.switch == Switch("eu west")
        assert s.app.return_code == 0


async def test_what_is_held_back_is_taken_back_before_a_switch(on: Staging) -> None:
    async with on(profile="shop", profiles=NAMES, place="tasks", hold=60.0) as s:
        await s.press("a")
        await s.yes()
        await s.sees("1 held")
        await _ask_for_the_other(s)
        await s.sees("taken back", "switches")
        assert not s.app.switch
        await _ask_for_the_other(s)
        await s.wait_until(lambda: s.app.switch, "the switch")
        assert not s.writes
