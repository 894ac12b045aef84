"""The Tasks screen: the tasks that wait for the user, the longest wait first, and all others.

The tasks are those of AI agents on the platform, a remote service. The title has a tab for each
status (`StatusTabs`). The tasks that wait come from another feed (a list that is polled) than all
the others, so those two lists have a table each. Tasks can be marked (`TaskMarks`) to approve
several at once; a mark stays while another status or company is shown. The scope is the company
that the dashboard is limited to. `ListFreezer` keeps the rows still while the user works with them.
A task counts as read once it was in the detail for `READ_AFTER` seconds. The frame is the main
screen, the workspace what is known of the platform in memory. A `status` is the platform's word,
the `state` what it means to this program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from textual import events, on
from textual.timer import Timer

from agentco_tui.actions.batch_summary import total_costs
from agentco_tui.actions.outcome import GOOD
from agentco_tui.config import ViewSettings
from agentco_tui.history.precedent import agent_of, likeness_of
from agentco_tui.live import insight
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.model import Task, TaskState
from agentco_tui.model import format as fmt
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.decision_notes import READ_AFTER, resolution_note
from agentco_tui.screens.key_app import ListTable, bindings_of
from agentco_tui.screens.list_freezer import FreezeState
from agentco_tui.screens.status_tabs import ALL, PENDING, StatusTabs
from agentco_tui.screens.task_columns import task_columns
from agentco_tui.screens.task_lines import TaskLines
from agentco_tui.screens.task_marks import TaskMarks
from agentco_tui.text import SafeText, clean_line, mark_safe, signs
from agentco_tui.widgets.status_line import GAP, StatusLine
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.tones import Cell, Tone, total_width
from agentco_tui.widgets.workers import start_worker

MOST_SUMMED: Final = 200
"""Marked tasks up to which the footer shows what they cost."""
_STATUS_IN_FILTER: Final = re.compile(r"\b(status|state)\s*[:=!<>]", re.IGNORECASE)
"""Matches a filter that chooses tasks by their status, such as `status:done`."""


class TasksView(TaskLines[Task]):
    """The list of tasks with one status. See `ListHooks` for what the attributes declare."""

    place = "tasks"
    sort = ("waiting", True)  # the longest wait first
    empty = "no task waits for a person"
    lists: tuple[FeedName, ...] = (FeedName.PENDING,)
    BINDINGS = bindings_of("tasks")

    def __init__(self, dashboard: DashboardContext, shown_as: ViewSettings | None = None) -> None:
        """A view shows all tasks if its filter names their status, else those that wait."""
        workspace = dashboard.workspace
        shows_all = shown_as is not None and _STATUS_IN_FILTER.search(shown_as.filter) is not None
        self.tabs = StatusTabs(workspace, ALL if shows_all else PENDING)
        self.lists = (self.tabs.feed,)
        self.marks = TaskMarks(workspace)
        self._being_read: tuple[Task, Timer] | None = None
        """The task in the detail, and the timer after which it counts as read."""
        super().__init__(dashboard, shown_as)

    def make_table(self) -> ListTable[Task]:
        table = super().make_table()
        if self.tabs.shown != PENDING:
            table.sort_by("waiting", False)  # the newest first
        table.takes = self._choose_tab  # gets each key before the table does
        return table

    def columns(self) -> list[Column[Task]]:
        return task_columns(self.cell_context, statuses=self.tabs.shown != PENDING)

    def search_text(self, record: Task) -> str:
        names = self.workspace.names
        agent, company = names.agent(record.agent), names.company(names.company_of(record))
        return "\n".join(
            (record.keyed_title, agent, company, record.priority or "", record.status or "")
        )

    def wanted(self, record: Task) -> bool:
        scope = self.workspace.poller.query.company
        if scope is not None and not insight.in_scope(
            self.workspace.names.company_of(record), scope
        ):
            return False
        return self.tabs.includes(record)

    def nothing(self) -> SafeText:
        workspace = self.workspace
        status = self.tabs.shown
        if status == PENDING:
            return super().nothing()
        words = "no tasks" if status == ALL else f"no task with status {clean_line(status, 40)}"
        none_here = workspace.scope.nothing(words)
        if workspace.store.freshness[FeedName.PENDING].answered_at is None:
            return none_here
        return mark_safe(f"{none_here}; {fmt.count(workspace.needs.queue.count)} wait")

    def error(self) -> SafeText | None:
        """Also report a status that no task has and that is not one of the usual ones."""
        error = super().error()
        is_known = self.tabs.shown in (PENDING, ALL, *TaskState) or bool(self.table.model.records)
        if error is not None or is_known:
            return error
        is_answered = self.workspace.store.freshness[FeedName.TASKS].answered_at is not None
        is_whole = is_answered and self.workspace.store.tasks.listing.whole
        return self.nothing() if is_whole else None

    def title(self, *about: SafeText) -> tuple[list[Cell], list[Cell]]:
        """Return the title with the tabs, and how many tasks are marked, before a long filter.

        Where there is little room, the tabs get short names, then the sort order is left out.
        """
        (name, _, *left), right = super().title()
        sort_order = [cell for cell in right if cell.tone is Tone.DIM]
        right = [cell for cell in right if cell.tone is not Tone.DIM]
        if self.marks:
            words = mark_safe(f"{signs.mark} {len(self.marks)} marked  ")
            right.insert(0, Cell(words, Tone.ACCENT))
        filtered = fmt.count(len(self.table.model.shown)) if self.filter_text else None
        counts = self.tabs.counts()
        free = self.size.width - GAP - total_width([name, *left, *right])
        tabs = self.tabs.cells(counts, filtered, short=False)
        if total_width(tabs) > free:
            tabs = self.tabs.cells(counts, filtered, short=True)
        if total_width(sort_order) <= free - total_width(tabs):
            right += sort_order
        return [name, *tabs, *left], right

    @on(StatusLine.Pressed)
    def _tab_pressed(self, event: StatusLine.Pressed) -> None:
        if event.line is self.head.title_line:
            self.show_status(event.key)

    @property
    def has_other_offers(self) -> bool:
        """As for every list; with marks, the footer shows what the marked tasks cost."""
        return bool(self.marks) or super().has_other_offers

    def footer_actions(self) -> dict[str, str]:
        """As for every list; with marks, for how many it would be done, and what marks more."""
        offers = super().footer_actions()
        if not self.marks:
            return offers
        unmark = {} if self.filter_text else {"app.back": "unmark"}
        mark_more = {"tasks.mark_shown": "all shown", "tasks.mark_range": "to here"}
        offers.pop("tasks.approve", None)
        offers.pop("tasks.mark", None)
        return {"tasks.approve": self._approve_words(), **unmark, **mark_more, **offers}

    def _approve_words(self) -> str:
        """Return what the footer says of approving the marked tasks, with their cost if known."""
        words = f"approve {fmt.count(len(self.marks))}"
        if len(self.marks) > MOST_SUMMED:
            return words
        tasks = self.marks.newest(self.table, self.marks.tasks)
        costs = total_costs(tasks) if all(task.cost for task in tasks) else []
        return f"{words} (cost {fmt.money(costs[0])})" if len(costs) == 1 else words

    def go_to(self, row_id: str) -> bool:
        """As for every list; a task that is not in it is looked for in the other lists."""
        if super().go_to(row_id):
            return True
        store = self.workspace.store
        if store.pending.get(row_id) is not None:
            status = PENDING
        elif store.tasks.get(row_id) is not None:
            status = ALL
        else:
            return False
        if status == self.tabs.shown:
            return False
        self.show_status(status)
        return super().go_to(row_id)

    def action_statuses(self) -> None:
        """Let the tabs show their keys, for the next key; a second time, show the next status."""
        if self.reading:
            self.frame.action_back()
            if not self.display:
                return  # the detail was opened from another screen
        elif self.tabs.awaits_key:
            self.show_status(self.tabs.next_status())
        elif self.tabs.counts()[ALL] == signs.missing:
            read = partial(self.workspace.poller.read_again, FeedName.TASKS)
            start_worker(self, read, "read which statuses there are")
        self.tabs.awaits_key = True
        self.show_head()

    def _choose_tab(self, event: events.Key) -> bool:
        """Show the tab with this key, if the tabs wait for one; True if the key is used up."""
        if not self.tabs.awaits_key or self.tabs.is_opening_key(event.key):
            return False
        self.tabs.awaits_key = False
        status = self.tabs.status_by_key(self.tabs.counts()).get(event.key)
        if status is not None:
            self.show_status(status)
        self.show_head()
        return event.key == "escape" or (len(event.key) == 1 and event.key.isalpha())

    def show_status(self, status: str) -> None:
        """Show the tasks with this status, as another list if need be."""
        if status == self.tabs.shown:
            return
        before = self.tabs.feed
        self.tabs.shown = status
        if self.tabs.feed is not before:
            self.lists = (self.tabs.feed,)
            self._replace_table()
            self.frame.set_paces()
        self.show_from_top()

    def _replace_table(self) -> None:
        """Put a table with other columns in the place of the one there is."""
        before = self.table
        self.table = self.make_table()
        self.table.on_interaction = self.on_interaction
        self.opened_from = self.table
        self.table.viewport.chosen_columns = before.viewport.chosen_columns
        self.freezer.open()
        before.parent.mount(self.table, before=before)  # type: ignore[union-attr]
        before.remove()
        if self.filter_text and self.table.set_filter(self.filter_text) is not None:
            self.filter_text = ""
        if before.has_focus:
            self.table.focus()

    def show_detail(self, *, top: bool = False) -> None:
        """Show the task under the cursor; after a while on the screen it counts as read."""
        super().show_detail(top=top)
        task = self.subject()
        is_seen = task is not None and (self.reading or self.has_class("-wide"))
        if self._being_read is not None:
            before, timer = self._being_read
            if not is_seen or before != task:
                timer.stop()
                self._being_read = None
        if is_seen and self._being_read is None and self.is_attached:
            timer = self.set_timer(READ_AFTER, partial(self._count_as_read, task), name="read")
            self._being_read = (task, timer)

    def _count_as_read(self, task: Task) -> None:
        if self.subject() == task and self.display and self.app.screen is self.screen:
            # `content` is a digest of the task's fields: another one means that it has changed.
            self.dashboard.read_digests[task.id] = task.content
            self.dashboard.decisions.acknowledge(task.id)  # a bad outcome is not shown as new now

    def show_head(self, phase: Phase | None = None) -> None:
        """Report marked tasks that no longer wait, and mark again what is back in the list."""
        if self.marks and self.is_attached:
            is_changing_scope = self.freezer.state is FreezeState.CHANGING_SCOPE
            lost = self.marks.lost(self.table, is_changing_scope=is_changing_scope)
            if lost:
                self._report_lost(lost)
                self.unmark(lost)
        if self.marks and self.tabs.shown == PENDING:
            self.marks.restore(self.table)
        super().show_head(phase)

    def _report_lost(self, tasks: Mapping[str, Task]) -> None:
        """Say that tasks lost their marks, except for those approved here: that is known."""
        lost = [task for task in tasks.values() if not self._was_approved_here(task.id)]
        if not lost:
            return
        more = f", and {len(lost) - 1} more" if len(lost) > 1 else ""
        resolution = resolution_note(self.dashboard, lost[0].id).text
        words = f"{lost[0].keyed_title} ({resolution}){more}"
        words = f"{signs.warning} not marked any more, because it left the list: {words}"
        self.frame.say(words, bad=True)

    def _was_approved_here(self, task_id: str) -> bool:
        """Whether a decision about the task is open, or has come to a good end."""
        decision = self.dashboard.decisions.by_task.get(task_id)
        if decision is None:
            return False
        return decision.outcome is None or decision.outcome.kind in GOOD

    def unmark(self, task_ids: Iterable[str]) -> None:
        self.marks.remove(self.table, task_ids)
        self.show_head()
        self.frame.lines.show()

    def leave(self) -> bool:
        """As for every list; marks that are hidden with their list go last."""
        if super().leave():
            return True
        marked = self.table.marked or tuple(self.marks.tasks)
        if self.reading or not marked:
            return False
        self.unmark(marked)
        return True

    def action_mark(self, change: str) -> None:
        """Let the table mark or unmark; what cannot be acted on keeps no mark."""
        self.table.finish_work()
        before = self.table.marked
        if change == "alike":
            self._mark_alike()
        else:
            getattr(self.table, f"action_{change}")()
        refused = self.marks.update_from(self.table, before)
        if refused is not None:
            self.frame.say(f"not marked: {refused.unwritable}")
        self.show_head()
        self.frame.lines.show()

    def _mark_alike(self) -> None:
        """Mark the tasks shown that wait and are like the one under the cursor; say how many.

        They have the same agent, and titles that differ only in figures and names.
        """
        task = self.subject()
        if not isinstance(task, Task):
            self.frame.say("put the cursor on a task to mark those like it")
            return
        agent = agent_of(task)
        pattern = likeness_of(task)
        alike = [
            other.id
            for other in filter(None, map(self.table.model.record, self.table.model.shown))
            if agent_of(other) == agent and likeness_of(other) == pattern
            if other.unwritable is None
            if insight.waits_for_person(other)
        ]
        self.table.mark(alike)
        number = f"{fmt.count(len(alike))} {'task' if len(alike) == 1 else 'tasks'}"
        whose = f" of {self.workspace.names.agent(task.agent)}" if task.agent else ""
        self.frame.say(f"{signs.mark} {number}{whose} like “{pattern[1]}” marked")

    def action_approve(self) -> None:
        """Ask whether to approve the marked tasks, or without marks the one under the cursor."""
        why_hidden = self.marks.why_hidden(self.table, self.tabs)
        tasks = self.marks.newest(self.table, why_hidden)
        if not tasks:
            super().action_approve()
        elif len(tasks) == 1:
            self._approve_marked(tasks[0], why_hidden[tasks[0].id])
        else:
            hidden = {row_id: why for row_id, why in why_hidden.items() if why}
            self.frame.dialogs.approve_many(tasks, hidden)

    def _approve_marked(self, task: Task, why_hidden: SafeText | None) -> None:
        """Ask about the only marked task, and say so where the cursor is on another."""
        notes: list[str] = []
        under_cursor = self.subject()
        if under_cursor is not None and under_cursor.id != task.id:
            title = under_cursor.keyed_title
            notes.append(f"the marked task, not the one under the cursor ({title})")
        if why_hidden:
            notes.append(why_hidden)
        self.frame.dialogs.approve(task, mark_safe("; ".join(notes)) if notes else None)
