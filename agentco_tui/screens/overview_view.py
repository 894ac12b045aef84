"""What needs a person, in five seconds; beneath it the money and what happened last."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from agentco_tui import format as fmt
from agentco_tui.background import in_slices, start_worker
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import (
    Level,
    Need,
    NeedKind,
    budget_level,
    in_scope,
    is_failing,
    needs,
    picked,
    worst_tasks,
)
from agentco_tui.live.store import Change
from agentco_tui.model import (
    Activity,
    Agent,
    AgentState,
    Alert,
    Budget,
    BudgetScope,
    Listing,
    Record,
    Task,
)
from agentco_tui.screens.base_view import ListTable, View
from agentco_tui.screens.columns.cells import (
    TONES,
    Look,
    level_sign,
    severity_level,
    share_text,
    spent_text,
)
from agentco_tui.screens.columns.needs import need_columns
from agentco_tui.screens.decision_notes import fate_of, said_of
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, cell_width, fit, plain, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import Cells, Item, Text, TextPane
from agentco_tui.widgets.tones import Cell, Tone, bar

R = TypeVar("R", Task, Agent, Budget, Alert)

SHOWN_FEEDS = (
    FeedName.PENDING,
    FeedName.ALERTS,
    FeedName.BUDGET,
    FeedName.COMPANY_BUDGETS,
    FeedName.ACTIVITY,
)
FIRST_TOLD = (Phase.LOADING, Phase.STALE, Phase.FAILED, Phase.LIVE)
"""Of the two feeds that needs mostly come from, the one in the first of these is told of."""
MOST_NEEDS = 500
"""Lines; nobody reads further, and the queue has them all."""
SECONDS_BETWEEN_LOOKS = 10
"""A task becomes urgent by waiting alone, so the order is worked out anew without any change."""
MANY = 5_000
"""Tasks above which they are looked through in slices."""


class OverviewView(View[Need]):
    """The first screen."""

    place = "overview"
    heading = "NEEDS YOU"
    task_rows = f"{NeedKind.TASK}:"

    BINDINGS = bindings_of("overview")

    DEFAULT_CSS = """
    OverviewView {
        & .overview--needs { height: 1fr; min-height: 5; }
        & > Horizontal { height: 38%; min-height: 6; max-height: 16; }
        & .overview--panel { width: 1fr; height: 1fr; }
        & .overview--title { background: $panel; }
        & TextPane { height: 1fr; padding: 0 1; }
        & .overview--spend { margin-right: 1; }
    }
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.table.add_class("overview--needs")
        self.spend_title = StatusLine(classes="overview--title")
        self.spend = TextPane()
        self.spend.can_focus = False
        self.latest_title = StatusLine(classes="overview--title")
        self.latest = TextPane()
        self.latest.can_focus = False
        self._levels = (0, 0)
        self._spend_drawn: tuple[object, ...] = ()
        self._phases: tuple[Phase, ...] = ()
        self._looking = False
        self._look_again = False
        self._behind = False
        self._loaded: dict[str, Need] = {}
        """What is shown by key, the worst first."""
        self._ticks = 0
        self._decisions_open: tuple[str, ...] = ()

    def make_table(self) -> ListTable[Need]:
        return ListTable(
            need_columns(self.look), empty_text=plain(f"{signs.good} nothing needs you")
        )

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self.notice
        yield self.table
        with Horizontal():
            with Vertical(classes="overview--panel overview--spend"):
                yield self.spend_title
                yield self.spend
            with Vertical(classes="overview--panel"):
                yield self.latest_title
                yield self.latest

    def on_mount(self) -> None:
        self.reload()

    def on_resize(self) -> None:
        """Bars and lines for the new width."""
        self.call_after_refresh(self._show_panels)

    def feeds(self) -> Iterable[FeedName]:
        return SHOWN_FEEDS

    # ---- the store

    def take(self, change: Change) -> None:
        """Anything may change what needs a person."""
        if not self.display:
            self._behind = True
            return
        if change.feed is not FeedName.ACTIVITY:
            self._find_needs()
        self.take_freshness()
        self._show_panels()

    def arrive(self) -> None:
        """Shown again: what happened meanwhile is taken in once there is room to show it."""
        super().arrive()
        if self._behind:
            self._behind = False
            self.call_after_refresh(self.reload_calmly)

    def reload(self) -> None:
        super().reload()
        self._find_needs()
        self.take_freshness()
        self._show_panels()

    def tick(self) -> None:
        self._ticks += 1
        if self._ticks % SECONDS_BETWEEN_LOOKS == 0:
            self._find_needs()
        super().tick()
        self._show_panels()

    def take_freshness(self) -> None:
        super().take_freshness()
        freshness = self.session.store.freshness
        phases = tuple(freshness[feed].phase for feed in SHOWN_FEEDS)
        if phases != self._phases:
            self._phases = phases
            self._show_panels()
        self.show_phase(min(phases[:2], key=FIRST_TOLD.index))

    def _find_needs(self) -> None:
        session = self.session
        if self._looking:
            self._look_again = True
        elif len(session.store.pending) > MANY:
            start_worker(self, self._look_in_slices, "finding what needs you")
        else:
            tasks = self._in_scope(session.store.pending)
            found = self._needs_with(tasks, self._budgets(), session.store.agents)
            critical = sum(need.level >= Level.CRITICAL for need in found)
            self._show_needs(found, (critical, len(found) - critical))

    async def _look_in_slices(self) -> None:
        """Among very many tasks, find those that come first; other things get their turn."""
        session, limits = self.session, self.session.settings.alerts

        def worth_telling(budget: Budget) -> bool:
            return budget_level(budget, limits) >= Level.WARNING

        self._looking = self._look_again = True
        try:
            while self._look_again and self.display:
                self._look_again = False
                tasks = self._in_scope(session.store.pending)
                steps = worst_tasks(tasks, session.now, limits, MOST_NEEDS)
                first, counted = await in_slices(steps)
                found = self._needs_with(
                    first,
                    await in_slices(picked(self._budgets(), worth_telling)),
                    await in_slices(picked(session.store.agents, is_failing)),
                )
                others = [need.level for need in found if need.kind is not NeedKind.TASK]
                severe = sum(level >= Level.CRITICAL for level in others)
                critical = counted[Level.CRITICAL] + severe
                warning = counted[Level.WARNING] + len(others) - severe
                self._show_needs(found, (critical, warning))
                self.show_title()
        finally:
            self._looking = False

    def _in_scope(self, records: Iterable[R]) -> Iterable[R]:
        """The records of the company in scope."""
        company_of, scope = self.session.names.company_of, self.session.company
        if scope is None:
            return records
        return (record for record in records if in_scope(company_of(record), scope))

    def _needs_with(
        self, tasks: Iterable[Task], budgets: Iterable[Budget], agents: Iterable[Agent]
    ) -> list[Need]:
        session = self.session
        found = needs(
            pending=tasks,
            budgets=list(self._in_scope(budgets)),
            alerts=list(self._in_scope(session.store.alerts)),
            agents=list(self._in_scope(agents)),
            now=session.now,
            limits=session.settings.alerts,
        )
        there = {need.record.id for need in found if need.kind is NeedKind.TASK}
        undecided = [
            Need(Level.WARNING, NeedKind.TASK, decision.task, ())
            for decision in session.decisions.open
            if decision.task.id not in there
        ]
        # Before all else: what was said yes to, and is not known to have been done.
        return [*undecided, *found]

    def take_decisions(self) -> None:
        """Decisions that are open are needs, whatever else their tasks are."""
        now = tuple(decision.task.id for decision in self.session.decisions.open)
        if self.display and self._decisions_open != now:
            self._decisions_open = now
            self._find_needs()
            self.show_title()
        super().take_decisions()

    def _show_needs(self, found: list[Need], levels: tuple[int, int]) -> None:
        self._levels, table = levels, self.table
        shown, before = {need.key: need for need in found[:MOST_NEEDS]}, self._loaded
        changed = [(key, need) for key, need in shown.items() if before.get(key, need) != need]
        if table.rows.held:
            # New needs wait, those that are over leave a ghost.
            gone = [key for key in before if key not in shown]
            for key in gone:
                table.ghost(key, self._fate(before[key]))
            new = [(key, need) for key, need in shown.items() if key not in before]
            table.apply(new, changed, gone)
            self._reload_due = True
        elif list(shown) == list(before):
            if changed:
                table.apply((), changed, ())
        else:
            table.load(shown.items())
            self._reload_due = False
            if self._is_arriving():
                table.action_first()
        self._loaded = shown
        table.renew()

    def _is_arriving(self) -> bool:
        """Whether the first picture is still being put together, and nobody's hand is on it: then
        the cursor stands on the worst, whichever answer came first.
        """
        freshness = self.session.store.freshness
        feeds = (*SHOWN_FEEDS, FeedName.AGENT_BUDGETS, FeedName.AGENTS)
        loading = any(freshness[feed].phase is Phase.LOADING for feed in feeds)
        return self._touched_at == 0.0 and loading

    def _fate(self, need: Need) -> Cell:
        if isinstance(need.record, Task):
            return fate_of(self.session, need.record.id)
        return Cell(plain("settled"), Tone.DIM)

    def _budgets(self) -> Iterable[Budget]:
        store = self.session.store
        for collection in (store.budget, store.company_budgets, store.agent_budgets):
            yield from collection

    # ---- the lines

    def title_cells(self) -> list[Cell]:
        """How many need a person, and the queue in figures."""
        store = self.session.store
        critical, warning = self._levels
        queue = self.session.waiting.of(self.session.company)
        cells = [Cell(plain(f" {self.heading} "), Tone.STRONG)]
        if critical:
            cells.append(Cell(plain(f"{signs.critical} {fmt.count(critical)} "), Tone.CRITICAL))
        if warning:
            cells.append(Cell(plain(f"{signs.warning} {fmt.count(warning)} "), Tone.WARNING))
        if store.freshness[FeedName.PENDING].answered_at is not None:
            oldest = f", the oldest {self.look.age(queue.oldest)}" if queue.oldest else ""
            more = "at least " if store.pending.listing.capped or store.pending.listing.more else ""
            waits = f" {more}{fmt.count(queue.count)} tasks wait{oldest}"
            cells.append(Cell(plain(waits)))
        told: Listing[Task] = Listing(records=(), unread=store.pending.listing.unread)
        return [*cells, *self.told_cells(told, queue.count), *self.filter_cells()]

    def title_right(self) -> list[Cell]:
        """How the agents are."""
        agents = self.session.store.agents
        if not len(agents):
            return super().title_right()
        states = self.session.waiting.agent_states()
        words = [f"{fmt.count(len(agents))} agents"]
        words += [
            f"{fmt.count(states[state])} {state}"
            for state in (AgentState.PAUSED, AgentState.STOPPED, AgentState.ERROR)
            if states[state]
        ]
        return [*super().title_right(), Cell(plain(", ".join(words) + " "), Tone.DIM)]

    def _show_panels(self) -> None:
        self._show_spend()
        self._show_latest()

    def _show_spend(self) -> None:
        width = self.spend.scrollable_content_region.width
        drawn_from = spend_depends_on(self.session, width)
        if drawn_from == self._spend_drawn:
            return
        self._spend_drawn = drawn_from
        items, period = spend_items(self.session, width)
        self.spend_title.show([Cell(plain(" SPEND "), Tone.STRONG), Cell(period or plain(""))])
        self.spend.show(items)

    def _show_latest(self) -> None:
        self.latest_title.show([Cell(plain(" LATEST"), Tone.STRONG)])
        self.latest.show(latest_items(self.session, self.look, max(1, self.latest.size.height)))

    # ---- what can be done

    def subject(self) -> Record | None:
        """What the need under the cursor is about."""
        need = None if (row_id := self.table.cursor_id) is None else self.table.rows.record(row_id)
        return None if need is None else need.record

    @on(RecordTable.Opened)
    def _opened(self, _: RecordTable.Opened) -> None:
        match self.subject():
            case Task() as task if self.session.store.pending.get(task.id) is None:
                decision = self.session.decisions.of(task.id)
                if decision is not None:
                    self.main.say(f"{task.title}: {said_of(self.session, decision)}")
                    self.session.decisions.look_at(task.id)
            case Task() as task:
                self.main.show_record("tasks", task.id)
            case Budget() as budget:
                self.main.show_record("budget", f"{budget.scope}:{budget.id}")
            case Alert(agent=agent, company=company):
                ref = agent or company
                scope = "agent" if agent else "company"
                self.main.show_record("budget", f"{scope}:{ref.id}" if ref else "all:all")
            case Agent() as agent_record:
                self.main.show_record("agents", agent_record.id)

    def action_raw(self) -> None:
        """The Overview has no detail; the screen that enter opens has."""
        self.main.say("enter opens the line; x shows its hidden characters there")


