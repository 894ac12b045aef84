"""Leaving a dashboard for that of another profile."""

from __future__ import annotations

import asyncio
import threading
import time
from functools import partial

from msgspec.structs import replace

from agentco_tui.config import AlertLimits, OwnCommand, Switch, ViewSettings
from agentco_tui.config.theme_file import ROLES
from agentco_tui.live.insight import Level
from agentco_tui.screens.key_app import KeyApp
from agentco_tui.widgets.workers import start_worker
from tests.screens.harness import Stage, Staging, text_of

NAMES = ("shop", "eu west")


async def _ask_for_the_other(s: Stage) -> None:
    await s.press("colon", *"profile eu")
    await s.sees("profile  eu west")
    await s.press("enter")


async def test_profiles_are_gone_to_by_their_names(on: Staging) -> None:
    async with on(profile="shop", profiles=NAMES) as s:
        await s.press("colon", *"profile")
        await s.sees("profile  shop", "restart it", "switch to this platform")
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


async def test_settings_that_were_saved_take_effect_at_once(on: Staging) -> None:
    async with on(profile="shop", place="overview", theme="agentco-dark") as s:
        before, old = s.workspace.needs.levels[Level.CRITICAL], s.workspace.settings
        alerts = AlertLimits(waiting_warning=1.0, waiting_critical=2.0)
        new = replace(old, alerts=alerts, keys={"app.help": "f1"}, hold=9.0, refresh=30.0)
        s.app.take_settings(
            replace(new, theme="agentco-light", label="Shop", danger=True, read_only=True)
        )
        await s.sees("Shop", "read-only", "f1 help")
        await s.wait_until(lambda: s.workspace.needs.levels[Level.CRITICAL] > before, "the needs")
        assert s.app.theme == "agentco-light"
        assert (s.dashboard.services.timing.hold_one, s.workspace.poller.refresh) == (9.0, 30.0)
        assert s.main.lines.header.filled is not None
        await s.press("f1")
        await s.sees("Keys on")
        await s.press("escape")
        s.app.take_settings(replace(old, read_only=False))
        assert s.dashboard.permissions.off, "writing begins again only with a new start"


async def test_views_and_own_commands_that_were_saved_take_effect_at_once(on: Staging) -> None:
    ada = ViewSettings(name="ada", screen="tasks", filter="agent:ada")
    async with on(profile="shop", size=(160, 40), views=(ada,)) as s:
        await s.wait_until(lambda: "7 ada" in text_of(s.main.lines.tabs))
        await s.press("7")
        await s.sees("/agent:ada")
        linus = replace(ada, filter="agent:linus", sort="priority")
        own = OwnCommand(name="ticket", run=("ticket",), scope=("task",), key="N", confirm=True)
        broke = ViewSettings(name="broke", screen="agents", filter="used>=80%")
        new = replace(s.workspace.settings, views=(linus, broke), commands=(own,))
        s.app.take_settings(new)
        await s.sees("/agent:linus", "by priority")
        await s.wait_until(
            lambda: "8 broke 7 " in text_of(s.main.lines.tabs), "counted without a visit"
        )
        await s.press("N")
        await s.sees("RUN", "run it")
        await s.press("escape")
        await s.press("4")
        await s.sees("▌pending")
        s.app.take_settings(replace(new, views=(broke,)))
        await s.wait_until(lambda: "tasks:ada" not in s.main.views, "one view less")


async def test_a_theme_of_ones_own_is_shown_as_it_was_saved(on: Staging) -> None:
    colours = dict.fromkeys(ROLES, "#d0d0d0") | {"background": "#101010", "panel": "#101010"}
    own = {"mine": {**colours, "surface": "#101010", "cursor": "#005f87", "dark": True}}
    async with on(profile="shop", theme="mine", themes=own) as s:
        other = {"mine": {**own["mine"], "panel": "#303030"}}
        s.app.take_settings(replace(s.workspace.settings, themes=other))
        await s.wait_until(
            lambda: s.main.lines.header.styles.background.hex == "#303030", "the other colour"
        )


def test_a_thread_that_hangs_holds_up_no_switch() -> None:
    is_over, began = threading.Event(), time.monotonic()

    class Hanging(KeyApp):
        def on_mount(self) -> None:
            start_worker(self, partial(asyncio.to_thread, is_over.wait, 20), "hang")
            self.set_timer(0.05, lambda: self.leave(Switch("eu west")))

    try:
        Hanging().run(headless=True)
        assert time.monotonic() - began < 10
    finally:
        is_over.set()
