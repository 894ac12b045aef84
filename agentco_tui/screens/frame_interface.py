"""What lists may ask of the screen around them, and of the dialogs that it opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from textual.widget import AwaitMount

from agentco_tui.actions.decisions import Decision
from agentco_tui.actions.journal_lines import Attempt
from agentco_tui.actions.outcome import Outcome
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import ActivityFilter
from agentco_tui.model import Task
from agentco_tui.screens.navigation import Navigation
from agentco_tui.screens.topics import Topics
from agentco_tui.text import SafeText
from agentco_tui.widgets.prompt import Prompt


class Dialogs(Protocol):
    """Opens dialogs over the frame, and does what the user confirms in them."""

    def columns(self) -> None: ...

    def form(self, command_id: str) -> None: ...

    def trace(self, task: Task) -> None: ...

    def since(self, at: str = "") -> None: ...

    def switch(self, profile: str, need: str | None = None) -> None: ...

    def approve(self, task: Task, note: SafeText | None = None) -> None: ...

    def approve_many(
        self, tasks: Sequence[Task], hidden: Mapping[str, SafeText] | None = None
    ) -> None: ...

    def tell(self, outcome: Outcome) -> None: ...

    async def read_after_all(self, decision: Decision) -> None: ...

    async def take_up(self, left: Sequence[Attempt]) -> None: ...


class FrameInterface(Protocol):
    """The screen around a list, as far as the list uses it."""

    prompt: Prompt
    navigation: Navigation
    topics: Topics

    @property
    def dialogs(self) -> Dialogs: ...

    def say(self, words: str, *, bad: bool = False) -> None:
        """Show a notice; with `bad` as a warning."""

    def show_frame(self) -> None:
        """Paint the header, tabs and footer again."""

    def ask_filter(self) -> None:
        """Open the prompt for the filter of the list shown."""

    def go(
        self,
        place: Place,
        row_id: str | None = None,
        *,
        scope: str | None = "",
        is_open: bool = False,
        filter: str | None = None,
        log: ActivityFilter | None = None,
        view: str = "",
    ) -> AwaitMount:
        """Go to a screen or to one of its rows; `esc` comes back."""

    def action_back(self) -> None: ...

    def set_paces(self) -> None:
        """Poll each feed as often as the list shown needs it."""

    def restore_awaited(self) -> None:
        """Put the cursor on the row that was asked for before it was read, if it is there now."""
