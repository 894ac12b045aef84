"""Signs and tones for levels, states and severities, and the kinds of columns; on every screen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from decimal import Decimal
from typing import Any, TypeVar

import msgspec

from agentco_tui import format as fmt
from agentco_tui.live.clock import Clock
from agentco_tui.live.insight import Level, Thresholds, budget_level, priority_rank
from agentco_tui.live.store import Names, Store
from agentco_tui.model import (
    Agent,
    AgentState,
    Budget,
    Money,
    Severity,
    SharedTask,
    Task,
    TaskState,
)
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.table.layout import Column, ColumnKind
from agentco_tui.widgets.tones import Cell, Tone

TONES = {
    level: Tone.CRITICAL
    if level >= Level.CRITICAL
    else Tone.WARNING
    if level >= Level.WARNING
    else Tone.PLAIN
    for level in Level
}
SEVERITY_LEVELS = {Severity.CRITICAL: Level.CRITICAL, Severity.WARNING: Level.WARNING}
TASK_STATES: Mapping[TaskState | None, tuple[str, Tone]] = {
    TaskState.FAILED: ("critical", Tone.CRITICAL),
    TaskState.REJECTED: ("critical", Tone.CRITICAL),
    TaskState.DONE: ("good", Tone.GOOD),
    TaskState.APPROVED: ("good", Tone.GOOD),
    TaskState.RUNNING: ("arrow", Tone.ACCENT),
    TaskState.QUEUED: ("arrow", Tone.ACCENT),
    TaskState.PENDING: ("waiting", Tone.PLAIN),
}
"""The name of a state's sign, and its tone; others have none."""
AGENT_STATES: Mapping[AgentState | None, tuple[str, Tone]] = {
    AgentState.ERROR: ("critical", Tone.CRITICAL),
    AgentState.PAUSED: ("warning", Tone.WARNING),
    AgentState.STOPPED: ("warning", Tone.WARNING),
    AgentState.ACTIVE: ("good", Tone.GOOD),
}


class Look(msgspec.Struct, frozen=True):
    """What cells need besides their record: names, time and limits."""

    store: Store
    names: Names
    clock: Clock
    limits: Thresholds

    def age(self, at: float | None) -> SafeText:
        return signs.missing if at is None else fmt.age(self.clock.now() - at)

    def level_of(self, budget: Budget | None) -> Level:
        """How bad a budget is; nothing is said where none is known."""
        return Level.OK if budget is None else budget_level(budget, self.limits)

    def trust_of(self, task: Task) -> Decimal | None:
        """The trust sent with a task, else that of its agent."""
        agent = self.names.agent_of(task.agent) if task.trust is None else None
        return task.trust if agent is None else agent.trust


def level_sign(level: Level) -> SafeText:
    if level >= Level.CRITICAL:
        return signs.critical
    return signs.warning if level >= Level.WARNING else plain(" ")


def warned(words: str) -> Cell:
    return Cell(plain(f"{signs.warning} {words}"), Tone.WARNING)


def priority_cell(priority: SafeText | None) -> Cell:
    """The platform's word; urgent and high stand out by sign and tone."""
    if priority is None:
        return Cell(signs.missing, Tone.DIM)
    rank = priority_rank(priority)
    if rank == 0:
        return Cell(plain(f"{signs.critical} {priority}"), Tone.CRITICAL)
    if rank == 1:
        return warned(priority)
    return Cell(plain(f"  {priority}"), Tone.DIM if rank > 2.5 else Tone.PLAIN)


def title_cell(task: Task, tone: Tone = Tone.PLAIN) -> Cell:
    """A task's title, behind a warning where nothing can be done to it."""
    if not isinstance(task, SharedTask):
        return Cell(task.title, tone)
    return warned(f"{task.sharers} tasks with this id {signs.separator} {task.title}")


def _state_cell(word: str, known: tuple[str, Tone] | None) -> Cell:
    sign, tone = known or (None, Tone.DIM)
    return Cell(plain(f"{getattr(signs, sign) if sign else ' '} {word}"), tone)


def task_status_cell(task: Task) -> Cell:
    return _state_cell(task.status or task.state or signs.missing, TASK_STATES.get(task.state))


def agent_status_cell(agent: Agent) -> Cell:
    """An agent's status, by the platform's word, with the reason it is paused."""
    word = agent.status or agent.state
    if word is None:
        return Cell(signs.missing, Tone.DIM)
    why = f" ({agent.pause_reason})" if agent.pause_reason else ""
    return _state_cell(f"{word}{why}", AGENT_STATES.get(agent.state))


def severity_level(severity: Severity) -> Level:
    return SEVERITY_LEVELS.get(severity, Level.OK)


def limit_text(budget: Budget) -> SafeText:
    return plain("no limit") if budget.unlimited else fmt.money(budget.limit)


