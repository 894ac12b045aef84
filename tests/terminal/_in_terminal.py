"""Start a program as the leader of a session whose terminal is standard input.

Run by `PtySession`, never by hand: `_in_terminal.py IGNORED STDIN STDOUT STDERR -- PROGRAM ARG...`,
where IGNORED is a comma list of signal numbers to ignore and the three others are `-` (the
terminal) or a path. A program of its own, since work between fork and exec in a process with
threads may lock up.
"""

import fcntl
import os
import signal
import sys
import termios


def main() -> None:
    ignored, *places = sys.argv[1:5]
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in filter(None, ignored.split(",")):
        signal.signal(int(number), signal.SIG_IGN)
    # The interpreter ignores these two for itself; a program started by a shell has the defaults.
    for default in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(default, signal.SIG_DFL)
    for target, place in enumerate(places):
        if place != "-":
            flags = os.O_RDONLY if target == 0 else os.O_WRONLY | os.O_CREAT | os.O_APPEND
            os.dup2(os.open(place, flags, 0o600), target)
    program = sys.argv[6:]
    os.execvp(program[0], program)


main()
