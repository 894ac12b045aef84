"""The five writes × every fault of the embedded platform: sent once, told truly, recovered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator
from pathlib import Path

import pytest

from agentco_tui.actions.journal_lines import Attempt
from agentco_tui.actions.outcome import GOOD, KnownBy, Outcome, OutcomeKind
from agentco_tui.actions.outcome_words import outcome_sentence
from agentco_tui.api.limits import Limits
from agentco_tui.model import Ref
from agentco_tui.text import mark_safe
from tests.actions.user import (
    User,
    clone_company,
    create_company,
    create_task,
    journal_entries,
    open_services,
    set_limit,
)
from tests.platform import EmbeddedPlatform
from tests.platform.faults import KINDS

LIMITS = Limits(connect=5, read=1.5, write=2, pool=5, total=2.5, body=2 * 1024 * 1024)
VALUES = {
    "status": (
        *("200,body=html", "200,body=empty", "204", "400", "401", "403", "404"),
        *("409", "422", "429", "500", "502", "503", "504"),
    ),
    "latency": ("1ms",),
    "drip": ("20ms",),
    "gzip_bomb": ("8",),
    "redirect": ("", "http://127.0.0.2:9/x"),
}
FAULTS = [
    f"{kind}={value}" if value else kind for kind in KINDS for value in VALUES.get(kind, ("",))
]
WRITES = ("approve", "create_task", "create_company", "clone_company", "set_limit")


@pytest.fixture
def platform() -> Iterator[EmbeddedPlatform]:
    with EmbeddedPlatform(seed=7, companies=1, agents=3, tasks=12, speed=0.0) as running:
        yield running


@pytest.fixture
async def at(platform: EmbeddedPlatform, tmp_path: Path) -> AsyncIterator[User]:
    async with open_services(platform, tmp_path / "journal.jsonl", limits=LIMITS) as running:
        yield running


class World:
    """What the platform holds of what the five writes change."""

    def __init__(self, platform: EmbeddedPlatform) -> None:
        state = platform.world.state
        names = [company.name for company in state.companies.values()]
        self.made = {
            "approve": sum(platform.world.applied.values()),
            "create_task": sum(task.title == "a new task" for task in state.tasks.values()),
            "create_company": names.count("A new one"),
            "clone_company": names.count("A clone"),
            # Not those of the clone, which gets the limits of its original.
            "set_limit": sum(
                agent.limit == 77_000_000
                for agent in state.agents.values()
                if agent.company is next(iter(state.companies.values()))
            ),
        }


async def all_writes(at: User) -> dict[str, Outcome]:
    """Each write once, all together."""
    client = at.services.client
    company = (await client.companies()).records[0]
    agent = (await client.agents()).records[0]
    task = (await at.pending())[0]
    form = {
        "company_id": company.id,
        "title": "a new task",
        "agent_id": agent.id,
        "priority": "high",
    }
    new = {"name": "A new one", "template": "blank", "mission": "to help"}
    clone = {"name": "A clone", "mission": "to help"}
    works: dict[str, Awaitable[Outcome]] = {
        "approve": at.approve(task),
        "create_task": create_task(at.services, form),
        "create_company": create_company(at.services, new),
        "clone_company": clone_company(at.services, company, clone),
        "set_limit": set_limit(
            at.services, Ref(id=agent.id, name=mark_safe("she")), "77", shown=None
        ),
    }
    outcomes = await asyncio.gather(*works.values())
    return dict(zip(works, outcomes, strict=True))


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_on_a_write(at: User, fault: str, tmp_path: Path) -> None:
    platform = at.platform
    before = World(platform).made
    armed = platform.faults.add(f"writes:{fault}")
    outcomes = await all_writes(at)
    platform.faults.remove(armed)
    after = World(platform).made
    sent = sorted(str(seen.operation) for seen in platform.requests if seen.method == "POST")
    assert armed.struck == len(sent)
    assert sent == sorted(WRITES), "sent once each"
    for name, outcome in outcomes.items():
        was_done = after[name] - before[name]
        assert was_done <= 1, (name, after, before, outcome_sentence(outcome))
        assert outcome_sentence(outcome), name
        assert outcome_sentence(outcome).isprintable()
        if outcome.kind in GOOD and outcome.known_by is KnownBy.READ:
            assert was_done == 1, (name, outcome.known_by, outcome_sentence(outcome))
        if outcome.kind in (OutcomeKind.REFUSED, OutcomeKind.NOT_SENT, OutcomeKind.NOT_DONE):
            assert was_done == 0, (name, outcome)
    entries = journal_entries(tmp_path / "journal.jsonl")
    attempts = [entry for entry in entries if isinstance(entry, Attempt)]
    assert len(attempts) == len(WRITES)
    assert len(entries) == 2 * len(attempts), "every attempt has its outcome"
    # It goes on as if nothing had been; only a refused right is remembered, until the key changes.
    at.services.permissions.key_changed()
    task = (await at.pending())[-1]
    assert (await at.approve(task)).kind is OutcomeKind.APPROVED_HERE
