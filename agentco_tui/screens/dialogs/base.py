"""What every dialog shares: the box, the page, the search and the question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import ClassVar, TypeVar

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
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.prompt import LineInput
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import Item, TextPane
from agentco_tui.widgets.tones import Cell, Tone

T = TypeVar("T")

ARMING = 0.3  # seconds a question must have stood on the screen before a key can answer it
ALONE = 0.12  # seconds after a yes in which no other may come: slow keyboards repeat a key so
LOOK_AGAIN = 0.02  # seconds between two looks whether a yes came alone, where that takes longer
BURST_SHOWN = 3.0  # seconds for which it is said that a burst was ignored


class Dialog(SizedScreen[T], ModalScreen[T]):
    """A box over the frame; while it is `hidden`, nothing is to be answered."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog", "app.quit"),
        Binding("escape", "app.leave", "Back", show=False),
    ]
    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 60%; }
    Dialog:ansi { background: transparent; }
    Dialog > Vertical {
        width: 90%; max-width: 84; height: auto; max-height: 94%;
        background: $surface; border: round $primary; padding: 0 1;
    }
    Dialog .dialog--words { display: none; border: none; padding: 0; background: $boost; }
    Dialog .dialog--words, Dialog .dialog--words:focus { height: 1; border: none; }
    Dialog .dialog--title { dock: top; height: 1; }
    Dialog .dialog--body { max-height: 100%; }
    Dialog .dialog--keys { dock: bottom; height: 1; margin-top: 1; }
    Dialog.-phone > Vertical { width: 100%; max-width: 100%; max-height: 100%; border: none; }
    Dialog.-phone .dialog--keys { margin-top: 0; }
    """

    ASKS: ClassVar[bool] = False  # whether a single key here says yes to something
    keys: Mapping[str, str] = {}  # what the last line says of keys, where that stays the same

    def __init__(self, title: Sequence[Cell], right: Sequence[Cell] = ()) -> None:
        super().__init__()
        self.title_line = StatusLine(classes="dialog--title")
        self.title_line.show(title, right)
        self.title_line.fill(next((c.filled for c in title if isinstance(c, Environment)), None))
        self.pane = TextPane(classes="dialog--body")
        self.keys_line = StatusLine(classes="dialog--keys")
        self.until_closed: list[Callable[[], object]] = []  # ends of what it listens to

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.title_line
            yield from self.body()
            yield self.keys_line

    def body(self) -> ComposeResult:
        """What stands between the title and the keys."""
        yield self.pane

    def on_mount(self) -> None:
        if self.keys:
            self.keys_line.show(key_cells(self.keys))
            self.pane.focus()

    def leave_first(self) -> bool:
        """Leaving was asked for: leave this, without an answer."""
        self.dismiss(None)
        return True

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Close it, once: two keys typed together may both say so."""
        if self.app.screen is not self:
            return AwaitComplete()
        while self.until_closed:
            self.until_closed.pop()()
        return super().dismiss(result)


class WholeScreen(Dialog[T]):
    """A page to read in place of the frame."""

    DEFAULT_CSS = """
    WholeScreen { background: $background; align: left top; }
    WholeScreen > Vertical {
        width: 1fr; max-width: 100%; height: 1fr; max-height: 100%; border: none; padding: 0;
        background: $background;
    }
    WholeScreen .dialog--title { background: $panel; }
    WholeScreen .dialog--body { height: 1fr; padding: 0 1; }
    WholeScreen .dialog--keys { margin-top: 0; }
    """


def key_cells(keys: Mapping[str, str]) -> list[Cell]:
    pairs = ((Cell(plain(key), Tone.ACCENT), Cell(plain(words))) for key, words in keys.items())
    return [cell for pair in pairs for cell in pair]


def title_of(settings: Settings, verb: str, what: SafeText) -> list[Cell]:
    """The platform by both its names, what is done and to what."""
    name = profile_name(settings)
    other = f" ({safe(name, 24)})" if settings.label not in (None, name) else ""
    return [environment(settings), Cell(plain(f"{other} {verb} "), Tone.STRONG), Cell(what)]


