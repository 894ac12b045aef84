"""The facts beside the task in the approval dialog: its budgets, and how similar tasks fared.

The dialog asks whether to approve a task of an AI agent, or a set of tasks at once. The facts are
read while it is open and waits for neither; lines are reserved for them, so that nothing moves when
they come. Similar tasks have the same agent, and titles that differ only in figures and names (the
same `likeness_of`); how they fared (their `Precedent`) comes from the journal of what was approved
from here, the history file (in which polled records are kept) and the platform's activity log. A
`TaskLife` is what one of these sources tells of a task. A `BudgetImpact` is a budget now and after
the approval. `dashboard` holds the records and services. The workspace is what is known of the
platform in memory.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import Final

from msgspec.structs import replace

from agentco_tui.actions.batch_summary import sum_by_currency
from agentco_tui.actions.journal import Earlier
from agentco_tui.actions.journal_errors import JournalError
from agentco_tui.actions.journal_lines import seconds_of
from agentco_tui.actions.outcome import OutcomeKind
from agentco_tui.attention.decision_money import (
    AddedCost,
    BudgetImpact,
    budget_impacts,
    cost_added_by,
)
from agentco_tui.history.log_counts import life_from_log
from agentco_tui.history.observations import HistoryError, TaskLife
from agentco_tui.history.precedent import (
    KnownPrecedents,
    Precedent,
    find_precedents,
    likeness_of,
    sum_precedents,
)
from agentco_tui.history.reader import BUDGET_FEEDS, Reader
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import Level
from agentco_tui.model import BudgetScope, Task, TaskState
from agentco_tui.model import format as fmt
from agentco_tui.screens.cells import TONES, level_sign, spent_text
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.system.background import beside
from agentco_tui.text import SafeText, cell_width, clean_line, clip, mark_safe, signs
from agentco_tui.widgets.text_pane import LABEL_WIDTH, FieldLine, PaneItem
from agentco_tui.widgets.tones import Tone

log = logging.getLogger(__name__)

FIRST_OF_KIND_AFTER: Final = 7 * 86_400.0
"""Seconds that the history must cover before a task counts as the first of its kind."""
MOST_SAMPLED: Final = 1_000
"""Tasks among which one with a cost is looked for, to learn whether the unit is assumed."""
BUDGETS_STALE_AFTER: Final = 60.0
"""Seconds after which budgets are read again for an approval."""
MOST_BUDGETS: Final = 2
"""Budgets shown for a set of tasks; of the others, those over their limit are counted."""
LONGEST_NAME: Final = 22
"""Columns of a budget's name."""
FEEDS: Final = (FeedName.AGENT_BUDGETS, FeedName.COMPANY_BUDGETS)
"""The lists of the platform that have the budgets."""


async def read_precedents(dashboard: DashboardContext, tasks: Sequence[Task]) -> KnownPrecedents:
    """Return how tasks similar to these fared. The computation runs off the event loop.

    Raises nothing, since an approval may not fail for lack of it: `KnownPrecedents.trouble` says
    what went wrong.
    """
    workspace = dashboard.workspace
    journal: list[Earlier] = []  # earlier attempts at writes, with their outcomes if known
    approved_here: dict[str, TaskLife] = {}
    with suppress(JournalError):
        journal = await dashboard.services.in_journal_thread(
            dashboard.services.journal.latest, workspace.origin
        )
    for earlier in journal:
        settled = earlier.settled
        if settled is not None and settled.outcome == OutcomeKind.APPROVED_HERE:
            approved_here[earlier.attempt.subject] = life_of(earlier)
    sample = islice(chain(tasks, workspace.store.pending), MOST_SAMPLED)
    cost = next((task.cost for task in sample if task.cost is not None), None)
    assumed = cost is None or cost.unit_assumed
    entries = [*workspace.store.activity]
    now = workspace.clock.now()

    def precedents_in(reader: Reader | None) -> KnownPrecedents:
        lives = chain(approved_here.values(), map(life_from_log, entries))
        return find_precedents(tasks, lives, approved_here, now, reader, unit_assumed=assumed)

    try:
        if workspace.history is None:
            return await beside(partial(precedents_in, None))  # in a thread
        return await workspace.history.ask(precedents_in)
    except HistoryError as error:
        return replace(await beside(partial(precedents_in, None)), trouble=clean_line(str(error)))
    except Exception:
        log.exception("similar tasks could not be looked up")
        trouble = mark_safe("similar tasks could not be looked up: see the log")
        return KnownPrecedents(trouble=trouble)


