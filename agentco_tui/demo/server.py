"""The embedded platform as a real server on loopback: in a thread, or as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from agentco_tui.demo.control import Control
from agentco_tui.demo.faults import Faults
from agentco_tui.demo.front import Front, RequestLog
from agentco_tui.demo.interface import Interface
from agentco_tui.demo.operations import Keys
from agentco_tui.demo.shapes import ALL
from agentco_tui.demo.strikes import TRANSPORT
from agentco_tui.demo.world import World

_PATIENCE = 10.0
_ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class _Server(uvicorn.Server):
    """uvicorn, ended from outside at once: open connections are cut, as a killed platform's are."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ending = asyncio.Event()
        self.accepting = threading.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the business of the process, not of this thread."""
        yield

    async def main_loop(self) -> None:
        """Wait for the end without a tick."""
        self.accepting.set()
        await self.ending.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the listener, cut what is open, and wait until nothing runs."""
        loop = asyncio.get_running_loop()
        for server in self.servers:
            for listener in server.sockets:
                loop.remove_reader(listener)
        await self._cut_all()
        for server in self.servers:
            server.close()
        for sock in sockets or []:
            sock.close()
        for server in self.servers:
            await server.wait_closed()

    async def _cut_all(self) -> None:
        """Cut all connections, and wait until none is left.

        Those that are only just being taken in are tasks of asyncio's. They become known to uvicorn
        a turn of the loop later, and would be left open if their server was closed by then.
        """
        me = asyncio.current_task()
        while (others := asyncio.all_tasks() - {me}) or self.server_state.connections:
            for connection in list(self.server_state.connections):
                connection.transport.abort()
            if others:
                await asyncio.wait(others, timeout=0.05)
            else:
                await asyncio.sleep(0)


class _Protocol(H11Protocol):
    """uvicorn's protocol, which lets the application get at the connection itself."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        inner = self.app

        async def with_transport(scope: Any, receive: Any, send: Any) -> None:
            scope[TRANSPORT] = self.transport
            await inner(scope, receive, send)

        self.app = with_transport


class EmbeddedPlatform:
    """A platform over a living world, on 127.0.0.1; a context manager.

    `shape` is one of `agentco_tui.demo.shapes.SHAPES`, `faults` are specs as `--fault` takes
    them, `port` 0 lets the system choose one (kept over `stop` and `start`). `now` fixes the
    start of the world's clock in seconds since 1970 UTC. Raises ValueError for an unknown shape
    or a bad fault; `start` raises OSError if the port is taken.
    """

    def __init__(
        self,
        seed: int = 7,
        *,
        companies: int = 3,
        agents: int | None = None,
        tasks: int | None = None,
        speed: float = 1.0,
        shape: str = "plain",
        faults: tuple[str, ...] = (),
        port: int = 0,
        now: float | None = None,
        full_key: str | None = None,
        read_key: str | None = None,
        etag: bool = False,
    ) -> None:
        if shape not in ALL:
            raise ValueError(f"unknown shape {shape!r}: choose one of {', '.join(ALL)}")
        self.world = World(
            seed,
            companies=companies,
            agents=agents,
            tasks=tasks,
            speed=speed,
            now=now,
            numeric_ids=ALL[shape].ids == "numbers",
        )
        self.keys = Keys(seed, full_key, read_key)
        self.requests = RequestLog()
        self.port = port
        interface = Interface(self.world, self.keys, ALL[shape], etag=etag)
        self.faults = Faults(faults)
        control = Control(self.world, self.keys, self.faults, self.requests)
        self._app = Front(interface, control.answer, self.faults, self.requests)
        self._server: _Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def full_key(self) -> str:
        """The key that may do everything."""
        return self.keys.full

    @property
    def read_key(self) -> str:
        """The key that may only read."""
        return self.keys.read

    @property
    def base_url(self) -> str:
        """The address, without a slash at its end; the port is 0 before the first start."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def running(self) -> bool:
        """Whether it accepts connections."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Serve from a thread; returns once connections are accepted. OSError: port taken."""
        if self._thread is not None:
            raise RuntimeError("the platform is running already")
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", self.port))
            listener.listen(2048)
        except (OSError, OverflowError):
            listener.close()
            raise
        self.port = listener.getsockname()[1]
        ready = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(listener, ready), name="embedded-platform", daemon=True
        )
        self._thread.start()
        if not ready.wait(_PATIENCE) or self._server is None:
            raise RuntimeError("the embedded platform did not start")
        self._server.accepting.wait(_PATIENCE)

    def stop(self) -> None:
        """Cut all connections and end the thread; the world stays as it is."""
        thread, loop, server = self._thread, self._loop, self._server
        if thread is None:
            return
        if loop is not None and server is not None and not loop.is_closed():
            with contextlib.suppress(RuntimeError):  # the loop has just ended by itself
                loop.call_soon_threadsafe(server.ending.set)
        thread.join(_PATIENCE)
        if thread.is_alive():
            raise RuntimeError("the embedded platform did not stop")
        self._thread = self._loop = self._server = None

    def revoke_key(self, which: str = "full") -> None:
        """Make the `full` or the `read` key invalid from now on."""
        self.keys.revoke(which)

    def replace_key(self, key: str, which: str = "full") -> None:
        """Let `key` be the `full` or the `read` key from now on, in place of the one before it."""
        self.keys.replace(which, key)

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it; an error of the platform's own comes up here if nothing else has."""
        self.stop()
        if error is None and self._app.errors:
            raise self._app.errors[0]

    def _run(self, listener: socket.socket, ready: threading.Event) -> None:
        async def serve() -> None:
            config = uvicorn.Config(
                self._app,
                http=_Protocol,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                date_header=False,
                timeout_keep_alive=75,
            )
            self._server = _Server(config)
            self._loop = asyncio.get_running_loop()
            ready.set()
            await self._server.serve(sockets=[listener])

        try:
            asyncio.run(serve())
        finally:
            ready.set()
            listener.close()