class Searched(Dialog[T]):
    """What can be searched for words, by `/`; `esc` leaves the search first."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("slash", "search", "Search", show=False)]

    def body(self) -> ComposeResult:
        words = "words of what is looked for"
        self.words = LineInput(self._searched, placeholder=words, classes="dialog--words")
        yield self.words
        yield self.pane

    def action_search(self) -> None:
        self.words.display = True
        self.words.focus()

    async def _searched(self, _: Input) -> None:
        """The keys go back to what was found."""
        self.set_focus(self.pane)

    def action_leave(self) -> None:
        """Leave the search, else all."""
        if not self.words.display:
            self.dismiss()
        self.words.value, self.words.display = "", False
        self.pane.focus()


class Question(Dialog[bool]):
    """Only `y` does it, once it has been on the screen for `ARMING` seconds; enter does nothing.

    A `y` counts only if it came alone (`KeyArrivals`). Every confirmation of the program is one of
    these, so this is the one place where that is decided.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog", "dialog.yes", "dialog.no"),
        Binding("t", "more", "Read more", show=False),
    ]

    ASKS = True

    DEFAULT_CSS = """
    Question .dialog--body {
        height: auto; min-height: 3; scrollbar-size-horizontal: 0;
    }
    Question Toast { display: none; }
    """

    def __init__(self, title: Sequence[Cell], items: Iterable[Item], yes: str = "yes") -> None:
        super().__init__(title)
        self._items = tuple(items)
        self._yes = yes
        self._arms_at: float | None = None
        self._answering: Timer | None = None
        self._answered_at = 0.0  # when the `y` that is being looked at came
        self._warned: Timer | None = None
        self._off: SafeText | None = None  # why `y` does nothing any more, until it is opened again
        self._no = "n, esc"  # the keys that say no
        self._warning = ""  # stands beside the keys, whatever is drawn anew meanwhile

    def items(self) -> Iterable[Item]:
        return self._items

    def on_mount(self) -> None:
        self.pane.focus()
        self.show_items()
        self._show_keys()
        self.pane.fitted = self._scrolled
        self.watch(self.pane, "scroll_y", self._scrolled, init=False)
        self.watch(self.pane, "virtual_size", self._scrolled, init=False)

    def on_screen_resume(self) -> None:
        """On the screen, for the first time or again: it can be answered a moment later."""
        self._arms_at = None
        self.call_after_refresh(self._arm)

    def _arm(self) -> None:
        self._arms_at = monotonic() + ARMING

    def show_items(self) -> None:
        self.pane.show(self.items())

    def _show_keys(self, warning: str | None = None) -> None:
        self._warning = self._warning if warning is None else warning
        below = self.pane.below
        more = [Cell(plain(f"{below} more below {signs.down} "), Tone.ACCENT)] if below else []
        if self._warning or self._off is not None:
            words = plain(f"  {signs.warning} {self._warning or self._off}")
            self.keys_line.show([*key_cells({self._no: " no"}), Cell(words, Tone.WARNING)], more)
        else:
            cap = Cell(plain(" y "), Tone.BADGE), Cell(plain(f" {self._yes}   "))
            self.keys_line.show([*cap, *key_cells({self._no: " no"})], more)

    def _scrolled(self) -> None:
        if self._answering is None:
            self.call_after_refresh(self._show_keys)

    def switch_off(self, reason: SafeText) -> None:
        self._off = reason
        self._show_keys()

    def action_answer(self, yes: bool) -> None:
        """Take the answer; ignore a yes that came too early, in a burst, or from a key held down.

        None of these was pressed as an answer to this question: the key was on its way already,
        belonged to a pasted text, or answered another question.
        """
        if not yes:
            self.dismiss(False)
            return
        if self.hidden:
            return
        at = self.key_app.presses.at
        answered_at = self._answered_at
        if self._drop_answer():
            if at - answered_at >= ALONE and self._came_alone(answered_at):
                self._take_yes()
            else:
                self.ignore_burst()
        elif self._arms_at is None or at < self._arms_at:
            self._say_too_soon()
        elif self.came_in_burst(at):
            self.ignore_burst()
        elif self._off is not None:
            self._show_keys(f"y is off: {self._off}")
        elif self.key_app.presses.held_down:
            self._say_too_soon()
        else:
            self._answered_at = at
            self._answering = self.set_timer(ALONE, self._look_at_answer, name="answer")

    def on_paste(self, event: events.Paste) -> None:
        """A text pasted with brackets is no key; say that it did nothing."""
        event.stop()
        self.ignore_burst()

    def came_in_burst(self, at: float) -> bool:
        """Whether other keys came with the key that came at that time."""
        return self.key_app.arrivals.arrival_of(at) is Arrival.BURST

    def _came_alone(self, at: float) -> bool:
        return self.key_app.arrivals.arrival_of(at) is Arrival.ALONE

    def _say_too_soon(self) -> None:
        self._warn(f"that came too soon: wait {REPEAT:g} s, then y", REPEAT)

    def ignore_burst(self) -> None:
        """Say that keys were ignored because they came in a burst, as pasted text does."""
        self._drop_answer()
        self._warn(f"burst of keys ignored (pasted?): wait {REPEAT:g} s, then y", BURST_SHOWN)

    def _drop_answer(self) -> bool:
        answering, self._answering = self._answering, None
        if answering is not None:
            answering.stop()
        return answering is not None

    on_screen_suspend = _drop_answer  # something came over it: a yes that was not taken is none

    def _look_at_answer(self) -> None:
        """Take the yes once it is certain that it came alone."""
        self._answering = None
        match self.key_app.arrivals.arrival_of(self._answered_at):
            case Arrival.ALONE:
                self._take_yes()
            case Arrival.BURST:
                self.ignore_burst()
            case Arrival.UNDECIDED:
                self._answering = self.set_timer(LOOK_AGAIN, self._look_at_answer, name="answer")

    def _take_yes(self) -> None:
        if self._off is None and not self.hidden:
            self.accept()

    def accept(self) -> None:
        self.dismiss(True)

    def _warn(self, words: str, seconds: float) -> None:
        """Show a warning beside the keys, for so long."""
        if self._warned is not None:
            self._warned.stop()
        self._show_keys(words)
        self._warned = self.set_timer(seconds, lambda: self._show_keys(""), name="keys")
