"""What can be opened or run by typing its name, and the search over all of it.

The command prompt (`:`), the go-to prompt (`g`) and their suggestions use this. A `Target` is a
command, a screen, a view (a list with a filter of its own, defined in the settings), a theme, a
profile (the user's name for a platform, a remote service that runs AI agents, and the key for it),
or a record such as a company or a task. `targets` yields all of them, and `search` finds those that
some typed words may mean. Nothing here knows Textual. `place` is the name of the screen that is
shown, such as "tasks". In a `Command`, `where` and `also` are the places in which it works, and
`cursor` says whether it only moves the cursor. The workspace is what is known of the platform in
memory.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice, takewhile
from typing import Final, NamedTuple

from agentco_tui.config.validators import THEMES
from agentco_tui.keys.commands import COMMANDS, Command
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import is_open
from agentco_tui.live.store import Store
from agentco_tui.model import Agent, Alert, Company, Task
from agentco_tui.text import SafeText, clean_line, joined, mark_safe, signs
from agentco_tui.workspace.workspace import Workspace

MOST: Final = 100
"""Results of each rank that are kept."""
STEP: Final = 200
"""Targets that are searched between two pauses."""
APART: Final = 3
"""Letters that may stand between two of those typed."""
SHORT: Final = 3
"""Letters at or above which those typed need not be adjacent."""
FEW: Final = 2_000
"""Targets among which a similar spelling is looked for."""

KINDS: Final = ("command", "profile", "company", "agent", "task", "alert")
"""Words that may stand before a name, to mean only those."""

_EXACT, _PREFIX, _WORD_PREFIX, _CONTAINS, _LOOSE = range(5)
"""How well a target fits the typed words, the best first."""


class Target(NamedTuple):
    """Something that can be opened or run, by its name or id."""

    kind: str
    """One of `KINDS`, or "screen", "status", "view" or "theme"."""
    name: SafeText
    id: str
    """The id of the record or the command; "tasks STATUS", "profile NAME", the tab of a view, the
    name of a theme, or "" for all companies.
    """
    record: Task | Agent | Company | Alert | Command | None = None


class SearchResult(NamedTuple):
    """The targets that some words may mean, the best first."""

    words: str
    targets: Sequence[Target]
    equally_good: int = 0
    """How many targets fit as well as the first."""
    total: int = 0
    """How many targets fit at all, including those that were not kept."""

    @property
    def unambiguous(self) -> Target | None:
        """The only target that fits best; None if there are several."""
        return self.targets[0] if self.equally_good == 1 else None


def statuses(store: Store) -> list[str]:
    """Return the words that choose which tasks are shown: "pending", those sent, and "all"."""
    sent = {task.status for task in store.tasks}
    words = {str(status).casefold() for status in sent if status}
    return ["pending", *sorted(words - {"pending"}), "all"]


def status_target(status: str) -> Target:
    return Target("status", clean_line(f"tasks {status}"), f"tasks {status}")


def targets(workspace: Workspace, place: Place) -> Iterator[Target]:
    """Yield all targets, smaller kinds first, so that many tasks delay no other.

    Commands of the screen itself come first, those that move the cursor last.
    """
    store = workspace.store
    for command in _commands_of(workspace, place):
        kind = "screen" if command.id.startswith("screen.") else "command"
        yield Target(kind, mark_safe(command.label), command.id, command)
    for status in statuses(store):
        yield status_target(status)
    for view in workspace.settings.views:
        yield Target("view", clean_line(f"view {view.name}"), view.tab)
    for theme in (*THEMES, *workspace.settings.themes):
        yield Target("theme", clean_line(f"theme {theme}"), theme)
    for profile in workspace.settings.profiles:
        yield Target("profile", clean_line(profile, 60), f"profile {profile}")
    if workspace.settings.profiles:
        yield Target("profile", mark_safe("all profiles"), "profile ")
    yield Target("company", mark_safe("all"), "")
    for company in store.companies:
        yield Target("company", company.name or clean_line(company.id), company.id, company)
    for agent in store.agents:
        yield Target("agent", agent.name or clean_line(agent.id), agent.id, agent)
    for alert in workspace.needs.of_scope(filter(is_open, store.alerts)):
        yield Target("alert", alert.text, alert.id, alert)
    for task in store.pending:
        yield Target("task", task.keyed_title, task.id, task)
    waiting = store.pending.records
    for task in store.tasks:
        if task.id not in waiting:
            yield Target("task", task.keyed_title, task.id, task)


def _commands_of(workspace: Workspace, place: Place) -> list[Command]:
    """Return the commands that work on a screen, except the prompts themselves."""
    custom_commands = (custom.command for custom in workspace.settings.commands)
    commands = [
        command
        for command in (*COMMANDS, *workspace.verb_commands.values(), *custom_commands)
        if place in command.places
        and command.where != "dialog"
        and command.id not in ("app.go_to", "app.palette")
    ]
    order = {place: 0, "table": 1}

    def sort_key(command: Command) -> tuple[bool, int]:
        is_of_screen = place in command.also
        return command.cursor, 0 if is_of_screen else order.get(command.where, 2)

    commands.sort(key=sort_key)
    return commands


class _Matcher:
    """Ranks texts by how well they fit some typed words."""

    def __init__(self, wanted: str) -> None:
        self._wanted = wanted
        self._parts = wanted.split()
        self._prefix = wanted
        self._exact_name = f"{wanted}\n"
        self._id_prefix = f"\n{wanted}"
        self._word_prefix = f" {wanted}"
        letters = wanted.replace(" ", "")
        self._loose: re.Pattern[str] | None = None
        if len(letters) >= SHORT:
            pattern = re.escape(letters[:1])
            for letter in letters[1:]:
                pattern += f"[^{re.escape(letter)}\n]{{0,{APART}}}+{re.escape(letter)}"
            self._loose = re.compile(pattern)

    def rank(self, target: Target) -> int | None:
        """Return how well a target fits, from `_EXACT` to `_LOOSE`; None if it does not."""
        if isinstance(target.record, Task) and (target.record.key or "").casefold() == self._wanted:
            return _EXACT
        text = f"{target.name}\n{target.id}".casefold()
        if not all(part in text for part in self._parts):
            is_loose = self._loose is not None and self._loose.search(text) is not None
            return _LOOSE if is_loose else None
        if text.startswith(self._exact_name) or text.endswith(self._id_prefix):
            return _EXACT
        if text.startswith(self._prefix) or self._id_prefix in text:
            return _PREFIX
        return _WORD_PREFIX if self._word_prefix in text else _CONTAINS


def search(
    words: str, among: Iterable[Target], recent: Sequence[Target] = ()
) -> Generator[None, None, SearchResult]:
    """Find targets by their names, ids and keys. A generator that pauses every `STEP` targets.

    Ranked by whether the name is the words, begins with them, has a word that does, contains them,
    or has their letters in this order and not far apart. Of targets that rank the same, those in
    `recent` come first. A kind such as "agent" before the words finds only those.
    """
    wanted = " ".join(words.casefold().split())
    first_word, _, rest = wanted.partition(" ")
    only_kind = ""
    if first_word in KINDS and rest:
        only_kind = first_word
        wanted = rest
    matcher = _Matcher(wanted)
    targets_by_rank: list[list[Target]] = [[] for _ in range(_LOOSE + 1)]
    counts = [0] * len(targets_by_rank)
    recency = {(target.kind, target.id): at for at, target in enumerate(recent)}
    for number, target in enumerate(among, start=1):
        if number % STEP == 0:
            yield
        if not wanted or (only_kind and target.kind != only_kind):
            continue
        rank = matcher.rank(target)
        if rank is None:
            continue
        counts[rank] += 1
        if len(targets_by_rank[rank]) < MOST or (target.kind, target.id) in recency:
            targets_by_rank[rank].append(target)
    total = sum(counts)
    for rank, ranked in enumerate(targets_by_rank):
        ranked.sort(key=lambda target: recency.get((target.kind, target.id), len(recency)))
        screens = [target for target in ranked if target.kind == "screen"]
        if rank <= _PREFIX and len(screens) == 1:
            # Whatever a platform calls its records, the same letters always open a screen.
            ranked.sort(key=lambda target: target.kind != "screen")
            counts[rank] = 1
    equally_good = next(filter(None, counts), 0)
    found = [target for ranked in targets_by_rank for target in ranked]
    return SearchResult(words, found, equally_good, total)


def status_not_read_yet(words: str, store: Store) -> Target | None:
    """Return the target of `tasks WORD` until all tasks were read, so that any status may exist."""
    screen, _, status = words.strip().casefold().partition(" ")
    is_read = store.freshness[FeedName.TASKS].answered_at is not None
    if screen != "tasks" or not status or (is_read and store.tasks.listing.whole):
        return None
    return status_target(status)


def spellings(among: Iterable[Target]) -> Iterator[tuple[str, SafeText]]:
    """Yield the ways to write each target, with its name; no tasks, of which there may be many."""
    for target in takewhile(lambda target: target.kind != "task", among):
        yield target.name, target.name
        yield f"{target.kind} {target.name}", target.name


def not_found_text(words: str, among: Iterable[Target]) -> SafeText:
    """Return that nothing has this name, and the name with the most similar spelling."""
    names = {text.casefold(): name for text, name in islice(spellings(among), FEW)}
    similar = get_close_matches(words.strip().casefold(), names, 1)
    hint = f": did you mean {names[similar[0]]}?" if similar else ""
    return mark_safe(f"nothing here is called {clean_line(words.strip(), 40)}{hint}")


def description(target: Target, workspace: Workspace, denied: Mapping[str, str]) -> SafeText:
    """Return what distinguishes a target from others of its name.

    `denied` has the reason why a command does not work now, by the command's id.
    """
    names = workspace.names
    record = target.record
    match record:
        case Command():
            if record.id in denied:
                return mark_safe(f"not now: {denied[record.id]}")
            return mark_safe(record.tooltip)
        case Task():
            parts: list[SafeText] = []
            if record.agent:
                parts.append(names.agent(record.agent))
            company = names.company_of(record)
            if company:
                parts.append(names.company(company))
            if record.status:
                parts.append(record.status)
            return joined(parts, f" {signs.separator} ")
        case Agent() | Alert():
            company = names.company_of(record)
            if company:
                return names.company(company)
    if target.kind == "profile":
        return _description_of_profile(target, workspace)
    return mark_safe("" if target.id else "show all companies")


def _description_of_profile(target: Target, workspace: Workspace) -> SafeText:
    if target.id == "profile ":
        return mark_safe("what needs you on all platforms")
    is_current = target.id == f"profile {workspace.settings.profile}"
    return mark_safe("restart it" if is_current else "switch to this platform")


def completion(typed: str, among: Iterable[Target]) -> str | None:
    """Return what was typed, completed to the first name that begins with it."""
    return completed(typed, (text for text, _ in spellings(among)))


def completed(typed: str, words: Iterable[str]) -> str | None:
    """Return what was typed, completed to the first of these words that begins with it."""
    if not typed:
        return None
    prefix = typed.casefold()
    for word in words:
        if word.casefold().startswith(prefix):
            return typed + word[len(typed) :]
    return None
