"""What may be concluded from a read, and what not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentco_tui.actions.decisions import recorded_outcome
from agentco_tui.actions.journal_lines import Settled, from_line, to_line
from agentco_tui.actions.outcome import (
    KnownBy,
    Outcome,
    OutcomeKind,
    Reason,
    Resolution,
    Step,
    TaskDecision,
    Verb,
)
from agentco_tui.actions.outcome_words import SENTENCES, outcome_sentence
from agentco_tui.actions.task_resolution import (
    decision_about,
    logged_decision,
    resolution_of,
    why_it_left,
)
from agentco_tui.live.feeds import Clock, FeedName, Phase
from agentco_tui.live.single_flight import SingleFlight
from agentco_tui.model import Activity, Moment, Ref, Task, TaskState
from agentco_tui.text import mark_safe
from tests.actions.user import User, open_services, until
from tests.platform import EmbeddedPlatform

TASK = Task(
    id="t1",
    title=mark_safe("Pay the bill"),
    status=mark_safe("pending"),
    state=TaskState.PENDING,
    priority=mark_safe("high"),
    agent=Ref(id="a1", name=mark_safe("Scout")),
    company=Ref(id="c1", name=mark_safe("Acme")),
)


# --- who decided ------------------------------------------------------------------------------


def entry(verb: str | None, at: float = 0.0, **more: object) -> Activity:
    return Activity(
        **{  # type: ignore[arg-type]
            "id": f"{verb}{at}",
            "text": mark_safe("approved by everybody"),
            "verb": None if verb is None else mark_safe(verb),
            "task": Ref(id="t1"),
            "at": Moment(at),
            **more,
        }
    )


@pytest.mark.parametrize(
    ("verb", "word"),
    [
        ("task.approved", "approved"), ("APPROVE", "approved"), ("rejected", "rejected"),
        ("approval.requested", None), ("not approved", None), ("awaiting_approval", None),
        ("task.canceled", "cancelled"), (None, None), ("note", None), ("disapproved", None),
    ],
)  # fmt: skip
def test_decisions_come_from_verbs_never_from_texts(verb: str | None, word: str | None) -> None:
    assert logged_decision(entry(verb)) == word


def test_the_newest_decision_about_the_task_counts() -> None:
    entries = [
        entry("rejected", 1), entry("approved", 3), entry("rejected", 2), entry("note", 9),
        entry("rejected", 8, task=Ref(id="t2")),
    ]  # fmt: skip
    found = decision_about("t1", entries)
    assert found is not None
    assert found.at == Moment(3)
    assert decision_about("t1", entries, 8) is found, "clocks may differ by five seconds"
    assert decision_about("t1", entries, 8.01) is None


def sentence_about(record: Task | None, log_entry: Activity | None, now: float) -> str:
    """Return what is said of a task that left the list, as far as record and log tell."""
    resolution = resolution_of(record, log_entry)
    outcome = Outcome(
        verb=Verb.APPROVE,
        kind=OutcomeKind.DECIDED_ELSEWHERE,
        reason=why_it_left(record, resolution),
        known_by=KnownBy.READ,
        subject="t1",
        title=mark_safe("a task"),
        at=now,
        resolution=resolution,
        record=record,
    )
    return outcome_sentence(outcome)


def test_sentences_say_no_more_than_is_known() -> None:
    gone = msgspec.structs.replace(TASK, status=mark_safe("archived"), state=TaskState.OTHER)
    assert sentence_about(None, None, 10) == "it left the list of pending tasks"
    assert sentence_about(gone, None, 10) == (
        "it is no longer pending: the platform shows it as “archived”"
    )
    actor = Ref(name=mark_safe("Dana"))
    assert sentence_about(None, entry("approved", 6, actor=actor), 10) == (
        "already approved elsewhere by Dana, 4 s ago"
    )
    rejected = msgspec.structs.replace(TASK, state=TaskState.REJECTED)
    assert sentence_about(rejected, entry("approved", 6, actor=actor), 10) == (
        "already rejected elsewhere"
    )
    by = msgspec.structs.replace(gone, decided_by=mark_safe("Dana"))
    shown = Outcome(
        verb=Verb.APPROVE,
        kind=OutcomeKind.UNCLEAR,
        reason=Reason.LOST_OTHER_STATUS,
        known_by=KnownBy.READ,
        subject="t1",
        title=mark_safe("a task"),
        record=by,
    )
    assert outcome_sentence(shown) == (
        "it no longer waits: the platform shows it as “archived”, decided by Dana"
    )


def test_every_reason_has_a_sentence_that_can_be_made() -> None:
    """Whichever of the optional fields is missing."""
    assert set(SENTENCES) == set(Reason)
    for reason in Reason:
        outcome = Outcome(
            verb=Verb.CREATE_TASK,
            kind=OutcomeKind.UNCLEAR,
            reason=reason,
            known_by=KnownBy.READ,
            subject="t1",
            title=mark_safe("a task"),
        )
        sentence = outcome_sentence(outcome)
        assert sentence.isprintable()
        is_cause_alone = SENTENCES[reason] in ("{cause}", "")
        assert bool(sentence) is not is_cause_alone


@pytest.mark.parametrize("is_old", [False, True])
def test_an_outcome_that_another_dashboard_wrote_is_data_too(is_old: bool) -> None:
    """Of a line of an older version, only its kind and its sentence are known."""
    facts: dict[str, Any] = {
        "reason": Reason.DECIDED,
        "decision": TaskDecision.REJECTED,
        "decided_by": "Wanda",
        "decided_at": 5.0,
    }
    settled = Settled(
        attempt="a1",
        outcome=OutcomeKind.DECIDED_ELSEWHERE,
        sentence="already rejected elsewhere by Wanda",
        **({} if is_old else facts),
    )
    line = to_line(settled)
    assert (b'"reason"' in line) is not is_old, "older versions skip fields that they don't know"
    read = from_line(line)
    assert isinstance(read, Settled)
    outcome = recorded_outcome(TASK, read)
    assert outcome.kind is OutcomeKind.DECIDED_ELSEWHERE
    assert outcome_sentence(outcome) == settled.sentence
    resolution = Resolution(
        decision=TaskDecision.REJECTED, decided_by=mark_safe("Wanda"), decided_at=Moment(5.0)
    )
    assert outcome.resolution == (None if is_old else resolution)
    assert outcome.reason is (Reason.RECORDED if is_old else Reason.DECIDED)


# --- one read for all who ask -----------------------------------------------------------------


async def test_a_read_that_hangs_holds_up_the_next_briefly() -> None:
    go = asyncio.Event()
    begun: list[None] = []

    async def read() -> int:
        begun.append(None)
        number = len(begun)
        if number == 1:
            await go.wait()
        return number

    shared = SingleFlight(read, Clock(), longest_wait=0.01)
    first = shared.next_read()
    await until(lambda: len(begun) == 1)
    assert await shared.next_read() == 2
    assert not first.done()
    go.set()
    assert await first == 1
    go.clear()
    begun.clear()
    hanging = shared.next_read()
    await until(lambda: len(begun) == 1)
    assert await shared.next_read() == 2
    await shared.close()
    assert (await asyncio.gather(hanging, return_exceptions=True))[0].__class__ is (
        asyncio.CancelledError
    ), "the close ends those that hang as well"


async def test_reads_keep_their_distance() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def read() -> None:
        return None

    shared = SingleFlight(read, Clock(), sleep)
    await shared.next_read(spacing=60)
    assert slept == []
    await shared.next_read(spacing=60)
    assert 50 < slept[0] <= 60


# --- lists that are not whole -----------------------------------------------------------------


@pytest.mark.parametrize("answer", ["status=200,body=empty", "status=204", "status=200,body=null"])
async def test_no_answer_is_not_an_empty_list(user: User, answer: str) -> None:
    task = (await user.pending())[0]
    user.platform.faults.add(f"tasks:{answer}")
    found = await user.approve(task)
    assert found.kind is OutcomeKind.NOT_SENT
    assert "could not be read again" in outcome_sentence(found)


async def test_a_lost_answer_and_then_nothing_but_blanks_is_unclear(
    user: User,
) -> None:
    task = (await user.pending())[0]
    user.platform.faults.add("approve:drop_after,times=1")

    def blank(step: Step) -> None:
        if step is Step.SENDING:
            user.platform.faults.add("tasks:status=204")

    found = await user.approve(task, blank)
    assert found.kind is OutcomeKind.UNCLEAR
    assert "approved" not in outcome_sentence(found)


async def test_what_a_decision_has_read_is_shown(user: User) -> None:
    first, second = (await user.pending())[:2]
    with user.platform.world.locked() as state:
        state.tasks[second.id].title = "Something else"
        state.changed_task(state.tasks[second.id], user.platform.world.now)
    await user.approve(first)
    shown = user.store.pending.get(second.id)
    assert shown is not None
    assert shown.title == "Something else"
    fresh = user.store.freshness[FeedName.PENDING]
    assert (fresh.phase, fresh.failures) == (Phase.LIVE, 0)
    user.platform.faults.add("tasks:status=503")
    await user.approve(second)
    assert user.store.freshness[FeedName.PENDING].phase is Phase.STALE


async def test_the_last_task_of_a_company_in_scope(platform: EmbeddedPlatform, path: Path) -> None:
    company = platform.world.agents()[0].company.id
    async with open_services(platform, path, company=company) as user:
        listing = await user.services.client.tasks(company_id=company, status="pending")
        for task in listing.records:
            assert (await user.approve(task)).kind is OutcomeKind.APPROVED_HERE
        assert len(user.store.pending) == 0
        asked = {seen.query for seen in platform.requests.matching("tasks")}
        assert asked == {f"company_id={company}&status=pending"}
