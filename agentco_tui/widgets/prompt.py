"""One line at the bottom to type words into: a filter, or where to go."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, ClassVar, Protocol

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.suggester import Suggester
from textual.widgets import Input

from agentco_tui.text import SafeText, cell_width, plain
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import Item, Notice, Text, TextPane
from agentco_tui.widgets.tones import Cell, Tone

MOST_PAST = 50  # entered words that are kept


class Asking(Protocol):
    """Who wants to have words, and what is done with them."""

    def typed(self, text: str) -> None: ...  # other words stand there now
    async def entered(self, text: str) -> None: ...  # enter: these words are meant
    def left(self) -> None: ...  # escape: nothing is meant
    def step(self, by: int) -> bool: ...  # down or up: choose; False where nothing is offered


class LineInput(Input):
    """One line of text; of several that are pasted, all are kept, with blanks between them."""

    def __init__(
        self, entered: Callable[[Input], Awaitable[None]], value: str = "", **options: Any
    ) -> None:
        """`entered` is what enter does, before the next key, which may be there already."""
        super().__init__(value, compact=True, **options)
        self._entered = entered

    async def action_submit(self) -> None:
        await self._entered(self)

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        lines = filter(None, map(str.strip, event.text.splitlines()))
        self.replace(" ".join(lines), *self.selection)


class Words(LineInput):
    """What is typed into a prompt."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "earlier(1)", "Earlier words", show=False),
        Binding("down", "earlier(-1)", "Later words", show=False),
        Binding("tab", "complete", "Complete", show=False),
    ]

    def action_earlier(self, by: int) -> None:
        """Words that were entered before, the newest first; then again what was being typed.
        While something is offered, that is gone through instead.
        """
        prompt = self.query_ancestor(Prompt)
        if not prompt.back and prompt.asking is not None and prompt.asking.step(-by):
            return
        if prompt.back == 0:
            prompt.typing = self.value
        prompt.back = max(0, min(len(prompt.past), prompt.back + by))
        self.value = prompt.past[prompt.back - 1] if prompt.back else prompt.typing
        self.cursor_position = len(self.value)

    def action_complete(self) -> None:
        """Take what is suggested."""
        self.action_end()
        self.action_cursor_right()

    def on_hide(self, event: events.Hide) -> None:
        """Keep the keys if the line has been opened again since it was hidden."""
        if self.query_ancestor(Prompt).display:
            event.prevent_default()


class Prompt(Vertical):
    """Hidden until asked; escape leaves it, enter takes what was typed. What is wrong with the
    words stands above them, whole.
    """

    DEFAULT_CSS = """
    Prompt {
        height: auto; display: none;
        & > Horizontal { height: 1; }
        & .prompt--sign { width: 3; }
        & Input { border: none; height: 1; padding: 0; width: 1fr; background: $panel; }
        & Input:focus { border: none; }
        & .prompt--hint { width: 1fr; }
        & .prompt--offer { display: none; background: $panel; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back", show=False)]

    def __init__(self) -> None:
        super().__init__()
        self.asking: Asking | None = None
        self._sign_line = StatusLine(classes="prompt--sign")
        self.sign = ""
        self.pasts: dict[str, list[str]] = {}  # what was entered, by the sign, the newest first
        self.back, self.typing = 0, ""  # how far back in it the words are; what was typed before
        self.wrong = Notice()
        self._hint = StatusLine(classes="prompt--hint")
        self.input = Words(self._entered, select_on_focus=False)
        self._offer = TextPane(classes="prompt--offer")
        self._offer.can_focus = False

    def compose(self) -> ComposeResult:
        yield self._offer
        yield self.wrong
        with Horizontal():
            yield self._sign_line
            yield self.input
            yield self._hint

    @property
    def past(self) -> list[str]:
        return self.pasts.get(self.sign, [])

    @property
    def rows(self) -> int:
        """How many lines there are for what is offered."""
        return max(3, min(10, self.app.size.height // 3))

    def offer(self, lines: Iterable[Item]) -> None:
        """Show what there is to choose; its place stays as high as it is while it is filled."""
        kept = tuple(lines)
        self._offer.display = self._offer.display or bool(kept)
        self._offer.styles.height = self.rows
        self._offer.show(kept)

    def ask(
        self,
        sign: str,
        text: str,
        hint: SafeText,
        suggester: Suggester | None = None,
        *,
        asking: Asking | None = None,
    ) -> None:
        self.asking, self.sign, self.back = asking, sign, 0
        self.display, self._offer.display = True, False
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
        self.wrong.show([Text(words, Tone.WARNING)] if bad else [])
        words = plain("") if bad else words
        self._hint.styles.width = min(cell_width(words) + 1, self.app.size.width // 2)
        self._hint.show([Cell(words, Tone.DIM)])

    async def _entered(self, _: Input) -> None:
        words = self.input.value
        if self.asking is not None:
            await self.asking.entered(words)
            if not self.display and words.strip():
                before = (each for each in self.past if each != words)
                self.pasts[self.sign] = [words, *before][:MOST_PAST]

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.asking is not None and event.value == self.input.value:
            self.asking.typed(event.value)

    def action_leave(self) -> None:
        if self.asking is not None:
            self.asking.left()


class WordSuggester(Suggester):
    """Suggests the rest of the line from a function of what was typed."""

    def __init__(self, suggest: Callable[[str], str | None]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._suggest = suggest

    async def get_suggestion(self, value: str) -> str | None:
        return self._suggest(value)
