"""Who a row is: no nested object, person or relation takes its place, and no row is lost."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.model import Record, Ref, extra_fields
from agentco_tui.reading.decode import read_one, read_page
from agentco_tui.reading.identity import (
    TASK_IDS,
    IdNames,
    doubt_of_row,
    field_name,
    is_made_up,
    mark_shared,
    without_repeats,
)
from agentco_tui.reading.kinds.activity import ACTIVITY
from agentco_tui.reading.kinds.agent import AGENTS
from agentco_tui.reading.kinds.alert import ALERTS
from agentco_tui.reading.kinds.budget import AGENT_BUDGETS, COMPANY_BUDGETS
from agentco_tui.reading.kinds.company import COMPANIES
from agentco_tui.reading.kinds.task import TASKS
from agentco_tui.reading.mapping import DeclaredMapping, ProfileMapping
from agentco_tui.reading.schema import DecodeContext, Kind, Row
from agentco_tui.text import mark_safe
from tests.api.canary import client_of
from tests.api.wire_server import answering
from tests.reading import golden

KINDS: tuple[Kind[Any], ...] = (
    *(COMPANIES, AGENTS, TASKS, COMPANY_BUDGETS, AGENT_BUDGETS, ALERTS, ACTIVITY),
)


def records(kind: Kind[Any], body: Any) -> list[Any]:
    """As a listing has them: repeated rows once, those that share an id marked."""
    return [*mark_shared(without_repeats(read_page(kind, body).records))]


# --- the id that a write would use, in each golden body that is about identity ---

WRITES: dict[str, list[str | None]] = {
    "agent_budgets--account-and-tenant-beside": ["ag_1", "ag_2"],
    "agent_budgets--bare-own-id-and-user": ["ag_1", "ag_2"],
    "agent_budgets--own-id-beside-an-owner": [None],
    "agent_budgets--only-the-maker": [None, None],
    "agent_budgets--budgets-with-agent-id": ["ag_1", "ag_2"],
    "agent_budgets--scope-of-an-agent": ["ag_1", "ag_2"],
    "agent_budgets--type-of-one-id-of-another": [None],
    "agent_budgets--assistant-beside-its-user": ["as_1"],
    "agent_budgets--litellm-key-list": [None],
    "agent_budgets--litellm-team-member": [None],
    "agent_budgets--own-id-is-not-the-owner": [None],
    "agent_budgets--policy-beside-agent": ["ag_1"],
    "agent_budgets--prisma-owner-object": [None],
    "agent_budgets--aws-budgets": [None, None],
    "agent_budgets--team-total-beside": ["ag_1", "ag_2"],
    "agent_budgets--one-id-for-two": [None, None],
    "company_budgets--own-id-and-account": ["c1", "c2"],
    "company_budgets--teams-of-an-organization": ["t1", "t2"],
    "company_budgets--one-id-for-two": [None, None],
    **{
        f"tasks--{wrapper}-inside": ["apr_1", "apr_2"]
        for wrapper in ("resource", "item", "object", "entity", "info", "properties")
    },
    "tasks--source-and-node-inside": ["t1", "t2"],
    "tasks--executions-of-jobs": ["ex_1", "ex_2"],
    "tasks--requests-about-issues": [None, None],
    "tasks--run-beside-an-unknown-id": [None],
    "tasks--airflow-steps": [None, None],
    "tasks--airflow-dag-runs": ["m1"],
    "tasks--jobs-with-their-last-run": [None],
    "tasks--langgraph-runs-of-a-thread": ["r1", "r2"],
    "tasks--dbt-cloud": ["101", "102"],
    "tasks--one-id-for-two": [None, None],
    "agents--one-id-for-two": [None, None],
    "companies--one-id-for-two": [None, None],
    "budget_alerts--entity-inside": ["al_1", "al_2"],
    "budget_alerts--one-id-for-two": [None, None],
    "activity--one-id-for-two": [None, None],
}
"""None: no write may name the row."""


@pytest.mark.parametrize("name", WRITES)
async def test_the_id_that_a_write_may_name(name: str) -> None:
    body = golden.load(name)
    server_answer = golden.server_answer(body)
    async with answering(server_answer) as server, client_of(server) as client:
        found = (await golden.call_client(client, body)).records
    writes = [record.sent_id if record.unwritable is None else None for record in found]
    assert writes == WRITES[name], [record.unwritable for record in found]
    assert all(record.unwritable for record in found if record.id != record.sent_id)


# --- nested objects ---

WORDS = st.text("abcdefg_0123456789", min_size=1, max_size=8)
WRAPPERS = st.sampled_from(
    [
        *("resource", "record", "document", "item", "object", "entity", "info", "properties"),
        *("source", "node", "fields", "data", "attributes", "parent", "details", "subject"),
    ]
)
OWN = st.fixed_dictionaries(
    {"id": WORDS},
    optional={
        "status": st.sampled_from(["pending", "running", "open"]),
        "title": WORDS,
        "name": WORDS,
        "type": WORDS,
        "created_at": st.just("2026-11-20T10:00:00Z"),
    },
)
INNER = st.fixed_dictionaries(
    {"id": WORDS, "status": st.sampled_from(["done", "published", "failed"])},
    optional={"name": WORDS, "title": WORDS, "slug": WORDS, "type": WORDS},
)


@given(st.sampled_from(KINDS), OWN, WRAPPERS, INNER)
def test_an_object_inside_never_takes_the_place_of_its_row(
    kind: Kind[Any], own: dict[str, Any], wrapper: str, inner: dict[str, Any]
) -> None:
    if inner["id"] == own["id"]:
        inner = {**inner, "id": f"{inner['id']}x"}
    key = kind.list_keys[0]
    found = records(kind, {key: [{**own, wrapper: inner}]})
    alone = records(kind, {key: [own]})
    if not found:
        assert not alone, "a row that can be read alone is not lost"
        return
    assert found[0].id == own["id"]
    if wrapper == "attributes":
        return  # JSON:API: the resource's own fields, except its id
    if "status" in own and hasattr(found[0], "state"):
        assert found[0].status == own["status"]
    elif hasattr(found[0], "state"):
        assert found[0].state is None
    if wrapper != "data":  # round a whole answer it is an envelope: the id may be the request's
        assert read_one(kind, {**own, wrapper: inner}).id == own["id"]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ({"data": {"tasks": {"edges": [{"cursor": "c", "node": {"id": "t1", "title": "Pay"}}]}}},
         ("t1", "Pay")),
        ({"data": [{"type": "tasks", "id": "t1", "attributes": {"title": "Pay"}}]}, ("t1", "Pay")),
        ({"data": [{"type": "tasks", "id": "t1", "attributes": {"title": "Pay", "id": "x"}}]},
         ("t1", "Pay")),
        ({"hits": {"hits": [{"_id": "es", "_source": {"title": "Pay"}}]}},
         ("es", "Pay")),
        ({"tasks": [{"id": "t1", "resource": {"id": "t1", "title": "Pay"}}]}, ("t1", "Pay")),
        ({"tasks": [{"resource": {"id": "t1", "title": "Pay"}}]}, ("t1", "Pay")),
        ({"value": [{"id": "t1", "properties": {"title": "Pay", "status": "running"}}]},
         ("t1", "Pay")),
    ],
)  # fmt: skip
def test_what_is_only_wrapped_is_still_unwrapped(body: Any, wanted: tuple[str, str]) -> None:
    (found,) = records(TASKS, body)
    assert (found.id, found.title) == wanted


def test_an_answer_to_a_write_is_read_through_its_envelope() -> None:
    assert read_one(TASKS, {"jsonrpc": "2.0", "id": 1, "result": {"id": "t1", "title": "x"}}).id
    inside = {"id": "apr_1", "type": "approval", "document": {"id": "doc_7", "title": "x"}}
    assert read_one(TASKS, inside).id == "apr_1"


def test_what_the_row_is_about_is_kept_with_its_unknown_fields() -> None:
    row = {"id": "t1", "properties": {"id": "d7", "status": "done", "title": "x"}}
    (found,) = records(TASKS, [row])
    assert extra_fields(found.extra)["properties"] == row["properties"]
    assert (found.status, found.state) == (None, None)


# --- rows with the same id ---

SAME: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    TASKS.name: ({"title": "a"}, {"title": "b"}),
    AGENTS.name: ({"name": "a"}, {"name": "b"}),
    COMPANIES.name: ({"name": "a"}, {"name": "b"}),
    AGENT_BUDGETS.name: ({"limit": 1}, {"limit": 2}),
    COMPANY_BUDGETS.name: ({"limit": 1}, {"limit": 2}),
    ALERTS.name: ({"message": "a"}, {"message": "b"}),
    ACTIVITY.name: ({"message": "a"}, {"message": "b"}),
}


@given(
    st.sampled_from(KINDS),
    st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 1)), min_size=1, max_size=8),
)
def test_no_row_is_dropped_and_an_id_of_two_rows_identifies_neither(
    kind: Kind[Any], sent: list[tuple[str, int]]
) -> None:
    rows = [{"id": record_id, **SAME[kind.name][which]} for record_id, which in sent]
    found: list[Record] = records(kind, {kind.list_keys[0]: rows})
    different = set(sent)
    assert len(found) == len(different), "equal rows are one, different rows are all there"
    assert len({record.id for record in found}) == len(found)
    shared = {one for one, _ in different if {(one, 0), (one, 1)} <= different}
    for record in found:
        assert record.sent_id in {one for one, _ in different}
        assert record.shared_id == (record.sent_id in shared) == (record.unwritable is not None)
        assert record.id == record.sent_id or is_made_up(record.id)
    assert [*mark_shared(found)] == found, "marking again changes nothing"


def test_entries_that_share_an_id_keep_theirs_when_a_new_one_comes_in() -> None:
    old = [{"id": "x", "message": each, "timestamp": 1700000000} for each in ("a", "b")]
    before = records(ACTIVITY, old)
    after = records(ACTIVITY, [{"id": "x", "message": "c", "timestamp": 1700000001}, *old])
    assert {each.id for each in before} < {each.id for each in after}


# --- ids of relations, and what decides ---


def task_doubt(row: dict[str, Any], list_name: str = "data", **mapped: str) -> str | None:
    kind = ProfileMapping(DeclaredMapping(fields={"task": mapped})).kind(TASKS)
    (found,) = records(kind, {list_name: [{"title": "x", **row}]})
    return found.id if found.unwritable is None else None


@pytest.mark.parametrize(
    ("row", "list_name", "writes_to"),
    [
        ({"run_id": "r"}, "data", "r"),
        ({"run_id": "r", "agent_id": "a", "user_id": "u", "company_id": "c"}, "data", "r"),
        ({"run_id": "r", "job_id": "j"}, "data", "r"),
        ({"runId": "r", "jobId": "j"}, "data", "r"),
        ({"run_id": "r", "job_id": "j"}, "runs", "r"),
        ({"run_id": "r", "job_id": "j"}, "jobs", None),
        ({"run_id": "r", "job_id": None}, "jobs", "r"),
        ({"run_id": "r", "call_id": "h"}, "data", "h"),
        ({"run_id": "r", "step_id": "s"}, "data", None),
        ({"run_id": "r", "parent_run_id": "q"}, "data", "r"),
        ({"issue_id": "i", "request_id": "q"}, "data", None),
        ({"task_id": "t", "run_id": "r", "job_id": "j"}, "data", "t"),
        ({"task_id": "t", "dag_id": "d"}, "data", None),
        ({"id": "own", "run_id": "r", "step_id": "s"}, "data", "own"),
        ({"uuid": "own", "run_id": "r", "step_id": "s"}, "data", "own"),
    ],
)
def test_of_several_ids_one_is_named_only_where_a_table_decides(
    row: dict[str, Any], list_name: str, writes_to: str | None
) -> None:
    assert task_doubt(row, list_name) == writes_to


def test_the_reason_names_the_fields_in_doubt() -> None:
    (found,) = records(TASKS, [{"run_id": "r", "step_id": "s", "title": "x"}])
    assert found.unwritable == (
        "no write: it has run_id and step_id and no id of its own, "
        "and which of them is the task's is not known"
    )


def test_a_profiles_mapping_decides() -> None:
    assert task_doubt({"run_id": "r", "step_id": "s"}, id="step_id") == "s"
    assert task_doubt({"issue_id": "i", "request_id": "q"}, id="issue_id") == "i"
    row = {"user_id": "u_7", "limit": 100}
    kind = ProfileMapping(DeclaredMapping(fields={"agent_budget": {"id": "user_id"}})).kind(
        AGENT_BUDGETS
    )
    (found,) = records(kind, {"data": [row]})
    assert (found.id, found.unwritable) == ("u_7", None)
    rows = [{"id": "own", "worker_id": "w", "owner_id": "o", "target_id": "t", "limit": 1}]
    for slot, name, wanted in (
        ("agent_id", "worker_id", "w"),
        ("owner_id", "target_id", "t"),
        ("scope_id", "owner_id", "o"),
        ("id", "owner_id", "o"),
    ):
        mapped = DeclaredMapping(fields={"agent_budget": {slot: name}})
        kind = ProfileMapping(mapped).kind(AGENT_BUDGETS)
        for list_name in ("agents", "data", "budgets"):
            (found,) = records(kind, {list_name: rows})
            assert (found.id, found.unwritable) == (wanted, None), (slot, list_name)
    (found,) = records(AGENT_BUDGETS, {"data": [row]})
    assert found.unwritable == "no write: its only id is in user_id, which need not be the agent's"


@given(
    st.sampled_from(["agents", "data", "items", "by_agent"]),
    st.dictionaries(
        st.sampled_from(["user_id", "account_id", "tenant", "user", "creator_id", "employee_id"]),
        st.sampled_from(["u_7", "acc_1"]),
        min_size=1,
    ),
)
def test_a_person_or_a_parent_is_never_preferred_to_a_rows_own_id(
    list_name: str, beside: dict[str, str]
) -> None:
    rows = [{"id": f"ag_{n}", "name": f"Agent {n}", "limit": n, **beside} for n in (1, 2)]
    found = records(AGENT_BUDGETS, {list_name: rows})
    assert [(each.id, each.name, each.unwritable) for each in found] == [
        ("ag_1", "Agent 1", None),
        ("ag_2", "Agent 2", None),
    ]


@given(
    st.sampled_from(["owner", "assignee", "target", "subject", "entity", "holder"]), st.booleans()
)
def test_in_a_list_of_agents_nobody_else_is_preferred_to_a_rows_own_id(
    name: str, as_object: bool
) -> None:
    beside = {name: {"id": "u_7", "name": "Ada"}} if as_object else {f"{name}_id": "u_7"}
    rows = [{"id": f"ag_{n}", "name": f"Agent {n}", "limit": n, **beside} for n in (1, 2)]
    found = records(AGENT_BUDGETS, {"agents": rows})
    assert [(each.id, each.name, each.unwritable) for each in found] == [
        ("ag_1", "Agent 1", None),
        ("ag_2", "Agent 2", None),
    ]
    assert "u_7" in json.dumps(extra_fields(found[0].extra)), "whom it names is still shown"


def test_an_id_with_a_control_character_is_shown_and_never_named() -> None:
    (found,) = records(TASKS, [{"id": "a\nb", "title": "x"}])
    assert (found.id, found.unwritable) == ("a\nb", "no write: its id holds a control character")


ID_SLOT = re.compile(r"(^|_)id$|^(agent|company|inner|owner|person)$")
"""Slots that a record's id may be from."""


