"""What needs a person, in five seconds; beneath it the money and what happened last."""

from __future__ import annotations

import re
from functools import partial

from msgspec.structs import replace
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer

from agentco_tui import model
from agentco_tui.config import ViewSettings
from agentco_tui.history.snooze import Snooze
from agentco_tui.keys.commands import shown_key
from agentco_tui.keys.places import PLACE_OF
from agentco_tui.live import insight
from agentco_tui.live.feeds import NAMES, FeedName, Phase
from agentco_tui.live.insight import Level
from agentco_tui.live.need_words import NeedWords, words_of
from agentco_tui.live.needs import Need, NeedKind
from agentco_tui.live.store import Change
from agentco_tui.model import Budget, Task
from agentco_tui.model import format as fmt
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES
from agentco_tui.screens.dashboard_workspace import DashboardWorkspace
from agentco_tui.screens.decision_notes import text_of
from agentco_tui.screens.header_footer import told_cells, without_lines
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.overview_panels import (
    ROOMIEST,
    about_of,
    day_of,
    is_noisy,
    latest_items,
    money_items,
    money_of,
    preview_items,
    staff,
    trend_items,
)
from agentco_tui.screens.task_lines import TaskLines
from agentco_tui.text import SafeText, cell_width, plain, safe, signs
from agentco_tui.text.width import fit_ends
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.text_pane import Item, Text, TextPane
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker

PARTS = re.compile(" of | in | its ")  # between the parts of a figure
FIRST_TOLD = (Phase.LOADING, Phase.STALE, Phase.FAILED, Phase.LIVE)  # of the first two feeds
LARGE = 36  # lines from which on trends have a line
LEAST = 4  # lines of the list, its titles counted
MOST_BENEATH, BENEATH = 16, 0.38  # lines of the panels beneath, and their part of the screen
LOW = 20  # lines of a terminal below which no preview takes two of them
STEP = 3  # lines by which a list grows that is short
ROOMY = 30  # lines from which on there is room for all of it
REST = 0.6  # seconds that the cursor stands before more than the list is read for its line
STACKED, BESIDE = 100, 150  # columns from which panels stand one below the other, and beside


