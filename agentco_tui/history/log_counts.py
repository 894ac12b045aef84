"""Turns entries of the activity log into what the history stores of them.

The log is that of the platform, the remote service that runs AI agents; the history is a database
of what was polled from it. Stored are counts by the minute, and lives of tasks: when each was
decided or ended. `LogCounts` keeps the counts of the entries in memory for the `Sampler`, which
writes the history; `observe_log` makes them once, for the past that is read at the first start and
for the dialog that shows what happened since a time. A gap is an entry of our own: others are
missing there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from agentco_tui.history.observations import Counted, Observed, TaskLife
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.log_findings import ENDED, state_from_verb
from agentco_tui.model import Activity, Ref, Severity, TaskState
from agentco_tui.reading.field_names import phrase
from agentco_tui.text import SafeText, clean_line

_MINUTE: Final = 60
_HOUR: Final = 3_600
_LONGEST_KIND: Final = 60  # cells
_LONGEST_ID: Final = 80  # cells of an id that stands in for a name
_DECISIONS: Final = (TaskState.APPROVED, TaskState.REJECTED)


class EntryKind(NamedTuple):
    """What entries have in common that are counted together."""

    agent: str | None  # the id
    verb: str  # in words
    severity: Severity


class LogCounts:
    """Counts the entries that are held of a log, by minute, as they come and go."""

    def __init__(self) -> None:
        self._minute_of = dict[str, tuple[int, EntryKind, str | None]]()  # by the entry's id
        self._counts = defaultdict[int, Counter[tuple[EntryKind, str | None]]](Counter)
        """By the minute's beginning, then by kind and company."""

    def add(self, entry: Activity) -> int | None:
        """Count an entry; returns the beginning of its minute, None if it has no time."""
        self.remove(entry.id)
        if entry.at is None or is_gap(entry):
            return None
        minute = int(entry.at.at) // _MINUTE * _MINUTE
        kind = kind_of(entry)
        company = _id(entry.company)
        self._minute_of[entry.id] = (minute, kind, company)
        self._counts[minute][kind, company] += 1
        return minute

    def remove(self, entry_id: str) -> None:
        """Forget an entry that is held no longer."""
        known = self._minute_of.pop(entry_id, None)
        if known is None:
            return
        minute, kind, company = known
        counter = self._counts[minute]
        counter[kind, company] -= 1
        if not counter[kind, company]:
            del counter[kind, company]
        if not counter:
            del self._counts[minute]

    def minutes_of_hour(self, minute: int) -> list[int]:
        """All minutes with entries in the hour of one."""
        begin = minute // _HOUR * _HOUR
        return [at for at in range(begin, begin + _HOUR, _MINUTE) if at in self._counts]

    def counted(self, minutes: Iterable[int]) -> list[Counted]:
        """The counts of these minutes, each with all entries that are held."""
        return [
            Counted(float(minute), kind.agent, company, kind.verb, kind.severity, number)
            for minute in minutes
            if minute in self._counts
            for (kind, company), number in self._counts[minute].items()
        ]

    def clear(self) -> None:
        self._minute_of.clear()
        self._counts.clear()


def observe_log(entries: Sequence[Activity]) -> Observed:
    """What these entries say: their counts by minute, and the lives of the tasks they name."""
    counts = LogCounts()
    minutes = dict.fromkeys(minute for minute in map(counts.add, entries) if minute is not None)
    lives = [life for life in map(life_from_log, entries) if life is not None]
    return Observed(counts=counts.counted(minutes), lives=lives)


def kind_of(entry: Activity) -> EntryKind:
    """What an entry is counted as."""
    verb = clean_line(phrase(entry.verb), _LONGEST_KIND) if entry.verb else ""
    return EntryKind(_id(entry.agent), verb, entry.severity)


def life_from_log(entry: Activity) -> TaskLife | None:
    """What an entry says of the task that it names; None if it says nothing."""
    task = _id(entry.task)
    state = state_from_verb(entry.verb or "")
    if task is None or state is None or entry.task is None or entry.at is None:
        return None
    at = entry.at.at
    is_decision = state in _DECISIONS
    decided_by: SafeText | None = None
    if is_decision and entry.actor is not None:
        decided_by = entry.actor.name or clean_line(entry.actor.id, _LONGEST_ID)
    return TaskLife(
        id=task,
        title=entry.task.name or SafeText(""),
        agent=_id(entry.agent),
        company=_id(entry.company),
        first_seen=at,
        decided=at if is_decision else None,
        decided_by=decided_by,
        ended=at if state in ENDED else None,
        state=state,
    )


def _id(ref: Ref | None) -> str | None:
    return None if ref is None else ref.id
