"""The pages of a company and of an agent: what waits, its budget, its agents, its log.

A page is the detail of a row on the screens Companies or Agents: the lines (`PaneItem`s) that a
text pane shows. A line with a key such as "tasks:tsk_1" leads to that screen and row. `CellContext`
has the store (the records as last read from the platform, the remote service), the names for ids,
and the clock. `workspace.outlook` has the figures of the last 24 hours. A `Fold` is several entries
of the activity log that are alike, in one line. A level says how much a record needs the user. The
workspace is what is known of the platform in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec.structs import replace

from agentco_tui.live import insight
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.filtered_log import is_about_agent
from agentco_tui.live.insight import Level
from agentco_tui.live.sentences import fold_repeats
from agentco_tui.model import Activity, Agent, Budget, Company, Ref, Task
from agentco_tui.model import format as fmt
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES, CellContext
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.detail_pane import field, id_warning, is_listed, link, when
from agentco_tui.screens.navigation import AGENT_LOG
from agentco_tui.screens.overview_panels import log_lines
from agentco_tui.screens.trends import entries_trend, spending_items, sum_of_days, waiting_trend
from agentco_tui.text import SafeText, clean_line, mark_safe, signs
from agentco_tui.widgets.text_pane import (
    BlankLine,
    CellLine,
    Heading,
    PaneItem,
    Paragraph,
    align_columns,
)
from agentco_tui.widgets.tones import Cell, Pressable, Tone

MOST_TASKS: Final = 5_000
"""Waiting tasks among which those of one page are looked for."""
MOST_ENTRIES: Final = 200
"""Entries of the log that a page folds."""
MOST_LINES: Final = 8
"""Lines of one part; the rest is counted."""
GAUGE: Final = 24
"""Columns of the gauge of a page's own budget."""
SMALL_GAUGE: Final = 15
"""Columns of the gauge of an agent in a company's page."""
BLANK: Final = Cell(mark_safe(" "))
"""The column before a line, where the cursor is drawn."""


def company_page(company: Company, dashboard: DashboardContext) -> list[PaneItem]:
    """Return the page of a company: what waits for approval, its money, its agents, what failed."""
    workspace = dashboard.workspace
    context = dashboard.cell_context
    names = workspace.names

    def is_of_company(record: Task | Activity) -> bool:
        owner = names.company_of(record)
        return owner is not None and owner.id == company.id

    tasks = list(filter(is_of_company, _waiting(context)))
    agents = [
        a for a in context.store.agents if a.company is not None and a.company.id == company.id
    ]
    entries = filter(is_of_company, reversed(context.store.activity))
    bad = (entry for entry in entries if insight.SEVERITY_LEVELS[entry.severity] > Level.OK)
    hours = (workspace.outlook.of_agent(agent.id).entries_by_hour for agent in agents)
    not_offered = context.store.freshness[FeedName.ACTIVITY].why_not_offered
    no_failures = not_offered or "none in the part of the log that is known"
    return [
        *_company_head(company, agents, context),
        *_waiting_part(tasks, context, "tasks"),
        *waiting_trend(workspace, company.id).items(),
        *_money_part(context.budget_of(company), dashboard),
        *_agents_part(agents, tasks, context),
        *_log_part("Failures", bad, context, 10, no_failures),
        *entries_trend(sum_of_days(hours)).items(),
        BlankLine(),
        field("tasks", fmt.count(company.task_count)),
        field("created", when(company.created, context)),
        field("id", clean_line(company.sent_id)),
    ]


def _company_head(company: Company, agents: list[Agent], context: CellContext) -> list[PaneItem]:
    """Return the name of a company, and what it is for."""
    items: list[PaneItem] = [
        Paragraph(company.name or clean_line(company.sent_id), Tone.STRONG),
        *id_warning(company),
    ]
    status: SafeText | None = company.status
    if context.names.idleness(Ref(company.id)) is not None:
        cell = context.company_status(company)
        items.append(Paragraph(cell.text, cell.tone))
        status = None
    facts = [status, company.template, f"{fmt.count(len(agents))} agents" if agents else ""]
    words = f" {signs.separator} ".join(fact for fact in facts if fact)
    if words:
        items.append(Paragraph(mark_safe(words)))
    if company.mission:
        items.append(Paragraph(company.mission, Tone.DIM))
    return items