class OverviewView(TaskLines[Need]):
    place = "overview"
    empty = "nothing needs you"
    keeps_filter = False  # so that none of yesterday hides what is critical today
    lists = (
        FeedName.PENDING,
        FeedName.ALERTS,
        FeedName.BUDGET,
        FeedName.COMPANY_BUDGETS,
        FeedName.ACTIVITY,
    )
    figures_from = (FeedName.AGENT_BUDGETS, FeedName.AGENTS)
    task_rows = f"{NeedKind.TASK}:"
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

    def __init__(self, session: DashboardWorkspace, shown_as: ViewSettings | None = None) -> None:
        super().__init__(session, shown_as)
        self.spend_title = StatusLine(classes="view--title")
        self.latest_title = StatusLine(classes="view--title")
        self.spend, self.latest, self.panels = TextPane(), TextPane(), Horizontal()
        self.trends = TextPane(classes="overview--trends")
        self.trends.can_focus = False
        self.detail.add_class("overview--preview")
        self.detail.can_focus = self.spend.can_focus = self.latest.can_focus = False
        self.spend.fitted, self.latest.fitted = self._show_spend, self._show_latest
        self._rest: Timer | None = None
        self.needs = session.needs
        self._shown_by: tuple[object, ...] = ()
        self._noisy = False
        self._budgets: list[Budget] = []  # of which lines tell
        self._bad_only: bool | None = None  # None: while so much happens

    def words(self, need: Need) -> NeedWords:
        """What is snoozed says when it returns, and what is promised, in place of what follows."""
        now = self.look.clock.now()
        words = words_of(need, self.look.names, self.session.outlook, now)
        if need.snooze is None:
            return words
        told = need.snooze.told(now)
        return replace(words, why=plain("snoozed"), consequence=told, brief_consequence=None)

    def columns(self) -> list[Column[Need]]:
        look, names, words = self.look, self.look.names, self.words

        def level(need: Need) -> Level:
            return need.level if need.snooze is None else Level.OK

        def dim(need: Need, other: Tone = Tone.PLAIN) -> Tone:
            return other if need.snooze is None else Tone.DIM

        def bad(need: Need) -> Tone:
            return dim(need, TONES[need.level])

        def tone(need: Need) -> Tone:
            return dim(need, Tone.STRONG if need.level >= Level.CRITICAL else Tone.PLAIN)

        def drawn(need: Need, width: int) -> Cell:
            """A title that is too long gives way to the number of its tasks."""
            what = words(need).what
            return Cell(fit_ends(what, width) if need.alike else what, tone(need))

        def consequence(need: Need, width: int) -> Cell:
            """Where it is narrow, what comes first of it; but a promise is a person's words."""
            found = words(need)
            told = found.consequence
            while need.snooze is None and cell_width(told) > width and ", " in told:
                told = plain(told.rpartition(", ")[0])
            if cell_width(told) > width and found.brief_consequence is not None:
                told = found.brief_consequence
            return Cell(told, dim(need))

        def figure(need: Need, width: int) -> Cell:
            """Where it is narrow, its first part."""
            figure = words(need).figure
            fits = cell_width(figure) <= width
            return Cell(figure if fits else plain(PARTS.split(figure)[0]))

        def company(need: Need) -> SafeText:
            found = {names.company(names.company_of(r)) for r in need.alike or (need.record,)}
            return next(iter(found)) if len(found) == 1 else plain(f"{len(found)} companies")

        # fmt: off
        return [
            cells.level_column(level),
            cells.text_column("need", "WHY", (9, 9), lambda n: words(n).why,
                bad, sort_key=lambda n: words(n).why, aliases=("why", "kind")),
            cells.age_column(look, "age", "SINCE", lambda n: words(n).since, descending_first=True,
                cell=lambda n: Cell(look.wait(words(n).since), bad(n)),
                aliases=("since", "waits", "waiting")),
            cells.text_column("what", "WHAT", (22, 20), lambda n: words(n).what, tone,
                grow=3, aliases=("task", "title"), drawn=drawn),
            cells.text_column("consequence", "IF LEFT ALONE", (20, 18),
                lambda n: words(n).consequence, dim, drawn=consequence, grow=2, priority=2,
                ticks=True, aliases=("if", "left", "then")),
            cells.text_column("figure", "FIGURE", (10, 6), lambda n: words(n).figure, priority=1,
                sort_key=None, drawn=figure),
            cells.text_column("agent", "AGENT", (10, 6), lambda n: words(n).agent, priority=3),
            cells.text_column("company", "COMPANY", (13, 8), company, priority=4),
            cells.text_column("description", "ABOUT", (40, 30), lambda n: about_of(n.record, look),
                Tone.DIM, priority=6, grow=4, sort_key=None),
            *cells.told_columns(id=lambda n: safe(n.record.id),
                status=lambda n: getattr(n.record, "status", None)),
            cells.money_column("cost", "COST", (8, 8), lambda n: getattr(n.record, "cost", None),
                shown=False),
            cells.column("priority", "PRIORITY", (8, 8),
                lambda n: cells.priority_cell(getattr(n.record, "priority", None)), shown=False,
                filter_value=lambda n: getattr(n.record, "priority", None),
                rank=insight.rank_of_priority),
        ]
        # fmt: on

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self.notice
        yield self.table
        yield self.detail
        yield self.trends
        with self.panels:
            with Vertical(classes="overview--panel overview--spend"):
                yield self.spend_title
                yield self.spend
            with Vertical(classes="overview--panel"):
                yield self.latest_title
                yield self.latest

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(STACKED <= self.app.size.width < BESIDE, "-stacked")
        self.set_class(LOW <= self.app.size.height < ROOMY, "-low")
        self.detail.display = self.app.size.height >= LOW and not self.session.settings.thin
        self._lay_out()

    def _lay_out(self) -> None:
        self._shown_by = ()
        self.call_after_refresh(self.show_head)

    def _give_room(self) -> None:
        """The list has as many lines as it needs, where there are so many; what it leaves free is
        for trends, which have a little of a large terminal in any case, and the panels beneath.
        """
        size, room = self.app.size, self.size.height
        if not room:
            return  # hidden: when it is shown again
        is_low, is_large = self.has_class("-low"), size.width >= ROOMIEST and size.height >= LARGE
        room -= sum(each.size.height for each in (self.title_line, self.notice) if each.display)
        room -= (2 if is_low else 3) * self.detail.display
        if self.panels.display:
            room -= 5 if is_low else max(6, min(MOST_BENEATH, int(self.size.height * BENEATH)))
        trends = trend_items(self.session, 2) if is_large else []
        rows = -(-(len(self.table.rows.shown) + 1) // STEP) * STEP + 1
        is_short = self.panels.display and not self.incomplete
        lines = max(LEAST, min(rows if is_short else room, room - len(trends)))
        items = trend_items(self.session, room - lines)
        self.table.styles.height = lines
        self.trends.display = bool(items)
        self.trends.show(items)

    def show_change(self, change: Change) -> None:
        if self.display:
            self.show_head()
            if change.feed in (FeedName.ACTIVITY, *NAMES):
                self._show_latest()

    def arrive(self) -> None:
        """Shown again: what happened meanwhile is taken in, beside the list once there is room."""
        self.freezer.reload_due = True
        super().arrive()
        self._lay_out()

    def reload(self) -> None:
        self.freezer.reload_due = False
        self.show_needs()

    def show_head(self, phase: Phase | None = None) -> None:
        freshness = self.session.store.freshness
        phases = [freshness[feed].phase for feed in self.lists]
        shown_by = self.session.thin, *phases
        self.spend.fade(Phase.STALE in phases[2:4])
        self.latest.fade(phases[4] is Phase.STALE)
        if shown_by != self._shown_by:
            self._shown_by = shown_by
            self._show_spend()
            self._show_latest()
            self.show_detail()
        self._give_room()
        super().show_head(min(phases[:2], key=FIRST_TOLD.index))

    def show_needs(self) -> None:
        shown, table = {n.key: n for n in self.needs.shown}, self.table
        before = table.rows.records
        changed = [(key, need) for key, need in shown.items() if before.get(key) != need]
        if table.rows.frozen:
            # New needs wait, those that are over leave a tombstone.
            gone = [key for key in before if key not in shown]
            for key in gone:
                table.set_tombstone(key, self.resolution(key))
            table.apply(changed=changed, removed=gone)
            self.freezer.reload_due = True
        elif list(shown) == list(before):
            table.apply(changed=changed)
        else:
            table.load(shown.items())
            self.freezer.reload_due = False
        table.renew()
        self.show_head()
        self.show_detail()
        self._show_spend()

    def resolution(self, row_id: str) -> Cell:
        """That a need is settled is said only where its record is there and shows it."""
        store, over = self.session.store, False
        match self.subject(row_id):
            case Task():
                return super().resolution(row_id)
            case Budget(id=key, scope=scope) if budget := store.budgets[scope].get(key):
                over = self.look.level_of(budget) is Level.OK
            case model.Alert(id=key) if alert := store.alerts.get(key):
                over = not insight.is_open(alert)
            case model.Agent(id=key) if agent := store.agents.get(key):
                over = agent.state is model.AgentState.ACTIVE
        return Cell(plain("settled" if over else "left the list"), Tone.DIM)

    def subject(self, row_id: str | None = None) -> model.Record | None:
        need: Need | None = super().subject(row_id)
        return None if need is None else need.record

    def need(self) -> Need | None:
        row_id = self.table.view.cursor
        return None if row_id is None else self.table.rows.record(row_id)

    def footer_actions(self) -> dict[str, str]:
        offers, need = super().footer_actions(), self.need()
        if need is not None and need.alike and "tasks.approve" in offers:
            offers["tasks.approve"] = f"approve {fmt.count(len(need.alike))}"
        return offers

    def action_snooze(self) -> None:
        """Ask for how long, or take the snooze off."""
        need = self.need()
        if need is None:
            self.frame.say("put the cursor on a need to snooze it")
        elif need.snooze is None:
            self.frame.dialogs.form("overview.snooze")
        else:
            self.snooze(need, None)

    def snooze(self, need: Need, snooze: Snooze | None) -> None:
        """Put it off, at the bottom then, or no longer; the cursor goes on to the next line."""
        rows = self.table.rows
        after = [*rows.shown[self.table.view.cursor_at + 1 :], *reversed(rows.shown)]
        for row_id in after[:1] if snooze else ():
            self.table.move_cursor_to(row_id)
        self.session.snoozes.set(need.keys, snooze)
        self.table.release()
        self.session.needs_refresh.start(self)

    def action_approve(self) -> None:
        if (need := self.need()) is not None and need.alike:
            self.frame.dialogs.approve_many(need.alike)
        else:
            super().action_approve()

    def title(self, *about: SafeText) -> tuple[list[Cell], list[Cell]]:
        levels, queue = self.needs.levels, self.needs.queue
        critical, warning = levels[Level.CRITICAL], levels[Level.WARNING]
        pending = self.session.store.pending
        (_, _, *filtered), right = super().title()
        cells = [Cell(plain(" NEEDS YOU "), Tone.STRONG)]
        if critical:
            cells.append(Cell(plain(f"{signs.critical} {fmt.count(critical)} "), Tone.CRITICAL))
        if warning:
            cells.append(Cell(plain(f"{signs.warning} {fmt.count(warning)} "), Tone.WARNING))
        listed = map(self.table.rows.record, self.table.rows.shown)
        shown = sum(len(need.keys) for need in listed if need is not None and not need.snooze)
        if self.filter_text or critical + warning > self.needs.listed:
            counted = plain(f"{fmt.count(shown)} of {fmt.count(critical + warning)} shown")
            cells += [Cell(counted), *filtered, Cell(plain(" "))]
        if (critical or warning) and self.incomplete:
            cells.append(Cell(plain("so far "), Tone.DIM))
        if snoozed := self.needs.snoozed:
            cells.append(Cell(plain(f"{fmt.count(len(snoozed))} snoozed "), Tone.DIM))
        is_read = self.session.store.freshness[FeedName.PENDING].answered_at is not None
        if is_read and self.session.is_scope_shown():
            oldest = f", the oldest {self.look.wait(queue.oldest)}" if queue.oldest else ""
            cells.append(Cell(plain(f" {fmt.count(queue.count)} tasks wait{oldest}")))
        cells += told_cells(pending.listing, len(pending))
        if agents := staff(self.session.needs.agents.by_state):
            right.append(Cell(plain(f"{agents} "), Tone.DIM))
        return cells, right

    def nothing(self) -> SafeText:
        is_good, since = self.session.scope_phase() is Phase.LIVE, ""
        if self.needs.quiet_since is not None:
            at = fmt.clock(model.Moment(self.needs.quiet_since), self.look.clock.now())
            since = f" since {at.removesuffix(at[5:]) if at[2:3] == ':' else at}"
        return plain(f"{signs.good if is_good else signs.unknown} {super().nothing()}{since}")

    def show_detail(self, *, top: bool = False) -> None:
        """What the line is about; the screen that enter opens has the rest."""
        need, width = self.need(), self.detail.scrollable_content_region.width
        items = [] if need is None else preview_items(need, self.words(need), self.session, width)
        self.detail.show(items)

    def _show_moved(self) -> None:
        super()._show_moved()
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(REST, self._read_trace, name="trace")

    async def _read_trace(self) -> None:
        """Where a hand has put the cursor to rest, the task's trace is read, once."""
        task, session, self._rest = self.subject(), self.session, None
        is_live = session.store.freshness[FeedName.PENDING].phase is Phase.LIVE
        if not (self.table.view.touched and is_live and self.detail.display and not session.thin):
            return
        if isinstance(task, Task) and not task.shared_id and task.id not in session.traces:
            await session.trace_of(task)
            self.show_detail()

    def show_forecasts(self) -> None:
        self._give_room()
        self._show_spend()
        self.show_detail()

    def tick(self) -> None:
        self.session.outlook.want(self._budgets)
        super().tick()

    def _show_spend(self) -> None:
        width, height = self.spend.scrollable_content_region.size
        budgets = self._budgets = money_of(self.session, height)
        lines = money_items(budgets, self.session, width)
        self.spend.show(lines or [self._instead(FeedName.BUDGET, "no budgets")])
        period = next((b for b in budgets if b.period or b.resets), None)
        words = plain("") if period is None else day_of(period, self.look.clock.now())
        self.spend_title.show([Cell(plain(" SPEND "), Tone.STRONG), Cell(words)])

    def _show_latest(self) -> None:
        activity, now = self.session.store.activity, self.look.clock.now()
        self._noisy = is_noisy(activity, self._noisy)
        bad_only = self._noisy if self._bad_only is None else self._bad_only
        lines = latest_items(activity, self.look, self.latest.size, bad_only=bad_only)
        if bad_only and not lines and activity:
            none = plain(f"no {signs.critical} or {signs.warning} among the latest")
            lines = [Text(none, Tone.DIM)]
        self.latest.show(lines or [self._instead(FeedName.ACTIVITY, "nothing happened yet")])
        zone = Cell(plain(f"  {fmt.zone(now)}"), Tone.DIM)
        bad, keys = f"{signs.critical} {signs.warning} only", self.session.settings.keys
        key = shown_key("overview.latest", keys)
        right = [Cell(plain(f"{bad}  "), Tone.DIM)] * bad_only
        if key and (bad_only or self._noisy):
            words = " all " if bad_only else f" {bad} "
            right += [Cell(plain(key), Tone.ACCENT), Cell(plain(words), Tone.DIM)]
        self.latest_title.show([Cell(plain(" LATEST"), Tone.STRONG), zone], right)

    def action_latest(self) -> None:
        self._bad_only = not (self._noisy if self._bad_only is None else self._bad_only)
        self._show_latest()

    def _instead(self, feed: FeedName, none: str) -> Item:
        phase = self.session.store.freshness[feed].phase
        return Text(without_lines(phase, self.session.none_here(none)), Tone.DIM)

    def open(self, row_id: str) -> None:
        match self.subject():
            case Task() as task if (need := self.need()) and need.kind is NeedKind.STUCK:
                start_worker(self, partial(self._open_read, task), f"read {task.id}")
            case Task() as task if self.session.store.pending.get(task.id) is None:
                decision = self.session.decisions.by_task.get(task.id)
                if decision is not None:
                    title = self.session.titled(task.title, task)
                    self.frame.say(f"{title}: {text_of(self.session, decision)}")
                    self.session.decisions.acknowledge(task.id)
            case Task(title=title) as task if (need := self.need()) and need.alike:
                words = max(title.split('"'), key=len)  # a filter has no other way to quote one
                self.frame.go("tasks", task.id, filter=f'task:"{words}"')
            case Budget(scope=scope, id=id_):
                self.frame.go("budget", f"{scope}:{id_}", is_open=True)
            case record if record is not None:
                self.frame.go(PLACE_OF[type(record).__name__.lower()], record.id, is_open=True)

    async def _open_read(self, task: Task) -> None:
        """Open a task that no list has until all are read."""
        if self.session.store.tasks.get(task.id) is None:
            await self.session.poller.read_again(FeedName.TASKS)
        self.frame.go("tasks", task.id, is_open=True)

    def action_raw(self) -> None:
        """The Overview has no detail; the screen that enter opens has."""
        self.frame.say("enter opens the line; x shows its hidden characters there")
