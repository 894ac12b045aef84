"""A platform for the tests of the live picture."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.platform import EmbeddedPlatform


@pytest.fixture
def platform() -> Iterator[EmbeddedPlatform]:
    """A small world that stands still unless the test moves it."""
    with EmbeddedPlatform(seed=7, companies=2, agents=16, tasks=20, speed=0.0) as platform:
        yield platform
