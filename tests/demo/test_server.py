"""The server as a thread and as a process: start, stop, restart, signals, refusals."""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands import demo
from agentco_tui.demo.server import serve
from tests.demo.conftest import NOW
from tests.demo.wire import ask
from tests.platform import EmbeddedPlatform

SERVE = (sys.executable, "-W", "error", "-m", "agentco_tui", "demo", "--serve")


@contextmanager
def process(*options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """`agentco-tui demo --serve` as a process, and the addresses and keys that it announced."""
    child = subprocess.Popen(
        [*SERVE, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdout is not None
        told = {}
        for _ in range(3):
            line = child.stdout.readline()
            found = re.fullmatch(r"(address|full key|read key) +(\S+)\n", line)
            assert found, line
            told[found[1]] = found[2]
        try:
            yield child, told
        finally:
            child.kill()


def test_restart_on_the_same_port_keeps_the_world() -> None:
    threads = threading.active_count()
    platform = EmbeddedPlatform(speed=0, now=NOW)
    with platform:
        task = platform.world.tasks(status="pending")[0]
        assert ask(platform, f"/api/tasks/{task.id}/approve", "POST").status == 200
        port = platform.port
        platform.stop()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=5)
        platform.start()
        assert platform.port == port
        assert ask(platform, f"/api/tasks/{task.id}/approve", "POST").status == 409
        assert platform.world.applied[task.id] == 1
        with pytest.raises(RuntimeError, match="running already"):
            platform.start()
    platform.stop()
    assert threading.active_count() <= threads


def test_stop_cuts_what_hangs() -> None:
    with EmbeddedPlatform(speed=0, now=NOW, faults=("tasks:hang", "agents:endless")) as platform:
        socks = []
        for path in ("/api/tasks", "/api/agents"):
            sock = socket.create_connection(("127.0.0.1", platform.port), timeout=5)
            key = platform.full_key
            sock.sendall(
                f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
            )
            socks.append(sock)
        assert socks[1].recv(10)
        platform.stop()  # comes back only when both have ended, which by themselves never do
        for sock in socks:
            sock.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_serve_until_a_signal(number: signal.Signals) -> None:
    options = ("--seed", "3", "--speed", "0", "--fault", "alerts:status=503")
    with process(*options) as (child, told):
        headers = {"Authorization": f"Bearer {told['full key']}"}
        with httpx.Client(base_url=told["address"], headers=headers, trust_env=False) as http:
            assert len(http.get("/api/companies").json()) == 3
            assert http.get("/api/budget/alerts").status_code == 503
            read = {"Authorization": f"Bearer {told['read key']}"}
            assert http.post("/api/tasks", headers=read).status_code == 403
        child.send_signal(number)
        assert child.wait(10) == 0
        assert child.stdout is not None
        assert child.stderr is not None
        hint = child.stdout.read()
        assert f"AGENTCO_BASE_URL={told['address']}" in hint
        assert f"AGENTCO_API_KEY={told['full key']}" in hint
        assert child.stderr.read() == ""


def test_serve_to_a_reader_that_has_gone() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as out:
        child = subprocess.run(SERVE, stdout=out, stderr=subprocess.PIPE, check=False)
    assert (child.returncode, child.stderr) == (0, b"")


def test_the_port_is_taken() -> None:
    why = re.escape(os.strerror(errno.EADDRINUSE))
    with (
        EmbeddedPlatform(speed=0) as platform,
        pytest.raises(ValueError, match=f"can't use port {platform.port}: {why}"),
    ):
        serve(EmbeddedPlatform(speed=0, port=platform.port))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"fault": ("tasks:explode",)}, "can't read the fault"),
        ({"companies": -1}, "can't be negative"),
        ({"speed": -1}, "speed must be"),
    ],
)
def test_bad_option(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        demo.serve(options)
