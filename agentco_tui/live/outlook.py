"""What lies ahead and behind of the records in the store, kept up to date from the history.

All of it is worked out off the event loop, a little at a time; what isn't known yet, or can't be
without a history, is None, so that the first picture waits for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agentco_tui.live.forecast import Burn, Forecast, Runaway, TooLittle
from agentco_tui.live.history import History
from agentco_tui.live.store import Store
from agentco_tui.model import Budget

Day = tuple[float | None, ...]
"""The last 24 hours, oldest first: a figure for each hour, None for a gap."""


class Outlook:
    """`on_change` is called (in the event loop) whenever something of it has changed."""

    def __init__(self, store: Store, history: History | None = None) -> None:
        self.store = store
        self.history = history
        self.on_change: Callable[[], None] = lambda: None

    def want(self, subjects: Iterable[Budget]) -> None:
        """What shows now: it is worked out before the rest."""

    def forecast(self, budget: Budget) -> Forecast | TooLittle | None:
        """None: no history, not worked out yet, or no spending to go by."""
        return None

    def burn(self, budget: Budget) -> Burn | None:
        """The worst tier that burns; None if none does, or nothing is known."""
        return None

    def runaway(self, agent: str) -> Runaway | None:
        """An agent far above its own habit; None if it isn't, or too little is known of it."""
        return None

    def usual_run(self, agent: str) -> float | None:
        """Seconds that this agent's tasks usually take from the yes to the end (95 %)."""
        return None

    def spent_by_hour(self, budget: Budget) -> Day:
        """What was spent in each of the last 24 hours; () if nothing is known."""
        return ()

    def waiting_by_hour(self, company: str | None) -> Day:
        """How many tasks waited at the end of each of the last 24 hours."""
        return ()

    def entries_by_hour(self, agent: str | None) -> Day:
        """How many entries the log had in each of the last 24 hours: of an agent, or of all."""
        return ()
