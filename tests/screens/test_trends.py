"""What was and what lies ahead, on the screens: it comes after the first picture, and costs what
changes of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from agentco_tui.keys import Place
from agentco_tui.live.outlook import Day
from agentco_tui.model import Budget
from agentco_tui.screens import session
from agentco_tui.textual_patches import compositor
from agentco_tui.textual_patches.registry import PARTIAL_PAINT
from tests.screens.harness import NARROW, WIDE, Stage, Staging
from tests.screens.past import KnownOutlook
from tests.screens.test_bytes import FRAME, Written


@pytest.fixture(autouse=True)
def remembering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "Outlook", KnownOutlook)


def outlook_of(s: Stage) -> KnownOutlook:
    return cast("KnownOutlook", s.session.outlook)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
@pytest.mark.parametrize("place", ["companies", "agents", "budget"])
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
        assert len(outlook.wanted) == min(len(s.rows), s.view.table.size.height)


@pytest.fixture
def partial_paint() -> Iterator[None]:
    compositor.install_partial_paint()
    yield
    PARTIAL_PAINT.uninstall()


@pytest.mark.usefixtures("partial_paint")
@pytest.mark.parametrize("place", ["companies", "agents", "budget", "overview"])
async def test_a_trend_costs_the_line_only_its_cell_and_only_when_it_changes(
    on: Staging, monkeypatch: pytest.MonkeyPatch, place: Place
) -> None:
    async with on(place=place, size=WIDE) as s:
        outlook, table = outlook_of(s), s.view.table
        s.main.tick()
        await s.at_rest()
        written = Written(s, monkeypatch)
        for _ in range(3):
            outlook.on_change()
            s.main.tick()
            await s.settle()
        assert written.size == 0
        if place == "overview":
            return
        changed = table.rows.shown[2]  # not the line under the cursor, whose detail tells of it too
        subject = changed.partition(":")[2] or changed
        known = outlook.spent_by_hour

        def spent_by_hour(budget: Budget) -> Day:
            day = known(budget)
            return (*day[:-1], 400.0) if budget.id == subject else day

        outlook.spent_by_hour = spent_by_hour  # type: ignore[method-assign]
        outlook.on_change()
        await s.at_rest()
        assert len(written.spans) == 1
        assert written.size + FRAME <= 80
