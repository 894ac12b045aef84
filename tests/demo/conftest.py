from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.platform import EmbeddedPlatform

NOW = 1_790_000_000.0
"""A fixed start for worlds whose content is looked at."""


@pytest.fixture
def platform() -> Iterator[EmbeddedPlatform]:
    """A platform whose clock stands still unless a test moves it."""
    with EmbeddedPlatform(speed=0, now=NOW) as running:
        yield running


@pytest.fixture
def client(platform: EmbeddedPlatform) -> Iterator[httpx.Client]:
    """An ordinary client with the full key."""
    headers = {"Authorization": f"Bearer {platform.full_key}"}
    with httpx.Client(base_url=platform.base_url, headers=headers, trust_env=False) as http:
        yield http
