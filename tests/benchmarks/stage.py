"""What the measurements share: platforms, proxies, programs in terminals, numbers from /proc."""

from __future__ import annotations

import atexit
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agentco_tui.api.credentials import BaseUrl
from agentco_tui.api.origin import platform_of
from agentco_tui.commands.demo_past import write_past
from agentco_tui.config import DEFAULT_PROFILE
from agentco_tui.demo.world import World
from agentco_tui.system.state_folder import HISTORY_FILE
from tests.terminal.platform_process import PlatformProcess, settings
from tests.terminal.pty_session import REPOSITORY, PtySession, clean_environment

SIZE = (120, 40)
PROGRAM = ["-m", "agentco_tui"]
WATCHED = ["-m", "tests.benchmarks.watched"]


@dataclass
class Row:
    """One line of the table that is printed."""

    what: str
    measured: str
    target: str = ""
    reached: bool | None = None
    peers: str = ""


@dataclass
class Plan:
    """How much is measured."""

    runs: int = 7
    largest: int = 100_000
    window: float = 60.0  # seconds: ages of hours tick once a minute, all together

    def said(self, words: str) -> None:
        """Tell whoever waits what is measured now."""
        sys.stderr.write(f"  … {words}\n")

    @property
    def sizes(self) -> list[int]:
        """Tasks that wait, for what is measured as it grows."""
        return [size for size in (1_000, 10_000, 100_000) if size <= self.largest]


def platform(waiting: int, agents: int = 12, companies: int = 3) -> PlatformProcess:
    """A platform that stands still, on which so many tasks wait: one in three does."""
    return PlatformProcess(
        *("--tasks", str(waiting * 3)), *("--agents", str(agents), "--companies", str(companies))
    )


@contextmanager
def proxy(
    upstream: str, *, delay: float = 0.0, change: float = 0.0, keep: bool = False
) -> Iterator[str]:
    """The address of a proxy before a platform."""
    child = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.benchmarks.proxy", upstream),
            *("--delay", str(delay), "--change", str(change)),
            *(["--keep"] if keep else []),
        ],
        stdout=subprocess.PIPE,
        env=clean_environment(),
        cwd=REPOSITORY,
        text=True,
    )
    assert child.stdout is not None
    try:
        yield child.stdout.readline().strip()
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


@contextmanager
def program(
    argv: list[str],
    at: PlatformProcess | None = None,
    *,
    address: str | None = None,
    extra: dict[str, str | None] | None = None,
) -> Iterator[PtySession]:
    """A program in a terminal of 120x40, on a platform if it needs one, with a history of its."""
    with tempfile.TemporaryDirectory() as own:
        env = {} if at is None else settings(at, Path(own))
        if at is not None and argv[:2] in (PROGRAM, WATCHED):
            give_past(Path(own), address or at.base_url)
        if address is not None:
            env["AGENTCO_BASE_URL"] = address
        env["PYTHONWARNINGS"] = None
        with PtySession(
            [sys.executable, *argv], size=SIZE, env={**env, **(extra or {})}
        ) as session:
            yield session


@cache
def past() -> Path:
    """A history of 49 days of 50 companies with 1,000 agents; made once, as that takes long."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    path = folder / HISTORY_FILE
    world = World(companies=50, agents=1_000, tasks=3_000, speed=0)
    write_past(path, world, "http://127.0.0.1:1")
    return path


def give_past(home: Path, address: str) -> None:
    """Put a copy of that history where a program at home there keeps its own, as of a platform."""
    folder = home / "state" / "agentco-tui"
    folder.mkdir(parents=True, mode=0o700)
    copy = shutil.copy(past(), folder / HISTORY_FILE)
    with closing(sqlite3.connect(copy)) as connection, connection:
        origin = str(BaseUrl.parse(address))
        connection.execute("UPDATE platform SET key = ?, origin = ?", (platform_of(origin), origin))
        connection.execute("UPDATE viewer SET profile = ?", (DEFAULT_PROFILE,))


def first_bytes(session: PtySession, key: str, patience: float = 30.0) -> float:
    """Milliseconds from a key to the first byte that the program writes then."""
    mark = session.mark()
    started = time.perf_counter()
    session.press(key)
    if not session.wait_more(mark, patience):
        raise AssertionError(f"{key} was not answered")
    return (time.perf_counter() - started) * 1000


def until(session: PtySession, wanted: Callable[[bytes], bool], patience: float = 120.0) -> float:
    """Seconds since the start of the program until it had written what is wanted."""
    end = time.monotonic() + patience
    while True:
        written = session.raw
        if wanted(written):
            return time.monotonic() - session.started
        if not session.wait_more(len(written), end - time.monotonic()):
            raise AssertionError(f"never written\n{written[-2000:]!r}")


def quiet_keys(session: PtySession, key: str, quiet: float = 0.15) -> int:
    """Bytes written for a key until nothing follows any more."""
    mark = session.wait_quiet(quiet)
    session.press(key)
    session.wait_for(lambda _: session.mark() != mark)
    return session.wait_quiet(quiet) - mark


def painted(session: PtySession, *keys: str, quiet: float = 0.12) -> float:
    """Milliseconds from the last of the keys to the last byte that followed it."""
    session.press(*keys[:-1])
    session.wait_quiet(0.4)
    mark = session.mark()
    started = time.perf_counter()
    session.press(keys[-1])
    last = started
    while session.wait_more(mark, quiet if last != started else 30.0):
        mark = session.mark()
        last = time.perf_counter()
    return (last - started) * 1000


def memory(pid: int, name: str = "VmRSS") -> float:
    """Megabytes (10^6 bytes) that a process holds."""
    found = re.search(rf"^{name}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None, name
    return int(found[1]) * 1024 / 1e6
