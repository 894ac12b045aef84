"""The table of commands: each has an id, default keys, the screens it works on, and an action.

Key bindings, footer, command palette, help screen, the check of `[keys]` in the config file and a
test of the manual are derived from `COMMANDS`. An action is a Textual action string: "approve"
calls `action_approve` of the screen or widget that has the binding, "app.leave" that of the app.
Textual is not imported: key names are strings in its spelling ("slash", "ctrl+p"); several keys of
one command are separated by commas.

Words of the table: a *view* is a list with saved filter, columns and sort order from the settings;
a *need* is an entry of the Overview's list of what needs the operator; to *snooze* puts one off for
a while; the *company in scope* is the only one whose records are shown; the *platform* is the
remote service with companies of AI agents; a *recording* has its answers, to be shown again later.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from agentco_tui.keys.places import SCREENS, Place

UNBOUND = "unbound"
"""The key of a command that has none: a key name that no terminal sends."""

RESERVED_KEYS = ("ctrl+a", "ctrl+b", "ctrl+d", "ctrl+k", "ctrl+s", "ctrl+z")
"""Keys that tmux, GNU screen, vim and shells use; no command may be bound to them."""

LEAVING_KEYS = ("ctrl+c", "ctrl+q")
"""Keys that close the topmost dialog, or else the program; no command may be bound to them."""


SHOWN_KEYS = {
    "slash": "/",
    "colon": ":",
    "question_mark": "?",
    "asterisk": "*",
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "at": "@",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}
"""How keys are shown to the user, by Textual's name; others are shown by that name."""


class Command(msgspec.Struct, frozen=True):
    """One thing that the user can do."""

    id: str
    """Its name in `[keys]` of the config file."""
    keys: str
    """The default keys, by Textual's names, separated by commas."""
    label: str
    """One or two words for the footer."""
    tooltip: str
    """A sentence for the help screen."""
    where: Place
    run: str
    """The action, as a Textual action string. `form(ID)` opens one of the forms in
    `screens.dialogs.form_definitions.FORMS`."""
    also: tuple[Place, ...] = ()
    """Further places where the same key runs the same action."""
    over: str | None = None
    """The id of a command whose key this one takes over, in the places where it works."""
    fixed: bool = False
    """Whether the user cannot change its keys."""
    verb: str | None = None
    """The value of `actions.Verb` for a command that writes to the platform. The command is dimmed
    while the platform would refuse that."""
    operation: str | None = None
    """The operation of the platform that it needs, a method of `api.platform.Platform`. The command
    is dimmed if the platform does not offer it."""
    cursor: bool = False
    """Whether the table widget runs the action, and not the screen around it."""

    @property
    def places(self) -> frozenset[Place]:
        """All places where it works; "every" and "table" stand for all screens."""
        places: set[Place] = set()
        for place in (self.where, *self.also):
            if place in ("every", "table"):
                places.update(SCREENS)
            else:
                places.add(place)
        return frozenset(places)


