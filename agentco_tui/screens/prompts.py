"""What is done with the words typed at the bottom: a filter for a list, or where to go."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from agentco_tui.keys import SCREENS, Place
from agentco_tui.live.store import Store
from agentco_tui.model import Agent, Company
from agentco_tui.text import SafeText, plain, safe
from agentco_tui.widgets.prompt import WordSuggester

if TYPE_CHECKING:
    from agentco_tui.screens.frame import MainScreen
    from agentco_tui.screens.list_view import ListView

R = TypeVar("R", Agent, Company)


class FilterWords:
    """A filter; it works while it is typed."""

    def __init__(self, frame: MainScreen, view: ListView[Any]) -> None:
        self._frame = frame
        self._view = view
        keys = [column.key for column in view.table.rows.columns if column.key != "level"]
        hint = plain("words  !not  " + " ".join(keys)[:60])
        frame.prompt.ask("/", view.filter_text, hint, asking=self)

    def typed(self, text: str) -> None:
        if self._filter(text):
            self._frame.prompt.hint(plain("enter keeps it, esc drops it"))

    def _filter(self, text: str) -> bool:
        error = self._view.set_filter(text)
        if error is not None:
            self._frame.prompt.hint(error.message, bad=True)
        return error is None

    async def entered(self, text: str) -> None:
        """Keep it; words that can't be used stay to be mended."""
        # Enter may come before the list was filtered by the words that it keeps.
        if text == self._view.filter_text or self._filter(text):
            self._frame.close_prompt()

    def left(self) -> None:
        self._view.set_filter("")
        self._frame.close_prompt()


class GoToWords:
    def __init__(self, frame: MainScreen, store: Store) -> None:
        self._frame = frame
        self._store = store
        suggester = WordSuggester(lambda text: suggestion(text, store))
        frame.prompt.ask(":", "", USAGE, suggester, asking=self)

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
            agent = find(rest, store.agents)
            return Destination("agents", agent.id) if agent else _nothing("agent", rest)
        case "company":
            if not rest or rest.casefold() == "all":
                return Destination("companies", scope="")
            company = find(rest, store.companies)
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


def find(words: str, records: Iterable[R]) -> R | None:
    """The record with that id or name, else the first whose name or id begins so."""
    wanted, begins = words.casefold(), None
    for record in records if wanted else ():
        name = (record.name or "").casefold()
        if record.id == words or name == wanted:
            return record
        if begins is None and (record.id.casefold().startswith(wanted) or name.startswith(wanted)):
            begins = record
    return begins


def completed(typed: str, words: Iterable[str]) -> str | None:
    """What was typed, completed to the first of these words that begins so."""
    begins = typed.casefold()
    found = next((word for word in words if typed and word.casefold().startswith(begins)), None)
    return None if found is None else typed + found[len(typed) :]


def suggestion(text: str, store: Store) -> str | None:
    """The line as it could be completed."""
    word, blank, rest = text.partition(" ")
    if not blank:
        return next((known for known in WORDS if word and known.startswith(word.casefold())), None)
    match word:
        case "agent":
            known: Iterable[str] = (agent.name or safe(agent.id) for agent in store.agents)
        case "company":
            known = (company.name or safe(company.id) for company in store.companies)
        case "tasks":
            statuses = {str(task.status) for task in store.tasks if task.status}
            known = ["pending", *sorted(statuses | {"all"})]
        case _:
            return None
    found = completed(rest, known)
    return None if found is None else f"{word} {found}"


def _nothing(kind: str, words: str) -> SafeText:
    if not words:
        return plain(f"which {kind}? type its name or its id")
    return plain(f"no {kind} here has the name or id {safe(words, 40)}")
