"""What every screen is given: settings, picture, client and clock."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentco_tui.actions.decisions import Decisions
from agentco_tui.actions.fingerprint import fingerprint
from agentco_tui.actions.journal import Journal
from agentco_tui.api.client import Client
from agentco_tui.config import Settings
from agentco_tui.live.clock import Clock
from agentco_tui.live.insight import Waiting
from agentco_tui.live.names import Names
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from agentco_tui.model.records import Task
from agentco_tui.screens.hands import Hands
from agentco_tui.screens.low_bandwidth import ThinLine


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
    decisions: Decisions = field(init=False)
    """What is being approved from this machine, and what became of it."""
    _read: dict[str, str] = field(default_factory=dict)
    """Tasks that the person has had before them, by id, with the fingerprint of what it was."""

    thin: ThinLine = field(init=False)
    """Whether less is painted."""
    waiting: Waiting = field(init=False)
    """The queue in figures."""

    def __post_init__(self) -> None:
        decisions = Decisions(self.hands.desk, lambda: self.hands.approver)
        object.__setattr__(self, "decisions", decisions)
        object.__setattr__(self, "thin", ThinLine(asked=self.settings.thin))
        object.__setattr__(self, "waiting", Waiting(self.store, self.names, self.settings.alerts))

    def has_read(self, task: Task) -> bool:
        """Whether the person has had the task before them, with just these contents."""
        return self._read.get(task.id) == fingerprint(task)

    def has_read_otherwise(self, task: Task) -> bool:
        """Whether the person has had the task before them when its contents were others."""
        return task.id in self._read and not self.has_read(task)

    def count_as_read(self, task: Task) -> None:
        """The task stood open before the person for long enough to be read."""
        self._read[task.id] = fingerprint(task)

    @property
    def company(self) -> str | None:
        """The id of the company in scope; None for all."""
        return self.poller.query.company

    @property
    def now(self) -> float:
        """Seconds since 1970, as the platform says."""
        return self.clock.now()
