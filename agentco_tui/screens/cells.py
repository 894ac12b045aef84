"""Signs and tones for levels, states and severities, and the kinds of columns; on every screen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from decimal import Decimal
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from agentco_tui import model
from agentco_tui.config import AlertLimits
from agentco_tui.live.feeds import Clock
from agentco_tui.live.insight import (
    LEVEL_WORDS,
    SEVERITY_LEVELS,
    Level,
    budget_level,
    is_failing,
    period_passed,
    priority_rank,
)
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store
from agentco_tui.model import Budget, Money, Task
from agentco_tui.model import format as fmt
from agentco_tui.reading.identity import KIND_NOUNS, refusal
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.text.row_filter import ColumnKind
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.tones import Cell, Tone, bar

TONES = {
    **dict.fromkeys(Level, Tone.PLAIN),
    Level.WARNING: Tone.WARNING,
    Level.CRITICAL: Tone.CRITICAL,
}
TASK_STATES: Mapping[model.TaskState | None, tuple[str, Tone]] = {
    model.TaskState.FAILED: ("critical", Tone.CRITICAL),
    model.TaskState.REJECTED: ("critical", Tone.CRITICAL),
    model.TaskState.DONE: ("good", Tone.GOOD),
    model.TaskState.APPROVED: ("good", Tone.GOOD),
    model.TaskState.RUNNING: ("arrow", Tone.ACCENT),
    model.TaskState.QUEUED: ("arrow", Tone.ACCENT),
    model.TaskState.PENDING: ("waiting", Tone.PLAIN),
}
"""The name of a state's sign, and its tone; others have none."""
AGENT_STATES: Mapping[model.AgentState | None, tuple[str, Tone]] = {
    model.AgentState.ERROR: ("critical", Tone.CRITICAL),
    model.AgentState.PAUSED: ("warning", Tone.WARNING),
    model.AgentState.STOPPED: ("warning", Tone.WARNING),
    model.AgentState.ACTIVE: ("good", Tone.GOOD),
}


LEAST_GAUGE, MOST_GAUGE = 3, 30
NO_SHARE = Decimal(-1)


class CellContext(msgspec.Struct):
    """What cells need besides their record: names, time and limits."""

    store: Store
    names: Names
    clock: Clock
    limits: AlertLimits

    def age(self, at: float | None) -> SafeText:
        return signs.missing if at is None else fmt.age(self.clock.now() - at)

    def wait(self, at: float | None) -> SafeText:
        """For how long something waits, which counts to the minute."""
        return signs.missing if at is None else fmt.age(self.clock.now() - at, fine=True)

    def level_of(self, budget: Budget | None) -> Level:
        return Level.OK if budget is None else budget_level(budget, self.limits)

    def gauge(self, budget: Budget, width: int, *, track: bool = True) -> Cell:
        """How much of the limit is spent, with the mark of today where the period is known."""
        passed = period_passed(budget, self.clock.now())
        drawn = bar(budget.share, width, passed=passed, track=track)
        return Cell(drawn, TONES[self.level_of(budget)])

    def used(self, budget: Budget | None, width: int, *, track: bool = True) -> Cell:
        """A gauge and its per cent; nothing where no share is known."""
        if budget is None or budget.share is None:
            return Cell(plain(""))
        gauge = self.gauge(budget, width, track=track)
        return Cell(plain(f"{gauge.text}{fmt.percent(budget.share):>6}"), gauge.tone)

    def badness(self, budget: Budget | None) -> tuple[Level, Decimal]:
        """How bad a budget is, by level and share: what the worst comes first by."""
        share = None if budget is None else budget.share
        return self.level_of(budget), NO_SHARE if share is None else share

    def agent_badness(self, agent: model.Agent) -> tuple[Level, Decimal]:
        level, share = self.badness(self.budget_of(agent))
        return max(level, Level.WARNING if is_failing(agent) else Level.OK), share

    def budget_of(self, record: model.Agent | model.Company) -> Budget | None:
        is_agent = isinstance(record, model.Agent)
        budgets = self.store.agent_budgets if is_agent else self.store.company_budgets
        return budgets.get(record.id)

    def left_cell(self, agent: model.Agent) -> Cell:
        budget = self.budget_of(agent)
        if budget is not None and budget.unlimited:
            return Cell(limit_text(budget), Tone.DIM)
        return text_cell(fmt.money(left_of(agent, budget)), TONES[self.level_of(budget)])

    def trust_of(self, task: Task) -> Decimal | None:
        agent = self.names.agent_of(task.agent) if task.trust is None else None
        return task.trust if agent is None else agent.trust


