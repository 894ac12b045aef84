"""Opens a `Workspace` for a command.

A workspace is everything that the dashboard knows of a platform (the service whose companies of AI
agents are watched), without its screens: the API client, the poller, the store of records, what
needs the user, forecasts, and the history, a database of what was polled.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from agentco_tui.api.credentials import KeyInUse
from agentco_tui.commands.command_context import load_settings
from agentco_tui.commands.command_log import log_to_file
from agentco_tui.commands.command_output import Exit, print_to_stderr
from agentco_tui.config import Arguments, Settings
from agentco_tui.system.garbage import collect_as_usual
from agentco_tui.workspace.opening import opened_workspace
from agentco_tui.workspace.workspace import Workspace

Work = Callable[[Workspace], Coroutine[Any, Any, int]]
"""What a command does with a workspace; returns the exit code."""


def open_workspace(
    settings: Settings, key: KeyInUse | None = None
) -> AbstractAsyncContextManager[Workspace]:
    """Open a workspace that prints its problems on stderr, as when its history can't be written.

    `key` replaces that of the settings, and can change while the workspace is open.
    """
    return opened_workspace(settings, key, on_trouble=print_to_stderr)


def run_with_polling(
    arguments: Arguments, env: Mapping[str, str], work: Work, *, is_endless: bool = True
) -> int:
    """Poll the platform while `work` runs; returns its exit code.

    An endless command ends at SIGINT, SIGTERM or SIGHUP, with exit code 0, and writes what it
    observes to the history. Any other command writes nothing there. Raises SettingsError, also if
    no company has the name that the settings say.
    """
    settings = load_settings(arguments, env)
    # The key in use, which the workspace reads again if the platform refuses it.
    key = None if settings.key is None else KeyInUse(settings.key)

    async def run() -> int:
        async with open_workspace(settings, key) as workspace:
            working = asyncio.create_task(work(workspace))
            if is_endless:
                collect_as_usual()
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    asyncio.get_running_loop().add_signal_handler(number, working.cancel)
            async with asyncio.TaskGroup() as tasks:
                polling = tasks.create_task(workspace.run_without_screen(remembers=is_endless))
                await asyncio.wait((working,))
                polling.cancel()
            return Exit.OK if working.cancelled() else working.result()

    with log_to_file(settings, key):
        return asyncio.run(run())
