"""What lies ahead and behind of the records in the store, kept up to date from the history.

All of it is worked out off the event loop, a little at a time; what isn't known yet, or can't be
without a history, is None, so that the first picture waits for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import tzinfo

from agentco_tui.live.forecast import Burn, Forecast, NoData, Runaway, TooLittle
from agentco_tui.live.feeds import Clock
from agentco_tui.live.history import History
from agentco_tui.live.store import Store
from agentco_tui.model import AlertLimits, Budget
from agentco_tui.text import SafeText

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


def consequence(
    budget: Budget, outlook: Outlook, now: float, tz: tzinfo | None = None
) -> SafeText | None:
    """What happens to a budget if nothing is done, in one of:

    "gone in ~5 h at ~$12.40/h", "gone ~Tue 24 Nov", "~$1,310 to ~$1,480 of $1,390 by 1 Dec",
    "early: ~$900 to ~$2,100 by 1 Dec", "too little data: 1 d 04 h more"; behind it, where the
    platform has a forecast of its own, ", platform says $1,813". None if nothing is known at all.
    """
    return None
