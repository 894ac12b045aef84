"""A yes applies to what is there now: sets, limits, new records, commands, plain lines."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentco_tui.actions.read_age import OLDEST_READ
from tests.outside.console import NO_HOLD, scene
from tests.outside.machine import SlowDisk, journal_of, locked
from tests.outside.platform import approves
from tests.platform import EmbeddedPlatform
from tests.terminal.dashboard import command, dashboard, ready, say_yes
from tests.terminal.platform_process import settings
from tests.terminal.pty_session import PATIENCE, REPOSITORY, PtySession, clean_environment

TOO_LONG = OLDEST_READ + 0.5
"""Seconds after which a read is too old: they pass here because time is the attack."""
CHANGED = 4
"""The exit code where it is not what was read."""


@pytest.fixture
def still() -> Iterator[EmbeddedPlatform]:
    """A platform in which nothing happens by itself."""
    with EmbeddedPlatform(speed=0) as platform:
        yield platform


def posts(platform: EmbeddedPlatform) -> list[str]:
    """The paths of all writes that came."""
    return [seen.path for seen in platform.requests if seen.method == "POST"]


@contextmanager
def running(
    platform: EmbeddedPlatform, folder: Path, disk: SlowDisk, *words: str
) -> Iterator[subprocess.Popen[str]]:
    """A command of the program in a process of its own; killed if the test fails."""
    environment = {**settings(platform, folder), **disk.environment}
    with subprocess.Popen(
        command(*words),
        env=clean_environment(environment),
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def pay_mallory(platform: EmbeddedPlatform, task_id: str) -> None:
    """Change what a task is about."""
    with platform.world.locked() as state:
        changed = state.tasks[task_id]
        changed.title = "Pay MALLORY"
        state.changed_task(changed, changed.updated)


@dataclass(frozen=True)
class Attack:
    """A writing command, and what somebody else does while it is held up."""

    words: tuple[str, ...]
    change: Callable[[], object]
    path: str
    """What the command reads of the platform right before it writes."""
    reads: int
    """How many such reads come before the write: `approve` looks for the task first."""


def attacks_on(platform: EmbeddedPlatform) -> dict[str, Attack]:
    """An attack on each writing command, by the command's name."""
    world = platform.world
    agent = world.agents()[0]
    task = world.tasks(status="pending")[0]

    def change_task() -> None:
        pay_mallory(platform, task.id)

    def create_task() -> None:
        world.create_task(
            company_id=agent.company.id, title="Books", agent_id=agent.id, priority="medium"
        )

    def change_limit() -> None:
        world.set_limit(agent.id, 77)

    new_task = ("create-task", "--agent", agent.id, "--title", "Books")
    return {
        "approve": Attack(("approve", task.id), change_task, "/api/tasks", 2),
        "set-limit": Attack(("set-limit", agent.id, "900"), change_limit, "/api/budget/agents", 1),
        "create-task": Attack(new_task, create_task, "/api/tasks", 1),
    }


