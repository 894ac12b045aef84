"""The columns of the task queue."""

from __future__ import annotations

from decimal import Decimal
from operator import attrgetter

from agentco_tui.live.insight import Level, priority_rank, task_level, task_levels, waiting_since
from agentco_tui.model.records import Task
from agentco_tui.screens.columns.cells import (
    TONES,
    Look,
    label,
    level_cell,
    priority_cell,
    read_once,
    task_status_cell,
    title_cell,
    trust_cell,
)
from agentco_tui.text import SafeText
from agentco_tui.widgets.table.layout import Column, ColumnKind
from agentco_tui.widgets.tones import Cell, Tone


def task_columns(look: Look, *, statuses: bool) -> list[Column[Task]]:
    """The queue's columns; with `statuses` for tasks past waiting as well."""

    def level(task: Task) -> Level:
        return Level.OK if statuses else task_level(task, look.clock.now(), look.limits)

    def waiting(task: Task) -> Cell:
        tone = TONES[level(task)]
        since = waiting_since(task)
        return Cell(look.age(since), Tone.DIM if since is None else tone)

    def waited(task: Task) -> float | None:
        since = waiting_since(task)
        return None if since is None else look.clock.now() - since

    def since(task: Task) -> float | None:
        at = waiting_since(task)
        return None if at is None else -at

    def trust(task: Task) -> Decimal | None:
        if task.trust is not None:
            return task.trust
        agent = look.names.agent_of(task.agent)
        return None if agent is None else agent.trust

    def company(task: Task) -> SafeText:
        return look.names.company(look.names.company_of(task))

    def rank(task: Task) -> float:
        return priority_rank(task.priority)

    def title_key(task: Task) -> str:
        return task.title.casefold()

    def agent_key(task: Task) -> str:
        return look.names.agent(task.agent).casefold()

    def company_key(task: Task) -> str:
        return company(task).casefold()

    columns: list[Column[Task]] = [
        Column(
            "level",
            label(" "),
            1,
            lambda task: level_cell(level(task)),
            min_width=1,
            ticks=True,
            sort_key=level,
            sort_reader=None if statuses else lambda: task_levels(look.clock.now(), look.limits),
            descending_first=True,
        ),
        Column(
            "waiting",
            label("AGE" if statuses else "WAITS"),
            5,
            waiting,
            min_width=5,
            align="right",
            ticks=True,
            sort_key=since,
            kind=ColumnKind.SECONDS,
            filter_value=waited,
            descending_first=True,
            aliases=("age", "wait", "waits"),
        ),
        Column(
            "priority",
            label("  PRIORITY"),
            10,
            lambda task: priority_cell(task.priority),
            min_width=6,
            priority=1,
            sort_key=rank,
            sort_reader=read_once(attrgetter("priority"), rank),
        ),
        Column(
            "task",
            label("TASK"),
            28,
            lambda task: title_cell(
                task, Tone.STRONG if level(task) is Level.CRITICAL else Tone.PLAIN
            ),
            min_width=28,
            grow=3,
            sort_key=title_key,
            sort_reader=read_once(attrgetter("title"), title_key),
            aliases=("title",),
        ),
        Column(
            "agent",
            label("AGENT"),
            10,
            lambda task: Cell(look.names.agent(task.agent)),
            min_width=6,
            priority=2,
            sort_key=agent_key,
            # Its name as it came with the task, which many agents share, else by who it is.
            sort_reader=read_once(
                lambda task: task.agent and (task.agent.name or task.agent), agent_key
            ),
        ),
        Column(
            "company",
            label("COMPANY"),
            15,
            lambda task: Cell(company(task)),
            min_width=8,
            priority=3,
            sort_key=company_key,
            # Its own, else that of its agent.
            sort_reader=read_once(lambda task: task.company or (task.agent,), company_key),
        ),
        Column(
            "trust",
            label("TRUST"),
            5,
            lambda task: trust_cell(trust(task)),
            min_width=5,
            priority=5,
            align="right",
            ticks=True,
            sort_key=trust,
            # Its own, else that of its agent.
            sort_reader=read_once(
                lambda task: task.agent.id if task.trust is None and task.agent else task.trust,
                trust,
            ),
            kind=ColumnKind.NUMBER,
            filter_value=trust,
        ),
    ]
    if statuses:
        columns.insert(
            2,
            Column(
                "status",
                label("  STATUS"),
                13,
                task_status_cell,
                min_width=8,
                sort_key=lambda task: task.status or "",
                aliases=("state",),
            ),
        )
    return columns