# fmt: off
COMMANDS: tuple[Command, ...] = (
    Command("screen.overview", "1", "Overview", "What needs a person first.", "every",
        "show('overview')"),
    Command("screen.companies", "2", "Companies", "The companies.", "every", "show('companies')",
        operation="companies"),
    Command("screen.agents", "3", "Agents", "The agents.", "every", "show('agents')",
        operation="agents"),
    Command("screen.tasks", "4", "Tasks", "The tasks, those that wait for a person first.", "every",
        "show('tasks')", operation="tasks"),
    Command("screen.budget", "5", "Budget", "Limits, spending and alerts.", "every",
        "show('budget')"),
    Command("screen.activity", "6", "Activity", "What the agents do, as it happens.", "every",
        "show('activity')", operation="activity"),
    Command("view.1", "7", "First view", "The first view of the settings.", "every", "app.view(0)"),
    Command("view.2", "8", "Second view", "The second view.", "every", "app.view(1)"),
    Command("view.3", "9", "Third view", "The third view; `:view NAME` shows any.", "every",
        "app.view(2)"),
    Command("app.go_to", "colon", "Go to", "Go to anything by its name, id or title.",
        "every", "command('go_to')"),
    Command("app.palette", "ctrl+p", "Palette", "Find any command, or anything by its name.",
        "every", "command('go_to')"),
    Command("app.refresh", "r", "Refresh", "Ask the platform now; read a refused key again.",
        "every", "command('poll_now')"),
    Command("app.back", "escape", "Back", "Leave the filter or the marks, else go back.", "every",
        "back"),
    Command("app.last", "minus", "Last place", "To the last place; again, and back.", "every",
        "last"),
    Command("app.since", "L", "Since you left", "What happened since you left, or for some hours.",
        "every", "command('since')"),
    Command("app.handover", "H", "Hand over", "Make a hand-over of the shift, in Markdown.",
        "every", "form('app.handover')"),
    Command("app.redraw", "ctrl+l", "Redraw", "Draw the screen again, over what others wrote.",
        "every", "app.redraw", also=("dialog",)),
    Command("app.output", UNBOUND, "Output", "What your last command in the background printed.",
        "every", "command('output')"),
    Command("app.help", "question_mark", "Help", "The keys of this screen.", "every",
        "command('help')"),
    Command("app.quit", "q", "Quit", "Leave what is open, else the program; so does ctrl+c.",
        "every", "app.leave", also=("dialog",)),
    Command("approve.take_back", "u", "Take back", "Take back a yes to a task before it is sent.",
        "every", "command('take_back')"),
    Command("company.unscope", "0", "All companies", "Show all companies again.", "every",
        "unscope"),
    Command("list.down", "j,down", "Down", "One line down.", "table", "move(1)", cursor=True),
    Command("list.up", "k,up", "Up", "One line up.", "table", "move(-1)", cursor=True),
    Command("list.top", "g,home", "Top", "To the first line.", "table", "first", cursor=True),
    Command("list.bottom", "G,end", "Bottom", "To the last line.", "table", "last", cursor=True),
    Command("list.page_down", "pagedown", "Page down", "One page down.", "table", "page(1)",
        cursor=True),
    Command("list.page_up", "pageup", "Page up", "One page up.", "table", "page(-1)", cursor=True),
    Command("list.filter", "slash", "Filter", "Show only the lines that hold some words.", "table",
        "filter"),
    Command("list.sort", "s", "Sort", "Sort by the next column.", "table", "sort('cycle_sort')"),
    Command("list.sort_reverse", "S", "Reverse", "Turn the order of the sort round.", "table",
        "sort('reverse_sort')"),
    Command("list.columns", "C", "Columns", "Choose which columns show, and in what order.",
        "table", "columns"),
    Command("list.open", "enter", "Open", "Show all that is known about the line.", "table", "open",
        cursor=True),
    Command("list.copy_id", "y", "Copy id", "Copy the line's id.", "table",
        "screen.command('copy', 'id')"),
    Command("list.copy", "Y", "Copy", "Copy its name, JSON, a curl line or a link.", "table",
        "screen.command('copy')"),
    Command("list.save", "w", "Save", "Write the list as it shows to a file: CSV, JSON, Markdown.",
        "table", "screen.form('list.save')"),
    Command("list.screenshot", UNBOUND, "Screenshot", "Write a picture of the screen, as SVG.",
        "table", "screen.form('list.screenshot')"),
    Command("list.pager", "o", "Pager", "Show the detail in $PAGER.", "table",
        "screen.command('pager')"),
    Command("list.raw", "x", "Raw", "Show the detail with every hidden character visible.", "table",
        "raw"),
    Command("overview.latest", "f", "Latest", "All of the latest events, or only what went wrong.",
        "overview", "latest"),
    Command("overview.snooze", "z", "Snooze",
        "Put the need off for a while or until it is worse; again, no longer.", "overview",
        "snooze"),
    Command("tasks.mark", "space", "Mark", "Mark the task, or take its mark away.", "tasks",
        "mark('toggle_mark')"),
    Command("tasks.mark_range", "m", "Mark to here", "Mark all from the last mark to here.",
        "tasks", "mark('mark_range')"),
    Command("tasks.mark_shown", "asterisk", "Mark all", "Mark all that the filter shows.", "tasks",
        "mark('mark_all_shown')"),
    Command("tasks.mark_alike", "M", "Mark alike",
        "Mark all shown of this agent with this title but for figures and names.", "tasks",
        "mark('alike')"),
    Command("tasks.approve", "a", "Approve",
        "Approve the task, or all that are marked, after a question.", "tasks", "approve",
        also=("overview",), verb="approve", operation="approve_task"),
    Command("tasks.trace", "t", "Trace", "What the agent did for the task.", "tasks", "trace",
        also=("overview", "dialog"), operation="task_trace"),
    Command("tasks.new", "n", "New task", "Create a task.", "tasks", "screen.form('tasks.new')",
        verb="create task", operation="create_task"),
    Command("tasks.statuses", "v", "Statuses",
        "Choose a status by the letter that its tab shows then; again, the next.", "tasks",
        "statuses", operation="tasks"),
    Command("companies.new", "n", "New company", "Create a company.", "companies",
        "screen.form('companies.new')", verb="create company", operation="create_company"),
    Command("companies.clone", "c", "Clone", "Make a new company like this one.", "companies",
        "screen.form('companies.clone')", verb="clone company",
        operation="clone_company"),
    Command("companies.scope", "enter", "Scope", "Show only this company, on every screen.",
        "companies", "open", over="list.open"),
    Command("agents.limit", "l", "Limit", "Set the agent's monthly limit.", "agents",
        "screen.form('agents.limit')", verb="set limit", operation="set_agent_limit"),
    Command("budget.limit", "l", "Limit", "Set the agent's monthly limit.", "budget",
        "screen.form('budget.limit')", also=("overview",), verb="set limit",
        operation="set_agent_limit"),
    Command("budget.alerts", "tab", "Alerts", "To the alerts, and back to the budgets.", "budget",
        "alerts"),
    Command("activity.follow", "p", "Pause", "Pause the feed, or follow it again.", "activity",
        "follow"),
    Command("activity.filters", "f", "Filters", "Company, agent, dates and limit.", "activity",
        "screen.form('activity.filters')", operation="activity"),
    Command("activity.export", "e", "Export", "Write the platform's export to a file.", "activity",
        "screen.form('activity.export')", operation="export_activity"),
    Command("replay.pause", "P", "Pause", "Let the recording's time stand still, or go on.",
        "replay", "replay_pause"),
    Command("replay.slower", "less_than_sign", "Slower", "Play the recording more slowly.",
        "replay", "replay_speed(-1)"),
    Command("replay.faster", "greater_than_sign", "Faster", "Play it faster, up to x600.",
        "replay", "replay_speed(1)"),
    Command("replay.back", "left_square_bracket", "Back", "Show a minute earlier.",
        "replay", "replay_step(-60)"),
    Command("replay.forward", "right_square_bracket", "On", "Show a minute later.",
        "replay", "replay_step(60)"),
    Command("replay.need", "N", "Next need", "To where a need appears or grows worse.", "replay",
        "replay_need"),
    Command("replay.at", "at", "Time", "To a time: 03:12, +5m, -1h.", "replay", "replay_at"),
    Command("dialog.yes", "y", "Yes", "Do it. Enter alone does nothing.", "dialog", "answer(True)",
        fixed=True),
    Command("dialog.no", "n,escape", "No", "Leave everything as it is.", "dialog", "answer(False)",
        fixed=True),
)
# fmt: on

