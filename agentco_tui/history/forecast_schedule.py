"""Decides which subjects have a forecast, and when each of them is computed again.

A subject is the owner of a budget: everything, a company or an AI agent of the platform, the remote
service that is watched. Those on the screen come first, and are computed more often, as are those
with an alarm. Of very many agents only the first ones are computed, and those on the screen.

A search for what is due costs what is due: all subjects are looked at only when some have come or
gone. Times are seconds since 1970 by the platform's clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.ordered_collections import DueTimes
from agentco_tui.live.store import Change, Store
from agentco_tui.model import Budget, BudgetScope, Money
from agentco_tui.model.period import HOUR

Subject = tuple[BudgetScope, str]
"""The owner of a budget: its scope and id; the id of the whole is ""."""
WHOLE: Final[Subject] = (BudgetScope.ALL, "")

_EVERY: Final = {BudgetScope.ALL: 600.0, BudgetScope.COMPANY: 600.0, BudgetScope.AGENT: HOUR}
"""Seconds after which a subject is computed again."""
_CLOSE_EVERY: Final = 120.0
"""The same for subjects on the screen or with an alarm."""
_MAX_AGENTS: Final = 2_000
"""Agents that are computed although they are not on the screen."""
_LONG_AGO: Final = -1e12
"""Before every time of a platform: new subjects are due from then on, in the order they came."""
_FEEDS: Final = (
    *(FeedName.BUDGET, FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS),
    FeedName.AGENTS,
)


class _Computed(NamedTuple):
    """What is known of the last computation of a subject."""

    at: float
    limit: Money | None
    has_alarm: bool


class ForecastSchedule:
    """The due times of all subjects in a store."""

    def __init__(self, store: Store, on_dropped: Callable[[Subject], None]) -> None:
        """`on_dropped` is called with each subject that is computed no longer."""
        self._store = store
        self._on_dropped = on_dropped
        self._listed: dict[Subject, None] = {}
        """The subjects that are computed whether they are on the screen or not."""
        self.wanted: frozenset[Subject] = frozenset()
        """The subjects on the screen."""
        self._computed: dict[Subject, _Computed] = {}
        self._due_times = DueTimes[Subject]()
        self._new_count = 0
        """How many subjects were new so far."""
        self._is_outdated = True
        """Whether subjects have come or gone since they were listed."""
        store.subscribe(self._take_change, _FEEDS)

    def want(self, subjects: Iterable[Subject]) -> bool:
        """Take these as the subjects on the screen; True if one of them was never computed."""
        before = self.wanted
        self.wanted = frozenset(subjects)
        for subject in before - self.wanted:
            self._schedule_or_drop(subject)
        has_new = False
        for subject in self.wanted - before:
            self._schedule(subject)
            has_new = has_new or subject not in self._computed
        return has_new

    def take_due(self, now: float, most: int) -> list[Subject]:
        """The most urgent subjects that are due; each must be computed then, or put back."""
        if self._is_outdated:
            self._list_subjects()
        due = [subject for subject in self.wanted if self._is_urgent(subject)]
        due.sort(key=self._is_computed)  # those of which nothing is shown come first
        others = self._due_times.pop_due(now)
        due += (subject for subject in islice(others, most) if subject not in due)
        self.put_back(due[most:])
        return due[:most]

    def put_back(self, subjects: Sequence[Subject]) -> None:
        """Let subjects be due again that were taken, and not computed."""
        for subject in subjects:
            self._schedule(subject)

    def note_computed(
        self, subject: Subject, at: float, limit: Money | None, *, has_alarm: bool
    ) -> None:
        """Note that a subject was computed at a time, for this limit."""
        self._computed[subject] = _Computed(at, limit, has_alarm)
        self._schedule_or_drop(subject)

    def budget_of(self, subject: Subject) -> Budget | None:
        """The budget of a subject as it is now; None if it has none."""
        scope, owner_id = subject
        if scope is BudgetScope.ALL:
            return next(iter(self._store.budget), None)
        return self._store.budgets[scope].get(owner_id)

    def _take_change(self, change: Change) -> None:
        if change.added or change.removed:
            self._is_outdated = True

    def _list_subjects(self) -> None:
        """List the subjects that the store has now; new ones are due at once."""
        self._is_outdated = False
        before = self._listed
        listed = {WHOLE: None}
        for scope in (BudgetScope.COMPANY, BudgetScope.AGENT):
            for owner_id in islice(self._store.budgets[scope].records, _MAX_AGENTS):
                listed[scope, owner_id] = None
        for agent_id in islice(self._store.agents.records, _MAX_AGENTS):
            listed[BudgetScope.AGENT, agent_id] = None
        self._listed = listed
        for subject in listed:
            if subject not in before:
                self._schedule(subject)
        for subject in (before.keys() | self._computed.keys()) - listed.keys():
            self._schedule_or_drop(subject)

    def _schedule_or_drop(self, subject: Subject) -> None:
        """Plan the next computation of a subject, or forget it if it is needed no longer."""
        if subject in self.wanted or subject in self._listed or self._is_outdated:
            self._schedule(subject)
            return
        self._due_times.schedule(subject, math.inf)
        if self._computed.pop(subject, None) is not None:
            self._on_dropped(subject)

    def _schedule(self, subject: Subject) -> None:
        computed = self._computed.get(subject)
        if computed is None:
            self._new_count += 1
            self._due_times.schedule(subject, _LONG_AGO + self._new_count)
            return
        is_close = subject in self.wanted or computed.has_alarm
        every = _CLOSE_EVERY if is_close else _EVERY[subject[0]]
        self._due_times.schedule(subject, computed.at + every)

    def _is_computed(self, subject: Subject) -> bool:
        return subject in self._computed

    def _is_urgent(self, subject: Subject) -> bool:
        """Whether a subject on the screen was never computed, or only for another limit."""
        computed = self._computed.get(subject)
        if computed is None:
            return True
        budget = self.budget_of(subject)
        return budget is not None and budget.limit != computed.limit
