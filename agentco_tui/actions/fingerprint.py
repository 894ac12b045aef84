"""Compares a task as the user saw it with the task as it is now, field by field.

A user approves exactly what was on the screen. Before an approval is sent, the task is read again,
and `differences` must return nothing. The platform is the remote service that has the AI agents and
their tasks; "our" fields are those of `Task` that the program knows. `Task.content` is a digest of
all that the platform sent of the task, without volatile fields such as counters; `Task.extra` has
the fields that the program does not know, as JSON. The differences are also what the user is shown
if the task has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import msgspec

from agentco_tui.model import Moment, Money, Ref, Task, extra_fields
from agentco_tui.model import format as fmt
from agentco_tui.reading.content import without_volatile
from agentco_tui.reading.field_names import fold
from agentco_tui.reading.unknown_fields import CUT
from agentco_tui.text import SafeText, clean_line, escaped, mark_safe, signs

_EXCERPT = 200  # characters that are shown of a text that changed
_CONTEXT = 40  # characters of an excerpt before the first that differs
_MOST_NESTED = 20_000
"""Values compared one by one; beyond that the digest alone says that something changed."""


class Difference(msgspec.Struct, frozen=True):
    """A field that differs from what was shown."""

    field: str
    """Our name for it, else the platform's: "title", "payload.lines.2.amount"; safe to show."""
    was: SafeText
    is_: SafeText

    @property
    def sentence(self) -> SafeText:
        """The difference in words, such as: priority was “high”, is “urgent”."""
        return mark_safe(f"{self.field} was “{self.was}”, is “{self.is_}”")


def differences(shown: Task, now: Task) -> tuple[Difference, ...]:
    """Return everything in which `now` differs from what was shown: our fields first, then the
    platform's by name.

    Volatile fields (`content.VOLATILE`) are not compared. If the contents differ there is at least
    one difference: a change in a part that isn't kept is reported as such.
    """
    changes = [("id", _id_words(shown), _id_words(now))]
    changes += _changed_refs(shown, now)
    changes += _changed_fields(shown, now)
    by_field: dict[str, Difference] = {}
    for name, was, is_ in changes:
        if was != is_:
            by_field[name] = Difference(name, *_both_excerpts(was, is_))
    if shown.content != now.content or shown.extra != now.extra:
        known_names = {fold(name) for name in by_field}
        for name, was, is_ in _changed_leaves(_unknown_fields(shown), _unknown_fields(now)):
            if fold(name) not in known_names:
                label = clean_line(name)
                by_field.setdefault(label, Difference(label, *_both_excerpts(was, is_)))
    if not by_field and shown.content != now.content:
        label = mark_safe("a part that is not shown here")
        by_field[label] = Difference(label, mark_safe("as read"), mark_safe("changed"))
    return tuple(by_field.values())


_Change = tuple[str, str, str]
"""A field, with its old and its new value in words."""


def _id_words(task: Task) -> str:
    if task.shared_id:
        return f"{task.sent_id}, of {task.sharers} tasks"
    return task.id


def _changed_refs(shown: Task, now: Task) -> Iterator[_Change]:
    """Yield whether the agent and the company are others; also if only their ids differ."""
    is_same_content = shown.content == now.content
    for field in ("agent", "company"):
        old: Ref | None = getattr(shown, field)
        new: Ref | None = getattr(now, field)
        old_ref = old or Ref()
        new_ref = new or Ref()
        has_same_id = old_ref.id is not None and old_ref.id == new_ref.id
        lacks_name = old_ref.name is None or new_ref.name is None
        # A name that is looked up later changes nothing; one that was sent with the task does.
        if has_same_id and (lacks_name or is_same_content):
            continue
        was = _ref_words(old)
        is_ = _ref_words(new)
        if not has_same_id and was == is_ and old_ref != new_ref:
            yield field, _with_id(was, old_ref.id), _with_id(is_, new_ref.id)
        else:
            yield field, was, is_


def _ref_words(ref: Ref | None) -> str:
    if ref is None:
        return str(signs.missing)
    return ref.name or ref.id or ""


