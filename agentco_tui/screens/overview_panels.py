"""What stands beneath the Overview's list: what its line is about, the money, the latest events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from msgspec.structs import replace

from agentco_tui import model
from agentco_tui.live import insight
from agentco_tui.live.activity_window import ActivityWindow, is_gap
from agentco_tui.live.insight import NOT_AT_WORK, Level
from agentco_tui.live.need_words import NeedWords
from agentco_tui.live.needs import Need
from agentco_tui.live.sentences import Fold, deed, doer, folded, sentence
from agentco_tui.model import Agent, AgentState, Budget, BudgetScope, Task, Trace
from agentco_tui.model import format as fmt
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES, Look
from agentco_tui.screens.dashboard_workspace import DashboardWorkspace
from agentco_tui.screens.trends import (
    ahead_in,
    entries_trend,
    spark_cell,
    spending_items,
    together,
    waiting_trend,
)
from agentco_tui.text import SafeText, clip, joined, plain, signs, wrap
from agentco_tui.widgets.graph import Plot
from agentco_tui.widgets.text_pane import Cells, Item, columns
from agentco_tui.widgets.tones import Cell, Tone, total_width

LOOKED_THROUGH = 200  # entries that the latest are folded from
NOISY, QUIET = 300.0, 600.0  # seconds of many entries, from which and to which only bad ones show
A_LOT = 30
ROOMIEST, ROOMY, ROOM = 110, 90, 46  # columns from which a line of money says more
BESIDE_GAUGE = 9  # columns of the sign, the per cent and the blanks of a line of money
FEW = 2_000  # budgets of agents up to which they are sorted here
SPACIOUS = 150  # columns from which on nothing has to give way to a trend
MOST_AHEAD = 34  # columns of what lies ahead
LEAST_PLOT = 3  # lines of a graph, its axis not counted
MOST = 600  # cells of a text that is shown in a line or two


def one_line(*texts: SafeText | None) -> SafeText:
    return plain("  ".join(" ".join(clip(text, MOST).split()) for text in texts if text))


def preview_items(
    need: Need, words: NeedWords, session: DashboardWorkspace, width: int
) -> list[Item]:
    """What follows if nobody acts and what ranks it here, and in two lines, of which the first says
    most, what the record under the cursor is about.
    """
    look, names, first, second = session.look, session.names, plain(""), plain("")
    facts = list[SafeText | None]()
    match record := need.record:
        case Task():
            about = about_of(record, look) or plain("no description was sent")
            first, second, *_ = (*wrap(about, max(1, width)), plain(""))
            company = names.company(names.company_of(record))
            trust = fmt.number(look.trust_of(record))
            facts = [words.agent]
            if not need.alike:
                facts += [company, None if trust == signs.missing else plain(f"trust {trust}")]
            trace = session.traces.get(record.id)
            if isinstance(trace, Trace) and trace.steps:
                step, second = trace.steps[-1], about
                first = plain(f"{signs.arrow} {one_line(step.name or step.kind, step.text)}")
                ago = "" if step.at is None else f", {fmt.ago(look.clock.now() - step.at.at)}"
                facts.append(plain(f"{fmt.count(len(trace.steps))} steps{ago}"))
        case Budget():
            first = joined([cells.spent_text(record), about_of(record, look)], ", ")
            second = at_work(agent_of(record, session), session)
        case model.Alert(threshold=threshold):
            first = one_line(record.text)
            second = plain("" if threshold is None else f"threshold {fmt.percent(threshold)}")
        case Agent():
            first = one_line(record.pause_reason or record.status)
            second = at_work(record, session)
        case model.Activity():
            first = one_line(sentence(record, names))
    left = [Cell(plain(" left alone: "), Tone.DIM), Cell(words.consequence)]
    left += [Cell(plain(f"  {signs.separator}  ranked by {words.reason}"), Tone.DIM)]
    known = (each for each in facts if each and each != signs.missing)
    right = Cell(joined(known, f" {signs.separator} "), Tone.DIM)
    left = left if words.consequence else left[2:]
    return [Cells((*left,), (right,)), Cells((Cell(first),)), Cells((Cell(second, Tone.DIM),))]


def about_of(record: model.Record, look: Look) -> SafeText:
    """What a task is about, or what lies ahead of a budget."""
    known = list[SafeText]()
    match record:
        case Task(description=description):
            return one_line(description)
        case Budget(forecast=forecast, resets=resets):
            if forecast is not None:
                known.append(plain(f"platform's forecast {fmt.money(forecast)}"))
            left = resets.at - look.clock.now() if resets else 0
            if left > 0:
                known.append(plain(f"resets in {fmt.age(left)}"))
    return joined(known, ", ")


def staff(states: Counter[AgentState | None]) -> SafeText:
    """How many agents there are, and how many of them do not work: "8 agents, 1 paused"."""
    words = [f"{fmt.count(states[each])} {each}" for each in NOT_AT_WORK if states[each]]
    return plain(", ".join([f"{fmt.count(states.total())} agents", *words]) if states else "")


def agent_of(budget: Budget, session: DashboardWorkspace) -> Agent | None:
    is_one = budget.scope is BudgetScope.AGENT
    return session.store.agents.get(budget.id) if is_one else None


def at_work(agent: Agent | None, session: DashboardWorkspace) -> SafeText:
    """Whether an agent works, and how many of its tasks wait for a person."""
    if agent is None:
        return plain("")
    idle = agent.state in NOT_AT_WORK
    waits = session.needs.queue.waiting_by_owner[BudgetScope.AGENT, agent.id]
    tasks = f"{fmt.count(waits)} {'task' if waits == 1 else 'tasks'}"
    words = [agent.status or plain(str(agent.state))] * idle
    words += [plain(f"{'holds' if idle else 'waits with'} {tasks}")] * (waits > 0)
    return joined(words, ", ")


def day_of(budget: Budget, now: float) -> SafeText:
    """How far its period is, as it is sent."""
    words, passed = budget.period or plain(""), insight.period_passed(budget, now)
    if passed is None or budget.resets is None or not passed < 1:
        return words
    days = (budget.resets.at - now) / (1 - passed) / 86_400
    return joined([words, plain(f"day {int(passed * days) + 1} of {round(days)}")], ", ")


def money_of(session: DashboardWorkspace, most: int) -> list[Budget]:
    """The budgets to tell of in so many lines: the whole, companies, and the worst of agents."""
    store, scope, look = session.store, session.poller.query.company, session.look
    companies = [b for b in store.company_budgets if scope is None or b.id == scope]
    companies.sort(key=look.badness, reverse=True)
    head = [*store.budget, *companies] if scope is None else companies
    needs = (need.record for need in session.needs.shown)
    worst = [b for b in needs if isinstance(b, Budget) and b.scope is BudgetScope.AGENT]
    rest = list(islice(session.needs.of_scope(store.agent_budgets), FEW + 1))
    if len(rest) <= FEW:
        worst = sorted(rest, key=look.badness, reverse=True)
    kept = max(3, most - min(len(worst), most // 3))
    return [*head[:kept], *worst][:most]


def money_items(budgets: list[Budget], session: DashboardWorkspace, width: int) -> list[Item]:
    """A line for each: how bad, whose it is, its gauge, its last day, its sums, and what lies ahead
    of it.
    """
    look, names = session.look, session.names
    left, right = list[list[Cell]](), list[list[Cell]]()
    days = [session.outlook.of(b).spent_by_hour if width >= ROOMY else () for b in budgets]
    sparks = [spark_cell(day) for day in days]
    tight = any(each.text for each in sparks) and width < SPACIOUS
    most = MOST_AHEAD if width < SPACIOUS else 2 * MOST_AHEAD
    for budget, day in zip(budgets, sparks, strict=True):
        of = sums = follows = ""
        agent = agent_of(budget, session)
        if width >= ROOMY:
            if budget.scope is BudgetScope.AGENT and not (tight and width < ROOMIEST):
                of = f"  {names.company(names.company_of(budget))}"
            if agent is not None and agent.state in NOT_AT_WORK:
                follows = f"  {at_work(agent, session)}"
            elif ahead := ahead_in(budget, session, most - 2):
                follows = f"  {ahead}"
        if (
            (tight or ROOMY <= width < ROOMIEST)
            and budget.remaining is not None
            and not budget.unlimited
        ):
            sums = f"  {fmt.money(budget.remaining, short=True)} left"
        elif width >= ROOM or budget.unlimited:
            sums = f"  {cells.spent_text(budget, short=True)}"
        left.append([Cell(names.budget(budget)), Cell(plain(of))])
        drawn = replace(day, text=plain(f"  {day.text}" * bool(day.text)))
        right.append([drawn, Cell(plain(sums), Tone.DIM), Cell(plain(follows), Tone.DIM)])
    right = columns(right, (width, width, most), "left", "right")
    room = width - BESIDE_GAUGE - max(map(total_width, right), default=0)
    left = columns(left, (max(1, min(18, room - cells.LEAST_GAUGE)), 20))
    room -= max(map(total_width, left), default=0)
    room = max(cells.LEAST_GAUGE, min(cells.MOST_GAUGE, room))
    used = columns([[look.used(b, room, track=not session.thin)] for b in budgets], (width,))
    items = list[Item]()
    for budget, before, gauge, after in zip(budgets, left, used, right, strict=True):
        level = look.level_of(budget)
        sign = Cell(plain(f"{cells.level_sign(level)} "), TONES[level])
        items.append(Cells((sign, *before, Cell(plain(" ")), *gauge, *after)))
    return items


def trend_items(session: DashboardWorkspace, room: int) -> list[Item]:
    """What waited and what happened in the last 24 hours, a line each; as graphs, and with where
    the money goes, as far as there is room in so many lines; nothing of the unknown.
    """
    outlook, store, scope = session.outlook, session.store, session.poller.query.company
    entries = outlook.of_agent(None).entries_by_hour
    budgets = store.budgets_of_scope(scope)
    if len(budgets) > 1:
        budgets = []  # no total was sent
    if scope is not None:
        ours = session.needs.of_scope(store.agents)
        entries = together(outlook.of_agent(agent.id).entries_by_hour for agent in ours)
    trends = {"WAITING": waiting_trend(session, scope), "EVENTS ": entries_trend(entries)}
    money = [item for budget in budgets[:1] for item in spending_items(budget, session, "SPENT  ")]
    high = sum(item.height + 1 if isinstance(item, Plot) else 1 for item in money)
    if room < len(trends) or not any(trends.values()):
        return []
    if high > room - len(trends):
        high, money = 0, []
    room, items = (room - high) // len(trends) - 2, list[Item]()
    for name, trend in trends.items():
        items += trend.items(name)
        items += [trend.plot(room)] * (room >= LEAST_PLOT and bool(trend))
    return [*items, *money]


def is_noisy(activity: ActivityWindow, was: bool) -> bool:
    """Whether so much happens that what went wrong is lost in it."""
    newest = [entry.at for entry in islice(reversed(activity), A_LOT)]
    if len(newest) < A_LOT or (first := newest[0]) is None or (last := newest[-1]) is None:
        return False
    return first.at - last.at < (QUIET if was else NOISY)


def log_lines(folds: Sequence[Fold], look: Look, who: int) -> list[list[Cell]]:
    """When, how bad, by whom in at most so many columns, and what was done."""
    names, now, rows = look.names, look.clock.now(), list[list[Cell]]()
    for fold in folds:
        entry = fold.entries[0]
        what = Cell(plain(f" {deed(entry, names)}"), TONES[insight.SEVERITY_LEVELS[entry.severity]])
        at = Cell(fmt.clock(entry.at, now), Tone.DIM)
        rows.append([at, cells.severity_cell(entry), Cell(plain(f" {doer(entry, names)}")), what])
    return columns(rows, (9, 2, who and who + 1))


def latest_items(
    activity: ActivityWindow, look: Look, size: tuple[int, int], *, bad_only: bool
) -> list[Item]:
    """The newest entries, or of those only the bad ones, what is alike in one line."""
    width, height = size
    newest = islice(reversed(activity), LOOKED_THROUGH * (10 if bad_only else 1))
    chosen = (
        entry
        for entry in newest
        if not bad_only or is_gap(entry) or insight.SEVERITY_LEVELS[entry.severity] > Level.OK
    )
    folds = folded(chosen, look.names)[: max(1, height)]
    often = [fold.times() if width >= ROOM else fold.count for fold in folds]
    lines = log_lines(folds, look, max(6, width // 5))
    return [
        Cells(tuple(line), (Cell(words, Tone.DIM),))
        for line, words in zip(lines, often, strict=True)
    ]