def level_sign(level: Level) -> SafeText:
    if level >= Level.CRITICAL:
        return signs.critical
    return signs.warning if level >= Level.WARNING else plain(" ")


def severity_cell(entry: model.Activity) -> Cell:
    """How bad an entry is; `~` stands before what wasn't sent."""
    level = SEVERITY_LEVELS[entry.severity]
    derived = signs.derived if entry.severity_derived else " "
    return Cell(plain(f"{derived}{level_sign(level)}"), TONES[level])


def limit_refused(record: object, store: Store) -> SafeText | None:
    """Why the limit of the agent on a record's line can't be set; None if there is no such agent or
    nothing speaks against it.
    """
    if isinstance(record, model.Agent | Budget) and record.unwritable is not None:
        return record.unwritable
    agent_id = limit_of(record)
    return refusal((agent_id,), (store.agent_budgets.get(agent_id), store.agents.get(agent_id)))


def limit_of(record: object) -> str | None:
    """The agent whose limit a record's line is about."""
    match record:
        case model.Agent(id=agent_id) | Budget(scope=model.BudgetScope.AGENT, id=agent_id):
            return agent_id
        case (
            model.Alert(agent=model.Ref(id=agent))
            | Task(agent=model.Ref(id=agent))
            | model.Activity(agent=model.Ref(id=agent))
        ):
            return agent
    return None


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
    """Its title, marked where other tasks came with the same id."""
    return Cell(task.title, tone) if not task.shared_id else warned(marked_name(task, task.title))


def marked_name(record: model.Record, name: SafeText) -> SafeText:
    """A record's name, with how many came with its id where it is not alone with it.

    Titles and log lines are cut at their end, and have it in front; names are short.
    """
    if not record.shared_id:
        return name
    if isinstance(record, model.Agent | model.Company | Budget):
        return plain(f"{name} {signs.separator} {record.sharers} with this id")
    sharers = f"{record.sharers} {KIND_NOUNS[type(record)]} with this id"
    return plain(f"{sharers} {signs.separator} {name}")


def name_cell(record: model.Record, name: SafeText, tone: Tone = Tone.PLAIN) -> Cell:
    """A record's name, marked where different records came with the same id."""
    return warned(marked_name(record, name)) if record.shared_id else Cell(name, tone)


def _state_cell(word: str, known: tuple[str, Tone] | None) -> Cell:
    sign, tone = known or (None, Tone.DIM)
    return Cell(plain(f"{getattr(signs, sign) if sign else ' '} {word}"), tone)


def task_status_cell(task: Task) -> Cell:
    return _state_cell(task.status or task.state or signs.missing, TASK_STATES.get(task.state))


def agent_status_cell(agent: model.Agent) -> Cell:
    word = agent.status or agent.state
    if word is None:
        return Cell(signs.missing, Tone.DIM)
    why = f" ({agent.pause_reason})" if agent.pause_reason else ""
    return _state_cell(f"{word}{why}", AGENT_STATES.get(agent.state))


def left_of(agent: model.Agent, budget: Budget | None) -> Money | None:
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
    return replace(own, currency=own.currency or other.currency, unit_assumed=unsure)


def limit_text(budget: Budget) -> SafeText:
    return plain("no limit") if budget.unlimited else fmt.money(budget.limit)


def spent_text(budget: Budget, *, short: bool = False) -> SafeText:
    spent = fmt.money(budget.spent, short=short)
    if budget.unlimited:
        return plain(f"{spent}, no limit")
    return plain(f"{spent} of {fmt.money(budget.limit, short=short)}")


def text_cell(text: SafeText | None, tone: Tone = Tone.PLAIN) -> Cell:
    """A text; what is missing is told dimly."""
    return Cell(signs.missing, Tone.DIM) if text in (None, signs.missing) else Cell(text, tone)


