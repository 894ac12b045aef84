"""Verbs that only some platforms offer, against a server that answers as Paperclip did."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.journal_lines import Attempt, Settled
from agentco_tui.actions.outcome import KnownBy, Outcome, OutcomeKind, Reason, Step
from agentco_tui.actions.outcome_words import outcome_sentence, sentence_with_platform_words
from agentco_tui.actions.recovery import recover_attempt
from agentco_tui.actions.services import Permissions
from agentco_tui.live.feeds import FeedName, Query
from agentco_tui.model import Agent, Record, Task
from agentco_tui.text import mark_safe
from tests.actions.declared_user import DeclaredUser, open_declared
from tests.actions.user import left_behind, open_services
from tests.platform import EmbeddedPlatform
from tests.platforms.recorded_answers import ACME, GLOBEX
from tests.platforms.recorded_paperclip import Fault, RecordedPaperclip
from tests.platforms.verb_truth import ROW

WAITING = ROW["waiting"]
QUESTION = ROW["question"]
MAYA = ROW["maya"]
BLOCKED = f"blocker_attention:blocker:{ROW['blocked']}"

DOINGS = (
    ("reject", WAITING, "too dear", None),
    ("revise", WAITING, "cheaper", None),
    ("send back", ROW["review"], "not yet", None),
    ("decline", QUESTION, "no", None),
    ("skip", ROW["thread"], None, None),
    ("unblock", BLOCKED, "go on", None),
    ("comment", QUESTION, "a word", None),
    ("comment", ROW["backlog"], "a word", None),
    ("comment on the request", WAITING, "a word", None),
    ("cancel the run", ROW["run"], None, None),
    ("pause", MAYA, None, None),
    ("clear the agent's error", f"agent_error_alert:agent_error:{ROW['bea']}", None, None),
    ("run now", MAYA, None, None),
    ("pause the company", ACME, None, None),
    ("set the budget", ACME, None, "6000.50"),
    ("raise the limit", ROW["stop"], "go on", "400"),
    ("raise its limit", ROW["override"], None, "400"),
    ("keep it paused", ROW["stop"], "no money", None),
)
"""Verbs on records of all sorts, each with a note and a sum."""
of_all_sorts = pytest.mark.parametrize(
    ("name", "record_id", "note", "amount"), DOINGS, ids=[each[0] for each in DOINGS]
)


@pytest.fixture
def server() -> Iterator[RecordedPaperclip]:
    with RecordedPaperclip(most_issues=20) as running:
        yield running


@pytest.fixture
async def user(server: RecordedPaperclip, path: Path) -> AsyncIterator[DeclaredUser]:
    """With all companies in scope."""
    async with open_declared(server, path) as user:
        yield user


def on_writes(fault: Fault) -> Callable[[str, str], Fault | None]:
    return lambda method, path: None if method == "GET" else fault


def words(outcome: Outcome) -> str:
    return str(outcome_sentence(outcome))


# --- done, by what a read shows -------------------------------------------------------------------


@of_all_sorts
async def test_it_is_sent_once_and_done_by_a_read(
    name: str, record_id: str, note: str | None, amount: str | None, user: DeclaredUser
) -> None:
    shown = (await user.look())[record_id]
    found = await user.do(name, shown, note, amount)
    assert (found.kind, found.reason, found.known_by) == (
        OutcomeKind.DONE, Reason.DONE, KnownBy.READ,
    ), words(found)  # fmt: skip
    assert len(user.sent) == 1
    assert words(found).startswith(f"{name}: done")
    assert sentence_with_platform_words(found) == words(found)
    attempt, settled = user.entries
    assert isinstance(attempt, Attempt)
    assert (attempt.verb, attempt.subject) == (name, record_id)
    assert attempt.details.get("note") == note
    assert attempt.details.get("amount") == amount
    assert isinstance(settled, Settled)
    assert (settled.outcome, settled.known_by) == ("done", "read")
    assert found.subject == record_id


@of_all_sorts
async def test_a_yes_that_no_read_bears_out_is_not_done(
    name: str, record_id: str, note: str | None, amount: str | None, user: DeclaredUser
) -> None:
    shown = (await user.look())[record_id]
    user.server.fault = on_writes("pretended")
    found = await user.do(name, shown, note, amount)
    assert (found.kind, found.reason) == (OutcomeKind.UNCLEAR, Reason.YES_BUT), words(found)
    assert words(found).startswith("the platform said yes, but reads over 0.02 s do not show it")
    assert len(user.sent) == 1


async def test_rejected_is_success_of_a_rejection_and_failure_of_an_approval(
    user: DeclaredUser,
) -> None:
    shown = (await user.look())[WAITING]
    assert isinstance(shown, Task)
    user.server.answers_with = "rejected"
    approved = await Approval(user.services, shown).run()
    assert approved.kind is not OutcomeKind.APPROVED_HERE
    assert "status rejected" in words(approved)
    user.server.answers_with = None
    user.server.forget()
    found = await user.do("reject", shown)
    assert found.kind is OutcomeKind.DONE
    assert "“rejected”" in words(found)


async def test_another_status_after_a_yes_is_named(user: DeclaredUser) -> None:
    shown = (await user.look())[WAITING]
    user.server.fault = on_writes("pretended")
    write = user.write("reject", shown)
    assert await write.post() is None
    user.server.decided[WAITING] = "approved"  # by somebody else, since it was sent
    found = await write.reconcile()
    assert (found.kind, found.reason) == (OutcomeKind.UNCLEAR, Reason.YES_BUT)
    assert words(found) == "the platform said yes, but the platform shows it as “approved”"


async def test_the_answer_is_about_something_new(user: DeclaredUser) -> None:
    """A run is no agent, though it comes in answer to what was done to one."""
    shown = (await user.look())[MAYA]
    before = dict(user.store.agents.records)
    user.server.fault = on_writes("pretended")
    found = await user.do("run now", shown)
    assert found.subject == MAYA
    assert user.store.agents.records == before


# --- what the user saw counts ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "record_id", "changed_row", "changes", "difference"),
    [
        ("reject", WAITING, WAITING, {"payload": {"title": "Spend $90 on ads for Ada"}},
         "title was “Spend $40 on ads for Ada”, is “Spend $90 on ads for Ada”"),
        ("reject", WAITING, WAITING, {"type": "hire_agent"},
         "kind was “request_board_approval”, is “hire_agent”"),
        ("reject", WAITING, WAITING, {"status": "approved"}, "status was “pending”, is “approved”"),
        ("comment on the request", WAITING, WAITING, {"payload": {"summary": "less"}}, "title"),
        ("unblock", BLOCKED, BLOCKED, {"whyNow": "because"}, "description"),
        ("comment", ROW["backlog"], ROW["backlog"], {"title": "Other"}, "is “Other”"),
        ("pause", MAYA, MAYA, {"status": "running"}, "status was “idle”, is “running”"),
        ("pause", MAYA, MAYA, {"name": "Mia"}, "name was “Maya Globex”, is “Mia”"),
        ("pause the company", ACME, ACME, {"name": "Acme"}, "name was “Acme Robotics”, is “Acme”"),
        ("raise the limit", ROW["stop"], ROW["stop"], {"amountLimit": 50000},
         "limit was “$300.00”, is “$500.00”"),
        ("cancel the run", ROW["run"], ROW["run"], {"agentName": "Sam"}, "title"),
    ],
)  # fmt: skip
async def test_nothing_is_sent_if_it_changed_since_it_was_seen(
    name: str,
    record_id: str,
    changed_row: str,
    changes: dict[str, Any],
    difference: str,
    user: DeclaredUser,
) -> None:
    shown = (await user.look())[record_id]
    user.server.changed[changed_row] = changes
    amount = "600" if "limit" in name else None
    found = await user.do(name, shown, "a word" if "pause" not in name else None, amount)
    assert (found.kind, found.reason) == (OutcomeKind.CHANGED, Reason.DIFFERS), words(found)
    assert words(found).startswith("nothing was sent, because it changed since you saw it: ")
    assert difference in words(found)
    assert user.sent == []
    assert user.entries == []
    # The list from which it was read shows it as it is now.
    lists = [
        each.records for each in user.store.collections.values() if each.feed is not FeedName.TASKS
    ]
    assert shown not in [each[record_id] for each in lists if record_id in each]


async def test_a_run_that_goes_on_working_is_the_same(user: DeclaredUser) -> None:
    shown = (await user.look())[ROW["run"]]
    user.server.moved = {"currentStatusMessage": "Running the tests", "lastOutputSeq": 9_999}
    found = await user.do("cancel the run", shown)
    assert found.kind is OutcomeKind.DONE, words(found)


@of_all_sorts
async def test_nothing_is_sent_if_it_is_done_already(
    name: str, record_id: str, note: str | None, amount: str | None, user: DeclaredUser
) -> None:
    shown = (await user.look())[record_id]
    first = await user.do(name, shown, note, amount)
    assert first.kind is OutcomeKind.DONE
    again = await user.do(name, shown, note, amount)
    if name in ("comment", "comment on the request", "run now"):
        assert (again.kind, again.reason) == (OutcomeKind.DONE, Reason.DONE)  # once more
        assert len(user.sent) == 2
    else:
        assert (again.kind, again.reason) == (OutcomeKind.DONE, Reason.ALREADY_DONE), words(again)
        assert words(again).startswith("nothing was sent: ")
        assert words(again).endswith(" already")
        assert len(user.sent) == 1


@pytest.mark.parametrize("record_id", [WAITING, ROW["stop"], MAYA])
async def test_what_is_gone_is_not_acted_on(record_id: str, user: DeclaredUser) -> None:
    shown = replace((await user.look())[record_id], id="no-longer-there")
    names = {WAITING: "reject", ROW["stop"]: "raise the limit", MAYA: "pause"}
    amount = "400" if record_id == ROW["stop"] else None
    found = await user.do(names[record_id], shown, None, amount)
    assert found.kind in (OutcomeKind.GONE, OutcomeKind.NOT_SENT)
    assert user.sent == []


async def test_a_verb_that_it_no_longer_has_is_not_sent(user: DeclaredUser) -> None:
    """As with an agent that is paused already: the status is as it was seen."""
    user.server.decided[MAYA] = "terminated"
    shown = (await user.look())[MAYA]
    found = await user.do("pause", shown)
    assert (found.kind, found.reason) == (OutcomeKind.NOT_SENT, Reason.NOT_OFFERED)
    assert words(found) == "Paperclip does not offer to pause this one"
    assert user.sent == []


async def test_a_newer_state_in_the_store_is_read_again(user: DeclaredUser) -> None:
    shown = (await user.look())[MAYA]
    assert isinstance(shown, Agent)
    write = user.write("pause", shown)
    await write.prepare()
    assert write.why_overtaken() is None
    user.store.agents.put(replace(shown, status=mark_safe("error")))
    assert write.why_overtaken() == "it changed in its list"
    user.store.agents.drop(MAYA)
    assert write.why_overtaken() == "it left its list"
    await write.prepare()
    assert write.why_overtaken() is None


@pytest.mark.parametrize("scope", [GLOBEX, ACME])
async def test_another_company_may_be_in_scope(
    scope: str, server: RecordedPaperclip, path: Path
) -> None:
    """The lists of the task's own company are read, and nothing is added to those on the screen."""
    async with open_declared(server, path, company=GLOBEX) as user:
        shown = (await user.look())[WAITING]
        user.services.poller.query = Query(company=scope)
        await user.look()
        before = dict(user.store.tasks.records)
        server.requests.clear()
        found = await user.do("reject", shown)
        assert found.kind is OutcomeKind.DONE
        assert WAITING not in user.store.pending.records
        assert user.store.tasks.records.keys() == before.keys()
        asked = {seen.path.split("/")[3] for seen in server.requests if "companies/" in seen.path}
        assert asked == {GLOBEX}


