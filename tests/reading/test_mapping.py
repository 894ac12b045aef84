"""What a profile tells of its platform: through the config file, the client and a real answer."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.config.file import ConfigFile
from agentco_tui.model import (
    Activity,
    Agent,
    AgentState,
    Alert,
    Budget,
    BudgetOverview,
    Listing,
    Ref,
    Severity,
    Task,
    TaskState,
)
from agentco_tui.reading.decode import UnexpectedShape
from agentco_tui.reading.field_meanings import MEANINGS
from agentco_tui.reading.field_path import FieldPathError, parse_field_path, write_field_path
from agentco_tui.reading.field_report import report_fields
from agentco_tui.reading.kinds import mappable_kinds
from agentco_tui.reading.kinds.task import TASKS
from agentco_tui.reading.mapping import DeclaredMapping, ProfileMapping, field_names
from agentco_tui.text import mark_safe
from tests.api.canary import client_of
from tests.api.wire_server import answering, http


def mapping_of(tmp_path: Path, text: str) -> ProfileMapping:
    """The mapping in a config file whose profile `p` says `text`."""
    path = tmp_path / "config.toml"
    path.write_text(f'[profiles.p]\nbase_url = "https://x.example"\n{text}')
    file = ConfigFile(path)
    assert file.problems == []
    found: ProfileMapping = file.mappings["p"]
    return found


async def asked(mapping: ProfileMapping, method: str, body: object) -> Any:
    """What the client's method makes of an answer."""

    answer = http(json.dumps(body).encode())
    async with answering(answer) as server, client_of(server, mapping=mapping) as client:
        return await getattr(client, method)()


NAMES = """
[profiles.p.fields.agent_budget]
agent_id = "holder_ref"
limit = "cap.ceiling"
spent = "burnt.this_cycle_cents"
[profiles.p.money]
unit = "cents"
currency = "eur"
"""
ROW = {
    "holder_ref": "ag_1", "cap": {"ceiling": 10000}, "burnt": {"this_cycle_cents": 2500},
    "monthly_spend": 9, "limit": 3,
}  # fmt: skip


async def test_a_platforms_own_names_and_unit(tmp_path: Path) -> None:
    mapping = mapping_of(tmp_path, NAMES)
    listing: Listing[Budget] = await asked(mapping, "agent_budgets", {"wallets": [ROW]})
    (found,) = listing.records
    assert found.id == "ag_1"
    for money, amount in ((found.limit, "100.00"), (found.spent, "25.00")):
        assert money is not None
        assert f"{money.amount:f} {money.currency} {money.unit_assumed}" == f"{amount} EUR False"
    overview: BudgetOverview = await asked(mapping, "budget", {"limit": 500, "budgets": [ROW]})
    assert overview.whole.limit is not None
    assert f"{overview.whole.limit.amount} {overview.whole.limit.unit_assumed}" == "5.00 False"


async def test_what_a_name_or_an_answer_tells_goes_before_the_profiles_unit(tmp_path: Path) -> None:
    mapping = mapping_of(tmp_path, '[profiles.p.money]\nunit = "cents"\ncurrency = "EUR"\n')
    rows = [{"agent_id": "a", "limit_usd": 5}, {"agent_id": "b", "limit": 5, "unit": "USD"},
            {"agent_id": "c", "limit": "$5"}]  # fmt: skip
    listing: Listing[Budget] = await asked(mapping, "agent_budgets", rows)
    told = [f"{b.limit.amount} {b.limit.currency}" for b in listing.records if b.limit]
    assert told == ["5 USD"] * 3


