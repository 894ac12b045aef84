"""`agentco-tui metrics`: what the dashboard knows, in the OpenMetrics format, for Prometheus.

The format and the server are prometheus_client's, which the extra `metrics` brings. Whatever the
platform does, what was last known stays, and `agentco_feed_up` and `agentco_feed_age_seconds` say
how old.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.running import Exit, complain, write
from agentco_tui.commands.with_workspace import run_polling
from agentco_tui.config import Given
from agentco_tui.system.atomic_write import AtomicWriteError, atomic_write
from agentco_tui.workspace.workspace import FIRST_ANSWERS, Workspace


def run(given: Given, env: Mapping[str, str]) -> int:
    """Print once, or serve or write until SIGINT, SIGTERM or SIGHUP; 3 if nothing was answered."""
    if find_spec("prometheus_client") is None:
        raise UsageError(
            "metrics need the library prometheus_client: pip install 'agentco-tui[metrics]'"
        )
    if given["listen"] and given["textfile"]:
        raise UsageError("--listen or --textfile, not both")
    is_endless = given["listen"] is not None or given["textfile"] is not None
    return run_polling(given, env, partial(_export, given), is_endless=is_endless)


async def _export(given: Given, workspace: Workspace) -> int:
    """Serve, or write again and again, until cancelled; else print once."""
    from prometheus_client import CollectorRegistry, start_http_server  # noqa: PLC0415 (an extra)
    from prometheus_client.openmetrics.exposition import generate_latest  # noqa: PLC0415

    from agentco_tui.commands.series import Series  # noqa: PLC0415 (imports the extra)

    registry = CollectorRegistry()
    registry.register(Series(workspace))
    if given["listen"] is not None:
        host, port = given["listen"]
        try:
            server, _ = await asyncio.to_thread(start_http_server, port, host, registry)
        except OSError as error:
            raise UsageError(f"nothing can be served there: {error.strerror}") from None
        host = f"[{host}]" if ":" in host else host
        complain(f"serving http://{host}:{server.server_port}/metrics")
        await asyncio.get_running_loop().create_future()
    await workspace.first_answers(asyncio.get_running_loop().time() + FIRST_ANSWERS)
    if given["textfile"] is None:
        write(await asyncio.to_thread(generate_latest, registry))
        is_up = any(each.answered_at for each in workspace.store.freshness.values())
        return Exit.OK if is_up else Exit.NO_ANSWER
    told: str | None = None  # why it can't be written, as it was said last; "" if it can
    while True:
        text = await asyncio.to_thread(generate_latest, registry)
        why = await asyncio.to_thread(_put, Path(given["textfile"]), text)
        if why != (told or ""):
            complain(why or "it can be written again")
        if why and told is None:
            return Exit.FAILED
        told = why
        await asyncio.sleep(workspace.settings.refresh)


def _put(path: Path, text: bytes) -> str:
    """Write the file whole, or say why not."""
    try:
        with atomic_write(path, replace=True) as file:
            file.write(text)
    except AtomicWriteError as error:
        return str(error)
    return ""
