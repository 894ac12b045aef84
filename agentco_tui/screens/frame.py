"""The frame around the six screens: header, tabs, the list shown, prompt and footer.

It is the one Textual screen of the dashboard; dialogs open over it. Each of the six screens that
the user sees is a list (`ListView`) in a tab. The frame lays them out, moves between them
(`ViewSwitcher`), carries out the keys that work everywhere, and lets the lists know once a second
that time passes. `NewsPublisher` tells the lists what is new. A need is one item of "needs you",
the list on Overview.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, Final

from msgspec.structs import replace
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widget import AwaitMount

from agentco_tui.actions.outcome import Step, Verb
from agentco_tui.keys.commands import COMMANDS, COMMANDS_BY_ID
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import FeedName, Query, paces_of_screen
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.dialogs.help_screen import HelpScreen
from agentco_tui.screens.header_footer import environment, footer_cells, header_cells, tab_cells
from agentco_tui.screens.idle_tracker import NOTICE_SECONDS
from agentco_tui.screens.journal_follower import follow_journal
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.navigation import Destination, NavigationEntry
from agentco_tui.screens.news_publisher import NewsPublisher
from agentco_tui.screens.own_commands import OwnCommands
from agentco_tui.screens.prompts import FilterWords, GoToWords
from agentco_tui.screens.snooze_timer import SnoozeTimer
from agentco_tui.screens.take_back import take_back_all, take_back_one
from agentco_tui.screens.theme_choice import named_theme
from agentco_tui.screens.view_switcher import ViewSwitcher
from agentco_tui.screens.views import count_cells, get_or_create_view, memory_of, open_views
from agentco_tui.system.state_folder import Remembered
from agentco_tui.text import plain, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.tones import Cell, Tone, total_width
from agentco_tui.widgets.workers import start_worker

if TYPE_CHECKING:
    from agentco_tui.screens.dialogs.router import DialogRouter
    from agentco_tui.screens.reload_key import ReloadKey

LINES_ABOVE_LIST: Final = 3
"""Lines of the header, the tabs and the title."""
TICKS_PER_REFRESH: Final = 10
"""Ticks after which the needs are refreshed, and on a slow terminal ages are painted again."""
TICK: Final = 1.0
"""Seconds between two repaints of ages."""
OPEN_VIEWS_DELAY: Final = 1.0
"""Seconds after the start until the lists of `[views.NAME]` in the settings are created."""
STEP_WORDS: Final = {Step.HELD: "held", Step.UNKNOWN: "unknown"}
"""The footer's words for decisions without an outcome; at any other step they are in flight."""
DECISION_WORDS: Final = ("held", "in flight", "unknown", "to look at")
"""The footer's words for decisions, in their order."""


