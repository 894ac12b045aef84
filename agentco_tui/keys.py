"""Every key of the program: its binding id, where it works, and the words beside it.

Bindings, footer, palette, help and the check of `[keys]` in the config file are all made from this
table, so a key is written down once. No Textual here: key names are plain strings in Textual's
spelling ("slash", "ctrl+p"), several for one binding parted by commas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Place = Literal[
    "every",
    "table",
    "overview",
    "companies",
    "agents",
    "tasks",
    "budget",
    "activity",
    "dialog",
]
"""Where a key works; "table" is any screen with a list, "every" any screen at all."""

UNBOUND = "unbound"
"""What a binding without a key is bound to: a key name that no terminal sends."""

RESERVED_KEYS = ("ctrl+a", "ctrl+b", "ctrl+d", "ctrl+k", "ctrl+s", "ctrl+z")
"""Keys that tmux, screen, vim and shells own; nothing may be bound to them."""

LEAVING_KEYS = ("ctrl+c", "ctrl+q")
"""Keys that leave whatever is open, before anything else gets them."""


@dataclass(frozen=True, kw_only=True)
class KeyBinding:
    """One thing that a key does."""

    id: str
    """What `[keys]` calls it."""
    keys: str
    """The default keys, in Textual's names, parted by commas."""
    label: str
    """A word or two for the footer."""
    tooltip: str
    """A sentence for the help."""
    where: Place
    also: tuple[Place, ...] = ()
    """Further places in which the same key does the same."""
    over: str | None = None
    """The id whose key this one takes on purpose where it works."""
    fixed: bool = False
    """True if `[keys]` may not change it."""

    @property
    def places(self) -> frozenset[Place]:
        """All the screens in which the binding works; dialogs count as one."""
        found: set[Place] = set()
        for place in (self.where, *self.also):
            found |= _SCREENS if place in ("every", "table") else {place}
        return frozenset(found)


_SCREENS: frozenset[Place] = frozenset(
    ("overview", "companies", "agents", "tasks", "budget", "activity")
)


def _key(
    id: str,
    keys: str,
    label: str,
    tooltip: str,
    where: Place,
    *,
    also: tuple[Place, ...] = (),
    over: str | None = None,
    fixed: bool = False,
) -> KeyBinding:
    return KeyBinding(
        id=id,
        keys=keys,
        label=label,
        tooltip=tooltip,
        where=where,
        also=also,
        over=over,
        fixed=fixed,
    )


KEYS: tuple[KeyBinding, ...] = (
    _key("screen.overview", "1", "Overview", "What needs a person first.", "every"),
    _key("screen.companies", "2", "Companies", "The companies.", "every"),
    _key("screen.agents", "3", "Agents", "The agents.", "every"),
    _key("screen.tasks", "4", "Tasks", "The tasks, those that wait for a person first.", "every"),
    _key("screen.budget", "5", "Budget", "Limits, spending and alerts.", "every"),
    _key("screen.activity", "6", "Activity", "What the agents do, as it happens.", "every"),
    _key("app.go_to", "colon", "Go to", "Go to a screen, an agent or a company by name.", "every"),
    _key("app.palette", "ctrl+p", "Palette", "Find any command by its words.", "every"),
    _key("app.refresh", "r", "Refresh", "Ask the platform now; read a refused key again.", "every"),
    _key("app.back", "escape", "Back", "Close what is open, or leave the filter.", "every"),
    _key("app.help", "question_mark", "Help", "The keys of this screen.", "every"),
    _key(
        "app.quit",
        "q",
        "Quit",
        "Leave what is open, else the program; so does ctrl+c.",
        "every",
        also=("dialog",),
    ),
    _key(
        "approve.take_back",
        "u",
        "Take back",
        "Take back a yes to a task before it is sent.",
        "every",
    ),
    _key("company.unscope", "0", "All companies", "Show all companies again.", "every"),
    _key("list.down", "j,down", "Down", "One line down.", "table"),
    _key("list.up", "k,up", "Up", "One line up.", "table"),
    _key("list.top", "g,home", "Top", "To the first line.", "table"),
    _key("list.bottom", "G,end", "Bottom", "To the last line.", "table"),
    _key("list.page_down", "pagedown", "Page down", "One page down.", "table"),
    _key("list.page_up", "pageup", "Page up", "One page up.", "table"),
    _key("list.filter", "slash", "Filter", "Show only the lines that hold some words.", "table"),
    _key("list.sort", "s", "Sort", "Sort by the next column.", "table"),
    _key("list.sort_reverse", "S", "Reverse", "Turn the order of the sort round.", "table"),
    _key("list.open", "enter", "Open", "Show all that is known about the line.", "table"),
    _key(
        "list.copy_id", "y", "Copy id", "Send the line's id to the terminal's clipboard.", "table"
    ),
    _key("list.raw", "x", "Raw", "Show the detail with every hidden character visible.", "table"),
    _key("tasks.mark", "space", "Mark", "Mark the task, or take its mark away.", "tasks"),
    _key("tasks.mark_range", "m", "Mark to here", "Mark all from the last mark to here.", "tasks"),
    _key("tasks.mark_shown", "asterisk", "Mark all", "Mark all that the filter shows.", "tasks"),
    _key(
        "tasks.approve",
        "a",
        "Approve",
        "Approve the task, or all that are marked, after a question.",
        "tasks",
        also=("overview",),
    ),
    _key(
        "tasks.trace",
        "t",
        "Trace",
        "What the agent did for the task.",
        "tasks",
        also=("overview", "dialog"),
    ),
    _key("tasks.new", "n", "New task", "Create a task.", "tasks"),
    _key("tasks.statuses", "v", "Statuses", "Show tasks of the next status.", "tasks"),
    _key("companies.new", "n", "New company", "Create a company.", "companies"),
    _key("companies.clone", "c", "Clone", "Make a new company like this one.", "companies"),
    _key(
        "companies.scope",
        "enter",
        "Scope",
        "Show only this company, on every screen.",
        "companies",
        over="list.open",
    ),
    _key("agents.limit", "l", "Limit", "Set the agent's monthly limit.", "agents"),
    _key(
        "budget.limit",
        "l",
        "Limit",
        "Set the agent's monthly limit.",
        "budget",
        also=("overview",),
    ),
    _key("budget.alerts", "tab", "Alerts", "To the alerts, and back to the budgets.", "budget"),
    _key("activity.follow", "p", "Pause", "Pause the feed, or follow it again.", "activity"),
    _key("activity.filters", "f", "Filters", "Company, agent, dates and limit.", "activity"),
    _key("activity.export", "e", "Export", "Write the platform's export to a file.", "activity"),
    _key("dialog.yes", "y", "Yes", "Do it. Enter alone does nothing.", "dialog", fixed=True),
    _key("dialog.no", "n,escape", "No", "Leave everything as it is.", "dialog", fixed=True),
)

KEYS_BY_ID: Mapping[str, KeyBinding] = {binding.id: binding for binding in KEYS}


def keys_of(binding_id: str, rebound: Mapping[str, str]) -> tuple[str, ...]:
    """The keys a binding has now, Textual's names; none if it was left without one.

    `rebound` is `Settings.keys`. Raises KeyError for an id that is not in `KEYS`.
    """
    text = rebound.get(binding_id, KEYS_BY_ID[binding_id].keys)
    return () if text == UNBOUND else tuple(text.split(","))
