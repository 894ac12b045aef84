"""What lies ahead and behind of the records in the store, kept up to date from the history.

All of it is worked out off the event loop, a little at a time; what isn't known yet, or can't be
without a history, is None, so that the first picture waits for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agentco_tui.live.feeds import Clock
from agentco_tui.live.forecast import Burn, Forecast, NoData, Runaway, TooLittle
from agentco_tui.live.history import History
from agentco_tui.live.store import Store
from agentco_tui.model import AlertLimits, Budget

Day = tuple[float | None, ...]
"""The last 24 hours, oldest first: a figure for each hour, None for a gap."""


class Outlook:
    """`on_change` is called (in the event loop) whenever something of it has changed."""

    def __init__(
        self,
        store: Store,
        history: History | None = None,
        clock: Clock | None = None,
        limits: AlertLimits | None = None,
    ) -> None:
        self.store = store
        self.history = history
        self.clock = clock or Clock()
        self.limits = limits or AlertLimits()
        self.on_change: Callable[[], None] = lambda: None

    async def run(self) -> None:
        """Keep it all up to date, a little at a time, until cancelled."""

    async def work_out(self, subjects: Iterable[Budget]) -> None:
        """Work out these at once, for a command that shows them and ends."""

    def want(self, subjects: Iterable[Budget]) -> None:
        """What shows now: it is worked out before the rest."""

    def forecast(self, budget: Budget) -> Forecast | TooLittle | None:
        """None: no history, not worked out yet, or no spending to go by."""
        return None

    def burn(self, budget: Budget) -> Burn | NoData | None:
        """The worst tier that burns; None if none does, falsy NoData if that isn't known."""
        return NoData()

    def runaway(self, agent: str) -> Runaway | NoData | None:
        """An agent far above its own habit; None if it isn't, falsy NoData if that isn't known."""
        return NoData()

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
