"""What happened between two moments: for whoever comes back, and for a hand-over.

Pure functions of what the history remembers, the picture of now and the part of the log that is
held; they may run in a thread. Without a history less is known, and from when on is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise

import msgspec
from msgspec.structs import asdict, replace

from agentco_tui import format as fmt
from agentco_tui.live import history, insight
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.history import BudgetSample, Counted, Span
from agentco_tui.live.history_sampler import observe_log, told_state
from agentco_tui.live.insight import Level
from agentco_tui.live.sentences import deed
from agentco_tui.live.store import Names, Store
from agentco_tui.model import Activity, AlertLimits, BudgetScope, Money, Ref, Severity, TaskState
from agentco_tui.reading.field_names import phrase
from agentco_tui.text import SafeText, joined, plain, safe

LEAST_GAP = 300.0  # seconds of which nothing is known, from which on that is told
LONGEST_KIND = 60  # cells of a verb that is counted
LEVELS = {Severity.CRITICAL: Level.CRITICAL, Severity.WARNING: Level.WARNING}
DECIDES = (TaskState.APPROVED, TaskState.REJECTED)
VERDICTS = {TaskState.REJECTED: "rejected", TaskState.CANCELLED: "cancelled"}


class Happening(msgspec.Struct, frozen=True):
    """One thing that happened, or alike ones in one line."""

    at: float | None
    text: SafeText
    who: SafeText = SafeText("")
    level: Level = Level.OK
    key: str = ""  # where it leads: a screen and a row of it
    times: int = 1


class Chapter(msgspec.Struct, frozen=True):
    """What happened of one kind, what matters most first."""

    name: SafeText
    happenings: tuple[Happening, ...]
    none: SafeText  # what is said where there is none


class Happened(msgspec.Struct, frozen=True):
    since: float
    until: float
    chapters: tuple[Chapter, ...]
    gaps: tuple[Span, ...]  # of which nothing is known
    why: SafeText | None = None  # why no more is known


class Known(msgspec.Struct, frozen=True):
    """What is known of the time since a moment, by the history or by the log that is held."""

    seen: tuple[Span, ...] = ()  # when the platform or its log was looked at
    lives: Sequence[history.TaskLife] = ()
    counts: Sequence[Counted] = ()
    alerts: Sequence[history.AlertLife] | None = None  # None: only those that stand now are known
    spent: Mapping[str, history.Track[BudgetSample]] = {}  # by the company's id, "" for the whole


def read_past(since: float, companies: Iterable[str]) -> Callable[[history.Reader], Known]:
    """A read of the history; of these companies' budgets, and of the whole."""
    ids = [*companies]

    def read(reader: history.Reader) -> Known:
        spent = {each: reader.budget(BudgetScope.COMPANY, each, since) for each in ids}
        spent[""] = reader.budget(BudgetScope.ALL, "", since)
        counts, logged = reader.activity(since)
        seen = (*logged, *(span for track in spent.values() for span in track.seen))
        return Known(seen, reader.lives(since), counts, reader.alerts(since), spent)

    return read


def gaps_of(seen: Iterable[Span], since: float, until: float) -> tuple[Span, ...]:
    """The times between the two of which nothing was seen, but for short ones."""
    edges = [(since, since), *sorted(seen), (until, until)]
    gaps, known_to = list[Span](), since
    for begin, end in edges:
        if min(begin, until) - known_to >= LEAST_GAP:
            gaps.append((known_to, min(begin, until)))
        known_to = max(known_to, end)
    return tuple(gaps)


def spent_over(samples: Sequence[BudgetSample]) -> Decimal | None:
    """What was spent from the first sample to the last; None if fewer than two tell it.

    A figure that falls by more than half began anew with a new period; one that falls by less was
    corrected.
    """
    known = [sample.spent for sample in samples if sample.spent is not None]
    steps = (
        now if 0 <= now < before / 2 else now - before  # what it began anew with
        for before, now in pairwise(known)
    )
    return sum(steps, Decimal(0)) if known else None


