"""The task queue: what waits for a person, the longest wait first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from textual.timer import Timer

from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import in_scope, waits_for_person
from agentco_tui.model import SharedTask, Task
from agentco_tui.screens.base_view import ListTable
from agentco_tui.screens.columns.task_columns import task_columns
from agentco_tui.screens.decision_notes import (
    READ_AFTER,
    decided_here,
    decision_items,
    fate_of,
)
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.text_pane import Item
from agentco_tui.widgets.tones import Cell, Tone

PENDING = "pending"
ALL = "all"


class TasksView(ListView[Task]):
    """Pending tasks; one key shows those of other statuses."""

    place = "tasks"
    heading = "TASKS"
    sort = ("waiting", True)
    empty = "no task waits for a person"
    can_mark = True
    lists: tuple[FeedName, ...] = (FeedName.PENDING,)
    task_rows = ""

    BINDINGS = bindings_of("tasks")

    showing = PENDING
    """PENDING, ALL, or one of the platform's own status words."""
    _reading: tuple[Task, Timer] | None = None
    """The task that stands in the detail, and when it counts as read."""
    _hidden_marks: Mapping[str, Task] = {}
    """What is marked among tasks that wait, while the list is of another company or status."""

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
        """Whether the task is of the company in scope and of the status shown."""
        scope = self.session.company
        if scope is not None and not in_scope(self.session.names.company_of(record), scope):
            return False
        if self.showing == PENDING:
            return waits_for_person(record)
        return self.showing in (ALL, self.word(record))

    @staticmethod
    def word(task: Task) -> str:
        """The status a task is grouped by."""
        return (task.status or task.state or "no status").casefold()

    def title_parts(self) -> list[SafeText]:
        """Which statuses are shown."""
        return [plain("all statuses" if self.showing == ALL else self.showing)]

    def fate(self, record_id: str) -> Cell:
        return fate_of(self.session, record_id)

    def newest(self, record: Task) -> Task:
        """Of a task that has left the list, what was read of it since, so that line and detail
        agree.
        """
        decision = self.session.decisions.of(record.id)
        found = None if decision is None or decision.outcome is None else decision.outcome.record
        return found if isinstance(found, Task) and self.table.rows.is_ghost(record.id) else record

    def detail_head(self, record: Task) -> list[Item]:
        decision = self.session.decisions.of(record.id)
        return [] if decision is None else decision_items(self.session, decision)

    def show_detail(self, *, top: bool = False) -> None:
        """The detail of the line; what stands there for a while, unchanged, counts as read."""
        super().show_detail(top=top)
        task = self.subject()
        seen = task is not None and (self.reading or self.has_class("-wide"))
        if self._reading is not None and (not seen or self._reading[0] != task):
            self._reading[1].stop()
            self._reading = None
        if task is not None and seen and self._reading is None and self.is_attached:
            timer = self.set_timer(READ_AFTER, partial(self._count_as_read, task), name="read")
            self._reading = task, timer

    def _count_as_read(self, task: Task) -> None:
        if self.subject() == task and self.display and self.app.screen is self.screen:
            self.session.count_as_read(task)
            self.session.decisions.look_at(task.id)

    def take_decisions(self) -> None:
        """On the line and in the detail, which agree."""
        super().take_decisions()
        if self.table.cursor_id is not None and self.session.decisions.of(self.table.cursor_id):
            self.show_detail()

    def marked(self) -> dict[str, SafeText | None]:
        """The ids of all marked tasks, those first whose list is not the one shown, each with why
        its line is not in sight, if so.
        """
        shown, filtered = set(self.table.rows.shown), plain("marked, but hidden by the filter")
        return {
            **{row_id: self._why_hidden(task) for row_id, task in self._hidden_marks.items()},
            **{row_id: None if row_id in shown else filtered for row_id in self.table.marked},
        }

    def _why_hidden(self, task: Task) -> SafeText:
        names = self.session.names
        words = f"the list shows {self.title_parts()[0]}"
        if not self.session.is_in_scope(task):
            company, shown = names.company_of(task), names.scope(self.session.company)
            whose = (
                "its company is not known" if company is None else f"of {names.company(company)}"
            )
            words = f"{whose}, and {shown} is shown"
        return plain(f"marked, but hidden: {words}")

    def _hide_marks(self) -> None:
        """Another list is about to be shown: what is marked stays so, out of sight."""
        table = self.table
        records = {row_id: table.rows.record(row_id) for row_id in table.marked}
        marked = {row_id: task for row_id, task in records.items() if task is not None}
        self._hidden_marks, self._marked = {**self._hidden_marks, **marked}, (table, ())
        table.clear_marks()

    def _show_marks(self) -> None:
        """Mark again what has come into sight; of what waits no more that is told."""
        freshness, told = self.session.store.freshness[FeedName.PENDING], self.told()
        if not self._hidden_marks or self.showing != PENDING or freshness.answered_at is None:
            return
        records, hidden = self.table.rows.records, self._hidden_marks
        back = [row_id for row_id in hidden if row_id in records]
        whole = freshness.phase is Phase.LIVE and not (told.more or told.capped or told.unread)
        lost = [
            task
            for row_id, task in hidden.items()
            if whole and row_id not in records and self.session.is_in_scope(task)
        ]
        gone = {*back, *(task.id for task in lost)}
        self._hidden_marks = {row_id: t for row_id, t in hidden.items() if row_id not in gone}
        self.table.mark(back)
        if back:
            self.touch()
        lost = [task for task in lost if not decided_here(self.session, task.id)]
        if lost:
            self.main.say(self._words_on_lost(lost[0].id, lost[0].title, len(lost)), bad=True)
        self.show_title()

    def unmark(self, task_ids: Iterable[str]) -> None:
        """Take the marks from tasks that have been decided, in sight or not."""
        ids = set(task_ids)
        self.table.unmark(ids)
        self._hidden_marks = {i: task for i, task in self._hidden_marks.items() if i not in ids}
        self.show_title()

    def leave_scope(self) -> None:
        self._hide_marks()

    def rescope(self) -> None:
        super().rescope()
        self._show_marks()

    def take_freshness(self) -> None:
        super().take_freshness()
        self._show_marks()

    def action_back(self) -> None:
        """As for every list; marks that are hidden with their list go last."""
        if not self._hidden_marks or self.reading or self.filter_text or self.table.marked:
            super().action_back()
            return
        self._hidden_marks = {}
        self.show_title()

    def title_right(self) -> list[Cell]:
        """As for every list, with how many are marked, which a long filter must not cut off."""
        marked = len({*self._hidden_marks, *self.table.marked})
        cells = [Cell(plain(f"{signs.mark} {marked} marked  "), Tone.ACCENT)] if marked else []
        return [*cells, *super().title_right()]

    def action_approve(self) -> None:
        """Ask whether to approve what is marked, else the task under the cursor."""
        marked, store, hidden = self.marked(), self.session.store, self._hidden_marks
        found = (
            self.table.rows.record(i) or store.pending.get(i) or store.tasks.get(i) or hidden[i]
            for i in marked
        )
        tasks = [task for task in found if task is not None]
        here = self.selected_task()
        if not tasks:
            super().action_approve()
        elif len(tasks) > 1:
            self.main.dialogs.approve_many(tasks, {id_: why for id_, why in marked.items() if why})
        elif here is None or here.id == tasks[0].id:
            self.main.dialogs.approve(tasks[0], marked[tasks[0].id])
        else:
            why = marked[tasks[0].id]
            words = f"the marked task, not the one under the cursor ({here.title})"
            self.main.dialogs.approve(tasks[0], plain(f"{words}; {why}" if why else words))

    def words_on_lost(self, row_ids: Sequence[str]) -> str:
        task = self.table.rows.record(row_ids[0])
        title = row_ids[0] if task is None else task.title
        return self._words_on_lost(row_ids[0], title, len(row_ids))

    def _words_on_lost(self, task_id: str, title: str, count: int) -> str:
        """What became of marked tasks that wait no more."""
        fate, more = self.fate(task_id).text, f", and {count - 1} more" if count > 1 else ""
        return (
            f"{signs.warning} not marked any more, because it left the list: {title} ({fate}){more}"
        )

    def action_mark(self, change: str) -> None:
        """Let the table mark or unmark; what can't be acted on keeps no mark."""
        getattr(self.table, f"action_{change}")()
        for row_id in self.table.marked:
            task = self.table.rows.record(row_id)
            if isinstance(task, SharedTask):
                self.table.unmark([row_id])
                self.main.say(f"not marked: {task.refusal}")
        self.show_title()

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
        """Show tasks of one status, or ALL."""
        was_pending = self.showing == PENDING
        self.showing = showing
        if was_pending != (showing == PENDING):
            if was_pending:
                self._hide_marks()
            self.lists = (FeedName.PENDING if showing == PENDING else FeedName.TASKS,)
            self.swap_table()
            self.main.set_paces()
        self.reload()
        self._show_marks()
        self.take_freshness()
