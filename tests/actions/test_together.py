"""Several dashboards, and dashboards that come after one another, on one journal."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agentco_tui.actions.outcome import OutcomeKind, Progress, Step
from agentco_tui.demo.server import EmbeddedPlatform
from tests.actions.office import office, until


async def test_twice_at_once_is_sent_once(platform: EmbeddedPlatform, path: Path) -> None:
    async with office(platform, path) as desk:
        task = (await desk.pending())[0]
        found = await asyncio.gather(*(desk.approve(task) for _ in range(5)))
        assert len(desk.sends()) == 1
        kinds = sorted(outcome.kind for outcome in found)
        assert kinds.count(OutcomeKind.APPROVED_HERE) == 1
        assert set(kinds) <= {
            OutcomeKind.APPROVED_HERE,
            OutcomeKind.NOT_SENT,
            OutcomeKind.DECIDED_ELSEWHERE,
        }


async def test_two_dashboards_at_once_send_once(platform: EmbeddedPlatform, path: Path) -> None:
    async with office(platform, path) as here, office(platform, path) as there:
        for task in (await here.pending())[:10]:
            found = await asyncio.gather(here.approve(task), there.approve(task))
            assert len(here.sends(task.id)) == 1
            assert sum(outcome.kind is OutcomeKind.APPROVED_HERE for outcome in found) == 1
            for outcome in found:
                if outcome.why_not is not None:
                    assert "another dashboard on this machine" in outcome.sentence


async def test_what_was_left_behind_is_settled_before_anything_is_sent(
    platform: EmbeddedPlatform, path: Path
) -> None:
    async with office(platform, path) as first:
        task, other = (await first.pending())[:2]
        platform.faults.add("approve:drop_after,times=1")
        unknown = asyncio.Event()

        def seen(progress: Progress) -> None:
            if progress.step is Step.SENDING:
                platform.faults.add("reads:status=503")
            if progress.step is Step.UNKNOWN:
                unknown.set()

        approving = asyncio.create_task(first.approve(task, seen))
        await unknown.wait()
        approving.cancel()
        await asyncio.gather(approving, return_exceptions=True)
        platform.faults.clear()
    async with office(platform, path) as second:
        [left] = await second.left_behind()
        assert left.task == task.id
        found = await second.recover(left)
        assert found.kind is OutcomeKind.APPROVED
        assert found.sentence.startswith("the attempt of ")
        assert await second.left_behind() == []
        assert len(second.sends(task.id)) == 1
        assert (await second.approve(other)).kind is OutcomeKind.APPROVED_HERE


async def test_a_new_decision_about_what_was_left_behind_sends_nothing_yet(
    platform: EmbeddedPlatform, path: Path
) -> None:
    async with office(platform, path) as first:
        task = (await first.pending())[0]
        hang = platform.faults.add("approve:hang,times=1")
        approving = asyncio.create_task(first.approve(task))
        await until(lambda: hang.struck == 1)
        approving.cancel()
        await asyncio.gather(approving, return_exceptions=True)
    sent = len(platform.requests.matching("approve"))
    async with office(platform, path) as second:
        found = await second.approve(task)
        assert found.kind is OutcomeKind.NOT_DONE
        assert "left unsettled" in found.sentence
        assert len(platform.requests.matching("approve")) == sent
        assert (await second.approve(task)).kind is OutcomeKind.APPROVED_HERE
