"""Creating, cloning and setting limits against a real server, with answers lost on the way."""

from __future__ import annotations

import asyncio
import json
import time
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import pytest
from msgspec.structs import replace

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.journal_lines import Attempt, Settled
from agentco_tui.actions.outcome import KnownBy, Outcome, OutcomeKind, Reason
from agentco_tui.actions.outcome_words import outcome_sentence
from agentco_tui.actions.recovery import recover_attempt
from agentco_tui.api.client import Client
from agentco_tui.api.error_messages import RequestInfo, error_for_status
from agentco_tui.demo.world_state import RefusedError
from agentco_tui.model import Budget, Company, Ref, Task
from agentco_tui.model.format import stamp
from agentco_tui.text import mark_safe
from tests.actions.user import (
    QUICK,
    User,
    clone_company,
    create_company,
    create_task,
    journal_entries,
    open_services,
    set_limit,
    until,
)
from tests.platform import EmbeddedPlatform

LOST = ["", "drop_after"]
"""An answer, and none."""


def task_form(platform: EmbeddedPlatform, title: str = "Water the plants") -> dict[str, str]:
    agent = platform.world.agents()[0]
    return {
        "company_id": agent.company.id,
        "title": title,
        "agent_id": agent.id,
        "priority": "high",
    }


def made(platform: EmbeddedPlatform, title: str = "Water the plants") -> int:
    return sum(task.title == title for task in platform.world.tasks())


def companies(platform: EmbeddedPlatform, name: str) -> int:
    return sum(company.name == name for company in platform.world.state.companies.values())


# --- tasks ------------------------------------------------------------------------------------


async def test_a_task_is_created_and_seen(path: Path, user: User) -> None:
    found = await create_task(user.services, task_form(user.platform))
    assert found.kind is OutcomeKind.DONE
    assert found.known_by is KnownBy.READ
    assert isinstance(found.record, Task)
    assert user.store.pending.get(found.record.id) == found.record
    [sent] = user.platform.requests.matching("create_task")
    attempt, _ = journal_entries(path)
    assert isinstance(attempt, Attempt)
    assert dict(sent.headers)["idempotency-key"] == attempt.attempt
    assert attempt.verb == "create task"
    assert made(user.platform) == 1


async def test_the_same_title_may_be_made_again_by_a_new_decision(user: User) -> None:
    for count in (1, 2):
        user.platform.faults.add("create_task:drop_after,times=1")
        assert (await create_task(user.services, task_form(user.platform))).kind is OutcomeKind.DONE
        assert made(user.platform) == count


@pytest.mark.parametrize("fault", LOST)
@pytest.mark.parametrize(
    ("key", "title"),
    [("identifier", "{key}: {title}"), ("identifier", "[{key}] {title}"),
     ("identifier", "{title} ({key})"), ("identifier", "{title}"), (None, "{key}: {title}")],
)  # fmt: skip
async def test_a_task_is_recognised_where_its_key_is_put_into_its_title(
    path: Path, key: str | None, title: str, fault: str
) -> None:
    """The key is a field of its own, or the id itself."""

    def edited(kind: str, record: Any) -> Any:
        if kind == "tasks":
            of_its_own = f"ACM-{sum(map(ord, record['id']))}"
            word = record["id"] if key is None else of_its_own
            record["title"] = title.format(key=word, title=record["title"])
            if key is not None:
                record[key] = of_its_own
        return record

    with EmbeddedPlatform(edit=edited, companies=2, agents=6, tasks=60, speed=0.0) as platform:
        if fault:
            platform.faults.add(f"create_task:{fault}")
        async with open_services(platform, path) as user:
            form = task_form(platform, "Ship it")
            found = await create_task(user.services, form)
            assert found.kind is OutcomeKind.DONE
            assert isinstance(found.record, Task)
            assert "Ship it" in found.record.title
            assert made(platform, "Ship it") == 1
            other = await create_task(user.services, task_form(platform, "Ship"))
            assert other.kind is OutcomeKind.DONE
            assert other.record != found.record


async def test_a_refused_task_says_why_beside_its_fields(user: User) -> None:
    form = task_form(user.platform)
    company = user.platform.world.create_company("Elsewhere", "shop", "Sell").id
    other = user.platform.world.agents(company)[0].id
    wrong = {
        "company_id": form["company_id"],
        "title": form["title"],
        "agent_id": other,
        "priority": "soon",
    }
    found = await create_task(user.services, wrong)
    assert found.kind is OutcomeKind.REFUSED
    assert found.fields["agent_id"] == "the agent belongs to another company"
    assert found.fields["priority"].startswith("must be one of")