def field_of_id(row: Row, record_id: str) -> str | None:
    """The platform's name of the field that a record's id is from; None if no field holds it."""
    for slot, value in row.values.items():
        slot_id = value.id if isinstance(value, Ref) else value
        if slot_id == record_id and ID_SLOT.search(slot):
            return field_name(row.source(slot))
    return None


@pytest.mark.parametrize(
    ("kind", "sent", "field", "is_writable"),
    [
        (TASKS, {"run_id": "r", "step_id": "s"}, "run_id", False),
        (TASKS, {"id": "t"}, "id", True),
        (AGENT_BUDGETS, {"user_id": "u", "limit": 1}, "user_id", False),
        (AGENT_BUDGETS, {"agent": {"id": "a"}, "limit": 1}, "agent", True),
        (AGENT_BUDGETS, {"policyId": "p", "scopeType": "agent", "scopeId": "a", "limit": 1},
         "scopeId", True),
        (AGENT_BUDGETS, {"name": "Scout", "limit": 1}, None, False),
    ],
)  # fmt: skip
def test_the_field_that_an_id_is_from(
    kind: Kind[Any], sent: dict[str, Any], field: str | None, is_writable: bool
) -> None:
    row = kind.table.read(sent)
    record = kind.build(row, DecodeContext())
    assert (field_of_id(row, record.id), record.id_doubt is None) == (field, is_writable)


