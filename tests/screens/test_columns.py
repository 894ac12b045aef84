"""Columns are chosen, ordered and hidden in place, and are so again at the next start."""

from __future__ import annotations

import pytest

from agentco_tui.keys.places import Place
from agentco_tui.screens.run_memory import memory_of
from agentco_tui.system.state_folder import ListMemory, Remembered
from tests.screens.harness import PLACES, Stage, Staging


def titles(s: Stage) -> list[str]:
    """The columns that the table has room for."""
    # private: a table does not say which columns have room; their headings are cut off.
    return [place.column.key for place in s.view.table._painter.places]


async def test_a_column_is_hidden_moved_and_shown_and_the_list_changes_at_once(
    on: Staging,
) -> None:
    async with on(place="tasks", size=(120, 40)) as s:
        usual = titles(s)
        assert usual[:4] == ["level", "waiting", "priority", "task"]
        await s.press("C")
        await s.sees("Columns", "[x] WAITS", "[ ] DESCRIPTION", "esc done")
        await s.press("space")
        await s.wait_until(lambda: "waiting" not in titles(s))
        assert "[ ] WAITS" in s.text
        await s.press("j", ">")
        await s.wait_until(lambda: titles(s)[:3] == ["level", "task", "priority"])
        await s.press("<", "escape")
        await s.sees_no("[x]")
        assert titles(s)[:3] == ["level", "priority", "task"]
        kept = s.main.remembered()
    async with on(place="tasks", size=(120, 40), remembered=kept) as s:
        assert titles(s)[:3] == ["level", "priority", "task"]
        assert "WAITS" not in s.text
        await s.press("v", "l")
        await s.wait_until(
            lambda: s.view.table.size.height and titles(s)[1:3] == ["priority", "task"]
        )
        await s.press("C", "0")
        await s.wait_until(lambda: "waiting" in titles(s))
        assert s.main.remembered().lists["tasks"].columns == ()


async def test_what_only_filters_can_be_shown_and_goes_last_when_it_gets_narrow(
    on: Staging,
) -> None:
    shown = ("task", "agent", "company", "id")
    remembered = Remembered(lists={"tasks": ListMemory(columns=shown)})
    async with on(place="tasks", size=(120, 40), remembered=remembered) as s:
        assert titles(s) == ["level", *shown], "how bad it is always shows"
        first = s.view.table.model.shown[0]
        assert first in s.text
        await s.resize(48, 20)
        assert titles(s) == ["level", "task", "id"]
        # The last of what may be hidden stays, or nothing would say which line is which.
        await s.resize(120, 40)
        await s.press("C", *["space", "j"] * len(shown))
        assert titles(s)[0] == "level"
        assert len(titles(s)) > 1


@pytest.mark.parametrize("place", PLACES)
async def test_every_list_stands_in_any_order_and_width(on: Staging, place: Place) -> None:
    async with on(place=place, size=(120, 40)) as s:
        every = [column.key for column in s.view.table.model.columns]
        s.view.table.show_columns(every[::-1])
        for size in ((120, 40), (45, 16), (200, 50)):
            await s.resize(*size)
            assert titles(s)[0] == "level"
        s.view.table.show_columns(["no such column"])
        assert memory_of(s.view).columns == ()


async def test_what_became_of_a_task_is_told_whatever_columns_show(on: Staging) -> None:
    remembered = Remembered(lists={"tasks": ListMemory(columns=("company", "trust", "priority"))})
    async with on(place="tasks", size=(80, 24), remembered=remembered) as s:
        task = s.rows[0]
        await s.press("j", "k")
        s.platform.world.approve(task)
        await s.poll()
        await s.sees("approved")
