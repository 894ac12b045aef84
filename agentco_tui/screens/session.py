"""What every screen is given: the services of the actions, settings, and what was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agentco_tui.actions.decisions import Decisions
from agentco_tui.actions.journal import Journal
from agentco_tui.actions.services import Permissions, Services, Timing
from agentco_tui.api.client import Client
from agentco_tui.config import Settings
from agentco_tui.live.clock import Clock
from agentco_tui.live.insight import Waiting
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Names, Store
from agentco_tui.model import Task
from agentco_tui.screens.cells import Look

SECONDS_BETWEEN_AGES: Final = 10
"""Between two times that ages are told anew, on a thin line."""


class ThinLine:
    """Whether less is painted now, and who wants to know when that changes."""

    def __init__(self, *, asked: bool) -> None:
        self.asked = asked
        """True if a person wants it, so that it stays."""
        self._slow = False
        self._listeners: list[Callable[[], None]] = []
        self._seconds = 0

    @property
    def on(self) -> bool:
        return self.asked or self._slow

    def subscribe(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def set_slow(self, slow: bool) -> bool:
        """Say whether the terminal keeps up; True if that changes what is painted."""
        before, self._slow = self.on, slow
        if self.on is before:
            return False
        for listener in self._listeners:
            listener()
        return True

    def tells_ages(self) -> bool:
        """Called once a second: whether ages are told anew in this one."""
        self._seconds += 1
        return not self.on or self._seconds % SECONDS_BETWEEN_AGES == 0


class Session(Services):
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
            poller,
            journal,
            origin=str(settings.base_url),
            profile=settings.profile,
            permissions=permissions,
            timing=timing,
        )
        self.settings = settings
        self.names = Names(store)
        self.decisions = Decisions(self)
        """What is being approved from this machine, and what became of it."""
        self.look = Look(store, self.names, clock, settings.alerts)
        """What cells need besides their record."""
        self.thin = ThinLine(asked=settings.thin)
        """Whether less is painted."""
        self.waiting = Waiting(store, self.names, settings.alerts)
        """The queue in figures."""
        self._read: dict[str, bytes] = {}
        """Tasks that the person has had before them, by id, with the digest of what it was."""

    def has_read(self, task: Task) -> bool:
        """Whether the person has had the task before them, with just these contents."""
        return self._read.get(task.id) == task.content

    def has_read_otherwise(self, task: Task) -> bool:
        """Whether the person has had the task before them when its contents were others."""
        return task.id in self._read and not self.has_read(task)

    def count_as_read(self, task: Task) -> None:
        """The task stood open before the person for long enough to be read."""
        self._read[task.id] = task.content

    @property
    def company(self) -> str | None:
        """The id of the company in scope; None for all."""
        return self.poller.query.company

    def is_in_scope(self, task: Task) -> bool:
        """Whether the list of the scope must have a task if it waits: not if its company isn't
        known.
        """
        company = self.names.company_of(task)
        return self.company is None or (company is not None and company.id == self.company)

    @property
    def now(self) -> float:
        """Seconds since 1970, as the platform says."""
        return self.clock.now()
