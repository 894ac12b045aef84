"""Which rows of a table are marked, in the order they were marked. No Textual."""

from __future__ import annotations

from collections.abc import Iterable, Set


class Marks:
    """Marked ids. Every change says whether it changed anything."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self.last: str | None = None
        """The row marked or unmarked last: where a range begins."""

    def __contains__(self, row_id: str) -> bool:
        return row_id in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> tuple[str, ...]:
        """The marked ids, the one marked first at the front."""
        return tuple(self._ids)

    @property
    def all(self) -> Set[str]:
        """The same without their order."""
        return self._ids.keys()

    def mark(self, new: dict[str, None]) -> bool:
        """Marks the keys of `new` as well, in their order."""
        before = len(self._ids)
        self._ids |= new
        self.last = next(reversed(new), self.last)
        return len(self._ids) != before

    def unmark(self, ids: Iterable[str]) -> bool:
        """Takes the mark from these rows."""
        before = len(self._ids)
        for row_id in ids:
            if row_id in self._ids:
                del self._ids[row_id]
                self.last = row_id
        return len(self._ids) != before

    def clear(self) -> bool:
        """Takes all marks."""
        had = bool(self._ids)
        self._ids.clear()
        self.last = None
        return had
