"""The columns of the task list."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from agentco_tui.live import insight
from agentco_tui.live.insight import Level
from agentco_tui.model import Task
from agentco_tui.model import format as fmt
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES, CellContext
from agentco_tui.text import safe
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.tones import Cell, Tone


def task_columns(context: CellContext, *, statuses: bool) -> list[Column[Task]]:
    """Return the columns for tasks that wait, or with `statuses` for tasks in any status."""
    names = context.names

    def level(task: Task) -> Level:
        return (
            Level.OK if statuses else insight.task_level(task, context.clock.now(), context.limits)
        )

    def levels() -> Callable[[Task], Level]:
        """Return `level` for many tasks at one moment, which is faster."""
        now, limits = context.clock.now(), context.limits
        return lambda task: insight.task_level(task, now, limits)

    def waiting(task: Task) -> Cell:
        since = insight.waiting_since(task)
        return Cell(context.wait(since), Tone.DIM if since is None else TONES[level(task)])

    def title(task: Task) -> Cell:
        return cells.title_cell(task, Tone.STRONG if level(task) is Level.CRITICAL else Tone.PLAIN)

    # fmt: off
    return [
        cells.level_column(level, uses_clock=True, sort_key=level, descending_first=True,
            sort_reader=None if statuses else levels),
        cells.age_column(context, "waiting", "AGE" if statuses else "WAITS", insight.waiting_since,
            cell=waiting, descending_first=True, aliases=("age", "wait", "waits")),
        cells.column("status", "  STATUS", (13, 8), cells.task_status_cell,
            sort_key=lambda task: task.status or "", aliases=("state",), shown_by_default=statuses),
        cells.column("priority", "  PRIORITY", (10, 6),
            lambda task: cells.priority_cell(task.priority), priority=1,
            sort_key=lambda task: insight.priority_rank(task.priority),
            filter_value=lambda task: task.priority, rank=insight.rank_of_priority,
            shared=attrgetter("priority")),
        cells.column("task", "TASK", (28, 26), title, grow=8, aliases=("title",),
            sort_key=lambda task: task.title.casefold(), shared=attrgetter("title")),
        # The name that came with the task, which many tasks share; else the agent's own.
        cells.text_column("agent", "AGENT", (10, 6), lambda task: names.agent(task.agent),
            priority=3, shared=lambda task: task.agent and (task.agent.name or task.agent)),
        # The task's own company, else that of its agent.
        cells.text_column("company", "COMPANY", (15, 8),
            lambda task: names.company(names.company_of(task)), priority=2, grow=1,
            shared=lambda task: task.company or (task.agent,)),
        cells.number_column("trust", "TRUST", (5, 5),
            lambda task: cells.text_cell(fmt.number(context.trust_of(task))), context.trust_of,
            priority=5, uses_clock=True,
            shared=lambda task: task.agent.id if task.trust is None and task.agent else task.trust),
        cells.money_column("cost", "COST", (8, 8), lambda task: task.cost, shown_by_default=False),
        *cells.filter_only_columns(
            id=lambda task: safe(task.sent_id),
            description=lambda task: task.description,
            role=lambda task: agent.role if (agent := names.agent_of(task.agent)) else None),
    ]
    # fmt: on