async def test_a_task_sent_twice_is_made_once(platform: EmbeddedPlatform, path: Path) -> None:
    async with open_services(platform, path) as here, open_services(platform, path) as there:
        platform.faults.add("create_task:latency=30ms")
        found = await asyncio.gather(
            *(create_task(user.services, task_form(platform)) for user in (here, there, here))
        )
        assert made(platform) == 1
        assert sorted(outcome.kind for outcome in found) == [
            OutcomeKind.DONE, OutcomeKind.NOT_SENT, OutcomeKind.NOT_SENT,
        ]  # fmt: skip


async def test_a_platform_that_cannot_be_read_is_not_written_to(user: User) -> None:
    user.platform.faults.add("reads:status=503")
    for found in (
        await create_task(user.services, task_form(user.platform)),
        await create_company(
            user.services, {"name": "Acme", "template": "shop", "mission": "Sell"}
        ),
        await set_limit(user.services, Ref(id="ag_1"), "5", shown=None),
    ):
        assert found.kind is OutcomeKind.NOT_SENT
        assert found.error is not None
    assert not [seen for seen in user.platform.requests if seen.method == "POST"]


# --- companies --------------------------------------------------------------------------------


async def create(user: User, name: str = "Acme Garden") -> Outcome:
    form = {"name": name, "template": "shop", "mission": "Sell plants"}
    return await create_company(user.services, form)


@pytest.mark.parametrize("fault", LOST)
@pytest.mark.parametrize("verb", ["create company", "clone company"])
async def test_a_company_is_made_once(path: Path, user: User, fault: str, verb: str) -> None:
    if fault:
        user.platform.faults.add(f"{verb.replace(' ', '_')}:{fault},times=1")
    source = (await user.services.client.companies()).records[0]
    if cloned := verb.startswith("clone"):
        form = {"name": "Acme Garden", "mission": "The same again"}
        found = await clone_company(user.services, source, form)
    else:
        found = await create(user)
    assert found.kind is OutcomeKind.DONE
    assert isinstance(found.record, Company)
    assert user.store.companies.get(found.record.id) == found.record
    assert companies(user.platform, "Acme Garden") == 1
    attempt = journal_entries(path)[0]
    assert isinstance(attempt, Attempt)
    assert (attempt.verb, attempt.company) == (verb, source.id if cloned else None)


ECHOES: list[dict[str, object]] = [
    {"error": "conflict", "title": "{title}"},
    {"message": "  {TITLE}. "},
    {"errors": {"title": ["{title}"]}},
    {"detail": [{"loc": ["body", "title"], "msg": "{title}"}]},
]


@pytest.mark.parametrize("echo", ECHOES)
async def test_what_a_person_typed_is_never_quoted_as_the_platforms_words(
    platform: EmbeddedPlatform, path: Path, echo: dict[str, object]
) -> None:
    async with open_services(platform, path) as user:
        form = {**task_form(platform), "title": "Pay ACME for the long winter of 2026 " * 12}
        title = form["title"].strip()
        body = json.dumps(echo).replace("{title}", title).replace("{TITLE}", title.upper())
        info = RequestInfo("POST", "/api/tasks", mark_safe("the platform"))
        error = error_for_status(info, 409, {}, body.encode(), 0.0)

        async def refuse(**_: str) -> NoReturn:
            raise error

        client = user.services.decision_client
        client.create_task = refuse  # type: ignore[method-assign,assignment]
        found = await create_task(user.services, form)
        assert found.kind is OutcomeKind.REFUSED
        assert found.platform_words is None
        assert "ACME" not in f"{outcome_sentence(found)} {found.fields}"
        assert "409" in outcome_sentence(found)


async def test_a_taken_name_is_refused_beside_the_field(user: User) -> None:
    taken = next(iter(user.platform.world.state.companies.values())).name
    found = await create(user, taken)
    assert found.kind is OutcomeKind.REFUSED
    assert found.fields == {"name": "is already taken"}
    assert len(user.platform.requests.matching("companies")) == 1, "a clear no needs no read"


@pytest.mark.parametrize("reads", [True, False])
async def test_a_401_is_about_the_key_only_if_reads_have_it_too(user: User, reads: bool) -> None:
    user.platform.faults.add("create_company:status=401,times=1")
    if not reads:
        user.platform.faults.add("companies:status=401,after=1")
    found = await create(user)
    kind = OutcomeKind.REFUSED if reads else OutcomeKind.KEY_REJECTED
    assert (found.kind, found.known_by) == (kind, KnownBy.ANSWER)
    assert ("nothing was changed" in outcome_sentence(found)) is not reads


