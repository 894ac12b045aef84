"""The embedded platform as a real server on loopback: in a thread, or as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from email.utils import formatdate
from typing import Any, Self

from agentco_tui.demo.connection import LONGEST_HEAD, ClientConnection
from agentco_tui.demo.faults import KINDS, Fault, Faults, break_off, spoiled
from agentco_tui.demo.http_messages import Answer, Request
from agentco_tui.demo.interface import Interface, Keys
from agentco_tui.demo.shapes import SHAPES
from agentco_tui.demo.world import World

_PATIENCE = 10.0
_ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class EmbeddedPlatform:
    """A platform over a living world, on 127.0.0.1; a context manager.

    `shape` is one of `agentco_tui.demo.shapes.SHAPES`, `faults` are specs as `--fault` takes
    them, `port` 0 lets the system choose one (kept over `stop` and `start`), `world` is as `World`
    takes it. Raises ValueError for what is none of these; `start` raises OSError if the port is
    taken.
    """

    def __init__(
        self,
        seed: int = 7,
        *,
        shape: str = "plain",
        faults: tuple[str, ...] = (),
        port: int = 0,
        **world: Any,
    ) -> None:
        if shape not in SHAPES:
            raise ValueError(f"unknown shape {shape!r}: choose one of {', '.join(SHAPES)}")
        self.world = World(seed, numeric_ids=SHAPES[shape].ids == "numbers", **world)
        self.keys = Keys(seed)
        self.faults = Faults(faults)
        self.port = port
        self._interface = Interface(self.world, self.keys, SHAPES[shape])
        self._connections: set[ClientConnection] = set()
        self._errors: list[Exception] = []
        self._ending = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def full_key(self) -> str:
        return self.keys["full"]

    @property
    def read_key(self) -> str:
        return self.keys["read"]

    @property
    def base_url(self) -> str:
        """The address, without a slash at its end; the port is 0 before the first start."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serve from a thread; returns once connections are accepted. OSError: port taken."""
        if self._thread is not None:
            raise RuntimeError("the platform is running already")
        # asyncio sends at once (TCP_NODELAY) only where the protocol is named.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", self.port))
            listener.listen(2048)
        except OSError:
            listener.close()
            raise
        self.port = listener.getsockname()[1]
        ready = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._run(listener, ready)),
            name="embedded-platform",
            daemon=True,
        )
        self._thread.start()
        if not ready.wait(_PATIENCE):
            raise RuntimeError("the embedded platform did not start")

    def stop(self) -> None:
        """Cut all connections and end the thread; the world stays as it is."""
        thread, loop = self._thread, self._loop
        if thread is None or loop is None:
            return
        loop.call_soon_threadsafe(self._ending.set)
        thread.join(_PATIENCE)
        if thread.is_alive():
            raise RuntimeError("the embedded platform did not stop")
        self._thread = self._loop = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Stop it; an error of the platform's own comes up here if nothing else has."""
        self.stop()
        if error is None and self._errors:
            raise self._errors[0]

    async def _run(self, listener: socket.socket, ready: threading.Event) -> None:
        self._ending = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(
            self._on_connection, sock=listener, backlog=2048, limit=LONGEST_HEAD
        )
        ready.set()
        await self._ending.wait()
        # Those that are only just being taken in are tasks, too: nothing must be left open.
        self._loop.remove_reader(listener)
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for connection in self._connections:
                connection.abort()
            await asyncio.wait(others, timeout=0.05)
        server.close()

    async def _on_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        connection = ClientConnection(reader, writer)
        self._connections.add(connection)
        try:
            while request := await connection.request():
                await self.serve(connection, request)
                if request.headers.get("connection", "").lower() == "close":
                    break
        except ConnectionError:
            pass  # the client has gone
        except Exception as error:
            self._errors.append(error)
        finally:
            self._connections.discard(connection)
            writer.close()

    async def serve(self, connection: ClientConnection, request: Request) -> None:
        """Answer one request, or let a fault strike it."""
        latency, fault = self.faults.choose(request)
        if latency and not await connection.pause(latency):
            return
        answer = self.answered(request, fault)
        if fault and KINDS[fault.kind].then:
            await break_off(connection, fault, answer)
        else:
            await connection.send(answer.head() + answer.body)

    def answered(self, request: Request, fault: Fault | None) -> Answer:
        """What a request is answered with, as the fault leaves it."""
        answer = Answer(0, {})
        if fault is None or fault.applied == "after":
            answer = self._interface.answer(request)
        if fault and fault.kind == "status":
            answer = self._interface.refused(fault.number(500))
        date = formatdate(self.world.time(), usegmt=True)
        answer = answer.replaced(answer.body, date=date)
        return spoiled(fault, answer) if fault else answer


def serve(
    *,
    until_stdin_closes: bool = False,
    on_start: Callable[[World, str], None] | None = None,
    **options: Any,
) -> int:
    """Serve an `EmbeddedPlatform` of these options until SIGINT, SIGTERM or SIGHUP; the exit code.

    `until_stdin_closes` ends it with standard input too, for a parent that runs this as a child;
    `on_start` is called with its world and address. Prints address and keys first. Raises
    ValueError for options that can't be served.
    """
    platform = EmbeddedPlatform(**options)
    # Blocked before the first thread begins, so that only the wait below takes them.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        platform.start()
        sys.stdout.write(
            f"address   {platform.base_url}\n"
            f"full key  {platform.full_key}\n"
            f"read key  {platform.read_key}\n\n"
            "in another terminal:\n"
            f"  AGENTCO_BASE_URL={platform.base_url} AGENTCO_API_KEY={platform.full_key}"
            " agentco-tui\n"
        )
        sys.stdout.flush()
        if until_stdin_closes:
            threading.Thread(target=_end_with_stdin, daemon=True).start()
        if on_start is not None:
            on_start(platform.world, platform.base_url)
        signal.sigwait(_ENDING)
    except BrokenPipeError:
        # Whoever started this is gone; what Python flushes at its end must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        why = f"can't use port {platform.port}: {os.strerror(error.errno or 0)}"
        raise ValueError(why) from None
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
