"""Whether the terminal's ground is light: by COLORFGBG, else asked while Textual is imported."""

from __future__ import annotations

import os
import re
import signal
import sys
import termios
import tty
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from select import select
from time import monotonic
from typing import Final

from agentco_tui.system.osc import multiplexer

NAMED: Final = "COLORFGBG"
"""Colours of text and ground by their numbers, as rxvt and Konsole set it: "15;0"."""
LIMIT: Final = 1.0  # seconds from the question on
_ASKS: Final = b"\x1b]11;?\x07\x1b[c"
"""The ground's colour (OSC 11), and what every terminal answers, in order: its kind (DA1)."""
_GROUND: Final = re.compile(rb"\x1b\]11;rgba?:(\w+)/(\w+)/(\w+)[/\w]*(?:\x07|\x1b\\)")
_KIND: Final = re.compile(rb"\x1b\[\?[\d;]*c")


def is_light(environ: MutableMapping[str, str] = os.environ) -> bool:
    return environ.get(NAMED, "").rpartition(";")[2] in ("7", "15")


@contextmanager
def ground_asked(
    wanted: bool, environ: MutableMapping[str, str] = os.environ
) -> Iterator[bytearray]:
    """Ask if it is `wanted` (keys and picture are a terminal's) and not known, but not through GNU
    screen 4 or from the background. At the end, a second later at most, COLORFGBG has the answer,
    and what is given the keys that were typed meanwhile; nothing is echoed until then.
    """
    typed = bytearray()
    same = wanted and os.ttyname(0) == os.ttyname(1) and os.tcgetpgrp(0) == os.getpgrp()
    if not same or NAMED in environ or multiplexer(environ) == "screen":
        yield typed
        return
    until, settings = monotonic() + LIMIT, termios.tcgetattr(0)
    ends = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) == signal.SIG_DFL]
    try:
        for number in ends:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
        tty.setcbreak(0, termios.TCSANOW)
        os.write(1, _ASKS)
        yield typed
        while not _KIND.search(typed) and select([0], [], [], max(0.0, until - monotonic()))[0]:
            typed += os.read(0, 1024) or b"\x1b[?c"  # hung up: there is no answer to come
    finally:
        termios.tcsetattr(0, termios.TCSANOW, settings)
        for number in ends:
            signal.signal(number, signal.SIG_DFL)
    environ[NAMED] = ""  # and not asked again
    if found := _GROUND.search(typed):
        red, green, blue = (int(part, 16) / 16 ** len(part) for part in found.groups())
        environ[NAMED] = "0;15" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "15;0"
    typed[:] = _KIND.sub(b"", _GROUND.sub(b"", typed))
