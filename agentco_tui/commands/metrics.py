"""`agentco-tui metrics`: what the dashboard knows, in the OpenMetrics format, for Prometheus.

The format is written by prometheus_client, which the extra `metrics` brings. Whatever the platform
does, what was last known stays, and `agentco_feed_up` and `agentco_feed_age_seconds` say how old.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from agentco_tui.arguments import UsageError
from agentco_tui.atomic_write import AtomicWriteError, atomic_write
from agentco_tui.commands.naming import company_or_words
from agentco_tui.commands.running import Exit, complain, connected, running, write
from agentco_tui.commands.series import Watch
from agentco_tui.config import Given, Settings
from agentco_tui.live.feeds import FeedName, Query
from agentco_tui.live.history import History, HistoryError
from agentco_tui.state_folder import HISTORY_FILE, made_state_folder

SECONDS: Final = 25.0  # for the first answers, before anything is written
PATIENCE: Final = 10.0  # seconds for a scraper to put its question and take the answer

log = logging.getLogger(__name__)


def run(given: Given, env: Mapping[str, str]) -> int:
    """Print once, or serve or write until SIGINT, SIGTERM or SIGHUP; 3 if nothing was answered."""
    try:
        import prometheus_client  # noqa: F401, PLC0415 (an extra)
    except ImportError:
        raise UsageError(
            "metrics need the library prometheus_client: pip install 'agentco-tui[metrics]'"
        ) from None
    if given["listen"] and given["textfile"]:
        raise UsageError("--listen or --textfile, not both")
    with running(given, env) as settings:
        return asyncio.run(_tell(settings, given))


async def _tell(settings: Settings, given: Given) -> int:
    place: tuple[str, int] | None = given["listen"]
    path: str | None = given["textfile"]
    is_once = path is None and place is None
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    async with _watching(settings, given["series"], stop, is_once=is_once) as watch:
        if place is not None:
            try:
                server = await asyncio.start_server(partial(_serve, watch.text), *place)
            except OSError as error:
                raise UsageError(f"nothing can be served there: {error.strerror}") from None
            host, port = server.sockets[0].getsockname()[:2]
            host = f"[{host}]" if ":" in host else host
            complain(f"serving http://{host}:{port}/metrics")
            await stop.wait()
            server.close()
            return Exit.OK
        ended = asyncio.ensure_future(stop.wait())
        await asyncio.wait((watch.answered, ended), timeout=SECONDS, return_when="FIRST_COMPLETED")
        if path is None:
            with suppress(HistoryError, TimeoutError):
                async with asyncio.timeout(SECONDS):
                    await watch.outlook.work_out(watch.budgets())
            write(watch.text()[0])
            return Exit.OK if watch.is_up() else Exit.NO_ANSWER
        told: str | None = None
        while not stop.is_set():
            why = await asyncio.to_thread(_put, Path(path), watch.text()[0])
            if why != (told or ""):
                complain(why or "it can be written again")
            if why and (given["once"] or told is None):
                return Exit.FAILED
            told = why
            if given["once"]:
                return Exit.OK if watch.is_up() else Exit.NO_ANSWER
            await asyncio.wait((ended,), timeout=settings.refresh)
    return Exit.OK


def _put(path: Path, text: bytes) -> str:
    """Write the file whole, or say why not."""
    try:
        with atomic_write(path, replace=True) as file:
            file.write(text)
    except AtomicWriteError as error:
        return str(error)
    return ""


async def _serve(
    text: Callable[[], tuple[bytes, str]],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Answer one scrape. Whoever asks slowly, too much or nonsense is cut off."""
    try:
        with suppress(OSError, TimeoutError, EOFError, asyncio.LimitOverrunError):
            async with asyncio.timeout(PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                method, target = [*head.split(None, 2), b"", b""][:2]
                status, body, media = "404 Not Found", b"see /metrics\n", "text/plain"
                if method not in (b"GET", b"HEAD"):
                    status, body = "405 Method Not Allowed", b"GET only\n"
                elif target.partition(b"?")[0] == b"/metrics":
                    try:
                        status, (body, media) = "200 OK", text()
                    except Exception:
                        # A bug of ours in telling must not end what is told the next time.
                        log.exception("a scrape could not be answered")
                        status, body = "500 Internal Server Error", b"see the log\n"
                told = f"HTTP/1.1 {status}\r\nContent-Type: {media}\r\nConnection: close\r\n"
                writer.write(f"{told}Content-Length: {len(body)}\r\n\r\n".encode())
                writer.write(b"" if method == b"HEAD" else body)
                await writer.drain()
    finally:
        writer.close()


@asynccontextmanager
async def _watching(
    settings: Settings, most: int, stop: asyncio.Event, *, is_once: bool
) -> AsyncIterator[Watch]:
    """Poll, remember and look ahead, as the dashboard does, for as long as it lasts; a fault of
    ours in that sets `stop`, and is raised.
    """

    def over(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            stop.set()

    async with connected(settings) as client:
        company, history = settings.company, None
        if company is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(SECONDS):
                    company = await company_or_words(settings, client)
        if settings.history:
            with suppress(OSError):  # without a folder there is nothing to look ahead by
                path, redact = made_state_folder() / HISTORY_FILE, client.transport.key.redact
                about, size = (settings.profile, str(settings.base_url)), settings.history_mb
                history = History(path, *about, redact=redact, most_bytes=size * 1_000_000)
                history.on_trouble = complain
        feeds = set(FeedName) - {FeedName.TASKS}
        watch = Watch(settings, client, Query(company=company), history, feeds, most=most)
        if history is not None and not is_once:
            await watch.poller.behind.remember(history)
        under_way = [asyncio.create_task(each.run()) for each in (watch.poller, watch.outlook)]
        for task in under_way:
            task.add_done_callback(over)
        try:
            yield watch
        finally:
            for task in under_way:
                task.cancel()
            found = await asyncio.gather(*under_way, return_exceptions=True)
            if history is not None:
                await asyncio.to_thread(history.close, PATIENCE)
        for failure in found:
            if isinstance(failure, Exception):
                raise failure
