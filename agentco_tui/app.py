"""The dashboard as a Textual app: starts what runs beside the screen, and handles Textual's events.

The screen itself is `MainScreen` (the frame: header, tabs, the list of the tab, footer). `KeyApp`
notes each key press and ends the app. The app runs the workspace (what is known in memory of one
platform, the service that is watched: polling, history, renewal of the API key) in a worker,
follows the settings file and the speed of the terminal, shows notices, and leaves. A `Switch` ends
the app and has another one started for another profile, which is the user's name for a platform
with its key and settings. `Remembered` is how the profile's dashboard was left the last time.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias, cast

from rich.console import Console
from textual import events
from textual.binding import Binding, BindingType
from textual.filter import LineFilter, NoColor
from textual.notifications import Notify
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from agentco_tui.api.errors import KeyRejected, NotAllowed, NotFound
from agentco_tui.config import Problem, Settings, Switch, how_to_choose
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import FeedName
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.dialogs.base import Dialog
from agentco_tui.screens.frame import MainScreen
from agentco_tui.screens.key_app import KeyApp
from agentco_tui.screens.notices import Notices, repeat_of
from agentco_tui.screens.preload import preload_dialogs
from agentco_tui.screens.recording_watch import RecordingWatch
from agentco_tui.screens.take_back import take_back_all
from agentco_tui.screens.theme_choice import ThemeChoice, unreadable_words
from agentco_tui.screens.views import open_views_soon
from agentco_tui.system.allocator import give_back_freed_memory
from agentco_tui.system.garbage import GrowthFreezer, collect_as_usual
from agentco_tui.system.state_folder import Remembered
from agentco_tui.terminal.background_color import is_background_light
from agentco_tui.terminal.line_speed import SPEED
from agentco_tui.text import SafeText, clean_line, mark_safe
from agentco_tui.textual_patches import compositor
from agentco_tui.widgets import themes
from agentco_tui.widgets.workers import start_worker

if TYPE_CHECKING:
    from agentco_tui.api.capabilities import Recognised
    from agentco_tui.screens.settings_watch import Reread

log = logging.getLogger(__name__)

Recognise: TypeAlias = "Callable[[], Awaitable[tuple[Recognised | None, list[Problem]]]]"
"""Returns the platform that was recognised, and what is wrong with files of platforms."""
NOTHING_REMEMBERED: Final = Remembered()
PRELOAD_AFTER: Final = 1.0
"""Seconds after the start until the dialogs are imported: the first answers are on the screen by
then, and the user has hardly decided anything yet."""
SETTLED_AFTER: Final = 3.0
"""Seconds after the start until most modules are imported; history and notifications start then."""
WARNING_SECONDS: Final = 30.0
"""Seconds for which a warning is shown."""


class DashboardApp(KeyApp):
    """The app of one profile.

    Its screens share a `DashboardContext`: the workspace, and what sends the user's changes.
    """

    TITLE = "agentco-tui"
    ALLOW_SELECT = False
    """Mouse-down on a toast ends the app in Textual 8.2.8 while selecting text is on."""
    ENABLE_COMMAND_PALETTE = False
    """The main screen has a key for its own; Textual's would open over every dialog."""
    # The class -thin is set while less is painted because the terminal is slow, -phone on a narrow
    # terminal.
    CSS = """
    Screen { scrollbar-size-vertical: 1; }
    Toast { padding: 0 1; margin-top: 0; }
    .-phone Toast { max-width: 100%; }
    .-thin Dialog { background: transparent; }
    Input:nocolor > .input--cursor { text-style: reverse; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority, as no dialog and no input would let them through. They have no id: bound to
        # a letter by the user's settings (`[keys]`), they would act while it is typed.
        Binding("ctrl+z", "suspend_process", "Suspend", show=False, system=True, priority=True),
        Binding("ctrl+c", "leave", "Quit", show=False, system=True, priority=True),
    ]

    def __init__(
        self,
        dashboard: DashboardContext,
        place: Place,
        remembered: Remembered = NOTHING_REMEMBERED,
        begun_by: Switch | None = None,
        reread: Reread | None = None,
    ) -> None:
        """`place` is the screen to start with, such as "overview".

        `begun_by` is the switch from another dashboard, if there was one. `reread` returns the
        settings after their file was saved; None for a replay of a recording, which also notifies
        of nothing.
        """
        workspace = dashboard.workspace
        compositor.install_shown_events()  # patches Textual: no Show event is lost
        super().__init__()
        self.dashboard = dashboard
        self.workspace = workspace
        self.place = place
        self.main_screen: MainScreen | None = None
        self._remembered = remembered
        self._begun_by = begun_by
        self._reread = reread
        self.recognise: Recognise | None = None
        """Returns the known platform that answers at the address, asked without a key; None if the
        settings say what its interface is."""
        self._notices = Notices()
        self._growth_freezer = GrowthFreezer()
        # By the terminal's background. A theme that the user chose is used instead.
        fallback = themes.LIGHT_THEME if is_background_light() else themes.DEFAULT_THEME
        self._theme_choice = ThemeChoice(self, fallback)
        self._theme_choice.apply(workspace.settings, remembered)

    # ---- starting

    def get_default_screen(self) -> Screen[None]:
        # The item of the list "needs you" on which the cursor is to be.
        need = None if self._begun_by is None else self._begun_by.need
        self.main_screen = MainScreen(self.dashboard, self.place, self._remembered, need)
        return self.main_screen

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Under NO_COLOR nothing has a colour; Textual itself would use greys."""
        return [NoColor()] if self.no_color else super().get_line_filters()

    def on_mount(self) -> None:
        """Start polling once the first picture is on its way."""
        give_back_freed_memory()
        # Textual would print tracebacks to the terminal; `TerminalGuard` reports errors.
        self.error_console = Console(file=io.StringIO())
        self.set_keymap(dict(self.workspace.settings.keys))
        self.set_class(self.dashboard.thin, "-thin")
        # In a thread. `cli.dashboard` has set so short an interval of thread switches
        # (THREAD_SLICE) that keys are handled meanwhile.
        preload = partial(
            self.run_worker, preload_dialogs, thread=True, description="import the dialogs"
        )
        self.set_timer(PRELOAD_AFTER, preload, name="preload")
        # Nothing was collected as garbage so far; the modules never are.
        self.set_timer(SETTLED_AFTER, collect_as_usual, name="memory")
        self._frame.ticker.checks += [self.check_line_speed, self._check_growth]
        self._watch_recording()
        self.call_after_refresh(self._frame.repaint_all)
        self._warn_at_start()
        if self._begun_by is not None and not self._begun_by.profile:
            # "" is the list of all profiles, with what needs the user on each of their platforms.
            self.call_after_refresh(lambda: self._frame.dialogs.switch_profile(""))
        if self._reread is not None:
            self.set_timer(SETTLED_AFTER, self._start_notifying, name="notifications")
            self.set_timer(PRELOAD_AFTER, self._start_following_settings, name="settings")
        if self.recognise is not None:
            self.workspace.store.follow_freshness(self._doubt_interface)
        if self.workspace.history is not None:
            self.workspace.history.on_trouble = self._warn
        start_worker(self, self._run_workspace, "keeps the picture up to date", name="poller")

    def _doubt_interface(self, feed: FeedName) -> None:
        """Called when a feed was answered or has failed.

        If the tasks that wait were refused at once, the platform may have another interface.
        """
        freshness = self.workspace.store.freshness[feed]
        recognise = self.recognise
        if feed is not FeedName.PENDING or freshness.awaited or recognise is None:
            return
        self.recognise = None  # only the first answer says something about the interface
        if isinstance(freshness.failure, KeyRejected | NotAllowed | NotFound):
            name_platform = partial(self._name_platform, recognise)
            start_worker(self, name_platform, "ask which platform it is")

    async def _name_platform(self, recognise: Recognise) -> None:
        # What is wrong with a file of another platform is not the matter here.
        found, _ = await recognise()
        if found is not None:
            self._warn(how_to_choose(found))

    def _check_growth(self) -> None:
        """Keep the records of a long list from delaying keys, once they are there."""
        self._growth_freezer.check(sum(map(len, self.workspace.store.collections.values())))

    @property
    def _frame(self) -> MainScreen:
        return cast(MainScreen, self.main_screen)

    async def _run_workspace(self) -> None:
        async with self.workspace.client:
            try:
                await self.workspace.run(history_after=SETTLED_AFTER)
            finally:
                await self.workspace.aclose()

    def _watch_recording(self) -> None:
        recorder = self.workspace.client.transport.recorder
        if recorder is not None:
            self.notify(
                mark_safe(f"recording to {clean_line(str(recorder.path), 200)}"), markup=False
            )
            # Reports when the recording can't be written, such as to a full disk.
            watch = RecordingWatch(recorder, self._frame.say)
            self._frame.ticker.checks.append(watch.check)

    def _warn_at_start(self) -> None:
        settings = self.workspace.settings
        off = self.dashboard.permissions.off  # why nothing can be changed, as a sentence
        if off is not None and not settings.read_only:
            self._warn(off)
        if self._begun_by is not None and self._begun_by.failure is not None:
            self._warn(self._begun_by.failure)
        # The theme that the user chose last, if its file can't be read.
        theme = self._theme_choice.unreadable(settings, self._remembered)
        if theme is not None:
            self._warn(unreadable_words(theme))

    def _start_notifying(self) -> None:
        # After the first picture.
        from agentco_tui.screens.notification_controller import (  # noqa: PLC0415
            NotificationController,
        )

        NotificationController(self, self.dashboard)

    def _start_following_settings(self) -> None:
        start_worker(self, self._follow_settings, "follow the settings")

    async def _follow_settings(self) -> None:
        from agentco_tui.screens.settings_watch import follow_settings  # noqa: PLC0415

        assert self._reread is not None
        # Checks the files every second, and calls `take_settings` after a change.
        await follow_settings(self.workspace, self._reread, self.take_settings, self._warn)

    # ---- changes

    def take_settings(self, settings: Settings) -> None:
        """Use other settings of the same platform from now on, and repaint."""
        before = self.workspace.settings
        self.dashboard.take_settings(settings)
        self._set_attention(focused=self.app_focus)
        self.set_keymap(dict(settings.keys))
        theme = self.theme
        self._remembered = self._frame.remembered()
        # False if the file of the theme in use has gone.
        if not self._theme_choice.apply_changed(before, settings, self._remembered):
            self._warn(unreadable_words(theme))
        # What needs the user depends on the thresholds in the settings; the views are lists that
        # the settings define.
        self.dashboard.needs_refresh.start(self._frame)
        open_views_soon(self._frame)
        self._frame.repaint_all()

    def check_line_speed(self) -> None:
        """Paint less (thin) while the terminal is slow to take what is written, and say so.

        `SPEED` has timed all writes since the last check.
        """
        was_thin = self.dashboard.thin
        is_slow = SPEED.update(SPEED.longest_write())
        self.dashboard.thin = is_slow or self.workspace.settings.thin
        if self.dashboard.thin is was_thin or self.main_screen is None:
            return
        self.set_class(self.dashboard.thin, "-thin")
        self.main_screen.repaint_all()
        if is_slow:
            words = "takes long to show what is written: painting less until it keeps up"
        else:
            words = "keeps up again: everything is painted"
        self.main_screen.say(f"the terminal {words}")

    def on_app_focus(self) -> None:
        self._set_attention(focused=True)

    def on_app_blur(self) -> None:
        """Poll the screen more slowly while no one looks, unless the user is to be notified."""
        self._set_attention(focused=False)

    def _set_attention(self, *, focused: bool) -> None:
        poller = self.workspace.poller
        interval_before = poller.unfocused_interval
        poller.set_attention(focused, notifies=self.workspace.settings.notify.is_on)
        if self.main_screen is not None and poller.unfocused_interval != interval_before:
            # The header says how often is polled.
            self.main_screen.lines.show()

    async def turn_comes(self, event: events.Key) -> bool:
        """Handle a key whose turn has come; returns whether it was handled here.

        `PatchedApp`, a base class, calls it for each key, in order. After a long absence the screen
        offers to show what happened meanwhile.
        """
        self._set_attention(focused=True)  # some terminals never report the focus
        if self.main_screen is not None:
            self.main_screen.ticker.check_absence()
        return await super().turn_comes(event)

    async def action_view(self, number: int) -> None:
        """Show the view (a list that the user saved with its filter) with that index."""
        views = self.workspace.settings.views
        if self.main_screen is None:
            return
        if number < len(views):
            view = views[number]
            await self.main_screen.action_show(cast("Place", view.screen), view.name)
        else:
            self.main_screen.say("no view has this key: [views.NAME] in the settings makes one")

    # ---- notices

    def on_notify(self, event: Notify) -> None:
        """Show each notice once, and none over a question.

        A question is a dialog in which a single key confirms something. A notice is shown when the
        question is closed, and where it does not cover the row with the cursor (`keep_clear`).
        """
        screen = self.screen
        if isinstance(screen, Dialog) and screen.IS_QUESTION:
            event.prevent_default()
            repeat = repeat_of(event.notification, self.notify)
            screen.close_callbacks.insert(0, partial(self.call_later, repeat))
        elif not self._notices.accept(event.notification):
            event.prevent_default()
        elif self.main_screen is not None:
            self.main_screen.call_after_refresh(self.main_screen.keep_clear)

    def clear_notifications(self) -> None:
        self._notices.clear()
        super().clear_notifications()

    def _warn(self, words: SafeText) -> None:
        self.notify(words, markup=False, severity="warning", timeout=WARNING_SECONDS)

    # ---- leaving

    async def action_quit(self) -> None:
        self.action_leave()

    def action_redraw(self) -> None:
        """Write every cell of the screen: another program may have written over it."""
        compositor.SHOWN.forget()
        self.refresh(layout=True)

    def action_leave(self) -> None:
        """Close the dialog on top without an answer, or leave the program if there is none."""
        screen: object = self.screen
        if isinstance(screen, MainScreen | Dialog) and screen.handle_leave():
            return
        self.leave()

    def leave(self, switch: Switch | None = None) -> None:
        """Leave, or with `switch` make room for another dashboard.

        An approval is sent some seconds after the user has confirmed it. While there are such, they
        are taken back instead, and shown; a second call leaves.
        """
        # What a second call does, for the notice.
        verb = "leaves" if switch is None else "switches"
        if not take_back_all(self._frame, verb):
            super().leave(switch)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A worker that failed ends the app: the guard reports its error."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            raise event.worker.error

    def stopped(self) -> None:
        """Close every question, with all above it, after ctrl+z has stopped the process.

        A `y` that is typed then may be meant for the shell.
        """
        dialogs = [screen for screen in self.screen_stack if isinstance(screen, Dialog)]
        while any(dialog.IS_QUESTION for dialog in dialogs):
            dialogs.pop().dismiss(None)
