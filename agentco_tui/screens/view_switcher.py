"""Moves the frame from list to list: with the tabs, to a destination, and back.

The frame is the dashboard's main screen. An entry says which list is shown, of which company and
with which row; a way is a sequence of entries, the one to show last, through which `esc` goes back.
`Navigation` knows which entries there are; this file shows one: it sets the company in scope (the
one that everything is shown of), creates the list if it was never shown, puts the cursor on the row
and opens its detail. A place is the name of a screen, a view a list that the settings define; each
has a tab. The workspace is what is known of the platform in memory.
"""

from __future__ import annotations

from typing import Any

from textual.widget import AwaitMount

from agentco_tui.keys.places import Place
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.list_view import ListView
from agentco_tui.screens.navigation import Destination, NavigationEntry
from agentco_tui.screens.views import get_or_create_view


class ViewSwitcher:
    """Moves the frame from one navigation entry to another."""

    def __init__(self, frame: BaseFrame) -> None:
        self._frame = frame
        self._workspace = frame.workspace
        self._navigation = frame.navigation

    def current(self) -> NavigationEntry:
        """Return the entry that is shown."""
        view = self._frame.view
        return NavigationEntry(
            self._frame.place,
            self._workspace.poller.query.company,
            view.opened_from.viewport.cursor,
            view.reading,
            filter=view.filter_text,
            log=view.log_filter,
            view=view.shown_as.name,
            name=view.breadcrumb(),
        )

    async def show_tab(self, place: Place, view: str) -> None:
        """Show a screen, or the view of it with that name."""
        target = NavigationEntry(place, self._workspace.poller.query.company, view=view)
        if target.tab == self._frame.view.tab and not self._frame.view.reading:
            self._frame.view.arrive()
            return
        await self._move(self._navigation.way_to_tab(target))
        self._frame.focus_again()

    async def show_last(self) -> None:
        """Show where the user was before the last move."""
        if self._navigation.last_way:
            await self._move(self._navigation.last_way)

    def go(self, destination: Destination) -> AwaitMount:
        """Go to a screen or to one of its rows; `back` comes back from there."""
        target = destination.entry(self._workspace.poller.query.company)
        return self._move(self._navigation.way_into(self.current(), target))

    def back(self) -> NavigationEntry | None:
        """Go back to the nearest entry; without one close the detail, and return None."""
        behind = self._navigation.behind
        if behind:
            self._move(behind)
            return behind[-1]
        if self._frame.view.reading:
            self.restore(NavigationEntry(self._frame.place))
        return None

    def _move(self, way: tuple[NavigationEntry, ...]) -> AwaitMount:
        """Show the last entry of a way; the others are behind it then."""
        frame = self._frame
        target = self._navigation.move(self.current(), way)
        if target.scope != self._workspace.poller.query.company:
            frame.set_scope(target.scope)
        is_new = target.tab not in frame.views
        new = [get_or_create_view(frame, target.tab)] if is_new else []
        mounted = frame.body.mount(*new)
        view = frame.views[target.tab]
        if view is not frame.view:
            self._show_view(view, target.place, is_new=is_new)
        if is_new:
            # In the view's own queue: it has its rows only once it is mounted.
            frame.view.call_after_refresh(self.restore, target)
        else:
            self.restore(target)
        return mounted

    def _show_view(self, view: ListView[Any], place: Place, *, is_new: bool) -> None:
        frame = self._frame
        frame.place = place
        frame.view = view
        # A widget that is hidden while it has the focus gives it up later, whoever has it by then.
        frame.set_focus(None)
        for other in frame.views.values():
            other.display = other is view
        frame.set_paces()
        if not is_new:
            view.arrive()
        frame.call_after_refresh(frame.focus_again)
        frame.lines.show()

    def restore(self, entry: NavigationEntry) -> None:
        """Put the cursor on the row of an entry; if it has yet to come, as soon as it is there."""
        frame = self._frame
        if frame.view is not frame.views.get(entry.tab):
            return
        is_there = frame.view.restore(entry)
        frame.set_paces()  # what is polled how often depends on the list shown
        may_come = not is_there and not frame.view.is_read
        self._navigation.awaited = entry if may_come else None
        if not is_there and not may_come and entry.filter is None:
            frame.say("that is not in the list any more")

    def restore_awaited(self) -> None:
        """Rows have come: put the cursor on the one that was asked for before it was there."""
        awaited = self._navigation.awaited
        if awaited is not None and awaited.tab == self._frame.view.tab:
            self.restore(awaited)
