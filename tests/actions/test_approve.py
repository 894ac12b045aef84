"""One approval against a real server: what is sent, what is said, what stands in the journal."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.journal_lines import Attempt, Settled
from agentco_tui.actions.outcome import KnownBy, Outcome, OutcomeKind, Step, Verb
from agentco_tui.actions.outcome_words import outcome_sentence
from agentco_tui.actions.services import Permissions
from agentco_tui.model import Task
from agentco_tui.text import mark_safe
from tests.actions.user import (
    User,
    journal_entries,
    open_services,
    until,
)
from tests.platform import EmbeddedPlatform


async def approved(services: User, task: Task) -> tuple[Outcome, list[Step]]:
    steps: list[Step] = []
    return await services.approve(task, steps.append), steps


async def test_a_yes_is_confirmed_by_a_read(path: Path, user: User) -> None:
    task = (await user.pending())[0]
    user.platform.requests.clear()
    found, steps = await approved(user, task)
    asked = [(seen.method, seen.operation) for seen in user.platform.requests]
    assert asked == [("GET", "tasks"), ("POST", "approve"), ("GET", "tasks")]
    assert found.kind is OutcomeKind.APPROVED_HERE
    assert found.known_by is KnownBy.READ
    assert outcome_sentence(found).startswith("approved: the platform said yes")
    assert steps == [Step.READING, Step.SENDING, Step.CONFIRMING]
    assert user.platform.world.applied[task.id] == 1
    assert user.store.pending.get(task.id) is None
    [sent] = user.sends()
    headers = dict(sent.headers)
    attempt, settled = journal_entries(path)
    assert isinstance(attempt, Attempt)
    assert isinstance(settled, Settled)
    assert headers["idempotency-key"] == attempt.attempt == settled.attempt == found.attempt_id
    assert (attempt.task, attempt.title, attempt.verb) == (task.id, task.title, "approve")
    assert (attempt.profile, attempt.origin) == ("test", user.platform.base_url)
    assert attempt.agent == (task.agent.id if task.agent else None)
    assert attempt.fingerprint
    assert attempt.details == {"status": task.status}
    assert settled.outcome == "approved here"
    assert not [entry for entry in journal_entries(path) if user.platform.full_key in repr(entry)]


async def test_what_a_poll_brings_meanwhile_is_not_approved(path: Path, user: User) -> None:
    task = (await user.pending())[0]
    store = user.store
    newer = msgspec.structs.replace(task, title=mark_safe("something else"), content=b"another")

    class Meanwhile(Approval):
        def new_attempt(self, **about: Any) -> Attempt | Outcome:
            store.publish(store.pending.put(newer))
            return super().new_attempt(**about)

    found = await Meanwhile(user.services, task).run()
    assert found.kind is OutcomeKind.CHANGED
    assert "something else" in outcome_sentence(found)
    assert user.sends() == []
    attempt, settled = journal_entries(path)
    assert isinstance(settled, Settled)
    assert (settled.attempt, settled.outcome) == (attempt.attempt, OutcomeKind.CHANGED)


@pytest.mark.parametrize("status", [404, 409, 429])
async def test_a_clear_no_is_told_in_the_platforms_words(
    path: Path, user: User, status: int
) -> None:
    task = (await user.pending())[0]
    user.platform.faults.add(f"approve:status={status},times=1")
    found, _ = await approved(user, task)
    assert found.kind is OutcomeKind.REFUSED
    settled = journal_entries(path)[-1]
    assert isinstance(settled, Settled)
    assert settled.http_status == status
    assert found.platform_words
    assert outcome_sentence(found) == f"refused: {found.platform_words}"
    assert len(user.sends()) == 1
    assert user.store.pending.get(task.id) is not None, "it waits as before"


async def test_a_403_marks_the_right_as_missing(platform: EmbeddedPlatform, path: Path) -> None:
    async with open_services(platform, path, key=platform.read_key) as user:
        first, second = (await user.pending())[:2]
        found, _ = await approved(user, first)
        assert found.kind is OutcomeKind.NOT_ALLOWED
        assert "this key may not approve" in outcome_sentence(found)
        again, _ = await approved(user, second)
        assert again.kind is OutcomeKind.NOT_SENT
        assert again.is_writing_off
        assert len(user.sends()) == 1
        assert user.services.permissions.why_denied(Verb.CREATE_TASK) is None
        why = user.services.permissions.why_denied(Verb.APPROVE) or ""
        assert re.search(r"\(403: [^)]+\)", why), "with the platform's own words"
        user.services.permissions.key_changed()
        assert user.services.permissions.why_denied(Verb.APPROVE) is None


async def test_read_only_sends_nothing(platform: EmbeddedPlatform, path: Path) -> None:
    rights = Permissions(read_only=mark_safe("writing is off: --read-only"))
    async with open_services(platform, path, permissions=rights) as user:
        found, _ = await approved(user, (await user.pending())[0])
        assert found.kind is OutcomeKind.NOT_SENT
        assert outcome_sentence(found) == "writing is off: --read-only"
        assert rights.why_denied(Verb.SET_LIMIT) is not None
        assert user.sends() == []


async def test_a_desk_that_was_closed_sends_nothing(user: User) -> None:
    task = (await user.pending())[0]
    await user.services.close()
    found = await user.approve(task)
    assert found.is_writing_off
    assert user.sends() == []


async def test_no_connection_is_not_sent(path: Path, user: User) -> None:
    task = (await user.pending())[0]

    def down(step: Step) -> None:
        if step is Step.SENDING:
            user.platform.stop()

    found = await user.approve(task, down)
    assert found.kind is OutcomeKind.NOT_SENT
    assert not found.is_writing_off
    assert outcome_sentence(found).startswith("nothing was sent: ")
    assert isinstance(journal_entries(path)[1], Settled)


# --- what is told, to the letter ---------------------------------------------------------------


@pytest.mark.parametrize(("fields", "more"), [(4, ""), (5, "; and 1 more")])
async def test_four_changes_are_told_and_of_more_how_many(
    platform: EmbeddedPlatform, path: Path, fields: int, more: str
) -> None:
    changes = {
        name: mark_safe(f"another {name}")
        for name in ("title", "status", "priority", "description", "decided_by")
    }
    async with open_services(platform, path) as user:
        task = (await user.pending())[0]
        chosen = dict(list(changes.items())[:fields])
        found = await user.approve(msgspec.structs.replace(task, **chosen))
        assert len(found.differences) == fields
        assert outcome_sentence(found).count("was “") == 4
        sentence = outcome_sentence(found)
        assert sentence.endswith(more) if more else "more" not in sentence
        assert found.kind is OutcomeKind.CHANGED
        assert (user.sends(), journal_entries(path)) == ([], [])


async def test_a_list_of_all_that_fails_settles_nothing_and_is_read_again(
    user: User,
) -> None:
    task = (await user.pending())[0]
    user.platform.faults.add("approve:drop_after,times=1")
    # The first read finds it, the second that it left the list; the third is that of all.
    every = user.platform.faults.add("tasks:status=503,after=2,times=1")
    found = await user.approve(task)
    assert every.struck == 1
    assert found.kind is OutcomeKind.APPROVED


# --- several dashboards on one journal ----------------------------------------------------------


async def test_two_dashboards_at_once_send_once(platform: EmbeddedPlatform, path: Path) -> None:
    async with open_services(platform, path) as here, open_services(platform, path) as there:
        for task in (await here.pending())[:10]:
            found = await asyncio.gather(here.approve(task), there.approve(task))
            assert len(here.sends(task.id)) == 1
            assert sum(outcome.kind is OutcomeKind.APPROVED_HERE for outcome in found) == 1
            for outcome in found:
                if outcome.kind is OutcomeKind.NOT_SENT:
                    assert "another dashboard on this machine" in outcome_sentence(outcome)


async def test_a_yes_to_what_was_left_behind_sends_nothing(
    platform: EmbeddedPlatform, path: Path
) -> None:
    async with open_services(platform, path) as first:
        task = (await first.pending())[0]
        hang = platform.faults.add("approve:hang,times=1")
        approving = asyncio.create_task(first.approve(task))
        await until(lambda: hang.struck == 1)
        approving.cancel()
        await asyncio.gather(approving, return_exceptions=True)
    sent = len(platform.requests.matching("approve"))
    async with open_services(platform, path) as second:
        found = await second.approve(task)
        assert found.kind is OutcomeKind.NOT_DONE
        assert outcome_sentence(found).startswith("the attempt of ")
        assert " ago that was left unsettled: not approved" in outcome_sentence(found)
        assert len(platform.requests.matching("approve")) == sent
        assert (await second.approve(task)).kind is OutcomeKind.APPROVED_HERE
