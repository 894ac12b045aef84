"""What the lists with tasks share: what they show of decisions, and how the user decides there."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, ClassVar

from agentco_tui.live import insight
from agentco_tui.model import Task
from agentco_tui.screens.decision_notes import (
    decision_items,
    line_note,
    may_approve,
    resolution_note,
    settled_as,
)
from agentco_tui.screens.detail_pane import details
from agentco_tui.screens.list_view import ListView
from agentco_tui.widgets.table.layout import R
from agentco_tui.widgets.text_pane import PaneItem
from agentco_tui.widgets.tones import Cell

MOST_SEARCHED = 1_000  # lines, up or down, in which the next task that waits is looked for


class TaskLines(ListView[R]):
    """A list in which some or all rows are tasks."""

    task_rows: ClassVar[str] = ""  # the prefix of row ids of tasks, before the task's id

    def footer_actions(self) -> dict[str, str]:
        offers, task = super().footer_actions(), self.subject()
        if not isinstance(task, Task):
            offers.pop("tasks.trace", None)
        if not (isinstance(task, Task) and may_approve(self.dashboard, task)):
            offers.pop("tasks.approve", None)
            offers.pop("tasks.mark", None)
        return offers

    def resolution(self, row_id: str) -> Cell:
        record = self.subject(row_id)
        is_task = isinstance(record, Task)
        return resolution_note(self.dashboard, record.id) if is_task else super().resolution(row_id)

    def detail_items(self, record: Any) -> list[PaneItem]:
        """Return the task as it was last read, after what is known of a decision about it."""
        if not isinstance(record, Task):
            return super().detail_items(record)
        decision = self.dashboard.decisions.by_task.get(record.id)
        tombstone = self.table.model.tombstone(f"{self.task_rows}{record.id}")
        resolution = tombstone or settled_as(self.dashboard, record.id)
        items: list[PaneItem] = []
        if decision is not None:
            items += decision_items(self.dashboard, decision)
            read = None if decision.outcome is None else decision.outcome.record
            if isinstance(read, Task) and resolution is not None:
                record = read
        return [
            *items,
            *details(record, self.cell_context, raw=self.detail.is_raw, resolution=resolution),
        ]

    def show_decisions(self, task_ids: Iterable[str] = ()) -> None:
        """Show on the lines of tasks how far their decisions are; on the tombstones of the tasks in
        `task_ids`, what became of them.
        """
        if not self.is_attached:  # the program may be ending
            return
        decisions, table = self.dashboard.decisions, self.table
        notes = {
            f"{self.task_rows}{d.task.id}": line_note(self.dashboard, d) for d in decisions.open
        }
        for task_id in decisions.by_task:
            row_id = f"{self.task_rows}{task_id}"
            task, settled = self.subject(row_id), settled_as(self.dashboard, task_id)
            waits = isinstance(task, Task) and insight.waits_for_person(task)
            if waits and settled is not None and not table.model.tombstone(row_id):
                notes[row_id] = settled  # its list doesn't know it yet
        table.annotate(notes)
        for task_id in task_ids:
            row_id = f"{self.task_rows}{task_id}"
            if table.model.tombstone(row_id):
                table.set_tombstone(row_id, resolution_note(self.dashboard, task_id))
        subject = self.subject()
        if isinstance(subject, Task) and subject.id in decisions.by_task:
            self.show_detail()

    def go_on(self, decided: Collection[str]) -> None:
        """Move the cursor from a task that was approved to the next one that waits: below, else
        above; if the settings say so.
        """
        here, rows, at = self.subject(), self.table.model, self.table.viewport.cursor_index
        is_here = isinstance(here, Task) and here.id in decided
        if not (is_here and self.workspace.settings.advance):
            return
        shown = rows.shown
        for row_id in (
            *shown[at + 1 : at + MOST_SEARCHED],
            *reversed(shown[max(0, at - MOST_SEARCHED) : at]),
        ):
            task = self.subject(row_id)
            waits = isinstance(task, Task) and may_approve(self.dashboard, task)
            if waits and task.id not in decided and not rows.tombstone(row_id):
                self.table.move_cursor_to(row_id)
                return

    def return_to(self, task_id: str) -> bool:
        return self.table.move_cursor_to(f"{self.task_rows}{task_id}")

    def _selected_task(self, to: str) -> Task | None:
        subject = self.subject()
        if isinstance(subject, Task):
            return subject
        self.frame.say(f"put the cursor on a task to {to}")
        return None

    def action_approve(self) -> None:
        task = self._selected_task("approve it")
        if task is not None and task.unwritable is not None:
            self.frame.say(task.unwritable)
        elif task is not None:
            self.frame.dialogs.approve(task)

    def action_trace(self) -> None:
        task = self._selected_task("read its trace")
        if task is not None:
            self.frame.dialogs.show_trace(task)
