"""One Overview over the platforms of all profiles, each watched by itself: none holds up another.

Nothing is decided here: `enter` leaves for the dashboard of the need's own platform.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, cast

from textual import on
from textual.app import ComposeResult

from agentco_tui.api.credentials import CredentialError, KeyInUse
from agentco_tui.attention.need_words import sentence_of
from agentco_tui.attention.needs import Need, RankReason
from agentco_tui.config import SettingsError
from agentco_tui.config.api_key import KeyLocation
from agentco_tui.config.resolve import load, of_profile
from agentco_tui.config.validators import WrongError
from agentco_tui.live.insight import Level
from agentco_tui.model import format as fmt
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES
from agentco_tui.screens.dialogs.base import WholeScreen, key_cells
from agentco_tui.screens.header_footer import Environment, environment, health_cells, worst
from agentco_tui.screens.key_app import ListTable
from agentco_tui.system.background import while_wanted
from agentco_tui.text import SafeText, plain, safe, signs
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import Cells
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker
from agentco_tui.workspace.opening import opened_workspace
from agentco_tui.workspace.workspace import FEEDS, Workspace

WIDEST = 24  # columns of what a platform is called
RANKS = [*RankReason]

log = logging.getLogger(__name__)


class Line(NamedTuple):
    """A need of one platform, in words."""

    platform: Platform
    need: Need
    words: SafeText


class Platform:
    """One profile, watched in a task of its own; `trouble` says why it is not."""

    def __init__(self, profile: str, workspace: Workspace) -> None:
        self.profile, self._workspace = profile, workspace
        self.label, self.refresh = Environment(plain(f" {safe(profile, WIDEST)} ")), 5.0
        self.workspace: Workspace | None = None
        self.trouble: SafeText | None = None

    async def run(self) -> None:
        """Until cancelled, or until something of it can't be used."""
        here, key = self._workspace.settings, self._workspace.client.transport.key
        asked = of_profile(self.profile, "", {"config": str(here.config_path)}, os.environ)
        find = partial(load, *asked, with_key=False)
        try:
            settings = here if self.profile == here.profile else await asyncio.to_thread(find)
            self.label, self.refresh = environment(settings), settings.refresh
            if settings is not here:
                read = partial(cast("KeyLocation", settings.key_location).read, apart=True)
                own = KeyInUse(await while_wanted(lambda until: read(until=until)))
                key.secrets += own.secrets  # no report and no log has it
                key = own
            opening = opened_workspace(settings, key, on_trouble=log.warning)
            async with opening as workspace, asyncio.TaskGroup() as work:
                self.workspace = workspace
                work.create_task(workspace.run_without_screen(remembers=False))
                while True:
                    await workspace.next_refresh()
        except (SettingsError, CredentialError, WrongError) as error:
            self.trouble = safe(str(error).removeprefix(f"{here.config_path}:"), 400)
        except Exception:
            log.exception("the watch of a profile ended")
            self.trouble = plain("stopped by an error in the program")

    def lines(self) -> Iterator[Line]:
        if (workspace := self.workspace) is not None and self.trouble is None:
            about = workspace.names, workspace.outlook, workspace.clock.now()
            for need in workspace.ranked_needs:
                if need.snooze is None:
                    yield Line(self, need, sentence_of(need, *about))

    def told(self) -> Cells:
        """How it is, and how much needs a person there."""
        left = [self.label, Cell(plain(" " * (WIDEST + 3 - len(self.label.text))))]
        if self.trouble is not None:
            left.append(Cell(plain(f"{signs.critical} {self.trouble}"), Tone.CRITICAL))
        elif (workspace := self.workspace) is None:
            left.append(Cell(plain(f"{signs.unknown} reading the key"), Tone.DIM))
        else:
            freshness = worst(workspace.store.freshness[feed] for feed in FEEDS)
            left += health_cells(freshness, None, workspace.clock.monotonic(), refresh=self.refresh)
            for level, sign in ((Level.CRITICAL, signs.critical), (Level.WARNING, signs.warning)):
                count = sum(line.need.level is level for line in self.lines())
                left += [Cell(plain(f"  {sign} {fmt.count(count)}"), TONES[level])] * bool(count)
            left.append(Cell(plain(f"  {freshness.failure or ''}"), Tone.DIM))
        return Cells((*left,))


class AllProfiles(WholeScreen[None]):
    DEFAULT_CSS = """
    AllProfiles .dialog--body { height: auto; max-height: 40%; }
    AllProfiles RecordTable { height: 1fr; }
    """

    def __init__(self, workspace: Workspace) -> None:
        super().__init__([Cell(plain(" all profiles"), Tone.STRONG)])
        self.platforms = [Platform(profile, workspace) for profile in workspace.settings.profiles]
        self.pane.can_focus = False
        # fmt: off
        self.table: ListTable[Line] = ListTable([
            cells.level_column(lambda line: line.need.level),
            cells.column("profile", "PROFILE", (14, 8), lambda line: line.platform.label,
                sort_key=lambda line: line.platform.profile.casefold()),
            cells.text_column("what", "WHAT", (40, 20), lambda line: line.words, grow=1),
        ])
        # fmt: on
        self.table.on_interaction = lambda: None

    def body(self) -> ComposeResult:
        yield from (self.pane, self.table)

    def on_mount(self) -> None:
        self.keys_line.show(key_cells({"enter": " decide there   ", "esc": " back"}))
        self.table.focus()
        # One that hangs, as a keyring or the name of a host may, takes no thread from another.
        threads = ThreadPoolExecutor(16 * len(self.platforms) + 16)
        asyncio.get_running_loop().set_default_executor(threads)
        self.set_interval(1.0, self.show, name="ages")
        self.show()
        for each in self.platforms:
            start_worker(self, each.run, f"watch {safe(each.profile)}")

    def show(self) -> None:
        self.pane.show([each.told() for each in self.platforms])
        lines = [line for each in self.platforms for line in each.lines()]
        lines.sort(key=lambda e: (-e.need.level, RANKS.index(e.need.rank_reason), e.need.rank))
        self.table.set_state(plain("nothing needs you, as far as is known"))
        self.table.load((f"{line.platform.profile} {line.need.key}", line) for line in lines)

    @on(RecordTable.Opened)
    def _leave_for(self, event: RecordTable.Opened) -> None:
        app: Any = self.app
        if (line := self.table.model.record(event.row_id)) is not None:
            app.main_screen.dialogs.switch(line.platform.profile, line.need.key)
