"""One platform for all tests that leave it as they found it; after others it begins anew."""

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
    if _served.is_as_it_began():
        _served.clear_faults()
        _served.forget_requests()
    else:
        _served.kill()
        _served.start()
