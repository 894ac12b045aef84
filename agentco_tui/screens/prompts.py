"""What is done with the words typed at the bottom: a filter for a list, or where to go."""

from __future__ import annotations

from typing import Any, Protocol

from agentco_tui.live.store import Store
from agentco_tui.screens.go_to import USAGE, Destination, parse, suggestion
from agentco_tui.screens.table_view import TableView
from agentco_tui.text import plain
from agentco_tui.widgets.prompt import Prompt, WordSuggester
from agentco_tui.widgets.table.filter import FilterError


class Asked(Protocol):
    """What is asked of the frame around the prompt."""

    prompt: Prompt

    def close_prompt(self) -> None:
        """Hide the prompt; the list has the keys again."""

    async def travel(self, to: Destination) -> None:
        """Go where the words lead; done when what is there can take keys."""

    def action_help(self) -> None:
        """The keys of this screen."""

    async def action_quit(self) -> None:
        """Leave the program."""


class FilterWords:
    """A filter; it works while it is typed."""

    def __init__(self, frame: Asked, view: TableView[Any]) -> None:
        self._frame = frame
        self._view = view
        self._before = view.filter_text

    def ask(self) -> None:
        """Open the prompt for it."""
        keys = [column.key for column in self._view.table.columns if column.key != "level"]
        hint = plain("words  !not  " + " ".join(keys)[:60])
        self._frame.prompt.ask("/", self._before, hint, asking=self)

    def typed(self, text: str) -> None:
        """Show only the lines that match, or say what is wrong with the words."""
        error = self._view.set_filter(text)
        if not self._tell(error):
            self._frame.prompt.hint(plain("enter keeps it, esc drops it"))

    def _tell(self, error: FilterError | None) -> bool:
        if error is not None:
            self._frame.prompt.hint(error.message, bad=True)
        return error is not None

    async def entered(self, text: str) -> None:
        """Keep it; words that can't be used stay to be mended."""
        # Enter may come before the list was filtered by the words that it keeps.
        if text == self._view.filter_text or not self._tell(self._view.set_filter(text)):
            self._frame.close_prompt()

    def left(self) -> None:
        """Drop it, and the one there was before."""
        self._view.set_filter("")
        self._frame.close_prompt()


class GoToWords:
    """Where to go."""

    def __init__(self, frame: Asked, store: Store) -> None:
        self._frame = frame
        self._store = store

    def ask(self) -> None:
        """Open the prompt for it."""
        suggester = WordSuggester(lambda text: suggestion(text, self._store))
        self._frame.prompt.ask(":", "", USAGE, suggester, asking=self)

    def typed(self, text: str) -> None:
        """The suggestion says what there is to say."""

    async def entered(self, text: str) -> None:
        """Go there, or say why nowhere; those words stay to be mended."""
        word = text.strip().casefold()
        if word in ("", "q", "quit", "help", "?"):
            self._frame.close_prompt()
            if word in ("q", "quit"):
                await self._frame.action_quit()
            elif word:
                self._frame.action_help()
            return
        found = parse(text, self._store)
        if isinstance(found, Destination):
            self._frame.close_prompt()
            await self._frame.travel(found)
        else:
            self._frame.prompt.hint(found, bad=True)

    def left(self) -> None:
        """Stay."""
        self._frame.close_prompt()