def test_what_a_row_says_of_its_id() -> None:
    row = TASKS.table.read({"run_id": "r", "step_id": "s"})
    assert (row.values["id"], field_name(row.source("id"))) == ("r", "run_id")
    assert doubt_of_row(row, TASK_IDS) is not None
    assert isinstance(TASK_IDS, IdNames)
    assert field_of_id(TASKS.table.read({"title": mark_safe("x")}), "x") is None


# --- variants of the attacks: other lists, other names, other nesting ---


@pytest.mark.parametrize("list_name", ["data", "companies", "items"])
@pytest.mark.parametrize("parent", ["account_id", "tenant_id", "tenant", "customer", "account"])
def test_the_parent_of_a_company_never_takes_its_place(list_name: str, parent: str) -> None:
    rows = [{"id": f"c{n}", "name": f"C{n}", parent: "p_7", "monthly_limit": n} for n in (1, 2)]
    found = records(COMPANY_BUDGETS, {list_name: rows})
    assert [(each.id, each.name, each.unwritable) for each in found] == [
        ("c1", "C1", None),
        ("c2", "C2", None),
    ]


def test_a_company_beside_the_id_of_another_level_is_read_and_not_written_to() -> None:
    rows = [{"id": "c1", "name": "Acme", "organization_id": "o_7", "monthly_limit": 1}]
    (found,) = records(COMPANY_BUDGETS, {"data": rows})
    assert (found.id, found.name) == ("c1", "Acme")
    assert found.unwritable == (
        "no write: whether its own id or organization_id is whom the budget is for is not known"
    )
    assert extra_fields(found.extra)["organization_id"] == "o_7"


