"""What the dialogs share: a box over the screen with a title that says where and what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import monotonic
from typing import ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.timer import Timer

from agentco_tui.screens.key_queue import REPEAT, KeyApp
from agentco_tui.screens.minimum_size import Overlay
from agentco_tui.screens.view import bindings_of
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import Item, TextPane
from agentco_tui.widgets.tones import Cell, Tone

T = TypeVar("T")

SHARE = 0.94
"""Of the terminal's height, for a box at its largest."""

ARMING = 0.3
"""Seconds a question must have stood on the screen before a key can answer it."""
ALONE = 0.12
"""Seconds after a yes in which no other may come: what comes in a burst, from a key that is held
down on a line that stalls, answers nothing."""


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

    def __init__(self, title: Sequence[Cell]) -> None:
        super().__init__()
        self.title_line = StatusLine(classes="dialog--title")
        self.keys_line = StatusLine(classes="dialog--keys")
        self._title_cells = list(title)

    def on_mount(self) -> None:
        """Draw the title."""
        self.title_line.show(self._title_cells)

    def on_resize(self, event: events.Resize) -> None:
        """Let the body scroll rather than push the keys out of the box."""
        super().on_resize(event)
        for body in self.query(".dialog--body"):
            body.styles.max_height = max(1, int(event.size.height * SHARE) - self.BESIDE_BODY)


def title_of(profile: str, verb: str, what: SafeText) -> list[Cell]:
    """Profile, verb and what it acts on, as every question has it (DESIGN, contract)."""
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
        *bindings_of("dialog", {"dialog.yes": "answer(True)", "dialog.no": "answer(False)"}),
        Binding("t", "more", "Read more", show=False),
    ]

    ASKS = True

    def __init__(self, title: Sequence[Cell], items: Iterable[Item], yes: str = "yes") -> None:
        super().__init__(title)
        self.pane = TextPane(classes="dialog--body")
        self._items = tuple(items)
        self._yes = yes
        self._arms_at: float | None = None
        self._answering: Timer | None = None
        self._off: SafeText | None = None
        """Why `y` does nothing any more, until the question is opened again."""

    DEFAULT_CSS = """
    Question .dialog--body {
        height: auto; min-height: 3; scrollbar-size-horizontal: 0;
    }
    """

    def compose(self) -> ComposeResult:
        """Title, what it is about, keys."""
        with Vertical():
            yield self.title_line
            yield self.pane
            yield self.keys_line

    def on_mount(self) -> None:
        """Show the question."""
        super().on_mount()
        self.pane.focus()
        self.show_items(self._items)
        self._show_keys()
        self.watch(self.pane, "scroll_y", self._scrolled, init=False)
        self.watch(self.pane, "virtual_size", self._scrolled, init=False)

    def on_screen_resume(self) -> None:
        """On the screen, for the first time or again: it can be answered a moment later."""
        self._arms_at = None
        self.call_after_refresh(self._start_arming)

    def on_screen_suspend(self) -> None:
        """Something came over it: a yes that was not taken yet is none."""
        if self._answering is not None:
            self._answering.stop()
            self._answering = None

    def _start_arming(self) -> None:
        self._arms_at = monotonic() + ARMING

    @property
    def armed(self) -> bool:
        """Whether a `y` pressed now counts."""
        return self._arms_at is not None and monotonic() >= self._arms_at

    def show_items(self, items: Iterable[Item]) -> None:
        """Show or renew what the question is about."""
        self._items = tuple(items)
        self.pane.show(self._items)

    def _show_keys(self, warning: str = "") -> None:
        below = self.pane.below
        more = [Cell(plain(f"{below} more below {signs.down} "), Tone.WARNING)] if below else []
        no = [Cell(plain("n, esc"), Tone.ACCENT), Cell(plain(" no"))]
        if warning or self._off is not None:
            cell = Cell(plain(f"  {signs.warning} {warning or self._off}"), Tone.WARNING)
            self.keys_line.show([*no, cell], more)
            return
        yes = [Cell(plain("y"), Tone.ACCENT), Cell(plain(f" {self._yes}     "))]
        self.keys_line.show([*yes, *no], more)

    def _scrolled(self) -> None:
        if self._answering is None:
            self.call_after_refresh(self._show_keys)

    @property
    def is_off(self) -> bool:
        """Whether `y` does nothing here any more."""
        return self._off is not None

    def switch_off(self, reason: SafeText) -> None:
        """Let `y` do nothing from now on, and say why."""
        self._off = reason
        self._show_keys()

    def action_answer(self, yes: bool) -> None:
        """Take the answer; a yes that comes too early, or from a key held down, is dropped."""
        if not yes:
            self.dismiss(False)
        elif self._answering is not None:
            self._answering.stop()
            self._answering = None
            self._too_soon("that came in a burst")
        elif self._off is not None:
            self._show_keys(f"y is off: {self._off}")
        elif self.is_meant():
            self._answering = self.set_timer(ALONE, self._answered, name="answer")

    def _answered(self) -> None:
        self._answering = None
        if self._off is None and not self.hidden:
            self.accept()

    def accept(self) -> None:
        """The person has said yes."""
        self.dismiss(True)

    def is_meant(self) -> bool:
        """Whether the `y` that has just come was pressed as an answer to what stands here.

        One that was pressed before the question could be read was not, whenever its turn comes;
        nor are those that the keyboard goes on sending while the same key is held down, which may
        have answered another question before.
        """
        if self.hidden:
            return False
        app: object = self.app
        assert isinstance(app, KeyApp), "a question needs to know when keys were pressed"
        presses = app.presses
        if self._arms_at is not None and presses.at >= self._arms_at and not presses.held_down:
            return True
        self._too_soon("that came too soon")
        return False

    def _too_soon(self, why: str) -> None:
        self._show_keys(f"{why}: wait {REPEAT:g} s, then y")
        self.set_timer(REPEAT, self._show_keys, name="keys")
