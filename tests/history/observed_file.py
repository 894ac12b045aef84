"""A database that takes what was observed, for tests that write without a `History` around it."""

from __future__ import annotations

from collections.abc import Iterable

from agentco_tui.history.database import HistoryDatabase
from agentco_tui.history.observations import Observed
from agentco_tui.history.rows import prepared


class ObservedDatabase(HistoryDatabase):
    def store(self, observed: Iterable[Observed]) -> bool:
        """Write in one transaction, as the thread of the history does."""
        return self.write([prepared(each, str) for each in observed])
