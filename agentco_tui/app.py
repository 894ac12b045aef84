"""Wiring: settings to a session, and a Textual app round it."""

from __future__ import annotations

import gc
import io
import logging
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from rich.console import Console
from textual import events
from textual.binding import Binding, BindingType
from textual.filter import LineFilter, NoColor
from textual.notifications import Notification, Notify
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from agentco_tui.actions.journal import Journal
from agentco_tui.actions.services import Permissions, Timing
from agentco_tui.api.client import Client, open_client
from agentco_tui.api.credentials import ApiKey, KeyInUse
from agentco_tui.api.fetcher import Prefetch
from agentco_tui.config import Settings, Switch, off_by
from agentco_tui.history.history import History
from agentco_tui.keys.commands import SCREENS, Place
from agentco_tui.live.feeds import Clock, Query
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from agentco_tui.screens.calls import Calls
from agentco_tui.screens.dialogs.base import Dialog
from agentco_tui.screens.frame import MainScreen
from agentco_tui.screens.key_app import KeyApp
from agentco_tui.screens.session import Session
from agentco_tui.system.state_folder import (
    HISTORY_FILE,
    REMEMBERED_FILE,
    Remembered,
    made_state_folder,
    recall,
    remember,
    state_folder,
    why_not_writable,
)
from agentco_tui.terminal.ground import is_light
from agentco_tui.terminal.guard import TerminalGuard
from agentco_tui.terminal.line_speed import SPEED
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.textual_patches import compositor
from agentco_tui.textual_patches.driver import JobControlDriver
from agentco_tui.widgets import themes
from agentco_tui.widgets.workers import start_worker

if TYPE_CHECKING:
    from agentco_tui.api.recording import Recorder, Recording
    from agentco_tui.live.watcher import Watcher
    from agentco_tui.screens.settings_watch import Reread

NOTHING_REMEMBERED = Remembered()
log = logging.getLogger(__name__)
READ_REST = 1.0
"""Seconds after which what no first picture needs is read from disk: before a person has decided
anything, and after the first answers have been shown."""
SETTLED = 3.0  # seconds after which the program is taken to be imported as far as it is used
TURN = 0.001  # seconds that a thread reading a long answer may keep the event loop waiting


def read_the_rest() -> None:
    """Import the dialogs, so that the first key that wants one doesn't wait for them."""
    import agentco_tui.history.sampler  # noqa: PLC0415
    import agentco_tui.screens.dialogs.router  # noqa: F401, PLC0415


def settle_memory() -> None:
    """Let the collector pass over all that was made at the start, and begin to collect.

    A hundred thousand objects of imported modules would otherwise hold up the event loop for 30
    to 50 ms whenever it looks through all.
    """
    gc.freeze()
    gc.enable()


