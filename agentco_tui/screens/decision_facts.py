"""What a decision rests on besides the task: the money, now and after it, and the precedent.

Both are read while the question stands, which waits for neither; what comes later takes the lines
that were kept free for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial
from itertools import chain, islice
from typing import Final

from msgspec.structs import replace

from agentco_tui import format as fmt
from agentco_tui.actions.batch_summary import added_up
from agentco_tui.actions.journal import Earlier
from agentco_tui.actions.journal_file import JournalError, seconds_of
from agentco_tui.actions.outcome import OutcomeKind, Verb
from agentco_tui.background import in_slices
from agentco_tui.live.decision_money import Added, After, Stake, added_by, stakes
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.history import HistoryError, Reader, TaskLife
from agentco_tui.live.history_sampler import told_life
from agentco_tui.live.insight import Level
from agentco_tui.live.precedent import (
    KnownPast,
    Precedent,
    agent_of,
    alike_of,
    lives_of,
    precedents,
    summed,
)
from agentco_tui.model import BudgetScope, Task, TaskState
from agentco_tui.screens.cells import TONES, level_sign, spent_text
from agentco_tui.screens.detail_pane import warning
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, cell_width, clip, plain, safe, signs
from agentco_tui.widgets.text_pane import LABEL_WIDTH, FieldLine, Item
from agentco_tui.widgets.tones import Tone

log = logging.getLogger(__name__)

BACK: Final = 90 * 86_400.0  # seconds that are looked back for tasks alike
ENOUGH: Final = 7 * 86_400.0  # seconds that must be known before a task counts as the first
SOME: Final = 1_000  # tasks of which one tells whether the unit of costs is sent
OLD: Final = 60.0  # seconds after which budgets are read again for a question
MOST_BUDGETS: Final = 2  # of a set
KINDS_KEPT: Final = 100  # kinds of tasks of which it is kept what is known of them
LONGEST: Final = 22  # columns of a name
FEEDS: Final = {
    BudgetScope.AGENT: FeedName.AGENT_BUDGETS,
    BudgetScope.COMPANY: FeedName.COMPANY_BUDGETS,
}


async def read_precedents(session: Session, tasks: Sequence[Task]) -> KnownPast:
    """What is known of tasks like these; off the event loop, but for short steps. Raises nothing:
    no decision is to fail for want of it.
    """
    try:
        known = await _read_precedents(session, tasks)
    except Exception:
        log.exception("how tasks like these fared could not be worked out")
        nothing = {alike_of(task): Precedent() for task in tasks}
        trouble = plain("how tasks like it fared could not be worked out: the log tells why")
        return KnownPast(nothing, trouble=trouble)
    for each in known.precedents:
        session.past.pop(each, None)
        session.past[each] = known
    for each in [*session.past][:-KINDS_KEPT]:
        del session.past[each]
    return known


async def _read_precedents(session: Session, tasks: Sequence[Task]) -> KnownPast:
    now, lives, watched, since, trouble = session.clock.now(), list[TaskLife](), 0.0, None, None
    some = islice(chain(tasks, session.store.pending), SOME)
    cost = next((task.cost for task in some if task.cost is not None), None)
    assumed = cost is None or cost.unit_assumed

    def read_lives(agent: str | None, reader: Reader) -> list[TaskLife]:
        # Of those without an agent all must be read.
        return reader.lives(now - (ENOUGH if agent is None else BACK), agent=agent)

    def read_seen(reader: Reader) -> tuple[float | None, float]:
        seen = reader.queue(None, now - BACK).seen
        return reader.first_seen(), sum(end - begin for begin, end in seen)

    if session.history is not None:
        try:
            for agent in set(map(agent_of, tasks)):
                lives += await session.history.ask(partial(read_lives, agent))
            since, watched = await session.history.ask(read_seen)
        except HistoryError as error:
            trouble = safe(str(error))
    journal = list[Earlier]()
    with suppress(JournalError):
        journal = await session.journaled(session.journal.latest, session.origin, Verb.APPROVE)
    here = {one.attempt.subject: one for one in journal if is_yes(one)}
    log = map(told_life, [*session.store.activity])
    sources = chain(lives, lives_of(session.store.tasks), map(life_of, here.values()), log)
    found = await in_slices(precedents(tasks, sources, here, assumed=assumed))
    span = 0.0 if since is None else min(now - since, BACK)
    return KnownPast(found, watched, span >= ENOUGH and 2 * watched >= span, trouble)


def is_yes(known: Earlier) -> bool:
    """Whether it is known that this yes did it."""
    return known.settled is not None and known.settled.outcome == OutcomeKind.APPROVED_HERE


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


def like_items(session: Session, known: KnownPast | None, tasks: Sequence[Task]) -> list[Item]:
    """How tasks like these fared; of one task in two lines, whatever is known."""
    task, many = tasks[0], len(tasks) > 1
    words, tone, more = "reading what is known of tasks like it", Tone.DIM, list[str]()
    if known is not None:
        kinds = {alike_of(each): each.title for each in tasks}
        found = [known.precedents[each] for each in kinds]
        new = [kinds[each] for each in kinds if not known.precedents[each].count]
        bad = [kinds[each] for each in kinds if known.precedents[each].is_bad]
        words, tone = fared(summed(found)), Tone.WARNING if bad else Tone.PLAIN
        if len(new) == len(found):
            agent = "" if many or task.agent is None else f" from {session.names.agent(task.agent)}"
            words, tone = none_like(known, "them" if many else "it", agent), Tone.DIM
            if known.trouble is not None:
                words, tone = f"{signs.unknown} {known.trouble}", Tone.WARNING
        elif many and new:
            words += f"; none like {fmt.count(len(new))} kinds, such as {clip(new[0], 30)}"
        words = f"{signs.warning} {words}" if bad else words
        if many and bad:
            words += f"; badly: {clip(bad[0], 30)}"
        elif not many and found[0].ratio is not None:
            low, high = map(share, found[0].ratio)
            of = "the estimate" if task.estimate else "what they showed while they waited"
            more.append(f"cost {low if low == high else f'{low} to {high}'} of {of}")
        if not many and found[0].last is not None:
            more.append(f"last {fmt.ago(session.clock.now() - found[0].last)}")
    first = FieldLine(plain("like these" if many else "like this"), plain(words), tone)
    return [first] if many else [first, FieldLine(plain(""), plain(", ".join(more)), Tone.DIM)]


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


def none_like(known: KnownPast, it: str, of: str) -> str:
    """That none alike is known, and how far that reaches."""
    if known.enough:
        return f"first of its kind{of}" if it == "it" else "all are the first of their kind"
    if not known.watched:
        return f"none like {it} is known"
    return f"none like {it}{of} in the {fmt.age(known.watched)} that are known"


def share(ratio: Decimal) -> SafeText:
    return fmt.number(ratio.quantize(Decimal("0.1")) if ratio < 10 else ratio.to_integral_value())


def after_words(found: After) -> tuple[SafeText, Tone]:
    """A budget now and after: "$412.00 of $500.00 → ~$501.20 ✖ passes its limit, may stop it"."""
    words, told, budget = str(spent_text(found.budget)), "", found.budget
    if found.spent is not None:
        words += f" {signs.arrow} {'up to ' if found.most else ''}{fmt.money(found.spent)}"
    if found.passes is not None:
        stops = found.passes == "limit" and budget.scope is BudgetScope.AGENT
        told = f" passes its {found.passes}{', may stop it' if stops else ''}"
    elif (found.share or 0) >= 1 and not budget.unlimited:
        told = " used up"
    sign = level_sign(found.level) if found.level >= Level.WARNING else ""
    return plain(f"{words} {sign}{told}".rstrip()), TONES[found.level]


class DecisionFacts:
    """For the question about these tasks; `show` is called when more is known."""

    def __init__(self, session: Session, tasks: Sequence[Task], show: Callable[[], None]) -> None:
        self.session, self.tasks, self._show = session, tasks, show
        self.known = session.past.get(alike_of(tasks[0])) if len(tasks) == 1 else None
        self._reading = self._old_feeds()

    def _old_feeds(self) -> set[FeedName]:
        freshness, now = self.session.store.freshness, self.session.clock.monotonic()
        ages = {feed: freshness[feed].age(now) for feed in FEEDS.values()}
        return {feed for feed, age in ages.items() if age is None or age > OLD}

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
        return *self.money_items(), *like_items(self.session, self.known, self.tasks)

    # ---- money

    def money_items(self) -> Iterable[Item]:
        """The budgets now and after: as many lines from the start on."""
        session, of = self.session, {} if self.known is None else self.known.precedents
        added = [added_by(task, of.get(alike_of(task))) for task in self.tasks]
        found = stakes(self.tasks, added, session.store, session.settings.alerts)
        shown, rest = found[:MOST_BUDGETS], found[MOST_BUDGETS:]
        names = [self._name(stake) for stake in shown]
        width = max(LABEL_WIDTH, *(cell_width(name) + 2 for name in names), 0)
        for name, stake in zip(names, shown, strict=True):
            words, tone = self._no_budget(stake) if stake.then is None else after_words(stake.then)
            feed = FEEDS[stake.scope]
            age = session.store.freshness[feed].age(session.clock.monotonic())
            if stake.then is not None and feed not in self._reading and age and age > OLD:
                words = plain(f"{words} {signs.unknown} of {fmt.ago(age)}")
            yield FieldLine(name, words, tone, width)
        if bad := sum(stake.badness[0] for stake in rest):
            words = plain(f"{signs.warning} {fmt.count(bad)} more pass a limit or warning point")
            yield FieldLine(plain(""), words, Tone.WARNING, width)
        afters = [stake.then for stake in found if stake.then is not None]
        yield FieldLine(plain("adds"), self._adds([each for each in added if each], afters))
        if still := [stake for stake in found if stake.still is not None]:
            who = ", ".join(f"{self._name(each)} ({each.still})" for each in still[:MOST_BUDGETS])
            who += f" and {len(still) - MOST_BUDGETS} more" * (len(still) > MOST_BUDGETS)
            count = fmt.count(sum(stake.tasks for stake in still))
            what = "what is approved" if len(self.tasks) == 1 else f"{count} of these"
            yield warning(f"{signs.warning} {who}: {what} will wait")

    def _name(self, stake: Stake) -> SafeText:
        names, is_agent = self.session.names, stake.scope is BudgetScope.AGENT
        return clip(names.agent(stake.ref) if is_agent else names.company(stake.ref), LONGEST)

    def _no_budget(self, stake: Stake) -> tuple[SafeText, Tone]:
        feed = FEEDS[stake.scope]
        failure = self.session.store.freshness[feed].failure
        if feed in self._reading or failure is None:
            return plain("reading" if feed in self._reading else "no budget is known"), Tone.DIM
        return plain(f"{signs.unknown} not read: {safe(str(failure), 40)}"), Tone.WARNING

    def _adds(self, added: Sequence[Added], afters: Sequence[After]) -> SafeText:
        """What the yes adds, by what that is known, and what of it could not be added."""
        if not added:
            reading = ", reading what tasks like it cost" if self.known is None else ""
            return plain(f"cost unknown{reading}")
        sums = added_up(each.sum for each in added)
        words = "up to " if any(each.most for each in added) else ""
        words += " + ".join(fmt.money(replace(each, derived=True)) for each in sums)
        ways = Counter(each.by for each in added)
        if len(self.tasks) == 1:
            words += f", {added[0].by}"
        else:
            ways["unknown"] = len(self.tasks) - len(added)
            words += f" to {fmt.count(len(afters))} budgets: "
            words += ", ".join(f"{way} {fmt.count(n)}" for way, n in ways.items() if n)
        if any(each.unlike for each in afters):
            return plain(f"{words}; not added where the unit or currency is another")
        assumed = any(each.spent is not None and each.spent.unit_assumed for each in afters)
        return plain(f"{words} (units assumed)" if assumed else words)
