"""The program over SSH on a slow line: 100 ms from end to end and back, 64 kB a second.

A private sshd on loopback serves the host on which the programs run, behind a relay that is slow
(`line`). The connection is open before anything is measured, as that of an operator who is logged
in; each program gets a terminal of its own on it.
"""

from __future__ import annotations

import getpass
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.benchmarks import stage
from tests.benchmarks.stage import Plan, Row
from tests.terminal.platform_process import settings
from tests.terminal.pty_session import REPOSITORY, PtySession, clean_environment

DELAY = 0.05  # seconds, each way
RATE = 64_000  # bytes a second, each way
KEYS = 40
WAITING = 60
REST = 20.0  # seconds for which nothing is pressed: four polls
SETTLED = 12.0  # seconds until what is remembered of what shows was looked through
KEY_REPEAT = 1 / 30
"""Seconds between two keys while one is held down."""

OURS = [*stage.PROGRAM, "--screen", "tasks"]
FROZEN = [*stage.WATCHED, "--screen", "tasks"]
"""With ages that stand: the clock of the platform does, too, and would set them back."""
SMALLEST = ["-m", "tests.benchmarks.peers.smallest"]
SMALLEST_TABLE = ["-m", "tests.benchmarks.peers.tables", "datatable", "200"]
ECHO = [
    "-c",
    "import os, tty; tty.setraw(0); os.write(1, b'ready')\nwhile True: os.write(1, os.read(0, 1))",
]
"""Sends each key back at once: what the line costs without any program."""


class NoServerError(Exception):
    """There is no sshd that could be used; the message says why."""


@dataclass(frozen=True)
class Host:
    """A host that is reached over the slow line, by a connection that is open."""

    folder: Path
    ssh: list[str]

    @contextmanager
    def program(self, argv: list[str], env: Mapping[str, str | None]) -> Iterator[PtySession]:
        """A Python program on that host, in a terminal here."""
        variables = clean_environment({**env, "PYTHONWARNINGS": None})
        lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
        lines.append(f"cd {shlex.quote(str(REPOSITORY))}")
        lines.append(f"exec {shlex.join([sys.executable, *argv])}")
        # A file, as the arguments of a process are seen by all, and the environment has a key.
        script = self.folder / "program.sh"
        script.write_text("\n".join(lines))
        command = [*self.ssh, "-tt", "host", f"exec sh {shlex.quote(str(script))}"]
        with PtySession(command, size=stage.SIZE) as session:
            yield session


@contextmanager
def slow_host() -> Iterator[Host]:
    """A host of our own; raises NoServerError."""
    server = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if server is None or shutil.which("ssh") is None or shutil.which("ssh-keygen") is None:
        raise NoServerError("sshd or ssh is not installed")
    with tempfile.TemporaryDirectory() as own:
        folder = Path(own)
        port = _free_port()
        _write_server_files(folder, port)
        with _running([server, "-D", "-e", "-f", str(folder / "sshd_config")]) as daemon:
            _wait_until_served(port, daemon)
            with _slow_line(port) as slow_port:
                _write_client_config(folder, slow_port)
                ssh = ["ssh", "-F", str(folder / "ssh_config")]
                with _running([*ssh, "-N", "-M", "host"]) as master:
                    _wait_until_connected(ssh, master)
                    yield Host(folder, ssh)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _write_server_files(folder: Path, port: int) -> None:
    for name in ("host_key", "own_key"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True)
    shutil.copy(folder / "own_key.pub", folder / "authorized_keys")
    (folder / "sshd_config").write_text(
        f"Port {port}\n"
        "ListenAddress 127.0.0.1\n"
        f"HostKey {folder}/host_key\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\n"
        "PidFile none\n"
        "StrictModes no\n"
        "UsePAM no\n"
        "PasswordAuthentication no\n"
        "PermitRootLogin prohibit-password\n"
        "PrintMotd no\n"
        "PrintLastLog no\n"
    )
    if os.geteuid() == 0:
        # sshd confines a process to this folder when it runs as root.
        with suppress(OSError):
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)


def _write_client_config(folder: Path, port: int) -> None:
    (folder / "ssh_config").write_text(
        "Host host\n"
        "HostName 127.0.0.1\n"
        f"Port {port}\n"
        f"User {getpass.getuser()}\n"
        f"IdentityFile {folder}/own_key\n"
        "IdentitiesOnly yes\n"
        "BatchMode yes\n"
        "StrictHostKeyChecking no\n"
        f"UserKnownHostsFile {folder}/known_hosts\n"
        f"ControlPath {folder}/control\n"
        "LogLevel ERROR\n"
        # Keys that are pressed one at a time are not delayed or hidden among made-up ones.
        "IgnoreUnknown ObscureKeystrokeTiming\n"
        "ObscureKeystrokeTiming no\n"
    )


@contextmanager
def _running(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield child
    finally:
        child.terminate()
        child.wait()
        assert child.stderr is not None
        child.stderr.close()


@contextmanager
def _slow_line(port: int) -> Iterator[int]:
    child = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.benchmarks.line", str(port)),
            *("--delay", str(DELAY), "--rate", str(RATE)),
        ],
        stdout=subprocess.PIPE,
        env=clean_environment(),
        cwd=REPOSITORY,
        text=True,
    )
    assert child.stdout is not None
    try:
        yield int(child.stdout.readline())
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def _wait_until_served(port: int, daemon: subprocess.Popen[str]) -> None:
    for _ in range(100):
        if daemon.poll() is not None:
            assert daemon.stderr is not None
            raise NoServerError(f"sshd does not start: {daemon.stderr.read().strip()[-80:]}")
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise NoServerError("sshd does not answer")


