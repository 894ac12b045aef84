"""Table cells and columns that all list views share.

A `Cell` is a text with a `Tone`: the meaning that a theme turns into a colour. Here are the cells
for levels, states, priorities and names, and functions that make a `Column` of a record table:
`text_column`, `number_column`, `money_column`, `gauge_column`, `age_column`, `level_column`. Their
further keyword arguments are the `ColumnOptions`. `CellContext` holds what cells need besides their
record; the dashboard has one, as `dashboard.cell_context`.

The platform is the remote service that sends the records (tasks, AI agents, budgets, …); `Store`
keeps the newest of them. `signs` are the symbols in use (Unicode or ASCII), `signs.missing` that
for a value the platform did not send. A `Level` (OK, UNKNOWN, WARNING, CRITICAL) says how much a
record needs the user. `unit_assumed` marks a sum of money for which no unit was sent (cents or
dollars). A `status` is the platform's word, the `state` what it means to this program.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from decimal import Decimal
from functools import partial
from math import inf
from typing import Any, Generic, TypedDict, TypeVar, Unpack

import msgspec
from msgspec.structs import replace

from agentco_tui import model
from agentco_tui.config import AlertLimits
from agentco_tui.live.feeds import Clock
from agentco_tui.live.insight import (
    LEVEL_WORDS,
    NOT_AT_WORK,
    SEVERITY_LEVELS,
    Idleness,
    Level,
    budget_level,
    is_failing,
    period_passed,
    priority_rank,
    with_reason,
)
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store
from agentco_tui.model import Budget, Money, Task
from agentco_tui.model import format as fmt
from agentco_tui.reading.identity import KIND_NOUNS, refusal
from agentco_tui.reading.values.status_word import agent_state
from agentco_tui.text import Align, SafeText, cell_width, clip, joined, mark_safe, signs
from agentco_tui.text.row_filter import ColumnKind
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.tones import Cell, Tone, share_bar

TONES = {
    **dict.fromkeys(Level, Tone.PLAIN),
    Level.WARNING: Tone.WARNING,
    Level.CRITICAL: Tone.CRITICAL,
}
"""The tone of each level."""
TASK_STATES: Mapping[model.TaskState | None, tuple[str, Tone]] = {
    model.TaskState.FAILED: ("critical", Tone.CRITICAL),
    model.TaskState.REJECTED: ("critical", Tone.CRITICAL),
    model.TaskState.DONE: ("good", Tone.GOOD),
    model.TaskState.APPROVED: ("good", Tone.GOOD),
    model.TaskState.RUNNING: ("arrow", Tone.ACCENT),
    model.TaskState.QUEUED: ("arrow", Tone.ACCENT),
    model.TaskState.PENDING: ("waiting", Tone.PLAIN),
}
"""The sign of a state, as the name of an attribute of `signs`, and its tone. Other states have no
sign.
"""
AGENT_STATES: Mapping[model.AgentState | None, tuple[str, Tone]] = {
    model.AgentState.ERROR: ("critical", Tone.CRITICAL),
    model.AgentState.PAUSED: ("warning", Tone.WARNING),
    model.AgentState.STOPPED: ("warning", Tone.WARNING),
    model.AgentState.ACTIVE: ("good", Tone.GOOD),
}
"""The same of agents."""

BLANK = mark_safe(" ")
PERCENT = 6
"""Cells of a share in per cent behind its gauge, up to 999 %."""
LEAST_GAUGE = 3
"""Cells below which no gauge is drawn."""
MOST_GAUGE = 30
"""Cells of the widest gauge."""
NO_SHARE = Decimal(-1)  # the share is what is spent of the limit, from 0 to 1 and above
"""Sorts budgets without a known share below all others."""
HIGHEST_ORDINARY_RANK = 2.5
"""Priorities that rank above this are lower than an ordinary one, and are dimmed."""


class CellContext(msgspec.Struct):
    """The records, names, clock and alert limits that cells need besides their own record."""

    store: Store
    names: Names
    clock: Clock
    limits: AlertLimits

    def age(self, at: float | None) -> SafeText:
        """Return how long ago a time in seconds since 1970 was."""
        if at is None:
            return signs.missing
        return fmt.age(self.clock.now() - at)

    def age_changes_at(self, at: float | None, *, fine: bool = False) -> float:
        """Return when the text of `age` changes, or with `fine` that of `wait`.

        Both times are in seconds since 1970; inf for a text that stays.
        """
        if at is None:
            return inf
        now = self.clock.now()
        return now + fmt.age_changes_in(now - at, fine=fine)

    def wait(self, since: float | None) -> SafeText:
        """Return how long something has been waiting, to the minute: "1h11"."""
        if since is None:
            return signs.missing
        return fmt.age(self.clock.now() - since, fine=True)

    def level_of(self, budget: Budget | None) -> Level:
        if budget is None:
            return Level.OK
        return budget_level(budget, self.limits)

    def gauge(self, budget: Budget, width: int, *, track: bool = True) -> Cell:
        """Return a gauge of the share of the limit that is spent, `width` cells wide.

        It marks today if the budget's period is known. Without `track`, the unspent part is blank.
        """
        passed = period_passed(budget, self.clock.now())
        gauge = share_bar(budget.share, width, passed=passed, track=track)
        return Cell(gauge, TONES[self.level_of(budget)])

    def used(self, budget: Budget | None, width: int, *, track: bool = True) -> Cell:
        """Return a gauge followed by its per cent; an empty cell if the share is not known.

        The cell is `width + PERCENT` wide: of a figure that needs more room the gauge is narrower.
        """
        if budget is None or budget.share is None:
            return Cell(mark_safe(""))
        percent = fmt.percent(budget.share)
        figure = f"{percent:>{PERCENT}}" if len(percent) <= PERCENT else f" {percent}"
        gauge = self.gauge(budget, width + PERCENT - len(figure), track=track)
        return Cell(mark_safe(f"{gauge.text}{figure}"), gauge.tone)

    def badness(self, budget: Budget | None) -> tuple[Level, Decimal]:
        """Return a sort key for budgets: the level, then the share that is spent."""
        share = None if budget is None else budget.share
        if share is None:
            share = NO_SHARE
        return self.level_of(budget), share

    def agent_badness(self, agent: model.Agent) -> tuple[Level, Decimal]:
        """Return a sort key for agents: the level of the agent or its budget, then the share."""
        level, share = self.badness(self.budget_of(agent))
        if is_failing(agent):
            level = max(level, Level.WARNING)
        return level, share

    def budget_of(self, record: model.Agent | model.Company) -> Budget | None:
        is_agent = isinstance(record, model.Agent)
        budgets = self.store.agent_budgets if is_agent else self.store.company_budgets
        return budgets.get(record.id)

    def agent_words(self, ref: model.Ref) -> SafeText:
        """Return the name of an agent, with its status and its reason if it does not work.

        For example: "Nora ▲ paused (budget)".
        """
        agent = self.names.agent_of(ref)
        name = self.names.agent(ref)
        if agent is None or agent.state not in NOT_AT_WORK:
            return name
        return joined((name, agent_status_cell(agent).text), " ")

    def company_words(self, ref: model.Ref) -> SafeText:
        """Return the name of a company, with its status if it does not work: "Acme ▲ paused"."""
        name = self.names.company(ref)
        idle = self.names.idleness(ref)
        if idle is None:
            return name
        return joined((name, _idle_cell(idle, idle.words).text), " ")

    def company_status(self, company: model.Company, width: int | None = None) -> Cell:
        """Return the status of a company, with a sign if it does not work.

        In a column of a `width`, what does not fit is left out: the reason, then the sign.
        """
        idle = self.names.idleness(model.Ref(company.id))
        if idle is None:
            return text_cell(company.status)
        cell = _idle_cell(idle, idle.words, idle.status, width=width)
        if width is not None and cell_width(cell.text) > width:
            return replace(cell, text=idle.status)
        return cell

    def agent_status(self, agent: model.Agent, width: int | None = None) -> Cell:
        """Return the status of an agent, with a warning if it works in a company that does not.

        In a column of a `width`, the company's status alone is there if both do not fit.
        """
        idle = self.names.idleness(self.names.company_of(agent))
        if idle is None or agent.state in NOT_AT_WORK:
            return agent_status_cell(agent)
        words = [agent.status, self.names.idle_company_of(agent)]
        in_full = ", ".join(filter(None, words))
        shorter = f"company {idle.status}", f"co. {idle.status}"
        return _idle_cell(idle, in_full, *shorter, width=width)

    def title_with_idleness(self, task: Task, width: int) -> SafeText:
        """Return a task's title, with the status of its company behind it if that does not work.

        For example: "Refund customers ▲ Globex paused", or "Refund cus… ▲ paused" where there is
        less room. The title is cut to a `width` only for that.
        """
        title = title_cell(task).text
        company = self.names.company_of(task)
        idle = self.names.idleness(company)
        if idle is None:
            return title
        name = self.names.company(company)
        words = f"{name} {idle.words}", f"{name} {idle.status}", idle.status
        note = _idle_cell(idle, *words, width=width - cell_width(title) - 1).text
        return joined((clip(title, width - cell_width(note) - 1), note))

    def remaining_cell(self, agent: model.Agent) -> Cell:
        """Return what an agent may still spend, in the tone of its budget's level."""
        budget = self.budget_of(agent)
        if budget is not None and budget.unlimited:
            return Cell(limit_text(budget), Tone.DIM)
        remaining = fmt.money(remaining_money(agent, budget))
        return text_cell(remaining, TONES[self.level_of(budget)])

    def trust_of(self, task: Task) -> Decimal | None:
        """Return the trust of a task, else that of its agent."""
        if task.trust is not None:
            return task.trust
        agent = self.names.agent_of(task.agent)
        return None if agent is None else agent.trust


