"""What needs a person, in five seconds; beneath it the money and what happened last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable
from functools import partial
from itertools import islice
from typing import TypeVar

import msgspec
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from agentco_tui import format as fmt
from agentco_tui import model
from agentco_tui.background import at_once, in_slices, start_worker
from agentco_tui.live import insight
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import Level
from agentco_tui.live.store import Change
from agentco_tui.model import Budget, BudgetScope, Task
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES, Look
from agentco_tui.screens.decision_notes import said_of
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView, told_cells
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, cell_width, fit, plain, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.text_pane import Cells, Item, Text, TextPane
from agentco_tui.widgets.tones import Cell, Tone, bar


class NeedLine(msgspec.Struct, frozen=True):
    why: SafeText
    since: float | None
    what: SafeText
    agent: SafeText
    figure: SafeText  # the one that matters: priority and trust, or spent of limit


def line_of(need: insight.Need, look: Look) -> NeedLine:
    names, record = look.names, need.record
    match record:
        case Task():
            trust = look.trust_of(record)
            words = (record.priority, None if trust is None else f"trust {fmt.number(trust)}")
            told = f" {signs.separator} ".join(word for word in words if word)
            return NeedLine(
                plain("approve"),
                insight.waiting_since(record),
                cells.title_cell(record).text,
                names.agent(record.agent),
                plain(told) if told else signs.missing,
            )
        case Budget(share=share):
            why = "budget spent" if share is not None and share >= 1 else "budget low"
            told = f"{cells.share_text(record)} of {fmt.money(record.limit)}"
            figure = cells.spent_text(record) if record.unlimited else plain(told)
            what = names.budget(record)
            agent = what if record.scope is BudgetScope.AGENT else signs.missing
            return NeedLine(plain(why), None, what, agent, figure)
        case model.Alert(spent=spent, limit=limit):
            figure, since = fmt.percent(record.share), record.at.at if record.at else None
            if spent is not None and limit is not None:
                figure = plain(f"{fmt.money(spent)} of {fmt.money(limit)}")
            return NeedLine(plain("alert"), since, record.text, names.agent(record.agent), figure)
        case model.Agent():
            what = record.pause_reason or record.status or plain("error")
            agent = record.name or names.agent(model.Ref(id=record.id))
            return NeedLine(plain("agent failed"), None, what, agent, record.model or signs.missing)


R = TypeVar("R", Task, model.Agent, Budget, model.Alert)

FIRST_TOLD = (Phase.LOADING, Phase.STALE, Phase.FAILED, Phase.LIVE)  # of the first two feeds
NOT_AT_WORK = (model.AgentState.PAUSED, model.AgentState.STOPPED, model.AgentState.ERROR)
MOST_NEEDS = 500  # lines; nobody reads further, and the queue has them all
SECONDS_BETWEEN_LOOKS = 10  # a task becomes urgent by waiting alone
MANY = 5_000  # tasks above which they are looked through in slices
MINUTE = 60.0
GAUGE, LEAST_GAUGE = 14, 3
BESIDE_GAUGE = 12  # columns of a spend line for blanks, per cent and sign, which must stay whole
NARROW_SPEND = 50  # columns below which the spend panel leaves the sum out

Found = tuple[list[insight.Need], tuple[int, int]]
"""What needs a person, the worst first, and how many are critical and how many warnings."""


class OverviewView(ListView[insight.Need]):
    place = "overview"
    empty = "nothing needs you"
    lists = (
        FeedName.PENDING,
        FeedName.ALERTS,
        FeedName.BUDGET,
        FeedName.COMPANY_BUDGETS,
        FeedName.ACTIVITY,
    )
    gone = "settled"
    task_rows = f"{insight.NeedKind.TASK}:"
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
        self.latest_title = StatusLine(classes="overview--title")
        self.spend, self.latest = TextPane(), TextPane()
        self.spend.can_focus = self.latest.can_focus = False
        self._levels = (0, 0)
        self._shown_by: tuple[object, ...] = ()
        self._looking = self._look_again = self._behind = False
        self._loaded: dict[str, insight.Need] = {}
        self._ticks = 0
        self._decisions_open: tuple[str, ...] = ()

    def columns(self) -> list[Column[insight.Need]]:
        look, names = self.look, self.look.names
        line = partial(line_of, look=look)

        # fmt: off
        return [
            cells.level_column(lambda n: n.level),
            cells.text_column("need", "WHY", (13, 12), lambda n: line(n).why,
                lambda n: TONES[n.level], sort_key=lambda n: line(n).why, aliases=("why", "kind")),
            cells.age_column(look, "age", "SINCE", lambda n: line(n).since, descending_first=True,
                cell=lambda n: Cell(look.age(line(n).since), TONES[n.level]),
                aliases=("since", "waits", "waiting")),
            cells.text_column("what", "WHAT", (24, 22), lambda n: line(n).what, Tone.STRONG,
                grow=3, aliases=("task", "title")),
            cells.text_column("agent", "AGENT", (10, 6), lambda n: line(n).agent, priority=2),
            cells.text_column("company", "COMPANY", (15, 8),
                lambda n: names.company(names.company_of(n.record)), priority=3),
            cells.text_column("figure", "FIGURE", (22, 12), lambda n: line(n).figure, priority=1,
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
        self._shown_by = ()
        self.call_after_refresh(self.show_head)

    def take(self, change: Change) -> None:
        if not self.display:
            self._behind = True
            return
        if change.feed is not FeedName.ACTIVITY:
            self._find_needs()
        self.show_head()
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
        self._shown_by = ()
        self._find_needs()
        self.show_head()

    def tick(self) -> None:
        self._ticks += 1
        if self._ticks % SECONDS_BETWEEN_LOOKS == 0:
            self._find_needs()
        super().tick()
        self._show_latest()

    def show_head(self, phase: Phase | None = None) -> None:
        freshness = self.session.store.freshness
        phases = [freshness[feed].phase for feed in self.lists]
        shown_by = self.session.thin, *phases
        if shown_by != self._shown_by:
            self._shown_by = shown_by
            self._show_spend()
            self._show_latest()
        super().show_head(min(phases[:2], key=FIRST_TOLD.index))

    def take_decisions(self, task_ids: Iterable[str] = ()) -> None:
        now = tuple(decision.task.id for decision in self.session.decisions.open)
        if self.display and self._decisions_open != now:
            self._decisions_open = now
            self._find_needs()
            self.show_head()
        super().take_decisions(task_ids)

    def _find_needs(self) -> None:
        if self._looking:
            self._look_again = True
        elif len(self.session.store.pending) > MANY:
            start_worker(self, self._look_in_slices, "finding what needs you")
        else:
            self._show_needs(at_once(self._look()))

    async def _look_in_slices(self) -> None:
        self._looking = self._look_again = True
        try:
            while self._look_again and self.display:
                self._look_again = False
                self._show_needs(await in_slices(self._look()))
                self.show_head()
        finally:
            self._looking = False

    def _look(self) -> Generator[None, None, Found]:
        store, limits, now = self.session.store, self.look.limits, self.look.clock.now()
        tasks = self._in_scope(store.pending)
        first, counted = yield from insight.worst_tasks(tasks, now, limits, MOST_NEEDS)
        budgets: list[Budget] = []
        for collection in (store.budget, store.company_budgets, store.agent_budgets):
            budgets += yield from insight.picked(
                collection, lambda b: insight.budget_level(b, limits) >= Level.WARNING
            )
        agents = yield from insight.picked(store.agents, insight.is_failing)
        found = insight.needs(
            pending=first,
            budgets=self._in_scope(budgets),
            alerts=self._in_scope(store.alerts),
            agents=self._in_scope(agents),
            now=now,
            limits=limits,
        )
        there = {need.record.id for need in found if need.kind is insight.NeedKind.TASK}
        # Before all else: what was said yes to, and is not known to have been done.
        undecided = [
            insight.Need(Level.WARNING, insight.NeedKind.TASK, decision.task, ())
            for decision in self.session.decisions.open
            if decision.task.id not in there
        ]
        levels = [need.level for need in found if need.kind is not insight.NeedKind.TASK]
        critical = levels.count(Level.CRITICAL)
        warnings = len(levels) - critical + counted[Level.WARNING] + len(undecided)
        return [*undecided, *found], (critical + counted[Level.CRITICAL], warnings)

    def _in_scope(self, records: Iterable[R]) -> Iterable[R]:
        company_of, scope = self.session.names.company_of, self.session.poller.query.company
        if scope is None:
            return records
        return (record for record in records if insight.in_scope(company_of(record), scope))

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
            table.apply(changed=changed)
        else:
            table.load(shown.items())
            self._reload_due = False
            # While the first picture is being put together and nobody's hand is on it, the cursor
            # stands on the worst, whichever answer came first.
            freshness = self.session.store.freshness
            feeds = (*self.lists, FeedName.AGENT_BUDGETS, FeedName.AGENTS)
            loading = any(freshness[feed].phase is Phase.LOADING for feed in feeds)
            if loading and self._touched_at == 0.0:
                table.action_first()
        self._loaded = shown
        table.renew()

    def subject(self, row_id: str | None = None) -> model.Record | None:
        need: insight.Need | None = super().subject(row_id)
        return None if need is None else need.record

    def title(self, *about: SafeText) -> tuple[list[Cell], list[Cell]]:
        pending, (critical, warning) = self.session.store.pending, self._levels
        queue, told = self.session.waiting.of(self.session.poller.query.company), pending.listing
        (_, _, *filtered), right = super().title()
        cells = [Cell(plain(" NEEDS YOU "), Tone.STRONG)]
        if critical:
            cells.append(Cell(plain(f"{signs.critical} {fmt.count(critical)} "), Tone.CRITICAL))
        if warning:
            cells.append(Cell(plain(f"{signs.warning} {fmt.count(warning)} "), Tone.WARNING))
        if self.session.store.freshness[FeedName.PENDING].answered_at is not None:
            oldest = f", the oldest {self.look.age(queue.oldest)}" if queue.oldest else ""
            more = "at least " if told.capped or told.more else ""
            waits = f" {more}{fmt.count(queue.count)} tasks wait{oldest}"
            cells.append(Cell(plain(waits)))
        unread: model.Listing[Task] = model.Listing(records=(), unread=told.unread)
        cells += [*told_cells(unread, queue.count), *filtered]
        if agents := self.session.store.agents.records:
            states = Counter(agent.state for agent in agents.values())
            words = [f"{fmt.count(len(agents))} agents"]
            words += [f"{fmt.count(states[each])} {each}" for each in NOT_AT_WORK if states[each]]
            right.append(Cell(plain(", ".join(words) + " "), Tone.DIM))
        return cells, right

    def show_detail(self, *, top: bool = False) -> None:
        """The screen that enter opens has it."""

    def _show_spend(self) -> None:
        store, scope = self.session.store, self.session.poller.query.company
        companies = [b for b in store.company_budgets if scope is None or b.id == scope]
        companies.sort(key=lambda budget: -(budget.share or -1))
        whole = store.whole_budget if scope is None else None
        if scope is not None and not companies:
            companies = list(self._in_scope(store.agent_budgets))
        shown = companies if whole is None else [whole, *companies]
        width = self.spend.scrollable_content_region.width
        sums = [
            cells.spent_text(budget, short=True)
            if width >= NARROW_SPEND or budget.unlimited
            else plain(f"of {fmt.money(budget.limit, short=True)}")
            for budget in shown
        ]
        room = width - BESIDE_GAUGE - max(map(cell_width, sums), default=0)
        name_width = max(1, min(18, max(15, width // 5), room - LEAST_GAUGE))
        gauge = max(LEAST_GAUGE, min(GAUGE, room - name_width))
        lines: list[Item] = []
        for budget, of in zip(shown, sums, strict=True):
            level, share = self.look.level_of(budget), budget.share
            is_all = budget.scope is BudgetScope.ALL
            name = plain("all") if is_all else self.session.names.budget(budget)
            line = [Cell(fit(name, name_width)), Cell(plain(" "))]
            if share is not None and not budget.unlimited:
                line.append(Cell(bar(share, gauge, track=not self.session.thin), TONES[level]))
                line.append(Cell(fit(cells.share_text(budget), 6, "right"), TONES[level]))
            line.append(Cell(plain(f" {cells.level_sign(level)} "), TONES[level]))
            lines.append(Cells(tuple(line), (Cell(of, Tone.DIM),)))
        self.spend.show(lines or [self._instead(FeedName.BUDGET, "no budgets")])
        period = next((b.period for b in shown if b.period), None)
        self.spend_title.show([Cell(plain(" SPEND "), Tone.STRONG), Cell(period or plain(""))])

    def _show_latest(self) -> None:
        names, lines = self.session.names, list[Item]()
        for entry in islice(reversed(self.session.store.activity), max(1, self.latest.size.height)):
            at, level = entry.at.at if entry.at else None, cells.SEVERITY_LEVELS[entry.severity]
            # The age of the newest only by its bound: a dozen of them counting seconds would cost
            # more on the line than all else on this screen.
            new = at is not None and self.look.clock.now() - at < MINUTE
            age = fit(plain("<1 m") if new else self.look.age(at), 5, "right")
            sign = Cell(plain(f" {cells.level_sign(level)} "), TONES[level])
            who = Cell(plain(f"{names.agent(entry.agent or entry.actor)} "), Tone.ACCENT)
            lines.append(Cells((Cell(age, Tone.DIM), sign, who, Cell(entry.text, TONES[level]))))
        self.latest.show(lines or [self._instead(FeedName.ACTIVITY, "nothing happened yet")])
        self.latest_title.show([Cell(plain(" LATEST"), Tone.STRONG)])

    def _instead(self, feed: FeedName, none: str) -> Item:
        """What stands in a panel without lines: nothing there is not the same as nothing read."""
        words = {Phase.LOADING: "loading…", Phase.FAILED: "nothing could be read yet"}
        return Text(plain(words.get(self.session.store.freshness[feed].phase, none)), Tone.DIM)

    def open(self, row_id: str) -> None:
        match self.subject():
            case Task() as task if self.session.store.pending.get(task.id) is None:
                decision = self.session.decisions.by_task.get(task.id)
                if decision is not None:
                    self.main.say(f"{task.title}: {said_of(self.session, decision)}")
                    self.session.decisions.look_at(task.id)
            case Task() as task:
                self.main.show_record("tasks", task.id)
            case Budget() as budget:
                self.main.show_record("budget", f"{budget.scope}:{budget.id}")
            case model.Alert(agent=agent, company=company):
                ref = agent or company
                scope = "agent" if agent else "company"
                self.main.show_record("budget", f"{scope}:{ref.id}" if ref else "all:all")
            case model.Agent() as agent_record:
                self.main.show_record("agents", agent_record.id)

    def action_raw(self) -> None:
        """The Overview has no detail; the screen that enter opens has."""
        self.main.say("enter opens the line; x shows its hidden characters there")
