"""The frame round the six screens: header, tabs, the screen shown, prompt and footer."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.widget import AwaitMount

from agentco_tui.actions.journal_file import JournalError
from agentco_tui.actions.outcome import Step, Verb
from agentco_tui.api.errors import KeyRejected
from agentco_tui.background import start_worker
from agentco_tui.keys import COMMANDS, Place
from agentco_tui.live.feeds import FeedName, Query, paces
from agentco_tui.live.store import Change
from agentco_tui.model import Task
from agentco_tui.screens.dialogs.base import HelpScreen, SizedScreen
from agentco_tui.screens.header_footer import footer_cells, header_cells, tab_cells
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.screens.prompts import GoToWords
from agentco_tui.screens.session import Session
from agentco_tui.state_folder import ListMemory, Remembered
from agentco_tui.text import plain, safe, signs
from agentco_tui.widgets.prompt import Prompt
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.tones import Cell, Tone, total_width

if TYPE_CHECKING:
    from agentco_tui.screens.dialogs.router import DialogRouter
    from agentco_tui.screens.reload_key import KeyRenewal

BENEATH = 0.5  # seconds after which lines that stand beneath a dialog say what has become of them
SECONDS_BETWEEN_AGES = 10  # between two times that ages are told anew, on a thin line
STANDS = {Step.HELD: "held", Step.UNKNOWN: "unknown"}  # decisions without an outcome
ORDER = ("held", "in flight", "unknown", "to look at")
FOLLOW_EVERY = 1.0  # seconds between two looks at the journal, which other dashboards write, too


class MainScreen(SizedScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("every")
    AUTO_FOCUS = None  # else the hidden prompt would get the keys before the first list is there

    DEFAULT_CSS = """
    MainScreen { layout: vertical; background: $background; }
    MainScreen .frame--header { background: $panel; }
    MainScreen .frame--tabs { background: $surface; }
    MainScreen .frame--body { height: 1fr; }
    MainScreen .frame--footer { background: $panel; }
    """

    def __init__(self, session: Session, place: Place, remembered: Remembered) -> None:
        super().__init__()
        self.session, self.place, self._remembered = session, place, remembered
        self.views: dict[Place, ListView[Any]] = {}
        self.view: ListView[Any]  # the one that shows
        self.header = StatusLine(classes="frame--header")
        self.tabs = StatusLine(classes="frame--tabs")
        self.body = Container(classes="frame--body")
        self.prompt = Prompt()
        self.footer = StatusLine(classes="frame--footer")
        self.denied: dict[str, str] = {}  # why commands would be refused now, by their id
        self._footer_for: tuple[object, ...] = ()
        self._decided: set[str] = set()
        self._seconds = 0

    def compose(self) -> ComposeResult:
        """The first screen is composed with the frame, not mounted later: so the first picture is
        whole. From before there are widgets, nothing of the store is missed.
        """
        store = self.session.store
        store.subscribe(self.take)
        store.subscribe_freshness(self.take_freshness)
        self.session.decisions.subscribe(self.take_decisions)
        self.view = self._made(self.place)
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
        self.set_interval(1.0, self.tick, name="ages")
        start_worker(self, self._follow_journal, "follow the journal")

    def take(self, change: Change) -> None:
        late = self.session.decisions.take(change)
        with self.app.batch_update():
            about = list[str]()  # tasks of which the log has something new
            if change.feed is FeedName.ACTIVITY:
                entries = map(self.session.store.activity.get, change.added)
                about = [
                    entry.task.id for entry in entries if entry and entry.task and entry.task.id
                ]
            for view in self.views.values():
                view.take(change)
                if about:
                    view.take_decisions(about)
            self.show_frame()
        for decision in late:
            work = partial(self.dialogs.read_after_all, decision)
            start_worker(self, work, f"read {decision.task.id} after all", group="writes")

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
        for view in self.views.values():
            view.take_decisions(changed)
        self.show_frame()

    def paint_as_told(self) -> None:
        for view in self.views.values():
            view.show_head()
        self.show_frame()

    def take_freshness(self, feed: FeedName) -> None:
        if feed in (*self.view.lists, *self.view.beside):
            self.view.show_head()
        self.show_frame()
        if isinstance(self.session.store.freshness[feed].failure, KeyRejected):
            start_worker(self, self.key_renewal.refused, "look for another key")

    def tick(self) -> None:
        self._seconds += 1
        if not self.session.thin or self._seconds % SECONDS_BETWEEN_AGES == 0:
            self.view.tick()
            self.show_frame()

    def show_frame(self) -> None:
        session, view, width = self.session, self.view, self.size.width
        self.header.show(*header_cells(session, (*view.lists, *view.beside)))
        self.tabs.show(tab_cells(session, self.place, width))
        reasons = {
            one.id: session.permissions.denied(Verb(one.verb)) for one in COMMANDS if one.verb
        }
        self.denied = {id_: reason for id_, reason in reasons.items() if reason is not None}
        # How many decisions are held, in flight, unknown, or settled badly and not looked at.
        stands = Counter(
            STANDS.get(each.step, "in flight") if each.outcome is None else "to look at"
            for each in session.decisions.open
        )
        words = "  ".join(f"{stands[name]} {name}" for name in sorted(stands, key=ORDER.index))
        drawn_for = (self.place, self.denied, view.reading, width, words)
        if drawn_for != self._footer_for:
            self._footer_for = drawn_for
            open_ = [Cell(plain(f" {signs.unknown} {words} "), Tone.WARNING)] if words else []
            room, keys = width - total_width(open_), session.settings.keys
            cells = footer_cells(self.place, keys, self.denied, reading=view.reading, width=room)
            self.footer.show([*open_, *cells])

    async def action_show(self, place: Place) -> None:
        await self.turn_to(place)
        self.focus_again()

    def _made(self, place: Place) -> ListView[Any]:
        """A screen that is visited for the first time, as it was left; its module is read now."""
        own_file = f"{place}_view" if place in ("overview", "tasks", "budget") else "plain_views"
        module = import_module(f"agentco_tui.screens.{own_file}")
        view: ListView[Any] = getattr(module, f"{place.title()}View")(self.session)
        view.recall(self._remembered.lists.get(place, ListMemory()))
        self.views[place] = view
        return view

    def turn_to(self, place: Place) -> AwaitMount:
        """Show one of the six screens; wait for the result to be sure that it is mounted."""
        new = [] if place in self.views else [self._made(place)]
        mounted = self.body.mount(*new)
        self.place, self.view = place, self.views[place]
        # A widget that is hidden with the focus on it gives it up later, whoever has it by then.
        self.set_focus(None)
        for other, view in self.views.items():
            view.display = other == place
        self.set_paces()
        if not new:
            self.view.arrive()
            self.focus_again()
            self.view.show_head()
        self.call_after_refresh(self.focus_again)
        self.show_frame()
        return mounted

    def remembered(self) -> Remembered:
        visited = {str(place): view.memory for place, view in self.views.items()}
        return Remembered(self.place, {**self._remembered.lists, **visited})

    def set_paces(self) -> None:
        all_tasks = self.place == "tasks" and FeedName.TASKS in self.view.lists
        self.session.poller.set_paces(paces(self.place, all_tasks=all_tasks))

    def show_record(self, place: Place, row_id: str) -> None:
        self.turn_to(place)
        # The view's own queue: a view that is visited first has its rows only once it is mounted.
        self.view.call_after_refresh(self.view.show_row, row_id)

    def set_scope(self, company_id: str | None) -> None:
        query = self.session.poller.query
        for view in self.views.values() if company_id != query.company else ():
            view.leave_scope()
        self.session.poller.set_query(Query(company=company_id, activity=query.activity))
        for view in self.views.values():
            view.rescope()
        self.show_frame()
        self.say(f"every screen shows {self.session.names.scope(company_id)} now")

    def action_go_to(self) -> None:
        GoToWords(self, self.session.store)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Keys that go elsewhere leave the prompt, or escape could not; a filter stays."""
        if self.prompt.display and self.focused is not self.prompt.input:
            self.close_prompt()

    def close_prompt(self) -> None:
        """Hide the prompt; the list has the keys again, and that at once."""
        self.set_focus(None)
        self.prompt.asking, self.prompt.display = None, False
        self.footer.display = True
        self.focus_again()
        self.call_after_refresh(self.focus_again)

    def action_back(self) -> None:
        self.view.action_back()

    def action_unscope(self) -> None:
        if self.session.poller.query.company is not None:
            self.set_scope(None)

    def action_poll_now(self) -> None:
        """Ask the platform now, bring the list up to date, and read a key again that is refused."""
        self.view.bring_up_to_date()
        self.session.poller.poll_now()
        start_worker(self, self.key_renewal.asked, "read the key again")

    def action_take_back(self) -> None:
        """Take back the yes to the task under the cursor, else the newest that is held."""
        here = self.view.subject()
        task = self.session.decisions.take_back(here.id if isinstance(here, Task) else None)
        if task is None:
            self.say("nothing is held back that could be taken back")
        else:
            self.say(f"{signs.good} {task.title}: taken back, nothing was sent")

    def action_help(self) -> None:
        keys = self.session.settings.keys
        self.app.push_screen(HelpScreen(self.place, keys, self.denied))

    @on(StatusLine.Pressed)
    def _pressed(self, event: StatusLine.Pressed) -> None:
        if event.line is self.tabs:
            self.turn_to(event.key)  # type: ignore[arg-type]
        elif event.line is self.footer:
            self.run_command(event.key)

    def run_command(self, command_id: str) -> None:
        for node, binding, *_ in self.active_bindings.values():
            if binding.id == command_id:
                start_worker(self, partial(self.app.run_action, binding.action, node), command_id)
                return

    @cached_property
    def dialogs(self) -> DialogRouter:
        """All that comes over the frame; imported here, and only here, when it is first wanted."""
        from agentco_tui.screens.dialogs.router import DialogRouter  # noqa: PLC0415

        return DialogRouter(self)

    @cached_property
    def key_renewal(self) -> KeyRenewal:
        """Reads the key again; imported here, and only here, when that is first wanted."""
        from agentco_tui.screens.reload_key import KeyRenewal  # noqa: PLC0415

        return KeyRenewal(self)

    async def _follow_journal(self) -> None:
        """Tell of other dashboards, settle what other runs left, say when the journal fails."""
        told = None
        while True:
            try:
                found = await self.session.follow()
            except JournalError as error:
                self.say(f"{signs.warning} {error.sentence}", bad=True)
                return
            self.session.decisions.follow(found.elsewhere)
            if found.left and (left := await self.session.claim(found.left)):
                work = partial(self.dialogs.take_up, left)
                start_worker(self, work, "settle what another run left open", group="writes")
            if found.trouble is not None and found.trouble != told:
                self.say(f"{signs.warning} {found.trouble}", bad=True)
            told = found.trouble
            await asyncio.sleep(FOLLOW_EVERY)

    def leave_first(self) -> bool:
        """Leaving was asked for: leave the prompt if words are being typed into it."""
        typing = self.prompt.display
        if typing:
            self.prompt.action_leave()
        return typing

    def say(self, words: str, *, bad: bool = False) -> None:
        severity: Literal["warning", "information"] = "warning" if bad else "information"
        self.app.notify(safe(words), markup=False, severity=severity, timeout=8 if bad else 4)

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.show_frame)

    def focus_again(self) -> None:
        if self.prompt.display:
            self.set_focus(self.prompt.input)
        else:
            self.set_focus(self.view.detail if self.view.reading else self.view.table)
