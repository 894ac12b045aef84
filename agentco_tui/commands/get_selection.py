"""Selects records for `agentco-tui get`: by status, agent, id or name.

Which flags apply to which records is a table here, too. A record's kind is "company", "agent",
"task", "step" (of a task's trace, the steps in which an AI agent worked on it), "budget", "alert"
or "activity". Its `status` is the word that the platform (the service that is watched) sent, and
its `state` is what that word means to this program, such as TaskState.DONE for "completed".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from agentco_tui.cli.arguments import UsageError
from agentco_tui.config import Arguments
from agentco_tui.config.validators import nearest
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import AgentState, Alert, Record, Ref, Severity, Task, TaskState
from agentco_tui.reading.values.status_word import (
    agent_state,
    alert_open,
    severity,
    snake_case,
    task_state,
)
from agentco_tui.text import clean_line

APPLIES: Final[Mapping[str, tuple[str, ...]]] = {
    "company": ("agents", "tasks", "budget", "alerts", "activity", "agent", "task"),
    "agent": ("agents", "tasks", "budget", "alerts", "activity"),
    "status": ("companies", "agents", "tasks", "budget", "alerts", "trace"),
    "filter": ("companies", "agents", "tasks", "budget", "alerts", "activity", "trace"),
    "limit": ("companies", "agents", "tasks", "budget", "alerts", "activity", "trace"),
}
"""For each flag that selects records: the words after `get` that it can be used with."""
ALL: Final = "all"
"""The status that selects every record."""
WAITING: Final = "pending"
"""The status that selects the tasks that wait for the user, whatever the platform calls it."""
_MOST_WORDS: Final = 12
"""An error message lists at most so many status words."""


def refuse_flags(arguments: Arguments) -> None:
    """Raise UsageError for a flag that can't be used with the requested records."""
    what = arguments["what"]
    for flag, allowed_with in APPLIES.items():
        if arguments.get(flag) is not None and what not in allowed_with:
            raise UsageError(
                f"--{flag} does not apply to get {what}; it applies to {', '.join(allowed_with)}"
            )


def with_status(records: Sequence[Record], kind: str, word: str) -> list[Record]:
    """The records of a kind with a status.

    The word is compared with the platform's status words, regardless of case and separators, and
    with our names of states. If no record has it, it is taken for a synonym: "finished" selects
    tasks that the platform calls "completed". Raises UsageError if it is neither.
    """
    wanted = snake_case(word)
    if wanted == ALL:
        return list(records)
    if kind == "task" and wanted == WAITING:
        return [record for record in records if _is_waiting(record)]
    selected = [record for record in records if wanted in _status_words(record)]
    if selected:
        return selected
    state_of = _STATE_OF[kind]
    state = state_of(word)
    if state is None:
        raise UsageError(_unknown_status(records, word))
    return [record for record in records if state_of(_sent_status(record)) == state]


def of_agent(records: Iterable[Record], agent_id: str) -> list[Record]:
    """The agent itself, its budget, and the records that refer to it as their agent."""
    return [
        record for record in records if record.id == agent_id or _agent_of(record).id == agent_id
    ]


def with_id_or_name(records: Iterable[Record], wanted: str) -> list[Record]:
    """The records with this id; if there are none, those with this name, in upper or lower case."""
    records = list(records)
    by_id = [record for record in records if record.id == wanted]
    if by_id:
        return by_id
    name = wanted.strip().casefold()
    return [record for record in records if _name_of(record).casefold() == name]


def unknown_id(what: str, wanted: str, records: Iterable[Record]) -> UsageError:
    """The error for an id or name that no record has; it suggests the most similar name."""
    if what not in ("company", "agent"):
        return UsageError(f"no {what} has the id {clean_line(wanted, 60)}")
    text = f"no {what} has the name or id {clean_line(wanted, 60)}"
    names = [name for name in map(_name_of, records) if name]
    if names:
        text = f"{text}; the nearest is {nearest(wanted, names)}"
    return UsageError(text)


def shared_name(wanted: str, records: Sequence[Record]) -> UsageError:
    """The error for an id or name that several records have."""
    ids = ", ".join(clean_line(record.id, 60) for record in records[:5])
    return UsageError(
        f"{len(records)} have the name {clean_line(wanted, 60)}: say which by its id ({ids})"
    )


def _name_of(record: Record) -> str:
    return getattr(record, "name", None) or ""


def _agent_of(record: Record) -> Ref:
    """The reference (id, name or both) to the record's agent; an empty one if it has none."""
    return getattr(record, "agent", None) or Ref()


def _is_waiting(record: Record) -> bool:
    return not isinstance(record, Task) or waits_for_person(record)


def _status_words(record: Record) -> set[str]:
    """The words that select a record, folded to one case and separator.

    They are the platform's status word, our state, and for an alert "open" or "closed".
    """
    words = {
        snake_case(word)
        for word in (getattr(record, "status", None), getattr(record, "state", None))
        if word
    }
    if isinstance(record, Alert):
        words.add("closed" if record.open is False else "open")
    return words


def _unknown_status(records: Iterable[Record], word: str) -> str:
    """The message for a status that no record has, with the words that records have."""
    existing_words: set[str] = set()
    for record in records:
        existing_words |= _status_words(record)
    listed = [*sorted(existing_words)[:_MOST_WORDS], ALL]
    choices = ", ".join(map(clean_line, listed))
    return f"no status {clean_line(word, 60)} is known, and no record has it; there are: {choices}"


def _sent_status(record: Record) -> str:
    return getattr(record, "status", None) or getattr(record, "state", None) or ""


def _task_state(word: str) -> object:
    state = task_state(word)
    return None if state is TaskState.OTHER else state


def _agent_state(word: str) -> object:
    state = agent_state(word)
    return None if state is AgentState.OTHER else state


def _budget_state(word: str) -> object:
    """Budgets have words for how bad it is ("exceeded") or for what became of the agent."""
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
"""For each kind of record, a function from a status word to the state that it means.

It returns None for a word that is in no table of known words.
"""
