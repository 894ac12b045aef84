"""What one approval concludes from lists that don't agree: each is scripted, the server is real."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentco_tui.actions.approve import READS_AFTER_LEAVING, Approval
from agentco_tui.actions.decisions import Decisions
from agentco_tui.actions.journal_lines import Attempt, Settled
from agentco_tui.actions.outcome import (
    ENDED_WAITING,
    GOOD,
    NOT_CARRIED_OUT,
    KnownBy,
    Outcome,
    OutcomeKind,
    Reason,
    Step,
    Verb,
)
from agentco_tui.actions.outcome_words import outcome_sentence
from agentco_tui.demo.world_state import DemoTask, RefusedError
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Change
from agentco_tui.model import Listing, Ref, Task
from agentco_tui.model.format import stamp
from agentco_tui.text import mark_safe
from tests.actions.user import (
    QUICK,
    User,
    journal_entries,
    open_services,
    until,
)
from tests.platform import EmbeddedPlatform, decide_elsewhere

Kind = OutcomeKind
GONE, PART = "gone", "part"
Lists = Mapping[str, str | int]
"""What a list shows of the task from now on: `pending` or `all`, with ` of it` that of its own
company: a status word, an HTTP status, GONE, or PART, where it is in no part that came. A list
that isn't named shows what is so.
"""


def script(platform: EmbeddedPlatform, task: Task, lists: Lists) -> None:
    """Let the platform's lists of tasks show a task otherwise than it is."""
    world = platform.world
    in_world = type(world).tasks

    def tasks(company_id: str | None = None, status: str | None = None) -> list[DemoTask]:
        name = ("all" if status is None else "pending") + (" of it" if company_id else "")
        rows, shown = in_world(world, company_id, status), lists.get(name)
        if shown is None:
            return rows
        if isinstance(shown, int):
            raise RefusedError(shown, "no_list", "no such list")
        rows = [row for row in rows if row.id != task.id]
        it = world.task(task.id)
        if shown == PART:
            return [replace(it, id=""), *rows]
        return rows if shown == GONE else [replace(it, status=shown, version=99), *rows]

    with world.locked() as state:
        state.revisions[DemoTask] += 1
    world.tasks = tasks  # type: ignore[method-assign]


async def approved(user: User, task: Task, lists: Lists, at: Step = Step.SENDING) -> Outcome:
    """Approve it, with lists that are scripted from a step on."""

    steps = {at}

    def on(step: Step) -> None:
        if step in steps:
            steps.clear()
            user.platform.requests.clear()
            script(user.platform, task, lists)

    return await Approval(user.services, task).run(on)


def asked(platform: EmbeddedPlatform) -> list[str]:
    """The lists that were asked for, by their names in a script."""
    return [
        ("pending" if "status" in seen.query else "all")
        + (" of it" if "company_id" in seen.query else "")
        for seen in platform.requests.matching("tasks")
    ]


NO_LIST = "the answer was lost, and no list of the platform shows it"
NOT_WHOLE = "the answer was lost, and the list of all tasks could not be read whole"


