"""What happened since a moment, in chapters: for whoever comes back, and for a hand-over.

Pure functions of what the history remembers, else of the part of the log that is held, and of the
picture of now; they may run in a thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from agentco_tui import format as fmt
from agentco_tui.live import insight
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.forecast import spending, summed
from agentco_tui.live.history_reader import Reader
from agentco_tui.live.history_records import (
    AlertLife,
    BudgetSample,
    Counted,
    Span,
    TaskLife,
    Track,
)
from agentco_tui.live.history_sampler import kind_of, observe_log
from agentco_tui.live.insight import SEVERITY_LEVELS, Level
from agentco_tui.live.period import period_of
from agentco_tui.live.sentences import deed
from agentco_tui.live.store import Names, Store
from agentco_tui.model import (
    Activity,
    AlertLimits,
    BudgetScope,
    Moment,
    Money,
    Ref,
    Severity,
    TaskState,
)
from agentco_tui.text import SafeText, joined, plain, safe

LEAST_GAP = 300.0  # seconds of which not all is known, from which on that is told
VERDICTS = {TaskState.REJECTED: "rejected", TaskState.CANCELLED: "cancelled"}


class Happening(msgspec.Struct, frozen=True):
    """One thing that happened, or alike ones in one line."""

    at: float | None
    text: SafeText
    who: SafeText = SafeText("")
    level: Level = Level.OK
    key: str = ""  # where it leads: a screen and a row of it
    times: int = 1

    def said(self, now: float) -> tuple[SafeText, SafeText]:
        """When and by or of whom; and what, with how often."""
        when = [to_minute(self.at, now)] if self.at is not None else []
        times = f" ×{fmt.count(self.times)}" if self.times > 1 else ""
        return joined([*when, self.who]), plain(f"{self.text}{times}")


class Chapter(msgspec.Struct, frozen=True):
    """What happened of one kind, what matters most first."""

    name: SafeText
    happenings: Sequence[Happening]
    none: SafeText = SafeText("nothing")  # what is said where there is none


class Past(msgspec.Struct, frozen=True):
    """What is known of the time since a moment."""

    seen: Sequence[Span]  # when the log was read without a gap
    lives: Sequence[TaskLife]
    counts: Sequence[Counted]
    alerts: Sequence[AlertLife] = ()
    spent: Mapping[str, Track[BudgetSample]] = {}  # by the company's id, "" for the whole
    why: SafeText | None = None  # why no more is known


def to_minute(at: float, now: float) -> SafeText:
    """A moment to the minute: "22:14", "Wed 22:14", "19 Nov"."""
    words = fmt.clock(Moment(at), now)
    return plain(words[:5]) if words.count(":") == 2 else words


def remembered(since: float, companies: Iterable[str], reader: Reader) -> Past:
    """What the history knows; also of these companies' budgets."""
    spent = {each: reader.budget(BudgetScope.COMPANY, each, since) for each in companies}
    spent[""] = reader.budget(BudgetScope.ALL, "", since)
    counts, seen = reader.activity(since)
    return Past(seen, reader.lives(since), counts, reader.alerts(since), spent)


def held(entries: Sequence[Activity], since: float, read_to: float, why: SafeText) -> Past:
    """The same of a log that is held, oldest first, and was read at `read_to`."""
    at = [each.at.at if each.at and not is_gap(each) else None for each in entries]
    seen = [(one, other) for one, other in pairwise([*at, read_to]) if one and other]
    observed = observe_log([each for each in entries if each.at and each.at.at >= since])
    return Past(seen, observed.lives, observed.counts, why=why)


def gaps_of(seen: Iterable[Span], since: float, until: float) -> list[Span]:
    """The times between the two of which not all was seen, but for short ones."""
    gaps, known_to = list[Span](), since
    for begin, end in (*sorted(seen), (until, until)):
        if min(begin, until) - known_to >= LEAST_GAP:
            gaps.append((known_to, min(begin, until)))
        known_to = max(known_to, end)
    return gaps


def happened(
    past: Past,
    store: Store,
    limits: AlertLimits,
    span: Span,
    sent: Mapping[str, Happening] = {},
) -> list[Chapter]:
    """All of it, in that span of time; `sent` is what was sent from this machine, by the task's id
    where it is about one.
    """
    names, (since, now) = Names(store), span
    unknown = [
        plain(f"not all is known from {to_minute(first, now)} to {to_minute(last, now)}")
        for first, last in gaps_of(past.seen, since, now)
    ]
    unknown += [past.why] if past.why else []
    missing = [Happening(None, words, level=Level.WARNING) for words in unknown]
    told = [Chapter(plain("Not known"), missing)] if missing else []
    for name, found, none in (
        ("Decided", _decided(past, store, since, sent), "nothing was decided"),
        ("Went wrong", _wrong(past, store, names), "nothing went wrong"),
        ("Spent", _spent(past, store, names, span), "it isn't known what was spent"),
        ("Alerts", _alerts(past, store, names, limits, since), "no alert came or went"),
        ("Newly waiting", _waiting(store, names, limits, span), "nothing is new"),
    ):
        found.sort(key=lambda each: (-each.level, -each.times, -(each.at or 0.0)))
        told.append(Chapter(plain(name), found, plain(none)))
    return told


