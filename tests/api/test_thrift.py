"""What was freed goes back to the system, where the C library can be told to."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

from agentco_tui.api import thrift

USING = """
import sys
from agentco_tui.api.thrift import give_back, keep_little

def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))

if sys.argv[1] == "thrifty":
    keep_little()
before = resident()
blocks = []
for size in (20_000, 600_000):
    blocks += [b"x" * size for _ in range(48_000_000 // size)]
pins = [b"y" * 20_000 for _ in range(5)]
blocks.clear()
if sys.argv[1] == "thrifty":
    give_back()
print(resident() - before)
"""


def left(how: str) -> int:
    """Kilobytes that a program still has after it freed a hundred megabytes."""
    done = subprocess.run(
        [sys.executable, "-c", USING, how], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(thrift._glibc() is None, reason="only glibc can be told")
def test_what_is_freed_goes_back() -> None:
    assert left("thrifty") < 5_000


def test_elsewhere_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        """A C library without these two."""

    thrift._glibc.cache_clear()
    try:
        monkeypatch.setattr(ctypes, "CDLL", lambda _: Other())
        thrift.keep_little()
        thrift.give_back()
        assert thrift._glibc() is None
    finally:
        thrift._glibc.cache_clear()
