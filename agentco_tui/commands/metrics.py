"""`agentco-tui metrics`: what the dashboard knows, in the OpenMetrics format, for Prometheus.

The format and the server are prometheus_client's, which the extra `metrics` brings. Whatever the
platform does, what was last known stays, and `agentco_feed_up` and `agentco_feed_age_seconds` say
how old.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.command_output import Exit, complain, write
from agentco_tui.commands.with_workspace import run_polling
from agentco_tui.config import Given
from agentco_tui.system.atomic_write import AtomicWriteError, atomic_write
from agentco_tui.workspace.workspace import FIRST_ANSWERS, Workspace

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


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
    """Serve the metrics, or write them to a file, until cancelled; otherwise print them once."""
    from prometheus_client import CollectorRegistry  # noqa: PLC0415 (an extra)
    from prometheus_client.openmetrics.exposition import generate_latest  # noqa: PLC0415

    from agentco_tui.commands.series import WorkspaceCollector  # noqa: PLC0415 (needs the extra)

    registry = CollectorRegistry()
    registry.register(WorkspaceCollector(workspace))
    if given["listen"] is not None:
        await _serve(registry, *given["listen"])
    await workspace.first_answers(asyncio.get_running_loop().time() + FIRST_ANSWERS)
    generate = partial(asyncio.to_thread, partial(generate_latest, registry))
    if given["textfile"] is not None:
        return await _write_repeatedly(
            generate, Path(given["textfile"]), workspace.settings.refresh
        )
    write(await generate())
    freshness = workspace.store.freshness.values()
    is_answered = any(each.answered_at is not None for each in freshness)
    return Exit.OK if is_answered else Exit.NO_ANSWER


async def _serve(registry: CollectorRegistry, host: str, port: int) -> None:
    """Serve the metrics over HTTP until cancelled. Raises UsageError if that is impossible."""
    from prometheus_client import start_http_server  # noqa: PLC0415 (an extra)

    try:
        server, _thread = await asyncio.to_thread(start_http_server, port, host, registry)
    except OSError as error:
        raise UsageError(f"nothing can be served there: {error.strerror}") from None
    shown_host = f"[{host}]" if ":" in host else host
    complain(f"serving http://{shown_host}:{server.server_port}/metrics")
    await asyncio.get_running_loop().create_future()


async def _write_repeatedly(
    generate: Callable[[], Awaitable[bytes]], path: Path, interval: float
) -> int:
    """Write the metrics to a file every `interval` seconds, until cancelled.

    Returns FAILED if the first attempt fails; later failures are reported, and retried.
    """
    is_first = True
    trouble = ""
    while True:
        last_trouble = trouble
        trouble = await asyncio.to_thread(_replace_file, path, await generate())
        if trouble != last_trouble:
            complain(trouble or "it can be written again")
        if trouble and is_first:
            return Exit.FAILED
        is_first = False
        await asyncio.sleep(interval)


def _replace_file(path: Path, text: bytes) -> str:
    """Replace the file atomically; returns why that failed, or ""."""
    try:
        with atomic_write(path, replace=True) as file:
            file.write(text)
    except AtomicWriteError as error:
        return str(error)
    return ""