@pytest.mark.parametrize(
    ("text", "setting", "line", "words"),
    [
        ("[profiles.p.fields.agent_budgets]", "profiles.p.fields.agent_budgets", 2, "agent_budget"),
        ("[profiles.p.fields.agent_budget]\nspend = 'x'", "profiles.p.fields.agent_budget.spend",
         3, "nearest valid name: spent"),
        ("[profiles.p.fields.agent_budget]\nspent = 'a..b'",
         "profiles.p.fields.agent_budget.spent", 3, "one dot"),
        ("[profiles.p.fields.task]\ntitle = 'steps[x].name'", "profiles.p.fields.task.title", 3,
         "whole number in brackets"),
        ("[profiles.p.fields.task]\ntitle = '\"a.b'", "profiles.p.fields.task.title", 3,
         "not closed"),
        ("[profiles.p.fields.task]\ntitle = 'a[0]b'", "profiles.p.fields.task.title", 3,
         "a dot or a bracket"),
        ("[profiles.p.status.agents]\npaused = ['x']", "profiles.p.status.agents", 2, "agent"),
        ("[profiles.p.status.agent]\npausd = ['x']", "profiles.p.status.agent.pausd", 3, "paused"),
        ("[profiles.p.status.alert]\nopne = ['x']", "profiles.p.status.alert.opne", 3, "open"),
        ("[profiles.p.status.task]\nnull = 'waits'", "profiles.p.status.task.null", 3, "pending"),
        ("[profiles.p.status.task]\npending = ['x']\ndone = ['X']", "profiles.p.status.task.done",
         4, "means pending already"),
        ("[profiles.p.status]\npending = ['x']\ndone = ['X']", "profiles.p.status.done", 4,
         "means pending already"),
        ("[profiles.p.severity]\ncritcal = ['x']", "profiles.p.severity.critcal", 3, "critical"),
        ("[profiles.p.fields.agent_budget]\nspent = 5", "profiles.p.fields.agent_budget.spent", 3,
         "must be a text"),
        ("[profiles.p.money]\nunit = 'cent'", "profiles.p.money.unit", 3, "cents"),
        ("[profiles.p.money]\ncurency = 'EUR'", "profiles.p.money.curency", 3, "currency"),
        ("[profiles.p.money]\ncurrency = 'euros'", "profiles.p.money.currency", 3, "three letters"),
        ("[profiles.p.status]\npenidng = ['x']", "profiles.p.status.penidng", 3, "pending"),
        ("[profiles.p.status]\npending = 'x'", "profiles.p.status.pending", 3, "list of words"),
        ("[profiles.p]\nmony = 1", "profiles.p.mony", 3, "nearest valid name: money"),
        ("[profiles.p]\nfields = 1", "profiles.p.fields", 3, "must be a table"),
    ],
)  # fmt: skip
def test_mistakes_have_a_line_and_the_nearest_name(
    tmp_path: Path, text: str, setting: str, line: int, words: str
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"# a comment\n{text}\n")
    (problem,) = ConfigFile(path).problems
    assert (problem.setting, problem.line) == (setting, line)
    assert words in problem.text


async def test_a_platforms_own_word_for_waiting(tmp_path: Path) -> None:
    mapping = mapping_of(
        tmp_path,
        '[profiles.p.status]\npending = ["needs_ok"]\n'
        '[profiles.p.fields.task]\ntitle = "what.headline"\n'
        '[profiles.p.fields.agent]\nrole = "does"\n[profiles.p.fields.activity]\nverb = "deed"\n',
    )
    agents: Listing[Agent] = await asked(mapping, "agents", [{"id": "a", "does": "QA", "role": ""}])
    assert agents.records[0].role == "QA"
    rows = [{"id": "t1", "what": {"headline": "Pay"}, "status": "Needs-OK", "title": "x"}]
    listing: Listing[Task] = await asked(mapping, "tasks", rows)
    (found,) = listing.records
    assert (found.title, found.status, found.state) == ("Pay", "Needs-OK", TaskState.PENDING)
    as_sent: Listing[Task] = await asked(ProfileMapping(DeclaredMapping()), "tasks", rows)
    assert as_sent.records[0].state is TaskState.OTHER


ROWS = [
    {"id": "t1", "title": "x", "steps": [{"name": "Pay"}, {"name": "Ship"}], "a.b": {"c": "high"},
     "status": {"approved": None}, "state": "done"},
    {"id": "t2", "title": "y", "steps": [], "status": {"approved": False}},
    {"id": "t3", "status": {"approved": True}},
    {"id": "t4", "status": None},
]  # fmt: skip
PATHS = """
[profiles.p.fields.task]
title = "steps[1].name"
priority = '"a.b".c'
status = "status.approved"
[profiles.p.status.task]
null = "pending"
approved = ["true"]
rejected = ["false"]
"""


async def test_paths_lead_into_lists_and_keys_with_dots_and_null_is_a_status(
    tmp_path: Path,
) -> None:
    mapping = mapping_of(tmp_path, PATHS)
    listing: Listing[Task] = await asked(mapping, "tasks", ROWS)
    assert [(task.title, task.priority) for task in listing.records[:2]] == [
        ("Ship", "high"),
        ("y", None),
    ]
    states = [(task.state, task.needs_approval) for task in listing.records]
    assert states == [
        (TaskState.PENDING, True),
        (TaskState.REJECTED, False),
        (TaskState.APPROVED, False),
        (TaskState.PENDING, True),
    ]
    # What was read is not shown a second time; what was not read still is.
    assert json.loads(listing.records[0].extra)["steps"] == [{"name": "Pay"}]


async def test_a_null_that_is_not_mapped_is_no_status(tmp_path: Path) -> None:
    mapping = mapping_of(tmp_path, '[profiles.p.status]\nnull = "pending"\n')
    rows = [{"id": "a", "title": "x", "status": None}, {"id": "b", "title": "x"},
            {"id": "c", "title": "x", "status": "done", "state": None}]  # fmt: skip
    listing: Listing[Task] = await asked(mapping, "tasks", rows)
    assert [task.state for task in listing.records] == [TaskState.PENDING, None, TaskState.DONE]
    as_sent: Listing[Task] = await asked(ProfileMapping(DeclaredMapping()), "tasks", rows)
    assert [task.state for task in as_sent.records] == [None, None, TaskState.DONE]