MINUTE = 60.0
GAUGE = 14
LEAST_GAUGE = 3
BESIDE_GAUGE = 12
"""Columns of a spend line for blanks, per cent and sign, which must stay whole."""
NARROW_SPEND = 50
"""Columns below which the spend panel leaves the sum out: the bar and per cent tell it."""


def spend_depends_on(session: Session, width: int) -> tuple[object, ...]:
    """What decides how the panel of the money looks; equal as long as nothing of it changes.

    It holds a line for every company, and is looked at every second.
    """
    store = session.store
    phase = store.freshness[FeedName.BUDGET].phase
    feeds = (
        *(store.budget, store.company_budgets, store.agent_budgets),
        *(store.companies, store.agents),
    )
    versions = tuple(feed.version for feed in feeds)
    return (*versions, session.company, width, session.thin.on, phase)


def spend_items(session: Session, width: int) -> tuple[list[Item], SafeText | None]:
    """The budgets of the scope for a panel of so many columns, and the period they are for."""
    store, scope = session.store, session.company
    companies = [b for b in store.company_budgets if scope is None or b.id == scope]
    companies.sort(key=lambda budget: -(budget.share or -1))
    whole = store.whole_budget if scope is None else None
    if scope is not None and not companies:
        company_of = session.names.company_of
        companies = [b for b in store.agent_budgets if in_scope(company_of(b), scope)]
    shown = companies if whole is None else [whole, *companies]
    sums = [
        spent_text(budget, short=True)
        if width >= NARROW_SPEND or budget.unlimited
        else plain(f"of {fmt.money(budget.limit, short=True)}")
        for budget in shown
    ]
    beside = BESIDE_GAUGE + max(map(cell_width, sums), default=0)
    items: list[Item] = [
        _spend_item(session, budget, of, (width, beside))
        for budget, of in zip(shown, sums, strict=True)
    ]
    if not items:
        items = [_instead(session, FeedName.BUDGET, "no budgets")]
    return items, next((b.period for b in (whole, *companies) if b is not None and b.period), None)


