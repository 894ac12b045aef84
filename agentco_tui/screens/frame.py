"""The frame around the six screens: header, tabs, the list shown, prompt and footer.

It is the one Textual screen of the dashboard; dialogs open over it. Each of the six screens that
the user sees is a list (`ListView`) in a tab. The frame lays them out and moves between them
(`ViewSwitcher`). Everything else has an object: `FrameLines` paints the header, the tabs and the
footer, `FrameCommands` carries out the other keys that work everywhere, `FrameTicker` does what is
due once a second, `RunMemory` has what is kept for the next run, and `NewsPublisher` tells the
lists what is new on the platform, the remote service that is watched.

A place is the name of one of the six screens; a view is a further list, which the settings define.
A feed is one list that is polled, at a pace (how often). The scope is the company that everything
is shown of, or None. The workspace is what is known of the platform in memory.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widget import AwaitMount

from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import FeedName, Query, paces_of_screen
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.frame_commands import FrameCommands
from agentco_tui.screens.frame_lines import FrameLines
from agentco_tui.screens.frame_ticker import FrameTicker
from agentco_tui.screens.journal_follower import follow_journal
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.navigation import Destination, NavigationEntry
from agentco_tui.screens.news_publisher import NewsPublisher
from agentco_tui.screens.view_switcher import ViewSwitcher
from agentco_tui.screens.views import get_or_create_view, open_views_soon
from agentco_tui.system.state_folder import Remembered
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.workers import start_worker

if TYPE_CHECKING:
    from agentco_tui.screens.dialogs.router import DialogRouter

LINES_ABOVE_LIST: Final = 3
"""Lines of the header, the tabs and the title."""
OPEN_VIEWS_DELAY: Final = 1.0
"""Seconds after the start until the lists of `[views.NAME]` in the settings are created."""


class MainScreen(BaseFrame):
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("every")
    LINES: ClassVar[type[FrameLines]] = FrameLines
    """The class of `lines`."""

    DEFAULT_CSS = """
    MainScreen .frame--header, MainScreen .frame--footer { background: $panel; }
    MainScreen .frame--tabs { background: $surface; }
    """

    lines: FrameLines
    commands: FrameCommands

    def __init__(
        self,
        dashboard: DashboardContext,
        place: Place,
        remembered: Remembered,
        row: str | None = None,
    ) -> None:
        """`place` is the screen to show first; `remembered` is what the last run left.

        `row` is the id of a row to put the cursor on, as soon as it is there.
        """
        super().__init__(dashboard, place, remembered)
        self.lines = self.LINES(self)
        self.commands = FrameCommands(self)
        self.ticker = FrameTicker(self)
        self.switcher = ViewSwitcher(self)
        if row is not None:
            self.navigation.awaited = NavigationEntry(place, row=row)
        self._publisher = NewsPublisher(self)

    # ---- starting

    def compose(self) -> ComposeResult:
        """Compose the first list with the frame, so that what is painted first is complete.

        The store is followed before there are widgets, so that no change is missed.
        """
        self._publisher.start()  # listens to the store
        self.view = get_or_create_view(self, self.place)
        self._publisher.start_showing()  # passes needs and forecasts to the list, too
        # The first answer may be here already: PENDING, the tasks that wait for the user. The other
        # feeds wait for the first paint: sending and reading four more requests would delay it by
        # as long as drawing takes.
        pace = paces_of_screen(self.place)[FeedName.PENDING]
        self.workspace.poller.set_paces({FeedName.PENDING: pace})
        yield self.lines.header
        yield self.lines.tabs
        with self.body:
            yield self.view
        yield self.prompt
        yield self.lines.footer

    def on_mount(self) -> None:
        # What this program may change on the platform (writing may be off).
        self.dashboard.permissions.on_change = self.lines.show
        self.lines.show()
        self.call_after_refresh(self._start_polling)

    def _start_polling(self) -> None:
        """Read the other feeds, and give the list the keys: the first paint is on its way."""
        self.set_paces()
        self.focus_again()
        self.ticker.start()
        self.set_timer(OPEN_VIEWS_DELAY, partial(open_views_soon, self), name="views")
        # The journal is the file in which every change to the platform is noted before it is sent.
        start_worker(self, partial(follow_journal, self), "follow the journal")
        if self.workspace.client.capabilities.has_news:
            start_worker(self, self._follow_news, "follow the platform's news")

    async def _follow_news(self) -> None:
        # Few platforms have news.
        from agentco_tui.live.news_follower import NewsFollower  # noqa: PLC0415

        await NewsFollower(self.workspace.poller).run()

    @cached_property
    def dialogs(self) -> DialogRouter:
        """Opens the dialogs; imported here, and only here, when one is first opened."""
        from agentco_tui.screens.dialogs.router import DialogRouter  # noqa: PLC0415

        return DialogRouter(self)

    # ---- layout

    def repaint_all(self) -> None:
        """Paint everything again after the settings, or the speed of the terminal, have changed."""
        self.topics.appearance.publish(None)
        self.lines.show()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.lines.show)

    @on(RecordTable.CursorMoved)
    def keep_clear(self) -> None:
        """Show notices in the half of the screen that does not have the row under the cursor."""
        rack = self.query_one("ToastRack")
        height = self.size.height
        table = self.focused if isinstance(self.focused, RecordTable) else self.view.table
        row = table.region.y + 1 + table.viewport.cursor_index - table.viewport.top
        edge = "top" if row >= height // 2 else "bottom"
        if rack.display and rack.styles.dock != edge:
            rack.styles.dock = edge
            rack.styles.align_vertical = edge
            rack.styles.margin = (LINES_ABOVE_LIST, 0, 1, 0)
            rack.styles.max_height = height // 2 + 1  # its margins included

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Leave the prompt when something else gets the keys; its filter stays."""
        if self.prompt.display and self.focused is not self.prompt.input:
            self.close_prompt()

    # ---- navigation

    async def action_show(self, place: Place, view: str = "") -> None:
        await self.switcher.show_tab(place, view)

    async def action_last(self) -> None:
        await self.switcher.show_last()

    def go(self, destination: Destination) -> AwaitMount:
        return self.switcher.go(destination)

    def action_back(self) -> None:
        """Leave what hides or marks rows; else go back, also to the dialog of changes."""
        if self.view.leave():
            return
        entry = self.switcher.back()
        if entry is not None and entry.since is not None:
            self.dialogs.show_since(entry.since)

    def restore_awaited(self) -> None:
        if self.navigation.awaited is not None:
            self.switcher.restore_awaited()

    def set_paces(self) -> None:
        shows_all_tasks = self.place == "tasks" and FeedName.TASKS in self.view.lists
        self.workspace.poller.set_paces(paces_of_screen(self.place, all_tasks=shows_all_tasks))

    def set_scope(self, company_id: str | None) -> None:
        if company_id != self.workspace.poller.query.company:
            self.topics.scope_leaving.publish(None)
        self.workspace.poller.set_query(Query(company=company_id))
        self.dashboard.needs_refresh.start(self)  # computes the "needs you" list again
        self.topics.scope_entered.publish(None)
        self.lines.show()

    def action_unscope(self) -> None:
        if self.workspace.poller.query.company is not None:
            self.set_scope(None)
            self.say("every screen shows all companies now")

    def remembered(self) -> Remembered:
        """Return what the next run begins with: screen, filters, sorting, theme."""
        return self.memory.for_next_run(self.place, self.views, self.idle_tracker.active_at)

    # ---- what is pressed

    def action_command(self, name: str, *arguments: str) -> None:
        """Carry out one of `FrameCommands`."""
        self.commands.run_named(name, *arguments)

    def on_key(self, event: events.Key) -> None:
        """Run what a key that no widget wanted is bound to: the user's own command, or a verb."""
        commands = self.commands
        if commands.own_commands.run_for_key(event.key) or commands.verbs.run_for_key(event.key):
            event.stop()

    @on(StatusLine.Pressed)
    def _pressed(self, event: StatusLine.Pressed) -> None:
        if event.line is self.lines.tabs:
            place_and_view = event.key.split(":", 1)
            show = partial(self.action_show, *place_and_view)  # type: ignore[arg-type]
            start_worker(self, show, "show a screen")
        elif event.line is self.lines.footer:
            start_worker(self, partial(self.commands.run, event.key), event.key)

    def handle_leave(self) -> bool:
        """Leave the prompt if words are being typed into it; True if that was so.

        Called when the user asks to leave the program.
        """
        is_typing = self.prompt.display
        if is_typing:
            self.prompt.action_leave()
        return is_typing
