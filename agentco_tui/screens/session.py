"""What every screen is given: settings, picture, client and clock."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentco_tui.actions.journal import Journal
from agentco_tui.actions.outcome import Outcome
from agentco_tui.api.client import Client
from agentco_tui.config import Settings
from agentco_tui.live.clock import Clock
from agentco_tui.live.names import Names
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from agentco_tui.live.waiting import Waiting
from agentco_tui.screens.hands import Hands
from agentco_tui.screens.thin_line import ThinLine


@dataclass(frozen=True, slots=True)
class Session:
    """One dashboard on one platform."""

    settings: Settings
    client: Client
    store: Store
    poller: Poller
    clock: Clock
    names: Names
    hands: Hands
    journal: Journal
    """Opened here; whoever made the session closes it."""
    read: set[str] = field(default_factory=set)
    """Ids of tasks whose details the person has had before them."""
    in_flight: set[str] = field(default_factory=set)
    """Ids of tasks that are being approved from here."""
    fates: dict[str, Outcome] = field(default_factory=dict)
    """What became of the tasks that were decided here, by id."""

    thin: ThinLine = field(init=False)
    """Whether less is painted."""
    waiting: Waiting = field(init=False)
    """The queue in figures."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "thin", ThinLine(asked=self.settings.thin))
        object.__setattr__(self, "waiting", Waiting(self.store, self.names))

    @property
    def company(self) -> str | None:
        """The id of the company in scope; None for all."""
        return self.poller.query.company

    @property
    def now(self) -> float:
        """Seconds since 1970, as the platform says."""
        return self.clock.now()
