"""Closes the history files that a test has opened itself; Python 3.13 warns about open ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agentco_tui.history.database import HistoryDatabase
from tests.platform import EmbeddedPlatform


@pytest.fixture
def platform() -> Iterator[EmbeddedPlatform]:
    """A small platform that changes only when the test changes it."""
    with EmbeddedPlatform(seed=7, companies=2, agents=16, tasks=20, speed=0.0) as platform:
        yield platform


@pytest.fixture(autouse=True)
def _close_databases(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close each database that the test opened without a `History` around it."""
    opened = list[HistoryDatabase]()
    construct = HistoryDatabase.__init__

    def remember(self: HistoryDatabase, *args: Any) -> None:
        construct(self, *args)
        opened.append(self)

    monkeypatch.setattr(HistoryDatabase, "__init__", remember)
    yield
    for database in opened:
        database.close()
