"""Takes up the settings while the dashboard runs, whenever the config file or a theme is saved."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from agentco_tui.config import Settings, SettingsError
from agentco_tui.text import SafeText, plain, safe

LOOK_EVERY = 1.0  # seconds

Reread = Callable[[Settings], tuple[Settings, list[str]]]
"""As `config.resolve.reread`, of the settings that are in effect."""
Stamp = tuple[tuple[Path, int, int], ...]


def stamp(config: Path) -> Stamp:
    """What differs once the config file or a theme beside it was saved."""

    def stamps() -> Iterator[tuple[Path, int, int]]:
        for path in (config, *sorted(config.parent.glob("themes/*.toml"))):
            if path.exists():
                found = path.stat()
                yield path, found.st_mtime_ns, found.st_ino

    try:
        return tuple(stamps())
    except OSError:
        return ()


async def follow_settings(
    settings: Callable[[], Settings],
    reread: Reread,
    take: Callable[[Settings], None],
    tell: Callable[[SafeText], None],
) -> None:
    """Look once a second, beside the event loop, and read once a saved file stands still: `take`
    gets settings that differ; what is wrong is told, and those of before stay.
    """
    seen: Stamp | None = None
    is_read, config = False, settings().config_path
    while config is not None:
        found = await asyncio.to_thread(stamp, config)
        if found != seen:
            seen, is_read = found, False
        elif not is_read:
            is_read = True
            try:
                new, kept = await asyncio.to_thread(reread, settings())
            except SettingsError as error:
                first, *more = error.problems
                others = f" (and {len(more)} more)" if more else ""
                tell(safe(f"{first}{others}; the settings of before stay", 400))
            else:
                if replace(new, sources={}) != replace(settings(), sources={}):
                    take(new)
                    tell(plain("the settings were read again"))
                if kept:
                    names = ", ".join(kept)
                    tell(plain(f"only from the next start, or :profile NAME: {names}"))
        await asyncio.sleep(LOOK_EVERY)
