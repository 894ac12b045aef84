"""The records of a long list, known again by what was sent for each.

Only a hash of the bytes of each record is kept, eight bytes in an array, in the order of the
records: lists mostly come in the same order as the last time. Where one does not, the place is
found by the record's id if it is near, else by an index that is made for this reading only.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec

from agentco_tui.model.records import Moment, Record

R = TypeVar("R", bound=Record)

_NEAR: Final = 256
"""Records looked at to find where the order goes on."""
_STRAYS: Final = 512
"""Records found nowhere near after which an index is made."""
_MOST_SHARED: Final = 50_000
"""Values kept to be shared; beyond that it begins anew."""
_LONGEST_SHARED: Final = 100
"""Characters or bytes."""
_SHARED: Final = (
    *("agent", "company", "priority", "status", "cost", "trust", "decided_by", "extra"),
    *("role", "model", "template", "budget_remaining", "actor", "severity"),
)
"""Fields whose values many records have in common."""
_MOMENTS: Final = ("created", "waiting_since", "updated", "decided", "last_seen")


class Memo(Generic[R]):
    """The records of a list as it was read last, and a hash of what was sent for each."""

    def __init__(
        self,
        marks: array[int] | None = None,
        records: Sequence[R] = (),
        pool: dict[Any, Any] | None = None,
    ) -> None:
        self.marks = array("q") if marks is None else marks
        self.records = records
        """As long as `marks`."""
        self.pool: dict[Any, Any] = {} if pool is None else pool

    def shared(self, record: R) -> R:
        """The record, with values that others have too replaced by theirs."""
        pool = self.pool
        for name in _SHARED:
            value = getattr(record, name, None)
            if value is None or (type(value) in (str, bytes) and len(value) > _LONGEST_SHARED):
                continue
            known = pool.get(value)
            if known is None:
                if len(pool) >= _MOST_SHARED:
                    pool.clear()
                pool[value] = value
            elif known is not value:
                msgspec.structs.force_setattr(record, name, known)
        first: Moment | None = None
        for name in _MOMENTS:
            at = getattr(record, name, None)
            if at is None or at is first:
                continue
            if first is None:
                first = at
            elif at == first:
                msgspec.structs.force_setattr(record, name, first)
        return record


class Recall(Generic[R]):
    """One walk through a memo, beside a list that is being read."""

    def __init__(self, memo: Memo[R]) -> None:
        self._marks, self._records = memo.marks, memo.records
        self._at = 0
        self._strays = 0
        self._index: dict[int, int] | None = None

    @property
    def went_back(self) -> bool:
        """True if a record may have been recalled twice."""
        return self._index is not None

    def run(self, marks: array[int]) -> Sequence[R] | None:
        """The records with these marks, if they are just the next ones."""
        at, end = self._at, self._at + len(marks)
        if self._marks[at:end] != marks:
            return None
        self._at = end
        return self._records[at:end]

    def by_mark(self, mark: int) -> R | None:
        """The record with this mark, if it is the next one or there is an index."""
        at = self._at
        if not (at < len(self._marks) and self._marks[at] == mark):
            if self._index is None or (found := self._index.get(mark)) is None:
                return None
            at = found
        self._at = at + 1
        return self._records[at]

    def instead(self, record: R, mark: int) -> R:
        """For a record that had to be read: the one kept, if it is the same; and go on behind it.

        A record that changed is found in its place by its id.
        """
        at, wanted = self._at, record.id
        for near in range(at, min(at + _NEAR, len(self._records))):
            if self._records[near].id == wanted:
                self._at = near + 1
                return self._records[near] if self._marks[near] == mark else record
        self._strays += 1
        if self._strays > _STRAYS and self._index is None:
            self._index = {each: place for place, each in enumerate(self._marks)}
        return record
