"""The marked tasks: those with a mark in the list, and those that the list does not show now.

The user marks tasks to approve several at once. Tasks are listed by status (`StatusTabs`) and by
company; the scope is the company that the dashboard is limited to. `store.pending` has the tasks
that wait for the user, and `store.tasks` all tasks, as last read from the platform, the remote
service. `viewport.marks` are the ids of the marked rows of a table. The workspace is what is known
of the platform in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agentco_tui.live import insight
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.model import Task
from agentco_tui.screens.key_app import ListTable
from agentco_tui.screens.status_tabs import ALL, StatusTabs
from agentco_tui.text import SafeText, mark_safe
from agentco_tui.workspace.workspace import Workspace


class TaskMarks:
    """Remembers every marked task, also while another status or company is shown.

    The table has the marks of its own rows only. The methods take it as an argument, because the
    view replaces its table where it shows another list.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.tasks: Mapping[str, Task] = {}
        """Every marked task as it was when it was marked, by its id."""

    def __len__(self) -> int:
        return len(self.tasks)

    def update_from(self, table: ListTable[Task], marked_before: Iterable[str]) -> Task | None:
        """Take over the table's marks after the user changed them.

        A task that cannot be acted on loses its mark; return the first of these, None if there is
        none. `marked_before` are the ids that had a mark in the table before.
        """
        marked = {row_id: table.model.records[row_id] for row_id in table.marked}
        refused = [task for task in marked.values() if task.unwritable is not None]
        if refused:
            table.mark([task.id for task in refused], False)
        before = set(marked_before)
        tasks = {row_id: task for row_id, task in self.tasks.items() if row_id not in before}
        for row_id in table.marked:
            tasks[row_id] = marked[row_id]
        self.tasks = tasks
        return refused[0] if refused else None

    def remove(self, table: ListTable[Task], ids: Iterable[str]) -> None:
        """Take away the marks of these tasks; the next range begins at the cursor."""
        removed = set(ids)
        self.tasks = {row_id: task for row_id, task in self.tasks.items() if row_id not in removed}
        table.mark(removed, False)
        table.viewport.last_marked = None

    def restore(self, table: ListTable[Task]) -> None:
        """Mark the rows whose tasks are marked and are in the table again."""
        in_table = table.viewport.marks
        if len(self.tasks) > len(in_table):
            table.mark([row_id for row_id in self.tasks if row_id not in in_table])

    def newest(self, table: ListTable[Task], ids: Iterable[str]) -> list[Task]:
        """Return marked tasks as they were read last."""
        store = self._workspace.store
        return [
            table.model.record(row_id)
            or store.pending.get(row_id)
            or store.tasks.get(row_id)
            or self.tasks[row_id]
            for row_id in ids
        ]

    def why_hidden(self, table: ListTable[Task], tabs: StatusTabs) -> dict[str, SafeText | None]:
        """Return the id of every marked task, with why its row is not shown; None if it is."""
        shown = set(table.model.shown)
        reasons: dict[str, SafeText | None] = {}
        for row_id, task in self.tasks.items():
            if row_id not in table.viewport.marks:
                reasons[row_id] = self._why_not_in_list(task, tabs)
            elif row_id not in shown:
                reasons[row_id] = mark_safe("marked, but hidden by the filter")
            else:
                reasons[row_id] = None
        return reasons

    def _why_not_in_list(self, task: Task, tabs: StatusTabs) -> SafeText:
        workspace = self._workspace
        if workspace.scope.includes(task):
            status = "all statuses" if tabs.shown == ALL else tabs.shown
            return mark_safe(f"marked, but hidden: the list shows {status}")
        company = workspace.names.company_of(task)
        whose = f"of {workspace.names.company(company)}" if company else "its company is not known"
        scope = workspace.names.scope(workspace.poller.query.company)
        return mark_safe(f"marked, but hidden: {whose}, and {scope} is shown")

    def lost(self, table: ListTable[Task], *, is_changing_scope: bool) -> dict[str, Task]:
        """Return the marked tasks that certainly do not wait any more.

        Only those without a mark in the table are looked at: usually there is none. While the
        scope changes (`is_changing_scope`), a task missing from the list of those that wait proves
        nothing.
        """
        in_table = table.viewport.marks
        if len(self.tasks) <= len(in_table):
            return {}
        pending = self._workspace.store.pending
        is_live = self._workspace.store.freshness[FeedName.PENDING].phase is Phase.LIVE
        is_whole = is_live and pending.listing.whole and not is_changing_scope

        def waits_no_more(task: Task) -> bool:
            if not insight.waits_for_person(task):
                return False  # it was marked as one that does not wait
            now = pending.get(task.id)
            if now is None:
                return is_whole and self._workspace.scope.includes(task)
            return not insight.waits_for_person(now)

        return {
            row_id: task
            for row_id, task in self.tasks.items()
            if row_id not in in_table
            if table.model.tombstone(row_id) or waits_no_more(task)
        }
