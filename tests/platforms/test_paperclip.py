"""The file for Paperclip, on recorded answers that a real server sends."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from msgspec.structs import replace

import agentco_tui.platforms
from agentco_tui.api import errors
from agentco_tui.api.capabilities import Read, VerbInput
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.errors import ApiError
from agentco_tui.attention.needs_model import NeedsModel
from agentco_tui.attention.snooze import Snoozes
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.live.feeds import Clock, FeedName
from agentco_tui.live.store import Store
from agentco_tui.model import AgentState, Alert, Task, TaskState, Verdict
from agentco_tui.platforms.declared_platform import DeclaredPlatform, open_platform
from agentco_tui.platforms.platform_file import load_platform
from agentco_tui.platforms.platform_records import DeclaredWrite, PlatformFile
from agentco_tui.reading.mapping import DeclaredMapping, ProfileMapping
from agentco_tui.system.background import at_once
from tests.platforms.recorded_answers import ACME, GLOBEX, body_of, companies_of
from tests.platforms.recorded_paperclip import KEY, RecordedPaperclip
from tests.platforms.truth import (
    QUESTION,
    REVIEW,
    check_news,
    check_reads,
    check_roles,
    check_writes,
)
from tests.platforms.verb_truth import CASES, ROW, check_verbs, records_of
from tests.platforms.wrong_files import Place, changed, declared, places_in, words_of

FILE = Path(agentco_tui.platforms.__file__).with_name("paperclip.toml")


@pytest.fixture
def server() -> Iterator[RecordedPaperclip]:
    with RecordedPaperclip() as running:
        yield running


def platform_at(
    server: RecordedPaperclip,
    file: PlatformFile | None = None,
    key: str | None = KEY,
    **options: Any,
) -> DeclaredPlatform:
    return open_platform(
        file or load_platform("paperclip", None),
        BaseUrl.parse(server.base),
        ApiKey(key) if key else None,
        attempts=1,
        **options,
    )


@pytest_asyncio.fixture
async def platform(server: RecordedPaperclip) -> AsyncIterator[DeclaredPlatform]:
    async with platform_at(server) as opened:
        yield opened


async def test_every_value_is_the_recorded_one(
    platform: DeclaredPlatform, server: RecordedPaperclip
) -> None:
    await check_reads(platform, server)


async def test_every_write_arrives_and_is_read_back(
    platform: DeclaredPlatform, server: RecordedPaperclip
) -> None:
    await check_writes(platform, server)


async def test_every_verb_is_offered_sent_and_proved(
    platform: DeclaredPlatform, server: RecordedPaperclip
) -> None:
    await check_verbs(platform, server)


async def test_one_answer_serves_all_lists_in_it(
    platform: DeclaredPlatform, server: RecordedPaperclip
) -> None:
    await asyncio.gather(
        platform.company_budgets(),
        platform.agent_budgets(),
        platform.budget_alerts(),
        platform.tasks(status="pending"),
    )
    lines = [seen.line for seen in server.requests]
    assert len(lines) == len(set(lines))
    assert len([line for line in lines if line.endswith("/budgets/overview")]) == 3
    assert len([line for line in lines if line.endswith("/attention")]) == 3


async def test_a_list_never_gets_the_same_answer_twice(
    platform: DeclaredPlatform, server: RecordedPaperclip
) -> None:
    await platform.agent_budgets(ACME)
    await platform.agent_budgets(ACME)
    overview = [seen.status for seen in server.requests if "overview" in seen.path]
    assert overview == [200, 304]


async def test_a_decision_reads_for_itself(
    platform: DeclaredPlatform, server: RecordedPaperclip
) -> None:
    await platform.company_budgets()
    before = len(server.requests)
    await platform.for_decisions().agent_budgets()
    assert len([seen for seen in server.requests[before:] if "overview" in seen.path]) == 3


async def test_an_answer_from_before_something_happened_is_not_used_again(
    platform: DeclaredPlatform, server: RecordedPaperclip
) -> None:
    """Neither for a list that rests, nor for another list in the same body."""
    attention, overview = (
        f"/api/companies/{ACME}/{name}" for name in ("attention", "budgets/overview")
    )
    server.may_answer.clear()
    reads = [platform.tasks(ACME, "pending"), platform.agent_budgets(ACME)]
    reading = [asyncio.ensure_future(read) for read in reads]
    while not {attention, overview} <= set(server.arrived):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    platform.ask_anew()
    server.may_answer.set()
    await asyncio.gather(*reading)
    await platform.tasks(ACME, "pending")
    await platform.company_budgets()
    paths = [seen.path for seen in server.requests]
    assert (paths.count(attention), paths.count(overview)) == (2, 2)
    # Then it rests.
    await platform.tasks(ACME, "pending")
    paths = [seen.path for seen in server.requests]
    assert paths.count(attention) == 2


async def test_what_has_not_changed_is_the_same_object_and_has_no_body(
    platform: DeclaredPlatform, server: RecordedPaperclip
) -> None:
    """With more companies than any fixed number of remembered lists would hold."""
    for number in range(27):
        server.companies.append({**body_of("company"), "id": f"more-{number}"})

    async def all_lists() -> list[Any]:
        return [
            await platform.companies(),
            await platform.agents(),
            await platform.tasks(status="pending"),
            await platform.tasks(),
            await platform.company_budgets(),
            await platform.agent_budgets(),
            await platform.budget_alerts(),
            await platform.activity(limit=40),
        ]

    first = await all_lists()
    before = len(server.requests)
    second = await all_lists()
    assert all(one is other for one, other in zip(first, second, strict=True))
    again = server.requests[before:]
    assert {seen.status for seen in again} == {304}
    assert len(again) > 200


async def test_a_changed_row_alone_is_a_new_record(
    platform: DeclaredPlatform, server: RecordedPaperclip
) -> None:
    first = await platform.tasks(GLOBEX)
    server.decided[REVIEW] = "done"
    second = await platform.tasks(GLOBEX)
    before = {task.id: task for task in first.records}
    changed = [task.id for task in second.records if task is not before[task.id]]
    assert changed == [REVIEW]


async def test_an_id_is_one_segment_of_a_path(
    platform: DeclaredPlatform, server: RecordedPaperclip
) -> None:
    with pytest.raises(ApiError):
        await platform.agents("../../health?x=1#y")
    assert server.requests[-1].path == "/api/companies/..%2F..%2Fhealth%3Fx%3D1%23y/agents"
    with pytest.raises(ApiError):
        await platform.agent("..")
    assert server.requests[-1].path == "/api/agents/%2E%2E"


async def test_a_budget_override_is_never_approved(
    platform: DeclaredPlatform, server: RecordedPaperclip
) -> None:
    override = next(
        row["id"]
        for row in companies_of("approvals")
        if (row["type"], row["status"]) == ("budget_override_required", "pending")
    )
    await platform.tasks(status="pending")
    with pytest.raises(errors.Unwritable, match="only hides it"):
        await platform.approve_task(override)
    assert not [seen for seen in server.requests if seen.method != "GET"]


async def test_what_has_no_approval_is_never_sent(
    platform: DeclaredPlatform, server: RecordedPaperclip
) -> None:
    blocked = next(
        row["id"]
        for row in companies_of("attention", "items")
        if row["sourceKind"] == "blocker_attention"
    )
    with pytest.raises(errors.NotSent, match="Paperclip does not offer to approve this task"):
        await platform.approve_task(blocked)
    with pytest.raises(errors.NotSent, match="create a company with a template"):
        await platform.create_company("New", template="shop")
    with pytest.raises(errors.NotSent, match="clone a company"):
        await platform.clone_company(GLOBEX, "Copy")
    with pytest.raises(errors.NotSent, match="an export of the activity"):
        platform.export_activity()
    assert not [seen for seen in server.requests if seen.method != "GET"]


async def test_the_type_is_the_kind_unless_a_field_says_another(server: RecordedPaperclip) -> None:
    file = load_platform("paperclip", None)
    source = file.tasks["approval"]
    for fields, name in (({}, "type"), ({"kind": "status"}, "status")):
        changed = replace(source, fields=fields, type="type")
        async with platform_at(server, replace(file, tasks={"approval": changed})) as platform:
            kinds = {task.id: task.kind for task in (await platform.tasks(GLOBEX)).records}
        assert kinds == {row["id"]: row[name] for row in body_of("approvals")}


@pytest.mark.parametrize(
    ("verb", "record_id", "given", "words"),
    [
        ("reject", ROW["override"], VerbInput(), "does not offer to reject this"),
        ("reject", ROW["review"], VerbInput(), "does not offer to reject this"),
        ("pause", "unknown", VerbInput(), "does not offer to pause this"),
        ("pause", ROW["maya"], VerbInput("a word"), "does not offer to pause with a note"),
        ("revise", ROW["waiting"], VerbInput(), "does not offer to revise without a note"),
        ("pause", ROW["maya"], VerbInput(None, Decimal(5)), "to pause with an amount"),
        ("set the budget", ACME, VerbInput(), "to set the budget without an amount"),
        ("set the budget", ACME, VerbInput(None, Decimal(-5)), "amount is negative"),
        ("set the budget", ACME, VerbInput(None, Decimal("0.005")), "takes whole cents only"),
    ],
)
async def test_what_a_verb_cannot_be_sent_for_or_with_is_refused(
    verb: str,
    record_id: str,
    given: VerbInput,
    words: str,
    platform: DeclaredPlatform,
    server: RecordedPaperclip,
) -> None:
    await records_of(platform)
    offered = platform.capabilities.verb(verb)
    assert offered is not None
    with pytest.raises(errors.NotSent, match=words):
        await platform.act(offered, record_id, given)
    assert not [seen for seen in server.requests if seen.method != "GET"]


async def test_a_proof_of_what_was_never_read_is_refused(platform: DeclaredPlatform) -> None:
    """Unless what it needs is given, as the journal has it."""
    decline = platform.capabilities.verb("decline")
    assert decline is not None
    with pytest.raises(errors.NotOffered, match="without what its request names"):
        await platform.proof_of(decline, QUESTION)
    proof = await platform.proof_of(decline, QUESTION, row={"issue": ROW["about"]})
    assert proof.shown_by == frozenset()


async def test_an_id_of_two_companies_is_never_cloned(server: RecordedPaperclip) -> None:
    file = load_platform("paperclip", None)
    sources = {"all": replace(file.companies["all"], fields={"id": "status"})}
    clone = DeclaredWrite(post="/api/companies/{id}/clone", body={"name": "{name}"})
    file = replace(file, companies=sources, clone_company=clone)
    async with platform_at(server, file) as platform:
        await platform.companies()
        with pytest.raises(errors.Unwritable, match="companies with this id"):
            await platform.clone_company("active", "Copy")
    assert not [seen for seen in server.requests if seen.method != "GET"]


async def test_a_task_is_found_again_after_a_restart(
    platform: DeclaredPlatform, server: RecordedPaperclip
) -> None:
    """An id from the journal of an earlier run: nothing was listed yet."""
    receipt = await platform.approve_task(QUESTION)
    assert receipt.verdict is Verdict.YES
    assert server.decided == {QUESTION: "accepted"}


async def test_a_local_server_needs_no_key() -> None:
    with RecordedPaperclip(needs_key=False) as server:
        async with platform_at(server, key=None) as platform:
            assert (await platform.companies()).records
        assert {seen.authorization for seen in server.requests} == {None}


async def test_the_row_as_it_was_sent(platform: DeclaredPlatform) -> None:
    row = next(r for r in companies_of("attention", "items") if r["subject"]["id"] == QUESTION)
    sent = await platform.as_sent(Read("tasks"), "task", QUESTION)
    assert sent["dedupKey"] == row["dedupKey"]


async def test_what_the_profile_says_comes_before_the_file(server: RecordedPaperclip) -> None:
    own = DeclaredMapping(
        fields={"agent": {"role": "adapterType"}},
        currency="EUR",
        status={"pending": ("blocked",)},
        agent_status={"stopped": ("idle",)},
    )
    async with platform_at(server, mapping=ProfileMapping(own)) as platform:
        agents = (await platform.agents(GLOBEX)).records
        rows = {row["id"]: row for row in body_of("agents-globex")}
        assert {a.id: a.role for a in agents} == {i: r["adapterType"] for i, r in rows.items()}
        assert {a.state for a in agents if a.status == "idle"} == {AgentState.STOPPED}
        tasks = (await platform.tasks(GLOBEX)).records
        states = {str(task.status): task.state for task in tasks}
        assert states["blocked"] is TaskState.PENDING
        assert states["in_review"] is TaskState.OTHER  # as the file says
        limit = (await platform.company_budgets()).records[0].limit
        assert limit is not None
        assert (int(limit.amount), str(limit.currency)) == (
            5000,
            "EUR",
        )  # "billed_cents" says the unit


@pytest.mark.parametrize(
    ("limit", "unit", "currency", "title"),
    [
        (75000, "cents", None, "Hire Cleo for $750"),
        (75050, "cents", None, "Hire Cleo for $750.50"),
        (75000, "units", None, "Hire Cleo for $75,000"),
        (75000, "millis", "EUR", "Hire Cleo for €75"),
        (75000, "micros", "CHF", "Hire Cleo for 0.075 CHF"),
        (75000, "nanos", None, "Hire Cleo for $0.000075"),
        (750.5, "units", "TOKENS", "Hire Cleo for 750.5 TOKENS"),
        (-500, "cents", None, "Hire Cleo for -$5"),
        (0, "cents", None, "Hire Cleo"),
        (None, "cents", None, "Hire Cleo"),
        ("75000", "cents", None, "Hire Cleo"),
        (True, "cents", None, "Hire Cleo"),
        ({"amount": 5}, "cents", None, "Hire Cleo"),
    ],
)
async def test_a_title_has_a_sum_in_its_unit_or_none_that_is_a_number(
    limit: Any, unit: str, currency: str | None, title: str, server: RecordedPaperclip
) -> None:
    payload = {"name": "Cleo", "limit": limit}
    server.approvals = [{**companies_of("approvals")[0], "id": "hire", "payload": payload}]
    file = load_platform("paperclip", None)
    says = {"*": (f"Hire {{payload.name}} for {{payload.limit as {unit}}}", "Hire {payload.name}")}
    tasks = {**file.tasks, "approval": replace(file.tasks["approval"], says=says)}
    mapping = ProfileMapping(DeclaredMapping(currency=currency))
    async with platform_at(server, replace(file, tasks=tasks), mapping=mapping) as platform:
        hire = next(each for each in (await platform.tasks()).records if each.id == "hire")
    assert hire.title == title


async def test_the_first_of_several_fields_with_a_value_is_the_cause(
    server: RecordedPaperclip,
) -> None:
    file = load_platform("paperclip", None)
    fields = ("reportsTo", "metadata", "adapterType")
    agents = {"agent": replace(file.agents["agent"], cause=fields)}
    async with platform_at(server, replace(file, agents=agents)) as platform:
        found = {agent.id: agent.cause for agent in (await platform.agents(GLOBEX)).records}
    assert found == {row["id"]: row["adapterType"] for row in body_of("agents-globex")}


async def test_each_thing_that_needs_a_person_is_in_one_need_and_each_cause_too(
    platform: DeclaredPlatform,
) -> None:
    store = Store()
    store.take(FeedName.AGENTS, await platform.agents())
    store.take(FeedName.COMPANY_BUDGETS, await platform.company_budgets())
    store.take(FeedName.AGENT_BUDGETS, await platform.agent_budgets())
    store.take(FeedName.ALERTS, await platform.budget_alerts())
    store.take(FeedName.PENDING, await platform.tasks(status="pending"))
    newest = max(task.created.at for task in store.pending if task.created is not None)
    outlook = ForecastService(store, None, Clock(machine=lambda: newest + 3_600))
    model = NeedsModel(outlook, Snoozes(None, ""), lambda: None)
    at_once(model.refresh_steps())
    needs = model.ranked(len(store.pending))
    records = [
        record.id
        for need in needs
        for part in (need, *need.others)
        for record in (part.record, *part.related)
        if isinstance(record, (Task, Alert))
    ]
    assert len(records) == len(set(records))
    rows = [row for row in companies_of("attention", "items") if row["sourceKind"] != "approval"]
    own_ids = ("review", "issue_thread_interaction", "budget_alert")
    wanted = {row["subject"]["id"] if row["sourceKind"] in own_ids else row["id"] for row in rows}
    wanted |= {row["id"] for row in companies_of("approvals") if row["status"] == "pending"}
    assert wanted <= set(records)
    causes = [need.cause for need in needs if need.cause is not None]
    assert len(causes) == len(set(causes))
    joined = {str(need.record.id): {other.record.id for other in need.others} for need in needs}
    company = "a2e5ed35-24f2-4680-95f4-0d7156caa2ae"
    assert joined[company] == {"4237adda-a09f-4d82-9693-9fbb02f95107"}  # its budget stopped it


def test_paperclip_is_recognised() -> None:
    file = load_platform("paperclip", None)
    assert file.recognises(body_of("health"))
    assert file.needs_no_key(body_of("health"))
    assert not file.needs_no_key({**body_of("health"), "deploymentMode": "authenticated"})
    assert not file.recognises({"status": "ok"})


# -- every word of the file matters ----------------------------------------------------------------

DATA = tomllib.loads(FILE.read_text(encoding="utf-8"))


async def everything(
    platform: DeclaredPlatform, server: RecordedPaperclip, verb: str | None = None
) -> None:
    """Check all that the file says; or only one of its verbs, and which rows have which."""
    if verb is None:
        await check_reads(platform, server)
        await check_roles(platform, server)
        await check_news(platform, server)
        await check_writes(platform, server)
    await check_verbs(platform, server, verb)


@pytest.mark.parametrize("place", places_in(DATA), ids=words_of)
async def test_each_wrong_word_is_noticed(place: Place, server: RecordedPaperclip) -> None:
    verb = place[1] if place[0] == "verbs" else None
    with pytest.raises((AssertionError, ApiError, LookupError, ValueError)):
        async with platform_at(server, declared(changed(DATA, place))) as platform:
            await everything(platform, server, verb)


@pytest.mark.parametrize("verb", [None, *sorted({case.name for case in CASES})])
async def test_the_unchanged_file_passes_what_the_changed_ones_fail(
    verb: str | None, server: RecordedPaperclip
) -> None:
    async with platform_at(server, declared(DATA)) as platform:
        await everything(platform, server, verb)