def _with_id(name: str, record_id: str | None) -> str:
    if not record_id:
        return name
    return f"{name} ({record_id})"


def _changed_fields(shown: Task, now: Task) -> Iterator[_Change]:
    """Yield our other fields that differ."""
    for field in _FIELDS:
        before = getattr(shown, field)
        after = getattr(now, field)
        if before == after:
            continue
        label = field.replace("_", " ")
        if field == "waiting_since":
            label = "waits since"
        was = _field_words(before)
        is_ = _field_words(after)
        if was == is_:
            # Two times or sums may be written the same and still differ.
            yield label, str(before), str(after)
        else:
            yield label, was, is_


_FIELDS = (
    *("title", "key", "kind", "status", "priority", "description", "cost"),
    *("created", "waiting_since", "expires", "decided", "decided_by"),
    *("trust", "needs_approval", "state"),
)


def _field_words(value: Any) -> str:
    """Return the value of one of our fields in words; None is one that was not sent."""
    if value is None:
        return str(signs.missing)
    return _value_words(value)


def _unknown_fields(task: Task) -> Any:
    """Return the fields that the program does not know, except volatile ones."""
    fields = extra_fields(task.extra)
    return without_volatile({name: value for name, value in fields.items() if name != CUT})


def _changed_leaves(before: Any, after: Any) -> Iterator[tuple[str, str, str]]:
    """Yield name, old and new of every value that differs; nested names are joined by dots."""
    to_compare = [("", before, after)]
    compared = 0
    while to_compare:
        name, was, is_ = to_compare.pop()
        compared += 1
        if was is is_ or compared > _MOST_NESTED:
            continue
        old = _parts_by_name(was)
        new = _parts_by_name(is_)
        has_empty_part = bool(name) and not (old and new)
        if old is None or new is None or has_empty_part:
            if type(was) is not type(is_) or was != is_ or str(was) != str(is_):
                yield name, _value_words(was), _value_words(is_)
            continue
        prefix = f"{name}." if name else ""
        keys = [*old, *(key for key in new if key not in old)]
        # The last pair is compared first, so the keys are added in reverse.
        for key in reversed(keys):
            pair = old.get(key, _ABSENT), new.get(key, _ABSENT)
            to_compare.append((f"{prefix}{key}", *pair))


_ABSENT = object()
"""In place of a value that is not there."""


def _parts_by_name(value: Any) -> dict[str, Any] | None:
    """Return the parts of an object or a list by name or number; None for any other value."""
    if type(value) is list:
        return {str(number): part for number, part in enumerate(value, start=1)}
    if type(value) is dict:
        return value
    return None


def _value_words(value: Any) -> str:
    """Return a value in words."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "yes" if value else "no"
        case str():
            return value or "an empty text"
        case int() | Decimal():
            return str(value)
        case Money():
            return fmt.money(value)
        case Moment():
            return fmt.moment(value, full=True)
    if value is _ABSENT:
        return str(signs.missing)
    return msgspec.json.Encoder(decimal_format="number").encode(value).decode()


def _both_excerpts(was: str, is_: str) -> tuple[SafeText, SafeText]:
    """Return both texts; of long ones the part around the first difference. If they look the same,
    invisible characters are written out.
    """
    start = 0
    if max(len(was), len(is_)) > _EXCERPT:
        shared_length = _shared_length(was, is_)
        start = max(0, shared_length - _CONTEXT)
    old = _excerpt_from(was, start)
    new = _excerpt_from(is_, start)
    if clean_line(old) == clean_line(new):
        return escaped(old), escaped(new)
    return clean_line(old), clean_line(new)


def _shared_length(one: str, other: str) -> int:
    """Return how many characters at the beginning of two texts are the same."""
    for index, (character, other_character) in enumerate(zip(one, other, strict=False)):
        if character != other_character:
            return index
    return min(len(one), len(other))


def _excerpt_from(text: str, start: int) -> str:
    """Return `_EXCERPT` characters from `start` on, with an ellipsis where text is left out."""
    end = start + _EXCERPT
    before = "…" if start else ""
    after = "…" if len(text) > end else ""
    return f"{before}{text[start:end]}{after}"
