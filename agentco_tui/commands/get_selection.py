"""Which flags apply to which kinds of `agentco-tui get`, and which records they select."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from agentco_tui.cli.arguments import UsageError
from agentco_tui.config import Given
from agentco_tui.config.validators import nearest
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import AgentState, Alert, Record, Ref, Severity, Task, TaskState
from agentco_tui.reading.values.status_word import (
    agent_state,
    alert_open,
    fold_word,
    severity,
    task_state,
)
from agentco_tui.text import safe

APPLIES: Final[Mapping[str, tuple[str, ...]]] = {
    "company": ("agents", "tasks", "budget", "alerts", "activity", "agent", "task"),
    "agent": ("agents", "tasks", "budget", "alerts", "activity"),
    "status": ("companies", "agents", "tasks", "budget", "alerts", "trace"),
    "filter": ("companies", "agents", "tasks", "budget", "alerts", "activity", "trace"),
    "limit": ("companies", "agents", "tasks", "budget", "alerts", "activity", "trace"),
}
"""For each flag that selects records, the arguments of `get` whose records have that field."""
ALL: Final = "all"
"""The status that selects every record."""
WAITING: Final = "pending"
"""The status that selects the tasks that wait for the user, whatever the platform calls it."""
_MOST_WORDS: Final = 12  # status words that an error lists


def refuse_flags(given: Given) -> None:
    """Raise UsageError if a flag was given that does not apply to what is asked for."""
    what = given["what"]
    for flag, kinds in APPLIES.items():
        if given.get(flag) is not None and what not in kinds:
            raise UsageError(
                f"--{flag} does not apply to get {what}; it applies to {', '.join(kinds)}"
            )


def with_status(records: Sequence[Record], kind: str, word: str) -> list[Record]:
    """The records of a kind with that status.

    A word selects the records whose own status word it is, in any case and spelling of separators,
    and those whose state it names. If there is none, it selects those of the state that the word
    stands for, so that "finished" finds what the platform calls "completed". Raises UsageError for
    a word that no record has and that stands for no state.
    """
    wanted = fold_word(word)
    if wanted == ALL:
        return list(records)
    if kind == "task" and wanted == WAITING:
        return [record for record in records if _waits(record)]
    selected = [record for record in records if wanted in _status_words(record)]
    if selected:
        return selected
    state_of = _STATE_OF[kind]
    state = state_of(word)
    if state is None:
        raise UsageError(_unknown_status(records, word))
    return [record for record in records if state_of(_sent_status(record)) == state]


def of_agent(records: Iterable[Record], agent_id: str) -> list[Record]:
    """The records of an agent: the agent itself, its budget, and what names it as its agent."""
    return [
        record for record in records if record.id == agent_id or _agent_of(record).id == agent_id
    ]


def with_id_or_name(records: Iterable[Record], wanted: str) -> list[Record]:
    """The records with that id, else those with that name in any case."""
    records = list(records)
    by_id = [record for record in records if record.id == wanted]
    if by_id:
        return by_id
    name = wanted.strip().casefold()
    return [record for record in records if _name_of(record).casefold() == name]


def unknown_id(what: str, wanted: str, records: Iterable[Record]) -> UsageError:
    """The error that no record that was read has this id or name; names the nearest."""
    names = [name for name in map(_name_of, records) if name]
    named_by = "name or id" if what in ("company", "agent") else "id"
    text = f"no {what} has the {named_by} {safe(wanted, 60)}"
    if names and what in ("company", "agent"):
        text += f"; the nearest is {nearest(wanted, names)}"
    return UsageError(text)


def shared_name(wanted: str, records: Sequence[Record]) -> UsageError:
    """The error that several records have this id or name."""
    ids = ", ".join(safe(record.id, 60) for record in records[:5])
    return UsageError(
        f"{len(records)} have the name {safe(wanted, 60)}: say which by its id ({ids})"
    )


def _name_of(record: Record) -> str:
    return getattr(record, "name", None) or ""


def _agent_of(record: Record) -> Ref:
    return getattr(record, "agent", None) or Ref()


def _waits(record: Record) -> bool:
    return not isinstance(record, Task) or waits_for_person(record)


def _status_words(record: Record) -> set[str]:
    """The folded words that select a record: its status, its state, and of an alert "open"."""
    sent = getattr(record, "status", None), getattr(record, "state", None)
    words = {fold_word(word) for word in sent if word}
    if isinstance(record, Alert):
        words.add("closed" if record.open is False else "open")
    return words


def _unknown_status(records: Iterable[Record], word: str) -> str:
    seen = sorted({each for record in records for each in _status_words(record)})
    words = ", ".join(map(safe, [*seen[:_MOST_WORDS], ALL]))
    return f"no status {safe(word, 60)} is known, and no record has it; there are: {words}"


def _sent_status(record: Record) -> str:
    return getattr(record, "status", None) or getattr(record, "state", None) or ""


def _task_state(word: str) -> object:
    state = task_state(word)
    return None if state is TaskState.OTHER else state


def _agent_state(word: str) -> object:
    state = agent_state(word)
    return None if state is AgentState.OTHER else state


def _budget_state(word: str) -> object:
    level = severity(word)
    return _agent_state(word) if level is Severity.UNKNOWN else level


_STATE_OF: Final[Mapping[str, Callable[[str], object]]] = {
    "task": _task_state,
    "step": _task_state,
    "agent": _agent_state,
    "company": _agent_state,
    "budget": _budget_state,
    "alert": alert_open,
}
"""What a status word of each kind stands for; None if no platform is known to use the word."""
