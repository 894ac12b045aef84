"""Many at once: the summary, the hold, the stops, and what each task came to."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agentco_tui.actions.batch import BatchApproval, BatchPhase
from agentco_tui.actions.batch_summary import (
    Familiarity,
    list_for_review,
    split_by_type,
    total_costs,
    type_of,
)
from agentco_tui.actions.decisions import Decisions, UndoWindow
from agentco_tui.actions.outcome import GOOD, OutcomeKind, Step
from agentco_tui.actions.outcome_words import outcome_sentence
from agentco_tui.demo.connection import ClientConnection
from agentco_tui.demo.http_messages import Request
from agentco_tui.live.feeds import Clock
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store
from agentco_tui.model import Moment, Money, Ref, Task, TaskState
from agentco_tui.text import mark_safe
from tests.actions.user import (
    QUICK,
    User,
    journal_entries,
    open_services,
    until,
)
from tests.platform import EmbeddedPlatform


def begun(batch: BatchApproval) -> int:
    return sum(item.step not in (Step.WAITING, Step.READING) for item in batch.items)


def kinds(batch: BatchApproval) -> set[OutcomeKind]:
    return {item.outcome.kind for item in batch.items if item.outcome is not None}


async def test_a_set_is_approved_with_one_read_before(path: Path, user: User) -> None:
    tasks = (await user.pending())[:12]
    batch = BatchApproval(user.services, tasks)
    user.platform.requests.clear()
    assert await batch.run() is BatchPhase.ENDED
    assert not batch.can_stop
    assert batch.results == {OutcomeKind.APPROVED_HERE: 12}
    assert batch.sentence == "12 approved here"
    assert [user.platform.world.applied[task.id] for task in tasks] == [1] * 12
    seen = [seen.operation for seen in user.platform.requests]
    assert seen[0] == "tasks"
    assert seen.count("approve") == 12
    assert seen[1] == "approve", "one read serves those whose turns begin together"
    assert seen.count("tasks") <= 14
    assert all(item.step is Step.SETTLED for item in batch.items)
    assert len(journal_entries(path)) == 24


async def test_never_more_than_four_are_in_flight(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve, second, approvals = user.platform.serve, asyncio.Event(), list[Request]()

    async def serve_in_twos(connection: ClientConnection, request: Request) -> None:
        """The first approval is not dealt with before another has come."""
        if request.path.endswith("/approve"):
            approvals.append(request)
            if len(approvals) > 1:
                second.set()
            await second.wait()
        await serve(connection, request)

    tasks = (await user.pending())[:16]
    monkeypatch.setattr(user.platform, "serve", serve_in_twos)
    user.platform.faults.add("approve:latency=20ms")
    assert await BatchApproval(user.services, tasks).run() is BatchPhase.ENDED
    spans = [(seen.started, seen.started + seen.took) for seen in user.sends()]
    together = max(sum(a <= start < b for a, b in spans) for start, _ in spans)
    assert 2 <= together <= 4


async def test_stopping_sends_no_more_and_settles_what_was_sent(user: User) -> None:
    tasks, decisions = (await user.pending())[:20], Decisions(user.services)
    batch = BatchApproval(user.services, tasks, decisions)
    decisions.subscribe(lambda _: batch.stop() if begun(batch) >= 5 else None)
    assert await batch.run() is BatchPhase.ENDED
    sent = len(user.sends())
    assert 5 <= sent <= 6 + 4, "what was about to be sent then"
    assert batch.results == {OutcomeKind.APPROVED_HERE: sent, OutcomeKind.NOT_SENT: 20 - sent}
    outcomes = [item.outcome for item in batch.items if item.outcome is not None]
    stopped = {outcome_sentence(outcome) for outcome in outcomes if outcome.kind not in GOOD}
    assert stopped == {batch.stop_reason}
    assert len(batch.to_ask_again) == 20 - sent


async def test_an_end_while_they_are_read_sends_nothing(path: Path, user: User) -> None:
    decisions = Decisions(user.services)
    batch = BatchApproval(user.services, (await user.pending())[:3], decisions)
    hang = user.platform.faults.add("tasks:latency=200ms,times=1")
    running = asyncio.create_task(batch.run())
    await until(lambda: hang.struck == 1)
    assert len(decisions.by_task) == 3
    batch.stop()
    assert await running is BatchPhase.ENDED
    assert (user.sends(), journal_entries(path)) == ([], [])
    assert batch.results == {OutcomeKind.NOT_SENT: 3}
    assert len(decisions.by_task) == 3


async def test_each_is_read_when_its_own_turn_comes(user: User) -> None:
    tasks = (await user.pending())[:8]
    slow = user.platform.faults.add("approve:latency=800ms,times=4")
    running = asyncio.create_task(BatchApproval(user.services, tasks).run())
    # Four are on their way, and the next four wait.
    await until(lambda: slow.struck == 4)
    with user.platform.world.locked() as state:
        state.tasks[tasks[5].id].title = "Something else"
        state.changed_task(state.tasks[tasks[5].id], user.platform.world.now)
    assert await running is BatchPhase.ENDED
    assert user.sends(tasks[5].id) == []
    assert len(user.sends()) == 7


async def test_a_set_that_is_taken_back_sends_nothing(
    platform: EmbeddedPlatform, path: Path
) -> None:
    async with open_services(platform, path, timing=replace(QUICK, hold=3_600.0)) as user:
        decisions = Decisions(user.services)
        batch = BatchApproval(user.services, (await user.pending())[:12], decisions)
        running = asyncio.create_task(batch.run())
        await asyncio.sleep(0.05)
        assert batch.phase is BatchPhase.HELD
        assert batch.can_stop
        batch.stop()
        assert await running is BatchPhase.TAKEN_BACK
        assert (batch.can_stop, user.sends(), decisions.open) == (False, [], [])


async def test_a_set_tells_the_decisions_where_each_task_stands(user: User) -> None:
    decisions = Decisions(user.services)
    first, second = (await user.pending())[:2]
    seen: dict[str, list[Step]] = {first.id: [], second.id: []}

    def changed(task_id: str) -> None:
        known = decisions.by_task.get(task_id)
        seen[task_id] += [] if known is None else [known.step]

    decisions.subscribe(changed)
    user.platform.faults.add(f"/api/tasks/{second.id}/approve:drop_after")
    await BatchApproval(user.services, [first, second], decisions).run()
    assert seen[first.id] == [Step.READING, Step.SENDING, Step.CONFIRMING, Step.SETTLED]
    assert seen[second.id] == [Step.READING, Step.SENDING, Step.UNKNOWN, Step.SETTLED]
    assert decisions.open == []


async def test_a_revoked_key_stops_the_set(user: User) -> None:
    tasks, decisions = (await user.pending())[:30], Decisions(user.services)
    batch = BatchApproval(user.services, tasks, decisions)
    decisions.subscribe(lambda _: user.platform.keys.revoke("full") if begun(batch) == 6 else None)
    await batch.run()
    assert batch.stop_reason == "stopped: the platform answered 401"
    rejected = batch.results[OutcomeKind.KEY_REJECTED]
    assert rejected <= 8  # none where a read met the 401 first
    applied = sum(user.platform.world.applied[task.id] for task in tasks)
    assert applied == len(user.sends()) - rejected


async def test_three_unknowns_in_a_row_stop_it(user: User) -> None:
    tasks = (await user.pending())[:20]
    batch = BatchApproval(user.services, tasks)
    user.platform.faults.add("approve:status=500")
    await batch.run()
    assert batch.stop_reason == "stopped: 3 in a row had no clear answer"
    assert len(user.sends()) <= 6
    assert kinds(batch) == {OutcomeKind.NOT_DONE, OutcomeKind.NOT_SENT}
    user.platform.faults.clear()
    again = BatchApproval(user.services, batch.to_ask_again)
    assert len(again.items) == 20
    await again.run()
    assert again.results == {OutcomeKind.APPROVED_HERE: 20}
    assert {user.platform.world.applied[task.id] for task in tasks} == {1}


@pytest.mark.parametrize(("unclear", "stopped"), [(2, False), (3, True)])
async def test_two_unknowns_do_not_stop_it(user: User, unclear: int, stopped: bool) -> None:
    user.platform.faults.add("approve:status=500")
    batch = BatchApproval(user.services, (await user.pending())[:unclear])
    await batch.run()
    assert (batch.stop_reason is not None) is stopped


async def test_a_set_runs_once(user: User) -> None:
    batch = BatchApproval(user.services, (await user.pending())[:2])
    assert await batch.run() is BatchPhase.ENDED
    assert len(user.sends()) == 2
    user.platform.requests.clear()
    assert await batch.run() is BatchPhase.ENDED
    assert not list(user.platform.requests), "once"


@pytest.mark.parametrize("off", [True, False])
async def test_what_cannot_be_sent_stops_a_set(user: User, off: bool) -> None:
    tasks = (await user.pending())[:9]
    words = "3 in a row had no clear answer"
    if off:
        words = "writing is off"
        user.services.permissions.read_only = mark_safe(words)
    else:
        user.platform.faults.add("tasks:status=503")
    batch = BatchApproval(user.services, tasks)
    await batch.run()
    assert batch.stop_reason == f"stopped: {words}"
    assert batch.results == {OutcomeKind.NOT_SENT: 9}
    assert user.sends() == []


async def test_a_changed_task_in_a_set_is_left_out(user: User) -> None:
    tasks = (await user.pending())[:6]
    tasks[3] = replace(tasks[3], title=mark_safe("harmless"))
    batch = BatchApproval(user.services, tasks)
    await batch.run()
    assert batch.results == {OutcomeKind.APPROVED_HERE: 5, OutcomeKind.CHANGED: 1}
    assert user.sends(tasks[3].id) == []
    assert list(batch.to_ask_again) == [user.store.pending.get(tasks[3].id)], "as it is now"
    user.store.pending.drop(tasks[3].id)
    [again] = batch.to_ask_again
    assert again.title == user.platform.world.task(again.id).title


async def test_an_unknown_does_not_hold_up_the_rest(platform: EmbeddedPlatform, path: Path) -> None:
    slow = replace(QUICK, confirm_for=3_600.0)
    async with open_services(platform, path, timing=slow) as user:
        tasks = (await user.pending())[:12]
        platform.faults.add(f"/api/tasks/{tasks[0].id}/approve:status=500")
        batch = BatchApproval(user.services, tasks)
        running = asyncio.create_task(batch.run())
        await until(lambda: batch.results.total() == 11)
        assert batch.items[0].step is Step.UNKNOWN
        assert batch.sentence == "1 unknown (being read), 11 approved here"
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    async with open_services(platform, path) as again:
        [left] = await again.left_behind()
        assert left.task == tasks[0].id


def task(number: int, **more: object) -> Task:
    return Task(
        **{  # type: ignore[arg-type]
            "id": f"tsk_{number}",
            "title": mark_safe(f"Task {number}"),
            "priority": mark_safe("low"),
            "agent": Ref(id="ag_1", name=mark_safe("Scout")),
            "company": Ref(id="cmp_1", name=mark_safe("Acme")),
            "status": mark_safe("pending"),
            "created": Moment(1_000.0 + number),
            "cost": Money(Decimal(2)),
            **more,
        }
    )


def test_a_summary_lists_all_with_what_stands_out_the_worst_first() -> None:
    tasks = [task(number) for number in range(8)]
    tasks[3] = task(3, priority=mark_safe("urgent"), created=Moment(5.0))
    tasks[5] = task(5, company=Ref(id="cmp_2", name=mark_safe("Bolt")))
    tasks[6] = task(6, cost=Money(Decimal(900)))
    read = {task.id: task.content for task in tasks} | {"tsk_7": b"as it was"}
    del read["tsk_1"]
    told = list_for_review(tasks, Names(Store()), read)
    assert [(listed.task.id, list(listed.unusual)) for listed in told] == [
        ("tsk_7", []),
        ("tsk_1", []),
        ("tsk_3", ["priority urgent, most are low"]),
        ("tsk_6", ["costs 900.00, more than 5 times the usual"]),
        ("tsk_5", ["company Bolt, most are Acme"]),
        ("tsk_0", []),
        ("tsk_2", []),
        ("tsk_4", []),
    ]
    standing = [listed.familiarity for listed in told]
    assert standing == [Familiarity.CHANGED, Familiarity.UNREAD, *[Familiarity.READ] * 6]


def test_costs_are_summed_by_currency_and_unknown_ones_are_no_zeros() -> None:
    usd, eur = mark_safe("USD"), mark_safe("EUR")
    tasks = [
        task(1, cost=Money(Decimal("0.10"), usd)),
        task(2, cost=Money(Decimal("0.20"), usd)),
        task(3, cost=Money(Decimal(7), eur)),
        task(4, cost=None),
        task(5, cost=Money(Decimal(0), usd)),
    ]
    assert total_costs(tasks) == [Money(Decimal(7), eur), Money(Decimal("0.30"), usd)]


def test_a_mixed_set_has_nothing_that_stands_out() -> None:
    tasks = [task(number, priority=mark_safe(f"p{number % 4}"), cost=None) for number in range(8)]
    assert not any(listed.unusual for listed in list_for_review(tasks, Names(Store()), {}))


LOW, URGENT = {}, {"priority": mark_safe("urgent")}  # type: ignore[var-annotated]
CHEAP, DEAR = {"cost": Money(Decimal(2))}, {"cost": Money(Decimal("10.01"))}
FREE, FIVE_TIMES = {"cost": Money(Decimal(0))}, {"cost": Money(Decimal(10))}


@pytest.mark.parametrize(
    ("tasks", "odd"),
    [
        ([LOW, LOW, LOW, URGENT], "priority urgent, most are low"),
        ([LOW, LOW, URGENT], ""),
        ([LOW, LOW, LOW, LOW, URGENT, URGENT], ""),
        ([CHEAP, CHEAP, CHEAP, DEAR], "costs 10.01, more than 5 times the usual"),
        ([CHEAP, CHEAP, CHEAP, FIVE_TIMES], ""),
        ([FREE, FREE, FREE, DEAR], ""),
        ([{"cost": None}, CHEAP, CHEAP, DEAR], ""),
        ([CHEAP, CHEAP, CHEAP, {"cost": Money(Decimal(99), mark_safe("EUR"))}], ""),
        ([{"status": mark_safe("new")}] * 3 + [{"status": None}], "status –, most are new"),
    ],
)
def test_what_stands_out_from_most_of_at_least_four(tasks: list[dict[str, Any]], odd: str) -> None:
    told = list_for_review([task(n, **more) for n, more in enumerate(tasks)], Names(Store()), {})
    assert [words for listed in told for words in listed.unusual] == ([odd] if odd else [])


def test_of_equals_the_one_that_waits_longest_comes_first_and_without_a_time_last() -> None:
    made = [None, Moment(50.0), Moment(5.0)]
    told = list_for_review([task(n, created=at) for n, at in enumerate(made)], Names(Store()), {})
    assert [listed.task.id for listed in told] == ["tsk_2", "tsk_1", "tsk_0"]


@pytest.mark.parametrize(
    ("extra", "kind"),
    [
        (b'{"type": "Wire_Transfer "}', "wire_transfer"),
        (b'{"taskType": "deploy", "payload": {"type": "other"}}', "deploy"),
        (b'{"payload": {"action": "delete"}}', "delete"),
        (b'{"type": null, "kind": ""}', None),
        (b'{"type": {"name": "x"}}', None),
        (b"[1]", None),
        (b"", None),
    ],
)
def test_what_sort_of_decision_a_task_wants(extra: bytes, kind: str | None) -> None:
    assert type_of(task(1, extra=extra)) == kind


def test_a_type_unlike_the_rest_and_what_waits_no_more_are_not_in_the_set() -> None:
    hire, pay = b'{"type":"hire"}', b'{"type":"pay"}'
    tasks = [task(1, extra=pay), task(2, extra=hire), task(3, extra=hire), task(4)]
    tasks.append(task(5, extra=hire, status=mark_safe("done"), state=TaskState.DONE))
    chosen, excluded = split_by_type(tasks)
    assert [chosen_one.id for chosen_one in chosen] == ["tsk_2", "tsk_3"]
    assert [(left.task.id, left.reason) for left in excluded] == [
        ("tsk_5", "it doesn't wait for approval: done"),
        ("tsk_1", "type pay, the set has type hire: approve it by itself"),
        ("tsk_4", "no type, the set has type hire: approve it by itself"),
    ]


@pytest.mark.parametrize(
    ("fault", "pause", "refused", "stopped"),
    [
        ("approve:status=429,times=1", 5.0, 1, ""),
        ("approve:status=429,times=1,retry_after=0.2", 1.0, 1, ""),
        ("approve:status=429,times=1,retry_after=120", 120.0, 1, ""),
        ("approve:status=429,times=1,retry_after=121", 0.0, 1, "stopped: the platform asks for a"),
        ("approve:status=429,retry_after=70", 70.0, 8, "stopped: the platform asks for a pause"),
        ("/api/tasks/{0}/approve:status=429,retry_after=70", 70.0, 2, ""),
        ("tasks:status=429,times=1,retry_after=30", 30.0, 0, ""),
        ("tasks:status=429,times=1,retry_after=121", 0.0, 0, "stopped: the platform asks for a"),
    ],
)
async def test_a_set_pauses_as_long_as_the_platform_asks(
    platform: EmbeddedPlatform, path: Path, fault: str, pause: float, refused: int, stopped: str
) -> None:
    clock = Steps()
    timing = replace(QUICK, sleep=clock.sleep)
    async with open_services(platform, path, timing=timing, clock=clock) as user:
        tasks = (await user.pending())[:20]
        for task in (tasks[0], tasks[12]):
            platform.faults.add(fault.format(task.id))
            if "{0}" not in fault:
                break
        batch = BatchApproval(user.services, tasks)
        assert await batch.run() is BatchPhase.ENDED
        assert max(clock.sleeps) == pytest.approx(pause, abs=0.1)
        assert clock.at >= 1_000.0 + pause
        assert (batch.stop_reason or "").startswith(stopped)
        assert (batch.stop_reason is None) is (not stopped)
        sent = len(user.sends())
        assert batch.results[OutcomeKind.REFUSED] <= refused
        assert batch.results[OutcomeKind.NOT_SENT] == 20 - sent
        unread = any(item.outcome.error for item in batch.items if item.outcome)
        assert unread is (fault.startswith("tasks") and bool(stopped))
        if not stopped:
            assert batch.results == Counter(
                {OutcomeKind.APPROVED_HERE: 20 - refused, OutcomeKind.REFUSED: refused}
            )
        assert (
            len(batch.to_ask_again)
            == batch.results.total() - batch.results[OutcomeKind.APPROVED_HERE]
        )


# --- the hold: as long as was said, taken back at any moment of it ---


class Steps(Clock):
    """A clock that moves only when a test lets a sleep end."""

    def __init__(self) -> None:
        super().__init__()
        self.at = 1_000.0
        self.sleeps: list[float] = []
        self.stopped_for = 0.0
        self.after: Callable[[], object] = lambda: None

    def monotonic(self) -> float:
        return self.at

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.at += seconds + self.stopped_for
        self.stopped_for = 0.0
        await asyncio.sleep(0)
        self.after()


async def test_it_lasts_as_long_as_was_said() -> None:
    steps = Steps()
    hold = UndoWindow(2.0, steps, steps.sleep)
    assert hold.seconds_left() == 2.0
    assert await hold.wait()
    assert 1_002.0 <= steps.at < 1_002.1
    for _ in range(2):
        assert hold.seconds_left() == 0.0
        assert not hold.take_back(), "too late"
        steps.at += 60.0


async def test_none_at_all() -> None:
    steps = Steps()
    assert await UndoWindow(0.0, steps, steps.sleep).wait()
    assert steps.sleeps == []


async def test_it_is_taken_back_before_and_while_it_runs() -> None:
    steps = Steps()
    before = UndoWindow(2.0, steps, steps.sleep)
    assert before.take_back()
    assert not await before.wait()
    assert steps.sleeps == []
    hold = UndoWindow(2.0, steps, steps.sleep)
    steps.after = lambda: hold.seconds_left() > 1.0 or hold.take_back()
    assert not await hold.wait()
    assert hold.seconds_left() == 0.0
    assert not hold.take_back(), "once"


async def test_taken_back_ends_a_sleep_that_would_not() -> None:
    steps = Steps()
    hold = UndoWindow(2.0, steps, lambda _: asyncio.Event().wait())  # type: ignore[arg-type, return-value]
    waiting = asyncio.create_task(hold.wait())
    await asyncio.sleep(0)
    assert hold.take_back()
    assert await waiting is False


async def test_it_begins_anew_after_the_process_was_stopped() -> None:
    steps = Steps()
    hold = UndoWindow(2.0, steps, steps.sleep)
    left: list[float] = []

    def stop_once() -> None:
        left.append(hold.seconds_left())
        if len(left) == 8:
            steps.stopped_for = 60.0

    steps.after = stop_once
    assert await hold.wait()
    assert left[7] < 0.5 < 1.9 < left[8], "the ninth tick saw the stop"
    assert sum(steps.sleeps) >= 3.5


async def test_a_stop_too_short_to_be_known_costs_next_to_nothing() -> None:
    steps = Steps()
    hold = UndoWindow(2.0, steps, steps.sleep)
    steps.stopped_for = 0.7
    assert await hold.wait()
    assert sum(steps.sleeps) >= 1.7


async def test_what_is_held_is_taken_back_the_newest_first(
    platform: EmbeddedPlatform, path: Path
) -> None:
    async def never(_: float) -> None:
        await asyncio.Event().wait()

    timing, steps = replace(QUICK, hold_one=2.0, sleep=never), Steps()
    async with open_services(platform, path, timing=timing, clock=steps) as user:
        first, second, third = (await user.pending())[:3]
        decisions = Decisions(user.services)
        assert decisions.take_back() is None
        told: list[str] = []
        decisions.subscribe(told.append)
        yes = [asyncio.create_task(decisions.hold(task)) for task in
               (first, second, third)]  # fmt: skip
        await until(lambda: len(decisions.open) == 3)
        assert decisions.hold_left(first.id) == 2.0
        assert decisions.take_back(first.id) is first
        assert decisions.take_back(first.id) is None
        assert decisions.take_back() is third
        assert decisions.take_all_back() == [second]
        assert await asyncio.gather(*yes) == [False] * 3
        assert decisions.hold_left(first.id) == 0.0
        assert sorted(told) == sorted([first.id, second.id, third.id] * 2)
        assert (decisions.open, decisions.take_all_back(), user.sends()) == ([], [], [])
