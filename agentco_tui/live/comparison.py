"""What a poll changed, worked out a slice at a time.

Comparing a hundred thousand records takes a few hundred milliseconds, and nothing may hold up the
event loop for more than 50 (law 5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import Generic, TypeVar

from agentco_tui.api.records import Record
from agentco_tui.background import SLICE

R = TypeVar("R", bound=Record)

_ROWS = 200
"""Records between two looks at the time."""


class Comparison(Generic[R]):
    """Records held before against those of a listing; `before` must stay as it is meanwhile.

    Done once `slices` has come to its end: then `after` holds the listing's records by id, equal
    ones as the objects that were held before; of an id given twice the last record counts.
    """

    def __init__(self, before: Mapping[str, R], records: Sequence[R]) -> None:
        self.before = before
        self.after: dict[str, R] = {}
        self.added: list[str] = []
        self.changed: list[str] = []
        self.removed: list[str] = []
        self._records = records

    def slices(self) -> Iterator[None]:
        """Work, and yield after each slice."""
        before, after = self.before, self.after
        ends = perf_counter() + SLICE
        for start in range(0, len(self._records), _ROWS):
            for record in self._records[start : start + _ROWS]:
                known = before.get(record.id)
                if known is not record and known is not None and known == record:
                    after[record.id] = known
                else:
                    after[record.id] = record
            if perf_counter() > ends:
                yield
                ends = perf_counter() + SLICE
        for start, (record_id, record) in enumerate(after.items()):
            known = before.get(record_id)
            if known is None:
                self.added.append(record_id)
            elif known is not record:
                self.changed.append(record_id)
            if not start % _ROWS and perf_counter() > ends:
                yield
                ends = perf_counter() + SLICE
        for start, record_id in enumerate(before):
            if record_id not in after:
                self.removed.append(record_id)
            if not start % _ROWS and perf_counter() > ends:
                yield
                ends = perf_counter() + SLICE
