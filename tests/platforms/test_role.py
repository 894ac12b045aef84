"""What the role of a key's user allows, by the answer that the platform's file names."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agentco_tui.actions.outcome import Verb
from agentco_tui.actions.services import Permissions
from agentco_tui.api import errors
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.attention.snooze import Snoozes
from agentco_tui.config import Settings
from agentco_tui.platforms.declared_platform import DeclaredPlatform, open_platform
from agentco_tui.platforms.platform_file import load_platform
from agentco_tui.platforms.platform_records import RoleDeclaration
from agentco_tui.text import mark_safe
from agentco_tui.workspace.workspace import Workspace
from tests.platforms.recorded_answers import GLOBEX
from tests.platforms.recorded_paperclip import AGENT_KEY, KEY, VIEWER_KEY, RecordedPaperclip
from tests.platforms.truth import check_roles

WHY = "your role there is viewer: it may not change anything"


def platform_at(server: RecordedPaperclip, key: str) -> DeclaredPlatform:
    return open_platform(
        load_platform("paperclip", None), BaseUrl.parse(server.base), ApiKey(key), attempts=1
    )


@pytest_asyncio.fixture
async def server() -> AsyncIterator[RecordedPaperclip]:
    with RecordedPaperclip() as running:
        yield running


async def test_the_roles_of_paperclip(server: RecordedPaperclip) -> None:
    async with platform_at(server, KEY) as platform:
        await check_roles(platform, server)


async def test_an_agents_key_tells_no_role(server: RecordedPaperclip) -> None:
    async with platform_at(server, AGENT_KEY) as platform:
        with pytest.raises(errors.KeyRejected):
            await platform.why_read_only()


@pytest.mark.parametrize(
    ("answer", "role"),
    [
        ({"role": "guest"}, "guest"),
        ({"role": "owner"}, None),
        ({"role": None}, None),
        ({"role": ["guest"]}, None),
        ({}, None),
        ([], None),
        (None, None),
    ],
)
def test_a_single_role(answer: Any, role: str | None) -> None:
    declared = RoleDeclaration(get="/api/me", at="role", read_only=("guest", "reader"))
    assert declared.read_only_role(answer) == role


@pytest.mark.parametrize(
    ("rows", "role"),
    [
        (["guest", "reader"], "guest"),
        (["guest", "owner"], None),
        (["guest", None], None),
        ([], None),
    ],
)
def test_a_role_in_each_row(rows: list[Any], role: str | None) -> None:
    declared = RoleDeclaration(
        get="/api/me",
        where="of.teams",
        at="my.role",
        read_only=("guest", "reader"),
        unless={"root": "yes"},
    )
    teams = [{"my": {"role": each}} for each in rows]
    assert declared.read_only_role({"of": {"teams": teams}}) == role
    assert declared.read_only_role({"of": {"teams": teams}, "root": "yes"}) is None
    assert declared.read_only_role({"of": {"teams": {"my": {"role": "guest"}}}}) is None


@asynccontextmanager
async def running(
    server: RecordedPaperclip, key: str, permissions: Permissions, folder: Path
) -> AsyncIterator[Workspace]:
    """A workspace that polls, with what a dashboard needs to write."""
    settings = Settings(base_url=BaseUrl.parse(server.base), refresh=0.5)
    async with platform_at(server, key) as client:
        workspace = Workspace(settings, client, snoozes=Snoozes(None, ""))
        workspace.open_services(folder / "journal.jsonl", permissions)
        work = asyncio.create_task(workspace.run_without_screen(remembers=False))
        try:
            yield workspace
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            await workspace.aclose()
            workspace.close()


def asked(server: RecordedPaperclip) -> list[str | None]:
    """The keys with which the role was asked for."""
    lines = [(seen.line, seen.authorization) for seen in server.requests]
    return [key for line, key in lines if line == "GET /api/cli-auth/me"]


async def changed(permissions: Permissions) -> None:
    """Wait until what may be written has changed."""
    has_changed = asyncio.Event()
    permissions.on_change = has_changed.set
    async with asyncio.timeout(30):
        await has_changed.wait()


async def test_it_is_read_once_for_each_key_after_the_first_answer(
    server: RecordedPaperclip, tmp_path: Path
) -> None:
    permissions = Permissions()
    async with running(server, VIEWER_KEY, permissions, tmp_path) as workspace:
        await changed(permissions)
        assert permissions.why_denied(Verb.APPROVE) == WHY
        assert (permissions.off, permissions.read_only, permissions.lacks_any) == (WHY, None, True)
        # All lists of the first picture came before it.
        lines = [seen.line for seen in server.requests]
        lists = lines[: lines.index("GET /api/cli-auth/me")]
        for name in ("agents", "approvals", "budgets/overview", "audit/agent-actions"):
            assert f"GET /api/companies/{GLOBEX}/{name}" in lists
        # Another key: what the first one may not do says nothing of it.
        before = len(server.requests)
        workspace.key.replace(ApiKey(KEY))
        permissions.key_changed()
        assert (permissions.off, permissions.lacks_any) == (None, False)
        workspace.poller.poll_now()
        async with asyncio.timeout(30):
            while len(asked(server)) < 2 or len(server.requests) < before + 40:
                await workspace.next_refresh(0.1)
        assert permissions.off is None
    assert asked(server) == [f"Bearer {VIEWER_KEY}", f"Bearer {KEY}"]


async def test_an_answer_without_a_role_changes_nothing(
    server: RecordedPaperclip, tmp_path: Path
) -> None:
    permissions = Permissions(mark_safe("writing is off (--read-only)"))
    async with running(server, AGENT_KEY, permissions, tmp_path) as workspace:
        await workspace.read_role()
        assert asked(server)
        assert (permissions.off, permissions.role) == ("writing is off (--read-only)", None)
