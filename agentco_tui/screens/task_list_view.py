"""A list in which tasks stand: what is being decided about them, approving, and their traces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from agentco_tui.model import SharedTask, Task
from agentco_tui.screens.decision_notes import fate_of, line_note
from agentco_tui.screens.list_view import ListView
from agentco_tui.widgets.table.layout import R


class TaskListView(ListView[R]):
    task_rows: ClassVar[str] = ""  # what stands before a task's id in its row's

    def tick(self) -> None:
        self.take_decisions()
        super().tick()

    def take_decisions(self, task_ids: Iterable[str] = ()) -> None:
        """Say on tasks' lines how far a decision is, and on these ghosts what it came to."""
        decisions = self.session.decisions.open
        notes = {f"{self.task_rows}{d.task.id}": line_note(self.session, d) for d in decisions}
        self.table.remark(notes)
        # The program may be ending.
        for task_id in task_ids if self.is_attached else ():
            row_id = f"{self.task_rows}{task_id}"
            if self.table.rows.ghost_note(row_id):
                self.table.ghost(row_id, fate_of(self.session, task_id))

    def _selected_task(self, to: str) -> Task | None:
        subject = self.subject()
        if isinstance(subject, Task):
            return subject
        self.main.say(f"put the cursor on a task to {to}")
        return None

    def action_approve(self) -> None:
        task = self._selected_task("approve it")
        if isinstance(task, SharedTask):
            self.main.say(task.refusal)
        elif task is not None:
            self.main.dialogs.approve(task)

    def action_trace(self) -> None:
        task = self._selected_task("read its trace")
        if task is not None:
            self.main.dialogs.trace(task)
