"""What a poll changed, worked out a slice at a time.

Comparing a hundred thousand records takes a few hundred milliseconds, and nothing may hold up the
event loop for more than 50 (law 5). Most polls bring the same records in the same order, nearly
all of them the very same objects: then nothing is built anew, and only what differs is noted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import is_
from time import perf_counter
from typing import Generic, TypeVar

from agentco_tui.background import SLICE
from agentco_tui.model.records import Record

R = TypeVar("R", bound=Record)

_ROWS = 500
"""Records between two looks at the time."""


class Comparison(Generic[R]):
    """Records held before against those of a listing; `before` must stay as it is meanwhile.

    Done once `slices` has come to its end. Then `renewed` holds those of the same ids in the same
    order that are to be put in the place of others. If it is None the listing has other ids or
    another order, and `after` holds its records by id, equal ones as the objects that were held
    before; of an id given twice the last record counts.
    """

    def __init__(self, before: Mapping[str, R], records: Sequence[R]) -> None:
        self.before = before
        self.renewed: dict[str, R] | None = None
        self.after: dict[str, R] = {}
        self.added: list[str] = []
        self.changed: list[str] = []
        self.removed: list[str] = []
        self._records = records

    def slices(self) -> Iterator[None]:
        """Work, and yield after each slice."""
        yield from self._in_step()
        if self.renewed is None:
            yield from self._anew()

    def _in_step(self) -> Iterator[None]:
        """See whether the ids are the same in the same order, and what has changed if so."""
        records = self._records
        if len(records) != len(self.before):
            return
        renewed: dict[str, R] = {}
        held = iter(self.before.items())
        ends = perf_counter() + SLICE
        for start in range(0, len(records), _ROWS):
            coming = records[start : start + _ROWS]
            keys, known = zip(*islice(held, _ROWS), strict=True)
            if not all(map(is_, known, coming)):
                for key, old, new in zip(keys, known, coming, strict=True):
                    if new.id != key:
                        return
                    if new is not old and new != old:
                        renewed[key] = new
            if perf_counter() > ends:
                yield
                ends = perf_counter() + SLICE
        self.renewed, self.changed = renewed, list(renewed)

    def _anew(self) -> Iterator[None]:
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
