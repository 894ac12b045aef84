"""The state of the frame that dialogs, prompts and `ViewSwitcher` use, with the helpers they share.

The frame is the one Textual screen of the dashboard: header, tabs, the list shown and footer. It is
`MainScreen` in `frame.py`, which imports those classes, so they cannot import it. What it can be
asked to do is declared in `FrameInterface`. A place is the name of a list screen, such as "tasks";
a tab shows one, or a view: a list that the settings define. An approval is sent to the platform, a
remote service, some seconds after the user's yes.
"""

from __future__ import annotations

from typing import Any, Literal

from textual.containers import Container

from agentco_tui.keys.places import Place
from agentco_tui.model import Task
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.frame_interface import FrameInterface
from agentco_tui.screens.idle_tracker import IdleTracker
from agentco_tui.screens.list_view import ListView
from agentco_tui.screens.navigation import Navigation
from agentco_tui.screens.run_memory import RunMemory
from agentco_tui.screens.sized_screen import SizedScreen
from agentco_tui.screens.targets import Target
from agentco_tui.screens.topics import Topics
from agentco_tui.system.state_folder import Remembered
from agentco_tui.text import clean_line
from agentco_tui.widgets.prompt import Prompt

NOTICE_SECONDS = 4
"""Seconds for which a notice is shown."""
WARNING_SECONDS = 8
"""Seconds for which a warning is shown."""


class BaseFrame(SizedScreen[None], FrameInterface):
    """What the frame shows and remembers."""

    AUTO_FOCUS = None
    """No widget: else the hidden prompt would get the keys before the first list is there."""

    view: ListView[Any]
    """The list that is shown."""

    def __init__(self, dashboard: DashboardContext, place: Place, remembered: Remembered) -> None:
        workspace = dashboard.workspace
        super().__init__()
        self.dashboard = dashboard
        self.workspace = workspace
        self.place: Place = place
        self.memory = RunMemory(remembered)
        self.views: dict[str, ListView[Any]] = {}
        """Every list that was visited, by its tab."""
        self.body = Container()
        self.prompt = Prompt()
        self.recent: list[Target] = []
        """What the user went to or ran through the `:` prompt, the latest first."""
        self.navigation = Navigation()
        self.topics = Topics()
        """The kinds of news that lists subscribe to."""
        self.idle_tracker = IdleTracker(workspace, remembered.left_at)
        """Notices when the user comes back after a long absence."""

    def action_form(self, command_id: str) -> None:
        self.dialogs.open_form(command_id)

    def return_to(self, task: Task) -> None:
        """Put the cursor back on a task whose approval was not sent, in every list that shows it.

        The cursor moved on to the next task when the user confirmed (`[list] advance`). If it
        stayed there, the next `a` and `y`, meant for the same task, would approve another one.
        """
        for view in self.views.values():
            view.return_to(task.id)

    def say(self, words: str, *, bad: bool = False) -> None:
        """Show a notice; with `bad` as a warning, for longer."""
        severity: Literal["warning", "information"] = "warning" if bad else "information"
        seconds = WARNING_SECONDS if bad else NOTICE_SECONDS
        self.app.notify(clean_line(words), markup=False, severity=severity, timeout=seconds)

    def close_prompt(self) -> None:
        """Hide the prompt, and give the keys back to the list at once."""
        self.set_focus(None)
        self.prompt.handler = None
        self.prompt.display = False
        self.lines.footer.display = True
        self.focus_again()
        self.call_after_refresh(self.focus_again)

    def focus_again(self) -> None:
        """Focus the prompt if it is open, else the open detail, else the list."""
        if self.prompt.display:
            self.set_focus(self.prompt.input)
        else:
            self.set_focus(self.view.detail if self.view.reading else self.view.table)
