"""What may not be done, or can't be written down, is not tried, and the reason is on the screen."""

from __future__ import annotations

import resource
import shutil
from pathlib import Path

import pytest

from agentco_tui.actions.outcome import Verb
from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.screens.dialogs.batch_dialog import BatchProgress
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.tones import Tone
from tests.actions.office import QUICK
from tests.screens.harness import WIDE, RunningClock, Stage, settings_for, stage
from tests.screens.test_batch_marks import says


def tone_of(line: StatusLine, words: str) -> Tone:
    """The tone of the words in a line."""
    return next(cell.tone for cell in line._left if words in cell.text)


async def yes(s: Stage) -> None:
    """Ask about the task under the cursor and say yes."""
    await s.press("a")
    await s.yes()


async def test_the_first_403_dims_the_key_with_the_reason_until_the_key_changes(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    settings = settings_for(platform, key=platform.read_key)
    async with stage(platform, tmp_path, place="tasks", settings=settings, size=WIDE) as s:
        assert tone_of(s.main.footer, " approve") is Tone.PLAIN
        await yes(s)
        await says(s, "this key may not approve", "403")
        assert tone_of(s.main.footer, " approve") is Tone.DIM
        assert tone_of(s.main.footer, " new task") is Tone.PLAIN, "each write is its own"
        await s.press("question_mark")
        await s.sees("now: this key may not approve")
        await s.press("escape", "a")
        assert s.app.screen is s.main
        await s.press("space", "a")
        assert s.app.screen is s.main, "nor many"
        assert len(s.writes) == 1
        s.session.permissions.key_changed()
        await s.settle()
        assert tone_of(s.main.footer, " approve") is Tone.PLAIN
        assert s.session.permissions.denied(Verb.APPROVE) is None


async def test_read_only_dims_every_write(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    settings = settings_for(platform, read_only=True)
    async with stage(platform, tmp_path, place="tasks", settings=settings, size=WIDE) as s:
        for words in (" approve", " new task"):
            assert tone_of(s.main.footer, words) is Tone.DIM
        await s.press("space", "a")
        await says(s, "writing is off (--read-only)")
        assert s.app.screen is s.main
        await s.press("question_mark")
        await s.sees("Not now: writing is off")
        assert not s.writes


async def test_no_journal_no_approval(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    """A file stands where the state folder should be, from the start."""
    (tmp_path / "file").touch()
    clock = RunningClock(platform)
    async with stage(platform, tmp_path / "file", place="tasks", clock=clock, timing=QUICK) as s:
        task = str(s.cursor)
        await s.press("a")
        if s.app.screen is not s.main:
            await s.yes()
        await says(s, "journal", "can't be", "nothing")
        assert not s.writes
        assert platform.world.task(task).status == "pending"


async def test_a_journal_that_is_lost_meanwhile_stops_one_and_many(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    clock, folder = RunningClock(platform), tmp_path / "state"
    folder.mkdir()
    async with stage(platform, folder, place="tasks", clock=clock, timing=QUICK) as s:
        shutil.rmtree(folder)
        folder.touch()
        await yes(s)
        await says(s, "journal", "can't be", "nothing is sent")
        await s.press("space", "space", "space", "a")
        await s.yes()
        await s.wait_until(lambda: isinstance(s.app.screen, BatchProgress), "the progress")
        await s.sees("stopped: ", "journal", "3 not sent")
        assert not s.writes
        assert not platform.world.applied


async def test_a_full_disk_refuses_until_there_is_room(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    """A limit on the size of files stands in for a full disk."""
    clock = RunningClock(platform)
    async with stage(platform, tmp_path, place="tasks", clock=clock, timing=QUICK) as s:
        task = str(s.cursor)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        try:
            await yes(s)
            await says(s, "journal", "nothing is sent")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert not s.writes
        await yes(s)
        await s.wait_until(lambda: platform.world.applied[task] == 1, "the approval")
        assert len(s.writes) == 1


@pytest.mark.parametrize(("status", "words"), [(409, "approved by Wanda"), (404, "Not Found")])
async def test_a_no_is_explained_by_what_is_read(
    platform: EmbeddedPlatform, tmp_path: Path, status: int, words: str
) -> None:
    """409: approved by now, perhaps by this request. 404 about one that waits: its own words."""
    clock = RunningClock(platform)
    async with stage(platform, tmp_path, place="tasks", clock=clock, timing=QUICK) as s:
        task = str(s.cursor)
        platform.faults.add(
            f"approve:status={status}" if status == 404 else "approve:latency=200ms"
        )
        await s.press("a")
        await s.yes()
        await s.wait_until(lambda: platform.faults.in_force()[0].struck, "the request")
        if status == 409:
            platform.world.another_operator(task, "approve", "Wanda")
            platform.world.clock.advance(4.0)
        await says(s, words)
        if status == 409:
            await says(s, "approved by Wanda, 4 s ago; this request")
        assert len(s.writes) == 1
        assert platform.world.applied[task] == 0