def agent_page(agent: Agent, dashboard: DashboardContext) -> list[PaneItem]:
    """Return the page of an agent: what waits, its money, and the newest of its log."""
    workspace = dashboard.workspace
    context = dashboard.cell_context
    status = context.agent_status(agent)
    tasks = [t for t in _waiting(context) if t.agent is not None and t.agent.id == agent.id]
    newest = reversed(context.store.activity)
    entries = (entry for entry in newest if is_about_agent(entry, agent.id, context.names))
    return [
        Paragraph(agent.name or clean_line(agent.sent_id), Tone.STRONG),
        *id_warning(agent),
        link("company", context.company_words, agent.company, "companies"),
        field("status", mark_safe(status.text.strip()), status.tone),
        field("role", agent.role),
        *_reports_to_items(agent, context),
        field("trust", agent.trust_word or fmt.number(agent.trust)),
        *_waiting_part(tasks, context),
        *_money_part(context.budget_of(agent), dashboard),
        *_agent_log_part(agent.id, entries, context),
        *entries_trend(workspace.outlook.of_agent(agent.id).entries_by_hour).items(),
        BlankLine(),
        field("left", context.remaining_cell(agent).text),
        field("model", agent.model),
        field("completed", fmt.count(agent.tasks_completed)),
        field("last seen", when(agent.last_seen, context)),
        field("created", when(agent.created, context)),
        field("id", clean_line(agent.sent_id)),
    ]


def _reports_to_items(agent: Agent, context: CellContext) -> list[PaneItem]:
    """Return whom an agent reports to, with a link if that is an agent; nothing if unknown."""
    if agent.reports_to is None:
        return []
    screen = "agents" if context.names.agent_of(agent.reports_to) is not None else ""
    return [link("reports to", context.agent_words, agent.reports_to, screen)]


def _line(key: str, left: Iterable[Cell], right: str = "") -> CellLine:
    """Return a line that leads where `key` says."""
    linked = (Pressable(cell.text, cell.tone, key) for cell in left)
    return CellLine((BLANK, *linked), (Cell(mark_safe(right), Tone.DIM),))


def _part(
    heading: str, lines: Sequence[PaneItem], most: int = MOST_LINES, more: str = "", none: str = ""
) -> list[PaneItem]:
    """Return a heading and its first lines, and how many more there are.

    `more` is where the line with that number leads; `none` is said if there are no lines.
    """
    items = [*lines[:most]] or [Paragraph(mark_safe(f" {none}"), Tone.DIM)]
    left_out = len(lines) - most
    if left_out > 0:
        number = Cell(mark_safe(f"{fmt.count(left_out)} more"), Tone.DIM)
        items.append(_line(more, [number]) if more else CellLine((BLANK, number)))
    return [BlankLine(), Heading(mark_safe(heading)), *items]


def _unread_words(feed: FeedName, context: CellContext) -> str | None:
    """Return why no records of a feed are there; None if it was read."""
    freshness = context.store.freshness[feed]
    if freshness.answered_at is not None:
        return None
    return freshness.why_not_offered or "not read yet"


def _waiting(context: CellContext) -> Iterator[Task]:
    return filter(insight.waits_for_person, islice(context.store.pending, MOST_TASKS))


def _waiting_part(tasks: list[Task], context: CellContext, more: str = "") -> list[PaneItem]:
    """Return the tasks that wait, the worst and oldest first; in a company's page with agents.

    `more` is where the line with the number of further tasks leads.
    """
    now = context.clock.now()
    since = {id(task): insight.waiting_since(task) or now for task in tasks}
    levels = {id(task): insight.task_level(task, now, context.limits) for task in tasks}
    tasks.sort(key=lambda task: (-levels[id(task)], since[id(task)]))
    rows = align_columns(
        [_waiting_cells(task, levels[id(task)], context) for task in tasks], (9, 11)
    )
    lines: list[PaneItem] = []
    for task, row in zip(tasks, rows, strict=True):
        agent = context.names.agent(task.agent) if more else ""
        lines.append(_line(f"tasks:{task.id}", row, agent))
    unread = _unread_words(FeedName.PENDING, context)
    if unread is not None:
        return _part("Waiting", lines, more=more, none=unread)
    heading = f"Waiting {fmt.count(len(tasks))}"
    if tasks:
        heading += f", the oldest {context.wait(min(since.values()))}"
    critical = [*levels.values()].count(Level.CRITICAL)
    if critical:
        heading += f", {fmt.count(critical)} critical"
    if len(context.store.pending) > MOST_TASKS:
        heading += f" (of the first {fmt.count(MOST_TASKS)} tasks)"
    return _part(heading, lines, more=more, none="nothing waits for a person")


def _waiting_cells(task: Task, level: Level, context: CellContext) -> list[Cell]:
    age = f"{cells.level_sign(level)} {context.wait(insight.waiting_since(task)):>5}  "
    priority = Cell(task.priority or signs.missing)
    return [Cell(mark_safe(age), TONES[level]), priority, BLANK, BLANK, cells.title_cell(task)]


