"""What happened since a moment, in sections: for a user who comes back, and for a hand-over.

The platform is the remote service whose AI agents are watched. `read_slice` reads the time since
then from the history, a database of what was polled; without a history, `slice_of_log` makes the
same from the platform's activity log, as far as it is in memory. `changes_since` turns it into
sections of lines ("Decided", "Went wrong", "Spent", …) together with the store, which has the
present state. The queue is the list of tasks that wait for approval.

All are pure functions, which the "since" dialog calls in a thread. Times are seconds since 1970 by
the platform's clock. A `Span` is a pair of begin and end; a `TaskLife` or `AlertLife` is all that
is known of one task or alert, a `Track` a figure over time. The subject of a budget is the id of
its owner, "" for the total. A gap is an entry of our own where entries are missing (`is_gap`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Final, NamedTuple

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
from agentco_tui.live.sentences import action_words
from agentco_tui.live.store import Store
from agentco_tui.model import (
    Activity,
    Alert,
    BudgetScope,
    Moment,
    Money,
    Ref,
    Severity,
    TaskState,
    with_key,
)
from agentco_tui.model import format as fmt
from agentco_tui.model.period import period_of
from agentco_tui.text import SafeText, clean_line, joined, mark_safe

LEAST_GAP: Final = 60.0  # seconds; shorter gaps are not reported
MOST_NAMED: Final = 3  # tasks of unknown outcome that are named in one line
VERDICTS: Final = {TaskState.REJECTED: "rejected", TaskState.CANCELLED: "cancelled"}
"""The words for states that are the outcome of a decision themselves."""


class ChangeEvent(msgspec.Struct, frozen=True):
    """One event, or several of the same kind in one line."""

    at: float | None  # None if its time is not known
    text: SafeText
    who: SafeText = SafeText("")
    level: Level = Level.OK
    key: str = ""
    """What enter opens: a screen and a row of it, such as "tasks:t1"; "" if nothing."""
    times: int = 1  # how many events the line is for

    def words(self, now: float) -> tuple[SafeText, SafeText]:
        """Two texts: when and by whom; and what, with how often."""
        when_and_who = [self.who]
        if self.at is not None:
            when_and_who.insert(0, to_minute(self.at, now))
        times = f" ×{fmt.count(self.times)}" if self.times > 1 else ""
        return joined(when_and_who), mark_safe(f"{self.text}{times}")


class Section(msgspec.Struct, frozen=True):
    """The events of one kind, the most severe first."""

    name: SafeText
    events: Sequence[ChangeEvent]
    none: SafeText = SafeText("nothing")  # what is shown if there is no event
    notes: Sequence[SafeText] = ()  # about the whole section, such as which time was seen


class HistorySlice(msgspec.Struct, frozen=True):
    """What the history has of the time since a moment."""

    seen: Sequence[Span]  # when the log was read without a gap
    lives: Sequence[TaskLife]
    counts: Sequence[Counted]  # entries of the log by the minute
    alerts: Sequence[AlertLife] = ()
    spent: Mapping[str, Track[BudgetSample]] = {}  # by the company's id, "" for the whole
    why_incomplete: SafeText | None = None  # why all but the log is missing; None if it is not
    queue_seen: Sequence[Span] = ()  # when the list of pending tasks was polled
    alerts_seen: Sequence[Span] = ()  # when the alerts were polled


class _Since(NamedTuple):
    """What every section is made from."""

    past: HistorySlice
    store: Store
    names: Names
    limits: AlertLimits
    since: float
    now: float


def to_minute(at: float, now: float) -> SafeText:
    """A moment to the minute: "22:14", "Wed 22:14", "19 Nov"."""
    words = fmt.clock(Moment(at), now)
    has_seconds = words.count(":") == 2
    return mark_safe(words[:5]) if has_seconds else words


def read_slice(since: float, companies: Iterable[str], reader: Reader) -> HistorySlice:
    """Read the slice from the history, with the budgets of these companies and of the whole."""
    spent = {company: reader.budget(BudgetScope.COMPANY, company, since) for company in companies}
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


def slice_of_log(
    entries: Sequence[Activity], since: float, polled_at: float, why_incomplete: SafeText
) -> HistorySlice:
    """The slice from the log in memory, which was last polled at `polled_at`.

    `entries` are the log, the oldest first.
    """
    times: list[float | None] = []
    for entry in entries:
        # A gap has no time, so the spans before and after it are not seen.
        if entry.at is None or is_gap(entry):
            times.append(None)
        else:
            times.append(entry.at.at)
    times.append(polled_at)
    seen = [(begin, end) for begin, end in pairwise(times) if begin and end]
    observed = observe_log([entry for entry in entries if entry.at and entry.at.at >= since])
    return HistorySlice(seen, observed.lives, observed.counts, why_incomplete=why_incomplete)


def gaps_of(seen: Iterable[Span], since: float, until: float) -> list[Span]:
    """The times between the two that were not seen, without short ones."""
    gaps: list[Span] = []
    known_until = since
    for begin, end in (*sorted(seen), (until, until)):
        gap_end = min(begin, until)
        if gap_end - known_until >= LEAST_GAP:
            gaps.append((known_until, gap_end))
        known_until = max(known_until, end)
    return gaps


def changes_since(
    past: HistorySlice,
    store: Store,
    limits: AlertLimits,
    span: Span,
    sent: Mapping[str, ChangeEvent] = {},
) -> list[Section]:
    """All sections for a span of time, which ends now.

    `sent` are the writes (approvals and other changes) that were sent from this machine, by the id
    of the task if they are about one. `limits` are the thresholds of warnings.
    """
    since, now = span
    context = _Since(past, store, Names(store), limits, since, now)
    sums = _sums(context)
    gaps = gap_words(past, span, store)
    unknown = [ChangeEvent(None, words, level=Level.WARNING) for words in gaps]
    # If something was not seen, it is not known that nothing happened.
    seen = " in the time that was seen" if unknown else ""
    nothing_wrong = f"nothing went wrong{seen}"
    is_log_known = any(end > since for _, end in past.seen)
    if not is_log_known:
        nothing_wrong = "the log was not read"

    def none(feed: FeedName, words: str) -> str:
        """The words for no events of a feed, if the platform has it."""
        return store.freshness[feed].why_not_offered or words

    nothing_decided = none(FeedName.PENDING, f"nothing was decided{seen}")
    sections: list[Section] = []
    if unknown:
        sections.append(Section(mark_safe("Not known"), unknown))
    sections.append(_section("Decided", _decided(context, sent), none=nothing_decided))
    nothing_wrong = none(FeedName.ACTIVITY, nothing_wrong)
    sections.append(_section("Went wrong", _went_wrong(context), none=nothing_wrong))
    sections.append(
        _section(
            "Spent",
            _spent(context, sums),
            none="it is not known what was spent",
            notes=_notes_on_sums(context, sums),
        )
    )
    no_alert = none(FeedName.ALERTS, f"no alert came or went{seen}")
    sections.append(_section("Alerts", _alerts(context), none=no_alert))
    nothing_new = none(FeedName.PENDING, "nothing is new")
    sections.append(_section("Newly waiting", _newly_waiting(context), none=nothing_new))
    return sections


def _section(
    name: str, events: list[ChangeEvent], *, none: str, notes: Sequence[SafeText] = ()
) -> Section:
    """A section with its events in order: the most severe, the most frequent, the newest first."""
    events.sort(key=lambda event: (-event.level, -event.times, -(event.at or 0.0)))
    return Section(mark_safe(name), events, mark_safe(none), notes)


def gap_words(past: HistorySlice, span: Span, store: Store) -> list[SafeText]:
    """A sentence for each gap in the time between the two, of what the platform offers at all."""
    since, now = span
    feeds = [("the log", FeedName.ACTIVITY, past.seen)]
    if past.why_incomplete is None:
        feeds += [
            ("the queue", FeedName.PENDING, past.queue_seen),
            ("alerts", FeedName.ALERTS, past.alerts_seen),
        ]
    names_by_gap: dict[str, list[str]] = {}
    for name, feed, seen in feeds:
        if not store.freshness[feed].is_offered:
            continue
        for begin, end in gaps_of(seen, since, now):
            gap = f"from {to_minute(begin, now)} to {to_minute(end, now)}"
            names_by_gap.setdefault(gap, []).append(name)
    sentences = [mark_safe(f"{_not_read(names)} {gap}") for gap, names in names_by_gap.items()]
    if past.why_incomplete:
        sentences.append(past.why_incomplete)
    return sentences


def _not_read(names: Sequence[str]) -> str:
    """Such as: the log and the queue were not read."""
    *others, last = names
    if others:
        return f"{', '.join(others)} and {last} were not read"
    verb = "were" if last == "alerts" else "was"
    return f"{last} {verb} not read"


def _decided(context: _Since, sent: Mapping[str, ChangeEvent]) -> list[ChangeEvent]:
    """Decisions, and other tasks that left the queue.

    Each opens the newest entry of the log about its task, else its agent. Those with an unknown
    outcome are one line.
    """
    entry_keys = {
        entry.task.id: f"activity:{entry.id}" for entry in context.store.activity if entry.task
    }
    unmatched = dict(sent)
    events: list[ChangeEvent] = []
    unknown: list[TaskLife] = []
    for life in context.past.lives:
        at = departure_time(life)
        if at is None:
            continue
        own_write = unmatched.pop(life.id, None)  # it was decided from this machine
        if at < context.since:
            continue
        key = entry_keys.get(life.id)
        if key is None and life.agent:
            key = f"agents:{life.agent}"
        if verdict_of(life) is not None:
            events.append(_decision(_title(life, context), life, at, own_write, key or ""))
        elif own_write is not None:
            events.append(replace(own_write, key=key or own_write.key))
        else:
            unknown.append(life)
    for task_id, own_write in unmatched.items():
        events.append(replace(own_write, key=entry_keys.get(task_id, own_write.key)))
    if unknown:
        titles = [_title(life, context) for life in unknown]
        events.append(_of_unknown_outcome(unknown, titles))
    return events


def _decision(
    title: SafeText, life: TaskLife, at: float, own_write: ChangeEvent | None, key: str
) -> ChangeEvent:
    """The event of a task whose outcome is known."""
    text = f"{verdict_of(life)} {title}"
    level = Level.OK
    if life.state is TaskState.FAILED:
        level = Level.CRITICAL
        text += ", failed since"
    text += _noticed_late(life, at)
    who = life.decided_by
    if not who and own_write is not None:
        who = own_write.who
    return ChangeEvent(at, mark_safe(text), who or mark_safe(""), level, key)


def departure_time(life: TaskLife) -> float | None:
    """When a task was decided, cancelled, or left the queue otherwise.

    None if it did not, or if that is not known.
    """
    if life.decided is not None:
        return life.decided
    if life.state is TaskState.CANCELLED:
        return life.departed or life.ended
    return life.departed


def verdict_of(life: TaskLife) -> SafeText | None:
    """The outcome of a task that left the queue, in a word; None if it is not known."""
    if life.state in VERDICTS:
        return mark_safe(VERDICTS[life.state])
    if life.decided is not None or life.state is TaskState.APPROVED:
        return mark_safe("approved")
    if life.state in (TaskState.RUNNING, TaskState.DONE, TaskState.FAILED):
        return mark_safe(f"left the queue, {life.state}:")
    return None


def _title(life: TaskLife, context: _Since) -> SafeText:
    """The title of a task, behind its key if it is in a list that was read."""
    if not life.title:
        return clean_line(life.id, 60)
    return with_key(context.names.task_key(Ref(id=life.id)), life.title)


def _noticed_late(life: TaskLife, at: float) -> str:
    """Words for a decision whose time is only known to lie between two polls of the queue."""
    if at != life.departed or life.departed_after is None:
        return ""
    if life.departed - life.departed_after < LEAST_GAP:
        return ""
    return f", at some time since {to_minute(life.departed_after, life.departed)}"


def _of_unknown_outcome(lives: Sequence[TaskLife], titles: Sequence[SafeText]) -> ChangeEvent:
    """One event for all tasks that left the queue with an unknown outcome."""
    tasks = "1 task" if len(lives) == 1 else f"{fmt.count(len(lives))} tasks"
    named = ", ".join(titles[:MOST_NAMED])
    if len(lives) > MOST_NAMED:
        named += f" and {fmt.count(len(lives) - MOST_NAMED)} more"
    last = max(life.departed or 0.0 for life in lives)
    words = mark_safe(f"{tasks} left the queue, outcome unknown: {named}")
    return ChangeEvent(last, words, level=Level.UNKNOWN)


def _went_wrong(context: _Since) -> list[ChangeEvent]:
    """Failures and warnings of the log, those of one agent and verb in one line."""
    newest_entries = {kind_of(entry): entry for entry in context.store.activity}
    counts = Counter[EntryKind]()
    last_times: dict[EntryKind, float] = {}
    for counted in context.past.counts:
        kind = EntryKind(counted.agent, counted.kind, counted.severity)
        counts[kind] += counted.count
        last_times[kind] = max(counted.at, last_times.get(kind, 0.0))
    events: list[ChangeEvent] = []
    for kind, count in counts.items():
        level = SEVERITY_LEVELS[kind.severity]
        if level <= Level.OK:
            continue
        text = mark_safe(kind.verb or "an entry without words")
        key = ""
        who = mark_safe("")
        if kind.agent:
            key = f"agents:{kind.agent}"
            who = context.names.agent(Ref(id=kind.agent))
        entry = newest_entries.get(kind)
        if entry is not None:
            text = action_words(entry, context.names)
            key = f"activity:{entry.id}"
        events.append(ChangeEvent(last_times[kind], text, who, level, key, count))
    return events


def _sums(context: _Since) -> dict[str, ObservedSum]:
    """What was spent of each budget, by its subject, all in the same time if possible."""
    budgets = [*context.store.budget, *context.store.company_budgets]
    tracks = {each.subject: context.past.spent.get(each.subject, Track()) for each in budgets}
    periods = {each.subject: period_of(each, context.now) for each in budgets}
    return spent_together(tracks, periods, (context.since, context.now))


def _spent(context: _Since, sums: Mapping[str, ObservedSum]) -> list[ChangeEvent]:
    """A line for each budget, the one of which most was spent first."""
    rows: list[tuple[Decimal, ChangeEvent]] = []
    for budget in (*context.store.budget, *context.store.company_budgets):
        words = f"now {fmt.money(budget.spent)}"
        if budget.limit is not None and not budget.unlimited:
            words += f" of {fmt.money(budget.limit)}"
        amount = Decimal(0)
        spent = sums.get(budget.subject)
        if spent is not None:
            amount = spent.amount
            if budget.spent is not None:
                spent_since = Money(amount, budget.spent.currency, derived=True)
                words = f"{fmt.money(spent_since)}, {words}"
        key = f"budget:{budget.scope}:{budget.id}"
        event = ChangeEvent(None, mark_safe(words), context.names.budget(budget), key=key)
        rows.append((amount, event))
    rows.sort(key=lambda row: -row[0])
    return [event for _, event in rows]


def _notes_on_sums(context: _Since, sums: Mapping[str, ObservedSum]) -> list[SafeText]:
    """Which time the sums cover if it is not the whole span, and that sums do not agree."""
    since = context.since
    now = context.now
    if not sums:
        return [mark_safe(f"nothing is known of what was spent since {to_minute(since, now)}")]
    notes: list[SafeText] = []
    for spent in sums.values():
        unknown = (now - since) - spent.seconds
        if unknown < LEAST_GAP:
            continue
        begin, end = spent.span
        known = (
            f"in the {fmt.duration(spent.seconds)} that was seen"
            f" (from {to_minute(begin, now)} to {to_minute(end, now)})"
        )
        notes.append(mark_safe(f"{known}; nothing is known of {fmt.duration(unknown)}"))
    return [*dict.fromkeys(notes), *_difference_to_parts(sums, context.store)]


def _difference_to_parts(sums: Mapping[str, ObservedSum], store: Store) -> list[SafeText]:
    """A note if the sum of the companies differs from the total."""
    whole = sums.get("")
    parts = [sums.get(each.subject) for each in store.company_budgets]
    known = [part for part in parts if part is not None]
    if whole is None or not known or not store.is_total_known:
        return []
    currency = next((each.spent.currency for each in store.budget if each.spent), None)
    together = Money(sum((part.amount for part in known), Decimal(0)), currency, derived=True)
    total = Money(whole.amount, currency, derived=True)
    if fmt.money(together) == fmt.money(total):
        return []
    if len(known) < len(parts):
        unknown = fmt.count(len(parts) - len(known))
        why = f", without {unknown} of which nothing is known"
    else:
        why = ": their budgets are polled at other moments than the total"
    return [mark_safe(f"the companies together {fmt.money(together)}{why}")]


def _alerts(context: _Since) -> list[ChangeEvent]:
    """Alerts that came or ended."""
    lives = {life.id: life for life in context.past.alerts}
    events: list[ChangeEvent] = []
    for alert in context.store.alerts:
        event = _alert_that_came(context, alert, lives.get(alert.id))
        if event is not None:
            events.append(event)
    for life in context.past.alerts:
        if life.gone is not None and life.gone >= context.since:
            events.append(_alert_that_went(context, life, life.gone))
    return events


def _alert_that_came(context: _Since, alert: Alert, life: AlertLife | None) -> ChangeEvent | None:
    """The event of an alert in the list; None if it came before.

    If the platform sends no time, it is the time at which the alert was first seen.
    """
    key = f"budget:{alert.id}"
    at = None if alert.at is None else alert.at.at
    if insight.is_open(alert):
        word = "came"
        if at is None:
            word = "undated"
            if life is not None:
                at = life.first_seen
                word = "first seen"
        if at is not None and at < context.since:
            return None
        level = insight.alert_level(alert, context.limits)
        return ChangeEvent(at, alert.text, mark_safe(word), level, key)
    was_seen_open = life is not None
    if at is None or at < context.since or was_seen_open:
        return None
    words = mark_safe(f"{alert.text}{_was(alert.severity)}")
    return ChangeEvent(at, words, mark_safe("came and went"), key=key)


def _alert_that_went(context: _Since, life: AlertLife, gone: float) -> ChangeEvent:
    """The event of an alert that was seen open, and ended at the time `gone`."""
    text = life.text
    if not text:
        text = mark_safe("about the whole")
        if life.subject:
            subject = Ref(id=life.subject)
            names = context.names
            is_agent = life.scope is BudgetScope.AGENT
            owner = names.agent(subject) if is_agent else names.company(subject)
            text = mark_safe(f"about {owner}")
    word = mark_safe("came and went" if life.first_seen >= context.since else "went")
    key = f"budget:{life.scope}:{life.subject or ''}"
    return ChangeEvent(gone, mark_safe(f"{text}{_was(life.severity)}"), word, key=key)


def _was(severity: Severity) -> str:
    """Words for the severity of an alert that has ended."""
    return "" if severity is Severity.UNKNOWN else f" (was {severity})"


def _newly_waiting(context: _Since) -> list[ChangeEvent]:
    """Tasks that began to wait since then, those of one agent, title and level in one line.

    A task without a time counts if the queue was seen without it before.
    """
    first_seen = {life.id: life.first_seen for life in context.past.lives}
    events: dict[object, ChangeEvent] = {}
    for task in context.store.pending:
        at = insight.waiting_since(task)
        if at is None:
            at = first_seen.get(task.id)
            if at is None or not _was_watched_before(at, context.past.queue_seen):
                continue
        if at < context.since or not insight.waits_for_person(task):
            continue
        level = insight.task_level(task, context.now, context.limits)
        who = context.names.agent(task.agent) if task.agent else mark_safe("")
        event = ChangeEvent(at, task.keyed_title, who, level, f"tasks:{task.id}")
        line = (level, task.title, task.agent)
        earlier = events.get(line)
        if earlier is not None:
            oldest = min(at, earlier.at or at)
            times = earlier.times + 1
            event = replace(earlier, text=task.title, at=oldest, times=times)
        events[line] = event
    return list(events.values())


def _was_watched_before(at: float, seen: Sequence[Span]) -> bool:
    return any(begin < at <= end for begin, end in seen)