def life_of(known: Earlier) -> TaskLife:
    """Return what the journal has about a task that was approved from here."""
    attempt = known.attempt
    approved_at = seconds_of(attempt.time) or 0.0
    return TaskLife(
        id=attempt.task or attempt.subject,
        title=clean_line(attempt.title),
        agent=attempt.agent or attempt.agent_name,
        first_seen=approved_at,
        decided=approved_at,
        state=TaskState.APPROVED,
    )


def like_items(
    known: KnownPrecedents | None, tasks: Sequence[Task], now: float
) -> Iterable[PaneItem]:
    """Yield how tasks like these fared: two lines about one task, one line about a set."""
    is_set = len(tasks) > 1
    words, tone = _precedent_words(known, tasks)
    yield FieldLine(mark_safe("like these" if is_set else "like this"), mark_safe(words), tone)
    if not is_set:
        details = ", ".join(_precedent_details(known, tasks[0], now))
        yield FieldLine(mark_safe(""), mark_safe(details), Tone.DIM)


def _precedent_words(known: KnownPrecedents | None, tasks: Sequence[Task]) -> tuple[str, Tone]:
    """Return how similar tasks fared, in words; None of `known` while that is being read."""
    if known is None:
        return "reading the history of similar tasks", Tone.DIM
    if known.trouble is not None:
        return f"{signs.unknown} {known.trouble}", Tone.WARNING
    title_by_kind = {likeness_of(task): task.title for task in tasks}
    precedents = {kind: known.precedents.get(kind, Precedent()) for kind in title_by_kind}
    total = sum_precedents([*precedents.values()])
    if not total.count:
        return without_similar(known, is_set=len(tasks) > 1), Tone.DIM
    words = fared(total)
    new_titles = [title_by_kind[kind] for kind, past in precedents.items() if not past.count]
    if new_titles:
        words += f"; {without_precedent(new_titles)}"
    went_wrong = total.rejected + total.failed
    decided = total.approved + total.rejected
    if decided > 0 and 2 * went_wrong >= decided:
        return f"{signs.warning} {words}", Tone.WARNING
    return words, Tone.PLAIN


def _precedent_details(known: KnownPrecedents | None, task: Task, now: float) -> Iterable[str]:
    """Yield what similar tasks cost, and when the last one was."""
    if known is None:
        return
    precedent = known.precedents.get(likeness_of(task), Precedent())
    if precedent.cost_ratio is not None:
        ratio = fmt.number(round(precedent.cost_ratio, 1))
        yield f"cost {signs.derived}{ratio} of the estimate"
    if precedent.last_at is not None:
        yield f"last {fmt.ago(now - precedent.last_at)}"


def fared(found: Precedent) -> str:
    """Return how similar tasks fared: "14 approved (9 from here), 1 rejected, 2 failed later"."""
    counts = {
        "rejected": found.rejected,
        "failed afterwards": found.failed,
        "ended without a known approval": found.not_asked,
    }
    here = f" ({fmt.count(found.approved_here)} from here)" if found.approved_here else ""
    words = [f"{fmt.count(count)} {what}" for what, count in counts.items() if count]
    return ", ".join((f"{fmt.count(found.approved)} approved{here}", *words))


def without_similar(known: KnownPrecedents, *, is_set: bool) -> str:
    """Return that no task similar to this one, or to these, is known, and for how long that is
    known: "no earlier task like it in 3 h of history".

    `known.watched` is the number of seconds that the history covers.
    """
    if known.watched >= FIRST_OF_KIND_AFTER:
        return "all are the first of their kind" if is_set else "first of its kind"
    words = "no earlier tasks like them" if is_set else "no earlier task like it"
    if known.watched:
        words += f" in {fmt.age(known.watched)} of history"
    return words


def without_precedent(titles: Sequence[SafeText]) -> str:
    """Return that some kinds of task are new; `titles` has a title of each, at least one."""
    words = f'no earlier task like "{clip(titles[0], 30)}"'
    others = len(titles) - 1
    if others == 1:
        words += " or 1 other kind"
    elif others:
        words += f" or {fmt.count(others)} other kinds"
    return words