def level_sign(level: Level) -> SafeText:
    if level >= Level.CRITICAL:
        return signs.critical
    if level >= Level.WARNING:
        return signs.warning
    return BLANK


def severity_cell(entry: model.Activity) -> Cell:
    """Return the sign of an entry's severity, with `~` before it if it was not sent."""
    level = SEVERITY_LEVELS[entry.severity]
    derived = signs.derived if entry.severity_derived else " "
    return Cell(mark_safe(f"{derived}{level_sign(level)}"), TONES[level])


def limit_refused(record: object, store: Store) -> SafeText | None:
    """Return why the limit of the agent that a record is about can't be set.

    Usually because its id is ambiguous (`unwritable`, `refusal`). None if it can be set, and if the
    record is about no agent.
    """
    if isinstance(record, model.Agent | Budget) and record.unwritable is not None:
        return record.unwritable
    agent_id = limit_agent_id(record)
    return refusal((agent_id,), (store.agent_budgets.get(agent_id), store.agents.get(agent_id)))


def limit_agent_id(record: object) -> str | None:
    """Return the id of the agent that a record is or is about, whose limit can be set from it."""
    match record:
        case model.Agent(id=agent_id) | Budget(scope=model.BudgetScope.AGENT, id=agent_id):
            return agent_id
        case (
            model.Alert(agent=model.Ref(id=agent_id))
            | Task(agent=model.Ref(id=agent_id))
            | model.Activity(agent=model.Ref(id=agent_id))
        ):
            return agent_id
    return None


