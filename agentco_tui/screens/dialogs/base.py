"""What stands over the frame: boxes, questions, the help and the palette; and its least size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import ClassVar, TypeVar, cast

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandList, CommandPalette
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen
from textual.timer import Timer
from textual.widget import Widget

from agentco_tui.keys import COMMANDS, Place, keys_of
from agentco_tui.screens.header_footer import shown_key
from agentco_tui.screens.key_app import REPEAT, KeyApp, KeyPresses, bindings_of
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import FieldLine, Gap, Heading, Item, Text, TextPane
from agentco_tui.widgets.tones import Cell, Tone

T = TypeVar("T")

LEAST_WIDTH, LEAST_HEIGHT = 60, 16
FILTER_HELP = "words: all of them must occur · agent:linus · !word · waits>2h · used>80% · trust<50"
ARMING = 0.3  # seconds a question must have stood on the screen before a key can answer it
ALONE = 0.12  # seconds after a yes in which none may come: bursts are of keys held on slow lines


class SizedScreen(Screen[T]):
    """Shows one sentence below the least size, and all of itself again above it."""

    DEFAULT_CSS = """
    SizedScreen > .screen--small {
        display: none; width: 1fr; height: 1fr; padding: 0 1; background: $background;
    }
    SizedScreen.-small > * { display: none; }
    SizedScreen.-small > .screen--small { display: block; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._small = TextPane(classes="screen--small")
        self._small.can_focus = False
        self._focus_before: Widget | None = None

    @property
    def hidden(self) -> bool:
        return self.has_class("-small")

    def on_mount(self) -> None:
        self.mount(self._small)

    def on_resize(self, event: events.Resize) -> None:
        """Hide all below the least size, and bring it back with the keys where they were.

        A screen hears of the size that its layout took; the terminal may have another by then.
        """
        width, height = size = self.app.size
        if event.size != size:
            self.post_message(events.Resize(size, size))
        was_small, small = self.hidden, width < LEAST_WIDTH or height < LEAST_HEIGHT
        if small and not was_small:
            self._focus_before = self.focused
        self.set_class(small, "-small")
        if small:
            words = f"agentco-tui needs {LEAST_WIDTH}x{LEAST_HEIGHT}; this terminal is "
            words += f"{width}x{height}. Make it larger to go on."
            self.call_after_refresh(self._small.show, [Text(plain(words), Tone.WARNING)])
        elif was_small:
            self.call_after_refresh(self.focus_again)

    def focus_again(self) -> None:
        """What was hidden has lost the keys."""
        if self._focus_before is not None:
            self._focus_before.focus()


class Palette(CommandPalette):
    """Opens over the frame only: in a dialog there is nothing to choose."""

    def leave_first(self) -> bool:
        self.dismiss()
        return True

    def dismiss(self, result: None = None) -> AwaitComplete:
        return super().dismiss(result) if self.is_current else AwaitComplete()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Page through the list only once it has a place (before, KeyError in Textual 8.2.8)."""
        if action == "command_list" and parameters[0] in {"page_up", "page_down"}:
            return bool(self.query_one(CommandList).scrollable_content_region)
        return super().check_action(action, parameters)


class Dialog(SizedScreen[T], ModalScreen[T]):
    """A box over the frame; while it is `hidden`, nothing is to be answered."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("dialog", "app.quit")
    DEFAULT_CSS = """
    Dialog { align: center middle; background: transparent; }
    Dialog > Vertical {
        width: 90%; max-width: 84; height: auto; max-height: 94%;
        background: $surface; border: round $primary; padding: 0 1;
    }
    Dialog .dialog--title { height: 1; }
    Dialog .dialog--keys { height: 1; margin-top: 1; }
    """

    ASKS: ClassVar[bool] = False  # whether a single key here says yes to something
    BESIDE_BODY: ClassVar[int] = 5  # lines of the box beside its body: border, title, blank, keys
    SHARE: ClassVar[float] = 0.94  # of the terminal's height, for a box at its largest

    def __init__(self, title: Sequence[Cell], right: Sequence[Cell] = ()) -> None:
        super().__init__()
        self.title_line = StatusLine(classes="dialog--title")
        self.pane = TextPane(classes="dialog--body")
        self.keys_line = StatusLine(classes="dialog--keys")
        self._title = title, right
        self.until_closed: list[Callable[[], None]] = []  # ends of what it listens to

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.title_line
            yield self.pane
            yield self.keys_line

    def on_mount(self) -> None:
        self.title_line.show(*self._title)

    def leave_first(self) -> bool:
        """Leaving was asked for: leave this, without an answer. False to leave the program."""
        self.dismiss(None)
        return True

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Close it, once: two keys typed together may both say so."""
        if self.app.screen is not self:
            return AwaitComplete()
        while self.until_closed:
            self.until_closed.pop()()
        return super().dismiss(result)

    def on_resize(self, event: events.Resize) -> None:
        """Let the body scroll rather than push the keys out of the box."""
        for body in self.query(".dialog--body"):
            body.styles.max_height = max(1, int(event.size.height * self.SHARE) - self.BESIDE_BODY)


def key_cells(keys: Mapping[str, str]) -> list[Cell]:
    pairs = ((Cell(plain(key), Tone.ACCENT), Cell(plain(words))) for key, words in keys.items())
    return [cell for pair in pairs for cell in pair]


def title_of(profile: str, verb: str, what: SafeText) -> list[Cell]:
    return [
        Cell(plain(f"{profile} "), Tone.ACCENT),
        Cell(plain(f"{verb} "), Tone.STRONG),
        Cell(what),
    ]


class HelpScreen(Dialog[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark", "dismiss", "Back", show=False)
    ]

    DEFAULT_CSS = "HelpScreen TextPane { height: auto; max-height: 80vh; }"

    def __init__(self, place: Place, rebound: Mapping[str, str], denied: Mapping[str, str]) -> None:
        here = Cell(plain(place.title()), Tone.STRONG)
        super().__init__([Cell(plain("Keys on "), Tone.DIM), here])
        self.place, self.rebound, self.denied = place, rebound, denied
        self.pane = TextPane()

    def on_mount(self) -> None:
        self.pane.show(self._items())
        self.pane.focus()
        self.keys_line.show(key_cells({"esc": " back"}))

    def _items(self) -> Iterable[Item]:
        groups = {
            "This screen": [key for key in COMMANDS if self.place in (key.where, *key.also)],
            "Every list": [key for key in COMMANDS if key.where == "table"],
            "Everywhere": [key for key in COMMANDS if key.where == "every"],
        }
        for heading, keys in groups.items():
            yield Heading(plain(heading))
            for key in keys:
                why = self.denied.get(key.id)
                words = f"{key.tooltip} Not now: {why}" if why else key.tooltip
                tone = Tone.DIM if why else Tone.PLAIN
                shown = " ".join(map(shown_key, keys_of(key.id, self.rebound))) or "none"
                yield FieldLine(plain(shown), plain(words), tone)
            yield Gap()
        yield Heading(plain("Filters"))
        yield Text(plain(FILTER_HELP.replace("·", signs.separator)))
        yield Gap()
        yield Heading(plain("Signs"))
        words = f"{signs.critical} critical  {signs.warning} warning  {signs.good} good  "
        words += f"{signs.waiting} waits for a person  {signs.unknown} old or unknown  "
        yield Text(plain(f"{words}{signs.derived} worked out here  {signs.missing} not sent"))


class Question(Dialog[bool]):
    """Only `y` does it, once it has been on the screen for `ARMING` seconds; enter does nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog", "dialog.yes", "dialog.no"),
        Binding("t", "more", "Read more", show=False),
    ]

    ASKS = True

    DEFAULT_CSS = """
    Question .dialog--body {
        height: auto; min-height: 3; scrollbar-size-horizontal: 0;
    }
    """

    def __init__(self, title: Sequence[Cell], items: Iterable[Item], yes: str = "yes") -> None:
        super().__init__(title)
        self._items = tuple(items)
        self._yes = yes
        self._arms_at: float | None = None
        self._answering: Timer | None = None
        self._off: SafeText | None = None  # why `y` does nothing any more, until it is opened again

    def items(self) -> Iterable[Item]:
        return self._items

    def on_mount(self) -> None:
        self.pane.focus()
        self.show_items()
        self._show_keys()
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

    def _show_keys(self, warning: str = "") -> None:
        below = self.pane.below
        more = [Cell(plain(f"{below} more below {signs.down} "), Tone.WARNING)] if below else []
        if warning or self._off is not None:
            words = plain(f"  {signs.warning} {warning or self._off}")
            self.keys_line.show([*key_cells({"n, esc": " no"}), Cell(words, Tone.WARNING)], more)
        else:
            self.keys_line.show(key_cells({"y": f" {self._yes}     ", "n, esc": " no"}), more)

    def _scrolled(self) -> None:
        if self._answering is None:
            self.call_after_refresh(self._show_keys)

    def switch_off(self, reason: SafeText) -> None:
        self._off = reason
        self._show_keys()

    def action_answer(self, yes: bool) -> None:
        """Take the answer; a yes that comes too early, or from a key held down, is dropped.

        Neither was pressed as an answer to this: the key was on its way, or answered another.
        """
        in_time = self._arms_at is not None and self.presses.at >= self._arms_at
        if not yes:
            self.dismiss(False)
        elif self._drop_answer():
            self._too_soon("that came in a burst")
        elif self._off is not None:
            self._show_keys(f"y is off: {self._off}")
        elif not self.hidden and in_time and not self.presses.held_down:
            self._answering = self.set_timer(ALONE, self._answered, name="answer")
        elif not self.hidden:
            self._too_soon("that came too soon")

    def _drop_answer(self) -> bool:
        answering, self._answering = self._answering, None
        if answering is not None:
            answering.stop()
        return answering is not None

    on_screen_suspend = _drop_answer  # something came over it: a yes that was not taken is none

    def _answered(self) -> None:
        self._answering = None
        if self._off is None and not self.hidden:
            self.accept()

    def accept(self) -> None:
        self.dismiss(True)

    @property
    def presses(self) -> KeyPresses:
        return cast(KeyApp, self.app).presses

    def _too_soon(self, why: str) -> None:
        self._show_keys(f"{why}: wait {REPEAT:g} s, then y")
        self.set_timer(REPEAT, self._show_keys, name="keys")
