"""Runs a command on a workspace that polls, until the command has ended."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from agentco_tui.api.credentials import KeyInUse
from agentco_tui.commands.command_log import logged
from agentco_tui.commands.command_output import Exit, complain
from agentco_tui.config import Given, Settings
from agentco_tui.config.resolve import load
from agentco_tui.workspace.opening import opened_workspace
from agentco_tui.workspace.workspace import Workspace

Work = Callable[[Workspace], Coroutine[Any, Any, int]]


def opened(
    settings: Settings, key: KeyInUse | None = None
) -> AbstractAsyncContextManager[Workspace]:
    """A workspace whose troubles go to stderr; parameters and errors as of `opened_workspace`."""
    return opened_workspace(settings, key, on_trouble=complain)


def run_polling(
    given: Given, env: Mapping[str, str], work: Work, *, is_endless: bool = True
) -> int:
    """Poll, remember and forecast while `work` runs; returns its exit code.

    If it `is_endless`, SIGINT, SIGTERM or SIGHUP cancel it, and the exit code is 0; otherwise
    nothing is written to the history. Raises SettingsError, also if there is no company of the name
    in the settings.
    """
    settings = load(given, env)
    key = None if settings.key is None else KeyInUse(settings.key)

    async def run() -> int:
        async with opened(settings, key) as workspace:
            working = asyncio.create_task(work(workspace))
            if is_endless:
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    asyncio.get_running_loop().add_signal_handler(number, working.cancel)
            async with asyncio.TaskGroup() as tasks:
                polling = tasks.create_task(workspace.run_without_screen(remembers=is_endless))
                await asyncio.wait((working,))
                polling.cancel()
            return Exit.OK if working.cancelled() else working.result()

    with logged(settings, key):
        return asyncio.run(run())
