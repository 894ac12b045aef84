"""What every screen is given: the services of the actions, settings, and what was read."""

from __future__ import annotations

from typing import Any

from agentco_tui.actions.decisions import Decisions
from agentco_tui.actions.journal import Journal
from agentco_tui.actions.services import Services
from agentco_tui.api.client import Client
from agentco_tui.config import Settings
from agentco_tui.live.insight import Waiting
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Names
from agentco_tui.model import Task
from agentco_tui.screens.cells import Look


class Session(Services):
    def __init__(
        self, settings: Settings, client: Client, poller: Poller, journal: Journal, **options: Any
    ) -> None:
        origin, profile = str(settings.base_url), settings.profile
        super().__init__(client, poller, journal, origin=origin, profile=profile, **options)
        self.settings = settings
        self.names = Names(self.store)
        self.decisions = Decisions(self)
        self.look = Look(self.store, self.names, self.clock, settings.alerts)
        self.thin = settings.thin  # whether less is painted; also while the terminal is slow
        self.waiting = Waiting(self.store, self.names, settings.alerts)
        self.read: dict[str, bytes] = {}  # tasks that stood open long enough, with their digests

    def is_in_scope(self, task: Task) -> bool:
        """Whether the scope's list must have a task that waits: not if its company isn't known."""
        company, scope = self.names.company_of(task), self.poller.query.company
        return scope is None or (company is not None and company.id == scope)
