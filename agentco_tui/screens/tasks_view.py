"""The task queue: what waits for a person, the longest wait first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter

from textual import on
from textual.timer import Timer

from agentco_tui.actions.outcome import GOOD
from agentco_tui.live import insight
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import Level
from agentco_tui.model import SharedTask, Task
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES, Look
from agentco_tui.screens.decision_notes import READ_AFTER, fate_of
from agentco_tui.screens.key_app import ListTable, bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.tones import Cell, Tone


def task_columns(look: Look, *, statuses: bool) -> list[Column[Task]]:
    """The queue's columns; with `statuses` for tasks past waiting as well."""
    names = look.names

    def level(task: Task) -> Level:
        return Level.OK if statuses else insight.task_level(task, look.clock.now(), look.limits)

    def levels() -> Callable[[Task], Level]:
        """`level` for many at one moment."""
        now, limits = look.clock.now(), look.limits
        return lambda task: insight.task_level(task, now, limits)

    def waiting(task: Task) -> Cell:
        since = insight.waiting_since(task)
        return Cell(look.age(since), Tone.DIM if since is None else TONES[level(task)])

    def title(task: Task) -> Cell:
        return cells.title_cell(task, Tone.STRONG if level(task) is Level.CRITICAL else Tone.PLAIN)

    # fmt: off
    columns: list[Column[Task]] = [
        cells.level_column(level, ticks=True, sort_key=level, descending_first=True,
            sort_reader=None if statuses else levels),
        cells.age_column(look, "waiting", "AGE" if statuses else "WAITS", insight.waiting_since,
            cell=waiting, descending_first=True, aliases=("age", "wait", "waits")),
        cells.column("priority", "  PRIORITY", (10, 6),
            lambda task: cells.priority_cell(task.priority), priority=1,
            sort_key=lambda task: insight.priority_rank(task.priority),
            shared=attrgetter("priority")),
        cells.column("task", "TASK", (28, 28), title, grow=3, aliases=("title",),
            sort_key=lambda task: task.title.casefold(), shared=attrgetter("title")),
        # Its name as it came with the task, which many agents share, else by who it is.
        cells.text_column("agent", "AGENT", (10, 6), lambda task: names.agent(task.agent),
            priority=2, shared=lambda task: task.agent and (task.agent.name or task.agent)),
        # Its own, else that of its agent.
        cells.text_column("company", "COMPANY", (15, 8),
            lambda task: names.company(names.company_of(task)), priority=3,
            shared=lambda task: task.company or (task.agent,)),
        cells.number_column("trust", "TRUST", (5, 5),
            lambda task: cells.trust_cell(look.trust_of(task)), look.trust_of, priority=5,
            ticks=True,
            shared=lambda task: task.agent.id if task.trust is None and task.agent else task.trust),
    ]
    status: Column[Task] = cells.column("status", "  STATUS", (13, 8), cells.task_status_cell,
        sort_key=lambda task: task.status or "", aliases=("state",))
    # fmt: on
    return [*columns[:2], status, *columns[2:]] if statuses else columns


PENDING = "pending"
ALL = "all"


