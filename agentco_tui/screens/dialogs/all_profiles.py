"""One list of the needs of all profiles, each with a platform and an API key of its own.

A platform is a remote service whose companies of AI agents are watched; a profile is the user's
name for one, with its settings. A need is something that requires the operator: a task that waits
too long, a budget that runs out; its level says how urgent it is, a snooze puts it off. `:profile`
without a name opens the list. Each profile is watched by a `Workspace` of its own: the client, the
poller and the needs that a dashboard has, too. A platform that does not answer delays no other.
Nothing is decided here: enter leaves for the dashboard of the need's own profile. The workspace is
what is known of the platform in memory.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, NamedTuple, cast

from textual import on
from textual.app import ComposeResult

from agentco_tui.api.credentials import CredentialError, KeyInUse
from agentco_tui.attention.need_words import sentence_of
from agentco_tui.attention.needs import Need, RankReason
from agentco_tui.config import Settings, SettingsError
from agentco_tui.config.api_key import KeyLocation
from agentco_tui.config.resolve import load, of_profile
from agentco_tui.config.validators import WrongError
from agentco_tui.live.insight import Level
from agentco_tui.model import format as fmt
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES
from agentco_tui.screens.dialogs.base import FullScreenDialog, key_hint_cells
from agentco_tui.screens.header_footer import Environment, environment, health_cells, worst
from agentco_tui.screens.key_app import ListTable
from agentco_tui.system.background import while_wanted
from agentco_tui.text import SafeText, clean_line, mark_safe, signs
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import CellLine
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.widgets.workers import start_worker
from agentco_tui.workspace.opening import opened_workspace
from agentco_tui.workspace.workspace import FEEDS, Workspace

NAME_WIDTH: Final = 24
"""Columns to which the name of a platform is cut."""
REDRAW_INTERVAL: Final = 1.0
"""Seconds between two drawings, which show new needs and how old the data are."""
THREADS_PER_PROFILE: Final = 16
"""Threads for what may block, such as reading a keyring or looking up a host name."""
RANK_REASONS: Final = list(RankReason)
"""Why needs are ranked as they are, the most important reason first."""

log = logging.getLogger(__name__)


class NeedRow(NamedTuple):
    """A need of one profile, in words."""

    watch: ProfileWatch
    need: Need
    words: SafeText


class ProfileWatch:
    """Watches the platform of one profile for as long as `run` runs."""

    def __init__(self, profile: str, dashboard_workspace: Workspace) -> None:
        """`dashboard_workspace` is that of the dashboard from which the list was opened."""
        self.profile = profile
        # The platform's name, in the colour chosen for it once the settings are read.
        self.label = Environment(mark_safe(f" {clean_line(profile, NAME_WIDTH)} "))
        self.workspace: Workspace | None = None
        """None while the settings and the API key are being read."""
        self.trouble: SafeText | None = None
        """Why the platform is not watched; None if it is."""
        self._dashboard_workspace = dashboard_workspace
        self._refresh = 5.0  # seconds between two polls

    async def run(self) -> None:
        """Watch until cancelled, or until the settings, the key or the program fail."""
        try:
            settings = await self._load_settings()
            self.label = environment(settings)
            self._refresh = settings.refresh
            key = await self._read_key(settings)
            opening = opened_workspace(settings, key, on_trouble=log.warning)
            async with opening as workspace, asyncio.TaskGroup() as group:
                self.workspace = workspace
                # Poll, and work out the forecasts, without writing to the history.
                group.create_task(workspace.run_without_screen(remembers=False))
                while True:
                    await (
                        workspace.next_refresh()
                    )  # refreshes `ranked_needs` when something changed
        except (SettingsError, CredentialError, WrongError) as error:
            config_path = self._dashboard_workspace.settings.config_path
            self.trouble = clean_line(str(error).removeprefix(f"{config_path}:"), 400)
        except Exception:
            log.exception("the watch of a profile ended")
            self.trouble = mark_safe("stopped by an error in the program")

    async def _load_settings(self) -> Settings:
        """Return the settings of the profile, read from the same file as the dashboard's."""
        current = self._dashboard_workspace.settings
        # The arguments of `load`: the environment without what names the platform of the start.
        given = of_profile(self.profile, "", {"config": str(current.config_path)}, os.environ)
        if self.profile == current.profile:
            return current
        return await asyncio.to_thread(partial(load, *given, with_key=False))

    async def _read_key(self, settings: Settings) -> KeyInUse:
        """Return the profile's API key; the dashboard's own if it is for the same profile."""
        dashboard_key = self._dashboard_workspace.client.transport.key
        if settings is self._dashboard_workspace.settings:
            return dashboard_key
        location = cast("KeyLocation", settings.key_location)
        read = partial(location.read, apart=True)
        key = KeyInUse(await while_wanted(lambda until: read(until=until)))
        # Reports and logs of the dashboard leave out this key, too.
        dashboard_key.secrets += key.secrets
        return key

    def need_rows(self) -> Iterator[NeedRow]:
        """Yield the needs that are not snoozed; none unless the platform is watched."""
        workspace = self.workspace
        if workspace is None or self.trouble is not None:
            return
        now = workspace.clock.now()
        for need in workspace.ranked_needs:
            if need.snooze is None:
                words = sentence_of(need, workspace.names, workspace.outlook, now)
                yield NeedRow(self, need, words)

    def status_line(self) -> CellLine:
        """Return the platform's name, how fresh its data are, and how many needs it has."""
        blank = " " * (NAME_WIDTH + 3 - len(self.label.text))
        return CellLine((self.label, Cell(mark_safe(blank)), *self._status_cells()))

    def _status_cells(self) -> list[Cell]:
        if self.trouble is not None:
            return [Cell(mark_safe(f"{signs.critical} {self.trouble}"), Tone.CRITICAL)]
        workspace = self.workspace
        if workspace is None:
            return [Cell(mark_safe(f"{signs.unknown} reading the key"), Tone.DIM)]
        # A feed is one list of records that is polled: show the one that fails or is oldest.
        freshness = worst(workspace.store.freshness[feed] for feed in FEEDS)
        monotonic = workspace.clock.monotonic()
        status = health_cells(freshness, None, monotonic, refresh=self._refresh)
        for level, sign in ((Level.CRITICAL, signs.critical), (Level.WARNING, signs.warning)):
            count = sum(row.need.level is level for row in self.need_rows())
            if count:
                status.append(Cell(mark_safe(f"  {sign} {fmt.count(count)}"), TONES[level]))
        status.append(Cell(mark_safe(f"  {freshness.failure or ''}"), Tone.DIM))
        return status


