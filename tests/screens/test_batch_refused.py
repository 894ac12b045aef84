"""What may not be done, or can't be written down, is not tried, and the reason is on the screen."""

from __future__ import annotations

import shutil
from pathlib import Path

from agentco_tui.actions.outcome import Verb
from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.screens.dialogs.approve_dialog import BatchProgress
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.tones import Tone
from tests.screens.harness import WIDE, Stage, Staging, stage
from tests.screens.test_batch import says


def tone_of(line: StatusLine, words: str) -> Tone:
    """The tone of the words in a line."""
    return next(cell.tone for cell in line._left if words in cell.text)


async def yes(s: Stage) -> None:
    """Ask about the task under the cursor and say yes."""
    await s.press("a")
    await s.yes()


async def test_the_first_403_dims_the_key_with_the_reason_until_the_key_changes(
    on: Staging, platform: EmbeddedPlatform
) -> None:
    async with on(place="tasks", key=platform.read_key, size=WIDE) as s:
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


async def test_read_only_dims_every_write(on: Staging) -> None:
    async with on(place="tasks", read_only=True, size=WIDE) as s:
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
    async with stage(platform, tmp_path / "file", place="tasks", running=True) as s:
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
    folder = tmp_path / "state"
    folder.mkdir()
    async with stage(platform, folder, place="tasks", running=True) as s:
        shutil.rmtree(folder)
        folder.touch()
        await yes(s)
        await says(s, "journal", "can't be", "nothing is sent")
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        await s.press("space", "space", "space")
        await s.sees("3 marked")
        await s.press("a")
        await s.sees("APPROVE 3 tasks")
        await s.yes()
        await s.wait_until(lambda: isinstance(s.app.screen, BatchProgress), "the progress")
        await s.sees("stopped: ", "journal", "3 not sent")
        assert not s.writes
        assert not platform.world.applied
