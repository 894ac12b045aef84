"""A person's own commands (`[commands.NAME]`), run for the record under the cursor.

What the platform sent is in their environment alone, and no shell reads it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from textual import events

from agentco_tui.config import OwnCommand
from agentco_tui.keys.commands import Place
from agentco_tui.live.activity_window import is_gap
from agentco_tui.model import Activity
from agentco_tui.screens.dashboard_workspace import DashboardWorkspace
from agentco_tui.screens.dialogs.base import Dialog, Question, SizedScreen, title_of
from agentco_tui.screens.trail import name_of
from agentco_tui.system.background import while_wanted
from agentco_tui.system.child_process import CommandError, how_it_ended, run_for_output
from agentco_tui.text import SafeText, plain, safe, safe_block, signs
from agentco_tui.widgets.text_pane import FieldLine, Text
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker

LIMIT = 60.0  # seconds of a command in the background


class OwnCommands(SizedScreen[None]):
    """The part of the frame that has to do with them."""

    session: DashboardWorkspace
    place: Place
    view: Any
    say: Callable[..., None]
    _printed = SafeText("nothing has run in the background yet")  # or what the last one wrote

    @property
    def own(self) -> dict[str, OwnCommand]:
        return {one.command.id: one for one in self.session.settings.commands}

    def on_key(self, event: events.Key) -> None:
        """No widget wanted it. One that is held down would run its command again and again."""
        for own in self.own.values():
            if event.key in own.key.split(",") and self.place in own.command.places:
                event.stop()
                if not self.key_app.presses.held_down:
                    self.run_own(own)

    def action_output(self) -> None:
        pane = Dialog[None]([Cell(plain("OUTPUT"), Tone.STRONG)])
        pane.keys = {"esc": " back"}
        pane.pane.show([Text(self._printed)])
        self.app.push_screen(pane)

    def run_own(self, own: OwnCommand) -> None:
        """Run it for the record under the cursor, after a question if it wants one."""
        from agentco_tui.live.record_export import environment, kind_of  # noqa: PLC0415 (rarely)

        session, record, name = self.session, self.view.subject(), plain(own.command.label)
        is_record = record is not None and not (isinstance(record, Activity) and is_gap(record))
        kind = kind_of(record) if is_record else ""
        if own.writes and session.permissions.off is not None:
            self.say(f"{name}: {session.permissions.off}", bad=True)
            return
        if kind not in own.scope:
            self.say(f"{name}: put the cursor on a line about: {' or '.join(own.scope)}")
            return
        about = environment(record, session.names)
        about |= {"AGENTCO_KIND": kind, "AGENTCO_ID": about[f"AGENTCO_{kind.upper()}_ID"]}
        env = session.child_environment(**about)

        def start(yes: bool | None = True) -> None:
            if yes and own.background:
                start_worker(self, partial(self._in_background, own, env), f"run {name}")
            elif yes:
                self.key_app.lend_terminal(name, own.run, env)

        if own.confirm:
            what = safe(shlex.join(own.run), 2_000), name_of(record, session.names)
            told = {"runs": what[0], kind: what[1], "id": safe(about["AGENTCO_ID"])}
            items = [FieldLine(plain(label), value) for label, value in told.items()]
            title = title_of(session.settings, "RUN", name)
            self.app.push_screen(Question(title, items, "run it"), start)
        else:
            start()

    async def _in_background(self, own: OwnCommand, env: Mapping[str, str]) -> None:
        run, name = partial(run_for_output, own.run, env, LIMIT, apart=True), own.command.label
        redact, bad = self.session.client.transport.key.redact, False
        try:
            printed = (await while_wanted(lambda until: run(until=until))).decode(errors="replace")
        except CommandError as error:
            printed, bad = str(error), True
        self._printed = safe_block(redact(f"{name}:\n{printed}"))
        last = printed.strip().rpartition("\n")[2] or how_it_ended(0)
        self.say(redact(f"{name}: {last} {signs.separator} :output shows it"), bad=bad)
