"""Lets records share equal values, so that each value is in memory once.

Ten thousand budgets name three companies and two periods, and a hundred thousand tasks repeat their
titles: without sharing, these copies take more than the records themselves. A record is frozen, but
nothing else has a reference to it yet when `SharedValues.share` changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from msgspec.structs import force_setattr

from agentco_tui.model import Money, Record
from agentco_tui.text.memoized import memoized

_MOST_KEPT: Final = 50_000
"""How many values are kept; beyond it they are dropped and collected again."""
_LONGEST: Final = 200
"""Characters or bytes of the longest text that is shared."""
_WORDS: Final = (
    *("agent", "company", "actor", "priority", "status", "decided_by", "title_from", "id_doubt"),
    *("role", "model", "template", "period", "period_start", "resets", "kind", "reports_to"),
)
"""Fields whose values many records have in common."""
_SUMS: Final = ("cost", "estimate", "trust", "limit", "warn_at", "budget_remaining")
"""The same, of sums and numbers: equal ones may be written differently."""
TEXTS: Final = ("title", "description", "text", "name", "mission", "extra")
"""Fields that are long in some records, and those of a single record in most."""
_FIRST_MOMENT: Final = "created"
_LATER_MOMENTS: Final = ("updated", "waiting_since", "last_seen")
"""Moments that are mostly those of the creation as long as nothing has happened."""


class SharedValues:
    """The values of the records of one list; each is its own key."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[Hashable, Any] = {}

    def share(self, record: Record, of_reading: dict[Hashable, Any]) -> None:
        """Replace values of a new record by equal ones of the records before it.

        `of_reading` are the texts of the records of one reading. They are kept no longer than that:
        most are of a single record.
        """
        shared = _shared_fields(type(record))
        known = self._kept.setdefault
        for name, value in zip(shared.words, shared.read_words(record), strict=True):
            kept = value if value is None else known(value, value)
            if kept is not value:
                force_setattr(record, name, kept)
        for name, value in zip(shared.sums, shared.read_sums(record), strict=True):
            kept = value if value is None else known(value, value)
            if kept is not value and _is_written_alike(kept, value):
                force_setattr(record, name, kept)
        for name, value in zip(shared.texts, shared.read_texts(record), strict=True):
            if value and len(value) <= _LONGEST:
                kept = of_reading.setdefault(value, value)
                if kept is not value:
                    force_setattr(record, name, kept)
        for name in shared.later_moments:
            if getattr(record, name) == getattr(record, _FIRST_MOMENT):
                force_setattr(record, name, getattr(record, _FIRST_MOMENT))
        if len(self._kept) > _MOST_KEPT:
            self._kept.clear()


def _is_written_alike(one: Any, other: Any) -> bool:
    """Whether two equal sums have the same text: 1.5 and 1.50 are equal."""
    if isinstance(one, Money):
        return str(one.amount) == str(other.amount)
    return str(one) == str(other)


class _SharedFields(NamedTuple):
    """The fields of a type of record that may be shared, and what reads them all at once."""

    words: tuple[str, ...]
    read_words: Callable[[Record], tuple[Any, ...]]
    sums: tuple[str, ...]
    read_sums: Callable[[Record], tuple[Any, ...]]
    texts: tuple[str, ...]
    read_texts: Callable[[Record], tuple[Any, ...]]
    later_moments: tuple[str, ...]


@memoized(32)
def _shared_fields(kind: type[Record]) -> _SharedFields:
    def among(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in kind.__struct_fields__)

    words = among(_WORDS)
    sums = among(_SUMS)
    texts = among(TEXTS)
    later_moments = among(_LATER_MOMENTS)
    return _SharedFields(
        words, _reader(words), sums, _reader(sums), texts, _reader(texts), later_moments
    )


def _reader(names: tuple[str, ...]) -> Callable[[Record], tuple[Any, ...]]:
    """Returns what reads these attributes as a tuple, also of one name or none."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)