def serve(*, host: str = "127.0.0.1", until_stdin_closes: bool = False, **options: Any) -> int:
    """Serve an `EmbeddedPlatform` of these options until SIGINT, SIGTERM or SIGHUP; the exit code.

    On loopback only. `until_stdin_closes` ends it with standard input too, for a parent that runs
    this as a child. Prints address and keys first. 0 after a signal, 2 for options that can't be
    served.
    """
    if host not in {"127.0.0.1", "localhost"}:
        return _refuse(f"agentco-tui demo serves on loopback only, not on {host}")
    try:
        platform = EmbeddedPlatform(**options)
    except ValueError as error:
        return _refuse(f"agentco-tui demo: {error}")
    # Blocked before the first thread begins, so that only the wait below takes them.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        platform.start()
        _announce(platform)
        if until_stdin_closes:
            threading.Thread(target=_end_with_stdin, daemon=True).start()
        signal.sigwait(_ENDING)
    except BrokenPipeError:
        # Whoever started this is gone; what Python flushes at its end must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        return _refuse(f"agentco-tui demo: can't use port {platform.port}: {reason}")
    finally:
        platform.stop()
        while signal.sigpending() & _ENDING:
            signal.sigwait(_ENDING)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return 0


def _end_with_stdin() -> None:
    with contextlib.suppress(OSError):  # it is closed already
        while os.read(0, 4096):
            continue
    os.kill(os.getpid(), signal.SIGTERM)


def _refuse(line: str) -> int:
    sys.stderr.write(line + "\n")
    return 2


def _announce(platform: EmbeddedPlatform) -> None:
    lines = (
        f"address   {platform.base_url}",
        f"full key  {platform.full_key}",
        f"read key  {platform.read_key}",
        "",
        "in another terminal:",
        f"  AGENTCO_BASE_URL={platform.base_url} AGENTCO_API_KEY={platform.full_key} agentco-tui",
    )
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
