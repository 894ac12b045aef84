"""Several dashboards, and dashboards that come after one another, on one journal."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agentco_tui.actions.outcome import OutcomeKind
from agentco_tui.demo.server import EmbeddedPlatform
from tests.actions.office import office, until


async def test_two_dashboards_at_once_send_once(platform: EmbeddedPlatform, path: Path) -> None:
    async with office(platform, path) as here, office(platform, path) as there:
        for task in (await here.pending())[:10]:
            found = await asyncio.gather(here.approve(task), there.approve(task))
            assert len(here.sends(task.id)) == 1
            assert sum(outcome.kind is OutcomeKind.APPROVED_HERE for outcome in found) == 1
            for outcome in found:
                if outcome.kind is OutcomeKind.NOT_SENT:
                    assert "another dashboard on this machine" in outcome.sentence


async def test_a_yes_to_what_was_left_behind_sends_nothing(
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
        assert found.sentence.startswith("the attempt of ")
        assert " ago that was left unsettled: not approved" in found.sentence
        assert len(platform.requests.matching("approve")) == sent
        assert (await second.approve(task)).kind is OutcomeKind.APPROVED_HERE