async def test_records_that_share_an_id_are_not_acted_on(user: DeclaredUser) -> None:
    other = "de554994-dce1-467e-b23f-7d6a232ed100"
    user.server.changed[other] = {"id": WAITING}
    tasks = [each for each in (await user.look()).values() if each.sent_id == WAITING]
    assert len(tasks) == 2
    for shown in tasks:
        assert user.client.verbs_of(shown) == ()
        found = await user.do("reject", shown)
        assert (found.kind, found.reason) == (OutcomeKind.NOT_SENT, Reason.NOT_WRITABLE)
        assert "2 tasks" in words(found)
    assert user.sent == []


async def test_a_list_that_came_in_part_says_nothing_of_an_alert(
    user: DeclaredUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = (await user.look())[ROW["stop"]]
    listing = await user.client.budget_alerts()

    async def in_part(_: object) -> Any:
        return replace(listing, records=(), capped=True)

    monkeypatch.setattr(type(user.client), "budget_alerts", in_part)
    found = await user.do("keep it paused", shown)
    assert (found.kind, found.reason) == (OutcomeKind.NOT_SENT, Reason.UNREAD_BEFORE)
    assert "only in part" in words(found)


async def test_an_unreadable_platform_is_not_written_to(user: DeclaredUser) -> None:
    records = await user.look()
    user.server.fault = lambda method, path: 503 if method == "GET" else None
    for name, record_id, note, amount in DOINGS:
        found = await user.do(name, records[record_id], note, amount)
        assert (found.kind, found.reason) == (OutcomeKind.NOT_SENT, Reason.UNREAD_BEFORE)
    assert user.sent == []


# --- the answer is lost ---------------------------------------------------------------------------


@of_all_sorts
async def test_a_lost_answer_is_looked_for(
    name: str, record_id: str, note: str | None, amount: str | None, user: DeclaredUser
) -> None:
    shown = (await user.look())[record_id]
    user.server.fault = on_writes("lost")
    found = await user.do(name, shown, note, amount)
    assert (found.kind, found.reason, found.known_by) == (
        OutcomeKind.DONE, Reason.DONE, KnownBy.READ,
    ), words(found)  # fmt: skip
    assert len(user.sent) == 1


@of_all_sorts
async def test_a_request_that_had_no_effect_is_not_done(
    name: str, record_id: str, note: str | None, amount: str | None, user: DeclaredUser
) -> None:
    shown = (await user.look())[record_id]
    user.server.fault = on_writes("unheard")
    found = await user.do(name, shown, note, amount)
    assert (found.kind, found.reason) == (OutcomeKind.NOT_DONE, Reason.LOST_NO_EFFECT)
    assert words(found).startswith("not done: the answer was lost, and reads over 0.02 s")
    assert len(user.sent) == 1


@pytest.mark.parametrize(("name", "record_id"), [("reject", WAITING), ("decline", QUESTION)])
async def test_nothing_is_concluded_while_nothing_can_be_read(
    name: str, record_id: str, user: DeclaredUser
) -> None:
    shown = (await user.look())[record_id]
    unread = 0

    def fault(method: str, path: str) -> Fault | None:
        nonlocal unread
        if method != "GET":
            return "lost"
        if not user.sent or unread >= 12:
            return None
        unread += 1
        return 503

    user.server.fault = fault
    steps: list[Step] = []
    found = await user.do(name, shown, on_progress=steps.append)
    assert unread == 12
    assert found.kind is OutcomeKind.DONE
    assert steps.count(Step.UNKNOWN) > 2


async def test_a_proof_that_is_refused_leaves_it_unclear(user: DeclaredUser) -> None:
    """It would be refused for ever, so it is not read for ever."""
    shown = (await user.look())[QUESTION]

    def fault(method: str, path: str) -> Fault | None:
        if method != "GET":
            return "lost"
        return 404 if user.sent and path.endswith("/interactions") else None

    user.server.fault = fault
    found = await user.do("decline", shown)
    assert (found.kind, found.reason) == (OutcomeKind.UNCLEAR, Reason.LOST_UNREAD)


# --- refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "record_id"), [("reject", WAITING), ("decline", QUESTION)])
@pytest.mark.parametrize(
    ("status", "kind"),
    [(422, OutcomeKind.REFUSED), (409, OutcomeKind.REFUSED), (403, OutcomeKind.NOT_ALLOWED)],
)
async def test_a_refusal_is_told_with_its_words(
    name: str, record_id: str, status: int, kind: OutcomeKind, user: DeclaredUser
) -> None:
    shown = (await user.look())[record_id]
    user.server.fault = on_writes(status)
    found = await user.do(name, shown, "a word")
    assert found.kind is kind
    assert f"failed with {status}" in words(found)
    _, settled = user.entries
    assert isinstance(settled, Settled)
    assert (settled.outcome, settled.http_status) == (str(kind), status)
    if status == 403:
        again = await user.do(name, shown, "a word")
        assert (again.kind, again.reason) == (OutcomeKind.NOT_SENT, Reason.WRITING_OFF)
        assert len(user.sent) == 1


async def test_the_real_refusals_are_told(user: DeclaredUser) -> None:
    """What the server itself says, where somebody else was quicker."""
    records = await user.look()
    found = await user.do("raise the limit", records[ROW["stop"]], None, "1")
    assert words(found) == "refused: New budget must exceed current observed spend"
    found = await user.do("raise its limit", records[ROW["override"]], None, "1")
    assert words(found) == "refused: Paperclip answered with the status hard_stop"
    user.server.answers_with = "skipped"
    found = await user.do("run now", records[MAYA])
    assert words(found) == "refused: Paperclip answered with the status skipped"


async def test_a_refusal_of_what_is_done_by_now(user: DeclaredUser) -> None:
    shown = (await user.look())[QUESTION]

    def fault(method: str, path: str) -> Fault | None:
        if method != "GET":
            user.server.decided[QUESTION] = "rejected"  # by somebody else, a moment before
        return None

    user.server.fault = fault
    found = await user.do("decline", shown)
    assert (found.kind, found.reason) == (OutcomeKind.DONE, Reason.DONE_THOUGH_REFUSED)
    assert "Interaction has already been resolved" in words(found)


async def test_cents_that_are_not_whole_are_refused(user: DeclaredUser) -> None:
    records = await user.look()
    for name, record_id in (("set the budget", ACME), ("raise the limit", ROW["stop"])):
        found = await user.do(name, records[record_id], None, "400.005")
        assert (found.kind, found.reason) == (OutcomeKind.NOT_SENT, Reason.REQUEST_NOT_SENT)
        assert words(found) == "nothing was sent: Paperclip takes whole cents only"
    assert user.sent == []
    assert user.entries == []


async def test_a_read_only_profile_sends_nothing(server: RecordedPaperclip, path: Path) -> None:
    permissions = Permissions(mark_safe("this profile is read-only"))
    async with open_declared(server, path, permissions=permissions) as user:
        found = await user.do("reject", (await user.look())[WAITING])
        assert (found.kind, found.reason) == (OutcomeKind.NOT_SENT, Reason.WRITING_OFF)
        assert user.sent == []


# --- after a crash --------------------------------------------------------------------------------


async def crash_while_sending(
    server: RecordedPaperclip, path: Path, doing: tuple[str, str, str | None, str | None]
) -> None:
    """Do something in a process that ends before any answer comes."""
    name, record_id, note, amount = doing
    async with open_declared(server, path) as user:
        shown = (await user.look())[record_id]
        write = user.write(name, shown, note, amount)
        assert await write.post() is None
    server.fault = lambda method, path: None


@of_all_sorts
@pytest.mark.parametrize(
    ("fault", "kind"), [("lost", OutcomeKind.DONE), ("unheard", OutcomeKind.NOT_DONE)]
)
async def test_the_next_start_finds_out(
    name: str,
    record_id: str,
    note: str | None,
    amount: str | None,
    fault: Fault,
    kind: OutcomeKind,
    server: RecordedPaperclip,
    path: Path,
) -> None:
    """Nothing is known of the record then but what the journal has."""
    server.fault = on_writes(fault)
    await crash_while_sending(server, path, (name, record_id, note, amount))
    async with open_declared(server, path) as user:
        [attempt] = left_behind(user.journal, user.services.origin)
        [claimed] = await user.services.claim([attempt])
        found = await recover_attempt(user.services, claimed)
        assert found is not None
        assert found.kind is kind, words(found)
        assert found.resumed is not None
        assert len(user.sent) == 1, "nothing is sent again"
        assert left_behind(user.journal, user.services.origin) == []


async def test_the_same_again_first_finds_out(server: RecordedPaperclip, path: Path) -> None:
    server.fault = on_writes("lost")
    await crash_while_sending(server, path, ("comment", QUESTION, "a word", None))
    async with open_declared(server, path) as user:
        shown = (await user.look())[QUESTION]
        found = await user.do("comment", shown, "a word")
        assert found.kind is OutcomeKind.DONE
        assert found.resumed is not None
        assert len(user.sent) == 1


async def test_a_journal_with_odd_details_is_read(server: RecordedPaperclip, path: Path) -> None:
    """As a later version, or a hand, may have written them."""
    details = {"note": 7, "amount": "a lot", "status": ["pending"], "proof": "none"}
    async with open_declared(server, path) as user:
        for name, record_id in (("reject", WAITING), ("raise the limit", ROW["stop"])):
            attempt = Attempt(
                attempt=f"odd-{name}", origin=user.services.origin, verb=name, subject=record_id,
                title="Odd", details=details,
            )  # fmt: skip
            found = await recover_attempt(user.services, attempt)
            assert found is not None
            assert found.kind in (OutcomeKind.UNCLEAR, OutcomeKind.NOT_DONE)


async def test_a_verb_that_nobody_knows_raises_nothing(
    server: RecordedPaperclip, path: Path, platform: EmbeddedPlatform
) -> None:
    attempt = Attempt(attempt="one", verb="teleport", subject="x", title="X")
    async with open_declared(server, path) as user:
        assert await recover_attempt(user.services, attempt) is None
    async with open_services(platform, path.with_name("other.jsonl")) as generic:
        for verb in ("reject", "teleport"):
            without_file = replace(attempt, verb=verb)
            assert await recover_attempt(generic.services, without_file) is None


# --- what the lists show afterwards ---------------------------------------------------------------


async def test_the_store_shows_what_was_read(user: DeclaredUser) -> None:
    records = await user.look()
    for name, record_id, note, amount in DOINGS:
        user.server.forget()
        await user.look()
        found = await user.do(name, records[record_id], note, amount)
        assert found.kind is OutcomeKind.DONE, (name, words(found))
        for feed, listing in (await user.read()).items():
            shown = user.store.collections[feed].records.get(record_id)
            read = next((each for each in listing.records if each.id == record_id), None)
            assert (shown is None) == (read is None), (name, feed)
            assert status_of(shown) == status_of(read), (name, feed)


def status_of(record: Record | None) -> str | None:
    return getattr(record, "status", None)