@pytest.mark.parametrize(
    ("scoped", "lists", "kind", "words"),
    [
        (False, {}, Kind.APPROVED, "approved: the platform shows it as “approved”, decided by "),
        (False, {"all": "running"}, Kind.APPROVED, "it no longer waits: the platform shows it as"),
        (False, {"all": "rejected"}, Kind.DECIDED_ELSEWHERE, "already rejected elsewhere"),
        (False, {"all": "in_review"}, Kind.UNCLEAR, "it no longer waits: the platform shows it as"),
        (False, {"all": "pending"}, Kind.UNCLEAR, "unclear: it left the list of pending tasks, but "
         "the list of all tasks shows it as “pending” still"),
        (False, {"pending": "in_review"}, Kind.UNCLEAR,
         "it still waits, but its status went from “pending” to “in_review”"),
        (False, {"all": GONE}, Kind.GONE, NO_LIST),
        (False, {"all": 404}, Kind.GONE, NOT_WHOLE),
        (False, {"all": PART}, Kind.APPROVED, "approved: "),
        (False, {"all": PART, "all of it": GONE}, Kind.GONE, NOT_WHOLE),
        (False, {"all": PART, "all of it": PART}, Kind.GONE, NOT_WHOLE),
        (True, {"all of it": GONE}, Kind.APPROVED, "approved: "),
        (True, {"all of it": GONE, "all": GONE}, Kind.GONE, NO_LIST),
        (True, {"all of it": PART}, Kind.GONE, NOT_WHOLE),
        (False, {"pending": 404}, Kind.APPROVED, "approved: "),
        (False, {"pending": PART}, Kind.APPROVED, "approved: "),
        (False, {"pending": PART, "pending of it": PART}, Kind.APPROVED, "approved: "),
        (True, {"pending of it": PART, "all of it": PART}, Kind.UNCLEAR,
         "unclear: the answer was lost, and the platform's list of pending tasks came only in"),
    ],
)  # fmt: skip
async def test_what_lists_show_after_a_lost_answer(
    platform: EmbeddedPlatform, path: Path, scoped: bool, lists: Lists, kind: Kind, words: str
) -> None:
    own = platform.world.tasks(status="pending")[0].agent.company.id
    async with open_services(platform, path, company=own if scoped else None) as user:
        task = (await user.pending())[0]
        assert task.company is not None
        assert task.company.id == own
        platform.faults.add("approve:drop_after,times=1")
        found = await approved(user, task, lists)
        assert found.kind is kind
        assert words in outcome_sentence(found)
        if kind is not Kind.UNCLEAR:
            assert user.store.pending.get(task.id) is None
        if kind is Kind.GONE:
            assert (len(asked(platform)) > 3) is (PART in lists.values()), "a part is read again"


@pytest.mark.parametrize(
    ("answer", "lists", "kind", "words"),
    [
        ("", {}, Kind.APPROVED_HERE, "approved: the platform said yes, and the platform shows it "
         "as “approved”, decided by "),
        ("", {"pending": "in_review"}, Kind.APPROVED_HERE, "as “in_review”"),
        ("", {"pending": "approved"}, Kind.APPROVED_HERE, "as “approved”"),
        ("", {"pending": "pending"}, Kind.STILL_PENDING, "still shows the task as pending"),
        ("", {"pending": PART, "pending of it": PART, "all": "pending"}, Kind.STILL_PENDING, ""),
        ("", {"pending": PART, "pending of it": PART, "all": PART, "all of it": PART},
         Kind.APPROVED_HERE, "a read could not bear it out: the platform's list of pending"),
        ("204", {"all": "rejected"}, Kind.UNCLEAR, "said yes, but the platform shows it as “rej"),
        ("204", {"all": "running"}, Kind.APPROVED_HERE, "the platform shows it as “running”"),
        ("204", {"all": GONE}, Kind.APPROVED_HERE, "approved: the platform said yes, and it no "
         "longer waits"),
        ("409", {"pending": GONE, "all": "pending"}, Kind.REFUSED,
         "; it left the list of pending tasks, though the list of all tasks shows it as “pending”"),
        ("409", {"pending": GONE, "all": GONE}, Kind.GONE,
         "; it is in no list of the platform any more"),
        ("409", {"pending": PART, "pending of it": PART, "all": GONE}, Kind.REFUSED,
         " (it could not be read again since)"),
        ("401", {}, Kind.REFUSED, "refused with 401, while the key still reads: "),
        ("401", {"pending": 401}, Kind.KEY_REJECTED, "the key is missing or invalid"),
        ("401", {"pending": 503}, Kind.KEY_REJECTED, "401, and nothing could be read since: "),
    ],
)  # fmt: skip
async def test_lists_after_an_answer(
    user: User, answer: str, lists: Lists, kind: Kind, words: str
) -> None:
    task = (await user.pending())[0]
    if answer:
        applied = ",applied=after" if answer == "204" else ""
        user.platform.faults.add(f"approve:status={answer}{applied},times=1")
    found = await approved(user, task, lists)
    assert found.kind is kind
    assert words in outcome_sentence(found)
    assert (found.kind in GOOD) is (kind is Kind.APPROVED_HERE)
    if answer == "409":
        assert outcome_sentence(found).startswith("refused: ")