async def test_a_message_goes_to_the_form_that_has_the_field(
    platform: EmbeddedPlatform, path: Path
) -> None:
    def refuse(*_: str) -> NoReturn:
        raise RefusedError(422, "wrong", "Validation error", [("template", "no such template")])

    async with open_services(platform, path) as user:
        platform.world.create_company = refuse  # type: ignore[method-assign,assignment]
        platform.world.clone_company = refuse  # type: ignore[method-assign,assignment]
        assert (await create(user)).fields == {"template": "no such template"}
        source = (await user.services.client.companies()).records[0]
        form = {"name": "The copy", "mission": "The same again"}
        cloned = await clone_company(user.services, source, form)
        assert (cloned.kind, cloned.fields) == (OutcomeKind.REFUSED, {})
        assert outcome_sentence(cloned).endswith("; template: no such template")


# --- limits -----------------------------------------------------------------------------------


async def budget(user: User) -> Budget:
    listing = await user.services.client.agent_budgets()
    user.store.agent_budgets.replace(listing)
    return next(found for found in listing.records if found.limit is not None)


@pytest.mark.parametrize("fault", LOST)
async def test_a_limit_is_set_and_read(user: User, fault: str) -> None:
    shown = await budget(user)
    if fault:
        user.platform.faults.add(f"set_limit:{fault},times=1")
    agent = Ref(id=shown.id, name=shown.name)
    found = await set_limit(user.services, agent, "123.45", shown=shown)
    assert found.kind is OutcomeKind.DONE
    assert found.known_by is KnownBy.READ
    assert outcome_sentence(found) == "the monthly limit is 123.45 now"
    assert user.platform.world.agent(shown.id).limit == 123_450_000
    now = user.store.agent_budgets.get(shown.id)
    assert now is not None
    assert now.limit is not None
    assert now.limit.amount == Decimal("123.45")
    [sent] = user.platform.requests.matching("set_limit")
    assert b"123.45" in sent.body


@pytest.mark.parametrize(
    ("typed", "before", "fault", "kind", "words"),
    [
        ("123.45", None, "drop_before", OutcomeKind.NOT_DONE,
         "not done: the answer was lost, and reads over 0.02 s"),
        ("123", 77, "", OutcomeKind.CHANGED, "77.00"),
        ("", None, "", OutcomeKind.DONE, "nothing was sent"),
        ("0", None, "", OutcomeKind.DONE, "the monthly limit is 0 now"),
    ],
)  # fmt: skip
async def test_a_limit_that_is_not_set(
    user: User,
    typed: str,
    before: int | None,
    fault: str,
    kind: OutcomeKind,
    words: str,
) -> None:
    """The write is lost, somebody changed it, it is so already; 0 is no limit."""
    shown = await budget(user)
    assert shown.limit is not None
    if before is not None:
        user.platform.world.set_limit(shown.id, before)
    if fault:
        user.platform.faults.add(f"set_limit:{fault},times=1")
    typed = typed or f"{shown.limit.amount:f}"
    found = await set_limit(user.services, Ref(id=shown.id), typed, shown=shown)
    assert found.kind is kind
    assert words in f"{outcome_sentence(found)}{found.differences}"
    assert len(user.platform.requests.matching("set_limit")) == bool(fault or typed == "0")
    if typed == "0":
        assert user.platform.world.agent(shown.id).limit is None


async def test_another_figure_than_was_sent_is_told(user: User) -> None:
    """The platform takes the limit, and somebody else sets another before it is read."""
    shown = await budget(user)
    in_world = user.platform.world.set_limit

    def twice(agent_id: str, dollars: float) -> object:
        in_world(agent_id, dollars)
        return in_world(agent_id, 99)

    user.platform.world.set_limit = twice  # type: ignore[method-assign,assignment]
    found = await set_limit(user.services, Ref(id=shown.id), "123", shown=shown)
    assert found.kind is OutcomeKind.UNCLEAR
    assert outcome_sentence(found).startswith("the platform said yes, but the platform shows ")
    assert "99.00 where 123 was sent" in outcome_sentence(found)


# --- what was left behind ---------------------------------------------------------------------