def warning_cell(words: str) -> Cell:
    return Cell(mark_safe(f"{signs.warning} {words}"), Tone.WARNING)


def priority_cell(priority: SafeText | None) -> Cell:
    """Return the platform's word; urgent and high stand out by sign and tone."""
    if priority is None:
        return Cell(signs.missing, Tone.DIM)
    rank = priority_rank(priority)
    if rank == 0:
        return Cell(mark_safe(f"{signs.critical} {priority}"), Tone.CRITICAL)
    if rank == 1:
        return warning_cell(priority)
    tone = Tone.DIM if rank > HIGHEST_ORDINARY_RANK else Tone.PLAIN
    return Cell(mark_safe(f"  {priority}"), tone)


def title_cell(task: Task, tone: Tone = Tone.PLAIN) -> Cell:
    """Return a task's key and title, marked if several different tasks came with its id."""
    return name_cell(task, task.keyed_title, tone)


def marked_name(record: model.Record, name: SafeText) -> SafeText:
    """Return a record's name, with the number of records that came with the same id if several did.

    The number stands before titles and log lines, since their end may be cut, and behind names.
    """
    if not record.shared_id:
        return name
    if isinstance(record, model.Agent | model.Company | Budget):
        return mark_safe(f"{name} {signs.separator} {record.sharers} with this id")
    sharers = f"{record.sharers} {KIND_NOUNS[type(record)]} with this id"
    return mark_safe(f"{sharers} {signs.separator} {name}")