def spent_text(budget: Budget, *, short: bool = False) -> SafeText:
    """What is spent of a budget, and of how much; of no limit there is no part."""
    spent = fmt.money(budget.spent, short=short)
    if budget.unlimited:
        return plain(f"{spent}, no limit")
    return plain(f"{spent} of {fmt.money(budget.limit, short=short)}")


def share_text(budget: Budget) -> SafeText:
    """A budget's share in per cent, marked where it was computed here from unlike figures."""
    return signs.missing if budget.unlimited else fmt.percent(budget.share)


def left_of(agent: Agent, budget: Budget | None) -> Money | None:
    """What an agent may still spend: by its own record, else by its budget, if that is known."""
    if budget is not None and budget.unlimited:
        # Whatever the agent's own record says then (0, -1): nothing can run out.
        return None
    own, other = agent.budget_remaining, budget.remaining if budget else None
    if own is None or other is None:
        return own or other
    # The agent's record may have the figure alone; the budget tells its currency, and by the same
    # figure its unit.
    unsure = own.unit_assumed and (own.amount != other.amount or other.unit_assumed)
    return msgspec.structs.replace(
        own, currency=own.currency or other.currency, unit_assumed=unsure
    )


def money_cell(money: Money | None, tone: Tone = Tone.PLAIN) -> Cell:
    return Cell(fmt.money(money), Tone.DIM if money is None else tone)


def text_cell(text: SafeText | None, tone: Tone = Tone.PLAIN) -> Cell:
    return Cell(signs.missing, Tone.DIM) if text is None else Cell(text, tone)


def number_cell(number: int | None) -> Cell:
    return Cell(fmt.count(number), Tone.DIM if number is None else Tone.PLAIN)


def trust_cell(trust: Decimal | None, word: SafeText | None = None) -> Cell:
    """The raw score: no scale is promised, so none is drawn."""
    return text_cell(word) if trust is None else Cell(fmt.number(trust))


R = TypeVar("R")
Widths = tuple[int, int]
"""The wanted width of a column, and the least."""


def column(
    key: str,
    title: str,
    widths: Widths,
    cell: Callable[[R], Cell],
    shared: Callable[[R], Hashable] | None = None,
    **more: Any,
) -> Column[R]:
    """Any column; `more` are further fields of `Column`.

    Records that have `shared` in common have the same key to sort by, which is so read once.
    """
    if shared is not None:
        more["sort_reader"] = _read_once(shared, more["sort_key"])
    return Column(key, plain(title), widths[0], cell, min_width=widths[1], **more)


def level_column(level: Callable[[R], Level], **more: Any) -> Column[R]:
    """The sign of a record's level, one cell wide and without a title."""

    def cell(record: R) -> Cell:
        found = level(record)
        return Cell(level_sign(found), TONES[found])

    return column("level", " ", (1, 1), cell, **more)


def text_column(
    key: str,
    title: str,
    widths: Widths,
    text: Callable[[R], SafeText | None],
    tone: Tone | Callable[[R], Tone] = Tone.PLAIN,
    **more: Any,
) -> Column[R]:
    """Words, sorted without regard to case."""

    def cell(record: R) -> Cell:
        return text_cell(text(record), tone if isinstance(tone, Tone) else tone(record))

    more.setdefault("sort_key", lambda record: (text(record) or "").casefold() or None)
    return column(key, title, widths, cell, **more)


def number_column(
    key: str,
    title: str,
    widths: Widths,
    cell: Callable[[R], Cell],
    value: Callable[[R], Any],
    **more: Any,
) -> Column[R]:
    """A figure: `cell` shows it, `value` is what it is sorted by and compared with."""
    more = {"kind": ColumnKind.NUMBER, "align": "right", "sort_key": value, **more}
    return column(key, title, widths, cell, filter_value=value, **more)


def age_column(
    look: Look, key: str, title: str, at: Callable[[R], float | None], **more: Any
) -> Column[R]:
    """How long ago something was, by its seconds since 1970; the oldest is the most."""

    def age(record: R) -> float | None:
        then = at(record)
        return None if then is None else look.clock.now() - then

    def order(record: R) -> float | None:
        then = at(record)
        return None if then is None else -then

    cell = more.pop("cell", lambda record: Cell(look.age(at(record)), Tone.DIM))
    more = {"kind": ColumnKind.SECONDS, "ticks": True, "sort_key": order, **more}
    return number_column(key, title, (5, 5), cell, age, **more)


def _read_once(
    shared: Callable[[R], Hashable], read: Callable[[R], Any]
) -> Callable[[], Callable[[R], Any]]:
    def make() -> Callable[[R], Any]:
        known: dict[Hashable, Any] = {}

        def reader(record: R) -> Any:
            what = shared(record)
            try:
                return known[what]
            except KeyError:
                found = known[what] = read(record)
                return found

        return reader

    return make
