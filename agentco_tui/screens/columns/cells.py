"""Signs and tones for levels, states and severities; the same on every screen."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from decimal import Decimal
from typing import Any, TypeVar

import msgspec

from agentco_tui import format as fmt
from agentco_tui.live.clock import Clock
from agentco_tui.live.insight import Level, Thresholds, priority_rank
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store
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
    Level.OK: Tone.PLAIN,
    Level.UNKNOWN: Tone.PLAIN,
    Level.WARNING: Tone.WARNING,
    Level.CRITICAL: Tone.CRITICAL,
}


def level_sign(level: Level) -> SafeText:
    """The sign of a level; a blank where all is well."""
    match level:
        case Level.CRITICAL:
            return signs.critical
        case Level.WARNING:
            return signs.warning
        case Level.UNKNOWN | Level.OK:
            return plain(" ")


def level_cell(level: Level) -> Cell:
    """The sign of a level in its tone."""
    return Cell(level_sign(level), TONES[level])


def priority_cell(priority: SafeText | None) -> Cell:
    """The platform's word; urgent and high stand out by sign and tone."""
    if priority is None:
        return Cell(signs.missing, Tone.DIM)
    rank = priority_rank(priority)
    if rank == 0:
        return Cell(plain(f"{signs.critical} {priority}"), Tone.CRITICAL)
    if rank == 1:
        return Cell(plain(f"{signs.warning} {priority}"), Tone.WARNING)
    return Cell(plain(f"  {priority}"), Tone.DIM if rank > 2.5 else Tone.PLAIN)


def title_cell(task: Task, tone: Tone = Tone.PLAIN) -> Cell:
    """A task's title, behind a warning where nothing can be done to it."""
    if not isinstance(task, SharedTask):
        return Cell(task.title, tone)
    words = f"{signs.warning} {task.sharers} tasks with this id {signs.separator} {task.title}"
    return Cell(plain(words), Tone.WARNING)


def task_status_cell(task: Task) -> Cell:
    """A task's status, by the platform's word."""
    word = task.status or (plain(task.state) if task.state else signs.missing)
    match task.state:
        case TaskState.FAILED | TaskState.REJECTED:
            return Cell(plain(f"{signs.critical} {word}"), Tone.CRITICAL)
        case TaskState.DONE | TaskState.APPROVED:
            return Cell(plain(f"{signs.good} {word}"), Tone.GOOD)
        case TaskState.RUNNING | TaskState.QUEUED:
            return Cell(plain(f"{signs.arrow} {word}"), Tone.ACCENT)
        case TaskState.PENDING:
            return Cell(plain(f"{signs.waiting} {word}"))
        case _:
            return Cell(plain(f"  {word}"), Tone.DIM)


def agent_status_cell(agent: Agent) -> Cell:
    """An agent's status, by the platform's word, with the reason it is paused."""
    word = agent.status or (plain(agent.state) if agent.state else None)
    if word is None:
        return Cell(signs.missing, Tone.DIM)
    why = f" ({agent.pause_reason})" if agent.pause_reason else ""
    match agent.state:
        case AgentState.ERROR:
            return Cell(plain(f"{signs.critical} {word}{why}"), Tone.CRITICAL)
        case AgentState.PAUSED | AgentState.STOPPED:
            return Cell(plain(f"{signs.warning} {word}{why}"), Tone.WARNING)
        case AgentState.ACTIVE:
            return Cell(plain(f"{signs.good} {word}{why}"), Tone.GOOD)
        case _:
            return Cell(plain(f"  {word}{why}"), Tone.DIM)


def severity_level(severity: Severity) -> Level:
    """The level an entry's own severity stands for."""
    match severity:
        case Severity.CRITICAL:
            return Level.CRITICAL
        case Severity.WARNING:
            return Level.WARNING
        case _:
            return Level.OK


def limit_text(budget: Budget) -> SafeText:
    """A budget's limit; "no limit" where the platform says there is none."""
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


def money_cell(money: Money | None, tone: Tone = Tone.PLAIN) -> Cell:
    """A sum, or the sign for a missing one."""
    return Cell(fmt.money(money), Tone.DIM if money is None else tone)


def text_cell(text: SafeText | None, tone: Tone = Tone.PLAIN) -> Cell:
    """A text, or the sign for a missing one."""
    return Cell(signs.missing, Tone.DIM) if text is None else Cell(text, tone)


def number_cell(number: int | None) -> Cell:
    """A count, or the sign for a missing one."""
    return Cell(fmt.count(number), Tone.DIM if number is None else Tone.PLAIN)


def trust_cell(trust: Decimal | None, word: SafeText | None = None) -> Cell:
    """The raw score: no scale is promised, so none is drawn."""
    if trust is None:
        return text_cell(word)
    return Cell(fmt.trust(trust))


R = TypeVar("R")


class Look(msgspec.Struct, frozen=True):
    """Names, time and limits."""

    store: Store
    names: Names
    clock: Clock
    limits: Thresholds

    def age(self, at: float | None) -> SafeText:
        """How long ago that was."""
        return signs.missing if at is None else fmt.age(self.clock.now() - at)


def level_column(level: Callable[[R], Level], **more: Any) -> Column[R]:
    """The sign of a record's level, one cell wide and without a title."""
    return Column("level", plain(" "), 1, lambda r: level_cell(level(r)), min_width=1, **more)


def text_column(
    key: str, title: str, widths: tuple[int, int], text: Callable[[R], SafeText], **more: Any
) -> Column[R]:
    """Words, in a `tone`, sorted without regard to case; `widths`: wanted, and at least."""
    tone, (width, least) = more.pop("tone", Tone.PLAIN), widths
    more.setdefault("sort_key", lambda r: text(r).casefold())
    return Column(key, plain(title), width, lambda r: Cell(text(r), tone), min_width=least, **more)


def number_column(
    key: str,
    title: str,
    widths: tuple[int, int],
    cell: Callable[[R], Cell],
    value: Callable[[R], Any],
    **more: Any,
) -> Column[R]:
    """A figure: `cell` shows it, `value` is what it is sorted by and compared with."""
    more = {"kind": ColumnKind.NUMBER, "align": "right", "sort_key": value, **more}
    return Column(
        key, plain(title), widths[0], cell, min_width=widths[1], filter_value=value, **more
    )


def age_column(
    look: Look, key: str, title: str, at: Callable[[R], float | None], **more: Any
) -> Column[R]:
    """How long ago something was, by its seconds since 1970; the oldest is the most."""

    def cell(record: R) -> Cell:
        return Cell(look.age(at(record)), Tone.DIM)

    def age(record: R) -> float | None:
        then = at(record)
        return None if then is None else look.clock.now() - then

    def order(record: R) -> float | None:
        then = at(record)
        return None if then is None else -then

    more = {"kind": ColumnKind.SECONDS, "ticks": True, "sort_key": order, **more}
    return number_column(key, title, (5, 5), more.pop("cell", cell), age, **more)


def read_once(
    shared: Callable[[R], Hashable], read: Callable[[R], Any]
) -> Callable[[], Callable[[R], Any]]:
    """A column's `sort_reader` that reads once for all records that have `shared` in common."""

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
