"""What the dialogs share: a box over the screen with a title that says where and what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import monotonic
from typing import ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from agentco_tui.screens.key_presses import KeyApp
from agentco_tui.screens.least_size import Overlay
from agentco_tui.screens.view import bindings_of
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.pane_content import Item
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import TextPane
from agentco_tui.widgets.tones import Cell, Tone

T = TypeVar("T")

SHARE = 0.94
"""Of the terminal's height, for a box at its largest."""

ARMING = 0.3
"""Seconds a question must have stood on the screen before a key can answer it."""


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

    def on_screen_resume(self) -> None:
        """On the screen, for the first time or again: it can be answered a moment later."""
        self._arms_at = None
        self.call_after_refresh(self._start_arming)

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
        told = [Cell(plain(f"{signs.warning} {warning}: "), Tone.WARNING)] if warning else []
        self.keys_line.show(
            [
                *told,
                Cell(plain("y"), Tone.ACCENT),
                Cell(plain(f" {self._yes}     ")),
                Cell(plain("n, esc"), Tone.ACCENT),
                Cell(plain(" no")),
            ]
        )

    def action_answer(self, yes: bool) -> None:
        """Take the answer; a yes that comes too early, or from a key held down, is dropped."""
        if not yes:
            self.dismiss(False)
        elif self.is_meant():
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
        self._show_keys("that came too soon")
        return False
