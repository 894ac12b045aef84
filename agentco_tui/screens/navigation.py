"""Where the user is in the dashboard, and the entries behind, which `esc` goes back to.

As in a browser, each move leaves an entry behind: a screen with the company in scope (the one that
everything is shown of), a row, and whether that row is open. A way is a sequence of entries, the
one to show last. A place is the name of a screen, such as "tasks"; a tab shows a place, or a view:
a list with a filter of its own that the settings define. The breadcrumbs in the title name the
entries behind. Rows come with the answers of a remote service that runs AI agents, so a row may be
asked for first and be there later (`awaited`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from agentco_tui import model
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import ActivityFilter
from agentco_tui.live.names import Names
from agentco_tui.live.sentences import sentence
from agentco_tui.text import SafeText, cell_width, clean_line, fit, mark_safe, signs
from agentco_tui.widgets.tones import Cell, Tone

MOST_ENTRIES: Final = 20
"""Entries that are kept to go back to; older ones are forgotten."""
LONGEST_CRUMB: Final = 28
"""Columns of one name in the breadcrumbs."""
AGENT_LOG: Final = "agent_log"
"""Key of a line that leads to an agent's part of the activity log: `agent_log:ID`."""


class NavigationEntry(msgspec.Struct, frozen=True):
    """A screen with the company in scope and the row that the cursor is on, or that is open."""

    place: Place
    scope: str | None = None
    """The id of the company in scope; None for all companies."""
    row: str | None = None
    """The id of the row; None for whichever has the cursor."""
    is_open: bool = False
    """Whether the row's detail is open in place of the list."""
    filter: str | None = None
    """The filter of the list; None to leave it unchanged."""
    log: ActivityFilter | None = None
    """The part of the activity log that is shown; None to leave it unchanged."""
    view: str = ""
    """The name of the view of the settings; "" for the screen's own list."""
    name: SafeText = SafeText("")
    """Its name in the breadcrumbs."""
    since: str | None = None
    """The key of the line opened from the page "since" (what happened while the user was away), to
    which `esc` returns; None if that page was not open over this entry.
    """

    @property
    def tab(self) -> str:
        """The tab that shows it."""
        return f"{self.place}:{self.view}" if self.view else self.place


class Destination(msgspec.Struct, frozen=True):
    """Where to go: a screen, one of its rows, or the detail of that row."""

    place: Place
    row: str | None = None
    """The id of the row; None for whichever has the cursor."""
    scope: str | None = ""
    """The id of the company to show everything of; None for all, "" for no change."""
    is_open: bool = False
    """Whether to open the row's detail; to open a company is to show everything of it."""
    filter: str | None = None
    """The filter of the list; None to leave it unchanged."""
    log: ActivityFilter | None = None
    """The part of the activity log that Activity shows; None to leave it unchanged."""
    view: str = ""
    """The name of the view of the settings; "" for the screen's own list."""

    def entry(self, scope: str | None) -> NavigationEntry:
        """Return the entry for it; `scope` is the id of the company in scope now."""
        if self.place == "companies" and self.is_open:
            scope = self.row
        elif self.scope != "":
            scope = self.scope
        return NavigationEntry(
            self.place, scope, self.row, self.is_open, self.filter, self.log, self.view
        )


class Navigation:
    """The entries behind the current one, and the way to where the user was last."""

    def __init__(self) -> None:
        self.behind: tuple[NavigationEntry, ...] = ()
        """The way that led here, the nearest last."""
        self.last_way: tuple[NavigationEntry, ...] = ()
        """The way to where the user was before the last move, that entry included."""
        self.awaited: NavigationEntry | None = None
        """The entry whose row has yet to come with an answer."""

    def clear(self) -> None:
        """Forget every way: the ids in it may not be valid any more."""
        self.behind = ()
        self.last_way = ()

    def forget_tab(self, tab: str) -> None:
        """Forget the entries of a view that the settings do not have any more."""
        self.behind = tuple(entry for entry in self.behind if entry.tab != tab)
        self.last_way = tuple(entry for entry in self.last_way if entry.tab != tab)
        if self.awaited is not None and self.awaited.tab == tab:
            self.awaited = None

    def move(self, current: NavigationEntry, way: Sequence[NavigationEntry]) -> NavigationEntry:
        """Follow a way from the current entry; return its last entry, which is current then."""
        self.last_way = (*self.behind, current)
        self.behind = tuple(way[-MOST_ENTRIES - 1 : -1])
        return way[-1]

    def way_into(
        self, current: NavigationEntry, target: NavigationEntry
    ) -> tuple[NavigationEntry, ...]:
        """Return the way to a target that `esc` comes back from to the current entry.

        To another row of the same list it does not come back.
        """
        same_list = NavigationEntry(
            current.place, current.scope, None, current.is_open, view=current.view
        )
        if target == same_list:
            return (*self.behind, target)
        return (*self.behind, current, target)

    def way_to_tab(self, target: NavigationEntry) -> tuple[NavigationEntry, ...]:
        """Return the way to a tab: what was entered from there is left, the rest stays behind."""
        kept: list[NavigationEntry] = []
        for entry in self.behind:
            if (entry.tab, entry.scope) == (target.tab, target.scope):
                break
            kept.append(entry)
        return (*kept, target)

    def remember_since(self, line: str) -> None:
        """Remember that the nearest entry was left from this line of the page of what happened."""
        nearest = replace(self.behind[-1], since=line)
        self.behind = (*self.behind[:-1], nearest)


def name_of(record: model.Record, names: Names) -> SafeText:
    """Return what a record is called; its id if it has no name."""
    match record:
        case model.Task():
            return record.keyed_title
        case model.Alert(text=text):
            return text
        case model.Activity():
            return sentence(record, names)
        case model.Budget():
            return names.budget(record)
        case model.Agent(name=name) | model.Company(name=name) if name:
            return name
    return clean_line(record.id)


def breadcrumbs(behind: Sequence[NavigationEntry], width: int) -> list[Cell]:
    """Return the names of the entries behind; the farthest are left out to fit the columns."""
    names = [fit(entry.name, min(LONGEST_CRUMB, cell_width(entry.name))) for entry in behind]
    if not names:
        return []
    for left_out in range(len(names) + 1):
        shown = [signs.ellipsis, *names[left_out:]] if left_out else names
        words = mark_safe("".join(f" {name} {signs.inward}" for name in shown))
        if cell_width(words) <= width:
            return [Cell(words, Tone.DIM)]
    return []
