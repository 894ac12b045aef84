"""The statuses of the task list as tabs: which one is shown, their counts and their keys.

Tasks come from the platform, a remote service, in two feeds (lists that are polled): PENDING has
those that wait for the user, TASKS all of them. A status is the platform's own word, such as "in
review"; a `TaskState` is one of the states that this program knows, as which a status is read. The
scope is the company that the dashboard is limited to, or None. `signs.missing` (`-`) is shown for a
count that is not known. The user presses a key for the tabs, and then the key of one tab.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from string import ascii_lowercase
from typing import Final

from agentco_tui.keys.commands import keys_of
from agentco_tui.live import insight
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import Task, TaskState
from agentco_tui.model import format as fmt
from agentco_tui.screens.list_rows import MANY
from agentco_tui.text import SafeText, clean_line, mark_safe, signs
from agentco_tui.widgets.tones import Cell, Pressable, Tone
from agentco_tui.workspace.workspace import Workspace

PENDING: Final = "pending"
"""The tab of the tasks that wait for the user."""
ALL: Final = "all"
"""The tab of the tasks in any status."""
MOST_SORTED: Final = 8
"""Statuses up to which they are in alphabetical order; of more, the one shown comes first."""
OLD: Final = 60.0
"""Seconds after which counts of a list that is not polled any more are not shown."""
SHORT_NAME: Final = 4
"""Letters that a tab's name keeps where there is little room."""


def status_word(status: str | None, state: TaskState | None) -> str:
    """Return the name of the tab of tasks with this status, as sent, and this state, as read."""
    return (status or state or "no status").casefold()


class StatusTabs:
    """Which status the task list shows, and the tabs to choose another."""

    def __init__(self, workspace: Workspace, shown: str) -> None:
        self._workspace = workspace
        self.shown = shown
        """`PENDING`, `ALL`, or a status in the platform's own word."""
        self.awaits_key = False
        """Whether the next key chooses a tab; the tabs show their keys then."""

    @property
    def feed(self) -> FeedName:
        """The list that has the tasks of the status shown."""
        return FeedName.PENDING if self.shown == PENDING else FeedName.TASKS

    def includes(self, task: Task) -> bool:
        """Whether the task has the status shown."""
        if self.shown == PENDING:
            return insight.waits_for_person(task)  # the feed may hold others, too
        return self.shown in (ALL, status_word(task.status, task.state))

    def counts(self) -> dict[str, SafeText]:
        """Return the statuses that can be shown, in order, each with its count or `-`."""
        known = self._known_counts()
        others = sorted({*known, self.shown} - {PENDING, ALL})
        if len(others) > MOST_SORTED and self.shown in others:
            # There is no room for all: the one shown must not be cut off.
            others.remove(self.shown)
            others.insert(0, self.shown)
        counts = {PENDING: self._waiting_count()}
        for status in (ALL, *others):
            counts[status] = known.get(status, signs.missing)
        return counts

    def _known_counts(self) -> dict[str, SafeText]:
        """Return the count of each status in the list of all tasks; `-` where that is too old."""
        workspace = self._workspace
        scope = workspace.poller.query.company
        tasks = workspace.store.tasks
        is_too_long = scope is not None and len(tasks) > MANY
        numbers = Counter[str]()
        if not is_too_long:
            for (status, state), number in workspace.needs.statuses.counts(scope).items():
                is_pending = state is TaskState.PENDING
                word = PENDING if is_pending else status_word(status, state)
                numbers[word] += number
        numbers[ALL] = numbers.total()
        freshness = workspace.store.freshness[FeedName.TASKS]
        age = freshness.age(workspace.clock.monotonic())
        is_polled = self.feed is FeedName.TASKS
        is_old = not is_polled and (age is None or age > OLD)
        if is_old or freshness.answered_at is None or freshness.awaited or is_too_long:
            return dict.fromkeys(numbers, signs.missing)
        more = "" if tasks.listing.whole else "+"
        return {word: mark_safe(f"{fmt.count(number)}{more}") for word, number in numbers.items()}

    def _waiting_count(self) -> SafeText:
        workspace = self._workspace
        is_answered = workspace.store.freshness[FeedName.PENDING].answered_at is not None
        if is_answered and workspace.scope.allows_counts():
            return fmt.count(workspace.needs.queue.listed)
        return signs.missing

    def status_by_key(self, statuses: Iterable[str]) -> dict[str, str]:
        """Return each status by its key: its first letter that no other status has.

        The keys that open the tabs are not given to a status.
        """
        taken = set(self._opening_keys())
        status_by_key: dict[str, str] = {}
        for status in statuses:
            # The letters of its name that no key has yet.
            free = [
                letter for letter in status if letter in ascii_lowercase and letter not in taken
            ]
            if free:
                status_by_key[free[0]] = status
                taken.add(free[0])
        return status_by_key

    def _opening_keys(self) -> Iterable[str]:
        return keys_of("tasks.statuses", self._workspace.settings.keys)

    def is_opening_key(self, key: str) -> bool:
        """Whether this key opens the tabs."""
        return key in self._opening_keys()

    def next_status(self) -> str:
        """Return the status right of the one shown; after the last comes the first."""
        statuses = [*self.counts()]
        return statuses[(statuses.index(self.shown) + 1) % len(statuses)]

    def cells(
        self, counts: Mapping[str, SafeText], filtered: SafeText | None, *, short: bool
    ) -> list[Cell]:
        """Return the tabs; with `short` all names but that of the tab shown are cut.

        `filtered` is how many rows a filter lets through; None without a filter.
        """
        keys: dict[str, str] = {}
        if self.awaits_key:
            keys = {status: key for key, status in self.status_by_key(counts).items()}
        longest = SHORT_NAME if short else None
        cells: list[Cell] = []
        for status, count in counts.items():
            is_shown = status == self.shown
            name = clean_line(status, 30)[: None if is_shown else longest]
            part = f"{filtered} of " if is_shown and filtered is not None else ""
            key = f"{keys.get(status, ' ')} " if self.awaits_key else ""
            cursor = signs.cursor if is_shown else mark_safe(" ")
            tone = Tone.STRONG if is_shown else Tone.DIM
            cells += [
                Pressable(cursor, Tone.ACCENT, key=status),
                Pressable(mark_safe(key), Tone.ACCENT, key=status),
                Pressable(mark_safe(f"{name} {part}{count} "), tone, key=status),
            ]
        return cells