def _spend_item(session: Session, budget: Budget, of: SafeText, columns: tuple[int, int]) -> Cells:
    """`columns`: those of the panel, and of these what all lines keep beside name and gauge."""
    width, beside = columns
    level = budget_level(budget, session.settings.alerts)
    name = plain("all") if budget.scope is BudgetScope.ALL else session.names.budget(budget)
    room = width - beside
    name_width = max(1, min(18, max(15, width // 5), room - LEAST_GAUGE))
    cells: list[Cell] = []
    if budget.share is not None and not budget.unlimited:
        gauge = max(LEAST_GAUGE, min(GAUGE, room - name_width))
        cells.append(Cell(bar(budget.share, gauge, track=not session.thin.on), TONES[level]))
        cells.append(Cell(fit(share_text(budget), 6, "right"), TONES[level]))
    cells.append(Cell(plain(f" {level_sign(level)} "), TONES[level]))
    cells[:0] = [Cell(fit(name, name_width), Tone.PLAIN), Cell(plain(" "))]
    return Cells(tuple(cells), (Cell(of, Tone.DIM),))


def latest_items(session: Session, look: Look, room: int) -> list[Item]:
    """The newest entries of the log, so many as there is room for."""
    newest: Iterable[Activity] = islice(reversed(session.store.activity), room)
    items: list[Item] = []
    for entry in newest:
        at = entry.at.at if entry.at else None
        tone = TONES[severity_level(entry.severity)]
        # The age of the newest only by its bound: a dozen of them counting seconds would cost more
        # on the line than all else on this screen.
        new = at is not None and look.clock.now() - at < MINUTE
        age = fit(plain("<1 m") if new else look.age(at), 5, "right")
        who = session.names.agent(entry.agent or entry.actor)
        sign = Cell(plain(f" {level_sign(severity_level(entry.severity))} "), tone)
        named = Cell(plain(f"{who} "), Tone.ACCENT)
        items.append(Cells((Cell(age, Tone.DIM), sign, named, Cell(entry.text, tone))))
    return items or [_instead(session, FeedName.ACTIVITY, "nothing happened yet")]


def _instead(session: Session, feed: FeedName, none: str) -> Item:
    """What stands in a panel without lines: nothing there is not the same as nothing read."""
    words = {Phase.LOADING: "loading…", Phase.FAILED: "nothing could be read yet"}
    return Text(plain(words.get(session.store.freshness[feed].phase, none)), Tone.DIM)
