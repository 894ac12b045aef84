"""All that can be gone to or run by its words, and the one search over it. No Textual."""

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
from agentco_tui.text import SafeText, joined, plain, safe, signs
from agentco_tui.workspace.workspace import Workspace

MOST: Final = 100  # found ones that are kept of each rank
STEP: Final = 200  # looked at between two looks at the time
APART: Final = 3  # letters that may stand between two of those typed
SHORT: Final = 3  # letters from which on they need not stand together

FEW: Final = 2_000  # that one of another spelling is looked for among

KINDS: Final = ("command", "profile", "company", "agent", "task", "alert")
"""Words that may stand before a name, to mean only those."""


class Target(NamedTuple):
    kind: str
    name: SafeText
    id: str
    of: Task | Agent | Company | Alert | Command | None = None


class Meant(NamedTuple):
    """What some words may mean, the best first."""

    words: str
    targets: Sequence[Target]
    best: int = 0  # how many fit as well as the first
    all: int = 0

    @property
    def sure(self) -> Target | None:
        """What is meant, if that is beyond doubt."""
        return self.targets[0] if self.best == 1 else None


def statuses(store: Store) -> list[str]:
    """The words that choose which tasks are shown, as far as they are known."""
    sent = {task.status for task in store.tasks}
    words = {str(status).casefold() for status in sent if status}
    return ["pending", *sorted(words - {"pending"}), "all"]


def status_target(status: str) -> Target:
    return Target("status", safe(f"tasks {status}"), f"tasks {status}")


def targets(workspace: Workspace, place: Place) -> Iterator[Target]:
    """All there are, the fewest first: of the commands the screen's own, the moves last."""
    store = workspace.store
    every = (*COMMANDS, *(own.command for own in workspace.settings.commands))
    here = [one for one in every if place in one.places and one.where != "dialog"]
    own = {place: 0, "table": 1}
    here.sort(key=lambda one: (one.cursor, 0 if place in one.also else own.get(one.where, 2)))
    for one in here:
        if one.id in ("app.go_to", "app.palette"):
            continue
        kind = "screen" if one.id.startswith("screen.") else "command"
        yield Target(kind, plain(one.label), one.id, one)
    for status in statuses(store):
        yield status_target(status)
    for view in workspace.settings.views:
        yield Target("view", safe(f"view {view.name}"), view.tab)
    for theme in (*THEMES, *workspace.settings.themes):
        yield Target("theme", safe(f"theme {theme}"), theme)
    for profile in workspace.settings.profiles:
        yield Target("profile", safe(profile, 60), f"profile {profile}")
    if workspace.settings.profiles:
        yield Target("profile", plain("all profiles"), "profile ")
    yield Target("company", plain("all"), "")
    for company in store.companies:
        yield Target("company", company.name or safe(company.id), company.id, company)
    for agent in store.agents:
        yield Target("agent", agent.name or safe(agent.id), agent.id, agent)
    for alert in workspace.needs.of_scope(filter(is_open, store.alerts)):
        yield Target("alert", alert.text, alert.id, alert)
    for task in store.pending:
        yield Target("task", task.title, task.id, task)
    waiting = store.pending.records
    for task in store.tasks:
        if task.id not in waiting:
            yield Target("task", task.title, task.id, task)