class MainScreen(BaseFrame):
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("every")

    DEFAULT_CSS = """
    MainScreen .frame--header, MainScreen .frame--footer { background: $panel; }
    MainScreen .frame--tabs { background: $surface; }
    """

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
        self.header = StatusLine(classes="frame--header")
        self.tabs = StatusLine(classes="frame--tabs")
        self.more: tuple[Place, ...] = ()
        """Places whose keys work in addition to those of the screen shown: "replay" in a replay."""
        self.own_commands = OwnCommands(self)
        self.snooze_timer = SnoozeTimer(self, dashboard)
        self.switcher = ViewSwitcher(self)
        if row is not None:
            self.navigation.awaited = NavigationEntry(place, row=row)
        self._publisher = NewsPublisher(self)
        self._ticks = 0
        self._is_news_due = False
        """Whether what was reported is about to be painted."""
        self._is_footer_due = False
        """Whether the footer is to be painted with it."""

    # ---- starting

    def compose(self) -> ComposeResult:
        """Compose the first list with the frame, so that the first picture is complete.

        The store is followed before there are widgets, so that no change is missed.
        """
        self._publisher.start()
        self.view = get_or_create_view(self, self.place)
        self._publisher.start_showing()
        # The first answer may be here already. The other feeds wait for the first picture: sending
        # and reading four more requests would delay it by as long as drawing takes.
        pace = paces_of_screen(self.place)[FeedName.PENDING]
        self.workspace.poller.set_paces({FeedName.PENDING: pace})
        yield self.header
        yield self.tabs
        with self.body:
            yield self.view
        yield self.prompt
        yield self.footer

    def on_mount(self) -> None:
        self.dashboard.permissions.on_change = self.show_frame
        self.show_frame()
        self.call_after_refresh(self._start_polling)

    def _start_polling(self) -> None:
        """Read the other feeds, and give the list the keys: the first picture is on its way."""
        self.set_paces()
        self.focus_again()
        self.set_interval(TICK, self.tick, name="ages")
        self.set_timer(OPEN_VIEWS_DELAY, self.open_views, name="views")
        start_worker(self, partial(follow_journal, self), "follow the journal")

    @cached_property
    def dialogs(self) -> DialogRouter:
        """Opens the dialogs; imported here, and only here, when one is first opened."""
        from agentco_tui.screens.dialogs.router import DialogRouter  # noqa: PLC0415

        return DialogRouter(self)

    @cached_property
    def reload_key(self) -> ReloadKey:
        """Reads the key again on request; imported when that is first wanted."""
        from agentco_tui.screens.reload_key import ReloadKey  # noqa: PLC0415

        return ReloadKey(self.dashboard, self.say)

    # ---- time and appearance

    def repaint_all(self) -> None:
        """Paint everything again after the settings, or the speed of the terminal, have changed."""
        self.topics.appearance.publish(None)
        self.show_frame()

    def tick(self) -> None:
        """Repaint ages once a second; on a slow terminal every `TICKS_PER_REFRESH` seconds."""
        self._ticks += 1
        self.check_absence(is_active=False)
        self.workspace.poller.mark_late()
        is_refresh_due = self._ticks % TICKS_PER_REFRESH == 0
        if is_refresh_due:
            # Some needs follow from the clock, the log or the forecasts, not from a change.
            self.dashboard.needs_refresh.start(self)
            self.open_views()
        self.snooze_timer.check()
        if is_refresh_due or not self.dashboard.thin:
            self.topics.seconds.publish(None)
            self.show_news()

    def open_views(self) -> None:
        start_worker(self, partial(open_views, self), "bring views up to date", group="views")

    def check_absence(self, *, is_active: bool = True) -> None:
        """Offer the page of what happened, if the user is back after a long absence.

        A notice offers it, because a dialog would take a key that was meant for the list.
        """
        words = self.idle_tracker.check(is_active=is_active)
        if words is not None:
            self.app.notify(words, markup=False, timeout=NOTICE_SECONDS)

    # ---- layout

    def show_frame(self) -> None:
        """Paint the header, the tabs and the footer; what looks the same writes nothing."""
        filled = environment(self.workspace.settings).filled
        self.header.fill(filled)
        self.footer.fill(filled)
        self.show_status()
        self.denied = self._denied_commands()
        self.footer.show(self._footer_cells(self.size.width))

    def show_status(self) -> None:
        """Paint the header and the tabs: ages and counts."""
        width = self.size.width
        feeds = (*self.view.lists, *self.view.beside)
        self.header.show(*header_cells(self.dashboard, feeds, width))
        counts = count_cells(self.views)
        self.tabs.show(tab_cells(self.workspace, self.view.tab, counts, width))

    def show_news(self) -> None:
        """Paint the header and the tabs, and the footer if it may show other commands by now."""
        is_footer_due = self._is_footer_due or self.view.has_other_offers
        self._is_news_due = False
        self._is_footer_due = False
        if is_footer_due:
            self.show_frame()
        else:
            self.show_status()

    def show_news_soon(self, *, with_footer: bool = False) -> None:
        """Call `show_news` once for all that is reported in this turn of the event loop.

        An answer to a poll changes rows, needs and freshness one after the other. `with_footer`
        says that the footer may show other commands.
        """
        self._is_footer_due |= with_footer
        if not self._is_news_due:
            self._is_news_due = True
            self.call_next(self.show_news)

    def _denied_commands(self) -> dict[str, str]:
        """Return the commands that would be refused now, by their id, each with the reason."""
        permissions = self.dashboard.permissions
        denied: dict[str, str] = {}
        for command in COMMANDS:
            if command.verb:
                reason = permissions.why_denied(Verb(command.verb))
                if reason:
                    denied[command.id] = reason
        if permissions.off:
            for command_id, own in self.own_commands.by_id.items():
                if own.writes:
                    denied[command_id] = permissions.off
        return denied

    def _footer_cells(self, width: int) -> list[Cell]:
        counts = self._decision_counts()
        words = "  ".join(f"{counts[word]} {word}" for word in DECISION_WORDS if counts[word])
        decisions: list[Cell] = []
        if words:
            decisions.append(Cell(plain(f" {signs.unknown} {words} "), Tone.WARNING))
        actions = self.view.footer_actions()
        if counts["held"]:
            actions = {"approve.take_back": "", **actions}
        keys = footer_cells(
            actions,
            self.workspace.settings.keys,
            self.denied,
            reading=self.view.reading,
            width=width - total_width(decisions),
        )
        return [*decisions, *keys]

    def _decision_counts(self) -> Counter[str]:
        """Return how many decisions are held back, in flight, unknown, or ended badly."""
        counts = Counter[str]()
        for decision in self.dashboard.decisions.open:
            if decision.outcome is None:
                counts[STEP_WORDS.get(decision.step, "in flight")] += 1
            else:
                counts["to look at"] += 1
        return counts

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.show_frame)

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
        """Leave what hides or marks rows; else go back, also to the page of what happened."""
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
        self.dashboard.needs_refresh.start(self)
        self.topics.scope_entered.publish(None)
        self.show_frame()

    def action_unscope(self) -> None:
        if self.workspace.poller.query.company is not None:
            self.set_scope(None)
            self.say("every screen shows all companies now")

    def remembered(self) -> Remembered:
        """Return what the next run begins with: screen, filters, sorting, theme."""
        lists = dict(self.kept.lists)
        for tab, view in self.views.items():
            if not view.shown_as.name:
                lists[tab] = memory_of(view)
        left_at = self.idle_tracker.active_at
        return replace(self.kept, screen=self.place, lists=lists, left_at=left_at)

    def choose_theme(self, name: str) -> None:
        """Use a theme now and from the next start on, until the settings name another."""
        self.app.theme = name
        over = named_theme(self.workspace.settings)
        self.kept = replace(self.kept, theme=name, theme_over=over)

    # ---- commands

    def action_go_to(self) -> None:
        GoToWords(self)

    def ask_filter(self) -> None:
        FilterWords(self)

    def action_poll_now(self) -> None:
        self.view.freezer.release()
        self.view.poll_now()
        self.workspace.poller.poll_now()
        start_worker(self, self.reload_key.run, "read the key again")

    def action_take_back(self) -> None:
        take_back_one(self)

    def take_back_all(self, again: str) -> bool:
        """Take back every approval that was confirmed and not sent yet; False if there is none.

        `again` is the verb for what a second try does, such as "leaves".
        """
        return take_back_all(self, again)

    def action_help(self) -> None:
        self.app.push_screen(
            HelpScreen(self.place, self.workspace.settings, self.denied, self.more)
        )

    def action_since(self) -> None:
        self.dialogs.show_since()

    def action_copy(self, what: str | None = None) -> None:
        """Copy the record under the cursor.

        `what` is the part to copy, such as "id"; None to ask the user which.
        """
        from agentco_tui.screens import copying  # noqa: PLC0415 - when it is first wanted

        record = self.view.subject()
        # A key that is still held down has just answered a question, and is not meant for this.
        if record is not None and not self.key_app.presses.held_down:
            copying.choose(self, record, what)

    def action_pager(self) -> None:
        from agentco_tui.screens.copying import page  # noqa: PLC0415 - when it is first wanted

        page(self.key_app, self.workspace, self.view.detail.lines_at_width(self.size.width))

    def action_output(self) -> None:
        self.own_commands.show_output()

    def on_key(self, event: events.Key) -> None:
        """Run the user's own command that is bound to a key which no widget wanted."""
        if self.own_commands.run_for_key(event.key):
            event.stop()

    @on(StatusLine.Pressed)
    def _pressed(self, event: StatusLine.Pressed) -> None:
        if event.line is self.tabs:
            place_and_view = event.key.split(":", 1)
            show = partial(self.action_show, *place_and_view)  # type: ignore[arg-type]
            start_worker(self, show, "show a screen")
        elif event.line is self.footer:
            start_worker(self, partial(self.run, event.key), event.key)

    async def run(self, command_id: str) -> None:
        """Run a command in the namespace of the widget that its key belongs to."""
        own = self.own_commands.by_id.get(command_id)
        if own is not None:
            self.own_commands.run(own)
            return
        command = COMMANDS_BY_ID[command_id]
        if command.cursor:
            await self.app.run_action(command.run, self.view.table)
        elif command.where in ("every", "replay"):
            await self.app.run_action(command.run, self)
        else:
            await self.app.run_action(command.run, self.view)

    def handle_leave(self) -> bool:
        """Leave the prompt if words are being typed into it; True if that was so.

        Called when the user asks to leave the program.
        """
        is_typing = self.prompt.display
        if is_typing:
            self.prompt.action_leave()
        return is_typing
