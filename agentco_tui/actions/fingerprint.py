"""How two readings of a task differ, in what matters for a decision."""

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
from agentco_tui.text import SafeText, escaped, plain, safe, signs

_EXCERPT = 200  # characters that are shown of a text that changed
_CONTEXT = 40  # of these, characters before the first that differs
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
        return plain(f"{self.field} was “{self.was}”, is “{self.is_}”")


def differences(shown: Task, now: Task) -> tuple[Difference, ...]:
    """Return everything in which `now` differs from what was shown: our fields first, then the
    platform's by name.

    Volatile fields (`content.VOLATILE`) are not compared. If the contents differ there is at least
    one difference: a change in a part that isn't kept is reported as such.
    """
    changes = [("id", _id_words(shown), _id_words(now))]
    changes += _changed_refs(shown, now)
    changes += _changed_fields(shown, now)
    found = {
        name: Difference(name, *_excerpts(was, is_)) for name, was, is_ in changes if was != is_
    }
    if shown.content != now.content or shown.extra != now.extra:
        folded_names = {fold(name) for name in found}
        for name, was, is_ in _changed_leaves(_kept(shown), _kept(now)):
            if fold(name) not in folded_names:
                label = safe(name)
                found.setdefault(label, Difference(label, *_excerpts(was, is_)))
    if not found and shown.content != now.content:
        label = plain("a part that is not shown here")
        found[label] = Difference(label, plain("as read"), plain("changed"))
    return tuple(found.values())


_Change = tuple[str, str, str]
"""A field, with its old and its new value in words."""


def _id_words(task: Task) -> str:
    return f"{task.sent_id}, of {task.sharers} tasks" if task.shared_id else task.id


def _changed_refs(shown: Task, now: Task) -> Iterator[_Change]:
    """Yield whether the agent and the company are others; also if only their ids differ."""
    is_same_content = shown.content == now.content
    for field in ("agent", "company"):
        old: Ref | None = getattr(shown, field)
        new: Ref | None = getattr(now, field)
        old_id, old_name = (old.id, old.name) if old is not None else (None, None)
        new_id, new_name = (new.id, new.name) if new is not None else (None, None)
        has_same_id = old_id is not None and old_id == new_id
        # A name that is looked up later changes nothing; one that was sent with the task does.
        if has_same_id and (old_name is None or new_name is None or is_same_content):
            continue
        was = _ref_words(old)
        is_ = _ref_words(new)
        if not has_same_id and was == is_ and (old or Ref()) != (new or Ref()):
            yield field, _with_id(was, old_id), _with_id(is_, new_id)
        else:
            yield field, was, is_


def _ref_words(ref: Ref | None) -> str:
    if ref is None:
        return str(signs.missing)
    return ref.name or ref.id or ""


def _with_id(name: str, record_id: str | None) -> str:
    return f"{name} ({record_id})" if record_id else name


def _changed_fields(shown: Task, now: Task) -> Iterator[_Change]:
    """Yield our other fields that differ."""
    for field in _FIELDS:
        before = getattr(shown, field)
        after = getattr(now, field)
        if before == after:
            continue
        label = "waits since" if field == "waiting_since" else field.replace("_", " ")
        was = _value(_ABSENT if before is None else before)
        is_ = _value(_ABSENT if after is None else after)
        if was == is_:
            # Two times or sums may be written the same and still differ.
            yield label, str(before), str(after)
        else:
            yield label, was, is_


_FIELDS = (
    *("title", "status", "priority", "description", "cost", "created", "waiting_since", "expires"),
    *("decided", "decided_by", "trust", "needs_approval", "state"),
)


def _kept(task: Task) -> Any:
    fields = {name: each for name, each in extra_fields(task.extra).items() if name != CUT}
    return without_volatile(fields)


def _changed_leaves(before: Any, after: Any) -> Iterator[tuple[str, str, str]]:
    """Yield name, old and new of every value that differs; nested names are joined by dots."""
    todo = [("", before, after)]
    seen = 0
    while todo:
        name, was, is_ = todo.pop()
        seen += 1
        if was is is_ or seen > _MOST_NESTED:
            continue
        old, new = _parts(was), _parts(is_)
        if old is None or new is None or (name and not (old and new)):
            if type(was) is not type(is_) or was != is_ or str(was) != str(is_):
                yield name, _value(was), _value(is_)
            continue
        names = [*old, *(key for key in new if key not in old)]
        todo += [
            (f"{name}.{key}" if name else key, old.get(key, _ABSENT), new.get(key, _ABSENT))
            for key in reversed(names)
        ]


_ABSENT = object()


def _parts(value: Any) -> dict[str, Any] | None:
    if type(value) is list:
        return {str(number): each for number, each in enumerate(value, start=1)}
    return value if type(value) is dict else None


def _value(value: Any) -> str:
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


def _excerpts(was: str, is_: str) -> tuple[SafeText, SafeText]:
    """Return both texts; of long ones the part around the first difference. If they look the same,
    invisible characters are written out.
    """
    start = 0
    if max(len(was), len(is_)) > _EXCERPT:
        same = next(
            (at for at, (one, other) in enumerate(zip(was, is_, strict=False)) if one != other),
            min(len(was), len(is_)),
        )
        start = max(0, same - _CONTEXT)
    cut = [
        f"{'…' if start else ''}{text[start : start + _EXCERPT]}"
        f"{'…' if len(text) > start + _EXCERPT else ''}"
        for text in (was, is_)
    ]
    shown = safe(cut[0]), safe(cut[1])
    return shown if shown[0] != shown[1] else (escaped(cut[0]), escaped(cut[1]))
