"""A platform, and a dashboard's services on it, for the tests of the actions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.actions.user import User, open_services
from tests.platform import EmbeddedPlatform


@pytest.fixture
def platform() -> Iterator[EmbeddedPlatform]:
    """A frozen world: what is approved stays approved."""
    with EmbeddedPlatform(seed=7, companies=2, agents=6, tasks=60, speed=0.0) as platform:
        yield platform


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the journal is to be."""
    return tmp_path / "state" / "journal.jsonl"


@pytest.fixture
async def user(platform: EmbeddedPlatform, path: Path) -> AsyncIterator[User]:
    """With the full key, and the whole platform in scope."""
    async with open_services(platform, path) as user:
        yield user
