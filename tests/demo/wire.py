"""A client without any help: one request on a bare socket, and the bytes that came back."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from agentco_tui.demo.server import EmbeddedPlatform


@dataclass(frozen=True)
class Wire:
    """What came back: the bytes, and how the connection ended (fin, reset or silence)."""

    data: bytes
    end: str

    @property
    def status(self) -> int:
        return int(self.data.split(b" ", 2)[1])

    @property
    def head(self) -> str:
        return self.data.partition(b"\r\n\r\n")[0].decode("latin-1").lower()

    @property
    def body(self) -> bytes:
        return self.data.partition(b"\r\n\r\n")[2]

    def header(self, name: str) -> str | None:
        for line in self.head.split("\r\n")[1:]:
            key, _, value = line.partition(": ")
            if key == name.lower():
                return value
        return None


def ask(
    platform: EmbeddedPlatform,
    path: str,
    method: str = "GET",
    body: bytes = b"",
    *,
    silence: float = 5.0,
    most: int = 4_000_000,
    key: str | None = None,
) -> Wire:
    """Send one request and read to the end, to `most` bytes, or until nothing comes so long."""
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {key or platform.full_key}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", platform.port), timeout=silence) as sock:
        sock.sendall(head.encode() + body)
        data = bytearray()
        while len(data) < most:
            try:
                piece = sock.recv(65_536)
            except TimeoutError:
                return Wire(bytes(data), "silence")
            except ConnectionResetError:
                return Wire(bytes(data), "reset")
            if not piece:
                return Wire(bytes(data), "fin")
            data += piece
    return Wire(bytes(data), "more")
