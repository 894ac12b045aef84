"""What a terminal sends, taken apart: keys stay keys, and nothing else becomes one."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import pytest
from textual import events

# private: the patch under test wraps this parser.
from textual._xterm_parser import XTermParser
from textual.message import Message

from agentco_tui.textual_patches.input_parser import PATIENCE, InputParser, as_expected
from tests.benchmarks.fuzz_input import play
from tests.outside.test_odd_input import WHOLE

ESCAPE = 0.2
"""Seconds after which an ESC alone is the key."""
LATE = PATIENCE + 0.1


def events_of(parts: Iterable[str | float]) -> list[Message]:
    """What comes out for texts that are read one after the other, and seconds that pass between."""
    now = [0.0]
    parser = InputParser(clock=lambda: now[0])
    found: list[Message] = []
    for part in (*parts, LATE):
        if isinstance(part, str):
            found += parser.feed(part)
        else:
            now[0] += part
            found += parser.tick()
    return found


def told(*parts: str | float) -> list[str]:
    """The names of the keys that come out, and of other events their class."""
    return [getattr(event, "key", type(event).__name__) for event in events_of(parts)]


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("aQ1", ["a", "Q", "1"]),
        ("\x1b[A\x1b[B\x1b[1;5C", ["up", "down", "ctrl+right"]),
        ("\x1bOP\x1b[[A\x1b[15~\x1b[3$", ["f1", "f1", "f5", "shift+delete"]),
        ("\x1b[Z\x1b[1;5A", ["shift+tab", "ctrl+up"]),
        ("\x03\r\t\x7f", ["ctrl+c", "enter", "tab", "backspace"]),
        ("\x1bx\x1b\x1b[A", ["alt+x", "escape", "up"]),
        ("\x1b", ["escape"]),
        ("\x1b[", ["left_square_bracket"]),
        ("\x1b]", ["right_square_bracket"]),
        ("\x1b[99;5u", ["ctrl+c"]),
        ("\x1b[27;5;99~", ["ctrl+c"]),
        ("\x1b[27u\x1b[13u\x1b[120;3u", ["escape", "enter", "alt+x"]),
        ("\x1b[97;;97u\x1b[97;2;65u\x1b[0;;229u", ["a", "A", "å"]),
        ("\x1b[97:65;2u\x1b[97;5:1u\x1b[1;1:1A\x1b[3;1:1~", ["shift+a", "ctrl+a", "up", "delete"]),
        ("\x1b[I\x1b[O\x1b[<0;3;4M", ["AppFocus", "AppBlur", "MouseDown"]),
        ("\x1b[48;40;120;0;0t\x1b[<0;3;4M", ["Resize", "MouseDown"]),
        ("\x1b[?2026;2$y", ["TerminalSupportsSynchronizedOutput"]),
        ("é漢🙂", ["é", "漢", "slightly_smiling_face"]),
    ],
)
def test_keys(sent: str, keys: list[str]) -> None:
    assert told(sent) == keys
    assert told(*sent) == keys, "one character in each read"


ODD = (
    "\x1b[121;1:2u",
    *("\x1b[3;1u", "\x1b[121~", "\x1b[99999999999999999999;1u", "\x1b[97;999u", "\x1b[?25u"),
    *("\x1b]52;c;cWF5\x07", "\x1b]lqay\x1b\\", "\x9b121;1:3u", "\udc9b121;1:3u", "\udce1"),
    "\udcf0\udc9f\udc99",
)


@pytest.mark.parametrize("sent", [*WHOLE.values(), *ODD], ids=ascii)
def test_what_is_no_key_gives_none(sent: str) -> None:
    # One character in each read, but where that is another thing: a character or a paste cut.
    apart = len(sent) < 100 and not sent.startswith("\udcf0") and sent.count("\x1b[201~") < 2
    for parts in ([sent, "j"], [*sent, "j"])[: 1 + apart]:
        found = [event for event in events_of(parts) if isinstance(event, events.Key)]
        assert [event.key for event in found] == ["j"]


def test_keys_come_back_though_they_are_typed_on_into_a_string() -> None:
    typed: list[str | float] = ["\x1b]0;"]
    for _ in range(10):
        typed += ["q", PATIENCE * 0.9]
    assert 0 < told(*typed).count("q") < 10


@pytest.mark.parametrize(
    ("sent", "pasted", "keys"),
    [
        (["\x1b[200~two\nlines\x1b[201~j"], ["two\nlines"], ["j"]),
        (["\x1b[200~a\x1b[31mq\x00\x03\x1b[201~j"], ["a[31mq"], ["j"]),
        (["\x1b[200~a\x1b[20", "1~j"], ["a"], ["j"]),
        (["\x1b[200~a\x1b[201~ay\x1b[201~j"], ["a[201~ay"], ["j"]),
        (["\x1b[200~a\x1b[201~q\x1b[200~b\x1b[201~"], ["a", "b"], ["q"]),
        (["\x1b[200~\x9b201~q\x1b[201~"], ["201~q"], []),
        (["\x1b[201~j"], [], ["j"]),
        # Without an end, and with one that comes late.
        (["\x1b[200~ab", LATE, "q"], ["ab"], ["q"]),
        (["\x1b[200~ab", LATE, "ay\x1b[201~j"], ["ab", "ay"], ["j"]),
        (["\x1b[200~" + "q" * 100_000 + "\x1b[201~j"], ["q" * 65_536], ["j"]),
    ],
)
def test_a_paste(sent: list[str | float], pasted: list[str], keys: list[str]) -> None:
    found = events_of(sent)
    assert [event.text for event in found if isinstance(event, events.Paste)] == pasted
    assert [event.key for event in found if isinstance(event, events.Key)] == keys


def test_what_is_dropped_is_logged_but_not_what_it_says(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "agentco_tui"):
        InputParser().feed("\x1b]52;c;the clipboard\x07")
    assert "dropped from the terminal" in caplog.text
    assert "clipboard" not in caplog.text


def test_an_error_in_what_textual_makes_of_a_sequence_loses_that_one_only(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # private: the patch under test calls this method.
    real = XTermParser._sequence_to_key_events

    def failing(textual: XTermParser, sequence: str, alt: bool = False) -> object:
        if sequence == "x":
            raise OverflowError("of a later version")
        return real(textual, sequence, alt)

    # private: as above.
    monkeypatch.setattr(XTermParser, "_sequence_to_key_events", failing)
    with caplog.at_level(logging.INFO, "agentco_tui"):
        assert [getattr(event, "key", "") for event in InputParser().feed("axb")] == ["a", "b"]
    assert "of a later version" in caplog.text


def test_textuals_own_parser_is_as_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    assert as_expected()
    # private: as in a Textual that has no such method.
    monkeypatch.delattr("textual._xterm_parser.XTermParser.parse_mouse_code")
    assert not as_expected()


@pytest.mark.slow
def test_some_thousand_odd_sequences() -> None:
    wrong, _ = play(4_000, seed=2)
    assert wrong == []


@pytest.mark.parametrize(
    ("data", "dropped"),
    [
        ("y", 0),
        ("\udcff", 1),
        ("\x1b[99~", 1),
        ("\x1b[120;1:2u", 1),
        ("\x1b[200~", 1),
        ("\x1b[120;1:3u", 0),
        ("\x1b[?62;4c\x1b[5;3R\x1b[?1u\x1b]11;rgb:1/1/1\x07\x1b[<35;3;3M\x1b[I", 0),
    ],
)
def test_keys_of_which_nothing_is_passed_on_are_counted_once(data: str, dropped: int) -> None:
    parser = InputParser()
    parser.feed(data)
    assert parser.take_dropped_keys() == dropped
    assert parser.take_dropped_keys() == 0
