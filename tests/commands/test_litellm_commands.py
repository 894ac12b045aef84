"""The commands on a platform that offers money only: what it lacks is said, and is no failure."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentco_tui.reading.content import SIZE
from tests.commands.conftest import Command, Ran
from tests.platforms.composed_litellm import KEY, SCOUT, ComposedLiteLLM

WORDS = "LiteLLM does not offer this"


@pytest.fixture
def server() -> Iterator[ComposedLiteLLM]:
    with ComposedLiteLLM() as running:
        yield running


@pytest.fixture
def run(command: Command, server: ComposedLiteLLM, tmp_path: Path) -> Command:
    """The command with a profile for the server."""
    config = tmp_path / "config.toml"
    config.write_text(
        f'[profiles.money]\nbase_url = "{server.base_url}"\nplatform = "litellm"\n',
        encoding="utf-8",
    )
    command.env |= {
        "AGENTCO_CONFIG": str(config),
        "AGENTCO_PROFILE": "money",
        "AGENTCO_API_KEY": KEY,
    }
    return command


def sent_writes(server: ComposedLiteLLM) -> list[object]:
    return [seen.body for seen in server.requests if seen.method != "GET"]


def test_status_judges_the_budgets(run: Command, server: ComposedLiteLLM) -> None:
    ran = run("status")
    assert (ran.code, ran.err) == (1, "")
    assert ran.lines[0] == (
        "WARNING - 3 warning; Globex spent $96.50 of $100.00; Acme spent $12.35 of –;"
        " Initech spent $1.50 of $40.00"
    )
    assert [line.partition(":")[0] for line in ran.lines[1:]] == [
        "▲ money low 96 % of $100.00",
        "▲ money low 99 % of $50.00",
        "▲ money low 98 % of $10.00",
    ]
    told = json.loads(run("status", "--json").out)
    assert (told["failed"], told["alerts"], told["budget"]) == ([], None, None)
    assert told["pending"]["count"] is None
    server.teams[0]["spend"] = server.keys[0]["spend"] = 1.0
    server.keys[3]["spend"] = 0.5
    assert run("status").code == 0, "what is not offered is no reason for a worse level"
    run.env["AGENTCO_API_KEY"] = "sk-another"
    refused = run("status")
    assert refused.code == 3
    assert refused.lines[0].startswith("UNKNOWN - 4 of 4 requests without an answer: the key is")


def test_get_budget_has_all_that_there_is(run: Command) -> None:
    ran = run("get", "budget", "--json")
    assert (ran.code, ran.err) == (0, ""), "the sum of all is not offered, and not missing"
    found = {each["name"]: each["spent"]["amount"] for each in json.loads(ran.out)}
    assert (found["Globex"], found["scout"]) == ("96.5", "49.5")
    assert len(found) == 8
    of_globex = run("get", "budget", "--company", "Globex", "--json")
    assert of_globex.code == 0
    assert [each["name"] for each in json.loads(of_globex.out)] == ["Globex", "quill", "scout"]


def test_a_list_that_is_not_offered_says_so(run: Command, server: ComposedLiteLLM) -> None:
    for what, list_name in (("tasks", "pending tasks"), ("activity", "activity"),
                            ("alerts", "alerts")):  # fmt: skip
        ran = run("get", what, "--json")
        assert (ran.code, ran.out) == (3, "[]\n")
        assert ran.err == f"agentco-tui: {list_name}: {WORDS}\n"
    for words in (("tail",), ("tail", "--follow")):
        ran = run(*words)
        assert (ran.code, ran.out) == (3, "")
        assert ran.err == f"agentco-tui: activity: {WORDS}\n"
    ran = run("export", "activity")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == "agentco-tui: LiteLLM does not offer an export of the activity\n"
    paths = {seen.path for seen in server.requests}
    assert paths <= {"/v2/team/list", "/key/list"}


def test_doctor_says_what_is_not_offered(run: Command) -> None:
    ran = run("doctor")
    assert ran.code == 0
    lines = [line for line in ran.lines if f"not sent: {WORDS}" in line]
    assert [line.split()[1] for line in lines] == [
        "company", "agent", "tasks", "task_trace", "activity", "export_activity", "budget",
        "budget_alerts",
    ]  # fmt: skip
    assert "4 of 4 reads answered" in ran.lines
    fields = run("doctor", "--fields")
    assert fields.code == 0
    assert "◌ task: LiteLLM does not offer any tasks" in fields.lines


def test_a_limit_is_set_and_read_back(run: Command, server: ComposedLiteLLM) -> None:
    ran = run("set-limit", "scout", "60.25")
    assert (ran.code, ran.err) == (0, "")
    assert sent_writes(server) == [{"key": SCOUT, "max_budget": 60.25}]
    [attempt] = [json.loads(line) for line in run("journal", "--json").lines]
    assert (attempt["agent_name"], attempt["company_name"]) == ("scout", "Globex")
    assert attempt["details"] == {"limit": "60.25", "old": "50"}
    assert (attempt["outcome"]["is"], attempt["outcome"]["known_by"]) == ("done", "read")
    # The limit that the user saw is another one by now: nothing is sent.
    assert run("set-limit", "scout", "70", "--expect", "50").code != 0
    assert len(sent_writes(server)) == 1


def test_what_cannot_be_written_is_not_sent(run: Command, server: ComposedLiteLLM) -> None:
    expected = "0" * 2 * SIZE
    for words in (
        ("approve", SCOUT, "--expect", expected),
        ("create-task", "--agent", "scout", "--title", "Count", "--priority", "low"),
    ):
        ran = run(*words)
        assert ran.code == 3
        assert ran.lines[0].endswith(WORDS)
    run.env["AGENTCO_API_KEY"] = "sk-another"
    assert run("set-limit", "scout", "60").code == 3
    assert sent_writes(server) == []


def test_metrics_have_no_feed_that_is_not_offered(run: Command) -> None:
    ran = run("metrics")
    assert ran.code == 0
    up = [line for line in ran.lines if line.startswith("agentco_feed_up{")]
    assert up == [
        f'agentco_feed_up{{feed="{name}"}} 1.0'
        for name in ("agent budgets", "agents", "companies", "company budgets")
    ]


def test_plain_lines_say_it_where_the_tasks_would_be_counted(run: Command) -> None:
    ran = with_input(run, "q\n")
    assert ran.code == 0
    assert f"3 need you, tasks: {WORDS}" in ran.lines
    assert ran.out.count(WORDS) == 1


def with_input(run: Command, typed: str) -> Ran:
    """`--plain` with these lines typed."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as keys:
        keys.write(typed)
        keys.seek(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", keys)
            return run("--plain")