def with_fingerprint(
    words: tuple[str, ...], platform: EmbeddedPlatform, folder: Path
) -> tuple[str, ...]:
    """The words, for `approve` with the fingerprint of the task as it is now."""
    if words[0] != "approve":
        return words
    ran = subprocess.run(
        command("get", "task", words[1], "--json"),
        env=clean_environment(settings(platform, folder)),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    fingerprint = ran.stdout.partition('"fingerprint":')[2].split('"')[1]
    return (*words, "--expect", fingerprint)


def wait_for_reads(platform: EmbeddedPlatform, attack: Attack) -> None:
    """Wait until the reads before the write were answered."""
    end = time.monotonic() + PATIENCE
    while sum(seen.path == attack.path for seen in platform.requests) < attack.reads:
        assert time.monotonic() < end, "the reads before the write didn't come"
        time.sleep(0.01)


@pytest.mark.parametrize("name", ["approve", "set-limit", "create-task"])
@pytest.mark.parametrize("how", ["disk", "lock", "stop"])
def test_a_command_that_is_held_up_reads_again(
    still: EmbeddedPlatform, tmp_path: Path, name: str, how: str
) -> None:
    disk = SlowDisk(tmp_path)
    attack = attacks_on(still)[name]
    words = with_fingerprint(attack.words, still, tmp_path)
    still.requests.clear()
    with ExitStack() as until_released:
        if how == "lock":
            until_released.enter_context(locked(journal_of(tmp_path)))
        else:
            disk.hold()
        with running(still, tmp_path, disk, *words) as process:
            wait_for_reads(still, attack)
            if how != "lock":
                disk.wait_for_fsync()
            if how == "stop":
                process.send_signal(signal.SIGSTOP)
                disk.release()
            attack.change()
            time.sleep(TOO_LONG)
            until_released.close()
            disk.release()
            process.send_signal(signal.SIGCONT)
            out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == CHANGED, out
    assert posts(still) == []


@pytest.mark.parametrize("name", ["approve", "set-limit", "create-task"])
def test_a_command_that_is_held_up_does_it_once_where_nothing_changed(
    still: EmbeddedPlatform, tmp_path: Path, name: str
) -> None:
    disk = SlowDisk(tmp_path)
    words = with_fingerprint(attacks_on(still)[name].words, still, tmp_path)
    disk.hold()
    with running(still, tmp_path, disk, *words) as process:
        disk.wait_for_fsync()
        time.sleep(TOO_LONG)
        disk.release()
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, out
    assert len(posts(still)) == 1


def test_plain_lines_read_again_what_was_read_long_ago(
    still: EmbeddedPlatform, tmp_path: Path
) -> None:
    disk = SlowDisk(tmp_path)
    environment = {**settings(still, tmp_path), **disk.environment, "TERM": "dumb"}
    with PtySession(command("--plain"), env=environment, size=(200, 50)) as session:
        session.wait_raw(b"q quit> ")
        needs = session.raw.decode()
        titles = {task.title: task.id for task in still.world.tasks(status="pending")}
        found = next(
            match
            for match in re.finditer(r"^(\d+)\. \w+: task waits (.*)$", needs, re.MULTILINE)
            if any(title in match[2] for title in titles)
        )
        task_id = next(each for title, each in titles.items() if title in found[2])
        session.write(f"a {found[1]}\n")
        session.wait_raw(b"type yes: ")
        disk.hold()
        mark = session.mark()
        session.write("yes\n")
        disk.wait_for_fsync()
        pay_mallory(still, task_id)
        time.sleep(TOO_LONG)
        disk.release()
        session.wait_raw(b"nothing was sent, because it changed", mark=mark)
        session.wait_raw(b"q quit> ", mark=mark)
    assert posts(still) == []


def test_of_a_set_only_what_changed_is_left_out(tmp_path: Path) -> None:
    disk = SlowDisk(tmp_path)
    titles = {"t1": "Pay $40 to ACME", "t2": "Pay Bolt", "t3": "Pay Cargo"}
    options = {"config": NO_HOLD, "refresh": 60.0, "env": disk.environment}
    with scene(tmp_path, titles, **options) as (platform, console):
        console.mark_tasks(*titles.values())
        console.press("a")
        console.box_shows("APPROVE 3 tasks")
        disk.hold()
        console.yes(lambda: "APPROVING" in console.box())
        disk.wait_for_fsync()
        platform.change("t1", title="Pay $40 to MALLORY")
        console.pause(TOO_LONG)
        disk.release()
        platform.wait_for(approves("t2"))
        platform.wait_for(approves("t3"))
        console.until(lambda: console.outcomes("t1") == ["changed"], "the outcome in the file")
        assert platform.posts("t1") == []


def test_a_limit_that_changes_while_the_disk_is_slow_is_not_set(
    still: EmbeddedPlatform, tmp_path: Path
) -> None:
    disk = SlowDisk(tmp_path)
    agent = still.world.agents()[0]
    with dashboard(still, tmp_path, "--refresh", "60", env=disk.environment) as session:
        ready(session)
        go_to(session, f"agent {agent.name}")
        session.press("l")
        session.wait_for("SET LIMIT")
        session.press(*"900", "enter")
        session.wait_for("n, esc")
        disk.hold()
        session.wait_quiet(0.9)
        say_yes(session, "n, esc no")
        disk.wait_for_fsync()
        still.world.set_limit(agent.id, 77)
        time.sleep(TOO_LONG)
        disk.release()
        session.wait_for("nothing was sent")
    assert posts(still) == []


def go_to(session: PtySession, words: str) -> None:
    """Go to what these words name, by `:`."""
    session.press(":")
    session.wait_for("any command, or a name")
    session.press(words)
    session.wait_for("↑↓ choose")
    session.press("enter")
    session.wait_for(lambda screen: "↑↓ choose" not in screen)
