"""What is done with the words typed at the bottom: a filter for a list, or where to go."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Protocol

import msgspec
from textual.app import App

from agentco_tui.keys import SCREENS, Place
from agentco_tui.live.store import Store
from agentco_tui.model import Agent, Company
from agentco_tui.screens.base_view import View
from agentco_tui.text import SafeText, plain, safe
from agentco_tui.widgets.prompt import Prompt, WordSuggester
from agentco_tui.widgets.table.filter import FilterError


class PromptFrame(Protocol):
    """What is asked of the frame around the prompt."""

    prompt: Prompt
    app: App[Any]

    def close_prompt(self) -> None:
        """Hide the prompt; the list has the keys again."""

    async def travel(self, to: Destination) -> None:
        """Go where the words lead; done when what is there can take keys."""

    def action_help(self) -> None:
        """The keys of this screen."""


class FilterWords:
    """A filter; it works while it is typed."""

    def __init__(self, frame: PromptFrame, view: View[Any]) -> None:
        self._frame = frame
        self._view = view
        self._before = view.filter_text

    def ask(self) -> None:
        """Open the prompt for it."""
        keys = [column.key for column in self._view.table.rows.columns if column.key != "level"]
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

    def __init__(self, frame: PromptFrame, store: Store) -> None:
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
                await self._frame.app.run_action("leave")
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


class Destination(msgspec.Struct, frozen=True):
    """A screen, and what to show there."""

    place: Place
    record_id: str | None = None
    status: str | None = None
    scope: str | None = None
    """The company to scope to; "" for all companies."""


WORDS = (*SCREENS, "agent", "company", "task", "all", "quit", "help")
USAGE = plain("overview, tasks pending, agent NAME, company NAME, task ID, all")


def parse(text: str, store: Store) -> Destination | SafeText:
    """Where the words lead, or a sentence that says why nowhere."""
    word, _, rest = text.strip().partition(" ")
    word, rest = word.casefold().lstrip(":"), rest.strip()
    match word:
        case "tasks":
            return Destination("tasks", status=rest.casefold() or None)
        case "agent":
            agent = find(rest, list(store.agents))
            return Destination("agents", agent.id) if agent else _nothing("agent", rest)
        case "company":
            if not rest or rest.casefold() == "all":
                return Destination("companies", scope="")
            company = find(rest, list(store.companies))
            if company is None:
                return _nothing("company", rest)
            return Destination("companies", company.id, scope=company.id)
        case "all":
            return Destination("companies", scope="")
        case "task":
            known = store.pending.get(rest) or store.tasks.get(rest)
            return Destination("tasks", known.id) if known else _nothing("task", rest)
        case _:
            if screen := next((screen for screen in SCREENS if screen == word), None):
                return Destination(screen)
            near = get_close_matches(word, WORDS, 1)
            hint = f": did you mean {near[0]}?" if near else f": {USAGE}"
            return plain(f"no such place as {safe(word, 30)}{hint}")


def find(words: str, records: list[Agent] | list[Company]) -> Agent | Company | None:
    """The record with that id or name, else the only one whose name or id begins so."""
    wanted = words.casefold()
    if not wanted:
        return None
    for record in records:
        if record.id == words or (record.name or "").casefold() == wanted:
            return record
    begins = [
        record
        for record in records
        if record.id.casefold().startswith(wanted)
        or (record.name or "").casefold().startswith(wanted)
    ]
    return begins[0] if begins else None


def suggestion(text: str, store: Store) -> str | None:
    """The line as it could be completed."""
    word, blank, rest = text.partition(" ")
    if not blank:
        return next((known for known in WORDS if word and known.startswith(word.casefold())), None)
    records: list[Agent] | list[Company]
    if word == "agent":
        records = list(store.agents)
    elif word == "company":
        records = list(store.companies)
    elif word == "tasks":
        statuses = sorted({str(task.status) for task in store.tasks if task.status} | {"all"})
        known = next((status for status in ["pending", *statuses] if status.startswith(rest)), None)
        return f"{word} {known}" if rest and known else None
    else:
        return None
    for record in records:
        name = record.name or safe(record.id)
        if rest and name.casefold().startswith(rest.casefold()):
            return f"{word} {rest}{name[len(rest) :]}"
    return None


def _nothing(kind: str, words: str) -> SafeText:
    if not words:
        return plain(f"which {kind}? type its name or its id")
    return plain(f"no {kind} here has the name or id {safe(words, 40)}")