class DashboardApp(KeyApp):
    TITLE = "agentco-tui"
    ALLOW_SELECT = False
    """Mouse-down on a toast ends the app in Textual 8.2.8 while selecting text is on."""
    ENABLE_COMMAND_PALETTE = False
    """The frame has its key; Textual's own would be there in every dialog."""
    CSS = """
    Screen { scrollbar-size-vertical: 1; }
    Toast { padding: 0 1; margin-top: 0; }
    .-phone Toast { max-width: 100%; }
    .-thin Dialog { background: transparent; }
    Input:nocolor > .input--cursor { text-style: reverse; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority, or no dialog and no input would let them through. So they have no id: bound
        # to a letter, as `[keys]` might, they would act while it is typed.
        Binding("ctrl+z", "suspend_process", "Suspend", show=False, system=True, priority=True),
        Binding("ctrl+c", "leave", "Quit", show=False, system=True, priority=True),
    ]

    def __init__(
        self,
        session: Session,
        place: Place,
        remembered: Remembered = NOTHING_REMEMBERED,
        by: Switch | None = None,
        reread: Reread | None = None,
    ) -> None:
        """`by` what it begins; `reread` gives the settings once their file was saved."""
        compositor.install_shown_events()
        super().__init__()
        self.session = session
        self.place = place
        self._remembered, self._by, self._reread = remembered, by, reread
        self.main_screen: MainScreen | None = None
        self._unrecorded: SafeText | None = None  # why answers aren't recorded, as it was told
        self._said: list[Notification] = []  # notices that may still stand in the corner
        for theme in (*themes.THEMES, *themes.SIXTEEN):
            self.register_theme(theme)
        self._theme_as_wanted()

    def _theme_as_wanted(self) -> None:
        for name, roles in self.session.settings.themes.items():
            self.register_theme(themes.made(name, **roles))
        self.theme = self.wanted_theme()

    def watching(self, settings: Settings, key: KeyInUse) -> AbstractAsyncContextManager[Watcher]:
        """Watches another platform."""
        from agentco_tui.commands.watch import watching  # noqa: PLC0415 (for all profiles only)

        return watching(settings, key, log.warning)

    def wanted_theme(self) -> str:
        """That of a flag, else the one chosen last, unless the settings named another then, else
        that of the settings, else of the environment, which Textual has taken already, else what
        goes with the terminal's ground.
        """
        settings = self.session.settings
        chosen = self._chosen_theme()
        if chosen in self.available_themes:
            return chosen
        if settings.theme or "TEXTUAL_THEME" in os.environ:
            return settings.theme or self.theme
        return themes.LIGHT if is_light() else themes.DEFAULT

    def _chosen_theme(self) -> str | None:
        """The theme that was chosen last, if a flag or the settings don't name another now."""
        last = self._remembered
        is_by_flag = self.session.settings.sources.get("theme") == "--theme"
        if is_by_flag or last.theme_over != self.session.named_theme:
            return None
        return last.theme

    def _warn_of_theme(self, name: str) -> None:
        """Say that a theme that is in use has no file that can be read."""
        words = "its file is missing or wrong (agentco-tui config check says what is wrong)"
        self._warn(plain(f"the theme {safe(name, 40)} cannot be read: {words}"))

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Under NO_COLOR nothing has a colour; Textual itself would go over to greys."""
        return [NoColor()] if self.no_color else super().get_line_filters()

    def get_default_screen(self) -> Screen[None]:
        need = None if self._by is None else self._by.need
        self.main_screen = MainScreen(self.session, self.place, self._remembered, need)
        return self.main_screen

    def on_mount(self) -> None:
        """Start polling once the first picture is on its way."""
        self.error_console = Console(file=io.StringIO())
        self.set_keymap(dict(self.session.settings.keys))
        self.set_class(self.session.thin, "-thin")
        # In a thread: the interpreter's turns between threads are short (TURN), so keys go first.
        read = partial(self.run_worker, read_the_rest, thread=True, description="read the dialogs")
        self.set_timer(READ_REST, read, name="rest")
        self.set_timer(SETTLED, settle_memory, name="memory")
        frame = cast(MainScreen, self.main_screen)
        self.set_interval(1.0, self._look_at_the_line, name="line")
        if (recorder := self.session.client.transport.recorder) is not None:
            self.notify(plain(f"recording to {safe(str(recorder.path), 200)}"), markup=False)
            look = partial(self._look_at_the_recording, recorder)
            self.set_interval(1.0, look, name="recording")
        self.call_after_refresh(frame.paint_as_told)
        off = self.session.permissions.off
        if off is not None and not self.session.settings.read_only:
            self._warn(off)
        if self._by is not None and self._by.told is not None:
            self._warn(self._by.told)
        chosen = self._chosen_theme()
        if chosen is not None and chosen not in self.available_themes:
            self._warn_of_theme(chosen)
        if self._by is not None and not self._by.profile:
            self.call_after_refresh(lambda: frame.dialogs.switch(""))
        if self._reread is not None:  # no replay: nobody is called for what is past
            self.set_timer(SETTLED, partial(Calls, self, self.session), name="calls")
            follow = partial(start_worker, self, self._follow_settings, "follow the settings")
            self.set_timer(READ_REST, follow, name="settings")
        if self.session.history is not None:
            self.session.history.on_trouble = self._warn
            remember = partial(start_worker, self, self._remember, "remembers and looks ahead")
            self.set_timer(SETTLED, remember, name="history")
        start_worker(self, self._live, "keeps the picture up to date", name="poller")

    async def _remember(self) -> None:
        """Begin to remember, what is there by now, too, and look ahead by it."""
        if self.session.history is not None:
            await self.session.poller.backfill.remember(self.session.history)
            await self.session.outlook.run()

    def _warn(self, words: SafeText) -> None:
        self.notify(words, markup=False, severity="warning", timeout=30)

    async def _follow_settings(self) -> None:
        from agentco_tui.screens.settings_watch import follow_settings  # noqa: PLC0415

        assert self._reread is not None
        await follow_settings(self.session, self._reread, self.take_settings, self._warn)

    def take_settings(self, settings: Settings) -> None:
        """Use others from now on, and show what follows from them."""
        frame, before = self.main_screen, self.session.settings
        assert frame is not None
        self.session.take_settings(settings)
        self._set_attention(focused=self.app_focus)
        self.set_keymap(dict(settings.keys))
        if (settings.theme, settings.themes) != (before.theme, before.themes):
            if self.theme in before.themes and self.theme not in settings.themes:
                self._warn_of_theme(self.theme)
            self._remembered = frame.remembered()
            # Of one name with other colours Textual would see no change.
            self.theme = themes.DEFAULT
            self._theme_as_wanted()
        self.session.needs_refresh.start(frame)
        frame.open_views()
        frame.paint_as_told()

    def _look_at_the_line(self) -> None:
        """Paint less when the terminal takes long to swallow what is written, and say so."""
        was_thin, slow = self.session.thin, SPEED.look(SPEED.took())
        self.session.thin = slow or self.session.settings.thin
        if self.session.thin is not was_thin and self.main_screen is not None:
            self.set_class(self.session.thin, "-thin")
            self.main_screen.paint_as_told()
            told = "keeps up again: everything is painted"
            if slow:
                told = "takes long to show what is written: painting less until it keeps up"
            self.main_screen.say(f"the terminal {told}")

    def _look_at_the_recording(self, recorder: Recorder) -> None:
        """Say when answers can't be recorded, and when they can again."""
        if recorder.trouble != self._unrecorded and self.main_screen is not None:
            self._unrecorded = recorder.trouble
            words = recorder.trouble or "answers are recorded again"
            self.main_screen.say(words, bad=recorder.trouble is not None)

    async def _live(self) -> None:
        async with self.session.client:
            try:
                await self.session.poller.run()
            finally:
                # Reads of the actions are tasks of their own; they must not outlive the client.
                await self.session.close()

    def on_app_focus(self) -> None:
        """The terminal has the person's eyes again."""
        self._set_attention(focused=True)

    def on_app_blur(self) -> None:
        """Nobody looks: the screen is polled more slowly, unless its user is to be notified."""
        self._set_attention(focused=False)

    def _set_attention(self, *, focused: bool) -> None:
        poller = self.session.poller
        was_slowed_to = poller.slowed_to
        poller.set_attention(focused, notifies=self.session.settings.notify.is_on)
        if self.main_screen is not None and poller.slowed_to != was_slowed_to:
            self.main_screen.show_frame()

    async def turn_comes(self, event: events.Key) -> bool:
        self._set_attention(focused=True)  # also where the terminal never reports it
        if self.main_screen is not None:
            self.main_screen.look_for_absence()
        return await super().turn_comes(event)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A worker that failed ends the app: its error is told by the guard, not lost."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            raise event.worker.error

    async def action_view(self, at: int) -> None:
        """Show a view, by its place in the settings."""
        main, views = self.main_screen, self.session.settings.views
        if main is not None and at < len(views):
            await main.action_show(cast("Place", views[at].screen), views[at].name)
        elif main is not None:
            main.say("no view has this key: [views.NAME] in the settings makes one")

    def action_leave(self) -> None:
        """Leave what stands over the frame, as no answer to it; else the program."""
        screen: object = self.screen
        if isinstance(screen, MainScreen | Dialog) and screen.leave_first():
            return
        self.leave()

    def leave(self, switch: Switch | None = None) -> None:
        # What is held back is taken back first, and told; the next time the dashboard is left.
        held = self.session.decisions.take_all_back()
        if held and self.main_screen is not None:
            self.main_screen.return_to(held[-1])
            titles = ", ".join(self.session.titled(task.title, task) for task in held)
            again = "leaves" if switch is None else "switches"
            words = f"taken back, nothing was sent (once more {again}): {titles}"
            self.main_screen.say(f"{signs.good} {words}", bad=True)
        if not held:
            super().leave(switch)

    def on_notify(self, event: Notify) -> None:
        """Say a thing once: leave out what stands in the corner already. Nothing is put over a
        question, whose every word counts: it is said when that is closed.
        """
        new, screen = event.notification, self.screen
        if isinstance(screen, Dialog) and screen.ASKS:
            event.prevent_default()
            again = partial(self.notify, markup=False, severity=new.severity, timeout=new.timeout)
            screen.until_closed.insert(0, partial(self.call_later, again, new.message))
            return
        self._said = [old for old in self._said if not old.has_expired]
        said = {(old.title, old.message, old.severity) for old in self._said}
        if (new.title, new.message, new.severity) in said:
            event.prevent_default()
        else:
            self._said.append(new)
            if self.main_screen is not None:
                self.main_screen.call_after_refresh(self.main_screen.keep_clear)

    def clear_notifications(self) -> None:
        self._said.clear()
        super().clear_notifications()

    async def action_quit(self) -> None:
        self.action_leave()

    def stopped(self) -> None:
        """What asks for a yes is closed, with all above it: a `y` may be typed at the shell."""
        over = [screen for screen in self.screen_stack if isinstance(screen, Dialog)]
        while any(screen.ASKS for screen in over):
            over.pop().dismiss(None)


