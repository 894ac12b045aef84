"""What needs a person now, found once for the Overview, the header and the tabs: one count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from itertools import chain
from typing import TypeVar

from textual.dom import DOMNode

from agentco_tui.actions.decisions import Decisions
from agentco_tui.background import at_once, in_slices, start_worker
from agentco_tui.live import insight, needs
from agentco_tui.live.insight import Level
from agentco_tui.live.needs import Need, NeedKind
from agentco_tui.live.poller import Poller
from agentco_tui.model import Agent, Alert, Budget, Task
from agentco_tui.screens.cells import Look

R = TypeVar("R", Task, Agent, Budget, Alert)

MANY = 5_000  # tasks above which they are looked through in slices
MOST_NEEDS = 500  # lines; nobody reads further, and the queue has them all


class FoundNeeds:
    """Of the company in scope. `on_found` is called after each look."""

    def __init__(self, look: Look, poller: Poller, decisions: Decisions) -> None:
        self._look, self._poller, self._decisions = look, poller, decisions
        self.shown: list[Need] = []  # the worst first, tasks that are alike as one
        self.listed = 0  # how many these are
        self.levels = Counter[Level]()  # how many there are in all
        self.queue = needs.Queue()
        self.money = Counter[Level]()  # how many of them are about budgets
        self.on_found: Callable[[], None] = lambda: None
        self._decided: list[str] = []
        self._looking = self._look_again = False

    def look(self, node: DOMNode) -> None:
        """Look anew, for as long as `node` is there where that takes several turns."""
        if self._looking:
            self._look_again = True
        elif len(self._look.store.pending) > MANY:
            start_worker(node, self._look_in_slices, "finding what needs you")
        else:
            at_once(self._find())
            self.on_found()

    def take_decisions(self, node: DOMNode) -> None:
        if self._decided != [decision.task.id for decision in self._decisions.open]:
            self.look(node)

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
        store, limits, now = self._look.store, self._look.limits, self._look.clock.now()
        queue = yield from needs.queue(self.of_scope(store.pending), now, limits, MOST_NEEDS)
        budgets = chain(*store.budgets.values())
        low = [b for b in budgets if insight.budget_level(b, limits) >= Level.WARNING]
        yield
        found = needs.needs(
            tasks=queue.worst,
            budgets=self.of_scope(low),
            alerts=self.of_scope(store.alerts),
            agents=self.of_scope(filter(insight.is_failing, store.agents)),
            limits=limits,
        )
        there = {need.record.id for need in found if need.kind is NeedKind.TASK}
        decisions = self._decisions.open
        self._decided = [decision.task.id for decision in decisions]
        # Before all else: what was said yes to, and is not known to have been done.
        undecided = [
            Need(Level.WARNING, NeedKind.TASK, decision.task, ())
            for decision in decisions
            if decision.task.id not in there
        ]
        others = [need for need in found if need.kind is not NeedKind.TASK]
        apart, most = set(self._decided), max(0, MOST_NEEDS - len(undecided))
        self.listed = len(undecided) + len(found[:most])
        self.shown, self.queue = [*undecided, *needs.grouped(found[:most], apart)], queue
        self.levels = queue.levels + Counter(need.level for need in (*undecided, *others))
        self.money = Counter(need.level for need in others if need.kind is not NeedKind.AGENT)

    def of_scope(self, records: Iterable[R]) -> Iterable[R]:
        company_of, scope = self._look.names.company_of, self._poller.query.company
        if scope is None:
            return records
        return (record for record in records if insight.in_scope(company_of(record), scope))