def _wait_until_connected(ssh: list[str], master: subprocess.Popen[str]) -> None:
    for _ in range(100):
        if master.poll() is not None:
            assert master.stderr is not None
            raise NoServerError(f"ssh does not connect: {master.stderr.read().strip()[-80:]}")
        check = subprocess.run([*ssh, "-O", "check", "host"], capture_output=True, check=False)
        if check.returncode == 0:
            return
        time.sleep(0.1)
    raise NoServerError("ssh does not connect")


def ssh(plan: Plan) -> Iterator[Row]:
    """Start, keys and bytes over SSH, against the smallest programs on the same line."""
    try:
        with slow_host() as host:
            yield from _rows(plan, host)
    except NoServerError as error:
        yield Row("over SSH, 100 ms, 64 kB/s", f"left out: {error}")


def _rows(plan: Plan, host: Host) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as own, stage.platform(WAITING) as at:
        env = settings(at, Path(own))
        stage.give_past(Path(own), at.base_url)
        pending = at.api("/api/tasks?status=pending")
        titles = [str(task["title"])[:14].encode() for task in pending]
        yield _start(plan, host, env, titles)
        yield from _keys_and_bytes(plan, host, env)


def _start(plan: Plan, host: Host, env: Mapping[str, str | None], titles: list[bytes]) -> Row:
    """From the request for a terminal on the open connection to the first task in it."""
    seconds: dict[str, list[float]] = {"ours": [], "smallest": []}
    sent: dict[str, list[float]] = {"ours": [], "smallest": []}
    for _ in range(plan.runs + 1):  # the first of each warms the machine's caches
        for name, argv in (("ours", OURS), ("smallest", SMALLEST)):
            with host.program(argv, env) as session:
                took = stage.until(session, lambda raw: any(title in raw for title in titles))
                seconds[name].append(took)
                sent[name].append(session.mark())
                session.wait_quiet(1.0)  # what is still on the line would hold up the next program
    took_by_name = {name: median(each[1:]) for name, each in seconds.items()}
    bytes_by_name = {name: median(each[1:]) for name, each in sent.items()}
    ratio = took_by_name["ours"] / took_by_name["smallest"]
    return Row(
        "over SSH: start to first data",
        f"{ratio:.2f}x ({took_by_name['ours'] * 1000:.0f} ms, {bytes_by_name['ours']:,.0f} B)",
        "0.9x",
        ratio <= 0.9,
        f"smallest app {took_by_name['smallest'] * 1000:.0f} ms,"
        f" {bytes_by_name['smallest']:,.0f} B",
    )


def _keys_and_bytes(plan: Plan, host: Host, env: Mapping[str, str | None]) -> Iterator[Row]:
    with host.program(ECHO, env) as session:
        session.wait_raw(b"ready")
        trips = [stage.first_bytes(session, "x") for _ in range(KEYS)]
    round_trip = median(trips)
    with host.program(SMALLEST_TABLE, env) as session:
        session.wait_for("WAITING")
        session.wait_quiet(1.0)
        smallest_keys = _times_of_keys(session)
        smallest_move = median(stage.quiet_keys(session, key, 0.5) for key in _moves(plan))
        smallest_held = _bytes_of_held_key(session)
    with host.program(FROZEN, {**env, "FROZEN_AGES": "1"}) as session:
        session.wait_for(f"pending {WAITING}")
        time.sleep(SETTLED)
        mark = session.mark()
        began = time.perf_counter()
        time.sleep(REST)
        at_rest = (session.mark() - mark) / (time.perf_counter() - began)
        our_keys = _times_of_keys(session)
        session.press("g")
        session.wait_quiet(1.0)
        our_move = median(stage.quiet_keys(session, key, 0.5) for key in _moves(plan))
        our_held = _bytes_of_held_key(session)
    added = [time - round_trip for time in our_keys]
    smallest_added = [time - round_trip for time in smallest_keys]
    yield Row(
        "over SSH: key to first byte, minus the round trip",
        f"median {median(added):.1f} ms, worst {max(added):.1f}",
        "",
        None,
        f"round trip {round_trip:.1f} ms (worst {max(trips):.1f}); smallest table"
        f" {median(smallest_added):.1f}, worst {max(smallest_added):.1f}",
    )
    yield Row(
        "over SSH: bytes for a cursor move that comes to rest",
        f"{our_move:,.0f} B, {our_move / RATE * 1000:.0f} ms of the line",
        "",
        None,
        f"smallest table {smallest_move:,.0f} B",
    )
    yield Row(
        "over SSH: bytes for each move while the key is held down",
        f"{our_held:,.0f} B",
        "",
        None,
        f"smallest table {smallest_held:,.0f} B",
    )
    yield Row("over SSH: bytes at rest, besides ages", f"{at_rest:.1f} B/s", "0 B/s", at_rest == 0)


def _times_of_keys(session: PtySession) -> list[float]:
    times: list[float] = []
    for turn in range(KEYS):
        times.append(stage.first_bytes(session, "j" if turn % 20 < 10 else "k"))
        session.wait_quiet(0.25 + (turn % 7) * 0.05)
    return times


def _bytes_of_held_key(session: PtySession) -> float:
    """Bytes for each of ten moves that follow each other as fast as a key repeats."""
    session.press("g")
    mark = session.wait_quiet(1.0)
    for _ in range(10):
        session.press("j")
        time.sleep(KEY_REPEAT)
    session.wait_for(lambda _: session.mark() != mark)
    return (session.wait_quiet(1.0) - mark) / 10


def _moves(plan: Plan) -> str:
    return "jjjkjjk" * (plan.runs // 7 or 1)
