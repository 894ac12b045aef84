"""What one run of the dashboard leaves to the next: screen, filters, sorting, columns and theme.

`Remembered` is that as it is written to the state folder; a `ListMemory` is the part of it about
one list. A place is the name of a screen, such as "tasks". A view (`[views.NAME]` in the settings)
is a list with a filter, an order and columns of its own, so nothing is remembered of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from agentco_tui.config import Settings
from agentco_tui.keys.places import Place
from agentco_tui.screens.list_view import ListView
from agentco_tui.screens.theme_choice import named_theme
from agentco_tui.system.state_folder import LONGEST_FILTER, ListMemory, Remembered


class RunMemory:
    """What the last run left, and what this one has changed of it."""

    def __init__(self, last_run: Remembered) -> None:
        self.last_run = last_run

    def list_memory(self, place: str) -> ListMemory:
        """Return how the last run left the list of a screen."""
        return self.last_run.lists.get(place, ListMemory())

    def remember_theme(self, name: str, settings: Settings) -> None:
        """Use a theme from the next start on, until the settings name another."""
        self.last_run = replace(self.last_run, theme=name, theme_over=named_theme(settings))

    def for_next_run(
        self, place: Place, views: Mapping[str, ListView[Any]], left_at: float | None
    ) -> Remembered:
        """Return what the next run begins with.

        `place` is the screen shown, `views` has the lists that were visited, by their tabs, and
        `left_at` is when the user was last active.
        """
        lists = dict(self.last_run.lists)
        for tab, view in views.items():
            if not view.shown_as.name:
                lists[tab] = memory_of(view)
        return replace(self.last_run, screen=place, lists=lists, left_at=left_at)


def memory_of(view: ListView[Any]) -> ListMemory:
    """Return how a list is sorted and filtered, and its columns, for the next run."""
    table = view.table
    columns = tuple(table.model.columns[index].key for index in table.viewport.chosen_columns)
    if not view.keeps_filter:
        return ListMemory(*table.sort, "", None, columns)
    return ListMemory(*table.sort, view.filter_text[:LONGEST_FILTER], view.filtered_at, columns)


def recall_list(view: ListView[Any], memory: ListMemory) -> None:
    """Sort and filter a list and choose its columns: by its view's settings, else by the memory."""
    table = view.table
    settings = view.shown_as
    is_view = bool(settings.name)
    sortable = {column.key: column for column in table.model.columns if column.sort_key is not None}
    if is_view:
        sort: str | None = (settings.sort or "").removeprefix("-")
        is_reversed = (settings.sort or "").startswith("-")
        descending = (sort in sortable and sortable[sort].descending_first) != is_reversed
        words = settings.filter
        columns = settings.columns
    else:
        sort = memory.sort
        descending = memory.descending
        words = memory.filter
        columns = memory.columns
    if sort in sortable:
        table.sort_by(sort, descending)
    table.show_columns(columns)
    if words and (is_view or view.keeps_filter) and table.set_filter(words) is None:
        view.filter_text = words
        view.recalled = not is_view
        view.filtered_at = memory.filtered_at or 0.0
