"""A yes to one task is held for a moment on its line, while the person goes on."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from tests.outside.console import NO_HOLD, cases, scene
from tests.outside.platform import approves, pending


def test_the_hold_on_the_line(tmp_path: Path) -> None:
    with scene(tmp_path, cases(5), config="") as (platform, console):
        console.approve("Case0", r"approving in [12] s · u takes it back")
        assert platform.posts() == []
        # Nobody waits for it: the next question opens meanwhile, and both are sent.
        console.approve("Case1")
        platform.wait_for(approves("t0"))
        platform.wait_for(approves("t1"))
        console.line_shows("Case0", "approved here")
        console.line_shows("Case1", "approved here")

        console.approve("Case2", "approving in")
        console.press("u")
        console.until(lambda: "approving" not in console.line("Case2"), "taken back")
        platform.wait_more(pending, 4)
        assert platform.posts("t2") == []
        assert platform.record("t2")["status"] == "pending"

        # Stopped, it stands still, and begins anew.
        console.approve("Case3", "approving in")
        console.signal(signal.SIGSTOP)
        time.sleep(2.5)
        came = time.monotonic()
        console.signal(signal.SIGCONT)
        sent = platform.wait_for(approves("t3"))[0]
        assert sent.time - came > 1.5
        assert [len(platform.posts(f"t{n}")) for n in range(5)] == [1, 1, 0, 1, 0]
        assert len(platform.approvals) == 3


def test_without_a_hold_it_is_sent_at_once(tmp_path: Path) -> None:
    with scene(tmp_path, {"t1": "Case1"}, config=NO_HOLD) as (platform, console):
        console.ask("Case1")
        held = platform.hold(approves("t1"))
        mark = console.mark()
        console.yes()
        held.arrived()
        assert b"approving in" not in console.since(mark)
        held.release()
        console.line_shows("Case1", "approved here")
        assert len(platform.posts()) == len(platform.approvals) == 1


def test_another_company_is_chosen_while_it_is_held(tmp_path: Path) -> None:
    """It is read in the list of its own company, which is not the one on the screen by then."""
    with scene(tmp_path, {"t1": "Case1"}, config="") as (platform, console):
        console.approve("Case1", "approving in")
        console.press(*":company Globex", "enter")
        console.notice("Case1: approved")
        assert len(platform.posts("t1")) == 1
        assert "approved here" in str(console.journal())
