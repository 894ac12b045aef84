"""`agentco-tui watch`: calls as the dashboard does, but without a screen, whatever happens."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Coroutine, Mapping
from typing import Any

from agentco_tui.arguments import UsageError
from agentco_tui.commands.running import complain, say, say_json
from agentco_tui.commands.watching import watched
from agentco_tui.config import Given, Settings
from agentco_tui.format import stamp
from agentco_tui.live.critical_command import CriticalCommand
from agentco_tui.live.notifier import Cause, Notifier, words
from agentco_tui.live.watcher import FEEDS, Watcher


def run(given: Given, env: Mapping[str, str]) -> int:
    """Print a line for each call until SIGINT, SIGTERM or SIGHUP, then 0."""
    try:
        own = shlex.split(given["on_critical"] or "")
    except ValueError as error:
        raise UsageError(f"--on-critical can't be split into words: {error}") from None

    def begin(watcher: Watcher, settings: Settings) -> tuple[Coroutine[Any, Any, int], Any]:
        notifier = Notifier(watcher.outlook, settings.notify, at_start=True)
        about = {"AGENTCO_PROFILE": settings.profile, "AGENTCO_BASE_URL": str(settings.base_url)}
        run = own or settings.notify.on_critical
        command = CriticalCommand(run, {**env, **about}, watcher.key.redact)
        calls = asyncio.Queue[list[Cause]]()

        def found() -> None:
            freshness = {feed: watcher.store.freshness[feed] for feed in FEEDS}
            if causes := notifier.look(watcher.needs, freshness):
                at = stamp(time.time())
                if given["json"]:
                    say_json(
                        {"at": at, "text": words(causes), "causes": [c._asdict() for c in causes]}
                    )
                else:
                    say(f"{at} {words(causes)}")
                calls.put_nowait(causes)

        async def run_commands() -> int:
            while True:
                if trouble := await asyncio.to_thread(command.run, await calls.get()):
                    complain(trouble)

        complain(f"watching {settings.base_url} ({settings.profile})")
        return run_commands(), found

    return watched(given, env, begin)
