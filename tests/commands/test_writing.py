"""`approve`, `create-task`, `set-limit`: through the journal, an exit code for each outcome."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from agentco_tui.demo.world_state import DemoTask
from tests.commands.conftest import Command
from tests.embedded import EmbeddedPlatform


@pytest.fixture
def waiting(still: EmbeddedPlatform) -> DemoTask:
    return still.world.tasks(status="pending")[0]


@pytest.fixture
def fingerprint(command: Command, still: EmbeddedPlatform, waiting: DemoTask) -> str:
    """What `get task` told of it."""
    told: str = json.loads(command.on(still)("get", "task", waiting.id, "--json").out)[
        "fingerprint"
    ]
    return told


def journal(command: Command) -> list[dict[str, Any]]:
    return [json.loads(line) for line in command("journal", "--json").lines]


def test_what_was_read_is_approved_once(
    command: Command, still: EmbeddedPlatform, waiting: DemoTask, fingerprint: str
) -> None:
    ran = command("approve", waiting.id, "--expect", fingerprint)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{waiting.title}: approved: ")
    assert still.world.task(waiting.id).status == "approved"
    [attempt] = journal(command)
    assert (attempt["task"], attempt["fingerprint"]) == (waiting.id, fingerprint)
    assert attempt["outcome"]["is"] == "approved here"
    told = json.loads(command("approve", waiting.id, "--expect", fingerprint, "--json").out)
    assert (told["exit_code"], told["kind"], told["attempt_id"]) == (0, "approved", None)
    assert len(still.requests.matching("approve")) == 1


def test_nothing_is_sent_without_what_was_read_or_where_it_changed(
    command: Command, still: EmbeddedPlatform, waiting: DemoTask, fingerprint: str
) -> None:
    ran = command("approve", waiting.id)
    assert ran.code == 2
    assert f"agentco-tui get task {waiting.id} --json" in ran.err
    ran = command("approve", waiting.id, "--expect", fingerprint, "--read-only")
    assert (ran.code, "writing is off (--read-only)" in ran.out) == (2, True)
    still.world.task(waiting.id).priority = "urgent" if waiting.priority != "urgent" else "low"
    still.world.state.changed(waiting)
    ran = command("approve", waiting.id, "--expect", fingerprint)
    assert (ran.code, "it is not what was read" in ran.out) == (4, True)
    assert still.requests.matching("approve") == []
    assert journal(command) == []


@pytest.mark.parametrize(
    ("fault", "code", "says"),
    [
        ("approve:status=422", 1, "refused"),
        ("approve:status=403", 1, "this key may not approve"),
        ("approve:drop_after", 0, "approved"),
        ("tasks:status=500", 3, "nothing was sent"),
    ],
)
def test_the_exit_code_says_what_became_of_it(
    command: Command,
    still: EmbeddedPlatform,
    waiting: DemoTask,
    fingerprint: str,
    fault: str,
    code: int,
    says: str,
) -> None:
    still.faults.add(fault)
    ran = command("approve", waiting.id, "--expect", fingerprint)
    assert (ran.code, says in ran.out) == (code, True), ran.out


def test_what_somebody_else_decided_is_6(
    command: Command, still: EmbeddedPlatform, waiting: DemoTask, fingerprint: str
) -> None:
    still.world.approve(waiting.id)
    ran = command("approve", waiting.id, "--expect", fingerprint)
    assert (ran.code, "already approved elsewhere" in ran.out) == (6, True), ran.out
    assert command("approve", "tsk_none", "--expect", fingerprint).code == 6
    still.stop()
    assert command("approve", waiting.id, "--expect", fingerprint).code == 3
    still.start()


def test_a_lost_answer_is_told_as_not_known_and_never_sent_again(
    command: Command, still: EmbeddedPlatform, waiting: DemoTask, fingerprint: str
) -> None:
    still.faults.add("approve:drop_before")
    ran = command("approve", waiting.id, "--expect", fingerprint, "--wait", "1")
    assert (ran.code, "no read has told within 1 s" in ran.out) == (5, True), ran.out
    assert "1 approval was sent and not yet settled: agentco-tui journal --since" in ran.err
    assert len(still.requests.matching("approve")) == 1
    [attempt] = journal(command)
    assert attempt["outcome"] is None
    ran = command("approve", waiting.id, "--expect", fingerprint, "--wait", "1")
    assert ran.code == 5
    assert len(still.requests.matching("approve")) == 1


def test_ctrl_c_leaves_what_is_in_flight_in_the_journal(
    command: Command, still: EmbeddedPlatform, waiting: DemoTask, fingerprint: str
) -> None:
    still.faults.add("approve:hang")
    path = Path(command.home) / ".local/state/agentco-tui/journal.jsonl"
    with command.start("approve", waiting.id, "--expect", fingerprint) as child:
        deadline = time.monotonic() + 30
        while not path.exists() or not path.read_text().strip():
            assert time.monotonic() < deadline
            assert child.poll() is None, child.communicate()
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "1 approval was sent and not yet settled" in err
    assert "Traceback" not in err


def test_a_task_is_created_and_a_limit_is_set(command: Command, still: EmbeddedPlatform) -> None:
    linus = next(each for each in still.world.agents() if each.name == "Linus")
    words = ("create-task", "--agent", "linus", "--title", "Close the books", "--json")
    told = json.loads(command.on(still)(*words).out)
    assert (told["exit_code"], told["verb"], told["kind"]) == (0, "create task", "done")
    made = still.world.task(told["subject"])
    assert (made.title, made.agent.id, made.priority) == ("Close the books", linus.id, "medium")
    assert command("create-task", "--agent", "linus", "--title", "").code == 2
    assert command("set-limit", "linus", "250.5").code == 0
    ran = command("set-limit", "linus", "260", "--expect", "200")
    assert (ran.code, "limit was “200.00”, is “$250.50”" in ran.out) == (4, True), ran.out
    assert command("set-limit", "linus", "260", "--expect", "250.5").code == 0
    assert command("set-limit", "linus", "2,600").code == 2
    assert command("set-limit", "nobody", "1").code == 2
    assert [entry["verb"] for entry in journal(command)] == ["create task", *["set limit"] * 2]
