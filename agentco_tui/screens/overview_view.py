"""What needs a person, in five seconds; beneath it the money and what happened last."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TypeVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from agentco_tui import format as fmt
from agentco_tui.background import at_once, in_slices, start_worker
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
    waiting_since,
    worst_tasks,
)
from agentco_tui.live.store import Change
from agentco_tui.model import (
    Agent,
    AgentState,
    Alert,
    Budget,
    BudgetScope,
    Listing,
    Record,
    Ref,
    Task,
)
from agentco_tui.screens.cells import (
    TONES,
    Look,
    age_column,
    level_column,
    share_text,
    spent_text,
    text_column,
    title_cell,
)
from agentco_tui.screens.decision_notes import fate_of, said_of
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import told_cells
from agentco_tui.screens.overview_panels import latest_items, spend_items
from agentco_tui.screens.session import Session
from agentco_tui.screens.task_list_view import TaskListView
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.text_pane import TextPane
from agentco_tui.widgets.tones import Cell, Tone


def need_since(record: Record) -> float | None:
    if isinstance(record, Task):
        return waiting_since(record)
    return record.at.at if isinstance(record, Alert) and record.at is not None else None


def need_words(need: Need) -> SafeText:
    match need.record:
        case Task():
            return plain("approve")
        case Budget(share=share):
            spent = share is not None and share >= 1
            return plain("budget spent" if spent else "budget low")
        case Alert():
            return plain("alert")
        case Agent():
            return plain("agent failed")


def subject(record: Record, look: Look) -> SafeText:
    match record:
        case Task():
            return title_cell(record).text
        case Budget():
            return look.names.budget(record)
        case Alert():
            return record.text
        case Agent():
            return record.pause_reason or record.status or plain("error")
    return signs.missing


def agent(record: Record, look: Look) -> SafeText:
    match record:
        case Task(agent=ref) | Alert(agent=ref):
            return look.names.agent(ref)
        case Agent():
            return record.name or look.names.agent(Ref(id=record.id))
        case Budget(scope=BudgetScope.AGENT):
            return look.names.budget(record)
    return signs.missing


def figure(record: Record, look: Look) -> SafeText:
    """The figure that matters: priority and trust, or spent of limit."""
    match record:
        case Task():
            trust = look.trust_of(record)
            words = (record.priority, None if trust is None else f"trust {fmt.number(trust)}")
            told = f" {signs.separator} ".join(word for word in words if word)
            return plain(told) if told else signs.missing
        case Budget():
            if record.unlimited:
                return spent_text(record)
            return plain(f"{share_text(record)} of {fmt.money(record.limit)}")
        case Alert(spent=spent, limit=limit):
            if spent is not None and limit is not None:
                return plain(f"{fmt.money(spent)} of {fmt.money(limit)}")
            return fmt.percent(record.share)
        case Agent():
            return record.model or signs.missing
    return signs.missing


R = TypeVar("R", Task, Agent, Budget, Alert)

FIRST_TOLD = (Phase.LOADING, Phase.STALE, Phase.FAILED, Phase.LIVE)
"""Of the two feeds that needs mostly come from, the one in the first of these is told of."""
MOST_NEEDS = 500
"""Lines; nobody reads further, and the queue has them all."""
SECONDS_BETWEEN_LOOKS = 10
"""A task becomes urgent by waiting alone, so the order is worked out anew without any change."""
MANY = 5_000
"""Tasks above which they are looked through in slices."""

Found = tuple[list[Need], tuple[int, int]]
"""What needs a person, the worst first, and how many are critical and how many warnings."""


class OverviewView(TaskListView[Need]):
    place = "overview"
    heading = "NEEDS YOU"
    empty = "nothing needs you"
    lists = (
        FeedName.PENDING,
        FeedName.ALERTS,
        FeedName.BUDGET,
        FeedName.COMPANY_BUDGETS,
        FeedName.ACTIVITY,
    )
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
        self.table.empty_text = plain(f"{signs.good} {self.empty}")
        self.table.add_class("overview--needs")
        self.spend_title = StatusLine(classes="overview--title")
        self.spend = TextPane()
        self.spend.can_focus = False
        self.latest_title = StatusLine(classes="overview--title")
        self.latest = TextPane()
        self.latest.can_focus = False
        self._levels = (0, 0)
        self._phases: tuple[Phase, ...] = ()
        self._looking = False
        self._look_again = False
        self._behind = False
        self._loaded: dict[str, Need] = {}
        """What is shown by key, the worst first."""
        self._ticks = 0
        self._decisions_open: tuple[str, ...] = ()

    def columns(self) -> list[Column[Need]]:
        look = self.look

        def tone(need: Need) -> Tone:
            return TONES[need.level]

        def since(need: Need) -> float | None:
            return need_since(need.record)

        def company(need: Need) -> SafeText:
            return look.names.company(look.names.company_of(need.record))

        # fmt: off
        return [
            level_column(lambda n: n.level),
            text_column("need", "WHY", (13, 12), need_words, tone, sort_key=need_words,
                aliases=("why", "kind")),
            age_column(look, "age", "SINCE", since, descending_first=True,
                cell=lambda n: Cell(look.age(since(n)), tone(n)),
                aliases=("since", "waits", "waiting")),
            text_column("what", "WHAT", (24, 22), lambda n: subject(n.record, look), Tone.STRONG,
                grow=3, aliases=("task", "title")),
            text_column("agent", "AGENT", (10, 6), lambda n: agent(n.record, look), priority=2),
            text_column("company", "COMPANY", (15, 8), company, priority=3),
            text_column("figure", "FIGURE", (22, 12), lambda n: figure(n.record, look), priority=1,
                sort_key=None),
        ]
        # fmt: on

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

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._show_panels)

    # ---- the store

    def take(self, change: Change) -> None:
        """Anything may change what needs a person."""
        if not self.display:
            self._behind = True
            return
        if change.feed is not FeedName.ACTIVITY:
            self._find_needs()
        self.take_freshness()
        self._show_latest()
        if change.feed not in (FeedName.ACTIVITY, FeedName.PENDING):
            self._show_spend()

    def arrive(self) -> None:
        """Shown again: what happened meanwhile is taken in once there is room to show it."""
        super().arrive()
        if self._behind:
            self._behind = False
            self.call_after_refresh(self.reload_calmly)

    def reload(self) -> None:
        self._reload_due = False
        self._find_needs()
        self.take_freshness()
        self._show_panels()

    def tick(self) -> None:
        self._ticks += 1
        if self._ticks % SECONDS_BETWEEN_LOOKS == 0:
            self._find_needs()
        super().tick()
        self._show_latest()

    def show_state(self) -> None:
        freshness = self.session.store.freshness
        phases = tuple(freshness[feed].phase for feed in self.lists)
        if phases != self._phases:
            self._phases = phases
            self._show_panels()
        self.show_phase(min(phases[:2], key=FIRST_TOLD.index))

    def take_decisions(self) -> None:
        """Decisions that are open are needs, whatever else their tasks are."""
        now = tuple(decision.task.id for decision in self.session.decisions.open)
        if self.display and self._decisions_open != now:
            self._decisions_open = now
            self._find_needs()
            self.show_title()
        super().take_decisions()

    # ---- what needs a person

    def _find_needs(self) -> None:
        if self._looking:
            self._look_again = True
        elif len(self.session.store.pending) > MANY:
            start_worker(self, self._look_in_slices, "finding what needs you")
        else:
            self._show_needs(at_once(self._look()))

    async def _look_in_slices(self) -> None:
        """Among very many tasks; other things get their turn."""
        self._looking = self._look_again = True
        try:
            while self._look_again and self.display:
                self._look_again = False
                self._show_needs(await in_slices(self._look()))
                self.show_title()
        finally:
            self._looking = False

    def _look(self) -> Generator[None, None, Found]:
        """What needs a person in the scope; pauses often."""
        store, limits, now = self.session.store, self.session.settings.alerts, self.session.now

        def worth_telling(budget: Budget) -> bool:
            return budget_level(budget, limits) >= Level.WARNING

        tasks = self._in_scope(store.pending)
        first, counted = yield from worst_tasks(tasks, now, limits, MOST_NEEDS)
        budgets: list[Budget] = []
        for collection in (store.budget, store.company_budgets, store.agent_budgets):
            budgets += yield from picked(collection, worth_telling)
        agents = yield from picked(store.agents, is_failing)
        found = needs(
            pending=first,
            budgets=self._in_scope(budgets),
            alerts=self._in_scope(store.alerts),
            agents=self._in_scope(agents),
            now=now,
            limits=limits,
        )
        there = {need.record.id for need in found if need.kind is NeedKind.TASK}
        # Before all else: what was said yes to, and is not known to have been done.
        undecided = [
            Need(Level.WARNING, NeedKind.TASK, decision.task, ())
            for decision in self.session.decisions.open
            if decision.task.id not in there
        ]
        levels = [need.level for need in found if need.kind is not NeedKind.TASK]
        critical = levels.count(Level.CRITICAL)
        warnings = len(levels) - critical + counted[Level.WARNING] + len(undecided)
        return [*undecided, *found], (critical + counted[Level.CRITICAL], warnings)

    def _in_scope(self, records: Iterable[R]) -> Iterable[R]:
        company_of, scope = self.session.names.company_of, self.session.company
        if scope is None:
            return records
        return (record for record in records if in_scope(company_of(record), scope))

    def _show_needs(self, looked: Found) -> None:
        found, self._levels = looked
        shown, before, table = {n.key: n for n in found[:MOST_NEEDS]}, self._loaded, self.table
        changed = [(key, need) for key, need in shown.items() if before.get(key) != need]
        if table.rows.held:
            # New needs wait, those that are over leave a ghost.
            gone = [key for key in before if key not in shown]
            for key in gone:
                table.ghost(key, self.fate(key))
            table.apply(changed=changed, removed=gone)
            self._reload_due = True
        elif list(shown) == list(before):
            if changed:
                table.apply(changed=changed)
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
        feeds = (*self.lists, FeedName.AGENT_BUDGETS, FeedName.AGENTS)
        loading = any(freshness[feed].phase is Phase.LOADING for feed in feeds)
        return self._touched_at == 0.0 and loading

    def fate(self, record_id: str) -> Cell:
        need = self._loaded[record_id]
        if isinstance(need.record, Task):
            return fate_of(self.session, need.record.id)
        return Cell(plain("settled"), Tone.DIM)

    # ---- the lines

    def title_cells(self) -> list[Cell]:
        pending, (critical, warning) = self.session.store.pending, self._levels
        queue, told = self.session.waiting.of(self.session.company), pending.listing
        cells = [Cell(plain(f" {self.heading} "), Tone.STRONG)]
        if critical:
            cells.append(Cell(plain(f"{signs.critical} {fmt.count(critical)} "), Tone.CRITICAL))
        if warning:
            cells.append(Cell(plain(f"{signs.warning} {fmt.count(warning)} "), Tone.WARNING))
        if self.session.store.freshness[FeedName.PENDING].answered_at is not None:
            oldest = f", the oldest {self.look.age(queue.oldest)}" if queue.oldest else ""
            more = "at least " if told.capped or told.more else ""
            waits = f" {more}{fmt.count(queue.count)} tasks wait{oldest}"
            cells.append(Cell(plain(waits)))
        unread: Listing[Task] = Listing(records=(), unread=told.unread)
        return [*cells, *told_cells(unread, queue.count), *self.filter_cells()]

    def title_right(self) -> list[Cell]:
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

    def show_detail(self, *, top: bool = False) -> None:
        """The screen that enter opens has it."""

    def paint_as_told(self) -> None:
        super().paint_as_told()
        self._show_spend()

    def _show_panels(self) -> None:
        self._show_spend()
        self._show_latest()

    def _show_spend(self) -> None:
        items, period = spend_items(self.session, self.spend.scrollable_content_region.width)
        self.spend_title.show([Cell(plain(" SPEND "), Tone.STRONG), Cell(period or plain(""))])
        self.spend.show(items)

    def _show_latest(self) -> None:
        self.latest_title.show([Cell(plain(" LATEST"), Tone.STRONG)])
        self.latest.show(latest_items(self.session, max(1, self.latest.size.height)))

    # ---- what can be done

    def subject(self) -> Record | None:
        need: Need | None = super().subject()
        return None if need is None else need.record

    def open(self, row_id: str) -> None:
        """Go to where the need is listed."""
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
