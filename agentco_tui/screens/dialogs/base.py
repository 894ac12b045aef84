"""What stands over the frame: screens that hide where the terminal is too small, boxes with a
title that says where and what, questions, and the command palette.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import monotonic
from typing import ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandList, CommandPalette
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.timer import Timer

from agentco_tui.screens.key_app import REPEAT, KeyApp, KeyPresses, bindings_of
from agentco_tui.screens.sized_screen import SizedScreen
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import Item, TextPane
from agentco_tui.widgets.tones import Cell, Tone

T = TypeVar("T")

ARMING = 0.3
"""Seconds a question must have stood on the screen before a key can answer it."""
ALONE = 0.12
"""Seconds after a yes in which no other may come: what comes in a burst, from a key that is held
down on a line that stalls, answers nothing."""


class Overlay(SizedScreen[T], ModalScreen[T]):
    """A screen over the frame. What is asked must be seen whole, so nothing is to be answered while
    it is `hidden`.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("dialog", "app.quit")

    ASKS: ClassVar[bool] = False
    """Whether a single key here says yes to something."""

    def leave_first(self) -> bool:
        """Leaving was asked for: leave this, without an answer. False to leave the program."""
        self.dismiss(None)
        return True

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Close it, unless that has been done, or something stands over it: Textual would close
        what lies beneath instead, or fail.

        Two keys typed at once both reach a dialog before the first has closed it.
        """
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()


class Palette(CommandPalette):
    """Opens over the frame only: in a dialog there is nothing to choose."""

    def leave_first(self) -> bool:
        """As of a dialog."""
        self.dismiss()
        return True

    def dismiss(self, result: None = None) -> AwaitComplete:
        """As of a dialog."""
        return super().dismiss(result) if self.is_current else AwaitComplete()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Page through the list only once it has a place (before, KeyError in Textual 8.2.8)."""
        if action == "command_list" and parameters[0] in {"page_up", "page_down"}:
            return bool(self.query_one(CommandList).scrollable_content_region)
        return super().check_action(action, parameters)


class Dialog(Overlay[T]):
    """A box with a title line, a body and a line of keys."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: transparent; }
    Dialog > Vertical {
        width: 90%; max-width: 84; height: auto; max-height: 94%;
        background: $surface; border: round $primary; padding: 0 1;
    }
    Dialog .dialog--title { height: 1; }
    Dialog .dialog--keys { height: 1; margin-top: 1; }
    """

    BESIDE_BODY: ClassVar[int] = 5
    """Lines of the box beside its body: border, title, a blank and the keys."""
    SHARE: ClassVar[float] = 0.94
    """Of the terminal's height, for a box at its largest."""

    def __init__(self, title: Sequence[Cell], right: Sequence[Cell] = ()) -> None:
        super().__init__()
        self.title_line = StatusLine(classes="dialog--title")
        self.pane = TextPane(classes="dialog--body")
        self.keys_line = StatusLine(classes="dialog--keys")
        self._title = title, right

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.title_line
            yield self.pane
            yield self.keys_line

    def on_mount(self) -> None:
        self.title_line.show(*self._title)

    def on_resize(self, event: events.Resize) -> None:
        """Let the body scroll rather than push the keys out of the box."""
        for body in self.query(".dialog--body"):
            body.styles.max_height = max(1, int(event.size.height * self.SHARE) - self.BESIDE_BODY)


def key_cells(keys: Mapping[str, str]) -> list[Cell]:
    """Keys, each with what it does and the blanks behind that."""
    pairs = ((Cell(plain(key), Tone.ACCENT), Cell(plain(words))) for key, words in keys.items())
    return [cell for pair in pairs for cell in pair]


def title_of(profile: str, verb: str, what: SafeText) -> list[Cell]:
    """Profile, verb and what it acts on, as every question has it."""
    return [
        Cell(plain(f"{profile} "), Tone.ACCENT),
        Cell(plain(f"{verb} "), Tone.STRONG),
        Cell(what),
    ]


class Question(Dialog[bool]):
    """Yes or no. Only `y` does it; enter does nothing, nor does a key typed too early.

    A key that was on its way while the question appeared was not meant for it, so keys count only
    once the question has been on the screen for `ARMING` seconds.
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
    """

    def __init__(self, title: Sequence[Cell], items: Iterable[Item], yes: str = "yes") -> None:
        super().__init__(title)
        self._items = tuple(items)
        self._yes = yes
        self._arms_at: float | None = None
        self._answering: Timer | None = None
        self._off: SafeText | None = None
        """Why `y` does nothing any more, until the question is opened again."""

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
        self.call_after_refresh(self._start_arming)

    def on_screen_suspend(self) -> None:
        """Something came over it: a yes that was not taken yet is none."""
        self._drop_answer()

    def _start_arming(self) -> None:
        self._arms_at = monotonic() + ARMING

    @property
    def armed(self) -> bool:
        return self._arms_at is not None and monotonic() >= self._arms_at

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
        """Let `y` do nothing from now on, and say why."""
        self._off = reason
        self._show_keys()

    def action_answer(self, yes: bool) -> None:
        """Take the answer; a yes that comes too early, or from a key held down, is dropped."""
        if not yes:
            self.dismiss(False)
        elif self._drop_answer():
            self._too_soon("that came in a burst")
        elif self._off is not None:
            self._show_keys(f"y is off: {self._off}")
        elif self.is_meant():
            self._answering = self.set_timer(ALONE, self._answered, name="answer")

    def _drop_answer(self) -> bool:
        """Forget a yes that was not taken yet; False if there is none."""
        answering, self._answering = self._answering, None
        if answering is not None:
            answering.stop()
        return answering is not None

    def _answered(self) -> None:
        self._answering = None
        if self._off is None and not self.hidden:
            self.accept()

    def accept(self) -> None:
        self.dismiss(True)

    @property
    def presses(self) -> KeyPresses:
        app: object = self.app
        assert isinstance(app, KeyApp), "a question needs to know when keys were pressed"
        return app.presses

    def is_meant(self) -> bool:
        """Whether the `y` that has just come was pressed as an answer to what stands here.

        One that was pressed before the question could be read was not, whenever its turn comes;
        nor are those that the keyboard goes on sending while the same key is held down, which may
        have answered another question before.
        """
        if self.hidden:
            return False
        in_time = self._arms_at is not None and self.presses.at >= self._arms_at
        if in_time and not self.presses.held_down:
            return True
        self._too_soon("that came too soon")
        return False

    def _too_soon(self, why: str) -> None:
        self._show_keys(f"{why}: wait {REPEAT:g} s, then y")
        self.set_timer(REPEAT, self._show_keys, name="keys")