@pytest.mark.parametrize(
    ("lists", "kind", "words", "read"),
    [
        ({"pending": 404}, Kind.APPROVED_HERE, "", ["pending", "pending of it"]),
        ({"pending": PART}, Kind.APPROVED_HERE, "", ["pending", "pending of it"]),
        ({"pending": PART, "pending of it": PART}, Kind.APPROVED_HERE, "",
         ["pending", "pending of it", "all"]),
        ({"pending": PART, "pending of it": PART, "all": "rejected"}, Kind.DECIDED_ELSEWHERE,
         "already rejected elsewhere", ["pending", "pending of it", "all"]),
        ({"pending": 503}, Kind.NOT_SENT, "it could not be read again, so nothing was sent: ",
         ["pending"]),
        ({"pending": PART, "pending of it": PART, "all": GONE}, Kind.NOT_SENT,
         "it could not be read again, so nothing was sent: the platform's list of pending tasks "
         "came only in part", ["pending", "pending of it", "all"]),
        ({"pending": GONE}, Kind.CHANGED, "it left the list of pending tasks, though the list of "
         "all tasks shows it as “pending”", ["pending", "all"]),
        ({"pending": GONE, "all": GONE}, Kind.GONE, "it is in no list of the platform any more",
         ["pending", "all"]),
        ({"pending": GONE, "all": 503}, Kind.GONE, "it left the list of pending tasks; what became "
         "of it could not be read", ["pending", "all"]),
        ({"pending": "rejected"}, Kind.DECIDED_ELSEWHERE, "already rejected else", ["pending"]),
    ],
)  # fmt: skip
async def test_what_lists_show_before_it_is_sent(
    path: Path, user: User, lists: Lists, kind: Kind, words: str, read: list[str]
) -> None:
    task = (await user.pending())[0]
    found = await approved(user, task, lists, Step.READING)
    assert found.kind is kind
    assert outcome_sentence(found).startswith(words)
    assert asked(user.platform)[: len(read)] == read
    assert len(user.sends()) == len(journal_entries(path)) / 2 == (kind is Kind.APPROVED_HERE)
    assert found.known_by is (KnownBy.HERE if kind is Kind.NOT_SENT else KnownBy.READ)


async def test_what_is_left_behind_is_read_once(platform: EmbeddedPlatform, path: Path) -> None:
    """And not in all lists, nor in that of the company that the screen is about."""
    for scope in (None, "own", "cmp_other"):
        async with open_services(platform, path) as every:
            task = (await every.pending())[0]
        assert task.company is not None
        own = task.company.id
        company = own if scope == "own" else scope
        async with open_services(platform, path, company=company) as user:
            left = Attempt(
                attempt=f"a-{scope}", time=stamp(time.time()), origin=platform.base_url,
                profile="test", verb="approve", subject=task.id, task=task.id, company=own,
            )  # fmt: skip
            user.leave_behind(left)
            platform.requests.clear()
            assert (await user.recover(left)).kind is Kind.NOT_DONE
            of_it = "" if scope is None else f"company_id={own}&"
            assert {seen.query for seen in platform.requests} == {f"{of_it}status=pending"}


async def test_a_changed_task_is_in_no_other_list(platform: EmbeddedPlatform, path: Path) -> None:
    async with open_services(platform, path, company="cmp_other") as user:
        task = (await user.pending())[0]
        shown = replace(task, title=mark_safe("harmless"))
        for listed in (shown, None):
            user.store.pending.replace(Listing(records=() if listed is None else (listed,)))
            found = await Approval(user.services, shown).run()
            assert found.kind is Kind.CHANGED
            assert user.store.pending.get(task.id) == (listed and task)


async def test_what_became_of_it_goes_into_the_list_of_all_if_it_stands_there(
    user: User,
) -> None:
    first, second = (await user.pending())[:2]
    assert (await user.approve(first)).record is not None
    assert user.store.tasks.get(first.id) is None
    user.store.tasks.replace(await user.services.client.tasks())
    assert (await user.approve(second)).kind is Kind.APPROVED_HERE
    now = user.store.tasks.get(second.id)
    assert now is not None
    assert now.status == "approved"


