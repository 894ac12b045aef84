"""Finds out whether the terminal's background is light, to choose the theme.

Some terminals set the environment variable COLORFGBG. For the others, `background_query` asks the
terminal at the start, while Textual is imported, and sets the variable by the answer.
`is_background_light` reads the variable.
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

VARIABLE: Final = "COLORFGBG"
"""rxvt and Konsole set it to the colour numbers of text and background: "15;0"."""
TIMEOUT: Final = 1.0
"""Seconds to wait for the terminal's answer."""
_QUERY: Final = b"\x1b]11;?\x07\x1b[c"
"""Asks for the background colour (OSC 11), then for the kind of terminal (DA1). Every terminal
answers the second question, and that answer ends the wait."""
_COLOUR_ANSWER: Final = re.compile(rb"\x1b\]11;rgba?:(\w+)/(\w+)/(\w+)[/\w]*(?:\x07|\x1b\\)")
_KIND_ANSWER: Final = re.compile(rb"\x1b\[\?[\d;]*c")


def is_background_light(environ: MutableMapping[str, str] = os.environ) -> bool:
    """Return whether COLORFGBG says that the background is light."""
    return environ.get(VARIABLE, "").rpartition(";")[2] in ("7", "15")


@contextmanager
def background_query(
    wanted: bool, environ: MutableMapping[str, str] = os.environ
) -> Iterator[bytearray]:
    """Ask the terminal for its background colour while the block of the `with` statement runs.

    At the end of the block, COLORFGBG is set by the answer, or is empty if there was none within
    `TIMEOUT`. The yielded bytes are then the keys that were typed meanwhile; they are not echoed.

    Nothing is asked unless it is `wanted`, if COLORFGBG is set, through GNU screen 4 (which does
    not pass the answer on), and by a background job. With `wanted`, standard input and output must
    be a terminal.
    """
    typed = bytearray()
    may_ask = wanted and os.ttyname(0) == os.ttyname(1) and os.tcgetpgrp(0) == os.getpgrp()
    if not may_ask or VARIABLE in environ or multiplexer(environ) == "screen":
        yield typed
        return
    deadline = monotonic() + TIMEOUT
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
        while not _KIND_ANSWER.search(typed):
            seconds_left = max(0.0, deadline - monotonic())
            readable, _, _ = select([0], [], [], seconds_left)
            if not readable:
                break
            received = os.read(0, 1024)
            if not received:  # the terminal has hung up
                break
            typed += received
    finally:
        termios.tcsetattr(0, termios.TCSANOW, settings)
        for number in ending_signals:
            signal.signal(number, signal.SIG_DFL)
    environ[VARIABLE] = ""  # so that it is not asked again
    answer = _COLOUR_ANSWER.search(typed)
    if answer is not None:
        # Each part has one to four hexadecimal digits.
        red, green, blue = (int(part, 16) / 16 ** len(part) for part in answer.groups())
        luminance = 0.3 * red + 0.59 * green + 0.11 * blue
        is_light = luminance > 0.5
        environ[VARIABLE] = "0;15" if is_light else "15;0"
    typed[:] = _KIND_ANSWER.sub(b"", _COLOUR_ANSWER.sub(b"", typed))
