"""What a terminal sends beside keys: the dashboard goes on, and takes none of it for a key."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.outside.console import Console, scene
from tests.outside.platform import writes
from tests.terminal.dashboard import assert_restored, leave
from tests.terminal.pty_session import NotSeenError

KEYS = "qqay2?n:x\rmy"
"""What quits, asks, answers, opens and marks, should it be taken for keys."""

TASKS = {"t1": "Pay ACME", "t2": "Pay Bolt", "t3": "Pay Cog"}

WHOLE = {
    "a key that is let go": "\x1b[121;1:3u\x1b[113;1:3u\x1b[97;1:3u",
    "an arrow that is let go": "\x1b[1;1:3B\x1b[3;1:3~",
    "no code point": "\x1b[1114112u\x1b[4294967296;1u",
    "a surrogate": "\x1b[57000u\x1b[0;;55296u",
    "a number that is no key": "\x1b[113~\x1b[97A\x1b[121;2P",
    "what the background is": "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\",
    "an OSC": f"\x1b]0;{KEYS}\x07",
    "an OSC in eight bits": f"\x9d0;{KEYS}\x9c",
    "a DCS": f"\x1bP>|{KEYS}\x1b\\",
    "an APC": f"\x1b_G{KEYS}\x1b\\",
    "a PM": f"\x1b^{KEYS}\x1b\\",
    "an SOS": f"\x1bX{KEYS}\x1b\\",
    "tmux's, with an OSC in it": f"\x1bPtmux;\x1b\x1b]52;c;{KEYS}\x07\x1b\\",
    "light or dark": "\x1b[?997;1n",
    "what the terminal is": "\x1b[?62;1;4c\x1b[>1;10;0c\x1b[=0c",
    "where the cursor is": "\x1b[0n\x1b[12;40R\x1b[?12;40R",
    "how large the text is": "\x1b[8;40;120t\x1b[4;900;1200t",
    "a size beyond belief": "\x1b[48;99999;99999;0;0t\x1b[48;0;0;0;0t",
    "no pixels, and the mouse": "\x1b[48;40;120;0;0t\x1b[<35;3;3M\x1b[<35;99999;99999M",
    "the old mouse": "\x1b[M !!",
    "too long a sequence": "\x1b[" + "1;" * 3000 + "q",
    "an ESC in a paste": f"\x1b[200~one\x1b[31m{KEYS}\x1b[201~",
    "an end within a paste": f"\x1b[200~one\x1b[201~{KEYS}\x1b[201~",
}

BROKEN_OFF = {
    "an OSC": f"\x1b]0;{KEYS}",
    "a DCS": f"\x1bP1$r{KEYS}",
    "a paste": f"\x1b[200~{KEYS}",
    "a sequence": "\x1b[121;1:",
    "the mouse": "\x1b[<0;1",
}


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    folder = tmp_path_factory.mktemp("odd")
    with scene(folder, TASKS) as (platform, console):
        yield console
        leave(console)
    assert platform.seen(writes) == []


def goes_on(console: Console, tries: int = 20) -> None:
    """The list has the keys: they move the cursor, and only that. A key that comes while the end of
    something is still waited for may be lost, so it is pressed again.
    """
    wanted = "Pay Bolt" if "Pay Bolt" not in console.cursor_line() else "Pay Cog"
    for _ in range(tries):
        console.press("g", *("down" for _ in range(1 + (wanted == "Pay Cog"))))
        with contextlib.suppress(NotSeenError):
            console.until(lambda: wanted in console.cursor_line(), "the cursor", 2.0)
            break
    else:
        raise NotSeenError(f"no key is taken any more\n{console.text}")
    assert console.box() == ""
    assert "TASKS ▌pending" in console.text
    assert "marked" not in console.screen[2]
    assert re.search(r"\bq quit", console.footer())


@pytest.mark.parametrize("what", WHOLE)
def test_whole(console: Console, what: str) -> None:
    console.write(WHOLE[what].encode())
    goes_on(console)


@pytest.mark.parametrize("what", ["an OSC", "light or dark", "an ESC in a paste"])
def test_in_pieces(console: Console, what: str) -> None:
    data = WHOLE[what].encode()
    for at in range(0, len(data), 3):
        console.write(data[at : at + 3])
    goes_on(console)


@pytest.mark.parametrize("what", BROKEN_OFF)
def test_broken_off(console: Console, what: str) -> None:
    console.write(BROKEN_OFF[what].encode())
    goes_on(console)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"\xe1", b"\xc3(", b"\xf0\x9f\x99", b"\x9b121;1:3u"])
def test_bytes_that_are_no_text(console: Console, data: bytes) -> None:
    console.write(data)
    goes_on(console)


def test_keys_stay_keys(console: Console) -> None:
    """Also those that come in pieces, as on slow lines, and in kitty's way."""
    for way in ("\x1b[B", "\x1bOB", "\x1b[1;1B", "\x1b[1;1:1B", "\x1b[57420u", "\x1b[106;;106u"):
        for parts in ((way,), (way[:1], way[1:]), (way[:2], way[2:])):
            console.press("g")
            console.until(lambda: "Pay ACME" in console.cursor_line(), "the top")
            for part in parts:
                console.write(part)
            console.until(lambda: "Pay Bolt" in console.cursor_line(), f"{parts!r} moves")
    for way in ("\x1b", "\x1b[27u", "\x1b[27;1:1u"):
        console.press("?")
        console.box_shows("Keys on")
        console.write(way)
        console.no_box()
    console.press("alt+x", "alt+]")  # bound to nothing
    goes_on(console)


def test_a_question_hears_keys_only(tmp_path: Path) -> None:
    """A `y` in a string, in a paste, let go of or held down answers nothing; one that is pressed,
    in kitty's way, does.
    """
    with scene(tmp_path, {"t1": "Pay ACME"}) as (platform, console):
        console.ask("Pay ACME")
        console.wait_quiet(0.5)
        for sent in (*WHOLE.values(), "\x1b[200~y\x1b[201~", "\x1b[121;1:3u", "\x1b[121;1:2;121u"):
            console.write(sent)
        console.wait_quiet(0.5)
        assert "Pay ACME" in console.box()
        assert platform.seen(writes) == []
        console.wait_quiet(1.0)
        console.write("\x1b[121;1:1;121u\x1b[121;1:3u")
        console.line_shows("Pay ACME", "approved here")
        assert len(platform.posts("t1")) == 1


@pytest.mark.parametrize("way", ["\x03", "\x1b[99;5u", "\x1b[27;5;99~", "\x11"])
def test_ctrl_c_leaves_after_all_of_it(way: str, tmp_path: Path) -> None:
    with scene(tmp_path, TASKS) as (_, console):
        for sent in WHOLE.values():
            console.write(sent)
        goes_on(console)
        console.write(way)
        assert console.wait_gone() == 0
        assert_restored(console)


def test_a_terminal_wider_than_any(console: Console) -> None:
    """What the kernel says of its size is believed up to 1,000 columns, too."""
    mark = console.mark()
    console.resize(30_000, 40)
    console.until(lambda: console.since(mark), "a repaint")
    console.wait_quiet()
    assert len(console.since(mark)) < 400_000
    console.resize(120, 40)
    goes_on(console)