WORDS = """
[profiles.p.status.agent]
paused = ["parked"]
null = "stopped"
[profiles.p.status.alert]
closed = ["handled"]
[profiles.p.severity]
critical = ["boom"]
"""


async def test_a_platforms_own_words_for_agents_alerts_and_severities(tmp_path: Path) -> None:
    mapping = mapping_of(tmp_path, WORDS)
    agents: Listing[Agent] = await asked(
        mapping, "agents", [{"id": "a", "status": "PARKED"}, {"id": "b", "status": None}]
    )
    assert [agent.state for agent in agents.records] == [AgentState.PAUSED, AgentState.STOPPED]
    alerts: Listing[Alert] = await asked(
        mapping,
        "budget_alerts",
        [{"id": "1", "message": "x", "level": "Boom", "status": "handled"},
         {"id": "2", "message": "x", "level": "boom", "status": "open"}],
    )  # fmt: skip
    assert [(alert.severity, alert.open) for alert in alerts.records] == [
        (Severity.CRITICAL, False),
        (Severity.CRITICAL, True),
    ]
    log: Listing[Activity] = await asked(
        mapping, "activity", [{"id": "1", "message": "x", "level": "boom"}]
    )
    assert log.records[0].severity is Severity.CRITICAL


async def test_a_path_into_a_list_is_a_sum_with_its_unit(tmp_path: Path) -> None:
    mapping = mapping_of(
        tmp_path,
        '[profiles.p.fields.agent_budget]\nspent = "performance[0].amount_cents"\n'
        'limit = "caps[1]"\n',
    )
    row = {"agent_id": "a", "performance": [{"amount_cents": 250}], "caps": [1, 100]}
    listing: Listing[Budget] = await asked(mapping, "agent_budgets", [row])
    (found,) = listing.records
    assert found.spent is not None
    assert found.limit is not None
    assert (str(found.spent.amount), str(found.limit.amount)) == ("2.50", "100")


KEYS = st.one_of(st.text(min_size=1, max_size=12), st.sampled_from(["a.b", 'q"x', "[0]", "a b"]))


@pytest.mark.slow
@given(st.lists(st.one_of(KEYS, st.integers(0, 999)), max_size=8), KEYS)
def test_a_path_is_parsed_as_it_was_written(parts: list[str | int], first: str) -> None:
    path = (first, *parts)
    if all(part.strip() for part in path if isinstance(part, str)):
        assert parse_field_path(write_field_path(path)) == path


@given(st.text(max_size=40))
def test_any_text_is_a_path_or_an_error(text: str) -> None:
    with suppress(FieldPathError):
        assert parse_field_path(text)


async def test_a_profile_says_what_a_task_is_called_and_whom_an_agent_reports_to(
    tmp_path: Path,
) -> None:
    told = mapping_of(
        tmp_path,
        '[profiles.p.fields.task]\nkey = "ref.no"\nkind = "ref.sort"\n'
        '[profiles.p.fields.agent]\nreports_to = "boss"\nerror_reason = "why"\n',
    )
    rows = [
        {"id": "t1", "title": "Pay", "type": "job", "ref": {"no": 7, "sort": "wire"}},
        {"id": "GLO-7", "title": "Pay", "key": "GLO-8", "ref": {"no": "GLO-7"}},
    ]
    one, other = (await asked(told, "tasks", rows)).records
    assert (one.key, one.kind) == ("7", "wire")
    assert other.key == "GLO-7"
    agents = [{"id": "a1", "name": "Bo", "boss": {"id": "a2", "name": "Ada"}, "why": "no credit"}]
    [agent] = (await asked(told, "agents", agents)).records
    assert (agent.reports_to, agent.error_reason) == (Ref("a2", mark_safe("Ada")), "no credit")


def test_a_mapping_refuses_a_path_that_is_none() -> None:
    with pytest.raises(FieldPathError, match="not closed"):
        ProfileMapping(DeclaredMapping(fields={"task": {"title": '"a.b'}}))


def test_every_meaning_is_of_a_field_that_can_be_mapped() -> None:
    for name, kind in mappable_kinds().items():
        assert set(MEANINGS[name]) <= set(field_names(kind))


def test_a_report_of_one_record_that_stands_alone() -> None:
    report = report_fields(TASKS, {"id": "t1", "title": "Plan", "colour": "red"})
    assert [(read.field, read.name, read.records) for read in report.read][:2] == [
        ("id", "id", 1),
        ("title", "title", 1),
    ]
    assert report.records == 1
    assert report.left_over == ("colour",)
    with pytest.raises(UnexpectedShape, match="holds no list of tasks"):
        report_fields(TASKS, "nothing")