def name_cell(record: model.Record, name: SafeText, tone: Tone = Tone.PLAIN) -> Cell:
    """Return a record's name, as a warning if several different records came with its id."""
    if record.shared_id:
        return warning_cell(marked_name(record, name))
    return Cell(name, tone)


def _state_cell(word: str, sign_and_tone: tuple[str, Tone] | None) -> Cell:
    """Return a state's word behind its sign; without a known state dim and without a sign."""
    if sign_and_tone is None:
        return Cell(mark_safe(f"  {word}"), Tone.DIM)
    sign_name, tone = sign_and_tone
    return Cell(mark_safe(f"{getattr(signs, sign_name)} {word}"), tone)


def task_status_cell(task: Task) -> Cell:
    return _state_cell(task.status or task.state or signs.missing, TASK_STATES.get(task.state))


def _idle_cell(idle: Idleness, *words: str, width: int | None = None) -> Cell:
    """Return the first of the words about an idle company that fit a `width`, else the last."""
    sign_and_tone = AGENT_STATES[agent_state(idle.status)]
    cells = [_state_cell(each, sign_and_tone) for each in words]
    fitting = (cell for cell in cells if width is None or cell_width(cell.text) <= width)
    return next(fitting, cells[-1])


def agent_status_cell(agent: model.Agent) -> Cell:
    word = agent.status or agent.state
    if word is None:
        return Cell(signs.missing, Tone.DIM)
    return _state_cell(with_reason(word, agent), AGENT_STATES.get(agent.state))


def remaining_money(agent: model.Agent, budget: Budget | None) -> Money | None:
    """Return what an agent may still spend, by its own record, else by its budget.

    None if neither says so, and if there is no limit.
    """
    if budget is not None and budget.unlimited:
        # The agent's own record may say 0 or -1 then; nothing can run out.
        return None
    by_agent = agent.budget_remaining
    by_budget = None if budget is None else budget.remaining
    if by_agent is None:
        return by_budget
    if by_budget is None:
        return by_agent
    # The agent's record may have the bare figure. The budget completes it with its currency, and
    # if the figures agree, confirms its unit.
    is_same_figure = by_agent.amount == by_budget.amount
    is_unit_confirmed = is_same_figure and not by_budget.unit_assumed
    return replace(
        by_agent,
        currency=by_agent.currency or by_budget.currency,
        unit_assumed=by_agent.unit_assumed and not is_unit_confirmed,
    )


def limit_text(budget: Budget) -> SafeText:
    if budget.unlimited:
        return mark_safe("no limit")
    return fmt.money(budget.limit)


def spent_text(budget: Budget, *, short: bool = False) -> SafeText:
    spent = fmt.money(budget.spent, short=short)
    if budget.unlimited:
        return mark_safe(f"{spent}, no limit")
    return mark_safe(f"{spent} of {fmt.money(budget.limit, short=short)}")


