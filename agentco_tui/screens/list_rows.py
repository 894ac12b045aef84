"""Brings the rows of a list in line with the store: all of them, or those of one change.

A feed is one list of records that is polled from the platform, the remote service with AI agents
that is watched. The store holds the newest records of every feed; a `Change` has the ids that a
poll added, changed and removed in one of them. The list's `ListHooks` say which records have a row.
While the `ListFreezer` keeps the rows still (frozen), new ones wait and those that are gone leave a
tombstone, a row that says what became of its record. The workspace is what is known of the platform
in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Generic

from agentco_tui.live.feeds import NAMES, FeedName
from agentco_tui.live.store import Change
from agentco_tui.screens.list_freezer import ListFreezer
from agentco_tui.screens.list_hooks import ListHooks
from agentco_tui.text import SafeText
from agentco_tui.widgets.table.layout import R

MANY: Final = 5_000
"""Records of one change above which the whole list is loaded again."""


class ListRows(Generic[R]):
    """The rows of one list."""

    def __init__(self, hooks: ListHooks[R], freezer: ListFreezer) -> None:
        self._hooks = hooks
        self._freezer = freezer
        self._store = hooks.workspace.store
        self._names_seen: dict[tuple[FeedName, str], SafeText | None] = {}
        """The names of companies and agents, by feed and id, when the rows were loaded: cells
        show them."""

    def load(self) -> None:
        """Load all rows from the store."""
        hooks = self._hooks
        self._freezer.reload_due = False
        self._names_seen = {
            (feed, record.id): record.name
            for feed in NAMES  # companies and agents
            for record in self._store.collections[feed]
        }
        hooks.table.load(
            (_row_id(prefix, record.id), record)
            for feed, prefix in ((each, hooks.prefixes.get(each, "")) for each in hooks.lists)
            for record in hooks.collections[feed]
            if hooks.wanted(record)
        )

    def take(self, change: Change) -> bool:
        """Show a change; True if the record under the cursor may look different now.

        Records of a listed feed become rows. A change of names loads the rows again, because any
        cell may show a name. Of other feeds cells may show figures.
        """
        if change.feed in self._hooks.lists:
            return self._take_listed(change)
        if change.feed in NAMES and self._changed_names(change):
            self._freezer.request_reload()
            return False
        self._read_figures_again(change)
        return True

    def _read_figures_again(self, change: Change) -> None:
        table = self._hooks.table
        if change.feed in self._hooks.figures_from:
            records = table.model.records
            row_ids = [row_id for row_id in self._changed_ids(change) if row_id in records]
            table.apply(changed=[(row_id, records[row_id]) for row_id in row_ids])
        table.reread_cells()

    def _changed_ids(self, change: Change) -> dict[str, str]:
        """Return the ids of all records of a change, by the ids of their rows."""
        prefix = self._hooks.prefixes.get(change.feed, "")
        ids = (*change.added, *change.changed, *change.removed)
        return {_row_id(prefix, record_id): record_id for record_id in ids}

    def _take_listed(self, change: Change) -> bool:
        """Sort changed records of a listed feed in, or let them wait while the list is frozen."""
        table = self._hooks.table
        if change.feed in NAMES:
            self._names_seen |= self._changed_names(change)
        if self._hooks.freshness_of(change.feed).answered_at is None:
            self._freezer.let_first_answer_in()
        change_count = len(change.added) + len(change.changed) + len(change.removed)
        is_cursor_affected = True
        if change_count > MANY and not self._freezer.is_frozen:
            # The table takes a long list over several turns of the event loop.
            self._freezer.request_reload()
        else:
            changed = self._changed_ids(change)
            self._apply(change.feed, changed)
            is_cursor_affected = table.viewport.cursor is None or table.viewport.cursor in changed
        if table.idle.is_set():  # no sorting or filtering is left to do
            self._freezer.continue_freezing()
        return is_cursor_affected

    def _apply(self, feed: FeedName, changed: Mapping[str, str]) -> None:
        """Apply changed records to the table; `changed` has their ids by the ids of their rows."""
        hooks = self._hooks
        table = hooks.table
        collection = hooks.collections[feed]
        listed: dict[str, R] = {}
        for row_id, record_id in changed.items():
            record = collection.get(record_id)
            if record is not None and hooks.wanted(record):
                listed[row_id] = record
        removed = [row_id for row_id in changed if row_id not in listed]
        if self._freezer.is_frozen and not table.model.shown:
            # There is no row that must keep its place, as after another company was chosen.
            table.release()
        if self._freezer.is_frozen:
            for row_id in removed:
                if table.model.record(row_id) is not None:
                    table.set_tombstone(row_id, hooks.resolution(row_id))
        table.apply(changed=listed.items(), removed=removed)

    def _changed_names(self, change: Change) -> dict[tuple[FeedName, str], SafeText | None]:
        """Return the names in a change that differ from those seen; None for a name that is gone.

        Only the records of the change are looked at, however many agents there are.
        """
        collection = self._store.collections[change.feed]
        changed: dict[tuple[FeedName, str], SafeText | None] = {}
        for record_id in (*change.added, *change.changed, *change.removed):
            record = collection.get(record_id)
            name = None if record is None else record.name
            if self._names_seen.get((change.feed, record_id)) != name:
                changed[change.feed, record_id] = name
        return changed


def _row_id(prefix: str, record_id: str) -> str:
    """The id of a record's row: with a prefix if two feeds may have the same ids.

    Without one it is the same object: a copy for each of a hundred thousand rows is 6 MB.
    """
    return f"{prefix}{record_id}" if prefix else record_id
