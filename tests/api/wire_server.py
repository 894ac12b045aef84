"""A server that sends exactly the bytes a test wants, and keeps exactly the bytes it was sent."""

from __future__ import annotations

import asyncio
import ssl
import struct
from collections.abc import Awaitable, Callable
from socket import SO_LINGER, SOL_SOCKET
from typing import Self

Answer = bytes | Callable[["Exchange"], Awaitable[None]]


class Exchange:
    """One connection as the answering side sees it."""

    def __init__(
        self, server: WireServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.server = server
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """Close so that the other side sees a reset, not an end."""
        self.writer.get_extra_info("socket").setsockopt(
            SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0)
        )
        self.writer.transport.abort()

    async def until_left(self) -> None:
        """Wait until the other side hangs up."""
        while await self.reader.read(65536):
            pass


class WireServer:
    """Answers the first request with the first answer, and so on; the last one stays.

    `at_once` speaks before any request has come.
    """

    def __init__(
        self,
        *answers: Answer,
        keep: bool = False,
        tls: ssl.SSLContext | None = None,
        at_once: Callable[[Exchange], Awaitable[None]] | None = None,
    ) -> None:
        self.answers = list(answers)
        self.at_once = at_once
        self.keep = keep
        self.tls = tls
        self.requests: list[bytes] = []
        self.connections = 0
        self.port = 0
        self._left: set[asyncio.Task[None]] = set()
        self._came = asyncio.Condition()

    @property
    def base(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def heads(self) -> list[str]:
        """The first line of each request."""
        return [request.split(b"\r\n", 1)[0].decode() for request in self.requests]

    async def asked(self, count: int) -> None:
        """Wait until `count` whole requests have come."""
        async with self._came:
            await self._came.wait_for(lambda: len(self.requests) >= count)

    async def empty(self) -> None:
        """Wait until every connection has been closed by the other side."""
        await asyncio.gather(*self._left)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._left.add(task)
        self.connections += 1
        try:
            if self.at_once:
                await self.at_once(Exchange(self, reader, writer))
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = 0
                for line in head.split(b"\r\n"):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                self.requests.append(head + await reader.readexactly(length))
                async with self._came:
                    self._came.notify_all()
                answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                if isinstance(answer, bytes):
                    writer.write(answer)
                    await writer.drain()
                else:
                    await answer(Exchange(self, reader, writer))
                if not self.keep or writer.is_closing():
                    return
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            # The client left: what it sent until then is what the test looks at.
            return
        finally:
            writer.close()
            self._left.discard(task)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._server.close()
        for task in list(self._left):
            task.cancel()
        await asyncio.gather(*self._left, return_exceptions=True)
        await self._server.wait_closed()


answering = WireServer
"""A server for one test, with these answers."""


def http(
    body: bytes = b"{}",
    status: int = 200,
    *,
    phrase: str = "OK",
    length: int | None = None,
    headers: dict[str, str] | None = None,
) -> bytes:
    """A plain answer; `length` for one that lies about its length."""
    lines = {"Content-Type": "application/json", **(headers or {})}
    lines.setdefault("Content-Length", str(len(body) if length is None else length))
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} {phrase}\r\n{head}\r\n".encode("latin-1") + body
