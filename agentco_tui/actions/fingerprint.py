"""What of a task matters for a decision, and how two readings of it differ."""

from __future__ import annotations

import hashlib

import msgspec

from agentco_tui.api.records import Ref, Task
from agentco_tui.text import SafeText, plain, safe, signs

FIELDS = ("title", "agent", "company", "priority", "status")


class Difference(msgspec.Struct, frozen=True):
    """A field that is not as it was shown."""

    field: str
    """One of `FIELDS`."""
    was: SafeText
    is_: SafeText

    @property
    def sentence(self) -> SafeText:
        """Such as: priority was “high”, is “urgent”."""
        return plain(f"{self.field} was “{self.was}”, is “{self.is_}”")


def fingerprint(task: Task) -> str:
    """A short digest of the fields that matter; equal for records that read the same.

    A reference counts by its id where it has one, so that a name that is looked up later changes
    nothing.
    """
    digest = hashlib.sha256()
    for value in (
        task.title,
        _identity(task.agent),
        _identity(task.company),
        task.priority,
        task.status,
    ):
        told = b"-" if value is None else b"+" + value.encode("utf-8", "surrogatepass")
        digest.update(len(told).to_bytes(8, "big") + told)
    return digest.hexdigest()[:32]


def differences(shown: Task, now: Task) -> tuple[Difference, ...]:
    """The fields in which `now` is not what was shown, in the order of `FIELDS`."""
    found: list[Difference] = []
    for name, was, is_ in (
        ("title", shown.title, now.title),
        ("priority", shown.priority, now.priority),
        ("status", shown.status, now.status),
    ):
        if was != is_:
            found.append(Difference(name, _words(was), _words(is_)))
    for name, before, after in (
        ("agent", shown.agent, now.agent),
        ("company", shown.company, now.company),
    ):
        if not _same(before, after):
            found.append(Difference(name, *_told_apart(before, after)))
    found.sort(key=lambda difference: FIELDS.index(difference.field))
    return tuple(found)


def _identity(ref: Ref | None) -> str | None:
    return None if ref is None else ref.id if ref.id is not None else ref.name


def _same(before: Ref | None, after: Ref | None) -> bool:
    """Whether two references name one record: by id, else by name."""
    if before is None or after is None:
        return before is after
    if before.id is not None and after.id is not None:
        return before.id == after.id
    return (before.id, before.name) == (after.id, after.name)


def _words(text: SafeText | None) -> SafeText:
    return signs.missing if text is None else text


def _told_apart(before: Ref | None, after: Ref | None) -> tuple[SafeText, SafeText]:
    """Both names, with the ids where the names alone look the same."""
    was, is_ = _name(before), _name(after)
    if was == is_:
        was, is_ = _with_id(was, before), _with_id(is_, after)
    return was, is_


def _name(ref: Ref | None) -> SafeText:
    return signs.missing if ref is None else ref.name or safe(ref.id)


def _with_id(name: SafeText, ref: Ref | None) -> SafeText:
    return name if ref is None or ref.id is None else plain(f"{name} ({safe(ref.id)})")
