"""Whether the terminal's background is light: by COLORFGBG, or by asking the terminal.

The theme depends on it. The terminal is asked while the program loads its modules, before Textual
runs; the keys that are typed in that time are kept for the app.
"""

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
"""The numbers of the colours of text and background, as rxvt and Konsole set it: "15;0"."""
LIMIT: Final = 1.0
"""Seconds to wait for the answer."""
_QUERY: Final = b"\x1b]11;?\x07\x1b[c"
"""Asks for the background colour (OSC 11), then for the kind of terminal (DA1). Every terminal
answers the second question, and that answer ends the wait."""
_COLOUR_ANSWER: Final = re.compile(rb"\x1b\]11;rgba?:(\w+)/(\w+)/(\w+)[/\w]*(?:\x07|\x1b\\)")
_KIND_ANSWER: Final = re.compile(rb"\x1b\[\?[\d;]*c")


def is_light(environ: MutableMapping[str, str] = os.environ) -> bool:
    """Whether COLORFGBG names a light background."""
    return environ.get(NAMED, "").rpartition(";")[2] in ("7", "15")


@contextmanager
def ground_asked(
    wanted: bool, environ: MutableMapping[str, str] = os.environ
) -> Iterator[bytearray]:
    """Ask the terminal for its background colour, while the block runs.

    Only if it is `wanted` (standard input and output are a terminal) and not known yet, and neither
    through GNU screen 4 nor in the background. At the end of the block, within `LIMIT`, COLORFGBG
    has the answer, and the yielded bytes are the keys that were typed meanwhile. Nothing is echoed
    until then.
    """
    typed = bytearray()
    may_ask = wanted and os.ttyname(0) == os.ttyname(1) and os.tcgetpgrp(0) == os.getpgrp()
    if not may_ask or NAMED in environ or multiplexer(environ) == "screen":
        yield typed
        return
    until = monotonic() + LIMIT
    settings = termios.tcgetattr(0)
    # Signals that would end the process here without restoring the settings.
    ending_signals = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) == signal.SIG_DFL
    ]
    try:
        for number in ending_signals:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
        tty.setcbreak(0, termios.TCSANOW)
        os.write(1, _QUERY)
        yield typed
        while (
            not _KIND_ANSWER.search(typed) and select([0], [], [], max(0.0, until - monotonic()))[0]
        ):
            # After a hang-up there is nothing to read: an invented answer ends the loop.
            typed += os.read(0, 1024) or b"\x1b[?c"
    finally:
        termios.tcsetattr(0, termios.TCSANOW, settings)
        for number in ending_signals:
            signal.signal(number, signal.SIG_DFL)
    environ[NAMED] = ""  # so that it is not asked again
    if answer := _COLOUR_ANSWER.search(typed):
        red, green, blue = (int(part, 16) / 16 ** len(part) for part in answer.groups())
        luminance = 0.3 * red + 0.59 * green + 0.11 * blue
        environ[NAMED] = "0;15" if luminance > 0.5 else "15;0"
    typed[:] = _KIND_ANSWER.sub(b"", _COLOUR_ANSWER.sub(b"", typed))
