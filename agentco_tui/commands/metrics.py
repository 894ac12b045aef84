"""`agentco-tui metrics`: provides metrics for Prometheus, in the OpenMetrics format.

The format and the HTTP server are those of prometheus_client, which the extra `metrics` installs.
While the platform (the service that is watched) does not answer, the last known values stay;
`agentco_feed_up` and `agentco_feed_age_seconds` say how old they are. A feed is one list that is
polled. `metrics_collector` makes the metrics from a `Workspace`, what is known of the platform.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.command_output import Exit, print_to_stderr, write_stdout
from agentco_tui.commands.command_workspace import run_with_polling
from agentco_tui.config import Arguments
from agentco_tui.system.atomic_write import AtomicWriteError, atomic_write
from agentco_tui.workspace.workspace import FIRST_ANSWERS, Workspace

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


def run(arguments: Arguments, env: Mapping[str, str]) -> int:
    """Print the metrics once, or serve or write them until SIGINT, SIGTERM or SIGHUP.

    Returns the exit code, 3 if they were printed once and no request was answered.
    """
    if find_spec("prometheus_client") is None:
        raise UsageError(
            "metrics need the library prometheus_client: pip install 'agentco-tui[metrics]'"
        )
    if arguments["listen"] and arguments["textfile"]:
        raise UsageError("--listen and --textfile exclude each other: choose one")
    is_endless = arguments["listen"] is not None or arguments["textfile"] is not None
    return run_with_polling(arguments, env, partial(_export, arguments), is_endless=is_endless)


async def _export(arguments: Arguments, workspace: Workspace) -> int:
    """Serve the metrics, or write them to a file, until cancelled; otherwise print them once."""
    from prometheus_client import CollectorRegistry  # noqa: PLC0415 (an extra)
    from prometheus_client.openmetrics.exposition import generate_latest  # noqa: PLC0415

    from agentco_tui.commands.metrics_collector import WorkspaceCollector  # noqa: PLC0415 (needs the extra)

    registry = CollectorRegistry()
    registry.register(WorkspaceCollector(workspace))
    if arguments["listen"] is not None:
        await _serve(registry, *arguments["listen"])
    # Wait until every feed has been answered or has failed.
    await workspace.first_answers(asyncio.get_running_loop().time() + FIRST_ANSWERS)
    generate = partial(asyncio.to_thread, partial(generate_latest, registry))
    if arguments["textfile"] is not None:
        return await _write_repeatedly(
            generate, Path(arguments["textfile"]), workspace.settings.refresh
        )
    write_stdout(await generate())
    freshness = workspace.store.freshness.values()
    if any(feed.answered_at is not None for feed in freshness):
        return Exit.OK
    return Exit.NO_ANSWER


async def _serve(registry: CollectorRegistry, host: str, port: int) -> None:
    """Serve the metrics over HTTP until cancelled. Raises UsageError if the port can't be used."""
    from prometheus_client import start_http_server  # noqa: PLC0415 (an extra)

    try:
        server, _thread = await asyncio.to_thread(start_http_server, port, host, registry)
    except OSError as error:
        raise UsageError(f"--listen: {error.strerror}") from None
    shown_host = f"[{host}]" if ":" in host else host
    print_to_stderr(f"serving http://{shown_host}:{server.server_port}/metrics")
    await asyncio.get_running_loop().create_future()


async def _write_repeatedly(
    generate: Callable[[], Awaitable[bytes]], path: Path, interval: float
) -> int:
    """Write the metrics to a file every `interval` seconds, until cancelled.

    Returns FAILED if the first attempt fails. Later failures are reported once, and retried.
    """
    is_first = True
    trouble = ""
    while True:
        last_trouble = trouble
        trouble = await asyncio.to_thread(_replace_file, path, await generate())
        if trouble != last_trouble:
            print_to_stderr(trouble or f"{path} can be written again")
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