FOOTER: Mapping[Place, tuple[str, ...]] = {
    "overview": ("list.open", "tasks.approve", "tasks.trace", "budget.limit", "overview.snooze"),
    "companies": ("companies.scope", "company.unscope", "companies.new", "companies.clone"),
    "agents": ("list.open", "agents.limit"),
    "tasks": (
        "tasks.approve",
        "tasks.trace",
        "list.open",
        "tasks.mark",
        "tasks.new",
        "tasks.statuses",
    ),
    "budget": ("budget.alerts", "list.open", "budget.limit"),
    "activity": ("activity.follow", "activity.filters", "activity.export", "list.open"),
}
"""The commands that the footer of each screen shows, the most important first."""
NEED_A_RECORD = frozenset(
    {
        "tasks.approve",
        "tasks.trace",
        "tasks.mark",
        "list.open",
        "agents.limit",
        "budget.limit",
        "overview.snooze",
        "companies.scope",
        "companies.clone",
    }
)
"""Commands of the footer that need a record under the cursor, and are dimmed without one."""
FOOTER_EVERYWHERE = ("list.filter", "list.sort", "app.go_to", "app.help", "app.quit")

COMMANDS_BY_ID: Mapping[str, Command] = {command.id: command for command in COMMANDS}


def keys_of(binding_id: str, rebound: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys of a command, by Textual's names; none if it is unbound.

    `rebound` has the keys that the user changed, by command id (`Settings.keys`). Raises KeyError
    for an id that is neither there nor in `COMMANDS`.
    """
    keys = rebound.get(binding_id) or COMMANDS_BY_ID[binding_id].keys
    if keys == UNBOUND:
        return ()
    return tuple(keys.split(","))


def shown_key(binding_id: str, rebound: Mapping[str, str]) -> str:
    """Return the first key of a command as it is shown to the user; "" if it has none."""
    keys = keys_of(binding_id, rebound)
    if not keys:
        return ""
    return SHOWN_KEYS.get(keys[0], keys[0])
