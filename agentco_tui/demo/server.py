"""The embedded platform as a real HTTP server on loopback, in a thread or in its own process.

It takes the place of the real platform, the service that runs companies of AI agents. The command
`agentco-tui demo` runs it for users; tests start it in a thread. `World` simulates companies,
agents and tasks, `RestApi` answers requests to it, and `Faults` decides which answers fail.
"""

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
from typing import Self

from agentco_tui.demo.connection import LONGEST_HEAD, ClientConnection
from agentco_tui.demo.faults import Fault, Faults
from agentco_tui.demo.http_messages import Answer, Request
from agentco_tui.demo.renderer import Renderer
from agentco_tui.demo.rest_api import Keys, RestApi
from agentco_tui.demo.world import World

_PATIENCE = 10.0
"""Seconds that the server's thread may take to start or to stop."""
_ENDING_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class EmbeddedPlatform:
    """A platform on 127.0.0.1; a context manager that starts and stops it.

    `port` 0 lets the system choose one, which is used again after `stop` and `start`.
    """

    def __init__(
        self,
        world: World,
        keys: Keys,
        faults: Faults,
        *,
        renderer: Renderer | None = None,
        port: int = 0,
    ) -> None:
        """`renderer` writes the answers; None for the usual style of JSON."""
        self.world = world
        self.keys = keys
        self.faults = faults
        self.port = port
        self._api = RestApi(world, keys, renderer or Renderer())
        self._connections: set[ClientConnection] = set()
        self._errors: list[Exception] = []
        self._ending = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def full_key(self) -> str:
        """The API key that may do everything."""
        return self.keys["full"]

    @property
    def read_key(self) -> str:
        """The API key that may only read."""
        return self.keys["read"]

    @property
    def base_url(self) -> str:
        """The address, without a slash at its end; the port is 0 before the first start."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serve in a thread, and return once connections are accepted.

        Raises OSError if the port is taken.
        """
        if self._thread is not None:
            raise RuntimeError("the platform is running already")
        # asyncio sets TCP_NODELAY only on sockets whose protocol is named.
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
        """Cut all connections and end the thread; the world stays unchanged."""
        thread = self._thread
        loop = self._loop
        if thread is None or loop is None:
            return
        loop.call_soon_threadsafe(self._ending.set)
        thread.join(_PATIENCE)
        if thread.is_alive():
            raise RuntimeError("the embedded platform did not stop")
        self._thread = None
        self._loop = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Stop, and raise an error of the platform itself, unless there is another error."""
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
        # Connections that are just being accepted are tasks, too: none may be left open.
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
            while request := await connection.read_request():
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
        """Answer one request, as the faults in force allow."""
        latency, fault = self.faults.choose(request)
        if latency and not await connection.pause(latency):
            return
        answer = self.answer(request, fault)
        if fault is None:
            await connection.send(answer.head() + answer.body)
        else:
            await self.faults.kinds[fault.kind].send(fault, answer, connection)

    def answer(self, request: Request, fault: Fault | None) -> Answer:
        """Carry out a request, unless the fault prevents it; the answer as the fault changes it.

        A fault that breaks the connection does so only when the answer is sent.
        """
        answer = Answer(0, {})
        if fault is None or fault.applied == "after":
            answer = self._api.answer(request)
        if fault is not None and fault.kind == "status":
            answer = self._api.error(int(fault.value or 0))
        date = formatdate(self.world.time(), usegmt=True)
        answer = answer.replaced(answer.body, date=date)
        if fault is None:
            return answer
        return self.faults.kinds[fault.kind].change(fault, answer)


def serve(
    platform: EmbeddedPlatform,
    *,
    until_stdin_closes: bool = False,
    on_start: Callable[[World, str], None] | None = None,
) -> int:
    """Run a platform until SIGINT, SIGTERM or SIGHUP, and return the exit code.

    Prints address and keys first. With `until_stdin_closes` it also ends with standard input, for a
    parent process that runs it as a child. `on_start` is called with the world and the address.
    Raises ValueError if the port is taken.
    """
    # Blocked before the first thread begins, so that only `sigwait` below receives them.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING_SIGNALS)
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
        signal.sigwait(_ENDING_SIGNALS)
    except BrokenPipeError:
        # The reader of standard output is gone; the flush at Python's end must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise ValueError(f"can't use port {platform.port}: {reason}") from None
    finally:
        platform.stop()
        while signal.sigpending() & _ENDING_SIGNALS:
            signal.sigwait(_ENDING_SIGNALS)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return 0


def _end_with_stdin() -> None:
    """Send SIGTERM to this process once its standard input is closed."""
    with contextlib.suppress(OSError):  # it is closed already
        while os.read(0, 4096):
            continue
    os.kill(os.getpid(), signal.SIGTERM)
