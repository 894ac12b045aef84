"""Takes up the settings while the dashboard runs, whenever the config file or a theme is saved."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from agentco_tui.config import Settings, SettingsError
from agentco_tui.config.theme_file import themes_beside
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, safe

LOOK_EVERY = 1.0  # seconds

Reread = Callable[[Settings], tuple[Settings, list[str]]]
"""As `config.resolve.reread`, of the settings that are in effect."""


def stamps(config: Path) -> list[tuple[Path, int, int]]:
    """What differs once the config file or a theme beside it was saved."""
    found = []
    for path in (config, *themes_beside(config)):
        with suppress(OSError):
            found.append((path, path.stat().st_mtime_ns, path.stat().st_ino))
    return found


async def follow_settings(
    session: Session,
    reread: Reread,
    take: Callable[[Settings], None],
    tell: Callable[[SafeText], None],
) -> None:
    """Look once a second, beside the event loop, and read once a saved file stands still: `take`
    gets settings that differ; what is wrong is told, and those of before stay.
    """
    seen, is_read, config = None, False, session.settings.config_path
    while config is not None:
        found = await asyncio.to_thread(stamps, config)
        if found != seen:
            seen, is_read = found, False
        elif not is_read:
            is_read = True
            try:
                new, kept = await asyncio.to_thread(reread, session.settings)
            except SettingsError as error:
                tell(safe(f"the settings of before stay: {error}", 400))
            else:
                if replace(new, sources={}) != replace(session.settings, sources={}):
                    take(new)
                    tell(plain("the settings were read again"))
                if kept:
                    tell(plain(f"only from the next start, or :profile NAME: {', '.join(kept)}"))
        await asyncio.sleep(LOOK_EVERY)
