"""`agentco-tui metrics`: what the dashboard knows, in the OpenMetrics format, for Prometheus.

The format and the server are prometheus_client's, which the extra `metrics` brings. Whatever the
platform does, what was last known stays, and `agentco_feed_up` and `agentco_feed_age_seconds` say
how old.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentco_tui.api.credentials import KeyInUse
from agentco_tui.arguments import UsageError
from agentco_tui.atomic_write import AtomicWriteError, atomic_write
from agentco_tui.commands.naming import company_or_words
from agentco_tui.commands.running import Exit, complain, connected, logged, write
from agentco_tui.config import Given, Settings
from agentco_tui.config.resolve import load
from agentco_tui.live.history import History
from agentco_tui.live.history_records import HistoryError
from agentco_tui.state_folder import HISTORY_FILE, state_folder

if TYPE_CHECKING:
    from agentco_tui.commands.series import Watch

SECONDS: Final = 25.0  # for the first answers, before anything is written
CLOSING: Final = 10.0  # seconds in which what is to be remembered is written at the end


def run(given: Given, env: Mapping[str, str]) -> int:
    """Print once, or serve or write until SIGINT, SIGTERM or SIGHUP; 3 if nothing was answered."""
    if find_spec("prometheus_client") is None:
        raise UsageError(
            "metrics need the library prometheus_client: pip install 'agentco-tui[metrics]'"
        )
    if given["listen"] and given["textfile"]:
        raise UsageError("--listen or --textfile, not both")
    settings = load(given, env)
    key = None if settings.key is None else KeyInUse(settings.key)
    with logged(settings, key):
        return asyncio.run(_watched(settings, key, given))


async def _watched(settings: Settings, key: KeyInUse | None, given: Given) -> int:
    """Poll, remember and look ahead, as the dashboard does, until all is told."""
    from agentco_tui.commands.series import Watch  # noqa: PLC0415 (imports the extra)

    goes_on = given["listen"] is not None or given["textfile"] is not None
    async with connected(settings, key) as client:
        company, history = settings.company, None
        if settings.history:
            path, about = state_folder() / HISTORY_FILE, (settings.profile, str(settings.base_url))
            most, redact = settings.history_mb * 1_000_000, client.transport.key.redact
            history = History(path, *about, redact=redact, most_bytes=most)
            history.on_trouble = complain
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS):
                company = await company_or_words(settings, client)
        watch = Watch(settings, client, company, history)
        telling = asyncio.create_task(_tell(watch, given, settings.refresh))
        work = [asyncio.create_task(watch.poller.run())]
        if history is not None:
            work.append(asyncio.create_task(watch.outlook.run()))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if goes_on else ():
            loop.add_signal_handler(number, telling.cancel)
        if history is not None and goes_on:
            await watch.poller.behind.remember(history)
        try:
            done, _ = await asyncio.wait((telling, *work), return_when="FIRST_COMPLETED")
            for task in done - {telling}:
                task.result()  # raises what ended it: a fault of ours
            return Exit.OK if telling.cancelled() else telling.result()
        finally:
            for task in (telling, *work):
                task.cancel()
            await asyncio.gather(telling, *work, return_exceptions=True)
            if history is not None:
                await asyncio.to_thread(history.close, CLOSING)


async def _tell(watch: Watch, given: Given, every: float) -> int:
    """Serve, or write again and again, until cancelled; else print once."""
    from prometheus_client import CollectorRegistry, start_http_server  # noqa: PLC0415 (an extra)
    from prometheus_client.openmetrics.exposition import generate_latest  # noqa: PLC0415

    registry = CollectorRegistry()
    registry.register(watch)
    if given["listen"] is not None:
        host, port = given["listen"]
        try:
            server, _ = await asyncio.to_thread(start_http_server, port, host, registry)
        except OSError as error:
            raise UsageError(f"nothing can be served there: {error.strerror}") from None
        host = f"[{host}]" if ":" in host else host
        complain(f"serving http://{host}:{server.server_port}/metrics")
        await asyncio.get_running_loop().create_future()
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS):
            await watch.first_answers()
    if given["textfile"] is None:
        with suppress(HistoryError, TimeoutError):
            async with asyncio.timeout(SECONDS):
                await watch.outlook.work_out(watch.budgets())
        write(await asyncio.to_thread(generate_latest, registry))
        return Exit.OK if watch.is_up() else Exit.NO_ANSWER
    told: str | None = None  # why it can't be written, as it was said last; "" if it can
    while True:
        text = await asyncio.to_thread(generate_latest, registry)
        why = await asyncio.to_thread(_put, Path(given["textfile"]), text)
        if why != (told or ""):
            complain(why or "it can be written again")
        if why and told is None:
            return Exit.FAILED
        told = why
        await asyncio.sleep(every)


def _put(path: Path, text: bytes) -> str:
    """Write the file whole, or say why not."""
    try:
        with atomic_write(path, replace=True) as file:
            file.write(text)
    except AtomicWriteError as error:
        return str(error)
    return ""
