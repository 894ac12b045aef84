"""Many tasks by one decision, as a person goes through it: question, hold, progress, results."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agentco_tui.actions.outcome import OutcomeKind
from agentco_tui.actions.services import Timing
from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.screens.decision_notes import fate_of
from agentco_tui.screens.dialogs.batch_dialog import BatchProgress, BatchQuestion
from tests.actions.office import QUICK
from tests.screens.harness import NOW, WIDE, RunningClock, Stage, settings_for, stage

MANY = 40


@pytest.fixture
def busy_platform() -> Iterator[EmbeddedPlatform]:
    """A queue of more than a screen holds."""
    with EmbeddedPlatform(companies=2, agents=12, tasks=130, speed=0, now=NOW) as running:
        yield running


class Gate:
    """Sleeps end only once it is open; then they move the world's clock instead of lasting."""

    def __init__(self, platform: EmbeddedPlatform) -> None:
        self.opened = asyncio.Event()
        self._clock = platform.world.clock

    async def sleep(self, seconds: float) -> None:
        """As asyncio.sleep."""
        await self.opened.wait()
        self._clock.advance(seconds)

    @property
    def waits(self) -> Timing:
        """The hold as it is for a person."""
        return replace(QUICK, hold=Timing().hold, sleep=self.sleep)


async def ask(s: Stage, count: int) -> BatchQuestion:
    """Mark so many and ask about them."""
    await s.press(*["space"] * count, "a")
    await s.wait_until(lambda: isinstance(s.app.screen, BatchQuestion), "the question")
    await s.armed()
    question = s.app.screen
    assert isinstance(question, BatchQuestion)
    return question


async def approve(s: Stage, count: int) -> BatchProgress:
    """Mark so many, and say yes to all of them."""
    await ask(s, count)
    if count > 10:
        await s.type(str(count))
    await s.press("y")
    await s.wait_until(lambda: isinstance(s.app.screen, BatchProgress), "the progress")
    progress = s.app.screen
    assert isinstance(progress, BatchProgress)
    return progress


async def ended(s: Stage) -> None:
    """Wait until all is known."""
    await s.wait_until(lambda: s.shows("esc close") and not s.shows("it is read on"), "the end")


def quick(s: EmbeddedPlatform) -> dict[str, object]:
    """A stage whose waits are short and whose clock runs."""
    return {"place": "tasks", "clock": RunningClock(s), "timing": QUICK}


# ---- the question


@pytest.mark.parametrize("size", [(60, 16), WIDE])
async def test_the_question_says_the_essential_first_and_lists_every_task(
    busy_platform: EmbeddedPlatform, tmp_path: Path, size: tuple[int, int]
) -> None:
    async with stage(busy_platform, tmp_path, place="tasks", size=size) as s:
        rows = list(s.rows)
        await s.press("asterisk", "a")
        await s.wait_until(lambda: isinstance(s.app.screen, BatchQuestion), "the question")
        await s.sees("demo", "APPROVE", f"{len(rows)} tasks", "companies", "agents", "costs")
        await s.sees(f"type {len(rows)}, then press y", f"y approve all {len(rows)}", "more below")
        tasks = [busy_platform.world.task(row) for row in rows]
        names = {task.agent.company.name for task in tasks}
        assert all(name in s.line_with("│ companies") for name in names)
        question = s.app.screen
        assert isinstance(question, BatchQuestion)
        shown = " ".join(question.pane.shown.split())
        assert f"{len(rows)} you have not read" in shown
        assert all(" ".join(task.title.split()) in shown for task in tasks)
        await s.press("G")
        await s.sees_no("more below")


