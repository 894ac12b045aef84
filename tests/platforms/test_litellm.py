"""The file for LiteLLM's proxy, on answers that are composed as its source says.

`composed_litellm` serves them; nothing here was recorded. What each list must read is written in
the tables below, from the schema of the answers and not from the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

import agentco_tui.platforms
from agentco_tui.api import errors
from agentco_tui.api.capabilities import OPERATIONS, Read
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.errors import ApiError
from agentco_tui.model import AgentState, Budget, Listing, Money, Record, Ref, Verdict
from agentco_tui.platforms.declared_platform import DeclaredPlatform, open_platform
from agentco_tui.platforms.platform_file import load_platform
from agentco_tui.platforms.platform_records import PlatformFile
from tests.platforms.composed_litellm import (
    ACME,
    ANON,
    GLOBEX,
    INITECH,
    KEY,
    QUILL,
    RANGER,
    READINESS,
    SCOUT,
    TIDY,
    UI_CONFIG,
    ComposedLiteLLM,
    key,
    team,
)
from tests.platforms.wrong_files import Place, changed, declared, places_in, words_of

FILE = Path(agentco_tui.platforms.__file__).with_name("litellm.toml")
DATA = tomllib.loads(FILE.read_text(encoding="utf-8"))
CREATED = 1_788_220_800.0
"""2026-09-01 00:00:00 UTC."""
OCTOBER = 1_790_812_800.0
"""2026-10-01 00:00:00 UTC."""
NEXT_WEEK = 1_790_553_600.0
"""2026-09-28 00:00:00 UTC."""

COMPANIES: Mapping[str, tuple[Any, ...]] = {
    # name, agents, created
    GLOBEX: ("Globex", 2, CREATED),
    ACME: ("Acme", 1, CREATED),
    INITECH: ("Initech", 1, CREATED),
}
AGENTS: Mapping[str, tuple[Any, ...]] = {
    # name, company, state, last seen
    SCOUT: ("scout", GLOBEX, None, 1_789_999_200.0),
    QUILL: ("quill", GLOBEX, AgentState.PAUSED, None),
    TIDY: ("tidy", ACME, None, None),
    RANGER: ("ranger", INITECH, None, None),
    ANON: (None, None, None, None),
}
COMPANY_BUDGETS: Mapping[str, tuple[Any, ...]] = {
    # name, spent, limit, warns at, period, resets, paused
    GLOBEX: ("Globex", "96.5", "100", "0.8", "30d", OCTOBER, False),
    ACME: ("Acme", "12.3456789", None, None, None, None, False),
    INITECH: ("Initech", "1.5", "40", None, "7d", NEXT_WEEK, True),
}
AGENT_BUDGETS: Mapping[str, tuple[Any, ...]] = {
    # name, company, spent, limit, period, resets, paused
    SCOUT: ("scout", GLOBEX, "49.5", "50", "30d", OCTOBER, None),
    QUILL: ("quill", GLOBEX, "3.25", "20", "30d", OCTOBER, True),
    TIDY: ("tidy", ACME, "0.125", None, None, None, False),
    RANGER: ("ranger", INITECH, "9.75", "10", "30d", OCTOBER, None),
    ANON: (None, None, "2", "0", None, None, None),
}
MONEY = {"companies", "agents", "company_budgets", "agent_budgets", "set_agent_limit"}
"""All that LiteLLM offers here."""


@pytest.fixture
def server() -> Iterator[ComposedLiteLLM]:
    with ComposedLiteLLM() as running:
        yield running


def platform_at(
    server: ComposedLiteLLM, file: PlatformFile | None = None, api_key: str = KEY
) -> DeclaredPlatform:
    return open_platform(
        file or load_platform("litellm", None),
        BaseUrl.parse(server.base_url),
        ApiKey(api_key),
        attempts=1,
    )


@pytest_asyncio.fixture
async def platform(server: ComposedLiteLLM) -> AsyncIterator[DeclaredPlatform]:
    async with platform_at(server) as opened:
        yield opened


def dollars(money: Money | None) -> Decimal | None:
    """A sum; that it is in dollars, and known to be, is checked."""
    if money is None:
        return None
    assert money.currency == "USD"
    assert not money.unit_assumed
    return money.amount


def decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def id_of(ref: Ref | None) -> str | None:
    return None if ref is None else ref.id


def by_id(listing: Listing[Any]) -> dict[str, Any]:
    """The records of a whole list, each of which can be written to."""
    assert listing.whole
    assert listing.unread == 0
    records: tuple[Record, ...] = listing.records
    assert all(record.unwritable is None for record in records)
    return {record.id: record for record in records}


async def check_reads(platform: DeclaredPlatform, server: ComposedLiteLLM) -> None:
    """Every list has the values of the tables, and a list of one company only its own."""
    companies = by_id(await platform.companies())
    found: dict[str, tuple[Any, ...]] = {
        each: (record.name, record.agent_count, record.created.at)
        for each, record in companies.items()
    }
    assert found == COMPANIES
    agents = by_id(await platform.agents())
    found = {
        each: (
            record.name,
            id_of(record.company),
            record.state,
            None if record.last_seen is None else record.last_seen.at,
        )
        for each, record in agents.items()
    }
    assert found == AGENTS
    assert by_id(await platform.agents(GLOBEX)).keys() == {SCOUT, QUILL}
    await check_budgets(platform)
    # One answer serves the keys as agents and their budgets.
    queries = [seen.query.get("team_id") for seen in server.requests if seen.path == "/key/list"]
    assert queries == [None, GLOBEX, ACME]


async def check_budgets(platform: DeclaredPlatform) -> None:
    of_companies = by_id(await platform.company_budgets())
    assert of_companies.keys() == COMPANY_BUDGETS.keys()
    for each, (name, spent, limit, warn_at, period, resets, paused) in COMPANY_BUDGETS.items():
        budget: Budget = of_companies[each]
        assert (budget.name, budget.period, budget.paused) == (name, period, paused)
        assert dollars(budget.spent) == decimal(spent)
        assert dollars(budget.limit) == decimal(limit)
        assert budget.warn_at == decimal(warn_at)
        assert (budget.resets.at if budget.resets else None) == resets
    of_agents = by_id(await platform.agent_budgets())
    assert of_agents.keys() == AGENT_BUDGETS.keys()
    for each, (name, company, spent, limit, period, resets, paused) in AGENT_BUDGETS.items():
        budget = of_agents[each]
        assert (budget.name, budget.period, budget.paused) == (name, period, paused)
        assert id_of(budget.company) == company
        assert dollars(budget.spent) == decimal(spent)
        assert dollars(budget.limit) == decimal(limit)
        assert (budget.resets.at if budget.resets else None) == resets
    assert by_id(await platform.agent_budgets(ACME)).keys() == {TIDY}


async def check_limit(platform: DeclaredPlatform, server: ComposedLiteLLM) -> None:
    """A limit goes out as it was said, to the key by its hash, and is read back."""
    for agent, amount in ((SCOUT, Decimal("55.505")), (RANGER, 12), (SCOUT, Decimal("0.01"))):
        receipt = await platform.set_agent_limit(agent, amount)
        assert receipt.verdict is Verdict.YES
        assert receipt.record is not None
        assert receipt.record.id == agent
        assert dollars(receipt.record.limit) == amount
        assert server.requests[-1].line == "POST /key/update"
        assert server.requests[-1].body == {"key": agent, "max_budget": float(amount)}
        read_back = by_id(await platform.for_decisions().agent_budgets())
        assert dollars(read_back[agent].limit) == amount


async def everything(platform: DeclaredPlatform, server: ComposedLiteLLM) -> None:
    await check_reads(platform, server)
    await check_limit(platform, server)


async def test_every_value_is_that_of_the_table(
    platform: DeclaredPlatform, server: ComposedLiteLLM
) -> None:
    await check_reads(platform, server)


async def test_a_limit_is_written_and_read_back(
    platform: DeclaredPlatform, server: ComposedLiteLLM
) -> None:
    await check_limit(platform, server)
    with pytest.raises(errors.NotFound, match="Key not found"):
        await platform.set_agent_limit("nobody", 5)


async def test_lists_of_several_pages_are_read_whole(
    platform: DeclaredPlatform, server: ComposedLiteLLM
) -> None:
    server.teams += [team(f"team-{n}", f"Team {n}") for n in range(150)]
    server.keys += [key(f"key-{n}", team_id=ACME) for n in range(250)]
    assert len(by_id(await platform.companies())) == 153
    assert len(by_id(await platform.agents())) == 255
    assert len(by_id(await platform.agent_budgets(ACME))) == 251
    pages = [seen.query.get("page") for seen in server.requests if "team_id" not in seen.query]
    assert pages == [None, "2", None, "2", "3"]  # of 100 rows each


@pytest.mark.parametrize(
    ("api_key", "words"),
    [("sk-another", "Invalid API key provided"), (KEY[:-1], "Invalid API key provided")],
)
async def test_a_wrong_key_is_refused(server: ComposedLiteLLM, api_key: str, words: str) -> None:
    async with platform_at(server, api_key=api_key) as platform:
        with pytest.raises(errors.KeyRejected, match=words):
            await platform.companies()
        with pytest.raises(errors.KeyRejected):
            await platform.set_agent_limit(SCOUT, 5)
    assert server.keys[0]["max_budget"] == 50.0


def test_no_client_is_opened_without_a_key(server: ComposedLiteLLM) -> None:
    with pytest.raises(ValueError, match="key"):
        open_platform(load_platform("litellm", None), BaseUrl.parse(server.base_url), None)


async def test_what_it_does_not_have_is_never_asked_for(
    platform: DeclaredPlatform, server: ComposedLiteLLM
) -> None:
    assert set(platform.capabilities.requests) == MONEY
    for operation in OPERATIONS:
        words = None if operation in MONEY else "LiteLLM does not offer this"
        assert platform.capabilities.why_not(operation) == words
    for read in (
        platform.tasks,
        platform.activity,
        platform.budget,
        platform.budget_alerts,
    ):
        with pytest.raises(errors.NotOffered, match="LiteLLM does not offer any"):
            await read()
    for read_one in (platform.company, platform.agent, platform.task_trace, platform.approve_task):
        with pytest.raises(errors.NotOffered):
            await read_one(SCOUT)
    assert [seen for seen in server.requests if seen.method != "GET"] == []
    assert server.requests == []


async def test_the_row_of_a_key_as_it_was_sent(platform: DeclaredPlatform) -> None:
    sent = await platform.as_sent(Read("agent_budgets"), "agent_budget", SCOUT)
    assert (sent["key_name"], sent["agent_id"]) == ("sk-...cout", "agent-7")


async def test_a_command_line_has_the_header_of_the_file(platform: DeclaredPlatform) -> None:
    line = platform.curl(Read("agents"))
    assert '-H "Authorization: Bearer $AGENTCO_API_KEY"' in line
    assert line.rstrip("'").endswith("/key/list")


def test_litellm_is_recognised() -> None:
    file = load_platform("litellm", None)
    assert file.recognises(UI_CONFIG)
    assert not file.recognises(READINESS)
    assert not file.needs_no_key(UI_CONFIG)
    assert not load_platform("paperclip", None).recognises(UI_CONFIG)


# -- every word of the file matters ----------------------------------------------------------------


@pytest.mark.parametrize("place", places_in(DATA), ids=words_of)
async def test_each_wrong_word_is_noticed(place: Place, server: ComposedLiteLLM) -> None:
    with pytest.raises((AssertionError, ApiError, msgspec.ValidationError, ValueError)):
        async with platform_at(server, declared(changed(DATA, place))) as platform:
            await everything(platform, server)


async def test_the_unchanged_file_passes_what_the_changed_ones_fail(
    server: ComposedLiteLLM,
) -> None:
    async with platform_at(server, declared(DATA)) as platform:
        await everything(platform, server)
