"""The base of the lists whose rows are tasks, in the Overview and in Tasks.

A decision is an approval that the operator started here; `dashboard.decisions` knows how far each
one is. `TaskLines` shows that on the rows, offers to approve the task under the cursor or to show
its trace (the steps that the AI agent took for it), and moves on to the next task after an
approval. A tombstone is the dimmed row of a task that has left the list, which says why it left
(its resolution). `task.unwritable` says why a task can't be approved, such as an id that several
share. The frame is the main screen, the workspace what is known of the platform in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, ClassVar

from agentco_tui.live import insight
from agentco_tui.model import Task
from agentco_tui.screens.decision_notes import (
    decision_items,
    is_undecided,
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

MOST_SEARCHED = 1_000
"""Rows, up or down, among which the next task that waits is looked for."""


class TaskLines(ListView[R]):
    """A list in which some or all rows are tasks."""

    task_rows: ClassVar[str] = ""
    """The part of a task's row id before the id of the task: "" here, "task:" in the Overview."""

    def footer_actions(self) -> dict[str, str]:
        actions = super().footer_actions()
        task = self.subject()
        if not isinstance(task, Task):
            actions.pop("tasks.trace", None)
        if not isinstance(task, Task) or not may_approve(self.dashboard, task):
            actions.pop("tasks.approve", None)
            actions.pop("tasks.mark", None)
        return actions

    def resolution(self, row_id: str) -> Cell:
        record = self.subject(row_id)
        if isinstance(record, Task):
            return resolution_note(self.dashboard, record.id)
        return super().resolution(row_id)

    def detail_items(self, record: Any) -> list[PaneItem]:
        """Return lines about the decision on a task, if there is one, and then the task itself.

        If the task has left the list, it is shown as the decision has read it last.
        """
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
        """Show on the rows of tasks how far their decisions are.

        The tombstones of the tasks in `task_ids` show how they were resolved.
        """
        if not self.is_attached:  # the program may be ending
            return
        decisions = self.dashboard.decisions
        table = self.table
        notes: dict[str, Cell] = {}
        for decision in decisions.open:
            row_id = f"{self.task_rows}{decision.task.id}"
            notes[row_id] = line_note(self.dashboard, decision)
        for task_id in decisions.by_task:
            row_id = f"{self.task_rows}{task_id}"
            task = self.subject(row_id)
            settled = settled_as(self.dashboard, task_id)
            waits = isinstance(task, Task) and insight.waits_for_person(task)
            if waits and settled is not None and not table.model.tombstone(row_id):
                notes[row_id] = settled  # the list was read before that
        table.annotate(notes)
        for task_id in task_ids:
            row_id = f"{self.task_rows}{task_id}"
            if table.model.tombstone(row_id):
                table.set_tombstone(row_id, resolution_note(self.dashboard, task_id))
        subject = self.subject()
        if isinstance(subject, Task) and subject.id in decisions.by_task:
            self.show_detail()

    def go_on(self, decided: Collection[str]) -> None:
        """Move the cursor on if it is on a task of `decided` and the setting `advance` is on.

        It goes to the next task below that waits, else to the next one above.
        """
        current = self.subject()
        is_decided = isinstance(current, Task) and current.id in decided
        if not is_decided or not self.workspace.settings.advance:
            return
        rows = self.table.model
        index = self.table.viewport.cursor_index
        below = rows.shown[index + 1 : index + MOST_SEARCHED]
        above = rows.shown[max(0, index - MOST_SEARCHED) : index]
        for row_id in (*below, *reversed(above)):
            task = self.subject(row_id)
            waits = isinstance(task, Task) and is_undecided(self.dashboard, task)
            if waits and task.id not in decided and not rows.tombstone(row_id):
                self.table.move_cursor_to(row_id)
                return

    def return_to(self, task_id: str) -> bool:
        return self.table.move_cursor_to(f"{self.task_rows}{task_id}")

    def _selected_task(self, purpose: str) -> Task | None:
        """Return the task under the cursor; if there is none, say so and return None."""
        subject = self.subject()
        if isinstance(subject, Task):
            return subject
        self.frame.say(f"put the cursor on a task to {purpose}")
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