def text_cell(text: SafeText | None, tone: Tone = Tone.PLAIN) -> Cell:
    """Return a text as a cell; the dim sign for a missing value if there is none."""
    if text in (None, signs.missing):
        return Cell(signs.missing, Tone.DIM)
    return Cell(text, tone)


R = TypeVar("R")
"""The records of a table."""
CellOf = Callable[[R], Cell]
GroupOf = Callable[[R], Hashable] | None
Widths = tuple[int, int]
"""The wanted and the least width of a column, in terminal cells."""


class ColumnOptions(TypedDict, Generic[R], total=False):
    """The fields of a `Column` that each function below passes on; see there for their meanings."""

    kind: ColumnKind
    filter_value: Callable[[R], Any] | None
    rank: Callable[[str], float | None] | None
    aliases: tuple[str, ...]
    cell_for_width: Callable[[R, int], Cell] | None
    grow: int
    priority: int
    align: Align
    sort_key: Callable[[R], Any] | None
    sort_reader: Callable[[], Callable[[R], Any]] | None
    uses_clock: bool
    changes_at: Callable[[R], float] | None
    descending_first: bool
    shown_by_default: bool
    always_shown: bool
    hidden_while_empty: bool


def column(
    key: str,
    title: str,
    widths: Widths,
    cell: CellOf[R],
    sort_group: GroupOf[R] = None,
    **options: Unpack[ColumnOptions[R]],
) -> Column[R]:
    """Return a column. `key` names it in filters and settings.

    Records with the same `sort_group` have the same sort key, which is then computed once for all
    of them in each sorting.
    """
    if sort_group is not None:
        sort_key = options.get("sort_key")
        assert sort_key is not None, "records are grouped to share their sort key"
        options["sort_reader"] = partial(_cached_by_group, sort_key, sort_group)
    wanted_width, min_width = widths
    return Column(key, mark_safe(title), wanted_width, cell, min_width=min_width, **options)


def _cached_by_group(
    sort_key: Callable[[R], Any], group_of: Callable[[R], Hashable]
) -> Callable[[R], Any]:
    """Return `sort_key` with an empty cache of one sort key per group of records."""
    sort_keys: dict[Hashable, Any] = {}

    def cached_sort_key(record: R) -> Any:
        group = group_of(record)
        try:
            return sort_keys[group]
        except KeyError:
            sort_keys[group] = sort_key(record)
            return sort_keys[group]

    return cached_sort_key


def level_column(level_of: Callable[[R], Level], **options: Unpack[ColumnOptions[R]]) -> Column[R]:
    """Return a column with the sign of each record's level, which is never hidden."""

    def cell(record: R) -> Cell:
        level = level_of(record)
        return Cell(level_sign(level), TONES[level])

    def word(record: R) -> str:
        return level_of(record).name.lower()

    options["always_shown"] = True
    options.setdefault("filter_value", word)
    options.setdefault("rank", LEVEL_WORDS.get)
    return column("level", " ", (1, 1), cell, **options)


def text_column(
    key: str,
    title: str,
    widths: Widths,
    text: Callable[[R], SafeText | None],
    tone: Tone | Callable[[R], Tone] = Tone.PLAIN,
    *,
    sort_group: GroupOf[R] = None,
    **options: Unpack[ColumnOptions[R]],
) -> Column[R]:
    """Return a column of texts, sorted without regard to case."""

    def cell(record: R) -> Cell:
        if isinstance(tone, Tone):
            return text_cell(text(record), tone)
        return text_cell(text(record), tone(record))

    def sort_key(record: R) -> str | None:
        return (text(record) or "").casefold() or None

    options.setdefault("sort_key", sort_key)
    return column(key, title, widths, cell, sort_group, **options)