async def test_a_log_tells_who_decided_what_no_list_shows(user: User) -> None:
    task = (await user.pending())[0]
    decide_elsewhere(user.platform.world, task.id, "reject")
    found = await approved(user, task, {"all": GONE}, Step.READING)
    assert found.kind is Kind.DECIDED_ELSEWHERE
    assert outcome_sentence(found).startswith("already rejected elsewhere by Wanda")


async def test_a_2xx_that_shows_it_rejected_is_no_yes(user: User) -> None:
    task = (await user.pending())[0]
    world = user.platform.world
    world.approve = lambda task_id: decide_elsewhere(world, task_id, "reject")  # type: ignore[method-assign]
    found = await user.approve(task)
    assert found.kind is Kind.REFUSED
    assert outcome_sentence(found).startswith(
        "refused: the platform answered “rejected”; the platform shows it as rejected by Wanda, "
    )


@pytest.mark.parametrize(("took", "reads"), [(None, True), (3.0, True), (3.1, False)])
async def test_a_list_of_all_that_takes_long_is_not_read_for_a_bare_yes(
    user: User, took: float | None, reads: bool
) -> None:
    task = (await user.pending())[0]
    user.services.reader.every_took = took
    user.platform.faults.add("approve:status=204,applied=after,times=1")
    assert (await approved(user, task, {})).kind is Kind.APPROVED_HERE
    assert ("all" in asked(user.platform)) is reads


# --- what was approved from here before ---------------------------------------------------------

HOUR = 3_600.0
BEFORE = "this machine had asked for it before"


@pytest.mark.parametrize(
    ("outcome", "decision", "later", "kind", "words"),
    [
        ("approved here", "approve", 0.0, Kind.APPROVED, BEFORE),
        ("approved here", "approve", 4.0, Kind.APPROVED, BEFORE),
        ("approved here", "approve", 10.0, Kind.DECIDED_ELSEWHERE, "(approved from this machine"),
        ("approved here", "approve", None, Kind.APPROVED, BEFORE),
        ("approved here", "reject", 10.0, Kind.DECIDED_ELSEWHERE, "(approved from this machine"),
        ("not done", "approve", 0.0, Kind.DECIDED_ELSEWHERE, "already approved elsewhere by Wanda"),
    ],
)
@pytest.mark.parametrize("logged", [False, True])
async def test_what_was_approved_from_here_is_not_told_as_elsewhere(
    user: User,
    outcome: str,
    decision: str,
    later: float | None,
    kind: Kind,
    words: str,
    logged: bool,
) -> None:
    """By when it was decided: as the record tells, or only the log."""
    task = (await user.pending())[0]
    began = time.time() - HOUR
    attempt = Attempt(
        attempt="a1", time=stamp(began), origin=user.platform.base_url, profile="test",
        verb="approve", subject=task.id, task=task.id,
    )  # fmt: skip
    user.journal.begin(attempt, user.journal.mark())
    user.journal.finish(Settled(attempt="a1", time=stamp(began), outcome=outcome))
    decide_elsewhere(user.platform.world, task.id, decision)
    at = None if later is None else user.platform.world.now - HOUR + later
    with user.platform.world.locked() as state:
        it = state.tasks[task.id]
        it.decided = None if logged else at
        state.changed_task(it, user.platform.world.now)
        for place, entry in enumerate(state.entries):
            if entry.task is it:
                gone = at is None or not logged
                state.entries[place] = replace(entry, at=at or entry.at, task=None if gone else it)
    approval = Approval(user.services, task)
    approval.waited_at = None
    found = await approval.run()
    assert found.kind is kind
    assert words in outcome_sentence(found)
    assert ("from this machine" in outcome_sentence(found)) is ("(approved" in words)
    assert user.sends() == []


async def test_a_second_yes_right_after_the_first_is_the_same_approval(
    user: User,
) -> None:
    task = (await user.pending())[0]
    assert (await user.approve(task)).kind is Kind.APPROVED_HERE
    found = await user.approve(task)
    assert found.kind is Kind.APPROVED
    assert outcome_sentence(found).startswith("approved by ")
    assert outcome_sentence(found).endswith(BEFORE)
    assert len(user.sends()) == 1


# --- what comes late, and what another dashboard tells --------------------------------------------


