"""The frame round the six screens: header, tabs, the screen shown, prompt and footer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.widget import AwaitMount

from agentco_tui.actions.journal_file import JournalError
from agentco_tui.actions.outcome import Verb
from agentco_tui.api.errors import ApiError, KeyRejected
from agentco_tui.background import start_worker
from agentco_tui.keys import COMMANDS, Place
from agentco_tui.live.feeds import FeedName, Query, paces
from agentco_tui.live.store import Change
from agentco_tui.model import Agent, Company, Task
from agentco_tui.screens.decision_notes import open_cells
from agentco_tui.screens.header_footer import footer_cells, header_left, header_right, tab_cells
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.screens.prompts import Destination, FilterWords, GoToWords
from agentco_tui.screens.session import Session
from agentco_tui.screens.sized_screen import SizedScreen
from agentco_tui.screens.task_list_view import TaskListView
from agentco_tui.state_folder import ListMemory, Remembered
from agentco_tui.text import safe, signs
from agentco_tui.widgets.prompt import Prompt
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.tones import total_width

if TYPE_CHECKING:
    from agentco_tui.screens.dialogs.router import DialogRouter
    from agentco_tui.screens.reload_key import KeyRenewal

BENEATH = 0.5
"""Seconds after which lines that stand beneath a dialog say what has become of them."""
FOLLOW_EVERY = 1.0
"""Seconds between two looks at the journal, into which other dashboards write too."""


class MainScreen(SizedScreen[None]):
    """One frame; the six screens are made when they are first visited."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("every")
    AUTO_FOCUS = None
    """Else the hidden prompt would get the keys before the first list is there."""

    DEFAULT_CSS = """
    MainScreen { layout: vertical; background: $background; }
    MainScreen .frame--header { background: $panel; }
    MainScreen .frame--tabs { background: $surface; }
    MainScreen .frame--body { height: 1fr; }
    MainScreen .frame--footer { background: $panel; }
    """

    def __init__(self, session: Session, place: Place, remembered: Remembered) -> None:
        super().__init__()
        self._remembered = remembered
        self.session = session
        self.place = place
        self.views: dict[Place, ListView[Any]] = {}
        self.header = StatusLine(classes="frame--header")
        self.tabs = StatusLine(classes="frame--tabs")
        self.body = Container(classes="frame--body")
        self.prompt = Prompt()
        self.footer = StatusLine(classes="frame--footer")
        self._footer_for: tuple[object, ...] | None = None
        self._decided: set[str] = set()

    def compose(self) -> ComposeResult:
        """Header, tabs, body, prompt, footer.

        The first screen is composed with the frame, not mounted after it: so the first picture is
        whole, and has what was answered by then. From before there are widgets to show it in,
        nothing of the store is missed.
        """
        store = self.session.store
        store.subscribe(self.take)
        store.subscribe_freshness(self.take_freshness)
        self.session.decisions.subscribe(self.take_decisions)
        view = self._made(self.place)
        # Its answer may be here already. What is asked beside it waits for the first picture,
        # which sending and reading four more would put off by as much as drawing it takes.
        first = FeedName.PENDING
        self.session.poller.set_paces({first: paces(self.place)[first]})
        yield self.header
        yield self.tabs
        with self.body:
            yield view
        yield self.prompt
        yield self.footer

    def on_mount(self) -> None:
        """Have all else begin after the first picture."""
        self.session.permissions.subscribe(self.show_footer)
        self.show_frame()
        self.call_after_refresh(self._go_on)

    def _go_on(self) -> None:
        """The first picture is on its way: read the other feeds, and give the list the keys."""
        self.set_paces()
        self._focus_list()
        self.set_interval(1.0, self.tick, name="ages")
        start_worker(self, self._follow_journal, "follow the journal")

    @property
    def view(self) -> ListView[Any]:
        return self.views[self.place]

    # ---- the store

    def take(self, change: Change) -> None:
        late = self.session.decisions.take(change)
        with self.app.batch_update():
            for view in self.views.values():
                view.take(change)
            if change.feed is FeedName.ACTIVITY:
                entries = map(self.session.store.activity.get, change.added)
                about = [entry.task for entry in entries if entry is not None]
                self._renote({ref.id for ref in about if ref is not None and ref.id is not None})
            self.show_frame()
        for decision in late:
            work = partial(self.dialogs.read_after_all, decision)
            start_worker(self, work, f"read {decision.task.id} after all", group="writes")

    def _renote(self, task_ids: Iterable[str]) -> None:
        for view in self._task_lists():
            view.renote(task_ids)

    def _task_lists(self) -> Iterable[TaskListView[Any]]:
        return (view for view in self.views.values() if isinstance(view, TaskListView))

    def take_decisions(self, task_ids: Iterable[str]) -> None:
        """Decisions have changed: their lines say so, soon, for sets change many at once.

        Later where a dialog stands over them: whatever is painted beneath it paints it anew, too.
        """
        if not self._decided and self.app.screen is self:
            self.call_later(self._show_decisions)
        elif not self._decided:
            self.set_timer(BENEATH, self._show_decisions, name="decisions")
        self._decided.update(task_ids)

    def _show_decisions(self) -> None:
        changed, self._decided = self._decided, set()
        for view in self._task_lists():
            view.take_decisions()
        self._renote(changed)
        self.show_frame()

    def paint_as_told(self) -> None:
        """Paint less on a thin line, else all."""
        for view in self.views.values():
            view.paint_as_told()
        self.show_frame()

    def take_freshness(self, feed: FeedName) -> None:
        if feed in self.view.feeds:
            self.view.take_freshness()
        self.show_frame()
        # If it was refused, another key may be in its file by now.
        place = self.session.settings.key_place
        refused = isinstance(self.session.store.freshness[feed].failure, KeyRejected)
        if refused and place is not None and place.is_file:
            start_worker(self, self.key_renewal.refused, "look for another key")

    def tick(self) -> None:
        if self.session.thin.tells_ages():
            self.view.tick()
            self.show_frame()

    def show_frame(self) -> None:
        """Header and tabs; only what differs is painted."""
        width = self.size.width
        self.header.show(header_left(self.session), header_right(self.session, self.view.feeds))
        self.tabs.show(tab_cells(self.session, self.place, width))
        self.show_footer()

    def show_footer(self) -> None:
        reading, denied = self.view.reading, self.denied()
        decisions = open_cells(self.session)
        drawn_for = (self.place, denied, reading, self.size.width, tuple(decisions))
        if drawn_for == self._footer_for:
            return
        self._footer_for = drawn_for
        width = self.size.width - total_width(decisions)
        keys = self.session.settings.keys
        cells = footer_cells(self.place, keys, denied, reading=reading, width=width)
        self.footer.show([*decisions, *cells])

    # ---- which screen

    async def action_show(self, place: Place) -> None:
        """Show one of the six screens; keys typed on wait until its list is there to take them."""
        await self.turn_to(place)
        self._focus_list()

    def _made(self, place: Place) -> ListView[Any]:
        """A screen that is visited for the first time, as it was left; its module is read now."""
        module = import_module(f"agentco_tui.screens.{place}_view")
        view: ListView[Any] = getattr(module, f"{place.title()}View")(self.session)
        view.recall(self._remembered.lists.get(place, ListMemory()))
        self.views[place] = view
        return view

    def turn_to(self, place: Place) -> AwaitMount:
        """Show one of the six screens; wait for the result to be sure that it is mounted."""
        new = [] if place in self.views else [self._made(place)]
        mounted = self.body.mount(*new)
        self.place = place
        # A widget that is hidden with the focus on it gives it up later, whoever has it by then.
        self.set_focus(None)
        for other, view in self.views.items():
            view.display = other == place
        self.set_paces()
        if not new:
            self.view.arrive()
            self._focus_list()
            self.view.take_freshness()
        self.call_after_refresh(self._focus_list)
        self.show_frame()
        return mounted

    def _focus_list(self) -> None:
        if not self.prompt.display:
            self.set_focus(self.view.wants_keys)

    def remembered(self) -> Remembered:
        """How the dashboard is left: the screen, and the lists that were visited."""
        visited = {str(place): view.memory for place, view in self.views.items()}
        return Remembered(self.place, {**self._remembered.lists, **visited})

    def set_paces(self) -> None:
        """Poll what the screen shows at the refresh rate, what is always needed more slowly."""
        all_tasks = self.place == "tasks" and FeedName.TASKS in self.view.feeds
        self.session.poller.set_paces(paces(self.place, all_tasks=all_tasks))

    def show_record(self, place: Place, row_id: str) -> None:
        self.turn_to(place)
        view = self.view

        def go() -> None:
            if not view.go_to(row_id):
                self.say("that is not in the list any more")

        # The view's own queue: a view that is visited first has its rows only once it is mounted.
        view.call_after_refresh(go)

    def set_scope(self, company_id: str | None) -> None:
        query = self.session.poller.query
        for view in self.views.values() if company_id != query.company else ():
            view.leave_scope()
        self.session.poller.set_query(Query(company=company_id, activity=query.activity))
        for view in self.views.values():
            view.rescope()
        self.show_frame()
        scope = self.session.names.scope(company_id)
        self.say(f"every screen shows {scope} now")

    # ---- prompt

    def ask_filter(self, view: ListView[Any]) -> None:
        """Let the person type a filter; it works while it is typed."""
        self.footer.display = False
        FilterWords(self, view)

    def action_go_to(self) -> None:
        self.footer.display = False
        GoToWords(self, self.session.store)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Keys that go elsewhere leave the prompt, or escape could not; a filter stays."""
        if self.prompt.display and self.focused is not self.prompt.input:
            self.close_prompt()

    def close_prompt(self) -> None:
        """Hide the prompt; the list has the keys again, and that at once."""
        self.set_focus(None)
        self.prompt.close()
        self.footer.display = True
        self._focus_list()
        self.call_after_refresh(self._focus_list)

    async def travel(self, to: Destination) -> None:
        """Go where the words lead; done when the list there can take keys."""
        if to.scope is not None:
            self.set_scope(to.scope or None)
        await self.action_show(to.place)
        status = getattr(self.view, "show_status", None)
        if to.place == "tasks" and to.status is not None and status is not None:
            self.view.call_after_refresh(status, to.status)
        if to.record_id is not None:
            self.show_record(to.place, to.record_id)

    # ---- commands

    def action_back(self) -> None:
        self.view.action_back()

    def action_unscope(self) -> None:
        if self.session.company is not None:
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
        self.dialogs.help(self.place, self.denied())

    def denied(self) -> dict[str, str]:
        denied = self.session.permissions.denied
        reasons = {one.id: denied(Verb(one.verb)) for one in COMMANDS if one.verb is not None}
        return {id_: reason for id_, reason in reasons.items() if reason is not None}

    @on(StatusLine.Pressed)
    def _pressed(self, event: StatusLine.Pressed) -> None:
        if event.line is self.tabs:
            self.turn_to(event.key)  # type: ignore[arg-type]
        elif event.line is self.footer:
            self.run_command(event.key)

    def run_command(self, command_id: str) -> None:
        """Do what a key does, for a click on it or a choice in the palette."""
        for node, binding, *_ in self.active_bindings.values():
            if binding.id == command_id:
                start_worker(self, partial(self.app.run_action, binding.action, node), command_id)
                return

    # ---- what comes over it, and what is read beside the feeds

    @cached_property
    def dialogs(self) -> DialogRouter:
        """All that comes over the frame; imported here, and only here, when it is first wanted."""
        from agentco_tui.screens.dialogs.router import DialogRouter  # noqa: PLC0415

        return DialogRouter(
            self, self.session, say=self.say, unmark=self._unmark, filtered=self._filtered
        )

    def _unmark(self, task_ids: Iterable[str]) -> None:
        view = self.views.get("tasks")
        if view is not None:
            view.unmark(task_ids)  # type: ignore[attr-defined]

    def _filtered(self) -> None:
        if "activity" in self.views:
            self.views["activity"].rescope()
        self.show_frame()

    @cached_property
    def key_renewal(self) -> KeyRenewal:
        """Reads the key again; imported here, and only here, when that is first wanted."""
        from agentco_tui.screens.reload_key import KeyRenewal  # noqa: PLC0415

        return KeyRenewal(self.session, self.say)

    def read_record(self, feed: FeedName, record_id: str) -> None:
        """Read an agent or a company by itself: the list may leave fields out that it has."""
        client, name = self.session.client, f"read {feed}"

        async def read() -> None:
            read_one = client.agent if feed is FeedName.AGENTS else client.company
            try:
                record: Agent | Company = await read_one(record_id)
            except ApiError as error:
                self.say(str(error), bad=True)
                return
            self.view.show_whole(feed, record)

        start_worker(self, read, name, group=name)

    async def _follow_journal(self) -> None:
        """Show what other dashboards of this machine do, settle what other runs left without an
        outcome, and tell when nothing can be written down any more.
        """
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

    # ---- small things

    def leave_first(self) -> bool:
        """Leaving was asked for: leave the prompt if words are being typed into it."""
        if typing := self.prompt.display:
            self.prompt.action_leave()
        return typing

    def say(self, words: str, *, bad: bool = False) -> None:
        """Show a short message, longer if it is `bad`."""
        severity: Literal["warning", "information"] = "warning" if bad else "information"
        self.app.notify(safe(words), markup=False, severity=severity, timeout=8 if bad else 4)

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.show_frame)

    def focus_again(self) -> None:
        if self.prompt.display:
            self.prompt.take_keys()
        else:
            self._focus_list()
