"""One platform process for all tests, which is reset after each of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.terminal.platform_process import PlatformProcess


@pytest.fixture(scope="session")
def _served() -> Iterator[PlatformProcess]:
    with PlatformProcess() as platform:
        yield platform


@pytest.fixture
def platform(_served: PlatformProcess) -> Iterator[PlatformProcess]:
    """A platform without faults, its world at its beginning, and no requests so far."""
    yield _served
    _served.reset()
