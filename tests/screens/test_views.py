"""Views of the settings: a list as it is wanted again and again, as a tab with a count."""

from __future__ import annotations

from functools import partial

import pytest
from msgspec.structs import replace

from agentco_tui.config import ViewSettings
from agentco_tui.live.feeds import FeedName
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.navigation import Destination
from agentco_tui.screens.views import count_cell, open_views_soon
from agentco_tui.widgets.tones import Tone
from tests.screens.harness import Stage, Staging, text_of
from tests.screens.test_columns import titles

VIEWS = (
    ViewSettings(name="ada", screen="tasks", filter="agent:ada", sort="priority"),
    ViewSettings(name="broke", screen="agents", filter="used>=80%", columns=("used", "name")),
    ViewSettings(name="done", screen="tasks", filter="status:completed"),
    ViewSettings(name="refunds", screen="activity", filter="refund"),
)


def tabs(s: Stage) -> str:
    return text_of(s.main.lines.tabs)


def stands(s: Stage, name: str) -> bool:
    return s.view.shown_as.name == name and s.view.table.size.height > 0


def tasks_of(s: Stage, name: str) -> int:
    pending = s.platform.world.state.pending
    return sum(task.agent.name == name for task in pending.values())


async def test_a_view_has_a_tab_a_key_and_a_count_and_the_list_stays_as_it_was(
    on: Staging,
) -> None:
    async with on(size=(160, 40), views=VIEWS) as s:
        adas = tasks_of(s, "Ada")
        await s.wait_until(lambda: f"7 ada {adas} " in tabs(s))
        await s.wait_until(lambda: "8 broke 7 " in tabs(s), "counted without a visit")
        await s.go("tasks")
        assert " refunds " in tabs(s), "the fourth has no key"
        await s.press("slash", *"linus", "enter", "s")
        own = s.main.remembered().lists["tasks"]
        await s.press("7")
        await s.sees(f" ada ▌pending {adas} of 40", "by priority")
        assert "▌7 ada" in tabs(s)
        assert "4 Tasks" in tabs(s)
        assert s.main.remembered().lists["tasks"] == own
        assert len(s.rows) == adas
        # What hides more is left first, the view's own filter never by that.
        await s.press("slash", "x", "x", "enter", "escape")
        await s.wait_until(lambda: len(s.rows) == adas)
        await s.press("enter")
        await s.wait_until(lambda: s.view.reading)
        await s.press("escape")
        assert (s.view.reading, s.view.shown_as.name) == (False, "ada")
        await s.press("8")
        await s.wait_until(lambda: titles(s)[:3] == ["level", "used", "name"])
        await s.press("minus")
        await s.wait_until(lambda: s.view.shown_as.name == "ada")
        await s.press("4")
        await s.sees("/linus")
        assert s.view.shown_as.name == ""
        assert s.main.remembered().lists["tasks"] == own


async def test_a_count_follows_the_polls(on: Staging) -> None:
    async with on(place="tasks", size=(120, 40), views=VIEWS[:1]) as s:
        adas = tasks_of(s, "Ada")
        await s.wait_until(lambda: f"7 ada {adas} " in tabs(s))
        ada = next(agent for agent in s.platform.world.agents() if agent.name == "Ada")
        s.platform.world.create_task(ada.company.id, "Count the stars", ada.id, "low")
        await s.poll(FeedName.PENDING)
        await s.wait_until(lambda: f"7 ada {adas + 1} " in tabs(s))
        await s.main.action_show("companies")
        await s.settle()
        counted = count_cell(s.main.views["tasks:ada"])
        assert counted is not None
        assert counted.tone is Tone.DIM, "tasks are polled more slowly now"


async def test_a_view_that_names_a_status_is_of_all_tasks(on: Staging) -> None:
    async with on(place="tasks", size=(120, 40), views=VIEWS[2:3]) as s:
        await s.press("7")
        await s.wait_until(lambda: s.view.tabs.shown == "all" and s.rows)  # type: ignore[attr-defined]
        records = map(s.view.table.model.record, s.rows)
        assert {record.status for record in records if record} == {"completed"}
        await s.wait_until(lambda: f"7 done {len(s.rows)} " in tabs(s))
        await s.press("4")
        await s.sees("▌pending 40")


async def test_any_view_is_gone_to_by_its_name_and_a_key_without_one_says_so(
    on: Staging,
) -> None:
    async with on(views=VIEWS[3:]) as s:
        await s.press("colon", *"view refunds", "enter")
        await s.wait_until(lambda: s.main.place == "activity" and s.view.shown_as.name == "refunds")
        await s.sees("/refund")
        await s.press("8")
        await s.sees("no view has this key")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"filter": "agnt:ada"}, "views.odd.filter: no column agnt: did you mean agent:?"),
        ({"sort": "-waits"}, "views.odd.sort: there is no column waits"),
        ({"columns": ("task", "who")}, "views.odd.columns: there is no column who"),
    ],
)
async def test_what_is_wrong_in_a_view_is_said(
    on: Staging, wrong: dict[str, object], told: str
) -> None:
    odd = ViewSettings(name="odd", screen="tasks", **wrong)  # type: ignore[arg-type]
    async with on(size=(120, 40), views=(odd,)) as s:
        await s.sees(told)
        await s.press("7")
        await s.sees(" odd ▌pending")


async def test_a_view_that_is_opened_while_it_is_prepared_stays_on_the_screen(
    on: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = ViewSettings(name="worst", screen="budget")
    async with on(size=(120, 40), views=(view,)) as s:
        tab = view.tab
        await s.wait_until(lambda: tab in s.main.views, "the hidden view")
        await s.main.views.pop(tab).remove()

        async def opened_meanwhile(frame: BaseFrame, settings: ViewSettings) -> bool:
            await s.main.action_show("budget", settings.name)
            return True

        monkeypatch.setattr("agentco_tui.screens.views.may_create", opened_meanwhile)
        open_views_soon(s.main)
        await s.wait_until(partial(stands, s, view.name), "the view")
        await s.settle()
        assert s.view.display


async def test_the_way_back_leads_past_a_view_that_the_settings_lost(on: Staging) -> None:
    view = ViewSettings(name="ada", screen="tasks")
    async with on(place="tasks", size=(120, 40), views=(view,)) as s:
        await s.wait_until(lambda: view.tab in s.main.views, "the hidden view")
        await s.press("7")
        await s.wait_until(partial(stands, s, view.name), "the view")
        s.main.go(Destination("agents"))
        await s.wait_until(lambda: s.main.place == "agents", "the agents")
        s.app.take_settings(replace(s.workspace.settings, views=()))
        await s.wait_until(lambda: view.tab not in s.main.views, "the end of the view")
        await s.press("escape", "minus", "4")
        await s.wait_until(lambda: s.main.place == "tasks" and s.rows, "the tasks")


async def test_every_screen_can_be_a_view(on: Staging) -> None:
    places = ("overview", "companies", "agents", "tasks", "budget", "activity")
    views = tuple(ViewSettings(name=f"v-{each}", screen=each, filter="a") for each in places)
    async with on(size=(200, 50), views=views) as s:
        for view in views:
            await s.main.action_show(view.screen, view.name)  # type: ignore[arg-type]
            await s.wait_until(partial(stands, s, view.name))
            await s.settle()
            counted = count_cell(s.view)
            assert counted is not None
            assert counted.text == str(len(s.rows)), view.screen
        for size in ((80, 24), (45, 16)):
            await s.resize(*size)
            assert "7" in tabs(s)
