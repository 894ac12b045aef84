"""The harness itself: what it says about a program must be so."""

from __future__ import annotations

import unicodedata

import pytest

from tests.terminal.picture import Picture, modes_left_on


def test_modes_left_on() -> None:
    on = b"\x1b[?1049h\x1b[?1003;1006h\x1b[>25u\x1b[?25l\x1b[31mx"
    assert modes_left_on(on) == {
        "alternate screen",
        "mouse (motion)",
        "mouse (SGR form)",
        "kitty keyboard protocol",
        "cursor hidden",
        "colours",
    }
    off = b"\x1b[0m\x1b[<u\x1b[?1003l\x1b[?1006l\x1b[?1049l\x1b[?25h"
    assert modes_left_on(on + off) == set()
    assert modes_left_on(b"\x1b[?2004l\x1b[?2004h") == {"bracketed paste"}


def test_the_shells_picture_comes_back_after_the_alternate_screen() -> None:
    picture = Picture(20, 4)
    picture.feed(b"shell\r\n\x1b[?104")
    picture.feed(b"9h\x1b[H\x1b[>25uapp")
    assert picture.rows()[0] == "app"
    picture.feed(b"\x1b[<u\x1b[?1049l$ ")
    assert picture.rows()[:2] == ["shell", "$"]


@pytest.mark.parametrize(
    ("over", "shown"),
    [
        (b"\x1b[1;3Hx", "abx cd"),
        (b"\x1b[1;4Hx", "ab xcd"),
        (b"\x1b[1;2H\xe6\x97\xa5", "a日 cd"),
        (b"\x1b[1;4H\xe6\x97\xa5", "ab 日d"),
        (b"\x1b[1;3H\xe6\x9c\xac", "ab本cd"),
        (b"\x1b[1;1He\xcc\x81", "e\u0301b日cd"),
        (b"\x1b[1;3H\xe6\x9c\xac\xef\xb8\x8f", "ab本cd"),
    ],
    ids=["left", "right", "across left", "across right", "both", "combining", "variation"],
)
def test_half_of_a_wide_character_that_is_written_over_is_blank(over: bytes, shown: str) -> None:
    picture = Picture(20, 2)
    picture.feed("ab日cd".encode())
    picture.feed(over)
    assert [unicodedata.normalize("NFD", row) for row in picture.rows()] == [
        unicodedata.normalize("NFD", shown),
        "",
    ]
