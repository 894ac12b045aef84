"""What lists may ask of the screen around them (the frame), and of the dialogs that it opens.

The frame imports the lists, and the dialogs import the frame. So that no file imports itself by way
of others, each of them knows the next only by the classes in this file.

The platform is the remote service whose companies of AI agents are shown, acted upon with writes
(approvals, new tasks, …). A place is the name of a screen, such as "tasks"; a view is a list with a
filter of its own that the settings define. The frame is the dashboard's main screen.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from textual.widget import AwaitMount

from agentco_tui.actions.decisions import Decision
from agentco_tui.actions.journal_lines import Attempt
from agentco_tui.actions.outcome import Outcome
from agentco_tui.api.capabilities import OfferedVerb
from agentco_tui.keys.commands import Command
from agentco_tui.keys.places import Place
from agentco_tui.model import Record, Task
from agentco_tui.screens.navigation import Destination, Navigation
from agentco_tui.screens.topics import Topics
from agentco_tui.text import SafeText
from agentco_tui.widgets.prompt import Prompt
from agentco_tui.widgets.status_line import StatusLine


class Dialogs(Protocol):
    """Opens dialogs over the frame, and does what the user confirms in them."""

    def choose_columns(self) -> None: ...

    def open_verb(self, verb: OfferedVerb, record: Record) -> None:
        """Open the form of a verb that the platform offers for a record."""

    def open_form(self, command_id: str) -> None:
        """Open the form of a command, such as "tasks.new"."""

    def show_trace(self, task: Task) -> None:
        """Show the steps that an agent took for a task."""

    def show_since(self, line: str = "") -> None:
        """Show what happened while the user was away, with the cursor on the line of that key."""

    def switch_profile(self, profile: str, need: str | None = None) -> None:
        """Leave for the dashboard of another profile, the user's name for a platform and its key.

        The cursor goes to the need (an item of "needs you", the list of what the user should look
        at) with this key.
        """

    def approve(self, task: Task, note: SafeText | None = None) -> None:
        """Ask whether to approve a task; `note` is a warning shown above it."""

    def approve_many(
        self, tasks: Sequence[Task], not_shown: Mapping[str, SafeText] | None = None
    ) -> None:
        """Ask whether to approve these tasks; `not_shown` says, by id, why the list hides some."""

    def go_to_next(self, decided: Collection[str]) -> None:
        """Move the cursor from a task that was just decided to the next one that waits."""

    def show_outcome(self, outcome: Outcome) -> None:
        """Show a notice with what became of a write."""

    async def recheck_decision(self, decision: Decision) -> None:
        """Read again what became of a task that left the list after its approval ended badly."""

    async def recover_attempts(self, attempts: Sequence[Attempt]) -> None:
        """Find out what became of writes that an earlier run left without an outcome."""


class Lines(Protocol):
    """The header, the tabs and the footer of the frame."""

    footer: StatusLine
    denied: dict[str, str]
    """Why commands would be refused now, by their ids."""

    def show(self) -> None:
        """Paint the three lines."""

    def show_news(self) -> None:
        """Paint the header and the tabs, and the footer if it may show other commands by now."""

    def show_news_soon(self, *, with_footer: bool = False) -> None:
        """Call `show_news` once for all that is reported in this turn of the event loop."""


class Verbs(Protocol):
    """What the platform offers for some records, beside what every platform does."""

    commands: Mapping[str, Command]
    """The command of each verb, by its id."""

    @property
    def keys(self) -> Mapping[str, str]:
        """The keys of all commands, by their ids."""

    def offers(self) -> dict[str, str]:
        """The verbs of the line for the footer: the words to show, by the id of the command."""


class Commands(Protocol):
    """The commands that work on every screen."""

    @property
    def verbs(self) -> Verbs: ...

    def ask_filter(self) -> None:
        """Open the prompt for the filter of the list shown."""

    async def run(self, command_id: str) -> None:
        """Run a command as its key does, also one that has no key."""


class FrameInterface:
    """The screen around the lists: what lists, dialogs and prompts ask of it.

    `MainScreen` does all of this; a list sees only this class, because the frame imports the lists.
    """

    lines: Lines
    commands: Commands
    prompt: Prompt
    """The input line in place of the footer, for a filter or for a place to go to."""
    navigation: Navigation
    """The entries that `esc` goes back to."""
    topics: Topics
    """The news that lists subscribe to."""

    @property
    def dialogs(self) -> Dialogs:
        raise NotImplementedError

    def say(self, words: str, *, bad: bool = False) -> None:
        """Show a notice; with `bad` as a warning, for longer."""
        raise NotImplementedError

    def go(self, destination: Destination) -> AwaitMount:
        """Go to a screen or to one of its rows; `esc` comes back."""
        raise NotImplementedError

    async def action_show(self, place: Place, view: str = "") -> None:
        """Show a screen, or the view of it with that name."""
        raise NotImplementedError

    def action_back(self) -> None:
        """Leave what hides or marks rows of the list; else go back to where the user came from."""
        raise NotImplementedError

    def set_scope(self, company_id: str | None) -> None:
        """Show everything of this company, or of all if it is None."""
        raise NotImplementedError

    def set_paces(self) -> None:
        """Poll each feed (one list of the platform) as often as the list shown needs it."""
        raise NotImplementedError

    def restore_awaited(self) -> None:
        """Put the cursor on the row that was asked for before it was read, if it is there now."""
        raise NotImplementedError