def happened(
    past: Known,
    store: Store,
    limits: AlertLimits,
    span: Span,
    *,
    here: Iterable[tuple[str, Happening]] = (),
    left: Mapping[str, str] | None = None,
    needs: Mapping[str, Happening] = {},
    why: SafeText | None = None,
) -> Happened:
    """All of it, in that span of time. `here` is what was decided from this machine, by the task's
    id; `left` the needs as they were at its beginning, if that is known, and `needs` those of now,
    by their keys.
    """
    names, (since, until) = Names(store), span
    chapters = [
        ("Decided", _decided(past, store, since, here), "nothing was decided"),
        ("Went wrong", _wrong(past, store, names, since), "nothing went wrong"),
        ("Spent", _spent(past, store, names), "it isn't known what was spent"),
        ("Alerts", _alerts(past, store, names, limits, since), "no alert came or went"),
        ("Newly waiting", _waiting(store, names, limits, since, until), "nothing is new"),
    ]
    if left is not None:
        new = [replace(each, who=plain("new")) for key, each in needs.items() if key not in left]
        lost = joined([safe(words, 60) for key, words in left.items() if key not in needs], ", ")
        gone = [Happening(None, lost, plain("gone"))] * bool(lost)
        chapters.append(("Other needs", [*gone, *new], "the same as before"))
    told = tuple(Chapter(plain(name), tuple(each), plain(none)) for name, each, none in chapters)
    return Happened(since, until, told, gaps_of(past.seen, since, until), why)


def _way(store: Store, entries: Mapping[str, Activity], task: str, agent: str | None) -> str:
    """Where a line about a task leads: to it if it is listed, else to what the log has of its
    decision, else to its agent.
    """
    if task in store.pending.records or task in store.tasks.records:
        return f"tasks:{task}"
    if task in entries:
        return f"activity:{entries[task].id}"
    return f"agents:{agent}" if agent else ""


def _decided(
    past: Known, store: Store, since: float, here: Iterable[tuple[str, Happening]]
) -> list[Happening]:
    entries = {
        entry.task.id: entry
        for entry in store.activity
        if entry.task and entry.task.id and told_state(entry.verb or "") in DECIDES
    }
    found, own = list[Happening](), dict(here)
    for life in past.lives:
        if life.decided is None or life.decided < since:
            continue
        mine, title = own.pop(life.id, None), life.title or safe(life.id, 60)
        verdict = VERDICTS.get(life.state or TaskState.OTHER, "approved")
        by = life.decided_by or (mine.who if mine else plain(""))
        level = Level.CRITICAL if life.state is TaskState.FAILED else Level.OK
        text = plain(f"{verdict} {title}{', failed since' * (level > Level.OK)}")
        way = _way(store, entries, life.id, life.agent)
        found.append(Happening(life.decided, text, by, level, way))
    for task, mine in own.items():
        found.append(replace(mine, key=_way(store, entries, task, None)))
    return sorted(found, key=lambda each: -(each.at or 0.0))


def _wrong(past: Known, store: Store, names: Names, since: float) -> list[Happening]:
    """Failures and warnings of one agent and verb in one line, the worst and most often first."""
    newest = dict[tuple[str | None, str, Severity], Activity]()
    for entry in store.activity:
        newest[_kind(entry)] = entry
    times, last = dict[tuple[str | None, str, Severity], int](), dict[object, float]()
    for each in past.counts:
        if each.severity in LEVELS and each.at >= since - 60:
            kind = each.agent, each.kind, each.severity
            times[kind] = times.get(kind, 0) + each.count
            last[kind] = each.at
    found = list[Happening]()
    for kind, count in times.items():
        agent, verb, severity = kind
        known = newest.get(kind)
        text = deed(known, names) if known else plain(verb or "an entry without words")
        at = known.at.at if known and known.at else last[kind]
        way = f"activity:{known.id}" if known else f"agents:{agent}" if agent else ""
        who = names.agent(Ref(id=agent)) if agent else plain("")
        found.append(Happening(at, text, who, LEVELS[severity], way, count))
    return sorted(found, key=lambda each: (-each.level, -each.times, -(each.at or 0.0)))


