"""The content of the panels below the list of the Overview, as lines for text panes.

`preview_items` shows the need under the cursor (a need is one thing that requires the operator),
`money_items` a line for each of the budgets that matter most, `trend_items` graphs of the last 24
hours, and `latest_items` the newest entries of the activity log, where a `Fold` is several entries
that are alike in one line. `NeedWords` is a need in words. The platform is the remote service whose
companies of AI agents are watched; `workspace` holds its records as last read, and `dashboard` also
what only the dashboard has. `workspace.outlook` has the forecasts and the figures of the last 24
hours. The scope (`poller.query.company`) is the id of the company that is shown, None for all. The
trace of a task is the list of steps that its agent took. The workspace is what is known of the
platform in memory. A `status` is the platform's word, the `state` what it means to this program. A
gap is an entry of our own where entries are missing (`is_gap`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Final

from msgspec.structs import replace

from agentco_tui import model
from agentco_tui.attention.need_words import NeedWords
from agentco_tui.attention.needs import Need
from agentco_tui.live import insight
from agentco_tui.live.activity_window import ActivityWindow, is_gap
from agentco_tui.live.insight import NOT_AT_WORK, Idleness, Level
from agentco_tui.live.sentences import Fold, action_words, actor_words, fold_repeats, sentence
from agentco_tui.model import Agent, AgentState, Budget, BudgetScope, Ref, Task, Trace
from agentco_tui.model import format as fmt
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES, CellContext
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.trends import (
    entries_trend,
    forecast_words,
    spark_cell,
    spending_items,
    sum_of_days,
    waiting_trend,
)
from agentco_tui.text import SafeText, clip, joined, mark_safe, signs, wrap
from agentco_tui.widgets.graph import Graph
from agentco_tui.widgets.text_pane import CellLine, PaneItem, align_columns
from agentco_tui.widgets.tones import Cell, Tone, total_width
from agentco_tui.workspace.workspace import Workspace

MOST_FOLDED: Final = 200
"""Newest entries of the log that the panel of the latest events is made from."""
NOISY_WITHIN: Final = 300.0
"""Seconds within which so many entries are noise: only the bad ones are shown then."""
QUIET_AFTER: Final = 600.0
"""Seconds over which as many entries must be spread before all are shown again."""
MANY_ENTRIES: Final = 30
"""Entries that are noise if they came within `NOISY_WITHIN`."""
ROOM: Final = 46
"""Columns at or above which a budget's line shows what is spent, and a folded entry its times."""
ROOMY: Final = 90
"""Columns at or above which a budget's line shows its last day and its forecast."""
ROOMIEST: Final = 110
"""Columns at or above which a budget's line shows an agent's company beside all else."""
SPACIOUS: Final = 150
"""Columns at or above which a budget's line has room for everything."""
LEVEL_COLUMNS: Final = 9
"""Columns of the level's sign, the per cent and the blanks in a budget's line."""
MOST_SORTED: Final = 2_000
"""Budgets of agents up to which the worst of all are shown; of more, those among the needs."""
MOST_FORECAST: Final = 34
"""Columns of the forecast in a budget's line."""
LEAST_PLOT: Final = 3
"""Lines of a graph, without its axis, below which none is drawn."""
MOST_NAME: Final = 16
"""Columns of the name of a company in the title."""
LONGEST_LINE: Final = 600
"""Cells of a text that is put in one line."""


def one_line(*texts: SafeText | None) -> SafeText:
    """Return texts in one line, without breaks and repeated blanks; empty ones are left out."""
    return mark_safe(
        "  ".join(" ".join(clip(text, LONGEST_LINE).split()) for text in texts if text)
    )


def preview_items(
    need: Need, words: NeedWords, dashboard: DashboardContext, width: int
) -> list[PaneItem]:
    """Return three lines about a need: what follows if it is ignored and why it ranks here, and
    twice what its record is about, the more important first. Of several needs with the same cause
    the second line names the others.
    """
    first, second, facts = _preview(need, words, dashboard, width)
    if words.also:
        second = first
        first = words.also
    left: tuple[Cell, ...] = ()
    if words.consequence:
        left = (
            Cell(mark_safe(" If ignored: "), Tone.DIM),
            Cell(words.consequence),
            Cell(mark_safe("."), Tone.DIM),
        )
    rank = Cell(mark_safe(f" Ranked by {words.reason}."), Tone.DIM)
    right = Cell(joined(facts, f" {signs.separator} "), Tone.DIM)
    return [
        CellLine((*left, rank), (right,)),
        CellLine((Cell(first),)),
        CellLine((Cell(second, Tone.DIM),)),
    ]


