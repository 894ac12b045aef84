"""What a decision rests on besides the task: the money, now and after it, and the precedent.

Both are read while the question stands, which waits for neither; what comes later takes the lines
that were kept free for it.
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

from agentco_tui.actions.batch_summary import added_up
from agentco_tui.actions.journal import Earlier
from agentco_tui.actions.journal_errors import JournalError
from agentco_tui.actions.journal_lines import seconds_of
from agentco_tui.actions.outcome import OutcomeKind
from agentco_tui.history.log_counts import life_from_log
from agentco_tui.history.observations import HistoryError, TaskLife
from agentco_tui.history.precedent import KnownPast, Precedent, alike_of, past_of, summed
from agentco_tui.history.reader import BUDGET_FEEDS, Reader
from agentco_tui.live.decision_money import BudgetImpact, budget_impacts, cost_added_by
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import Level
from agentco_tui.model import BudgetScope, Task, TaskState
from agentco_tui.model import format as fmt
from agentco_tui.screens.cells import TONES, level_sign, spent_text
from agentco_tui.screens.dashboard_workspace import DashboardWorkspace
from agentco_tui.system.background import beside
from agentco_tui.text import SafeText, cell_width, clip, plain, safe, signs
from agentco_tui.widgets.text_pane import LABEL_WIDTH, FieldLine, Item
from agentco_tui.widgets.tones import Tone

log = logging.getLogger(__name__)

ENOUGH: Final = 7 * 86_400.0  # seconds that must be known before a task counts as the first
SOME: Final = 1_000  # tasks of which one tells whether the unit of costs is sent
OLD: Final = 60.0  # seconds after which budgets are read again for a question
MOST_BUDGETS: Final = 2  # of a set
LONGEST: Final = 22  # columns of a name
FEEDS: Final = (FeedName.AGENT_BUDGETS, FeedName.COMPANY_BUDGETS)


async def read_precedents(session: DashboardWorkspace, tasks: Sequence[Task]) -> KnownPast:
    """What is known of tasks like these; off the event loop. Raises nothing: no decision is to fail
    for want of it.
    """
    journal, here = list[Earlier](), dict[str, TaskLife]()
    with suppress(JournalError):
        journal = await session.services.journaled(session.services.journal.latest, session.origin)
    for one in journal:
        if one.settled is not None and one.settled.outcome == OutcomeKind.APPROVED_HERE:
            here[one.attempt.subject] = life_of(one)
    some = islice(chain(tasks, session.store.pending), SOME)
    cost = next((task.cost for task in some if task.cost is not None), None)
    assumed = cost is None or cost.unit_assumed
    entries, now = [*session.store.activity], session.clock.now()

    def look(reader: Reader | None) -> KnownPast:
        lives = chain(here.values(), map(life_from_log, entries))
        return past_of(tasks, lives, here, now, reader, assumed=assumed)

    try:
        if session.history is None:
            return await beside(partial(look, None))
        return await session.history.ask(look)
    except HistoryError as error:
        return replace(await beside(partial(look, None)), trouble=safe(str(error)))
    except Exception:
        log.exception("how tasks like these fared could not be worked out")
        trouble = plain("how tasks like it fared could not be worked out: the log tells why")
        return KnownPast(trouble=trouble)


def life_of(known: Earlier) -> TaskLife:
    """What the journal knows of a task that was approved from here."""
    sent, at = known.attempt, seconds_of(known.attempt.time) or 0.0
    return TaskLife(
        id=sent.task or sent.subject,
        title=safe(sent.title),
        agent=sent.agent or sent.agent_name,
        first_seen=at,
        decided=at,
        state=TaskState.APPROVED,
    )


def like_items(known: KnownPast | None, tasks: Sequence[Task], now: float) -> Iterable[Item]:
    """How tasks like these fared; of one task in two lines, whatever is known."""
    many = len(tasks) > 1
    words, tone, more = "reading what is known of tasks like it", Tone.DIM, list[str]()
    if known is not None:
        kinds = {alike_of(each): each.title for each in tasks}
        of = {each: known.precedents.get(each, Precedent()) for each in kinds}
        new = [kinds[each] for each, past in of.items() if not past.count]
        found = summed([*of.values()])
        words, tone = fared(found), Tone.PLAIN
        if not found.count:
            words, tone = none_like(known, "them" if many else "it"), Tone.DIM
        elif new:
            words += f"; {without_precedent(new)}"
        if 2 * (found.rejected + found.failed) >= found.approved + found.rejected > 0:
            words, tone = f"{signs.warning} {words}", Tone.WARNING
        if known.trouble is not None:
            words, tone = f"{signs.unknown} {known.trouble}", Tone.WARNING
        past = of[alike_of(tasks[0])]
        if past.ratio is not None:
            ratio = fmt.number(round(past.ratio, 1))
            more.append(f"cost {signs.derived}{ratio} of the estimate")
        if past.last is not None:
            more.append(f"last {fmt.ago(now - past.last)}")
    yield FieldLine(plain("like these" if many else "like this"), plain(words), tone)
    if not many:
        yield FieldLine(plain(""), plain(", ".join(more)), Tone.DIM)


def fared(found: Precedent) -> str:
    """How tasks alike fared: "14 approved (9 from here), 1 rejected, 2 failed afterwards"."""
    told = {
        "rejected": found.rejected,
        "failed afterwards": found.failed,
        "ended, nobody known to have been asked": found.unasked,
    }
    here = f" ({fmt.count(found.here)} from here)" if found.here else ""
    words = [f"{fmt.count(count)} {what}" for what, count in told.items() if count]
    return ", ".join((f"{fmt.count(found.approved)} approved{here}", *words))


def none_like(known: KnownPast, it: str) -> str:
    """That none alike is known, and how far that reaches."""
    if known.watched >= ENOUGH:
        return "first of its kind" if it == "it" else "all are the first of their kind"
    reach = f"in the {fmt.age(known.watched)} that are known" if known.watched else "is known"
    return f"none like {it} {reach}"


def without_precedent(titles: Sequence[SafeText]) -> str:
    """The kinds of task of a set that no earlier task is like, by a title of each."""
    words = f'no earlier task like "{clip(titles[0], 30)}"'
    others = len(titles) - 1
    if others == 1:
        words += " or 1 other kind"
    elif others:
        words += f" or {fmt.count(others)} other kinds"
    return words


class DecisionFacts:
    """For the question about these tasks; `show` is called when more is known."""

    def __init__(
        self, session: DashboardWorkspace, tasks: Sequence[Task], show: Callable[[], None]
    ) -> None:
        self.session, self.tasks, self._show = session, tasks, show
        self.known: KnownPast | None = None
        ages = {feed: self._age(feed) for feed in FEEDS}
        self._reading = {feed for feed, age in ages.items() if age is None or age > OLD}

    def _age(self, feed: FeedName) -> float | None:
        return self.session.store.freshness[feed].age(self.session.clock.monotonic())

    async def read(self) -> None:
        """Read what is old of the budgets, and what is known of tasks alike, and show each."""
        await asyncio.gather(self._read_past(), *map(self._read_budgets, tuple(self._reading)))

    async def _read_budgets(self, feed: FeedName) -> None:
        await self.session.poller.read_again(feed)
        self._reading.discard(feed)
        self._show()

    async def _read_past(self) -> None:
        self.known = await read_precedents(self.session, self.tasks)
        self._show()

    def items(self) -> Iterable[Item]:
        """The budgets now and after, in as many lines from the start on, and the precedent."""
        session, of = self.session, {} if self.known is None else self.known.precedents
        added = [cost_added_by(task, of.get(alike_of(task))) for task in self.tasks]
        found = budget_impacts(self.tasks, added, session.store, session.settings.alerts)
        names = [self._name(impact) for impact in found[:MOST_BUDGETS]]
        width = max(LABEL_WIDTH, *(cell_width(name) + 2 for name in names), 0)
        for name, impact in zip(names, found, strict=False):
            yield FieldLine(name, *self._budget(impact), width)
        if rest := sum(impact.passes_limit for impact in found[MOST_BUDGETS:]):
            more = plain(f"{signs.warning} {fmt.count(rest)} more pass their limit")
            yield FieldLine(plain(""), more, Tone.WARNING, width)
        known = [each for each in added if each is not None]
        sums = [replace(each, derived=True) for each in added_up(each.sum for each in known)]
        words = (
            f"{' + '.join(map(fmt.money, sums))}, {', '.join({each.source: 0 for each in known})}"
        )
        if not known:
            words = "cost unknown" + ", reading what tasks like it cost" * (self.known is None)
        elif unknown := len(added) - len(known):
            words += f", and {fmt.count(unknown)} of unknown cost"
        if any(impact.excluded_costs for impact in found):
            words += "; not added where the unit or currency is another"
        elif any(
            impact.spent_after is not None and impact.spent_after.unit_assumed for impact in found
        ):
            words += " (units assumed)"
        yield FieldLine(plain("adds"), plain(words))
        yield from like_items(self.known, self.tasks, session.clock.now())

    def _name(self, impact: BudgetImpact) -> SafeText:
        names, is_agent = self.session.names, impact.scope is BudgetScope.AGENT
        return clip(names.agent(impact.ref) if is_agent else names.company(impact.ref), LONGEST)

    def _budget(self, impact: BudgetImpact) -> tuple[SafeText, Tone]:
        """Now and after: "$412.00 of $500.00 → ~$501.20 ✖ passes its limit, may stop it"."""
        feed = BUDGET_FEEDS[impact.scope]
        age, failure = self._age(feed), self.session.store.freshness[feed].failure
        if impact.budget is None and failure is None:
            is_read = feed not in self._reading
            return plain("no budget is known" if is_read else "reading"), Tone.DIM
        if impact.budget is None:
            return plain(f"{signs.unknown} not read: {safe(str(failure), 40)}"), Tone.WARNING
        words = f"{spent_text(impact.budget)}"
        if impact.spent_after is not None:
            words += f" {signs.arrow} {fmt.money(impact.spent_after)}"
        if impact.level >= Level.WARNING:
            words += f" {level_sign(impact.level)}"
        if impact.passes_limit:
            words += " passes its limit" + ", may stop it" * (impact.scope is BudgetScope.AGENT)
        elif (impact.share_after or 0) >= 1:
            words += " used up"
        if failure is not None and age is not None:
            words += f" {signs.unknown} of {fmt.ago(age)}"
        return plain(words), TONES[impact.level]
