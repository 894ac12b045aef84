"""The Overview: the list of what needs the operator, worst first, with a preview and two panels.

A need is one thing that requires the operator: a task to approve, a budget that runs out, an AI
agent that failed. `NeedsModel` (`workspace.needs`) finds and ranks them; `words_of` puts one into
words. A need may stand for several tasks that are alike; snoozed, it is last until a time. The
queue is the list of tasks that wait. A feed is one list that is polled from the platform, the
remote service that is watched; `Phase` is its state, STALE if it fails and is shown as last read.

Below the list are a preview of the need under the cursor, the budgets (`SpendPanel`), the newest
log entries (`LatestPanel`), and on large terminals graphs. They share the height of the terminal
with the list, so resizing and new needs lay the screen out again. The frame is the main screen, the
workspace what is known of the platform in memory. The scope is the company that the user has
limited everything to, if any.
"""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import Final

from msgspec.structs import replace
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal

from agentco_tui import model
from agentco_tui.attention.need_words import NeedWords, words_of
from agentco_tui.attention.needs import Need, NeedKind
from agentco_tui.attention.snooze import Snooze
from agentco_tui.config import ViewSettings
from agentco_tui.keys.places import SCREEN_OF_KIND
from agentco_tui.live import insight
from agentco_tui.live.feeds import NAMES, FeedName, Phase
from agentco_tui.live.insight import Level
from agentco_tui.live.store import Change
from agentco_tui.model import Budget, Task
from agentco_tui.model import format as fmt
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.decision_notes import text_of
from agentco_tui.screens.header_footer import told_cells
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.navigation import Destination
from agentco_tui.screens.need_columns import need_columns
from agentco_tui.screens.overview_panels import (
    ROOMIEST,
    idle_words,
    preview_items,
    staff,
    trend_items,
)
from agentco_tui.screens.overview_widgets import LatestPanel, SpendPanel
from agentco_tui.screens.resting_trace import RestingTraceReader
from agentco_tui.screens.task_lines import TaskLines
from agentco_tui.text import SafeText, mark_safe, signs
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.text_pane import PaneItem, TextPane
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker

WORST_PHASE_FIRST: Final = (Phase.LOADING, Phase.STALE, Phase.FAILED, Phase.LIVE)
"""The rows are as old as the worse of the two feeds that most needs come from."""
BUDGET_NEEDS: Final = (FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS)
"""The feeds that needs about money come from, if the platform sends no alerts."""
LARGE: Final = 36
"""Lines of a terminal at or above which trends always have lines."""
LEAST_LIST: Final = 4
"""Lines of the list at least, with its titles."""
MOST_PANELS: Final = 16
"""Lines of the panels at most."""
PANELS_SHARE: Final = 0.38
"""The share of the screen's lines that the panels take."""
LOW: Final = 20
"""Lines of a terminal below which there is no preview."""
ROOMY: Final = 30
"""Lines of a terminal at or above which the preview has three lines, else two."""
ROOM_FOR_AGENTS: Final = 100
"""Columns at or above which the title counts the agents beside companies that do not work."""
GROWTH: Final = 3
"""Lines by which a short list grows at a time, so that the panels seldom move."""
STACKED: Final = 100
"""Columns at or above which the panels are one above the other, not side by side."""
SIDE_BY_SIDE: Final = 150
"""Columns at or above which the panels are side by side again."""


