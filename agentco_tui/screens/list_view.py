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
from agentco_tui.live.store import Change, Collection
from agentco_tui.model import Listing, Record
from agentco_tui.screens.base_view import ListTable, View
from agentco_tui.screens.detail_pane import details
from agentco_tui.screens.header_footer import worst
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
    """The records of one feed or of several, kept up to date from their collections.

    A screen of this kind declares what it lists and what its cells take from elsewhere.
    """

    sort: ClassVar[tuple[str, bool]]
    empty: ClassVar[str]
    can_mark: ClassVar[bool] = False
    lists: tuple[FeedName, ...]
    """The feeds that are listed."""
    names_from: ClassVar[frozenset[FeedName]] = NAMES
    """The feeds that cells take names from."""
    figures_from: ClassVar[Mapping[FeedName, str]] = {}
    """The feeds with figures by which rows are sorted and filtered: those of the "same id" as what
    changed, or "any".
    """

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

    def columns(self) -> list[Column[R]]:
        """The table's columns."""
        raise NotImplementedError

    def search_text(self, record: R) -> str:
        """What the words of a filter are looked for in."""
        raise NotImplementedError

    def feeds(self) -> Iterable[FeedName]:
        return self.lists

    def collection(self, feed: FeedName) -> Collection[Any]:
        """The records of a feed that is listed."""
        return self.session.store.collections[feed]

    def row_id(self, feed: FeedName, record_id: str) -> str:
        """The row of a record."""
        return record_id

    def wanted(self, record: R) -> bool:
        """Whether the record belongs into the list."""
        return True

    def told(self) -> Listing[Any]:
        """What the feed's last answer said of itself; of several feeds, nothing."""
        return self.collection(*self.lists).listing if len(self.lists) == 1 else Listing(records=())

    def fate(self, record_id: str) -> Cell:
        """What became of a record that the list has no more, for its ghost."""
        return Cell(plain("gone"), Tone.DIM)

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
        self._fit(event.size.width)

    def _fit(self, width: int) -> None:
        """Put the detail beside the list where there is room."""
        # On a thin line a detail beside the list would cost more than the list at each move; but
        # it goes only where a person asked for that, for nothing may jump by itself.
        wide = width >= WIDE and not self.session.thin.asked
        self.set_class(wide, "-wide")
        self.set_class(not wide, "-narrow")

    # ---- the store

    def reload(self) -> None:
        super().reload()
        self._names_seen = self._names()
        self.table.load(
            (self.row_id(feed, record.id), record)
            for feed in self.lists
            for record in self.collection(feed)
            if self.wanted(record)
        )
        self.table.renew()
        self.show_state()
        self.show_detail()

    def take(self, change: Change) -> None:
        """Take a change of what is listed, or of what the cells take names and figures from."""
        feed, names = change.feed, self._names_seen
        ids = (*change.added, *change.changed, *change.removed)
        if feed in self.lists:
            if feed in NAMES:
                self._names_seen = self._names()
            self._apply(change)
            self.show_state()
            if self._whole is not None and self._whole.id in ids:
                self._whole = None
            at = self.table.cursor_id
            if at is None or any(at == self.row_id(feed, record_id) for record_id in ids):
                self.show_detail()
        elif feed in self.names_from and self._names() != names:
            self.reload_calmly()
        else:
            match self.figures_from.get(feed):
                case "same id":
                    self._read_again(ids)
                case "any":
                    self._read_again(self.table.rows.shown)
                case _:
                    self.table.renew()
            self.show_detail()
        self.show_title()

    def _read_again(self, row_ids: Iterable[str]) -> None:
        """Sort and filter these anew, because figures beside their records have changed."""
        table = self.table
        there = [(i, record) for i in row_ids if (record := table.rows.record(i)) is not None]
        table.apply(changed=[pair for pair in there if not table.rows.is_ghost(pair[0])])
        table.renew()

    def _apply(self, change: Change) -> None:
        size = len(change.added) + len(change.changed) + len(change.removed)
        if size > MANY and not self.table.rows.held:
            self.reload()  # which takes a long list over several turns of the event loop
            return
        feed, records = change.feed, self.collection(change.feed)
        added: list[tuple[str, R]] = []
        changed: list[tuple[str, R]] = []
        removed = [self.row_id(feed, record_id) for record_id in change.removed]
        for record_id in (*change.added, *change.changed):
            row_id, record = self.row_id(feed, record_id), records.get(record_id)
            there = self.table.rows.record(row_id) is not None
            if record is not None and self.wanted(record):
                (changed if there else added).append((row_id, record))
            elif there:
                removed.append(row_id)
        if self.table.rows.held and not self.table.rows.shown:
            # There is nothing that a hand could be on, as after another company was chosen.
            self.table.release()
        if self.table.rows.held:
            for row_id in removed:
                self.table.ghost(row_id, self.fate(row_id))
        self.table.apply(added, changed, removed)

    def _names(self) -> dict[str, SafeText]:
        collections = map(self.session.store.collections.__getitem__, self.names_from)
        return {r.id: r.name for records in collections for r in records if r.name is not None}

    def take_freshness(self) -> None:
        super().take_freshness()
        self.show_state()

    def show_state(self) -> None:
        """Dim the rows when they are not the platform's last word."""
        known = [self.session.store.freshness[feed] for feed in self.lists]
        answered = [freshness for freshness in known if freshness.answered_at is not None]
        self.show_phase(worst(answered or known).phase)

    # ---- the title

    def title_cells(self) -> list[Cell]:
        """Heading, what is shown of it, company, and what the answer said of itself."""
        number = fmt.count(len(self.table.rows.records))
        if self.filter_text:
            number = plain(f"{fmt.count(len(self.table.rows.shown))} of {number}")
        scope = self.session.names.scope(self.session.company)
        return [
            Cell(plain(f" {self.heading} "), Tone.STRONG),
            Cell(joined([*self.title_parts(), scope, number], f" {signs.separator} ")),
            *self.told_cells(self.told(), sum(len(self.collection(feed)) for feed in self.lists)),
            *self.filter_cells(),
        ]

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
        row_id = self.table.cursor_id
        return None if row_id is None else self.table.rows.record(row_id)

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
        if feed in self.lists and self.table.cursor_id == record.id:
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
        self.open(message.row_id)

    def open(self, row_id: str) -> None:
        """Enter on a line: read its detail."""
        self.reading = True
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
            self.reading = False
            self.remove_class("-reading")
            self.screen.set_focus(self.opened_from())
            self.main.show_footer()
        else:
            super().action_back()

    def action_raw(self) -> None:
        """Show hidden characters, or hide them again."""
        self._raw = not self._raw
        self.show_detail(top=True)