@pytest.mark.parametrize(
    ("decision", "decided", "kind", "words"),
    [
        ("approve", True, Kind.APPROVED, "approved after all, at "),
        ("approve", False, Kind.APPROVED, "approved after all, at "),
        ("reject", True, Kind.DECIDED_ELSEWHERE, "already rejected elsewhere"),
        (None, False, None, ""),
    ],
)
async def test_what_was_decided_after_its_attempt_was_settled(
    path: Path,
    user: User,
    decision: str | None,
    decided: bool,
    kind: Kind | None,
    words: str,
) -> None:
    task = (await user.pending())[0]
    user.platform.faults.add("approve:drop_before")
    found = await user.approve(task)
    if decision is not None:
        it = decide_elsewhere(user.platform.world, task.id, decision)
        told = it.decided
        with user.platform.world.locked() as state:
            it.decided = told if decided else None
            state.changed_task(it, user.platform.world.now)
    user.platform.requests.clear()
    late = await Approval(user.services, task).read_after_leaving(found.attempt_id)
    assert (None if late is None else late.kind) is kind
    reads = 1 if decision else READS_AFTER_LEAVING
    assert len(user.platform.requests.matching("tasks")) == reads, "until a read shows it decided"
    log_read = decision == "approve" and not decided
    assert (len(user.platform.requests.matching("activity")) == 1) is log_read
    if late is not None:
        assert outcome_sentence(late).startswith(words)
        last = journal_entries(path)[-1]
        assert isinstance(last, Settled)
        assert (last.outcome, last.corrects) == (kind, "not done")


@pytest.mark.parametrize(
    ("decision", "kind"), [("approve", Kind.APPROVED), ("reject", None), (None, None)]
)
async def test_a_refusal_is_corrected_by_an_approval_alone(
    path: Path, user: User, decision: str | None, kind: Kind | None
) -> None:
    task = (await user.pending())[0]
    user.platform.faults.add("approve:status=422")
    found = await user.approve(task)
    assert found.kind is Kind.REFUSED
    if decision is not None:
        decide_elsewhere(user.platform.world, task.id, decision)
    late = await Approval(user.services, task).read_after_leaving(
        found.attempt_id, was_refused=True
    )
    assert (None if late is None else late.kind) is kind
    last = journal_entries(path)[-1]
    assert isinstance(last, Settled)
    assert (last.outcome, last.corrects) == ((kind, "refused") if kind else ("refused", ""))
    if late is not None:
        assert outcome_sentence(late).startswith("approved after all, at ")
        assert outcome_sentence(late).endswith("; this request was refused before that")


async def test_what_is_refused_with_409_and_done_a_moment_later_is_approved(
    platform: EmbeddedPlatform, path: Path
) -> None:
    """It is read for a while, so that a command without polls tells it, too."""
    timing = replace(QUICK, after_conflict=60.0, first=0.02)
    async with open_services(platform, path, timing=timing) as user:
        task = (await user.pending())[0]
        platform.faults.add("approve:status=409")
        approving = asyncio.create_task(user.approve(task))

        def was_read_after() -> bool:
            sends = user.sends()
            reads = platform.requests.matching("tasks")
            return bool(sends) and reads[-1].started > sends[0].started

        await until(was_read_after)
        decide_elsewhere(platform.world, task.id, "approve", "this key")
        found = await approving
        assert found.kind is Kind.APPROVED
        assert "was refused" in outcome_sentence(found)
        assert [line.outcome for line in journal_entries(path) if isinstance(line, Settled)] == [
            "approved"
        ]