async def test_every_verb_is_taken_up_at_a_start(platform: EmbeddedPlatform, path: Path) -> None:
    async with open_services(platform, path) as first:
        task = (await first.pending())[0]
        shown = await budget(first)
        source = (await first.services.client.companies()).records[0]
        copy = {"name": "The copy", "mission": "The same"}
        for fault, work in (
            ("create_task:hang,applied=after", create_task(first.services, task_form(platform))),
            ("create_company:hang,applied=after", create(first)),
            ("clone_company:hang", clone_company(first.services, source, copy)),
            (
                "set_limit:hang,applied=after",
                set_limit(first.services, Ref(id=shown.id), "123", shown=shown),
            ),
            ("approve:hang,applied=after", first.approve(task)),
        ):
            hang = platform.faults.add(fault)
            working = asyncio.create_task(work)
            await until(lambda: hang.struck == 1)  # noqa: B023
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        platform.faults.clear()
    posts = len([seen for seen in platform.requests if seen.method == "POST"])
    async with open_services(platform, path) as second:
        left = await second.left_behind()
        assert len(left) == 5
        told = {attempt.verb: await second.recover(attempt) for attempt in left}
        assert {verb: found.kind for verb, found in told.items()} == {
            "approve": OutcomeKind.APPROVED,
            "create task": OutcomeKind.DONE,
            "create company": OutcomeKind.DONE,
            "clone company": OutcomeKind.NOT_DONE,
            "set limit": OutcomeKind.DONE,
        }
        assert all("left unsettled" in outcome_sentence(found) for found in told.values())
        assert await second.left_behind() == []
        assert len([seen for seen in platform.requests if seen.method == "POST"]) == posts


async def test_lines_have_names_and_what_was_made(platform: EmbeddedPlatform, path: Path) -> None:
    async with open_services(platform, path) as user:
        client, store = user.services.client, user.store
        store.companies.replace(await client.companies())
        store.agents.replace(await client.agents())
        agent = (await client.agents()).records[0]
        assert agent.company is not None
        company = store.companies.get(agent.company.id)
        assert company is not None
        form = {"company_id": company.id, "title": "new", "agent_id": agent.id, "priority": "high"}
        await create_task(user.services, form)
        await set_limit(user.services, Ref(id=agent.id), "77", shown=None)
        made = next(task.id for task in (await client.tasks()).records if task.title == "new")
    entries = journal_entries(path)
    assert len(entries) == 4
    for entry in entries:
        assert (entry.agent, entry.agent_name) == (agent.id, agent.name)
        assert (entry.company, entry.company_name) == (company.id, company.name)
    assert [entry.made for entry in entries if isinstance(entry, Settled)] == [made, None]


# --- what is known again, and as what ---------------------------------------------------------


async def recovered(user: User, verb: str, title: str, **fields: Any) -> Outcome:
    """What is said of an attempt that another run left in the journal."""
    left = Attempt(
        attempt="a1", time=stamp(time.time()), origin=user.platform.base_url, profile="test",
        verb=verb, subject=str(fields.get("agent", "new:1")), title=title, **fields,
    )  # fmt: skip
    user.leave_behind(left)
    return await user.recover(left)


@pytest.mark.parametrize(
    ("details", "kind", "words"),
    [
        ({"before": ["ID"]}, OutcomeKind.NOT_DONE, "show nothing of it"),
        ({"before": []}, OutcomeKind.DONE, "created: ID"),
        ({"before": None, "platform_time": 1.0}, OutcomeKind.DONE, "created: ID"),
        ({"before": None, "platform_time": 9e9}, OutcomeKind.UNCLEAR, "similar one (ID), which"),
        ({"before": None}, OutcomeKind.UNCLEAR, "similar one (ID), which"),
    ],
)
async def test_the_new_one_is_told_from_one_that_was_there(
    platform: EmbeddedPlatform, path: Path, details: dict[str, object], kind: str, words: str
) -> None:
    company = next(iter(platform.world.state.companies.values()))
    known = {key: [company.id] if value == ["ID"] else value for key, value in details.items()}
    async with open_services(platform, path) as user:
        found = await recovered(
            user, "create company", company.name, details={"name": company.name, **known}
        )
    assert found.kind is kind
    assert found.title == company.name
    assert words.replace("ID", company.id) in outcome_sentence(found)


async def test_another_agents_task_is_not_alike(platform: EmbeddedPlatform, path: Path) -> None:
    form = task_form(platform)
    platform.world.create_task(form["company_id"], form["title"], form["agent_id"], "high")
    others = [
        one for one in platform.world.agents(form["company_id"]) if one.id != form["agent_id"]
    ]
    details = {"title": form["title"], "before": None}
    for company, agent in ((form["company_id"], others[0].id), ("cmp_other", form["agent_id"])):
        async with open_services(platform, path.with_name(f"{agent}.jsonl")) as user:
            found = await recovered(
                user, "create task", form["title"], company=company, agent=agent, details=details
            )
            assert found.kind is OutcomeKind.NOT_DONE


