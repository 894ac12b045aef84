"""What all screens of one dashboard share: the workspace, the writes, and how cells are drawn.

The platform is the remote service whose companies of AI agents are watched. The `Workspace` has its
client and what is known of it; commands without a screen use one, too. To it a dashboard adds the
writes, i.e. changes on the platform that the user confirms: the journal (a file in which each write
is noted before it is sent), the `Decisions` (approvals of tasks), what cells are drawn from
(`CellContext`), and what the user has read. The app makes one `DashboardContext` and hands it to
the main screen, the lists and the dialogs, which call it `dashboard`.

A need is one item of "needs you", the list of what requires the user; a snooze puts one off.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from agentco_tui.actions.decisions import Decisions
from agentco_tui.actions.services import Permissions, Timing
from agentco_tui.config import Settings, off_by
from agentco_tui.model import Task
from agentco_tui.screens.cells import CellContext
from agentco_tui.screens.needs_refresh import NeedsRefresh
from agentco_tui.system.state_folder import why_not_writable
from agentco_tui.text import clean_line, mark_safe
from agentco_tui.workspace.workspace import Workspace


def write_permissions(settings: Settings, folder: Path) -> Permissions:
    """Return what may be written: nothing if read-only, or if the journal's folder is not writable.

    `folder` is the state folder, in which the journal is.
    """
    off = off_by(settings)  # why the settings forbid all writes, such as `read_only`; else None
    if off is None:
        why = why_not_writable(folder)
        if why is not None:
            off = mark_safe(
                f"writing is off: the state folder {clean_line(str(folder), 200)} can't be written "
                f"({why}), and nothing is sent without the journal; mend that and start again"
            )
    return Permissions(off)


class DashboardContext:
    """A workspace with a journal, for the screens of one dashboard.

    Who makes it closes its workspace.
    """

    def __init__(
        self,
        workspace: Workspace,
        journal_path: Path,
        *,
        permissions: Permissions | None = None,
        timing: Timing | None = None,
    ) -> None:
        """Open the journal, and let the needs leave out tasks that were decided here.

        `permissions` says what may be written, by default everything. `timing` has all waiting
        times of writes, in seconds; `hold_one` is the undo window of an approval, the time during
        which it can be taken back before it is sent (by default the setting `hold`).
        """
        settings = workspace.settings
        self.workspace = workspace
        self.permissions = permissions or Permissions()
        self.services = workspace.open_services(
            journal_path, self.permissions, timing or Timing(hold_one=settings.hold)
        )
        """What every write needs: the client, the journal, the permissions."""
        self.decisions = Decisions(self.services)
        """The approvals under way or lately ended, by task."""
        self.cell_context = CellContext(
            workspace.store, workspace.names, workspace.clock, settings.alerts
        )
        """What cells are drawn from."""
        self.thin = settings.thin
        """Whether less is painted: by the settings, or while the terminal is slow."""
        self.needs_refresh = NeedsRefresh(workspace.needs)
        """Works out the list of needs again, when asked to."""
        self.read_digests: dict[str, bytes] = {}
        """Digests of the tasks that were open long enough to count as read, by their ids.

        A task whose digest has changed since is shown as unread again.
        """
        workspace.decided_tasks = self._decided_tasks
        workspace.snoozes.sync()  # read the snoozes from their file, which dashboards share

    def _decided_tasks(self) -> list[Task]:
        return [decision.task for decision in self.decisions.open]

    def take_settings(self, settings: Settings) -> None:
        """Use other settings of the same platform from now on.

        Writing that was off stays off until the next start.
        """
        self.workspace.take_settings(settings)
        self.cell_context.limits = settings.alerts
        self.services.timing = replace(self.services.timing, hold_one=settings.hold)
        # Why nothing at all may be written from here; None if writing is on.
        self.permissions.read_only = self.permissions.read_only or off_by(settings)
