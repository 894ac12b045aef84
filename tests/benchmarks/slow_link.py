"""A line to the platform on which every byte travels for a while, each way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def slow_link(port: int, one_way: float) -> AsyncIterator[int]:
    """A port of this machine that leads to `port` with `one_way` seconds of delay.

    Connecting takes as long as on a real line, too: a round trip before the first byte goes out.
    """
    open_ones: set[asyncio.Task[None]] = set()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Bytes arrive `one_way` after they were sent, however many are under way."""
        loop = asyncio.get_running_loop()
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due, data = await under_way.get()
                await asyncio.sleep(due - loop.time())
                if not data:
                    break
                writer.write(data)
                await writer.drain()
            if writer.can_write_eof():
                writer.write_eof()

        delivering = asyncio.create_task(deliver())
        try:
            data = b"-"
            while data:
                data = await reader.read(65_536)
                under_way.put_nowait((loop.time() + one_way, data))
            await delivering
        except OSError:
            return
        finally:
            delivering.cancel()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        here = asyncio.current_task()
        assert here is not None
        open_ones.add(here)
        try:
            # The kernel answered the SYN at once; on the line it would have taken a round trip.
            await asyncio.sleep(2 * one_way)
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(carry(reader, there_writer), carry(there_reader, writer))
            there_writer.close()
        except asyncio.CancelledError:
            return  # the end of the benchmark; asyncio would print it as an error
        finally:
            open_ones.discard(here)
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tuple(open_ones):
            task.cancel()
        await asyncio.gather(*open_ones, return_exceptions=True)