def _money_part(budget: Budget | None, dashboard: DashboardContext) -> list[PaneItem]:
    """Return a budget's gauge, what is spent and left, when it resets, and its forecast."""
    workspace = dashboard.workspace
    if budget is None:
        return _part("Money", [], 0, none="no budget is known")
    context = dashboard.cell_context
    items: list[PaneItem] = []
    used = context.used(budget, GAUGE)
    if used.text:
        sign = Cell(mark_safe(f" {cells.level_sign(context.level_of(budget))}"), used.tone)
        items.append(CellLine((BLANK, used, sign)))
    words = cells.spent_text(budget)
    if budget.remaining is not None and not budget.unlimited:
        words = mark_safe(f"{words}, {fmt.money(budget.remaining)} left")
    spent = field("spent", mark_safe(words))
    items.append(replace(spent, key=f"budget:{budget.scope}:{budget.id}"))
    if budget.resets is not None:
        items.append(field("resets", when(budget.resets, context)))
    items += spending_items(budget, workspace)
    is_period_known = insight.period_passed(budget, context.clock.now()) is not None
    today = f"   {signs.vertical} = today" if is_period_known else ""
    return _part(f"Money{today}", items, len(items), none="no budget is known")


def _agents_part(
    agents: list[Agent], waiting: Iterable[Task], context: CellContext
) -> list[PaneItem]:
    """Return the agents of a company, the worst first, with what is spent and what waits."""
    waiting_by_agent = Counter(task.agent.id for task in waiting if task.agent)
    agents.sort(key=lambda agent: (agent.name or "").casefold())
    agents.sort(key=context.agent_badness, reverse=True)
    cells_by_agent = [_agent_cells(agent, waiting_by_agent[agent.id], context) for agent in agents]
    rows = align_columns(cells_by_agent, (2, 14, 1, 21, 20, 12))
    lines = [_line(f"agents:{agent.id}", row) for agent, row in zip(agents, rows, strict=True)]
    heading = f"Agents {fmt.count(len(agents))}, worst first"
    return _part(heading, lines, MOST_LINES + 2, more="agents", none="no agents are known")


def _agent_cells(agent: Agent, waiting: int, context: CellContext) -> list[Cell]:
    level = context.agent_badness(agent)[0]
    status = cells.agent_status_cell(agent)
    return [
        Cell(mark_safe(f"{cells.level_sign(level)} "), TONES[level]),
        Cell(agent.name or clean_line(agent.id)),
        BLANK,
        context.used(context.budget_of(agent), SMALL_GAUGE),
        Cell(mark_safe(f"  {status.text}"), status.tone),
        Cell(mark_safe(f"  {fmt.count(waiting)} wait" if waiting else "")),
        Cell(mark_safe(f"  {agent.role or ''}"), Tone.DIM),
    ]


def _agent_log_part(
    agent_id: str, entries: Iterable[Activity], context: CellContext
) -> list[PaneItem]:
    """Return the agent's entries among those that were read, and a line that leads to its log.

    The log that all screens share holds the newest entries of all agents: an agent may have many
    more.
    """
    none = f"none among the newest {fmt.count(len(context.store.activity))} entries of the log"
    none = _unread_words(FeedName.ACTIVITY, context) or none
    log_key = f"{AGENT_LOG}:{agent_id}"
    items = _log_part("Latest", entries, context, 0, none, more=log_key)
    if not context.store.freshness[FeedName.ACTIVITY].is_offered:
        return items
    last = items[-1]
    last_cells = last.left if isinstance(last, CellLine) else ()
    leads_to_log = any(isinstance(c, Pressable) and c.key == log_key for c in last_cells)
    if not leads_to_log:
        items.append(_line(log_key, [Cell(mark_safe("all of its log"), Tone.DIM)]))
    return items


def _log_part(
    heading: str,
    entries: Iterable[Activity],
    context: CellContext,
    who: int,
    none: str,
    *,
    more: str = "activity",
) -> list[PaneItem]:
    """Return entries of the log, those that are alike in one line.

    `who` is the width of the actor in columns, `none` what is said if there are no entries, `more`
    where the line with the number of further entries leads.
    """
    folds = fold_repeats(islice(entries, MOST_ENTRIES), context.names)
    lines: list[PaneItem] = []
    for fold, line in zip(folds, log_lines(folds, context, who), strict=True):
        entry = fold.entries[0]
        key = f"activity:{entry.id}"
        if entry.task and is_listed(entry.task, context):
            key = f"tasks:{entry.task.id}"
        lines.append(_line(key, line, fold.count_and_span()))
    return _part(heading, lines, more=more, none=none)
