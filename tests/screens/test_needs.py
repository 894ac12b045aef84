"""The Overview says what needs a person, why, and what follows if nobody acts."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentco_tui.actions.outcome import Step
from agentco_tui.attention.needs import Need, NeedKind
from agentco_tui.history.forecast_service import NOTHING, SubjectForecast
from agentco_tui.history.spending_alarms import Runaway
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import BudgetScope
from agentco_tui.screens.dialogs.trace_dialog import TraceScreen
from tests.platform import EmbeddedPlatform
from tests.screens.harness import NARROW, NOW, WIDE, Stage, Staging, stage, text_of

FIRST_TWELVE = """\
✖ stopped Nora · 4 tasks stay blocked · 101 %
✖ stopped Ada · 3 tasks stay blocked · 119 %
✖ urgent Rotate the staging · Ada is paused · 0.57
✖ urgent Reroute 82 parcels · longest of Pavel's 2 · 0.36
✖ high Refund 214 customers ·  · 0.89
✖ high Close the books for ·  · 0.43
✖ approve Share the Q2 churn · longest of Sofia's 3 · 0.34
✖ approve Share the Q3 churn · longest of Ruth's 2 · 0.26
✖ approve Rewrite 7 help pages ·  · 0.39
✖ approve Invite 466 customer ·  · 0.33
✖ approve Publish “A short gui · Nora is paused · 1.46
✖ approve Send a quote over 4 · longest of Amara's 4 · 0.17
"""


def needs_of(s: Stage, kind: NeedKind) -> list[Need]:
    return [need for need in s.workspace.needs.shown if need.kind is kind]


async def test_where_it_is_small_the_first_twelve_lines_are_the_right_twelve(on: Staging) -> None:
    async with on(size=NARROW) as s:
        await s.poll()
        list_ = s.lines[4:16]
        for line, expected in zip(list_, FIRST_TWELVE.splitlines(), strict=True):
            why, follows, figure = expected.split(" · ")
            sign, word, what = why.split(" ", 2)
            assert line[3:].startswith(f"{sign}  {word} "), line
            assert all(part in line for part in (what, follows, figure)), line
        await s.sees("If ignored: 4 tasks stay blocked. Ranked by blocked work.", "SPEND")


async def test_what_stands_still_and_what_fails_over_and_over_is_told_and_can_be_acted_on(
    on: Staging,
) -> None:
    """The embedded world has an agent that fails again and again, and a task that stands still."""
    async with on(size=WIDE) as s:
        await s.poll()
        for _ in range(13):
            s.platform.world.advance(100)
            await s.poll(FeedName.ACTIVITY, FeedName.PENDING)
        s.dashboard.needs_refresh.start(s.main)
        (failing,) = [n for n in needs_of(s, NeedKind.FAILURES) if n.count > 9]
        assert s.view.table.move_cursor_to(failing.key)
        await s.sees("Ranked by a repeated failure.", "l limit")
        await s.press("l")
        await s.sees("SET LIMIT")
        await s.press("escape")
        (stuck,) = needs_of(s, NeedKind.STUCK)
        task = s.platform.world.task(stuck.record.id)
        assert task.status == "running"
        assert s.platform.world.now - task.updated > 600
        assert s.view.table.move_cursor_to(stuck.key)
        await s.sees("stuck", "If ignored: stays undone", "t trace")
        await s.press("t")
        await s.wait_until(lambda: isinstance(s.app.screen, TraceScreen), "its trace")
        await s.press("escape", "enter")
        await s.wait_until(lambda: s.main.place == "tasks" and s.view.reading, "the task itself")
        assert s.cursor == task.id


async def test_an_agent_that_runs_away_is_one_line_with_its_figure(
    on: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on(size=WIDE) as s:
        await s.poll()
        kofi = next(agent for agent in s.workspace.store.agents if agent.name == "Kofi")
        since = NOW - 3_600, NOW
        away = Runaway(what="cost", now=36.0, most=4.0, mean=1.0, since=since)
        known = {kofi.id: SubjectForecast(computed_at=NOW, runaway=away)}
        monkeypatch.setattr(s.workspace.outlook, "of_agent", lambda of: known.get(of, NOTHING))
        s.workspace.outlook.publish((BudgetScope.AGENT, kofi.id))
        s.dashboard.needs_refresh.start(s.main)
        (need,) = [n for n in s.workspace.needs.shown if n.key == f"agent:{kofi.id}"]
        s.view.table.move_cursor_to(need.key)
        await s.sees("Ranked by a rate far above the agent's usual.", "l limit")
        line = next(line for line in s.lines if line.startswith("▌  "))
        assert "runaway" in line
        assert " 9× " in line


@pytest.mark.parametrize("size", [NARROW, (200, 50)])
async def test_when_nothing_needs_a_person_it_says_so_and_since_when(
    empty_platform: EmbeddedPlatform, tmp_path: Path, size: tuple[int, int]
) -> None:
    async with stage(empty_platform, tmp_path, size=size) as s:
        await s.poll()
        s.platform.world.advance(1_800)
        await s.poll()
        await s.sees("● nothing needs you since 14:13")
        spend = next(at for at, line in enumerate(s.lines) if " SPEND " in line)
        assert spend < size[1] / 2, "what lies below has the room"
        assert not text_of(s.view.detail).strip()


async def test_what_ranks_first_is_shown_however_many_needs_there_are(
    on: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task with an open decision, behind as many needs as are shown; and a need that is critical,
    behind as many open decisions.
    """
    async with on() as s:
        await s.poll()
        found, store = s.workspace.needs, s.workspace.store
        first = found.shown[0].key
        monkeypatch.setattr("agentco_tui.attention.needs_model.MOST_SHOWN", 4)
        s.dashboard.needs_refresh.start(s.main)
        shown = [need.key for need in found.shown]
        assert len(shown) == 4
        waits = {task.id: task for task in store.pending}
        in_queue = [need.record.id for need in found.ranked(len(waits)) if need.record.id in waits]
        late = next(task_id for task_id in reversed(in_queue) if f"task:{task_id}" not in shown)
        s.dashboard.decisions.record_progress(waits[late], Step.SENDING)
        s.dashboard.needs_refresh.start(s.main)
        assert f"task:{late}" in [need.key for need in found.shown]
        for task in [*waits.values()][-6:]:
            s.dashboard.decisions.record_progress(task, Step.SENDING)
        s.dashboard.needs_refresh.start(s.main)
        assert first in [need.key for need in found.shown]
