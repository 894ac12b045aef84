"""Copies a record's id, name, JSON, curl command or link to the clipboard, and opens a pager.

The clipboard is reached with a tool such as wl-copy if there is one, else through the terminal's
escape sequence OSC 52. `frame` is the dashboard's main screen, whose `say` shows a message.

A record is one company, AI agent, task, budget, alert or log entry of the platform, the remote
service that is watched. Its kind is a word such as "task"; `LIST_OF_KIND` has the operation that
lists records of this kind, and a `Read` is an operation with its arguments. `poller.query.company`
is the id of the company that the dashboard is limited to, or None. The workspace is what is known
of the platform in memory.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from agentco_tui.api.capabilities import LIST_OF_KIND, Read
from agentco_tui.api.errors import ApiError
from agentco_tui.live.feeds import NO_LOG_FILTER, ActivityFilter
from agentco_tui.live.fetch import ACTIVITY_LIMIT
from agentco_tui.live.record_export import as_json, kind_of
from agentco_tui.model import Activity, Agent, Budget, BudgetScope, Company, Record, Task
from agentco_tui.reading.unknown_fields import WHOLE, as_extra
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.detail_pane import link_to, whole_title
from agentco_tui.screens.dialogs.base import Dialog
from agentco_tui.screens.key_app import KeyApp
from agentco_tui.screens.navigation import name_of
from agentco_tui.system import clipboard, osc
from agentco_tui.text import SafeText, clean_line, clipboard_text, mark_safe
from agentco_tui.widgets.text_pane import FieldLine, LineCells
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker
from agentco_tui.workspace.workspace import Workspace


class CopyChoice(Dialog[str]):
    """The dialog that asks what to copy; returns its letter, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(letter, f"take('{letter}')", show=False) for letter in "nsjcl"),
    ]

    key_hints: Mapping[str, str] = {"esc": " back"}

    def __init__(self, offered: Mapping[str, SafeText]) -> None:
        super().__init__([Cell(mark_safe("COPY"), Tone.STRONG)])
        self._offered = offered
        self.pane.show(
            FieldLine(mark_safe(f" {key}"), words, label_width=4) for key, words in offered.items()
        )

    def action_take(self, letter: str) -> None:
        if letter in self._offered:
            self.dismiss(letter)


def choose(frame: BaseFrame, record: Record, what: str | None) -> None:
    """Copy the part of a record that `what` names; with None ask which part to copy.

    `what` is "id" or a letter of `CopyChoice`: n(ame), s(ent fields), j(son), c(url) or l(ink).
    """
    workspace = frame.workspace
    sent_id = record.sent_id
    name = whole_title(record) if isinstance(record, Task) else name_of(record, workspace.names)
    log_filter = frame.view.log_filter or NO_LOG_FILTER
    kind, read = list_of(record, workspace, log_filter)
    list_path = workspace.client.capabilities.path(read.operation)
    line = curl_line(record, workspace, log_filter)
    link = link_to(workspace.settings.web_url, record)
    offered = {
        "n": mark_safe(f"its name: {clean_line(name, 200)}"),
        "s": mark_safe(f"its fields as {list_path} sends them now, in one line"),
        "j": mark_safe("all that was read of it in JSON, with units"),
        "c": clean_line(line, 600),
        **({"l": clean_line(link, 600)} if link else {}),
    }

    async def copy_it(letter: str) -> None:
        text = {"id": clipboard_text(sent_id), "n": name, "c": line, "l": link}.get(letter)
        if letter == "s" and record.shared_id:  # its id does not say which record to ask for
            frame.say(str(record.unwritable), bad=True)
            return
        if letter == "s":
            try:
                found = await workspace.client.as_sent(read, kind, sent_id)
            except ApiError as error:
                frame.say(str(error), bad=True)
                return
            # Secrets are hidden here as everywhere.
            text = as_line(as_extra(found, WHOLE).decode())
        elif text is None:
            text = as_line(json.dumps(as_json(record, workspace.names), ensure_ascii=False))
        if text:
            await copy(frame, text)
        else:
            frame.say(f"{list_path} does not have it any more", bad=True)

    def chosen(letter: str | None) -> None:
        if letter:
            start_worker(frame, partial(copy_it, letter), "copy", group="copy")

    # `chosen` ignores None; with None, the dialog calls it with the letter later.
    if what is None:
        frame.app.push_screen(CopyChoice(offered), chosen)
    chosen(what)


async def copy(frame: BaseFrame, text: str) -> None:
    """Copy text with a tool if there is one, else through the terminal (OSC 52); say which."""
    env = frame.workspace.child_environment()
    what = clean_line(text, 60)
    size = len(text.encode())
    tool = await asyncio.to_thread(clipboard.copy_with_tool, text, env)
    if tool is not None:
        way = "in tmux's buffer, and sent on to its terminal"
        frame.say(f"{way if tool == 'tmux' else f'copied with {tool}'}: {what}")
    elif size > clipboard.MOST_BYTES:
        most = f"{size:,} bytes, and a terminal takes {clipboard.MOST_BYTES:,} (OSC 52)"
        frame.say(f"not copied: {most}: {what}", bad=True)
    else:
        frame.key_app.to_terminal(osc.clipboard(text, env))
        frame.say(f"sent to the terminal (OSC 52): {what}")


def list_of(
    record: Record, workspace: Workspace, log: ActivityFilter = NO_LOG_FILTER
) -> tuple[str, Read]:
    """Return the kind of list that has a record, and the read with which it is polled.

    `log` is the filter of the screen that shows the activity.
    """
    kind = kind_of(record)
    query = workspace.poller.query
    asked: dict[str, Any] = {}
    match record:
        case Task(id=of):
            waits = "pending" if of in workspace.store.pending.records else None
            asked = {"company_id": query.company, "status": waits}
        case Activity():
            asked = {
                "company_id": log.company or query.company,
                "agent_id": log.agent,
                "from_date": log.from_date,
                "to_date": log.to_date,
                "limit": log.limit or ACTIVITY_LIMIT,
            }
        case Budget(scope=scope) if scope is not BudgetScope.ALL:
            kind = f"{scope}_budget"
            asked = {"company_id": query.company if scope is BudgetScope.AGENT else None}
    return kind, Read(LIST_OF_KIND[kind], asked)


def curl_line(record: Record, workspace: Workspace, log: ActivityFilter = NO_LOG_FILTER) -> str:
    """Return a curl command that gets a record, or its list; the shell puts the key in."""
    _, read = list_of(record, workspace, log)
    match record:
        case Company(id=of):
            read = Read("company", {"company_id": of})
        case Agent(id=of):
            read = Read("agent", {"agent_id": of})
    return workspace.client.curl(read)


def page(app: KeyApp, workspace: Workspace, lines: Iterable[LineCells]) -> None:
    """Show lines in $PAGER, else in less or more; it has the terminal until it ends."""
    env = workspace.child_environment()
    usual = "less" if shutil.which("less", path=env.get("PATH")) else "more"
    command = env.get("PAGER", "").split() or [usual]
    if command[0].endswith("less"):
        command.append("-+F")  # $LESS may say that it ends at once where all fits
    with tempfile.NamedTemporaryFile("w", prefix="agentco-", suffix=".txt") as file:
        file.writelines(f"{''.join(cell.text for cell in line).rstrip()}\n" for line in lines)
        file.flush()
        app.lend_terminal(f"the pager {command[0]}", [*command, file.name], env)


def as_line(text: str) -> str:
    """Return JSON in one line, with invisible characters escaped."""
    return "".join(c if clipboard_text(c) == c else json.dumps(c)[1:-1] for c in text)
