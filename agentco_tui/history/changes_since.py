"""What happened since a moment, in sections: for a user who comes back, and for a hand-over.

Pure functions of the history (without one, of the entries of the log that are in memory) and of
the store; they may run in a thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from agentco_tui.config import AlertLimits
from agentco_tui.history.log_counts import EntryKind, kind_of, observe_log
from agentco_tui.history.observations import (
    AlertLife,
    BudgetSample,
    Counted,
    Span,
    TaskLife,
    Track,
)
from agentco_tui.history.observed_spending import ObservedSum, spent_together
from agentco_tui.history.reader import Reader
from agentco_tui.live import insight
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import SEVERITY_LEVELS, Level
from agentco_tui.live.names import Names
from agentco_tui.live.sentences import deed
from agentco_tui.live.store import Store
from agentco_tui.model import (
    Activity,
    BudgetScope,
    Moment,
    Money,
    Ref,
    Severity,
    TaskState,
)
from agentco_tui.model import format as fmt
from agentco_tui.model.period import period_of
from agentco_tui.text import SafeText, joined, plain, safe

LEAST_GAP = 60.0  # seconds; shorter gaps are not reported
MOST_NAMED = 3  # tasks of unknown outcome that are named in one line
VERDICTS = {TaskState.REJECTED: "rejected", TaskState.CANCELLED: "cancelled"}


class ChangeEvent(msgspec.Struct, frozen=True):
    """One event, or several of the same kind in one line."""

    at: float | None
    text: SafeText
    who: SafeText = SafeText("")
    level: Level = Level.OK
    key: str = ""  # what opens: a screen and a row of it, such as "tasks:t1"
    times: int = 1

    def said(self, now: float) -> tuple[SafeText, SafeText]:
        """Two texts: when and by whom; and what, with how often."""
        when = [to_minute(self.at, now)] if self.at is not None else []
        times = f" ×{fmt.count(self.times)}" if self.times > 1 else ""
        return joined([*when, self.who]), plain(f"{self.text}{times}")


class Section(msgspec.Struct, frozen=True):
    """The events of one kind, the most severe first."""

    name: SafeText
    happenings: Sequence[ChangeEvent]
    none: SafeText = SafeText("nothing")  # what is shown if there is none
    notes: Sequence[SafeText] = ()  # about the whole section, such as which time was seen


class HistorySlice(msgspec.Struct, frozen=True):
    """What the history knows of the time since a moment."""

    seen: Sequence[Span]  # when the log was read without a gap
    lives: Sequence[TaskLife]
    counts: Sequence[Counted]
    alerts: Sequence[AlertLife] = ()
    spent: Mapping[str, Track[BudgetSample]] = {}  # by the company's id, "" for the whole
    why: SafeText | None = None  # why some of it is missing
    queue_seen: Sequence[Span] = ()
    alerts_seen: Sequence[Span] = ()


def to_minute(at: float, now: float) -> SafeText:
    """A moment to the minute: "22:14", "Wed 22:14", "19 Nov"."""
    words = fmt.clock(Moment(at), now)
    return plain(words[:5]) if words.count(":") == 2 else words


def remembered(since: float, companies: Iterable[str], reader: Reader) -> HistorySlice:
    """Reads the slice from the history, with the budgets of these companies."""
    spent = {each: reader.budget(BudgetScope.COMPANY, each, since) for each in companies}
    spent[""] = reader.budget(BudgetScope.ALL, "", since)
    counts, seen = reader.activity(since)
    return HistorySlice(
        seen,
        reader.lives(since),
        counts,
        reader.alerts(since),
        spent,
        queue_seen=reader.seen(FeedName.PENDING, since),
        alerts_seen=reader.seen(FeedName.ALERTS, since),
    )


def held(entries: Sequence[Activity], since: float, read_to: float, why: SafeText) -> HistorySlice:
    """The same from the log in memory, oldest first, which was last polled at `read_to`."""
    at = [each.at.at if each.at and not is_gap(each) else None for each in entries]
    seen = [(one, other) for one, other in pairwise([*at, read_to]) if one and other]
    observed = observe_log([each for each in entries if each.at and each.at.at >= since])
    return HistorySlice(seen, observed.lives, observed.counts, why=why)


def gaps_of(seen: Iterable[Span], since: float, until: float) -> list[Span]:
    """The times between the two that were not seen, without short ones."""
    gaps = list[Span]()
    known_to = since
    for begin, end in (*sorted(seen), (until, until)):
        if min(begin, until) - known_to >= LEAST_GAP:
            gaps.append((known_to, min(begin, until)))
        known_to = max(known_to, end)
    return gaps


def happened(
    past: HistorySlice,
    store: Store,
    limits: AlertLimits,
    span: Span,
    sent: Mapping[str, ChangeEvent] = {},
) -> list[Section]:
    """All sections for a span of time. `sent` are the writes sent from this machine, by the id of
    the task if they are about one.
    """
    names = Names(store)
    since, _ = span
    unknown = gap_words(past, span)
    missing = [ChangeEvent(None, words, level=Level.WARNING) for words in unknown]
    told = [Section(plain("Not known"), missing)] if missing else []
    # If something was not seen, it is not known that nothing happened.
    seen = " in the time that was seen" if missing else ""
    sums = _sums(past, store, span)
    is_log_known = any(end > since for _, end in past.seen)
    nothing_wrong = f"nothing went wrong{seen}" if is_log_known else "the log was not read"
    for name, found, none in (
        ("Decided", _decided(past, store, since, sent), f"nothing was decided{seen}"),
        ("Went wrong", _wrong(past, store, names), nothing_wrong),
        ("Spent", _spent(sums, store, names), "it is not known what was spent"),
        ("Alerts", _alerts(past, store, names, limits, since), f"no alert came or went{seen}"),
        ("Newly waiting", _waiting(past, store, names, limits, span), "nothing is new"),
    ):
        found.sort(key=lambda each: (-each.level, -each.times, -(each.at or 0.0)))
        notes = _notes_on_sums(sums, store, span) if name == "Spent" else []
        told.append(Section(plain(name), found, plain(none), notes))
    return told


def gap_words(past: HistorySlice, span: Span) -> list[SafeText]:
    """A sentence for each gap in the time between the two."""
    since, now = span
    names_by_gap: dict[str, list[str]] = {}
    feeds = [("the log", past.seen)]
    if past.why is None:
        feeds += [("the queue", past.queue_seen), ("alerts", past.alerts_seen)]
    for name, seen in feeds:
        for first, last in gaps_of(seen, since, now):
            gap = f"from {to_minute(first, now)} to {to_minute(last, now)}"
            names_by_gap.setdefault(gap, []).append(name)
    words = [plain(f"{_not_read(names)} {gap}") for gap, names in names_by_gap.items()]
    return [*words, past.why] if past.why else words


def _not_read(names: Sequence[str]) -> str:
    """Such as: the log and the queue were not read."""
    *first, last = names
    is_one = not first and last != "alerts"
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"{listed} {'was' if is_one else 'were'} not read"


def _decided(
    past: HistorySlice, store: Store, since: float, sent: Mapping[str, ChangeEvent]
) -> list[ChangeEvent]:
    """Decisions and other departures from the queue. Each opens the newest entry about its task, or
    the agent; those with an unknown outcome are one line.
    """
    ways = {entry.task.id: f"activity:{entry.id}" for entry in store.activity if entry.task}
    own = dict(sent)
    found = list[ChangeEvent]()
    unknown = list[TaskLife]()
    for life in past.lives:
        at = departure_time(life)
        if at is None:
            continue
        mine = own.pop(life.id, None)
        if at < since:
            continue
        verdict = verdict_of(life)
        way = ways.get(life.id)
        if way is None and life.agent:
            way = f"agents:{life.agent}"
        if verdict is not None:
            has_failed = life.state is TaskState.FAILED
            text = f"{verdict} {_title(life)}"
            if has_failed:
                text += ", failed since"
            text += _noticed_late(life, at)
            who = life.decided_by or (plain("") if mine is None else mine.who)
            level = Level.CRITICAL if has_failed else Level.OK
            found.append(ChangeEvent(at, plain(text), who, level, way or ""))
        elif mine is not None:
            found.append(replace(mine, key=way or mine.key))
        else:
            unknown.append(life)
    found += (replace(mine, key=ways.get(task, mine.key)) for task, mine in own.items())
    if unknown:
        found.append(_of_unknown_outcome(unknown))
    return found


def departure_time(life: TaskLife) -> float | None:
    """When a task was decided, cancelled, or left the queue otherwise; None if it did not, or if
    that is not known.
    """
    if life.decided is not None:
        return life.decided
    if life.state is TaskState.CANCELLED:
        return life.departed or life.ended
    return life.departed


def verdict_of(life: TaskLife) -> SafeText | None:
    """The outcome of a task that left the queue, in a word; None if it is not known."""
    if life.state in VERDICTS:
        return plain(VERDICTS[life.state])
    if life.decided is not None or life.state is TaskState.APPROVED:
        return plain("approved")
    if life.state in (TaskState.RUNNING, TaskState.DONE, TaskState.FAILED):
        return plain(f"left the queue, {life.state}:")
    return None


def _title(life: TaskLife) -> SafeText:
    return life.title or safe(life.id, 60)


def _noticed_late(life: TaskLife, at: float) -> str:
    """Words for a decision whose time is only known to lie between two polls of the queue."""
    if at != life.departed or life.departed_after is None:
        return ""
    if life.departed - life.departed_after < LEAST_GAP:
        return ""
    return f", at some time since {to_minute(life.departed_after, life.departed)}"


def _of_unknown_outcome(lives: Sequence[TaskLife]) -> ChangeEvent:
    tasks = "1 task" if len(lives) == 1 else f"{fmt.count(len(lives))} tasks"
    titles = ", ".join(_title(life) for life in lives[:MOST_NAMED])
    if len(lives) > MOST_NAMED:
        titles += f" and {fmt.count(len(lives) - MOST_NAMED)} more"
    last = max(life.departed or 0.0 for life in lives)
    words = plain(f"{tasks} left the queue, outcome unknown: {titles}")
    return ChangeEvent(last, words, level=Level.UNKNOWN)


def _wrong(past: HistorySlice, store: Store, names: Names) -> list[ChangeEvent]:
    """Failures and warnings, those of one agent and verb in one line."""
    newest = {kind_of(entry): entry for entry in store.activity}
    times = Counter[EntryKind]()
    last = dict[EntryKind, float]()
    for each in past.counts:
        kind = EntryKind(each.agent, each.kind, each.severity)
        times[kind] += each.count
        last[kind] = max(each.at, last.get(kind, 0.0))
    found = list[ChangeEvent]()
    for kind, count in times.items():
        agent, verb, severity = kind
        if (level := SEVERITY_LEVELS[severity]) > Level.OK:
            known = newest.get(kind)
            text = deed(known, names) if known else plain(verb or "an entry without words")
            way = f"activity:{known.id}" if known else f"agents:{agent}" * bool(agent)
            who = names.agent(Ref(id=agent)) if agent else plain("")
            found.append(ChangeEvent(last[kind], text, who, level, way, count))
    return found


def _sums(past: HistorySlice, store: Store, span: Span) -> dict[str, ObservedSum]:
    """What was spent of each budget, by its subject, all in the same time if possible."""
    _, now = span
    budgets = [*store.budget, *store.company_budgets]
    tracks = {each.subject: past.spent.get(each.subject, Track()) for each in budgets}
    periods = {each.subject: period_of(each, now) for each in budgets}
    return spent_together(tracks, periods, span)


def _spent(sums: Mapping[str, ObservedSum], store: Store, names: Names) -> list[ChangeEvent]:
    rows = list[tuple[Decimal, ChangeEvent]]()
    for budget in (*store.budget, *store.company_budgets):
        known = sums.get(budget.subject)
        words = f"now {fmt.money(budget.spent)}"
        if budget.limit is not None and not budget.unlimited:
            words += f" of {fmt.money(budget.limit)}"
        if known is not None and budget.spent is not None:
            came = Money(known.amount, budget.spent.currency, derived=True)
            words = f"{fmt.money(came)}, {words}"
        row = f"budget:{budget.scope}:{budget.id}"
        amount = Decimal(0) if known is None else known.amount
        rows.append((amount, ChangeEvent(None, plain(words), names.budget(budget), key=row)))
    rows.sort(key=lambda row: -row[0])
    return [happening for _, happening in rows]


def _notes_on_sums(sums: Mapping[str, ObservedSum], store: Store, span: Span) -> list[SafeText]:
    """Which time the sums cover if it is not the whole span, and that sums do not agree."""
    since, now = span
    if not sums:
        return [plain(f"nothing is known of what was spent since {to_minute(since, now)}")]
    notes = list[SafeText]()
    for known in sums.values():
        unknown = (now - since) - known.seconds
        if unknown >= LEAST_GAP:
            first, last = (to_minute(at, now) for at in known.span)
            words = f"in the {fmt.duration(known.seconds)} that was seen (from {first} to {last});"
            notes.append(plain(f"{words} nothing is known of {fmt.duration(unknown)}"))
    return [*dict.fromkeys(notes), *_difference_to_parts(sums, store)]


def _difference_to_parts(sums: Mapping[str, ObservedSum], store: Store) -> list[SafeText]:
    """A note if the sum of the companies differs from the total."""
    whole = sums.get("")
    parts = [sums.get(each.subject) for each in store.company_budgets]
    known = [part for part in parts if part is not None]
    if whole is None or not known or not store.is_total_known:
        return []
    currency = next((each.spent.currency for each in store.budget if each.spent), None)
    together = Money(sum((part.amount for part in known), Decimal(0)), currency, derived=True)
    if fmt.money(together) == fmt.money(Money(whole.amount, currency, derived=True)):
        return []
    if len(known) < len(parts):
        unknown = fmt.count(len(parts) - len(known))
        why = f", without {unknown} of which nothing is known"
    else:
        why = ": their budgets are polled at other moments than the total"
    return [plain(f"the companies together {fmt.money(together)}{why}")]


def _alerts(
    past: HistorySlice, store: Store, names: Names, limits: AlertLimits, since: float
) -> list[ChangeEvent]:
    """Alerts that came or ended. One without a time gets the time at which it was first seen."""
    found = list[ChangeEvent]()
    lives = {life.id: life for life in past.alerts}
    for alert in store.alerts:
        way = f"budget:{alert.id}"
        life = lives.get(alert.id)
        at = None if alert.at is None else alert.at.at
        came = plain("came")
        if alert.at is None:
            at = None if life is None else life.first_seen
            came = plain("undated" if at is None else "first seen")
        if insight.is_open(alert):
            if at is None or at >= since:
                level = insight.alert_level(alert, limits)
                found.append(ChangeEvent(at, alert.text, came, level, way))
        elif alert.at is not None and alert.at.at >= since and life is None:
            # It ended before it was ever seen open.
            words = plain(f"{alert.text}{_was(alert.severity)}")
            found.append(ChangeEvent(alert.at.at, words, plain("came and went"), key=way))
    for life in past.alerts:
        if life.gone is None or life.gone < since:
            continue
        subject = Ref(id=life.subject)
        is_agent = life.scope is BudgetScope.AGENT
        owner = names.agent(subject) if is_agent else names.company(subject)
        about = life.text or plain(f"about {owner}" if life.subject else "about the whole")
        word = plain("came and went" if life.first_seen >= since else "went")
        way = f"budget:{life.scope}:{life.subject or ''}"
        text = plain(f"{about}{_was(life.severity)}")
        found.append(ChangeEvent(life.gone, text, word, key=way))
    return found


def _was(severity: Severity) -> str:
    """Words for the severity of an alert that has ended."""
    return "" if severity is Severity.UNKNOWN else f" (was {severity})"


def _waiting(
    past: HistorySlice, store: Store, names: Names, limits: AlertLimits, span: Span
) -> list[ChangeEvent]:
    """Tasks that wait since then, those of one agent and title in one line. A task without a time
    counts if the queue was seen without it before.
    """
    since, now = span
    found = dict[object, ChangeEvent]()
    first_seen = {life.id: life.first_seen for life in past.lives}
    for task in store.pending:
        at = insight.waiting_since(task)
        if at is None:
            at = first_seen.get(task.id)
            if at is None or not _was_watched_before(at, past.queue_seen):
                continue
        if at < since or not insight.waits_for_person(task):
            continue
        level = insight.task_level(task, now, limits)
        kind = level, task.title, task.agent
        who = names.agent(task.agent) if task.agent else plain("")
        this = ChangeEvent(at, task.title, who, level, f"tasks:{task.id}")
        known = found.get(kind)
        if known is not None:
            this = replace(known, at=min(at, known.at or at), times=known.times + 1)
        found[kind] = this
    return [*found.values()]


def _was_watched_before(at: float, seen: Sequence[Span]) -> bool:
    return any(begin < at <= end for begin, end in seen)
