"""The embedded platform as a process of its own, as a person starts it in another terminal."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any, Protocol, Self

from tests.terminal.pty_session import REPOSITORY, clean_environment

PATIENCE = 30.0
"""Seconds that a request to the platform may take before the test fails."""

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class PlatformProcess:
    """`python -m tests.platform` with the given arguments; a context manager.

    Keys follow from the seed, so they are the same after `kill` and `start`; the world begins anew.
    """

    def __init__(self, *arguments: str, speed: float = 0.0) -> None:
        self._arguments = (*arguments, "--speed", f"{speed:g}")
        self.port = 0
        self.base_url = ""
        self.full_key = ""
        self.read_key = ""
        self._child: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start it, on the same port as before if there was one, and wait until it serves."""
        child = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.platform"),
                *("--port", str(self.port), *self._arguments),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=clean_environment(),
            cwd=REPOSITORY,
            text=True,
        )
        self._child = child
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(3)]
        assert all(lines), "the platform did not start"
        said = dict(line.strip().rsplit(None, 1) for line in lines)
        self.base_url = said["address"]
        self.full_key = said["full key"]
        self.read_key = said["read key"]
        self.port = int(self.base_url.rpartition(":")[2])

    def kill(self) -> None:
        """End it with SIGKILL; nothing happens if it is gone."""
        child, self._child = self._child, None
        if child is not None:
            child.send_signal(signal.SIGKILL)
            child.wait()
            assert child.stdout is not None
            child.stdout.close()

    # What a test may do from outside

    def reset(self) -> None:
        """Begin again with the world, keys, faults and an empty request log of the start.

        It is started if it does not run.
        """
        if self._child is None:
            self.start()
        else:
            self._ask("POST", "/_demo/reset", {})

    def fault(self, *specs: str) -> None:
        self._ask("POST", "/_demo/faults", {"specs": list(specs)})

    def clear_faults(self) -> None:
        self._ask("DELETE", "/_demo/faults")

    def change(self, **what: Any) -> None:
        """Change the world: keys, time, or what another operator does; see the control path."""
        self._ask("POST", "/_demo/world", what)

    def world(self) -> dict[str, Any]:
        """What became of the world: tasks by status, approvals `applied` and attempted."""
        return dict(self._ask("GET", "/_demo/world"))

    def requests(self) -> list[dict[str, Any]]:
        return list(self._ask("GET", "/_demo/requests")["requests"])

    def forget_requests(self) -> None:
        self._ask("DELETE", "/_demo/requests")

    def api(self, path: str) -> Any:
        return self._ask("GET", path)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            self.base_url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.full_key}"},
        )
        with _OPENER.open(request, timeout=PATIENCE) as answer:
            return json.loads(answer.read())


class Served(Protocol):
    """Where a platform is, and the key to all of it."""

    @property
    def base_url(self) -> str: ...
    @property
    def full_key(self) -> str: ...


def own_folders(folder: Path) -> dict[str, str | None]:
    """Home, config and state below `folder`, so that no test sees a person's own."""
    return {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_STATE_HOME": str(folder / "state"),
    }


def settings(platform: Served, folder: Path, key: str | None = None) -> dict[str, str | None]:
    """The environment of a program on this platform whose own files lie below `folder`."""
    key = platform.full_key if key is None else key
    own = own_folders(folder)
    return {**own, "AGENTCO_BASE_URL": platform.base_url, "AGENTCO_API_KEY": key}