def _preview(
    need: Need, words: NeedWords, dashboard: DashboardContext, width: int
) -> tuple[SafeText, SafeText, list[SafeText]]:
    """Return the two lines about a need's record, and facts for the right of the line above."""
    workspace = dashboard.workspace
    record = need.record
    match record:
        case Task():
            first, second = _task_preview(record, dashboard, width)
            return first, second, _task_facts(record, need, words, dashboard)
        case Budget():
            first = joined(
                [cells.spent_text(record), about_of(record, dashboard.cell_context)], ", "
            )
            return first, at_work(agent_of(record, workspace), workspace), []
        case model.Alert(threshold=threshold):
            limit = "" if threshold is None else f"threshold {fmt.percent(threshold)}"
            return one_line(record.text), mark_safe(limit), []
        case Agent():
            first = one_line(insight.with_reason(record.status or record.state or "", record))
            return first, at_work(record, workspace), []
        case model.Activity():
            return one_line(sentence(record, workspace.names)), mark_safe(""), []


def _task_preview(task: Task, dashboard: DashboardContext, width: int) -> tuple[SafeText, SafeText]:
    """Return the description in two lines, or the last step of the trace and the description."""
    workspace = dashboard.workspace
    about = about_of(task, dashboard.cell_context) or mark_safe("no description was sent")
    trace = workspace.traces.get(task.id)
    if isinstance(trace, Trace) and trace.steps:
        step = trace.steps[-1]
        return mark_safe(f"{signs.arrow} {one_line(step.name or step.kind, step.text)}"), about
    lines = wrap(about, max(1, width))
    second = lines[1] if len(lines) > 1 else mark_safe("")
    return lines[0], second


def _task_facts(
    task: Task, need: Need, words: NeedWords, dashboard: DashboardContext
) -> list[SafeText]:
    """Return the agent, company and trust of a task, and how far its trace is, as far as known."""
    workspace = dashboard.workspace
    names = workspace.names
    facts = [words.agent]
    if not need.alike:  # it is about this task alone, not about several that are alike
        facts.append(dashboard.cell_context.company_words(names.company_of(task) or Ref()))
        trust = fmt.number(dashboard.cell_context.trust_of(task))
        if trust != signs.missing:
            facts.append(mark_safe(f"trust {trust}"))
    trace = workspace.traces.get(task.id)
    if isinstance(trace, Trace) and trace.steps:
        at = trace.steps[-1].at
        ago = "" if at is None else f", {fmt.ago(workspace.clock.now() - at.at)}"
        facts.append(mark_safe(f"{fmt.count(len(trace.steps))} steps{ago}"))
    return [fact for fact in facts if fact and fact != signs.missing]


def about_of(record: model.Record, context: CellContext) -> SafeText:
    """Return what a task is about, or a budget's forecast and when it resets; "" if not known."""
    if isinstance(record, Task):
        return one_line(record.description)
    if not isinstance(record, Budget):
        return mark_safe("")
    words: list[SafeText] = []
    if record.forecast is not None:
        words.append(mark_safe(f"platform's forecast {fmt.money(record.forecast)}"))
    left = record.resets.at - context.clock.now() if record.resets else 0
    if left > 0:
        words.append(mark_safe(f"resets in {fmt.age(left)}"))
    return joined(words, ", ")


def staff(states: Counter[AgentState | None]) -> SafeText:
    """Return how many agents there are and how many do not work: "8 agents, 1 paused".

    Return "" if there are none.
    """
    if not states:
        return mark_safe("")
    not_at_work = [f"{fmt.count(states[each])} {each}" for each in NOT_AT_WORK if states[each]]
    return mark_safe(", ".join([f"{fmt.count(states.total())} agents", *not_at_work]))


def idle_words(idle: Sequence[tuple[SafeText, Idleness]], *, has_room: bool) -> SafeText:
    """Return which company does not work, or how many: "Globex paused", "2 companies archived".

    With room, it also says whether the company's budget is the reason.
    """
    if not idle:
        return mark_safe("")
    name, only = idle[0]
    if len(idle) == 1:
        return mark_safe(f"{clip(name, MOST_NAME)} {only.words if has_room else only.status}")
    statuses = {each.status for _, each in idle}
    status = only.status if len(statuses) == 1 else "not at work"
    return mark_safe(f"{fmt.count(len(idle))} companies {status}")


def agent_of(budget: Budget, workspace: Workspace) -> Agent | None:
    """Return the agent whose budget it is; None for another budget, or an unknown agent."""
    if budget.scope is not BudgetScope.AGENT:
        return None
    return workspace.store.agents.get(budget.id)