def make_session(
    settings: Settings,
    client: Client,
    journal_path: Path,
    clock: Clock | None = None,
    timing: Timing | None = None,
    *,
    poller_class: type[Poller] = Poller,
    history: History | None = None,
) -> Session:
    clock = clock or Clock(lambda: client.transport.measured.clock_skew)
    query = Query(company=settings.company)
    poller = poller_class(client, Store(), clock, refresh=settings.refresh, query=query)
    off = off_by(settings)
    if off is None and (why := why_not_writable(journal_path.parent)) is not None:
        off = plain(
            f"writing is off: the state folder {safe(str(journal_path.parent), 200)} can't be "
            f"written ({why}), and nothing is sent without the journal; mend that and start again"
        )
    journal = Journal(journal_path, client.transport.key.redact)
    return Session(
        settings,
        client,
        poller,
        journal,
        history=history,
        permissions=Permissions(off),
        timing=timing or Timing(hold_one=settings.hold),
    )


def run_dashboard(
    settings: Settings,
    key: KeyInUse | None,
    start: Prefetch | None = None,
    recorder: Recorder | None = None,
    history_path: Path | None = None,
    *,
    by: Switch | None = None,
    reread: Reread | None = None,
    typed: bytes = b"",
) -> int | Switch:
    """Run the dashboard to its end; returns the exit code, or what is to come next, with nothing
    left of this one. `start` was sent before.

    `key` is used from the start on; it is told of another that takes its place. Of the demo there
    is a history only where a path is given for it. `by` and `reread` are the app's; `typed` was
    read from the terminal already.
    """
    sys.setswitchinterval(TURN)
    compositor.install_partial_paint()
    options = {**settings.line, "mapping": settings.mapping, "recorder": recorder}
    client = open_client(settings.base_url, key, attempts=1, **options)
    client.prefetch = start
    folder = state_folder()
    memory, history = folder / REMEMBERED_FILE, None
    # The embedded platform begins anew each time, and so does what is shown of it.
    keeps = settings.profile != "demo"
    redact, most_bytes = client.transport.key.redact, settings.history_mb * 1_000_000
    if settings.history and (keeps or history_path is not None):
        path, about = history_path or folder / HISTORY_FILE, str(settings.base_url)
        history = History(path, settings.profile, about, redact=redact, most_bytes=most_bytes)
    session = make_session(settings, client, folder / "journal.jsonl", history=history)
    recalled = recall(memory) if keeps else {}
    remembered = recalled.get(settings.profile, NOTHING_REMEMBERED)
    wanted = "overview" if by and by.need else settings.screen or remembered.screen
    place: Place = next((p for p in SCREENS if p == wanted), "overview")
    app = DashboardApp(session, place, remembered, by, reread)

    def keep() -> None:
        if keeps and app.main_screen is not None:
            remember(memory, settings.profile, app.main_screen.remembered())
        if history is not None:
            history.close()

    try:
        JobControlDriver.typed = typed
        guard = TerminalGuard(app, crash_folder=made_state_folder, redact=redact, on_end=keep)
        code = guard.run()
        if app.switch is None or code != 0:
            return code
        guard.close()
        return app.switch
    finally:
        session.snoozes.sync()
        session.journal.close()
        # What was sent and is not settled; the dashboard is gone from the terminal.
        from agentco_tui.commands.journal_command import leaving  # noqa: PLC0415 (only a dashboard that ends)
        from agentco_tui.commands.running import complain  # noqa: PLC0415

        with suppress(OSError):
            complain(*leaving(session.journal, time.time()))


