"""A person's own commands (`[commands.NAME]`), run for the record under the cursor.

What the platform sent is in their environment alone, and no shell reads it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding, BindingType

from agentco_tui.background import start_worker, while_wanted
from agentco_tui.child_process import CommandError, how_it_ended, run_for_output
from agentco_tui.config import OwnCommand
from agentco_tui.config.api_key import API_KEY
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.record_export import environment, kind_of
from agentco_tui.model import Activity
from agentco_tui.screens.dialogs.base import Dialog, Question, key_cells, title_of
from agentco_tui.screens.trail import name_of
from agentco_tui.text import SafeText, joined, plain, safe, safe_block, signs
from agentco_tui.widgets.text_pane import FieldLine, Text
from agentco_tui.widgets.tones import Cell, Tone

if TYPE_CHECKING:
    from agentco_tui.screens.frame import MainScreen
    from agentco_tui.screens.key_app import KeyApp

LIMIT = 60.0  # seconds of a command in the background


class OutputPane(Dialog[None]):
    """What a command printed, with its name; it scrolls."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "app.leave", "Back", show=False)]

    def __init__(self, name: SafeText, printed: SafeText) -> None:
        super().__init__([Cell(plain("OUTPUT "), Tone.STRONG), Cell(name)])
        self._printed = printed

    def on_mount(self) -> None:
        self.pane.show([Text(self._printed)])
        self.pane.focus()
        self.keys_line.show(key_cells({"esc": " back"}))


class OwnCommands:
    """Runs them over one frame, and keeps what the last one in the background printed."""

    def __init__(self, frame: MainScreen) -> None:
        self._frame, self._session = frame, frame.session
        self._printed: tuple[SafeText, SafeText] | None = None

    def show_output(self) -> None:
        if self._printed is None:
            self._frame.say("no command has run in the background yet")
        else:
            self._frame.app.push_screen(OutputPane(*self._printed))

    def run(self, own: OwnCommand) -> None:
        """Run it for the record under the cursor, after a question if it wants one."""
        frame, session, record = self._frame, self._session, self._frame.view.subject()
        name, off = plain(own.command.label), session.permissions.off
        if own.writes and off is not None:
            frame.say(f"{name}: {off}", bad=True)
            return
        if isinstance(record, Activity) and is_gap(record):
            record = None
        if record is None or kind_of(record) not in own.scope:
            kinds = joined(map(plain, own.scope), " or ")
            frame.say(f"{name}: put the cursor on a line about: {kinds}")
            return
        kind, redact = kind_of(record), session.client.transport.key.redact
        about = environment(record, session.names)
        about |= {"AGENTCO_KIND": kind, "AGENTCO_ID": about[f"AGENTCO_{kind.upper()}_ID"]}
        about |= {"AGENTCO_PROFILE": session.profile, "AGENTCO_BASE_URL": session.origin}
        # The key may stand in any variable (`api_key_env`).
        env = {n: v for n, v in {**os.environ, **about}.items() if redact(v) == v and n != API_KEY}
        if not own.confirm:
            self._start(own, env)
            return
        items = [
            FieldLine(plain("runs"), safe(shlex.join(own.run), 2_000)),
            FieldLine(plain(kind), name_of(record, session.names)),
            FieldLine(plain("id"), safe(about["AGENTCO_ID"])),
        ]
        title = title_of(session.settings, "RUN", name)
        question = Question(title, items, "run it")
        frame.app.push_screen(question, lambda yes: self._start(own, env) if yes else None)

    def _start(self, own: OwnCommand, env: Mapping[str, str]) -> None:
        name = own.command.label
        if own.background:
            start_worker(self._frame, partial(self._in_background, own, env), f"run {name}")
            return
        try:
            status = cast("KeyApp", self._frame.app).lend_terminal(own.run, env)
        except CommandError as error:
            self._frame.say(f"{name} {error}", bad=True)
        else:
            if status:
                self._frame.say(f"{name} {how_it_ended(status)}", bad=True)

    async def _in_background(self, own: OwnCommand, env: Mapping[str, str]) -> None:
        run = partial(run_for_output, own.run, env, LIMIT, apart=True)
        said, tell = "exit code 0", self._frame.say
        redact = self._session.client.transport.key.redact
        try:
            printed = (await while_wanted(lambda until: run(until=until))).decode(errors="replace")
        except CommandError as error:
            printed = said = str(error)
        self._printed = plain(own.command.label), safe_block(redact(printed).rstrip("\n"))
        last = printed.strip().rpartition("\n")[2]
        words = f"{own.command.label}: {said if printed is said else last or said}"
        tell(redact(words) + f" {signs.separator} :output shows it", bad=printed is said)
