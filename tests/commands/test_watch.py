"""`agentco-tui watch`: a line and a command for each cause, alive whatever the platform does."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentco_tui.attention.critical_command import LOG_FILE
from agentco_tui.commands.watch import StartupPhase
from agentco_tui.system.state_folder import NOTIFIED_FILE
from tests.commands.conftest import Child, Command
from tests.commands.test_tail import Lines
from tests.platform import EmbeddedPlatform

CONFIG = '[notify]\noutage = "1s"\npriority = "high"\n'


def limit(platform: EmbeddedPlatform, number: int, dollars: float) -> str:
    """Set an agent's limit, and give its name."""
    agent = platform.world.agents()[number]
    platform.world.set_limit(agent.id, dollars)
    return agent.name


@pytest.fixture
def calm() -> Iterator[EmbeddedPlatform]:
    """A platform on which nothing needs a person."""
    with EmbeddedPlatform(speed=0, tasks=0) as platform:
        for number in range(len(platform.world.agents())):
            limit(platform, number, 1_000_000)
        yield platform


def test_it_calls_through_every_failure_of_the_platform(
    command: Command, calm: EmbeddedPlatform
) -> None:
    (command.home / "config.toml").write_text(CONFIG)
    seen = command.home / "seen"
    script = command.home / "page.sh"
    told = "$AGENTCO_NEED_AGENT,$AGENTCO_API_KEY,$AGENTCO_PROFILE"
    script.write_text(f'#!/bin/sh\necho "{told}" >> {seen}\n')
    script.chmod(0o700)
    words = ("--config", "config.toml", "--refresh", "0.5", "--on-critical", f"{script} 'a b'")
    command.on(calm)
    calm.stop()  # a start while it is down
    with command.start("watch", *words) as child:
        out, err = Lines(child.stdout), Lines(child.stderr)
        err.until("watching http://127.0.0.1")
        assert "no answer for" in out.until(" outage: ")
        calm.start()
        first = limit(calm, 0, 0.01)
        assert "critical: " in out.until(first)
        calm.faults.add("*:status=503")
        out.until("outage: ")
        calm.faults.clear()
        calm.keys["full"], key = "ag_another_0001", calm.keys["full"]
        out.until("outage: ")
        calm.keys["full"] = key
        limit(calm, 0, 1_000_000)
        agent = calm.world.agents()[0]
        calm.world.create_task(agent.company.id, "sign it", agent.id, "urgent")
        assert "sign it" in out.until(" waiting: ")
        limit(calm, 0, 0.01)  # once more: that is no news
        second = limit(calm, 1, 0.01)
        out.until(second)
        child.send_signal(signal.SIGTERM)
        assert child.wait(timeout=60) == 0
    assert [first in line for line in out.rest() if " critical: " in line] == [True, False]
    assert err.rest()[1:] == []
    assert seen.read_text().splitlines() == [f"{name},,default" for name in (first, second)]
    log = command.home / ".local/state/agentco-tui" / LOG_FILE
    assert len(log.read_text().splitlines()) == 2


def test_what_stands_at_the_start_is_one_call(command: Command, still: EmbeddedPlatform) -> None:
    with command.on(still).start("watch", "--json", "--refresh", "0.5") as child:
        told = json.loads(Lines(child.stdout).until("{"))
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=60) == 0
    assert len(told["causes"]) > 1
    assert told["text"].startswith(f"{len(told['causes'])} critical: ")
    assert {*told["causes"][0]} == {"level", "kind", "text", "company", "agent", "id"}


def test_what_it_cannot_do_is_said(command: Command, still: EmbeddedPlatform) -> None:
    ran = command.on(still)("watch", "--on-critical", "'open")
    assert (ran.code, "--on-critical: invalid" in ran.err) == (2, True)
    ran = command("watch", "--company", "umbrella")
    assert (ran.code, "no company has the name" in ran.err) == (2, True)


