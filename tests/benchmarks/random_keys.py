"""Random keys on a dashboard whose platform fails: python -m tests.benchmarks.random_keys.

python -m tests.benchmarks.random_keys [--sessions 20] [--strokes 400] [--seed 1]

Each session starts the dashboard in a pseudo-terminal on an embedded platform of its own and types
at it what a cat would: every key, some together, with mouse reports, replies and pastes, other
sizes of the terminal, stops, and faults that come and go. A signal ends it, mostly while a key is
still being dealt with.

The program must be gone within five seconds with the code of that signal, the terminal as it was
found, nothing said and no report written. Prints what was typed last where one of these is not so,
then how the sessions ended; exits 1 if any went wrong. The same seed types the same.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from agentco_tui.demo.faults import KINDS
from tests.benchmarks.fuzz_input import odd
from tests.terminal.dashboard import assert_restored, dashboard, ready
from tests.terminal.keyboard import KEYS
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.pty_session import NotSeenError, PtySession

TYPED = (
    *KEYS,
    *"0123456789abcdefghijklmnoprstuvwxyzCGSXY*/:?<>",
    *(f"ctrl+{c}" for c in "abdefpuw"),
)
"""All but `q` and ctrl+c, which end a session, and ctrl+z."""
SIZES = ((80, 24), (120, 40), (60, 16), (200, 50))
NEEDS_VALUE = {"status": "=503", "drip": "=50ms", "latency": "=500ms"}
FAULTS = tuple(f"*:{kind}{NEEDS_VALUE.get(kind, '')}" for kind in KINDS)
LEAVES = 5.0
"""Seconds to be gone in: promised is one, on a machine that does nothing else."""
UNDER_WAY = (0.0, 0.0, 0.005, 0.02, 0.1)
"""Seconds between the last key and the signal."""
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Cat:
    """Somebody on the keyboard; the same seed does the same."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.did: list[str] = []

    def stroke(self, session: PtySession, platform: PlatformProcess) -> None:
        """Do one thing to the program, its terminal or its platform."""
        dice = self.dice
        what = dice.random()
        if what < 0.03:
            columns, rows = dice.randint(10, 200), dice.randint(3, 60)
            self.did.append(f"{columns}x{rows}")
            session.resize(columns, rows)
        elif what < 0.06:
            fault = dice.choice(FAULTS)
            self.did.append(fault)
            platform.fault(fault)
        elif what < 0.10:
            self.did.append("no faults")
            platform.clear_faults()
        elif what < 0.13:
            button, up = dice.choice((0, 2, 35, 64, 65)), dice.choice("Mm")
            report = f"\x1b[<{button};{dice.randint(1, 120)};{dice.randint(1, 40)}{up}"
            self.did.append(report[1:])
            session.write(report)
        elif what < 0.15:
            self.did.append("stopped and continued")
            session.signal(signal.SIGSTOP)
            session.signal(signal.SIGCONT)
        elif what < 0.17:
            sent, whole = odd(dice)
            if whole:  # what is damaged may hold a key that ends the session
                self.did.append(repr(sent))
                session.write(sent)
        else:
            key = dice.choice(TYPED)
            self.did.append(key)
            session.press(key)
            # Half of the keys come in one packet with the next, as on a slow line.
            time.sleep(dice.choice((0, 0, 0.01, 0.1)))


def play(seed: int, strokes: int, folder: Path) -> Iterator[str]:
    """One session; gives what was wrong with it, a sentence each."""
    cat = Cat(seed)
    size = cat.dice.choice(SIZES)
    with (
        PlatformProcess() as platform,
        dashboard(platform, folder, "--refresh", "0.5", size=size, cwd=folder) as session,
    ):
        ready(session)
        for _ in range(strokes):
            cat.stroke(session, platform)
        number = cat.dice.choice(SIGNALS)
        time.sleep(cat.dice.choice(UNDER_WAY))
        session.signal(number)
        try:
            code = session.wait_gone(LEAVES)
        except NotSeenError as late:
            yield f"{late}\nafter {cat.did[-40:]}"
        else:
            if code != 128 + number:
                yield f"it ended with {code}, not {128 + number}, after {cat.did[-40:]}"
            try:
                assert_restored(session)
            except AssertionError as left:
                yield f"the terminal was left in another state: {left}"
            if "agentco-tui:" in session.after_screen():
                yield session.after_screen()
        for report in (folder / "state").rglob("crash*"):
            yield report.read_text()
        if platform.full_key.encode() in session.raw:
            yield "the key was on the terminal"


def main() -> int:
    """Play the sessions; gives the exit code."""
    parser = argparse.ArgumentParser(description="random keys, faults and sizes")
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--strokes", type=int, default=400, help="in each session")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    failed = 0
    for seed in range(asked.seed, asked.seed + asked.sessions):
        with tempfile.TemporaryDirectory() as folder:
            wrong = list(play(seed, asked.strokes, Path(folder)))
        failed += bool(wrong)
        for words in wrong:
            sys.stdout.write(f"seed {seed}: {words}\n")
            sys.stdout.flush()
    sys.stdout.write(f"sessions: {asked.sessions}, of which went wrong: {failed}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
