"""The embedded platform as a real server on loopback: in a thread, or as a process of its own.

Tests see its request log and have a control path over HTTP:

    POST, DELETE  /_demo/faults     {"specs": ["tasks:hang"]}
    GET, DELETE   /_demo/requests   the request log
    GET, POST     /_demo/world      any of {"advance": 60, "revoke": "full"|"read",
                                    "restore": "full"|"read",
                                    "replace": {"which": "full"|"read", "key"}}

The control path is in no request log, no fault strikes it, and it needs the full key of the start
(also when that is revoked or replaced, or a revocation could not be taken back).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from email.utils import formatdate
from typing import Any, Self

import msgspec

from agentco_tui.demo.connection import HEAD_MOST, Answer, ClientConnection, Request
from agentco_tui.demo.faults import KINDS, FaultKind, Faults, break_off, spoiled
from agentco_tui.demo.interface import Interface, Keys
from agentco_tui.demo.shapes import SHAPES
from agentco_tui.demo.world import World
from agentco_tui.demo.world_state import RefusedError

_CONTROL = "/_demo/"
_PATIENCE = 10.0
_ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})


class Seen(msgspec.Struct, frozen=True):
    """One request. `status` is 0 if no answer left; `fault` names the fault that struck it."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]  # without Authorization and Cookie
    body: bytes
    status: int
    authorised: bool  # whether a valid key was sent
    operation: str | None
    """The operation of the interface, such as `approve`; None for an unknown path."""
    fault: str | None
    started: float  # monotonic seconds when the request was read
    took: float  # real seconds until the answer left


class RequestLog(deque[Seen]):
    """The last requests, oldest first."""

    def matching(self, operation: str) -> list[Seen]:
        return [seen for seen in self if seen.operation == operation]

    def __iter__(self) -> Iterator[Seen]:
        return iter(list(super().__iter__()))  # at once, whatever other threads add


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
        self.requests = RequestLog(maxlen=20_000)
        self.faults = Faults(faults)
        self.port = port
        self._interface = Interface(self.world, self.keys, SHAPES[shape])
        self._control_authorization = f"Bearer {self.full_key}"
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
            self._on_connection, sock=listener, backlog=2048, limit=HEAD_MOST
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
        if request.path.startswith(_CONTROL):
            status, told = 200, dict[str, Any]()
            try:
                told = self._control(request)
            except RefusedError as refusal:
                status, told = refusal.status, {"error": str(refusal)}
            except (ValueError, TypeError, KeyError) as error:
                status, told = 422, {"error": str(error)}
            headers = {"content-type": "application/json"}
            answer = Answer(status, headers, json.dumps(told).encode())
            await connection.send(answer.head() + answer.body)
            return
        started = time.monotonic()
        latency, fault = self.faults.choose(request)
        if latency and not await connection.pause(latency):
            self._note(request, 0, "latency", started)
            return
        answer = Answer(0, {})
        if fault is None or fault.applied == "after":
            answer = self._interface.answer(request)
        if fault and fault.kind == "status":
            answer = self._interface.refused(fault.number(500))
        date = formatdate(self.world.time(), usegmt=True)
        answer = answer.replaced(answer.body, date=date)
        answer = spoiled(fault, answer) if fault else answer
        struck = fault.kind if fault else "latency" if latency else None
        kind = KINDS[fault.kind] if fault else FaultKind()
        sent = 0 if kind.then and kind.part is None else answer.status
        self._note(request, sent, struck, started)
        if fault and kind.then:
            await break_off(connection, fault, answer)
        else:
            await connection.send(answer.head() + answer.body)

    def _note(self, request: Request, status: int, fault: str | None, started: float) -> None:
        """Note a request before the first byte leaves: whoever has an answer finds it noted."""
        authorization = request.headers.get("authorization")
        self.requests.append(
            Seen(
                request.method,
                request.path,
                request.query,
                tuple((k, v) for k, v in request.headers.items() if k not in _SECRET_HEADERS),
                request.body,
                status,
                authorised=self.keys.permission(authorization) is not None,
                operation=request.operation.name if request.operation else None,
                fault=fault,
                started=started,
                took=time.monotonic() - started,
            )
        )

    def _control(self, request: Request) -> dict[str, Any]:
        if request.headers.get("authorization") != self._control_authorization:
            raise RefusedError(401, "unauthorized", "the control path needs the full key")
        world, keys, faults, requests = self.world, self.keys, self.faults, self.requests
        sent = request.json() if request.method == "POST" else {}
        match request.path.removeprefix(_CONTROL):
            case "faults":
                if request.method == "DELETE":
                    faults.clear()
                for spec in sent["specs"] if request.method == "POST" else ():
                    faults.add(spec)
                return {"faults": len(faults.armed)}
            case "requests":
                if request.method == "DELETE":
                    requests.clear()
                told = [
                    {**msgspec.structs.asdict(seen), "body": seen.body.decode("utf-8", "replace")}
                    for seen in requests
                ]
                return {"count": len(requests), "requests": told}
            case "world":
                changes: dict[str, Callable[[Any], object]] = {
                    "advance": world.advance,
                    "revoke": keys.revoke,
                    "restore": keys.restore,
                    "replace": lambda told: keys.update({told["which"]: told["key"]}),
                }
                for name, value in sent.items():
                    changes[name](value)
                with world.living() as state:
                    return {
                        "tasks": dict(Counter(task.status for task in state.tasks.values())),
                        "applied": dict(world.applied),
                        "attempts": dict(world.attempts),
                    }
        raise RefusedError(404, "not_found", "no such path")


def serve(*, until_stdin_closes: bool = False, **options: Any) -> int:
    """Serve an `EmbeddedPlatform` of these options until SIGINT, SIGTERM or SIGHUP; the exit code.

    `until_stdin_closes` ends it with standard input too, for a parent that runs this as a child.
    Prints address and keys first. Raises ValueError for options that can't be served.
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
