"""Every write is compared once more where the read before it has become old; real HTTP, no waiting.

Time passes in the clock that the services have: a process that is stopped sees nothing else of it.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from pathlib import Path

import pytest

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.batch import BatchApproval
from agentco_tui.actions.creations import CompanyCreation, TaskCreation
from agentco_tui.actions.journal_lines import Attempt, Settled
from agentco_tui.actions.limit_change import LimitChange
from agentco_tui.actions.outcome import KnownBy, Outcome, OutcomeKind, Step
from agentco_tui.actions.outcome_words import outcome_sentence
from agentco_tui.actions.read_age import MOST_READS, OLDEST_READ, why_too_old
from agentco_tui.live.feeds import Clock, FeedName
from agentco_tui.model import Listing, Ref, Task
from agentco_tui.model.format import stamp
from tests.actions.test_writes import task_form
from tests.actions.user import User, journal_entries, open_services
from tests.platform import EmbeddedPlatform, decide_elsewhere

SUSPENDED = 8.0  # seconds


class JumpingClock(Clock):
    """The steady clock, on which a suspension of the process is a jump."""

    def __init__(self) -> None:
        super().__init__()
        self.suspended = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.suspended


@pytest.fixture
def clock() -> JumpingClock:
    return JumpingClock()


@pytest.fixture
async def user(platform: EmbeddedPlatform, path: Path, clock: JumpingClock) -> AsyncIterator[User]:
    async with open_services(platform, path, clock=clock) as user:
        yield user


def once_at(step: Step, act: Callable[[], object]) -> Callable[[Step], None]:
    """Act when the write comes to a step for the first time."""
    acted: list[Step] = []

    def on_progress(reached: Step) -> None:
        if reached is step and not acted:
            acted.append(reached)
            act()

    return on_progress


def outcomes(path: Path) -> list[str]:
    return [entry.outcome for entry in journal_entries(path) if isinstance(entry, Settled)]


def attempts(path: Path) -> int:
    return sum(isinstance(entry, Attempt) for entry in journal_entries(path))


def writes(platform: EmbeddedPlatform) -> int:
    return sum(seen.method == "POST" for seen in platform.requests)


def test_how_old_a_read_may_be(clock: JumpingClock) -> None:
    began = clock.monotonic()
    assert why_too_old(clock, began) is None
    clock.suspended = OLDEST_READ + 0.25
    assert why_too_old(clock, began) == "1.3 s have passed since it was read, more than 1 s"


async def test_a_changed_task_is_not_approved_after_a_suspension(
    user: User, path: Path, clock: JumpingClock
) -> None:
    task = (await user.pending())[0]

    def suspend() -> None:
        with user.platform.world.locked() as state:
            changed = state.tasks[task.id]
            changed.title = "Pay MALLORY"
            state.changed_task(changed, changed.updated)
        clock.suspended += SUSPENDED

    found = await user.approve(task, once_at(Step.SENDING, suspend))
    assert found.kind is OutcomeKind.CHANGED
    assert found.known_by is KnownBy.HERE
    assert "MALLORY" in outcome_sentence(found)
    assert user.sends() == []
    assert outcomes(path) == ["changed"]


async def test_a_task_that_a_poll_removed_is_read_again_and_not_sent(
    user: User, path: Path
) -> None:
    task = (await user.pending())[0]

    def poll_removes_it() -> None:
        decide_elsewhere(user.platform.world, task.id, "reject")
        store = user.store
        rest = tuple(each for each in store.pending if each.id != task.id)
        store.take(FeedName.PENDING, Listing(records=rest))

    found = await user.approve(task, once_at(Step.SENDING, poll_removes_it))
    assert found.kind is OutcomeKind.DECIDED_ELSEWHERE
    assert "already rejected elsewhere by Wanda" in outcome_sentence(found)
    assert "refused" not in outcome_sentence(found)
    assert user.sends() == []
    assert outcomes(path) == ["decided elsewhere"]


async def test_what_this_machine_approved_before_is_not_said_to_be_elsewhere(
    user: User, path: Path, clock: JumpingClock
) -> None:
    """It was listed as waiting by an old answer, until it was read for the second time."""
    task = (await user.pending())[0]
    before = Attempt(
        attempt="a1",
        time=stamp(time.time()),
        origin=user.platform.base_url,
        profile="test",
        verb="approve",
        subject=task.id,
        task=task.id,
    )
    user.journal.begin(before, user.journal.mark())
    user.journal.finish(Settled(attempt="a1", outcome="approved here"))

    def decided() -> None:
        decide_elsewhere(user.platform.world, task.id, "approve", "this key")
        clock.suspended += SUSPENDED

    found = await user.approve(task, once_at(Step.SENDING, decided))
    assert found.kind is OutcomeKind.APPROVED
    assert "this machine had asked for it before" in outcome_sentence(found)
    assert user.sends() == []


async def test_an_unchanged_task_is_approved_on_a_new_read_with_one_attempt(
    user: User, path: Path, clock: JumpingClock
) -> None:
    task = (await user.pending())[0]

    def suspend() -> None:
        clock.suspended += SUSPENDED

    found = await user.approve(task, once_at(Step.SENDING, suspend))
    assert found.kind is OutcomeKind.APPROVED_HERE
    assert len(user.sends()) == 1
    assert (attempts(path), outcomes(path)) == (1, ["approved here"])


async def test_where_no_read_is_ever_fresh_it_says_so_and_sends_nothing(
    user: User, path: Path, clock: JumpingClock
) -> None:
    task = (await user.pending())[0]

    def suspend(step: Step) -> None:
        if step is Step.SENDING:
            clock.suspended += SUSPENDED

    found = await user.approve(task, suspend)
    assert found.kind is OutcomeKind.NOT_SENT
    assert f"it was read {MOST_READS} times" in outcome_sentence(found)
    # A slow machine adds its own tenths to the eight seconds.
    assert re.search(r"each time 8\.\d s have passed since it was read", outcome_sentence(found))
    assert user.sends() == []
    assert outcomes(path) == ["not sent"]
    assert (await user.approve(task)).kind is OutcomeKind.APPROVED_HERE


async def test_a_set_reads_again_what_has_become_old(
    user: User, path: Path, clock: JumpingClock
) -> None:
    tasks = (await user.pending())[:3]
    batch = BatchApproval(user.services, tasks)
    changed_id = tasks[0].id

    def suspend() -> None:
        with user.platform.world.locked() as state:
            changed = state.tasks[changed_id]
            changed.title = "Pay MALLORY"
            state.changed_task(changed, changed.updated)
        clock.suspended += SUSPENDED

    suspended = once_at(Step.SENDING, suspend)
    tell = batch.record_progress

    def watched(task: Task, progress: Step | Outcome) -> None:
        tell(task, progress)
        if isinstance(progress, Step):
            suspended(progress)

    batch.record_progress = watched  # type: ignore[method-assign]
    await batch.run()
    assert user.sends(changed_id) == []
    kinds = {item.task.id: item.outcome.kind for item in batch.items if item.outcome}
    assert kinds[changed_id] is OutcomeKind.CHANGED
    assert [kinds[task.id] for task in tasks[1:]] == [OutcomeKind.APPROVED_HERE] * 2


@pytest.mark.parametrize("shown", [True, False])
async def test_a_limit_that_changed_is_not_set_after_a_suspension(
    user: User, path: Path, clock: JumpingClock, shown: bool
) -> None:
    agent = user.platform.world.agents()[0]
    budgets = await user.services.client.agent_budgets()
    budget = next(each for each in budgets.records if each.id == agent.id)

    def suspend() -> None:
        user.platform.world.set_limit(agent.id, 77)
        clock.suspended += SUSPENDED

    write = LimitChange(
        user.services, Ref(id=agent.id), Decimal(900), shown=budget if shown else None
    )
    found = await write.run(once_at(Step.SENDING, suspend))
    assert found.kind is OutcomeKind.CHANGED
    assert "77" in outcome_sentence(found)
    assert writes(user.platform) == 0
    assert outcomes(path) == ["changed"]


async def test_a_limit_that_a_poll_brings_is_read_again(user: User, path: Path) -> None:
    agent = user.platform.world.agents()[0]
    user.store.take(FeedName.AGENT_BUDGETS, await user.services.client.agent_budgets())
    budget = user.store.agent_budgets.get(agent.id)
    assert budget is not None
    assert budget.limit is not None
    write = LimitChange(user.services, Ref(id=agent.id), Decimal(900), shown=budget)
    user.platform.world.set_limit(agent.id, 77)
    newer = await user.services.client.agent_budgets()
    user.platform.world.set_limit(agent.id, float(budget.limit.amount))

    def poll() -> None:
        user.store.take(FeedName.AGENT_BUDGETS, newer)

    found = await write.run(once_at(Step.SENDING, poll))
    reads = [seen for seen in user.platform.requests if seen.path == "/api/budget/agents"]
    assert found.kind is OutcomeKind.DONE
    # Two by the test, one before it was written down, one because of the poll, one that confirms.
    assert len(reads) == 5
    assert writes(user.platform) == 1


async def test_a_task_is_not_created_where_one_like_it_came_meanwhile(
    user: User, path: Path, clock: JumpingClock
) -> None:
    form = task_form(user.platform)

    def suspend() -> None:
        user.platform.world.create_task(**form)
        clock.suspended += SUSPENDED

    found = await TaskCreation(user.services, form).run(once_at(Step.SENDING, suspend))
    assert found.kind is OutcomeKind.CHANGED
    assert "one like it was created" in outcome_sentence(found)
    assert writes(user.platform) == 0
    assert outcomes(path) == ["changed"]


async def test_a_task_is_not_created_for_an_agent_that_is_gone(user: User, path: Path) -> None:
    user.store.take(FeedName.AGENTS, await user.services.client.agents())
    form = task_form(user.platform)

    def poll() -> None:
        rest = tuple(each for each in user.store.agents if each.id != form["agent_id"])
        user.store.take(FeedName.AGENTS, Listing(records=rest))

    found = await TaskCreation(user.services, form).run(once_at(Step.SENDING, poll))
    assert found.kind is OutcomeKind.NOT_SENT
    assert "the agent is not listed any more" in outcome_sentence(found)
    assert writes(user.platform) == 0
    assert outcomes(path) == ["not sent"]


async def test_companies_are_created_and_cloned_on_a_fresh_read_only(
    user: User, path: Path, clock: JumpingClock
) -> None:
    companies = await user.services.client.companies()
    source = companies.records[0]
    forms = [
        (None, {"name": "Twin", "template": "shop", "mission": "Sell"}),
        (source, {"name": "Clone"}),
    ]
    for origin, form in forms:

        def suspend(name: str = form["name"]) -> None:
            user.platform.world.create_company(name, "shop", "Sell")
            clock.suspended += SUSPENDED

        write = CompanyCreation(user.services, form, source=origin)
        found = await write.run(once_at(Step.SENDING, suspend))
        assert found.kind is OutcomeKind.CHANGED, found
        assert writes(user.platform) == 0
    assert outcomes(path) == ["changed"] * 2


async def test_sent_is_known_from_the_last_check_alone(user: User) -> None:
    task = (await user.pending())[0]
    approval = Approval(user.services, task)
    user.platform.stop()
    found = await approval.run()
    assert found.kind is OutcomeKind.NOT_SENT
    assert not approval.is_sent
    user.platform.start()
    again = Approval(user.services, task)
    assert (await again.run()).kind is OutcomeKind.APPROVED_HERE
    assert again.is_sent
