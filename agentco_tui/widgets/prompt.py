"""One line at the bottom to type words into: a filter, or where to go."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.suggester import Suggester
from textual.widgets import Input

from agentco_tui.text import SafeText, cell_width, plain
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.tones import Cell, Tone


class Asking(Protocol):
    """Who wants to have words, and what is done with them."""

    def typed(self, text: str) -> None: ...  # other words stand there now
    async def entered(self, text: str) -> None: ...  # enter: these words are meant
    def left(self) -> None: ...  # escape: nothing is meant


class Words(Input):
    """The words; enter is dealt with before the next key, which may be there already."""

    async def action_submit(self) -> None:
        asking = self.query_ancestor(Prompt).asking
        if asking is not None:
            await asking.entered(self.value)

    def on_hide(self, event: events.Hide) -> None:
        """Keep the keys if the line has been opened again since it was hidden."""
        if self.query_ancestor(Prompt).display:
            event.prevent_default()


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

    def __init__(self) -> None:
        super().__init__()
        self.asking: Asking | None = None
        self._sign_line = StatusLine(classes="prompt--sign")
        self._hint = StatusLine(classes="prompt--hint")
        self.input = Words(compact=True, select_on_focus=False)

    def compose(self) -> ComposeResult:
        yield self._sign_line
        yield self.input
        yield self._hint

    def ask(
        self,
        sign: str,
        text: str,
        hint: SafeText,
        suggester: Suggester | None = None,
        *,
        asking: Asking | None = None,
    ) -> None:
        self.asking = asking
        self.display = True
        self._sign_line.show([Cell(plain(f" {sign} "), Tone.ACCENT)])
        self.hint(hint)
        self.input.suggester = suggester
        with self.prevent(Input.Changed):
            self.input.value = text
        self.input.cursor_position = len(text)
        # At once: the next key may have been typed already.
        self.screen.set_focus(self.input)

    def hint(self, words: SafeText, *, bad: bool = False) -> None:
        """Say how to go on, or what is wrong with the words."""
        # What is wrong with the words counts for more than room to type; a usage for less.
        width = self.app.size.width
        most = width * 3 // 4 if bad else width // 2
        self._hint.styles.width = min(cell_width(words) + 1, most)
        self._hint.show([Cell(words, Tone.WARNING if bad else Tone.DIM)])

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.asking is not None and event.value == self.input.value:
            self.asking.typed(event.value)

    def action_leave(self) -> None:
        if self.asking is not None:
            self.asking.left()


Suggest = Callable[[str], str | None]


class WordSuggester(Suggester):
    """Suggests the rest of the line from a function of what was typed."""

    def __init__(self, suggest: Suggest) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._suggest = suggest

    async def get_suggestion(self, value: str) -> str | None:
        return self._suggest(value)
