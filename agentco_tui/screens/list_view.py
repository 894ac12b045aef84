"""A screen that is a list: title, filter, table, and the detail of the line under the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widget import Widget

from agentco_tui import format as fmt
from agentco_tui.live.feeds import NAMES, FeedName
from agentco_tui.live.store import Change, Collection, Told
from agentco_tui.model import Record
from agentco_tui.screens.base_view import ListTable, View
from agentco_tui.screens.detail_pane import details
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, joined, plain, signs
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import Item, TextPane
from agentco_tui.widgets.tones import Cell, Tone

R = TypeVar("R", bound=Record)

MANY = 5_000
"""Records of one change from which on the list is taken anew."""
SOON = 0.15
"""Seconds from the last move of the cursor to the detail of its line: longer than a held key takes
to repeat."""
WIDE = 120
"""Columns from which the detail stands beside the list."""


class ListView(View[R]):
    """One list of records, kept up to date from its collection."""

    sort: ClassVar[tuple[str, bool]]
    empty: ClassVar[str]
    can_mark: ClassVar[bool] = False

    DEFAULT_CSS = """
    ListView {
        & > Horizontal { height: 1fr; }
        & .list--detail {
            width: 38%; max-width: 70; display: none; padding: 0 1; background: $surface;
        }
        &.-wide .list--detail { display: block; }
        &.-reading .list--detail { display: block; width: 1fr; max-width: 100%; }
        &.-reading.-narrow RecordTable { display: none; }
    }
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.detail = TextPane(classes="list--detail")
        self._raw = False
        self._soon: Timer | None = None
        self._whole: R | None = None
        self._names_seen: Mapping[str, SafeText] = {}

    def make_table(self) -> ListTable[R]:
        """The table of the list's columns."""
        return ListTable(
            self.columns(),
            search_text=self.search_text,
            sort=self.sort,
            empty_text=plain(self.empty),
            can_mark=self.can_mark,
        )

    def swap_table(self) -> None:
        """Put a table with other columns in the place of the one there is."""
        before, self.table = self.table, self.make_table()
        self.table.view.thin = before.view.thin
        before.parent.mount(self.table, before=before)  # type: ignore[union-attr]
        before.remove()
        if self.filter_text and self.table.set_filter(self.filter_text) is not None:
            self.filter_text = ""
        if before.has_focus:
            self.table.focus()

    # ---- what is listed

    @property
    def collection(self) -> Collection[Any]:
        """The collection of the store that is listed."""
        raise NotImplementedError

    def columns(self) -> list[Column[R]]:
        """The table's columns."""
        raise NotImplementedError

    def search_text(self, record: R) -> str:
        """What the words of a filter are looked for in."""
        raise NotImplementedError

    @property
    def feed(self) -> FeedName:
        """The feed the list shows."""
        return self.collection.feed

    def records(self) -> Iterable[R]:
        """All records of the feed."""
        return self.collection

    def record_count(self) -> int:
        """How many records the feed has."""
        return len(self.collection)

    def record_of(self, record_id: str) -> R | None:
        """One record of the feed."""
        return self.collection.get(record_id)

    def wanted(self, record: R) -> bool:
        """Whether the record belongs into the list."""
        return True

    def told(self) -> Told:
        """What the feed's last answer said of itself."""
        return self.collection.told

    def fate(self, record_id: str) -> Cell:
        """What became of a record that the list has no more, for its ghost."""
        return Cell(plain("gone"), Tone.DIM)

    def feeds(self) -> Iterable[FeedName]:
        return (self.feed,)

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self.notice
        with Horizontal():
            yield self.table
            yield self.detail

    def on_mount(self) -> None:
        """Show what the store has already, laid out for the terminal from the first picture on."""
        self._fit(self.app.size.width)
        self.reload()
        self.take_freshness()

    def on_resize(self, event: events.Resize) -> None:
        """Put the detail beside the list where there is room."""
        self._fit(event.size.width)

    def _fit(self, width: int) -> None:
        # On a thin line a detail beside the list would cost more than the list at each move; but
        # it goes only where a person asked for that, for nothing may jump by itself.
        wide = width >= WIDE and not self.session.thin.asked
        self.set_class(wide, "-wide")
        self.set_class(not wide, "-narrow")

    # ---- the store

    def reload(self) -> None:
        """Take all records anew."""
        super().reload()
        self._names_seen = self._names()
        self.table.load((r.id, r) for r in self.records() if self.wanted(r))
        self.table.renew()
        self.show_state()
        self.show_detail()

    def take(self, change: Change) -> None:
        """Take a change of the feed, or of what the cells take names and figures from."""
        if change.feed is self.feed:
            self._apply(change)
            self.show_state()
            touched = {*change.added, *change.changed, *change.removed}
            if self._whole is not None and self._whole.id in touched:
                self._whole = None
            if self.table.cursor_id is None or self.table.cursor_id in touched:
                self.show_detail()
        elif change.feed in NAMES and self._names() != self._names_seen:
            self.reload_calmly()
        else:
            self.take_figures(change)
            self.show_detail()
        self.show_title()

    def take_figures(self, change: Change) -> None:
        """Another feed has changed, from which cells take figures: paint what differs."""
        self.table.renew()

    def read_again(self, record_ids: Iterable[str]) -> None:
        """Sort and filter these records anew, because figures beside them have changed."""
        there = [
            (i, record) for i in record_ids if (record := self.table.rows.record(i)) is not None
        ]
        self.table.apply(changed=[pair for pair in there if not self.table.rows.is_ghost(pair[0])])
        self.table.renew()

    def _apply(self, change: Change) -> None:
        size = len(change.added) + len(change.changed) + len(change.removed)
        if size > MANY and not self.table.hold:
            self.reload()  # which takes a long list over several turns of the event loop
            return
        added: list[tuple[str, R]] = []
        changed: list[tuple[str, R]] = []
        removed = list(change.removed)
        for record_id in (*change.added, *change.changed):
            record = self.record_of(record_id)
            there = self.table.rows.record(record_id) is not None
            if record is None or not self.wanted(record):
                if there:
                    removed.append(record_id)
            elif there:
                changed.append((record_id, record))
            else:
                added.append((record_id, record))
        if self.table.hold and not self.table.rows.shown:
            # There is nothing that a hand could be on, as after another company was chosen.
            self.table.release()
            self.table.hold = False
        if self.table.hold:
            for record_id in removed:
                self.table.ghost(record_id, self.fate(record_id))
        self.table.apply(added, changed, removed)

    def _names(self) -> dict[str, SafeText]:
        store = self.session.store
        return {
            record.id: record.name
            for collection in (store.companies, store.agents)
            for record in collection
            if record.name is not None
        }

    def take_freshness(self) -> None:
        """A feed answered or failed."""
        super().take_freshness()
        self.show_state()

    def show_state(self) -> None:
        """Dim the rows when they are not the platform's last word."""
        self.show_phase(self.session.store.freshness[self.feed].phase)

    def tick(self) -> None:
        """A second has passed."""
        super().tick()
        self.table.tick()

    # ---- the title

    def title_cells(self) -> list[Cell]:
        """Heading, what is shown of it, company, and what the answer said of itself."""
        shown, total = len(self.table.rows.shown), len(self.table.rows.records)
        number = fmt.count(total)
        if self.filter_text:
            number = plain(f"{fmt.count(shown)} of {number}")
        scope = self.session.names.scope(self.session.company)
        cells = [
            Cell(plain(f" {self.heading} "), Tone.STRONG),
            Cell(joined([*self.title_parts(), scope, number], f" {signs.separator} ")),
        ]
        told = self.told()
        cells += self.unread_cells(
            told.unread, capped=told.capped, more=told.more, shown=self.record_count()
        )
        return [*cells, *self.filter_cells()]

    def title_parts(self) -> list[SafeText]:
        """What the title says before the company."""
        return []

    def title_right(self) -> list[Cell]:
        """What the list is sorted by."""
        key, descending = self.table.sort
        if key is None:
            return super().title_right()
        sign = signs.down if descending else signs.up
        return [*super().title_right(), Cell(plain(f"by {key} {sign} "), Tone.DIM)]

    # ---- the detail

    def subject(self) -> R | None:
        """The record under the cursor."""
        row_id = self.table.cursor_id
        return None if row_id is None else self.table.rows.record(row_id)

    @property
    def reading(self) -> bool:
        """Whether the detail is being read rather than the list."""
        return self.has_class("-reading")

    def show_detail(self, *, top: bool = False) -> None:
        """Show all that is known of the line under the cursor."""
        record = self.subject()
        if record is not None and self._whole is not None and self._whole.id == record.id:
            record = self._whole
        items: list[Item] = []
        if record is not None:
            newest = self.newest(record)
            items = [*self.detail_head(record), *details(newest, self.look, raw=self._raw)]
        self.detail.show(items, top=top)

    def newest(self, record: R) -> R:
        """The record as it was last read, wherever that was."""
        return record

    def detail_head(self, record: R) -> list[Item]:
        """What stands above a record's own fields."""
        return []

    @property
    def wants_keys(self) -> Widget:
        return self.detail if self.reading else self.table

    def show_whole(self, feed: FeedName, record: Record) -> None:
        """Show it in the detail pane, if it is still the one under the cursor."""
        if feed is self.feed and self.table.cursor_id == record.id:
            self._whole = cast(R, record)
            self.show_detail()

    @on(RecordTable.CursorMoved)
    def _cursor_moved(self, message: RecordTable.CursorMoved) -> None:
        if message.table is not self.table:
            return
        # Where the cursor comes to rest: on its way it costs the line only what it moves.
        if self._soon is None:
            self._soon = self.set_timer(SOON, self._show_moved, name="detail")
        else:
            self._soon.reset()

    def _show_moved(self) -> None:
        self._soon = None
        self.show_detail(top=True)

    @on(RecordTable.Opened)
    def _opened(self, message: RecordTable.Opened) -> None:
        if message.table is self.table:
            self.open(message.row_id)

    def open(self, row_id: str) -> None:
        """Enter on a line: read its detail."""
        self.add_class("-reading")
        # At once: a key that follows in the same packet is for the detail.
        self.screen.set_focus(self.detail)
        self.main.show_footer()
        self.show_detail(top=True)

    def opened_from(self) -> ListTable[Any]:
        """The list to whose line the detail belongs that is read."""
        return self.table

    def action_back(self) -> None:
        """Leave the detail, else the filter, else the marks."""
        if self.reading:
            self.remove_class("-reading")
            self.screen.set_focus(self.opened_from())
            self.main.show_footer()
        else:
            super().action_back()

    def action_raw(self) -> None:
        """Show hidden characters, or hide them again."""
        self._raw = not self._raw
        self.show_detail(top=True)
