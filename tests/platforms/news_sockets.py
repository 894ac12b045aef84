"""The web sockets of a server with a thread for each connection, for `RecordedPaperclip`."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

from websockets.datastructures import Headers
from websockets.http11 import Request
from websockets.server import ServerProtocol


class NewsSocket:
    """One web socket: its handler's thread reads, any thread sends."""

    def __init__(self, handler: BaseHTTPRequestHandler, company: str) -> None:
        """Accept the request of a handler; the answer goes out with the first `send`."""
        self.company = company
        self._protocol = ServerProtocol()
        self._connection = handler.connection
        self._lock = threading.Lock()
        request = Request(handler.path, Headers(handler.headers.items()))
        self._protocol.send_response(self._protocol.accept(request))

    def read_until_closed(self) -> None:
        with suppress(OSError):
            while data := self._connection.recv(65536):
                with self._lock:
                    self._protocol.receive_data(data)
                    self._protocol.events_received()
                    self._pass_on()

    def send(self, *messages: Any) -> None:
        with self._lock, suppress(OSError):
            for message in messages:
                self._protocol.send_text(json.dumps(message).encode())
            self._pass_on()

    def close(self) -> None:
        with self._lock, suppress(OSError):
            self._protocol.send_close(1001)
            self._pass_on()
            self._connection.shutdown(2)

    def _pass_on(self) -> None:
        for data in self._protocol.data_to_send():
            self._connection.sendall(data)


class NewsSockets:
    """All web sockets of one server."""

    def __init__(self) -> None:
        self.open: list[NewsSocket] = []
        self.opened: list[str] = []
        """The company of each that was ever opened."""

    def serve(self, handler: BaseHTTPRequestHandler, company: str) -> None:
        """Answer the request for a web socket, and serve it until it is closed."""
        socket = NewsSocket(handler, company)
        self.open.append(socket)
        self.opened.append(company)
        socket.send()
        socket.read_until_closed()
        self.open.remove(socket)
        handler.close_connection = True

    def tell(self, company: str, *messages: Any) -> None:
        """Send messages to all who follow a company."""
        for socket in [each for each in self.open if each.company == company]:
            socket.send(*messages)

    def close(self) -> None:
        """Close all that are open, as a server does that is stopped."""
        for socket in list(self.open):
            socket.close()
