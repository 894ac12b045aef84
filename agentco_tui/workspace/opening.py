"""Makes a `Workspace` from settings, with its client, its history and its snoozes.

A workspace is what is known in memory of one platform (the service whose companies of AI agents are
watched); the client sends its requests. The settings have the address of the platform, the API key,
and the profile, which is the user's name for both. The history is a database of what was polled;
snoozes are items of the list "needs you" (what the user should look at) that the user put off for a
while. Both are files in the state folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentco_tui.api.credentials import KeyInUse
from agentco_tui.api.origin import platform_of
from agentco_tui.attention.snooze import Snoozes
from agentco_tui.config import Settings
from agentco_tui.platforms.opener import open_platform_of
from agentco_tui.system.state_folder import HISTORY_FILE, SNOOZED_FILE, state_folder
from agentco_tui.text import SafeText
from agentco_tui.workspace.workspace import CLOSING, Workspace

if TYPE_CHECKING:
    from agentco_tui.api.platform import Platform
    from agentco_tui.api.prefetch import Prefetch
    from agentco_tui.api.recorder import Recorder
    from agentco_tui.history.history import History


def client_for(
    settings: Settings,
    key: KeyInUse | None = None,
    *,
    attempts: int | None = None,
    recorder: Recorder | None = None,
    prefetch: Prefetch | None = None,
) -> Platform:
    """Return a client for the settings' platform, which must be closed. Raises SettingsError.

    `key` is used in place of the settings' own, and can be replaced while the client is open.
    `attempts` are made for each read, instead of the client's default. `recorder` writes every
    answer to a file. `prefetch` is the first request, which is under way already. The settings'
    `mapping` says which of the platform's fields means what.
    """
    options: dict[str, Any] = {"recorder": recorder}
    if attempts is not None:
        options["attempts"] = attempts
    client = open_platform_of(settings, key, **options)
    client.prefetch = prefetch
    return client


def history_for(settings: Settings, client: Platform, path: Path | None = None) -> History | None:
    """Return the history of the settings' platform; None if the settings want none.

    `path` is its file, instead of the one in the state folder.
    """
    if not settings.history:
        return None
    from agentco_tui.history.history import History  # noqa: PLC0415 (with no history, not needed)

    return History(
        path or state_folder() / HISTORY_FILE,
        settings.profile,
        str(settings.base_url),
        redact=client.transport.key.redact,  # masks the API key in a text
        most_bytes=settings.history_mb * 1_000_000,
    )


def snoozes_for(settings: Settings, folder: Path | None) -> Snoozes:
    """Return the snoozes of the settings' platform, kept in `folder`, with None only in memory."""
    # `platform_of` spells an address in one way, so that several profiles share its snoozes.
    path = None if folder is None else folder / SNOOZED_FILE
    return Snoozes(path, platform_of(str(settings.base_url)))


@asynccontextmanager
async def opened_workspace(
    settings: Settings,
    key: KeyInUse | None = None,
    *,
    on_trouble: Callable[[SafeText], object],
    finds_company: bool = True,
) -> AsyncIterator[Workspace]:
    """Open a workspace, and close it at the end; it polls only once its `run` is called.

    `on_trouble` is called with the reason why the history cannot be written. With `finds_company`
    the id of the company that the settings name is read first. Raises SettingsError, also if there
    is no such company.
    """
    client = client_for(settings, key)
    history = history_for(settings, client)
    if history is not None:
        history.on_trouble = on_trouble
    workspace = Workspace(
        settings, client, snoozes=snoozes_for(settings, state_folder()), history=history
    )
    try:
        async with client:
            try:
                if finds_company:
                    await workspace.find_company()
                yield workspace
            finally:
                await workspace.aclose()
    finally:
        await asyncio.to_thread(workspace.close, CLOSING)
