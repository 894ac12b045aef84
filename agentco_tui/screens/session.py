"""What every screen is given: the services of the actions, settings, and what was read."""

from __future__ import annotations

from agentco_tui.actions.decisions import Decisions
from agentco_tui.actions.fingerprint import fingerprint
from agentco_tui.actions.journal import Journal
from agentco_tui.actions.services import Permissions, Services, Timing
from agentco_tui.api.client import Client
from agentco_tui.config import Settings
from agentco_tui.live.clock import Clock
from agentco_tui.live.insight import Waiting
from agentco_tui.live.names import Names
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from agentco_tui.model.records import Task
from agentco_tui.screens.low_bandwidth import ThinLine


class Session(Services):
    """One dashboard on one platform."""

    def __init__(
        self,
        settings: Settings,
        client: Client,
        store: Store,
        poller: Poller,
        clock: Clock,
        *,
        journal: Journal,
        permissions: Permissions,
        timing: Timing,
    ) -> None:
        super().__init__(
            client,
            store,
            clock,
            journal,
            origin=str(settings.base_url),
            profile=settings.profile,
            poller=poller,
            permissions=permissions,
            timing=timing,
        )
        self.settings = settings
        self.poller = poller
        self.names = Names(store)
        self.decisions = Decisions(self)
        """What is being approved from this machine, and what became of it."""
        self.thin = ThinLine(asked=settings.thin)
        """Whether less is painted."""
        self.waiting = Waiting(store, self.names, settings.alerts)
        """The queue in figures."""
        self._read: dict[str, str] = {}
        """Tasks that the person has had before them, by id, with the fingerprint of what it was."""

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
