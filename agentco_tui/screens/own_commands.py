"""Runs custom commands of the config file (`[commands.NAME]`) for the record under the cursor.

A record is a task, an AI agent or the like, as sent by the platform, the remote service that is
watched. It is passed in environment variables only, so that no shell interprets it. An `OwnCommand`
has the settings of one command: `run` is the program with its arguments, `scope` the kinds of
record that it is for, `background` whether it runs without the terminal, `writes` whether it is
refused while writing is off. `command` is the same in the table of all commands. The frame is the
Textual screen; `frame.dashboard` is what all screens share, `workspace` what is open for one
platform (settings, client, names), and `key_app` the application, which knows its type. The frame
is the dashboard's main screen. A gap is an entry of our own where entries are missing (`is_gap`).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import partial
from typing import Final

from agentco_tui.config import OwnCommand
from agentco_tui.live.activity_window import is_gap
from agentco_tui.model import Activity, Record
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.dialogs.base import Dialog, Question, title_of
from agentco_tui.screens.navigation import name_of
from agentco_tui.system.background import while_wanted
from agentco_tui.system.child_process import CommandError, how_it_ended, run_for_output
from agentco_tui.text import SafeText, clean_block, clean_line, mark_safe, signs
from agentco_tui.widgets.text_pane import FieldLine, Paragraph
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker

BACKGROUND_TIMEOUT: Final = 60.0
"""Seconds after which a command in the background is ended."""


class OwnCommands:
    """The custom commands, as run from one frame."""

    def __init__(self, frame: BaseFrame) -> None:
        self._frame = frame
        self._dashboard = frame.dashboard
        self._workspace = frame.workspace
        self._last_output = SafeText("nothing has run in the background yet")

    @property
    def by_id(self) -> dict[str, OwnCommand]:
        return {own.command.id: own for own in self._workspace.settings.commands}

    def run_for_key(self, key: str) -> bool:
        """Run the commands that this key is bound to on this screen; False if there are none.

        A key that is held down would run its command again and again: it runs nothing.
        """
        bound = [
            own
            for own in self._workspace.settings.commands
            if key in own.key.split(",") and self._frame.place in own.command.places
        ]
        if not self._frame.key_app.presses.held_down:
            for own in bound:
                self.run(own)
        return bool(bound)

    def show_output(self) -> None:
        """Show what the last command in the background printed."""
        dialog = Dialog[None]([Cell(mark_safe("OUTPUT"), Tone.STRONG)])
        dialog.key_hints = {"esc": " back"}
        dialog.pane.show([Paragraph(self._last_output)])
        self._frame.app.push_screen(dialog)

    def run(self, own: OwnCommand) -> None:
        """Run a command for the record under the cursor, after a question if it wants one."""
        from agentco_tui.live.record_export import kind_of, record_environment  # noqa: PLC0415 (rarely)

        frame = self._frame
        name = mark_safe(own.command.label)
        record = frame.view.subject()
        # A gap only marks a time of which log entries are missing.
        is_record = record is not None and not (isinstance(record, Activity) and is_gap(record))
        kind = kind_of(record) if is_record else ""
        off = self._dashboard.permissions.off
        if own.writes and off is not None:
            frame.say(f"{name}: {off}", bad=True)
            return
        if kind not in own.scope:
            frame.say(f"{name}: put the cursor on a line about: {' or '.join(own.scope)}")
            return
        about = record_environment(record, self._workspace.names)
        record_id = about[f"AGENTCO_{kind.upper()}_ID"]
        about |= {"AGENTCO_KIND": kind, "AGENTCO_ID": record_id}
        env = self._workspace.child_environment(**about)

        def start(yes: bool | None = True) -> None:
            if yes and own.background:
                start_worker(frame, partial(self._run_in_background, own, env), f"run {name}")
            elif yes:
                frame.key_app.lend_terminal(name, own.run, env)  # it has the terminal until it ends

        if own.confirm:
            frame.app.push_screen(self._question(own, record, kind, record_id), start)
        else:
            start()

    def _question(self, own: OwnCommand, record: Record, kind: str, record_id: str) -> Question:
        fields = {
            "runs": clean_line(shlex.join(own.run), 2_000),
            kind: name_of(record, self._workspace.names),
            "id": clean_line(record_id),
        }
        items = [FieldLine(mark_safe(label), value) for label, value in fields.items()]
        title = title_of(self._workspace.settings, "RUN", mark_safe(own.command.label))
        return Question(title, items, "run it")

    async def _run_in_background(self, own: OwnCommand, env: Mapping[str, str]) -> None:
        name = own.command.label
        redact = self._workspace.client.transport.key.redact
        # apart: in a session of its own, without our terminal.
        run = partial(run_for_output, own.run, env, BACKGROUND_TIMEOUT, apart=True)
        failed = False
        try:
            # In a thread; the program is ended if this worker is cancelled.
            printed = (await while_wanted(lambda until: run(until=until))).decode(errors="replace")
        except CommandError as error:
            printed = str(error)
            failed = True
        self._last_output = clean_block(redact(f"{name}:\n{printed}"))
        last_line = printed.strip().rpartition("\n")[2] or how_it_ended(0)
        words = f"{name}: {last_line} {signs.separator} :output shows it"
        self._frame.say(redact(words), bad=failed)
