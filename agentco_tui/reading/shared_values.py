"""Lets records share equal values, so that each value is in memory once.

Ten thousand budgets name three companies and two periods, and a hundred thousand tasks repeat their
titles: without sharing, these copies take more than the records themselves. A record is frozen, but
nothing else has a reference to it yet when `SharedValues.share` changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from decimal import Decimal
from operator import attrgetter
from typing import Final

from msgspec.structs import force_setattr

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
_NOT_SHARED: Final = frozenset(
    (
        *("id", "content", "created", "at"),  # differ in each record
        *("state", "scope", "severity", "needs_approval", "unlimited", "share_derived", "paused"),
    )
)
"""Fields that need not be looked at."""
_FIRST_MOMENT: Final = "created"
_LATER_MOMENTS: Final = frozenset(("updated", "waiting_since", "last_seen"))
"""Moments that are mostly those of the creation as long as nothing has happened."""


class SharedValues:
    """The values of the records of one list; each is its own key."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[Hashable, Hashable] = {}

    def share(self, record: Record, of_reading: dict[Hashable, Hashable]) -> None:
        """Replace values of a new record by equal ones of the records before it.

        `of_reading` are values of the records of one reading, such as titles and sums. They are
        kept no longer than that: most are of a single record.
        """
        names, read_all = _fields_of(type(record))
        for name, value in zip(names, read_all(record), strict=True):
            if value is None or type(value) not in _TYPES:
                continue
            kept = value
            if name in _LATER_MOMENTS:
                first = getattr(record, _FIRST_MOMENT, None)
                kept = first if value == first else value
            elif not isinstance(value, _SIZED) or len(value) <= _LONGEST:
                is_of_many = name in _OF_MANY
                values = self._kept if is_of_many else of_reading
                kept = values.setdefault(value, value)
            if kept is not value:
                force_setattr(record, name, kept)
        if len(self._kept) > _MOST_KEPT:
            self._kept.clear()


@memoized(32)
def _fields_of(
    kind: type[Record],
) -> tuple[tuple[str, ...], Callable[[Record], tuple[object, ...]]]:
    """The names of the fields that may be shared, and what reads them all from a record."""
    names = tuple(name for name in kind.__struct_fields__ if name not in _NOT_SHARED)
    return names, attrgetter(*names)