R = TypeVar("R")
Show = Callable[[R], Cell]
Shared = Callable[[R], Hashable] | None
Widths = tuple[int, int]  # the wanted width of a column, and the least


def column(
    key: str, title: str, widths: Widths, cell: Show[R], shared: Shared[R] = None, **more: Any
) -> Column[R]:
    """Any column; records that have `shared` in common have one key to sort by, read once."""

    def remembering() -> Callable[[R], Any]:
        assert shared is not None
        known: dict[Hashable, Any] = {}

        def sort_key(record: R) -> Any:
            what = shared(record)
            try:
                return known[what]
            except KeyError:
                found = known[what] = more["sort_key"](record)
                return found

        return sort_key

    if shared is not None:
        more["sort_reader"] = remembering
    return Column(key, plain(title), widths[0], cell, min_width=widths[1], **more)


def level_column(level: Callable[[R], Level], **more: Any) -> Column[R]:

    def cell(record: R) -> Cell:
        found = level(record)
        return Cell(level_sign(found), TONES[found])

    more = {
        "filter_value": lambda record: level(record).name.lower(),
        "rank": LEVEL_WORDS.get,
        **more,
    }
    return column("level", " ", (1, 1), cell, always_shown=True, **more)


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
    key: str, title: str, widths: Widths, cell: Show[R], value: Callable[[R], Any], **more: Any
) -> Column[R]:
    """A figure: `cell` shows it, `value` is what it is sorted by and compared with."""
    more = {"kind": ColumnKind.NUMBER, "align": "right", "sort_key": value, **more}
    return column(key, title, widths, cell, filter_value=value, **more)


def filter_only_columns(**texts: Callable[[R], SafeText | None]) -> list[Column[R]]:
    """Columns that are only there to be filtered by."""
    return [
        text_column(key, key.upper(), (8, 8), text, sort_key=None, shown_by_default=False)
        for key, text in texts.items()
    ]


def money_column(
    key: str, title: str, widths: Widths, money: Callable[[R], Money | None], **more: Any
) -> Column[R]:
    def amount(record: R) -> Decimal | None:
        known = money(record)
        return None if known is None else known.amount

    more = {"cell": lambda record: text_cell(fmt.money(money(record))), **more}
    return number_column(key, title, widths, value=amount, **more)


def gauge_column(
    context: CellContext,
    key: str,
    widths: Widths,
    budget_of: Callable[[R], Budget | None],
    *,
    percent: bool = True,
    no_limit: str = "",
    **more: Any,
) -> Column[R]:

    def share(record: R) -> Decimal | None:
        budget = budget_of(record)
        return None if budget is None else budget.share

    def cell(record: R) -> Cell:
        budget = budget_of(record)
        if budget is not None and budget.unlimited:
            return Cell(plain(no_limit), Tone.DIM)
        return text_cell(fmt.percent(share(record)), TONES[context.level_of(budget)])

    def drawn(record: R, width: int) -> Cell:
        said, budget = cell(record), budget_of(record)
        words = f" {said.text:>6}" * percent
        room = min(MOST_GAUGE, width - len(words))
        if budget is None or budget.share is None or room < LEAST_GAUGE:
            return said
        return Cell(plain(f"{context.gauge(budget, room).text}{words}"), said.tone)

    more = {"kind": ColumnKind.SHARE, "align": "left", "descending_first": True, **more}
    return number_column(key, "USED", widths, cell, share, cell_for_width=drawn, grow=1, **more)


def age_column(
    context: CellContext, key: str, title: str, at: Callable[[R], float | None], **more: Any
) -> Column[R]:
    """How long ago something was, by its seconds since 1970; the oldest is the most."""

    def age(record: R) -> float | None:
        then = at(record)
        return None if then is None else context.clock.now() - then

    def order(record: R) -> float | None:
        then = at(record)
        return None if then is None else -then

    cell = more.pop("cell", lambda record: Cell(context.age(at(record)), Tone.DIM))
    widths = more.pop("widths", (5, 5))
    more = {"kind": ColumnKind.SECONDS, "uses_clock": True, "sort_key": order, **more}
    return number_column(key, title, widths, cell, age, **more)