def number_column(
    key: str,
    title: str,
    widths: Widths,
    cell: CellOf[R],
    value: Callable[[R], Any],
    *,
    sort_group: GroupOf[R] = None,
    **options: Unpack[ColumnOptions[R]],
) -> Column[R]:
    """Return a column of figures. `value` is the number to sort by and to compare in a filter."""
    options["filter_value"] = value
    options.setdefault("kind", ColumnKind.NUMBER)
    options.setdefault("align", "right")
    options.setdefault("sort_key", value)
    return column(key, title, widths, cell, sort_group, **options)


def filter_only_columns(**texts: Callable[[R], SafeText | None]) -> list[Column[R]]:
    """Return columns that are not shown unless chosen, so that lists can be filtered by them."""
    return [
        text_column(key, key.upper(), (8, 8), text, sort_key=None, shown_by_default=False)
        for key, text in texts.items()
    ]


def money_column(
    key: str,
    title: str,
    widths: Widths,
    money: Callable[[R], Money | None],
    cell: CellOf[R] | None = None,
    **options: Unpack[ColumnOptions[R]],
) -> Column[R]:
    """Return a column of sums of money, sorted by their amounts whatever their currencies.

    `cell` replaces the cell that shows the sum alone.
    """

    def amount(record: R) -> Decimal | None:
        sum_of_money = money(record)
        return None if sum_of_money is None else sum_of_money.amount

    def money_cell(record: R) -> Cell:
        return text_cell(fmt.money(money(record)))

    return number_column(key, title, widths, cell or money_cell, amount, **options)


def gauge_column(
    context: CellContext,
    key: str,
    widths: Widths,
    budget_of: Callable[[R], Budget | None],
    *,
    percent: bool = True,
    no_limit: str = "",
    **options: Unpack[ColumnOptions[R]],
) -> Column[R]:
    """Return a column that shows as a gauge how much of a limit is spent.

    With `percent` the figure follows the gauge; where a gauge has no room, it is shown alone.
    `no_limit` is shown for budgets without a limit.
    """

    def share(record: R) -> Decimal | None:
        budget = budget_of(record)
        return None if budget is None else budget.share

    def percent_cell(record: R) -> Cell:
        budget = budget_of(record)
        if budget is not None and budget.unlimited:
            return Cell(mark_safe(no_limit), Tone.DIM)
        return text_cell(fmt.percent(share(record)), TONES[context.level_of(budget)])

    def gauge_cell(record: R, width: int) -> Cell:
        figure = percent_cell(record)
        budget = budget_of(record)
        suffix = f" {figure.text:>6}" if percent else ""
        gauge_width = min(MOST_GAUGE, width - len(suffix))
        if budget is None or budget.share is None or gauge_width < LEAST_GAUGE:
            return figure
        gauge = context.gauge(budget, gauge_width)
        return Cell(mark_safe(f"{gauge.text}{suffix}"), figure.tone)

    options["cell_for_width"] = gauge_cell
    options["grow"] = 1
    options.setdefault("kind", ColumnKind.SHARE)
    options.setdefault("align", "left")
    options.setdefault("descending_first", True)
    return number_column(key, "USED", widths, percent_cell, share, **options)


def age_column(
    context: CellContext,
    key: str,
    title: str,
    at: Callable[[R], float | None],
    *,
    widths: Widths = (5, 5),
    cell: CellOf[R] | None = None,
    **options: Unpack[ColumnOptions[R]],
) -> Column[R]:
    """Return a column that shows how long ago `at` was, a time in seconds since 1970.

    Older records sort as larger. `cell` replaces the cell that shows the age.
    """

    def age(record: R) -> float | None:
        then = at(record)
        return None if then is None else context.clock.now() - then

    def order(record: R) -> float | None:
        then = at(record)
        return None if then is None else -then

    def age_cell(record: R) -> Cell:
        return Cell(context.age(at(record)), Tone.DIM)

    if cell is None:
        cell = age_cell
        options["changes_at"] = lambda record: context.age_changes_at(at(record))
    options.setdefault("kind", ColumnKind.SECONDS)
    options.setdefault("uses_clock", True)
    options.setdefault("sort_key", order)
    return number_column(key, title, widths, cell, age, **options)
