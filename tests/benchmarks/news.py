"""Measures on a live Paperclip what its web socket is worth, and what it costs.

python -m tests.benchmarks.news [http://127.0.0.1:3100]

The server must be one that needs no key (`deploymentMode` local_trusted), and one that may be
changed: a company "News …" is made in it. The real dashboard shows its tasks in a pseudo-terminal,
with the usual refresh interval, once with Paperclip's file and once with the same file without
`[news]`. For each it prints how long it takes until a new approval is on the screen, counted from
the server's answer to the request that made it; and how many requests a minute are sent while
nothing happens, and while an agent's run prints a thousand lines.
"""

from __future__ import annotations

import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import agentco_tui.platforms
from tests.benchmarks.paperclip_writes import Server, World
from tests.terminal.pty_session import PtySession, clean_environment

CHANGES = 10
REST = 60.0
"""Seconds for which requests are counted."""
PRINTING = "for n in $(seq 1000); do echo line $n; sleep 0.04; done"
CONFIG = """\
history = false
[profiles.paperclip]
base_url = "{base}"
platform = "{platform}"
company = "{company}"
"""


def new_world(server: Server) -> World:
    number = str(int(time.time()))[-6:]
    company = server.call("POST", "/companies", {"name": f"News {number}"})["id"]
    empty = World(server, company, "", number)
    return empty._replace(agent=empty.new_agent("Printer", PRINTING))


def delays(world: World, screen: PtySession, name: str) -> list[float]:
    """Seconds from each change to the screen, at moments that have nothing to do with polls."""
    found: list[float] = []
    for number in range(CHANGES):
        time.sleep(random.uniform(6, 11))
        title = f"Ask {name} {number}"
        approval = world.new_approval(title)
        made = time.monotonic()
        screen.wait_for(title)
        found.append(time.monotonic() - made)
        world.server.call("POST", f"/approvals/{approval}/reject", {})
    return found


def requests_a_minute(log: Path) -> float:
    """How many requests the program sends from now on."""
    before = sent(log)
    time.sleep(REST)
    return (sent(log) - before) * 60 / REST


def sent(log: Path) -> int:
    return len(re.findall(r"request \w+: GET ", log.read_text(encoding="utf-8")))


def measure(
    base: str, world: World, folder: Path, platform: str, say: Callable[[str], object]
) -> None:
    config = folder / "config.toml"
    config.write_text(
        CONFIG.format(base=base, platform=platform, company=world.company), encoding="utf-8"
    )
    log = folder / f"{platform}.log"
    command = [
        sys.executable,
        "-m",
        "agentco_tui",
        "--profile",
        "paperclip",
        "--log-file",
        str(log),
    ]
    environment = clean_environment(
        {"HOME": str(folder), "AGENTCO_CONFIG": str(config), "TEXTUAL_ANIMATIONS": "none"}
    )
    with PtySession(command, env=environment, size=(120, 40)) as screen:
        screen.wait_for("live")
        screen.press("4")
        time.sleep(REST / 2)
        at_rest = requests_a_minute(log)
        found = delays(world, screen, platform)
        time.sleep(REST / 2)
        world.server.call("POST", f"/agents/{world.agent}/heartbeat/invoke", {})
        printing = requests_a_minute(log)
    shown = " ".join(f"{each:.2f}" for each in sorted(found))
    say(f"{platform}: {statistics.median(found):.2f} s from a change to the screen ({shown});"
        f" {at_rest:.0f} requests a minute at rest, {printing:.0f} while a run prints")  # fmt: skip


def main(base: str, say: Callable[[str], object] = print) -> int:
    world = new_world(Server(base))
    whole = Path(agentco_tui.platforms.__file__).with_name("paperclip.toml")
    text = whole.read_text(encoding="utf-8")
    silent = re.sub(r"(?ms)^\[news\]\n.*?\n\n", "", text)
    assert "[news]" not in silent
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "platforms").mkdir()
        (folder / "platforms" / "silent.toml").write_text(silent, encoding="utf-8")
        for platform in ("paperclip", "silent"):
            measure(base, world, folder, platform, say)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:3100"))
