"""Reloads the settings while the dashboard runs, when the config file or a theme file is saved.

Some settings can't change while the program runs, such as the profile (the user's name for a remote
service and the key for it); they are postponed to the next start. The workspace is what is known of
the platform in memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agentco_tui.config import Settings, SettingsError
from agentco_tui.config.theme_file import themes_beside
from agentco_tui.system.watch_thread import watch_in_thread
from agentco_tui.text import SafeText, clean_line, mark_safe
from agentco_tui.workspace.workspace import Workspace

CHECK_INTERVAL: Final = 1.0
"""Seconds between two checks of the files."""

Reread = Callable[[Settings], tuple[Settings, list[str]]]
"""Takes the settings in effect, and returns them as read again, with the names of those settings
that changed but are postponed (`config.resolve.reread`).
"""
FileStamp = tuple[Path, int, int]
"""A file, its time of modification in nanoseconds, and its inode."""


def file_stamps(config: Path) -> list[FileStamp]:
    """Return the stamps of the config file and its themes; one differs after a file was saved."""
    stamps = []
    for path in (config, *themes_beside(config)):
        with suppress(OSError):
            status = path.stat()
            stamps.append((path, status.st_mtime_ns, status.st_ino))
    return stamps


class SavedFiles:
    """Tells when the config file and its themes have been saved; checked once an interval."""

    def __init__(self, config: Path) -> None:
        self._config = config
        self._stamps: list[FileStamp] | None = None
        self._is_reported = False

    def check(self) -> bool | None:
        """Return True once after the first check and once after files were saved, else None.

        An editor may still be writing, so files count as saved when two checks in a row find the
        same stamps.
        """
        stamps = file_stamps(self._config)
        if stamps != self._stamps:
            self._stamps = stamps
            self._is_reported = False
            return None
        if self._is_reported:
            return None
        self._is_reported = True
        return True


async def follow_settings(
    workspace: Workspace,
    reread: Reread,
    take: Callable[[Settings], None],
    tell: Callable[[SafeText], None],
) -> None:
    """Read the files again whenever they were saved; runs until it is cancelled.

    `take` gets settings that differ from those in effect; `tell` gets notices, also of mistakes in
    the files, which leave the settings unchanged. Files are checked and read in threads.
    """
    config = workspace.settings.config_path
    if config is None:
        return
    saves = watch_in_thread(SavedFiles(config).check, CHECK_INTERVAL, "settings")
    async with aclosing(saves):
        async for _ in saves:
            await _reread_once(workspace, reread, take, tell)


async def _reread_once(
    workspace: Workspace,
    reread: Reread,
    take: Callable[[Settings], None],
    tell: Callable[[SafeText], None],
) -> None:
    try:
        settings, postponed = await asyncio.to_thread(reread, workspace.settings)
    except SettingsError as error:
        tell(clean_line(f"the previous settings stay: {error}", 400))
        return
    # `sources` says where each setting comes from, with line numbers, which change with every line
    # that is added above.
    if replace(settings, sources={}) != replace(workspace.settings, sources={}):
        take(settings)
        tell(mark_safe("the settings were read again"))
    if postponed:
        names = ", ".join(postponed)
        tell(mark_safe(f"at the next start, or after :profile NAME, takes effect: {names}"))
