"""The columns of the task queue."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from agentco_tui.live.insight import Level, priority_rank, task_level, waiting_since
from agentco_tui.model import Task
from agentco_tui.screens.columns.cells import (
    TONES,
    Look,
    age_column,
    column,
    level_column,
    number_column,
    priority_cell,
    read_once,
    task_status_cell,
    text_column,
    title_cell,
    trust_cell,
)
from agentco_tui.text import SafeText
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.tones import Cell, Tone


def task_columns(look: Look, *, statuses: bool) -> list[Column[Task]]:
    """The queue's columns; with `statuses` for tasks past waiting as well."""
    names = look.names

    def level(task: Task) -> Level:
        return Level.OK if statuses else task_level(task, look.clock.now(), look.limits)

    def levels() -> Callable[[Task], Level]:
        """`level` for many at one moment."""
        now, limits = look.clock.now(), look.limits
        return lambda task: task_level(task, now, limits)

    def waiting(task: Task) -> Cell:
        since = waiting_since(task)
        return Cell(look.age(since), Tone.DIM if since is None else TONES[level(task)])

    def title(task: Task) -> Cell:
        return title_cell(task, Tone.STRONG if level(task) is Level.CRITICAL else Tone.PLAIN)

    def agent(task: Task) -> SafeText:
        return names.agent(task.agent)

    def company(task: Task) -> SafeText:
        return names.company(names.company_of(task))

    def rank(task: Task) -> float:
        return priority_rank(task.priority)

    def title_key(task: Task) -> str:
        return task.title.casefold()

    columns: list[Column[Task]] = [
        level_column(
            level,
            ticks=True,
            sort_key=level,
            sort_reader=None if statuses else levels,
            descending_first=True,
        ),
        age_column(
            look,
            "waiting",
            "AGE" if statuses else "WAITS",
            waiting_since,
            cell=waiting,
            descending_first=True,
            aliases=("age", "wait", "waits"),
        ),
        column(
            "priority",
            "  PRIORITY",
            (10, 6),
            lambda task: priority_cell(task.priority),
            priority=1,
            sort_key=rank,
            sort_reader=read_once(attrgetter("priority"), rank),
        ),
        column(
            "task",
            "TASK",
            (28, 28),
            title,
            grow=3,
            sort_key=title_key,
            sort_reader=read_once(attrgetter("title"), title_key),
            aliases=("title",),
        ),
        text_column(
            "agent",
            "AGENT",
            (10, 6),
            agent,
            priority=2,
            # Its name as it came with the task, which many agents share, else by who it is.
            sort_reader=read_once(
                lambda task: task.agent and (task.agent.name or task.agent),
                lambda task: agent(task).casefold(),
            ),
        ),
        text_column(
            "company",
            "COMPANY",
            (15, 8),
            company,
            priority=3,
            # Its own, else that of its agent.
            sort_reader=read_once(
                lambda task: task.company or (task.agent,), lambda task: company(task).casefold()
            ),
        ),
        number_column(
            "trust",
            "TRUST",
            (5, 5),
            lambda task: trust_cell(look.trust_of(task)),
            look.trust_of,
            priority=5,
            ticks=True,
            # Its own, else that of its agent.
            sort_reader=read_once(
                lambda task: task.agent.id if task.trust is None and task.agent else task.trust,
                look.trust_of,
            ),
        ),
    ]
    if statuses:
        status: Column[Task] = column(
            "status",
            "  STATUS",
            (13, 8),
            task_status_cell,
            sort_key=lambda task: task.status or "",
            aliases=("state",),
        )
        columns.insert(2, status)
    return columns
