"""What can be typed after `:`, and where it leads."""

from __future__ import annotations

from difflib import get_close_matches

import msgspec

from agentco_tui.keys import Place
from agentco_tui.live.store import Store
from agentco_tui.model.records import Agent, Company
from agentco_tui.screens.frame_lines import PLACES
from agentco_tui.text import SafeText, plain, safe


class Destination(msgspec.Struct, frozen=True):
    """A screen, and what to show there."""

    place: Place
    record_id: str | None = None
    status: str | None = None
    scope: str | None = None
    """The company to scope to; "" for all companies."""


WORDS = (*PLACES, "agent", "company", "task", "all", "quit", "help")
USAGE = plain("overview, tasks pending, agent NAME, company NAME, task ID, all")


def parse(text: str, store: Store) -> Destination | SafeText:
    """Where the words lead, or a sentence that says why nowhere."""
    word, _, rest = text.strip().partition(" ")
    word, rest = word.casefold().lstrip(":"), rest.strip()
    match word:
        case "tasks":
            return Destination("tasks", status=rest.casefold() or None)
        case "companies" | "agents" | "overview" | "budget" | "activity":
            return Destination(word)
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
