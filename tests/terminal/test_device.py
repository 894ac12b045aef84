"""The terminal as a device, with programs that do nothing else."""

from __future__ import annotations

import os
import sys

from agentco_tui.terminal.device import TerminalDevice
from tests.terminal.calm import assert_restored
from tests.terminal.pty_session import PtySession

BEGIN = """
import os, termios, tty
from agentco_tui.terminal.device import TerminalDevice
device = TerminalDevice.of_this_process()
tty.setraw(0)
os.write(1, b"\\x1b[?1049h\\x1b[?1003h\\x1b[>25u\\x1b[?25lin the middle of \\x1b]0;a title")
"""


def program(code: str) -> list[str]:
    return [sys.executable, "-c", BEGIN + code]


def test_leaving_by_force_restores_and_silences() -> None:
    code = """
device.leave_by_force(1.0)
device.restore_settings()
print("into the void", flush=True)
device.say("told\\n")
"""
    with PtySession(program(code)) as session:
        assert session.wait_gone() == 0
        assert_restored(session)
        assert session.after_screen() == "told\n"


def test_what_the_terminal_does_not_take_in_time_a_child_writes_after_the_end() -> None:
    code = """
device.restore_settings()
device.leave_by_force(0.0)
device.say("still here\\n")
os.read(0, 1)
os._exit(9)
"""
    with PtySession(program(code)) as session:
        # What is on its way to the terminal then is thrown away, so it has to be there.
        session.wait_raw(b"still here")
        session.write("\n")
        assert session.wait_gone() == 9
        session.wait_raw(b"\x1b[?1049l")
        session.wait_quiet(0.05)
        assert_restored(session)
        assert session.raw.index(b"still here") < session.raw.index(b"\x1b[?1049l")


def test_a_terminal_that_is_gone_is_noticed() -> None:
    master, slave = os.openpty()
    device = TerminalDevice(slave, slave)
    try:
        assert device.watched not in {None, slave}, "a descriptor of our own"
        assert not device.gone()
        assert device.writable()
        os.close(master)
        assert device.gone()
        device.tidy()
        device.say("nobody reads this")
    finally:
        os.close(slave)
