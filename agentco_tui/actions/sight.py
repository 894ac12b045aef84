"""What a read shows of one task: that it waits, that it doesn't, or nothing certain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from agentco_tui.actions.task_reader import Picture, TaskReader
from agentco_tui.api.errors import ApiError, Invalid, NotFound
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model.records import Ref, SharedTask, Task
from agentco_tui.text import SafeText, plain


class Look(StrEnum):
    """The four things a read can say about whether a task waits."""

    WAITS = "waits"
    DECIDED = "decided"
    """The list has it, and it says itself that it is past waiting: the filter was ignored."""
    ABSENT = "absent"
    """The whole pending list was read, and it isn't there."""
    BLIND = "blind"
    """The read failed, or the list is not whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What one read shows of one task."""

    look: Look
    began: float
    """Steady clock: when the read began."""
    task: Task | None = None
    error: ApiError | None = None
    why: SafeText | None = None
    """Why nothing can be seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The task that is looked for."""

    task_id: str
    scope: str | None
    """The company whose list it stood in; None for the list of all companies."""
    company: Ref | None = None

    @property
    def narrower(self) -> str | None:
        """A company to ask about where the list of all is not whole."""
        known = None if self.company is None else self.company.id
        return known if known != self.scope else None


def sight_in(picture: Picture, task_id: str) -> Sight:
    """What a read of the pending list shows of a task."""
    if picture.error is not None:
        return Sight(
            look=Look.BLIND, began=picture.began, error=picture.error, why=picture.error.sentence
        )
    task = picture.tasks.get(task_id)
    if isinstance(task, SharedTask):
        return Sight(look=Look.BLIND, began=picture.began, why=task.refusal)
    if task is not None:
        look = Look.WAITS if waits_for_person(task) else Look.DECIDED
        return Sight(look=look, began=picture.began, task=task)
    if picture.whole:
        return Sight(look=Look.ABSENT, began=picture.began)
    words = "the platform's list of pending tasks came only in part, and it isn't in that part"
    if picture.blank:
        words = "the platform answered with nothing where its list of pending tasks was due"
    return Sight(look=Look.BLIND, began=picture.began, why=plain(words))


async def sight_of(
    reader: TaskReader, subject: Subject, spacing: float = 0.0, first: Picture | None = None
) -> Sight:
    """What a read that begins now shows of a task; `first` is one that was just made.

    A list of all companies that is not whole, or that the platform doesn't give, is followed by the
    list of the task's own company, and then by the list of all tasks.
    """
    picture = first or await reader.pending(subject.scope, spacing)
    seen = sight_in(picture, subject.task_id)
    ungiven = seen.error is None or isinstance(seen.error, Invalid | NotFound)
    if seen.look is Look.BLIND and ungiven and subject.narrower is not None:
        seen = sight_in(await reader.pending(subject.narrower, spacing), subject.task_id)
    if seen.look is Look.BLIND and seen.error is None:
        record = await record_of(reader, subject, spacing)
        if record.task is not None:
            look = Look.WAITS if waits_for_person(record.task) else Look.DECIDED
            return replace(seen, look=look, task=record.task, why=None)
    return seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What the list of all tasks shows of one that no longer waits."""

    task: Task | None
    sure: bool
    """With no task: whether the list of all companies was read whole, so that the platform has it
    in no list."""
    error: ApiError | None = None


async def record_of(reader: TaskReader, subject: Subject, spacing: float = 0.0) -> Record:
    """Look for a task in the list of all tasks, whatever their status."""
    picture = await reader.every(subject.scope, spacing)
    task, of_all = picture.tasks.get(subject.task_id), True
    if task is None and not picture.whole and picture.error is None and subject.narrower:
        picture, of_all = await reader.every(subject.narrower, spacing), False
    elif task is None and picture.whole and subject.scope is not None:
        # It may have moved to another company.
        picture = await reader.every(None, spacing)
    task = picture.tasks.get(subject.task_id)
    if isinstance(task, SharedTask):
        return Record(task=None, sure=False)  # which of them is meant can't be told
    return Record(task=task, sure=of_all and picture.whole, error=picture.error)
