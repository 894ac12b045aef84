"""Many at once: the summary, the hold, the stops, and what each task came to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from agentco_tui.actions.batch import BatchApproval, Phase, State
from agentco_tui.actions.batch_summary import summary
from agentco_tui.actions.outcome import Kind, WhyNot
from agentco_tui.actions.waits import Waits
from agentco_tui.api.records import Moment, Money, Ref, Task
from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store
from agentco_tui.text import plain
from tests.actions.office import Office, journal_entries, office, until
from tests.actions.waits import QUICK


async def run(batch: BatchApproval) -> Phase:
    assert batch.confirm(str(batch.number_to_type or ""))
    return await batch.run()


def begun(batch: BatchApproval) -> int:
    return sum(item.state is not State.WAITING for item in batch.items)


def kinds(batch: BatchApproval) -> set[Kind]:
    return {item.outcome.kind for item in batch.items if item.outcome is not None}


async def test_a_set_is_approved_with_one_read_before(
    platform: EmbeddedPlatform, path: Path
) -> None:
    async with office(platform, path) as desk:
        tasks = (await desk.pending())[:12]
        batch = BatchApproval(desk.approver, tasks)
        platform.requests.clear()
        assert await run(batch) is Phase.ENDED
        assert batch.results == {Kind.APPROVED_HERE: 12}
        assert batch.sentence == "12 approved here"
        assert [platform.world.applied[task.id] for task in tasks] == [1] * 12
        seen = [seen.operation for seen in platform.requests]
        assert seen[0] == "tasks"
        assert seen.count("approve") == 12
        assert seen[1] == "approve", "one read serves the set"
        assert seen.count("tasks") <= 14
        assert all(item.state is State.SETTLED for item in batch.items)
        assert len(journal_entries(path)) == 24


async def test_never_more_than_four_are_in_flight(platform: EmbeddedPlatform, path: Path) -> None:
    async with office(platform, path) as desk:
        tasks = (await desk.pending())[:16]
        platform.faults.add("approve:latency=20ms")
        assert await run(BatchApproval(desk.approver, tasks)) is Phase.ENDED
        spans = [(seen.started, seen.started + seen.took) for seen in desk.sends()]
        together = max(sum(a <= start < b for a, b in spans) for start, _ in spans)
        assert 2 <= together <= 4


@pytest.mark.parametrize(("typed", "right"), [("", False), ("11", False), (" 12 ", True)])
async def test_over_ten_the_number_is_typed(
    platform: EmbeddedPlatform, path: Path, typed: str, right: bool
) -> None:
    async with office(platform, path) as desk:
        batch = BatchApproval(desk.approver, (await desk.pending())[:12])
        assert batch.number_to_type == 12
        assert batch.confirm(typed) is right
        assert batch.phase is (Phase.HELD if right else Phase.ASKING)
        assert not batch.confirm("12") or not right


async def test_ten_need_no_number(platform: EmbeddedPlatform, path: Path) -> None:
    async with office(platform, path) as desk:
        batch = BatchApproval(desk.approver, (await desk.pending())[:10])
        assert batch.number_to_type is None
        assert batch.confirm()


class Steps:
    """A clock that moves only when somebody sleeps."""

    def __init__(self) -> None:
        self.at = 1_000.0
        self.sleeping = asyncio.Event()
        self.go_on = asyncio.Event()

    def monotonic(self) -> float:
        return self.at

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.sleeping.set()
        await self.go_on.wait()
        self.at += seconds


async def held(desk: Office, steps: Steps, tasks: Sequence[Task]) -> BatchApproval:
    waits = replace(QUICK, hold=5.0, sleep=steps.sleep)
    desk.approver.desk = replace(desk.desk, clock=steps, waits=waits)
    return BatchApproval(desk.approver, tasks)


async def test_the_hold_can_be_taken_back(platform: EmbeddedPlatform, path: Path) -> None:
    async with office(platform, path) as desk:
        steps = Steps()
        batch = await held(desk, steps, (await desk.pending())[:3])
        assert not batch.take_back(), "nobody has said yes"
        assert batch.confirm()
        assert batch.hold_left() == 5.0
        running = asyncio.create_task(batch.run())
        await steps.sleeping.wait()
        steps.at += 4.9
        assert 0 < batch.hold_left() < 0.2
        assert batch.take_back()
        assert await running is Phase.TAKEN_BACK
        assert desk.sends() == []
        assert not batch.take_back()
        assert not batch.confirm()
        assert journal_entries(path) == []


async def test_after_the_hold_it_is_too_late(platform: EmbeddedPlatform, path: Path) -> None:
    async with office(platform, path) as desk:
        steps = Steps()
        batch = await held(desk, steps, (await desk.pending())[:3])
        assert batch.confirm()
        steps.go_on.set()
        assert await batch.run() is Phase.ENDED
        assert steps.at >= 1_005
        assert not batch.take_back()
        assert len(desk.sends()) == 3


async def test_stopping_sends_no_more_and_settles_what_was_sent(
    platform: EmbeddedPlatform, path: Path
) -> None:
    async with office(platform, path) as desk:
        tasks = (await desk.pending())[:20]
        batch = BatchApproval(desk.approver, tasks)
        batch.subscribe(lambda: batch.stop() if begun(batch) >= 6 else None)
        assert await run(batch) is Phase.ENDED
        sent = len(desk.sends())
        assert 1 <= sent <= 6
        assert batch.results == {Kind.APPROVED_HERE: sent, Kind.NOT_SENT: 20 - sent}
        stopped = [
            item.outcome for item in batch.items if not item.outcome or not item.outcome.good
        ]
        assert {outcome.why_not for outcome in stopped if outcome} == {WhyNot.STOPPED}
        assert len(batch.clear_failures) == 20 - sent


async def test_a_403_stops_the_set(platform: EmbeddedPlatform, path: Path) -> None:
    async with office(platform, path, key=platform.read_key) as desk:
        batch = BatchApproval(desk.approver, (await desk.pending())[:20])
        await run(batch)
        assert len(desk.sends()) <= 4
        assert kinds(batch) == {Kind.NOT_ALLOWED, Kind.NOT_SENT}
        assert batch.stop_reason


async def test_a_revoked_key_stops_the_set(platform: EmbeddedPlatform, path: Path) -> None:
    async with office(platform, path) as desk:
        tasks = (await desk.pending())[:30]
        batch = BatchApproval(desk.approver, tasks)
        batch.subscribe(lambda: platform.revoke_key() if begun(batch) == 6 else None)
        await run(batch)
        assert batch.stop_reason == "stopped: the platform answered 401"
        rejected = batch.results[Kind.KEY_REJECTED]
        assert 1 <= rejected <= 8
        applied = sum(platform.world.applied[task.id] for task in tasks)
        assert applied == len(desk.sends()) - rejected


async def test_a_401_about_a_decided_task_does_not_stop_it(
    platform: EmbeddedPlatform, path: Path
) -> None:
    async with office(platform, path) as desk:
        tasks = (await desk.pending())[:12]
        batch = BatchApproval(desk.approver, tasks)
        platform.faults.add(f"/api/tasks/{tasks[2].id}/approve:status=401,applied=after")
        await run(batch)
        assert batch.stop_reason is None
        assert batch.results[Kind.APPROVED_HERE] == 11
        assert batch.results[Kind.APPROVED] == 1


async def test_three_unknowns_in_a_row_stop_it(platform: EmbeddedPlatform, path: Path) -> None:
    async with office(platform, path) as desk:
        tasks = (await desk.pending())[:20]
        batch = BatchApproval(desk.approver, tasks)
        platform.faults.add("approve:status=500")
        await run(batch)
        assert batch.stop_reason == "stopped: 3 in a row had no clear answer"
        assert len(desk.sends()) <= 6
        assert kinds(batch) == {Kind.NOT_DONE, Kind.NOT_SENT}
        platform.faults.clear()
        again = batch.again()
        assert len(again.items) == 20
        await run(again)
        assert again.results == {Kind.APPROVED_HERE: 20}
        assert {platform.world.applied[task.id] for task in tasks} == {1}


async def test_a_journal_that_fails_stops_it(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    async with office(platform, tmp_path / "file" / "journal.jsonl") as desk:
        batch = BatchApproval(desk.approver, (await desk.pending())[:20])
        await run(batch)
        assert desk.sends() == []
        assert kinds(batch) == {Kind.NOT_SENT}
        assert batch.stop_reason
        assert batch.stop_reason.startswith("stopped: the journal")


async def test_a_changed_task_in_a_set_is_left_out(platform: EmbeddedPlatform, path: Path) -> None:
    async with office(platform, path) as desk:
        tasks = (await desk.pending())[:6]
        tasks[3] = msgspec.structs.replace(tasks[3], title=plain("harmless"))
        batch = BatchApproval(desk.approver, tasks)
        await run(batch)
        assert batch.results == {Kind.APPROVED_HERE: 5, Kind.CHANGED: 1}
        assert batch.clear_failures == ()
        assert desk.sends(tasks[3].id) == []


async def test_an_unknown_does_not_hold_up_the_rest(platform: EmbeddedPlatform, path: Path) -> None:
    slow = replace(QUICK, still_pending=3_600.0)
    async with office(platform, path, waits=slow) as desk:
        tasks = (await desk.pending())[:12]
        platform.faults.add(f"/api/tasks/{tasks[0].id}/approve:status=500")
        batch = BatchApproval(desk.approver, tasks)
        running = asyncio.create_task(run(batch))
        await until(lambda: batch.settled == 11)
        assert batch.items[0].state is State.UNKNOWN
        assert batch.sentence == "11 approved here, 1 unknown, being read"
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        [left] = await desk.desk.pen.left_behind()
        assert left.task == tasks[0].id


def task(number: int, **more: object) -> Task:
    return Task(
        **{  # type: ignore[arg-type]
            "id": f"tsk_{number}",
            "title": plain(f"Task {number}"),
            "priority": plain("low"),
            "agent": Ref(id="ag_1", name=plain("Scout")),
            "company": Ref(id="cmp_1", name=plain("Acme")),
            "status": plain("pending"),
            "created": Moment(1_000.0 + number),
            "cost": Money(Decimal(2)),
            **more,
        }
    )


def test_a_summary_tells_what_stands_out() -> None:
    tasks = [task(number) for number in range(8)]
    tasks[3] = task(3, priority=plain("urgent"), created=Moment(5.0))
    tasks[5] = task(5, company=Ref(id="cmp_2", name=plain("Bolt")))
    tasks[6] = task(6, cost=Money(Decimal(900)))
    told = summary(tasks, {"tsk_1", "tsk_7"}, Names(Store()))
    assert told.count == 8
    assert [(share.name, share.count) for share in told.by_company] == [("Acme", 7), ("Bolt", 1)]
    assert [(share.name, share.count) for share in told.by_agent] == [("Scout", 8)]
    assert told.oldest is tasks[3]
    assert [(unlike.task.id, list(unlike.reasons)) for unlike in told.unlike] == [
        ("tsk_3", ["priority urgent, most are low"]),
        ("tsk_5", ["company Bolt, most are Acme"]),
        ("tsk_6", ["costs 900.00, more than 5 times the usual"]),
    ]
    assert [unread.id for unread in told.not_read] == ["tsk_1", "tsk_7"]
    assert told.number_to_type is None


def test_a_mixed_set_has_nothing_that_stands_out() -> None:
    tasks = [task(number, priority=plain(f"p{number % 4}"), cost=None) for number in range(8)]
    assert summary(tasks, (), Names(Store())).unlike == ()
    assert summary([], (), Names(Store())).oldest is None


def test_real_waits_are_what_was_promised() -> None:
    waits = Waits()
    assert (waits.hold, waits.still_pending) == (5.0, 10.0)
    pauses = waits.pauses()
    assert [next(pauses) for _ in range(6)] == [0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