async def test_what_is_unlike_the_rest_stands_out(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        rows = s.rows[:8]
        with platform.world.living() as state:
            for row in rows:
                state.tasks[row].priority = "low"
                state.changed_task(state.tasks[row], platform.world.now)
            state.tasks[rows[4]].priority = "urgent"
            state.changed_task(state.tasks[rows[4]], platform.world.now)
        await s.poll()
        await ask(s, 8)
        await s.sees("priority urgent, most are low")
        question = s.app.screen
        assert isinstance(question, BatchQuestion)
        listed = question.decision.summary.listed
        assert listed[0].task.id == rows[4], "what is odd stands first"


async def test_over_ten_the_number_is_typed_and_a_wrong_one_does_nothing(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, **quick(platform)) as s:  # type: ignore[arg-type]
        question = await ask(s, 11)
        await s.press("y")
        await s.sees("type 11 first")
        await s.press("enter", "1", "2", "enter")
        await s.anew()
        await s.press("y")
        await s.sees("not 12")
        assert s.app.screen is question
        assert not s.writes
        await s.anew()
        await s.press("1", "2", "backspace", "1", "y")
        await ended(s)
        assert len(s.writes) == 11


async def test_ten_need_no_number(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, **quick(platform)) as s:  # type: ignore[arg-type]
        await ask(s, 10)
        assert "type 10" not in s.text
        await s.press("y")
        await ended(s)
        await s.sees("10 approved here", "10 of 10")
        assert len(s.writes) == 10
        assert not s.view.table.marked


# ---- the hold


async def test_a_ghost_in_the_hold_is_not_claimed(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    gate = Gate(platform)
    async with stage(platform, tmp_path, place="tasks", timing=gate.waits) as s:
        first = s.rows[0]
        await approve(s, 5)
        platform.world.another_operator(first, "reject", "Wanda")
        await s.poll()
        assert fate_of(s.session, first).text.startswith("rejected elsewhere")
        gate.opened.set()
        await ended(s)
        await s.sees("4 approved here, 1 decided elsewhere", "already rejected elsewhere by Wanda")
        assert len(s.writes) == 4
        assert fate_of(s.session, first).text.startswith("rejected elsewhere")


# ---- while it goes on


async def test_escape_stops_what_is_not_sent(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, **quick(platform)) as s:  # type: ignore[arg-type]
        platform.faults.add("approve:latency=120ms")
        await approve(s, 20)
        await s.wait_until(lambda: len(s.writes) >= 2, "the first")
        await s.sees("esc stop what is not yet sent", "of 20")
        await s.press("escape")
        await ended(s)
        sent = len(s.writes)
        assert 2 <= sent <= 12
        await s.sees("stopped by you", f"{sent} approved here", f"{20 - sent} not sent")
        assert sum(platform.world.applied.values()) == sent


async def test_each_has_its_result_and_f_asks_about_clear_failures_only(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, **quick(platform)) as s:  # type: ignore[arg-type]
        refused, changed, elsewhere = s.rows[1], s.rows[3], s.rows[4]
        question = await ask(s, 8)
        platform.faults.add(f"/api/tasks/{refused}/approve:status=422,times=1")
        platform.world.another_operator(elsewhere, "approve", "Wanda")
        with platform.world.living() as state:
            state.tasks[changed].title = "Something else"
            state.changed_task(state.tasks[changed], platform.world.now)
        await s.press("y")
        await ended(s)
        await s.sees("5 approved here", "1 refused", "1 changed", "1 decided elsewhere")
        await s.sees("f ask again: 2", "because it changed")
        assert platform.world.applied[changed] == 0
        before = len(s.writes)
        assert before == 6
        await s.press("f")
        await s.wait_until(
            lambda: isinstance(s.app.screen, BatchQuestion) and s.app.screen is not question,
            "the question about what failed",
        )
        await s.sees("APPROVE 2 tasks", "2 you have not read", "Something else")
        assert len(s.writes) == before, "nothing is sent again without a new yes"
        await s.yes()
        await ended(s)
        again = {f"/api/tasks/{task}/approve" for task in (refused, changed)}
        assert {seen.path for seen in s.writes[before:]} == again
        assert platform.world.applied[refused] == platform.world.applied[changed] == 1


async def test_a_key_that_may_not_approve_stops_it(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    settings = settings_for(platform, key=platform.read_key)
    async with stage(
        platform,
        tmp_path,
        place="tasks",
        settings=settings,
        clock=RunningClock(platform),
        timing=QUICK,
    ) as s:
        await approve(s, 15)
        await ended(s)
        await s.sees("stopped: ", "403")
        assert 1 <= len(s.writes) <= 4
        assert not sum(platform.world.applied.values())


async def test_while_the_platform_is_away_one_can_leave_and_is_told_later(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, **quick(platform)) as s:  # type: ignore[arg-type]
        rows = s.rows[:3]
        await ask(s, 3)
        platform.faults.add("approve:drop_after")
        platform.faults.add("reads:status=503,after=1")
        await s.press("y")
        await s.sees("3 unknown (being read)", "esc close")
        await s.press("escape")
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        await s.press("j", "j", "j", "j", "space")
        marked = s.view.table.marked[-1:]
        platform.faults.clear()
        await s.wait_until(lambda: all(s.outcome_of(row) for row in rows), "the outcomes")
        await s.sees("3 approved")
        assert s.view.table.marked == marked, "what was marked since stays marked"
        assert {found.kind for row in rows if (found := s.outcome_of(row))} == {
            OutcomeKind.APPROVED
        }
        assert [platform.world.applied[row] for row in rows] == [1, 1, 1]


# ---- keys


async def test_a_whole_queue_in_a_dozen_keys(
    busy_platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    """From the first screen: 4, *, a, the number, y."""
    platform = busy_platform
    with platform.world.living() as state:
        for task in list(state.pending.values())[MANY:]:
            state.leave_queue(task, "cancelled")
    async with stage(
        platform, tmp_path, clock=RunningClock(platform), timing=QUICK, place="overview"
    ) as s:
        keys = ["4", "asterisk", "a", *str(MANY), "y"]
        await s.press(keys[0])
        await s.wait_until(lambda: s.main.place == "tasks" and len(s.rows) == MANY, "the queue")
        await s.press(keys[1], keys[2])
        await s.wait_until(lambda: isinstance(s.app.screen, BatchQuestion), "the question")
        await s.armed()
        await s.press(*keys[3:])
        await ended(s)
        await s.sees(f"{MANY} approved here", f"{MANY} of {MANY}", "100 %")
        assert len(keys) <= 12
        assert len(s.writes) == MANY
        assert set(platform.world.applied.values()) == {1}