def _decided(
    past: Past, store: Store, since: float, sent: Mapping[str, Happening]
) -> list[Happening]:
    """Each leads to the newest entry about its task, else to the agent."""
    ways = {entry.task.id: f"activity:{entry.id}" for entry in store.activity if entry.task}
    found, own = list[Happening](), dict(sent)
    for life in past.lives:
        if life.decided is None:
            continue
        mine = own.pop(life.id, Happening(None, plain("")))
        if life.decided >= since:
            verdict = VERDICTS.get(life.state or TaskState.OTHER, "approved")
            level = Level.CRITICAL if life.state is TaskState.FAILED else Level.OK
            failed = ", failed since" if level > Level.OK else ""
            text = plain(f"{verdict} {life.title or safe(life.id, 60)}{failed}")
            way = ways.get(life.id) or f"agents:{life.agent}" * bool(life.agent)
            found.append(Happening(life.decided, text, life.decided_by or mine.who, level, way))
    found += (replace(mine, key=ways.get(task, mine.key)) for task, mine in own.items())
    return found


def _wrong(past: Past, store: Store, names: Names) -> list[Happening]:
    """Failures and warnings of one agent and verb in one line."""
    newest = {kind_of(entry): entry for entry in store.activity}
    times, last = Counter[tuple[str | None, str, Severity]](), dict[object, float]()
    for each in past.counts:
        kind = each.agent, each.kind, each.severity
        times[kind] += each.count
        last[kind] = max(each.at, last.get(kind, 0.0))
    found = list[Happening]()
    for kind, count in times.items():
        agent, verb, severity = kind
        if (level := SEVERITY_LEVELS[severity]) > Level.OK:
            known = newest.get(kind)
            text = deed(known, names) if known else plain(verb or "an entry without words")
            way = f"activity:{known.id}" if known else f"agents:{agent}" * bool(agent)
            who = names.agent(Ref(id=agent)) if agent else plain("")
            found.append(Happening(last[kind], text, who, level, way, count))
    return found


def _spent(past: Past, store: Store, names: Names, span: Span) -> list[Happening]:
    found, (since, now) = list[tuple[float, Happening]](), span
    for budget in (*store.budget, *store.company_budgets):
        track = past.spent.get(budget.subject, Track())
        known, amount = spending(track, period_of(budget, now), None, now), 0.0
        words = f"now {fmt.money(budget.spent)}"
        if known is not None and budget.spent is not None:
            (amount,) = summed(known.flows, now, now - since, 1)
            came = Money(Decimal(f"{amount:.2f}"), budget.spent.currency, derived=True)
            words = f"{fmt.money(came)}, {words}"
        if budget.limit is not None and not budget.unlimited:
            words += f" of {fmt.money(budget.limit)}"
        row = f"budget:{budget.scope}:{budget.id}"
        found.append((-amount, Happening(None, plain(words), names.budget(budget), key=row)))
    return [about for _, about in sorted(found, key=lambda each: each[0])]


def _alerts(
    past: Past, store: Store, names: Names, limits: AlertLimits, since: float
) -> list[Happening]:
    found = list[Happening]()
    for alert in store.alerts:
        if insight.is_open(alert) and alert.at is not None and alert.at.at >= since:
            level, way = insight.alert_level(alert, limits), f"budget:{alert.id}"
            found.append(Happening(alert.at.at, alert.text, plain("came"), level, way))
    for life in past.alerts:
        if life.gone is not None and life.gone >= since:
            ref = Ref(id=life.subject)
            of = names.agent(ref) if life.scope is BudgetScope.AGENT else names.company(ref)
            text = plain(f"about {of}" if life.subject else "about the whole")
            word = plain("came and went" if life.first_seen >= since else "went")
            way = f"budget:{life.scope}:{life.subject or ''}"
            found.append(Happening(life.gone, text, word, key=way))
    return found


def _waiting(store: Store, names: Names, limits: AlertLimits, span: Span) -> list[Happening]:
    """Those of one agent and title in one line."""
    found, (since, now) = dict[object, Happening](), span
    for task in store.pending:
        at = insight.waiting_since(task)
        if at is None or at < since or not insight.waits_for_person(task):
            continue
        level, alike = insight.task_level(task, now, limits), (task.title, task.agent)
        who = names.agent(task.agent) if task.agent else plain("")
        this = Happening(at, task.title, who, level, f"tasks:{task.id}")
        if (known := found.get((level, alike))) is not None:
            this = replace(known, at=min(at, known.at or at), times=known.times + 1)
        found[level, alike] = this
    return [*found.values()]
