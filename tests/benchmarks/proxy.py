"""A proxy on loopback that makes a platform slow, lively, or free of cost.

    python -m tests.benchmarks.proxy UPSTREAM [--delay SECONDS] [--change SHARE] [--keep]

Each answer leaves `--delay` later. With `--change` the list of tasks is read from the platform
once, and every later answer to the same question differs from the one before in that share of its
records: the platform itself would take seconds to write 100,000 tasks anew. With `--keep` each GET
is sent to the platform once, and answered with the same bytes from then on: what the platform needs
to write its lists is not measured, and no other program is disturbed by it.

No answer has an ETag, so that each poll sends the whole list.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
from urllib.parse import urlsplit

END = b"\r\n\r\n"
COST = re.compile(rb'"cost":[^,}]*')


class Proxy:
    """One upstream, and what was last told of its tasks."""

    def __init__(self, upstream: str, delay: float, share: float, keeps: bool) -> None:
        parts = urlsplit(upstream)
        self.host, self.port = str(parts.hostname), int(parts.port or 80)
        self.delay = delay
        self.share = share
        self.keeps = keeps
        self.records: dict[bytes, list[bytes]] = {}
        self.kept_replies: dict[bytes, bytes] = {}
        self.chance = random.Random(7)
        self.turn = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection's requests until it is closed."""
        try:
            while True:
                head = await reader.readuntil(END)
                length = re.search(rb"(?i)content-length: *(\d+)", head)
                body = await reader.readexactly(int(length[1])) if length else b""
                reply = await self.answer(head, body)
                if self.delay:
                    await asyncio.sleep(self.delay)
                writer.write(reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, head: bytes, body: bytes) -> bytes:
        """The platform's answer, or a livelier one."""
        method, target, _ = head.split(b" ", 2)
        if self.keeps and method == b"GET":
            if target not in self.kept_replies:
                self.kept_replies[target] = reply(*await self.ask(head, body))
            return self.kept_replies[target]
        if self.share and target.startswith(b"/api/tasks"):
            return await self.changed(target, head)
        status, content = await self.ask(head, body)
        return reply(status, content)

    async def changed(self, target: bytes, head: bytes) -> bytes:
        """The list with a share of its records changed."""
        known = self.records.get(target)
        if known is None:
            _, content = await self.ask(head, b"")
            known = self.records[target] = content[1:-1].split(b"},{")
        else:
            self.turn += 1
            for at in self.chance.sample(range(len(known)), int(len(known) * self.share)):
                known[at] = COST.sub(b'"cost":%d.25' % self.turn, known[at])
        return reply(b"200 OK", b"[" + b"},{".join(known) + b"]")

    async def ask(self, head: bytes, body: bytes) -> tuple[bytes, bytes]:
        """What the platform says, as its status and its body."""
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=1 << 20)
        writer.write(head.replace(END, b"\r\nConnection: close" + END) + body)
        answered = await reader.readuntil(END)
        length = re.search(rb"(?i)content-length: *(\d+)", answered)
        content = await (reader.readexactly(int(length[1])) if length else reader.read())
        writer.close()
        return answered.split(b"\r\n")[0].split(b" ", 1)[1], content


def reply(status: bytes, content: bytes) -> bytes:
    """An HTTP answer with this body."""
    return b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        status,
        len(content),
        content,
    )


async def main() -> None:
    """Serve until killed; the first line printed is the address."""
    parser = argparse.ArgumentParser()
    parser.add_argument("upstream")
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--change", type=float, default=0.0)
    parser.add_argument("--keep", action="store_true")
    wanted = parser.parse_args()
    proxy = Proxy(wanted.upstream, wanted.delay, wanted.change, wanted.keep)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=1 << 20)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
