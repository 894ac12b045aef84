"""`Prompt`: a line at the bottom of the screen into which the user types, as for a filter.

It is hidden until `ask` opens it for a `PromptHandler`, which decides what the text does: the
filter of a list, a place to go to, a time in a recording. The prompt also shows errors above the
text, a hint behind it, choices that the handler offers, and the history of entered texts.

It is made of `StatusLine` (one line of cells), `TextPane` (several lines) and `Notice` (lines that
are hidden while there are none). A `Cell` is a text in a `Tone`, for which the theme has a colour;
`SafeText` is text without control characters.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, ClassVar, Protocol

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.suggester import Suggester
from textual.widgets import Input

from agentco_tui.text import SafeText, cell_width, mark_safe
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import Notice, PaneItem, Paragraph, TextPane
from agentco_tui.widgets.tones import Cell, Tone

MAX_HISTORY = 50
"""Entered texts that are remembered for each sign."""
_NO_TEXT = mark_safe("")


class PromptHandler(Protocol):
    """Decides what is done with the text of a prompt."""

    def text_changed(self, text: str) -> None:
        """The user has typed: this is the text now."""

    async def text_entered(self, text: str) -> None:
        """The user has pressed enter. Hides the prompt if it accepts the text."""

    def cancelled(self) -> None:
        """The user has pressed escape."""

    def move_choice(self, by: int) -> bool:
        """Choose the next (1) or the previous (-1) line that is offered; False if there is none."""


class LineInput(Input):
    """An input for one line of text. Pasted lines are joined with blanks between them."""

    def __init__(
        self, entered: Callable[[Input], Awaitable[None]], value: str = "", **options: Any
    ) -> None:
        """`entered` is awaited after enter, before the next key, which may have come already."""
        super().__init__(value, compact=True, **options)
        self._submit = entered

    async def action_submit(self) -> None:
        await self._submit(self)

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        lines = filter(None, map(str.strip, event.text.splitlines()))
        self.replace(" ".join(lines), *self.selection)


class PromptInput(LineInput):
    """The input of a prompt: up and down go through its history or its choices."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "earlier(1)", "Earlier words", show=False),
        Binding("down", "earlier(-1)", "Later words", show=False),
        Binding("tab", "complete", "Complete", show=False),
    ]

    def action_earlier(self, by: int) -> None:
        """Show the text that was entered before (1) or after (-1) the one shown.

        The newest comes first; before it comes the text that was being typed. If there are choices,
        the previous or next of those is chosen instead.
        """
        prompt = self.query_ancestor(Prompt)
        if prompt.steps_back == 0:
            if prompt.handler is not None and prompt.handler.move_choice(-by):
                return
            prompt.typed_text = self.value
        prompt.steps_back = max(0, min(len(prompt.history), prompt.steps_back + by))
        if prompt.steps_back == 0:
            self.value = prompt.typed_text
        else:
            self.value = prompt.history[prompt.steps_back - 1]
        self.cursor_position = len(self.value)

    def action_complete(self) -> None:
        """Accept the suggestion."""
        self.action_end()
        self.action_cursor_right()

    def on_hide(self, event: events.Hide) -> None:
        """Keep the focus if the prompt has been opened again since it was hidden."""
        if self.query_ancestor(Prompt).display:
            event.prevent_default()


class Prompt(Vertical):
    """The line with its sign ("/" or ":"), input and hint; error and choices are above it."""

    DEFAULT_CSS = """
    Prompt {
        height: auto; display: none;
        & > Horizontal { height: 1; }
        & .prompt--sign { width: 3; }
        & Input { border: none; height: 1; padding: 0; width: 1fr; background: $panel; }
        & Input:focus { border: none; }
        & .prompt--hint { width: 1fr; }
        & .prompt--choices { display: none; background: $panel; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back", show=False)]

    def __init__(self) -> None:
        super().__init__()
        self.handler: PromptHandler | None = None
        self.sign = ""
        """What kind of text is asked for: it is shown before the text, and has its own history."""
        self.steps_back = 0
        """How far back in the history the shown text is; 0 for the text that is being typed."""
        self.typed_text = ""
        """The text that was being typed when the user went back in the history."""
        self.error_notice = Notice()
        self.input = PromptInput(self._text_entered, select_on_focus=False)
        self._histories: dict[str, list[str]] = {}
        """Entered texts by sign, the newest first."""
        self._sign_line = StatusLine(classes="prompt--sign")
        self._hint = StatusLine(classes="prompt--hint")
        self._choices = TextPane(classes="prompt--choices")
        self._choices.can_focus = False

    def compose(self) -> ComposeResult:
        yield self._choices
        yield self.error_notice
        with Horizontal():
            yield self._sign_line
            yield self.input
            yield self._hint

    @property
    def history(self) -> list[str]:
        """Texts that were entered at this sign, the newest first."""
        return self._histories.get(self.sign, [])

    @property
    def choice_lines(self) -> int:
        """How many lines of choices fit."""
        return max(3, min(10, self.app.size.height // 3))

    def show_choices(self, lines: Iterable[PaneItem]) -> None:
        """Show lines to choose from. Once shown, the pane keeps its height while it is filled."""
        lines = tuple(lines)
        if lines:
            self._choices.display = True
        self._choices.styles.height = self.choice_lines
        self._choices.show(lines)

    def ask(
        self,
        sign: str,
        text: str,
        hint: SafeText,
        suggester: Suggester | None = None,
        *,
        handler: PromptHandler | None = None,
    ) -> None:
        """Open the prompt and give it the focus; `text` is there to begin with."""
        self.handler = handler
        self.sign = sign
        self.steps_back = 0
        self.display = True
        self._choices.display = False
        self._sign_line.show([Cell(mark_safe(f" {sign} "), Tone.ACCENT)])
        self.show_hint(hint)
        self.input.suggester = suggester
        with self.prevent(Input.Changed):
            self.input.value = text
        self.input.cursor_position = len(text)
        # At once: the next key may have been typed already.
        self.screen.set_focus(self.input)

    def show_hint(self, words: SafeText) -> None:
        """Say how to go on; an error is no longer shown."""
        self._show_messages(hint=words)

    def show_error(self, words: SafeText) -> None:
        """Say what is wrong with the text, in place of the hint."""
        self._show_messages(error=words)

    def _show_messages(self, hint: SafeText = _NO_TEXT, error: SafeText = _NO_TEXT) -> None:
        self.error_notice.show([Paragraph(error, Tone.WARNING)] if error else [])
        self._hint.styles.width = min(cell_width(hint) + 1, self.app.size.width // 2)
        self._hint.show([Cell(hint, Tone.DIM)])

    async def _text_entered(self, _: Input) -> None:
        text = self.input.value
        if self.handler is None:
            return
        await self.handler.text_entered(text)
        # A handler that accepts the text hides the prompt.
        is_accepted = not self.display
        if is_accepted and text.strip():
            older = [entry for entry in self.history if entry != text]
            self._histories[self.sign] = [text, *older][:MAX_HISTORY]

    @on(Input.Changed)
    def _text_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.handler is not None and event.value == self.input.value:
            self.handler.text_changed(event.value)

    def action_leave(self) -> None:
        if self.handler is not None:
            self.handler.cancelled()


class WordSuggester(Suggester):
    """Suggests a completion of the whole line, which a function returns for the typed text."""

    def __init__(self, suggest: Callable[[str], str | None]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._suggest = suggest

    async def get_suggestion(self, value: str) -> str | None:
        return self._suggest(value)
