"""A yes applies to what is there now: nothing leaves on a read that has become old meanwhile."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from agentco_tui.actions.read_age import OLDEST_READ
from tests.outside.console import NO_HOLD, Console
from tests.outside.machine import SlowDisk, journal_of, locked
from tests.outside.platform import Platform, approves, pending

PAY = "Pay $40 to ACME"
MALLORY = "Pay $40 to MALLORY"
TOO_LONG = OLDEST_READ + 0.5
"""Seconds after which a read is too old: they pass here because time is the attack."""
RARELY = 60.0
"""Seconds between two polls: none comes within a test."""


def opened(
    platform: Platform, folder: Path, disk: SlowDisk | None = None, refresh: float = RARELY
) -> Console:
    """A dashboard on the tasks in which a yes is not held back."""
    env = None if disk is None else disk.environment
    return Console(platform, folder, "--screen", "tasks", config=NO_HOLD, refresh=refresh, env=env)


def told_of_mallory(console: Console, platform: Platform) -> None:
    """The user is told what changed, and nothing was sent."""
    console.until(
        lambda: platform.posts() or re.search(r"changed:\s+nothing\s+was\s+sent", console.text),
        "that it changed",
    )
    assert platform.posts() == []
    assert platform.record("t1")["status"] == "pending"


def test_a_task_that_changes_while_the_disk_is_slow_is_not_approved(tmp_path: Path) -> None:
    disk = SlowDisk(tmp_path)
    with Platform() as platform:
        platform.task("t1", PAY)
        with opened(platform, tmp_path, disk) as console:
            console.ask(PAY)
            disk.hold()
            console.yes()
            disk.wait_for_fsync()
            platform.change("t1", title=MALLORY)
            console.pause(TOO_LONG)
            disk.release()
            told_of_mallory(console, platform)
            console.until(lambda: console.outcomes("t1") == ["changed"], "the outcome in the file")


def test_a_task_that_is_rejected_while_the_disk_is_slow_is_not_approved(tmp_path: Path) -> None:
    """Polls have removed it by then: that the store doesn't have it is no sign of it unchanged."""
    disk = SlowDisk(tmp_path)
    with Platform() as platform:
        platform.add_all({"t1": PAY, "t2": "Pay Bolt"})
        with opened(platform, tmp_path, disk, refresh=0.5) as console:
            console.ask(PAY)
            disk.hold()
            console.yes()
            disk.wait_for_fsync()
            platform.decide("t1", "rejected", "Wanda")
            platform.wait_more(pending, 2)
            disk.release()
            console.until(
                lambda: console.outcomes("t1") in (["decided elsewhere"], ["approved here"]),
                "the outcome in the file",
            )
            assert platform.posts() == []
            assert "approved here" not in console.text
            assert platform.record("t1")["decided_by"] == "Wanda"


def test_a_task_that_changes_while_the_journal_is_locked_is_not_approved(tmp_path: Path) -> None:
    with Platform() as platform:
        platform.task("t1", PAY)
        with opened(platform, tmp_path) as console:
            console.ask(PAY)
            with locked(journal_of(tmp_path)):
                console.yes()
                platform.wait_for(pending, 2)
                console.wait_quiet(0.2)
                platform.change("t1", title=MALLORY)
                console.pause(TOO_LONG)
            told_of_mallory(console, platform)


def test_a_task_that_changes_while_the_program_is_stopped_is_not_approved(tmp_path: Path) -> None:
    with Platform() as platform:
        platform.task("t1", PAY)
        with opened(platform, tmp_path) as console:
            console.ask(PAY)
            held = platform.hold(pending, applied=True)
            console.yes()
            held.arrived()
            console.signal(signal.SIGSTOP)
            held.release()
            platform.change("t1", title=MALLORY)
            console.pause(TOO_LONG)
            console.signal(signal.SIGCONT)
            told_of_mallory(console, platform)


@pytest.mark.parametrize("how", ["disk", "lock"])
def test_an_unchanged_task_is_approved_once_all_goes_on(tmp_path: Path, how: str) -> None:
    """With the one line that is in the journal, and a read that began after it."""
    disk = SlowDisk(tmp_path)
    with Platform() as platform:
        platform.task("t1", PAY)
        with opened(platform, tmp_path, disk) as console:
            console.ask(PAY)
            if how == "disk":
                disk.hold()
                console.yes()
                disk.wait_for_fsync()
                console.pause(TOO_LONG)
                disk.release()
            else:
                with locked(journal_of(tmp_path)):
                    console.yes()
                    platform.wait_for(pending, 2)
                    console.pause(TOO_LONG)
            [post] = platform.wait_for(approves("t1"))
            console.line_shows(PAY, "approved here")
            before = [read for read in platform.seen(pending) if read.time < post.time]
            assert post.time - before[-1].time < OLDEST_READ
            assert len(platform.posts()) == 1
            assert console.outcomes("t1") == ["approved here"]
