"""Lets records share equal values, so that each value is in memory once.

Ten thousand budgets name three companies and two periods, and a hundred thousand tasks repeat their
titles: without sharing, these copies take more than the records themselves. A record is frozen, but
nothing else has a reference to it yet when `SharedValues.share` changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from decimal import Decimal
from operator import attrgetter
from types import NoneType
from typing import Any, Final, NamedTuple, get_args

from msgspec.structs import fields, force_setattr

from agentco_tui.model import IdDoubt, Moment, Money, Record, Ref
from agentco_tui.text.memoized import memoized

_MOST_KEPT: Final = 50_000
"""How many values are kept; beyond it they are dropped and collected again."""
_LONGEST: Final = 200
"""Characters or bytes of the longest value that is shared."""
_SIZED: Final = (str, bytes)
_TYPES: Final = frozenset((str, bytes, Decimal, Money, Moment, Ref, IdDoubt))
"""Types of values that are shared.

No enums and no flags, which exist once anyway: they would equal a text or a number.
"""
_OF_MANY: Final = frozenset(
    (
        *("agent", "company", "priority", "status", "cost", "estimate", "trust", "decided_by"),
        *("role", "model", "template", "actor", "id_doubt", "title_from", "extra"),
        *("limit", "warn_at", "period", "period_start", "resets"),
    )
)
"""Fields whose values many records have in common. They are kept for the next reading."""
_OF_ONE: Final = frozenset(("id", "content", "created", "at"))
"""Fields whose values differ in each record."""
_FIRST_MOMENT: Final = "created"
_LATER_MOMENTS: Final = frozenset(("updated", "waiting_since", "last_seen"))
"""Moments that are mostly those of the creation as long as nothing has happened."""


class SharedValues:
    """The values of the records of one list; each is its own key."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[Hashable, Any] = {}

    def share(self, record: Record, of_reading: dict[Hashable, Any]) -> None:
        """Replace values of a new record by equal ones of the records before it.

        `of_reading` are values of the records of one reading, such as titles and sums. They are
        kept no longer than that: most are of a single record.
        """
        plan = _plan_of(type(record))
        for name, is_of_many, value in zip(
            plan.names, plan.are_of_many, plan.read_all(record), strict=True
        ):
            if value is None or (isinstance(value, _SIZED) and len(value) > _LONGEST):
                continue
            values = self._kept if is_of_many else of_reading
            kept = values.setdefault(value, value)
            if kept is not value and _is_written_alike(kept, value):
                force_setattr(record, name, kept)
        for name in plan.later_moments:
            value = getattr(record, name)
            first = getattr(record, _FIRST_MOMENT)
            if value is not None and value == first:
                force_setattr(record, name, first)
        if len(self._kept) > _MOST_KEPT:
            self._kept.clear()


def _is_written_alike(one: Any, other: Any) -> bool:
    """Whether two equal values have the same text: 1.5 and 1.50 are equal."""
    if isinstance(one, Money):
        return str(one.amount) == str(other.amount)
    return not isinstance(one, Decimal) or str(one) == str(other)


class _Plan(NamedTuple):
    """Which fields of a type of record are shared."""

    names: tuple[str, ...]
    are_of_many: tuple[bool, ...]
    """For each of the names, whether many records have its values in common."""
    read_all: Callable[[Record], tuple[Any, ...]]
    """Returns the values of all these fields."""
    later_moments: tuple[str, ...]


@memoized(32)
def _plan_of(kind: type[Record]) -> _Plan:
    names: list[str] = []
    for field in fields(kind):
        members = get_args(field.type) or (field.type,)
        types = {getattr(member, "__supertype__", member) for member in members} - {NoneType}
        if types <= _TYPES and field.name not in _OF_ONE | _LATER_MOMENTS:
            names.append(field.name)
    return _Plan(
        names=tuple(names),
        are_of_many=tuple(name in _OF_MANY for name in names),
        read_all=attrgetter(*names),
        later_moments=tuple(name for name in kind.__struct_fields__ if name in _LATER_MOMENTS),
    )
