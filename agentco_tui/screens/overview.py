"""What needs a person, in five seconds; beneath it the money and what happened last."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from agentco_tui import format as fmt
from agentco_tui.background import in_slices
from agentco_tui.keys import Place
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import (
    Level,
    Need,
    NeedKind,
    budget_levels,
    in_scope,
    is_failing,
    needs,
    picked,
    worst_tasks,
)
from agentco_tui.live.store import Change
from agentco_tui.model.records import Agent, AgentState, Alert, Budget, BudgetScope, Task
from agentco_tui.screens.columns.needs import need_columns, subject
from agentco_tui.screens.decision_notes import said_of
from agentco_tui.screens.overview_panels import latest_items, spend_depends_on, spend_items
from agentco_tui.screens.session import Session
from agentco_tui.screens.table_view import ListTable, TableView
from agentco_tui.screens.task_actions import TASK_ACTIONS, TaskActions
from agentco_tui.screens.view import bindings_of
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import TextPane
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker

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


class OverviewView(TableView[Need], TaskActions):
    """The first screen."""

    place: ClassVar[Place] = "overview"
    heading = "NEEDS YOU"

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("overview", {**TASK_ACTIONS, "budget.limit": "limit"}),
    ]

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
        self.found: list[Need] = []
        """The needs, the worst first; of very many only the first."""
        self._levels = (0, 0)
        self._spend_drawn: tuple[object, ...] = ()
        self._phases: tuple[Phase, ...] = ()
        self._looking = False
        self._look_again = False
        self._behind = False
        self._loaded: list[tuple[str, Need]] = []
        self._ticks = 0
        self._decisions_open: tuple[str, ...] = ()

    def make_table(self) -> ListTable[Need]:
        """The needs, in the order of `insight.needs` until the person sorts them."""
        return ListTable(
            need_columns(self.look), empty_text=plain(f"{signs.good} nothing needs you")
        )

    def compose(self) -> ComposeResult:
        """Needs above, money and the latest below."""
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
        """Show what the store has already."""
        self.reload()

    def on_resize(self, _: events.Resize) -> None:
        """Bars and lines for the new width."""
        self.call_after_refresh(self._show_panels)

    def feeds(self) -> Iterable[FeedName]:
        """What needs a person comes from all of these."""
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
        """Work everything out anew."""
        super().reload()
        self._find_needs()
        self.take_freshness()
        self._show_panels()

    def tick(self) -> None:
        """A second has passed."""
        self._ticks += 1
        if self._ticks % SECONDS_BETWEEN_LOOKS == 0:
            self._find_needs()
        self.table.tick()
        super().tick()
        self._show_panels()

    def take_freshness(self) -> None:
        """A feed answered or failed."""
        super().take_freshness()
        freshness = self.session.store.freshness
        phases = tuple(freshness[feed].phase for feed in SHOWN_FEEDS)
        if phases != self._phases:
            self._phases = phases
            self._show_panels()
        self.show_phase(min(phases[:2], key=FIRST_TOLD.index))

    def _find_needs(self) -> None:
        if len(self.session.store.pending) <= MANY:
            found = self._needs_with(
                self._tasks_in_scope(), self._budgets(), self.session.store.agents
            )
            critical = sum(1 for need in found if need.level is Level.CRITICAL)
            self._show_needs(found, (critical, len(found) - critical))
        elif self._looking:
            self._look_again = True
        else:
            start_worker(self, self._look_in_slices, "finding what needs you")

    def _tasks_in_scope(self) -> Iterable[Task]:
        names, scope, pending = self.session.names, self.session.company, self.session.store.pending
        if scope is None:
            return pending
        return (t for t in pending if in_scope(names.company_of(t), scope))

    async def _look_in_slices(self) -> None:
        """Among very many tasks, find those that come first; other things get their turn."""
        self._looking = True
        try:
            again = True
            while again and self.display:
                self._look_again = False
                limits = self.session.settings.alerts
                tasks = self._tasks_in_scope()
                worst = await in_slices(worst_tasks(tasks, self.session.now, limits, MOST_NEEDS))
                found = self._needs_with(
                    worst.tasks,
                    await in_slices(picked(self._budgets(), self._worth_telling())),
                    await in_slices(picked(self.session.store.agents, is_failing)),
                )
                others = [need.level for need in found if need.kind is not NeedKind.TASK]
                critical = worst.critical + others.count(Level.CRITICAL)
                warning = worst.warning + others.count(Level.WARNING)
                self._show_needs(found, (critical, warning))
                self.show_title()
                again = self._look_again
        finally:
            self._looking = False

    def _worth_telling(self) -> Callable[[Budget], bool]:
        level_of = budget_levels(self.session.settings.alerts)
        return lambda budget: level_of(budget) >= Level.WARNING

    def _needs_with(
        self, tasks: Iterable[Task], budgets: Iterable[Budget], agents: Iterable[Agent]
    ) -> list[Need]:
        session = self.session
        names, scope = session.names, session.company
        found = needs(
            pending=tasks,
            budgets=[b for b in budgets if in_scope(names.company_of(b), scope)],
            alerts=[a for a in session.store.alerts if in_scope(names.company_of(a), scope)],
            agents=[a for a in agents if in_scope(a.company, scope)],
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
        if self.display and self._decisions_open != (now := self._open_ids()):
            self._decisions_open = now
            self._find_needs()
            self.show_title()
        super().take_decisions()

    def _open_ids(self) -> tuple[str, ...]:
        return tuple(decision.task.id for decision in self.session.decisions.open)

    def _show_needs(self, found: list[Need], levels: tuple[int, int]) -> None:
        self.found, self._levels = found, levels
        shown = {need.key: need for need in self.found[:MOST_NEEDS]}
        if self.table.hold:
            self._apply_calmly(shown)
        elif list(shown) == [key for key, _ in self._loaded]:
            changed = [
                (key, need)
                for (key, need), (_, before) in zip(shown.items(), self._loaded, strict=True)
                if need != before
            ]
            if changed:
                self.table.apply((), changed, ())
        else:
            self.table.load(shown.items())
            self._reload_due = False
            if self._is_arriving():
                self.table.action_first()
        self._loaded = list(shown.items())
        self.table.renew()

    def _is_arriving(self) -> bool:
        """Whether the first picture is still being put together, and nobody's hand is on it: then
        the cursor stands on the worst, whichever answer came first.
        """
        freshness = self.session.store.freshness
        feeds = (*SHOWN_FEEDS, FeedName.AGENT_BUDGETS, FeedName.AGENTS)
        loading = any(freshness[feed].phase is Phase.LOADING for feed in feeds)
        return self._touched_at == 0.0 and loading

    def _apply_calmly(self, shown: dict[str, Need]) -> None:
        """While a hand is on the list: new needs wait, those that are over leave a ghost."""
        before = dict(self._loaded)
        gone = [key for key in before if key not in shown]
        for key in gone:
            self.table.ghost(key, self._fate(before[key]))
        self.table.apply(
            [(key, need) for key, need in shown.items() if key not in before],
            [(key, need) for key, need in shown.items() if before.get(key, need) != need],
            gone,
        )
        self._reload_due = True

    def row_of_task(self, task_id: str) -> str | None:
        """A task's row has the key of its need."""
        return f"{NeedKind.TASK}:{task_id}"

    def _fate(self, need: Need) -> Cell:
        if isinstance(need.record, Task):
            return self.main.fate_of(need.record.id)
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
            more = "at least " if store.pending.told.capped or store.pending.told.more else ""
            waits = f" {more}{fmt.count(queue.count)} tasks wait{oldest}"
            cells.append(Cell(plain(waits)))
        told = store.pending.told
        cells += self.unread_cells(told.unread, capped=False, more=False, shown=queue.count)
        return [*cells, *self.filter_cells()]

    def title_right(self) -> list[Cell]:
        """How the agents are."""
        agents = self.session.store.agents
        if not len(agents):
            return self.calm_cells()
        states = self.session.waiting.agent_states()
        words = [f"{fmt.count(len(agents))} agents"]
        words += [
            f"{fmt.count(states[state])} {state}"
            for state in (AgentState.PAUSED, AgentState.STOPPED, AgentState.ERROR)
            if states[state]
        ]
        return [*self.calm_cells(), Cell(plain(", ".join(words) + " "), Tone.DIM)]

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

    def selected_need(self) -> Need | None:
        """The need under the cursor."""
        row_id = self.table.cursor_id
        return None if row_id is None else self.table.record(row_id)

    def selected_task(self) -> Task | None:
        """The task under the cursor."""
        need = self.selected_need()
        return need.record if need is not None and isinstance(need.record, Task) else None

    @on(RecordTable.Opened)
    def _opened(self, _: RecordTable.Opened) -> None:
        need = self.selected_need()
        match need.record if need else None:
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

    def action_limit(self) -> None:
        """Ask for the limit of the agent that the line is about."""
        need = self.selected_need()
        record = need.record if need else None
        match record:
            case Budget(scope=BudgetScope.AGENT):
                self.main.set_limit(record.id)
            case Alert(agent=ref) | Task(agent=ref) if ref is not None and ref.id is not None:
                self.main.set_limit(ref.id)
            case _:
                self.main.say("put the cursor on a line about an agent to set its limit")

    def copied_id(self, row_id: str) -> str:
        """The id of what the line is about."""
        need = self.table.record(row_id)
        return row_id if need is None else need.record.id

    def action_raw(self) -> None:
        """The Overview has no detail; the screen that enter opens has."""
        self.main.say("enter opens the line; x shows its hidden characters there")

    def words(self, need: Need) -> SafeText:
        """What a need is about, for tests and for the palette."""
        return subject(need, self.look)
