"""The base classes of all dialogs: a box, a full-screen page, a searchable page, a question.

`Question` asks for a `y` or `n`, and is the base of every confirmation in the program. A `y` typed
by accident must never confirm anything, so it counts only if it was pressed alone and after the
question had been visible for a moment. `key_app` supplies what that is judged by:
`key_app.presses` has the time of the last key and whether it is held down, `key_app.arrivals`
tells how a key came from the terminal (`Arrival`: alone, in a burst, or undecided as yet).

A `Cell` is a piece of text with a `Tone`, which the theme turns into a colour. A `PaneItem` is what
a `TextPane` shows: a heading, a labelled field, running text. The platform is the remote service
that a `y` may change something on; `settings.label` is its name on the screen, and the profile is
the user's name for its settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import ClassVar, Final, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input

from agentco_tui.config import Settings
from agentco_tui.keys.key_arrivals import Arrival
from agentco_tui.screens.header_footer import Environment, environment, profile_name
from agentco_tui.screens.key_app import REPEAT, bindings_of
from agentco_tui.screens.sized_screen import SizedScreen
from agentco_tui.text import SafeText, clean_line, mark_safe, signs
from agentco_tui.widgets.prompt import LineInput
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import PaneItem, TextPane
from agentco_tui.widgets.tones import Cell, Tone

T = TypeVar("T")

ARMING: Final = 0.3
"""Seconds for which a question must have been on the screen before a key can answer it."""
YES_DELAY: Final = 0.12
"""Seconds to wait after a `y` before it counts; another key meanwhile cancels it.

A keyboard repeats a key that is held down within this time, even a slow one.
"""
RECHECK_INTERVAL: Final = 0.02
"""Seconds between checks whether a `y` came alone, if that takes longer than `YES_DELAY`."""
BURST_WARNING_TIME: Final = 3.0
"""Seconds for which the warning is shown that a burst of keys was ignored."""


class Dialog(SizedScreen[T], ModalScreen[T]):
    """A box over the main screen, with a title, a body and a line of key hints.

    While it is `hidden`, because the terminal is too small, no key answers anything.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog", "app.quit", "app.redraw"),
        Binding("escape", "app.leave", "Back", show=False),
    ]
    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 60%; }
    Dialog:ansi { background: transparent; }
    Dialog > Vertical {
        width: 90%; max-width: 84; height: auto; max-height: 94%;
        background: $surface; border: round $primary; padding: 0 1;
    }
    Dialog .dialog--title { dock: top; height: 1; }
    Dialog .dialog--body { max-height: 100%; }
    Dialog .dialog--keys { dock: bottom; height: 1; margin-top: 1; }
    Dialog.-phone > Vertical { width: 100%; max-width: 100%; max-height: 100%; border: none; }
    Dialog.-phone .dialog--keys { margin-top: 0; }
    """

    IS_QUESTION: ClassVar[bool] = False
    """Whether a single key here confirms something. No notice is shown over such a dialog."""
    key_hints: Mapping[str, str] = {}
    """What the last line says of keys, as key to words, if that never changes."""

    def __init__(self, title: Sequence[Cell], right: Sequence[Cell] = ()) -> None:
        """`right` is shown at the right end of the title line."""
        super().__init__()
        self.title_line = StatusLine(classes="dialog--title")
        self.title_line.show(title, right)
        for cell in title:
            if isinstance(cell, Environment):
                # The whole line is coloured if the platform is a production platform.
                self.title_line.fill(cell.filled)
        self.pane = TextPane(classes="dialog--body")
        self.keys_line = StatusLine(classes="dialog--keys")
        self.close_callbacks: list[Callable[[], object]] = []
        """Called when the dialog closes, the last one first, such as the end of a subscription."""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.title_line
            yield from self.compose_body()
            yield self.keys_line

    def compose_body(self) -> ComposeResult:
        """Yield the widgets between the title and the key hints."""
        yield self.pane

    def on_mount(self) -> None:
        if self.key_hints:
            self.keys_line.show(key_hint_cells(self.key_hints))
            self.pane.focus()

    def handle_leave(self) -> bool:
        """Close without an answer, as the user asked to leave.

        Return True because that was handled here; the app quits if it gets False.
        """
        self.dismiss(None)
        return True

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Close the dialog; do nothing if it is not on top.

        Two keys typed in quick succession may both ask for it.
        """
        if self.app.screen is not self:
            return AwaitComplete()
        while self.close_callbacks:
            callback = self.close_callbacks.pop()
            callback()
        return super().dismiss(result)