@pytest.mark.parametrize(("there", "kept"), [(2, True), (50, True), (51, False)])
async def test_a_few_that_are_alike_are_written_down_with_the_attempt(
    platform: EmbeddedPlatform, path: Path, there: int, kept: bool
) -> None:
    form = task_form(platform)
    for _ in range(there):
        platform.world.create_task(form["company_id"], form["title"], form["agent_id"], "high")
    async with open_services(platform, path) as user:
        assert (await create_task(user.services, form)).kind is OutcomeKind.DONE
    attempt = journal_entries(path)[0]
    assert isinstance(attempt, Attempt)
    before = attempt.details["before"]
    assert len(before) == there if kept else before is None
    assert made(platform) == there + 1


async def test_what_is_made_elsewhere_is_not_shown(platform: EmbeddedPlatform, path: Path) -> None:
    form = task_form(platform)
    for company in ("cmp_other", form["company_id"]):
        async with open_services(platform, path, company=company) as user:
            found = await create_task(user.services, form)
            assert isinstance(found.record, Task)
            shown = user.store.pending.get(found.record.id) is not None
            assert shown is (company == form["company_id"])


@pytest.mark.parametrize(("status", "sent"), [(401, 0), (403, 0), (404, 1)])
async def test_a_refused_list_stops_a_write(user: User, status: int, sent: int) -> None:
    user.platform.faults.add(f"tasks:status={status},times=1")
    found = await create_task(user.services, task_form(user.platform))
    assert found.kind is (OutcomeKind.DONE if sent else OutcomeKind.NOT_SENT)
    assert len(user.platform.requests.matching("create_task")) == sent


async def test_a_yes_that_no_list_can_show_is_known(platform: EmbeddedPlatform, path: Path) -> None:
    async with open_services(platform, path, timing=replace(QUICK, confirm_for=3_600.0)) as user:
        agent = platform.world.agents()[0]
        platform.world.agents = lambda company_id=None: []  # type: ignore[method-assign]
        found = await set_limit(user.services, Ref(id=agent.id), "123", shown=None)
        assert (found.kind, found.known_by) == (OutcomeKind.DONE, KnownBy.ANSWER)
        assert "says the answer; a read doesn't show it yet" in outcome_sentence(found)


@pytest.mark.parametrize("applied", [True, False])
async def test_a_limit_that_is_refused_with_409_is_read(
    path: Path, user: User, applied: bool
) -> None:
    agent = user.platform.world.agents()[0]
    user.platform.faults.add(f"set_limit:status=409{',applied=after' if applied else ''}")
    found = await set_limit(user.services, Ref(id=agent.id), "777", shown=None)
    if applied:
        assert found.kind is OutcomeKind.DONE
        assert "777 now, though the platform had refused it" in outcome_sentence(found)
    else:
        assert found.kind is OutcomeKind.REFUSED
    last = journal_entries(path)[-1]
    assert isinstance(last, Settled)
    assert last.outcome == found.kind


async def test_an_attempt_with_a_verb_of_another_platform_is_left_as_it_is(user: User) -> None:
    attempt = Attempt(
        attempt="1",
        origin=user.services.origin,
        profile=user.services.profile,
        verb="reject",
        subject="t1",
        title="Pay the bill",
        task="t1",
    )
    user.leave_behind(attempt)
    [left] = await user.left_behind()
    assert left.verb == "reject"
    assert user.services.why_not_offered(left.verb) is None
    [claimed] = await user.services.claim([left])
    assert await recover_attempt(user.services, claimed) is None
    # What knows the verb reconciles it under its own name.
    write = Approval(user.services, Task(id="t1", title=mark_safe("Pay"))).resume(claimed)
    assert write.outcome(OutcomeKind.UNCLEAR, Reason.LOST_UNREAD).verb == "reject"


async def test_a_task_that_cannot_be_approved_by_the_read_before_is_not_sent(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = (await user.pending())[0]
    monkeypatch.setattr(Client, "verbs_of", lambda _client, _record: ("reject",))
    outcome = await user.approve(task)
    assert (outcome.kind, outcome.reason) == (OutcomeKind.NOT_SENT, Reason.NOT_OFFERED)
    assert "does not offer to approve this one" in outcome_sentence(outcome)
    assert not user.platform.requests.matching("approve")
    assert await user.left_behind() == []