class OverviewView(TaskLines[Need]):
    """The list of needs; its rows are approved, opened and snoozed as on the Tasks screen."""

    place = "overview"
    empty = "nothing needs you"
    keeps_filter = False  # so that a filter of yesterday does not hide what is critical today
    lists = (
        FeedName.PENDING,
        FeedName.ALERTS,
        FeedName.BUDGET,
        FeedName.COMPANY_BUDGETS,
        FeedName.ACTIVITY,
    )
    figures_from = (FeedName.AGENT_BUDGETS, FeedName.AGENTS)
    task_rows = f"{NeedKind.TASK}:"  # what precedes the id of a task in the id of its row
    BINDINGS = bindings_of("overview")
    SCOPED_CSS = False  # some rules depend on the size of the screen around the view
    DEFAULT_CSS = """
    OverviewView {
        & > Horizontal { height: 1fr; min-height: 5; }
        & .overview--preview {
            display: block; width: 1fr; max-width: 100%; height: 3; scrollbar-size: 0 0;
        }
        &.-low .overview--preview { height: 2; }
        & TextPane { height: 1fr; padding: 0 1; }
        & .overview--trends { display: none; height: auto; scrollbar-size: 0 0; }
        & .overview--spend { margin-right: 1; }
        &.-stacked > Horizontal { layout: vertical; }
        &.-stacked .overview--panel { height: 2fr; }
        &.-stacked .overview--spend { margin-right: 0; height: 3fr; }
    }
    SizedScreen.-phone OverviewView > Horizontal { display: none; }
    SizedScreen.-slim .overview--panel { display: none; }
    SizedScreen.-slim .overview--spend { display: block; }
    """

    def __init__(self, dashboard: DashboardContext, shown_as: ViewSettings | None = None) -> None:
        workspace = dashboard.workspace
        super().__init__(dashboard, shown_as)
        self.spend = SpendPanel(dashboard)
        self.latest = LatestPanel(dashboard)
        self.panels = Horizontal()
        self.trends = TextPane(classes="overview--trends")
        self.trends.can_focus = False
        self.detail.add_class("overview--preview")
        self.detail.can_focus = False
        self._trace_reader = RestingTraceReader(self)
        self.needs = workspace.needs
        self._shown_with: tuple[object, ...] = ()
        """What the panels were last drawn with: the speed of the line and the feeds' phases."""
        self._trends_by_lines: dict[int, list[PaneItem]] = {}
        """The trends as they were last drawn, by the lines that they had."""

    def words(self, need: Need) -> NeedWords:
        """Return a need in words; a snoozed one says when it returns, and its note."""
        now = self.cell_context.clock.now()
        words = words_of(need, self.cell_context.names, self.workspace.outlook, now)
        if need.snooze is None:
            return words
        until = need.snooze.return_words(now)
        return replace(words, why=mark_safe("snoozed"), consequence=until, brief_consequence=None)

    def columns(self) -> list[Column[Need]]:
        return need_columns(self.cell_context, self.words)

    def compose(self) -> ComposeResult:
        yield self.head.title_line
        yield self.head.notice
        yield self.table
        yield self.detail
        yield self.trends
        with self.panels:
            yield self.spend
            yield self.latest

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(STACKED <= self.app.size.width < SIDE_BY_SIDE, "-stacked")
        self.set_class(LOW <= self.app.size.height < ROOMY, "-low")
        self.detail.display = self.app.size.height >= LOW and not self.workspace.settings.thin
        self._lay_out()

    def _lay_out(self) -> None:
        self._shown_with = ()
        self._trends_by_lines.clear()
        self.call_after_refresh(self.show_head)

    def _give_room(self) -> None:
        """Divide the lines: the list gets as many as it needs, trends what it leaves free.

        A large terminal always has lines for trends.
        """
        if not self.size.height:
            return  # it is hidden; this is done when it is shown again
        room = self._lines_of_list_and_trends()
        is_large = self.app.size.width >= ROOMIEST and self.app.size.height >= LARGE
        trends = self._trend_items(2) if is_large else []
        wanted = room
        if self.panels.display and not self.incomplete:
            wanted = ceil((len(self.table.model.shown) + 1) / GROWTH) * GROWTH + 1
        lines = max(LEAST_LIST, min(wanted, room - len(trends)))
        items = self._trend_items(room - lines)
        self.table.styles.height = lines
        self.trends.display = bool(items)
        self.trends.show(items)

    def _trend_items(self, lines: int) -> list[PaneItem]:
        """Return the trends in so many lines; they are drawn anew after forecasts or needs."""
        items = self._trends_by_lines.get(lines)
        if items is None:
            items = trend_items(self.workspace, lines)
            self._trends_by_lines[lines] = items
        return items

    def _lines_of_list_and_trends(self) -> int:
        """Return the lines that the title, the notice, the preview and the panels leave free."""
        is_low = self.has_class("-low")
        room = self.size.height
        for line in (self.head.title_line, self.head.notice):
            if line.display:
                room -= line.size.height
        if self.detail.display:
            room -= 2 if is_low else 3
        if self.panels.display:
            share = int(self.size.height * PANELS_SHARE)
            room -= 5 if is_low else max(6, min(MOST_PANELS, share))
        return room

    def show_change(self, change: Change) -> None:
        if self.display:
            self.show_head_soon()
            if change.feed in (FeedName.ACTIVITY, *NAMES):
                self.latest.fill()

    def arrive(self) -> None:
        """Show the needs of now; the panels once the layout is known."""
        self.freezer.reload_due = True  # the rows are loaded again when they need not keep still
        super().arrive()
        self._lay_out()

    def reload(self) -> None:
        self.freezer.reload_due = False
        self.show_needs()

    def show_head(self, phase: Phase | None = None) -> None:
        freshness = self.workspace.store.freshness
        phases = [freshness[feed].phase for feed in self.lists]
        shown_with = (self.dashboard.thin, *phases)
        self.spend.pane.set_stale(Phase.STALE in phases[2:4])
        self.latest.pane.set_stale(phases[4] is Phase.STALE)
        if shown_with != self._shown_with:
            self._shown_with = shown_with
            self.spend.fill()
            self.latest.fill()
            self.show_detail()
        self._give_room()
        super().show_head(self._phase_of_rows())

    def _phase_of_rows(self) -> Phase:
        """Return the worse phase of the two feeds that most needs come from.

        If the platform offers neither, the needs are those of the budgets.
        """
        freshness = self.workspace.store.freshness
        feeds = [feed for feed in self.lists[:2] if freshness[feed].is_offered]
        phases = [freshness[feed].phase for feed in feeds or BUDGET_NEEDS]
        return min(phases, key=WORST_PHASE_FIRST.index)

    def show_needs(self) -> None:
        self._trends_by_lines.clear()
        table = self.table
        needs = {need.key: need for need in self.needs.shown}
        before = table.model.records
        changed = [(key, need) for key, need in needs.items() if before.get(key) != need]
        if self.freezer.is_frozen:
            # New needs wait, those that are over leave a tombstone.
            removed = [key for key in before if key not in needs]
            for key in removed:
                table.set_tombstone(key, self.resolution(key))
            table.apply(changed=changed, removed=removed)
            table.reread_cells()  # the words of a need follow from other records, too
            self.freezer.reload_due = True
        elif list(needs) == list(before):
            table.apply(changed=changed)
            table.reread_cells()
        else:
            table.load(needs.items())
            self.freezer.reload_due = False
        self.show_head()
        self.show_detail()
        self.spend.fill()

    def resolution(self, row_id: str) -> Cell:
        """Return "settled" only if the need's record is there and shows that."""
        store = self.workspace.store
        is_settled = False
        match self.subject(row_id):
            case Task():
                return super().resolution(row_id)
            case Budget(id=budget_id, scope=scope):
                budget = store.budgets[scope].get(budget_id)
                if budget is not None:
                    is_settled = self.cell_context.level_of(budget) is Level.OK
            case model.Alert(id=alert_id):
                alert = store.alerts.get(alert_id)
                is_settled = alert is not None and not insight.is_open(alert)
            case model.Agent(id=agent_id):
                agent = store.agents.get(agent_id)
                is_settled = agent is not None and agent.state is model.AgentState.ACTIVE
        return Cell(mark_safe("settled" if is_settled else "left the list"), Tone.DIM)

    def subject(self, row_id: str | None = None) -> model.Record | None:
        need: Need | None = super().subject(row_id)
        return None if need is None else need.record

    def subjects(self) -> list[model.Record]:
        """Return the records of the need under the cursor, and of all that has its cause."""
        need = self.need()
        if need is None:
            return []
        needs = (need, *need.others)
        return [record for each in needs for record in (each.record, *each.related)]

    def need(self) -> Need | None:
        row_id = self.table.viewport.cursor
        return None if row_id is None else self.table.model.record(row_id)

    def footer_actions(self) -> dict[str, str]:
        actions = super().footer_actions()
        need = self.need()
        if need is not None and need.alike and "tasks.approve" in actions:
            actions["tasks.approve"] = f"approve {fmt.count(len(need.alike))}"
        return actions

    def action_snooze(self) -> None:
        """Ask for how long to snooze the need under the cursor, or end its snooze."""
        need = self.need()
        if need is None:
            self.frame.say("put the cursor on a need to snooze it")
        elif need.snooze is None:
            self.frame.dialogs.open_form("overview.snooze")
        else:
            self.snooze(need, None)

    def snooze(self, need: Need, snooze: Snooze | None) -> None:
        """Snooze a need, which moves it to the bottom, or with None end its snooze.

        The cursor moves on to the next row, from the last one to the one before.
        """
        shown = self.table.model.shown
        following = [*shown[self.table.viewport.cursor_index + 1 :], *reversed(shown)]
        if snooze and following:
            self.table.move_cursor_to(following[0])
        self.workspace.snoozes.set(need.keys, snooze)
        self.table.release()
        self.dashboard.needs_refresh.start(self)

    def action_approve(self) -> None:
        need = self.need()
        if need is not None and need.alike:
            self.frame.dialogs.approve_many(need.alike)
        else:
            super().action_approve()

    def title(self, *about: SafeText) -> tuple[list[Cell], list[Cell]]:
        critical = self.needs.levels[Level.CRITICAL]
        warning = self.needs.levels[Level.WARNING]
        queue = self.needs.queue
        pending = self.workspace.store.pending
        (_, _, *filtered), right = super().title()
        cells = [Cell(mark_safe(" NEEDS YOU "), Tone.STRONG)]
        if critical:
            cells.append(Cell(mark_safe(f"{signs.critical} {fmt.count(critical)} "), Tone.CRITICAL))
        if warning:
            cells.append(Cell(mark_safe(f"{signs.warning} {fmt.count(warning)} "), Tone.WARNING))
        if self.filter_text or critical + warning > self.needs.listed:
            model = self.table.model
            needs = model.records_of(model.shown).values()
            shown = sum([len(need.alike) or 1 for need in needs if not need.snooze])
            counted = mark_safe(f"{fmt.count(shown)} of {fmt.count(critical + warning)} shown")
            cells += [Cell(counted), *filtered, Cell(mark_safe(" "))]
        if (critical or warning) and self.incomplete:
            cells.append(Cell(mark_safe("so far "), Tone.DIM))
        if self.needs.snoozed:
            cells.append(
                Cell(mark_safe(f"{fmt.count(len(self.needs.snoozed))} snoozed "), Tone.DIM)
            )
        is_read = self.workspace.store.freshness[FeedName.PENDING].answered_at is not None
        if is_read and self.workspace.scope.allows_counts():
            oldest = f", the oldest {self.cell_context.wait(queue.oldest)}" if queue.oldest else ""
            cells.append(Cell(mark_safe(f" {fmt.count(queue.count)} tasks wait{oldest}")))
        cells += told_cells(pending.listing, len(pending))
        scope = self.workspace.poller.query.company
        has_room = self.size.width >= ROOM_FOR_AGENTS
        idle = idle_words(self.workspace.names.idle_companies(scope), has_room=has_room)
        if idle:
            right.append(Cell(mark_safe(f"{signs.warning} {idle} "), Tone.WARNING))
        agents = staff(self.workspace.needs.agents.by_state)
        if agents and (has_room or not idle):
            right.append(Cell(mark_safe(f"{agents} "), Tone.DIM))
        return cells, right

    def nothing(self) -> SafeText:
        offered = [freshness for freshness in self.row_freshnesses if freshness.is_offered]
        if any(freshness.answered_at is None for freshness in offered):
            return mark_safe(f"{signs.unknown} {super().nothing()}, as far as is known")
        is_good = self.workspace.scope.phase() is Phase.LIVE
        since = ""
        if self.needs.quiet_since is not None:
            at = fmt.clock(model.Moment(self.needs.quiet_since), self.cell_context.clock.now())
            is_time_of_day = at[2:3] == ":"
            since = f" since {at[:5] if is_time_of_day else at}"  # without its seconds
        return mark_safe(f"{signs.good if is_good else signs.unknown} {super().nothing()}{since}")

    def show_detail(self, *, top: bool = False) -> None:
        """Show the preview of the need under the cursor."""
        need = self.need()
        if need is None:
            self.detail.show([])
            return
        width = self.detail.scrollable_content_region.width
        self.detail.show(preview_items(need, self.words(need), self.dashboard, width))

    def cursor_rests(self) -> None:
        super().cursor_rests()
        self._trace_reader.cursor_moved()

    def show_forecasts(self) -> None:
        self._trends_by_lines.clear()
        self.table.reread_cells()  # what follows if a need is ignored may be forecast
        self._give_room()
        self.spend.fill()
        self.show_detail()

    def tick(self) -> None:
        self.workspace.outlook.want(self.spend.budgets)
        super().tick()

    def action_latest(self) -> None:
        """Show all of the latest events, or only those that went wrong."""
        self.latest.toggle_bad_only()

    def open(self, row_id: str) -> None:
        need = self.need()
        match self.subject():
            # A task that was approved and does not move: the list of all tasks has it.
            case Task() as task if need is not None and need.kind is NeedKind.STUCK:
                start_worker(self, partial(self._open_read, task), f"read {task.id}")
            case Task() as task if self.workspace.store.pending.get(task.id) is None:
                decision = self.dashboard.decisions.by_task.get(task.id)
                if decision is not None:
                    title = self.workspace.scope.title_with_company(task.keyed_title, task)
                    self.frame.say(f"{title}: {text_of(self.dashboard, decision)}")
                    self.dashboard.decisions.acknowledge(task.id)
            case Task(title=title) as task if need is not None and need.alike:
                words = max(title.split('"'), key=len)  # a filter has no other way to quote one
                self.frame.go(Destination("tasks", task.id, filter=f'task:"{words}"'))
            case Budget(scope=scope, id=id_):
                self.frame.go(Destination("budget", f"{scope}:{id_}", is_open=True))
            case record if record is not None:
                screen = SCREEN_OF_KIND[type(record).__name__.lower()]
                self.frame.go(Destination(screen, record.id, is_open=True))

    async def _open_read(self, task: Task) -> None:
        """Open a task that no list has until all are read."""
        if self.workspace.store.tasks.get(task.id) is None:
            freshness = await self.workspace.poller.read_again(FeedName.TASKS)
            if not self.display or self.app.screen is not self.screen:
                return  # the user has gone on meanwhile
            if freshness.failure is not None:
                self.frame.say(f"the tasks can't be read: {freshness.failure.sentence}", bad=True)
                return
        self.frame.go(Destination("tasks", task.id, is_open=True))

    def action_raw(self) -> None:
        """The Overview has no detail; the screen that enter opens has."""
        self.frame.say("enter opens the line; x shows its hidden characters there")