def pager(command: Command, told: str) -> tuple[str, Path]:
    """A command that appends what it is told to a file; the command line, and the file."""
    seen, script = command.home / "seen", command.home / "page.sh"
    script.write_text(f'#!/bin/sh\necho "{told}" >> {seen}\n')
    script.chmod(0o700)
    seen.touch()
    return str(script), seen


def stop(child: Child) -> None:
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=60) == 0


def test_what_stands_at_the_start_is_one_run_and_no_run_after_a_restart(
    command: Command, calm: EmbeddedPlatform
) -> None:
    script, seen = pager(command, "$AGENTCO_NEED_KIND $AGENTCO_NEED_TEXT")
    names = [limit(calm, number, 0.01) for number in range(4)]
    words = ("--refresh", "0.5", "--on-critical", script)
    with command.on(calm).start("watch", *words) as child:
        Lines(child.stdout).until("4 critical: ")
        stop(child)
    [line] = seen.read_text().splitlines()
    assert line.startswith("summary 4 critical (4 ")
    assert all(name in line for name in names)
    file = command.home / ".local/state/agentco-tui" / NOTIFIED_FILE
    assert file.stat().st_mode & 0o777 == 0o600
    calm.requests.clear()
    with command.start("watch", *words) as child:
        out = Lines(child.stdout)
        late = limit(calm, 6, 0.01)
        assert late in out.until(" critical: ")
        stop(child)
    assert len(out.seen) == 1
    assert [late in line for line in seen.read_text().splitlines()] == [False, True]
    with command.start("watch", "--refresh", "0.5") as child:
        assert "5 critical: " in Lines(child.stdout).until("critical"), "nobody was paged by this"
        stop(child)


def test_beyond_ten_an_hour_nothing_is_lost(command: Command, calm: EmbeddedPlatform) -> None:
    script, seen = pager(command, "$AGENTCO_NEED_KIND $AGENTCO_NEED_TEXT")
    words = ("--refresh", "0.5", "--on-critical", script)
    with command.on(calm).start("watch", *words) as child:
        out, err = Lines(child.stdout), Lines(child.stderr)
        names = list[str]()
        for number in range(14):
            names.append(limit(calm, number, 0.01))
            out.until(" critical: ")
        err.until("the rest is one run")
        stop(child)
    lines = seen.read_text().splitlines()
    alone = [line for line in lines if not line.startswith("summary")]
    assert len(alone) in (10, 11)
    assert len(lines) <= 12
    told = "\n".join(lines)
    assert all(f"{name} (" in told or f"{name}," in told or told.endswith(name) for name in names)


@pytest.mark.parametrize("fault", ["*:hang", "*:drip=1s"])
def test_a_platform_that_hangs_is_an_outage_that_ends(
    command: Command, calm: EmbeddedPlatform, fault: str
) -> None:
    (command.home / "config.toml").write_text('[notify]\noutage = "2s"\n')
    words = ("--config", "config.toml", "--refresh", "0.5", "--json")
    with command.on(calm).start("watch", *words) as child:
        out = Lines(child.stdout)
        first = limit(calm, 0, 0.01)
        out.until(first)
        calm.faults.add(fault)
        told = json.loads(out.until('"outage"'))
        assert "the platform was asked and has not answered" in told["text"], (
            "while the first attempt is under way"
        )
        assert {cause["level"] for cause in told["causes"]} == {"outage"}
        calm.faults.clear()
        calm.stop()  # what hangs is cut
        calm.start()
        told = json.loads(out.until('"restored"'))
        assert "again, back after" in told["text"]
        stop(child)


def test_what_a_late_feed_brings_at_first_was_there_before() -> None:
    sight = StartupPhase()
    assert sight.is_startup_check(6, is_complete=False)
    assert sight.is_startup_check(6, is_complete=True), "the answers came since the look before"
    assert sight.is_startup_check(6, is_complete=True) is False
    assert sight.is_startup_check(7, is_complete=True)
    assert sight.is_startup_check(7, is_complete=True), (
        "it may have come while the needs were found"
    )
    assert sight.is_startup_check(7, is_complete=True) is False
