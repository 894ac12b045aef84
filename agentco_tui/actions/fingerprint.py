"""What of a task matters for a decision, and how two readings of it differ."""

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

_MOST = 200  # characters of a text that tell how it changed
_BEFORE = 40  # of these, so many before the first that differs
_MOST_NESTED = 20_000
"""Values compared one by one; beyond that the digest alone says that something changed."""


class Difference(msgspec.Struct, frozen=True):
    """A field that is not as it was shown."""

    field: str
    """Our name for it, else the platform's: "title", "payload.lines.2.amount"; safe to show."""
    was: SafeText
    is_: SafeText

    @property
    def sentence(self) -> SafeText:
        """Such as: priority was “high”, is “urgent”."""
        return plain(f"{self.field} was “{self.was}”, is “{self.is_}”")


def differences(shown: Task, now: Task) -> tuple[Difference, ...]:
    """All in which `now` is not what was shown: our fields first, then the platform's by name.

    Nothing that is volatile (`content.VOLATILE`) is among them. There is at least one if the
    contents differ: what changed in a part that isn't kept is told as such.
    """
    ids = [
        f"{task.sent_id}, of {task.sharers} tasks" if task.shared_id else task.id
        for task in (shown, now)
    ]
    told = [("id", *ids)]
    for field in ("agent", "company"):
        refs: list[Ref | None] = [getattr(shown, field), getattr(now, field)]
        names = [str(signs.missing) if ref is None else ref.name or ref.id or "" for ref in refs]
        old, new = (ref or Ref() for ref in refs)
        if old.id == new.id is not None:
            # A name that is looked up later changes nothing; one that was sent with it does.
            if None in (old.name, new.name) or shown.content == now.content:
                continue
        elif names[0] == names[1] and old != new:
            names = [
                f"{name} ({ref.id})" if ref and ref.id else name
                for name, ref in zip(names, refs, strict=True)
            ]
        told.append((field, names[0], names[1]))
    for slot in _SLOTS:
        before, after = getattr(shown, slot), getattr(now, slot)
        if before != after:
            label = "waits since" if slot == "waiting_since" else slot.replace("_", " ")
            words = [_value(_ABSENT if it is None else it) for it in (before, after)]
            # Two times or sums may read the same, and not be.
            told.append((label, *(words if words[0] != words[1] else (str(before), str(after)))))
    found = {name: Difference(name, *_excerpts(was, is_)) for name, was, is_ in told if was != is_}
    if shown.content != now.content or shown.extra != now.extra:
        named = {fold(name) for name in found}
        for name, was, is_ in _changed_leaves(_kept(shown), _kept(now)):
            if fold(name) not in named:
                label = safe(name)
                found.setdefault(label, Difference(label, *_excerpts(was, is_)))
    if not found and shown.content != now.content:
        label = plain("a part that is not shown here")
        found[label] = Difference(label, plain("as read"), plain("changed"))
    return tuple(found.values())


_SLOTS = (
    *("title", "status", "priority", "description", "cost", "created", "waiting_since", "expires"),
    *("decided", "decided_by", "trust", "needs_approval", "state"),
)


def _kept(task: Task) -> Any:
    fields = {name: each for name, each in extra_fields(task.extra).items() if name != CUT}
    return without_volatile(fields)


def _changed_leaves(before: Any, after: Any) -> Iterator[tuple[str, str, str]]:
    """Name, old and new of every value that differs; nested ones with dots between the names."""
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
    """Both, of long texts what is round the first difference; what can't be seen is written out."""
    start = 0
    if max(len(was), len(is_)) > _MOST:
        same = next(
            (at for at, (one, other) in enumerate(zip(was, is_, strict=False)) if one != other),
            min(len(was), len(is_)),
        )
        start = max(0, same - _BEFORE)
    cut = [
        f"{'…' if start else ''}{text[start : start + _MOST]}"
        f"{'…' if len(text) > start + _MOST else ''}"
        for text in (was, is_)
    ]
    shown = safe(cut[0]), safe(cut[1])
    return shown if shown[0] != shown[1] else (escaped(cut[0]), escaped(cut[1]))
