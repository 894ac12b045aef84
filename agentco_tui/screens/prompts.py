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
    def __init__(self, frame: MainScreen, view: ListView[Any]) -> None:
        self._frame, self._view = frame, view
        keys = [column.key for column in view.table.rows.columns if column.key != "level"]
        hint = plain("words  !not  " + " ".join(keys)[:60])
        frame.footer.display = False
        frame.prompt.ask("/", view.filter_text, hint, asking=self)

    def typed(self, text: str) -> None:
        error = self._view.set_filter(text)
        keep = plain("enter keeps it, esc drops it")
        self._frame.prompt.hint(error or keep, bad=error is not None)

    async def entered(self, text: str) -> None:
        # Enter may come before the list was filtered by the words that it keeps.
        if text != self._view.filter_text:
            self.typed(text)
        if text == self._view.filter_text:
            self._frame.close_prompt()

    def left(self) -> None:
        self._view.set_filter("")
        self._frame.close_prompt()


class GoToWords:
    def __init__(self, frame: MainScreen, store: Store) -> None:
        self._frame, self._store = frame, store
        suggester = WordSuggester(lambda text: suggestion(text, store))
        frame.footer.display = False
        frame.prompt.ask(":", "", USAGE, suggester, asking=self)

    def typed(self, text: str) -> None:
        """The suggestion says what there is to say."""

    async def entered(self, text: str) -> None:
        """Go there, or say why nowhere; those words stay to be mended."""
        frame, word = self._frame, text.strip().casefold()
        if word in ("", "q", "quit", "help", "?"):
            frame.close_prompt()
            if word in ("q", "quit"):
                await frame.app.run_action("leave")
            elif word:
                frame.action_help()
            return
        to = parse(text, self._store)
        if not isinstance(to, Destination):
            frame.prompt.hint(to, bad=True)
            return
        frame.close_prompt()
        if to.scope is not None:
            frame.set_scope(to.scope or None)
        await frame.action_show(to.place)
        status = getattr(frame.view, "show_status", None)
        if to.status is not None and status is not None:
            frame.view.call_after_refresh(status, to.status)
        if to.record_id is not None:
            frame.show_record(to.place, to.record_id)

    def left(self) -> None:
        self._frame.close_prompt()


class Destination(msgspec.Struct, frozen=True):
    place: Place
    record_id: str | None = None
    status: str | None = None
    scope: str | None = None  # the company to scope to; "" for all companies


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
        case "company" | "all" if word == "all" or rest.casefold() in ("", "all"):
            return Destination("companies", scope="")
        case "company":
            company = find(rest, store.companies)
            if company is None:
                return _nothing("company", rest)
            return Destination("companies", company.id, scope=company.id)
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