@pytest.mark.parametrize(
    "beside",
    [{"user_id": "u_7"}, {"owner": {"id": "u_7", "name": "Ada"}}, {"assignee_id": "u_7"}],
)
def test_also_in_a_list_of_budgets_a_row_with_a_name_is_not_its_owner(
    beside: dict[str, Any],
) -> None:
    rows = [{"id": f"ag_{n}", "name": f"A{n}", "monthly_limit": n, **beside} for n in (1, 2)]
    found = records(AGENT_BUDGETS, {"budgets": rows})
    assert [(each.id, each.name) for each in found] == [("ag_1", "A1"), ("ag_2", "A2")]
    assert all("whether its own id or" in (each.unwritable or "") for each in found)


@pytest.mark.parametrize("name", ["uid", "sys_id", "gid", "urn", "slug", "identifier"])
def test_the_own_id_of_a_budget_may_have_the_name_that_it_has_elsewhere(name: str) -> None:
    rows = [{name: f"ag_{n}", "user_id": "u_7", "monthly_limit": n} for n in (1, 2)]
    found = records(AGENT_BUDGETS, {"agents": rows})
    assert [(each.id, each.unwritable) for each in found] == [("ag_1", None), ("ag_2", None)]


def test_a_reference_to_a_budget_does_not_hide_a_rows_own_id() -> None:
    (found,) = records(AGENT_BUDGETS, [{"id": "ag_1", "policy_id": "p_1", "monthly_limit": 5}])
    assert (found.id, found.unwritable) == ("ag_1", None)