class TasksView(ListView[Task]):
    place = "tasks"
    task_rows = ""
    sort = ("waiting", True)
    empty = "no task waits for a person"
    can_mark = True
    lists: tuple[FeedName, ...] = (FeedName.PENDING,)
    BINDINGS = bindings_of("tasks")

    shows = PENDING  # the same, in words
    showing = PENDING  # PENDING, ALL, or one of the platform's own status words
    _reading: tuple[Task, Timer] | None = None  # what stands in the detail, until it counts as read
    _marked: tuple[str, ...] = ()  # what was marked in sight when that was told last
    _hidden_marks: Mapping[str, Task] = {}  # while another company or status is listed
    _leaving = False  # whether the list that is there is about to be another

    def make_table(self) -> ListTable[Task]:
        table = super().make_table()
        if self.showing != PENDING:
            table.sort_by("waiting", False)
        return table

    def columns(self) -> list[Column[Task]]:
        return task_columns(self.look, statuses=self.showing != PENDING)

    def search_text(self, record: Task) -> str:
        names = self.session.names
        agent, company = names.agent(record.agent), names.company(names.company_of(record))
        return "\n".join((record.title, agent, company, record.priority or "", record.status or ""))

    def wanted(self, record: Task) -> bool:
        scope = self.session.poller.query.company
        if scope is not None and not insight.in_scope(self.session.names.company_of(record), scope):
            return False
        if self.showing == PENDING:
            return insight.waits_for_person(record)
        return self.showing in (ALL, self.word(record))

    @staticmethod
    def word(task: Task) -> str:
        return (task.status or task.state or "no status").casefold()

    def title(self, *about: SafeText) -> tuple[list[Cell], list[Cell]]:
        """As for every list, with how many are marked, which a long filter must not cut off."""
        left, right = super().title(plain(self.shows))
        marked = len({*self._hidden_marks, *self.table.marked})
        cells = [Cell(plain(f"{signs.mark} {marked} marked  "), Tone.ACCENT)] if marked else []
        return left, [*cells, *right]

    def go_to(self, row_id: str) -> bool:
        """As for every list; a task that waits is looked for where those that wait are shown."""
        if super().go_to(row_id):
            return True
        if self.showing == PENDING or self.session.store.pending.get(row_id) is None:
            return False
        self.show_status(PENDING)
        return super().go_to(row_id)

    def action_statuses(self) -> None:
        """Show the next: all, then each status that occurs, then pending again."""
        words = sorted({self.word(task) for task in self.session.store.tasks} - {PENDING})
        cycle = [PENDING, ALL, *words]
        at = cycle.index(self.showing) if self.showing in cycle else 0
        self.show_status(cycle[(at + 1) % len(cycle)])

    def show_status(self, showing: str) -> None:
        before, was_pending, pending = self.table, self.showing == PENDING, showing == PENDING
        self.showing, self.shows = showing, "all statuses" if showing == ALL else showing
        if was_pending is not pending:
            if was_pending:
                self.leave_scope()
            self.lists = (FeedName.PENDING if pending else FeedName.TASKS,)
            # A table with other columns takes the place of the one there is.
            self.table = self.opened_from = self.make_table()
            self._marked = ()
            before.parent.mount(self.table, before=before)  # type: ignore[union-attr]
            before.remove()
            if self.filter_text and self.table.set_filter(self.filter_text) is not None:
                self.filter_text = ""
            if before.has_focus:
                self.table.focus()
            self.main.set_paces()
        self.rescope()

    def show_detail(self, *, top: bool = False) -> None:
        """The detail of the line; what stands there for a while, unchanged, counts as read."""
        super().show_detail(top=top)
        task = self.subject()
        seen = task is not None and (self.reading or self.has_class("-wide"))
        if self._reading is not None and (not seen or self._reading[0] != task):
            self._reading[1].stop()
            self._reading = None
        if seen and self._reading is None and self.is_attached:
            timer = self.set_timer(READ_AFTER, partial(self._count_as_read, task), name="read")
            self._reading = task, timer

    def _count_as_read(self, task: Task) -> None:
        if self.subject() == task and self.display and self.app.screen is self.screen:
            self.session.read[task.id] = task.content
            self.session.decisions.look_at(task.id)

    def marked(self) -> dict[str, SafeText | None]:
        """The ids of all marked tasks, each with why its line is not in sight, if so."""
        names, why = self.session.names, dict[str, SafeText | None]()
        scope = names.scope(self.session.poller.query.company)
        for row_id, task in self._hidden_marks.items():
            words = f"the list shows {self.shows}"
            if not self.session.is_in_scope(task):
                company = names.company_of(task)
                whose = f"of {names.company(company)}" if company else "its company is not known"
                words = f"{whose}, and {scope} is shown"
            why[row_id] = plain(f"marked, but hidden: {words}")
        shown, filtered = set(self.table.rows.shown), plain("marked, but hidden by the filter")
        return {**why, **{i: None if i in shown else filtered for i in self.table.marked}}

    @on(RecordTable.MarksChanged)
    def _marks_changed(self, message: RecordTable.MarksChanged) -> None:
        """Tell of marks that went because the task waits no more, not of those that a hand took."""
        if message.table is not self.table:
            return
        before, self._marked, rows = self._marked, self.table.marked, self.table.rows
        left = set(self._marked)
        records = {i: rows.record(i) for i in before if i not in left}
        self._tell_lost(
            {i: t.title if t else i for i, t in records.items() if t is None or rows.ghost_note(i)}
        )
        self.show_head()

    def _tell_lost(self, titles: Mapping[str, str]) -> None:
        """What became of marked tasks that wait no more; those approved from here are known."""
        known = self.session.decisions.by_task
        lost = [
            i
            for i in titles
            if i not in known or ((found := known[i].outcome) and found.kind not in GOOD)
        ]
        if lost:
            more = f", and {len(lost) - 1} more" if len(lost) > 1 else ""
            words = f"{titles[lost[0]]} ({fate_of(self.session, lost[0]).text}){more}"
            words = f"{signs.warning} not marked any more, because it left the list: {words}"
            self.main.say(words, bad=True)

    def leave_scope(self) -> None:
        """Another list is about to be shown: what is marked stays so, out of sight."""
        records = {row_id: self.table.rows.record(row_id) for row_id in self.table.marked}
        marked = {row_id: task for row_id, task in records.items() if task is not None}
        self._hidden_marks, self._marked = {**self._hidden_marks, **marked}, ()
        self._leaving = True
        self.table.clear_marks()

    def unmark(self, task_ids: Iterable[str]) -> None:
        ids = set(task_ids)
        self.table.mark(ids, False)
        self._hidden_marks = {i: task for i, task in self._hidden_marks.items() if i not in ids}
        self.show_head()

    def rescope(self) -> None:
        self._leaving = False
        super().rescope()

    def show_head(self, phase: Phase | None = None) -> None:
        """Mark again first what has come into sight; of what waits no more that is told."""
        freshness, pending = self.session.store.freshness, self.session.store.pending
        known, hidden = freshness[FeedName.PENDING], self._hidden_marks
        if (
            hidden
            and not self._leaving
            and self.showing == PENDING
            and known.answered_at is not None
        ):
            records = self.table.rows.records
            back = [row_id for row_id in hidden if row_id in records]
            whole = known.phase is Phase.LIVE and pending.listing.whole
            out = {i: task for i, task in hidden.items() if whole and i not in records}
            lost = {i: task.title for i, task in out.items() if self.session.is_in_scope(task)}
            gone = {*back, *lost}
            self._hidden_marks = {i: task for i, task in hidden.items() if i not in gone}
            self.table.mark(back)
            if back:
                self.touch()
            self._tell_lost(lost)
        super().show_head(phase)

    def action_back(self) -> None:
        """As for every list; marks that are hidden with their list go last."""
        if not self._hidden_marks or self.reading or self.filter_text or self.table.marked:
            super().action_back()
            return
        self._hidden_marks = {}
        self.show_head()

    def action_mark(self, change: str) -> None:
        """Let the table mark or unmark; what can't be acted on keeps no mark."""
        getattr(self.table, f"action_{change}")()
        for row_id in self.table.marked:
            task = self.table.rows.record(row_id)
            if isinstance(task, SharedTask):
                self.table.mark([row_id], False)
                self.main.say(f"not marked: {task.refusal}")
        self.show_head()

    def action_approve(self) -> None:
        """Ask whether to approve what is marked, else the task under the cursor."""
        marked, store, hidden = self.marked(), self.session.store, self._hidden_marks
        found = (
            self.table.rows.record(i) or store.pending.get(i) or store.tasks.get(i) or hidden.get(i)
            for i in marked
        )
        tasks: Sequence[Task] = [task for task in found if task is not None]
        here, note = self.subject(), None
        if not tasks:
            super().action_approve()
        elif len(tasks) > 1:
            self.main.dialogs.approve_many(tasks, {id_: why for id_, why in marked.items() if why})
        else:
            if here is not None and here.id != tasks[0].id:
                note = plain(f"the marked task, not the one under the cursor ({here.title})")
            words = "; ".join(filter(None, (note, marked[tasks[0].id])))
            self.main.dialogs.approve(tasks[0], plain(words) if words else None)
