"""The columns of a list of tasks, for the Tasks screen.

The tasks are those of AI agents on the platform, a remote service. `CellContext` has the records,
the names for ids, the clock and the limits above which a wait is a warning or critical (the level
of a task). A column whose many records share a value has a `sort_group`: its sort key is computed
once for each group, which keeps a list of 100,000 tasks fast to sort. `uses_clock` marks cells that
change as time passes, and `changes_at` returns when, in seconds since 1970.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import inf
from operator import attrgetter

from msgspec.structs import replace

from agentco_tui.live import insight
from agentco_tui.live.insight import Level
from agentco_tui.model import Task, TaskState
from agentco_tui.model import format as fmt
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES, CellContext
from agentco_tui.text import SafeText, clean_line
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.tones import Cell, Tone

ENDED = (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED, TaskState.REJECTED)
"""The states of a task in which nothing more happens to it."""


def task_columns(context: CellContext, *, statuses: bool) -> list[Column[Task]]:
    """Return the columns for tasks that wait for a decision, or with `statuses` for all tasks.

    Only tasks that wait have a level, by their priority and how long they have been waiting.
    """
    names = context.names

    def level(task: Task) -> Level:
        if statuses:
            return Level.OK
        return insight.task_level(task, context.clock.now(), context.limits)

    def level_now() -> Callable[[Task], Level]:
        """Return `level` for this moment: for many tasks, reading the clock once is faster."""
        now = context.clock.now()
        limits = context.limits
        return lambda task: insight.task_level(task, now, limits)

    def waiting_cell(task: Task) -> Cell:
        since = insight.waiting_since(task)
        tone = Tone.DIM if since is None else TONES[level(task)]
        return Cell(context.wait(since), tone)

    def level_changes_at(task: Task) -> float:
        if statuses:
            return inf
        return insight.task_level_changes_at(task, context.clock.now(), context.limits)

    def waiting_changes_at(task: Task) -> float:
        wait_changes_at = context.age_changes_at(insight.waiting_since(task), fine=True)
        return min(wait_changes_at, level_changes_at(task))

    def title_cell(task: Task) -> Cell:
        is_critical = level(task) is Level.CRITICAL
        return cells.title_cell(task, Tone.STRONG if is_critical else Tone.PLAIN)

    def title_in(task: Task, width: int) -> Cell:
        """Return the title, with a note behind it if the company of open work does not work."""
        if task.state in ENDED:
            return title_cell(task)
        return replace(title_cell(task), text=context.title_with_idleness(task, width))

    def agent_group(task: Task) -> Hashable:
        """Return the agent's name as it came with the task, else the reference to the agent."""
        return task.agent and (task.agent.name or task.agent)

    def company_group(task: Task) -> Hashable:
        """Return the task's own company, else its agent, which has one."""
        return task.company or (task.agent,)

    def trust_group(task: Task) -> Hashable:
        """Return the task's own trust, else its agent, which has one."""
        if task.trust is None and task.agent is not None:
            return task.agent.id
        return task.trust

    def role(task: Task) -> SafeText | None:
        agent = names.agent_of(task.agent)
        return None if agent is None else agent.role

    # A pair of numbers is the wanted and the least width; `grow` is the share of free width.
    # Columns of the highest `priority` are hidden first. Filters know the `aliases`, too.
    # (20, 10): the wanted and the least width in cells.
    # priority: the highest is hidden first, 0 never.
    # fmt: off
    return [
        cells.level_column(level, uses_clock=True, changes_at=level_changes_at,
            sort_key=level, descending_first=True,
            # Called once for each sorting; returns the function that gives the sort keys.
            sort_reader=None if statuses else level_now),
        cells.age_column(context, "waiting", "AGE" if statuses else "WAITS", insight.waiting_since,
            cell=waiting_cell, changes_at=waiting_changes_at, descending_first=True,
            aliases=("age", "wait", "waits")),
        cells.column("status", "  STATUS", (13, 8), cells.task_status_cell,
            sort_key=lambda task: task.status or "", aliases=("state",), shown_by_default=statuses),
        cells.column("priority", "  PRIORITY", (10, 6),
            lambda task: cells.priority_cell(task.priority), priority=1,
            sort_key=lambda task: insight.priority_rank(task.priority),
            filter_value=lambda task: task.priority, rank=insight.rank_of_priority,
            sort_group=attrgetter("priority")),
        cells.column("task", "TASK", (28, 26), title_cell, grow=8, aliases=("title",),
            cell_for_width=title_in,
            sort_key=lambda task: task.title.casefold(), sort_group=attrgetter("title")),
        cells.text_column("key", "KEY", (8, 8), lambda task: task.key, priority=4,
            sort_key=None, shown_by_default=False),
        cells.text_column("kind", "KIND", (12, 8), lambda task: task.kind, priority=4,
            sort_group=attrgetter("kind"), shown_by_default=False),
        cells.text_column("agent", "AGENT", (10, 6), lambda task: names.agent(task.agent),
            priority=3, sort_group=agent_group),
        cells.text_column("company", "COMPANY", (15, 8),
            lambda task: names.company(names.company_of(task)), priority=2, grow=1,
            sort_group=company_group),
        cells.number_column("trust", "TRUST", (5, 5),
            lambda task: cells.text_cell(fmt.number(context.trust_of(task))), context.trust_of,
            priority=5, uses_clock=True, changes_at=lambda _: inf, sort_group=trust_group),
        cells.money_column("cost", "COST", (8, 8), lambda task: task.cost, shown_by_default=False),
        *cells.filter_only_columns(
            id=lambda task: clean_line(task.sent_id),
            description=lambda task: task.description,
            role=role),
    ]
    # fmt: on
