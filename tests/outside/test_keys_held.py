"""A key that is held down, repeated or too early answers nothing; one that is meant does."""

from __future__ import annotations

import signal
import time
from itertools import count
from pathlib import Path

from agentco_tui.screens.key_app import APART
from tests.outside.console import NO_HOLD, Console, cases, scene
from tests.outside.platform import Platform, approves, pending

REPEATS = 40
"""Of a key that is held down for some two seconds."""


def hold_down(console: Console, pause: float) -> bool:
    """Hold down `y`, and open another question in the middle of it; False if the machine was too
    busy to do as a keyboard does.
    """
    console.press("y")
    time.sleep(0.5)
    longest = 0.0
    for n in range(REPEATS):
        pressed = time.monotonic()
        console.press("y")
        if n == 4:
            console.press("j", "a")
        time.sleep(pause)
        longest = max(longest, time.monotonic() - pressed)
    return longest < APART


def test_a_held_key_answers_no_second_question(tmp_path: Path) -> None:
    for number in count():
        with scene(tmp_path / f"{number}", cases(4), config=NO_HOLD) as (platform, console):
            if is_held(platform, console):
                return


def is_held(platform: Platform, console: Console) -> bool:
    """Check it on a dashboard; False if the machine was too busy for it."""
    for pause, asked, following in ((0.03, "Case0", "Case1"), (0.05, "Case1", "Case2")):
        # The keyboard's own rhythm.
        console.ask(asked)
        console.pause()
        if not hold_down(console, pause):
            return False
        console.pause()
        # On a slow machine the first may count as repeated, too: then the first stands.
        assert platform.posts(f"t{following[-1]}") == []
        assert "APPROVE 1 task" in console.box()
        assert len(platform.posts(f"t{asked[-1]}")) <= 1
        console.no()
    # A line that stalled delivers all at once, long after the question was armed.
    console.ask("Case3")
    console.pause()
    console.write("y" * 20)
    platform.wait_more(pending, 3)
    assert platform.posts("t3") == []
    assert "APPROVE 1 task" in console.box()
    return True


def test_pressing_again_and_again_works_in_the_end(tmp_path: Path) -> None:
    """Every 400 ms, from the moment the question opens; until then it says how long to wait."""
    with scene(tmp_path, {"t1": "Case1"}, config=NO_HOLD) as (platform, console):
        console.write("ay")
        console.wait_raw(b"too soon: wait 0.7 s")  # it stands only for so long
        for _ in range(40):
            if platform.posts():
                break
            time.sleep(0.4)
            if console.box():
                console.press("y")
        assert len(platform.wait_for(approves("t1"))) == 1
        console.line_shows("Case1", "approved here")


def test_a_yes_under_what_opens_over_its_question_is_none(tmp_path: Path) -> None:
    """Else it is sent while the question comes back, and `n` to that ends the program."""
    with scene(tmp_path, {"t1": "Case1"}, config=NO_HOLD) as (platform, console):
        console.ask("Case1")
        console.pause()
        console.write("yt")
        console.wait_for("read again")
        console.pause()
        platform.wait_more(pending, 2)
        assert platform.posts() == []
        console.press("esc")
        console.box_shows("APPROVE 1 task")
        console.press("n")
        console.no_box()
        assert console.alive
        assert platform.posts() == []


# --- a yes to one task is held on its line while the person goes on ---


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
