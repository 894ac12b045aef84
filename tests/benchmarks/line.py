"""A slow line: a TCP relay on loopback that delays all bytes and limits their rate.

    python -m tests.benchmarks.line PORT [--delay SECONDS] [--rate BYTES]

It relays connections to PORT. Each way, bytes arrive `--delay` later, and at most `--rate` of them
a second. The first line printed is the port to connect to.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import dataclass

CHUNK = 1_448
"""Bytes that travel together, as in a packet on an Ethernet."""
BUFFERED = 256
"""Chunks on their way; then the sender has to wait, as for any line."""


@dataclass(frozen=True)
class Line:
    """A line to a port, slow each way."""

    port: int
    delay: float
    rate: float

    async def relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay one connection until one of its ends is closed."""
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.port)
        ways = [
            asyncio.create_task(self.carry(reader, far_writer)),
            asyncio.create_task(self.carry(far_reader, writer)),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        for end in (writer, far_writer):
            end.close()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry bytes one way until they end."""
        travelling: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(BUFFERED)
        arriving = asyncio.create_task(self.deliver(travelling, writer))
        loop = asyncio.get_running_loop()
        sent_at = loop.time()
        try:
            while chunk := await reader.read(CHUNK):
                # A chunk is sent once the one before it is, and arrives as much later as all do.
                sent_at = max(sent_at, loop.time()) + len(chunk) / self.rate
                await travelling.put((sent_at + self.delay, chunk))
            await travelling.put((sent_at + self.delay, b""))
            await arriving
        except ConnectionError:
            pass
        finally:
            arriving.cancel()

    async def deliver(
        self, travelling: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter
    ) -> None:
        """Write each chunk when it arrives; an empty one ends it."""
        loop = asyncio.get_running_loop()
        while True:
            arrives_at, chunk = await travelling.get()
            await asyncio.sleep(arrives_at - loop.time())
            if not chunk:
                return
            writer.write(chunk)
            await writer.drain()


async def main() -> None:
    """Relay until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--delay", type=float, default=0.05)
    parser.add_argument("--rate", type=float, default=64_000)
    wanted = parser.parse_args()
    line = Line(wanted.port, wanted.delay, wanted.rate)
    server = await asyncio.start_server(line.relay, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