class DecisionFacts:
    """The facts for the question about these tasks; `show` is called when more is known."""

    def __init__(
        self, dashboard: DashboardContext, tasks: Sequence[Task], show: Callable[[], None]
    ) -> None:
        workspace = dashboard.workspace
        self.dashboard = dashboard
        self.workspace = workspace
        self.tasks = tasks
        self._show = show
        self.known: KnownPrecedents | None = None  # None until it was read
        self._reading = {feed for feed in FEEDS if self._is_stale(feed)}

    def _age(self, feed: FeedName) -> float | None:
        return self.workspace.store.freshness[feed].age(self.workspace.clock.monotonic())

    def _is_stale(self, feed: FeedName) -> bool:
        age = self._age(feed)
        return age is None or age > BUDGETS_STALE_AFTER

    async def read(self) -> None:
        """Read the budgets if they are stale, and what is known of similar tasks; show each."""
        await asyncio.gather(self._read_past(), *map(self._read_budgets, tuple(self._reading)))

    async def _read_budgets(self, feed: FeedName) -> None:
        await self.workspace.poller.read_again(feed)
        self._reading.discard(feed)
        self._show()

    async def _read_past(self) -> None:
        self.known = await read_precedents(self.dashboard, self.tasks)
        self._show()

    def items(self) -> Iterable[PaneItem]:
        """Yield the budgets now and after the approval, and the precedent; always as many lines."""
        workspace = self.workspace
        precedents = self.known.precedents if self.known is not None else {}
        added = [cost_added_by(task, precedents.get(likeness_of(task))) for task in self.tasks]
        impacts = budget_impacts(self.tasks, added, workspace.store, workspace.settings.alerts)
        names = [self._name(impact) for impact in impacts[:MOST_BUDGETS]]
        width = max(LABEL_WIDTH, *(cell_width(name) + 2 for name in names), 0)
        for name, impact in zip(names, impacts, strict=False):
            yield FieldLine(name, *self._budget(impact), width)
        more_pass = sum(impact.passes_limit for impact in impacts[MOST_BUDGETS:])
        if more_pass:
            words = f"{signs.warning} {fmt.count(more_pass)} more pass their limit"
            yield FieldLine(mark_safe(""), mark_safe(words), Tone.WARNING, width)
        yield FieldLine(mark_safe("adds"), mark_safe(self._added_words(added, impacts)))
        yield from like_items(self.known, self.tasks, workspace.clock.now())

    def _added_words(
        self, added: Sequence[AddedCost | None], impacts: Sequence[BudgetImpact]
    ) -> str:
        """Return what the approval adds to the budgets: "$3.00 + €2.00, by their estimates"."""
        known = [each for each in added if each is not None]
        if known:
            sums = sum_by_currency(each.sum for each in known)
            amounts = " + ".join(fmt.money(replace(each, derived=True)) for each in sums)
            sources = ", ".join(dict.fromkeys(each.source for each in known))
            words = f"{amounts}, {sources}"
        elif self.known is None:
            words = "cost unknown, reading what tasks like it cost"
        else:
            words = "cost unknown"
        unknown = len(added) - len(known)
        if known and unknown:
            words += f", and {fmt.count(unknown)} of unknown cost"
        if any(impact.excluded_costs for impact in impacts):
            return f"{words}; not added where the unit or currency is another"
        spent = [impact.spent_after for impact in impacts if impact.spent_after is not None]
        if any(each.unit_assumed for each in spent):
            return f"{words} (units assumed)"
        return words

    def _name(self, impact: BudgetImpact) -> SafeText:
        names = self.workspace.names
        if impact.scope is BudgetScope.AGENT:
            return clip(names.agent(impact.ref), LONGEST_NAME)
        return clip(names.company(impact.ref), LONGEST_NAME)

    def _budget(self, impact: BudgetImpact) -> tuple[SafeText, Tone]:
        """Return a budget now and after the approval, and its tone.

        Such as "$412.00 of $500.00 → ~$501.20 ✖ passes its limit, may stop it".
        """
        feed = BUDGET_FEEDS[impact.scope]
        age = self._age(feed)
        failure = self.workspace.store.freshness[feed].failure
        if impact.budget is None and failure is None:
            is_read = feed not in self._reading
            return mark_safe("no budget is known" if is_read else "reading"), Tone.DIM
        if impact.budget is None:
            return mark_safe(
                f"{signs.unknown} not read: {clean_line(str(failure), 40)}"
            ), Tone.WARNING
        words = f"{spent_text(impact.budget)}"
        if impact.spent_after is not None:
            words += f" {signs.arrow} {fmt.money(impact.spent_after)}"
        if impact.level >= Level.WARNING:
            words += f" {level_sign(impact.level)}"
        if impact.passes_limit:
            words += " passes its limit"
            if impact.scope is BudgetScope.AGENT:
                words += ", may stop it"
        elif (impact.share_after or 0) >= 1:
            words += " used up"
        if failure is not None and age is not None:
            words += f" {signs.unknown} of {fmt.ago(age)}"
        return mark_safe(words), TONES[impact.level]
