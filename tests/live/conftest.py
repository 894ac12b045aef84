"""A platform for the tests of the live picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agentco_tui.history.database import HistoryDatabase
from tests.embedded import EmbeddedPlatform


@pytest.fixture
def platform() -> Iterator[EmbeddedPlatform]:
    """A small world that stands still unless the test moves it."""
    with EmbeddedPlatform(seed=7, companies=2, agents=16, tasks=20, speed=0.0) as platform:
        yield platform


@pytest.fixture(autouse=True)
def closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Files of histories that a test has opened itself are closed: Python 3.13 asks for that."""
    made, begin = list[HistoryDatabase](), HistoryDatabase.__init__

    def remember(self: HistoryDatabase, *args: Any) -> None:
        begin(self, *args)
        made.append(self)

    monkeypatch.setattr(HistoryDatabase, "__init__", remember)
    yield
    for file in made:
        file.close()
