"""Takes back approvals that the user confirmed and that were not sent yet.

The user approves tasks on a remote service. A confirmed approval is held back for a few seconds,
its undo window, before it is sent. `dashboard.decisions` has the approvals; the functions here are
run by keys of the dashboard's main screen (`frame`), whose `say` shows a message. The workspace is
what is known of the platform in memory. The scope is the company that the user has limited
everything to, if any.
"""

from __future__ import annotations

from agentco_tui.model import Task
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.text import signs


def take_back_one(frame: BaseFrame) -> None:
    """Take back the approval of the task under the cursor, else the newest one held back."""
    workspace = frame.workspace
    dashboard = frame.dashboard
    record = frame.view.subject()
    task = dashboard.decisions.take_back(record.id if isinstance(record, Task) else None)
    if task is None:
        frame.say("nothing is held back that could be taken back")
        return
    frame.return_to(task)  # the cursor had moved on to the next task
    title = workspace.scope.title_with_company(task.keyed_title, task)
    frame.say(f"{signs.good} {title}: taken back, nothing was sent")


def take_back_all(frame: BaseFrame, again: str) -> bool:
    """Take back all approvals that are held back; return False if there are none.

    The key that calls this would have quit or left the dashboard. `again` is the verb for what a
    second press of it does, such as "leaves".
    """
    workspace = frame.workspace
    dashboard = frame.dashboard
    tasks = dashboard.decisions.take_all_back()
    if not tasks:
        return False
    frame.return_to(tasks[-1])
    titles = ", ".join(workspace.scope.title_with_company(task.keyed_title, task) for task in tasks)
    words = f"taken back, nothing was sent (once more {again}): {titles}"
    frame.say(f"{signs.good} {words}", bad=True)
    return True