class FullScreenDialog(Dialog[T]):
    """A page that covers the whole main screen."""

    DEFAULT_CSS = """
    FullScreenDialog { background: $background; align: left top; }
    FullScreenDialog > Vertical {
        width: 1fr; max-width: 100%; height: 1fr; max-height: 100%; border: none; padding: 0;
        background: $background;
    }
    FullScreenDialog .dialog--title { background: $panel; }
    FullScreenDialog .dialog--body { height: 1fr; padding: 0 1; }
    FullScreenDialog .dialog--keys { margin-top: 0; }
    """


def key_hint_cells(hints: Mapping[str, str]) -> list[Cell]:
    """Return the cells of a line of key hints; `hints` maps keys to what they do."""
    cells: list[Cell] = []
    for key, words in hints.items():
        cells.append(Cell(mark_safe(key), Tone.ACCENT))
        cells.append(Cell(mark_safe(words)))
    return cells


def title_of(settings: Settings, verb: str, subject: SafeText) -> list[Cell]:
    """Return the title of a dialog: the platform, what is done, and to what.

    The platform is named by its label; the profile's name follows if it is another.
    """
    name = profile_name(settings)
    other_name = ""
    if settings.label not in (None, name):
        other_name = f" ({clean_line(name, 24)})"
    return [
        environment(settings),
        Cell(mark_safe(f"{other_name} {verb} "), Tone.STRONG),
        Cell(subject),
    ]


class SearchInput(LineInput):
    """The search line of a dialog; it has its own style, whatever the dialog's other bases are."""

    DEFAULT_CSS = """
    SearchInput, SearchInput:ansi { display: none; height: 1; background: $boost; }
    """