def _spent(past: Known, store: Store, names: Names) -> list[Happening]:
    found = list[tuple[Decimal, Happening]]()
    for company, track in past.spent.items():
        amount = spent_over(track.samples)
        budget = store.company_budgets.get(company) if company else next(iter(store.budget), None)
        if amount is None or budget is None:
            continue
        unit = budget.spent.currency if budget.spent else None
        words = f"{fmt.money(Money(amount, unit, derived=True))}, now {fmt.money(budget.spent)}"
        of = "" if budget.limit is None or budget.unlimited else f" of {fmt.money(budget.limit)}"
        row = f"budget:{budget.scope}:{budget.id}"
        found.append((amount, Happening(None, plain(words + of), names.budget(budget), key=row)))
    found.sort(key=lambda each: -each[0])
    return [happening for _, happening in found]


def _alerts(
    past: Known, store: Store, names: Names, limits: AlertLimits, since: float
) -> list[Happening]:
    found = list[Happening]()
    for alert in store.alerts if past.alerts is None else ():
        if insight.is_open(alert) and alert.at is not None and alert.at.at >= since:
            level, way = insight.alert_level(alert, limits), f"budget:{alert.id}"
            found.append(Happening(alert.at.at, alert.text, plain("came"), level, way))
    for life in past.alerts or ():
        known, ref = store.alerts.get(life.id), Ref(id=life.subject)
        of = names.agent(ref) if life.scope is BudgetScope.AGENT else names.company(ref)
        text = known.text if known else plain(f"about {of}" if life.subject else "about the whole")
        came, went = life.first_seen >= since, life.gone is not None and life.gone >= since
        word = "came and went" if came and went else "went" if went else "came"
        way = f"budget:{life.id}" if known else f"budget:{life.scope}:{life.subject}"
        level = Level.OK if went else LEVELS.get(life.severity, Level.WARNING)
        at = life.gone if went else life.first_seen
        found.append(Happening(at, text, plain(word), level, way))
    return sorted(found, key=lambda each: (-each.level, -(each.at or 0.0)))


def _waiting(
    store: Store, names: Names, limits: AlertLimits, since: float, until: float
) -> list[Happening]:
    found = dict[object, Happening]()
    for task in store.pending:
        at = insight.waiting_since(task)
        if at is None or at < since or not insight.waits_for_person(task):
            continue
        level = insight.task_level(task, until, limits)
        alike = level, task.title, task.agent
        known = found.get(alike)
        times = 1 if known is None else known.times + 1
        first = at if known is None or known.at is None else min(at, known.at)
        who = names.agent(task.agent) if task.agent else plain("")
        found[alike] = Happening(first, task.title, who, level, f"tasks:{task.id}", times)
    return sorted(found.values(), key=lambda each: (-each.level, each.at or 0.0))


def _kind(entry: Activity) -> tuple[str | None, str, Severity]:
    """What is counted as one, as the history counts."""
    verb = safe(phrase(entry.verb), LONGEST_KIND) if entry.verb else ""
    return entry.agent.id if entry.agent else None, verb, entry.severity


def log_past(entries: Iterable[Activity], since: float, read_to: float) -> Known:
    """What the part of the log that is held tells of the time since; it was read at `read_to`."""
    seen, known, start, last = list[Span](), list[Activity](), None, read_to
    for entry in entries:
        if is_gap(entry):
            seen += [(start, last)] if start is not None else []
            start = None
        elif entry.at is not None:
            last = entry.at.at
            start = last if start is None else start
            if last >= since:
                known.append(entry)
    if start is not None:
        seen.append((start, read_to))
    observed = observe_log(known)
    return Known(tuple(seen), observed.lives, observed.counts)


def merged(held: Known, remembered: Known) -> Known:
    """What the log that is held and the history know together: the history lags by some seconds."""
    lives = dict[str, history.TaskLife]()
    for life in (*remembered.lives, *held.lives):  # the log tells one for each of its entries
        told = {name: value for name, value in asdict(life).items() if value}
        lives[life.id] = replace(lives.get(life.id, life), **told)
    counts = dict[object, Counted]()
    for each in (*held.counts, *remembered.counts):
        minute = each.at, each.agent, each.kind, each.severity
        if minute not in counts or counts[minute].count < each.count:
            counts[minute] = each
    return replace(
        remembered,
        seen=(*held.seen, *remembered.seen),
        lives=tuple(lives.values()),
        counts=sorted(counts.values(), key=lambda each: each.at),
    )
