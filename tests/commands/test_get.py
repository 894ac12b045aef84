"""`agentco-tui get`: records as they were read, in three forms, narrowed as on the screens."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest

from agentco_tui.live.record_export import flat_names
from tests.commands.conftest import Command, Ran
from tests.live.poller_harness import ChoosyPlatform, Parameters
from tests.platform import EmbeddedPlatform


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


def test_keys_kinds_and_whom_agents_report_to_are_columns_where_they_are_sent(
    command: Command, get: Command, quiet: EmbeddedPlatform
) -> None:
    header = get("get", "tasks").lines[0]
    assert header.split() == [
        *("ID", "STATUS", "PRIORITY", "TITLE", "AGENT", "COMPANY", "COST", "CREATED")
    ]
    assert "REPORTS_TO" not in get("get", "agents").lines[0]
    first, *_, boss = quiet.world.agents()

    def edited(kind: str, record: Any) -> Any:
        if kind == "tasks":
            record |= {"identifier": f"GLO-{sum(map(ord, record['id']))}", "type": "review"}
        if kind == "agents" and record["id"] == first.id:
            record["reportsTo"] = boss.id
        return record

    with EmbeddedPlatform(speed=0, edit=edited) as platform:
        command.on(platform)
        lines = command("get", "tasks").lines
        assert lines[0].split()[:4] == ["ID", "KEY", "KIND", "STATUS"]
        task_id, key, kind, *_ = lines[1].split()
        assert (key, kind) == (f"GLO-{sum(map(ord, task_id))}", "review")
        [task] = told(command("get", "tasks", "--filter", f"key:{key}", "--limit", "1", "--json"))
        assert (task["key"], task["kind"]) == (key, "review")
        assert key not in task["title"]
        assert told(command("get", "tasks", "--filter", "kind:hire", "--json")) == []
        agents = command("get", "agents").lines
        assert "REPORTS_TO" in agents[0]
        at = agents[0].index("REPORTS_TO")
        line = next(line for line in agents if line.startswith(first.id))
        assert line[at:].startswith(boss.name)
        agent = told(command("get", "agent", first.id, "--json"))
        assert agent["reports_to"] == {"id": boss.id, "name": boss.name}
        assert re.search(r"task waits [^:]+: GLO-\d+ \w", command("status").out)


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
        (2, ("task", "tsk_none"), "no task has the id tsk_none"),
        (2, ("company", "cmp_none"), "no company has the name or id cmp_none"),
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


@pytest.mark.parametrize(
    ("words", "flag", "kinds"),
    [
        (("companies", "--agent", "linus"), "--agent", "agents, tasks, budget, alerts, activity"),
        (("companies", "--company", "acme robotics"), "--company", "agents, tasks, budget"),
        (("activity", "--status", "failed"), "--status", "companies, agents, tasks, budget"),
        (("company", "cmp_1", "--status", "active"), "--status", "companies, agents, tasks"),
        (("agent", "linus", "--agent", "linus"), "--agent", "agents, tasks"),
        (("task", "tsk_1", "--limit", "3"), "--limit", "companies, agents, tasks"),
        (("task", "tsk_1", "--filter", "x"), "--filter", "companies, agents, tasks"),
        (("trace", "tsk_1", "--company", "acme robotics"), "--company", "agents, tasks"),
    ],
)
def test_a_flag_that_does_not_apply_is_refused(
    get: Command, quiet: EmbeddedPlatform, words: tuple[str, ...], flag: str, kinds: str
) -> None:
    asked_before = len(quiet.requests)
    ran = get("get", *words)
    assert (ran.code, ran.out) == (2, "")
    assert f"{flag} does not apply to get {words[0]}; it applies to {kinds}" in ran.err
    assert len(quiet.requests) == asked_before


def test_status_selects_wherever_there_is_one(command: Command) -> None:
    with EmbeddedPlatform(speed=0) as platform:
        command.on(platform)

        def records(*words: str) -> list[dict[str, Any]]:
            return list(told(command("get", *words, "--json")))

        world = platform.world
        for number, agent in enumerate(world.agents()):
            agent.status = "paused" if number in (3, 5) else "active"
        paused = {agent.id for agent in world.agents() if agent.status == "paused"}
        assert {each["id"] for each in records("agents", "--status", "paused")} == paused
        assert {each["id"] for each in records("agents", "--status", "PAUSED")} == paused
        assert len(records("agents", "--status", "all")) == len(world.agents())
        assert records("agents", "--status", "error") == []  # a known word that no agent has
        statuses = {each["status"] for each in records("companies")}
        for status in statuses - {None}:
            matching = records("companies", "--status", status)
            assert matching
            assert {each["status"] for each in matching} == {status}
        done = [task for task in records("tasks", "--status", "all") if task["state"] == "done"]
        assert done
        for word in ("completed", "done", "finished"):
            assert records("tasks", "--status", word) == done, word
        open_alerts = records("alerts", "--status", "open")
        assert [each["id"] for each in open_alerts] == [
            each["id"] for each in records("alerts") if each["open"] is not False
        ]


@pytest.mark.parametrize("what", ["companies", "agents", "tasks", "alerts", "budget"])
def test_an_unknown_status_is_no_empty_list(get: Command, what: str) -> None:
    ran = get("get", what, "--status", "wombat")
    assert (ran.code, ran.out) == (2, "")
    assert "no status wombat" in ran.err
    assert "all" in ran.err


def test_company_and_agent_select_wherever_there_is_one(
    get: Command, quiet: EmbeddedPlatform
) -> None:
    linus = next(agent for agent in quiet.world.agents() if agent.name == "Linus")
    companies = {agent.company for agent in quiet.world.agents()}
    acme = next(each for each in companies if each.name == "Acme Robotics")
    in_acme = {agent.id for agent in quiet.world.agents() if agent.company is acme}
    [agent] = told(get("get", "agents", "--agent", "linus", "--json"))
    assert agent["id"] == linus.id
    [budget] = told(get("get", "budget", "--agent", "linus", "--json"))
    assert (budget["scope"], budget["id"]) == ("agent", linus.id)
    for what in ("agents", "budget", "alerts", "activity"):
        for record in told(get("get", what, "--company", "acme robotics", "--json")):
            assert record["company"]["id"] == acme.id or record["id"] == acme.id, what
    for what in ("alerts", "activity"):
        for record in told(get("get", what, "--agent", "linus", "--json")):
            assert record["agent"]["id"] == linus.id, what
    listed = told(get("get", "agents", "--company", "acme robotics", "--json"))
    assert {each["id"] for each in listed} == in_acme
    assert told(get("get", "agent", "linus", "--json"))["id"] == linus.id
    other = next(each for each in companies if each is not linus.company)
    ran = get("get", "agent", linus.id, "--company", other.id)
    assert (ran.code, ran.out) == (2, "")
    assert get("get", "agent", linus.id, "--company", linus.company.id).code == 0


def test_an_unknown_id_exits_2_and_one_that_could_not_be_read_exits_3(
    get: Command, quiet: EmbeddedPlatform
) -> None:
    for what in ("company", "agent", "task", "trace"):
        ran = get("get", what, "xyz_none")
        assert (ran.code, ran.out) == (2, ""), what
        assert "xyz_none" in ran.err, what
    assert "the nearest is Linus" in get("get", "agent", "Linnus").err
    for fault, what in (
        ("companies:status=503", "company"),
        ("agents:status=503", "agent"),
        ("tasks:status=503", "task"),
        ("trace:status=503", "trace"),
    ):
        quiet.faults.add(fault)
        ran = get("get", what, "xyz_none")
        assert (ran.code, ran.out) == (3, ""), (what, ran.err)
        quiet.faults.clear()


def test_the_log_of_a_company_is_chosen_when_the_companies_of_agents_are_known(
    command: Command,
) -> None:
    """A platform that ignores all filters, whose entries name agents only; the log comes first."""
    log: list[dict[str, str]] = []

    def choice(path: str, query: Parameters) -> Parameters | bytes:
        if path == "/api/activity":
            return json.dumps(log).encode()
        return {name: value for name, value in query.items() if name != "company_id"}

    with ChoosyPlatform(choice) as platform:
        agents = [*platform.world.state.agents.values()]
        ours = agents[0]
        theirs = next(agent for agent in agents if agent.company.id != ours.company.id)
        for number, agent_id in enumerate((ours.id, theirs.id, "ag_deleted")):
            entry = {"id": f"e{number}", "agent_id": agent_id, "type": "note"}
            log.append({**entry, "created_at": "2026-09-21T13:00:00Z"})
        platform.faults.add("agents:latency=400ms")
        ran = command.on(platform)("get", "activity", "--company", ours.company.name, "--json")
    assert [entry["id"] for entry in json.loads(ran.out)] == ["e0"]
