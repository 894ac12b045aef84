"""What the six screens share: a title line, a notice when a feed fails, and their feeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from textual.binding import Binding, BindingType
from textual.widget import Widget

from agentco_tui import format as fmt
from agentco_tui.keys import KEYS, Place
from agentco_tui.live.feeds import FeedName, Freshness, Phase
from agentco_tui.live.store import Change
from agentco_tui.model.records import Company, Task
from agentco_tui.screens.columns.cells import Look
from agentco_tui.screens.header_footer import key_advice, notice, worst
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import Notice
from agentco_tui.widgets.tones import Cell, Tone


def bindings_of(place: Place, actions: dict[str, str]) -> list[BindingType]:
    """Bindings for the keys of a place, each to the action named for its id.

    Made from the table of keys, so that footer, help and `[keys]` agree with what happens.
    """
    return [
        Binding(key.keys, actions[key.id], key.label, id=key.id, show=False, tooltip=key.tooltip)
        for key in KEYS
        if key.id in actions and (key.where == place or place in key.also)
    ]


if TYPE_CHECKING:
    from agentco_tui.screens.table_view import TableView


class Frame(Protocol):
    """What a screen asks of the frame around it: dialogs, other screens, a word to the person."""

    def say(self, words: str, *, bad: bool = False) -> None:
        """Show a short message."""

    def show_footer(self) -> None:
        """Other keys are wanted now."""

    def ask_filter(self, view: TableView[Any]) -> None:
        """Let the person type a filter for the view."""

    def set_paces(self) -> None:
        """What is shown has changed, and with it what is polled how often."""

    def set_scope(self, company_id: str | None) -> None:
        """Show one company everywhere, or all."""

    def show_record(self, place: Place, row_id: str) -> None:
        """Go to a screen and put its cursor on a record."""

    def copy_id(self, record_id: str) -> None:
        """Send an id to the terminal's clipboard."""

    def show_trace(self, task: Task) -> None:
        """Open a task's trace."""

    def read_agent(self, agent_id: str) -> None:
        """Read an agent's own record."""

    def read_company(self, company_id: str) -> None:
        """Read a company's own record."""

    def approve(self, task: Task, note: SafeText | None = None) -> None:
        """Ask whether to approve a task; `note` stands above the question."""

    def approve_many(
        self, tasks: Sequence[Task], hidden: Mapping[str, SafeText] | None = None
    ) -> None:
        """Ask whether to approve all of these tasks; `hidden`: why the list doesn't show some."""

    def fate_of(self, task_id: str) -> Cell:
        """What became of a task that waits no more."""

    def decided_here(self, task_id: str) -> bool:
        """Whether a task is being approved from here, or was."""

    def has_read(self, task: Task) -> None:
        """The person has had the task's details before them."""

    def new_task(self, like: Task | None) -> None:
        """Ask for a new task."""

    def new_company(self) -> None:
        """Ask for a new company."""

    def clone_company(self, company: Company) -> None:
        """Ask for a company's clone."""

    def set_limit(self, agent_id: str) -> None:
        """Ask for an agent's new limit."""

    def activity_filters(self) -> None:
        """Ask what of the log to show."""

    def export_activity(self) -> None:
        """Ask where to write the platform's export."""


class View(Widget):
    """One of the six screens, inside the frame of header, tabs and footer."""

    place: ClassVar[Place]
    heading: ClassVar[str]

    DEFAULT_CSS = """
    View { layout: vertical; height: 1fr; }
    View > .view--title { background: $panel; }
    """

    def __init__(self, session: Session) -> None:
        super().__init__(id=self.place)
        self.session = session
        self.look = Look(session.store, session.names, session.clock, session.settings.alerts)
        self.title_line = StatusLine(classes="view--title")
        self.notice = Notice()

    @property
    def main(self) -> Frame:
        """The frame the view stands in."""
        return cast(Frame, self.screen)

    def feeds(self) -> Iterable[FeedName]:
        """The feeds whose figures this screen shows."""
        raise NotImplementedError

    def take(self, change: Change) -> None:
        """The store has changed."""
        raise NotImplementedError

    def leave_scope(self) -> None:
        """Another company is about to be in scope."""

    def rescope(self) -> None:
        """Another company is in scope: what is filtered here by company is chosen anew."""

    def title_cells(self) -> list[Cell]:
        """What stands in the title line, left."""
        return [Cell(plain(f" {self.heading}"), Tone.STRONG)]

    def title_right(self) -> list[Cell]:
        """What stands in the title line, right."""
        return []

    def freshness(self) -> Freshness:
        """The freshness to tell of: the worst of the feeds shown."""
        return worst(self.session.store.freshness[feed] for feed in self.feeds())

    def take_freshness(self) -> None:
        """A feed answered or failed."""
        self.show_title()
        freshness = self.freshness()
        about = self._failing(freshness.phase)
        now, advice = self.session.clock.monotonic(), key_advice(self.session.settings)
        self.notice.show(notice(freshness, now, about, advice))

    def _failing(self, phase: Phase) -> SafeText | None:
        """Which of the feeds are in that phase, if it isn't all of them."""
        known, feeds = self.session.store.freshness, tuple(self.feeds())
        those = [feed for feed in feeds if known[feed].phase is phase]
        return None if len(those) == len(feeds) else plain(", ".join(those))

    def show_title(self) -> None:
        """Draw the title line; only what differs is painted."""
        self.title_line.show(self.title_cells(), self.title_right())

    def tick(self) -> None:
        """A second has passed: ages are told anew."""
        self.take_freshness()

    def separated(self, *parts: SafeText | str | None) -> SafeText:
        """Parts with the separating sign between them; missing ones are left out."""
        return plain(f" {signs.separator} ".join(part for part in parts if part))

    def unread_cells(self, unread: int, *, capped: bool, more: bool, shown: int) -> list[Cell]:
        """What a list says of itself: records that couldn't be read, and that more exist."""
        cells: list[Cell] = []
        if unread:
            words = f" {signs.warning} {fmt.count(unread)} could not be read"
            cells.append(Cell(plain(words), Tone.WARNING))
        if capped:
            words = f" {signs.warning} only the first {fmt.count(shown)} were fetched"
            cells.append(Cell(plain(words), Tone.WARNING))
        elif more:
            cells.append(Cell(plain(f" at least {fmt.count(shown)}"), Tone.DIM))
        return cells
