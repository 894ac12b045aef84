"""The page of a company and of an agent: what waits there, its money, its people, its log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from agentco_tui.live import insight
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.filtered_log import is_about_agent
from agentco_tui.live.insight import Level
from agentco_tui.live.sentences import folded
from agentco_tui.model import Activity, Agent, Budget, Company, Task
from agentco_tui.model import format as fmt
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES, Look
from agentco_tui.screens.dashboard_workspace import DashboardWorkspace
from agentco_tui.screens.detail_pane import about_the_id, field, is_listed, link, when
from agentco_tui.screens.navigation import AGENT_LOG
from agentco_tui.screens.overview_panels import log_lines
from agentco_tui.screens.trends import entries_trend, spending_items, together, waiting_trend
from agentco_tui.text import plain, safe, signs
from agentco_tui.widgets.text_pane import Cells, Gap, Heading, Item, Text, columns
from agentco_tui.widgets.tones import Cell, Pressable, Tone

MOST_TASKS = 5_000  # that are looked through for those of one page
MOST_ENTRIES = 200  # that a page folds its log from
MOST_LINES = 8  # of one part; what is beyond them is counted
GAUGE, SMALL_GAUGE = 24, 15
BLANK = Cell(plain(" "))  # the cursor's place


def company_page(company: Company, session: DashboardWorkspace) -> list[Item]:
    look, names, outlook = session.look, session.names, session.outlook
    of = company.id

    def is_ours(record: Task | Activity) -> bool:
        owner = names.company_of(record)
        return owner is not None and owner.id == of

    tasks = list(filter(is_ours, _waiting(look)))
    agents = [a for a in look.store.agents if a.company is not None and a.company.id == of]
    about = [company.status, company.template, f"{fmt.count(len(agents))} agents" * bool(agents)]
    words = f" {signs.separator} ".join(word for word in about if word)
    entries = filter(is_ours, reversed(look.store.activity))
    bad = (entry for entry in entries if insight.SEVERITY_LEVELS[entry.severity] > Level.OK)
    return [
        Text(company.name or safe(company.sent_id), Tone.STRONG),
        *about_the_id(company),
        *([Text(plain(words))] if words else []),
        *([Text(company.mission, Tone.DIM)] if company.mission else []),
        *_waiting_part(tasks, look, "tasks"),
        *waiting_trend(session, of).items(),
        *_money_part(look.budget_of(company), session),
        *_people_part(agents, tasks, look),
        *_log_part("Failures", bad, look, 10, "none in the part of the log that is known"),
        *entries_trend(
            together(outlook.of_agent(each.id).entries_by_hour for each in agents)
        ).items(),
        Gap(),
        field("tasks", fmt.count(company.task_count)),
        field("created", when(company.created, look)),
        field("id", safe(company.sent_id)),
    ]


def agent_page(agent: Agent, session: DashboardWorkspace) -> list[Item]:
    look, of = session.look, agent.id
    status, budget = cells.agent_status_cell(agent), look.budget_of(agent)
    tasks = [t for t in _waiting(look) if t.agent is not None and t.agent.id == of]
    log = reversed(look.store.activity)
    own = (entry for entry in log if is_about_agent(entry, of, look.names))
    return [
        Text(agent.name or safe(agent.sent_id), Tone.STRONG),
        *about_the_id(agent),
        link("company", look.names.company, agent.company, "companies"),
        field("status", plain(status.text.strip()), status.tone),
        field("role", agent.role),
        field("trust", agent.trust_word or fmt.number(agent.trust)),
        *_waiting_part(tasks, look),
        *_money_part(budget, session),
        *_agent_log_part(of, own, look),
        *entries_trend(session.outlook.of_agent(of).entries_by_hour).items(),
        Gap(),
        field("left", look.left_cell(agent).text),
        field("model", agent.model),
        field("completed", fmt.count(agent.tasks_completed)),
        field("last seen", when(agent.last_seen, look)),
        field("created", when(agent.created, look)),
        field("id", safe(agent.sent_id)),
    ]


def _line(key: str, left: Iterable[Cell], right: str = "") -> Cells:
    """A line that leads somewhere."""
    there = (Pressable(cell.text, cell.tone, key) for cell in left)
    return Cells((BLANK, *there), (Cell(plain(right), Tone.DIM),))


def _part(
    words: str, lines: Sequence[Item], most: int = MOST_LINES, more: str = "", none: str = ""
) -> list[Item]:
    """A heading and its lines, and how many there are beyond the most that are shown."""
    items = [*lines[:most]] or [Text(plain(f" {none}"), Tone.DIM)]
    if (beyond := len(lines) - most) > 0:
        told = Cell(plain(f"{fmt.count(beyond)} more"), Tone.DIM)
        items.append(_line(more, [told]) if more else Cells((BLANK, told)))
    return [Gap(), Heading(plain(words)), *items]


def _waiting(look: Look) -> Iterator[Task]:
    return filter(insight.waits_for_person, islice(look.store.pending, MOST_TASKS))


def _waiting_part(tasks: list[Task], look: Look, more: str = "") -> list[Item]:
    now, limits = look.clock.now(), look.limits
    ages = {id(task): insight.waiting_since(task) or now for task in tasks}
    levels = {id(task): insight.task_level(task, now, limits) for task in tasks}
    tasks.sort(key=lambda task: (-levels[id(task)], ages[id(task)]))

    def line(task: Task) -> list[Cell]:
        level, priority = levels[id(task)], Cell(task.priority or signs.missing)
        age = f"{cells.level_sign(level)} {look.wait(insight.waiting_since(task)):>5}  "
        return [Cell(plain(age), TONES[level]), priority, BLANK, BLANK, cells.title_cell(task)]

    words = f"Waiting {fmt.count(len(tasks))}"
    if tasks:
        words += f", the oldest {look.wait(min(ages.values()))}"
    if critical := [*levels.values()].count(Level.CRITICAL):
        words += f", {fmt.count(critical)} critical"
    if len(look.store.pending) > MOST_TASKS:
        words += f" (of the first {fmt.count(MOST_TASKS)} tasks)"
    none = "nothing waits for a person"
    if look.store.freshness[FeedName.PENDING].answered_at is None:
        words, none = "Waiting", "not read yet"
    rows = columns([line(task) for task in tasks], (9, 11))
    lines = [
        _line(f"tasks:{task.id}", row, look.names.agent(task.agent) * bool(more))
        for task, row in zip(tasks, rows, strict=True)
    ]
    return _part(words, lines, more=more, none=none)


def _money_part(budget: Budget | None, session: DashboardWorkspace) -> list[Item]:
    look, items = session.look, list[Item]()
    if budget is not None:
        if (used := look.used(budget, GAUGE)).text:
            sign = Cell(plain(f" {cells.level_sign(look.level_of(budget))}"), used.tone)
            items.append(Cells((BLANK, used, sign)))
        left = "" if budget.remaining is None else f", {fmt.money(budget.remaining)} left"
        said = plain(cells.spent_text(budget) + left * (not budget.unlimited))
        items.append(replace(field("spent", said), key=f"budget:{budget.scope}:{budget.id}"))
        if budget.resets is not None:
            items.append(field("resets", when(budget.resets, look)))
        items += spending_items(budget, session)
    known = budget and insight.period_passed(budget, look.clock.now())
    today = "" if known is None else f"   {signs.vertical} = today"
    return _part(f"Money{today}", items, len(items), none="no budget is known")


def _people_part(agents: list[Agent], waiting: Iterable[Task], look: Look) -> list[Item]:
    counts = Counter(task.agent.id for task in waiting if task.agent)
    agents.sort(key=lambda agent: (agent.name or "").casefold())
    agents.sort(key=look.agent_badness, reverse=True)
    rows = list[list[Cell]]()
    for agent in agents:
        level, waits = look.agent_badness(agent)[0], counts[agent.id]
        status = cells.agent_status_cell(agent)
        rows.append(
            [
                Cell(plain(f"{cells.level_sign(level)} "), TONES[level]),
                Cell(agent.name or safe(agent.id)),
                BLANK,
                look.used(look.budget_of(agent), SMALL_GAUGE),
                Cell(plain(f"  {status.text}"), status.tone),
                Cell(plain(f"  {fmt.count(waits)} wait" * bool(waits))),
                Cell(plain(f"  {agent.role or ''}"), Tone.DIM),
            ]
        )
    lines = [
        _line(f"agents:{agent.id}", row)
        for agent, row in zip(agents, columns(rows, (2, 14, 1, 21, 20, 12)), strict=True)
    ]
    words = f"Agents {fmt.count(len(agents))}, worst first"
    return _part(words, lines, MOST_LINES + 2, more="agents", none="no agents are known")


def _agent_log_part(agent_id: str, own: Iterable[Activity], look: Look) -> list[Item]:
    """The agent's entries among those that were read, and the way to its log: the log that all
    screens share holds the newest entries of all agents, so an agent may have many more.
    """
    none = f"none among the newest {fmt.count(len(look.store.activity))} entries of the log"
    if look.store.freshness[FeedName.ACTIVITY].answered_at is None:
        none = "not read yet"
    way = f"{AGENT_LOG}:{agent_id}"
    items = _log_part("Latest", own, look, 0, none, more=way)
    last = items[-1]
    cells_of_last = last.left if isinstance(last, Cells) else ()
    if not any(isinstance(cell, Pressable) and cell.key == way for cell in cells_of_last):
        items.append(_line(way, [Cell(plain("all of its log"), Tone.DIM)]))
    return items


def _log_part(
    words: str,
    entries: Iterable[Activity],
    look: Look,
    who: int,
    none: str,
    *,
    more: str = "activity",
) -> list[Item]:
    folds = folded(islice(entries, MOST_ENTRIES), look.names)
    lines = list[Item]()
    for fold, line in zip(folds, log_lines(folds, look, who), strict=True):
        entry = fold.entries[0]
        key = f"activity:{entry.id}"
        if entry.task and is_listed(entry.task, look):
            key = f"tasks:{entry.task.id}"
        lines.append(_line(key, line, fold.times()))
    return _part(words, lines, more=more, none=none)