def at_work(agent: Agent | None, workspace: Workspace) -> SafeText:
    """Return whether an agent works and how many of its tasks wait: "paused, holds 2 tasks"."""
    if agent is None:
        return mark_safe("")
    is_idle = agent.state in NOT_AT_WORK
    words: list[SafeText] = []
    if is_idle:
        words.append(agent.status or mark_safe(str(agent.state)))
    waiting = workspace.needs.queue.waiting_by_owner[BudgetScope.AGENT, agent.id]
    if waiting > 0:
        verb = "holds" if is_idle else "waits with"
        noun = "task" if waiting == 1 else "tasks"
        words.append(mark_safe(f"{verb} {fmt.count(waiting)} {noun}"))
    return joined(words, ", ")


def period_and_day(budget: Budget, now: float) -> SafeText:
    """Return a budget's period and its day: "monthly, day 9 of 30"; the day only if known."""
    period = budget.period or mark_safe("")
    passed = insight.period_passed(budget, now)
    if passed is None or budget.resets is None or passed >= 1:
        return period
    days = (budget.resets.at - now) / (1 - passed) / 86_400
    return joined([period, mark_safe(f"day {int(passed * days) + 1} of {round(days)}")], ", ")


def money_of(dashboard: DashboardContext, most: int) -> list[Budget]:
    """Return the budgets to show, at most `most`: the total, the companies', the agents' worst.

    The agents' have a third of the lines, if there are so many.
    """
    workspace = dashboard.workspace
    store = workspace.store
    scope = workspace.poller.query.company
    companies = [budget for budget in store.company_budgets if scope in (None, budget.id)]
    companies.sort(key=dashboard.cell_context.badness, reverse=True)
    head = [*store.budget, *companies] if scope is None else companies
    worst = _worst_of_agents(dashboard)
    kept = max(3, most - min(len(worst), most // 3))
    return [*head[:kept], *worst][:most]


def _worst_of_agents(dashboard: DashboardContext) -> list[Budget]:
    """Return the budgets of agents, the worst first; of very many, those among the needs."""
    workspace = dashboard.workspace
    budgets = workspace.needs.of_scope(workspace.store.agent_budgets)
    few = list(islice(budgets, MOST_SORTED + 1))
    if len(few) <= MOST_SORTED:
        return sorted(few, key=dashboard.cell_context.badness, reverse=True)
    needs = (need.record for need in workspace.needs.shown)
    return [each for each in needs if isinstance(each, Budget) and each.scope is BudgetScope.AGENT]


def money_items(budgets: list[Budget], dashboard: DashboardContext, width: int) -> list[PaneItem]:
    """Return a line for each budget: its level, owner, gauge, last day, sums and forecast."""
    workspace = dashboard.workspace
    context = dashboard.cell_context
    is_roomy = width >= ROOMY
    days = [workspace.outlook.of(each).spent_by_hour if is_roomy else () for each in budgets]
    sparks = [spark_cell(day) for day in days]
    is_tight = any(spark.text for spark in sparks) and width < SPACIOUS
    most = MOST_FORECAST if width < SPACIOUS else 2 * MOST_FORECAST
    owners: list[list[Cell]] = []
    figures: list[list[Cell]] = []
    for budget, spark in zip(budgets, sparks, strict=True):
        owners.append(_owner_cells(budget, workspace, width, is_tight=is_tight))
        day = replace(spark, text=mark_safe(f"  {spark.text}" if spark.text else ""))
        sums = _sums_words(budget, width, is_tight=is_tight)
        ahead = _ahead_words(budget, workspace, most - 2) if is_roomy else ""
        figures.append([day, Cell(mark_safe(sums), Tone.DIM), Cell(mark_safe(ahead), Tone.DIM)])
    right = align_columns(figures, (width, width, most), "left", "right")
    room = width - LEVEL_COLUMNS - max(map(total_width, right), default=0)
    left = align_columns(owners, (max(1, min(18, room - cells.LEAST_GAUGE)), 20))
    room -= max(map(total_width, left), default=0)
    room = max(cells.LEAST_GAUGE, min(cells.MOST_GAUGE, room))
    used = align_columns(
        [[context.used(each, room, track=not dashboard.thin)] for each in budgets], (width,)
    )
    items: list[PaneItem] = []
    for budget, owner, gauge, rest in zip(budgets, left, used, right, strict=True):
        level = context.level_of(budget)
        sign = Cell(mark_safe(f"{cells.level_sign(level)} "), TONES[level])
        items.append(CellLine((sign, *owner, Cell(mark_safe(" ")), *gauge, *rest)))
    return items


def _owner_cells(budget: Budget, workspace: Workspace, width: int, *, is_tight: bool) -> list[Cell]:
    """Return whose budget it is, and the company of an agent where there is room."""
    names = workspace.names
    has_room = width >= (ROOMIEST if is_tight else ROOMY)
    company = ""
    if budget.scope is BudgetScope.AGENT and has_room:
        company = f"  {names.company(names.company_of(budget))}"
    return [Cell(names.budget(budget)), Cell(mark_safe(company))]


def _sums_words(budget: Budget, width: int, *, is_tight: bool) -> str:
    """Return what is left where there is little room, else what is spent of the limit."""
    has_little_room = is_tight or ROOMY <= width < ROOMIEST
    if has_little_room and budget.remaining is not None and not budget.unlimited:
        return f"  {fmt.money(budget.remaining, short=True)} left"
    if width >= ROOM or budget.unlimited:
        return f"  {cells.spent_text(budget, short=True)}"
    return ""


def _ahead_words(budget: Budget, workspace: Workspace, most: int) -> str:
    """Return that the agent or the company does not work, else the forecast in so many columns."""
    agent = agent_of(budget, workspace)
    if agent is not None and agent.state in NOT_AT_WORK:
        return f"  {at_work(agent, workspace)}"
    company = Ref(budget.id) if budget.scope is BudgetScope.COMPANY else None
    idle = workspace.names.idleness(company)
    if idle is not None:
        return f"  {idle.words}"
    ahead = forecast_words(budget, workspace, most)
    return f"  {ahead}" if ahead else ""


def trend_items(workspace: Workspace, room: int) -> list[PaneItem]:
    """Return what waited and what happened in the last 24 hours, in so many lines.

    As graphs, and with what is spent, as far as there is room; nothing while nothing is known.
    """
    outlook = workspace.outlook
    scope = workspace.poller.query.company
    entries = outlook.of_agent(None).entries_by_hour
    if scope is not None:
        agents = workspace.needs.of_scope(workspace.store.agents)
        entries = sum_of_days(outlook.of_agent(agent.id).entries_by_hour for agent in agents)
    trends = {"WAITING": waiting_trend(workspace, scope), "EVENTS ": entries_trend(entries)}
    spending: list[PaneItem] = []
    budgets = workspace.store.budgets_of_scope(scope)
    if len(budgets) == 1:  # of several budgets no total was sent
        spending = [*spending_items(budgets[0], workspace, "SPENT  ")]
    if room < len(trends) or not any(trends.values()):
        return []
    height = sum(item.height + 1 if isinstance(item, Graph) else 1 for item in spending)
    if height > room - len(trends):
        spending = []
        height = 0
    plot_height = (room - height) // len(trends) - 2
    items: list[PaneItem] = []
    for name, trend in trends.items():
        items += trend.items(name)
        if trend and plot_height >= LEAST_PLOT:
            items.append(trend.plot(plot_height))
    return [*items, *spending]


def is_noisy(activity: ActivityWindow, was_noisy: bool) -> bool:
    """Whether so much happens that what goes wrong is lost in it; `was_noisy` until it is quiet."""
    newest = [entry.at for entry in islice(reversed(activity), MANY_ENTRIES)]
    if len(newest) < MANY_ENTRIES:
        return False
    last = newest[0]
    first = newest[-1]
    if last is None or first is None:
        return False
    return last.at - first.at < (QUIET_AFTER if was_noisy else NOISY_WITHIN)


def log_lines(folds: Sequence[Fold], context: CellContext, who: int) -> list[list[Cell]]:
    """Return a line for each fold: when, how bad, by whom in so many columns, and what was done."""
    now = context.clock.now()
    rows: list[list[Cell]] = []
    for fold in folds:
        entry = fold.entries[0]
        tone = TONES[insight.SEVERITY_LEVELS[entry.severity]]
        rows.append(
            [
                Cell(fmt.clock(entry.at, now), Tone.DIM),
                cells.severity_cell(entry),
                Cell(mark_safe(f" {actor_words(entry, context.names)}")),
                Cell(mark_safe(f" {action_words(entry, context.names)}"), tone),
            ]
        )
    return align_columns(rows, (9, 2, who + 1 if who else 0))


def latest_items(
    activity: ActivityWindow, context: CellContext, size: tuple[int, int], *, bad_only: bool
) -> list[PaneItem]:
    """Return the newest entries, those that are alike in one line; with `bad_only` the bad ones.

    `size` is the width and height of the panel.
    """
    width, height = size
    newest = islice(reversed(activity), MOST_FOLDED * (10 if bad_only else 1))
    chosen = (
        entry
        for entry in newest
        # A gap is an entry of our own: it marks a time of which entries are missing.
        if not bad_only or is_gap(entry) or insight.SEVERITY_LEVELS[entry.severity] > Level.OK
    )
    folds = fold_repeats(chosen, context.names)[: max(1, height)]
    repeats = [fold.count_and_span() if width >= ROOM else fold.count for fold in folds]
    lines = log_lines(folds, context, max(6, width // 5))
    return [
        CellLine(tuple(line), (Cell(words, Tone.DIM),))
        for line, words in zip(lines, repeats, strict=True)
    ]
