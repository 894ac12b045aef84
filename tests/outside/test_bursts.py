"""A text that comes all at once confirms nothing, however it comes; a `y` by itself does.

What is written in one piece is read in one piece, on any machine. Where pieces follow each other a
busy machine may part them by more than a burst's pause; then the attempt proves nothing, and is
made again.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from agentco_tui.keys.key_arrivals import QUIET
from tests.outside.console import NO_HOLD, Console, cases, scene
from tests.outside.platform import Platform, approves, pending

IGNORED = "burst of keys ignored"


def burst(console: Console, text: bytes) -> None:
    """Write it in one piece to a question that a key can answer; it must stand afterwards."""
    console.pause()
    mark = console.mark()
    console.write(text)
    console.wait_raw(IGNORED.encode(), mark=mark)
    console.box_shows("APPROVE")


def nothing_was_sent(platform: Platform) -> None:
    """Whatever was taken for a yes would be on its way before these polls are over."""
    platform.wait_more(pending, 3)
    assert platform.posts() == []


@pytest.mark.parametrize(
    "text",
    [
        *(b"deploy", b"yes\r", b"xy", b"yx", b"y\r", b"yy", b"12y", b"\x1b[Ay", b"y\x1b[200~x"),
        # By kitty's protocol and by xterm's: two keys, one that repeats, one that nobody knows.
        *(b"\x1b[121u\x1b[121u", b"\x1b[27;1;120~y", b"\x1b[120;1:2uy", b"\x1b[99~y"),
        # Bytes that are no UTF-8, and a paste with nothing in it.
        *(b"\xffy", b"y\xff", "\u00e9y".encode(), b"\x1b[200~\x1b[201~y", b"y\x1b[200~"),
    ],
)
def test_a_burst_approves_no_task(text: bytes, tmp_path: Path) -> None:
    with scene(tmp_path, {"t1": "Case1"}, config=NO_HOLD) as (platform, console):
        console.ask("Case1")
        burst(console, text)
        nothing_was_sent(platform)
        assert "Case1" in console.box(), "the question stands"
        console.write(b"\x1b[201~")
        console.yes()
        assert len(platform.wait_for(approves("t1"))) == 1


def test_a_paste_with_brackets_is_said_to_be_ignored(tmp_path: Path) -> None:
    with scene(tmp_path, {"t1": "Case1"}, config=NO_HOLD) as (platform, console):
        console.ask("Case1")
        burst(console, b"\x1b[200~y\x1b[201~")
        nothing_was_sent(platform)


def test_a_burst_approves_no_set(tmp_path: Path) -> None:
    with scene(tmp_path, cases(12, "Case{:02}"), config=NO_HOLD) as (platform, console):
        console.press("*")
        console.wait_for("12 marked")
        console.press("a")
        console.box_shows("type 12")
        burst(console, b"12y")
        nothing_was_sent(platform)
        console.box_shows("type 12, then press y:")
        # Typed by a finger, it does.
        console.type_number("12")
        console.yes(lambda: "APPROVING" in console.box())
        for number in range(12):
            platform.wait_for(approves(f"t{number}"))
        assert len(platform.posts()) == 12


@pytest.mark.parametrize("text", [b"x12", b"12\r", b"\x1b[A12", b"12 tasks"])
def test_a_number_in_a_text_does_not_count(text: bytes, tmp_path: Path) -> None:
    with scene(tmp_path, cases(12, "Case{:02}"), config=NO_HOLD) as (platform, console):
        console.press("*")
        console.wait_for("12 marked")
        console.press("a")
        console.box_shows("type 12")
        burst(console, text)
        console.pause()
        mark = console.mark()
        console.press("y")
        console.wait_raw(b"type 12 first", mark=mark)
        nothing_was_sent(platform)


def test_a_number_whose_digits_come_together_needs_a_yes_by_itself(tmp_path: Path) -> None:
    """Quick fingers roll over two digits, and a slow line delivers them at once."""
    with scene(tmp_path, cases(12, "Case{:02}"), config=NO_HOLD) as (platform, console):
        console.press("*")
        console.wait_for("12 marked")
        console.press("a")
        console.box_shows("type 12")
        console.pause()
        console.write(b"12")
        console.box_shows("type 12, press y to approve")
        nothing_was_sent(platform)
        console.yes(lambda: "APPROVING" in console.box())
        for number in range(12):
            platform.wait_for(approves(f"t{number}"))


@pytest.mark.parametrize("text", [b"xy", b"yx", b"deploy"])
def test_pieces_that_follow_at_once_are_a_burst(text: bytes, tmp_path: Path) -> None:
    with scene(tmp_path, cases(20, "Case{:02}"), config=NO_HOLD) as (platform, console):
        for number in range(20):
            console.ask(f"Case{number:02}")
            console.pause()
            began = time.monotonic()
            mark = console.mark()
            for code in text:
                console.write(bytes([code]))
                time.sleep(QUIET / 4)
            if time.monotonic() - began >= QUIET * len(text) / 2:
                console.no()
                continue  # this machine was busy: the pieces may have been far apart
            console.wait_raw(IGNORED.encode(), mark=mark)
            console.box_shows(f"Case{number:02}")
            nothing_was_sent(platform)
            return
        pytest.fail("this machine never wrote two bytes shortly after each other")


def test_what_a_terminal_reports_is_no_key_beside_a_yes(tmp_path: Path) -> None:
    """The focus, the mouse, an answer and a key that is let go of: nobody pressed a key."""
    reports = b"\x1b[I\x1b[<35;3;3M\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\\x1b[121;1:3u"
    with scene(tmp_path, {"t1": "Case1"}, config=NO_HOLD) as (platform, console):
        console.ask("Case1")
        console.pause()
        console.write(reports + b"y" + reports)
        assert len(platform.wait_for(approves("t1"))) == 1


@pytest.mark.parametrize(
    "text", [b"\x1b[121u", b"\x1b[121;1:1u\x1b[121;1:3u", b"\x1b[121;;121u", b"\x1b[27;1;121~"]
)
def test_a_yes_by_kittys_protocol_is_one(text: bytes, tmp_path: Path) -> None:
    with scene(tmp_path, {"t1": "Case1"}, config=NO_HOLD) as (platform, console):
        console.ask("Case1")
        console.pause()
        console.write(text)
        assert len(platform.wait_for(approves("t1"))) == 1


def test_a_yes_while_the_mouse_moves_is_one(tmp_path: Path) -> None:
    with scene(tmp_path, {"t1": "Case1"}, config=NO_HOLD) as (platform, console):
        console.ask("Case1")
        console.pause()
        for number in range(400):
            if number == 100:
                console.write("y")
            console.write(f"\x1b[<35;{number % 80 + 1};3M")
            time.sleep(QUIET / 16)
        assert len(platform.wait_for(approves("t1"))) == 1


def test_fingers_that_press_again_are_no_burst(tmp_path: Path) -> None:
    """The second of two comes 150 ms after the first, which was an answer all the same."""
    with scene(tmp_path, {"t1": "Case1"}, config=NO_HOLD) as (platform, console):
        console.ask("Case1")
        console.pause()
        console.press("y")
        time.sleep(0.15)
        console.press("y")
        assert len(platform.wait_for(approves("t1"))) == 1