async def test_decisions_of_another_dashboard(platform: EmbeddedPlatform, path: Path) -> None:
    """What it has in flight, what became of it, and where it ended without a word of that."""
    async with open_services(platform, path) as user, open_services(platform, path) as other:
        tasks = (await user.pending())[:4]
        decisions = Decisions(user.services)
        changed: list[str] = []
        decisions.subscribe(changed.append)

        async def follow() -> list[Step]:
            decisions.follow_attempts(user.services.journal.follow(user.services.origin).elsewhere)
            return [known.step for task in tasks if (known := decisions.by_task.get(task.id))]

        decisions.record_progress(tasks[3], Step.SENDING)
        mark = other.journal.mark()
        for number, task in enumerate(tasks):
            other.journal.begin(
                Attempt(
                    attempt=f"a{number}", time=stamp(time.time() - 60), origin=platform.base_url,
                    profile="test", verb="approve" if number < 3 else "else", subject=task.id,
                    task=task.id if number else None, title="as told",
                ), mark,
            )  # fmt: skip
        assert await follow() == [Step.SENDING] * 4
        known = decisions.by_task.get(tasks[0].id)
        assert known is not None
        assert (known.elsewhere, known.task, known in decisions.open) == ("a0", tasks[0], True)
        assert 59 < user.services.clock.monotonic() - known.since < 90
        changed.clear()
        await follow()
        assert changed == [], "nothing new is told again"
        for number, outcome in enumerate(("refused", "a word of a newer version")):
            other.journal.finish(
                Settled(attempt=f"a{number}", time=stamp(0), outcome=outcome, sentence="so it is")
            )
        other.journal.close()
        assert await follow() == [Step.SETTLED, Step.SETTLED, Step.SENDING]
        assert tasks[2].id not in decisions.by_task, "it ended, and its attempt is left behind"
        for number, kind in enumerate((Kind.REFUSED, Kind.UNCLEAR)):
            known = decisions.by_task.get(tasks[number].id)
            assert known is not None
            assert known.outcome is not None
            assert known in decisions.open
            assert (known.outcome.kind, outcome_sentence(known.outcome)) == (kind, "so it is")
            decisions.acknowledge(tasks[number].id)
        assert [known.task for known in decisions.open] == [tasks[3]]
        changed.clear()
        decisions.acknowledge(tasks[0].id)
        assert await follow() == [Step.SETTLED, Step.SETTLED, Step.SENDING]
        assert changed == []


async def test_a_task_that_no_list_has_is_told(platform: EmbeddedPlatform, path: Path) -> None:
    async with open_services(platform, path) as user, open_services(platform, path) as other:
        decisions = Decisions(user.services)
        left = Attempt(
            attempt="a1", time="no time", origin=platform.base_url, profile="test",
            verb="approve", subject="tsk_1", agent_name="Scout",
        )  # fmt: skip
        other.journal.begin(left, other.journal.mark())
        decisions.follow_attempts(user.services.journal.follow(user.services.origin).elsewhere)
        [known] = decisions.open
        assert (known.task.id, known.task.title, known.task.company) == ("tsk_1", "tsk_1", None)
        assert known.task.agent == Ref(name=mark_safe("Scout"))
        ours = decisions.record_progress(known.task, known.step)
        assert (known.elsewhere, ours.elsewhere) == ("a1", None)
        assert decisions.record_progress(known.task, ours.step) is ours
        assert decisions.by_task.get("tsk_2") is None


async def test_what_leaves_late_is_read_again_what_comes_back_is_over(
    user: User,
) -> None:
    task = (await user.pending())[0]
    for kind in OutcomeKind:
        for attempt_id in ("a1", None):
            decisions = Decisions(user.services)
            decisions.record_progress(task, Step.SENDING)
            left = Change(FeedName.PENDING, removed=(task.id,))
            back = Change(FeedName.PENDING, added=(task.id,))
            assert decisions.take_change(left) == decisions.take_change(back) == []
            assert decisions.by_task.get(task.id) is not None, "it is under way"
            outcome = Outcome(
                verb=Verb.APPROVE, kind=kind, subject=task.id, title=task.title,
                reason=Reason.RECORDED, known_by=KnownBy.READ, attempt_id=attempt_id,
            )  # fmt: skip
            decisions.record_progress(task, outcome)
            known = decisions.by_task.get(task.id)
            assert known is not None
            assert (known in decisions.open) is (outcome.kind not in GOOD)
            assert decisions.take_change(Change(FeedName.TASKS, removed=(task.id,))) == []
            late = kind in NOT_CARRIED_OUT
            found = decisions.take_change(left)
            assert found == ([known] if late and attempt_id else [])
            assert decisions.waited_at.get(task.id) is not None
            decisions.take_change(back)
            assert decisions.waited_at.get(task.id) is None
            assert (decisions.by_task.get(task.id) is None) is (kind in ENDED_WAITING)
    assert (
        decisions.take_change(Change(FeedName.PENDING, added=("tsk_x",), removed=("tsk_y",))) == []
    )
