"""One line at the bottom to type words into: a filter, or where to go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input

from agentco_tui.text import SafeText, cell_width, plain
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.tones import Cell, Tone


class Prompt(Horizontal):
    """Hidden until asked; escape leaves it, enter takes what was typed."""

    DEFAULT_CSS = """
    Prompt {
        height: 1; display: none;
        & > .prompt--sign { width: 3; }
        & > Input { border: none; height: 1; padding: 0; width: 1fr; background: $panel; }
        & > Input:focus { border: none; }
        & > .prompt--hint { width: 1fr; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back", show=False)]

    @dataclass
    class Changed(Message):
        """Other words stand there now."""

        sign: str
        text: str

    @dataclass
    class Entered(Message):
        """Enter: these words are meant."""

        sign: str
        text: str

    @dataclass
    class Left(Message):
        """Escape: nothing is meant."""

        sign: str

    def __init__(self) -> None:
        super().__init__()
        self.sign = "/"
        self._sign_line = StatusLine(classes="prompt--sign")
        self._hint = StatusLine(classes="prompt--hint")
        self.input = Input(compact=True, select_on_focus=False)

    def compose(self) -> ComposeResult:
        """Sign, words and hint."""
        yield self._sign_line
        yield self.input
        yield self._hint

    def ask(self, sign: str, text: str, hint: SafeText, suggester: Suggester | None = None) -> None:
        """Open the line with these words in it."""
        self.sign = sign
        self.display = True
        self._sign_line.show([Cell(plain(f" {sign} "), Tone.ACCENT)])
        self.hint(hint)
        self.input.suggester = suggester
        with self.prevent(Input.Changed):
            self.input.value = text
        self.input.cursor_position = len(text)
        self.take_keys()

    def hint(self, words: SafeText, *, bad: bool = False) -> None:
        """Say how to go on, or what is wrong with the words."""
        # What is wrong with the words counts for more than room to type; a usage for less.
        share = (3, 4) if bad else (1, 2)
        most = self.app.size.width * share[0] // share[1]
        self._hint.styles.width = min(cell_width(words) + 1, most)
        self._hint.show([Cell(words, Tone.WARNING if bad else Tone.DIM)])

    def take_keys(self) -> None:
        """Have the keys, and that at once: the next may have been typed already."""
        self.screen.set_focus(self.input)

    def close(self) -> None:
        """Hide the line."""
        self.display = False

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.display:
            self.post_message(self.Changed(self.sign, event.value))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Entered(self.sign, event.value))

    def action_leave(self) -> None:
        """Escape."""
        self.post_message(self.Left(self.sign))


Suggest = Callable[[str], str | None]


class WordSuggester(Suggester):
    """Suggests the rest of the line from a function of what was typed."""

    def __init__(self, suggest: Suggest) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._suggest = suggest

    async def get_suggestion(self, value: str) -> str | None:
        """The whole line as it could be, or None."""
        return self._suggest(value)
