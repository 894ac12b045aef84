"""`approve`, `create-task`, `set-limit`: through the journal, an exit code for each outcome."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from agentco_tui.demo.renderer import Json
from agentco_tui.demo.world_state import DemoTask
from tests.commands.conftest import Command
from tests.platform import EmbeddedPlatform


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


def _without_names(kind: str, record: Json) -> Json:
    """A record as platforms send it that name other records by their ids only."""
    if kind != "activity":
        record.pop("agent_name", None)
        record.pop("company_name", None)
    return record


def test_the_journal_has_names_where_the_platform_sends_only_ids(command: Command) -> None:
    with EmbeddedPlatform(speed=0, edit=_without_names) as platform:
        waiting = platform.world.tasks(status="pending")[0]
        told = command.on(platform)("get", "task", waiting.id, "--json").out
        fingerprint = json.loads(told)["fingerprint"]
        command("approve", waiting.id, "--expect", fingerprint)
        command("create-task", "--agent", waiting.agent.id, "--title", "Close the books")
        command("set-limit", waiting.agent.id, "900")
        company = waiting.agent.company
        for attempt in journal(command):
            owners = (attempt["agent_name"], attempt["company_name"], attempt["company"])
            assert owners == (waiting.agent.name, company.name, company.id), attempt["verb"]
        words = f"approve “{waiting.title}” {waiting.id} ("
        words = f"{words}{company.name} {company.id}, {waiting.agent.name} {waiting.agent.id})"
        assert words in command("journal").lines[0]


def test_names_that_cannot_be_read_delay_no_change(command: Command) -> None:
    with EmbeddedPlatform(speed=0, edit=_without_names) as platform:
        waiting = platform.world.tasks(status="pending")[0]
        told = command.on(platform)("get", "task", waiting.id, "--json").out
        fingerprint = json.loads(told)["fingerprint"]
        platform.faults.add("agent:status=404")
        platform.faults.add("company:status=500")
        assert command("approve", waiting.id, "--expect", fingerprint).code == 0
        [attempt] = journal(command)
        assert (attempt["agent"], attempt["company"]) == (
            waiting.agent.id,
            waiting.agent.company.id,
        )
        assert (attempt["agent_name"], attempt["company_name"]) == (None, None)


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


def test_an_id_that_no_list_has_is_2_and_one_approved_from_here_is_not(
    command: Command, still: EmbeddedPlatform, waiting: DemoTask, fingerprint: str
) -> None:
    ran = command("approve", "tsk_none", "--expect", fingerprint)
    assert (ran.code, ran.out) == (2, "")
    assert "no task has the id tsk_none: nothing was sent" in ran.err
    assert command("approve", "tsk_none", "--expect", fingerprint, "--json").code == 2
    still.faults.add("tasks:status=503")
    ran = command("approve", "tsk_none", "--expect", fingerprint)
    assert (ran.code, "nothing was sent" in ran.out) == (3, True), ran.out
    still.faults.clear()
    still.faults.add("tasks:status=503,after=1")
    ran = command("approve", "tsk_none", "--expect", fingerprint)
    assert (ran.code, "nothing was sent" in ran.out) == (3, True), ran.out
    still.faults.clear()
    companies = {agent.company for agent in still.world.agents()}
    other = next(each for each in companies if each is not waiting.agent.company)
    ran = command("approve", waiting.id, "--expect", fingerprint, "--company", other.id)
    assert ran.code != 2, "the platform has it, in another company"
    assert command("approve", waiting.id, "--expect", fingerprint).code == 0
    with still.world.locked() as state:
        del state.tasks[waiting.id]
    ran = command("approve", waiting.id, "--expect", fingerprint)
    assert (ran.code, "this machine had asked for it before" in ran.out) == (0, True), ran.out
    assert len(still.requests.matching("approve")) == 1
    another = still.world.tasks(status="pending")[0]
    still.world.approve(another.id)
    with still.world.locked() as state:
        del state.tasks[another.id]
    ran = command("approve", another.id, "--expect", fingerprint)
    assert (ran.code, "approved elsewhere" in ran.out) == (6, True), "the log tells who did"


@pytest.mark.parametrize(
    "words",
    [
        ("set-limit", "ag_none", "5"),
        ("create-task", "--agent", "ag_none", "--title", "x"),
        ("create-task", "--agent", "linus", "--title", "x", "--company", "cmp_none"),
    ],
)
def test_an_unknown_agent_or_company_is_2(
    command: Command, still: EmbeddedPlatform, words: tuple[str, ...]
) -> None:
    ran = command.on(still)(*words)
    assert (ran.code, ran.out) == (2, "")
    assert "_none" in ran.err
    assert [each for each in still.requests if each.method == "POST"] == []


NAMES = {
    "approve": ("approve", "tsk_1", "--expect", "0" * 30),
    "create-task": ("create-task", "--agent", "linus", "--title", "Books", "--priority", "high"),
    "set-limit": ("set-limit", "linus", "250", "--expect", "200"),
}
"""Each writing command with all of its own arguments."""


def emptied() -> list[tuple[tuple[str, ...], str]]:
    """Each writing command with one argument blank, and what names that argument."""
    shared = ("--profile", "--base-url", "--company", "--config", "--log-file", "--wait")
    found: list[tuple[tuple[str, ...], str]] = []
    positional = {("approve", 1): "ID", ("set-limit", 1): "AGENT", ("set-limit", 2): "AMOUNT"}
    for blank in ("", " ", "\t", "\u00a0", "\u200b"):
        for command, words in NAMES.items():
            for place in range(1, len(words)):
                if words[place].startswith("--"):
                    continue
                before = words[place - 1]
                named = before if before.startswith("--") else positional[command, place]
                found.append(((*words[:place], blank, *words[place + 1 :]), named))
            found += [((*words, flag, blank), flag) for flag in shared]
    return found


@pytest.mark.parametrize(("words", "named"), emptied())
def test_an_empty_argument_is_an_error_that_names_it(
    command: Command, still: EmbeddedPlatform, words: tuple[str, ...], named: str
) -> None:
    ran = command.on(still)(*words)
    assert (ran.code, ran.out) == (2, "")
    [line] = ran.err.splitlines()
    assert f"argument {named}: must" in line
    assert [seen for seen in still.requests if seen.method == "POST"] == []


@pytest.mark.parametrize(
    "name",
    ["AGENTCO_BASE_URL", "AGENTCO_API_KEY", "AGENTCO_PROFILE", "AGENTCO_CONFIG",
        "AGENTCO_READ_ONLY"],
)  # fmt: skip
@pytest.mark.parametrize("words", NAMES.values(), ids=NAMES)
def test_an_empty_variable_is_an_error_that_names_it(
    command: Command, still: EmbeddedPlatform, words: tuple[str, ...], name: str
) -> None:
    ran = command.on(still)(*words, env={name: ""})
    assert (ran.code, ran.err) == (
        2,
        f"agentco-tui: {name} is set and empty: give it a value, or unset it\n",
    )
    assert list(still.requests) == []


@pytest.mark.parametrize("amount", ["NaN", "inf", "-inf", "-5", "1e3", "0x10", "1,250", "٣", "5 5"])
@pytest.mark.parametrize("argument", ["AMOUNT", "--expect"])
def test_what_is_no_limit_is_refused_before_anything_is_asked(
    command: Command, still: EmbeddedPlatform, amount: str, argument: str
) -> None:
    words = ["set-limit", "linus", *(["--expect=" + amount, "9"] if argument != "AMOUNT" else [])]
    ran = command.on(still)(*words, *([amount] if argument == "AMOUNT" else []))
    assert (ran.code, ran.out) == (2, "")
    [line] = ran.err.splitlines()
    assert argument in line or amount in line
    assert list(still.requests) == []


@pytest.mark.parametrize("expect", ["0", "0" * 29, "0" * 31, "g" * 30, "any", "None", "-"])
def test_what_is_no_fingerprint_is_refused(
    command: Command, still: EmbeddedPlatform, waiting: DemoTask, expect: str
) -> None:
    ran = command.on(still)("approve", waiting.id, f"--expect={expect}")
    assert (ran.code, ran.out) == (2, "")
    assert "--expect must be the fingerprint" in ran.err
    assert list(still.requests) == []


@pytest.mark.parametrize("unseen", ["\x1b[2J", "a\nb", "a\u2028b", "\udcff", "\x07"])
def test_what_cannot_be_seen_is_refused(
    command: Command, still: EmbeddedPlatform, unseen: str
) -> None:
    for words in (
        ("approve", unseen, "--expect", "0" * 30),
        ("create-task", "--agent", unseen, "--title", "Books"),
        ("create-task", "--agent", "linus", "--title", unseen),
        ("create-task", "--agent", "linus", "--title", "Books", "--priority", unseen),
        ("set-limit", unseen, "5"),
    ):
        ran = command.on(still)(*words)
        assert (ran.code, ran.out) == (2, ""), words
        assert "must be one line without control characters" in ran.err
    assert list(still.requests) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_a_writing_command_says_that_it_is_sent_at_once(
    command: Command, name: str
) -> None:
    told = " ".join(command(name, "--help").out.split())
    assert "It is sent at once" in told
    assert "can't be taken back" in told
