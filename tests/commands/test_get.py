"""`agentco-tui get`: records as they were read, in three forms, narrowed as on the screens."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from agentco_tui.live.record_export import flat_names
from tests.commands.conftest import Command, Ran
from tests.embedded import EmbeddedPlatform


@pytest.fixture(scope="module")
def quiet() -> Any:
    """A platform in which nothing happens by itself, and nothing is changed by these tests."""
    with EmbeddedPlatform(speed=0) as platform:
        yield platform


@pytest.fixture
def get(command: Command, quiet: EmbeddedPlatform) -> Command:
    quiet.faults.clear()
    return command.on(quiet)


def told(ran: Ran) -> Any:
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)


@pytest.mark.parametrize(
    ("what", "kind", "number"),
    [
        ("companies", "company", 3),
        ("agents", "agent", 24),
        ("budget", "budget", 1 + 3 + 24),
        ("activity", "activity", 7),
    ],
)
def test_each_list_has_all_that_was_read(get: Command, what: str, kind: str, number: int) -> None:
    limit = ["--limit", "7"] if what == "activity" else []
    records = told(get("get", what, "--json", *limit))
    assert len(records) == number
    rows = list(csv.reader(io.StringIO(get("get", what, "--csv", *limit).out, newline="")))
    assert tuple(rows[0]) == flat_names(kind)
    assert [row[0] for row in rows[1:]] == [record["id"] for record in records]
    lines = get("get", what, *limit).lines
    assert len(lines) == 1 + number
    assert lines[0].split()[0] in ("ID", "AT")


def test_what_was_assumed_and_where_names_are_from(get: Command, quiet: EmbeddedPlatform) -> None:
    [task] = told(get("get", "tasks", "--filter", "refund agent:linus", "--json"))
    held = quiet.world.task(task["id"])
    assert task["title"] == held.title
    assert task["agent"] == {"id": held.agent.id, "name": "Linus"}
    assert task["company"]["name"] == held.agent.company.name
    assert task["created"].endswith("Z")
    assert isinstance(task["cost"]["amount"], str)


def test_it_is_narrowed_as_on_the_screens(get: Command, quiet: EmbeddedPlatform) -> None:
    def ids(*words: str) -> set[str]:
        return {record["id"] for record in told(get("get", *words, "--json"))}

    waiting = {task.id for task in quiet.world.tasks() if task.status == "pending"}
    assert ids("tasks") == ids("tasks", "--status", "pending") == waiting
    of_all = ids("tasks", "--status", "all")
    assert waiting < of_all
    assert ids("tasks", "--status", "completed") < of_all - waiting
    linus = {task.id for task in quiet.world.tasks() if task.agent.name == "Linus"} & waiting
    assert ids("tasks", "--agent", "linus") == ids("tasks", "--filter", "agent:linus") == linus
    acme = {each.id for each in quiet.world.tasks() if each.agent.company.name == "Acme Robotics"}
    assert ids("tasks", "--company", "acme robotics") == acme & waiting
    urgent = {each.id for each in quiet.world.tasks() if each.priority in ("high", "urgent")}
    assert ids("tasks", "--filter", "priority>=high") == urgent & waiting
    assert ids("tasks", "--filter", "waits>500d") == set()
    assert ids("budget", "--filter", "used>=100%") <= ids("budget", "--filter", "share>80%")
    assert len(ids("tasks", "--limit", "2")) == 2


def test_one_record_and_what_its_agent_did(get: Command) -> None:
    task = told(get("get", "tasks", "--json"))[0]
    assert told(get("get", "task", task["id"], "--json"))["fingerprint"] == task["fingerprint"]
    lines = get("get", "task", task["id"]).lines
    assert f"fingerprint      {task['fingerprint']}" in lines
    steps = told(get("get", "trace", task["id"], "--json"))
    assert steps
    assert "duration_seconds" in steps[0]
    company = told(get("get", "company", task["company"]["id"], "--json"))
    assert company["name"] == task["company"]["name"]
    assert told(get("get", "agent", task["agent"]["id"], "--json"))["id"] == task["agent"]["id"]


def test_what_can_not_be_asked_is_told_in_a_line(get: Command) -> None:
    for code, words, says in (
        (2, ("task",), "needs an id"),
        (2, ("tasks", "tsk_1"), "takes no id"),
        (2, ("tasks", "--json", "--csv"), "choose one"),
        (2, ("tasks", "--filter", "colour:red"), "no column colour"),
        (2, ("tasks", "--agent", "nobody"), "no agent has the name"),
        (2, ("wombats",), "invalid choice"),
        (3, ("task", "tsk_none"), "no task that was read"),
        (3, ("company", "cmp_none"), "no company that was read"),
    ):
        ran = get("get", *words)
        assert (ran.code, ran.out) == (code, ""), words
        assert says in ran.err, words


def test_what_was_read_is_written_where_a_part_fails(get: Command, quiet: EmbeddedPlatform) -> None:
    quiet.faults.add("agent_budgets:status=404")
    ran = get("get", "budget", "--json")
    assert ran.code == 3
    assert ran.err.startswith("agentco-tui: agent budgets: ")
    assert {record["scope"] for record in json.loads(ran.out)} >= {"all", "company"}
    quiet.faults.clear()
    quiet.faults.add("agents:status=403")
    ran = get("get", "tasks", "--json")
    assert (ran.code, ran.err) == (0, "")


def test_hostile_texts_come_out_harmless(command: Command) -> None:
    with EmbeddedPlatform(speed=0, faults=["reads:hostile"]) as platform:
        for form in ("--json", "--csv", "--table"):
            ran = command.on(platform)("get", "tasks", form)
            assert ran.code == 0
            text = ran.out.replace("\r\n", "\n") if form == "--csv" else ran.out
            assert all(line.isprintable() for line in text.split("\n")), form
