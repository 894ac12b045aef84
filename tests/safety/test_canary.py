"""Keys that must turn up nowhere, searched for in all that the real dashboard writes."""

from __future__ import annotations

import base64
import json
import re
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agentco_tui.demo.faults import ArmedFault
from tests.platform import EmbeddedPlatform
from tests.platform.faults import KINDS
from tests.terminal.dashboard import say_yes
from tests.terminal.platform_process import own_folders
from tests.terminal.processes import command_lines
from tests.terminal.pty_session import PtySession

pytestmark = pytest.mark.timeout(400)

CANARY = "ag_canary_5e1f7c3b9d2a4806"
ROTATED = "ag_later_c83e55d01f6b7294"
"""Takes the place of the first in the middle. Parts of both are searched for as well:
`canary_5e1f` may stand nowhere either."""
CLIPBOARD = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07")
SPECS = [
    f"reads:{kind}={value}" if value else f"reads:{kind}"
    for kind in KINDS
    for value in {
        "status": ("400", "401", "403", "404", "409", "422", "429", "500", "503"),
        "latency": ("1ms",),
        "drip": ("1ms",),
        "gzip_bomb": ("8",),
        "redirect": ("", "ELSEWHERE"),
    }.get(kind, ("",))
    if kind not in ("hang", "hang_body")
]


class Elsewhere:
    """Another origin, to which redirects lead; keeps all it is sent."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        elsewhere = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                elsewhere.received.append(f"{self.requestline}\n{self.headers}".encode())
                self.send_error(404)

            do_POST = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Nothing is printed."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    running = Elsewhere()
    yield running
    running.server.shutdown()
    running.server.server_close()


def in_all_forms() -> list[bytes]:
    """The keys, pieces of them, and all as they would stand in Base64 and in hexadecimal."""
    forms = []
    for key in (CANARY, ROTATED):
        whole, piece = key.encode(), key[3:18].encode()
        shifted = [base64.b64encode(b" " * n + whole)[4:-4] for n in range(3)]
        forms += [whole, piece, whole.hex().encode(), whole[::-1], *shifted]
    return forms


def struck(armed: ArmedFault, _screen: str) -> bool:
    return armed.struck > 0


def found_in(data: bytes) -> bool:
    return any(form in data for form in in_all_forms())


def put(path: Path, key: str) -> None:
    """Write a key where it is kept, readable by its owner only."""
    path.touch(0o600)
    path.write_text(key)


def test_no_key_is_anywhere_over_all_faults(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, elsewhere: Elsewhere
) -> None:
    searched: dict[str, bytes] = {}
    kept = tmp_path_factory.mktemp("kept")
    key_file, config = kept / "key", kept / "config.toml"
    put(key_file, CANARY)
    with EmbeddedPlatform(seed=7, speed=0, companies=1) as platform:
        platform.keys["full"] = CANARY
        config.write_text(
            f'[profiles.prod]\nbase_url = "{platform.base_url}"\napi_key_file = "{key_file}"\n'
        )
        env = {**own_folders(tmp_path), "PLANTED": f"{CANARY}, before that {ROTATED} {CANARY}"}
        log = tmp_path / "log"
        command = [sys.executable, "-m", "tests.safety.apps.debugging", str(tmp_path / "debug")]
        command += ["--refresh", "60", "--log-file", str(log), "--config", str(config)]
        with PtySession(command, env=env, size=(120, 40)) as session:
            session.wait_for("NEEDS YOU")
            session.wait_for(re.compile(r"live +<?\d"))
            for spec in SPECS:
                armed = platform.faults.add(spec.replace("ELSEWHERE", elsewhere.url))
                session.press("r")
                session.wait_for(partial(struck, armed))
                platform.faults.remove(armed)
            platform.faults.clear()
            platform.keys["full"] = ROTATED
            session.press("r")
            session.wait_for("the key is missing or invalid")
            put(key_file, ROTATED)
            session.press("r")
            session.wait_for("the key was read again")
            session.wait_for(re.compile(r"live +<?\d"))
            searched["process list"] = command_lines(session.pid)
            session.press("4", "r")
            session.wait_for("TASKS ▌pending")
            session.wait_for("WAITS")
            session.press("y")
            session.wait_raw(b"\x1b]52;c;")
            for write in ("approve:drop_after", "approve:status=500"):
                armed = platform.faults.add(f"{write},times=1")
                session.press("j", "a")
                session.wait_for("APPROVE 1 task")
                say_yes(session, "APPROVE 1 task")
                session.wait_for(partial(struck, armed))
            session.press("?")  # where the crash is planted
            assert session.wait_gone() == 1
            searched["screen"] = session.raw
            told = session.after_screen()
            report, _, left = told.partition("agentco-tui: ◌")
            assert len(report.strip().splitlines()) == 2, told
            assert "RuntimeError" in report
            assert "approve" in left, "what was sent and is not settled is told as well"
            searched["told at the end"] = told.encode()
        searched["requests elsewhere"] = b"\n".join(elsewhere.received)
    copied = CLIPBOARD.findall(searched["screen"])
    assert copied
    searched["clipboard"] = b"\n".join(map(base64.b64decode, copied))
    for path in tmp_path.rglob("*"):
        searched[f"name of {path.name}"] = str(path).encode()
        if path.is_file():
            searched[str(path.relative_to(tmp_path))] = path.read_bytes()
    names = " ".join(searched)
    for wanted in ("journal.jsonl", "crash-", "log", "debug", "remembered.json"):
        assert wanted in names, f"{wanted} was not there to be searched: {names}"
    crash = next(data for name, data in searched.items() if "/crash-" in name)
    assert b"RuntimeError: planted, with" in crash
    journal = searched["state/agentco-tui/journal.jsonl"].splitlines()
    assert len([json.loads(line) for line in journal]) >= 2
    assert b"the key was read again from" in searched["log"]
    assert [name for name, data in searched.items() if found_in(data)] == []
    sys.stdout.write(
        f"{len(SPECS)} faults, {len(searched)} places, "
        f"{sum(map(len, searched.values())):,} bytes searched: 0 found\n"
    )