def test_a_budget_of_several_agents_is_one_row() -> None:
    row = {"id": "b_5", "agents": [{"id": "ag_1"}, {"id": "ag_2"}], "monthly_limit": 5}
    (found,) = records(AGENT_BUDGETS, [row])
    assert found.id == "b_5"
    assert found.limit is not None
    groups = [{"id": "c1", "agents": [{"id": "ag_1", "limit": 5}, {"id": "ag_2", "limit": 6}]}]
    assert [each.id for each in records(AGENT_BUDGETS, groups)] == ["ag_1", "ag_2"]


@pytest.mark.parametrize("inner_id", [None, "href", "number", "run_id", "task_id", "doc_id"])
@pytest.mark.parametrize("name", ["resource", "record", "document", "item", "object", "entity"])
def test_what_a_row_with_an_id_is_about_needs_no_known_id_of_its_own(
    name: str, inner_id: str | None
) -> None:
    inner = {"title": "Doc", "status": "published"}
    if inner_id is not None:
        inner[inner_id] = "doc_7"
    rows = [{"id": f"apr_{n}", "type": "approval", name: inner} for n in (1, 2)]
    found = records(TASKS, {"approvals": rows})
    assert [(each.id, each.state, each.status) for each in found] == [
        ("apr_1", None, None),
        ("apr_2", None, None),
    ]


@pytest.mark.parametrize(
    "row",
    [
        {"run": {"id": "r_1"}, "job_id": "j_1"},
        {"execution": {"id": 7}, "job_id": "j_1"},
        {"call": {"id": "c_1"}, "run_id": "r_1"},
        {"number": 12, "job_id": "j_1"},
        {"key": "build-12", "workflow_id": "w_1", "session_id": "s_1"},
    ],
)
def test_an_object_or_a_number_beside_the_id_of_a_relation_puts_it_in_doubt(
    row: dict[str, Any],
) -> None:
    assert task_doubt(row) is None


def test_an_envelope_without_rows_is_no_map_of_records() -> None:
    for body in ({"meta": {"total": 0}}, {"page": {"total": 0}, "links": {"self": "/"}}):
        assert records(AGENT_BUDGETS, body) == []


def test_the_budget_of_a_company_among_those_of_agents_is_not_written_to() -> None:
    rows = [
        {"scope_type": "company", "scope_id": "c_1", "limit": 5},
        {"scope_type": "agent", "scope_id": "ag_1", "limit": 5},
    ]
    company, agent = records(AGENT_BUDGETS, {"data": rows})
    assert company.unwritable == "no write: it is the budget of a company, not of an agent"
    assert (agent.id, agent.unwritable) == ("ag_1", None)