class AllProfiles(FullScreenDialog[None]):
    """A line for each profile, and below a table of all needs, the most important first."""

    DEFAULT_CSS = """
    AllProfiles .dialog--body { height: auto; max-height: 40%; }
    AllProfiles RecordTable { height: 1fr; }
    """

    def __init__(self, workspace: Workspace) -> None:
        super().__init__([Cell(mark_safe(" all profiles"), Tone.STRONG)])
        self.watches = [ProfileWatch(profile, workspace) for profile in workspace.settings.profiles]
        self.pane.can_focus = False
        # fmt: off
        self.table: ListTable[NeedRow] = ListTable([
            cells.level_column(lambda row: row.need.level),
            cells.column("profile", "PROFILE", (14, 8), lambda row: row.watch.label,
                sort_key=lambda row: row.watch.profile.casefold()),
            cells.text_column("what", "WHAT", (40, 20), lambda row: row.words, grow=1),
        ])
        # fmt: on
        self.table.on_interaction = lambda: None

    def compose_body(self) -> ComposeResult:
        yield self.pane
        yield self.table

    def on_mount(self) -> None:
        self.keys_line.show(key_hint_cells({"enter": " decide there   ", "esc": " back"}))
        self.table.focus()
        # A keyring or a name server may hang and keep its thread: no profile may wait for that.
        threads = ThreadPoolExecutor(THREADS_PER_PROFILE * (len(self.watches) + 1))
        asyncio.get_running_loop().set_default_executor(threads)
        self.set_interval(REDRAW_INTERVAL, self.redraw, name="ages")
        self.redraw()
        for watch in self.watches:
            start_worker(self, watch.run, f"watch {clean_line(watch.profile)}")

    def redraw(self) -> None:
        self.pane.show([watch.status_line() for watch in self.watches])
        rows = [row for watch in self.watches for row in watch.need_rows()]
        rows.sort(key=_importance)
        self.table.set_state(mark_safe("nothing needs you, as far as is known"))
        self.table.load((f"{row.watch.profile} {row.need.key}", row) for row in rows)

    @on(RecordTable.Opened)
    def _open_dashboard(self, event: RecordTable.Opened) -> None:
        """Leave for the dashboard of the need under the cursor."""
        app: Any = self.app
        row = self.table.model.record(event.row_id)
        if row is not None:
            app.main_screen.dialogs.switch_profile(row.watch.profile, row.need.key)


def _importance(row: NeedRow) -> tuple[Any, ...]:
    """Return the key by which needs are sorted, the most important first."""
    need = row.need
    return (-need.level, RANK_REASONS.index(need.rank_reason), need.rank)