def search(
    words: str, among: Iterable[Target], recent: Sequence[Target] = ()
) -> Generator[None, None, Meant]:
    """Find what is called so, begins so, has a word that begins so, holds it all, or has its
    letters in this order not far apart; of those that fit as well, first what was chosen lately.
    """
    wanted = " ".join(words.casefold().split())
    kind, _, rest = wanted.partition(" ")
    if only := kind if kind in KINDS and rest else "":
        wanted = rest
    parts, letters = wanted.split(), wanted.replace(" ", "")
    others = [
        f"[^{re.escape(letter)}\n]{{0,{APART}}}+{re.escape(letter)}" for letter in letters[1:]
    ]
    loose = re.compile(re.escape(letters[:1]) + "".join(others)) if len(letters) >= SHORT else None
    ranks: list[list[Target]] = [[], [], [], [], []]
    counts = [0] * len(ranks)
    lately = {(target.kind, target.id): at for at, target in enumerate(recent)}
    whole, own_line, own_word = f"{wanted}\n", f"\n{wanted}", f" {wanted}"
    for at, target in enumerate(among, start=1):
        if at % STEP == 0:
            yield
        if not wanted or (only and target.kind != only):
            continue
        text = f"{target.name}\n{target.id}".casefold()
        if all(map(text.__contains__, parts)):
            if text.startswith(whole) or text.endswith(own_line):
                rank = 0
            elif text.startswith(wanted) or own_line in text:
                rank = 1
            else:
                rank = 2 if own_word in text else 3
        elif loose is not None and loose.search(text):
            rank = 4
        else:
            continue
        counts[rank] += 1
        if len(ranks[rank]) < MOST or (target.kind, target.id) in lately:
            ranks[rank].append(target)
    all_ = sum(counts)
    for rank, found in enumerate(ranks):
        found.sort(key=lambda target: lately.get((target.kind, target.id), len(lately)))
        screens = [target for target in found if target.kind == "screen"]
        if rank < 2 and len(screens) == 1:
            # Whatever a platform calls its records, screens are reached by the same letters.
            found.sort(key=lambda target: target.kind != "screen")
            counts[rank] = 1
    best = next(filter(None, counts), 0)
    return Meant(words, [target for found in ranks for target in found], best, all_)


def unread_status(words: str, store: Store) -> Target | None:
    """What `tasks WORD` means while it isn't known which statuses there are."""
    screen, _, status = words.strip().casefold().partition(" ")
    is_read = store.freshness[FeedName.TASKS].answered_at is not None
    if screen != "tasks" or not status or (is_read and store.tasks.listing.whole):
        return None
    return status_target(status)


def spelled(among: Iterable[Target]) -> Iterator[tuple[str, SafeText]]:
    """How all but the tasks, which may be too many, can be written; each with its name."""
    for target in takewhile(lambda target: target.kind != "task", among):
        yield target.name, target.name
        yield f"{target.kind} {target.name}", target.name


def nowhere(words: str, among: Iterable[Target]) -> SafeText:
    names = {text.casefold(): name for text, name in islice(spelled(among), FEW)}
    near = get_close_matches(words.strip().casefold(), names, 1)
    hint = f": did you mean {names[near[0]]}?" if near else ""
    return plain(f"nothing here is called {safe(words.strip(), 40)}{hint}")


def about(target: Target, workspace: Workspace, denied: Mapping[str, str]) -> SafeText:
    """What tells it from others of its name."""
    names, of = workspace.names, target.of
    match of:
        case Command():
            return plain(f"not now: {denied[of.id]}" if of.id in denied else of.tooltip)
        case Task():
            known = [names.agent(of.agent)] if of.agent else []
            if company := names.company_of(of):
                known.append(names.company(company))
            return joined([*known, *filter(None, [of.status])], f" {signs.separator} ")
        case Agent() | Alert() if company := names.company_of(of):
            return names.company(company)
    if target.kind == "profile":
        if target.id == "profile ":
            return plain("what needs you on all platforms")
        is_here = target.id == f"profile {workspace.settings.profile}"
        return plain("start it anew" if is_here else "leave for this platform")
    return plain("" if target.id else "show all companies")


def completion(typed: str, among: Iterable[Target]) -> str | None:
    """What was typed, completed to the first name that begins so."""
    return completed(typed, (text for text, _ in spelled(among)))


def completed(typed: str, words: Iterable[str]) -> str | None:
    """What was typed, completed to the first of these words that begins so."""
    begins = typed.casefold()
    found = next((word for word in words if typed and word.casefold().startswith(begins)), None)
    return None if found is None else typed + found[len(typed) :]