def replay_app(settings: Settings, recording: Recording, folder: Path) -> DashboardApp:
    """The dashboard on a recording: no request leaves this machine, and `folder` gets what would
    be written of decisions, which there are none of.
    """
    from agentco_tui.api.transport import Transport  # noqa: PLC0415
    from agentco_tui.live.replay import Player, ReplayClock, ReplayPoller  # noqa: PLC0415
    from agentco_tui.screens.replay_screen import ReplayScreen  # noqa: PLC0415

    class ReplayApp(DashboardApp):
        def get_default_screen(self) -> Screen[None]:
            self.main_screen = ReplayScreen(self.session, self.place)
            return self.main_screen

    clock = ReplayClock(recording)
    key = KeyInUse(ApiKey(secrets.token_hex(20)))
    answer = Player(recording, clock).answer
    transport = Transport(settings.base_url, key, attempts=1, clock=clock.time, replay=answer)
    client = Client(transport, mapping=settings.mapping)
    journal = folder / "journal.jsonl"
    session = make_session(settings, client, journal, clock, poller_class=ReplayPoller)
    place: Place = next((p for p in SCREENS if p == settings.screen), "overview")
    return ReplayApp(session, place)


def run_replay(settings: Settings, recording: Recording) -> int:
    """Show a recording until the person leaves; returns the exit code."""
    sys.setswitchinterval(TURN)
    compositor.install_partial_paint()
    with tempfile.TemporaryDirectory(prefix="agentco-tui-") as folder:
        app = replay_app(settings, recording, Path(folder))
        try:
            return TerminalGuard(app, crash_folder=made_state_folder).run()
        finally:
            app.session.journal.close()
