"""What was and what lies ahead, on the screens: it comes after the first picture, and costs what
changes of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from agentco_tui.history.forecast_service import SubjectForecast
from agentco_tui.keys.places import Place
from agentco_tui.model import Budget
from agentco_tui.text.signs import signs
from agentco_tui.textual_patches import compositor
from agentco_tui.textual_patches.registry import PARTIAL_PAINT
from tests.platform import EmbeddedPlatform
from tests.screens.harness import NARROW, NOW, WIDE, Stage, Staging, stage, text_of
from tests.screens.past import KnownOutlook, remembering
from tests.screens.test_bytes import FRAME, Written

pytestmark = pytest.mark.paints


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    with remembering():
        yield


def outlook_of(s: Stage) -> KnownOutlook:
    return cast("KnownOutlook", s.workspace.outlook)


@pytest.mark.parametrize(
    ("place", "size"), [("companies", WIDE), ("agents", NARROW), ("budget", WIDE)]
)
async def test_the_last_day_is_a_column_as_soon_as_it_is_known(
    on: Staging, monkeypatch: pytest.MonkeyPatch, place: Place, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(KnownOutlook, "known", False)
    async with on(place=place, size=size) as s:
        heads = s.view.table.region.y
        assert "24 H" not in s.lines[heads], "no place for what is known of nobody"
        outlook = outlook_of(s)
        outlook.known = True
        outlook.on_change()
        await s.wait_until(lambda: "24 H" in s.lines[heads], "the column")
        at = s.lines[heads].index("24 H")
        assert set(s.lines[heads + 1][at : at + 6]) <= set("▁▂▃▄▅▆▇█")
        s.view.tick()
        assert len({*outlook.wanted}) == min(len(s.rows), s.view.table.size.height)


@pytest.fixture
def partial_paint() -> Iterator[None]:
    compositor.install_partial_paint()
    yield
    PARTIAL_PAINT.uninstall()


@pytest.mark.usefixtures("partial_paint")
@pytest.mark.parametrize("place", ["companies", "overview"])
async def test_a_trend_costs_the_line_only_its_cell_and_only_when_it_changes(
    on: Staging, monkeypatch: pytest.MonkeyPatch, place: Place
) -> None:
    async with on(place=place, size=WIDE) as s:
        outlook, table = outlook_of(s), s.view.table
        s.main.ticker.tick()
        await s.at_rest()
        written = Written(s, monkeypatch)
        for _ in range(3):
            outlook.on_change()
            s.main.ticker.tick()
            await s.settle()
        assert written.size == 0
        if place == "overview":
            return
        changed = table.model.shown[
            2
        ]  # not the line under the cursor, whose detail tells of it too
        subject = changed.partition(":")[2] or changed
        known = outlook.of

        def of(budget: Budget) -> SubjectForecast:
            found = known(budget)
            day = (*found.spent_by_hour[:-1], 400.0)
            return replace(found, spent_by_hour=day) if budget.id == subject else found

        outlook.of = of  # type: ignore[method-assign]
        outlook.on_change()
        await s.at_rest()
        assert len(written.spans) == 1
        assert written.size + FRAME <= 80


@pytest.mark.parametrize(
    ("place", "size"), [("companies", WIDE), ("agents", NARROW), ("budget", WIDE)]
)
async def test_a_page_shows_the_graph_of_the_period_as_soon_as_it_is_known(
    on: Staging, monkeypatch: pytest.MonkeyPatch, place: Place, size: tuple[int, int]
) -> None:
    """Its scale, its limit, the range that lies ahead and its gap can be told without colour."""
    monkeypatch.setattr(KnownOutlook, "known", False)
    async with on(place=place, size=size) as s:
        await s.poll()
        s.view.table.move_cursor_to(s.view.table.model.shown[1])
        await s.press("enter")
        assert signs.spread not in text_of(s.view.detail)
        outlook_of(s).known = True
        outlook_of(s).on_change()
        await s.wait_until(lambda: signs.spread in text_of(s.view.detail), "the graph")
        shown = text_of(s.view.detail).split("\n")
        assert "forecast" in "".join(shown)
        start = next(at for at, line in enumerate(shown) if signs.spread in line)
        graph = shown[start : start + 7]
        assert any("limit $" in line for line in graph)
        assert re.fullmatch(r".* 2 Sep +(↑ now +)?2 Oct *", graph[-1])
        assert re.search(r"0 │[▁▂].*[▂-█] +[▂-█]", graph[-2]), "what nobody saw is left empty"


async def test_a_phone_shows_the_budget_that_stands_open(on: Staging) -> None:
    async with on(place="budget", size=(45, 20)) as s:
        await s.press("enter")
        await s.sees("limit", "$6,680.00")


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
async def test_the_overview_tells_trends_and_what_lies_ahead_where_no_need_gives_way(
    on: Staging, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(KnownOutlook, "known", False)
    async with on(size=size) as s:
        await s.poll()
        height = s.view.table.size.height
        assert "WAITING" not in s.text
        outlook = outlook_of(s)
        outlook.known = True
        outlook.on_change()
        if size == NARROW:
            await s.at_rest()
            assert s.view.table.size.height == height
            assert not set("▁▂▄▅▆▇") & set(s.text)
            return
        await s.sees("WAITING", "EVENTS", "left  gone ~Thu 24 Sep", "by 1 Oct")
        assert s.view.table.size.height == height - 2
        assert re.search(r"WAITING [▁-█]+ +[▁-█]+  2 to 39 in 22 h", s.text)
        assert re.search(r"EVENTS  [▁-█]+ +[▁-█]+  279 entries in 22 h", s.text)
        assert re.search(r"all +[^ ]+ +48 %  [▁-█]{12}  \$3,497.09 left", s.text)
        s.main.ticker.tick()
        assert outlook.wanted[0] == "all:all"
        assert outlook.wanted[1].startswith("company:")


@pytest.mark.parametrize("size", [NARROW, (200, 50)], ids=["narrow", "large"])
async def test_where_little_needs_a_person_the_trends_take_the_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(KnownOutlook, "known", False)
    with EmbeddedPlatform(companies=2, agents=4, tasks=4, speed=0, now=NOW) as platform:
        async with stage(platform, tmp_path, size=size) as s:
            await s.poll()
            await s.at_rest()
            outlook_of(s).known = True
            outlook_of(s).on_change()
            await s.sees("WAITING", "EVENTS")
            await s.at_rest()
            lines = s.lines[3:-1]
            if size != NARROW:
                assert s.shows("forecast", "limit $", "░")
                assert any(line.lstrip().startswith("0 │") for line in lines)
            empty = sum(not line.strip() for line in lines)
            assert empty <= size[1] / 4, "no half of the screen is empty"
            assert len(s.rows) < s.view.table.size.height, "every need is in sight"
