"""What needs a person now, found once for the Overview, the header and the tabs: one count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from itertools import chain
from typing import TypeVar

from msgspec.structs import replace
from textual.dom import DOMNode

from agentco_tui.actions.decisions import Decisions
from agentco_tui.background import at_once, in_slices, start_worker
from agentco_tui.live import insight, needs
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import Level
from agentco_tui.live.log_findings import LogFindings, read_log
from agentco_tui.live.needs import Because, Need, NeedKind
from agentco_tui.live.outlook import Outlook
from agentco_tui.live.poller import Poller
from agentco_tui.live.snooze import Snoozes
from agentco_tui.model import Activity, Agent, Alert, Budget, Listing, Task
from agentco_tui.screens.cells import Look
from agentco_tui.text import plain
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.tones import Cell, Tone

R = TypeVar("R", Task, Agent, Budget, Alert)

FEEDS = tuple(feed for feed in FeedName if feed not in (FeedName.TASKS, FeedName.ACTIVITY))
"""What needs are found in; only where all of them are live is a need that isn't there over."""
MANY = 5_000  # tasks above which they are looked through in slices
MANY_ENTRIES = 500  # of the log, likewise
FRESH = 60.0  # seconds for which what was read of all tasks tells what stands still
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
        outlook: Outlook,
    ) -> None:
        self._look, self._poller, self._decisions = look, poller, decisions
        self._outlook, self._log = outlook, LogFindings()
        self._log_of: Listing[Activity] | None = None  # after which answer it was looked through
        self.snoozes = snoozes
        self._met = set[str]()  # the keys of those snoozed that were found in this run
        self.shown: list[Need] = []  # the worst first, tasks alike as one; then what is snoozed
        self.snoozed = 0  # how many of them are
        self.listed = 0  # how many of the others these are
        self.levels = Counter[Level]()  # how many there are in all, but for those snoozed
        self.queue = needs.Queue()
        self.money = Counter[Level]()  # how many of them are about budgets
        self.quiet_since: float | None = None  # since when there is none, as far as is known
        self._quiet_in: str | None = None  # of which company
        self.on_found: Callable[[], None] = lambda: None
        self._decided: list[str] = []
        self._looking = self._look_again = False
        self._queue_due = True

    def look(self, node: DOMNode, *, queue_too: bool = True) -> None:
        """Look anew, for as long as `node` is there where that takes several turns; at what waits
        only if `queue_too`, for that is the most of it.
        """
        self._queue_due |= queue_too
        if self._looking:
            self._look_again = True
        elif self._is_much():
            start_worker(node, self._look_in_slices, "finding what needs you")
        else:
            at_once(self._find())
            self.on_found()

    def _is_much(self) -> bool:
        store = self._look.store
        is_read = self._log_of is store.activity.listing
        return (len(store.pending) > MANY and self._queue_due) or (
            not is_read and len(store.activity) > MANY_ENTRIES
        )

    @property
    def awaits_log(self) -> bool:
        """Whether nothing of the log was looked through yet."""
        return self._log_of is None

    def take_decisions(self, node: DOMNode) -> None:
        if self._decided != [decision.task.id for decision in self._decisions.open]:
            self.look(node)

    async def levels_by_key(self) -> dict[str, Level]:
        """Look anew, and tell how bad each need is, of tasks that are alike each by itself."""
        self._queue_due = True
        await in_slices(self._find())
        each = (replace(n, record=r) for n in self.shown for r in n.alike or (n.record,))
        return {need.key: need.level for need in each}

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
        scope = self._poller.query.company
        queue = self.queue
        if self._queue_due:
            self._queue_due = False
            queue = yield from needs.queue(self.of_scope(store.pending), now, limits, MOST_NEEDS)
        if len(store.activity) and self._log_of is not store.activity.listing:
            self._log_of = store.activity.listing
            self._log = yield from read_log(reversed(store.activity))
        age = store.freshness[FeedName.TASKS].age(self._look.clock.monotonic())
        listed = store.tasks if age is not None and age <= FRESH else ()
        standing = yield from needs.stuck(self._log, listed, self._outlook, now)
        decisions = self._decisions.open
        self._decided = [decision.task.id for decision in decisions]
        found = needs.needs(
            tasks=queue.worst,
            budgets=self.of_scope(chain(*store.budgets.values())),
            alerts=self.of_scope(store.alerts),
            agents=self.of_scope(store.agents),
            limits=limits,
            now=now,
            queue=queue,
            outlook=self._outlook,
            repeated=[each for each in self._log.repeated if self.is_ours(each.newest)],
            standing=[
                (at, t) for at, t in standing if self.is_ours(t) and t.id not in self._decided
            ],
        )
        found, snoozed = self._put_off(found, now)
        there = {need.record.id for need in (*found, *snoozed) if need.kind is NeedKind.TASK}
        # Before all else: what was said yes to, and is not known to have been done.
        undecided = [
            Need(Level.WARNING, NeedKind.TASK, decision.task, (Because.DECIDED,))
            for decision in decisions
            if decision.task.id not in there
        ]
        others = [need for need in found if need.kind is not NeedKind.TASK]
        apart, most = set(self._decided), max(0, MOST_NEEDS - len(undecided))
        self.listed = len(undecided) + len(found[:most])
        awake = [*undecided, *needs.grouped(found[:most], apart)]
        self.shown, self.queue = [*awake, *needs.grouped(snoozed, apart)], queue
        self.levels = queue.levels + Counter(need.level for need in (*undecided, *others))
        self.levels -= Counter(need.level for need in snoozed if need.kind is NeedKind.TASK)
        self.snoozed = len(snoozed)
        money = (NeedKind.BUDGET, NeedKind.ALERT)
        self.money = Counter(need.level for need in others if need.kind in money)
        before = self.quiet_since if scope == self._quiet_in else None
        self.quiet_since, self._quiet_in = None if awake else before or now, scope

    def is_ours(self, record: Task | Agent | Budget | Alert | Activity) -> bool:
        """Whether it is of the company in scope."""
        return insight.in_scope(self._look.names.company_of(record), self._poller.query.company)

    def _put_off(self, found: list[Need], now: float) -> tuple[list[Need], list[Need]]:
        """The needs but for those snoozed, and these; a snooze of one that is worse by now, or
        that is over, is one no longer.
        """
        kept = self.snoozes.all
        if not kept:
            return found, []
        store, levels = self._look.store, {need.key: need.level for need in found}
        feeds = (store.freshness[feed].phase for feed in FEEDS)
        is_whole = self._poller.query.company is None and {*feeds} == {Phase.LIVE}
        # Those by the log or by a forecast are found some time after the start.
        self._met |= kept.keys() & levels.keys()
        for key, snooze in kept.items():
            kind, _, record_id = key.partition(":")
            waits = kind == NeedKind.TASK and record_id in store.pending.records
            is_gone = key in self._met and key not in levels and is_whole and not waits
            if is_gone or not snooze.holds(levels.get(key, Level.OK), now):
                self.snoozes.set([key], None)
        kept = self.snoozes.all
        put_off = [replace(need, snooze=kept.get(need.key)) for need in found]
        return [n for n in put_off if not n.snooze], [n for n in put_off if n.snooze]

    def of_scope(self, records: Iterable[R]) -> Iterable[R]:
        return records if self._poller.query.company is None else filter(self.is_ours, records)


def with_snoozed(column: Column[Need], look: Look) -> Column[Need]:
    """The same column with what is snoozed in it dim: that it is in place of why it is there, when
    it returns and what is promised in place of what follows.
    """

    def cell(need: Need) -> Cell:
        shown, snooze = column.cell(need), need.snooze
        if snooze is None:
            return shown
        if column.key == "need":
            return Cell(plain("snoozed"), Tone.DIM)
        if column.key == "consequence":
            return Cell(snooze.told(look.clock.now()), Tone.DIM)
        return Cell(plain(" ") if column.key == "level" else shown.text, Tone.DIM)

    def drawn(need: Need, width: int) -> Cell:
        if column.drawn is None or need.snooze is not None:
            return cell(need)
        return column.drawn(need, width)

    return replace(column, cell=cell, drawn=column.drawn and drawn)