class SearchableDialog(Dialog[T]):
    """A dialog with a search line, which `/` opens and `esc` closes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("slash", "search", "Search", show=False)]

    def compose_body(self) -> ComposeResult:
        self.search_input = SearchInput(self._search_entered, placeholder="search words")
        yield self.search_input
        yield self.pane

    def action_search(self) -> None:
        self.search_input.display = True
        self.search_input.focus()

    async def _search_entered(self, _: Input) -> None:
        """Give the focus back to the text, so that keys scroll it."""
        self.set_focus(self.pane)

    def action_leave(self) -> None:
        """Close the search line if it is open, else the dialog."""
        if not self.search_input.display:
            self.dismiss()
        self.search_input.value = ""
        self.search_input.display = False
        self.pane.focus()


class Question(Dialog[bool]):
    """A question that only `y` answers with yes; enter does nothing. Its result is the answer.

    A `y` counts once the question has been on the screen for `ARMING` seconds, and only if it was
    pressed alone: neither with other keys (as in pasted text) nor by holding a key down. Every
    confirmation of the program is a `Question`, so this class alone decides that.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog", "dialog.yes", "dialog.no"),
        Binding("t", "more", "Read more", show=False),  # for subclasses with an `action_more`
    ]

    IS_QUESTION = True

    DEFAULT_CSS = """
    Question .dialog--body {
        height: auto; min-height: 3; scrollbar-size-horizontal: 0;
    }
    Question Toast { display: none; }
    """

    def __init__(
        self, title: Sequence[Cell], items: Iterable[PaneItem], yes_label: str = "yes"
    ) -> None:
        """`yes_label` says what `y` does, in the line of key hints."""
        super().__init__(title)
        self._items = tuple(items)
        self._yes_label = yes_label
        self.armed_at: float | None = None
        """From when on a `y` can count, by the monotonic clock; None while the question is not yet
        on the screen."""
        self.pending_yes: Timer | None = None
        """Runs while a `y` waits to be accepted."""
        self._yes_at = 0.0
        """When the last `y` was pressed that was not refused at once."""
        self._warning = ""
        """A warning beside the key hints; "" for none."""
        self._warning_timer: Timer | None = None
        self._off_reason: SafeText | None = None
        """Why `y` has no effect until the question is opened again; None if it has."""
        self._no_keys = "n, esc"
        """The keys that answer no, as the key hints show them."""

    def items(self) -> Iterable[PaneItem]:
        """Return the text of the question."""
        return self._items

    def on_mount(self) -> None:
        self.pane.focus()
        self.show_items()
        self._show_keys()
        self.pane.after_resize = self._on_scroll
        self.watch(self.pane, "scroll_y", self._on_scroll, init=False)
        self.watch(self.pane, "virtual_size", self._on_scroll, init=False)

    def on_screen_resume(self) -> None:
        """Start the `ARMING` time, as the question has come on the screen, or is on top again."""
        self.armed_at = None
        self.call_after_refresh(self._start_arming)

    def _start_arming(self) -> None:
        self.armed_at = monotonic() + ARMING

    def show_items(self) -> None:
        self.pane.show(self.items())

    def _show_keys(self) -> None:
        """Draw the last line: the keys or a warning, and on the right how much text is below."""
        right: list[Cell] = []
        lines_below = self.pane.lines_below
        if lines_below:
            right.append(Cell(mark_safe(f"{lines_below} more below {signs.down} "), Tone.ACCENT))
        no_cells = key_hint_cells({self._no_keys: " no"})
        if self._warning or self._off_reason is not None:
            words = mark_safe(f"  {signs.warning} {self._warning or self._off_reason}")
            self.keys_line.show([*no_cells, Cell(words, Tone.WARNING)], right)
        else:
            yes_cells = [
                Cell(mark_safe(" y "), Tone.BADGE),
                Cell(mark_safe(f" {self._yes_label}   ")),
            ]
            self.keys_line.show([*yes_cells, *no_cells], right)

    def show_warning(self, words: str) -> None:
        """Show a warning beside the key hints until the next one; "" removes it."""
        self._warning = words
        self._show_keys()

    def _on_scroll(self) -> None:
        if self.pending_yes is None:
            self.call_after_refresh(self._show_keys)

    def switch_off(self, reason: SafeText) -> None:
        """Give `y` no effect from now on, and show why."""
        self._off_reason = reason
        self._show_keys()

    def action_answer(self, yes: bool) -> None:
        """Close on a no; accept a yes after `YES_DELAY`, unless it was not meant for this question.

        It was not if it was pressed before the question could be read, came in a burst, or is the
        repeat of a key held down. A second `y` accepts the first one if that came alone and more
        than `YES_DELAY` earlier.
        """
        if not yes:
            self.dismiss(False)
            return
        if self.hidden:
            return
        pressed_at = self.key_app.presses.at
        if self.pending_yes is not None:
            self._cancel_pending_yes()
            is_long_ago = pressed_at - self._yes_at >= YES_DELAY
            if is_long_ago and self._came_alone(self._yes_at):
                self._accept_if_on()
            else:
                self.ignore_burst()
        elif self.is_early(pressed_at):
            self._warn_too_soon()
        elif self.key_app.arrivals.arrival_of(pressed_at) is Arrival.BURST:
            self.ignore_burst()
        elif self._off_reason is not None:
            self.show_warning(f"y is off: {self._off_reason}")
        elif self.key_app.presses.held_down:
            self._warn_too_soon()
        else:
            self._yes_at = pressed_at
            self.pending_yes = self.set_timer(YES_DELAY, self._check_yes, name="answer")

    def on_paste(self, event: events.Paste) -> None:
        """Ignore text that was pasted with brackets, and say so."""
        event.stop()
        self.ignore_burst()

    def is_early(self, pressed_at: float) -> bool:
        """Whether a key came before the question had been on the screen for `ARMING` seconds."""
        return self.armed_at is None or pressed_at < self.armed_at

    def _came_alone(self, pressed_at: float) -> bool:
        return self.key_app.arrivals.arrival_of(pressed_at) is Arrival.ALONE

    def _warn_too_soon(self) -> None:
        self._warn_for(REPEAT, f"that came too soon: wait {REPEAT:g} s, then y")

    def ignore_burst(self) -> None:
        """Drop a pending `y`, and say that a burst of keys was ignored, such as pasted text."""
        self._cancel_pending_yes()
        self._warn_for(
            BURST_WARNING_TIME, f"burst of keys ignored (pasted?): wait {REPEAT:g} s, then y"
        )

    def _cancel_pending_yes(self) -> None:
        """Drop the `y` that waits to be accepted, if there is one."""
        if self.pending_yes is not None:
            self.pending_yes.stop()
            self.pending_yes = None

    def on_screen_suspend(self) -> None:
        """Drop a `y` that was not accepted before another screen covered the question."""
        self._cancel_pending_yes()

    def _check_yes(self) -> None:
        """Accept the pending `y` if it came alone; check again later if that is undecided."""
        self.pending_yes = None
        match self.key_app.arrivals.arrival_of(self._yes_at):
            case Arrival.ALONE:
                self._accept_if_on()
            case Arrival.BURST:
                self.ignore_burst()
            case Arrival.UNDECIDED:
                self.pending_yes = self.set_timer(RECHECK_INTERVAL, self._check_yes, name="answer")

    def _accept_if_on(self) -> None:
        if self._off_reason is None and not self.hidden:
            self.accept()

    def accept(self) -> None:
        """Close with the answer yes. Subclasses may require more than a `y`."""
        self.dismiss(True)

    def _warn_for(self, seconds: float, words: str) -> None:
        """Show a warning beside the key hints for so many seconds."""
        if self._warning_timer is not None:
            self._warning_timer.stop()
        self.show_warning(words)
        self._warning_timer = self.set_timer(seconds, lambda: self.show_warning(""), name="keys")
