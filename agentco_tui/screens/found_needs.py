"""What needs a person now, found once for the Overview, the header and the tabs: one count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

from textual.dom import DOMNode

from agentco_tui.actions.decisions import Decisions
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.history.snooze import Snoozes
from agentco_tui.live import needs
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import Level, waiting_since
from agentco_tui.live.needs import Because, Need, NeedKind
from agentco_tui.live.poller import Poller
from agentco_tui.model import Agent, Alert, Budget, Task
from agentco_tui.screens.cells import Look
from agentco_tui.system.background import at_once, in_slices
from agentco_tui.widgets.workers import start_worker

R = TypeVar("R", Task, Agent, Budget, Alert)

FEEDS = tuple(feed for feed in FeedName if feed not in (FeedName.TASKS, FeedName.ACTIVITY))
"""What needs are found in; only where all of them are live is a need that isn't there over."""
MANY = 500  # tasks and new entries of the log, above which they are looked through in slices
MOST_NEEDS = 500  # lines; nobody reads further, and the queue has them all


class FoundNeeds:
    """Of the company in scope. `on_found` is called after each look."""

    def __init__(
        self,
        look: Look,
        poller: Poller,
        decisions: Decisions,
        *,
        snoozes: Snoozes,
        outlook: ForecastService,
    ) -> None:
        self._look, self._poller, self._decisions = look, poller, decisions
        self._outlook, self.snoozes = outlook, snoozes
        self._met = set[str]()  # the keys of those snoozed that were found in this run
        self.awake: list[Need] = []  # each by itself, but for those snoozed; the worst first
        self.shown: list[Need] = []  # the worst first, tasks alike as one; then what is snoozed
        self.snoozed = 0  # how many of them are
        self.next_snooze_end: float | None = None
        """When the first of all snoozes ends, by the platform's clock; None if none does."""
        self.listed = 0  # how many of the others these are
        self.levels = Counter[Level]()  # how many there are in all, but for those snoozed
        self.queue = needs.Queue()
        self.money = Counter[Level]()  # how many of them are about budgets
        self.quiet_since: float | None = None  # since when there is none, as far as is known
        self._quiet_in: str | None = None  # of which company
        self.on_found: Callable[[], object] = lambda: None
        self._decided: list[str] = []
        self._looking = self._look_again = False

    def look(self, node: DOMNode) -> None:
        """Look anew, for as long as `node` is there where that takes several turns."""
        store, activity = self._look.store, self._look.store.activity
        entries = 0 if self._outlook.log_of is activity.listing else len(activity)
        if self._looking:
            self._look_again = True
        elif len(store.pending) + entries > MANY:
            start_worker(node, self._look_in_slices, "finding what needs you")
        else:
            at_once(self._find())
            self.on_found()

    def take_decisions(self, node: DOMNode) -> None:
        if self._decided != [decision.task.id for decision in self._decisions.open]:
            self.look(node)

    async def levels_by_key(self) -> dict[str, Level]:
        """Look anew, and tell how bad each need is, of tasks that are alike each by itself."""
        await in_slices(self._find())
        return {key: need.level for need in self.shown for key in need.keys}

    async def _look_in_slices(self) -> None:
        self._looking = self._look_again = True
        try:
            while self._look_again:
                self._look_again = False
                await in_slices(self._find())
                self.on_found()
        finally:
            self._looking = False

    def _find(self) -> Generator[None, None, None]:
        now, scope = self._look.clock.now(), self._poller.query.company
        work = needs.find(self._outlook, scope, self.snoozes.all, now, MOST_NEEDS)
        queue, every = yield from work
        yield
        self._forget_snoozes(every, now)
        snoozed = [need for need in every if need.snooze]
        self.awake = found = [need for need in every if not need.snooze]
        there = {need.record.id for need in (*found, *snoozed) if isinstance(need.record, Task)}
        decisions = self._decisions.open
        self._decided = [decision.task.id for decision in decisions]
        # Before all else: what was said yes to, and is not known to have been done.
        undecided = [
            Need(Level.WARNING, NeedKind.TASK, task, Because.DECIDED, since=waiting_since(task))
            for task in (decision.task for decision in decisions)
            if task.id not in there
        ]
        others = [need for need in found if need.kind is not NeedKind.TASK]
        apart = set(self._decided)
        # What a decision is open about is shown however many needs come before it.
        decided_late = [need for need in found[MOST_NEEDS:] if need.record.id in apart]
        listed = [*found[:MOST_NEEDS], *decided_late]
        self.listed = len(undecided) + len(listed)
        awake = [*undecided, *needs.grouped(listed, apart)]
        yield
        self.shown, self.queue = [*awake, *needs.grouped(snoozed, apart)], queue
        self.levels = needs.count_levels(queue, every)
        self.levels.update(need.level for need in undecided)
        self.snoozed = len(snoozed)
        money = (NeedKind.BUDGET, NeedKind.ALERT)
        self.money = Counter(need.level for need in others if need.kind in money)
        before = self.quiet_since if scope == self._quiet_in else None
        self.quiet_since, self._quiet_in = None if awake else before or now, scope

    def _forget_snoozes(self, found: list[Need], now: float) -> None:
        """A snooze of a need that is worse by now, or that is over, is one no longer."""
        kept = self.snoozes.all
        store, levels = self._look.store, {need.key: need.level for need in found}
        feeds = (store.freshness[feed].phase for feed in FEEDS)
        is_whole = self._poller.query.company is None and {*feeds} == {Phase.LIVE}
        # Those by the log or by a forecast are found some time after the start.
        self._met |= kept.keys() & levels.keys()
        for key, snooze in kept.items():
            waits = key.removeprefix(f"{NeedKind.TASK}:") in store.pending.records
            is_gone = key in self._met and key not in levels and is_whole and not waits
            if is_gone or not snooze.holds(levels.get(key, Level.OK), now):
                self.snoozes.set([key], None)
        ends = [each.until for each in self.snoozes.all.values() if each.until is not None]
        self.next_snooze_end = min(ends, default=None)

    def of_scope(self, records: Iterable[R]) -> Iterable[R]:
        return filter(needs.of_company(self._look.store, self._poller.query.company), records)
