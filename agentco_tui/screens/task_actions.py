"""What can be done with the task under the cursor, on the queue and on the Overview."""

from __future__ import annotations

from agentco_tui.model.records import SharedTask, Task
from agentco_tui.screens.view import Frame

TASK_ACTIONS = {
    "tasks.approve": "approve",
    "tasks.trace": "trace",
}


class TaskActions:
    """Approve and trace for a screen that can say which task is meant.

    No widget itself: Textual takes styles along the first base that is a widget only.
    """

    @property
    def main(self) -> Frame:
        """The frame the screen stands in."""
        raise NotImplementedError

    def selected_task(self) -> Task | None:
        """The task under the cursor; None if the line is no task."""
        raise NotImplementedError

    def action_approve(self) -> None:
        """Ask whether to approve the task."""
        task = self.selected_task()
        if task is None:
            self.main.say("put the cursor on a task to approve it")
        elif isinstance(task, SharedTask):
            self.main.say(task.refusal)
        else:
            self.main.approve(task)

    def action_trace(self) -> None:
        """Show what the agent did for the task."""
        task = self.selected_task()
        if task is None:
            self.main.say("put the cursor on a task to read its trace")
        else:
            self.main.show_trace(task)

    def action_new_task(self) -> None:
        """Ask for a new task's fields."""
        self.main.new_task(self.selected_task())
