"""The live feed: what the agents do, the newest visible while it is followed."""

from __future__ import annotations

from typing import Any

from textual import on

from agentco_tui import format as fmt
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Change, Told
from agentco_tui.model import Activity
from agentco_tui.screens.columns.activity_columns import activity_columns
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.tones import Cell, Tone


class ActivityView(ListView[Activity]):
    """Follows the newest entry, until it is paused or the cursor leaves the top."""

    place = "activity"
    heading = "ACTIVITY"
    sort = ("age", True)
    empty = "nothing happened yet"
    calm = False
    """A feed is followed or paused; what is new belongs on top."""

    BINDINGS = bindings_of("activity")

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.following = True
        self._waiting: list[Change] = []

    @property
    def collection(self) -> Any:
        return self.session.store.activity

    @property
    def feed(self) -> FeedName:
        return FeedName.ACTIVITY

    def columns(self) -> list[Column[Activity]]:
        return activity_columns(self.look)

    def search_text(self, record: Activity) -> str:
        names = self.session.names
        return "\n".join(
            (
                record.text,
                names.agent(record.agent or record.actor),
                record.verb or "",
                names.company(record.company),
            )
        )

    def told(self) -> Told:
        """How many entries could not be read."""
        return Told(unread=self.session.store.activity.unread)

    def take(self, change: Change) -> None:
        """While paused the list stands still and what came is counted."""
        if change.feed is FeedName.ACTIVITY and not self.following:
            self._waiting.append(change)
            self.show_title()
            return
        super().take(change)
        if change.feed is FeedName.ACTIVITY and self.following:
            self._to_newest()

    def _to_newest(self) -> None:
        if self.table.sort == self.sort:
            self.table.action_first()

    def reload(self) -> None:
        """Take all entries anew."""
        self._waiting.clear()
        super().reload()
        if self.following:
            self._to_newest()

    @on(RecordTable.CursorMoved)
    def _leaves_the_top(self, message: RecordTable.CursorMoved) -> None:
        shown = self.table.rows.shown
        by_hand = self.table.has_focus and message.table is self.table
        if by_hand and self.following and shown and message.row_id != shown[0]:
            self._follow(False)

    def action_follow(self) -> None:
        """Pause, or catch up and follow again."""
        self._follow(not self.following)

    def _follow(self, following: bool) -> None:
        self.following = following
        if following:
            self.reload()
        self.show_title()

    def title_parts(self) -> list[SafeText]:
        """Following or paused, and the filters."""
        chosen = self.session.poller.query.activity
        agent = self.session.store.agents.get(chosen.agent)
        company = self.session.store.companies.get(chosen.company)
        return [
            part
            for part in (
                plain(f"company {(company and company.name) or safe(chosen.company)}")
                if chosen.company
                else None,
                plain(f"agent {(agent and agent.name) or safe(chosen.agent)}")
                if chosen.agent
                else None,
                plain(f"from {chosen.from_date}") if chosen.from_date else None,
                plain(f"to {chosen.to_date}") if chosen.to_date else None,
                plain(f"limit {chosen.limit}") if chosen.limit else None,
            )
            if part
        ]

    def title_cells(self) -> list[Cell]:
        """As for every list, with whether the feed is followed."""
        cells = super().title_cells()
        if self.following:
            return [*cells, Cell(plain(f"  {signs.good} following"), Tone.GOOD)]
        new = sum(len(change.added) for change in self._waiting)
        waits = f", {fmt.count(new)} new" if new else ""
        return [*cells, Cell(plain(f"  {signs.warning} paused{waits}"), Tone.WARNING)]
