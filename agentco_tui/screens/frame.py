"""The frame round the six screens: header, tabs, the screen shown, prompt and footer."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widget import AwaitMount

from agentco_tui.actions.journal_errors import JournalError
from agentco_tui.actions.outcome import Step, Verb
from agentco_tui.keys.commands import COMMANDS, COMMANDS_BY_ID, Place
from agentco_tui.live.feeds import ActivityFilter, FeedName, Query, paces
from agentco_tui.live.store import Change
from agentco_tui.model import Task
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.dashboard_workspace import DashboardWorkspace
from agentco_tui.screens.dialogs.help_screen import HelpScreen
from agentco_tui.screens.header_footer import environment, footer_cells, header_cells, tab_cells
from agentco_tui.screens.idle_tracker import NOTICE_SECONDS
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.own_commands import OwnCommands
from agentco_tui.screens.prompts import FilterWords, GoToWords
from agentco_tui.screens.theme_choice import named_theme
from agentco_tui.screens.trail import MOST_BEHIND, Spot
from agentco_tui.screens.views import count_cells, made, memory_of, open_views
from agentco_tui.system.state_folder import Remembered
from agentco_tui.text import plain, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.tones import Cell, Tone, total_width
from agentco_tui.widgets.workers import start_worker

if TYPE_CHECKING:
    from agentco_tui.screens.dialogs.router import DialogRouter
    from agentco_tui.screens.reload_key import ReloadKey

ABOVE_LIST = 3  # lines of the header, the tabs and the title
BENEATH = 0.5  # seconds after which lines that stand beneath a dialog say what has become of them
SECONDS_BETWEEN_AGES = 10  # between two times that ages are told anew, on a thin line
STANDS = {Step.HELD: "held", Step.UNKNOWN: "unknown"}  # decisions without an outcome
ORDER = ("held", "in flight", "unknown", "to look at")
TICK = 1.0  # seconds between two times that ages are told anew
FOLLOW_EVERY = 1.0  # seconds between two looks at the journal, which other dashboards write, too


class MainScreen(BaseFrame):
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("every")

    DEFAULT_CSS = """
    MainScreen .frame--header, MainScreen .frame--footer { background: $panel; }
    MainScreen .frame--tabs { background: $surface; }
    """

    def __init__(
        self,
        session: DashboardWorkspace,
        place: Place,
        remembered: Remembered,
        row: str | None = None,
    ) -> None:
        super().__init__(session, place, remembered)
        self.header = StatusLine(classes="frame--header")
        self.tabs = StatusLine(classes="frame--tabs")
        self.more: tuple[Place, ...] = ()  # places whose keys work here besides the screen's
        self.own_commands = OwnCommands(self)
        self._last: tuple[Spot, ...] = ()  # where one was last, with what lay behind it then
        self._awaited = None if row is None else Spot(place, row=row)
        """Whose line the first answers have yet to bring."""
        self._decided: set[str] = set()
        self._seconds = 0
        self._awaits_snooze_end = False

    def compose(self) -> ComposeResult:
        """The first screen is composed with the frame, not mounted later: so the first picture is
        whole. From before there are widgets, nothing of the store is missed.
        """
        store = self.session.store
        store.subscribe(self.take)
        store.on_freshness = self.take_freshness
        self.session.on_company_found = self.take_company
        self.session.on_key_renewed = self.say_key_renewed
        self.session.decisions.subscribe(self.take_decisions)
        self.session.needs_refresh.start(self)
        self.view = made(self, self.place)
        self.session.needs_refresh.on_refreshed = self.take_needs
        self.session.outlook.on_change = self.take_outlook
        # Its answer may be here already. What is asked beside it waits for the first picture,
        # which sending and reading four more would put off by as much as drawing it takes.
        pace = paces(self.place)[FeedName.PENDING]
        self.session.poller.set_paces({FeedName.PENDING: pace})
        yield self.header
        yield self.tabs
        with self.body:
            yield self.view
        yield self.prompt
        yield self.footer

    def on_mount(self) -> None:
        self.session.permissions.on_change = self.show_frame
        self.show_frame()
        self.call_after_refresh(self._go_on)

    def _go_on(self) -> None:
        """The first picture is on its way: read the other feeds, and give the list the keys."""
        self.set_paces()
        self.focus_again()
        self.set_interval(TICK, self.tick, name="ages")
        self.set_timer(1.0, self.open_views, name="views")
        start_worker(self, self._follow_journal, "follow the journal")

    def take(self, change: Change) -> None:
        late, session = self.session.decisions.take(change), self.session
        with self.app.batch_update():
            about = list[str]()  # tasks of which the log has something new
            if change.feed is FeedName.ACTIVITY:
                entries = map(self.session.store.activity.get, change.added)
                about = [
                    entry.task.id for entry in entries if entry and entry.task and entry.task.id
                ]
            awaits_log = session.outlook.log_of is None
            if awaits_log or change.feed not in (FeedName.ACTIVITY, FeedName.TASKS):
                session.needs_refresh.start(self)
            for view in self.views.values():
                view.take(change)
                if about:
                    view.take_decisions(about)
            self.stand_if_awaited()
            self.show_frame()
        for decision in late:
            work = partial(self.dialogs.read_after_all, decision)
            start_worker(self, work, f"read {decision.task.id} after all", group="writes")

    def take_needs(self) -> None:
        self.view.take_needs()
        self.show_frame()

    def open_views(self) -> None:
        start_worker(self, partial(open_views, self), "bring views up to date", group="views")

    def take_outlook(self) -> None:
        with self.app.batch_update():
            for view in self.views.values():
                view.take_outlook()

    def take_decisions(self, task_id: str) -> None:
        """Tell of changes soon, for sets change many at once; later where a dialog stands over the
        lines: whatever is painted beneath it paints it anew, too.
        """
        if not self._decided and self.app.screen is self:
            self.call_later(self._show_decisions)
        elif not self._decided:
            self.set_timer(BENEATH, self._show_decisions, name="decisions")
        self._decided.add(task_id)

    def _show_decisions(self) -> None:
        changed, self._decided = self._decided, set()
        self.session.needs_refresh.take_decisions(self)
        for view in self.views.values():
            view.take_decisions(changed)
        self.show_frame()

    def paint_as_told(self) -> None:
        for view in self.views.values():
            view.show_head()
        self.show_frame()

    def take_freshness(self, feed: FeedName) -> None:
        if feed in (*self.view.lists, *self.view.beside, *self.view.figures_from):
            self.view.show_head()
        self.show_frame()

    def take_company(self, company_id: str) -> None:
        """Ask by the id of the company in scope: the settings have its name."""
        self.behind = ()
        self._last = ()
        self.call_later(self.set_scope, company_id)

    def say_key_renewed(self) -> None:
        self.say("the key was read again: another one is used from now on")

    def tick(self) -> None:
        self._seconds += 1
        self.look_for_absence(is_here=False)
        self.session.poller.mark_late()
        if self._seconds % SECONDS_BETWEEN_AGES == 0:
            # For what the clock, the log and the forecasts make a need.
            self.session.needs_refresh.start(self)
            self.open_views()
        self.await_snooze_end()
        if not self.session.thin or self._seconds % SECONDS_BETWEEN_AGES == 0:
            self.view.tick()
            self.show_frame()

    def await_snooze_end(self) -> None:
        """Look for needs at the moment at which the next snooze ends.

        Called at every tick, because the end is a time of the platform's clock, which is set and
        corrected while a timer runs. Only the last of the ticks before the end sets a timer.
        """
        ends_at = self.session.needs.next_snooze_end
        if ends_at is None:
            return
        left = ends_at - self.session.clock.now()
        if left <= 0:
            self.session.needs_refresh.start(self)
        elif left <= 2 * TICK and not self._awaits_snooze_end:
            self._awaits_snooze_end = True
            self.set_timer(left, self._snooze_end_came, name="snooze")

    def _snooze_end_came(self) -> None:
        self._awaits_snooze_end = False
        self.await_snooze_end()

    def show_frame(self) -> None:
        session, view, width = self.session, self.view, self.size.width
        filled = environment(session.settings).filled
        self.header.fill(filled)
        self.footer.fill(filled)
        self.header.show(*header_cells(session, (*view.lists, *view.beside), width))
        self.tabs.show(tab_cells(session, self.here().tab, count_cells(self.views), width))
        denied, verbs = session.permissions.denied, {c.id: c.verb for c in COMMANDS if c.verb}
        self.denied = {id_: why for id_, verb in verbs.items() if (why := denied(Verb(verb)))}
        if off := session.permissions.off:
            self.denied |= {id_: off for id_, own in self.own_commands.by_id.items() if own.writes}
        # How many decisions are held, in flight, unknown, or settled badly and not looked at.
        stands = Counter(
            STANDS.get(each.step, "in flight") if each.outcome is None else "to look at"
            for each in session.decisions.open
        )
        words = "  ".join(f"{stands[name]} {name}" for name in sorted(stands, key=ORDER.index))
        held = {"approve.take_back": ""} if stands["held"] else {}
        offers = {**held, **view.footer_actions()}
        open_ = [Cell(plain(f" {signs.unknown} {words} "), Tone.WARNING)] if words else []
        room, keys = width - total_width(open_), session.settings.keys
        cells = footer_cells(offers, keys, self.denied, reading=view.reading, width=room)
        self.footer.show([*open_, *cells])

    async def action_show(self, place: Place, view: str = "") -> None:
        """Show a screen or a view; what was entered from there is left, the rest stays behind."""
        to = Spot(place, self.session.poller.query.company, view=view)
        if to.tab == self.here().tab and not self.view.reading:
            self.view.arrive()
            return
        at = [(spot.tab, spot.scope) for spot in self.behind]
        here = at.index((to.tab, to.scope)) if (to.tab, to.scope) in at else len(at)
        await self._move(*self.behind[:here], to)
        self.focus_again()

    async def action_last(self) -> None:
        if self._last:
            await self._move(*self._last)

    def go(
        self,
        place: Place,
        row_id: str | None = None,
        *,
        scope: str | None = "",
        is_open: bool = False,
        filter: str | None = None,
        log: ActivityFilter | None = None,
        view: str = "",
    ) -> AwaitMount:
        """Go in, to a screen or to one of its lines, which stands open then if `is_open`; `esc`
        comes back. Everything is shown of another company if `scope` names one, and of all if it
        is None; to open a company is to show everything of it. `log` is the part of the activity
        log that Activity shows.
        """
        if place == "companies" and is_open:
            scope = row_id
        scope = self.session.poller.query.company if scope == "" else scope
        here = self.here()
        to = Spot(place, scope, row_id, is_open, filter, log, view)
        bare = Spot(here.place, here.scope, None, here.is_open, view=here.view)
        left = () if to == bare else (here,)
        return self._move(*self.behind, *left, to)

    def here(self) -> Spot:
        view, scope = self.view, self.session.poller.query.company
        row = view.opened_from.view.cursor
        return Spot(
            self.place,
            scope,
            row,
            view.reading,
            filter=view.filter_text,
            log=view.log_filter,
            view=view.shown_as.name,
            name=view.called(),
        )

    def _move(self, *spots: Spot) -> AwaitMount:
        """Be at the last of these spots, with those before it behind."""
        self._last, to = (*self.behind, self.here()), spots[-1]
        self.behind = spots[-MOST_BEHIND - 1 : -1]
        if to.scope != self.session.poller.query.company:
            self.set_scope(to.scope)
        new = [] if to.tab in self.views else [made(self, to.tab)]
        mounted = self.body.mount(*new)
        if (view := self.views[to.tab]) is not self.view:
            self.place, self.view = to.place, view
            # A widget hidden with the focus on it gives it up later, whoever has it by then.
            self.set_focus(None)
            for other in self.views.values():
                other.display = other is view
            self.set_paces()
            if not new:
                self.view.arrive()
            self.call_after_refresh(self.focus_again)
            self.show_frame()
        if new:
            # The view's own queue: it has its rows only once it is mounted.
            self.view.call_after_refresh(self._stand, to)
        else:
            self._stand(to)
        return mounted

    def _stand(self, at: Spot) -> None:
        """Put the cursor on its line; on one that is still to come, as soon as it is there."""
        if self.view is not self.views.get(at.tab):
            return
        is_there = self.view.stand(at)
        self.set_paces()
        self._awaited = None if is_there or not self.view.incomplete else at
        if not is_there and self._awaited is None and at.filter is None:
            self.say("that is not in the list any more")

    def stand_if_awaited(self) -> None:
        """Rows have come: put the cursor on the line that was asked for before it was there."""
        if self._awaited is not None and self._awaited.tab == self.here().tab:
            self._stand(self._awaited)

    def await_no_line(self) -> None:
        """Forget the line that was asked for before it was there: the user went on."""
        self._awaited = None

    def remembered(self) -> Remembered:
        own = ((tab, view) for tab, view in self.views.items() if not view.shown_as.name)
        visited = {tab: memory_of(view) for tab, view in own}
        lists, left_at = {**self.kept.lists, **visited}, self.idle_tracker.active_at
        return replace(self.kept, screen=self.place, lists=lists, left_at=left_at)

    def choose_theme(self, name: str) -> None:
        """Show it now, and from the next start on until the settings name another."""
        self.app.theme = name
        over = named_theme(self.session.settings)
        self.kept = replace(self.kept, theme=name, theme_over=over)

    def set_paces(self) -> None:
        all_tasks = self.place == "tasks" and FeedName.TASKS in self.view.lists
        self.session.poller.set_paces(paces(self.place, all_tasks=all_tasks))

    def set_scope(self, company_id: str | None) -> None:
        query = self.session.poller.query
        for view in self.views.values() if company_id != query.company else ():
            view.begin_scope_change()
        self.session.poller.set_query(Query(company=company_id))
        self.session.needs_refresh.start(self)
        for view in self.views.values():
            view.end_scope_change()
        self.show_frame()

    def action_go_to(self) -> None:
        GoToWords(self)

    def ask_filter(self) -> None:
        FilterWords(self)

    def action_output(self) -> None:
        self.own_commands.show_output()

    def on_key(self, event: events.Key) -> None:
        """A key that no widget wanted may be bound to one of the user's own commands."""
        if self.own_commands.run_for_key(event.key):
            event.stop()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Keys that go elsewhere leave the prompt, or escape could not; a filter stays."""
        if self.prompt.display and self.focused is not self.prompt.input:
            self.close_prompt()

    def action_back(self) -> None:
        if self.view.leave():
            return
        if self.behind:
            to = self.behind[-1]
            self._move(*self.behind)
            if to.since is not None:
                self.dialogs.since(to.since)
        elif self.view.reading:
            self._stand(Spot(self.place))

    def action_unscope(self) -> None:
        if self.session.poller.query.company is not None:
            self.set_scope(None)
            self.say("every screen shows all companies now")

    def action_poll_now(self) -> None:
        self.view.bring_up_to_date()
        self.view.poll_now()
        self.session.poller.poll_now()
        start_worker(self, self.reload_key.run, "read the key again")

    def action_take_back(self) -> None:
        """Take back the yes to the task under the cursor, else the newest that is held."""
        here = self.view.subject()
        task = self.session.decisions.take_back(here.id if isinstance(here, Task) else None)
        if task is None:
            self.say("nothing is held back that could be taken back")
        else:
            self.return_to(task)
            title = self.session.titled(task.title, task)
            self.say(f"{signs.good} {title}: taken back, nothing was sent")

    def take_back_all(self, again: str) -> bool:
        """Take back every yes that is held; False if there is none.

        `again` is the verb for what doing the same once more does: "leaves".
        """
        held = self.session.decisions.take_all_back()
        if not held:
            return False
        self.return_to(held[-1])
        titles = ", ".join(self.session.titled(task.title, task) for task in held)
        words = f"taken back, nothing was sent (once more {again}): {titles}"
        self.say(f"{signs.good} {words}", bad=True)
        return True

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen(self.place, self.session.settings, self.denied, self.more))

    @on(StatusLine.Pressed)
    def _pressed(self, event: StatusLine.Pressed) -> None:
        if event.line is self.tabs:
            start_worker(self, partial(self.action_show, *event.key.split(":", 1)), "show a screen")  # type: ignore[arg-type]
        elif event.line is self.footer:
            start_worker(self, partial(self.run, event.key), event.key)

    def action_copy(self, what: str | None = None) -> None:
        """Copy the id of what is under the cursor, or ask what of it."""
        from agentco_tui.screens import copying  # noqa: PLC0415 - when it is first wanted

        subject = self.view.subject()
        # One that is held down has just answered a question.
        if subject is not None and not self.key_app.presses.held_down:
            copying.choose(self, subject, what)

    def action_pager(self) -> None:
        from agentco_tui.screens.copying import page  # noqa: PLC0415 - when it is first wanted

        page(self.key_app, self.session, self.view.detail.told(self.size.width))

    async def run(self, command_id: str) -> None:
        """Run a command as its key does, also one that has none."""
        own = self.own_commands.by_id.get(command_id)
        if own is not None:
            self.own_commands.run(own)
            return
        command = COMMANDS_BY_ID[command_id]
        where = self if command.where in ("every", "replay") else self.view
        await self.app.run_action(command.run, self.view.table if command.cursor else where)

    @cached_property
    def dialogs(self) -> DialogRouter:
        """All that comes over the frame; imported here, and only here, when it is first wanted."""
        from agentco_tui.screens.dialogs.router import DialogRouter  # noqa: PLC0415

        return DialogRouter(self)

    @cached_property
    def reload_key(self) -> ReloadKey:
        """Reads the key again on request; imported when that is first wanted."""
        from agentco_tui.screens.reload_key import ReloadKey  # noqa: PLC0415

        return ReloadKey(self.session, self.say)

    async def _follow_journal(self) -> None:
        """Tell of other dashboards, settle what other runs left, say when the journal fails; with
        it what is snoozed is written, and taken up.
        """
        told, snoozes = set[str](), self.session.snoozes
        while True:
            try:
                found = await self.session.services.follow()
                if await self.session.services.journaled(snoozes.sync):
                    self.session.needs_refresh.start(self)
            except JournalError as error:
                self.say(f"{signs.warning} {error.sentence}", bad=True)
                return
            self.session.decisions.follow(found.elsewhere)
            if found.left and (left := await self.session.services.claim(found.left)):
                work = partial(self.dialogs.take_up, left)
                start_worker(self, work, "settle what another run left open", group="writes")
            troubles = {*filter(None, (found.trouble, snoozes.trouble))}
            for words in troubles - told:
                self.say(f"{signs.warning} {words}", bad=True)
            told = troubles
            await asyncio.sleep(FOLLOW_EVERY)

    def look_for_absence(self, *, is_here: bool = True) -> None:
        """What comes by itself is a notice, and takes no key."""
        if (words := self.idle_tracker.check(is_active=is_here)) is not None:
            self.app.notify(words, markup=False, timeout=NOTICE_SECONDS)

    def action_since(self) -> None:
        self.dialogs.since()

    @on(RecordTable.CursorMoved)
    def keep_clear(self) -> None:
        """Notices stand in the half of the screen in which the line under the cursor is not."""
        rack = self.query_one("ToastRack")
        height = self.size.height
        table = self.focused if isinstance(self.focused, RecordTable) else self.view.table
        row = table.region.y + 1 + table.view.cursor_at - table.view.top
        edge = "top" if row >= height // 2 else "bottom"
        if rack.display and rack.styles.dock != edge:
            rack.styles.dock, rack.styles.align_vertical = edge, edge
            rack.styles.margin = (ABOVE_LIST, 0, 1, 0)
            rack.styles.max_height = height // 2 + 1  # its margins included

    def leave_first(self) -> bool:
        """Leaving was asked for: leave the prompt if words are being typed into it."""
        typing = self.prompt.display
        if typing:
            self.prompt.action_leave()
        return typing

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.show_frame)
